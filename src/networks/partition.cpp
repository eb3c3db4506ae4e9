#include "networks/partition.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

namespace {

// weights: values of the other nodes (θ), used instead of 1 where a row has no values.
void add_ends(const SparseRows& rows, int node, const std::vector<int>& z, const Degrees* weights, Vec& sum) {
  for (Index e = rows.start[node]; e < rows.start[node + 1]; ++e) {
    const int other = rows.other[e];
    if (z[other] < 0) continue;
    sum[z[other]] += !rows.value.empty() ? rows.value[e] : weights ? weights->theta(other) : 1;
  }
}

}  // namespace

Partition::Partition(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels,
                     const Degrees* degrees, Owners owner)
    : links_(&links),
      model_(&model),
      degrees_(degrees),
      log_gamma_(std::log(gamma)),
      gamma_(gamma),
      z_(std::move(labels)),
      owner_(std::move(owner)) {
  for (int label : z_) k_ = std::max<Index>(k_, label + 1);
  owner_.resize(static_cast<std::size_t>(k_));
  known_.resize(owner_.size());
  for (Index i = 0; i < links.n(); ++i) known_[z_[i]] += links.has_label(i);
  make_room(k_);
  for (std::size_t i = 0; i < z_.size(); ++i) mass_[z_[i]] = mass_[z_[i]] + mass_of(static_cast<int>(i));
  const auto count = [&](Vec& table, int i, int j, double x) {
    const Index a = z_[i], b = z_[j];
    table[at(a, b)] += x;
    if (!links.directed() && a != b) table[at(b, a)] += x;
  };
  for (std::size_t e = 0; e < links.value().size(); ++e)
    count(s_, links.from()[e], links.to()[e], links.value()[e]);
  for (Index i = 0; degrees && i < links.n(); ++i) s_[at(z_[i], z_[i])] += links.loops(i);
  for (std::size_t p = 0; p < links.hidden_from().size(); ++p) {
    const int i = links.hidden_from()[p], j = links.hidden_to()[p];
    count(hidden_, i, j, degrees ? degrees->theta(i) * degrees->theta(j) : 1);
  }
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      links.poll(b);
      lambda_[at(a, b)] = cell(pairs(a, b), s_[at(a, b)]);
    }
}

void Partition::make_room(Index k) {
  if (k <= room_) return;
  const Index more = std::max<Index>(k, room_ + room_ / 2 + 8);
  for (Vec* table : {&hidden_, &s_, &lambda_}) {
    Vec larger(static_cast<std::size_t>(more * more));
    for (Index a = 0; a < k_ && room_; ++a)
      std::copy_n(table->begin() + a * room_, std::min(k_, room_), larger.begin() + a * more);
    *table = std::move(larger);
  }
  room_ = more;
  mass_.resize(static_cast<std::size_t>(more));
}

double Partition::pairs_of(const Mass& a, const Mass& b, bool same, double hidden) const {
  if (degrees_) return same ? Degrees::pairs_within(a, hidden) : Degrees::pairs(a, b, hidden);
  return (same ? a.nodes * (a.nodes - 1) * (links_->directed() ? 1 : 0.5) : a.nodes * b.nodes) - hidden;
}

double Partition::evidence() const {
  double sum = 0;
  for (Index a = 0; a < k_; ++a)
    for (Index b = links_->directed() ? 0 : a; b < k_; ++b) sum += lambda_[at(a, b)];
  return sum;
}

double Partition::degrees_evidence() const {
  if (!degrees_) return 0;
  double sum = degrees_->log_base();
  for (Index a = 0; a < k_; ++a) sum += Degrees::evidence(mass_[a]);
  return sum;
}

double Partition::log_joint() const {
  double sum = evidence();
  for (double y : links_->value()) sum += model_->log_base(y);
  for (Index a = 0; a < k_; ++a) sum += log_gamma(size(a));
  return sum + degrees_evidence() + static_cast<double>(k_) * log_gamma_ +
         log_gamma_difference(gamma_, static_cast<double>(links_->n()));
}

