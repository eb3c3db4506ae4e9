// Rounds of local moves of communities. A local move visits only the nodes that it changes.
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

/// Tries local moves one after the other: splits communities, joins pairs, divides pairs anew, and drops
/// communities. Each move starts from the state that the accepted moves before it have left. A community
/// rests if in the last few rounds it neither changed nor gained by a move. It is not tried again until it
/// changes.
class LocalRounds {
 public:
  explicit LocalRounds(const LocalOptions& options) : options_(options) {}

  /// Makes one round and returns the gain of the bound. A move is accepted only if it gains more than
  /// `least`. `poll` is called between moves. The record counts the moves tried and accepted.
  double run(Overlap& state, std::uint64_t round, double least, const std::function<void()>& poll,
             LapRecord& record);

  void write(Writer& out) const { out.list(rounds_left_); }
  void read(Reader& in) { rounds_left_ = in.list<std::vector<int>>(); }

 private:
  void rouse(Index k) { rounds_left_[static_cast<std::size_t>(k)] = rounds_of_rest; }
  void forget(Index k);  // removes community k from the list; the last one takes its number
  double splits(Overlap& state, std::uint64_t round);
  double joins(Overlap& state);
  double divisions(Overlap& state, std::uint64_t round);
  double drops(Overlap& state);

  static constexpr int rounds_of_rest = 3;  // a community rests after so many rounds without a gain; a guess
  LocalOptions options_;
  std::vector<int> rounds_left_;  // for each community, the rounds until it rests; resized by run()
  double least_ = 0;
  const std::function<void()>* poll_ = nullptr;
  LapRecord* record_ = nullptr;
};

/// Two communities that share nodes or have links between their nodes, so that joining them is worth a trial.
/// score: the cosine of their link ends, over nodes and over the two ends of links. close_pairs() lists all
/// such pairs by decreasing score.
struct ClosePair {
  Index a, b;
  double score;
};
std::vector<ClosePair> close_pairs(const Overlap& state);

/// The expected number of link ends in each community, summed over nodes.
Vec masses(const Overlap& state);

/// Drops communities with hardly a link end, the smallest first, as long as can_go() allows it.
void drop_small(Overlap& state);
/// The indices of x, ordered by increasing value.
std::vector<Index> ascending(const Vec& x);

}  // namespace bnpvi::networks
