quick <- function(...) bnp_control(seed = 1, ...)
old_faithful <- bnp_mixture(faithful, control = quick())

test_that("default arguments find the known clusters", {
  expect_equal(n_clusters(old_faithful), 3)
  if (requireNamespace("MASS", quietly = TRUE)) {
    expect_true(n_clusters(bnp_mixture(MASS::galaxies, control = quick())) %in% 3:7)
  }
  penguins <- bnp_mixture(penguins_measurements[, -1], control = quick(restarts = 5))
  expect_true(n_clusters(penguins) %in% 3:4)
  expect_gte(adjusted_rand_index(fitted(penguins), penguins_measurements$species), 0.9)
})

test_that("the star, the bars and the animals are taken apart", {
  star <- bnp_mixture(asterisk[, 1:2], control = quick())
  expect_equal(adjusted_rand_index(fitted(star), asterisk$cluster), 1)
  images <- bnp_mixture(bars$counts, obs_multinomial(), control = quick())
  expect_equal(adjusted_rand_index(fitted(images), bars$cluster), 1)
  zoo <- bnp_mixture(animals, obs_bernoulli(), control = quick(restarts = 3))
  sea <- fitted(zoo)[c("blue whale", "humpback whale", "killer whale", "dolphin", "seal", "walrus")]
  expect_length(unique(sea), 1)
  expect_false(any(fitted(zoo)[c("zebra", "lion", "mouse")] == sea[1]))
})

test_that("the parts of a fit agree with each other", {
  fit <- old_faithful
  expect_s3_class(fit, c("bnp_mixture", "bnp_fit"), exact = TRUE)
  expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit))
  trace <- elbo_trace(fit)
  expect_named(trace[1:6], c("lap", "elbo", "k", "births", "merges", "deletes"))
  expect_true("seconds" %in% names(trace))
  expect_equal(trace$elbo[nrow(trace)], elbo(fit))
  expect_true(all(diff(trace$elbo) > -1e-9 * abs(elbo(fit))))
  expect_equal(sum(cluster_sizes(fit)), 272)
  expect_false(is.unsorted(-cluster_sizes(fit)))
  expect_equal(nobs(fit), 272)
  expect_named(fitted(fit), rownames(faithful))
  prob <- predict(fit, faithful, "responsibility")
  expect_equal(unname(colSums(prob)), unname(cluster_sizes(fit)), tolerance = 1e-3)
  expect_equal(max.col(prob), unname(fitted(fit)))
  expect_equal(predict(fit, faithful), fitted(fit))
  expect_equal(predict(fit), fitted(fit))
  expect_true(is.na(attr(logLik(fit), "df")))
  expect_true(is.na(AIC(fit)))
})

test_that("clusters are numbered by decreasing size in finite mixtures too", {
  fit <- bnp_mixture(faithful, prior = prior_dirichlet(3), control = quick())
  expect_equal(fit$state$k, 3)
  expect_false(is.unsorted(-cluster_sizes(fit)))
  expect_equal(unname(fitted(fit)), unname(predict(fit, faithful)))
  expect_equal(as.vector(table(factor(fitted(fit), 1:3))), unname(round(cluster_sizes(fit))), tolerance = 0.1)
  expect_equal(sum(coef(fit)$weights), 1)
})

test_that("coefficients and parameters are named", {
  means <- coef(old_faithful)
  expect_equal(dimnames(means$mean), list(c("1", "2", "3"), names(faithful)))
  expect_equal(dim(means$cov), c(2, 2, 3))
  expect_equal(unname(means$mean[1, ]), unname(colMeans(faithful[fitted(old_faithful) == 1, ])), tolerance = 0.01)
  params <- posterior_params(old_faithful)
  expect_true(all(c("mean", "mean_strength", "df", "scale", "sticks") %in% names(params)))
  expect_equal(params$df, old_faithful$model$obs$df + cluster_sizes(old_faithful))
  expect_null(colnames(params$sticks))
  zoo <- bnp_mixture(animals, obs_bernoulli(), control = quick())
  expect_equal(colnames(coef(zoo)$prob), colnames(animals))
})

test_that("K = 1: density is the Student-t of the Normal-Wishart", {
  x <- faithful$waiting
  obs <- obs_gaussian(mean = 70, mean_strength = 2, df = 5, scale = 300, rounding = 0)
  fit <- bnp_mixture(x, obs, control = quick(moves = FALSE, k_init = 1))
  n <- length(x)
  kappa <- 2 + n
  m <- (2 * 70 + sum(x)) / kappa
  scale <- 300 + sum(x^2) + 2 * 70^2 - kappa * m^2
  df <- 5 + n
  s <- sqrt(scale * (kappa + 1) / (kappa * df))
  at <- c(40, 70, 110)
  # What is left of the weight belongs to clusters not seen yet: the prior predictive.
  weight <- coef(fit)$weights[[1]]
  expect_equal(weight, (1 + n) / (2 + n))
  s0 <- sqrt(300 * 3 / (2 * 5))
  density <- weight * dt((at - m) / s, df) / s + (1 - weight) * dt((at - 70) / s0, 5) / s0
  expect_equal(predict(fit, at, "logdensity"), log(density))
  expect_equal(heldout_loglik(fit, at), mean(predict(fit, at, "logdensity")))
})

