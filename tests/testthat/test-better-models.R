# Fits without `obs` name the model that describes a column better than a Gaussian one within their clusters.

n <- 600
group <- rep(1:3, each = n / 3)
planted <- withr::with_seed(1, data.frame(
  a = stats::rnorm(n, c(0, 6, 12)[group]), b = stats::rnorm(n, c(0, -6, 5)[group]), c = stats::rnorm(n)
))
columns <- withr::with_seed(2, list(
  obs_poisson = stats::rpois(n, c(1, 3, 2)[group]),
  obs_negbinomial = stats::rnbinom(n, size = 2, mu = c(4, 12, 8)[group]),
  obs_gamma = stats::rgamma(n, 2, c(1, 2, 1)[group]),
  obs_student = stats::rt(n, 2)
))
three <- function(x, ..., prior = prior_dirichlet(3)) {
  suppressWarnings(bnp_mixture(x, prior = prior, seed = 1, ..., start = if (prior$k == 3L) group))
}
said <- function(fit) paste(trimws(utils::capture.output(print(fit))), collapse = " ")
suggested <- function(fit) eval(parse(text = sub(" Data kept.*", "", sub(".*Try obs = ", "", said(fit)))))

test_that("the column and its model are named, and the call that is printed works", {
  for (model in names(columns)) {
    fit <- three(cbind(planted, own = columns[[model]]))
    expect_identical(fit$better[c("column", "model")], data.frame(column = "own", model = model))
    expect_gte(fit$better$gain, 10)
    line <- paste0("Better within these clusters: ", model, "() for `own` by ", format(fit$better$gain, digits = 2))
    expect_match(said(fit), line, fixed = TRUE)
    again <- three(cbind(planted, own = columns[[model]]), obs = suggested(fit))
    expect_identical(again$model$obs$blocks[[1L]]$columns, "own")
    expect_gt(elbo(again), elbo(fit))
    expect_null(again$better)
    expect_no_match(said(again), "Better")
  }
})

test_that("the gain is that of the product in these clusters", {
  x <- cbind(planted, own = columns$obs_gamma)
  fit <- three(x)
  bound <- function(obs) {
    held <- bnp_mixture(x, obs, prior_dp(1), labels = fitted(fit), control = bnp_control(
      seed = 1, moves = FALSE, max_laps = 50, verbose = FALSE
    ))
    elbo(held)
  }
  gain <- bound(suggested(fit)) - bound(obs_gaussian(rounding = 0))
  alone <- function(obs) {
    elbo(bnp_mixture(x["own"], obs, prior_dp(1), labels = fitted(fit), control = bnp_control(
      seed = 1, moves = FALSE, max_laps = 50, verbose = FALSE
    )))
  }
  gain <- min(gain, alone(obs_gamma()) - alone(obs_gaussian(learn = FALSE, rounding = 0)))
  expect_equal(fit$better$gain, gain, tolerance = 0.01)
})

long_test("columns of other kinds, several columns, weights and missing values are no hindrance", {
  x <- cbind(planted, kind = letters[group], visits = columns$obs_poisson, wait = columns$obs_gamma)
  fit <- three(x)
  expect_identical(fit$better$column, c("visits", "wait"))
  expect_identical(
    unname(lapply(three(x, obs = suggested(fit))$model$obs$blocks, `[[`, "columns")),
    list("visits", "wait", c("a", "b", "c"), "kind")
  )
  expect_identical(three(x, weights = rep(1, n))$better, fit$better)
  expect_gt(three(x, weights = rep(2, n))$better$gain[2L], 1.5 * fit$better$gain[2L])
  x$wait[3] <- x$a[7] <- NA
  expect_identical(three(x, na_action = "model")$better$model, fit$better$model)
  expect_identical(three(as.matrix(cbind(planted, columns$obs_gamma)))$better$model, "obs_gamma")
  v <- columns$obs_gamma[group != 2]
  alone <- three(v, prior = prior_dirichlet(1))
  expect_match(said(alone), "Try obs = obs_gamma()", fixed = TRUE)
  expect_gt(elbo(three(v, obs = obs_gamma(), prior = prior_dirichlet(1))), elbo(alone))
})

test_that("normal columns, few rows and models that were given have no such line", {
  expect_null(three(planted)$better)
  expect_null(bnp_mixture(faithful, seed = 1)$better)
  overlapping <- withr::with_seed(4, data.frame(u = stats::rnorm(n, c(3, 5, 7)[group]), v = stats::rnorm(n)))
  expect_null(three(overlapping)$better)
  x <- cbind(planted, own = columns$obs_gamma)
  expect_null(three(x, obs = obs_gaussian())$better)
  few <- c(1:9, 201:209, 401:409)
  expect_null(suppressWarnings(bnp_mixture(x[few, ], seed = 1))$better)
  # Beside a column that explains its shape a model of its own loses more than it wins.
  x$c <- x$own + withr::with_seed(3, stats::rnorm(n, sd = 0.05))
  expect_null(three(x)$better)
})

