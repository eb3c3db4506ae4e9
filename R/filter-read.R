#' Read a filter
#'
#' Functions that read the results of [bnp_filter()]. Results by row are available for the rows that the filter keeps,
#' see `keep` of [bnp_filter()].
#'
#' @param f,object,x A filter of [bnp_filter()].
#' @param type `"filtered"`: probabilities of the states, or modes, of each row given the rows up to it. `"smoothed"`:
#'   probabilities given all rows that are kept. For linear systems these come from the histories of the particles,
#'   which have few ancestors in common far back: choose more particles if this matters.
#' @param data The rows that were filtered, in the form in which they were given.
#' @param id As in [bnp_filter()].
#' @param ... Must be empty.
#' @return
#' * `filter_probs()`: a matrix with a column for each state, and `new` for all states not in use; rows are named by the
#'   sequence, and sequences are in the order in which they began. `NA` for rows without a state of their own: the first
#'   row of a linear system all of whose modes see the state in the same way, and the first `lag` rows with [obs_ar()].
#' * `as.data.frame()`: a data frame with one row for each row of the data and those of these columns that the model
#'   has: `id`, `row` (its number in the sequence), `log_density` (given the rows before it), `surprise` (minus
#'   `log_density`), `alarm` (the probability of a state not in use), `state` and `prob.<state>`, or
#'   `mean.<state variable>` and `sd.<state variable>`, given the rows up to it, and `size`, the effective number of
#'   particles.
#' * `augment()`: `data` with `.log_density`, `.class` and `.uncertainty`, `.alarm`, and for linear systems `.fitted`
#'   and `.resid` (`.fitted.<column>` and `.resid.<column>` if there are several columns): the row expected from the
#'   rows before it, and the difference of the row from it.
#' * `tidy()`: the latest state: one row for each sequence and state or state variable: `id`, `row` (the number of its
#'   rows so far), `term`, `estimate` (probability, or mean), `std.error`.
#' * `glance()`: one row: `sequences`, `nobs` (rows), `logLik`, `particles`, and the smallest `size`.
#' * `logLik()`: the log probability of all rows so far; `nobs()`: their number.
#' @references
#' Robinson, D. (2014). broom: an R package for converting statistical analysis objects into tidy data frames.
#' arXiv:1412.3565.
#' @seealso [bnp_filter()], [predict.bnp_filter()], [plot.bnp_filter()].
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' f <- bnp_filter(fit, beaver2["temp"])
#' tail(filter_probs(f, "smoothed"), 3)
#' tidy(f)
#' glance(f)
#' @name read_filter
NULL

#' @rdname read_filter
#' @export
filter_probs <- function(f, type = c("filtered", "smoothed")) {
  check_able(f, "filter_probs", "f")
  type <- check_choice(type, c("filtered", "smoothed"), "type")
  smooth <- filter_kinds[[f$kind]]$smooth
  if (is.null(smooth)) {
    abort("argument", c(
      "{.arg f} is a filter of a {.fn particle_model}, which has no states with probabilities.",
      i = "{.fn as.data.frame} has the means of its state variables."
    ))
  }
  call <- rlang::current_env()
  parts <- lapply(f$sequences, function(s) if (type == "filtered") s$rows$prob else smooth(f, s, call))
  out <- do.call(rbind, unname(parts)) %||% matrix(0, 0L, 0L)
  rownames(out) <- rep(names(f$sequences), vapply(parts, NROW, 1L))
  out
}

#' @rdname read_filter
#' @export
as.data.frame.bnp_filter <- function(x, ...) {
  check_no_dots(...)
  check_filter(x, "x")
  parts <- Map(function(s, name) {
    rows <- s$rows
    out <- data.frame(
      id = rep(name, length(rows$log_density)), row = row_numbers(s), log_density = rows$log_density,
      surprise = -rows$log_density
    )
    if (!is.null(rows$prob)) {
      if ("new" %in% colnames(rows$prob)) out$alarm <- rows$prob[, "new"]
      out$state <- unname(most_probable(rows$prob[, colnames(rows$prob) != "new", drop = FALSE]))
      out[paste0("prob.", colnames(rows$prob))] <- as.data.frame(rows$prob)
    }
    for (name in intersect(c("mean", "sd"), names(rows))) {
      out[paste0(name, ".", colnames(rows[[name]]))] <- as.data.frame(rows[[name]])
    }
    out$size <- rows$size
    out
  }, x$sequences, names(x$sequences))
  out <- do.call(rbind, unname(parts)) %||% data.frame(id = character(), row = integer(), log_density = numeric())
  as_tidy(out)
}

