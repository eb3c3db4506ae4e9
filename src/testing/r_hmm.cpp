// Entries for tests: messages of chains, and visits with sparse state sets.
#include "r_hmm.h"
#include "chains/model/chain_memory.h"
#include "chains/model/sequence_rows.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::chains;

namespace {

// Messages for given potentials. log_e: n × K, for sequences at the given starts; log_space: compute on the
// log scale. `fast_is_exact`: result of forward(), false if scaled messages may have been affected by a
// floor (least value).
Rcpp::List engine_messages(Rcpp::NumericVector log_start, Rcpp::NumericMatrix log_transition,
                           Rcpp::NumericMatrix log_e, Rcpp::IntegerVector starts, bool log_space) {
  const Index k = log_start.size(), n = log_e.nrow();
  Vec transition, e(static_cast<std::size_t>(n * k)), c, alpha(static_cast<std::size_t>((n + 1) * k)),
      scale(static_cast<std::size_t>(n)), beta(static_cast<std::size_t>(k), log_space ? 0.0 : 1.0),
      first_count(beta.size()), pairs(static_cast<std::size_t>(k * k));
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) transition.push_back(log_transition(i, j));
  for (Index t = 0; t < n; ++t)
    for (Index j = 0; j < k; ++j) c.push_back(log_e(t, j));
  const Chain chain(k, Vec(log_start.begin(), log_start.end()), transition);
  Rcpp::IntegerVector path(static_cast<int>(n));
  std::vector<std::uint8_t> first(static_cast<std::size_t>(n), 0);
  for (Index g = 0; g + 1 < starts.size(); ++g) {
    first[starts[g]] = 1;
    viterbi(chain, starts[g + 1] - starts[g], c.data() + starts[g] * k, path.begin() + starts[g]);
  }
  const ChainRows rows{n, first.data()};
  double entropy = 0;
  make_potentials(n, k, c.data(), e.data(), log_space);
  const bool exact = forward(chain, rows, e.data(), alpha.data(), scale.data());
  if (log_space) {
    log_space_forward(chain, rows, c.data(), alpha.data(), scale.data());
    log_space_backward(chain, rows, alpha.data(), scale.data(), c.data(), beta.data(), first_count.data(),
                       pairs.data(), entropy);
  } else {
    backward(chain, rows, alpha.data(), scale.data(), c.data(), e.data(), beta.data(), first_count.data(),
             entropy);
    for (Index t = 0; t < n; ++t)
      for (Index i = 0; i < k; ++i)
        for (Index j = 0; j < k; ++j)
          pairs[i * k + j] += alpha[t * k + i] * chain.transition[i * k + j] * e[t * k + j];
  }
  Rcpp::NumericMatrix resp(static_cast<int>(n), static_cast<int>(k)),
      pair(static_cast<int>(k), static_cast<int>(k));
  for (Index j = 0; j < k; ++j) {
    for (Index t = 0; t < n; ++t) resp(t, j) = c[t * k + j];
    for (Index i = 0; i < k; ++i) {
      pair(i, j) = pairs[i * k + j];
      entropy -= pair(i, j) * chain.log_transition[i * k + j];
    }
  }
  return Rcpp::List::create(Rcpp::_["resp"] = resp, Rcpp::_["start"] = first_count,
                            Rcpp::_["transition"] = pair, Rcpp::_["entropy"] = entropy,
                            Rcpp::_["path"] = path + 1, Rcpp::_["fast_is_exact"] = exact);
}

// One visit of all sequences at the given globals. `sets`: states of each row at the last visit
// (n × L, 0: none), or NULL; `number`: new number of each state since then (0: deleted), or NULL; `same`:
// the sets are kept. Returns the new sets and the summary.
Rcpp::List engine_sparse_visit(Rcpp::List data, Rcpp::List model, Rcpp::List state, int width, SEXP sets,
                               SEXP number, bool same, int threads) {
  return entry([&] {
    Query q(data, model, state, threads, {width, 0});
    const std::vector<Index> units = all_units(q.data(), q.model),
                             rows = modelled_rows(q.data().starts, q.obs().capabilities().lag);
    const Index n = static_cast<Index>(rows.size());
    Visit in{q.data(), units, q.obs(), q.globals, q.weights(), q.pool};
    std::shared_ptr<const UnitMemory> last;
    if (!Rf_isNull(sets)) {
      const Rcpp::IntegerMatrix given(sets);
      auto memory = chain_memory(q.data(), units, q.obs().capabilities().lag, given.ncol());
      for (Index i = 0; i < n; ++i)
        for (Index l = 0; l < given.ncol(); ++l) memory->support.of(i)[l] = given(rows[i], l) - 1;
      last = memory;
      if (!Rf_isNull(number)) {
        const Rcpp::IntegerVector from_one(number);
        std::vector<Index> from_zero;
        for (int j : from_one) from_zero.push_back(j - 1);
        last = std::make_shared<const UnitMemory>(memory->renumbered(from_zero));
      }
    }
    in.memory = last.get();
    const HmmAlloc& hmm = hmm_of(q.model);
    const Summary s = same ? hmm.found_before(in) : hmm.local_step(in);
    const SupportTable& found = s.memory->support;
    Rcpp::IntegerMatrix out(static_cast<int>(q.data().n), static_cast<int>(found.width));
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < found.width; ++l) out(rows[i], l) = 1 + found.of(i)[l];
    const auto matrix = [&](const double* x, Index columns) {
      Rcpp::NumericMatrix m(static_cast<int>(s.k), static_cast<int>(columns));
      for (Index j = 0; j < s.k; ++j)
        for (Index i = 0; i < columns; ++i) m(j, i) = x[j * columns + i];
      return m;
    };
    return Rcpp::List::create(Rcpp::_["sets"] = out, Rcpp::_["obs"] = matrix(s.obs.data(), s.shape.p),
                              Rcpp::_["start"] = s.extra, Rcpp::_["transition"] = matrix(s.pair.data(), s.k),
                              Rcpp::_["entropy"] = s.entropy());
  });
}

// How sequences of these lengths are divided into tasks: for each its first and last sequence (from 1), and
// its chunks, with the number of the first (from 0). numbers: how many doubles the sum of one task has.
Rcpp::List engine_sequence_pieces(Rcpp::IntegerVector lengths, double numbers) {
  Dataset data;
  std::vector<Index> units;
  data.starts.assign(1, 0);
  for (int n : lengths) {
    units.push_back(static_cast<Index>(units.size()));
    data.starts.push_back(data.starts.back() + n);
  }
  Rcpp::IntegerVector first, last, first_chunk, parts;
  for (const Piece& piece : cut_into_pieces(data, units, 0, static_cast<Index>(numbers))) {
    first.push_back(static_cast<int>(piece.begin) + 1);
    last.push_back(static_cast<int>(piece.end));
    first_chunk.push_back(static_cast<int>(piece.first_chunk));
    parts.push_back(static_cast<int>(piece.parts));
  }
  return Rcpp::List::create(Rcpp::_["first"] = first, Rcpp::_["last"] = last,
                            Rcpp::_["first_chunk"] = first_chunk, Rcpp::_["parts"] = parts);
}

const testing::Entry entries[] = {
    {"engine_sequence_pieces", {"lengths", "numbers"}, engine_sequence_pieces},
    {"engine_messages", {"log_start", "log_transition", "log_e", "starts", "log_space"}, engine_messages},
    {"engine_sparse_visit",
     {"data", "model", "state", "width", "sets", "number", "same", "threads"},
     engine_sparse_visit},
};

}  // namespace
