// A Gibbs sampler of the topics of tokens, fast because it uses sparse sums over topics.
#pragma once
#include "topics/model/tokens.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Makes the sampler, which draws the topic of one token at a time given the topics of all other tokens. With
/// n_dk, n_kw and n_k the counts of other tokens (of topic k in document d, of word w in topic k, and of
/// topic k), α the documents' concentration, β_k the weights of topics, and λ_w the prior of words with sum
/// Λ, a token of word w in document d gets topic k with weight
///   (n_dk + αβ_k)(n_kw + λ_w)/(n_k + Λ) = n_kw c_k + λ_w n_dk r_k + λ_w αβ_k r_k,
/// where r_k = 1/(n_k + Λ) and c_k = (n_dk + αβ_k) r_k. The first term is summed over the topics of the word,
/// the second over the topics of the document, the third over all topics; the last two sums are kept up to
/// date [Yao, Mimno & McCallum 2009, here with any β and λ]. A new topic has weight αβ_rest λ_w/Λ, with
/// β_rest the weight of all topics not in use. lambda: the numbers λ_w.
std::unique_ptr<Sampler> make_token_sampler(const Tokens& tokens, const Vec& lambda, const TopicPrior& prior,
                                            Pool& pool);

}  // namespace bnpvi::topics
