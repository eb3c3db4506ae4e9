# Columns of levels: in each column each cluster has a probability of each level.

#' Factors and text
#'
#' Columns of levels (factors, text, logical values) that have probabilities of their own in each cluster, topic or
#' state: latent class analysis.
#'
#' @inheritParams obs_gaussian
#' @param prior Dirichlet weights of the levels of each column. `"perks"`: one divided by the
#'   number of levels, so that the prior counts as one observation, however many levels a column has. Numbers: one for
#'   all levels, one for each column, or a list with one number, or one for each level, for each column. `"learned"`:
#'   learned while fitting, see *Learned priors* of
#'   [observation_models]; its weight is `prior_strength` in `fit$model$obs`. `NULL`, the
#'   default: learned in [bnp_mixture()] by memoized or full learning, else `"perks"`.
#' @details
#' `obs_categorical()` takes factors, text, logical columns and whole numbers; columns are independent given the cluster
#' (latent class analysis). All levels of a factor count, also those that do not occur: [droplevels()] removes them. The
#' order of ordered factors is not used. New data are matched to the levels by label; a label that the training data do
#' not have is ignored, with a warning. If a column has many levels and each has a prior weight of 1 or more, clusters
#' of rare profiles cannot form.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_bernoulli()] for zeros and ones.
#' @examples
#' cars <- mtcars[c("cyl", "gear", "vs")]
#' fit <- bnp_mixture(cars, obs_categorical(), control = bnp_control(seed = 1))
#' coef(fit)$prob$cyl
#' @export
obs_categorical <- function(prior = NULL, columns = NULL, ...) {
  check_no_dots(...)
  do.call(new_obs, c(
    "categorical", list(prior = if (!is.null(prior)) check_level_prior(prior)), columns_field(columns)
  ))
}

check_level_prior <- function(prior, call = rlang::caller_env()) {
  if (rlang::is_string(prior, c("perks", "learned"))) {
    return(prior)
  }
  if (is.character(prior)) {
    abort("argument", c(
      "{.arg prior} must be {.val perks}, {.val learned} or positive numbers, not {describe(prior)}."
    ), call = call)
  }
  parts <- if (is.list(prior)) prior else list(prior)
  for (part in parts) {
    check_positive(part, "prior", call)
    check_range(part, "prior", parameter_ranges$term_prior, call)
  }
  prior
}

# The Dirichlet prior weights of all levels, one column of the data after the other.
level_weights <- function(prior, n_levels, call) {
  d <- length(n_levels)
  if (identical(prior, "perks")) {
    return(unname(rep(1 / n_levels, n_levels)))
  }
  if (!length(prior) %in% c(1L, d)) {
    abort("argument", c(
      "{.arg prior} must have one value or one per column ({d}), not {length(prior)}."
    ), call = call)
  }
  prior <- rep_len(as.list(prior), d)
  wrong <- which(!(lengths(prior) == 1L | lengths(prior) == n_levels))
  if (length(wrong)) {
    abort("argument", c(
      "{.arg prior} must have one number or one per level in each column.",
      x = "Column {wrong[1]} has {n_levels[wrong[1]]} levels, and {.arg prior} {length(prior[[wrong[1]]])} numbers."
    ), call = call)
  }
  unlist(Map(function(x, n) rep_len(as.double(x), n), prior, n_levels), use.names = FALSE)
}

obs_resolve.obs_categorical <- function(obs, data, start, call) {
  obs$levels <- data$frame$levels
  obs$types <- data$frame$types
  obs$n_levels <- as.double(lengths(obs$levels))
  if (!isTRUE(obs$learn) && !identical(obs$prior, "learned")) {
    obs$prior <- obs$prior %||% "perks"
    obs$concentration <- level_weights(obs$prior, lengths(obs$levels), call)
    return(obs)
  }
  # Learning of the prior starts where an earlier fit ended, or with weights that sum to one observation per
  # column, in the proportions of the data: a guess.
  before <- if (inherits(start, "bnp_fit")) start$model$obs
  obs$prior <- "learned"
  if (identical(before$levels, obs$levels) && !is.null(before$hyper_share)) {
    obs[learned_levels] <- before[learned_levels]
    return(obs)
  }
  obs$prior_strength <- 1
  obs$hyper_share <- 0.5 + unlist(Map(
    function(j, n) level_shares(data$x[, j], n, data$weights), seq_along(obs$levels), lengths(obs$levels)
  ), use.names = FALSE)
  obs$concentration <- unlist(by_column_of_levels(obs, obs$hyper_share, prop.table), use.names = FALSE)
  obs
}

learned_levels <- c("concentration", "prior_strength", "hyper_share")

# The share of each of n levels among the cells of a column, x, without cells of unknown level (0). w: weights
# of rows.
level_shares <- function(x, n, w) {
  if (is.null(w)) {
    return(tabulate(x, n) / max(sum(x > 0), 1))
  }
  counts <- vapply(seq_len(n), function(level) sum(w[x == level]), 1)
  if (sum(counts) > 0) counts / sum(counts) else counts
}

