// Writes and reads searches for communities between two laps.
#include "inference/learn/check_progress.h"
#include "networks/learn_overlap.h"

namespace bnpvi::networks {

void OverlapFit::write(Writer& out) const {
  now_->write(out);
  out.flag(undivided_ != nullptr);
  if (undivided_) undivided_->write(out);
  local_.write(out);
  out.integer(static_cast<std::int64_t>(stage_));
  out.integer(laps_left_);
  out.integer(round_);
  for (double x : {undivided_value_, last_gain_, gain_before_}) out.number(x);
}

void OverlapFit::read(Reader& in) {
  now_->read(in);
  value_ = now_->bound();
  if (in.flag()) {
    undivided_ = now_->copy();
    undivided_->read(in);
  }
  local_.read(in);
  const std::int64_t stage = in.integer();
  laps_left_ = in.integer();
  round_ = in.integer();
  require_stored(
      0 <= stage && stage <= static_cast<std::int64_t>(Stage::last) && laps_left_ >= 0 && round_ >= 0,
      "laps and rounds");
  stage_ = static_cast<Stage>(stage);
  for (double* x : {&undivided_value_, &last_gain_, &gain_before_}) {
    *x = in.number();
    require_stored(!std::isnan(*x), "gains of rounds");
  }
}

void SampledOverlap::write(Writer& out) const {
  SampledFit::write(out);
  now_->write(out);
}

void SampledOverlap::read(Reader& in) {
  SampledFit::read(in);
  now_->read(in);
}

}  // namespace bnpvi::networks
