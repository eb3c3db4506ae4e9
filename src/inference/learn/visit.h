// A visit of the units of a batch: at which globals, who looks on, and what it may reuse.
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
/// `effective` is the summary that determines the posterior of the clusters (natural parameters η = η_0 + T
/// are linear in it): the whole-data summary after an exact global step, a running average in stochastic
/// learning. u and omega are the top-level sticks of hierarchical models, empty in others. `weights` caches
/// visit_weights() at `effective`; null when that was not computed yet.
struct Globals {
  Summary effective;
  Vec u, omega;
  std::shared_ptr<const Weights> weights = nullptr;
};

/// Receives the responsibilities of every block of rows during a local step. visit() is called by several
/// threads at once, but for one chunk by one thread at a time. Chunks are numbered by their position in the
/// batch: a sink that stores by chunk and joins chunks in order has the same bits for any number of threads.
class ResponsibilitySink {
 public:
  virtual ~ResponsibilitySink() = default;
  /// Called first; chunks 0 .. n_chunks − 1 follow.
  virtual void begin(Index n_chunks) = 0;
  /// rows: the n rows of the block, whose features are loaded in `block`.
  virtual void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) = 0;

  /// True when visit_joint() should be called, by models with statistics of pairs: with P(z_pa(t) = l, z_t =
  /// j), K × K (row l), of each row t that has a parent (steps_to_parent).
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}

  /// True when visit_messages() should be called, by models in which the clusters of consecutive rows depend
  /// on each other: with the responsibilities of a row, its forward message and ν (K each; Windows) and its
  /// scale. Rows that were passed in log space have none.
  virtual bool wants_messages() const { return false; }
  virtual void visit_messages(Index /*row*/, const double* /*r*/, const double* /*alpha*/,
                              const double* /*nu*/, double /*scale*/) {}
};

/// A sink that can look on in another process: what it looks for can be written there, and what it found is
/// written back.
class Watch : public ResponsibilitySink {
 public:
  /// The visit of this batch with these weights is next.
  virtual void visiting(const Batch& /*batch*/, const std::shared_ptr<const Weights>& /*weights*/) {}
  /// The visit has ended.
  virtual void finish() {}

  virtual std::string kind() const = 0;  // by which WorkReader::read_watch() knows it
  virtual void write_task(Writer& out) const = 0;
  virtual void write_result(Writer& out) const = 0;
  /// weights: of the visit.
  virtual void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) = 0;
};

/// What a local step works on: the units of a batch at the present globals.
struct Visit {
  const Dataset& data;              // in which units are numbered
  const std::vector<Index>& units;  // rows, or groups of rows, which are ascending
  const ObsModel& obs;
  const Globals& globals;
  std::shared_ptr<const Weights> weights;  // visit_weights() at these globals
  Pool& pool;
  ResponsibilitySink* sink = nullptr;
  const UnitMemory* memory = nullptr;  // of the last visit of these units, if any
};

/// Makes the visits of one lap. An allocation model may derive its own visitor to reuse, from one batch to
/// the next, what changes little with the globals (such as which clusters are near each other). What it may
/// reuse must not make a visit end with a lower ELBO. The default calls local_step().
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Summary visit(const Visit& visit) = 0;

  /// Visits at these globals, of batches with such a memory (null: none has one), are next, some perhaps in
  /// other processes, whose visitors read what this one has for reuse.
  virtual void prepare(const Globals& /*globals*/, const UnitMemory* /*memory*/, Pool& /*pool*/) {}
  virtual void write(Writer& /*out*/) const {}
  virtual void read(Reader& /*in*/) {}
};

}  // namespace bnpvi
