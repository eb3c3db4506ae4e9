# Filters: what is known about states as rows arrive. A filter is a plain list
#   kind       "states" (hidden Markov models), "switching" (linear systems), "particles" (functions)
#   model      the fit, a list of systems, or the functions
#   options    what bnp_filter() was given
#   input      how rows are read: d, column_names, id_column, has_id (NULL before the first rows)
#   sequences  by id, in the order of their first rows: list(number, n, log_lik, state, rows). state: what the
#              next row needs; rows: results by kind, vectors and matrices with one row for each row that is
#              remembered
#
# so that it does not matter in how many pieces rows came. The kinds differ in how they process rows and look
# ahead: the table `filter_kinds` has their functions.

#' Filter rows as they arrive
#'
#' A filter has the posterior of hidden states after each row, given the rows so far and no later ones: probabilities of
#' states, how surprising the row was, the probability of a state that the model has never seen (an alarm), and
#' forecasts. A filter is a plain R object. `update()` adds further rows, with results identical to those of all rows at
#' once, also after [saveRDS()] and [readRDS()].
#'
#' @param object For `bnp_filter()`: a fit of [bnp_hmm()] (with [obs_lds()] it is filtered as a linear system); an
#'   [lds_model()]; a list of several such models, each of which is the true one with equal probability (for instance
#'   draws of the parameters, so that forecasts include the uncertainty about them); or a [particle_model()]. For
#'   `update()` and `predict()`: a filter.
#' @param newdata Rows in the order of time, in any form that [bnp_hmm()] takes, one row after the other or all at once;
#'   `NULL`: no rows yet. Cells or rows that were not observed are `NA`.
#' @param id The sequence of each row, as in [bnp_hmm()]; for `update()` also one label for all rows. Sequences are
#'   filtered independently, and a new `id` in `update()` begins a new one. Within one call the rows of a sequence must
#'   follow each other.
#' @param particles The number of particles; for linear systems each is one history of modes.
#' @param collapse For linear systems: `"none"`, or `"gpb2"`: histories with the same last mode are replaced by one
#'   Gaussian with their mean and covariance. This is faster and needs no random numbers, but is biased; `particles` is
#'   then not used.
#' @param seed A whole number; default: drawn from R's generator. Not needed for fits of hidden Markov models other than
#'   [obs_lds()].
#' @param keep The number of last rows of each sequence for which results are kept, for [augment()], `filter_probs()`
#'   and pictures. Memory grows with it (for linear systems by 4 bytes per particle and row), and each `update()` copies
#'   these results: choose a small number if a stream is long. States and log-likelihood are always those of all rows.
#' @param parameters For fits with [obs_lds()]: `"mean"`, one system at the posterior means of the parameters; or
#'   `"draw"`, one system per particle, drawn from the posterior, so that forecasts include the uncertainty about the
#'   parameters. With `"draw"` and `collapse = "gpb2"` there are also as many systems as `particles`. Filters of other
#'   fits average over their parameters themselves.
#' @param inputs For an [lds_model()] with `F` or `G`: known inputs, a number for each row and input, never `NA`. A
#'   matrix or a data frame with a row for each row of `newdata`, a vector for one input, or a list of these if
#'   `newdata` is a list. Columns are matched by name if both have names. For fits, inputs are columns of `newdata`.
#' @param threads Number of threads; results do not depend on it. Default: `getOption("mc.cores", 1)`.
#' @param ... Must be empty.
#' @details
#' **Hidden Markov models**, with every observation model, are filtered exactly: the densities are posterior
#' predictives, which average over the uncertainty about the parameters, and the transitions are at their posterior
#' means, as in `predict(fit, type = "logdensity")`. With [prior_hdp_hmm()] a row may also be in *a state not in use*;
#' the probability of this is the alarm. The first `lag` rows of a sequence of [obs_ar()] are conditioned on.
#'
#' **Switching linear systems** ([lds_model()], fits with [obs_lds()]): each particle is a history of modes, given which
#' the state of the system is Gaussian and known exactly (Rao-Blackwellised). A row extends every particle by every
#' mode. Of these extended histories `particles` are kept by the rule of Fearnhead and Clifford (2003): large weights
#' stay as they are, of those with small weights some are drawn, and the estimate of the likelihood is unbiased. As long
#' as there are no more possible histories than `particles`, this is exact enumeration. The first row has a state, but
#' no mode, unless modes see the state in different ways (`C`, `R` or `G` of [lds_model()] by mode). A row takes time in
#' proportion to particles x modes x m^3, for m state variables.
#'
#' **Models of functions** ([particle_model()]) are filtered by the bootstrap filter of Gordon and others (1993), with
#' systematic resampling when the effective number of particles is below half of `particles`.
#'
#' Parameters do not change: a filter does not learn (but with several systems it finds out which of them is right). To
#' learn from new rows, use `update(fit, newdata)` of a fit.
#' @return An object of class `bnp_filter`, see [read_filter] and [plot.bnp_filter()].
#' @references
#' Doucet, A., de Freitas, N., Murphy, K. and Russell, S. (2000). Rao-Blackwellised particle filtering for dynamic
#' Bayesian networks. *Uncertainty in Artificial Intelligence* 16, 176-183.
#'
#' Fearnhead, P. and Clifford, P. (2003). On-line inference for hidden Markov models via particle filters. *Journal of
#' the Royal Statistical Society B* 65, 887-899.
#'
#' Gordon, N. J., Salmond, D. J. and Smith, A. F. M. (1993). Novel approach to nonlinear/non-Gaussian Bayesian state
#' estimation. *IEE Proceedings F* 140, 107-113.
#'
#' Bar-Shalom, Y., Li, X. R. and Kirubarajan, T. (2001). *Estimation with applications to tracking and navigation*.
#' Wiley; section 11.6, the second-order generalised pseudo-Bayesian filter.
#' @seealso [read_filter], [predict.bnp_filter()], *Filters: following rows as they arrive* on the site.
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' f <- bnp_filter(fit, beaver2[1:50, "temp", drop = FALSE])
#' f <- update(f, beaver2[51:100, "temp", drop = FALSE])
#' f
#' predict(f, h = 3)
#'
#' # The level of the Nile, by one linear system
#' level <- lds_model(A = 1, Q = 1469.1, C = 1, R = 15098.5, start_mean = 1000, start_var = 1e5)
#' bnp_filter(level, Nile)
#' @export
bnp_filter <- function(object, ...) {
  UseMethod("bnp_filter")
}

