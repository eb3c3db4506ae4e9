# The emission of linear systems: loadings, offsets and noise through which hidden states are observed. All
# modes share one emission, or each has its own.
#
# `fit$emission` in the user's units: loadings (columns x hidden), offset, inverse (the inverse of the
# posterior precision of a column's loadings and offset, in engine units), and df and scale of the posterior
# of the noise; known noise has no df. Where each mode has an emission, all these have the modes as a last
# dimension, in the order of the engine.

sees_by_mode <- function(obs) isTRUE(obs$by_mode)

# TRUE if the noise of each mode is known. Modes then have the order of the columns of `noise`.
noise_is_by_mode <- function(obs) sees_by_mode(obs) && is.matrix(obs$noise)

expand_noise <- function(noise, d, call) {
  if (nrow(noise) != d) {
    abort("argument", c(
      "{.arg noise} must have a row for each of the {d} column{?s} of {.arg x}, not {describe(noise)}.",
      i = "Its columns are the modes."
    ), call = call)
  }
  noise
}

# Refuses a prior with another number of modes than `noise` has columns: with known noise the number of modes
# is given, not searched.
need_mode_for_noise <- function(obs, prior, call) {
  if (!noise_is_by_mode(obs)) {
    return(invisible())
  }
  k <- ncol(obs$noise)
  if (is.null(prior$k) || prior$k != k) {
    given <- if (is.null(prior$k)) "an open number of them" else "{prior$k}"
    abort("argument", c(
      paste0("{.arg noise} has a column for each of {k} mode{?s}, but the prior has ", given, "."),
      i = "Give a finite prior with {.code k = {k}}, or leave {.arg noise} out: it is then learned by mode."
    ), call = call)
  }
}

# The emission (loadings, offsets, noise) in the user's units. found: the emission as the engine returns it;
# where each mode has its own, a list by mode.
emission_in_units <- function(obs, found) {
  if (!sees_by_mode(obs)) {
    return(one_emission_in_units(obs, found))
  }
  each <- lapply(found, one_emission_in_units, obs = obs)
  sapply(names(each[[1L]]), function(name) {
    of_one <- each[[1L]][[name]]
    size <- dim(of_one) %||% length(of_one)
    if (!is.null(of_one)) array(unlist(lapply(each, `[[`, name)), c(size, length(each)))
  }, simplify = FALSE)
}

one_emission_in_units <- function(obs, emission) {
  d <- length(obs$column_unit)
  m <- length(obs$unit)
  unit <- obs$column_unit
  loadings <- if (obs$identity) diag(d) else emission$loadings[, seq_len(m), drop = FALSE] * unit
  offset <- if (obs$identity) rep(0, d) else emission$loadings[, m + 1L] * unit + obs$column_centre
  list(
    loadings = loadings, offset = offset, inverse = if (!obs$identity) emission$inverse,
    df = if (length(emission$df)) emission$df, scale = emission$scale * unit^2
  )
}

# The emission (loadings, offsets, noise) of a fit; modes are in the order of the fit's states.
emission_of <- function(fit) {
  if (!sees_by_mode(fit$model$obs)) {
    return(fit$emission)
  }
  lapply(fit$emission, function(x) {
    if (length(dim(x)) == 3L) x[, , fit$numbering, drop = FALSE] else x[, fit$numbering, drop = FALSE]
  })
}

# The emission of one mode, in the form of an emission that all modes share.
emission_of_mode <- function(emission, mode) {
  if (length(dim(emission$loadings)) < 3L) {
    return(emission)
  }
  lapply(emission, function(x) if (length(dim(x)) == 3L) array(x[, , mode], dim(x)[1:2]) else x[, mode])
}

# The expected noise variance of each column of the data, given an emission.
emission_variance <- function(emission) {
  if (is.null(emission$df)) emission$scale else
    ifelse(emission$df > 2, emission$scale / (emission$df - 2), Inf)
}

# Draws the parameters of the emission from q: list(loadings, offset, variance of the noise) or, where each
# mode has its own, a list of these by mode.
draw_emissions <- function(obs, emission) {
  if (!sees_by_mode(obs)) {
    return(draw_emission(obs, emission))
  }
  lapply(seq_len(ncol(emission$scale)), function(k) draw_emission(obs, emission_of_mode(emission, k)))
}

draw_emission <- function(obs, emission) {
  d <- nrow(emission$loadings)
  noise <- if (is.null(emission$df)) emission$scale else
    emission$scale / stats::rchisq(d, emission$df)
  loadings <- emission$loadings
  offset <- emission$offset
  if (!obs$identity) {
    e <- ncol(loadings) + 1L
    for (j in seq_len(d)) {
      root <- t(chol(matrix(emission$inverse[j, ], e, e)))
      off <- drop(root %*% stats::rnorm(e)) * sqrt(noise[j])
      loadings[j, ] <- loadings[j, ] + off[-e]
      offset[j] <- offset[j] + off[e]
    }
  }
  list(loadings = loadings, offset = offset, noise_var = noise)
}

# Draws rows of data given hidden states x, under an emission as draw_emission() returns it.
draw_seen <- function(emission, x) {
  sd <- sqrt(emission$noise_var)
  x %*% t(emission$loadings) + rep(emission$offset, each = nrow(x)) +
    stats::rnorm(nrow(x) * length(sd)) * rep(sd, each = nrow(x))
}

# The parameters of the emission that coef() and posterior_params() report.
emission_means <- function(fit) {
  e <- emission_of(fit)
  columns <- column_labels(fit)
  hidden <- hidden_labels(fit)
  if (sees_by_mode(fit$model$obs)) {
    modes <- as.character(seq_len(ncol(e$scale)))
    return(list(
      loadings = `dimnames<-`(e$loadings, list(columns, hidden, modes)),
      offset = `dimnames<-`(e$offset, list(columns, modes)),
      noise_var = `dimnames<-`(emission_variance(e), list(columns, modes))
    ))
  }
  list(
    loadings = `dimnames<-`(e$loadings, list(columns, hidden)), offset = stats::setNames(e$offset, columns),
    noise_var = stats::setNames(emission_variance(e), columns)
  )
}

emission_params <- function(fit) {
  e <- emission_of(fit)
  means <- emission_means(fit)
  out <- means[c("loadings", "offset")]
  out$noise_df <- e$df
  scale <- e$scale
  out$noise_scale <- if (is.matrix(scale)) `dimnames<-`(scale, dimnames(means$noise_var)) else
    stats::setNames(scale, column_labels(fit))
  out
}

# The arguments C (loadings, offsets) and R (noise) of lds_model(), from an emission that all modes share or
# from a list by mode.
emission_parameters <- function(obs, emission) {
  loadings <- function(e) unname(if (obs$identity) e$loadings else cbind(e$loadings, e$offset))
  if (!sees_by_mode(obs)) {
    return(list(C = loadings(emission), R = unname(emission$noise_var)))
  }
  noise <- function(e) diag(unname(e$noise_var), length(e$noise_var))
  by_mode <- function(one) array(unlist(lapply(emission, one)), c(dim(one(emission[[1L]])), length(emission)))
  list(C = by_mode(loadings), R = by_mode(noise))
}

# The posterior means of the emission's parameters; a list by mode where each mode has its own.
mean_emissions <- function(fit) {
  e <- emission_of(fit)
  one <- function(e) list(loadings = e$loadings, offset = e$offset, noise_var = emission_variance(e))
  if (!sees_by_mode(fit$model$obs)) one(e) else
    lapply(seq_len(ncol(e$scale)), function(k) one(emission_of_mode(e, k)))
}
