#' How to fit
#'
#' @param algorithm `"memoized"`: batches are visited in turn and the exact
#'   summaries of the whole data are kept up to date after each. `"full"`: all
#'   data at every step. `"stochastic"`: noisy steps on random batches with a
#'   decreasing `learning_rate`; moves are not tried. `"truncation_free"`: for mixtures and topics, and
#'   for data that keep arriving, see [bnp_stream()].
#' @param batches Number of batches. Default: 1 up to 20,000 observations, then
#'   one per 10,000, at most 50; at least 10 for `"stochastic"`; one per 1,000 for `"truncation_free"`, of
#'   topics one per 100 documents. Or the number of the batch of each observation, document or sequence, from 1 and
#'   without gaps (one value for each individual or row where there is `id`). From a source ([source_files()]) batches
#'   have about 65,536 rows by default.
#' @param max_laps Most passes over the data, by default 1,000, so that fits end because they have converged;
#'   `"stochastic"` and `"truncation_free"` always make so many, by default 100 and 3. A fit that they end
#'   before it has converged says so by a warning of class `bnpvi_warning_max_laps`.
#' @param tol When a fit has converged: when no move is left to try and a lap raises the bound by at most `tol` for each
#'   unit of data. Units are observations, tokens and rows of sequences, by their weights; of networks, nodes and links
#'   together (the search of a blockmodel for hard labels raises their log joint probability instead of the bound).
#'   `tol = 0` goes on until a lap gains nothing. Stochastic and truncation-free learning have no `tol`.
#' @param restarts Number of fits from different random starts, or `"auto"`: as many as pay (see *Several starts*). The
#'   one with the highest bound is returned. `fit$restarts` has the seed, `init`, `k_init`, the bound (`elbo`), the
#'   number of clusters (`k`), the laps and the work of each, whether it was given up, and whether it agrees with the
#'   best, and `summary()` shows the bounds. `bnp_control(seed, init, k_init, restarts = 1)` of a row, without those
#'   that are `NA`, repeats that start (of Gaussian states with [prior_hmm()] give `init = "bregman"`, from which a
#'   number of restarts begins). Default: the option `bnpvi.restarts` (1 or `"auto"`), or `"auto"`.
#' @param k_init Number of clusters to start with. Default: 1 when births are
#'   on, 25 otherwise (fewer when there are fewer observations), and the `k` of
#'   a finite prior.
#' @param init How to start: `"bregman"` seeds clusters far apart in the
#'   observation model's own divergence (k-means++), `"kmeans"` refines those
#'   seeds by hard assignment (both look at a random sample of at most about four million numbers), `"scalable"`
#'   looks at all observations, for data in a source or with `workers` (scalable k-means++, see Details), `"random"`
#'   takes random observations, `"blocks"` random
#'   stretches of consecutive observations (for sequences), `"anchor"`
#'   (for topic models of counts) from words that occur in one topic only, and
#'   `"best"` (for the same) from `"anchor"` or `"bregman"`, whichever is ahead
#'   after ten laps, which do not count. Default: `"best"` where it applies (`"anchor"` from one
#'   topic and in stochastic learning), `"bregman"` elsewhere. With [prior_lda()] and [prior_hmm()] seeds are the best
#'   of ten. A single fit of Gaussian states with [prior_hmm()], without missing values and weights, starts by
#'   default from the clusters of [stats::kmeans()] with ten starts. `"spectral"`, `"spectral_absolute"`,
#'   `"propagation"` and `"modularity"` are for networks: see [bnp_network()].
#' @param moves [bnp_moves()]; `TRUE` for the default ones; `FALSE` for none that
#'   changes the number of clusters, only their order.
#' @param sparsity Most clusters (topics of a word, states of a row of a
#'   sequence) that one observation may belong to while the model is fitted, or
#'   `NULL` for all. The bound is exact under that constraint. It makes laps
#'   with many clusters faster; predictions look at all clusters.
#' @param threads Number of threads. The result does not depend on it. Default: the
#'   option `mc.cores`, or 1; not above the environment variable
#'   `OMP_THREAD_LIMIT`, and not above 2 where `_R_CHECK_LIMIT_CORES_` is set. At most 64,
#'   or the number of processors where that is larger; fewer run, with a warning,
#'   where the system does not start as many.
#' @param seed One whole number that determines the fit. `NULL` draws it from
#'   R's generator, so that [set.seed()] governs.
#' @param verbose Show progress? `NULL`: in an interactive session; elsewhere, but not in knitr, a line once a fit has
#'   taken 5 seconds, and then whenever it has taken twice as long (`options(bnpvi.progress_after = 5)`; `Inf` for
#'   none).
#' @param learning_rate For `"stochastic"`: step t has the rate
#'   `(delay + t)^-power`.
#' @param candidates With `sparsity` and many clusters an observation of a
#'   mixture is compared with few of them: the `candidates` clusters nearest to
#'   the one it was in, those that it and its fellows were in, and new ones. The
#'   bound stays exact and never falls. `NULL`: 64 when there are more than 256
#'   clusters, else all. With at least as many candidates as clusters, all are
#'   looked at. For mixtures alone.
#' @param keep Of mixtures and hidden Markov models: what a fit keeps of its observations beside their labels:
#'   `"probabilities"`, the probability of every cluster for each observation, of both kinds
#'   (16 bytes): q(z) as `fit$probabilities`, the predictive one as `fit$predictive`, see *What the probabilities are*
#'   in [predict.bnp_mixture()]. `predict()` with `type = "prob"` and `"responsibility"` then needs no
#'   data. Topic models always keep the proportions of their documents.
#' @param bound Of `prior_hdp()` and `prior_hdp_hmm()` (not of networks): how the proportions of documents,
#'   or the rows of transitions, enter the ELBO. `"tight"` is never lower than `"loose"`,
#'   which is the bound of Hughes (2016) and of published figures. To learn `alpha` or `start`
#'   by a [gamma_prior()] choose `"tight"`: the other bound learns values that are too low.
#' @param k_max,sweeps,half_life Of `"truncation_free"`: most clusters; Gibbs sweeps of each batch (more find more
#'   where clusters overlap); and the number of rows after which a row counts half, so that clusters that are not
#'   seen any more fade away. No data can say what that number should be: it is about how fast the world changes.
#'   `Inf`: rows count for ever.
#' @param checkpoint A file to which the fit writes, while it is learned, all that its rest depends on, so that
#'   [bnp_resume()] goes on from there after a crash, with the same bits. A checkpoint that is there is replaced.
#' @param checkpoint_every Least number of seconds between two checkpoints, which are written at the end of a lap;
#'   0: after every lap. The end of each restart is written anyhow.
#' @param workers `TRUE`: the daemons of mirai that the session has started (`mirai::daemons(4)`) visit the batches and
#'   do the work of moves on their rows; or the name of a compute profile of mirai. For memoized learning of mixtures
#'   (but of [obs_ar()]), topics and hidden Markov models (but of [obs_lds()]) from several `batches`. The fit is that
#'   without workers and the same `wave`, to the last bit, whichever daemon did what. A daemon that ends, or does not
#'   answer in `getOption("bnpvi.worker_timeout", 600)` seconds, is done without. `verbose` tells how much was sent in
#'   each lap. See `vignette("large-data")`.
#' @param wave Number of batches that are visited before their summaries are exchanged and the clusters renewed. A
#'   larger one keeps more workers busy; the bound still rises in every lap, perhaps by less. Default: 1, with `workers`
#'   8.
#' @param effort How much work `restarts = "auto"` may spend: `"low"` a quarter of the default, `"high"` ten times as
#'   much.
#' @param ... Must be empty.
#' @return An object of class `bnp_control`.
#' @details An option is used or refused: what the algorithm has no use for is refused here, what the model has none for
#'   by the function that fits it.
#'
#'   The bound rises from lap to lap, by the mathematics of memoized and
#'   full learning. Where it falls or is not finite, numbers have broken down, as
#'   they may under extreme priors: learning then stops, the fit is that of the
#'   lap before, not converged, and a warning of class `bnpvi_warning_numerical`
#'   says so. (Topics of documents may fall by less than 1 without that: a
#'   document can end in a poorer optimum than it had.)
#'
#'   `init = "scalable"` is k-means|| (Bahmani et al. 2012) in the observation model's divergence: seven passes over the
#'   batches, each shared among `workers`. The first draws `k_init` candidates at random, four more draw as many each,
#'   with probabilities proportional to the divergence from the nearest candidate so far, the sixth counts the
#'   observations nearest to each candidate; k-means++ among the candidates finds the clusters, to the nearest of which
#'   the last pass gives each observation. Small clusters, which a sample may miss, are among the candidates, and these
#'   do not depend on the batches. The passes take about as long as a dozen laps without moves.
#'
#'   Ctrl-C in an interactive session returns the fit as it was after its last lap,
#'   not converged, with a message of class `bnpvi_message_interrupted`; before the end of
#'   the first lap, and in scripts, it is an ordinary interrupt.
#' @section Several starts:
#' A search ends in one of several optima, and which one depends on where it began. `restarts = "auto"` begins in
#' different ways in turn, each time with other random numbers: with one cluster, and with twice as many as the best
#' start so far has found (topics of words from anchor words, and from two topics, too); with a finite prior from
#' clusters that are far apart, and from random ones; networks as by default, and from groups by modularity. Latent
#' features always begin without any. It ends when the best start and one that began in another way end within one nat,
#' or 1e-5 nats an observation, token, row, or node and link, or when all starts together have done as much work as
#' `effort` allows: about two seconds of one core in 2026, counted in products of numbers, so that the answer depends
#' neither on the machine nor on `threads`. The first start is the one of `restarts = 1` and always goes on to its end,
#' so that the bound is never below what that ends at; a fit whose first start takes longer than all may is not started
#' again, which `print()` says. Once each way has been tried, a start is given up when it is behind the
#' best one at equal work by more than it has gained while its work doubled. There is one start where `start`, `init` or
#' `k_init` says where to begin, and in stochastic and truncation-free learning.
#' @references
#' Bahmani, B., Moseley, B., Vattani, A., Kumar, R. and Vassilvitskii, S. (2012). Scalable k-means++.
#' *Proceedings of the VLDB Endowment* 5, 622-633.
#'
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for Dirichlet
#' process mixture models. *Advances in Neural Information Processing Systems* 26.
#'
#' Hoffman, M. D., Blei, D. M., Wang, C. and Paisley, J. (2013). Stochastic variational
#' inference. *Journal of Machine Learning Research* 14, 1303-1347.
#'
#' Hughes, M. C. (2016). *Reliable and scalable variational inference for nonparametric
#' mixtures, topics, and sequences*. PhD thesis, Brown University.
#' @seealso [bnp_moves()], [bnp_mixture()], [bnp_topics()], [bnp_hmm()];
#'   `vignette("judging-a-fit")`.
#' @examples
#' bnp_control(restarts = 5, seed = 1)
#' bnp_control("full", k_init = 10, moves = FALSE)
#' @export
bnp_control <- function(algorithm = c("memoized", "full", "stochastic", "truncation_free"), batches = NULL,
                        max_laps = NULL, tol = 1e-6, restarts = default_restarts(), k_init = NULL,
                        init = c("bregman", "random", "kmeans", "scalable", "blocks", "anchor", "best", "spectral",
                                 "spectral_absolute", "propagation", "modularity"),
                        moves = bnp_moves(), sparsity = NULL, threads = default_threads(), seed = NULL,
                        verbose = NULL, learning_rate = c(delay = 1, power = 0.6),
                        candidates = NULL, keep = c("labels", "probabilities"), bound = c("loose", "tight"),
                        k_max = 500L, sweeps = 5L, half_life = Inf, checkpoint = NULL, checkpoint_every = 300,
                        workers = FALSE, wave = NULL, effort = c("default", "low", "high"), ...) {
  check_no_dots(...)
  given <- names(match.call())[-1L]
  algorithm <- if (missing(algorithm)) "memoized" else check_choice(algorithm, eval(formals()$algorithm), "algorithm")
  special <- length(setdiff(given, options_of_all)) > 0L
  if (special) check_algorithm_has(algorithm, given)
  if (!is.null(candidates) && is.null(sparsity)) {
    abort("argument", c(
      "{.arg candidates} needs {.arg sparsity}.",
      i = "An observation that may belong to all clusters is compared with all of them."
    ))
  }
  out <- checked_arguments(given, option_checks, usual_options)
  out$algorithm <- algorithm
  out$max_laps <- out$max_laps %||% usual_laps[[algorithm]]
  out$threads <- out$threads %||% check_count(threads, "threads")
  out$restarts <- out$restarts %||% restarts
  if (special) check_values_are_used(out, given)
  structure(out, class = c("bnp_control", "list"))
}

