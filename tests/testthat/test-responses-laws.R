# Responses of documents: the engine against sums over all topics of all tokens, and against plain R.

x3 <- t(vapply(three_documents, function(d) as.double(tabulate(d, 4)), numeric(4)))
dimnames(x3) <- list(paste0("d", 1:3), paste0("t", 1:4))
y3 <- list(gaussian = c(1.2, -0.8, 0.4), logistic = c(1, 0, 1))

# Coordinate ascent in plain R with responsibilities of each token, and E zz' exact (design page, "Checked").
twin_ascent <- function(family, seed, rounds) {
  y <- y3[[family]]
  r <- withr::with_seed(seed, lapply(three_documents, function(d) {
    r <- matrix(rexp(2 * length(d))^2, ncol = 2)
    r / rowSums(r)
  }))
  xi <- if (family == "logistic") rep(1, 3)
  bounds <- numeric()
  for (round in seq_len(rounds)) {
    counts <- matrix(0, 2, 4)
    square <- matrix(0, 2, 2)
    product <- numeric(2)
    omega <- if (is.null(xi)) rep(1, 3) else tanh(xi / 2) / (2 * xi)
    b <- if (is.null(xi)) y else y - 0.5
    for (d in 1:3) {
      for (n in 1:3) counts[, three_documents[[d]][n]] <- counts[, three_documents[[d]][n]] + r[[d]][n, ]
      square <- square + omega[d] * second_moment(r[[d]], TRUE)
      product <- product + b[d] * colMeans(r[[d]])
    }
    inverse <- solve(diag(0.5, 2) + square)
    eta <- drop(inverse %*% product)
    c0 <- if (family == "gaussian") (3 + 3) / (1 + sum(y^2) - sum(product * eta)) else 1
    second <- c0 * tcrossprod(eta) + inverse
    log_phi <- digamma(counts + 0.3) - digamma(rowSums(counts) + 1.2)
    for (d in 1:3) {
      for (n in 1:3) {
        p <- digamma(colSums(r[[d]]) + 0.6)
        rest <- colSums(r[[d]][-n, , drop = FALSE])
        w <- log_phi[, three_documents[[d]][n]] + p + b[d] * c0 * eta / 3 -
          omega[d] * (drop(second %*% rest) / 9 + diag(second) / 18)
        r[[d]][n, ] <- exp(w - max(w)) / sum(exp(w - max(w)))
      }
      if (!is.null(xi)) xi[d] <- sqrt(sum(second * second_moment(r[[d]], TRUE)))
    }
    bounds[round] <- twin_supervised_bound(three_documents, r, y, xi, 0.6, 0.3, 0.5, 4, TRUE)
  }
  bounds
}

test_that("the bound is below the evidence, and that of the design page is between", {
  golden <- list(gaussian = c(-18.90393356, -21.37559656), logistic = c(-16.62652443, -19.58128114))
  for (family in names(y3)) {
    evidence <- supervised_evidence(three_documents, y3[[family]], family, 0.6, 0.3, 0.5, 4)
    expect_equal(evidence, golden[[family]][1], tolerance = 1e-6)
    exact <- vapply(some_of(1:6, by = 3), function(seed) {
      bounds <- twin_ascent(family, seed, 300)
      expect_gte(min(diff(bounds[-1])), -1e-9)
      max(bounds)
    }, 0)
    expect_equal(max(exact), golden[[family]][2], tolerance = 1e-8)
    ours <- vapply(some_of(1:6, by = 3), function(seed) {
      fit <- fit_responses(
        x3, matrix(y3[[family]], 1), response_list(family), seed = seed,
        start = list(resp = random_responsibilities(seed, 3, 2))
      )
      expect_gte(min(diff(fit$trace$elbo)), -1e-10)
      expect_lt(max(fit$audit[c("elbo", "statistics", "entropy")]), 1e-12)
      fit$elbo
    }, 0)
    # E zz' as if the tokens of a document were alike costs 0.07 a document of three tokens, in which it matters most.
    expect_lte(max(ours), max(exact))
    expect_gte(max(ours), max(exact) - 0.3)
  }
})

