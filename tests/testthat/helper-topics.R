# Small corpora, and a plain-R twin of the topic models' objective.

toy_corpus <- function(seed = 1, documents = 30, terms = 12, topics = 3, tokens = 40) {
  withr::with_seed(seed, {
    phi <- matrix(0.02, topics, terms)
    for (k in seq_len(topics)) phi[k, (k - 1) * (terms / topics) + seq_len(terms / topics)] <- 1
    phi <- phi / rowSums(phi)
    x <- t(replicate(documents, {
      theta <- rgamma(topics, 0.3) + 1e-9
      drop(rmultinom(1, tokens, theta %*% phi))
    }))
    dimnames(x) <- list(paste0("d", seq_len(documents)), paste0("t", seq_len(terms)))
    x
  })
}

topic_model <- function(terms, prior = list(family = "hdp", gamma = 10, alpha = 0.5), term_prior = 0.1) {
  list(obs = list(family = "multinomial", term_prior = rep(term_prior, terms)), prior = prior)
}

count_data <- function(x) as_engine_data(as_document_data(x, obs_multinomial()))

# log p of all data given topics' statistics (topics x terms).
twin_data_term <- function(statistic, term_prior) {
  total <- sum(term_prior)
  sum(lgamma(total) - lgamma(total + rowSums(statistic))) +
    sum(lgamma(sweep(statistic, 2, term_prior, "+")) - rep(lgamma(term_prior), each = nrow(statistic)))
}

# Terms of the documents and of the top level at sticks (u, omega), with q(pi_d)
# optimal, written as expectations and not as the engine groups them.
twin_hdp_terms <- function(counts, lengths, u, omega, gamma, alpha, bound = "tight") {
  k <- length(u)
  n <- length(lengths)
  pi <- c(u * cumprod(c(1, 1 - u))[seq_len(k)], prod(1 - u))
  theta <- cbind(counts, 0) + rep(alpha * pi, each = n)
  log_pi_d <- digamma(theta) - digamma(rowSums(theta))
  prior_power <- rep(alpha * pi, each = n)
  documents <- sum((cbind(counts, 0) + prior_power - theta) * log_pi_d) +
    sum(rowSums(lgamma(theta)) - lgamma(rowSums(theta)))
  a <- u * omega
  b <- (1 - u) * omega
  log_u <- digamma(a) - digamma(omega)
  log_rest <- digamma(b) - digamma(omega)
  log_pi <- c(log_u + c(0, cumsum(log_rest))[seq_len(k)], sum(log_rest))
  top <- n * (k * log(alpha) + sum(log_pi)) + sum(log(gamma) + (gamma - 1) * log_rest) -
    sum((a - 1) * log_u + (b - 1) * log_rest - lbeta(a, b)) + sum(row_terms(u, omega, n, alpha, 0, bound))
  c(documents = documents, top_level = top)
}

entropy_of <- function(r) -sum(ifelse(r > 0, r * log(r), 0))

# HDP, and at most three topics, with log p(topics of the tokens) given counts of documents x topics in use.
tiny_topic_priors <- list(
  hdp = list(
    prior = list(family = "hdp", gamma = 1.5, alpha = 0.8),
    log_prior = function(counts) log_hdp_partition(counts, 0.8, 1.5)
  ),
  lda = list(
    prior = list(family = "lda", k = 3L, alpha = 0.8),
    log_prior = function(counts) {
      n <- rowSums(counts)
      ways <- lfactorial(3) - if (ncol(counts) > 3) Inf else lfactorial(3 - ncol(counts))
      ways + sum(lgamma(0.8) - lgamma(0.8 + n)) + sum(lgamma(0.8 / 3 + counts) - lgamma(0.8 / 3))
    }
  )
)

# Statistics, entropy and ELBO equal those recomputed from the responsibilities of every document (src/testing/audit.h).
expect_audited_topics <- function(fit) {
  for (what in c("elbo", "statistics", "entropy", "sums", "gain")) expect_lte(fit$audit[[what]], 1e-8, label = what)
  expect_gte(fit$audit[["smallest_gain"]], -1e-9)
  expect_gt(fit$audit[["checks"]], nrow(fit$trace))
  expect_equal(fit$audit[["moves"]], sum(fit$trace[c("births", "merges", "deletes")]))
}

audited_topics <- function(x, obs, ..., id = NULL) {
  data <- as_document_data(x, obs, id)
  model <- list(obs = resolve_obs(obs, data), prior = prior_hdp())
  case <- list(data = as_engine_data(data), model = model)
  engine_run(case, ..., audit = TRUE)
}
