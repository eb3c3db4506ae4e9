# Columns of numbers that another model would describe better than the Gaussian one, which a mixture has where none is
# asked for: each is tried alone, within the clusters that were found.

least_better <- 10 # nats, below which nothing is said

# Rows times clusters that a trial takes at most; of more rows some are left out evenly, as what is better by so much for
# a part of them is so for all.
most_tried <- 5e5

# fit: with the default model of these data -> data.frame(column, by, nats), of each column that has a better model the
# best one; NULL: none has.
better_columns <- function(fit, data) {
  if (is_sparse_data(data) || has_individuals(data)) {
    return(NULL)
  }
  columns <- gaussian_columns(fit$model$obs, data$column_names %||% as.character(seq_len(data$d)))
  kept <- unique(round(seq(1, data$n, length.out = min(data$n, max(100, most_tried %/% fit$state$k)))))
  resp <- if (length(columns)) state_responsibilities(fit, data)[kept, , drop = FALSE]
  tried <- lapply(columns, function(column) {
    x <- data$x[kept, column$at]
    seen <- if (has_missing(data)) which(!data$missing[kept, column$at]) else seq_along(kept)
    try_column(x[seen], data$weights[kept[seen]], resp[seen, , drop = FALSE], column)
  })
  found <- do.call(rbind, tried)
  if (!is.null(found)) found[order(-found$nats), ]
}

# Of each Gaussian column: its name, its number among all, and its own prior and spacing.
gaussian_columns <- function(obs, names) {
  if (!is.null(obs$blocks)) {
    return(unlist(lapply(unname(obs$blocks), function(block) {
      lapply(gaussian_columns(block, block$columns), function(column) replace(column, "at", match(column$name, names)))
    }), recursive = FALSE))
  }
  if (!obs$family %in% c("gaussian_full", "gaussian_diagonal")) {
    return(NULL)
  }
  full <- obs$family == "gaussian_full"
  lapply(seq_along(names), function(j) {
    scale <- if (full) as.matrix(obs$scale)[j, j] else obs$scale[j]
    prior <- list(
      mean = obs$mean[j], mean_strength = obs$mean_strength, scale = scale,
      df = if (full) obs$df - length(names) + 1 else obs$df
    )
    list(name = names[j], at = j, prior = prior, rounding = obs$rounding[j] %||% 0)
  })
}

# One row for the model that is best for these values, if it is better; weights: NULL or of the values.
try_column <- function(x, weights, resp, column) {
  others <- models_to_try(x, weights, resp, column$prior)
  if (!length(others)) {
    return(NULL)
  }
  gaussian <- function(rounding) do.call(obs_gaussian, c(column$prior, list(learn = FALSE, rounding = rounding)))
  bound <- function(obs) term_of_column(x, weights, resp, obs)
  # The bound of rounded values is that of their cells, and not a sharp one.
  now <- max(vapply(unique(c(0, column$rounding)), function(rounding) bound(gaussian(rounding)), 1))
  nats <- vapply(others, bound, 1) - now
  best <- which.max(nats)
  if (isTRUE(nats[best] >= least_better)) {
    data.frame(column = column$name, by = names(others)[best], nats = unname(nats[best]))
  }
}

# Models that values like these may be better described by, named as they are called: of counts, else of values above 0
# that lean to the right and of tails that are heavy, within clusters.
models_to_try <- function(x, weights, resp, prior) {
  if (length(x) < 2L || all(x == x[1L])) {
    return(NULL)
  }
  if (all(x >= 0) && all(x == round(x)) && max(x) <= 1e6) {
    return(list("obs_negbinomial()" = obs_negbinomial(), "obs_poisson()" = obs_poisson()))
  }
  shape <- shape_within(x, resp * (weights %||% 1))
  c(
    if (all(x > 1e-150) && max(x) < 1e150 && shape[["skewness"]] > 0.3) list(
      "obs_gamma()" = obs_gamma(), "obs_lognormal()" = obs_lognormal(learn = FALSE)
    ),
    if (shape[["kurtosis"]] > 0.5) list("obs_student()" = do.call(obs_student, c(prior, list(tails = NULL))))
  )
}

# Skewness and excess kurtosis about the means of the clusters, in units of their standard deviations.
shape_within <- function(x, mass) {
  size <- colSums(mass)
  mass <- mass[, size > 1e-8, drop = FALSE]
  size <- size[size > 1e-8]
  offset <- outer(x, colSums(mass * x) / size, `-`)
  sd <- sqrt(colSums(mass * offset^2) / size)
  z <- offset / rep(pmax(sd, .Machine$double.xmin), each = length(x))
  c(skewness = sum(mass * z^3) / sum(size), kurtosis = sum(mass * z^4) / sum(size) - 3)
}

# The data term of the bound of one column with these responsibilities.
term_of_column <- function(x, weights, resp, obs) {
  data <- as_mixture_data(cbind(x), obs)
  data$weights <- weights
  model <- list(obs = resolve_obs(obs, data), prior = prior_dirichlet(ncol(resp)), bound = NULL)
  control <- bnp_control(moves = FALSE, max_laps = 1, batches = 1, restarts = 1, seed = 1, verbose = FALSE)
  resolved <- resolve_control(control, model$obs, model$prior, data$n, data$n, list(resp = resp))
  resolved$max_laps <- 0L
  engine_fit(as_engine_data(data), model, resolved, list(resp = resp), NULL)$terms[["data"]]
}

with_better_columns <- function(fit, data) {
  better <- better_columns(fit, data)
  if (is.null(better)) {
    return(fit)
  }
  class <- class(fit)
  fit <- unclass(fit)
  fit$better <- better
  sealed(structure(fit, class = class))
}

described_better <- function(better) {
  each <- paste0(better$column, " by ", better$by, " (", round(better$nats), " nats)")
  shown <- each[seq_len(min(3L, length(each)))]
  paste0(
    "Better described within these clusters: ", paste(shown, collapse = ", "),
    if (length(each) > 3L) paste0(" and ", length(each) - 3L, " more")
  )
}
