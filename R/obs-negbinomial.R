# Counts of events that vary more than Poisson counts: in each column each cluster has a mean and a size.

#' Negative binomial counts
#'
#' Counts of events that vary more within a cluster, topic or state than Poisson counts do. Columns are independent
#' given the cluster.
#'
#' @inheritParams obs_gaussian
#' @inheritParams obs_poisson
#' @param size The size of each column's negative binomial distribution, which has variance `mean + mean^2 / size`.
#'   `NULL`, the default: each cluster has one of its own in each column, which is integrated out, with the prior
#'   `gamma_prior(0.5, 0.01)`; another [gamma_prior()] replaces this prior. Numbers, one or one per column, are known
#'   sizes. With exposures, a prior is that of the size at the mean exposure, and known sizes are those at an exposure
#'   of 1.
#' @param mean,a Prior mean of a count (per unit of exposure), by default the mean of all data, and its weight: one
#'   number, or one for each column.
#' @details
#' If counts do not vary more within a group than Poisson counts do, sizes become large.
#'
#' Exposures multiply mean and size, so that the ratio of variance and mean does not depend on them. This is right for
#' durations and areas, each part of which brings its own events. It is not right for library sizes, as of genes in
#' cells or words in documents, which all columns of a row share: these multiply the mean alone and leave the size
#' unchanged, as an offset of a regression does. If rows differ in how much of them was seen, all columns go up and down
#' together, and the shares within a row should be modelled ([obs_multinomial()]). If each column varies by itself, a
#' size for each column is right.
#'
#' Sizes are told apart between 0.005 and 50,000, with exposures at the mean exposure: fits do not depend on the unit of
#' exposures. [coef()] has sizes and means at an exposure of 1. A row takes memory for some 40 numbers per column.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_poisson()].
#' @examples
#' obs_negbinomial()
#' fit <- bnp_mixture(InsectSprays["count"], obs_negbinomial(), control = bnp_control(seed = 1))
#' coef(fit)[c("mean", "size")]
#' @export
obs_negbinomial <- function(size = NULL, a = 1, mean = NULL, exposure = NULL, columns = NULL, ...) {
  check_no_dots(..., notes = c(
    zeros = "Zeros are counts of this distribution. A cluster with many of them has a small {.arg size}."
  ))
  size <- shape_argument(size, "size", gamma_prior(0.5, 0.01), likelihood_shapes)
  prior <- list(a = check_positive(a, "a"), mean = if (!is.null(mean)) check_positive(mean, "mean"))
  if (!is.null(mean)) check_range(prior$mean, "mean", c(1e-10, 1e10), rlang::current_env())
  obs <- do.call(new_obs, c(
    "negative_binomial", prior, if (!is.null(exposure)) list(exposure = check_exposure(exposure)),
    columns_field(columns)
  ))
  obs$size <- size
  obs
}

obs_resolve.obs_negbinomial <- function(obs, data, start, call) {
  obs$known <- !is.object(obs$size)
  if (!is.null(obs$exposure)) obs$mean_exposure <- exposure_of_sizes(obs, data, start, call)
  if (is.null(obs$mean)) {
    # The default prior mean is that of obs_poisson(), a / b.
    obs$mean <- 1 / obs_resolve.obs_poisson(list(a = 1), data, start, call)$b
  }
  obs <- resolve_fields(obs, c("a", "mean", if (obs$known) "size"), data$d, call)
  obs$exposed <- !is.null(obs$exposure)
  if (is.numeric(obs$exposure)) obs$exposure <- TRUE
  obs
}

# The mean exposure, at which sizes are told apart; that of the fit from which this one starts, whose sums belong to it.
exposure_of_sizes <- function(obs, data, start, call) {
  before <- if (inherits(start, "bnp_fit")) start$model$obs
  if (identical(before$family, obs$family) && !is.null(before$exposure)) {
    return(before$mean_exposure %||% 1)
  }
  exposure <- mean_exposure(data)
  if (!isTRUE(exposure >= most_exposed[1] && exposure <= most_exposed[2])) {
    abort("range", c(
      "The mean of the exposures of {.fn {obs_facts(obs)$constructor}} must be from {most_exposed[1]} to
       {most_exposed[2]}, not {signif(exposure, 3)}.",
      i = "Divide them by their mean."
    ), call = call)
  }
  exposure
}
most_exposed <- c(1e-6, 1e10)

# Sums of clusters are computed at nodes of sizes that depend on the mean exposure; fits with another one have other
# sums.
obs_layout.obs_negbinomial <- function(obs) if (!is.null(obs$exposure)) obs$mean_exposure %||% 1

