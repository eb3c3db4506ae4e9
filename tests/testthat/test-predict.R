fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))

test_that("columns are matched by name", {
  prob <- predict(fit, faithful, "prob")
  expect_equal(predict(fit, faithful[2:1], "prob"), prob)
  expect_equal(predict(fit, cbind(other = letters[1], faithful), "prob"), prob)
  expect_equal(unname(predict(fit, unname(as.matrix(faithful)), "prob")), unname(prob))
  expect_equal(rowSums(prob), setNames(rep(1, 272), rownames(faithful)))
  expect_equal(predict(fit, c(eruptions = 2, waiting = 55)), 2)
})

test_that("zero rows are fine", {
  none <- faithful[0, ]
  expect_identical(unname(predict(fit, none)), integer())
  expect_equal(dim(predict(fit, none, "prob")), c(0, n_clusters(fit)))
  expect_length(predict(fit, none, "logdensity"), 0)
  expect_bad(heldout_loglik(fit, none), "no_rows", "newdata")
})

test_that("newdata that cannot be used are refused", {
  expect_bad(predict(fit, faithful[1]), "newdata_columns", "waiting")
  expect_bad(predict(fit, unname(as.matrix(faithful[1]))), "newdata_columns", "2 columns")
  expect_bad(predict(fit, type = "prob"), "newdata", "needed")
  expect_bad(predict(fit, faithful, "median"), "argument", "type")
  expect_bad(predict(fit, faithful, kind = "prob"), "argument", "kind")
  spoilt <- faithful
  spoilt$waiting[3] <- NA
  expect_bad(predict(fit, spoilt), "not_finite", "waiting")
  by_formula <- bnp_mixture(~ log(waiting), faithful, control = bnp_control(seed = 1))
  expect_bad(predict(by_formula, as.matrix(faithful)), "newdata", "data frame")
  expect_bad(predict(by_formula, faithful[1]), "formula", "waiting")
  expect_equal(predict(by_formula, faithful), fitted(by_formula))
})

test_that("terms are matched by name; unseen ones are left out with a warning", {
  counts <- bars$counts[1:200, ]
  images <- bnp_mixture(counts, obs_multinomial(), control = bnp_control(seed = 1))
  reference <- predict(images, counts[1:5, ], "prob")
  expect_equal(predict(images, counts[1:5, 144:1], "prob"), reference)
  padded <- cbind(counts[1:5, ], Matrix::sparseMatrix(1, 1, x = 3, dims = c(5, 1), dimnames = list(NULL, "new")))
  expect_warning(prob <- predict(images, padded, "prob"), "1 term", class = "bnpvi_warning_unseen_terms")
  expect_equal(prob, reference)
  part <- counts[1:5, 1:100]
  zeros <- counts[1:5, ]
  zeros[, 101:144] <- 0
  expect_equal(predict(images, part, "prob"), predict(images, zeros, "prob"))
  strange <- counts[1:5, 1:3]
  colnames(strange) <- c("p", "q", "r")
  expect_bad(predict(images, strange), "newdata_columns", "no term in common")
})

test_that("log density of a multinomial cluster is Dirichlet-multinomial", {
  x <- rbind(c(3, 1, 0), c(2, 2, 1))
  one <- bnp_mixture(x, obs_multinomial(0.5), prior = prior_dirichlet(1), control = bnp_control(seed = 1))
  alpha <- 0.5 + colSums(x)
  new <- c(1, 0, 2)
  expected <- lgamma(sum(alpha)) - lgamma(sum(alpha) + 3) + sum(lgamma(alpha + new) - lgamma(alpha))
  expect_equal(predict(one, matrix(new, 1), "logdensity"), expected)
})

test_that("log density of a Bernoulli cluster is Beta-Bernoulli", {
  x <- rbind(c(1, 0), c(1, 1), c(0, 0))
  one <- bnp_mixture(x, obs_bernoulli(2, 3), prior = prior_dirichlet(1), control = bnp_control(seed = 1))
  p <- (2 + colSums(x)) / (5 + 3)
  expect_equal(predict(one, matrix(c(1, 0), 1), "logdensity"), log(p[1]) + log(1 - p[2]))
})

test_that("time series need the columns of the training data too", {
  series <- ts(as.matrix(faithful), start = 1950)
  chain <- bnp_hmm(series, control = bnp_control(seed = 1))
  regression <- bnp_mixture(series, obs_ar(), control = bnp_control(seed = 1))
  for (f in list(chain, regression, fit)) {
    expect_bad(predict(f, ts(1:5)), "newdata_columns", "2 columns")
    expect_bad(predict(f, ts(1:2)), "newdata_columns", "2 columns")
    expect_bad(predict(f, series[, 1, drop = FALSE]), "newdata_columns", "waiting")
    expect_bad(heldout_loglik(f, series[, 1]), "newdata_columns", "2 columns")
    expect_identical(predict(f, series[, 2:1], "prob"), predict(f, series, "prob"))
    expect_identical(unname(predict(f, ts(unname(as.matrix(faithful))))), unname(predict(f, series)))
  }
  expect_identical(segments(chain, series[, 2:1]), segments(chain, series))
  expect_bad(segments(chain, ts(1:5)), "newdata_columns")
  expect_bad(residuals(chain, ts(1:5)), "newdata_columns")
  expect_bad(augment(fit, ts(1:5)), "newdata_columns")
  expect_bad(augment(chain, ts(1:5)), "newdata_columns")
})

