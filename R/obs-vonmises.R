# The model of angles (von Mises): in each column, each cluster has a direction and a concentration of the
# angles around it.

#' Angles
#'
#' Angles with a von Mises distribution, the circle's normal distribution, in each cluster, topic or state, such as the
#' turns of animals or times of day. Columns are independent given the cluster.
#'
#' @inheritParams obs_gaussian
#' @param concentration How closely the angles of a cluster lie around their direction. `NULL`, the default: each
#'   cluster has a concentration of its own in each column, which is integrated out, with the prior `gamma_prior(1,
#'   0.02)`; another [gamma_prior()] of shape 1 or more replaces this prior. Numbers, one or one per column, are known
#'   concentrations.
#' @details
#' `obs_vonmises()` takes angles in radians, from -2 pi to 2 pi. Each column has a von Mises distribution whose
#' direction has a uniform prior. With concentration 0 all angles are equally likely; with 1 the circular standard
#' deviation is 1.3, with a large one about `1 / sqrt(concentration)`. Angles that differ by 2 pi are the same. The
#' turning angle beside a step of length 0 is not known: use `NA`. `coef()` has `concentration` and `direction`, from
#' -pi to pi. An average of angles is not a useful prediction, so that forecasts and `predict(type = "impute")` are
#' refused if there are such columns; [impute()] draws angles.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [track_steps()] for steps and turns of tracks; *Rounded values* of
#'   [observation_models].
#' @examples
#' set.seed(1)
#' hour <- c(rnorm(100, 8, 1), rnorm(100, 22, 2)) # times of day
#' fit <- bnp_mixture(2 * pi * (hour %% 24) / 24, obs_vonmises(), control = bnp_control(seed = 1))
#' coef(fit)$direction %% (2 * pi) * 24 / (2 * pi)
#' @export
obs_vonmises <- function(concentration = NULL, columns = NULL, rounding = NULL, ...) {
  check_no_dots(...)
  concentration <- shape_argument(concentration, "concentration", gamma_prior(1, 0.02), likelihood_shapes)
  if (is.object(concentration)) {
    check_range(concentration[["shape"]], "concentration$shape", c(1, parameter_ranges$shape[2L]), rlang::current_env())
  }
  spacing <- if (!is.null(rounding)) rounding_field(rounding)
  if (!is.null(spacing)) check_range(spacing$rounding, "rounding", c(0, 2 * pi), rlang::current_env())
  obs <- do.call(new_obs, c(list("von_mises"), columns_field(columns), spacing))
  obs$concentration <- concentration
  obs
}

obs_resolve.obs_vonmises <- function(obs, data, start, call) {
  obs$known <- !is.object(obs$concentration)
  obs$d <- data$d
  if (obs$known) resolve_fields(obs, "concentration", data$d, call) else obs
}

model_von_mises <- list(
  title = "Von Mises", constructor = "obs_vonmises", class = c("obs_vonmises", "obs_shaped"), values = "angles",
  kind = "number", gaps = "cells",
  refusal = c(
    class = "not_angles", must = "hold angles in radians, from -2 pi to 2 pi",
    remedy = "Degrees are radians as {.code x * pi / 180}."
  ),
  working = c("known", "d"), parameters = list(concentration = "columns", rounding = "columns"),
  arrays = list(
    shape_node = shaped_axes, shape_prob = shaped_axes, location = shaped_axes, strength = shaped_axes,
    concentration = c("clusters", "columns"), direction = c("clusters", "columns")
  ),
  location = "direction"
)

obs_supports.obs_vonmises <- function(obs, values) abs(values) <= 2 * pi

