# One line per registered observation model (more where a model has variants): a prior in the user's
# units, data, the twin, and the rows the twin sees. Adding a model to the engine means adding it
# here. Rows of exchangeable models are groups of their own, so that permuting groups means
# something for every model.

random_definite <- function(d) crossprod(matrix(rnorm(d * (d + 2)), d + 2)) / (d + 2)

engine_data <- function(x, starts = c(0L, nrow(x))) {
  list(x = x, n = nrow(x), d = ncol(x), starts = as.integer(starts))
}

sparse_engine_data <- function(x) {
  by_row <- t(x)
  at <- which(by_row != 0, arr.ind = TRUE)
  list(
    row_start = as.integer(c(0, cumsum(colSums(by_row != 0)))), column = as.integer(at[, 1] - 1),
    value = by_row[by_row != 0], n = nrow(x), d = ncol(x), starts = c(0L, nrow(x))
  )
}

gaussian_rows <- function(n, d) {
  sweep(matrix(rnorm(n * d), n) %*% chol(random_definite(d)), 2, 2 * rnorm(d), "+")
}

case <- function(name, obs, x, twin, rows = function(data) data$x, starts = 0:nrow(x)) {
  list(
    name = name, model = list(obs = obs, prior = list(family = "dp", concentration = 1)),
    data = engine_data(x, starts), twin = twin(obs), rows = rows
  )
}

# How close numbers of a case are to its twin's: `otherwise`, where the case has no tolerance of its own.
tolerance_of <- function(case, otherwise) case$tolerance %||% otherwise

ar_case <- function(lag, intercept) {
  d <- 2L
  e <- d * lag + intercept
  x <- apply(gaussian_rows(60, d), 2, function(z) as.numeric(stats::filter(z, 0.8, "recursive")))
  obs <- list(
    family = "ar", lag = lag, intercept = intercept, df = d + 1.5, scale = random_definite(d),
    coef_mean = matrix(rnorm(d * e), d) / 3, coef_precision = random_definite(e),
    centre = if (intercept) colMeans(x) else rep(0, d), unit = c(0.5, 4)
  )
  case(
    paste0("ar, lag ", lag, if (intercept) ", intercept"), obs, x, twin_ar,
    function(data) lagged_rows(data$x, data$starts, lag, intercept),
    starts = c(0L, 20L, 21L, 60L)
  )
}

with_tails <- function(case) {
  case$name <- paste0(case$name, ", tails")
  case$model$obs$tails <- c(2, 0.1)
  case$twin <- twin_of_tails(twin_ar, function(obs) nrow(obs$scale))(case$model$obs)
  case
}

