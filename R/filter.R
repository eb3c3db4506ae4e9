# Filters: what is known as rows arrive. A filter is a plain list
#
#   kind       "states" (hidden Markov models), "switching" (linear systems), "particles" (functions)
#   model      the fit, a list of systems, or the functions
#   options    what bnp_filter() was given
#   input      how rows are read: d, column_names, id_column, has_id (NULL before the first rows)
#   sequences  by id, in the order of their first rows: list(number, n, log_lik, state, rows). state: what the next row
#              needs; rows: results by kind, vectors and matrices with one row for each row that is remembered
#
# so that it does not matter in how many pieces rows came. The kinds differ in how they take rows in and look ahead:
# the table `filter_kinds`.

#' Filter rows as they arrive
#'
#' What is known of hidden states after each row, given the rows so far and no later ones: probabilities of states, how
#' surprising the row was, an alarm for what the model has never seen, and forecasts. A filter is a plain value.
#' `update()` takes further rows in, to the same bits as all rows at once, also after [saveRDS()] and [readRDS()].
#'
#' @param object A fit of [bnp_hmm()] (with [obs_lds()] it is filtered as a linear system); an [lds_model()],
#'   or a list of several, each of which is the truth with equal probability (draws of the parameters, for instance:
#'   then forecasts include what is not known of them); a [particle_model()]. Of `update()` and `predict()`: a filter.
#' @param newdata Rows in the order of time, in any form that [bnp_hmm()] takes, one row after the other or all at
#'   once; `NULL`: none yet. `NA` are cells, or rows, that were not observed.
#' @param id Which sequence each row belongs to, as in [bnp_hmm()]; of `update()` also one label for all rows.
#'   Sequences are filtered independently, and a new
#'   `id` in `update()` begins a new one. Rows of different sequences need not alternate: of each piece, the rows of a
#'   sequence follow each other.
#' @param particles How many histories of modes are kept (of linear systems), or how many particles there are.
#' @param collapse `"none"`, or `"gpb2"`: histories with the same last mode become one Gaussian with their mean and
#'   covariance. Faster, without random numbers, and biased; `particles` is then of no account.
#' @param seed A whole number; default: drawn from R's generator. Fits of other hidden Markov models need none.
#' @param keep For how many last rows of each sequence results are remembered, for [augment()], `filter_probs()` and
#'   pictures. Memory grows with it (of linear systems by 4 bytes a particle and row), and each `update()` copies what
#'   is
#'   remembered: choose a number where a stream goes on for long. States and log-likelihood are of all rows.
#' @param parameters Of fits with [obs_lds()]: `"mean"`, the system at the posterior means of its parameters; or
#'   `"draw"`, a system for each of the particles, drawn from the posterior, so that forecasts include what is
#'   not known of the parameters. With `"draw"` and `collapse = "gpb2"` there are also as many systems as `particles`.
#'   Filters of other fits average over their parameters themselves.
#' @param inputs Of an [lds_model()] with `F` or `G`: known inputs, a number for each row and input, never `NA`. A
#'   matrix or a data frame with a row for each row of `newdata`, a vector of one input, or a list of these where
#'   `newdata` is a list. Columns go by the names of the inputs where both have names. Of fits they are columns of
#'   `newdata`.
#' @param threads Threads; results do not depend on it. Default: `getOption("mc.cores", 1)`.
#' @param ... Must be empty.
#' @details
#' **Hidden Markov models**, with every observation model, are filtered exactly: the densities are posterior
#' predictives, in which what is not known of the parameters is averaged over, and the transitions are at their
#' posterior means, as in `predict(fit, type = "logdensity")`. With [prior_hdp_hmm()] one outcome is *a state not in
#' use*.
#' Its probability is the alarm. The first `lag` rows of a sequence of [obs_ar()] are conditioned on.
#'
#' **Switching linear systems** ([lds_model()], fits with [obs_lds()]): each of the particles is a history of modes,
#' given which the state of the system is Gaussian and known exactly (Rao-Blackwellised). A row extends every particle
#' by every mode, and of these
#' as many as `particles` are kept by the rule of Fearnhead and Clifford (2003): large weights stay as they are, of
#' small
#' ones some are drawn, and the estimate of the likelihood is unbiased. As long as no more histories are possible, this
#' is exact enumeration. The first row has a state, but no mode, unless modes see the state in different ways (`C`, `R`
#' or `G` of [lds_model()] by mode). A row takes time in proportion to particles x modes
#' x m^3, for m state variables.
#'
#' **Functions** ([particle_model()]): the bootstrap filter of Gordon and others (1993), with systematic resampling
#' where
#' the effective number of particles is below half of them.
#'
#' Parameters do not change: a filter does not learn (of several systems it finds out which of them is right).
#' `update(fit, newdata)` of a fit does.
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
#' @seealso [read_filter], [predict.bnp_filter()], `vignette("over-time")`.
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

# The filter after taking these rows in.
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
  at <- match(names, names(f$sequences)) # `[` finds no empty name
  taken <- filter_kinds[[f$kind]]$take(f, f$sequences[at], data, call)
  f$sequences[at] <- Map(function(before, new, n) {
    before$rows <- with_rows(before$rows, new$rows, f$options$keep)
    before$state <- new$state
    before$n <- before$n + n
    # Sums are made one row at a time, so that rows in pieces give the bits of all rows at once; sum() would keep more
    # digits.
    for (value in new$rows$log_density[!is.na(new$rows$log_density)]) before$log_lik <- before$log_lik + value
    before
  }, f$sequences[at], taken, diff(data$starts))
  sealed(f)
}

# The rows of each element of a named list must be distinguishable from those of the others.
refuse_repeated_names <- function(names, call) {
  if (anyDuplicated(names)) {
    abort("id", c(
      "Sequences of {.arg newdata} must have different names.",
      x = "Repeated: {places(dQuote(unique(names[duplicated(names)]), FALSE))}."
    ), call = call)
  }
}

# A single label that is no column is the sequence of the one row, or a sequence that is there.
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

# Whether these rows say to which sequence each belongs.
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

# Appends rows to those that are remembered, and keeps the last `keep`. `origin` has `kept` numbers per row.
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

# The numbers, within the sequence, of the rows that are remembered.
row_numbers <- function(sequence) sequence$n - length(sequence$rows$log_density) + seq_along(sequence$rows$log_density)
