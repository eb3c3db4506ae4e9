# Intervals of prevalence(): draws of topics have the model's distribution, and intervals hold planted values.

corpus <- dated_corpus(documents = 60)
topics_fit <- bnp_topics(
  corpus$x, prior = prior_covariates(~ party + day, effect_scale = 0.8, concentration = 2), covariates = corpus$about,
  start = max.col(corpus$theta), control = quiet_control(max_laps = 10, moves = FALSE)
)

# The same topics in an order of sticks that is not that of their sizes, by which users see them.
turned_fit <- local({
  label <- max.col(corpus$theta)
  still <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  bnp_topics(
    corpus$x, prior = topics_fit$model$prior, covariates = corpus$about, start = order(order(tabulate(label)))[label],
    control = quiet_control(max_laps = 10, moves = still)
  )
})

test_that("without words the chain draws sticks and effects of the prior", {
  none <- methods::as(Matrix::sparseMatrix(integer(), integer(), x = numeric(), dims = dim(corpus$x)), "CsparseMatrix")
  expect_true(is.unsorted(turned_fit$numbering))
  for (fit in list(topics_fit, turned_fit)) {
    k <- fit$state$k
    fit$documents[] <- 0
    chain <- topic_chain(fit, none)
    at <- withr::with_seed(1, rnorm(k * chain$q))
    weights <- function(at) matrix(chain$log_weights(at)[-(k * chain$q + 1L)], chain$q)
    expect_equal(chain$from_log_weights(weights(at)), at, tolerance = 1e-10)
    expect_equal(sum(exp(chain$log_weights(at)[c((seq_len(k) - 1L) * chain$q + 1L, k * chain$q + 1L)])), 1)
    # The density of log weights is that of sticks Beta(1, 2), by the Jacobian of numerical differences.
    density <- function(at) {
      g <- weights(at)
      first <- (seq_len(k) - 1L) * chain$q + 1L
      change <- vapply(first, function(i) {
        step <- replace(numeric(length(at)), i, 1e-6)
        (weights(at + step)[1L, ] - weights(at - step)[1L, ]) / 2e-6
      }, numeric(k))
      weight <- exp(g[1L, ])[order(fit$numbering)]
      stick <- weight / (1 - c(0, cumsum(weight)[-k]))
      # of the weights: that of sticks over dw / dv, whose determinant is the product of what is left before each stick
      sum(dbeta(stick, 1, 2, log = TRUE)) - sum(log(weight / stick)) + sum(log(weight)) +
        as.double(determinant(change)$modulus) + sum(dnorm(g[-1L, ], 0, 0.8, log = TRUE))
    }
    other <- withr::with_seed(2, rnorm(length(at)))
    expect_equal(chain$target(other)$value - chain$target(at)$value, density(other) - density(at), tolerance = 1e-6)
  }
})

test_that("gradients and curvature of the chain are those of its density", {
  words <- methods::as(Matrix::Matrix(corpus$x, sparse = TRUE), "CsparseMatrix")
  chain <- topic_chain(turned_fit, words)
  at <- chain$start
  withr::with_seed(1, chain$draw_words(at))
  difference <- function(f, size) {
    vapply(seq_along(at), function(i) {
      step <- replace(numeric(length(at)), i, size)
      (f(at + step) - f(at - step)) / (2 * size)
    }, f(at))
  }
  expect_equal(chain$target(at)$gradient, difference(function(at) chain$target(at)$value, 1e-4), tolerance = 1e-5)
  curve <- -difference(function(at) chain$target(at)$gradient, 1e-4)
  effects <- -((seq_len(turned_fit$state$k) - 1L) * chain$q + 1L) # exact for these
  expect_equal(chain$precision(at)[effects, effects], curve[effects, effects], tolerance = 1e-5)
})

test_that("the chain has the posterior of a corpus whose assignments can be counted", {
  x <- rbind(c(2, 0, 1), c(0, 2, 0), c(1, 1, 1))
  about <- data.frame(g = c(0, 1, 1))
  fit <- bnp_topics(
    x, obs_multinomial(0.4), prior_covariates(~ g, concentration = 1.5, effect_scale = 0.7, alpha = 0.9),
    covariates = about, start = c(1, 2, 1), control = quiet_control(max_laps = 5, moves = FALSE)
  )
  expect_identical(n_clusters(fit), 2L)
  # log pi and effect of both topics, from all assignments of eight words to them, by draws of the prior that weigh as
  # much as the words are likely.
  token <- unlist(apply(x, 1, function(n) rep(1:3, n)))
  document <- rep(1:3, rowSums(x))
  ways <- as.matrix(expand.grid(rep(list(1:2), 8)))
  log_words <- apply(ways, 1, function(z) {
    counts <- vapply(1:2, function(k) tabulate(token[z == k], 3), numeric(3))
    sum(lgamma(1.2) - lgamma(1.2 + colSums(counts))) + sum(lgamma(0.4 + counts) - lgamma(0.4))
  })
  n1 <- t(apply(ways, 1, function(z) tapply(z == 1, document, sum)))
  g <- fit$model$prior$patterns[fit$input$document_pattern + 1L, 1]
  drawn <- withr::with_seed(1, replicate(3000, {
    u <- rbeta(2, 1, 1.5)
    pi <- c(u[1], (1 - u[1]) * u[2])
    effect <- rnorm(2, 0, 0.7)
    a <- 0.9 * t(pi * exp(outer(effect, g)))
    s <- rowSums(a) + 0.9 * (1 - sum(pi))
    n <- rowSums(x)
    of_topics <- sum(lgamma(s) - lgamma(s + n)) + colSums(
      lgamma(a[, 1] + t(n1)) + lgamma(a[, 2] + n - t(n1)) - lgamma(a[, 1]) - lgamma(a[, 2])
    )
    c(log(pi), effect, sum(exp(log_words + of_topics)))
  }))
  weight <- drawn[5, ] / sum(drawn[5, ])
  stick_order <- order(fit$numbering)
  words <- methods::as(Matrix::Matrix(x, sparse = TRUE), "CsparseMatrix")
  of_chain <- withr::with_seed(1, draws_of_documents(fit, words, n_kept = 3000L))
  expect_gt(of_chain$accepted, 0.2)
  of_chain <- of_chain$draws[c(1, 3, 2, 4), ][c(stick_order, 2 + stick_order), ]
  means <- drop(drawn[1:4, ] %*% weight)
  expect_equal(rowMeans(of_chain), means, tolerance = 0.1)
  sd <- sqrt(drop((drawn[1:4, ] - means)^2 %*% weight))
  expect_equal(apply(of_chain, 1, stats::sd), sd, tolerance = 0.1)
  apart <- sum((drawn[3, ] - drawn[4, ])^2 * weight)
  expect_equal(mean((of_chain[3, ] - of_chain[4, ])^2), apart, tolerance = 0.1)
})