# What a model has beside the core (observations/capabilities.h), in the order of the fields there; one that is not
# named here has the core alone. What is forgotten would cost time and no more, so that no other test would fail.
beside <- strsplit(c(
  "gaussian_full" = "far_rows units row_estimates urn",
  "gaussian_diagonal" = "far_rows units urn",
  "gaussian_full, drifting" = "far_rows entries units times",
  "gaussian_diagonal, drifting" = "far_rows entries units times",
  "gaussian_zero_mean" = "far_rows units row_estimates urn",
  "ar, lag 1" = "lag far_rows units urn",
  "ar, lag 1, intercept" = "lag far_rows units urn",
  "ar, lag 2" = "lag far_rows units urn",
  "ar, lag 2, intercept" = "lag far_rows units urn",
  "multinomial" = "linear tokens urn",
  "bernoulli" = "linear urn",
  "lognormal_full" = "far_rows base units row_estimates urn",
  "lognormal_diagonal" = "far_rows base units urn",
  "lognormal_diagonal, gaps" = "far_rows gaps base units",
  "poisson" = "linear base urn",
  "poisson, exposure" = "linear base",
  "waiting_time" = "linear base",
  "censored" = "linear",
  "binomial" = "linear base",
  "gaussian_spherical" = "far_rows units urn",
  "gaussian_tied_spherical" = "far_rows units",
  "gaussian_tied_diagonal" = "far_rows units",
  "gaussian_tied" = "far_rows units",
  "regression" = "far_rows units urn",
  "regression, no intercept" = "far_rows units urn",
  "categorical" = "entries urn",
  "categorical, cells of no level" = "entries urn",
  "gaussian_diagonal, gaps" = "far_rows gaps units",
  "gaussian_diagonal, no cell missing" = "far_rows gaps units",
  "gaussian_spherical, gaps" = "far_rows gaps units",
  "bernoulli, gaps" = "gaps urn",
  "poisson, gaps" = "gaps base",
  "poisson, exposure, gaps" = "gaps base",
  "waiting_time, gaps" = "gaps base",
  "gaussian_full, rounded" = "far_rows units row_estimates",
  "gaussian_zero_mean, rounded" = "far_rows units row_estimates",
  "gaussian_diagonal, rounded" = "far_rows units",
  "gaussian_diagonal, rounded, gaps" = "far_rows gaps units",
  "gaussian_spherical, rounded" = "far_rows units",
  "gaussian_tied_diagonal, rounded" = "far_rows units",
  "gaussian_tied, rounded" = "far_rows units",
  "shaped_gamma" = "base",
  "shaped_gamma, gaps" = "gaps base",
  "von_mises, gaps" = "gaps",
  "shaped_gamma, zeros" = "gaps base",
  "shaped_gamma, zeros, gaps" = "gaps base",
  "waiting_time, zeros" = "gaps base",
  "negative_binomial" = "base",
  "negative_binomial, exposure" = "base",
  "negative_binomial, gaps" = "gaps base",
  "negative_binomial, exposure, gaps" = "gaps base",
  "weibull" = "wide_sums base",
  "weibull, gaps" = "wide_sums gaps base",
  "weibull, zeros, gaps" = "wide_sums gaps base",
  "censored_weibull" = "wide_sums base",
  "student_full" = "cells units",
  "student_full, known tails" = "cells units",
  "student_diagonal" = "cells units",
  "regression, tails" = "cells units",
  "regression, no intercept, tails" = "cells units",
  "ar, lag 1, intercept, tails" = "lag cells units",
  "binomial_regression" = "cells gaps units",
  "binomial_regression, no intercept" = "cells gaps units",
  "negbinomial_regression" = "cells gaps units",
  "product" = "far_rows entries base units row_estimates",
  "product, gaps" = "far_rows entries gaps base units row_estimates",
  "product with pairs" = "far_rows entries base units row_estimates",
  "product with regressions" = "far_rows entries units row_estimates",
  "product of one block" = "far_rows units row_estimates",
  "product of categories" = "entries row_estimates"
), " ")