#' @rdname read_filter
#' @export
augment.bnp_filter <- function(x, data, id = NULL, ...) {
  check_no_dots(...)
  check_filter(x, "x")
  need_data(missing(data), "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  call <- rlang::current_env()
  if (NROW(data) == 0L) abort("data", "{.arg data} must be the rows that were filtered: it has none.")
  internal <- filter_kinds[[x$kind]]$read(x, data, id %||% x$input$id_column, call, "data")
  names <- internal$group_names %||% as.character(seq_len(length(internal$starts) - 1L))
  lengths <- diff(internal$starts)
  known <- vapply(names, function(name) {
    s <- x$sequences[[match(name, names(x$sequences))]]
    if (is.null(s)) 0 else if (length(s$rows$log_density) < s$n) -1 else s$n
  }, 1)
  if (any(known != lengths)) {
    bad <- which(known != lengths)[1L]
    abort("data", c(
      "{.arg data} must be the rows that were filtered.",
      x = if (known[bad] < 0) "The filter does not remember all rows of sequence {.val {names[bad]}}." else
        "Of sequence {.val {names[bad]}} it has {lengths[bad]} row{?s}, the filter {known[bad]}.",
      i = if (known[bad] < 0) "Filter with {.code keep = Inf}, or read {.fn as.data.frame}."
    ))
  }
  gather <- function(name) {
    parts <- lapply(unname(x$sequences[match(names, names(x$sequences))]), function(s) s$rows[[name]])
    if (is.matrix(parts[[1L]])) do.call(rbind, parts) else unlist(parts)
  }
  out <- as.data.frame(data_frame_of(data))
  out$.log_density <- gather("log_density")
  prob <- gather("prob")
  if (!is.null(prob)) {
    known <- prob[, colnames(prob) != "new", drop = FALSE]
    state <- unname(most_probable(known))
    out$.class <- factor(state, levels = seq_len(ncol(known)))
    out$.uncertainty <- 1 - known[cbind(seq_along(state), state)]
    if ("new" %in% colnames(prob)) out$.alarm <- unname(prob[, "new"])
  }
  ahead <- gather("ahead_mean")
  if (!is.null(ahead)) {
    ending <- if (ncol(ahead) == 1L) "" else paste0(".", colnames(ahead))
    out[paste0(".fitted", ending)] <- as.data.frame(ahead)
    out[paste0(".resid", ending)] <- as.data.frame(internal$x - ahead)
  }
  like_input(out, data)
}

# The rows of the data as a data frame, in the form in which users gave them.
data_frame_of <- function(data) {
  if (is.data.frame(data)) {
    return(data)
  }
  if (is.list(data)) {
    return(do.call(rbind, lapply(data, function(x) as.data.frame(as.matrix(x)))))
  }
  as.data.frame(as.matrix(data))
}

#' @rdname read_filter
#' @export
tidy.bnp_filter <- function(x, ...) {
  check_no_dots(...)
  check_filter(x, "x")
  parts <- Map(function(s, name) {
    now <- function(values) if (NROW(values)) values[nrow(values), ]
    estimate <- c(now(s$rows$prob), now(s$rows$mean))
    if (!length(estimate)) return(NULL)
    data.frame(
      id = name, row = s$n, term = c(
        if (!is.null(s$rows$prob)) paste("state", colnames(s$rows$prob)), colnames(s$rows$mean)
      ),
      estimate = unname(estimate), std.error = unname(c(rep(NA, NCOL(s$rows$prob) * !is.null(s$rows$prob)),
        now(s$rows$sd)))
    )
  }, x$sequences, names(x$sequences))
  empty <- data.frame(id = character(), row = numeric(), term = character(), estimate = numeric())
  as_tidy(do.call(rbind, unname(parts)) %||% empty)
}

#' @rdname read_filter
#' @export
glance.bnp_filter <- function(x, ...) {
  check_no_dots(...)
  check_filter(x, "x")
  sizes <- unlist(lapply(x$sequences, function(s) s$rows$size))
  out <- data.frame(sequences = length(x$sequences), nobs = rows_of_filter(x), logLik = log_lik_of_filter(x))
  if (!is.null(x$options$particles)) {
    out$particles <- x$options$particles
    out$size <- if (length(sizes)) min(sizes) else NA_real_
  }
  as_tidy(out)
}

rows_of_filter <- function(f) sum(vapply(f$sequences, function(s) s$n, 1))
log_lik_of_filter <- function(f) sum(vapply(f$sequences, function(s) s$log_lik, 1))

#' @rdname read_filter
#' @export
logLik.bnp_filter <- function(object, ...) {
  check_no_dots(...)
  check_filter(object)
  structure(log_lik_of_filter(object), df = NA_integer_, nobs = rows_of_filter(object), class = "logLik")
}

#' @rdname read_filter
#' @export
nobs.bnp_filter <- function(object, ...) {
  check_no_dots(...)
  rows_of_filter(check_filter(object))
}

#' @export
print.bnp_filter <- function(x, ...) {
  check_filter(x, "x")
  cat(filter_kinds[[x$kind]]$title, ", ", count_of(rows_of_filter(x), "row"), " of ",
    count_of(length(x$sequences), "sequence"), "\n", sep = "")
  if (!is.null(x$options$particles)) {
    cat(if (identical(x$options$collapse, "gpb2")) "Histories with the same last mode are one" else
      count_of(x$options$particles, "particle"), ", seed ", format(x$options$seed, digits = 16), "\n", sep = "")
  }
  cat("Log-likelihood: ", format(log_lik_of_filter(x), digits = 8), "\n", sep = "")
  for (name in utils::head(names(x$sequences), 6L)) cat(described_sequence(x, name), sep = "\n")
  more <- length(x$sequences) - 6L
  if (more > 0L) cat("... and ", count_of(more, "more sequence"), "\n", sep = "")
  invisible(x)
}

# One line of print() about a sequence of a filter: the state in which it is now.
described_sequence <- function(f, name) {
  s <- f$sequences[[match(name, names(f$sequences))]]
  last <- length(s$rows$log_density)
  what <- if (!last) "nothing is remembered of its rows" else if (!is.null(s$rows$prob)) {
    prob <- s$rows$prob[last, ]
    if (anyNA(prob)) "no state yet" else
      paste("state", names(prob)[which.max(prob)], "with probability", format(max(prob), digits = 3))
  } else {
    paste(colnames(s$rows$mean), "=", format(s$rows$mean[last, ], digits = 4), collapse = ", ")
  }
  paste0("After ", count_of(s$n, "row"), if (length(f$sequences) > 1L) paste0(" of ", name), ": ", what)
}

#' @rdname read_filter
#' @export
summary.bnp_filter <- function(object, ...) {
  check_no_dots(...)
  check_filter(object)
  structure(list(filter = object), class = "summary.bnp_filter")
}

#' @export
print.summary.bnp_filter <- function(x, ...) {
  f <- check_filter(x$filter)
  print(f)
  rows <- plain_frame(as.data.frame(f)) # a tibble would warn of columns that it does not have
  if (!nrow(rows)) {
    return(invisible(x))
  }
  surprise <- rows$surprise[!is.na(rows$surprise)]
  if (length(surprise)) {
    cat("Surprise of a row: median ", format(stats::median(surprise), digits = 4), ", largest ",
      format(max(surprise), digits = 4), "\n", sep = "")
  }
  if (!is.null(rows$alarm)) {
    at <- which(rows$alarm > 0.5)
    cat("Alarm above 0.5 in ", count_of(length(at), "row"), if (length(at)) paste0(": ", places(rows$row[at])), "\n",
      sep = "")
  }
  if (!is.null(rows$size)) cat("Effective particles, least: ", format(min(rows$size), digits = 3), "\n", sep = "")
  cat("Last rows:\n")
  print(format(utils::tail(rows, 5L), digits = 4), row.names = FALSE)
  invisible(x)
}
