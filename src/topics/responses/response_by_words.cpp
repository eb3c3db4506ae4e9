#include "topics/responses/response_by_words.h"

#include <cmath>

#include "topics/model/topic_sum.h"
#include "topics/responses/document_response.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 100;    // a guess
constexpr double least_gain = 1e-6;  // of the bound, relative to its size: a guess

Summary statistics(const ResponseModel& model, Index k, const std::vector<SharesByWords>& documents,
                   const std::vector<Vec>& local) {
  Summary out(topic_shape(1, {0, &model}), k);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const SharesByWords& d = documents[i];
    model.add(d.value, local[i].empty() ? nullptr : local[i].data(), d.length, d.times, d.share, out);
  }
  return out;
}

void touch(const ResponseModel& model, const ResponsePosterior& q,
           const std::vector<SharesByWords>& documents, std::vector<Vec>& local) {
  DocumentResponse response(model, q);
  std::vector<int> topic;
  Vec count;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    DocumentView view;
    view.response = documents[i].value;
    view.length = documents[i].length;
    if (!response.begin(view)) continue;
    topic.clear();
    count.clear();
    for (const Share& s : documents[i].share) {
      topic.push_back(s.cluster);
      count.push_back(s.count);
    }
    response.use(topic);
    response.value(count, &local[i]);
  }
}

}  // namespace

ResponsePosterior response_by_words(const ResponseModel& model, Index k,
                                    const std::vector<SharesByWords>& documents) {
  std::vector<Vec> local(documents.size());
  Summary sums = statistics(model, k, documents, local);
  ResponsePosterior q = model.posterior(sums);
  if (model.n_local() == 0) return q;
  double before = model.value(sums, sums);
  for (Index i = 0; i < max_rounds; ++i) {
    touch(model, q, documents, local);
    sums = statistics(model, k, documents, local);
    q = model.posterior(sums);
    const double now = model.value(sums, sums);
    if (now - before <= least_gain * std::abs(now)) break;
    before = now;
  }
  return q;
}

}  // namespace bnpvi::topics
