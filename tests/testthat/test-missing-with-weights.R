# Missing values together with weights and known labels.

holes <- function(seed = 1) {
  withr::with_seed(seed, {
    x <- as.matrix(iris[1:4])
    gone <- matrix(runif(600) < 0.1, 150)
    gone[rowSums(gone) == 4, 1] <- FALSE
    replace(x, gone, NA)
  })
}
quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)

test_that("whole weights of rows with gaps are rows written as often", {
  x <- holes()
  w <- rep(c(1, 3, 2), 50)
  labels <- as.integer(iris$Species)
  for (obs in list(obs_gaussian(learn = FALSE), obs_gaussian("diagonal", learn = FALSE))) {
    fit <- function(x, labels, ...) {
      control <- quiet(moves = FALSE, tol = 1e-12, max_laps = 2000)
      suppressWarnings(bnp_mixture(x, obs, control = control, start = labels, na_action = "model", ...))
    }
    often <- rep(1:150, w)
    weighted <- fit(x, labels, weights = w)
    written <- fit(x[often, ], labels[often])
    expect_equal(weighted$model$obs, written$model$obs)
    expect_equal(elbo(weighted), elbo(written), tolerance = 1e-8)
    expect_equal(cluster_sizes(weighted), cluster_sizes(written), tolerance = 1e-4)
  }
})

test_that("rows that are left out take their weights and labels with them", {
  x <- holes()
  complete <- rowSums(is.na(x)) == 0
  w <- seq(0.5, 2, length.out = 150)
  labels <- replace(as.character(iris$Species), c(1:40, 60:90, 120:150), NA)
  some <- suppressMessages(
    bnp_mixture(x, control = quiet(), weights = w, labels = labels, na_action = "omit")
  )
  same <- bnp_mixture(x[complete, ], control = quiet(), weights = w[complete], labels = labels[complete])
  expect_equal(elbo(some), elbo(same))
  expect_equal(which(is.na(fitted(some))), which(!complete))
  expect_equal(unname(fitted(some))[complete], unname(fitted(same)))
  expect_identical(unname(predict(some, type = "label"))[complete], unname(predict(same, type = "label")))
  expect_identical(which(is.na(predict(some, type = "label"))), which(!complete))
  expect_equal(nobs(some), nobs(same))
  expect_error(
    suppressMessages(bnp_mixture(x, weights = 1 * !complete, na_action = "omit")), "must not all be 0",
    class = "bnpvi_error_weights"
  )
  sets <- outer(labels, unique(iris$Species), `==`)
  expect_equal(elbo(suppressMessages(
    bnp_mixture(x, control = quiet(), weights = w, labels = sets, na_action = "omit")
  )), elbo(some))
})

test_that("rows with gaps keep to the clusters of their labels", {
  x <- holes()
  labels <- as.character(iris$Species)
  fit <- bnp_mixture(x, control = quiet(), labels = labels, na_action = "model")
  expect_equal(as.character(predict(fit, type = "label")), labels)
  own <- augment(fit, as.data.frame(x), na_action = "model")
  expect_equal(as.integer(own$.class), unname(fitted(fit)), ignore_attr = TRUE)
  free <- predict(fit, x, type = "label", na_action = "model")
  expect_gt(mean(as.character(free) == labels), 0.9)
})