test_that("triplets of slam are new data as they are data", {
  counts <- as.matrix(whales$counts[1:40, ])
  topics <- bnp_topics(counts, control = bnp_control(seed = 1, max_laps = 2))
  at <- which(counts > 0, arr.ind = TRUE)
  slam <- structure(
    list(
      i = at[, 1], j = at[, 2], v = counts[at], nrow = nrow(counts), ncol = ncol(counts), dimnames = dimnames(counts)
    ),
    class = "simple_triplet_matrix"
  )
  expect_equal(predict(topics, slam), predict(topics, counts))
})

test_that("errors name the argument that the data were given as", {
  withr::local_pdf(NULL)
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  chain <- bnp_hmm(faithful, control = bnp_control(seed = 1, max_laps = 5))
  topics <- bnp_topics(toy_corpus(), control = bnp_control(seed = 1, max_laps = 5))
  bad <- as.matrix(faithful)
  bad[2, 1] <- NA
  for (f in list(fit, chain)) {
    expect_bad(predict(f, bad, type = "prob"), "not_finite", "`newdata`")
    expect_bad(augment(f, bad), "not_finite", "`data`")
    expect_bad(augment(f, bad[, 1, drop = FALSE]), "newdata_columns", "`data`")
    expect_bad(plot(f, data = bad), "not_finite", "`data`")
  }
  expect_bad(plot(chain, data = faithful[0, ]), "no_rows", "`data`")
  expect_bad(coherence(topics, toy_corpus() + 0.5), "not_counts", "`x`")
  expect_bad(ldavis_data(topics, toy_corpus() + 0.5), "not_counts", "`x`")
})

test_that("arrays of one dimension are new data as vectors are", {
  for (fit in list(bnp_mixture(faithful), bnp_hmm(faithful), bnp_topics(toy_corpus()))) {
    answer <- function(x) suppressMessages(tryCatch(predict(fit, x), bnpvi_error = conditionMessage))
    for (n in c(2, 6, ncol(toy_corpus()))) expect_identical(answer(array(seq_len(n), n)), answer(seq_len(n)))
  }
})

test_that("a mean over nothing is an error, and a fit is asked for by name", {
  chain <- bnp_hmm(faithful, control = bnp_control(seed = 1, max_laps = 5))
  expect_bad(heldout_loglik(chain, faithful[0, ]), "no_rows", "`newdata`")
  topics <- bnp_topics(toy_corpus(), control = bnp_control(seed = 1, max_laps = 5))
  expect_bad(heldout_loglik(topics, toy_corpus()[0, ]), "no_tokens", "`newdata`")
  expect_bad(heldout_loglik(faithful, faithful), "argument", "`fit`")
  expect_bad(heldout_loglik(structure(list(), class = "bnp_fit"), faithful), "argument", "`fit`")
})

test_that("a picture of one column and no rows has the curves alone", {
  withr::local_pdf(NULL)
  fit <- bnp_mixture(faithful["waiting"], control = bnp_control(seed = 1))
  none <- cluster_picture(fit, faithful[0, "waiting", drop = FALSE])
  expect_equal(none[c("parts", "total")], cluster_picture(fit)[c("parts", "total")])
  expect_silent(plot(fit, data = faithful[0, "waiting", drop = FALSE]))
})

test_that("the most probable cluster is that of the probabilities, the first of equal ones", {
  same <- function(fit, x, ...) expect_identical(predict(fit, x, ...), most_probable(predict(fit, x, "prob", ...)))
  calm <- function(expr) suppressMessages(suppressWarnings(expr))
  same(fit, faithful)
  same(fit, unname(as.matrix(faithful)))
  gaps <- replace(as.matrix(faithful), c(1, 5, 300), NA)
  same(fit, rbind(gaps, NA), na_action = "model")
  same(fit, gaps, na_action = "omit")
  # Every cluster comes three times, in an order that is not the engine's.
  often <- fit
  often$state <- utils::modifyList(fit$state, list(
    k = 6L, obs = fit$state$obs[c(1, 2, 2, 1, 1, 2), ], extra = matrix(0, 6, 0)
  ))
  often$numbering <- c(5L, 3L, 1L, 6L, 2L, 4L)
  data <- as_newdata(fit, faithful, na_action = "fail")
  prob <- probabilities_under(often, data, matrix(1 / 6, 1L, 6L))
  expect_identical(prob[, c(1, 2)], prob[, c(3, 4)])
  best <- probabilities_under(often, data, matrix(1 / 6, 1L, 6L), engine_most_probable)
  expect_identical(best, max.col(prob, "first"))
  expect_identical(sort(unique(best)), 1:2)
  for (seed in 1:5) {
    many <- withr::with_seed(seed, matrix(round(stats::rnorm(200, 0, 5)), 100))
    fit <- calm(bnp_mixture(many, obs_gaussian("diagonal"), control = bnp_control(seed = seed, k_init = 8)))
    same(fit, many)
  }
  series <- calm(bnp_mixture(cbind(beaver1$temp), obs_ar(), control = bnp_control(seed = 1)))
  same(series, cbind(beaver2$temp))
  plants <- calm(bnp_mixture(uptake ~ conc | Plant, CO2, control = bnp_control(seed = 1)))
  same(plants, as.data.frame(CO2))
})
