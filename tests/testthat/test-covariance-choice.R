# obs_gaussian(covariance = "auto"): a full and a diagonal fit, of which the better bound is kept; and what
# summary(fit, data) says of a diagonal covariance.

quick <- function(...) bnp_control(seed = 1, max_laps = 40, ...)
quietly <- function(expr) suppressWarnings(expr)
choose <- function(x, ..., control = quick(), start = NULL) {
  quietly(bnp_mixture(x, obs_gaussian("auto", ...), control = control, start = start))
}
alone <- function(x, covariance, ..., control = quick()) {
  quietly(bnp_mixture(x, obs_gaussian(covariance, ...), control = control))
}
# Two groups in six independent columns, and in two that go together.
independent <- withr::with_seed(1, matrix(rnorm(360), 60) + 4 * rep(0:1, each = 30))
correlated <- withr::with_seed(2, local({
  x <- matrix(rnorm(240), 120)
  cbind(x[, 1], x[, 1] + 0.2 * x[, 2]) + 8 * rep(0:1, each = 60)
}))

expect_choice <- function(x, winner, loser, ...) {
  fit <- choose(x, ...)
  both <- lapply(c(full = "full", diagonal = "diagonal"), function(covariance) alone(x, covariance, ...))
  expect_identical(fit$model, both[[winner]]$model)
  expect_identical(fit$state, both[[winner]]$state)
  expect_identical(fitted(fit), fitted(both[[winner]]))
  expect_equal(elbo(fit), elbo(both[[winner]]) - log(2), tolerance = 1e-13)
  expect_gt(elbo(both[[winner]]), elbo(both[[loser]]))
  expect_identical(names(fit$covariances), c("covariance", "elbo", "k"))
  expect_identical(fit$covariances$covariance, c("full", "diagonal"))
  expect_equal(fit$covariances$elbo, c(elbo(both$full), elbo(both$diagonal)) - log(2), tolerance = 1e-13)
  expect_identical(fit$covariances$k, c(n_clusters(both$full), n_clusters(both$diagonal)))
  expect_identical(max(fit$covariances$elbo), elbo(fit))
  fit
}

test_that("the better of two whole fits is kept, less log 2", {
  expect_s3_class(expect_choice(independent, "diagonal", "full")$model$obs, "obs_gaussian_diagonal")
  expect_s3_class(expect_choice(correlated, "full", "diagonal")$model$obs, "obs_gaussian_full")
})

test_that("the price is in every bound that a fit shows: terms, trace and restarts; and fits compare by it", {
  for (learn in c(TRUE, FALSE)) {
    fit <- choose(correlated, learn = learn, control = quick(restarts = 2))
    both <- alone(correlated, "full", learn = learn, control = quick(restarts = 2))
    expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-12)
    hyperprior <- c(elbo(both, terms = TRUE), hyperprior = 0)[["hyperprior"]] # the first of that name
    expect_equal(elbo(fit, terms = TRUE)[["hyperprior"]], hyperprior - log(2), tolerance = 1e-12)
    expect_equal(elbo_trace(fit)$elbo, elbo_trace(both)$elbo - log(2), tolerance = 1e-13)
    expect_equal(fit$restarts$elbo, both$restarts$elbo - log(2), tolerance = 1e-13)
    expect_identical(max(fit$restarts$elbo), elbo(fit))
    expect_equal(utils::tail(elbo_trace(fit)$elbo, 1L), elbo(fit), tolerance = 1e-13)
    expect_equal(compare_fits(fit, both)$elbo, c(elbo(fit), elbo(both)))
  }
})

test_that("what is given holds for both fits, and the same seed gives the same bits", {
  fit <- expect_choice(correlated, "full", "diagonal", learn = FALSE, df = 5, scale = c(2, 3), rounding = 0)
  expect_identical(fit$model$obs$scale, diag(c(2, 3)))
  expect_choice(independent, "diagonal", "full", mean = 1)
  bits <- function(fit) fit[c("elbo", "elbo_terms", "model", "state", "covariances")]
  expect_identical(bits(choose(correlated)), bits(choose(correlated)))
  # Without a seed one is drawn for both, so that set.seed() governs, and the fit has it.
  without <- withr::with_seed(3, choose(independent, control = bnp_control(max_laps = 3, k_init = 4)))
  with <- choose(independent, control = bnp_control(seed = without$control$seed, max_laps = 3, k_init = 4))
  expect_identical(bits(with), bits(without))
})