new_model_cases <- function() {
  withr::with_seed(20131205, {
    d <- 3L
    x <- gaussian_rows(40, d)
    full <- list(
      family = "gaussian_full", mean = rnorm(d), mean_strength = 0.3, df = d + 0.7,
      scale = random_definite(d),
      centre = colMeans(x), unit = c(0.25, 1, 8)
    )
    diagonal <- utils::modifyList(
      full, list(family = "gaussian_diagonal", df = 1.4, scale = c(0.5, 2, 1))
    )
    log_diagonal <- replace(diagonal, "family", "lognormal_diagonal")
    zero_mean <- c(list(family = "gaussian_zero_mean"), full[c("df", "scale", "unit")])
    counts <- matrix(rpois(40 * 5, 2) * rbinom(40 * 5, 1, 0.6), 40)
    storage.mode(counts) <- "double"
    counts[7, ] <- 0
    counts[9, 2] <- 150
    multinomial <- list(family = "multinomial", term_prior = c(0.1, 0.5, 1, 2, 0.3))
    bernoulli <- list(family = "bernoulli", a = runif(5) + 0.1, b = runif(5) + 0.1)
    poisson <- list(family = "poisson", a = runif(5) + 0.1, b = runif(5) + 0.1, exposed = FALSE)
    exposed <- utils::modifyList(poisson, list(exposed = TRUE))
    hours <- cbind(counts, exp(rnorm(40)))
    times <- matrix(rgamma(40 * 4, rep(c(1, 0.4, 3, 20), each = 40), rep(c(1, 3, 0.1, 5), each = 40)), 40)
    gamma <- list(family = "waiting_time", shape = c(1, 0.5, 3, 20), a = runif(4) + 0.1, b = runif(4) + 0.1)
    shaped <- c(list(family = "shaped_gamma", shape = gamma_prior(0.5, 0.01)), gamma[c("a", "b")])
    angular <- list(family = "von_mises", concentration = gamma_prior(1, 0.02), d = 3, known = FALSE)
    turns <- withr::with_seed(1, cbind(rnorm(40) / 3 + 3, runif(40, -pi, pi), rnorm(40) - 1))
    rests <- function(x) replace(x, withr::with_seed(2, cbind(sample(40, 30, TRUE), rep(1:3, c(20, 8, 2)))), 0)
    powers <- c(
      list(family = "weibull", shape = gamma_prior(1, 0.1)), gamma[c("a", "b")],
      list(log_unit = c(0.3, -1, 0, 2), most = rep(20, 4), points = 64L)
    )
    one_power <- c(lapply(powers, function(v) if (is.object(v)) v else v[1]), censored = TRUE)
    twin_of_powers <- twin_of_shapes(given_weibull, grid = weibull_grid)
    spread_out <- list(
      family = "negative_binomial", size = gamma_prior(0.5, 0.01), a = bernoulli$a, mean = bernoulli$b + 1,
      exposed = FALSE, known = FALSE
    )
    # Of rows whose scales are hidden predictives are averages over these, and T has them as they are, 1.
    of_scales <- function(...) c(case(...), list(scales = TRUE))
    in_tails <- function(obs, family, tails = c(2, 0.1)) c(replace(obs, "family", family), list(tails = tails))
    n_y <- function(obs) nrow(obs$scale)
    # The continuation of a size beyond its nodes has a kink, of which lattices of other points see more or less.
    of_sizes <- function(...) c(case(..., twin_of_sizes), list(tolerance = 1e-6))
    twin_of_sizes <- twin_of_shapes(given_negative_binomial, function(obs) obs$size)
    survival <- list(family = "censored", a = 0.6, b = 0.9)
    followed <- cbind(rexp(40, rep(1:2, 20)), rbinom(40, 1, 0.7))
    trials <- cbind(counts[, 1:3], matrix(rpois(40 * 3, 3), 40))
    binomial <- list(family = "binomial", a = runif(3) + 0.1, b = runif(3) + 0.1)
    spherical <- utils::modifyList(full, list(family = "gaussian_spherical", scale = 0.8, unit = rep(2, d)))
    tied <- function(shape, variance, unit = full$unit) {
      c(list(family = paste0("gaussian_", shape), variance = variance, unit = unit),
        full[c("mean", "mean_strength", "centre")])
    }
    regression <- list(
      family = "regression", responses = 2L, intercept = TRUE, df = 3.5, scale = random_definite(2),
      coef_mean = matrix(rnorm(6), 2) / 3, coef_precision = random_definite(3), origin = c(0, 0), spread = c(1, 1),
      centre = colMeans(paired <- gaussian_rows(40, 4)), unit = c(0.5, 2, 4, 1)
    )
    regression$scaled_precision <- regression$coef_precision
    through_0 <- utils::modifyList(regression, list(
      intercept = FALSE, coef_mean = regression$coef_mean[, 1:2], coef_precision = random_definite(2),
      centre = rep(0, 4)
    ))
    through_0$scaled_precision <- through_0$coef_precision
    codes <- cbind(sample(3, 40, TRUE), sample(2, 40, TRUE), 1, sample(5, 40, TRUE, c(8, 1, 1, 1, 1)))
    holes <- replace(codes, cbind(c(2, 7, 7, 7, 7, 30), c(1, 1:4, 4)), 0)
    categorical <- list(family = "categorical", n_levels = c(3, 2, 1, 6), concentration = runif(12) + 0.1)
    few_levels <- list(family = "categorical", n_levels = c(3, 2), concentration = c(1, 1, 1, 0.5, 0.5) / 3)
    product <- function(...) list(family = "product", blocks = list(...))
    blocks <- product(
      few = few_levels, counted = poisson, numbers = diagonal, more = categorical, full = full
    )
    # Some cells are missing, of the first column most, and of one row all (exposures apart).
    with_gaps <- function(obs) c(obs, gaps = TRUE)
    punch <- function(x, columns = ncol(x)) {
      gone <- matrix(runif(nrow(x) * columns) < rep(c(0.7, 0.2, 0.1), length.out = columns), nrow(x), byrow = TRUE)
      gone[5, ] <- TRUE
      gone[1, ] <- FALSE
      x[, seq_len(columns)][gone] <- NA
      x
    }
    rounded <- function(obs) c(obs, list(rounding = c(0.4, 0, 1.5)))
    gappy <- product(few = few_levels, counted = with_gaps(poisson), numbers = with_gaps(diagonal), more = categorical)
    drifting <- function(obs) c(obs, list(drift = 0.4, gap = c(1, 0.3, 5, 2)))
    at_times <- cbind(x, c(rep(c(1, 2, 2, 5, 2, 4), 6), 1, 1, 5, 4)) # none at the third
    glm_cases <- new_glm_cases(counts[, 1])
    mixed <- cbind(holes[, 1:2], counts, x, codes, x[40:1, ] %*% random_definite(d))
    list(
      case("gaussian_full", full, x, twin_gaussian_full),
      case("gaussian_diagonal", diagonal, x, twin_gaussian_diagonal),
      case("gaussian_full, drifting", drifting(full), at_times, twin_drift),
      case("gaussian_diagonal, drifting", drifting(diagonal), at_times, twin_drift),
      case("gaussian_zero_mean", zero_mean, x, twin_gaussian_zero_mean),
      ar_case(1L, FALSE), ar_case(1L, TRUE), ar_case(2L, FALSE), ar_case(2L, TRUE),
      case("multinomial", multinomial, counts, twin_multinomial),
      case("bernoulli", bernoulli, 1 * (counts > 0), twin_bernoulli),
      case("poisson", poisson, counts, twin_poisson),
      case("poisson, exposure", exposed, hours, twin_poisson),
      case("waiting_time", gamma, times, twin_gamma),
      case("censored", survival, followed, twin_censored),
      case("binomial", binomial, trials, twin_binomial),
      case("gaussian_spherical", spherical, x, twin_gaussian_spherical),
      case("gaussian_tied_spherical", tied("tied_spherical", 0.7, rep(4, d)), x, twin_gaussian_tied),
      case("gaussian_tied_diagonal", tied("tied_diagonal", c(0.5, 3, 1)), x, twin_gaussian_tied),
      case("gaussian_tied", tied("tied", random_definite(d)), x, twin_gaussian_tied),
      case("regression", regression, paired, twin_regression),
      case("regression, no intercept", through_0, paired, twin_regression),
      case("categorical", categorical, codes, twin_categorical),
      case("categorical, cells of no level", categorical, holes, twin_categorical),
      case("gaussian_diagonal, gaps", with_gaps(diagonal), punch(x), twin_with_gaps(twin_gaussian_diagonal)),
      case("gaussian_diagonal, no cell missing", with_gaps(diagonal), x, twin_with_gaps(twin_gaussian_diagonal)),
      case("gaussian_spherical, gaps", with_gaps(spherical), punch(x), twin_spherical_with_gaps),
      case("bernoulli, gaps", with_gaps(bernoulli), punch(1 * (counts > 0)), twin_with_gaps(twin_bernoulli)),
      case("poisson, gaps", with_gaps(poisson), punch(counts), twin_with_gaps(twin_poisson)),
      case("poisson, exposure, gaps", with_gaps(exposed), punch(hours, 5), twin_with_gaps(twin_poisson)),
      case("waiting_time, gaps", with_gaps(gamma), punch(times), twin_with_gaps(twin_gamma)),
      case("product", blocks, mixed, twin_product),
      case("product, gaps", gappy, cbind(holes[, 1:2], punch(counts), punch(x), codes), twin_product),
      case("product with pairs", product(tries = binomial, numbers = diagonal, followed = survival, few = few_levels),
        cbind(trials, x, followed, holes[, 1:2]), twin_product),
      case("product with regressions", product(few = few_levels, line = regression, full = full, other = through_0),
        cbind(holes[, 1:2], paired, x, paired[40:1, ]), twin_product),
      case("product of one block", product(only = full), x, twin_product),
      case("product of categories", product(a = few_levels, b = categorical), cbind(holes[, 1:2], codes), twin_product),
      case("lognormal_full", replace(full, "family", "lognormal_full"), exp(x), twin_of_logs(twin_gaussian_full)),
      case("lognormal_diagonal", log_diagonal, exp(x), twin_of_logs(twin_gaussian_diagonal)),
      case("lognormal_diagonal, gaps", with_gaps(log_diagonal), punch(exp(x)),
        twin_of_logs(twin_with_gaps(twin_gaussian_diagonal))),
      case("gaussian_full, rounded", rounded(full), x, twin_rounded(twin_gaussian_full)),
      case("gaussian_zero_mean, rounded", rounded(zero_mean), x, twin_rounded(twin_gaussian_zero_mean)),
      case("gaussian_diagonal, rounded", rounded(diagonal), x, twin_rounded(twin_gaussian_diagonal)),
      case("gaussian_diagonal, rounded, gaps", with_gaps(rounded(diagonal)), punch(x),
        twin_with_gaps(twin_rounded(twin_gaussian_diagonal))),
      case("gaussian_spherical, rounded", rounded(spherical), x, twin_rounded(twin_gaussian_spherical)),
      case("gaussian_tied_diagonal, rounded", rounded(tied("tied_diagonal", c(0.5, 3, 1))), x,
        twin_rounded(twin_gaussian_tied)),
      case("gaussian_tied, rounded", rounded(tied("tied", random_definite(d))), x, twin_rounded(twin_gaussian_tied)),
      case("shaped_gamma", shaped, times, twin_of_shapes(given_gamma)),
      case("shaped_gamma, gaps", with_gaps(shaped), punch(times), twin_of_shapes(given_gamma)),
      case("von_mises", angular, turns, twin_of_shapes(given_von_mises, function(obs) obs$concentration)),
      case("von_mises, gaps", with_gaps(angular), punch(turns),
        twin_of_shapes(given_von_mises, function(obs) obs$concentration)),
      case("shaped_gamma, zeros", c(shaped, zeros = TRUE), rests(times), twin_with_zeros(twin_of_shapes(given_gamma))),
      case("shaped_gamma, zeros, gaps", with_gaps(c(shaped, zeros = TRUE)), punch(rests(times)),
        twin_with_zeros(twin_of_shapes(given_gamma))),
      case("waiting_time, zeros", c(gamma, zeros = TRUE), rests(times), twin_with_zeros(twin_with_gaps(twin_gamma))),
      of_sizes("negative_binomial", spread_out, counts),
      of_sizes("negative_binomial, exposure", replace(spread_out, "exposed", TRUE), hours),
      of_sizes("negative_binomial, gaps", with_gaps(spread_out), punch(counts)),
      of_sizes("negative_binomial, exposure, gaps", with_gaps(replace(spread_out, "exposed", TRUE)), punch(hours, 5)),
      case("weibull", powers, times, twin_of_powers),
      case("weibull, gaps", with_gaps(powers), punch(times), twin_of_powers),
      case("weibull, zeros, gaps", with_gaps(c(powers, zeros = TRUE)), punch(rests(times)),
        twin_with_zeros(twin_of_powers)),
      case("censored_weibull", replace(one_power, "family", "censored_weibull"), followed, twin_of_powers),
      of_scales("student_full", in_tails(full, "student_full"), x, twin_of_tails(twin_gaussian_full)),
      of_scales("student_full, known tails", in_tails(full, "student_full", 4), x, twin_of_tails(twin_gaussian_full)),
      of_scales("student_diagonal", in_tails(diagonal, "student_diagonal"), x, twin_of_tails(twin_gaussian_diagonal)),
      of_scales("regression, tails", in_tails(regression, "regression"), paired, twin_of_tails(twin_regression, n_y)),
      of_scales(
        "regression, no intercept, tails", in_tails(through_0, "regression"), paired,
        twin_of_tails(twin_regression, n_y)
      ),
      c(with_tails(ar_case(1L, TRUE)), list(scales = TRUE)),
      glm_cases$yes_no, glm_cases$no_intercept, glm_cases$counts
    )
  })
}