# From counts of documents and factors alone, as the engine has it.
test_that("the responses' term is that of plain R for given responsibilities", {
  planted <- planted_responses(20, 12, 15)
  x <- planted$x
  k <- 3L
  resp <- random_responsibilities(2, 20, k)
  covariates <- withr::with_seed(1, matrix(rnorm(40), 2))
  y <- planted$y
  y[c(3, 7)] <- NA
  weights <- rep(1:2, 10)
  data <- c(count_data(x), list(weights = as.double(weights)))
  z <- cbind(resp, t(covariates))
  n <- rowSums(x)
  square_of <- function(d) {
    out <- tcrossprod(z[d, ])
    out[1:k, 1:k] <- (1 - 1 / n[d]) * out[1:k, 1:k] + diag(resp[d, ]) / n[d]
    out
  }
  sums <- function(y, quadratic) {
    out <- list(square = 0, product = 0, constant = 0, n = 0)
    for (d in which(!is.na(y))) {
      q <- quadratic(y[d])
      out$square <- out$square + weights[d] * q[1] * square_of(d)
      out$product <- out$product + weights[d] * q[2] * z[d, ]
      out$constant <- out$constant + weights[d] * q[3]
      out$n <- out$n + weights[d]
    }
    out
  }
  term <- function(values, response) {
    data$group_values <- rbind(values, covariates)
    model <- topic_model(12, list(family = "lda", k = k, alpha = 1.2), 0.3)
    model$response <- response
    engine_elbo_of(data, model, resp)[["response"]]
  }
  expected <- function(s, family) twin_response_evidence(family, s$square, s$product, s$n, s$constant, 0.7)
  gaussian <- sums(y, function(y) c(1, y, y^2))
  model <- function(...) response_list(precision = 0.7, covariates = 2, ...)
  expect_equal(term(matrix(y, 1), model()), expected(gaussian, "gaussian"), tolerance = 1e-10)
  expect_equal(
    term(matrix(y, 1), model(weight = 2.5)), 2.5 * expected(gaussian, "gaussian"), tolerance = 1e-10
  )
  # A known variance is the limit of a prior that is ever surer of it.
  known <- term(matrix(y, 1), model(variance = 0.7))
  expect_equal(known, term(matrix(y, 1), model(df = 1e9, scale = 0.7e9)), tolerance = 1e-6)
  expect_equal(term(matrix(y, 1), model(variance = 0.7, weight = 2.5)), 2.5 * known, tolerance = 1e-12)
  omega <- tanh(0.5) / 2
  logistic <- function(y) c(omega, y - 0.5, plogis(1, log.p = TRUE) - 0.5 + omega / 2)
  two <- rbind(1 * (y > 0), ifelse(y > 0, NA, 1 * (y > -1)))
  both <- expected(sums(two[1, ], logistic), "logistic") + expected(sums(two[2, ], logistic), "logistic")
  expect_equal(term(two, model(family = "logistic", equations = 2)), both, tolerance = 1e-10)
  hinge <- function(alpha, beta) c(0.5 * beta^2, -0.5 * beta * (alpha + 1), -0.25 * (alpha + 1)^2)
  one <- sums(sign(y), function(y) hinge(1, -y))
  expect_equal(term(matrix(sign(y), 1), model(family = "hinge")), expected(one, "hinge"), tolerance = 1e-10)
  tube <- sums(y, function(y) hinge(y - 0.1, -1) + hinge(-y - 0.1, 1))
  expect_equal(term(matrix(y, 1), model(family = "tube")), expected(tube, "tube"), tolerance = 1e-10)
})

test_that("quadratics touch what they bound", {
  f <- seq(-4, 4, length.out = 9)
  for (xi in c(0.3, 2)) {
    omega <- tanh(xi / 2) / (2 * xi)
    bound <- function(f) -omega / 2 * f^2 + f / 2 + plogis(xi, log.p = TRUE) - xi / 2 + omega * xi^2 / 2
    expect_true(all(bound(f) <= plogis(f, log.p = TRUE) + 1e-12))
    expect_equal(bound(xi), plogis(xi, log.p = TRUE))
  }
})

test_that("unknown responses change no bit", {
  planted <- planted_responses(60, 30, 30)
  for (prior in list(list(family = "hdp", gamma = 10, alpha = 0.5), list(family = "lda", k = 4L, alpha = 0.5))) {
    laps <- list(laps = 12, moves = TRUE, prior = prior, k_init = if (is.null(prior$k)) 1L else 4L)
    fit <- function(values, response) do.call(fit_responses, c(list(planted$x, values, response), laps))
    without <- fit(NULL, NULL)
    unknown <- fit(matrix(NA_real_, 1, 60), response_list())
    expect_identical(unknown$elbo, without$elbo)
    expect_identical(unknown$state$obs, without$state$obs)
    expect_identical(unknown$documents, without$documents)
  }
})

