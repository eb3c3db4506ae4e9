# Reads the new data of update(fit, newdata) in the form of the fit's own data, and appends them.

# The newdata of update() in the internal form, with the columns of the fit's data and the given weights and labels.
data_to_take_in <- function(fit, newdata, id, weights, na_action, new_terms, time, labels, call) {
  if (!is.null(na_action)) na_action <- check_na_action(na_action, call)
  single <- is.null(unit_word(fit))
  if (single) {
    split <- split_argument(newdata, weights, "weights", call)
    weights <- split$value
    if (is.null(fit$input$terms) && !isTRUE(split$name %in% fit$input$column_names)) newdata <- split$x
  }
  data <- without_new_terms(read_more(fit, newdata, id, na_action, time, call), new_terms, call)
  if (data$n == 0L) {
    abort("no_rows", c("{.arg newdata} has no rows.", i = "Give at least one observation."), call = call)
  }
  if (!is.null(weights)) require_ability(fit, "weights", call)
  data <- with_more_weights(fit, data, weights, call)
  if (!is.null(fit$input$weights) && is.null(data$weights)) {
    tell_no_weights()
    data$weights <- rep(1, data$n)
  }
  data <- with_labels_taken_in(fit, data, labels, newdata, call)
  if (!single) tell_same_names(fit, data)
  data
}

read_more.default <- function(fit, newdata, id, na_action, time, call) {
  data <- read_rows(fit, newdata, id, call, na_action = na_action)
  if (!is.null(time)) newdata_time(fit, newdata, time, "newdata", call)
  data
}

with_more_weights.default <- function(fit, data, weights, call) {
  data$weights <- unit_weights(weights, data, unit_word(fit), call)
  data
}

# Informs the user where sequences or documents of new data have names that the fit has, too: they are always
# treated as new ones.
tell_same_names <- function(fit, data) {
  word <- unit_word(fit)
  before <- fit$input$group_names
  at <- which(data$group_names %in% before)
  if (length(at) && !is.null(before)) {
    now <- make.unique(c(before, data$group_names))[length(before) + at]
    cli::cli_inform(
      c("Some {word}s of {.arg newdata} have names of earlier ones ({places(data$group_names[at])}) and are taken as
       new {word}s, named {places(now)}.",
        i = "To go on with a {word}, fit anew to all its rows."),
      class = c("bnpvi_message_same_names", "bnpvi_message")
    )
  }
}

tell_no_weights <- function() {
  cli::cli_inform(
    c("The fit has {.arg weights}, but {.arg newdata} has none: each of its rows counts once.",
      i = "{.code weights = } sets how often they count."),
    class = c("bnpvi_message_weights", "bnpvi_message")
  )
}

# Evaluates `data`, an expression that reads documents. Terms that the fit does not know are an error, or are
# left out.
without_new_terms <- function(data, new_terms, call, arg = "newdata") {
  withCallingHandlers(data, bnpvi_warning_unseen_terms = function(w) {
    if (new_terms == "error") {
      abort("new_terms", c(
        "{.arg {arg}} has terms that were not in the training data.",
        x = "{conditionMessage(w)}", i = "{.code new_terms = \"drop\"} leaves them out; to learn them, fit anew."
      ), call = call)
    }
    invokeRestart("muffleWarning")
  })
}

# What a fit stores about its data, together with the same for more data, whose rows are appended.
joined_input <- function(input, data) {
  known <- function(x) as_bnp_data(unclass(x)[intersect(kept_fields, names(x))])
  c(input[setdiff(names(input), kept_fields)], unclass(c(known(input), known(data))))
}

# What a fit stores about its data (`input`) after it has taken in more data.
input_with <- function(fit, data, obs) {
  a <- fit$input
  b <- kept_input(data, obs)
  out <- joined_input(a, data)
  share <- c(counted_rows(a), counted_rows(data)) / (counted_rows(a) + counted_rows(data))
  kept <- if (obs_can(obs, "keep")) names(obs_keep(obs, data))
  out[kept] <- Map(averaged, a[kept], b[kept], list(share))
  if (!is.null(a$initial)) out$initial <- a$initial
  if (!is.null(b$n_missing)) out$n_missing <- (a$n_missing %||% 0L) + b$n_missing
  data$order <- a$n + (data$order %||% seq_len(data$n))
  out$fingerprint <- if (is.null(a$weights) == is.null(data$weights)) {
    sum_of_fingerprints(a$fingerprint, fingerprint_of(data))
  }
  out[!vapply(out, is.null, NA)]
}

# Weighted averages of two numbers, or of two lists of numbers; share: the two weights.
averaged <- function(a, b, share) {
  if (is.list(a)) Map(averaged, a, b[names(a)], list(share)) else share[1L] * a + share[2L] * b
}

# Adds two fingerprints of data, hexadecimal numbers, modulo 2^64.
sum_of_fingerprints <- function(a, b) {
  if (is.null(a)) {
    return(NULL)
  }
  parts <- function(x) strtoi(substring(x, 4L * 3:0 + 1L, 4L * 3:0 + 4L), 16L)
  digits <- parts(a) + parts(b)
  for (i in 1:3) digits[i + 1L] <- digits[i + 1L] + digits[i] %/% 65536L
  paste(rev(sprintf("%04x", as.integer(digits %% 65536L))), collapse = "")
}
