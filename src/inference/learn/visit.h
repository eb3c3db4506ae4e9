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
/// effective: the sums of sufficient statistics T that determine the posterior of the clusters, whose natural
/// parameters are η = η_0 + T. After an exact update they are those of all data; in stochastic learning they
/// are a running average. u, omega: the top-level sticks of hierarchical models, and further numbers of some
/// models; else empty. weights: visit_weights() at `effective`; null if not computed yet.
struct Globals {
  Summary effective;
  Vec u, omega;
  std::shared_ptr<const Weights> weights = nullptr;
};

/// Receives the responsibilities q(z) of every block of rows while a batch is visited. Several threads call
/// visit() at the same time, but only one for each chunk (consecutive units of a batch). Chunks have numbers,
/// their positions in the batch. A sink that stores results by chunk and combines them in the order of chunks
/// has the same bits for any number of threads.
class ResponsibilitySink {
 public:
  virtual ~ResponsibilitySink() = default;
  /// Called before all other functions, with the number of chunks; they have numbers 0 .. n_chunks − 1.
  virtual void begin(Index n_chunks) = 0;
  /// Called for each block of rows. rows: the numbers of the rows, whose features are loaded in `block`.
  virtual void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) = 0;

  /// True if visit_joint() should be called for each row t that has a parent pa(t), in models with parents
  /// (steps_to_parent). joint: K × K, with P(z_pa(t) = l, z_t = j) in row l and column j.
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}

  /// True if visit_messages() should be called for each row, in models where the clusters of consecutive rows
  /// depend on each other. r: responsibilities; alpha: forward message; nu: message of the row (K numbers
  /// each); scale: scale of the messages. Rows whose messages were computed in log space are left out.
  virtual bool wants_messages() const { return false; }
  virtual void visit_messages(Index /*row*/, const double* /*r*/, const double* /*alpha*/,
                              const double* /*nu*/, double /*scale*/) {}
};

/// A sink of responsibilities that can also observe visits in another process. The task is written and sent
/// there; what was observed is written and sent back.
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

/// Makes the visits (updates of q(z)) of one pass over all batches. By default a visit calls local_step(). A
/// model may have a visitor that reuses, from batch to batch, what hardly changes with the parameters, such
/// as which clusters are near each other. Such reuse must not make a visit end with a lower ELBO.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Summary visit(const Visit& visit) = 0;

  /// Called before visits with these globals. memory: what some batch stored at its last visit, as an
  /// example; null if no batch has stored anything. If visits are made in other processes, the visitors there
  /// read() what this one writes.
  virtual void prepare(const Globals& /*globals*/, const UnitMemory* /*memory*/, Pool& /*pool*/) {}
  virtual void write(Writer& /*out*/) const {}
  virtual void read(Reader& /*in*/) {}
};

}  // namespace bnpvi
