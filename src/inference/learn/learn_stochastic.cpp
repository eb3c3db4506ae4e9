#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/random.h"
#include "inference/learn/learn.h"
#include "inference/learn/visit_batches.h"

namespace bnpvi {

namespace {

class Stochastic final : public SharedFit {
 public:
  Stochastic(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool)
      : SharedFit(std::move(from)),
        problem_(problem),
        options_(options),
        pool_(pool),
        all_(weight_of_units(problem.source, problem.alloc.grouped())) {
    complete(problem, p_);
    p_.memory.resize(static_cast<std::size_t>(problem.source.n_batches()));
  }

  LapRecord lap(Index n) override {
    LapRecord record;
    record.lap = n;
    record.elbo = std::numeric_limits<double>::quiet_NaN();
    if (stopped_ || n >= options_.max_laps) {
      exact_lap();
      record.elbo = p_.state.elbo;
    } else {
      steps(n);
    }
    record.k = p_.state.globals.effective.k;
    return record;
  }

  bool whole() const override { return whole_; }
  bool still() const override { return false; }
  double slack() const override { return 0; }
  const Problem& problem() const override { return problem_; }
  void keep() override {}
  void go_back() override {}
  bool can_go_on() const override { return !whole_; }

  bool next_phase(Why why) override {
    if (why != Why::stopped || stopped_ || whole_) return false;
    return stopped_ = true;
  }

 private:
  void steps(Index n) {
    State& state = p_.state;
    const bool grouped = problem_.alloc.grouped();
    Stream stream(problem_.seed, Purpose::batch_order, static_cast<std::uint64_t>(n));
    const std::unique_ptr<Visitor> visitor = problem_.alloc.visitor();
    for (Index b : shuffled(problem_.source.n_batches(), stream)) {
      const std::shared_ptr<const Batch> batch = problem_.source.open(b);
      Summary s = visitor->visit({batch->data, batch->units, problem_.obs, state.globals,
                                  visiting_weights(problem_, state.globals.effective), pool_, nullptr,
                                  p_.memory[b].get()});
      if (!grouped) p_.memory[b] = s.memory;
      s.scale(all_ / weight_of_units(*batch, grouped));
      const double rate =
          std::min(1.0, std::pow(options_.delay + static_cast<double>(++p_.step), -options_.power));
      state.globals = problem_.alloc.stochastic_step(state.globals, s, rate);
    }
  }

  void exact_lap() {
    State& state = p_.state;
    for (auto& b : state.batch) b.reset();  // so that this lap compares rows with all clusters
    state.total = Summary(problem_.alloc.shape(problem_.obs), state.globals.effective.k);
    state.total.owner = state.globals.effective.owner;
    state.total.names = state.globals.effective.names;
    const std::unique_ptr<Visitor> visitor = problem_.alloc.visitor();
    visit_all_batches(problem_, state, *visitor, pool_);
    refresh(problem_, state);
    settle(problem_, state);
    whole_ = true;
  }

  const Problem problem_;
  const LearnOptions options_;
  Pool& pool_;
  const double all_;
  bool stopped_ = false, whole_ = false;
};

}  // namespace

std::unique_ptr<SharedFit> stochastic_fit(const Problem& problem, Progress from, const LearnOptions& options,
                                          Pool& pool) {
  return std::make_unique<Stochastic>(problem, std::move(from), options, pool);
}

}  // namespace bnpvi
