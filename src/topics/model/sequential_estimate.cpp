#include "topics/model/sequential_estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/log_product.h"
#include "foundation/random.h"
#include "topics/model/long_shuffle.h"

namespace bnpvi::topics {

namespace {

constexpr Index documents_a_task = 8;  // this and the next: guesses
constexpr Index tokens_between_polls = 1 << 12;

class SequentialEstimate {
 public:
  SequentialEstimate(const Dataset& data, const Vec& phi, const Vec& a, Pool& pool)
      : data_(data),
        phi_(phi),
        a_(a),
        total_(std::accumulate(a.begin(), a.end(), 0.0)),
        pool_(pool),
        sums_(a.size()) {}

  double of(Index document, Index draws, Stream& stream) {
    read(document);
    if (words_.empty()) return 0;
    log_p_.clear();
    for (Index draw = 0; draw < draws; ++draw) {
      shuffle(words_, stream, pool_);
      log_p_.push_back(draw_topics(stream));
    }
    const double top = *std::max_element(log_p_.begin(), log_p_.end());
    double sum = 0;
    for (double x : log_p_) sum += std::exp(x - top);
    return top + std::log(sum / static_cast<double>(draws));
  }

 private:
  void read(Index document) {
    words_.clear();
    for (int u = data_.row_start[document]; u < data_.row_start[document + 1]; ++u) {
      if (u % tokens_between_polls == 0) pool_.poll();
      words_.insert(words_.end(), static_cast<std::size_t>(data_.value[u]), data_.column[u]);
    }
  }

  // log Π_i p(w_i | topics drawn before i).
  double draw_topics(Stream& stream) {
    weight_ = a_;
    LogProduct p;
    double all = total_;
    for (std::size_t i = 0; i < words_.size(); ++i, all += 1) {
      if (i % tokens_between_polls == 0) pool_.poll();
      const double* phi = phi_.data() + static_cast<Index>(words_[i]) * static_cast<Index>(a_.size());
      double sum = 0;
      for (std::size_t k = 0; k < weight_.size(); ++k) sums_[k] = sum += weight_[k] * phi[k];
      p.times(sum / all);
      const auto last = std::lower_bound(sums_.begin(), sums_.end(), sum);
      weight_[std::upper_bound(sums_.begin(), last, stream.uniform() * sum) - sums_.begin()] += 1;
    }
    return p.log();
  }

  const Dataset& data_;
  const Vec& phi_;
  const Vec& a_;
  const double total_;  // Σ a
  Pool& pool_;
  std::vector<int> words_;     // of all tokens of the document
  Vec weight_, sums_, log_p_;  // n_k + a_k; sums over the topics up to k; of the draws
};

}  // namespace

Vec sequential_estimates(const Dataset& data, const Vec& phi, const Vec& a, Index draws, std::uint64_t seed,
                         Pool& pool) {
  Vec out(static_cast<std::size_t>(data.n));
  pool.run((data.n + documents_a_task - 1) / documents_a_task, [&](Index task) {
    SequentialEstimate estimate(data, phi, a, pool);
    const Index from = task * documents_a_task;
    for (Index d = from; d < std::min(data.n, from + documents_a_task); ++d) {
      Stream stream(seed, Purpose::held_out, static_cast<std::uint64_t>(d));
      out[d] = estimate.of(d, draws, stream);
    }
  });
  return out;
}

}  // namespace bnpvi::topics
