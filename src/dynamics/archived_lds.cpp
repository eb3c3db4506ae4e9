#include "dynamics/archived_lds.h"

#include "inference/archived.h"
#include "inference/same_kernels.h"

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
  LatentPaths paths(s.n, problem.m, problem.intercept, s.n_groups());
  Vec r;
  EmissionStatistics seen(problem.emission);
  for (Vec* x : {&paths.mean, &paths.var, &paths.features, &paths.start, &paths.entropy, &r, &seen.count,
                 &seen.moment}) {
    const std::size_t size = x->size();
    *x = in.list<Vec>();
    if (size > 0 && x->size() != size) throw std::invalid_argument("a stored state is damaged");
  }
  const Index k = in.integer();
  if (k < 1 || static_cast<Index>(r.size()) != s.n * k)
    throw std::invalid_argument("a stored state is damaged");
  LdsState out{std::move(alloc),
               std::move(paths),
               k,
               std::move(r),
               seen,
               Emission(problem.emission, seen),
               {},
               {},
               {},
               {},
               0};
  out.total = Summary::read(in);
  out.globals = read_globals(in);
  for (std::int64_t n = in.integer(); n > 0; --n) {
    std::string name = in.text();
    out.terms.emplace_back(std::move(name), in.number());
  }
  out.elbo = in.number();
  return out;
}

}  // namespace bnpvi::dynamics