# Refuses unit vectors: rows, or pairs of columns (cosine, sine), that all have length 1. Angles that look like
# this by chance fill at most two different rows.
obs_check_columns.obs_vonmises <- function(obs, x, arg, call) {
  d <- ncol(x)
  whole <- x[rowSums(is.na(x)) == 0, , drop = FALSE]
  have_length_1 <- function(first, last) all(abs(rowSums(whole[, first:last, drop = FALSE]^2) - 1) < 1e-6)
  pairs <- seq_len(d %/% 2L) * 2L - 1L
  in_pairs <- d %% 2L == 0L && all(mapply(have_length_1, pairs, pairs + 1L))
  if (d < 2L || !in_pairs && !have_length_1(1L, d) || nrow(unique(whole)) < 3L) {
    return(invisible())
  }
  abort("not_angles", c(
    "{.arg {arg}} must hold angles in radians for {.fn {obs_facts(obs)$constructor}}, not unit vectors.",
    x = "In all rows squares sum to 1.",
    i = if (in_pairs) {
      "The angle of a vector (cosine, sine) is {.code atan2(sine, cosine)}."
    } else {
      "Directions in {d} dimensions are not angles. Model their columns as numbers."
    }
  ), call = call)
}

# The logarithm of exp(-z) I_0(z), and the ratio I_1(z) / I_0(z), of Bessel functions, also for z so large
# that R's Bessel functions fail.
log_scaled_bessel <- function(z) {
  far <- pmax(z, 500)
  near <- pmin(z, 500)
  ifelse(z > 500, -log(2 * pi * far) / 2 + log1p((1 + 9 / (16 * far) + 225 / (384 * far^2)) / (8 * far)),
    log(besselI(near, 0, TRUE))
  )
}
bessel_ratio <- function(z) {
  far <- pmax(z, 500)
  near <- pmin(z, 500)
  ifelse(z > 500, 1 - 1 / (2 * far) - 1 / (8 * far^2) - 1 / (8 * far^3),
    besselI(near, 1, TRUE) / besselI(near, 0, TRUE)
  )
}

# The same angles, each in the interval (-pi, pi].
wrapped <- function(angle) angle - 2 * pi * ceiling((angle - pi) / (2 * pi))

# A grid of angles from -pi to pi, denser around 0.
angles_around_0 <- function(n = 8001L, closeness = 8) {
  pi * sinh(closeness * seq(-1, 1, length.out = n)) / sinh(closeness)
}

# Probabilities that an angle is at most each value of `at` (ascending), from the log density at these values.
cumulated <- function(at, log_density) {
  density <- exp(log_density - max(log_density))
  below <- cumsum(c(0, diff(at) * (density[-1L] + density[-length(at)]) / 2))
  below / below[length(below)]
}

# The logarithm of the average of exp(log_density(point)) over the points at which a column's concentration is
# known, with their probabilities: a vector with one value for each angle. log_density returns such a vector.
log_average <- function(column, log_density) {
  each <- mapply(log_density, seq_along(column$shape_prob))
  top <- apply(each, 1L, max)
  top + log(exp(each - top) %*% column$shape_prob)[, 1L]
}

# Quantiles of concentrations and directions. Quantiles of a direction may be larger than pi, since they are
# computed from angles within pi of the mean direction.
obs_quantiles.obs_vonmises <- function(obs) {
  list(
    concentration = function(q, p) vapply(shapes_of_columns(q), shape_quantile, 1, p),
    direction = function(q, p) {
      at <- angles_around_0()
      vapply(shapes_of_columns(q), function(column) {
        strength <- column$strength
        below <- cumulated(at, log_average(column, function(i) {
          strength[i] * (cos(at) - 1) - log(2 * pi) - log_scaled_bessel(strength[i])
        }))
        column$location[1L] + where_reached(p, below, at)
      }, 1)
    }
  )
}

# Draws n angles around 0 (Best and Fisher, 1979, Applied Statistics 28, 152-157).
draw_angles <- function(n, concentration) {
  if (concentration > 1e6) {
    return(stats::rnorm(n) / sqrt(concentration))
  }
  if (concentration < 1e-8) {
    return(stats::runif(n, -pi, pi))
  }
  tau <- 1 + sqrt(1 + 4 * concentration^2)
  rho <- (tau - sqrt(2 * tau)) / (2 * concentration)
  r <- (1 + rho^2) / (2 * rho)
  out <- double(n)
  left <- seq_len(n)
  while (length(left)) {
    z <- cos(pi * stats::runif(length(left)))
    f <- (1 + r * z) / (r + z)
    c <- concentration * (r - f)
    taken <- log(c) + 1 - c >= log(stats::runif(length(left)))
    out[left[taken]] <- acos(pmin(pmax(f[taken], -1), 1)) * sample(c(-1, 1), sum(taken), TRUE)
    left <- left[!taken]
  }
  out
}

