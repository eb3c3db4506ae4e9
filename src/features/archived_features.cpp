#include "features/archived_features.h"

namespace bnpvi::features {

namespace {

void write(Writer& out, const Loadings& loadings) {
  out.integer(loadings.k);
  out.list(loadings.m);
  out.integer(static_cast<std::int64_t>(loadings.v_inverse.size()));
  for (const Vec& inverse : loadings.v_inverse) out.list(inverse);
  for (double x : {loadings.a, loadings.b, loadings.c, loadings.d, loadings.rho, loadings.value})
    out.number(x);
}

Loadings read_loadings(Reader& in) {
  Loadings out;
  out.k = in.integer();
  out.m = in.list<Vec>();
  for (std::int64_t n = in.integer(); n > 0; --n) out.v_inverse.push_back(in.list<Vec>());
  for (double* x : {&out.a, &out.b, &out.c, &out.d, &out.rho, &out.value}) *x = in.number();
  return out;
}

}  // namespace

void write(Writer& out, const FeatureState& state) {
  state.total.write(out);
  out.integer(static_cast<std::int64_t>(state.batch.size()));
  for (const auto& batch : state.batch) batch->write(out);
  out.integer(static_cast<std::int64_t>(state.presence.size()));
  for (const auto& presence : state.presence) {
    out.list(presence->start);
    out.list(presence->feature);
    out.list(presence->value);
  }
  out.list(state.id);
  out.integer(state.next_id);
  write(out, state.loadings);
  out.number(state.weights.value);
  for (const Vec* x : {&state.weights.logit, &state.weights.prob, &state.weights.stick, &state.weights.alpha})
    out.list(*x);
  out.number(state.elbo);
}

FeatureState read_state(Reader& in) {
  FeatureState out;
  out.total = Summary::read(in);
  for (std::int64_t n = in.integer(); n > 0; --n)
    out.batch.push_back(std::make_shared<const Summary>(Summary::read(in)));
  for (std::int64_t n = in.integer(); n > 0; --n) {
    auto presence = std::make_shared<Presence>();
    presence->start = in.list<std::vector<Index>>();
    presence->feature = in.list<std::vector<int>>();
    presence->value = in.list<Vec>();
    out.presence.push_back(std::move(presence));
  }
  out.id = in.list<std::vector<int>>();
  out.next_id = static_cast<int>(in.integer());
  out.loadings = read_loadings(in);
  out.weights.value = in.number();
  for (Vec* x : {&out.weights.logit, &out.weights.prob, &out.weights.stick, &out.weights.alpha})
    *x = in.list<Vec>();
  out.elbo = in.number();
  return out;
}

void write(Writer& out, const FailedMoves& failed) {
  for (const FailedMoves::Singles* singles : {&failed.deletes, &failed.flips, &failed.visited_flips}) {
    out.integer(static_cast<std::int64_t>(singles->size()));
    for (const auto& [id, count] : *singles) {
      out.integer(id);
      out.number(count);
    }
  }
  for (const FailedMoves::Pairs* pairs : {&failed.merges, &failed.turns, &failed.flips_of_two}) {
    out.integer(static_cast<std::int64_t>(pairs->size()));
    for (const auto& [ids, counts] : *pairs) {
      out.integer(ids.first);
      out.integer(ids.second);
      out.number(counts.first);
      out.number(counts.second);
    }
  }
}

FailedMoves read_failed(Reader& in) {
  FailedMoves out;
  for (FailedMoves::Singles* singles : {&out.deletes, &out.flips, &out.visited_flips})
    for (std::int64_t n = in.integer(); n > 0; --n) {
      const int id = static_cast<int>(in.integer());
      (*singles)[id] = in.number();
    }
  for (FailedMoves::Pairs* pairs : {&out.merges, &out.turns, &out.flips_of_two})
    for (std::int64_t n = in.integer(); n > 0; --n) {
      const int a = static_cast<int>(in.integer()), b = static_cast<int>(in.integer());
      const double count_a = in.number(), count_b = in.number();
      (*pairs)[{a, b}] = {count_a, count_b};
    }
  return out;
}

}  // namespace bnpvi::features
