# Labels by keywords: which list a document (or a text of a mixture) is about.
#
# The topic that is named by a list need not cover the whole subject of the list: topics without a name may be about
# parts of it. So all topics count, each by its words. With π the proportions of topics in a document,
#   L_s = Σ_k π_k P(keyword of s | topic k) / P(keyword of s)
# says how many times as often keywords of list s are expected in the document as in all data. The probability of list s
# is L_s / (1 + Σ L); the 1 stands for no list, with keywords as frequent as in all data.

# Whether labels are those of keywords. Known labels of documents own topics, and a document has their shares.
labels_by_keywords <- function(fit) has_keywords(fit$model$obs) && is.null(fit$state$owner)

# How many times as frequent the keywords of each list are in each cluster as in all data: clusters x lists, by expected
# counts. With one keyword more than there are and than there would be on average: a cluster of few tokens, where a
# frequency is uncertain, is close to 1. 0 for lists of which the data have no word.
keyword_lifts <- function(fit) {
  obs <- fit$model$obs
  counts <- fit$state$obs[fit$numbering, -1L, drop = FALSE]
  own <- vapply(seq_along(obs$keywords), function(list) {
    rowSums(counts[, obs$keyword[obs$keyword_list == list], drop = FALSE])
  }, double(nrow(counts)))
  own <- matrix(own, nrow(counts), dimnames = list(NULL, names(obs$keywords)))
  average <- colSums(own) / sum(counts)
  lifts <- (own + 1) / (outer(rowSums(counts), average) + 1)
  lifts[, average == 0] <- 0
  lifts
}

# Probabilities of the lists and, last, of none of them, from probabilities of clusters.
list_probabilities <- function(fit, prob) {
  lifts <- cbind(unname(prob) %*% keyword_lifts(fit), 1)
  dimnames(lifts) <- list(rownames(prob), c(names(fit$model$obs$keywords), no_class))
  lifts / rowSums(lifts)
}
