# Rows at times: the argument `time` of bnp_mixture() and of functions that read its fits.
#
# The internal form of data then has `slot`, the number of each row's time; `distinct_times`, in order; `gap`,
# how much time passes from each to the next; and `past`, TRUE if the engine has a time before them
# (R/forget.R). If clusters have weights by time, the rows of a time are a group (`order`, `starts`,
# `group_names`). C++ reads the slots as the last column.

# Splits off `time`: list(x, time, name) has the table without the column that `time` names, the time of each
# row, and the name of the column.
split_row_times <- function(x, time, arg, call) {
  split <- split_argument(x, time, "time", call)
  list(x = split$x, time = split$value, name = split$name)
}

# Checks the times of rows, which must be numbers or dates; POSIXlt becomes POSIXct. names: the names of the
# rows.
check_row_times <- function(time, n, arg, call, kept = NULL, names = NULL) {
  if (inherits(time, "POSIXlt")) time <- as.POSIXct(time)
  if (inherits(time, "integer64")) time <- times_of_integer64(as_vector(time), call)
  time <- plain_values(in_order_of_names(time, names, n, "time", "row", call))
  if (!is.atomic(time) || is.null(time) || length(time) != n) {
    abort("time", c(
      "{.arg time} must name a column, or have one value per row of {.arg {arg}} ({n}), not {describe(time)}."
    ), call = call)
  }
  if (!(is.numeric(time) && is_plain_number(time) || inherits(time, c("Date", "POSIXct")))) {
    abort("time", c(
      "{.arg time} must be numbers or dates, not {describe(time)}.",
      i = "Convert it, as by {.fn as.Date} or {.fn as.integer}: times have an order and distances."
    ), call = call)
  }
  bad <- intersect(which(!is.finite(as.double(time))), kept %||% seq_len(n))
  if (length(bad)) {
    abort("time", c(
      "{.arg time} has missing or infinite values.",
      x = "In {cli::qty(length(bad))}row{?s} {places(bad)}.",
      i = "Leave out rows whose time is not known."
    ), call = call)
  }
  if (is.null(kept)) time else time[kept]
}

# Converts 64-bit integers; refuses any above 2^53, since different times would become the same number.
times_of_integer64 <- function(time, call) {
  value <- as.double(label_text(time, "time", call))
  if (any(abs(value) > 2^53, na.rm = TRUE)) {
    abort("time", c(
      "{.arg time} has 64-bit integers above 2^53, which numbers cannot tell from each other.",
      i = "Subtract the first of them."
    ), call = call)
  }
  value
}

# Adds the times of rows to checked data. time: list(time, name) from split_row_times(); gaps: how the time
# from one time to the next is counted; by_time: TRUE if clusters have weights by time.
with_times <- function(data, time, gaps, by_time, arg, call) {
  value <- check_row_times(time$time, rows_given(data), arg, call, data$left_out$kept, given_row_names(data))
  times <- sort(unique(value))
  data$slot <- match(value, times)
  data$distinct_times <- times
  data$gap <- gaps_between(times, gaps)
  data$time_name <- time$name
  data$gaps <- gaps
  if (by_time) grouped_by_time(data) else data
}

gaps_between <- function(times, gaps) if (gaps == "time") diff(as.double(times)) else rep(1, length(times) - 1L)

# Sorts rows by time; the rows of each time become a group.
grouped_by_time <- function(data) {
  there <- sort(unique(data$slot))
  regrouped(data, order(data$slot), tabulate(match(data$slot, there)), label_text(data$distinct_times[there]))
}

# The data as C++ reads them, with the numbers of the rows' times as a last column.
with_slot_column <- function(data) {
  data$x <- cbind(data$x, data$slot + isTRUE(data$past), deparse.level = 0)
  data$d <- data$d + 1L
  data
}

# TRUE if the clusters of this mixture have different weights at each time.
has_weights_by_time <- function(fit) inherits(fit, "bnp_mixture_by_time")

# Splits new data into the table and `time`, which is given or the column that the fit used as time.
newdata_time <- function(fit, newdata, time, arg, call) {
  if (!has_drift(fit$model$obs)) {
    if (!is.null(time)) {
      abort("time", c(
        "{.arg time} is for fits of drifting clusters, which this one is not.",
        i = "Fit with {.code bnp_mixture(x, obs = {drifting()}, time = )}."
      ), call = call)
    }
    return(list(x = newdata))
  }
  name <- fit$input$time_name
  if (is.null(time) && !is.null(name) && isTRUE(name %in% colnames(newdata))) time <- name
  split <- split_row_times(newdata, time, arg, call)
  if (!is.null(fit$input$terms) || isTRUE(split$name %in% fit$input$column_names)) split$x <- newdata
  split
}

