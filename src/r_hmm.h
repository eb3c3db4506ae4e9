// Functions shared by the exported functions that evaluate hidden Markov models.
#pragma once
#include <algorithm>

#include "chains/model/hmm.h"
#include "chains/model/sequence_rows.h"
#include "r_convert.h"

namespace bnpvi {

const chains::HmmAlloc& hmm_of(const RModel& model);

/// Throws unless the data and the model agree: rows have positions (Dataset::position) if and only if the
/// model has transitions by position, and all positions are valid for the model.
void require_positions(const Dataset& data, const RModel& model);

/// Calls task(rows, group) for every sequence that has rows with a likelihood; `rows` are these rows.
/// Sequences are distributed to the threads of the pool.
template <class Task>
void for_sequences(const Dataset& data, Index lag, Pool& pool, Task task) {
  constexpr Index at_once = 64;  // sequences in each task: a guess
  const Index n = data.n_groups();
  pool.run((n + at_once - 1) / at_once, [&](Index part) {
    chains::SequenceRows s;
    for (Index g = part * at_once; g < std::min(n, (part + 1) * at_once); ++g) {
      pool.poll();
      s.clear();
      s.append(data, g, lag);
      if (s.size() > 0) task(s, g);
    }
  });
}

/// Divides the n rows of a sequence into chunks, and calls task(chunk, from, size) for each chunk: `size`
/// rows, beginning with row `from`. For a single sequence, chunks are distributed to the threads. If there
/// are several sequences, for_sequences() already gives whole sequences to threads.
template <class Task>
void for_chunks(Index n, Pool& pool, Task task) {
  const Index chunks = count_chunks(n);
  pool.run(chunks, [&](Index i) {
    const Index from = chunk_begin(n, chunks, i);
    task(i, from, chunk_end(n, chunks, i) - from);
  });
}

/// The hidden Markov chain with the posterior means of the transitions. first_only: transitions are
/// conditional on staying among the states in use.
chains::Chain mean_chain(const Query& q, bool first_only);

}  // namespace bnpvi