test_that("topics of words are drawn by their probabilities", {
  prob <- rbind(c(1, 2, 5), c(0, 3, 0))
  drawn <- withr::with_seed(1, draw_multinomials(rep(c(1000, 20), 50), prob[rep(1:2, 50), ]))
  expect_identical(rowSums(drawn), rep(c(1000, 20), 50))
  expect_equal(colMeans(drawn[c(TRUE, FALSE), ]), c(125, 250, 625), tolerance = 0.02)
  expect_equal(colMeans(drawn[c(FALSE, TRUE), ]), c(0, 20, 0))
})

long_test("prevalence given the words is by draws, the same each time", {
  drawn <- prevalence(topics_fit, by = "party", x = corpus$x)
  expect_identical(drawn, prevalence(topics_fit, by = "party", x = corpus$x))
  expect_gt(draws_given_words(topics_fit, corpus$x, NULL)$accepted, 0.3)
  expect_true(all(drawn$conf.low < drawn$proportion & drawn$proportion < drawn$conf.high))
  expect_equal(drawn$proportion, prevalence(topics_fit, by = "party")$proportion, tolerance = 0.25)
  expect_output(print(drawn), "by draws")
  expect_bad(prevalence(topics_fit, by = "party", x = corpus$x[-1, ]), "covariates")
  named <- bnp_topics(
    corpus$x, obs_multinomial(keywords = list(one = c("t1", "t2"))), prior_covariates(~ day),
    covariates = corpus$about, control = quiet_control(max_laps = 2)
  )
  expect_bad(prevalence(named, by = "day", x = corpus$x), "not_defined")
})

# How often 90 % intervals of the weights at some ages hold the truth, over sets of rows drawn anew.
long_test("intervals by linear response hold planted weights of mixtures about as often as they say", {
  ages <- c(25, 35, 50, 65, 75)
  held <- vapply(1:12, function(seed) {
    data <- planted_by_age(600, seed = 100 + seed, sep = 4)
    fit <- bnp_mixture(
      data$x, prior = prior_covariates(~ age), covariates = data$age, start = data$z,
      control = quiet_control(moves = FALSE, tol = 1e-10)
    )
    found <- apply(table(data$z, fitted(fit)), 1, which.max)
    p <- prevalence(fit, by = "age", x = data$x, level = 0.9)
    mean(vapply(1:3, function(j) {
      own <- p[p$cluster == found[j], ]
      at <- vapply(ages, function(age) which.min(abs(own$at - age)), 1L)
      w <- (own$at[at] - 50) / 15 # the truth of planted_by_age(), at these points of the grid
      logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
      true <- (exp(logit) / rowSums(exp(logit)))[, j]
      mean(own$conf.low[at] <= true & true <= own$conf.high[at])
    }, 0))
  }, 0)
  expect_gte(mean(held), 0.85)
  expect_lte(mean(held), 0.97)
})

long_test("intervals by draws hold planted proportions of topics", {
  held <- vapply(1:8, function(seed) {
    corpus <- dated_corpus(seed, documents = 200)
    fit <- bnp_topics(
      corpus$x, prior = prior_covariates(~ party + day, alpha = 1.5), covariates = corpus$about,
      start = max.col(corpus$theta), control = quiet_control(max_laps = 60, moves = FALSE)
    )
    found <- apply(corpus$phi %*% t(coef(fit)$prob), 1, which.max)
    by <- prevalence(fit, by = "party", at = list(day = 3), level = 0.9, x = corpus$x)
    effect <- outer(c(0, 1.2), c(1, -1, 0, 0)) + rep(-0.5 * c(0, 0, 1, -1), each = 2)
    true <- exp(effect) / rowSums(exp(effect))
    mean(vapply(1:4, function(k) {
      own <- by[by$topic == found[k], ]
      mean(own$conf.low <= true[, k] & true[, k] <= own$conf.high)
    }, 0))
  }, 0)
  expect_gte(mean(held), 0.8)
})