# Options that every algorithm uses, whatever their values are.
options_of_all <- c("max_laps", "threads", "seed", "verbose")

# Values that the algorithm, or another argument, leaves without a use.
check_values_are_used <- function(control, given, call = rlang::caller_env()) {
  algorithm <- control$algorithm
  if (algorithm == "full" && length(control$batches) == 1L && control$batches > 1L) {
    abort("argument", "{.arg batches} has no meaning for {.code algorithm = \"full\"}, which has one.", call = call)
  }
  if (algorithm != "stochastic" && !identical(control$learning_rate, usual_options$learning_rate)) {
    abort("argument", c(
      "{.arg learning_rate} has no meaning for {.code algorithm = {.str {algorithm}}}.",
      i = "It is for {.code algorithm = \"stochastic\"}."
    ), call = call)
  }
  tried <- switch(algorithm, stochastic = character(), truncation_free = c("birth", "merge"), names(control$moves))
  usual <- unclass(usual_moves)
  wrong <- if (!moves_are_off(control$moves)) {
    setdiff(names(usual)[!mapply(identical, unclass(control$moves)[names(usual)], usual)], tried)
  }
  if (length(wrong)) {
    abort("argument", c(
      "{.arg {wrong}} of {.fn bnp_moves} {?has/have} no meaning for {.code algorithm = {.str {algorithm}}}.",
      i = if (length(tried)) "It tries {.arg {tried}} alone." else "It tries no moves."
    ), call = call)
  }
  if (control$effort != "default" && !chooses_starts(control, NULL)) {
    abort("argument", c(
      "{.arg effort} needs {.code restarts = \"auto\"} without {.arg k_init} and {.arg init}.",
      i = "It says how much work is spent on several starts."
    ), call = call)
  }
  if ("checkpoint_every" %in% given && is.null(control$checkpoint)) {
    abort("argument", "{.arg checkpoint_every} needs {.arg checkpoint}, the file that is written.", call = call)
  }
}

