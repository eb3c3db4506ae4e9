# Values whose logarithms are Gaussian: the Jacobian, beside other models of the same values, extremes, and bad input.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
two_groups <- function(n, sd = 0.5) withr::with_seed(1, {
  cluster <- rep(1:2, each = n)
  list(x = cbind(a = rlnorm(2 * n, c(0, 3)[cluster], sd), b = rlnorm(2 * n, c(2, -1)[cluster], sd)), cluster = cluster)
})
priors <- list(
  full = list(mean = c(0.3, 1), mean_strength = 0.2, df = 4.5, scale = matrix(c(1, 0.3, 0.3, 2), 2)),
  diagonal = list(mean = c(0.3, 1), mean_strength = 0.2, df = 3, scale = c(1, 2))
)
both <- function(covariance, prior = list()) {
  lapply(list(values = obs_lognormal, logs = obs_gaussian), do.call, c(covariance, prior))
}

test_that("the bound is that of the Gaussian model of the logarithms less their sum, in every family", {
  x <- two_groups(30)$x
  for (covariance in names(priors)) {
    for (prior in list(priors[[covariance]], list())) {
      obs <- both(covariance, prior)
      for (fit in list(
        function(x, obs) bnp_mixture(x, obs, control = quiet(seed = 1)),
        function(x, obs) bnp_mixture(x, obs, one, quiet(seed = 1, batches = 3)),
        function(x, obs) bnp_hmm(x, rep(1:4, each = 15), obs, control = quiet(seed = 1)),
        function(x, obs) bnp_hmm(x, obs = obs, prior = prior_hmm(2), control = quiet(seed = 1)),
        function(x, obs) bnp_topics(x, obs, control = quiet(seed = 1, max_laps = 5), id = rep(1:6, 10))
      )) {
        values <- suppressWarnings(fit(x, obs$values))
        logs <- suppressWarnings(fit(log(x), obs$logs))
        expect_equal(elbo(values), elbo(logs) - sum(log(x)), tolerance = 1e-9)
        expect_identical(fitted(values), fitted(logs))
        expect_equal(coef(values), coef(logs), tolerance = 1e-12)
      }
      w <- rep(c(1, 2.5), 30)
      values <- bnp_mixture(x, obs$values, weights = w, control = quiet(seed = 1))
      logs <- bnp_mixture(log(x), obs$logs, weights = w, control = quiet(seed = 1))
      expect_equal(elbo(values), elbo(logs) - sum(w * log(x)), tolerance = 1e-9)
    }
  }
})

test_that("the predictive density has the Jacobian of the cells that are there", {
  x <- two_groups(30)$x
  new <- replace(x[c(1, 7, 40, 60), ] * 1.3, cbind(2:3, 1:2), NA)
  jacobian <- -rowSums(log(new), na.rm = TRUE)
  for (covariance in names(priors)) {
    obs <- both(covariance, priors[[covariance]])
    holes <- replace(x, cbind(c(3, 9, 44), c(1, 2, 1)), NA)
    for (train in list(x, holes)) {
      values <- bnp_mixture(train, obs$values, control = quiet(seed = 1), na_action = "model")
      logs <- bnp_mixture(log(train), obs$logs, control = quiet(seed = 1), na_action = "model")
      expect_equal(elbo(values), elbo(logs) - sum(log(train), na.rm = TRUE), tolerance = 1e-9)
      expect_equal(
        predict(values, new, "logdensity"), predict(logs, log(new), "logdensity") + jacobian, tolerance = 1e-10
      )
      expect_equal(predict(values, new, "prob"), predict(logs, log(new), "prob"), tolerance = 1e-10)
    }
  }
  # And it is a density: its integral over values is 1.
  fit <- bnp_mixture(x[, 1], obs_lognormal(), control = quiet(seed = 1))
  density <- function(x) exp(predict(fit, x, "logdensity"))
  expect_equal(integrate(function(s) density(exp(s)) * exp(s), -600, 600, subdivisions = 5000L)$value, 1,
    tolerance = 1e-5
  )
})

test_that("in other units of the values the bound changes by their logarithms alone", {
  x <- two_groups(30)$x
  for (covariance in names(priors)) {
    plain <- bnp_mixture(x, obs_lognormal(covariance), control = quiet(seed = 1))
    for (unit in 2^c(-900, -10, 10, 900)) {
      fit <- bnp_mixture(x * unit, obs_lognormal(covariance), control = quiet(seed = 1))
      expect_equal(elbo(fit) + length(x) * log(unit), elbo(plain), tolerance = 1e-8)
      expect_identical(fitted(fit), fitted(plain))
      expect_equal(coef(fit)$mean - log(unit), coef(plain)$mean, tolerance = 1e-7)
    }
  }
})