model_negative_binomial <- list(
  title = "Negative binomial", constructor = "obs_negbinomial", class = c("obs_negbinomial", "obs_shaped"),
  values = "counts of events", kind = "number", gaps = "cells",
  refusal = refused_counts("Use raw counts, or {.fn obs_gamma} for values above 0."),
  working = c("exposed", "known", "mean_exposure"),
  parameters = list(size = "columns", a = "columns", mean = "columns"),
  arrays = list(
    shape_node = shaped_axes, shape_prob = shaped_axes, a = shaped_axes, b = shaped_axes,
    size = c("clusters", "columns"), mean = c("clusters", "columns")
  ),
  location = "mean"
)

obs_supports.obs_negbinomial <- function(obs, values) are_counts(values)
obs_keep.obs_negbinomial <- obs_keep.obs_poisson
obs_given.obs_negbinomial <- obs_given.obs_poisson

# Quantiles of size and mean. Given the size, p = mean / (mean + size) has a Beta(a, b) posterior, so that the
# mean is size p / (1 - p).
obs_quantiles.obs_negbinomial <- function(obs) {
  shaped_quantiles(
    "size", function(column) column$shape_node * column$a / column$b,
    function(mean, column) stats::pbeta(mean / (column$shape_node + mean), column$a, column$b)
  )
}

obs_draw_rows.obs_negbinomial <- function(obs, q, rows, given) {
  columns <- lapply(shapes_of_columns(q), function(column) {
    drawn <- draw_shape(column)
    rate <- stats::rgamma(1L, drawn$a) / stats::rgamma(1L, drawn$b) # p / (1 - p)
    size <- drawn$shape_node * given$exposure[rows]
    stats::rpois(length(rows), stats::rgamma(length(rows), size) * rate)
  })
  matrix(unlist(columns), length(rows))
}

obs_moments.obs_negbinomial <- function(obs, q, given) {
  e <- given$exposure
  mean <- e * over_shapes(q, function(column) column$shape_node * column$a / (column$b - 1))
  square <- function(column) {
    s <- e * column$shape_node
    of_square <- column$a / (column$b - 1) / (column$b - 2)
    ifelse(column$b > 2, of_square * (s * (column$a + column$b - 1) + s^2 * (column$a + 1)), Inf)
  }
  list(mean = mean, var = pmax(moment_over_shapes(q, square) - mean^2, 0))
}

# The expectation of f(log density under a, log density under b) for counts of one column in cluster a, where
# f takes vectors. It is a sum over all counts with a probability above 0 or, if these are many, a mean over
# the midpoints of parts of equal probability.
over_counts <- function(a, b, f) {
  top <- stats::qnbinom(1e-14, a$size, mu = a$mean, lower.tail = FALSE)
  every <- top < 1e5
  y <- if (every) seq(0, top) else stats::qnbinom((seq_len(1e4) - 0.5) / 1e4, a$size, mu = a$mean)
  own <- stats::dnbinom(y, a$size, mu = a$mean, log = TRUE)
  sum((if (every) exp(own) else 1e-4) * f(own, stats::dnbinom(y, b$size, mu = b$mean, log = TRUE)))
}
of_count_columns <- function(a, b, f) {
  vapply(seq_along(a$size), function(j) over_counts(lapply(a, `[`, j), lapply(b, `[`, j), f), 1)
}
obs_divergence.obs_negbinomial <- function(obs, a, b) {
  sum(pmax(of_count_columns(a, b, function(own, other) own - other), 0))
}
obs_overlap.obs_negbinomial <- function(obs, a, b) {
  root <- function(own, other) exp((other - own) / 2)
  prod(pmin((of_count_columns(a, b, root) + of_count_columns(b, a, root)) / 2, 1)) # the same both ways, to the bit
}

obs_marginals.obs_negbinomial <- function(obs, means) {
  Map(function(mean, size) list(kind = "number", mean = mean, sd = sqrt(mean + mean^2 / size)), unname(means$mean),
    unname(means$size)
  )
}
obs_picture.obs_negbinomial <- function(obs, fit, data) heat_picture(fit, relative = TRUE)

obs_densities.obs_negbinomial <- function(obs, means) {
  unname(Map(function(size, mean) {
    column_density(
      function(x) stats::dnbinom(x, size, mu = mean), function(p) stats::qnbinom(p, size, mu = mean), discrete = TRUE
    )
  }, means$size, means$mean))
}
