#' Data that arrive in batches
#'
#' Learning that starts with no cluster at all and grows with the data: [bnp_mixture()] and [bnp_topics()] read a
#' stream batch by batch, each once, and forget its rows or documents. Memory does not grow with their number.
#'
#' @param next_batch A function of the number of a batch, 1, 2, ..., that returns its rows (a data frame, a matrix, or
#'   whatever [bnp_mixture()] or [bnp_topics()] takes), or `NULL` when there are no more; or a source of such pieces,
#'   see [sources].
#' @param n Rows, or documents, to read: the batch that reaches this number is the last one.
#' @param x A stream.
#' @param obs,prior,na_action As in [bnp_mixture()] and [bnp_topics()]. What the observation model reads from the data,
#'   such as means and spreads, it reads from the first batch, which should be no less than some hundred rows then.
#' @param control `bnp_control("truncation_free")`.
#' @param start An earlier fit of the same kind to go on from, memoized or not: its clusters count as much as their
#'   rows, and the prior of clusters is its, whatever `obs` says beside the kind of the model.
#' @param new_terms What to do about terms of later documents that the first batch has no column of: `"error"`, or
#'   `"drop"`, to leave them out.
#' @param id Of documents of rows: the name of the column of each batch that says which document a row belongs to. A
#'   name that comes again in a later batch is another document.
#' @param ... Must be empty.
#' @return `bnp_stream()`: an object of class `bnp_stream`. [bnp_mixture()] and [bnp_topics()] of it: a fit like any
#'   other, but for what is said in *What a fit of a stream has*.
#' @details
#' The rows of a batch are labelled by a few sweeps of a collapsed Gibbs sampler whose prior is what was learned so far:
#' a row joins a cluster, or begins one, in proportion to how well each predicts it (Wang and Blei 2012). Then they
#' are added to the clusters. Whenever a tenth of all rows (1,000 at least, 10,000 at most) came since the last time,
#' clusters that overlap are joined where that raises the posterior (`bnp_moves(merge = )`), clusters whose latest rows
#' are better described by several are split (`bnp_moves(birth = )`), and clusters of less than one row, or of one row
#' in 20,000, go.
#'
#' Of documents every token, or row, joins a topic, or begins one, in proportion to how probable it is there and how
#' much of the topic its document has; topics are joined and removed whenever a tenth of all tokens (10,000 at least,
#' 100,000 at most; of rows 1,000 and 10,000) came. Before that topics are split where the latest documents (50,000
#' tokens, or 10,000 rows, of many columns fewer) are better described by several, and the topics of these documents are
#' drawn anew. Where there are many topics of little text each, those that a stream finds by itself remain mixtures of
#' several: give a memoized fit of the first few hundred documents as `start`. A document must not be cut across
#' batches: its parts would be different documents.
#'
#' With `half_life = Inf` every row counts the same, the order of rows hardly matters, and the fit of a stream is
#' that of one pass over data in memory. With a finite `half_life` a row (of topics a document) counts half when so many
#' have come after it: clusters follow what drifts, and those that are not seen any more shrink and go. Nothing in the
#' data can choose it; compare the scores of runs with several.
#'
#' With a formula the stream is its `data`: `bnp_mixture(~ a + b, data = bnp_stream(batch))`. What the formula learns
#' from data, as by [scale()], it learns from the first batch.
#'
#' Data in memory can be learned from so, too: `bnp_mixture(x, control = bnp_control("truncation_free"))` makes
#' `max_laps` passes over batches dealt at random. In passes after the first a row's new place replaces the old one.
#' Where data can be read again, memoized learning finds better clusters: `bnp_mixture(x, start = fit)` begins it
#' from the fit of the stream.
#'
#' The same seed and batches give the same clusters, for any number of threads, whether the fit was stored with
#' [saveRDS()] between two batches or not.
#' @section What a fit of a stream has:
#' * `elbo_trace()`: a row for each batch: `rows` (or documents); `seen`, rows so far; `score`, the mean log density of
#'   its rows as predicted by what was known *before* it was learned from, an honest measure of how well the clusters
#'   predict; `k`; `seconds`. Of documents `score` is the log probability of a token, or the log density of a row: that
#'   of each document, estimated as by [heldout_loglik()] with `type = "sequential"` and ten draws, all added up and
#'   divided by the number of tokens or rows. `plot(fit, "score")` shows it.
#' * [cluster_ids()] and [cluster_history()]: identities of clusters that last, for numbering is by size and changes.
#'   `predict()` with `type = "id"` gives them for rows and documents.
#' * [update()][update.bnp_fit]`(fit, newdata)` learns from another batch.
#' * `nobs()`: rows, or documents of counts, so far.
#' * No ELBO: it would be that of a random state. No labels of its rows and no proportions of its documents, which are
#'   gone: `predict()` gives them for those that you have.
#' @references
#' Wang, C. and Blei, D. M. (2012). Truncation-free online variational inference for Bayesian nonparametric
#' models. *Advances in Neural Information Processing Systems* 25.
#' @seealso [bnp_control()], [bnp_mixture()], [bnp_topics()], [sources]; `vignette("large-data")`.
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
#'
#' # Documents
#' pages <- function(i) if (i <= 4) bars$counts[100 * (i - 1) + 1:100, ]
#' bnp_topics(bnp_stream(pages), control = bnp_control("truncation_free", seed = 1))
#'
#' # Documents of rows: visits of customers
#' visits <- function(i) if (i <= 4) data.frame(faithful, customer = rep(1:8, 34))[68 * (i - 1) + 1:68, ]
#' bnp_topics(bnp_stream(visits), obs_gaussian(), id = "customer", control = bnp_control("truncation_free", seed = 1))
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
  check_object(x)
  what <- if (is.function(x$next_batch)) "a function" else format(x$next_batch)
  most <- if (is.finite(x$n)) paste0(", at most ", format(x$n, big.mark = ",", scientific = FALSE), " rows")
  cat("Stream of batches from ", what, most, "\n", sep = "")
  invisible(x)
}