test_that("planted groups and states are found", {
  planted <- two_groups(60)
  for (covariance in names(priors)) {
    fit <- bnp_mixture(planted$x, obs_lognormal(covariance), control = quiet(seed = 1))
    expect_equal(n_clusters(fit), 2)
    expect_gt(adjusted_rand_index(fitted(fit), planted$cluster), 0.95)
    expect_equal(sort(unname(coef(fit)$mean[, "a"])), c(0, 3), tolerance = 0.1)
    expect_equal(sqrt(apply(coef(fit)$cov, 3, function(v) v[1, 1])), c(0.5, 0.5), tolerance = 0.2, ignore_attr = TRUE)
  }
  chain <- bnp_hmm(planted$x, obs = obs_lognormal(), control = quiet(seed = 1))
  expect_equal(n_clusters(chain), 2)
  expect_gt(stats::ks.test(as.vector(residuals(chain, planted$x)), "pnorm")$p.value, 1e-3)
  # Groups that only their logarithms tell apart: in the values the wide one hides the narrow one.
  wide <- withr::with_seed(2, rlnorm(120, rep(c(-3, 3), each = 60), rep(c(0.2, 1), each = 60)))
  two <- bnp_hmm(wide, obs = obs_lognormal(), prior = prior_hmm(2), control = quiet(seed = 1))
  expect_gt(adjusted_rand_index(fitted(two), rep(1:2, each = 60)), 0.95)
})

test_that("bounds say which model values come from, beside gamma and Gaussian models of the same values", {
  bound <- function(x, obs) elbo(bnp_mixture(x, obs, one, quiet(seed = 1)))
  drawn <- withr::with_seed(3, list(
    lognormal = rlnorm(300, 1, 1), gamma = rgamma(300, 2, 0.1), gaussian = abs(rnorm(300, 50, 10))
  ))
  for (name in names(drawn)) {
    x <- drawn[[name]]
    bounds <- vapply(
      list(lognormal = obs_lognormal(), gamma = obs_gamma(2), gaussian = obs_gaussian()), function(obs) bound(x, obs), 1
    )
    expect_identical(names(which.max(bounds)), name)
  }
  # Of a fit for all comparison by new data, too.
  fits <- lapply(list(obs_lognormal(), obs_gamma(2)), function(obs) bnp_mixture(drawn$gamma, obs, one, quiet(seed = 1)))
  heldout <- vapply(fits, heldout_loglik, 1, withr::with_seed(4, rgamma(300, 2, 0.1)))
  expect_lt(heldout[1], heldout[2])
})

test_that("a lognormal block of a product adds its own bound", {
  planted <- two_groups(30)
  data <- data.frame(planted$x, kind = factor(c("u", "v")[planted$cluster]))
  of <- function(values, data) bnp_mixture(
    data, obs_product(values(columns = c("a", "b")), obs_categorical(columns = "kind")), control = quiet(seed = 1)
  )
  logs <- data
  logs[c("a", "b")] <- log(data[c("a", "b")])
  values <- of(obs_lognormal, data)
  expect_equal(elbo(values), elbo(of(obs_gaussian, logs)) - sum(log(planted$x)), tolerance = 1e-9)
  expect_true(all(simulate(values, seed = 1)$sim_1$a > 0))
  far <- predict(values, transform(data[1, ], a = 1e300), "logdensity")
  expect_true(is.finite(far))
  expect_bad(predict(values, transform(data[2, ], a = 0)), "not_positive", "a")
})