check_batches <- function(batches, arg, call) {
  if (length(batches) < 2L) {
    return(check_count(batches, arg, call = call))
  }
  batches <- as_vector(batches)
  ok <- is.numeric(batches) && is.null(dim(batches)) && all(is.finite(batches)) && all(batches >= 1) &&
    all(batches == round(batches)) && max(batches) <= length(batches)
  if (!ok) {
    abort("argument", c(
      "{.arg batches} must be a whole number, or one for each observation, document or sequence: that of its batch,
       from 1, not {describe(batches)}."
    ), call = call)
  }
  stats::setNames(as.integer(batches), names(batches))
}

# Arguments that only truncation-free learning has, and those that it does not.
check_algorithm_has <- function(algorithm, given, call = rlang::caller_env()) {
  own <- c("k_max", "sweeps", "half_life")
  others <- c(
    "tol", "restarts", "k_init", "init", "sparsity", "learning_rate", "candidates", "keep", "bound", "checkpoint",
    "checkpoint_every", "workers", "wave", "effort"
  )
  without_waves <- c("workers", "wave")
  wrong <- intersect(
    given, switch(algorithm,
      truncation_free = others, memoized = own, full = c(own, without_waves),
      stochastic = c(own, without_waves, "tol")
    )
  )
  if (length(wrong)) {
    abort("argument", c(
      "{.arg {wrong}} {?has/have} no meaning for {.code algorithm = {.str {algorithm}}}.",
      i = if (any(wrong %in% own)) "{.arg {own}} are for {.code algorithm = \"truncation_free\"}.",
      i = if (any(wrong %in% without_waves)) "{.arg {without_waves}} are for {.code algorithm = \"memoized\"}.",
      i = if ("tol" %in% wrong) "Stochastic learning makes {.arg max_laps} passes."
    ), call = call)
  }
}

