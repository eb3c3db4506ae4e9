# Rounded values: obs_gaussian(rounding = ) says by column how far apart they are, and a fit then is one to their cells.
# What clusters learn from are averages over the cells (Columns in src/observations/gather.h); what is asked of rows
# afterwards, predictives and samplers, takes them as they are.

check_rounding <- function(x, arg, call = rlang::caller_env()) {
  x <- check_vector(x, arg, call)
  if (any(x < 0)) {
    abort("argument", "{.arg {arg}} must be 0 or above, not {x[x < 0][1]}.", call = call)
  }
  x
}

is_rounded <- function(obs) any(obs$rounding > 0) || any(vapply(obs$blocks, is_rounded, NA))

# A number for each column: as given, or where "spacing" stands what the values show, or showed an earlier fit.
resolve_rounding <- function(obs, data, start, call) {
  if (is.null(obs$rounding)) {
    return(obs)
  }
  before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == data$d)) start$model$obs
  obs$rounding <- if (is.numeric(obs$rounding)) expand_vector(obs$rounding, data$d, "rounding", call) else
    before$rounding %||% column_spacings(data$x, data$weights)
  obs
}

# The same model of rows as they are.
without_rounding <- function(obs) {
  obs$rounding <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, without_rounding)
  obs
}

# A fit that is asked about rows as they are.
asked_of_values <- function(fit) {
  fit$model$obs <- without_rounding(fit$model$obs)
  fit
}