#' @export
bnp_filter.default <- function(object, ...) {
  abort("argument", c(
    "{.arg object} must be a fit of {.fn bnp_hmm}, or made by {.or {.fn {c('lds_model', 'particle_model')}}}, not
     {describe(object)}."
  ))
}

new_filter <- function(kind, model, options, input, newdata, id, inputs, call) {
  f <- structure(
    list(
      format = filter_format, kind = kind, model = model, options = options, input = input,
      sequences = stats::setNames(list(), character())
    ),
    class = "bnp_filter"
  )
  take_rows(f, newdata, id, inputs, call)
}

filter_format <- 3L

check_filter <- function(f, arg = "object", call = rlang::caller_env()) {
  check_class(f, "bnp_filter", arg, "bnp_filter", call)
  if (!identical(f[["format"]], filter_format)) {
    abort("format", c(
      "{.arg {arg}} is a filter that is damaged, or was stored by another version of the package.",
      i = "Filter again, or read it again from where it was stored."
    ), call = call)
  }
  check_object(f, call)
}

check_keep <- function(keep, call = rlang::caller_env()) {
  if (identical(keep, Inf)) Inf else check_count(keep, "keep", 0L, call)
}

#' @rdname bnp_filter
#' @export
update.bnp_filter <- function(object, newdata, id = NULL, ..., inputs = NULL) {
  check_no_dots(...)
  need_data(missing(newdata), "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  take_rows(check_filter(object), newdata, id, inputs, rlang::current_env())
}

# The filter after processing these new rows. inputs: known inputs of the rows.
take_rows <- function(f, newdata, id, inputs, call) {
  if (is.null(newdata) || NROW(newdata) == 0L && (is.data.frame(newdata) || is.atomic(newdata))) {
    if (NROW(inputs)) {
      abort("argument", c(
        "{.arg inputs} can only be given together with rows in {.arg newdata}.", i = "Give {.arg newdata}."
      ), call = call)
    }
    return(sealed(f))
  }
  id <- id_of_rows(f, newdata, id)
  has_id <- says_ids(f, newdata, id)
  check_same_id(f, has_id, call)
  data <- filter_kinds[[f$kind]]$read(f, newdata, id %||% f$input$id_column, call)
  data$inputs <- inputs_of_rows(f, inputs, data, call)
  f$input$has_id <- has_id
  if (is.character(id) && length(id) == 1L && id %in% colnames(newdata)) f$input$id_column <- id
  f$input$d <- f$input$d %||% data$d
  f$input$column_names <- f$input$column_names %||% data$column_names
  names <- data$group_names %||% as.character(seq_len(length(data$starts) - 1L))
  refuse_repeated_names(names, call)
  new <- setdiff(names, names(f$sequences))
  begun <- lapply(length(f$sequences) + seq_along(new), function(number) list(number = number, n = 0, log_lik = 0))
  f$sequences <- c(f$sequences, stats::setNames(begun, new))
  at <- match(names, names(f$sequences)) # `[` does not find an element with an empty name
  taken <- filter_kinds[[f$kind]]$take(f, f$sequences[at], data, call)
  f$sequences[at] <- Map(function(before, new, n) {
    before$rows <- with_rows(before$rows, new$rows, f$options$keep)
    before$state <- new$state
    before$n <- before$n + n
    # Adds the log densities one row at a time, so that rows in pieces give the same bits as all rows at once.
    # sum() would keep more digits and give others.
    for (value in new$rows$log_density[!is.na(new$rows$log_density)]) before$log_lik <- before$log_lik + value
    before
  }, f$sequences[at], taken, diff(data$starts))
  sealed(f)
}

# Refuses a named list of sequences in which a name occurs twice, as the rows of the two could not be told apart.
refuse_repeated_names <- function(names, call) {
  if (anyDuplicated(names)) {
    abort("id", c(
      "Sequences of {.arg newdata} must have different names.",
      x = "Repeated: {places(dQuote(unique(names[duplicated(names)]), FALSE))}."
    ), call = call)
  }
}

# The id of each row. A single label that is not the name of a column is the id of all rows, if there is one
# row only, or if the filter already has a sequence with this label.
id_of_rows <- function(f, newdata, id) {
  single <- length(id) == 1L && (is.atomic(id) || inherits(id, "POSIXlt")) && !is.na(id) &&
    !(is.character(id) && id %in% colnames(newdata))
  if (!single || is.list(newdata) && !is.data.frame(newdata)) {
    return(id)
  }
  label <- label_text(id, "id")
  n <- if (is.null(dim(newdata)) && identical(length(newdata), f$input$d)) 1L else NROW(newdata)
  if (n == 1L || label %in% names(f$sequences)) factor(rep(label, n)) else id
}

# Whether these rows say to which sequence each of them belongs.
says_ids <- function(f, newdata, id) {
  of_list <- is.list(newdata) && !is.data.frame(newdata) && !inherits(newdata, "simple_triplet_matrix")
  !is.null(id) || of_list || !is.null(f$input$id_column) && f$input$id_column %in% colnames(newdata)
}

check_same_id <- function(f, has_id, call) {
  before <- f$input$has_id
  if (is.null(before) || before == has_id) {
    return(invisible())
  }
  if (before) {
    abort("id", c(
      "{.arg id} is needed: this filter follows sequences by {.arg id}.",
      i = "Give the {.arg id} of the sequence to which the rows belong, or a new one:
           {.code update(f, newdata, id = )}."
    ), call = call)
  }
  abort("id", c(
    "{.arg id} cannot be given: this filter follows one sequence, whose first rows had no {.arg id}.",
    i = "Leave it out, or filter all rows again with {.arg id}."
  ), call = call)
}

# Appends results of new rows to those that a filter remembers, and keeps the last `keep`. The result `origin`
# (histories of particles) has `kept` numbers for each row.
with_rows <- function(before, new, keep) {
  out <- if (is.null(before)) new else Map(function(a, b) if (is.matrix(a)) rbind(a, b) else c(a, b), before, new)
  gone <- length(out$log_density) - keep
  if (gone <= 0) {
    return(out)
  }
  stay <- seq_along(out$log_density) > gone
  by_row <- setdiff(names(out), "origin")
  if (!is.null(out$origin)) out$origin <- utils::tail(out$origin, sum(out$kept[stay]))
  out[by_row] <- lapply(out[by_row], values_at, stay)
  out
}

# The numbers, within the sequence, of the rows whose results are remembered.
row_numbers <- function(sequence) sequence$n - length(sequence$rows$log_density) + seq_along(sequence$rows$log_density)