# A path as the engine opens it, in whatever folder the session is by then.
check_path <- function(path, arg, call = rlang::caller_env()) {
  if (!is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path)) {
    abort("argument", "{.arg {arg}} must be the path of a file, not {describe(path)}.", call = call)
  }
  tryCatch(
    enc2utf8(file.path(normalizePath(dirname(path), mustWork = FALSE), basename(path))),
    warning = function(w) { # of R, which gives back what it was given
      abort("argument", "{.arg {arg}} is longer than a path can be: it has {nchar(path)} characters.", call = call)
    }
  )
}

default_threads <- function() {
  limit <- suppressWarnings(as.numeric(Sys.getenv("OMP_THREAD_LIMIT")))
  checked <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  limit <- min(if (isTRUE(limit >= 1)) floor(limit) else Inf, if (nzchar(checked) && checked != "false") 2 else Inf)
  threads <- getOption("mc.cores", 1L)
  if (is.numeric(threads) && isTRUE(threads > limit)) as.integer(limit) else threads
}

check_seed <- function(seed, call = rlang::caller_env()) {
  if (is.null(seed)) {
    return(NULL)
  }
  ok <- is.numeric(seed) && length(seed) == 1L && is.finite(seed) && seed == round(seed) &&
    seed >= 0 && seed < 2^53
  if (!ok) {
    abort("argument", "{.arg seed} must be one whole number from 0 to 2^53 - 1, not {describe(seed)}.",
      call = call
    )
  }
  as.double(seed)
}

