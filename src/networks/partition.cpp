#include "networks/partition.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

namespace {

void add_ends(const SparseRows& rows, int node, const std::vector<int>& z, Vec& sum) {
  for (Index e = rows.start[node]; e < rows.start[node + 1]; ++e)
    if (z[rows.other[e]] >= 0) sum[z[rows.other[e]]] += rows.value.empty() ? 1 : rows.value[e];
}

}  // namespace

Partition::Partition(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels)
    : links_(&links), model_(&model), log_gamma_(std::log(gamma)), gamma_(gamma), z_(std::move(labels)) {
  for (int label : z_) k_ = std::max<Index>(k_, label + 1);
  make_room(k_);
  const bool directed = links.directed();
  for (int label : z_) ++size_[label];
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b)
      n_[at(a, b)] = a != b ? size_[a] * size_[b] : size_[a] * (size_[a] - 1) * (directed ? 1 : 0.5);
  const auto count = [&](Vec& table, const std::vector<int>& from, const std::vector<int>& to, double sign,
                         const Vec* value) {
    for (std::size_t p = 0; p < from.size(); ++p) {
      const double x = sign * (value ? (*value)[p] : 1);
      const Index a = z_[from[p]], b = z_[to[p]];
      table[at(a, b)] += x;
      if (!directed && a != b) table[at(b, a)] += x;
    }
  };
  count(s_, links.from(), links.to(), 1, &links.value());
  count(n_, links.hidden_from(), links.hidden_to(), -1, nullptr);
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) lambda_[at(a, b)] = cell(n_[at(a, b)], s_[at(a, b)]);
}

void Partition::make_room(Index k) {
  if (k <= room_) return;
  const Index more = std::max<Index>(k, room_ + room_ / 2 + 8);
  for (Vec* table : {&n_, &s_, &lambda_}) {
    Vec larger(static_cast<std::size_t>(more * more));
    for (Index a = 0; a < k_ && room_; ++a)
      std::copy_n(table->begin() + a * room_, std::min(k_, room_), larger.begin() + a * more);
    *table = std::move(larger);
  }
  room_ = more;
  size_.resize(static_cast<std::size_t>(more));
}

double Partition::log_joint() const {
  double sum = 0;
  for (Index a = 0; a < k_; ++a)
    for (Index b = links_->directed() ? 0 : a; b < k_; ++b) sum += lambda_[at(a, b)];
  for (double y : links_->value()) sum += model_->log_base(y);
  for (Index a = 0; a < k_; ++a) sum += log_gamma(size_[a]);
  return sum + static_cast<double>(k_) * log_gamma_ +
         log_gamma_difference(gamma_, static_cast<double>(links_->n()));
}

void Partition::count_ends(int node) {
  for (Vec* sum : {&ends_.out, &ends_.in, &ends_.hidden_out, &ends_.hidden_in})
    sum->assign(static_cast<std::size_t>(k_) + 1, 0);
  add_ends(links_->out(), node, z_, ends_.out);
  add_ends(links_->in(), node, z_, ends_.in);
  add_ends(links_->hidden_out(), node, z_, ends_.hidden_out);
  add_ends(links_->hidden_in(), node, z_, ends_.hidden_in);
}

void Partition::set(Index a, Index b, double n, double s) {
  n_[at(a, b)] = n;
  s_[at(a, b)] = s;
  lambda_[at(a, b)] = cell(n, s);
}

void Partition::add(int node, Index a, double sign) {
  const bool directed = links_->directed();
  if (sign < 0) {
    z_[node] = -1;
    --size_[a];
  }
  for (Index l = 0; l < k_; ++l) {
    const std::size_t out = at(a, l);
    if (l == a) {
      const double pairs = (directed ? 2 : 1) * size_[a] - ends_.hidden_out[a] - ends_.hidden_in[a];
      set(a, a, n_[out] + sign * pairs, s_[out] + sign * (ends_.out[a] + ends_.in[a]));
      continue;
    }
    set(a, l, n_[out] + sign * (size_[l] - ends_.hidden_out[l]), s_[out] + sign * ends_.out[l]);
    const std::size_t in = at(l, a);
    if (directed) {
      set(l, a, n_[in] + sign * (size_[l] - ends_.hidden_in[l]), s_[in] + sign * ends_.in[l]);
    } else {
      n_[in] = n_[out];
      s_[in] = s_[out];
      lambda_[in] = lambda_[out];
    }
  }
  if (sign > 0) {
    z_[node] = static_cast<int>(a);
    ++size_[a];
  }
}

double Partition::gain(Index a) const {
  const bool directed = links_->directed();
  double sum = a == k_ || size_[a] == 0 ? log_gamma_ : std::log(size_[a]);
  for (Index l = 0; l < k_; ++l) {
    const double out_pairs = size_[l] - ends_.hidden_out[l], in_pairs = size_[l] - ends_.hidden_in[l];
    if (a == k_) {
      sum += cell(out_pairs, ends_.out[l]);
      if (directed) sum += cell(in_pairs, ends_.in[l]);
      continue;
    }
    const std::size_t out = at(a, l), in = at(l, a);
    if (l == a) {
      const double pairs = directed ? out_pairs + in_pairs : out_pairs;
      sum += cell(n_[out] + pairs, s_[out] + ends_.out[l] + ends_.in[l]) - lambda_[out];
      continue;
    }
    sum += cell(n_[out] + out_pairs, s_[out] + ends_.out[l]) - lambda_[out];
    if (directed) sum += cell(n_[in] + in_pairs, s_[in] + ends_.in[l]) - lambda_[in];
  }
  return sum;
}

