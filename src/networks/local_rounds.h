// Rounds of moves that are judged by the nodes they change.
#pragma once
#include <cstdint>
#include <functional>

#include "foundation/monitor.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

struct LocalOptions {
  bool births, merges, deletes;
  std::uint64_t seed;
};

/// Tries to split, join, divide anew by twos, and drop communities one by one, each move on the state that
/// the accepted ones left. Communities that neither changed nor gained by a move for some rounds rest.
class LocalRounds {
 public:
  explicit LocalRounds(const LocalOptions& options) : options_(options) {}

  /// One round; returns what the bound gained. Moves that gain `least` or less are not made; `poll` is called
  /// between moves. Counts what was tried and made.
  double run(Overlap& state, std::uint64_t round, double least, const std::function<void()>& poll,
             LapRecord& record);

  void write(Writer& out) const { out.list(rounds_left_); }
  void read(Reader& in) { rounds_left_ = in.list<std::vector<int>>(); }

 private:
  void rouse(Index k) { rounds_left_[static_cast<std::size_t>(k)] = rounds_of_rest; }
  void forget(Index k);  // the last takes its number
  double splits(Overlap& state, std::uint64_t round);
  double joins(Overlap& state);
  double divisions(Overlap& state, std::uint64_t round);
  double drops(Overlap& state);

  static constexpr int rounds_of_rest = 3;  // rounds without a gain after which a community rests; a guess
  LocalOptions options_;
  std::vector<int> rounds_left_;  // of each community; run() makes them as many as there are
  double least_ = 0;
  const std::function<void()>* poll_ = nullptr;
  LapRecord* record_ = nullptr;
};

/// Pairs of communities that may be joined and share nodes or have links between their nodes, by the cosine
/// of their link ends: node by node, and of those of neighbours. The closest first.
struct ClosePair {
  Index a, b;
  double score;
};
std::vector<ClosePair> close_pairs(const Overlap& state);

/// Σ over nodes of link ends, of each community.
Vec masses(const Overlap& state);
/// Indices by increasing value.
std::vector<Index> ascending(const Vec& x);

}  // namespace bnpvi::networks