# The same each time, and made once: making them takes most of a second.
model_cases <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- new_model_cases()
    made
  }
})

# Columns of the data that are known beside those that are modelled, the last: exposures, or the times of rows.
n_known_columns <- function(obs) isTRUE(obs$exposed) + !is.null(obs$drift)

# x with what change(x) makes of its modelled columns.
with_modelled <- function(case, change) {
  x <- case$data$x
  modelled <- seq_len(ncol(x) - n_known_columns(case$model$obs))
  x[, modelled] <- change(x[, modelled, drop = FALSE])
  x
}

# The data with parameters of the model in another order.
in_other_order <- function(case, order) {
  at <- columns_in_order(case$model$obs, order)
  engine_data(case$data$x[, union(at, seq_len(case$data$d))], case$data$starts)
}

# The columns of parameters in another order; of a product in reverse order.
columns_in_order <- function(obs, order) {
  if (!is.null(obs$blocks)) {
    width <- vapply(obs$blocks, n_block_columns, 1L)
    own <- Map(function(block, before) {
      before + columns_in_order(block, rev(seq_len(n_block_parameters(block))))
    }, obs$blocks, cumsum(width) - width)
    return(unlist(rev(own), use.names = FALSE))
  }
  switch(obs$family,
    binomial = c(rbind(2L * order - 1L, 2L * order)), censored = 1:2, censored_weibull = 1:2,
    regression = seq_along(obs$unit), binomial_regression = seq_along(obs$unit),
    negbinomial_regression = seq_along(obs$unit), order
  )
}