# Adds the numbers of the rows' times to new data, for fits whose clusters drift; without `time` the data must
# be the training data.
with_known_times <- function(fit, data, time, arg, call) {
  data$past <- has_past(fit$model$obs)
  if (is.null(time) && data$n > 0L) {
    data$slot <- slots_of_training(fit, data, arg, call)
    return(data)
  }
  time <- check_row_times(
    time %||% numeric(), rows_given(data), arg, call, data$left_out$kept, given_row_names(data)
  )
  data$slot <- slots_at(fit, time, call)
  data
}

# Adds the numbers of their times to new rows, with which a fit is to be updated. They must be times that the
# fit knows, or later ones; if clusters have weights by time, only later ones, since the weights of known
# times are final. The data then have all `times` and gaps.
with_later_times <- function(fit, data, time, arg, call) {
  known <- fit$model$obs$times
  if (is.null(time)) {
    abort("time", "{.arg time} is needed: it says when each row of {.arg {arg}} was.", call = call)
  }
  time <- check_row_times(time, rows_given(data), arg, call, data$left_out$kept, given_row_names(data))
  check_kind_of_times(time, known, call)
  last <- as.double(known[length(known)])
  new <- sort(unique(time[!as.double(time) %in% as.double(known)]))
  by_time <- has_weights_by_time(fit)
  bad <- if (by_time) unique(time[as.double(time) <= last]) else new[as.double(new) < last]
  if (length(bad)) {
    abort("time", c(
      if (by_time) "Rows of {.arg {arg}} must be later than those of the fit: earlier weights no longer change." else
        "Rows of {.arg {arg}} must be at times that the fit has seen, or after the last of these.",
      x = "Not so: {cli::qty(length(bad))}time{?s} {places(label_text(bad))}.",
      i = "The last one is {label_text(known[length(known)])}. Fit anew to all rows."
    ), call = call)
  }
  data$distinct_times <- c(known, new)
  data$past <- has_past(fit$model$obs)
  data$gap <- c(if (data$past) fit$model$obs$gap[1L], gaps_between(data$distinct_times, fit$input$gaps))
  data$slot <- match(as.double(time), as.double(data$distinct_times))
  if (by_time) grouped_by_time(data) else data
}

# The fit extended to later times, at which its sums of statistics are 0.
fit_with_times <- function(fit, data) {
  more <- length(data$distinct_times) - length(fit$model$obs$times)
  fit$model$obs[c("times", "gap")] <- list(data$distinct_times, data$gap)
  width <- 1L + fit$input$d
  fit$state$obs <- cbind(fit$state$obs, matrix(0, fit$state$k, more * width))
  fit
}

check_kind_of_times <- function(time, times, call) {
  dates <- function(x) class(x)[class(x) %in% c("Date", "POSIXct")]
  if (length(time) && !identical(dates(time), dates(times))) {
    abort("time", c(
      "{.arg time} must be {if (length(dates(times))) 'dates' else 'numbers'} of the kind that the fit had.",
      x = "They are of class {.cls {class(time)}}, those of the fit of class {.cls {class(times)}}."
    ), call = call)
  }
}

# The numbers, among the times of a fit, of these times.
slots_at <- function(fit, time, call) {
  times <- fit$model$obs$times
  check_kind_of_times(time, times, call)
  slot <- match(as.double(time), as.double(times))
  unseen <- unique(time[is.na(slot)])
  if (length(unseen)) {
    abort("time", c(
      "{.arg time} has times at which the fit has seen no row: clusters are known at its own times only.",
      x = "Not so: {cli::qty(length(unseen))}time{?s} {places(label_text(unseen))}.",
      i = "Its times are from {label_text(times[1L])} to {label_text(times[length(times)])},
           {length(times)} in all."
    ), call = call)
  }
  slot
}

# The numbers of the times of the training data, for data without `time`; refuses other data.
slots_of_training <- function(fit, data, arg, call) {
  known <- fit$input
  if (identical(as.integer(data$n), as.integer(known$n)) && identical(fingerprint_of(data), known$fingerprint)) {
    refuse_past(fit, arg, call)
    return(in_user_order(fit, known$slot))
  }
  abort("time", c(
    "{.arg time} is needed: it says to which time of the fit each row of {.arg {arg}} belongs.",
    i = if (is.null(known$time_name)) "Only the times of the training data are known." else
      "Give it, or the column {.val {known$time_name}}."
  ), call = call)
}

check_gaps_of_times <- function(gaps, time, call = rlang::caller_env()) {
  given <- !identical(gaps, c("equal", "time"))
  gaps <- check_choice(gaps, c("equal", "time"), "gaps", call)
  if (given && is.null(time)) {
    abort("time", "{.arg gaps} has no meaning without {.arg time}.", call = call)
  }
  gaps
}

need_times <- function(obs, call) {
  abort("time", c(
    "{.arg time} is needed with {.code drift} of {.fn {obs_facts(obs)$constructor}}: it says when each row was
     observed.",
    i = "Give a value for each row, or the name of a column."
  ), call = call)
}

# The call of a constructor of models whose clusters drift, as an example in messages.
drifting <- function() paste0(makers_with("drift"), "(drift = 0.5)")
