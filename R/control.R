#' How to fit
#'
#' Most fits need none of these options. Five are what people change:
#'
#' * `seed`: the same seed gives the same fit, to the last bit.
#' * `restarts`: more starts where those of a fit disagree (`restarts = 20`), or one to save time (`restarts = 1`).
#' * `threads`: how many processors work on it; the result does not depend on it.
#' * `verbose`: whether progress is shown.
#' * `max_laps`: when to stop a fit that has not converged.
#'
#' The first four may also be given to the fitting function itself, as in `bnp_mixture(x, seed = 1)`. The others are
#' for large data (`algorithm`, `batches`, `workers`, `wave`, `sparsity`, `candidates`, `checkpoint`), for the search
#' (`moves`, `k_init`, `init`, `effort`, `bound`, `tol`), and for what a fit keeps (`keep`, `keep_data`).
#'
#' @param algorithm `"memoized"`, the default: batches are visited in turn, and the exact sums over all data are
#'   updated after each. `"full"`: all data at every step. `"stochastic"`: noisy steps on random batches, with a
#'   decreasing `learning_rate`; moves are not tried. `"truncation_free"`: for mixtures and topics, and for data that
#'   keep arriving, see [bnp_stream()].
#' @param batches Number of batches; or the number of the batch of each observation, document or sequence, from 1 and
#'   without gaps (with `id` one value for each individual or row). Default: 1 for up to 20,000 observations, then one
#'   per 10,000, at most 50. `"stochastic"`: at least 10. `"truncation_free"`: one per 1,000 observations, for topics
#'   one per 100 documents. Batches from a source ([source_files()]) have about 65,536 rows.
#' @param max_laps Largest number of passes over the data (laps). Default: 1,000, so that fits end because they have
#'   converged. `"stochastic"` and `"truncation_free"` always make this number of laps, by default 100 and 3. A fit
#'   that stops at `max_laps` before it has converged gives a warning of class `bnpvi_warning_max_laps`.
#' @param tol When a fit has converged: when no move is left to try and a lap raises the bound by at most `tol` for
#'   each unit of data. Units are observations, tokens and rows of sequences, counted with their weights; for networks,
#'   nodes and links together. (The search of a blockmodel for hard labels raises their log joint probability instead
#'   of the bound.) With `tol = 0` the fit ends when a lap gains nothing. Stochastic and truncation-free learning have
#'   no `tol`.
#' @param restarts Number of fits from different random starts, or `"auto"`: as many as pay (see *Several starts*). The
#'   one with the highest bound is returned. `fit$restarts` has the seed, `init`, `k_init`, the bound (`elbo`), the
#'   number of clusters (`k`), the laps and the work of each, whether it was given up, and whether it agrees with the
#'   best, and `summary()` shows the bounds. `bnp_control(seed, init, k_init, restarts = 1)` of a row, without those
#'   that are `NA`, repeats that start, unless `init` is `"altered"` (of Gaussian states with [prior_hmm()] give
#'   `init = "bregman"`, from which a number of restarts begins). Default: the option `bnpvi.restarts` (1 or `"auto"`),
#'   or `"auto"`.
#' @param k_init Number of clusters to start with. Default: 1 when births are
#'   on, 25 otherwise (fewer when there are fewer observations), and the `k` of
#'   a finite prior.
#' @param init How clusters are found at the start. `"bregman"`: seeds far apart in the divergence of the observation
#'   model (k-means++). `"kmeans"`: these seeds, refined by hard assignment. Both look at a random sample of at most
#'   about four million numbers. `"scalable"`: scalable k-means++ of all observations, for data in a source or with
#'   `workers`, see Details. `"random"`: random observations. `"blocks"`, for sequences: random stretches of
#'   consecutive rows. `"anchor"`, for topics of counts: words that occur in one topic only. `"best"`, for the same:
#'   `"anchor"` and `"bregman"` are both followed for ten laps, which are not counted, and the one with the higher
#'   bound goes on. Default: `"best"` for topics of counts (`"anchor"` from one topic and in stochastic learning), else
#'   `"bregman"`. With [prior_lda()] and [prior_hmm()] the best of ten sets of seeds is taken. A single fit of Gaussian
#'   states with [prior_hmm()], without missing values and weights, starts from [stats::kmeans()] with ten starts.
#'   `"spectral"`, `"spectral_absolute"`, `"propagation"` and `"modularity"` are for networks: see [bnp_network()].
#' @param moves [bnp_moves()]; `TRUE`: the default moves; `FALSE`: no move that changes the number of clusters, only
#'   changes of their order.
#' @param sparsity The largest number of clusters (topics of a word, states of a row of a sequence) with positive
#'   probability for an observation while the model is fitted; `NULL`: all clusters. The bound is exact under this
#'   constraint. Laps with many clusters become faster. Predictions use all clusters.
#' @param threads Number of threads. The result does not depend on it. Default: the option `mc.cores`, or 1; at most
#'   the environment variable `OMP_THREAD_LIMIT`, and at most 2 if `_R_CHECK_LIMIT_CORES_` is set. At most 64, or the
#'   number of processors if that is larger. If the system does not start that many threads, fewer run, with a warning.
#' @param seed A whole number that determines all random numbers of the fit. `NULL` draws it from R's generator, so
#'   that [set.seed()] determines the fit.
#' @param verbose Show progress? `NULL`, the default: yes in an interactive session. Elsewhere, but not in knitr, one
#'   line is shown after 5 seconds, and another one each time the fit has taken twice as long
#'   (`options(bnpvi.progress_after = 5)`; `Inf` for no lines).
#' @param learning_rate For `"stochastic"`: step t has the rate
#'   `(delay + t)^-power`.
#' @param candidates For mixtures with `sparsity` and many clusters: the number of clusters with which an observation
#'   is compared. These are the clusters nearest to the one it was in; those that it and the other observations of that
#'   cluster had are added, and new ones. The bound stays exact and never falls. `NULL`: 64 if there are more than 256
#'   clusters, else all. If there are at most `candidates` clusters, all are compared.
#' @param keep What a fit of a mixture or a hidden Markov model keeps of its observations beside their labels:
#'   `"probabilities"`, two probabilities of every cluster for each observation (16 bytes): that of q(z) as
#'   `fit$probabilities` and the predictive one as `fit$predictive`, see *What the probabilities are* in
#'   [predict.bnp_mixture()]. `predict()` with `type = "prob"` and `"responsibility"` then works without data. Topic
#'   models always keep the proportions of their documents.
#' @param bound For `prior_hdp()` and `prior_hdp_hmm()` (not for networks): which lower bound of the prior of the
#'   documents' proportions, or of the rows of transitions, the ELBO has, `"loose"` or `"tight"`. `"tight"` is never
#'   lower than `"loose"`, which is the bound of Hughes (2016) and of published figures. To learn `alpha` or `start` by
#'   a [gamma_prior()] choose `"tight"`: with the other bound the learned values are too low. `NULL`: `"loose"`, except
#'   that topics with [prior_covariates()] always have the tight bound.
#' @param k_max,sweeps,half_life For `"truncation_free"`. `k_max`: the largest number of clusters. `sweeps`: the number
#'   of Gibbs sweeps over each batch; with more of them overlapping clusters are found better. `half_life`: the number
#'   of rows after which an earlier row counts half, so that clusters without new rows fade away; data cannot tell this
#'   number, which says how fast the world changes. `Inf`: all rows count fully.
#' @param checkpoint The name of a file to which the fit writes its state while it is learned, so that [bnp_resume()]
#'   goes on from there after a crash, to the same bits. An earlier checkpoint in this file is replaced.
#' @param checkpoint_every The smallest number of seconds between two checkpoints, which are written at the end of a
#'   lap; 0: after every lap. One more is written at the end of each restart.
#' @param workers `TRUE`: the daemons of mirai that the session has started (`mirai::daemons(4)`) visit the batches and
#'   do the work of moves on their rows. Or the name of a compute profile of mirai. For memoized learning, from several
#'   `batches`, of mixtures (except with [obs_ar()]), topics and hidden Markov models (except with [obs_lds()]). The
#'   fit is the same to the last bit as without workers and with the same `wave`. What takes longer to send than to do
#'   is done by this process, on as many threads as there are daemons on this machine. A daemon that ends, or does not
#'   answer within `getOption("bnpvi.worker_timeout", 600)` seconds, is no longer used. `verbose` shows how much was
#'   sent in each lap. See `vignette("large-data")`.
#' @param wave The number of batches that are visited before their sums are exchanged and the clusters updated. A
#'   larger number keeps more workers busy; the bound still rises in every lap, perhaps by less. Default: 1; with
#'   `workers` 8.
#' @param effort How much work `restarts = "auto"` may do: `"low"`, a quarter of the default; `"high"`, ten times the
#'   default (with altered ends, see *Several starts*, half of it and three times as much).
#' @param keep_data Does the fit keep its data, so that they need not be given again for pictures and tables
#'   ([strip_data()])? `NULL`: if they take less than 1 MB, or as `options(bnpvi.keep_data = )` says. For
#'   [bnp_mixture()], [bnp_topics()] and [bnp_hmm()], not for sources and streams.
#' @param ... Must be empty.
#' @return An object of class `bnp_control`.
#' @details No option is ignored: `bnp_control()` refuses options that the algorithm does not use, and the fitting
#'   function refuses those that the model does not use.
#'
#'   Memoized and full learning raise the bound in every lap. If it falls or is not finite, the arithmetic has broken
#'   down, as it may under extreme priors: learning stops, the fit is that after the lap before, not converged, and a
#'   warning of class `bnpvi_warning_numerical` says so. (For topics the bound may fall by less than 1 without that, as
#'   a document can end in a poorer optimum than it had.)
#'
#'   `init = "scalable"` is k-means|| (Bahmani et al. 2012) in the observation model's divergence: seven passes over the
#'   batches, each shared among `workers`. The first draws `k_init` candidates at random, four more draw as many each,
#'   with probabilities proportional to the divergence from the nearest candidate so far, the sixth counts the
#'   observations nearest to each candidate; k-means++ among the candidates finds the clusters, to the nearest of which
#'   the last pass gives each observation. Small clusters, which a sample may miss, are among the candidates, and these
#'   do not depend on the batches. The passes take about as long as a dozen laps without moves.
#'
#'   Ctrl-C in an interactive session returns the fit after its last complete lap, not converged, with a message of
#'   class `bnpvi_message_interrupted`. Before the end of the first lap, and in scripts, it is an ordinary interrupt.
#' @section Several starts:
#' Learning ends in one of several local optima, and the start decides in which. With `restarts = "auto"` fits are made
#' from different kinds of start in turn, each with its own random numbers: from one cluster, and from twice as many
#' clusters as the best fit so far has found (topics of counts from anchor words, and from two topics, too); with a
#' finite prior from clusters that are far apart, and from random ones; for networks as by default, and from groups by
#' modularity. Latent features always begin without any feature.
#'
#' These fits end when the best one and one from another kind of start agree, that is, end within one nat, or
#' within 1e-5 nats for each unit of data (see `tol`), or when all fits together have done as much work as `effort`
#' allows. Work is counted in products of numbers, so that the result depends neither on the machine nor on `threads`;
#' the default is about two seconds of one core in 2026. The first fit is the one of `restarts = 1` and always runs to
#' its end, so that the bound is never below that of `restarts = 1`. Once each kind of start has been tried, a fit is
#' given up when it is behind the best one at equal work by more than it has gained while its work doubled. Only one
#' fit is made if `start`, `init` or `k_init` says where to begin, and in stochastic and truncation-free learning.
#'
#' Mixtures, topics and sequences with an open number of clusters then go on from the best fit: some of its clusters,
#' chosen at random, are joined to one of the two nearest, and moves divide them anew. Such an *altered end*
#' (`init = "altered"` in `fit$restarts`) takes a fraction of the time of a fit from one cluster, and often ends
#' higher than any of these. If it does, the next one alters its end. Only the whole fit, with the same `seed`,
#' repeats it. The search ends after four that agree with the best (16 in the first eighth of a second); where two
#' kinds of start agree, after four that are no better than the best, or two seconds; or when all fits together have
#' done more work than the geometric mean of that of the first fit and of 100 seconds of one core (`effort = "low"`:
#' half of that, `"high"`: three times): after a first fit of one second when they have taken ten, after one of ten
#' seconds when they have taken thirty. After a first fit that takes longer no other one is made, which `print()`
#' says.
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
                        candidates = NULL, keep = c("labels", "probabilities"), bound = NULL,
                        k_max = 500L, sweeps = 5L, half_life = Inf, checkpoint = NULL, checkpoint_every = 300,
                        workers = FALSE, wave = NULL, effort = c("default", "low", "high"), keep_data = NULL, ...) {
  check_no_dots(...)
  given <- names(match.call())[-1L]
  algorithm <- if (missing(algorithm)) "memoized" else check_choice(algorithm, eval(formals()$algorithm), "algorithm")
  special <- length(setdiff(given, options_of_all)) > 0L
  if (special) check_algorithm_has(algorithm, given)
  if (!is.null(candidates) && is.null(sparsity)) {
    abort("argument", c(
      "{.arg candidates} has an effect only with {.arg sparsity}.",
      i = "Without {.arg sparsity} every observation is compared with all clusters."
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

# Options that every algorithm uses, whatever their values.
options_of_all <- c("max_laps", "threads", "seed", "verbose")

# Refuses values of options that would be ignored because of the chosen algorithm or another option.
check_values_are_used <- function(control, given, call = rlang::caller_env()) {
  algorithm <- control$algorithm
  if (algorithm == "full" && length(control$batches) == 1L && control$batches > 1L) {
    abort("argument", "{.arg batches} cannot be used with {.code algorithm = \"full\"}, which has a single batch.",
      call = call
    )
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
      "{.arg effort} has an effect only with {.code restarts = \"auto\"}, without {.arg k_init} and {.arg init}.",
      i = "It sets how much work is spent on several starts."
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

# Refuses options of truncation-free learning if another algorithm was chosen, and options of other algorithms
# for truncation-free learning.
check_algorithm_has <- function(algorithm, given, call = rlang::caller_env()) {
  own <- c("k_max", "sweeps", "half_life")
  others <- c(
    "tol", "restarts", "k_init", "init", "sparsity", "learning_rate", "candidates", "keep", "bound", "checkpoint",
    "checkpoint_every", "workers", "wave", "effort", "keep_data"
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

# Checks the path of a file and returns it as an absolute one, so that a later change of the working folder
# does not matter.
check_path <- function(path, arg, call = rlang::caller_env()) {
  if (!is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path)) {
    abort("argument", "{.arg {arg}} must be the path of a file, not {describe(path)}.", call = call)
  }
  tryCatch(
    enc2utf8(file.path(normalizePath(dirname(path), mustWork = FALSE), basename(path))),
    warning = function(w) { # R warns that it could not resolve the path and returns it unchanged
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

# The number of batches that are visited at the same parameters before these are updated.
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
