// What hidden Markov models remember of L-sparse sequences.
#pragma once
#include "foundation/data.h"
#include "inference/summary.h"
#include "inference/support_table.h"

namespace bnpvi::chains {

/// The states that each modelled row of some sequences may be in, as of the last visit: L small numbers a
/// row. With the globals of that visit they determine q(z), so a part of a summary can be taken out again.
///
/// When there are no more than L states, all of them, so that q(z) has not to give up any as others are born.
class ChainMemory final : public UnitMemory {
 public:
  /// units: sequences, ascending.
  ChainMemory(const Dataset& data, const std::vector<Index>& units, Index lag, Index width);

  Index width() const { return support_.width; }
  Index rows() const { return starts_.back(); }
  /// First row of the sequence at position i; those of a sequence follow each other.
  Index begin(Index i) const { return starts_[i]; }
  int* of(Index row) { return support_.of(row); }
  const int* of(Index row) const { return support_.of(row); }

  /// The sets of a row as `width` different states of k ≥ width: slots of states that are gone, or that were
  /// not there, go to others, which can only raise the bound.
  void fill(Index row, Index k, Index width, int* state) const;

  /// That of some of the sequences.
  std::shared_ptr<const ChainMemory> part(const std::vector<Index>& units) const;
  /// The same with other sets for the sequences of `newer`.
  std::shared_ptr<const ChainMemory> with(const ChainMemory& newer) const;

  std::shared_ptr<const UnitMemory> renumbered(const std::vector<Index>& number) const override;

 private:
  ChainMemory(Index width, std::vector<Index> units, std::vector<Index> starts);
  Index position(Index unit) const;
  void copy(Index i, const ChainMemory& from, Index j);

  std::vector<Index> units_, starts_;
  SupportTable support_;
};

}  // namespace bnpvi::chains
