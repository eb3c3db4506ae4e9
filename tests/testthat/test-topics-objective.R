test_that("LDA: the objective equals the plain-R recomputation", {
  x <- toy_corpus()
  n <- rowSums(x)
  k <- 4
  alpha <- 0.7
  r <- withr::with_seed(1, matrix(rgamma(nrow(x) * k, 0.5), nrow(x)))
  r <- r / rowSums(r)
  model <- topic_model(ncol(x), list(family = "lda", k = k, alpha = alpha))
  terms <- engine_elbo_of(count_data(x), model, r)
  theta <- n * r + alpha / k
  expect_equal(terms[["data"]], twin_data_term(t(r) %*% x, rep(0.1, ncol(x))), tolerance = 1e-10)
  expect_equal(terms[["entropy"]], sum(n * apply(r, 1, entropy_of)), tolerance = 1e-10)
  expect_equal(
    terms[["documents"]],
    sum(lgamma(alpha) - k * lgamma(alpha / k) + rowSums(lgamma(theta)) - lgamma(rowSums(theta))),
    tolerance = 1e-10
  )
})

test_that("HDP: a fit's objective equals the plain-R recomputation from its counts and sticks", {
  x <- toy_corpus()
  for (batches in c(1, 4)) {
    control <- bnp_control(seed = 3, batches = batches, max_laps = 25, bound = "tight")
    fit <- bnp_topics(x, obs_multinomial(0.1), control = control)
    terms <- elbo(fit, terms = TRUE)
    by_stick <- as.matrix(fit$documents)[, order(fit$numbering)]
    twin <- twin_hdp_terms(by_stick, rowSums(x), fit$state$u, fit$state$omega, 10, 0.5)
    expect_equal(terms[["documents"]], twin[["documents"]], tolerance = 1e-8)
    expect_equal(terms[["top_level"]], twin[["top_level"]], tolerance = 1e-8)
    expect_equal(
      terms[["data"]], twin_data_term(fit$state$obs[, -1, drop = FALSE], rep(0.1, ncol(x))), tolerance = 1e-8
    )
    expect_equal(sum(terms), fit$elbo, tolerance = 1e-12)
  }
})

test_that("sums of the topics' statistics agree with the data and with the documents", {
  x <- toy_corpus()
  fit <- bnp_topics(x, obs_multinomial(0.1), control = bnp_control(seed = 3, batches = 3, max_laps = 25))
  expect_equal(colSums(fit$state$obs[, -1]), unname(colSums(x)), tolerance = 1e-9)
  expect_equal(rowSums(fit$state$obs[, -1]), fit$state$obs[, 1], tolerance = 1e-9)
  expect_equal(unname(Matrix::colSums(fit$documents)), fit$state$obs[fit$numbering, 1], tolerance = 1e-9)
  expect_equal(unname(Matrix::rowSums(fit$documents)), unname(rowSums(x)), tolerance = 1e-9)
})

test_that("one topic: the data term is the log evidence and nothing is uncertain", {
  x <- toy_corpus(documents = 5)
  terms <- engine_elbo_of(count_data(x), topic_model(ncol(x), list(family = "lda", k = 1, alpha = 2)), matrix(1, 5, 1))
  expect_equal(sum(terms), twin_data_term(t(colSums(x)), rep(0.1, ncol(x))), tolerance = 1e-10)
})

test_that("the surrogate is below the Monte-Carlo value of the exact top-level term", {
  fit <- bnp_topics(toy_corpus(), obs_multinomial(0.1), control = bnp_control(seed = 3, max_laps = 25))
  u <- fit$state$u
  omega <- fit$state$omega
  k <- length(u)
  n <- fit$input$n
  alpha <- 0.5
  a <- u * omega
  b <- (1 - u) * omega
  kl <- sum(log(10) + 9 * (digamma(b) - digamma(omega)) -
    ((a - 1) * (digamma(a) - digamma(omega)) + (b - 1) * (digamma(b) - digamma(omega)) - lbeta(a, b)))
  exact <- withr::with_seed(1, replicate(4000, {
    s <- rbeta(k, a, b)
    pi <- c(s * cumprod(c(1, 1 - s))[seq_len(k)], prod(1 - s))
    n * (lgamma(alpha) - sum(lgamma(alpha * pi)))
  }))
  # the engine's documents start from log Gamma(alpha) dropped on both sides of the bound
  surrogate <- elbo(fit, terms = TRUE)[["top_level"]] - kl
  expect_lt(surrogate, mean(exact) + 4 * stats::sd(exact) / sqrt(length(exact)))
  expect_gt(surrogate, mean(exact) - 0.5 * n * k)
})
