#' Data that arrive in batches
#'
#' Learning that starts with no cluster at all and grows with the data: [bnp_mixture()] reads a stream batch by batch,
#' each once, and forgets the rows. Memory does not grow with their number.
#'
#' @param next_batch A function of the number of a batch, 1, 2, ..., that returns its rows (a data frame, a matrix, or
#'   whatever [bnp_mixture()] takes), or `NULL` when there are no more; or a source of such pieces, see [sources].
#' @param n Rows to read: the batch that reaches this number is the last one.
#' @param x A stream.
#' @param obs,prior,na_action As in [bnp_mixture()]. What the observation model reads from the data, such as means and
#'   spreads, it reads from the first batch, which should be no less than some hundred rows then.
#' @param control `bnp_control("truncation_free")`.
#' @param start An earlier fit of [bnp_mixture()] to go on from, memoized or not: its clusters count as much as their
#'   rows, and the prior of clusters is its, whatever `obs` says beside the kind of the model.
#' @param ... Must be empty.
#' @return `bnp_stream()`: an object of class `bnp_stream`. [bnp_mixture()] of it: a fit like any other, of class
#'   `c("bnp_mixture", "bnp_fit")`, but for what is said in *What a fit of a stream has*.
#' @details
#' The rows of a batch are labelled by a few sweeps of a collapsed Gibbs sampler whose prior is what was learned so far:
#' a row joins a cluster, or begins one, in proportion to how well each predicts it (Wang and Blei 2012). Then they
#' are added to the clusters. Whenever a tenth of all rows (1,000 at least, 10,000 at
#' most) came since the last time, clusters that overlap are joined
#' where that raises the posterior (`bnp_moves(merge = )`), clusters whose latest rows are better described by
#' several are split (`bnp_moves(birth = )`), and clusters of less than one row, or of one row in 20,000, go.
#'
#' With `half_life = Inf` every row counts the same, the order of rows hardly matters, and the fit of a stream is
#' that of one pass over data in memory. With a finite `half_life` a row counts half when so many have come after it:
#' clusters follow what drifts, and those that are not seen any more shrink and go. Nothing in the data can choose
#' it; compare the scores of runs with several.
#'
#' Data in memory can be learned from so, too: `bnp_mixture(x, control = bnp_control("truncation_free"))` makes
#' `max_laps` passes over batches dealt at random. In passes after the first a row's new place replaces the old one.
#' Where data can be read again, memoized learning finds better clusters: `bnp_mixture(x, start = fit)` begins it
#' from the fit of the stream.
#'
#' The same seed and batches give the same clusters, for any number of threads, whether the fit was stored with
#' [saveRDS()] between two batches or not.
#' @section What a fit of a stream has:
#' * `elbo_trace()`: a row for each batch: `rows`; `seen`, rows so far; `score`, the mean log density of its rows as
#'   predicted by what was known *before* it was learned from, an honest measure of how well the clusters predict;
#'   `k`; `seconds`. `plot(fit, "score")` shows it.
#' * [cluster_ids()] and [cluster_history()]: identities of clusters that last, for numbering is by size and changes.
#'   [predict()][predict.bnp_mixture()] with `type = "id"` gives them for rows.
#' * [update()][update.bnp_fit]`(fit, newdata)` learns from another batch.
#' * No ELBO: it would be that of a random state. No labels of its rows, which are gone:
#'   [predict()][predict.bnp_mixture()].
#' @references
#' Wang, C. and Blei, D. M. (2012). Truncation-free online variational inference for Bayesian nonparametric
#' models. *Advances in Neural Information Processing Systems* 25.
#' @seealso [bnp_control()], [bnp_mixture()], [sources]; `vignette("streams")`.
#' @examples
#' # Fifty batches of 100 rows; one of three clusters moves, and one begins late
#' batch <- function(i) {
#'   if (i > 50) return(NULL)
#'   centres <- rbind(c(0, 0), c(6, 0), c(i / 10, 6), c(-6, -6))
#'   which <- sample(if (i > 25) 4 else 3, 100, replace = TRUE)
#'   data.frame(x = rnorm(100, centres[which, 1]), y = rnorm(100, centres[which, 2]))
#' }
#' set.seed(1)
#' fit <- bnp_mixture(bnp_stream(batch), control = bnp_control("truncation_free", half_life = 1000))
#' fit
#' tail(elbo_trace(fit))
#' cluster_history(fit)
#' @export
bnp_stream <- function(next_batch, n = Inf) {
  if (!is.function(next_batch) && !inherits(next_batch, "bnp_source")) {
    abort("argument", c(
      "{.arg next_batch} must be a function of a batch's number, or a source, not {describe(next_batch)}.",
      i = "{.code bnp_stream(function(i) if (i <= 10) x[[i]])} reads ten batches."
    ))
  }
  n <- if (identical(n, Inf)) Inf else check_count(n, "n")
  structure(list(next_batch = next_batch, n = n), class = "bnp_stream")
}