# How many parameters may be in any order.
count_parameters <- function(case) {
  switch(case$model$obs$family,
    censored = 1L, censored_weibull = 1L, regression = 1L, binomial_regression = 1L, negbinomial_regression = 1L,
    binomial = case$data$d %/% 2L,
    case$data$d - n_known_columns(case$model$obs)
  )
}
n_block_parameters <- function(obs) {
  if (obs$family == "regression") 1L else length(obs$n_levels %||% obs$mean %||% obs$a)
}
n_block_columns <- function(obs) {
  if (obs$family == "regression") {
    return(length(obs$unit))
  }
  n_block_parameters(obs) * (if (obs$family %in% c("binomial", "censored", "censored_weibull")) 2L else 1L)
}

# Are `mean` and `unit` those of logarithms of the data?
is_of_logs <- function(case) startsWith(case$model$obs$family, "lognormal")

# Columns of the data that the model is a distribution of.
count_columns <- function(case) case$data$d - n_known_columns(case$model$obs)

# The model with its columns reordered; of a product in reverse order only.
permute_columns <- function(obs, order) {
  if (!is.null(obs$blocks)) {
    stopifnot(identical(order, rev(seq_along(order))))
    reversed <- lapply(obs$blocks, function(block) permute_columns(block, rev(seq_len(n_block_parameters(block)))))
    return(list(family = obs$family, blocks = rev(reversed)))
  }
  if (obs$family %in% c("regression", "binomial_regression", "negbinomial_regression")) {
    return(obs) # its responses and covariates stay where they are
  }
  if (!is.null(obs$n_levels)) {
    of_column <- split(obs$concentration, rep(seq_along(obs$n_levels), obs$n_levels))
    obs$concentration <- unlist(of_column[order], use.names = FALSE)
    obs$n_levels <- obs$n_levels[order]
    return(obs)
  }
  by_column <- c("mean", "centre", "unit", "term_prior", "a", "b", "shape", "rounding", "log_unit")
  for (field in intersect(names(obs), by_column)) {
    if (!is.object(obs[[field]])) obs[[field]] <- obs[[field]][order] # a prior is one for all columns
  }
  if (is.matrix(obs$scale)) {
    obs$scale <- obs$scale[order, order]
  } else if (length(obs$scale) > 1L) {
    obs$scale <- obs$scale[order]
  }
  if (is.matrix(obs$variance)) {
    obs$variance <- obs$variance[order, order]
  } else if (length(obs$variance) > 1L) {
    obs$variance <- obs$variance[order]
  }
  if (obs$family == "ar") {
    d <- length(order)
    lags <- outer(order, d * (seq_len(obs$lag) - 1L), "+")
    regressors <- c(lags, if (obs$intercept) d * obs$lag + 1L)
    obs$coef_mean <- obs$coef_mean[order, regressors]
    obs$coef_precision <- obs$coef_precision[regressors, regressors]
  }
  obs
}

# The data with their groups in another order, and where each modelled row went.
permute_groups <- function(data, lag, order) {
  from <- data$starts[-length(data$starts)]
  size <- diff(data$starts)
  pick <- function(skip) {
    function(g) from[g] + seq_len(size[g])[seq_len(size[g]) > skip]
  }
  all_rows <- unlist(lapply(order, pick(0L)))
  modelled <- unlist(lapply(seq_along(size), pick(lag)))
  list(
    data = engine_data(data$x[all_rows, , drop = FALSE], c(0L, cumsum(size[order]))),
    rows = match(unlist(lapply(order, pick(lag))), modelled)
  )
}
