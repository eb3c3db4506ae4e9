// The local step of a document with a response, whose tilt of the topics follows from the counts it leads to.
#include <algorithm>
#include <cmath>

#include "topics/model/document_step.h"

namespace bnpvi::topics {

// As ascend(). A round whose tilt was taken too far from where it led counts for nothing but a better place
// for the next: count_ stays what it was, and with it P. Given the last good counts no round then lowers the
// bound. With L topics a word these are chosen in every round, as a round is best among all choices.
bool DocStep::ascend_tilted(const DocumentView& view, Index limit, Index width, double rival) {
  double previous = 0;
  bool first = true;
  at_ = count_;
  for (Index i = 1;; ++i) {
    response_->touch(count_);
    weigh_by_counts();
    base_ = p_;
    response_->add_slope(at_, p_);
    choose(width);
    before_ = count_;
    round(view);
    const Vec tried = count_;
    if (i < limit && !response_->no_worse(before_, count_, at_, !chosen_)) {
      response_->approach(tried, at_);
      count_ = before_;
      continue;
    }
    if (rival > -INFINITY) {
      const double now = bound();
      if (!first && rival - now > largest_gap * (now - previous)) return false;
      previous = now;
      first = false;
    }
    double change = 0;
    for (std::size_t j = 0; j < topic_.size(); ++j)
      change = std::max(change, std::abs(count_[j] - before_[j]));
    const bool last = i >= limit || change < least_change;
    if (drop_empty())
      at_ = count_;
    else if (last)
      return true;
    else
      response_->approach(tried, at_);
  }
}

}  // namespace bnpvi::topics
