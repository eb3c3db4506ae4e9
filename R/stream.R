#' Data that arrive in batches
#'
#' A fit of a stream starts without any cluster and grows with the data: [bnp_mixture()] and [bnp_topics()] read the
#' stream batch by batch, each once, and then discard its rows or documents. Memory does not grow with their number.
#'
#' @param next_batch A function that is called with the number of a batch, 1, 2, ..., and returns its rows (a data
#'   frame, a matrix, or any other data that [bnp_mixture()] or [bnp_topics()] takes), or `NULL` when there are no more;
#'   or a source of such pieces, see [sources].
#' @param n The number of rows, or of documents, to read: the batch that reaches this number is the last one.
#' @param x A stream of `bnp_stream()`.
#' @param obs,prior,na_action As in [bnp_mixture()] and [bnp_topics()]. Means, spreads and other defaults that the
#'   observation model reads from the data come from the first batch, which should then have at least some hundred rows.
#' @param control `bnp_control("truncation_free")`.
#' @param start An earlier fit of the same kind to continue from, made by any algorithm: its clusters count as much as
#'   the rows in them. The prior of the clusters' parameters is the prior of that fit, whatever parameters `obs` has.
#' @param new_terms What happens to terms of later documents for which the first batch has no column: `"error"`, or
#'   `"drop"`, to leave them out.
#' @param id For documents of rows: the name of the column of each batch that says which document a row belongs to. If a
#'   name occurs again in a later batch, it is another document.
#' @param ... Must be empty.
#' @return `bnp_stream()`: an object of class `bnp_stream`. [bnp_mixture()] and [bnp_topics()] of a stream: a fit like
#'   any other, with the differences listed in *What a fit of a stream has*.
#' @details
#' The rows of a batch are labelled by a few sweeps of a collapsed Gibbs sampler whose prior is everything learned from
#' earlier batches: a row joins a cluster, or begins one, with probability proportional to how well each predicts it
#' (Wang and Blei 2012). Then the rows are added to their clusters. Whenever a tenth of all rows so far (1,000 at least,
#' 10,000 at most) came since the last time, clusters are revised: clusters that overlap are joined where that raises
#' the posterior (`bnp_moves(merge = )`); clusters whose latest rows are better described by several clusters are split
#' (`bnp_moves(birth = )`); and clusters of less than one row are removed, as are, with `half_life = Inf`, clusters of a
#' single row that got none of the last 20,000 rows.
#'
#' In documents every token, or every row, joins a topic or begins one, with probability proportional to how probable
#' the token is in the topic and how much of the topic its document has. Topics are joined and removed whenever a tenth
#' of all tokens (10,000 at least, 100,000 at most; for rows 1,000 and 10,000) came since the last time. Before that,
#' topics are split where the latest documents (50,000 tokens, or 10,000 rows, fewer if there are many columns) are
#' better described by several, and the topics of these documents are drawn anew. If there are many topics with little
#' text each, some of the topics that a stream finds by itself remain mixtures of several: give a memoized fit of the
#' first few hundred documents as `start`. A document must not be divided between batches: its parts would be different
#' documents.
#'
#' With `half_life = Inf` every row counts the same, the order of rows hardly matters, and the fit of a stream is that
#' of one pass over data in memory. With a finite `half_life` the weight of a row (in topics: of a document) is halved
#' when `half_life` later ones have come: clusters follow data that drift, and clusters that do not occur any more
#' shrink and are removed. The data of one run cannot choose `half_life`; compare the scores of runs with several
#' values.
#'
#' With a formula the stream is the argument `data`: `bnp_mixture(~ a + b, data = bnp_stream(batch))`. Everything that
#' the formula computes from data, such as the means of [scale()], comes from the first batch.
#'
#' Data in memory can be learned from in the same way: `bnp_mixture(x, control = bnp_control("truncation_free"))` makes
#' `max_laps` passes over batches to which rows are assigned at random. In passes after the first the new cluster of a
#' row replaces its old one. If data can be read again, memoized learning finds better clusters:
#' `bnp_mixture(x, start = fit)` continues from the fit of the stream.
#'
#' The same seed and batches give the same clusters for any number of threads, and also if the fit was stored with
#' [saveRDS()] between two batches.
#' @section What a fit of a stream has:
#' * `elbo_trace()`: a data frame with one row for each batch: `rows` (or documents); `seen`, the number of rows so far;
#'   `score`, `k` and `seconds`. `score` is the mean log density of the rows of the batch as predicted *before* the
#'   batch was learned from, an honest measure of how well the clusters predict. For documents `score` is the log
#'   probability of a token, or the log density of a row: the score of each document is estimated as by
#'   [heldout_loglik()] with `type = "sequential"` and ten draws, and their sum is divided by the number of tokens or
#'   rows. `plot(fit, "score")` shows the scores.
#' * [cluster_ids()] and [cluster_history()]: identities of clusters, which last although the numbers of clusters, which
#'   are by size, change. `predict()` with `type = "id"` gives them for rows and documents.
#' * [update()][update.bnp_fit]`(fit, newdata)` learns from another batch.
#' * `nobs()`: the number of rows, or of documents of counts, so far.
#' * A stream has no ELBO, which would be the bound of a random state. It also has no labels of its rows and no
#'   proportions of its documents, which are discarded: `predict()` gives them for data that you still have.
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
#' customers <- data.frame(faithful, customer = rep(1:8, 34))
#' visits <- function(i) if (i <= 4) customers[68 * (i - 1) + 1:68, ]
#' stream <- bnp_stream(visits)
#' bnp_topics(stream, obs_gaussian(), id = "customer", control = bnp_control("truncation_free", seed = 1))
#' @export
bnp_stream <- function(next_batch, n = Inf, ...) {
  if (...length()) {
    given <- names(list(...)) %||% rep("", ...length())
    abort("argument", c(
      "Unused argument{?s}: {.arg {ifelse(nzchar(given), given, '(unnamed)')}}.",
      i = "Arguments of the fit belong to the function that fits: {.code bnp_mixture(bnp_stream(f), seed = 1)}."
    ))
  }
  if (is.character(next_batch)) refuse_files(next_batch, "next_batch", rlang::current_env())
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

# How missing values are treated (na_action) in a stream that continues from a fit: as given, else as in the
# fit.
action_of_stream <- function(start, na_action, call = rlang::caller_env()) {
  action_of_fit(if (inherits(start, "bnp_fit")) start, na_action, call)
}

fit_stream <- function(class, x, obs, prior, control, start, na_action, call, error_call, new_terms = "error",
                       formula = NULL, id = NULL) {
  family <- if (class == "bnp_topics") "topics" else "mixture"
  require_no_covariates(prior, kinds_of_form("stream", family), error_call)
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
      abort("formula", "With a formula, a batch must be a data frame, not {describe(first)}.", call = error_call)
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

# Learns from all batches that the reader returns; `first`, the first batch, has already been read.
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

# Evaluates code that reads the first batch a second time, and suppresses its messages, which begin_stream()
# has already shown.
said_before <- function(rows) {
  withCallingHandlers(
    rows,
    bnpvi_message = function(m) invokeRestart("muffleMessage"),
    bnpvi_warning = function(w) invokeRestart("muffleWarning")
  )
}

# Reads a further batch of a stream and returns it in the engine's form.
rows_of_stream <- function(fit, batch, new_terms, call, arg = "batch", na_action = NULL, id = NULL) {
  data <- read_batch(fit, batch, id, call, arg, na_action, new_terms)
  refuse_for_streams(data, verb_of(fit), fit$model$obs, call)
  data
}

# A reader of the batches of a stream: list(read). read(so_far) returns the next batch, NULL after the last;
# so_far() returns the fit to the batches before for use in errors (so_far may be NULL). id: the name of the
# column that holds each row's document.
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

# Evaluates an expression that reads batch number i. If it fails, the error names the batch and contains the
# fit so far.
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
