# Reads every form of input of bnp_hmm() into the internal form of data, with one group per sequence.

# Reads sequences into the internal form of data. use: the purpose, as in act_on_missing(), or "filter", which
# is "predict" for rows that may follow others.
as_sequence_data <- function(x, obs, id = NULL, arg = "x", call = rlang::caller_env(), na_action = NULL,
                             use = "sequences", parent = NULL) {
  if (!is.null(id)) id <- id_column(id, call)
  if (!is.null(parent)) {
    return(as_tree_data(x, parent, obs, id, arg, call, na_action, use))
  }
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "simple_triplet_matrix")) {
    if (!is.null(id)) {
      abort("id", "{.arg id} has no meaning when {.arg {arg}} is a list of sequences: name the list.",
        call = call
      )
    }
    timed <- lapply(x, split_times)
    times <- lapply(timed, `[[`, "times")
    times <- if (!any(vapply(times, is.null, NA))) do.call(c, unname(times))
    locations <- NULL
    parts <- bind_sequences(stats::setNames(lapply(timed, `[[`, "x"), names(x)), obs, arg, call, na_action)
    x <- parts$x
    lengths <- parts$lengths
    names <- parts$names
  } else {
    timed <- if (is.object(x) && !is.data.frame(x)) split_times(x, arg, call) else list(x = x)
    times <- timed$times
    split <- if (is.null(id)) timed else take_id(timed$x, id, arg, call)
    locations <- if (inherits(x, track_classes)) locations_of_track(x)
    x <- as_table(split$x, arg, FALSE, call, obs, na_action)
    lengths <- nrow(x)
    names <- "1"
    if (!is.null(split$id)) {
      id <- check_id(split$id, nrow(x), arg, call, rownames(x))
      check_contiguous(id, call)
      id <- factor(id, levels = unique(as.character(id)))
      lengths <- tabulate(id, nlevels(id))
      names <- levels(id)
    }
  }
  lag <- obs_lag(obs)
  too_short <- if (use != "filter") which(lengths <= lag)
  if (length(too_short)) {
    abort("too_short", c(
      "Every sequence of {.arg {arg}} must be longer than the lag ({lag}).",
      x = "Too short: {cli::qty(length(too_short))}sequence{?s} {places(names[too_short])}.",
      i = "Remove {cli::qty(length(too_short))}{?it/them}, or use a smaller {.arg lag}."
    ), call = call)
  }
  data <- table_to_data(x, obs, arg, call, c(0L, cumsum(lengths)), names, times, na_action, use)
  if (!is.null(locations) && data$n == nrow(locations)) data$locations <- locations
  data
}

# Binds a list of sequences into one table. Columns of text or factors are read when all sequences are
# together, so that they have the same levels.
bind_sequences <- function(x, obs, arg, call, na_action = NULL) {
  if (!length(x)) {
    abort("no_rows", c("{.arg {arg}} has no sequences.", i = "Give at least one."), call = call)
  }
  names <- names(x) %||% as.character(seq_along(x))
  reads <- obs_can(obs, "read")
  tables <- lapply(seq_along(x), function(i) {
    name <- paste0(arg, "[[", i, "]]")
    if (reads) as_frame(x[[i]], name, call) else as_table(x[[i]], name, FALSE, call, obs, na_action)
  })
  widths <- vapply(tables, ncol, 1L)
  if (any(widths != widths[1])) {
    bad <- which(widths != widths[1])
    abort("widths", c(
      "All sequences of {.arg {arg}} must have the same columns.",
      x = "Sequence {names[1]} has {widths[1]}, {cli::qty(length(bad))}sequence{?s} {places(names[bad])}
           {cli::qty(length(bad))}{?has/have} {places(unique(widths[bad]))}."
    ), call = call)
  }
  columns <- lapply(tables, colnames)
  differs <- which(!vapply(columns, identical, NA, columns[[1]]))
  if (length(differs)) {
    abort("widths", c(
      "All sequences of {.arg {arg}} must have the same column names in the same order.",
      x = "Unlike the first: {cli::qty(length(differs))}sequence{?s} {places(names[differs])}."
    ), call = call)
  }
  lengths <- vapply(tables, nrow, 1L)
  if (reads) {
    all <- structure(do.call(rbind, unname(tables)), parts = attr(tables[[1L]], "parts"))
    x <- as_table(all, arg, FALSE, call, obs, na_action)
    return(list(x = x, lengths = lengths, names = names))
  }
  if (!all(vapply(tables, is.matrix, NA))) {
    tables <- lapply(tables, function(t) if (is.matrix(t)) as_column_sparse(Matrix::Matrix(t, sparse = TRUE)) else t)
  }
  list(x = do.call(rbind, tables), lengths = lengths, names = names)
}

check_contiguous <- function(id, call) {
  runs <- rle(as.integer(id))
  again <- unique(runs$values[duplicated(runs$values)])
  if (length(again)) {
    at <- vapply(again, function(v) sum(runs$lengths[seq_len(which(runs$values == v)[2] - 1L)]) + 1, 1)
    abort("id", c(
      "The rows of a sequence must follow each other.",
      x = "{cli::qty(length(again))}Sequence{?s} {places(levels(id)[again])}
           {cli::qty(length(again))}{?starts/start} again in row {places(at)}.",
      i = "Sort the rows by {.arg id} and time, or give each stretch its own id."
    ), call = call)
  }
}