check_learning_rate <- function(x, arg, call) {
  ok <- is.numeric(x) && setequal(names(x), c("delay", "power")) && all(is.finite(x)) &&
    x[["delay"]] >= 0 && x[["power"]] > 0.5 && x[["power"]] <= 1
  if (!ok) {
    abort("argument", c(
      "{.arg learning_rate} must be {.code c(delay = , power = )} with a delay of at least 0 and a
       power above 0.5 and up to 1."
    ), call = call)
  }
  x[c("delay", "power")]
}

has_workers <- function(control) !is.null(control$workers) && !isFALSE(control$workers)

# Batches that are visited at the same globals.
resolve_wave <- function(control) control$wave %||% if (has_workers(control)) 8L else 1L

#' @export
print.bnp_control <- function(x, ...) {
  shown <- x
  shown$moves <- format(x$moves)
  shown$learning_rate <- if (x$algorithm == "stochastic") {
    paste(names(x$learning_rate), x$learning_rate, sep = " = ", collapse = ", ")
  } else {
    "(stochastic only)"
  }
  shown$checkpoint <- x$checkpoint %||% "none"
  if (length(x$batches) > 1L) shown$batches <- paste(max(x$batches), "(as given)")
  text <- vapply(names(shown), function(f) format(shown[[f]] %||% "(chosen when fitting)"), "")
  cat("How to fit\n", paste0("  ", format(names(shown)), "  ", text, "\n"), sep = "")
  invisible(x)
}
