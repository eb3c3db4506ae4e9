# Bootstrap filters (Gordon, Salmond and Smith 1993) of models that users give as functions.

#' Models of time series as functions
#'
#' A model for [bnp_filter()] with a hidden state whose motion and whose density of rows are given as functions.
#'
#' @param initial `function(n)`: returns n draws of the state of the first row, a vector of n numbers or a matrix with n
#'   rows.
#' @param move `function(x)`: returns a draw of the next state for each state in `x`, in the same shape.
#' @param log_density `function(y, x)`: returns the log density of one row `y` (a vector with the names of the columns)
#'   under each state in `x`, n numbers; `-Inf` where a row is impossible. Rows that are missing altogether are not
#'   passed to it; if some cells are `NA`, the function must use the others.
#' @param observe `function(x)`: returns a draw of a row under each state (n numbers, or a matrix with n rows), for
#'   forecasts of the response; `NULL`: such forecasts are not available.
#' @details If a function has an argument `time`, it is passed the number of the row, from 1. Random numbers come from
#'   R's generator, seeded by [bnp_filter()], which leaves the generator of the session as it was.
#' @return An object of class `bnp_particle_model`.
#' @references
#' Gordon, N. J., Salmond, D. J. and Smith, A. F. M. (1993). Novel approach to nonlinear/non-Gaussian Bayesian state
#' estimation. *IEE Proceedings F* 140, 107-113.
#' @seealso [bnp_filter()]; [lds_model()] where everything but the modes is linear and Gaussian: its filter is better
#'   by far.
#' @examples
#' # Stochastic volatility
#' model <- particle_model(
#'   initial = function(n) rnorm(n, 0, 0.5), move = function(x) 0.95 * x + rnorm(length(x), 0, 0.2),
#'   log_density = function(y, x) dnorm(y, 0, exp(x / 2), log = TRUE),
#'   observe = function(x) rnorm(length(x), 0, exp(x / 2))
#' )
#' f <- bnp_filter(model, diff(log(EuStockMarkets[1:200, "DAX"])) * 100, particles = 500, seed = 1)
#' f
#' predict(f, h = 2)
#' @export
particle_model <- function(initial, move, log_density, observe = NULL) {
  functions <- list(initial = initial, move = move, log_density = log_density, observe = observe)
  for (name in names(functions)) {
    if (!is.function(functions[[name]]) && !(name == "observe" && is.null(observe))) {
      abort("argument", "{.arg {name}} must be a function, not {describe(functions[[name]])}.")
    }
  }
  structure(functions, class = "bnp_particle_model")
}

#' @export
print.bnp_particle_model <- function(x, ...) {
  check_object(x)
  cat("Model of a time series as functions", if (!is.null(x$observe)) ", rows can be drawn", "\n", sep = "")
  invisible(x)
}

#' @rdname bnp_filter
#' @export
bnp_filter.bnp_particle_model <- function(object, newdata = NULL, id = NULL, particles = 100L, seed = NULL, ...,
                                          inputs = NULL, keep = Inf) {
  check_no_dots(...)
  check_object(object)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  options <- list(
    particles = check_count(particles, "particles"), seed = check_seed(seed) %||% draw_seed(), keep = check_keep(keep)
  )
  input <- list(d = NULL, column_names = NULL, id_column = NULL)
  new_filter("particles", object, options, input, newdata, id, inputs, rlang::current_env())
}

# Updates a particle filter by new rows of data. state: list(x, weight, random): the particles, their weights,
# which sum to 1, and the state of R's random number generator.
take_particles <- function(f, sequences, data, call) {
  lapply(seq_along(sequences), function(g) {
    s <- sequences[[g]]
    rows <- data$x[(data$starts[g] + 1L):data$starts[g + 1L], , drop = FALSE]
    colnames(rows) <- f$input$column_names %||% data$column_names
    state <- s$state %||% list(random = random_state(f$options$seed, s$number))
    with_random_state(state$random, {
      found <- vector("list", nrow(rows))
      for (i in seq_len(nrow(rows))) {
        step <- particle_step(f$model, state, rows[i, ], s$n + i, f$options$particles, names(sequences)[g], call)
        state <- step$state
        found[[i]] <- step$row
      }
      state$random <- get(".Random.seed", envir = globalenv())
    })
    matrix_of <- function(name) do.call(rbind, lapply(found, `[[`, name))
    list(state = state, rows = list(
      log_density = vapply(found, `[[`, 1, "log_density"), size = vapply(found, `[[`, 1, "size"),
      mean = matrix_of("mean"), sd = matrix_of("sd")
    ))
  })
}

particle_step <- function(model, state, y, time, n, name, call) {
  if (is.null(state$x)) {
    x <- asked(model, "initial", list(n), time, name, n, NULL, call)
    weight <- rep(1 / n, n)
  } else {
    if (1 / sum(state$weight^2) < n / 2) {
      chosen <- systematic_draw(state$weight, stats::runif(1))
      state <- list(x = values_at(state$x, chosen), weight = rep(1 / n, n))
    }
    x <- asked(model, "move", list(state$x), time, name, n, NCOL(state$x), call)
    weight <- state$weight
  }
  log_density <- 0
  if (!all(is.na(y))) {
    log_p <- asked(model, "log_density", list(y, x), time, name, n, 1L, call)
    top <- max(log_p[weight > 0])
    if (top == -Inf) {
      abort("no_density", c(
        "{.arg newdata} has a row whose density is 0 for every particle (row {time} of sequence {.val {name}}).",
        i = "Give more {.arg particles}, or a {.arg log_density} of {.fn particle_model} with heavier tails."
      ), call = call)
    }
    weight <- weight * exp(log_p - top)
    log_density <- top + log(sum(weight))
    weight <- weight / sum(weight)
  }
  moments <- weighted_moments(x, weight)
  list(
    state = list(x = x, weight = weight),
    row = c(list(log_density = log_density, size = 1 / sum(weight^2)), moments)
  )
}

