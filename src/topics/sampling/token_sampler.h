// A Gibbs sampler of the topics of tokens, fast because it uses sparse sums over topics.
#pragma once
#include "topics/model/tokens.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Makes the sampler. It draws topic k for a token of word w in document d with weight
///   (n_dk + αβ_k)(n_kw + λ_w)/(n_k + Λ) = n_kw c_k + λ_w n_dk r_k + λ_w αβ_k r_k,
/// where n counts all other tokens (n_dk: of topic k in document d, n_kw: of word w in topic k, n_k: of topic
/// k), r_k = 1/(n_k + Λ) and c_k = (n_dk + αβ_k) r_k. The first term is summed over the topics of the word,
/// the second over the topics of the document, the third over all topics; the last two sums are kept up to
/// date [Yao, Mimno & McCallum 2009, here with any β and λ]. A new topic has weight αβ_rest λ_w/Λ. lambda:
/// the term prior λ, with sum Λ.
std::unique_ptr<Sampler> make_token_sampler(const Tokens& tokens, const Vec& lambda, const TopicPrior& prior,
                                            Pool& pool);

}  // namespace bnpvi::topics
