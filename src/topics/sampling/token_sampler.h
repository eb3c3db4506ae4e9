// A Gibbs sampler of the topics of tokens, fast because it uses sparse sums over topics.
#pragma once
#include "topics/model/tokens.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Makes a sampler that draws the topic of one token at a time given the topics of all other tokens. A token
/// of word w in document d gets topic k with weight
///   (n_dk + αβ_k)(n_kw + λ_w)/(n_k + Λ) = n_kw c_k + λ_w n_dk r_k + λ_w αβ_k r_k,
///   r_k = 1/(n_k + Λ),   c_k = (n_dk + αβ_k) r_k,
/// and a new topic with weight αβ_rest λ_w/Λ. Numbers of other tokens: n_dk of topic k in document d; n_kw of
/// word w in topic k; n_k of topic k. α: concentration of documents; β_k: weights of topics; β_rest: weight
/// of all topics not in use; λ: Dirichlet prior of words (argument lambda); Λ: its sum.
///
/// The first of the three terms is summed over the topics of the word only, the second over the topics of the
/// document only, and the third over all topics. The last two sums are updated after each draw, not computed
/// anew [Yao, Mimno & McCallum 2009, here for any β and λ].
std::unique_ptr<Sampler> make_token_sampler(const Tokens& tokens, const Vec& lambda, const TopicPrior& prior,
                                            Pool& pool);

}  // namespace bnpvi::topics
