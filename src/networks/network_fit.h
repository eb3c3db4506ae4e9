// Base class of fits of networks, and functions that read their stored states.
#pragma once
#include <cmath>
#include <vector>

#include "inference/learn/fit.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// A fit of a network. It begins at a start or continues from a stored state.
class NetworkFit : public Fit {
 public:
  /// Reads the state that write() wrote. Throws std::invalid_argument when the state does not belong to this
  /// network.
  virtual void read(Reader& in) = 0;
  double slack() const final { return rounding_of_lap * (1 + std::abs(objective())); }

 private:
  // By how much, relatively, rounding may lower the bound in a lap (pass over all nodes). Measured in fits to
  // 400 random networks of up to 120 nodes, with counts up to 1e6: up to 8e-6 for prior parameters from 1e-8
  // to 1e8, and 1e-9 for prior parameters from 1e-4 to 1e4. Numerical breakdowns lowered it by 1e-3 or more.
  static constexpr double rounding_of_lap = 1e-5;
};

/// A state that can be stored and read again, and whose derived numbers tests can recompute.
class StoredState {
 public:
  virtual ~StoredState() = default;
  /// Writes all numbers on which further updates and changes depend. Called after a lap (pass over all nodes)
  /// or a step.
  virtual void write(Writer& out) const = 0;
  /// Reads the state that write() wrote, with its number of communities. Throws std::invalid_argument when
  /// the state does not belong to this network and model.
  virtual void read(Reader& in) = 0;
  /// Recomputes all numbers that follow from q of the links and nodes and from the stick-breaking
  /// proportions. The bound may change only in its last digits.
  virtual void refresh() = 0;
};

/// Reads a list of `size` finite numbers, each at least `least`. Throws std::invalid_argument otherwise;
/// `what` names the numbers in its message. For counts `least` is nearly_none, since rounding may make them
/// negative.
Vec read_numbers(Reader& in, Index size, double least, const char* what);
constexpr double nearly_none = -1e-6, any = -HUGE_VAL, above_none = 1e-300;

/// Reads n labels. Each of the values 0 .. K − 1 must occur; throws std::invalid_argument otherwise.
std::vector<int> read_labels(Reader& in, Index n);

/// Reads the owners of k communities (the classes that own them, owners.h). There are owners only if some
/// nodes have known labels. With `labels`, the community of each node must be one where the node may be.
/// Throws std::invalid_argument otherwise.
Owners read_owners(Reader& in, const Links& links, Index k);
Owners read_owners(Reader& in, const Links& links, const std::vector<int>& labels);

}  // namespace bnpvi::networks
