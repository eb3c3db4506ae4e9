# Bounds over concentrations from far below to far above what anyone would choose: finite, never falling, the
# sum of their terms, with a top level that plain R finds again.

expect_sound <- function(fit) {
  trace <- elbo_trace(fit)$elbo
  terms <- elbo(fit, terms = TRUE)
  expect_true(all(is.finite(trace)))
  expect_true(all(is.finite(unlist(fit$state[c("u", "omega")]))))
  expect_gte(min(diff(trace), 0), -1e-9 * sum(abs(terms)))
  expect_lt(abs(sum(terms) - fit$elbo), 1e-9 * sum(abs(terms)))
}

grid <- expand.grid(alpha = c(0.01, 0.5, 10, 50, 200, 1e4), gamma = c(0.1, 1, 10, 1e4, 1e6))

test_that("topics under any concentrations have finite bounds that are the sums of their terms", {
  x <- toy_corpus(documents = 60, topics = 4)
  for (i in some_of(seq_len(nrow(grid)), by = 13)) {
    alpha <- grid$alpha[i]
    gamma <- grid$gamma[i]
    for (bound in c("tight", "loose")) {
      control <- bnp_control(seed = i, max_laps = 10, batches = if (bound == "tight") 1 else 4, bound = bound)
      fit <- bnp_topics(x, prior = prior_hdp(gamma = gamma, alpha = alpha), control = control)
      expect_sound(fit)
      s <- fit$state
      top <- stick_terms(s$u, s$omega, 61, 60 * (s$k + 1 - seq_len(s$k)) + gamma, gamma)
      expect_same_sum(
        elbo(fit, terms = TRUE)[["top_level"]],
        c(top, 60 * s$k * log(alpha), row_terms(s$u, s$omega, 60, alpha, 0, bound))
      )
      by_stick <- as.matrix(fit$documents)[, order(fit$numbering), drop = FALSE]
      theta <- cbind(by_stick, 0) + rep(alpha * stick_weights(s$u), each = 60)
      expect_same_sum(
        elbo(fit, terms = TRUE)[["documents"]], c(lgamma(theta), -lgamma(rowSums(x) + alpha))
      )
    }
  }
})

test_that("hidden Markov models under any concentrations have finite bounds that are the sums of their terms", {
  toy <- toy_sequences(4, rep(c(30, 60, 10), 5))
  group <- rep(seq_len(15), diff(toy$data$starts))
  sequences <- lapply(split(as.data.frame(toy$data$x), group), as.matrix)
  extra <- list(
    list(start = 4, sticky = 0), list(start = 4, sticky = 50), list(start = 1e-3, sticky = 1e6),
    list(start = 1e5, sticky = 1e-10)
  )
  for (i in some_of(seq_len(nrow(grid)), by = 13)) {
    for (more in some_of(extra, by = 2, from = i %% 2 + 1)) {
      alpha <- grid$alpha[i]
      gamma <- grid$gamma[i]
      bound <- if (i %% 4 == 0) "loose" else "tight"
      fit <- bnp_hmm(sequences,
        obs = obs_gaussian("diagonal"), control = bnp_control(seed = i, max_laps = 10, k_init = 5, bound = bound),
        prior = prior_hdp_hmm(gamma = gamma, alpha = alpha, start = more$start, sticky = more$sticky)
      )
      expect_sound(fit)
      s <- fit$state
      k <- s$k
      sticky <- more$sticky > 0
      rows <- if (sticky) k else k + 1
      top <- stick_terms(s$u, s$omega, rows + 1, rows * (k + 1 - seq_len(k)) + gamma + sticky, gamma)
      pi <- stick_weights(s$u)
      constants <- c(
        k * log(more$start), k^2 * log(alpha), row_terms(s$u, s$omega, 1, more$start, 0, bound),
        row_terms(s$u, s$omega, k, alpha, more$sticky, bound)
      )
      expect_same_sum(elbo(fit, terms = TRUE)[["sticks"]], c(top, constants))
      theta <- c(more$start, rep(alpha, k)) %o% pi
      theta[, seq_len(k)] <- theta[, seq_len(k)] + rbind(c(s$extra), s$pair) + rbind(0, diag(more$sticky, k))
      expect_same_sum(elbo(fit, terms = TRUE)[["transitions"]], c(lgamma(theta), -lgamma(rowSums(theta))))
    }
  }
})

long_test("real documents under large concentrations have a bound that never falls", {
  for (prior in some_of(list(prior_hdp(alpha = 50), prior_hdp(alpha = 10), prior_hdp(gamma = 1e4)), by = 5)) {
    fit <- bnp_topics(whales$counts, obs_multinomial(0.1), prior, control = bnp_control(seed = 2, max_laps = 10))
    expect_sound(fit)
    expect_lt(fit$elbo, -303000)
    expect_gt(fit$elbo, -330000)
  }
})

test_that("mixtures under any concentration have finite bounds that are the sums of their terms", {
  x <- as.matrix(faithful)
  for (concentration in some_of(c(1e-49, 1e-20, 0.01, 1, 1e4, 1e9, 1e12, 1e20, 1e50), by = 7)) {
    fit <- bnp_mixture(x, prior = prior_dp(concentration), control = bnp_control(seed = 1, max_laps = 10, k_init = 5))
    expect_sound(fit)
    n <- fit$state$obs[, 1]
    after <- rev(cumsum(rev(n))) - n
    expect_same_sum(
      elbo(fit, terms = TRUE)[["allocation"]],
      c(lbeta(1 + n, concentration + after), rep(log(concentration), length(n)))
    )
    fit <- bnp_mixture(x, prior = prior_dirichlet(3, concentration), control = bnp_control(seed = 1, max_laps = 10))
    expect_sound(fit)
    expect_lt(elbo(fit, terms = TRUE)[["allocation"]], 0)
  }
  # equal weights in the limit of a large concentration
  expect_equal(elbo(fit, terms = TRUE)[["allocation"]], -nrow(x) * log(3), tolerance = 1e-9)
})