test_that("forecasts and fillings are of the lognormal with the mean and variance of the predictive's logarithms", {
  planted <- two_groups(60)
  for (covariance in some_of(names(priors), by = 2)) {
    obs <- both(covariance, priors[[covariance]])
    holes <- replace(planted$x, cbind(c(3, 9, 100), c(1, 2, 1)), NA)
    control <- quiet(seed = 1)
    values <- bnp_mixture(holes, obs$values, one, control, na_action = "model")
    logs <- bnp_mixture(log(holes), obs$logs, one, control, na_action = "model")
    filled <- predict(values, holes, "impute")
    of_logs <- predict(logs, log(holes), "impute")
    at <- which(is.na(holes))
    mean <- as.matrix(of_logs[c("a", "b")])[at]
    sd <- as.matrix(of_logs[grep("sd", names(of_logs))])[at]
    expect_equal(as.matrix(filled[c("a", "b")])[at], exp(mean + sd^2 / 2), tolerance = 1e-8)
    expect_equal(as.matrix(filled[grep("sd", names(filled))])[at], exp(mean + sd^2 / 2) * sqrt(expm1(sd^2)),
      tolerance = 1e-8
    )
    # Draws have logarithms like those of the Gaussian model.
    draws <- function(fit, x) vapply(impute(fit, x, m = 400, seed = 1), function(copy) as.matrix(copy)[at], at + 0)
    expect_equal(log(draws(values, holes)), draws(logs, log(holes)), tolerance = 1e-8)
    chain <- bnp_hmm(planted$x, obs = obs$values, prior = prior_hmm(1), control = control)
    ahead <- predict(chain, planted$x, n.ahead = 1)
    of_logs <- predict(
      bnp_hmm(log(planted$x), obs = obs$logs, prior = prior_hmm(1), control = control), log(planted$x), n.ahead = 1
    )
    expect_equal(ahead$mean.a, exp(of_logs$mean.a + of_logs$sd.a^2 / 2), tolerance = 1e-9)
    expect_equal(ahead$sd.a, ahead$mean.a * sqrt(expm1(of_logs$sd.a^2)), tolerance = 1e-9)
  }
  expect_identical(moments_of_exp(list(mean = c(0, -700, -1e3, 0), var = c(0, 1500, 0, Inf))),
    list(mean = c(1, exp(50), 0, Inf), var = c(0, Inf, 0, Inf)))
})

test_that("individuals, samplers, k-means, intervals, divergences and pictures are those of the logarithms", {
  planted <- two_groups(20)
  x <- planted$x
  obs <- both("full", priors$full)
  id <- rep(1:10, each = 4)
  grouped <- lapply(list(list(x, obs$values), list(log(x), obs$logs)), function(of) {
    bnp_mixture(of[[1]], of[[2]], control = quiet(seed = 1), id = id)
  })
  expect_equal(elbo(grouped[[1]]), elbo(grouped[[2]]) - sum(log(x)), tolerance = 1e-9)
  draws <- lapply(list(list(x, obs$values), list(log(x), obs$logs)), function(of) {
    bnp_sample(of[[1]], of[[2]], control = quiet(seed = 1), chains = 1, draws = 30, seed = 1) |> suppressWarnings()
  })
  expect_identical(draws[[1]]$labels, draws[[2]]$labels)
  expect_identical(
    bregman_kmeans(x, 2, obs$values, seed = 1)$cluster, bregman_kmeans(log(x), 2, obs$logs, seed = 1)$cluster
  )
  fits <- Map(function(x, obs) bnp_mixture(x, obs, control = quiet(seed = 1)), list(x, log(x)), obs)
  expect_equal(cluster_divergence(fits[[1]]), cluster_divergence(fits[[2]]), tolerance = 1e-10)
  expect_equal(cluster_overlap(fits[[1]]), cluster_overlap(fits[[2]]), tolerance = 1e-10)
  expect_equal(confint(fits[[1]]), confint(fits[[2]]), tolerance = 1e-10)
  pictures <- lapply(1:2, function(i) cluster_picture(fits[[i]], list(x, log(x))[[i]]))
  expect_equal(pictures[[1]]$points, pictures[[2]]$points)
  column <- bnp_mixture(x[, 1], obs_lognormal(), control = quiet(seed = 1))
  curve <- cluster_picture(column, x[, 1])
  expect_identical(curve$label, "log(x)")
  expect_equal(sort(curve$values), sort(log(x[, 1])), ignore_attr = TRUE)
  expect_equal(sum(curve$total$density) * diff(curve$total$x[1:2]), 1, tolerance = 0.02)
})

test_that("values may be extreme: far apart, all equal, or one", {
  wide <- c(1e-300, 1e-299, 2e-300, 1, 1.1, 0.9, 1e299, 1e300, 5e299)
  fit <- bnp_mixture(wide, obs_lognormal(), control = quiet(seed = 1, max_laps = 200))
  expect_true(is.finite(elbo(fit)))
  expect_equal(n_clusters(fit), 3)
  expect_equal(fitted(fit), rep(seq_len(3), each = 3)[order(order(fitted(fit)))], ignore_attr = TRUE)
  expect_true(all(is.finite(predict(fit, c(5e-324, 1e308), "logdensity"))))
  middle <- bnp_mixture(c(0.9, 1, 1.2, 1.1), obs_lognormal(), control = quiet(seed = 1))
  expect_true(all(is.finite(predict(middle, c(5e-324, 1e-300, 1e300, 1e308), "logdensity"))))
  for (n in c(1, 30)) {
    for (value in c(1e-300, 1, 1e300)) {
      for (covariance in names(priors)) {
        same <- suppressWarnings(bnp_mixture(rep(value, n), obs_lognormal(covariance), control = quiet(seed = 1)))
        expect_true(is.finite(elbo(same)))
        expect_equal(n_clusters(same), 1)
        expect_equal(unname(coef(same)$mean[1, 1]), log(value), tolerance = 1e-6)
      }
    }
  }
})