test_that("laps and moves only raise the objective, and every state is what its documents say", {
  planted <- planted_responses(100, 40, 40)
  y <- as.vector(scale(planted$y))
  y[1:20] <- NA
  two <- 1 * (y > 0)
  classes <- rbind(1 * (y > 0.5), ifelse(y > 0.5, NA, 1 * (y > -0.5)))
  cases <- list(
    gaussian = list(matrix(y, 1), response_list()),
    far = list(matrix(30 * y, 1), response_list(precision = 0.01, scale = 1e-4)), # G / N far above 1
    weighted = list(matrix(y, 1), response_list(weight = 20)),
    known = list(matrix(y, 1), response_list(weight = 20, variance = 1)),
    logistic = list(matrix(two, 1), response_list("logistic", 0.1)),
    classes = list(classes, response_list("logistic", 0.1, equations = 2)),
    hinge = list(matrix(2 * two - 1, 1), response_list("hinge", 0.1, cost = 3)),
    tube = list(matrix(y, 1), response_list("tube", 0.1, cost = 3))
  )
  for (name in some_of(names(cases), by = 5)) {
    for (prior in list(list(family = "hdp", gamma = 10, alpha = 0.5), list(family = "lda", k = 4L, alpha = 0.5))) {
      ways <- list(list(), list(batches = 3L, source = "transient"), list(sparsity = 2L))
      for (way in some_of(ways, by = 2, from = if (is.null(prior$k)) 1 else 2)) {
        fit <- do.call(fit_responses, c(
          list(planted$x, cases[[name]][[1]], cases[[name]][[2]], prior, laps = 14, moves = TRUE),
          list(k_init = if (is.null(prior$k)) 1L else 4L), way
        ))
        what <- paste(name, prior$family, names(way)[1])
        expect_gte(min(diff(fit$trace$elbo)), if (is.null(way$sparsity)) -1e-5 else -0.2, label = what)
        expect_lt(max(fit$audit[c("elbo", "statistics", "entropy", "sums")]), 1e-8, label = what)
        expect_lt(fit$audit[["gain"]], 1e-8, label = what)
      }
    }
  }
})

test_that("threads, and the order of topics, change nothing", {
  planted <- planted_responses(150, 30, 30)
  fit <- function(threads, start = NULL) fit_responses(
    planted$x, matrix(planted$y, 1), response_list(), list(family = "lda", k = 3L, alpha = 0.5), laps = 8,
    start = start, threads = threads
  )
  expect_identical(fit(1)$elbo, fit(2)$elbo)
  resp <- random_responsibilities(3, 150, 3)
  a <- fit(1, list(resp = resp))
  b <- fit(1, list(resp = resp[, c(3, 1, 2)]))
  expect_equal(a$elbo, b$elbo, tolerance = 1e-10)
  model <- topic_model(30, list(family = "lda", k = 3L, alpha = 0.5), 0.3)
  model$response <- response_list()
  mean <- lapply(list(a, b), function(f) engine_responses(model, f$state)$mean[[1]])
  expect_equal(mean[[1]][c(3, 1, 2)], mean[[2]], tolerance = 1e-6)
})

test_that("a response that words do not show divides a topic", {
  x <- withr::with_seed(4, t(rmultinom(80, 30, rep(1, 20))))
  dimnames(x) <- list(paste0("d", 1:80), paste0("t", 1:20))
  y <- withr::with_seed(5, rep(c(-1, 1), 40) + 0.05 * rnorm(80))
  prior <- list(family = "hdp", gamma = 1, alpha = 0.5)
  born <- fit_responses(
    x, matrix(y, 1), response_list(precision = 0.1, weight = 30), prior, laps = 30, moves = TRUE, k_init = 1L
  )
  expect_gte(sum(born$sizes > 1), 2L)
  expect_gte(min(diff(born$trace$elbo)), -1e-6)
})

test_that("a response that rows do not show divides a topic of rows", {
  rows <- withr::with_seed(4, data.frame(id = rep(1:60, each = 10), v = rnorm(600)))
  y <- withr::with_seed(5, rep(c(-1, 1), 30) + 0.05 * rnorm(60))
  fit <- suppressWarnings(bnp_topics(
    rows, obs_gaussian(), prior_hdp(1, 0.5), id = "id", response = y, response_weight = 30, response_precision = 0.1,
    control = bnp_control(seed = 1, max_laps = 30, threads = 1)
  ))
  expect_gte(sum(cluster_sizes(fit) > 1), 2L)
  expect_gte(min(diff(elbo_trace(fit)$elbo)), -1e-6)
})
