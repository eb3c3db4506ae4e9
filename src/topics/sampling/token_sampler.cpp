#include "topics/sampling/token_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "foundation/log_product.h"
#include "foundation/special.h"
#include "topics/sampling/word_topics.h"

namespace bnpvi::topics {

namespace {

constexpr Index tokens_between_polls = 1 << 14;  // some milliseconds: a guess

class TokenSampler final : public TopicSampler {
 public:
  TokenSampler(const Tokens& tokens, const Vec& lambda, const TopicPrior& prior, Pool& pool)
      : TopicSampler(prior, tokens.starts, pool),
        tokens_(tokens),
        lambda_(lambda),
        total_(std::accumulate(lambda.begin(), lambda.end(), 0.0)),
        of_word_(tokens) {}

 protected:
  double draw_labels(std::vector<int>& label, Stream& stream) override {
    begin(label);
    LogProduct of_documents;
    double log_p = 0;
    for (Index d = 0; d < n_documents(); ++d) {
      open_document(label, d);
      for (Index i = starts_[d]; i < starts_[d + 1]; ++i) {
        poll();
        redraw(tokens_.word[i], label[i], stream);
      }
      for (int j : in_use_)
        of_documents.times_rising(alpha_ * weights_.beta[j], static_cast<double>(in_document_[j]));
      log_p += log_gamma_difference(alpha_, static_cast<double>(length(d)));
      close_document();
    }
    number_topics(label);
    return log_p + of_documents.log() + log_evidence_of_words();
  }

  double draw_labels_in(const std::vector<Index>& order, std::vector<int>& label, Stream& stream) override {
    clear();
    double log_p = 0;
    for (Index d : order) {
      double before = alpha_;
      for (Index i = starts_[d]; i < starts_[d + 1]; ++i, before += 1) {
        poll();
        const int w = tokens_.word[i];
        const Weights weights = weigh(w, word_sum(w, -1).sum);
        log_p += std::log(weights.total / before);
        label[i] = put(choose(w, -1, weights, stream), stream);
        of_word_.add(w, label[i]);
      }
      close_document();
    }
    number_topics(label);
    return log_p;
  }

  std::vector<Index> sizes() const override { return size_; }

 private:
  struct WordSum {
    double sum;
    Index at;  // of a given topic in the list of the word
  };
  struct Weights {
    double word, total;
  };

  Index slots() const { return static_cast<Index>(size_.size()); }

  void poll() {
    if (++since_poll_ % tokens_between_polls == 0) pool_.poll();
  }

  void clear() {
    of_word_.clear();
    for (Vec* x : {&weights_.beta, &r_, &s_, &c_}) x->clear();
    for (std::vector<int>* x : {&in_document_, &place_, &free_, &in_use_}) x->clear();
    size_.clear();
    sum_document_ = sum_all_ = 0;
    since_sum_ = 0;
  }

  // Computes all counts from the labels, whose topics have the weights weights_.beta.
  void begin(const std::vector<int>& label) {
    const Vec beta = weights_.beta;
    clear();
    for (double b : beta) open_slot(b);
    for (int j : label) ++size_[j];
    for (Index j = 0; j < slots(); ++j) refresh(static_cast<int>(j));
    sum_all();
    of_word_.count(label, slots());
  }

  int open_slot(double beta) {
    int j;
    if (free_.empty()) {
      j = static_cast<int>(slots());
      for (Vec* x : {&weights_.beta, &r_, &s_, &c_}) x->push_back(0);
      for (std::vector<int>* x : {&in_document_, &place_}) x->push_back(0);
      size_.push_back(0);
    } else {
      j = free_.back();
      free_.pop_back();
    }
    weights_.beta[j] = beta;
    return j;
  }

  void refresh(int j) {
    r_[j] = 1 / (static_cast<double>(size_[j]) + total_);
    s_[j] = size_[j] > 0 ? alpha_ * weights_.beta[j] * r_[j] : 0;
    c_[j] = static_cast<double>(in_document_[j]) * r_[j] + s_[j];
  }

  // Computes the sum anew, as changes accumulate rounding errors; rarely enough to take little time.
  void sum_all() {
    sum_all_ = std::accumulate(s_.begin(), s_.end(), 0.0);
    since_sum_ = 0;
  }

  void open_document(const std::vector<int>& label, Index d) {
    if ((since_sum_ += length(d)) > slots()) sum_all();
    for (Index i = starts_[d]; i < starts_[d + 1]; ++i)
      if (in_document_[label[i]]++ == 0) use(label[i]);
    for (int j : in_use_) {
      refresh(j);
      sum_document_ += static_cast<double>(in_document_[j]) * r_[j];
    }
  }

  void close_document() {
    for (int j : in_use_) {
      in_document_[j] = 0;
      c_[j] = s_[j];
    }
    in_use_.clear();
    sum_document_ = 0;
  }

  void use(int j) {
    place_[j] = static_cast<int>(in_use_.size());
    in_use_.push_back(j);
  }

  void do_not_use(int j) {
    const int last = in_use_.back();
    in_use_[place_[j]] = last;
    place_[last] = place_[j];
    in_use_.pop_back();
    if (in_use_.empty()) sum_document_ = 0;
  }

  // Adds (by = 1) or removes (−1) a token of topic j in the present document; the list of its word stays as
  // it is.
  void change(int j, int by) {
    sum_all_ -= s_[j];
    sum_document_ -= static_cast<double>(in_document_[j]) * r_[j];
    size_[j] += by;
    in_document_[j] += by;
    refresh(j);
    sum_all_ += s_[j];
    sum_document_ += static_cast<double>(in_document_[j]) * r_[j];
  }

