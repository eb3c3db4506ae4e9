# A start from anchor words (Arora and others, 2013): terms that occur in one
# topic only.

anchor_start <- function(data, obs, prior, control, call = rlang::caller_env()) {
  if (obs$family != "multinomial") {
    abort("argument", "{.code init = \"anchor\"} needs documents of counts ({.fn obs_multinomial}).", call = call)
  }
  k <- prior$k %||% control$k_init %||% 25L
  counts <- data_matrix(data)
  k <- min(k, sum(Matrix::colSums(counts) > 0))
  joint <- co_occurrence(counts)
  mass <- rowSums(joint)
  conditional <- joint / ifelse(mass > 0, mass, 1)
  often <- Matrix::colSums(counts > 0) >= max(2, min(10, 0.02 * data$n))
  if (sum(often) < k) often <- mass > 0
  anchors <- find_anchors(conditional, which(often), k)
  share <- recover_shares(conditional, anchors) * mass  # terms x topics: p(topic, term)
  tokens <- sum(counts)
  statistic <- t(share) / sum(share) * tokens
  statistic <- statistic[order(-rowSums(statistic)), , drop = FALSE]
  size <- rowSums(statistic)
  k <- max(nrow(statistic), prior$k)
  statistic <- rbind(statistic, matrix(0, k - nrow(statistic), ncol(statistic)))
  weight <- c(rowSums(statistic) + 1, prior$gamma %||% 0)
  u <- weight[seq_len(k)] / rev(cumsum(rev(weight)))[seq_len(k)]
  state <- list(
    k = k, obs = unname(cbind(rowSums(statistic), statistic)), extra = matrix(0, k, 3L), pair = NULL,
    scalar = numeric(3), u = if (prior$family == "hdp") u else numeric(),
    omega = if (prior$family == "hdp") rep(data$n, k) else numeric()
  )
  structure(list(state = state), class = "bnp_start")
}

# Expected joint probability of two different tokens of a document.
co_occurrence <- function(counts) {
  n <- Matrix::rowSums(counts)
  used <- n > 1
  counts <- counts[used, , drop = FALSE]
  scale <- 1 / (n[used] * (n[used] - 1))
  weighted <- Matrix::Diagonal(x = scale) %*% counts
  joint <- as.matrix(Matrix::crossprod(counts, weighted)) - diag(Matrix::colSums(weighted), ncol(counts))
  pmax(joint, 0) / sum(used)
}

# Rows far apart, one after the other, by Gram-Schmidt.
find_anchors <- function(rows, candidates, k) {
  x <- rows[candidates, , drop = FALSE]
  first <- which.max(rowSums(x^2))
  anchors <- first
  x <- x - rep(x[first, ], each = nrow(x))
  while (length(anchors) < k) {
    length2 <- rowSums(x^2)
    at <- which.max(length2)
    if (length2[at] < 1e-20) break
    anchors <- c(anchors, at)
    direction <- x[at, ] / sqrt(length2[at])
    x <- x - (x %*% direction) %*% t(direction)
  }
  candidates[anchors]
}

# p(topic | term): each row as a mixture of the anchors' rows, least squares by
# exponentiated gradient.
recover_shares <- function(rows, anchors, rounds = 300L) {
  basis <- rows[anchors, , drop = FALSE]
  gram <- tcrossprod(basis)
  target <- tcrossprod(rows, basis)
  share <- matrix(1 / length(anchors), nrow(rows), length(anchors))
  rate <- 1 / max(gram)
  for (i in seq_len(rounds)) {
    step <- -rate * 2 * (share %*% gram - target)
    share <- share * exp(step - apply(step, 1L, max))
    share <- share / rowSums(share)
  }
  share
}