test_that("rows with weights, labels, gaps and an id are chosen for as well, and so are starts of labels", {
  with <- function(...) {
    one <- function(obs) quietly(bnp_mixture(independent, obs, control = quick(), ...))
    expect_equal(elbo(one(obs_gaussian("auto"))), elbo(one(obs_gaussian("diagonal"))) - log(2))
  }
  with(weights = rep(1:2, 30))
  with(labels = replace(rep(c("a", "b"), each = 30), 5:55, NA))
  with(id = rep(1:20, each = 3))
  with(start = rep(1:2, 30))
  gaps <- replace(independent, cbind(c(3, 40), 1), NA)
  one <- function(obs) elbo(quietly(bnp_mixture(gaps, obs, control = quick(), na_action = "model")))
  expect_equal(one(obs_gaussian("auto")), one(obs_gaussian("diagonal")) - log(2))
  frame <- as.data.frame(independent)
  by_formula <- quietly(bnp_mixture(~ V1 + V2, frame, obs_gaussian("auto"), control = quick()))
  expect_equal(elbo(by_formula), max(by_formula$covariances$elbo))
})

test_that("verbs take such a fit as one of the covariance that was chosen", {
  fit <- choose(independent)
  same <- alone(independent, "diagonal")
  new <- independent[1:9, ]
  expect_identical(predict(fit, new, "prob"), predict(same, new, "prob"))
  expect_identical(coef(fit), coef(same))
  # Bounds of other models than that of the choice have no price.
  expect_identical(unclass(cluster_tree(fit, independent))$elbo, unclass(cluster_tree(same, independent))$elbo)
  expect_equal(cluster_tree(fit, independent)$fitted_elbo, elbo(same), tolerance = 1e-13)
  cut <- cut_fit(fit, independent, k = 1)
  expect_null(cut$covariances)
  expect_equal(elbo(cut), elbo(cut_fit(same, independent, k = 1)), tolerance = 1e-13)
  expect_equal(cut$cut$from$elbo, elbo(same), tolerance = 1e-13)
  more <- quietly(update(fit, new))
  expect_equal(elbo(more), elbo(quietly(update(same, new))), tolerance = 1e-13)
  expect_null(more$covariances)
  draws <- function(fit) bnp_sample(fit, independent, draws = 5, chains = 1, warmup = 1, seed = 1)
  expect_identical(draws(fit)$trace, draws(same)$trace)
  from_data <- bnp_sample(independent, obs_gaussian("auto"), draws = 5, chains = 1, warmup = 1, seed = 1)
  expect_identical(obs_facts(from_data$fit$model$obs)$title, "Gaussian, diagonal covariance")
  expect_false(isTRUE(from_data$fit$model$obs$learn))
})

test_that("update() keeps the covariance that was chosen, and what was given beside", {
  x <- independent
  fit <- quietly(bnp_mixture(x, obs_gaussian("auto", learn = FALSE, df = 9), control = quick()))
  expect_identical(fit$call$obs, quote(obs_gaussian("diagonal", df = 9, learn = FALSE)))
  again <- quietly(update(fit, prior = prior_dp(2)))
  expect_identical(again$model$obs, fit$model$obs)
  expect_null(again$covariances)
  on <- quietly(update(fit, start = fit))
  expect_s3_class(on$model$obs, "obs_gaussian_diagonal")
  asked <- quietly(update(fit, obs = obs_gaussian("auto")))
  expect_identical(asked$covariances$covariance, c("full", "diagonal"))
})

test_that("the choice is printed in one line", {
  expect_output(print(obs_gaussian("auto", df = 9)), "Gaussian, full or diagonal covariance: .*df = 9")
  fit <- choose(independent)
  gap <- fit$covariances$elbo[2] - fit$covariances$elbo[1]
  line <- paste0("Covariance: diagonal, whose bound is ", format(gap, digits = 3), " above that of full (")
  expect_output(print(fit), line, fixed = TRUE)
  expect_output(print(summary(fit)), line, fixed = TRUE)
})

test_that("where two fits make no sense the choice is refused with a reason and what to do", {
  auto <- obs_gaussian("auto")
  fit <- choose(independent)
  x <- independent
  expect_bad(bnp_mixture(x, auto, start = fit), "start", "one covariance already")
  file <- withr::local_tempfile()
  expect_bad(bnp_mixture(x, auto, control = quick(checkpoint = file)), "not_defined", "checkpoint")
  expect_bad(bnp_mixture(x, auto, control = quick(workers = TRUE)), "not_defined", "workers")
  expect_bad(bnp_mixture(source_function(function(i) if (i == 1L) x), auto), "not_defined", "source")
  expect_bad(bnp_mixture(bnp_stream(function(i) if (i == 1L) x), auto), "stream", "one at a time")
  expect_bad(bnp_mixture(x, auto, control = bnp_control("truncation_free")), "stream", "one at a time")
  expect_bad(bnp_mixture(x, auto, time = rep(1:6, 10)), "time")
  expect_bad(bnp_hmm(x, obs = auto), "not_defined", "sequences")
  expect_bad(bnp_topics(x, auto, id = rep(1:6, 10)), "not_defined", "topics")
  expect_bad(bregman_kmeans(x, 2, auto), "argument", "auto")
  expect_bad(obs_product(auto, obs_categorical()), "argument", "auto")
  expect_bad(obs_gaussian("auto", scale = diag(2)), "argument", "scale")
  expect_bad(obs_gaussian("auto", variance = 1), "argument", "variance")
  expect_bad(obs_gaussian("auto", drift = 1), "argument", "drift")
  lines <- as.data.frame(x)
  expect_bad(bnp_mixture(V1 ~ V2, lines, auto), "formula", "response")
})