test_that("the fit is the same with and without it, and random numbers of R are not used", {
  x <- cbind(planted, own = columns$obs_gamma)
  fit <- three(x)
  plain <- three(x, obs = obs_gaussian())
  same <- c("state", "elbo", "elbo_terms", "labels", "sizes", "numbering", "model", "input")
  expect_identical(fit[same], plain[same])
  expect_silent(check_format(fit))
  expect_false(is.null(attr(fit, "seal")))
  withr::local_seed(7)
  before <- .Random.seed
  three(x)
  expect_identical(.Random.seed, before)
  expect_null(suppressWarnings(coarsen(bnp_mixture(x, seed = 1), 2, x))$better)
})

test_that("values that no other model can take are left to the Gaussian one", {
  x <- cbind(planted, own = columns$obs_gamma * 1e200)
  expect_no_error(try_error <- tryCatch(three(x), bnpvi_error = function(e) NULL))
  x$own <- 10^(columns$obs_gamma * 20)
  expect_no_error(tryCatch(three(x), bnpvi_error_range = function(e) NULL))
})

long_test("of many rows some are tried, and the gain is for all", {
  n <- 40000
  x <- withr::with_seed(1, cbind(a = stats::rnorm(n), own = stats::rgamma(n, 3)))
  one <- function(x) suppressWarnings(bnp_mixture(x, prior = prior_dirichlet(1), seed = 1))$better
  better <- one(x)
  expect_identical(better$model, "obs_gamma")
  some <- one(x[evenly(n, rows_to_try(1)), ])
  expect_equal(better$gain, some$gain * n / rows_to_try(1), tolerance = 1e-3)
  expect_equal(better$gain, one(x[seq_len(n / 4), ])$gain * 4, tolerance = 0.1)
  expect_identical(evenly(5, 8), 1:5)
  expect_equal(range(evenly(n, 10)), c(1, n))
})

test_that("rows of a larger table, which have names, are tried without a word", {
  some <- cbind(planted, own = columns$obs_gamma)
  rownames(some) <- paste0("row", seq_len(n))
  expect_no_message(bnp_mixture(some[-1, ], seed = 1, restarts = 1), class = "bnpvi_message_names")
})

test_that("a column of another shape that was cut into Gaussian clusters is named, with the clusters that are left", {
  cut <- withr::with_seed(5, list(
    obs_gamma = data.frame(v = stats::rgamma(600, 3)),
    obs_negbinomial = data.frame(v = stats::rnbinom(600, 2, mu = 10)),
    two = data.frame(v = stats::rgamma(600, 2), w = stats::rnorm(600, c(0, 8)[1:2])),
    both = data.frame(v = stats::rgamma(600, 2), w = stats::rnorm(600, c(0, 8)[1:2]), u = stats::rlnorm(600))
  ))
  free <- function(x, ...) suppressWarnings(bnp_mixture(x, seed = 1, threads = 1, verbose = FALSE, ...))
  for (name in some_of(names(cut), by = 3)) {
    x <- cut[[name]]
    fit <- free(x)
    expect_gt(n_clusters(fit), 2)
    better <- fit$better
    expect_identical(better$column, if (name == "both") c("v", "u") else "v")
    expect_identical(better$model[1L], if (name %in% c("two", "both")) "obs_gamma" else name)
    left <- if (name %in% c("two", "both")) 2L else 1L
    expect_identical(unique(better$clusters), left)
    expect_match(said(fit), sprintf("Better by %s nats with %d cluster", format(better$gain[1L], digits = 2), left))
    # The gain is that of the bounds of two fits: what the call that is printed gives is no worse.
    whole <- free(x, obs = suggested(fit))
    expect_identical(n_clusters(whole), left)
    expect_gte(elbo(whole) - elbo(fit), better$gain[1L] - 0.01)
    plain <- free(x, obs = obs_gaussian())
    if (name != "both") expect_identical(elbo(plain), elbo(fit))
    expect_null(plain$better)
  }
  expect_identical(unique(free(cut$two, weights = rep(2, 600))$better$clusters), 2L)
})

test_that("clusters of Gaussian columns are not taken for parts of another shape", {
  expect_null(suppressWarnings(bnp_mixture(iris[1:4], seed = 1))$better)
  birds <- penguins_measurements[, -1]
  expect_null(suppressWarnings(bnp_mixture(birds, seed = 1))$better)
})

test_that("of many columns those that depart most from a normal shape are tried", {
  x <- withr::with_seed(1, matrix(stats::rgamma(200 * 12, 1), 200, dimnames = list(NULL, letters[1:12])))
  x[, c("c", "k")] <- withr::with_seed(2, stats::rnorm(400))
  better <- suppressWarnings(bnp_mixture(x, prior = prior_dirichlet(1), seed = 1))$better
  expect_length(better$column, 8L)
  expect_identical(better$column, sort(setdiff(better$column, c("c", "k"))))
})

test_that("levels have no better model of numbers", {
  d <- as.data.frame(Titanic)
  fit <- bnp_mixture(d[rep(seq_len(32), d$Freq), 1:4], seed = 1, restarts = 1)
  expect_null(fit$better)
  expect_null(bnp_mixture(d[1:4], weights = d$Freq, seed = 1, restarts = 1)$better)
})