test_that("repeated values are told by the rounding of their logarithms", {
  rounded <- withr::with_seed(5, 1000 + sample(c(0, 0.01), 200, TRUE))
  expect_warning(bnp_mixture(rounded, obs_lognormal(), control = quiet(seed = 1)), class = "bnpvi_warning_ties")
  smooth <- withr::with_seed(5, round(rlnorm(300, 5, 0.4)))
  expect_no_warning(bnp_mixture(smooth, obs_lognormal(), control = quiet(seed = 1)), class = "bnpvi_warning_ties")
})

test_that("bounds of given and of learned priors compare, and with those of other models of the values", {
  positive <- as.matrix(faithful[1:100, ])
  few <- quiet(seed = 1, max_laps = 3)
  logs <- list(a = obs_lognormal(), b = obs_lognormal(learn = FALSE), c = obs_gaussian(rounding = 0), d = obs_gamma(5))
  fits <- lapply(logs, function(obs) suppressWarnings(bnp_mixture(positive, obs, control = few)))
  table <- do.call(compare_fits, fits)
  expect_identical(table$plugged_in, rep("", 4))
  printed <- utils::capture.output(print(table))
  expect_length(printed, 6)
  expect_no_match(printed, "plugged_in|numbers that were fitted|cells")
})

test_that("bad values and parameters are refused by name, place and remedy", {
  fit <- function(x, ...) bnp_mixture(x, obs_lognormal(...), control = quiet(max_laps = 2))
  expect_bad(fit(c(1, 0, 2)), "not_positive", "\\(2, 1\\).*\n.*half of the smallest")
  expect_bad(fit(data.frame(wait = c(1, 2, -3))), "not_positive", "\\(3, wait\\).*\n.*obs_gaussian")
  expect_bad(fit(c(1, NA)), "not_finite", "\\(2, 1\\)")
  expect_bad(fit(c(1, Inf)), "not_finite", "\\(2, 1\\)")
  expect_bad(fit(as(Matrix::Matrix(c(1, 2, 3, 4), 2), "CsparseMatrix")), "input", "sparse")
  expect_bad(predict(fit(c(1, 2, 5)), c(1, 0)), "not_positive", "newdata")
  expect_bad(obs_lognormal("tied"), "argument", "covariance")
  expect_bad(obs_lognormal(mean = "a"), "argument", "`mean`")
  expect_bad(obs_lognormal(mean_strength = 0), "argument", "mean_strength")
  expect_bad(obs_lognormal(scale = -1), "not_definite", "`scale`")
  expect_bad(obs_lognormal("diagonal", scale = -1), "not_definite", "`scale`")
  expect_bad(obs_lognormal("diagonal", scale = diag(2)), "argument", "`scale` must be a numeric vector")
  expect_bad(fit(cbind(1:3, 1:3), df = 0.5), "df", "`df`")
  expect_bad(fit(cbind(u = 1:3, v = 1:3), mean = c(u = 1, w = 2)), "names", "`mean`")
})

test_that("a fit without a model names it for a column of such values", {
  group <- rep(1:3, each = 100)
  x <- withr::with_seed(1, data.frame(a = stats::rnorm(300, 6 * group), v = exp(stats::rnorm(300, group / 2, 0.5))))
  three <- function(...) suppressWarnings(bnp_mixture(x, ..., prior = prior_dirichlet(3), seed = 1, start = group))
  fit <- three()
  expect_identical(fit$better[c("column", "model")], data.frame(column = "v", model = "obs_lognormal"))
  expect_gt(elbo(three(obs = obs_product(obs_lognormal(columns = "v"), obs_gaussian()))), elbo(fit))
})

test_that("one row has pictures, though its cluster may have no variance", {
  fit <- suppressWarnings(bnp_mixture(c(x = 3), obs_lognormal(), control = quiet(seed = 1)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("density", "clusters")) expect_silent(plot(fit, type, data = c(x = 3)))
})
