#include "chains/sampling/state_classes.h"

#include <algorithm>
#include <cmath>

namespace bnpvi::chains {

StateClasses::StateClasses(const Dataset& data, const SequenceRows& rows) {
  if (!data.classes) return;
  sets_ = data.class_sets;
  width_ = sets_->n_classes + 1;
  for (Index row : rows.rows) set_.push_back(data.classes[row]);
}

void StateClasses::begin_with(const std::vector<int>& label, Index k) {
  ruled_out_.assign(static_cast<std::size_t>(k * width_), 0);
  if (!labelled()) return;
  for (std::size_t t = 0; t < label.size(); ++t) add(static_cast<Index>(t), label[t], 1);
}

void StateClasses::open() { ruled_out_.resize(ruled_out_.size() + static_cast<std::size_t>(width_), 0); }

void StateClasses::drop(Index j) {
  std::copy(ruled_out_.end() - width_, ruled_out_.end(), ruled_out_.begin() + j * width_);
  ruled_out_.resize(ruled_out_.size() - static_cast<std::size_t>(width_));
}

void StateClasses::add(Index t, Index j, int times) {
  if (!labelled() || set_[t] == 0) return;
  for (Index c = 0; c < width_; ++c) ruled_out_[j * width_ + c] += rules_out(t, c) ? times : 0;
}

bool StateClasses::allows(Index t, Index j) const {
  if (!labelled() || set_[t] == 0 || (j + 1) * width_ > static_cast<Index>(ruled_out_.size())) return true;
  for (Index c = 0; c < width_; ++c)
    if (ruled_out(j)[c] == 0 && !rules_out(t, c)) return true;
  return false;
}

bool StateClasses::may_join(Index a, Index b) const {
  if (!labelled()) return true;
  for (Index c = 0; c < width_; ++c)
    if (ruled_out(a)[c] == 0 && ruled_out(b)[c] == 0) return true;
  return false;
}

Index StateClasses::count_classes(Index j) const {
  return std::count(ruled_out(j), ruled_out(j) + width_, 0);
}

int StateClasses::draw_class(Index j, Stream& stream) const {
  Index left = stream.index(count_classes(j));
  Index c = 0;
  while (ruled_out(j)[c] != 0 || left-- > 0) ++c;
  return static_cast<int>(c);
}

double StateClasses::log_draw(Index j) const { return -std::log(static_cast<double>(count_classes(j))); }

}  // namespace bnpvi::chains
