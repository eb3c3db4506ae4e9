// Clusters of a partition divided in two.
#include <algorithm>

#include "networks/partition.h"

namespace bnpvi::networks {

std::vector<int> Partition::members(Index a) const { return members(a, a); }

std::vector<int> Partition::members(Index a, Index b) const {
  std::vector<int> out;
  for (std::size_t i = 0; i < z_.size(); ++i)
    if (z_[i] == a || z_[i] == b) out.push_back(static_cast<int>(i));
  return out;
}

void Partition::settle(const std::vector<int>& nodes, Index a, Index b) {
  constexpr int max_sweeps = 10;  // a guess
  for (int s = 0; s < max_sweeps && sweep(nodes, {static_cast<int>(a), static_cast<int>(b)}) > 0; ++s) {
  }
  for (Index c : {std::max(a, b), std::min(a, b)})
    if (size(c) == 0) drop_empty(c);
}

double Partition::divide(Index a, const std::vector<int>& leaves) {
  const double before = log_joint();
  const std::vector<int> nodes = members(a);
  const Index b = k_;
  append(owner_[a]);
  for (int node : leaves) {
    links_->poll(node);
    count_ends(node);
    add(node, a, -1);
    add(node, b, 1);
  }
  settle(nodes, a, b);
  return log_joint() - before;
}

double Partition::divide(Index a, Index b, Stream& stream) {
  const double before = log_joint();
  std::vector<int> nodes = members(a, b);
  if (nodes.size() < 2) return 0;
  if (b == k_) append(owner_[a]);
  draw_to_front(nodes, static_cast<Index>(nodes.size()), stream);
  for (int node : nodes) {
    links_->poll(node);
    count_ends(node);
    add(node, z_[node], -1);
  }
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    links_->poll(static_cast<Index>(j));
    count_ends(nodes[j]);
    add(nodes[j], j == 0 || (j > 1 && gain(a) >= gain(b)) ? a : b, 1);
  }
  settle(nodes, a, b);
  return log_joint() - before;
}

}  // namespace bnpvi::networks
