// Topics of tokens, with sparse sums over topics.
#pragma once
#include "topics/model/tokens.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// A token of word w in document d has topic k with weight
///   (n_dk + αβ_k)(n_kw + λ_w)/(n_k + Λ) = n_kw c_k + λ_w n_dk r_k + λ_w αβ_k r_k,
/// r_k = 1/(n_k + Λ), c_k = (n_dk + αβ_k) r_k, counts without the token: a sum over the topics of the word,
/// one over those of the document, and one over all, of which the last two are kept up to date [Yao, Mimno &
/// McCallum 2009, with any β and λ]. A new topic has weight αβ_rest λ_w/Λ. lambda: the term prior.
std::unique_ptr<Sampler> make_token_sampler(const Tokens& tokens, const Vec& lambda, const TopicPrior& prior,
                                            Pool& pool);

}  // namespace bnpvi::topics
