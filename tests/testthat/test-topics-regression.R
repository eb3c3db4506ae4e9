# Topics of documents of rows with a response and covariates, also with heavy tails (obs_regression(tails = )).

planted <- withr::with_seed(1, {
  doc <- rep(1:20, each = 20)
  share <- rbeta(20, 0.5, 0.5)
  topic <- 1L + (runif(400) < share[doc])
  a <- runif(400, -2, 2)
  y <- ifelse(topic == 1, 1 + 3 * a, -1 - 3 * a) + 0.3 * rnorm(400) / sqrt(rgamma(400, 2, 2))
  list(x = cbind(y = y, a = a), doc = doc, topic = topic)
})
lines_of <- function(obs, x = planted$x, ...) {
  bnp_topics(x, obs, id = planted$doc, ..., control = bnp_control(seed = 1, restarts = 1, verbose = FALSE))
}
heavy <- lines_of(obs_regression(tails = NULL))

test_that("lines are found in topics, with tails where Gaussian noise takes more of them", {
  expect_identical(n_clusters(heavy), 2L)
  expect_gt(n_clusters(lines_of(obs_regression(learn = FALSE))), 2L)
  slopes <- coef(heavy)$coef["y", "a", ]
  expect_equal(sort(unname(slopes)), c(-3, 3), tolerance = 0.05)
  augmented <- augment(heavy, planted$x, id = planted$doc)
  expect_gt(mean((slopes[augmented$.topic] > 0) == (planted$topic == 1)), 0.93)
  expect_lt(min(augmented$.scale), 0.2)
})

test_that("every state of a fit is what its documents say", {
  for (obs in list(obs_regression(tails = NULL), obs_regression(learn = FALSE))) {
    x <- replace(planted$x, 1:30, NA)
    rows <- suppressMessages(as_document_data(x, obs, id = planted$doc, na_action = "model"))
    model <- list(obs = with_gaps(resolve_obs(obs, rows), rows), prior = prior_hdp())
    for (k_init in c(1L, 6L)) {
      case <- list(data = as_engine_data(rows), model = model)
      expect_audited_topics(engine_run(case, k_init = k_init, batches = 2, seed = 1, max_laps = 8, audit = TRUE))
    }
  }
})

test_that("one document is the mixture with these weights", {
  obs <- obs_regression(df = 4, scale = 1, coef_mean = matrix(0, 1, 2), coef_precision = diag(2), tails = 4)
  control <- bnp_control(moves = FALSE, verbose = FALSE, max_laps = 2000, tol = 1e-13, restarts = 1)
  topics <- bnp_topics(planted$x, obs, prior_lda(2, 1.5), id = rep(1, 400), start = planted$topic, control = control)
  mixture <- bnp_mixture(planted$x, obs, prior_dirichlet(2, 1.5), start = planted$topic, control = control)
  expect_equal(elbo(topics), elbo(mixture), tolerance = 1e-9)
})

test_that("a regression may be a block of a product, and what topics do not take is refused by name", {
  frame <- data.frame(planted$x, b = withr::with_seed(2, rnorm(400)), doc = planted$doc)
  blocks <- obs_product(line = obs_regression(formula = y ~ a, tails = NULL), other = obs_gaussian(columns = "b"))
  fit <- bnp_topics(frame, blocks, id = "doc", control = bnp_control(seed = 1, restarts = 1, verbose = FALSE))
  expect_identical(n_clusters(fit), 2L)
  expect_true(".scale" %in% names(augment(fit, frame, id = "doc")))
  expect_identical(dim(simulate(heavy, seed = 1)$sim_1), c(400L, 4L))
  expect_bad(bnp_topics(y ~ a, frame, id = "doc"), "formula")
  expect_bad(bnp_topics(frame, obs_regression(formula = y ~ a), id = "doc"), "formula", "a matrix of the response")
  expect_bad(bnp_mixture(frame, obs_regression(formula = y ~ a)), "formula", "y ~ a")
  expect_bad(bnp_topics(planted$x, obs_regression(family = "binomial"), id = planted$doc), "argument", "Such a model")
  expect_bad(bnp_sample(heavy, planted$x, id = planted$doc), "not_defined", "rows with scales")
})
