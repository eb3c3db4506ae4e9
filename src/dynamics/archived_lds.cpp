#include "dynamics/archived_lds.h"

#include "inference/learn/archived.h"
#include "inference/learn/check_progress.h"
#include "inference/learn/same_kernels.h"

namespace bnpvi::dynamics {

void write(Writer& out, const LdsState& state) {
  write_kernels(out);
  const LatentPaths& paths = state.paths;
  for (const Vec* x : {&paths.mean, &paths.var, &paths.features, &paths.start, &paths.entropy, &state.r,
                       &state.seen.count, &state.seen.moment})
    out.list(*x);
  out.integer(state.k);
  state.total.write(out);
  bnpvi::write(out, state.globals);
  out.integer(static_cast<std::int64_t>(state.terms.size()));
  for (const auto& [name, value] : state.terms) {
    out.text(name);
    out.number(value);
  }
  out.number(state.elbo);
}

LdsState read_state(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, Reader& in) {
  expect_kernels(in);
  const Series& s = problem.series;
  LatentPaths paths(s, problem.emission);
  Vec r;
  EmissionStatistics seen(problem.emission);
  for (Vec* x : {&paths.mean, &paths.var, &paths.features, &paths.start, &paths.entropy, &r, &seen.count,
                 &seen.moment}) {
    const std::size_t size = x->size();
    *x = in.list<Vec>();
    require_stored(size == 0 || x->size() == size, "hidden states");
  }
  const Index k = in.integer();
  require_stored(
      k >= 1 && static_cast<Index>(r.size()) == s.n * k && (alloc->fixed_k() == 0 || k == alloc->fixed_k()),
      "number of modes");
  LdsState out{std::move(alloc), std::move(paths), k, std::move(r), seen, {}, {}, {}, {}, {}, 0};
  out.total = Summary::read(in);
  out.globals = read_globals(in);
  const SummaryShape shape = out.alloc->shape(problem.obs);
  require_summary(out.total, shape, k);
  require_stored(has_names(problem.obs, out.total.names.of, k), "modes with names");
  out.emission = emissions_at(problem, out.seen, out.total);
  require_summary(out.globals.effective, shape, k);
  const std::size_t sticks = out.alloc->has_sticks() ? static_cast<std::size_t>(k) : 0;
  require_stored(out.globals.u.size() == sticks && out.globals.omega.size() == sticks, "sticks");
  for (std::int64_t n = in.integer(); n > 0; --n) {
    std::string name = in.text();
    out.terms.emplace_back(std::move(name), in.number());
  }
  out.elbo = in.number();
  return out;
}

}  // namespace bnpvi::dynamics
