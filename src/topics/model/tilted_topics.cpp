// Topic models whose documents' proportions depend on covariates.
#include <cmath>

#include "foundation/special.h"
#include "topics/model/tilted_top.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

namespace {

constexpr int most_rounds = 20;  // of sticks and effects in turn: a guess
// Of a round, for each document: the next one gains about a thousandth of it. A search that goes on from an
// earlier one is followed by others.
constexpr double least_gain = 1e-11, least_gain_on = 1e-5;

// The globals have a row for each topic in u: û_k and ω̂_k of its stick, then its effect.
class TiltedTopics final : public TopicAlloc {
 public:
  TiltedTopics(const TopicTilt& tilt, double gamma, const Sparsity& sparsity)
      : TopicAlloc({true, true, 0, false, 1, 0, TiltedTop::width(tilt)}, Concentration{tilt.alpha}, sparsity,
                   nullptr, tilt.patterns),
        tilt_(tilt),
        gamma_(gamma) {}

  // Found by precisions of effects, and sticks with the means that are best for them, in turn: sticks and
  // means in turn would take hundreds of rounds, as a topic's share and a shift of its effects in all
  // patterns say nearly the same.
  Globals global_step(const Summary& total, const Globals& from) const override {
    const double documents = total.scalar[TopicScalar::documents];
    const bool begun = static_cast<Index>(from.u.size()) == numbers_in_u(total.k) && documents != 0;
    Globals out = begun ? Globals{total, {}, {}} : globals_at(total, weights_of(total.sizes()));
    if (documents == 0) return out;
    TiltedTop now = *top(begun ? from : out);
    const Documents d(*this, total);
    const bool by_newton = begun && tilt_.columns > 0;
    const double enough = (begun ? least_gain_on : least_gain) * std::max(1.0, documents);
    for (int round = 0; round < most_rounds && total.k > 0; ++round) {
      double gain = by_newton ? newton_step(d, documents, now) : -1;
      if (gain < 0) gain = step(d, documents, now);
      if (gain <= enough || tilt_.columns == 0) break;
    }
    out.u = now.stored(tilt_);
    return out;
  }

  Globals globals_at(Summary total, const Vec& weights) const override {
    TiltedTop out;
    out.sticks.u = sticks_from_weights(weights);
    out.sticks.omega = closed_form(top_level(total.k, total.scalar[TopicScalar::documents], gamma_)).omega;
    out.effect.assign(static_cast<std::size_t>(total.k), TopicEffect(tilt_));
    return {std::move(total), out.stored(tilt_), {}};
  }