# Calls a function of the user's model and checks the shape of its value: n rows or numbers, in `width`
# columns.
asked <- function(model, name, arguments, time, sequence, n, width, call) {
  f <- model[[name]]
  if ("time" %in% names(formals(args(f)))) arguments$time <- time
  value <- tryCatch(do.call(f, unname_but_time(arguments)), error = function(e) {
    abort("user_function", c(
      "{.arg {name}} of {.fn particle_model} failed in row {time} of sequence {.val {sequence}}.",
      x = "{conditionMessage(e)}"
    ), call = call)
  })
  rows <- if (is.matrix(value)) nrow(value) else length(value)
  right <- is.numeric(value) && length(dim(value)) %in% c(0L, 2L) && rows == n &&
    (is.null(width) || NCOL(value) == width)
  if (!right) {
    shape <- if (is.null(width)) "{n} numbers, or a matrix with {n} row{?s}" else
      if (width == 1L) "{n} number{?s}" else "a matrix {n} x {width}"
    abort("user_function", c(
      paste0("{.arg {name}} of {.fn particle_model} must give ", shape, ", not {describe(value)}."),
      x = "In row {time} of sequence {.val {sequence}}."
    ), call = call)
  }
  bad <- if (name == "log_density") is.na(value) | value == Inf else !is.finite(value)
  if (any(bad)) {
    abort("user_function", c(
      "{.arg {name}} of {.fn particle_model} gave {.val {value[bad][1]}} in row {time} of sequence {.val {sequence}}.",
      i = if (name == "log_density") "It must be a number, or {.code -Inf} where a row is impossible, also where cells
        of the row are {.code NA}." else "States must be finite."
    ), call = call)
  }
  if (name == "log_density") as.double(value) else value
}

unname_but_time <- function(arguments) {
  names(arguments) <- ifelse(rlang::names2(arguments) == "time", "time", "")
  arguments
}

# Systematic resampling: as many indices as there are weights. Each occurs as often as its weight times their
# number says, with a deviation of less than one.
systematic_draw <- function(weight, u) {
  n <- length(weight)
  line <- cumsum(weight)
  pmin(1L + findInterval((seq_len(n) - 1 + u) / n * line[n], line), n)
}

weighted_moments <- function(x, weight) {
  names <- colnames(x)
  x <- as.matrix(x)
  mean <- colSums(weight * x)
  sd <- sqrt(colSums(weight * (x - rep(mean, each = nrow(x)))^2))
  names(mean) <- names(sd) <- names %||% default_states(ncol(x))
  list(mean = mean, sd = sd)
}

default_states <- function(m) paste0("x", seq_len(m))

# The state of R's random number generator for sequence number g of a filter with this seed. The kind of
# generator is fixed.
random_state <- function(seed, g) {
  kept <- engine_restart_seed(seed, g)
  with_random_state(NULL, {
    set.seed(kept, "Mersenne-Twister", "Inversion", "Rejection")
    get(".Random.seed", envir = globalenv())
  })
}

# Evaluates `expr` with R's random number generator in this state, and then restores the state that the
# generator had.
with_random_state <- function(state, expr) {
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", envir = globalenv())
  on.exit(assign(".Random.seed", before, envir = globalenv()))
  if (!is.null(state)) assign(".Random.seed", state, envir = globalenv())
  expr
}

particles_ahead <- function(f, h, type, interval, call) {
  if (type == "class") {
    abort("argument", c(
      "{.code type = \"class\"} is for models with states or modes, not for {.fn particle_model}.",
      i = "Use {.code \"latent\"}, or {.code \"response\"}."
    ), call = call)
  }
  if (type == "response" && is.null(f$model$observe)) {
    abort("argument", c(
      "{.code type = \"response\"} needs to draw rows.",
      i = "Give {.arg observe} to {.fn particle_model}, or forecast the state: {.code type = \"latent\"}."
    ), call = call)
  }
  each <- Map(function(s, name) {
    with_random_state(s$state$random, lapply(seq_len(h), function(step) {
      x <- asked(f$model, "move", list(s$state$x), s$n + step, name, f$options$particles, NCOL(s$state$x), call)
      s$state$x <<- x
      value <- if (type == "latent") x else
        asked(f$model, "observe", list(x), s$n + step, name, f$options$particles, f$input$d, call)
      columns <- if (type == "response") f$input$column_names %||% default_names(f$input$d)
      moments <- weighted_moments(value, s$state$weight)
      if (!is.null(columns)) names(moments$mean) <- columns
      ends <- apply(as.matrix(value), 2L, quantile_of_draws, s$state$weight, interval_ends(interval))
      c(moments, list(lower = ends[1L, ], upper = ends[2L, ]))
    }))
  }, f$sequences, names(f$sequences))
  lapply(seq_len(h), function(step) {
    parts <- lapply(each, `[[`, step)
    lapply(stats::setNames(nm = names(parts[[1L]])), function(name) do.call(rbind, lapply(parts, `[[`, name)))
  })
}

# Weighted quantiles of values, at probabilities p.
quantile_of_draws <- function(value, weight, p) {
  order <- order(value)
  share <- cumsum(weight[order])
  value[order][pmin(1L + findInterval(p * share[length(share)], share), length(share))]
}