  void take(int j) {
    change(j, -1);
    if (in_document_[j] == 0) do_not_use(j);
    if (size_[j] > 0) return;
    weights_.rest.give_back(weights_.beta[j]);
    free_.push_back(j);
  }

  // Puts a token into topic j (−1: a new topic). Returns the topic's number.
  int put(int j, Stream& stream) {
    if (j < 0) j = open_slot(weights_.rest.take(gamma_, stream));
    if (in_document_[j] == 0) use(j);
    change(j, 1);
    return j;
  }

  void redraw(int w, int& label, Stream& stream) {
    const int from = label;
    const double all = sum_all_, document = sum_document_, r = r_[from], s = s_[from], c = c_[from];
    take(from);
    const WordSum sum = word_sum(w, from);
    const Weights weights = weigh(w, std::max(0.0, sum.sum - c_[from]));
    const int to = choose(w, from, weights, stream);
    if (to == from) {
      if (in_document_[from]++ == 0) use(from);
      ++size_[from];
      r_[from] = r;
      s_[from] = s;
      c_[from] = c;
      sum_all_ = all;
      sum_document_ = document;
      return;
    }
    of_word_.take(w, sum.at);
    label = put(to, stream);
    of_word_.add(w, label);
  }

  // Σ_k n_kw c_k.
  WordSum word_sum(int w, int topic) const {
    const auto* const begin = of_word_.begin(w);
    const auto* const end = of_word_.end(w);
    WordSum out{0, -1};
    for (const auto* e = begin; e != end; ++e) {
      out.sum += static_cast<double>(e->count) * c_[e->topic];
      if (e->topic == topic) out.at = e - begin;
    }
    return out;
  }

  Weights weigh(int w, double word) const {
    return {word, word + lambda_[w] * (sum_document_ + sum_all_ + alpha_ * weights_.rest.value() / total_)};
  }

  // The topic of a token of word w; −1 for a new one. `without`: the topic of which the list has one token
  // too many.
  int choose(int w, int without, const Weights& weights, Stream& stream) {
    if (!(weights.total > 0))
      throw std::domain_error("a token has no probability in any topic: numbers broke down");
    double u = stream.uniform() * weights.total;
    int last = -1;
    if (u < weights.word) {
      for (const auto* e = of_word_.begin(w); e != of_word_.end(w); ++e) {
        const double weight = static_cast<double>(e->count - (e->topic == without)) * c_[e->topic];
        if (weight > 0) last = e->topic;
        if ((u -= weight) < 0) return last;
      }
      if (last >= 0) return last;
    }
    u = (u - weights.word) / lambda_[w];
    if (u < sum_document_) {
      for (int j : in_use_)
        if ((u -= static_cast<double>(in_document_[j]) * r_[j]) < 0) return j;
      if (!in_use_.empty()) return in_use_.back();
    }
    u -= sum_document_;
    if (u < sum_all_ || !(weights_.rest.value() > 0)) {
      for (Index j = 0; j < slots(); ++j) {
        if (s_[j] > 0) last = static_cast<int>(j);
        if ((u -= s_[j]) < 0) return last;
      }
    }
    return u < 0 || !(weights_.rest.value() > 0) ? last : -1;
  }

  // Numbers the topics 0 .. K − 1, in the order of the slots (entries of the arrays, of which some are free).
  void number_topics(std::vector<int>& label) {
    if (free_.empty()) return;
    std::vector<int> number(size_.size(), -1);
    int k = 0;
    for (Index j = 0; j < slots(); ++j) {
      if (size_[j] == 0) continue;
      weights_.beta[k] = weights_.beta[j];
      size_[k] = size_[j];
      number[j] = k++;
    }
    weights_.beta.resize(static_cast<std::size_t>(k));
    size_.resize(static_cast<std::size_t>(k));
    for (int& j : label) j = number[j];
  }

  double log_evidence_of_words() {
    LogProduct product;
    for (int w = 0; w < static_cast<int>(tokens_.n_words()); ++w) {
      for (const auto* e = of_word_.begin(w); e != of_word_.end(w); ++e)
        product.times_rising(lambda_[w], static_cast<double>(e->count));
    }
    double sum = product.log();
    for (Index n : size_) sum += log_gamma_difference(total_, static_cast<double>(n));
    return sum;
  }

  const Tokens& tokens_;
  const Vec& lambda_;
  const double total_;  // Λ
  WordTopics of_word_;
  // Indexed by slot; the slots in free_ have no topic:
  Vec r_, s_, c_;                                // s_k = αβ_k r_k, 0 of none; c_k = n_dk r_k + s_k
  std::vector<Index> size_;                      // n_k
  std::vector<int> in_document_, place_, free_;  // n_dk, and where in_use_ has the topic
  std::vector<int> in_use_;                      // topics of the present document
  double sum_document_ = 0, sum_all_ = 0;        // Σ n_dk r_k, Σ s_k
  Index since_sum_ = 0, since_poll_ = 0;
};

}  // namespace

std::unique_ptr<Sampler> make_token_sampler(const Tokens& tokens, const Vec& lambda, const TopicPrior& prior,
                                            Pool& pool) {
  return std::make_unique<TokenSampler>(tokens, lambda, prior, pool);
}

}  // namespace bnpvi::topics
