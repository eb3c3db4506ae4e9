// Base class of fits of networks, and functions that read their stored states.
#pragma once
#include <cmath>
#include <vector>

#include "inference/learn/fit.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// A fit of a network, which begins at a start or continues from a stored state.
class NetworkFit : public Fit {
 public:
  /// Reads the state that write() wrote. Throws std::invalid_argument when it does not belong to this
  /// network.
  virtual void read(Reader& in) = 0;
  double slack() const final { return rounding_of_lap * (1 + std::abs(objective())); }

 private:
  // The relative rounding error of the bound in a lap (pass over all nodes). In laps of fits to 400 random
  // networks of up to 120 nodes, with counts up to 1e6, the bound fell by up to 8e-6 with parameters of
  // priors from 1e-8 to 1e8, and by 1e-9 with parameters from 1e-4 to 1e4. After numerical breakdowns it fell
  // by 1e-3 or more.
  static constexpr double rounding_of_lap = 1e-5;
};

/// The state of a fit of a network, which can be written and read, and which tests recompute.
class StoredState {
 public:
  virtual ~StoredState() = default;
  /// Writes all numbers on which further updates and changes depend, as they are after a lap (pass over all
  /// nodes) or a step.
  virtual void write(Writer& out) const = 0;
  /// Reads what write() wrote, with the number of communities stored there. Throws std::invalid_argument when
  /// the stored state does not belong to this network and model.
  virtual void read(Reader& in) = 0;
  /// Computes again all numbers that follow from q of links and nodes and from the stick-breaking proportions
  /// of communities; the bound may change only in its last digits.
  virtual void refresh() = 0;
};

/// Reads a list of `size` finite numbers, each at least `least`. Otherwise throws std::invalid_argument with
/// `what`, a word for the numbers. For counts `least` is nearly_none, below 0 by rounding.
Vec read_numbers(Reader& in, Index size, double least, const char* what);
constexpr double nearly_none = -1e-6, any = -HUGE_VAL, above_none = 1e-300;

/// Reads n labels 0 .. K − 1, each of which must occur. Throws std::invalid_argument otherwise.
std::vector<int> read_labels(Reader& in, Index n);

/// Reads the owners (classes that own communities, owners.h) of k communities, if nodes have known labels.
/// With `labels`, the community of each node must be one that the node may be in. Otherwise throws
/// std::invalid_argument.
Owners read_owners(Reader& in, const Links& links, Index k);
Owners read_owners(Reader& in, const Links& links, const std::vector<int>& labels);

}  // namespace bnpvi::networks
