# Filters (predictions row by row) of fits with hidden linear dynamics, at posterior means of their parameters
# or at draws.

#' @rdname bnp_filter
#' @export
bnp_filter.bnp_lds <- function(object, newdata = NULL, id = NULL, ..., parameters = c("mean", "draw"), particles = 100L,
                               collapse = c("none", "gpb2"), seed = NULL, inputs = NULL, keep = Inf,
                               threads = default_threads()) {
  check_able(object, "bnp_filter", "object")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  parameters <- check_choice(parameters, c("mean", "draw"), "parameters")
  check_no_dots(...)
  systems <- if (parameters == "mean") list(mean_system(object)) else
    function(n, seed) drawn_systems(object, n, seed)
  filter_systems(
    systems, newdata, id, inputs, particles, collapse, seed, keep, threads, rlang::current_env(),
    object$model$obs$inputs
  )
}

# The linear system (lds_model()) with these parameters. Its columns have the names of the fit's columns, so
# that new rows are matched by name.
system_of <- function(fit, parameters) {
  columns <- fit$input$column_names
  dimnames(parameters$C) <- if (!is.null(columns)) c(list(columns), list(NULL, NULL)[-length(dim(parameters$C))])
  dimnames(parameters$A) <- list(hidden_labels(fit), NULL, NULL)
  if (!is.null(parameters$F)) dimnames(parameters$F) <- list(NULL, fit$model$obs$inputs, NULL)
  out <- do.call(lds_model, parameters)
  out$by_mode <- sees_by_mode(fit$model$obs) # also where modes happen to be alike
  out
}

mean_system <- function(fit) system_of(fit, lds_parameters(fit))

drawn_systems <- function(fit, n, seed) {
  params <- posterior_arrays(fit)
  clusters <- posterior_clusters(fit, params)
  with_seed(engine_restart_seed(seed, 1), lapply(seq_len(n), function(i) {
    system_of(fit, draw_lds_parameters(fit, params, clusters))
  }))
}

# One-step-ahead predictions of each row by the filter at mean parameters: list(log_density, below). below:
# the predictive probability of a value of at most the observed one, rows x columns.
filtered_rows <- function(fit, data, call) {
  if (data$n == 0L) {
    return(list(log_density = numeric(), below = matrix(0, 0L, data$d)))
  }
  f <- list(
    model = list(mean_system(fit)), options = list(particles = 100L, seed = 1, threads = fit$control$threads)
  )
  x <- unname(data$x)
  if (has_missing(data)) x[data$missing] <- NA_real_
  names <- data$group_names %||% as.character(seq_len(length(data$starts) - 1L))
  sequences <- stats::setNames(lapply(seq_along(names), function(g) list(number = g, n = 0)), names)
  out <- unname(run_systems(f, x, data$inputs %||% matrix(0, data$n, 0L), data$starts, sequences, FALSE, call))
  list(log_density = unlist(lapply(out, `[[`, "log_density")), below = do.call(rbind, lapply(out, `[[`, "below")))
}