#' @rdname bnp_stream
#' @export
bnp_mixture.bnp_stream <- function(x, obs = NULL, prior = prior_dp(), control = bnp_control("truncation_free"),
                                   start = NULL, na_action = c("fail", "model", "omit"), ...) {
  if (...length()) control <- control_with(control, ...)
  here <- rlang::current_env()
  na_action <- action_of_stream(start, if (!missing(na_action)) na_action)
  fit_stream("bnp_mixture", x, obs, prior, control, start, na_action, rename_call(match.call()), here)
}

# The na_action of a stream that goes on from a fit: the given one, else that of the fit.
action_of_stream <- function(start, na_action, call = rlang::caller_env()) {
  action_of_fit(if (inherits(start, "bnp_fit")) start, na_action, call)
}

fit_stream <- function(class, x, obs, prior, control, start, na_action, call, error_call, new_terms = "error",
                       formula = NULL, id = NULL) {
  if (class == "bnp_mixture") require_no_covariates(prior, kinds_of_form("stream", "mixture"), error_call)
  check_object(x, error_call)
  check_class(control, "bnp_control", "control", "bnp_control", error_call)
  if (control$algorithm != "truncation_free") {
    abort("argument", c(
      "A stream is read once: {.arg control} must be {.code bnp_control(\"truncation_free\")}, not
       {.code {.str {control$algorithm}}}."
    ), call = error_call)
  }
  check_options(control, "stream", prior, error_call)
  reader <- batch_reader(x, id, class, error_call)
  first <- reader$read(NULL)
  if (is.null(first)) abort("rows", "{.arg x} has no batch: its first one is {.code NULL}.", call = error_call)
  fit <- in_batch(1L, NULL, error_call, begin_stream(
    class, call, first, obs, prior, control, start, na_action, new_terms, error_call, formula, id
  ))
  sealed(learn_stream(fit, reader, first, new_terms, error_call))
}