#' @export
print.bnp_stream <- function(x, ...) {
  what <- if (is.function(x$next_batch)) "a function" else format(x$next_batch)
  most <- if (is.finite(x$n)) paste0(", at most ", format(x$n, big.mark = ",", scientific = FALSE), " rows")
  cat("Stream of batches from ", what, most, "\n", sep = "")
  invisible(x)
}

#' @rdname bnp_stream
#' @export
bnp_mixture.bnp_stream <- function(x, obs = NULL, prior = prior_dp(), control = bnp_control("truncation_free"),
                                   start = NULL, na_action = c("fail", "model", "omit"), ...) {
  check_no_dots(...)
  na_action <- check_na_action(na_action)
  call <- rename_call(match.call())
  check_class(control, "bnp_control", "control", "bnp_control")
  if (control$algorithm != "truncation_free") {
    abort("argument", c(
      "A stream is read once: {.arg control} must be {.code bnp_control(\"truncation_free\")}, not
       {.code {.str {control$algorithm}}}."
    ))
  }
  here <- rlang::current_env()
  reader <- batch_reader(x, here)
  first <- reader$read(NULL)
  if (is.null(first)) abort("rows", "{.arg x} has no batch: its first one is {.code NULL}.")
  fit <- in_batch(1L, NULL, here, begin_stream(call, first, obs, prior, control, start, na_action, here))
  learn_stream(fit, reader, first, here)
}

begin_stream <- function(call, first, obs, prior, control, start, na_action, error_call) {
  goes_on <- inherits(start, "bnp_mixture")
  obs <- obs %||% if (goes_on) start$model$obs else default_obs(first, error_call)
  check_obs(obs, "bnp_mixture", error_call)
  check_prior(prior, "bnp_mixture", error_call)
  data <- if (goes_on) {
    as_newdata(start, first, error_call, "x", na_action)
  } else {
    as_mixture_data(first, obs, call = error_call, na_action = na_action)
  }
  fit <- begin_truncation_free(call, data, obs, prior, control, start, list(), error_call)
  fit$control$batches <- 1L
  fit
}

# Learns from all batches of the reader; `first` was read already.
learn_stream <- function(fit, reader, first, call) {
  progress <- progress_reporter(fit$control, batch_teller)
  on.exit(progress$finish())
  calls <- list()
  batches <- 0L
  interrupted <- FALSE
  so_far <- function() if (batches > 0L) with_batches(fit, joined_calls(calls), interrupted)
  batch <- first
  tryCatch(
    while (!is.null(batch)) {
      learned <- in_batch(batches + 1L, so_far, call, learn_batch(fit, rows_of_stream(fit, batch, call), progress))
      fit <- learned$fit
      interrupted <- learned$interrupted
      batches <- batches + 1L
      if (length(calls) == 1000L) calls <- list(joined_calls(calls))
      calls <- c(calls, list(learned[c("records", "departed", "capped")]))
      batch <- if (!interrupted) reader$read(so_far)
    },
    interrupt = function(e) {
      if (!rlang::is_interactive() || batches == 0L) rlang::interrupt()
      interrupted <<- TRUE
    }
  )
  so_far()
}

# A further batch in the engine's form.
rows_of_stream <- function(fit, batch, call, arg = "batch") {
  data <- as_newdata(fit, batch, call, arg)
  refuse_for_streams(data, fit$model$obs, call)
  data
}

# list(read): the next batch, NULL after the last. so_far(): the fit to the batches before, or NULL, for errors.
batch_reader <- function(stream, call) {
  i <- 0L
  rows <- 0
  next_batch <- if (is.function(stream$next_batch)) stream$next_batch else reader_of(stream$next_batch)
  list(read = function(so_far) {
    if (rows >= stream$n) {
      return(NULL)
    }
    i <<- i + 1L
    batch <- in_batch(i, so_far, call, next_batch(i), "could not be read")
    rows <<- rows + NROW(batch)
    batch
  })
}

# Evaluates an expression that reads batch number i; its error says which batch it was and has the fit so far.
in_batch <- function(i, so_far, call, expr, problem = "cannot be learned from") {
  tryCatch(expr, error = function(e) {
    fit <- if (!is.null(so_far)) so_far()
    what <- paste("Batch", i, problem)
    cli::cli_abort(
      c("{what}.", i = if (!is.null(fit)) "The fit to the batches before it is {.code rlang::last_error()$fit}."),
      class = c("bnpvi_error_stream", "bnpvi_error"), call = call, parent = e, fit = fit
    )
  })
}