test_that("the seed decides, and R's generator is the default seed", {
  set.seed(5)
  a <- bnp_mixture(faithful)
  after <- runif(1)
  set.seed(5)
  b <- bnp_mixture(faithful)
  expect_identical(a$state, b$state)
  expect_identical(runif(1), after)
  set.seed(5)
  sample.int(.Machine$integer.max, 1L)
  expect_identical(runif(1), after)
  set.seed(6)
  before <- .Random.seed
  invisible(bnp_mixture(faithful, control = quick()))
  expect_identical(.Random.seed, before)
})

test_that("a fit is a plain list without the data", {
  x <- matrix(rnorm(4e4), ncol = 2)
  fit <- bnp_mixture(x, control = quick(moves = FALSE, k_init = 2, max_laps = 3))
  expect_lt(as.double(object.size(fit)), as.double(object.size(x)) / 2)
  file <- withr::local_tempfile()
  saveRDS(old_faithful, file)
  again <- readRDS(file)
  expect_identical(predict(again, faithful, "prob"), predict(old_faithful, faithful, "prob"))
  formula_fit <- local({
    ballast <- rnorm(1e5)
    bnp_mixture(~ eruptions + waiting, faithful, control = quick())
  })
  expect_lt(length(serialize(formula_fit, NULL)), 1e5)
})

test_that("starts: labels, responsibilities and fits", {
  labels <- ifelse(faithful$waiting > 68, "long", "short")
  fixed <- quick(moves = FALSE)
  by_label <- bnp_mixture(faithful, control = fixed, start = labels)
  expect_equal(n_clusters(by_label), 2)
  expect_equal(bnp_mixture(faithful, control = fixed, start = factor(labels))$state, by_label$state)
  resp <- cbind(labels == "long", labels == "short") + 0
  expect_equal(bnp_mixture(faithful, control = fixed, start = resp)$state, by_label$state)
  again <- bnp_mixture(faithful, control = fixed, start = by_label)
  expect_equal(elbo(again), elbo(by_label), tolerance = 1e-6)
  other <- bnp_mixture(as.matrix(iris[1:4]), obs_gaussian(rounding = 0), control = fixed)
  expect_bad(bnp_mixture(faithful, start = other), "start", "columns")
  three <- bnp_mixture(faithful, prior = prior_dirichlet(3), control = fixed, start = labels)
  expect_equal(three$state$k, 3)
})

test_that("all forms of the same data give the same fit", {
  reference <- old_faithful$state
  expect_identical(bnp_mixture(as.matrix(faithful), control = quick())$state, reference)
  expect_identical(bnp_mixture(~., faithful, control = quick())$state, reference)
  dense <- bnp_mixture(as.matrix(bars$counts[1:300, ]), obs_multinomial(), control = quick())
  sparse <- bnp_mixture(bars$counts[1:300, ], obs_multinomial(), control = quick())
  expect_equal(elbo(dense), elbo(sparse), tolerance = 1e-9)
  expect_equal(unname(fitted(dense)), unname(fitted(sparse)))
})

test_that("update fits again with other arguments", {
  fit <- update(old_faithful, prior = prior_dirichlet(2))
  expect_equal(fit$model$prior$family, "dirichlet")
  expect_equal(fit$control$seed, 1)
  by_formula <- bnp_mixture(~ log(eruptions), faithful, control = quick())
  expect_equal(elbo(update(by_formula)), elbo(by_formula))
})

test_that("verbose reports laps", {
  expect_message(
    bnp_mixture(faithful, control = quick(verbose = TRUE)), "Lap 1: 1 cluster,"
  ) |> suppressMessages()
})

test_that("clusters that stand for single values of rounded data are named in a warning", {
  as_they_are <- obs_gaussian(rounding = 0)
  expect_warning(
    bnp_mixture(quakes$mag, as_they_are, control = bnp_control(seed = 1)), "add noise of the size",
    class = "bnpvi_warning_ties"
  )
  expect_no_warning(bnp_mixture(quakes$mag, control = bnp_control(seed = 1)))
  for (x in list(mtcars, as.matrix(mtcars))) {
    told <- expect_warning(
      suppressMessages(bnp_mixture(x, control = bnp_control(seed = 1))), class = "bnpvi_warning_ties"
    )
    expect_match(conditionMessage(told), "\"gear\".*factor, or leave it out")
    expect_no_match(conditionMessage(told), "noise")
  }
  expect_no_warning(bnp_mixture(faithful, control = bnp_control(seed = 1)))
  expect_no_warning(bnp_mixture(iris[1:4], control = bnp_control(seed = 1)))
})
