// A visit (an update of q(z) of the units of a batch): the parameters that it uses, the sinks that observe
// it, and what it may reuse.
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

/// Global variational parameters, those that all units share. A plain value.
///
/// `effective` is the summary (sums of sufficient statistics T) that determines the posterior of the
/// clusters, whose natural parameters are η = η_0 + T. After an exact update it is that of the whole data, in
/// stochastic learning a running average. u and omega hold the top-level sticks of hierarchical models and
/// further numbers of some models; otherwise they are empty. `weights` caches visit_weights() at `effective`;
/// null if they have not been computed.
struct Globals {
  Summary effective;
  Vec u, omega;
  std::shared_ptr<const Weights> weights = nullptr;
};

/// Receives the responsibilities q(z) of every block of rows while a batch is visited. Several threads call
/// visit() at once, but for each chunk (consecutive units of a batch) only one thread at a time. Chunks are
/// numbered by their position in the batch: a sink that stores results by chunk and combines them in the
/// order of chunks has the same bits for any number of threads.
class ResponsibilitySink {
 public:
  virtual ~ResponsibilitySink() = default;
  /// Called before all other functions, with the number of chunks; they have numbers 0 .. n_chunks − 1.
  virtual void begin(Index n_chunks) = 0;
  /// Called for each block of rows. rows: the numbers of the rows, whose features are loaded in `block`.
  virtual void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) = 0;

  /// True when models whose rows have parents should call visit_joint() for each row t with a parent pa(t)
  /// (steps_to_parent). joint (K × K): P(z_pa(t) = l, z_t = j) in row l, column j.
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}

  /// True when models in which the clusters of consecutive rows depend on each other should call
  /// visit_messages() for each row: with its responsibilities r, its forward message alpha, its message nu (K
  /// numbers each) and the scale of the messages. It is not called for rows whose messages were computed in
  /// log space.
  virtual bool wants_messages() const { return false; }
  virtual void visit_messages(Index /*row*/, const double* /*r*/, const double* /*alpha*/,
                              const double* /*nu*/, double /*scale*/) {}
};

/// A sink of responsibilities that can also observe visits made in another process: the request is written
/// and sent there, and what was observed is written and sent back.
class Watch : public ResponsibilitySink {
 public:
  /// Called before the visit of this batch; weights: the clusters' parameters in the form that the visit
  /// uses.
  virtual void visiting(const Batch& /*batch*/, const std::shared_ptr<const Weights>& /*weights*/) {}
  /// Called after the visit of the batch.
  virtual void finish() {}

  virtual std::string kind() const = 0;  // the name by which WorkReader::read_watch() recognises it
  virtual void write_task(Writer& out) const = 0;
  virtual void write_result(Writer& out) const = 0;
  /// Reads what write_result() wrote, perhaps in another process. weights: the weights of the clusters with
  /// which the visit was made.
  virtual void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) = 0;
};

/// The input of a local step, the update of q(z) of some units of a batch at fixed global parameters: the
/// units, the models and the parameters.
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

/// Makes the visits (updates of q(z)) of one pass over all batches. An allocation model may have a visitor of
/// its own that reuses, from batch to batch, what hardly changes with the parameters (for example which
/// clusters are near each other). Such reuse must not make a visit end with a lower ELBO. The default calls
/// local_step().
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Summary visit(const Visit& visit) = 0;

  /// Called before visits with these global parameters. memory: what some batch stored at its last visit, as
  /// an example of its kind; null: no batch has stored anything. Where visits are made in other processes,
  /// the visitors there read() what this one writes for reuse.
  virtual void prepare(const Globals& /*globals*/, const UnitMemory* /*memory*/, Pool& /*pool*/) {}
  virtual void write(Writer& /*out*/) const {}
  virtual void read(Reader& /*in*/) {}
};

}  // namespace bnpvi
