# Checks that a filter, which may have been changed by hand, still has its shape. R/object-shape.R does so for
# other classes.

shape_of_filter <- function(f) {
  kind <- filter_kinds[[f$kind]]
  options <- f$options
  input <- f$input
  sequences <- f$sequences
  out <- which_hold(
    "kind" = !is.null(kind), "model" = is_filter_model(f),
    "options$keep" = identical(options$keep, Inf) || is_whole(options$keep),
    "options$particles" = f$kind == "states" || is_whole(options$particles, 1),
    "options$seed" = f$kind == "states" || are_finite(options$seed, 1L),
    "options$threads" = f$kind != "switching" || is_whole(options$threads, 1),
    "options$collapse" = f$kind != "switching" || rlang::is_string(options$collapse, c("none", "gpb2")),
    "input" = is.list(input), "input$d" = is_whole(input$d, 1) || is.null(input$d) && !length(sequences),
    "input$column_names" = is.null(input$column_names) || is_text(input$column_names) &&
      length(input$column_names) == input$d,
    "input$id_column" = is.null(input$id_column) || rlang::is_string(input$id_column),
    "input$has_id" = if (length(sequences)) rlang::is_bool(input$has_id) else
      is.null(input$has_id) || rlang::is_bool(input$has_id),
    "sequences" = is.list(sequences) && is_text(names(sequences)) && length(names(sequences)) == length(sequences) &&
      !anyDuplicated(names(sequences))
  )
  if (!all(out)) {
    return(out)
  }
  which_hold("sequences" = all(vapply(seq_along(sequences), function(number) {
    s <- sequences[[number]]
    identical(as.double(s$number), as.double(number)) && is_whole(s$n) && are_whole(s$n, 0, 2^53) &&
      is.numeric(s$log_lik) && length(s$log_lik) == 1L && !is.na(s$log_lik) && are_filtered_rows(f, s) &&
      is_filter_state(f, s$state)
  }, NA)))
}

is_filter_model <- function(f) {
  switch(f$kind,
    states = {
      moves <- length(f$model$start)
      check_format(f$model$fit)
      inherits(f$model$fit, "bnp_hmm") && moves %in% (k_of_fit(f$model$fit) + 0:1) &&
        are_finite(f$model$start, moves) && is_array_of(f$model$transition, c(moves, moves))
    },
    switching = {
      sizes <- lapply(f$model, size_of_system)
      length(sizes) > 0L && length(unique(sizes)) == 1L &&
        all(vapply(f$model, function(system) all(shape_of_system(system)), NA)) && nrow(f$model[[1L]]$C) == f$input$d
    },
    particles = all(shape_of_functions(f$model))
  )
}

# Whether the tables of remembered rows of a sequence have the right columns for the filter's kind:
# probabilities of states or modes, and state variables.
are_filtered_rows <- function(f, s) {
  rows <- s$rows
  n <- length(rows$log_density)
  is_row_table <- function(name, names) {
    x <- rows[[name]]
    is.matrix(x) && is.numeric(x) && nrow(x) == n && if (is.null(names)) is_text(colnames(x)) else
      identical(colnames(x), as.character(names))
  }
  if (!is.numeric(rows$log_density) || n > s$n) {
    return(FALSE)
  }
  switch(f$kind,
    states = is_row_table("prob", outcome_names(f)),
    switching = {
      columns <- f$input$column_names %||% default_names(f$input$d)
      states <- f$model[[1L]]$states
      is_row_table("prob", seq_along(f$model[[1L]]$start)) && is_row_table("mean", states) &&
        is_row_table("sd", states) && is_row_table("ahead_mean", columns) && is_row_table("ahead_sd", columns) &&
        is_row_table("below", columns) && are_finite(rows$size, n) && are_whole(rows$kept, 0, Inf) &&
        length(rows$kept) == n && are_whole(rows$origin, 0, Inf) && length(rows$origin) == sum(rows$kept)
    },
    particles = are_finite(rows$size, n) && is_row_table("mean", NULL) && is_row_table("sd", colnames(rows$mean))
  )
}

# Whether `state` has all that the filter needs to process the next row of a sequence.
is_filter_state <- function(f, state) {
  switch(f$kind,
    states = {
      lag <- state_lag(f$model$fit)
      are_finite(state$ahead, length(f$model$start)) && all(state$ahead >= 0) &&
        if (lag > 0L) is.matrix(state$tail) && is.numeric(state$tail) && nrow(state$tail) <= lag &&
          ncol(state$tail) == f$input$d else is.null(state$tail)
    },
    switching = {
      n <- length(state$weight)
      m <- length(f$model[[1L]]$states)
      n > 0L && are_finite(state$weight, n) && all(state$weight >= 0) &&
        are_whole(state$mode, -1, length(f$model[[1L]]$start) - 1) && length(state$mode) == n &&
        are_whole(state$system, 0, length(f$model) - 1) && length(state$system) == n &&
        is_array_of(state$mean, c(m, n)) && is_array_of(state$cov, c(m * m, n))
    },
    particles = are_finite(state$weight, f$options$particles) && all(state$weight >= 0) && is.numeric(state$x) &&
      NROW(state$x) == f$options$particles && length(dim(state$x)) %in% c(0L, 2L) && is.integer(state$random) &&
      length(state$random) == 626L && state$random[1L] == 10403L
  )
}
