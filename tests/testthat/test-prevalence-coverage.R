# Intervals of prevalence(): draws of topics have the model's distribution, and intervals hold planted values.

corpus <- dated_corpus(documents = 60)
topics_fit <- bnp_topics(
  corpus$x, prior = prior_covariates(~ party + day, effect_scale = 0.8, concentration = 2), covariates = corpus$about,
  start = max.col(corpus$theta), control = quiet_control(max_laps = 10, moves = FALSE)
)

test_that("without words the chain draws sticks and effects of the prior", {
  k <- topics_fit$state$k
  topics_fit$documents[] <- 0
  none <- methods::as(Matrix::sparseMatrix(integer(), integer(), x = numeric(), dims = dim(corpus$x)), "CsparseMatrix")
  chain <- topic_chain(topics_fit, none)
  at <- withr::with_seed(1, rnorm(k * chain$q))
  log_weight <- function(at) matrix(chain$log_weights(at), chain$q)[1L, ]
  expect_equal(chain$from_log_weights(chain$log_weights(at)), at, tolerance = 1e-10)
  # The density of log weights is that of sticks Beta(1, 2), by the Jacobian of numerical differences.
  density <- function(at) {
    g <- matrix(at, chain$q)
    first <- (seq_len(k) - 1L) * chain$q + 1L
    change <- vapply(first, function(i) {
      step <- replace(numeric(length(at)), i, 1e-6)
      (log_weight(at + step) - log_weight(at - step)) / 2e-6
    }, numeric(k))
    weight <- exp(log_weight(at))[order(topics_fit$numbering)]
    stick <- weight / (1 - c(0, cumsum(weight)[-k]))
    # of the weights: that of sticks over dw / dv, whose determinant is the product of what is left before each stick
    sum(dbeta(stick, 1, 2, log = TRUE)) - sum(log(weight / stick)) + sum(log(weight)) +
      as.double(determinant(change)$modulus) + sum(dnorm(g[-1L, ], 0, 0.8, log = TRUE))
  }
  other <- withr::with_seed(2, rnorm(length(at)))
  expect_equal(chain$value(other) - chain$value(at), density(other) - density(at), tolerance = 1e-6)
})

test_that("topics of words are drawn by their probabilities", {
  prob <- rbind(c(1, 2, 5), c(0, 3, 0))
  drawn <- withr::with_seed(1, draw_multinomials(rep(c(1000, 20), 50), prob[rep(1:2, 50), ]))
  expect_identical(rowSums(drawn), rep(c(1000, 20), 50))
  expect_equal(colMeans(drawn[c(TRUE, FALSE), ]), c(125, 250, 625), tolerance = 0.02)
  expect_equal(colMeans(drawn[c(FALSE, TRUE), ]), c(0, 20, 0))
})

test_that("prevalence given the words is by draws, the same each time", {
  drawn <- prevalence(topics_fit, by = "party", x = corpus$x)
  expect_identical(drawn, prevalence(topics_fit, by = "party", x = corpus$x))
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