void Partition::count_ends(int node) {
  for (Vec* sum : {&ends_.out, &ends_.in, &ends_.hidden_out, &ends_.hidden_in})
    sum->assign(static_cast<std::size_t>(k_) + 1, 0);
  add_ends(links_->out(), node, z_, degrees_, ends_.out);
  add_ends(links_->in(), node, z_, degrees_, ends_.in);
  add_ends(links_->hidden_out(), node, z_, degrees_, ends_.hidden_out);
  add_ends(links_->hidden_in(), node, z_, degrees_, ends_.hidden_in);
  ends_.mass = mass_of(node);
  if (!degrees_) return;
  ends_.loops = links_->loops(node);
  for (double& x : ends_.hidden_out) x *= degrees_->theta(node);
}

void Partition::set(Index a, Index b, double hidden, double s) {
  hidden_[at(a, b)] = hidden;
  s_[at(a, b)] = s;
  lambda_[at(a, b)] = cell(pairs(a, b), s);
}

void Partition::add(int node, Index a, double sign) {
  z_[node] = sign > 0 ? static_cast<int>(a) : -1;
  mass_[a] = sign > 0 ? mass_[a] + ends_.mass : mass_[a] - ends_.mass;
  if (links_->has_label(node)) known_[a] += sign > 0 ? 1 : -1;
  for (Index l = 0; l < k_; ++l) {
    const std::size_t out = at(a, l), in = at(l, a);
    if (l == a) {
      set(a, a, hidden_[out] + sign * (ends_.hidden_out[a] + ends_.hidden_in[a]),
          s_[out] + sign * (ends_.out[a] + ends_.in[a] + ends_.loops));
      continue;
    }
    set(a, l, hidden_[out] + sign * ends_.hidden_out[l], s_[out] + sign * ends_.out[l]);
    if (links_->directed()) {
      set(l, a, hidden_[in] + sign * ends_.hidden_in[l], s_[in] + sign * ends_.in[l]);
    } else {
      hidden_[in] = hidden_[out];
      s_[in] = s_[out];
      lambda_[in] = lambda_[out];
    }
  }
}

double Partition::gain(Index a) const {
  const bool directed = links_->directed(), fresh = a == k_ || size(a) == 0;
  const Mass before = a == k_ ? Mass() : mass_[a], after = before + ends_.mass;
  double sum = fresh ? log_gamma_ : std::log(before.nodes);
  if (degrees_) sum += Degrees::evidence(after) - Degrees::evidence(before);
  // Gain of the evidence of the cluster's block with a cluster of mass `with` (a new cluster: of a new
  // block).
  const auto gained = [&](std::size_t at, const Mass& with, bool same, double hidden, double s) {
    if (a == k_) return cell(pairs_of(after, with, same, hidden), s);
    return cell(pairs_of(after, with, same, hidden_[at] + hidden), s_[at] + s) - lambda_[at];
  };
  for (Index l = 0; l < k_; ++l) {
    if (l == a) {
      sum += gained(at(a, a), after, true, ends_.hidden_out[a] + ends_.hidden_in[a],
                    ends_.out[a] + ends_.in[a] + ends_.loops);
      continue;
    }
    sum += gained(at(a, l), mass_[l], false, ends_.hidden_out[l], ends_.out[l]);
    if (directed) sum += gained(at(l, a), mass_[l], false, ends_.hidden_in[l], ends_.in[l]);
  }
  if (a == k_) sum += gained(0, after, true, 0, ends_.loops);
  return sum;
}

void Partition::append(int owner) {
  make_room(k_ + 1);
  owner_.push_back(owner);
  known_.push_back(0);
  mass_[k_] = Mass();
  ++k_;
  for (Index l = 0; l < k_; ++l) {
    set(k_ - 1, l, 0, 0);
    set(l, k_ - 1, 0, 0);
  }
}