begin_stream <- function(class, call, first, obs, prior, control, start, na_action, new_terms, error_call,
                         formula = NULL, id = NULL) {
  goes_on <- inherits(start, class)
  of_formula <- c("terms", "levels", "contrasts", "response")
  input <- if (goes_on) start$input[intersect(of_formula, names(start$input))] else list()
  if (!is.null(formula) && !goes_on) {
    if (!is.data.frame(first)) {
      abort("formula", "A batch must be a data frame, as there is a formula, not {describe(first)}.", call = error_call)
    }
    given <- split_formula_id(formula, first, NULL, error_call)["id"]
    require_abilities(kinds_of_form("stream", "mixture"), given, error_call)
    read <- formula_input(formula, first, obs, "bnp_mixture", error_call)
    first <- read$x
    obs <- read$obs
    input <- read$input
  }
  obs <- obs %||% if (goes_on) without_rounding(start$model$obs) else default_obs(first, error_call)
  check_obs(obs, class, error_call)
  check_prior(prior, class, error_call)
  data <- if (goes_on) {
    rows_of_stream(start, first, new_terms, error_call, "x", na_action, id)
  } else if (class == "bnp_topics") {
    as_documents(first, obs, id, na_action = na_action, call = error_call)
  } else {
    as_mixture_data(first, obs, call = error_call, na_action = na_action)
  }
  fit <- begin_truncation_free(class, call, data, obs, prior, control, start, input, error_call)
  fit$input$id_column <- id
  fit$control$batches <- 1L
  fit
}

# Learns from all batches of the reader; `first` has already been read.
learn_stream <- function(fit, reader, first, new_terms, call) {
  progress <- progress_reporter(fit$control, verb_of(fit), batch_teller)
  on.exit(progress$finish())
  calls <- list()
  batches <- 0L
  interrupted <- FALSE
  so_far <- function() if (batches > 0L) with_batches(fit, joined_calls(calls), interrupted)
  batch <- first
  tryCatch(
    while (!is.null(batch)) {
      learned <- in_batch(batches + 1L, so_far, call, learn_batch(
        fit, (if (batches == 0L) said_before else identity)(rows_of_stream(fit, batch, new_terms, call)), progress
      ))
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

# Evaluates code that reads the first batch a second time, without the messages, which begin_stream() has shown.
said_before <- function(rows) {
  withCallingHandlers(
    rows,
    bnpvi_message = function(m) invokeRestart("muffleMessage"),
    bnpvi_warning = function(w) invokeRestart("muffleWarning")
  )
}

# A further batch in the engine's form.
rows_of_stream <- function(fit, batch, new_terms, call, arg = "batch", na_action = NULL, id = NULL) {
  data <- read_batch(fit, batch, id, call, arg, na_action, new_terms)
  refuse_for_streams(data, verb_of(fit), fit$model$obs, call)
  data
}

# list(read): the next batch, NULL after the last. so_far(): for errors, the fit to the batches before, or NULL. id: the
# column that names each row's document.
batch_reader <- function(stream, id, class, call) {
  i <- 0L
  rows <- 0
  labels <- function(names) label_columns(names, id, class == "bnp_topics")
  next_batch <- if (is.function(stream$next_batch)) stream$next_batch else reader_of(stream$next_batch, labels)
  list(read = function(so_far) {
    if (rows >= stream$n) {
      return(NULL)
    }
    i <<- i + 1L
    batch <- in_batch(i, so_far, call, next_batch(i), "could not be read")
    rows <<- rows + documents_in(batch, id)
    batch
  })
}

# Evaluates an expression that reads batch number i; its error names the batch and contains the fit so far.
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