  Globals joined(const Globals& before, const Summary& merged, Index a, Index b) const override {
    TiltedTop out = *top(before);
    Vec weights = weights_from_sticks(out.sticks.u);
    if (weights[b] > weights[a]) out.effect[a] = out.effect[b];
    weights[a] += weights[b];
    weights.erase(weights.begin() + b);
    out.sticks.u = sticks_from_weights(weights);
    out.sticks.omega.erase(out.sticks.omega.begin() + b);
    out.effect.erase(out.effect.begin() + b);
    return {merged, out.stored(tilt_), {}};
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const Documents d(*this, total);
    const std::shared_ptr<const TiltedTop> at = top(globals);
    const TiltedTop& now = *at;
    RoundedSum documents = total_lengths(total);
    const WeightMoments pi = weight_moments(now.sticks);
    documents.add(documents_part(d, now, nullptr, pi, nullptr));
    double effects = 0;
    for (const TopicEffect& effect : now.effect) effects -= effect.divergence();
    const double top =
        top_value(top_level(total.k, total.scalar[TopicScalar::documents], gamma_), now.sticks).term();
    return {{"documents", documents.term()},
            {"top_level", top},
            {"effects", effects},
            {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override {
    return weights_from_sticks(top(globals)->sticks.u);
  }

  Vec document_prior(const Globals& globals) const override {
    Vec a = mean_weights(globals);
    a.pop_back();
    for (double& x : a) x *= alpha();
    return a;
  }

  DocumentPriors document_priors(const Globals& globals) const override {
    const std::shared_ptr<const TiltedTop> at = top(globals);
    const TiltedTop& now = *at;
    const Vec pi = weights_from_sticks(now.sticks.u);
    std::vector<DocumentPrior> out;
    for (Index c = 0; c < tilt_.patterns; ++c) {
      Vec a;
      double all = alpha() * pi.back();
      for (std::size_t j = 0; j + 1 < pi.size(); ++j) {
        a.push_back(alpha() * now.effect[j].factor(c) * pi[j]);
        all += a.back();
      }
      out.emplace_back(std::move(a), all);
    }
    return DocumentPriors(std::move(out));
  }

  NamedArrays posterior(const Globals& globals) const override {
    const std::shared_ptr<const TiltedTop> at = top(globals);
    const TiltedTop& now = *at;
    const Index k = static_cast<Index>(now.effect.size()), p = tilt_.columns;
    NamedArray sticks{"untilted_sticks", Vec(static_cast<std::size_t>(2 * k)), {k, 2}},
        mean{"effects", Vec(static_cast<std::size_t>(k * p)), {k, p}}, cov{"effects_cov", {}, {p, p, k}};
    for (Index j = 0; j < k; ++j) {
      sticks.value[j] = now.sticks.u[j] * now.sticks.omega[j];
      sticks.value[k + j] = (1 - now.sticks.u[j]) * now.sticks.omega[j];
      for (Index i = 0; i < p; ++i) mean.value[i * k + j] = now.effect[j].mean()[i];
      const Vec own = now.effect[j].covariance();
      cov.value.insert(cov.value.end(), own.begin(), own.end());
    }
    return {sticks, mean, cov};
  }

  // Joins in the first laps know one prior of all documents.
  AllocCapabilities capabilities() const override {
    AllocCapabilities out = TopicAlloc::capabilities();
    out.joins = nullptr;
    return out;
  }

 protected:
  RoundedSum value_of_documents(const Summary& total, const WeightMoments&) const override {
    return total_lengths(total);
  }

  Vec document_prior_of(const Vec& sizes) const override {
    Vec a = weights_of(sizes);
    a.pop_back();
    for (double& x : a) x *= alpha();
    return a;
  }

  std::unique_ptr<TopicAlloc> with(const Concentration&) const override {
    return std::make_unique<TiltedTopics>(tilt_, gamma_, sparsity_);
  }

 private:
  // What a summary has of documents.
  struct Documents {
    Documents(const TiltedTopics& own, const Summary& total)
        : n(by_pattern(own, total, TopicScalar::documents_of)),
          f(by_pattern(own, total, TopicScalar::slope_of)),
          part(own.tilt_, n, f) {
      const Index patterns = own.tilt_.patterns, width = TopicExtra::size_of(patterns);
      counts.resize(static_cast<std::size_t>(total.k));
      for (Index j = 0; j < total.k; ++j) {
        TopicCounts& to = counts[j];
        to.users.reserve(n.size());
        to.slope.reserve(n.size());
        const double* extra = total.extra.data() + j * width;
        for (Index c = 0; c < patterns; ++c) {
          to.users.push_back(extra[TopicExtra::users_of(c)]);
          to.slope.push_back(extra[TopicExtra::slope_of(c)]);
        }
      }
      none.users.assign(n.size(), 0.0);
      none.slope.assign(n.size(), 0.0);
    }
    Documents(const Documents&) = delete;

    static Vec by_pattern(const TiltedTopics& own, const Summary& total, Index (*at)(Index)) {
      Vec out;
      for (Index c = 0; c < own.tilt_.patterns; ++c) out.push_back(total.scalar[at(c)]);
      return out;
    }

    Vec n, f;
    std::vector<TopicCounts> counts;
    TopicCounts none;  // of topics not found yet
    TopicPart part;
  };

  std::shared_ptr<const TiltedTop> top(const Globals& globals) const {
    if (static_cast<Index>(globals.u.size()) / numbers_in_u(1) < globals.effective.k)  // of a start
      return top(globals_at(globals.effective, weights_of(globals.effective.sizes())));
    return reader_.read(tilt_, globals.u);
  }

  // As of HdpTopics.
  Vec weights_of(const Vec& sizes) const {
    Vec out;
    double sum = gamma_;
    for (double n : sizes) sum += n + 1;
    for (double n : sizes) out.push_back((std::max(n, 0.0) + 1) / sum);
    out.push_back(gamma_ / sum);
    return out;
  }

  // Of each topic, and last of those not found yet.
  std::vector<std::vector<char>> choices(const Documents& d, const TiltedTop& now,
                                         const WeightMoments& pi) const {
    std::vector<std::vector<char>> out;
    for (std::size_t j = 0; j < now.effect.size(); ++j)
      out.push_back(d.part.choose(now.effect[j], pi.mean[j], pi.variance[j]));
    out.push_back(d.part.choose(rest_, pi.mean.back(), pi.variance.back()));
    return out;
  }

  // What depends on π and the effects of the documents' part and of the normalisers of their priors, without
  // E log π. second: choices(), or null for the lower ones.
  RoundedSum documents_part(const Documents& d, const TiltedTop& now,
                            const std::vector<std::vector<char>>* second, const WeightMoments& pi,
                            WeightMoments* gradient) const {
    RoundedSum out;
    for (std::size_t j = 0; j <= now.effect.size(); ++j) {
      const bool rest = j == now.effect.size();
      out.add(d.part.value(rest ? d.none : d.counts[j], rest ? rest_ : now.effect[j],
                           second ? &(*second)[j] : nullptr, pi.mean[j], pi.variance[j],
                           gradient ? &gradient->mean[j] : nullptr,
                           gradient ? &gradient->variance[j] : nullptr));
    }
    return out;
  }

  RoundedSum total_lengths(const Summary& total) const {
    const Index width = TopicExtra::size_of(tilt_.patterns);
    RoundedSum out;
    out.add(total.scalar[TopicScalar::lengths]);
    for (Index j = 0; j < total.k; ++j) out.add(total.extra[j * width + width - 1]);
    return out;
  }

  RoundedSum bound(const Documents& d, const TiltedTop& now) const {
    const WeightMoments pi = weight_moments(now.sticks);
    double documents = 0;
    for (double n : d.n) documents += n;
    RoundedSum out = documents_part(d, now, nullptr, pi, nullptr);
    out.add(top_value(top_level(static_cast<Index>(now.effect.size()), documents, gamma_), now.sticks));
    for (const TopicEffect& effect : now.effect) out.add(-effect.divergence());
    return out;
  }

  // Returns what the bound gains.
  double step(const Documents& d, double documents, TiltedTop& now) const {
    const double before = bound(d, now).value();
    const std::vector<std::vector<char>> second = choices(d, now, weight_moments(now.sticks));
    const auto each = [&](const WeightMoments& pi, auto change) {
      for (std::size_t j = 0; j < now.effect.size(); ++j)
        now.effect[j] = change(d.counts[j], now.effect[j], second[j], pi.mean[j], pi.variance[j]);
    };
    const auto best_mean = [&](const auto&... args) { return d.part.with_best_mean(args...); };
    each(weight_moments(now.sticks), [&](const auto&... args) { return d.part.widened(args...); });
    now.sticks = maximise_sticks(
        top_level(static_cast<Index>(now.effect.size()), documents, gamma_),
        [&](const WeightMoments& pi, WeightMoments* gradient) {
          each(pi, best_mean);
          RoundedSum out = documents_part(d, now, &second, pi, gradient);
          for (const TopicEffect& effect : now.effect) out.add(-effect.divergence());
          return out;
        },
        now.sticks);
    each(weight_moments(now.sticks), best_mean);
    return bound(d, now).value() - before;
  }

  // Moves sticks, means and precisions at once to where quadratic models of the topics' parts are best, and
  // returns what the bound gains; if it would lose, leaves `now` as it is and returns −1.
  double newton_step(const Documents& d, double documents, TiltedTop& now) const {
    const TopLevel top = top_level(static_cast<Index>(now.effect.size()), documents, gamma_);
    const WeightMoments from = weight_moments(now.sticks);
    RoundedSum before = top_value(top, now.sticks);
    std::vector<TopicModel> model;
    for (std::size_t j = 0; j <= now.effect.size(); ++j) {
      const bool rest = j == now.effect.size();
      model.push_back(d.part.model(rest ? d.none : d.counts[j], rest ? rest_ : now.effect[j], from.mean[j],
                                   from.variance[j]));
      before.add(model.back().value);
    }
    TiltedTop next = now;
    next.sticks = maximise_sticks(
        top,
        [&](const WeightMoments& pi, WeightMoments* gradient) {
          RoundedSum out;
          for (std::size_t j = 0; j < model.size(); ++j) {
            const TopicModel& m = model[j];
            const double moved = std::log(pi.mean[j]) - m.log_mean;
            out.add(moved * (m.slope - m.curvature * moved / 2));
            out.add(m.by_variance * (pi.variance[j] - m.variance));
            if (!gradient) continue;
            gradient->mean[j] += (m.slope - m.curvature * moved) / pi.mean[j];
            gradient->variance[j] += m.by_variance;
          }
          return out;
        },
        now.sticks);
    const WeightMoments to = weight_moments(next.sticks);
    for (std::size_t j = 0; j < now.effect.size(); ++j) {
      next.effect[j] = d.part.moved(now.effect[j], model[j], std::log(to.mean[j]));
      if (!d.part.is_within(next.effect[j])) return -1;
    }
    const double gain = bound(d, next).value() - before.value();
    if (!(gain >= 0)) return -1;
    now = std::move(next);
    return gain;
  }

  static TopicTilt flat(const TopicTilt& tilt) {
    TopicTilt out = tilt;
    out.columns = 0;
    out.x.clear();
    out.more_variance.clear();
    return out;
  }

  const TopicTilt tilt_;
  const double gamma_;
  const TopicTilt flat_ = flat(tilt_);
  const TopicEffect rest_{flat_};  // topics not found yet have none
  const TiltedTopReader reader_;
};

}  // namespace

std::unique_ptr<AllocModel> make_tilted_topics(const TopicTilt& tilt, double gamma,
                                               const Sparsity& sparsity) {
  return std::make_unique<TiltedTopics>(tilt, gamma, sparsity);
}

}  // namespace bnpvi::topics