void Partition::drop_empty(Index a) {
  const Index last = --k_;
  owner_[a] = owner_[last];
  known_[a] = known_[last];
  owner_.pop_back();
  known_.pop_back();
  if (a == last) return;
  for (int& label : z_)
    if (label == last) label = static_cast<int>(a);
  mass_[a] = mass_[last];
  for (Vec* table : {&hidden_, &s_, &lambda_}) {
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
    links_->poll(node);
    Index own = z_[node];
    const int owner_left = owner(own);
    const Index candidates = among.empty() ? k_ + 1 : static_cast<Index>(among.size());
    links_->spend(products_of_block * static_cast<double>(candidates * k_));
    count_ends(node);
    add(node, own, -1);
    Index best = own;
    double most = gain(own) + better;
    const auto consider = [&](Index a) {
      links_->poll(a);
      if (a < k_ && known_[a] > 0 && !links_->allows(node, owner_[a])) return;
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
      if (size(own) > 0) consider(k_);
    }
    if (best == k_) {
      append(owner_[own]);
      for (Vec* sum : {&ends_.out, &ends_.in, &ends_.hidden_out, &ends_.hidden_in}) sum->push_back(0);
    }
    add(node, best, 1);
    if (known_[best] == 1 && links_->has_label(node)) owner_[best] = owner_left;
    if (best != own) ++moved;
    if (size(own) == 0 && among.empty()) drop_empty(own);
  }
  return moved;
}

Partition::Joined Partition::joined(Index a, Index b) const {
  Joined out{mass_[a] + mass_[b], hidden_[at(a, a)] + hidden_[at(b, b)] + hidden_[at(a, b)],
             s_[at(a, a)] + s_[at(b, b)] + s_[at(a, b)]};
  if (links_->directed()) {
    out.hidden += hidden_[at(b, a)];
    out.s += s_[at(b, a)];
  }
  return out;
}

double Partition::merge_gain(Index a, Index b) const {
  const bool directed = links_->directed();
  const Joined both = joined(a, b);
  const auto gained = [&](std::size_t x, std::size_t y, const Mass& with) {
    return cell(pairs_of(both.mass, with, false, hidden_[x] + hidden_[y]), s_[x] + s_[y]) - lambda_[x] -
           lambda_[y];
  };
  double sum = -(lambda_[at(a, a)] + lambda_[at(b, b)] + lambda_[at(a, b)]);
  if (directed) sum -= lambda_[at(b, a)];
  sum += cell(pairs_of(both.mass, both.mass, true, both.hidden), both.s);
  for (Index l = 0; l < k_; ++l) {
    if (l == a || l == b) continue;
    sum += gained(at(a, l), at(b, l), mass_[l]);
    if (directed) sum += gained(at(l, a), at(l, b), mass_[l]);
  }
  if (degrees_)
    sum += Degrees::evidence(both.mass) - Degrees::evidence(mass_[a]) - Degrees::evidence(mass_[b]);
  return sum - log_gamma_ + log_gamma(size(a) + size(b)) - log_gamma(size(a)) - log_gamma(size(b));
}

void Partition::merge(Index a, Index b) {
  const Joined both = joined(a, b);
  mass_[a] = both.mass;
  owner_[a] = owner_of_both(owner(a), owner(b));
  known_[a] += known_[b];
  for (Index l = 0; l < k_; ++l) {
    if (l == a || l == b) continue;
    set(a, l, hidden_[at(a, l)] + hidden_[at(b, l)], s_[at(a, l)] + s_[at(b, l)]);
    set(l, a, hidden_[at(l, a)] + hidden_[at(l, b)], s_[at(l, a)] + s_[at(l, b)]);
  }
  set(a, a, both.hidden, both.s);
  for (int& label : z_)
    if (label == b) label = static_cast<int>(a);
  drop_empty(b);
}

Owners Partition::owners() const {
  Owners out;
  for (Index a = 0; a < k_; ++a) out.push_back(owner(a));
  return out;
}

Index Partition::merge_all() {
  Index merged = 0;
  while (k_ > 1) {
    links_->spend(products_of_block * static_cast<double>(k_ * k_ * k_) / 2);
    double most = 1e-9;
    Index best_a = -1, best_b = -1;
    for (Index a = 0; a < k_; ++a)
      for (Index b = a + 1; b < k_; ++b) {
        links_->poll(b);
        if (!can_merge(a, b)) continue;
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

}  // namespace bnpvi::networks
