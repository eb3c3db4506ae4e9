// A visit (a local step) of the units of a batch: the globals that it uses, the sinks that observe it, and
// what it may reuse.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/pool.h"
#include "inference/data/source.h"
#include "inference/data/summary.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// Global variational parameters; a plain value.
///
/// `effective` is the summary that determines the posterior of the clusters (their natural parameters η = η_0
/// + T are linear in it): the whole-data summary after an exact global step, a running average in stochastic
/// learning. u and omega hold the top-level sticks of hierarchical models and further numbers of some models;
/// otherwise they are empty. `weights` caches visit_weights() at `effective`; null if they have not been
/// computed.
struct Globals {
  Summary effective;
  Vec u, omega;
  std::shared_ptr<const Weights> weights = nullptr;
};

/// Receives the responsibilities of every block of rows during a local step. Several threads call visit() at
/// once, but for each chunk only one thread at a time. Chunks are numbered by their position in the batch: a
/// sink that stores results by chunk and combines them in the order of chunks has the same bits for any
/// number of threads.
class ResponsibilitySink {
 public:
  virtual ~ResponsibilitySink() = default;
  /// Called before all other functions; chunks 0 .. n_chunks − 1 follow.
  virtual void begin(Index n_chunks) = 0;
  /// rows: the rows of the block, whose features are loaded in `block`.
  virtual void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) = 0;

  /// True when models with statistics of pairs should call visit_joint(): for each row t that has a parent
  /// pa(t) (steps_to_parent), with joint = P(z_pa(t) = l, z_t = j), K × K, row l, column j.
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}

  /// True when models in which the clusters of consecutive rows depend on each other should call
  /// visit_messages(): for each row, with its responsibilities, its forward message alpha, the message ν (K
  /// numbers each) and its scale. Not called for rows whose messages were computed in log space.
  virtual bool wants_messages() const { return false; }
  virtual void visit_messages(Index /*row*/, const double* /*r*/, const double* /*alpha*/,
                              const double* /*nu*/, double /*scale*/) {}
};

/// A sink that can also observe visits in another process: the request is written and sent there, and the
/// findings are written and sent back.
class Watch : public ResponsibilitySink {
 public:
  /// Called before the visit of this batch with these weights.
  virtual void visiting(const Batch& /*batch*/, const std::shared_ptr<const Weights>& /*weights*/) {}
  /// Called after the visit.
  virtual void finish() {}

  virtual std::string kind() const = 0;  // the name by which WorkReader::read_watch() recognises it
  virtual void write_task(Writer& out) const = 0;
  virtual void write_result(Writer& out) const = 0;
  /// Reads findings that write_result() wrote, perhaps in another process. weights: the weights of the
  /// clusters at which the visit was made.
  virtual void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) = 0;
};

/// The input of a local step (the update of q(z) of some units of a batch at fixed globals): the units, the
/// models and the globals.
struct Visit {
  const Dataset& data;              // the data in which units are numbered
  const std::vector<Index>& units;  // rows, or groups of rows; groups are ascending
  const ObsModel& obs;
  const Globals& globals;
  std::shared_ptr<const Weights> weights;  // visit_weights() at these globals
  Pool& pool;
  ResponsibilitySink* sink = nullptr;
  const UnitMemory* memory = nullptr;  // from the last visit of these units, if any
};

/// Makes the visits of one lap. An allocation model may derive its own visitor, which reuses from one batch
/// to the next what changes little with the globals (for example which clusters are near each other). Such
/// reuse must not make a visit end with a lower ELBO. The default calls local_step().
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Summary visit(const Visit& visit) = 0;

  /// Called before visits at these globals. memory: what the batches' last visits stored, as an example of
  /// its kind; null: no batch has any. Some of these visits may be made in other processes, whose visitors
  /// read() what this one writes for reuse.
  virtual void prepare(const Globals& /*globals*/, const UnitMemory* /*memory*/, Pool& /*pool*/) {}
  virtual void write(Writer& /*out*/) const {}
  virtual void read(Reader& /*in*/) {}
};

}  // namespace bnpvi