obs_read.obs_categorical <- function(obs, x, arg, call, na_action = NULL) {
  encoded <- encode_levels(x, obs$levels, arg, call, na_action)
  structure(encoded$x, frame = encoded[c("levels", "types")])
}

# The variable and the level of each element along the axis "levels" of parameters.
level_axis <- function(obs) {
  data.frame(
    variable = rep(names(obs$levels) %||% character(), lengths(obs$levels)),
    level = as.character(unlist(obs$levels, use.names = FALSE))
  )
}

level_names <- function(obs) {
  axis <- level_axis(obs)
  paste0(axis$variable, rep("=", nrow(axis)), axis$level)
}

# Splits a vector along the axis "levels" by columns of the data, and applies f to the part of each column.
by_column_of_levels <- function(obs, x, f) {
  unname(lapply(split(x, rep(seq_along(obs$levels), lengths(obs$levels))), f))
}

# Splits an array clusters x levels into a list of matrices, one for each column.
split_levels <- function(obs, array) {
  at <- rep(seq_along(obs$levels), lengths(obs$levels))
  parts <- lapply(seq_along(obs$levels), function(j) {
    part <- array[, at == j, drop = FALSE]
    dimnames(part) <- list(rownames(array), obs$levels[[j]])
    part
  })
  stats::setNames(parts, names(obs$levels))
}

model_categorical <- list(
  title = "Categorical", constructor = "obs_categorical", values = "factors, text, logical values",
  kind = "level", gaps = "levels",
  refusal = c(
    class = "not_levels", must = "hold labels or whole numbers",
    remedy = "Model numbers as numbers, or group them first."
  ),
  working = c("levels", "types", "n_levels", "concentration", "hyper_share", "prior_strength", "learn"),
  parameters = list(prior = "columns"),
  arrays = list(concentration = c("clusters", "levels"), prob = c("clusters", "levels")), location = "prob"
)

obs_supports.obs_categorical <- function(obs, values) values == round(values)

obs_learned.obs_categorical <- function(obs) {
  asked <- isTRUE(obs$learn) || identical(obs$prior, "learned")
  if (asked && (is.null(obs$concentration) || !is.null(obs$hyper_share))) {
    list(by = "prior = \"learned\"", numbers = "prior_strength")
  }
}

obs_axes.obs_categorical <- function(obs, columns) list(columns = columns, levels = level_names(obs))
obs_terms.obs_categorical <- function(obs, columns) level_axis(obs)
obs_layout.obs_categorical <- function(obs) obs$levels

obs_shown.obs_categorical <- function(obs, arrays) {
  own <- intersect(c("concentration", "prob"), names(arrays))
  arrays[own] <- lapply(arrays[own], split_levels, obs = obs)
  arrays
}

obs_quantiles.obs_categorical <- function(obs) {
  list(prob = function(q, p) {
    unlist(by_column_of_levels(obs, q$concentration, function(a) {
      if (length(a) == 1L) NA_real_ else drop(dirichlet_quantile(p, t(a)))
    }))
  })
}

obs_draw_rows.obs_categorical <- function(obs, q, rows, given) {
  columns <- by_column_of_levels(obs, q$concentration, function(a) {
    prob <- stats::rgamma(length(a), a)
    if (!any(prob > 0)) prob[which.max(a)] <- 1
    sample.int(length(a), length(rows), replace = TRUE, prob = prob)
  })
  matrix(unlist(columns), length(rows))
}

obs_as_frame.obs_categorical <- function(obs, x) {
  columns <- lapply(stats::setNames(nm = names(obs$levels)), function(name) {
    as_column(x[, name], obs$types[[name]], obs$levels[[name]])
  })
  structure(columns, class = "data.frame", row.names = seq_len(nrow(x)))
}

obs_moments.obs_categorical <- function(obs, q, given) {
  prob <- unlist(by_column_of_levels(obs, q$concentration, function(a) a / sum(a)))
  names(prob) <- level_names(obs)
  list(mean = prob, var = prob * (1 - prob))
}

obs_divergence.obs_categorical <- function(obs, a, b) sum(a$prob * log(a$prob / b$prob))
obs_overlap.obs_categorical <- function(obs, a, b) {
  prod(unlist(by_column_of_levels(obs, sqrt(a$prob * b$prob), sum)))
}

obs_marginals.obs_categorical <- function(obs, means) {
  prob <- stats::setNames(by_column_of_levels(obs, means$prob, identity), names(obs$levels))
  Map(function(prob, levels) list(kind = "levels", prob = stats::setNames(prob, levels)), prob, obs$levels)
}

obs_picture.obs_categorical <- function(obs, fit, data) profile_picture(fit)