obs_draw_rows.obs_vonmises <- function(obs, q, rows, given) {
  columns <- lapply(shapes_of_columns(q), function(column) {
    concentration <- draw_shape(column[c("shape_node", "shape_prob")])$shape_node
    of_direction <- concentration * column$strength[1L] / column$shape_node[1L] # which is in proportion to it
    direction <- column$location[1L] + draw_angles(1L, of_direction)
    wrapped(direction + draw_angles(length(rows), concentration))
  })
  matrix(unlist(columns), length(rows))
}

# Probabilities of angles between -pi and each value, under the predictive distribution. The density is
# cumulated from the cluster's direction, where it is highest.
obs_predictive_cdf.obs_vonmises <- function(obs, q, data) {
  columns <- shapes_of_columns(q)
  at <- angles_around_0()
  out <- array(NA_real_, dim(data$x))
  for (j in seq_along(columns)) {
    column <- columns[[j]]
    length <- column$strength / column$shape_node
    below <- cumulated(at, log_average(column, function(i) {
      kappa <- column$shape_node[i]
      with <- sqrt(pmax((length[i] - 1)^2 + 2 * length[i] * (1 + cos(at)), 0))
      kappa * (with - length[i] - 1) - log_scaled_bessel(kappa) + log_scaled_bessel(kappa * with) -
        log_scaled_bessel(kappa * length[i])
    }))
    curve <- stats::splinefun(at, below, "natural")
    place <- function(x) pmin(pmax(curve(wrapped(x - column$location[1L])), 0), 1)
    out[, j] <- (place(data$x[, j]) - place(-pi)) %% 1
  }
  out[abs(abs(wrapped(data$x)) - pi) < 1e-9] <- NA # at the cut it is 0 and 1
  out
}

obs_gap_moments.obs_vonmises <- function(obs, q, data) {
  abort("argument", c(
    "Missing angles have no expectation, as an average of angles is not defined.",
    i = "{.fn impute} draws them."
  ))
}

obs_divergence.obs_vonmises <- function(obs, a, b) {
  sum(b$concentration - a$concentration + log_scaled_bessel(b$concentration) - log_scaled_bessel(a$concentration) +
    bessel_ratio(a$concentration) * (a$concentration - b$concentration * cos(a$direction - b$direction)))
}
obs_overlap.obs_vonmises <- function(obs, a, b) {
  k <- a$concentration
  l <- b$concentration
  both <- sqrt(pmax((k - l)^2 + 2 * k * l * (1 + cos(a$direction - b$direction)), 0)) / 2
  exp(sum(both - (k + l) / 2 + log_scaled_bessel(both) - (log_scaled_bessel(k) + log_scaled_bessel(l)) / 2))
}

# Mean and standard deviation of each column in each cluster. Standard deviations are those of circular
# statistics, sqrt(-2 log(mean resultant length)).
obs_marginals.obs_vonmises <- function(obs, means) {
  Map(function(mean, k) list(kind = "number", mean = mean, sd = sqrt(-2 * log(max(bessel_ratio(k), 1e-8)))),
    unname(means$direction), unname(means$concentration)
  )
}
obs_picture.obs_vonmises <- function(obs, fit, data) profile_picture(fit)

obs_densities.obs_vonmises <- function(obs, means) {
  unname(Map(function(k, direction) {
    column_density(
      function(x) exp(k * (cos(x - direction) - 1) - log(2 * pi) - log_scaled_bessel(k)),
      function(p) pi * (2 * p - 1), circular = TRUE
    )
  }, means$concentration, means$direction))
}