void Partition::append() {
  make_room(k_ + 1);
  size_[k_] = 0;
  ++k_;
  for (Index l = 0; l < k_; ++l) {
    set(k_ - 1, l, 0, 0);
    set(l, k_ - 1, 0, 0);
  }
}

void Partition::drop_empty(Index a) {
  const Index last = --k_;
  if (a == last) return;
  for (int& label : z_)
    if (label == last) label = static_cast<int>(a);
  size_[a] = size_[last];
  for (Vec* table : {&n_, &s_, &lambda_}) {
    (*table)[at(a, a)] = (*table)[at(last, last)];
    for (Index l = 0; l < k_; ++l) {
      if (l == a) continue;
      (*table)[at(a, l)] = (*table)[at(last, l)];
      (*table)[at(l, a)] = (*table)[at(l, last)];
    }
  }
}

Index Partition::sweep(const std::vector<int>& nodes, const std::vector<int>& among) {
  // Another cluster must be better by more than rounding, so that sweeps come to an end.
  constexpr double better = 1e-9;
  Index moved = 0;
  for (int node : nodes) {
    Index own = z_[node];
    count_ends(node);
    add(node, own, -1);
    Index best = own;
    double most = gain(own) + better;
    const auto consider = [&](Index a) {
      const double now = gain(a);
      if (now > most) {
        most = now;
        best = a;
      }
    };
    if (!among.empty()) {
      for (int a : among)
        if (a != own) consider(a);
    } else {
      for (Index a = 0; a < k_; ++a)
        if (a != own) consider(a);
      if (size_[own] > 0) consider(k_);
    }
    if (best == k_) {
      append();
      for (Vec* sum : {&ends_.out, &ends_.in, &ends_.hidden_out, &ends_.hidden_in}) sum->push_back(0);
    }
    add(node, best, 1);
    if (best != own) ++moved;
    if (size_[own] == 0 && among.empty()) drop_empty(own);
  }
  return moved;
}

double Partition::merge_gain(Index a, Index b) const {
  const bool directed = links_->directed();
  const auto joined = [&](std::size_t x, std::size_t y) {
    return cell(n_[x] + n_[y], s_[x] + s_[y]) - lambda_[x] - lambda_[y];
  };
  double sum = 0, n = n_[at(a, a)] + n_[at(b, b)] + n_[at(a, b)],
         s = s_[at(a, a)] + s_[at(b, b)] + s_[at(a, b)];
  sum -= lambda_[at(a, a)] + lambda_[at(b, b)] + lambda_[at(a, b)];
  if (directed) {
    n += n_[at(b, a)];
    s += s_[at(b, a)];
    sum -= lambda_[at(b, a)];
  }
  sum += cell(n, s);
  for (Index l = 0; l < k_; ++l) {
    if (l == a || l == b) continue;
    sum += joined(at(a, l), at(b, l));
    if (directed) sum += joined(at(l, a), at(l, b));
  }
  return sum - log_gamma_ + log_gamma(size_[a] + size_[b]) - log_gamma(size_[a]) - log_gamma(size_[b]);
}

void Partition::merge(Index a, Index b) {
  const bool directed = links_->directed();
  double n = n_[at(a, a)] + n_[at(b, b)] + n_[at(a, b)], s = s_[at(a, a)] + s_[at(b, b)] + s_[at(a, b)];
  if (directed) {
    n += n_[at(b, a)];
    s += s_[at(b, a)];
  }
  for (Index l = 0; l < k_; ++l) {
    if (l == a || l == b) continue;
    set(a, l, n_[at(a, l)] + n_[at(b, l)], s_[at(a, l)] + s_[at(b, l)]);
    set(l, a, n_[at(l, a)] + n_[at(l, b)], s_[at(l, a)] + s_[at(l, b)]);
  }
  set(a, a, n, s);
  size_[a] += size_[b];
  for (int& label : z_)
    if (label == b) label = static_cast<int>(a);
  drop_empty(b);
}

Index Partition::merge_all() {
  Index merged = 0;
  while (k_ > 1) {
    double most = 1e-9;
    Index best_a = -1, best_b = -1;
    for (Index a = 0; a < k_; ++a)
      for (Index b = a + 1; b < k_; ++b) {
        const double now = merge_gain(a, b);
        if (now > most) {
          most = now;
          best_a = a;
          best_b = b;
        }
      }
    if (best_a < 0) break;
    merge(best_a, best_b);
    ++merged;
  }
  return merged;
}

std::vector<int> Partition::members(Index a) const { return members(a, a); }

std::vector<int> Partition::members(Index a, Index b) const {
  std::vector<int> out;
  for (std::size_t i = 0; i < z_.size(); ++i)
    if (z_[i] == a || z_[i] == b) out.push_back(static_cast<int>(i));
  return out;
}

double Partition::divide(Index a, Index b, Stream& stream) {
  constexpr int max_sweeps = 10;  // between the two; a guess
  const double before = log_joint();
  std::vector<int> nodes = members(a, b);
  if (nodes.size() < 2) return 0;
  if (b == k_) append();
  draw_to_front(nodes, static_cast<Index>(nodes.size()), stream);
  for (int node : nodes) {
    count_ends(node);
    add(node, z_[node], -1);
  }
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    count_ends(nodes[j]);
    add(nodes[j], j == 0 || (j > 1 && gain(a) >= gain(b)) ? a : b, 1);
  }
  for (int s = 0; s < max_sweeps && sweep(nodes, {static_cast<int>(a), static_cast<int>(b)}) > 0; ++s) {
  }
  for (Index c : {std::max(a, b), std::min(a, b)})
    if (size_[c] == 0) drop_empty(c);
  return log_joint() - before;
}

}  // namespace bnpvi::networks
