# What topics-speed.R and threads.R measure with: a function that draws n documents of 175 tokens from a few topics
# each.
planted_topics <- function(topics, terms) {
  set.seed(1)
  phi <- matrix(stats::rgamma(topics * terms, 0.02), topics)
  phi <- phi / rowSums(phi)
  function(n) {
    rows <- lapply(seq_len(n), function(d) {
      theta <- stats::rgamma(topics, 0.05)
      tabulate(sample.int(terms, 175, TRUE, drop((theta / sum(theta)) %*% phi)), terms)
    })
    Matrix::Matrix(do.call(rbind, rows), sparse = TRUE)
  }
}