test_that("Ctrl-C keeps the first fit, whichever of the two it ends", {
  skip_on_os("windows")
  withr::local_options(rlang_interactive = TRUE)
  x <- withr::with_seed(1, matrix(rnorm(8000), 1000))
  # In which of the two fits to stop. The signal comes once, and from where a lap is reported: in a handler of its
  # message it could end the test instead.
  stopped_in <- function(which) {
    begun <- 0L
    learn <- function(data, model, control, start, progress) {
      begun <<- begun + 1L
      waits <- begun == which
      engine(data, model, control, start, function(record) {
        if (waits && record$lap == 2L) tools::pskill(Sys.getpid(), tools::SIGINT)
      })
    }
    engine <- replace_in_package("engine_fit", learn, environment())
    control <- bnp_control(seed = 1, k_init = 4, moves = FALSE, tol = 0, max_laps = 5000, verbose = TRUE)
    fit <- NULL
    messages <- testthat::capture_messages(
      fit <- quietly(bnp_mixture(x, obs_gaussian("auto"), control = control))
    )
    list(fit = fit, messages = messages)
  }
  first <- stopped_in(1L)
  expect_identical(first$fit$reason, "interrupted")
  expect_identical(first$fit$covariances$covariance, "full")
  expect_output(print(first$fit), "Covariance: full; that of diagonal was not fitted", fixed = TRUE)
  second <- stopped_in(2L)
  expect_true(second$fit$converged)
  expect_identical(second$fit$covariances$covariance, "full")
  expect_match(second$messages, "diagonal covariance was not finished", all = FALSE)
  expect_equal(sum(elbo(second$fit, terms = TRUE)), elbo(second$fit))
})

# ---- summary(fit, data) ----------------------------------------------------------------------------------------------

test_that("summary() with data says by how much a diagonal covariance is better or worse for the same clusters", {
  for (x in list(independent, correlated)) {
    fit <- alone(x, "full")
    other <- quietly(bnp_mixture(
      x, obs_gaussian("diagonal"), start = fitted(fit), control = bnp_control(seed = 1, moves = FALSE, max_laps = 20)
    ))
    gap <- elbo(other) - elbo(fit)
    said <- paste0(
      "Diagonal covariances for these clusters: ELBO ", format(elbo(other), digits = 8), ", ",
      format(abs(gap), digits = 3), if (gap > 0) " higher" else " lower"
    )
    expect_output(print(summary(fit, x)), said, fixed = TRUE)
  }
  expect_no_match(paste(utils::capture.output(print(summary(fit))), collapse = "\n"), "Diagonal covariances")
  # A fit that was chosen is compared without the price of the choice.
  expect_equal(summary(choose(correlated), correlated)$diagonal, summary(fit, correlated)$diagonal)
})

test_that("summary() with data has the fit's prior, weights, labels, individuals and rounding", {
  compared <- function(x, ..., obs = list()) {
    fit <- quietly(bnp_mixture(x, do.call(obs_gaussian, obs), control = quick(), ...))
    other <- quietly(bnp_mixture(
      x, do.call(obs_gaussian, c("diagonal", obs)), start = fitted(fit), ...,
      control = bnp_control(seed = 1, moves = FALSE, max_laps = 20)
    ))
    expect_equal(summary(fit, x)$diagonal$gain, elbo(other) - elbo(fit))
  }
  compared(correlated, weights = rep(1:2, 60))
  compared(correlated, prior = prior_dirichlet(3))
  compared(correlated, obs = list(learn = FALSE))
  compared(round(correlated, 1), obs = list(rounding = 0.1))
  compared(correlated, labels = replace(rep(c("a", "b"), each = 60), 5:100, NA))
  frame <- data.frame(correlated, who = rep(1:40, each = 3))
  compared(frame, id = "who")
  compared(replace(correlated, cbind(2:4, 1), NA), na_action = "omit")
  compared(replace(correlated, cbind(2:4, 1), NA), na_action = "model")
})

test_that("summary() with data is refused where clusters have no full covariance, and for other data", {
  full <- alone(correlated, "full")
  expect_bad(summary(alone(correlated, "diagonal"), correlated), "argument", "full")
  expect_bad(summary(full, correlated[1:50, ]), "other_data")
  expect_bad(summary(quietly(bnp_hmm(correlated, control = quick())), correlated), "not_defined", "sequences")
})
