# The options of bnp_control() and bnp_moves(): how each is checked, and which kinds of fit use it. No option
# is ignored: an option at its default value counts as not given, and any other value that the kind of fit
# does not use is an error.

# For each option, the function that checks a value that the user gave.
option_checks <- list(
  batches = or_null(check_batches),
  max_laps = or_null(check_count),
  tol = function(x, arg, call) check_number(x, arg, strict = FALSE, call = call),
  restarts = function(x, arg, call) {
    if (is.character(x) && !identical(x, "auto")) {
      abort("argument", "{.arg {arg}} must be a number of starts or {.val auto}, not {describe(x)}.", call = call)
    }
    if (is.character(x)) x else check_count(x, arg, call = call)
  },
  k_init = or_null(check_count),
  init = one_of(eval(formals(bnp_control)$init)),
  moves = function(x, arg, call) check_moves(x, call),
  sparsity = or_null(check_count),
  threads = check_count,
  seed = function(x, arg, call) check_seed(x, call),
  verbose = or_null(check_flag),
  learning_rate = check_learning_rate,
  candidates = or_null(check_count),
  keep = one_of(eval(formals(bnp_control)$keep)),
  bound = or_null(one_of(c("loose", "tight"))),
  k_max = check_count,
  sweeps = check_count,
  half_life = function(x, arg, call) if (identical(x, Inf)) Inf else check_number(x, arg, call = call),
  checkpoint = or_null(check_path),
  checkpoint_every = function(x, arg, call) check_number(x, arg, strict = FALSE, call = call),
  workers = function(x, arg, call) check_workers(x, call),
  wave = or_null(check_count),
  effort = one_of(eval(formals(bnp_control)$effort)),
  keep_data = or_null(check_flag)
)

# The values of options that the user does not give: the first of several choices, except for `init`, whose
# default depends on the model. NULL: the default depends on the algorithm or the session.
usual_options <- lapply(formals(bnp_control)[c("algorithm", names(option_checks))], function(value) {
  if (is.call(value) && !identical(value[[1L]], quote(c))) NULL else eval(value)
})
usual_options[c("init", "moves")] <- list(NULL, usual_moves)
of_choices <- c("algorithm", "keep", "effort")
usual_options[of_choices] <- lapply(usual_options[of_choices], `[`, 1L)
usual_laps <- c(memoized = 1000L, full = 1000L, stochastic = 100L, truncation_free = 3L)

# Options that every kind of fit uses. Whether the algorithm uses them is checked where a control is made
# (check_algorithm_has()).
common_options <- c(
  "algorithm", "max_laps", "tol", "threads", "seed", "verbose", "learning_rate", "k_max", "sweeps", "half_life",
  "checkpoint_every", "birth", "merge", "delete", "reorder"
)

# For each kind of fit (R/abilities.R): its algorithms; the options that it uses in addition to the common
# ones (takes), and common ones that it does not use (lacks); what to use in place of other options (instead);
# and why some algorithms are refused.
option_table <- list(
  mixture = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "sparsity", "candidates", "keep", "checkpoint",
      "workers", "wave", "adopt", "max_births", "birth_size", "max_deletes", "max_merges"
    )
  ),
  # Mixtures whose weights of clusters change over time.
  mixture_by_time = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "sparsity", "keep", "bound", "checkpoint",
      "workers", "wave", "max_births", "birth_size", "max_deletes", "max_merges"
    )
  ),
  topics = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "sparsity", "bound", "checkpoint", "workers",
      "wave", "max_births", "birth_size", "max_deletes", "max_merges"
    ),
    instead = c(keep = "{.fn fitted} gives the proportions of the training documents.")
  ),
  sequences = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "sparsity", "keep", "bound", "checkpoint",
      "workers", "wave", "max_births", "birth_size", "max_deletes", "max_merges"
    ),
    instead = c(candidates = "With {.arg sparsity}, each row is compared with all states.")
  ),
  # Hidden Markov models in which known transitions distinguish the states: moves exchange states, but none is
  # added or merged.
  placed = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "keep", "checkpoint", "workers", "wave",
      "max_merges"
    ),
    instead = c(
      sparsity = "States that a row may be in might then have no allowed step to those of the next one.",
      candidates = "Each row is compared with all states."
    )
  ),
  sequences_by_covariates = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "keep", "bound", "checkpoint", "workers", "wave",
      "max_births", "birth_size", "max_deletes", "max_merges"
    ),
    instead = c(
      sparsity = "Passes over few states a row have one matrix of transitions for all rows.",
      candidates = "Each row is compared with all states."
    )
  ),
  trees = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c(
      "batches", "restarts", "keep_data", "effort", "k_init", "init", "keep", "bound", "checkpoint", "workers", "wave",
      "max_births", "birth_size", "max_deletes", "max_merges"
    )
  ),
  hidden = list(
    algorithms = c("memoized", "full"),
    takes = c("restarts", "keep_data", "effort", "k_init", "keep", "bound", "checkpoint", "max_births", "max_merges"),
    instead = c(
      batches = "All sequences are visited at once.", init = "Labels or a fit may be given as {.arg start}."
    )
  ),
  features = list(
    algorithms = c("memoized", "full"),
    takes = c("batches", "restarts", "keep_data", "effort", "sparsity", "checkpoint", "max_births", "max_merges"),
    instead = c(
      k_init = "A fit starts without any feature.", init = "Other starts are given by {.arg start}.",
      keep = "A fit has the probability of every feature in every row: {.fn feature_probs}."
    ),
    refused = c(
      stochastic = "A fit starts without any feature: all come by moves, of which stochastic steps have none."
    )
  ),
  network = list(
    algorithms = c("memoized", "full", "stochastic"),
    takes = c("restarts", "effort", "k_init", "init", "checkpoint"),
    instead = c(batches = "Networks are learned from as a whole.")
  ),
  # Network models that assign each node to exactly one community; their search ends when no step gains.
  corrected_network = list(
    algorithms = c("memoized", "full"),
    takes = c("restarts", "effort", "k_init", "init", "checkpoint"),
    instead = c(batches = "Networks are learned from as a whole.")
  ),
  sampled_network = list(
    algorithms = "stochastic",
    takes = c("batches", "restarts", "k_init", "init", "checkpoint")
  ),
  truncation_free = list(
    algorithms = "truncation_free", takes = "batches"
  ),
  # Fits to a stream: batches are learned from in the order in which they arrive, each once.
  stream = list(
    algorithms = "truncation_free", takes = character(), lacks = "max_laps",
    instead = c(
      batches = "Batches are learned from as they come.", max_laps = "Each batch of a stream is read once."
    )
  ),
  features_update = list(
    algorithms = c("memoized", "full"),
    takes = c("batches", "sparsity", "max_births", "max_merges")
  ),
  update = list(
    algorithms = c("memoized", "full"),
    takes = c(
      "batches", "sparsity", "candidates", "keep", "bound", "wave", "adopt", "max_births", "birth_size", "max_deletes",
      "max_merges"
    )
  )
)

# Options that make no difference for a prior: those for an open number of clusters if the prior fixes the
# number, and `bound` if there is no level above the clusters that all groups share, or only one bound of it.
needless_options <- function(prior) {
  c(if (!is.null(prior$k)) c("birth_size", "adopt"), if (!isTRUE(prior_entry(prior)$top_level)) "bound")
}

# Names of the options (moves included) whose values differ from the defaults, except most of those that all
# fits use. batches = 1 counts as a default, and so do restarts = 1 and "auto". If all moves are switched off,
# their other options do not count.
asked_options <- function(control) {
  differ <- function(given, usual) names(usual)[!mapply(identical, unclass(given)[names(usual)], unclass(usual))]
  usual <- usual_options[special_options]
  usual$max_laps <- usual_laps[[control$algorithm]]
  c(
    setdiff(differ(control, usual), c(
      if (identical(control$batches, 1L)) "batches", if (control$restarts %in% list("auto", 1L)) "restarts"
    )),
    if (!identical(control$moves, usual_moves) && !moves_are_off(control$moves)) differ(control$moves, usual_moves)
  )
}
special_options <- c(setdiff(names(usual_options), c(common_options, "moves", "init")), "init", "max_laps")

# The kind of a fit (a name of the option table) from its class and prior, for fits learned in laps (passes
# over all batches). trees: the sequences are trees.
kind_of_fit <- function(class, prior, trees = FALSE) {
  switch(class,
    bnp_mixture = if (prior_entry(prior)$verb == "bnp_mixture") "mixture" else "mixture_by_time",
    bnp_topics = "topics", bnp_hmm = if (trees) "trees" else if (!is.null(prior$cell_fixed)) "placed" else
      if (has_covariates(prior)) "sequences_by_covariates" else "sequences"
  )
}

moves_are_off <- function(moves) !any(unlist(moves[c("birth", "merge", "delete")]))

# Refuses options that a kind of fit does not use. kind: a name of the option table.
check_options <- function(control, kind, prior, call) {
  check_class(control, "bnp_control", "control", "bnp_control", call)
  entry <- option_table[[kind]]
  what <- kinds[[kind]]$what
  if (!control$algorithm %in% entry$algorithms) {
    abort(c("not_defined", "argument"), c(
      paste0("{.code algorithm = {.str {control$algorithm}}} is not available for ", what, "."),
      i = unname(entry$refused[intersect(control$algorithm, names(entry$refused))]),
      i = "Choose {.or {.code algorithm = {.str {entry$algorithms}}}}."
    ), call = call)
  }
  asked <- asked_options(control)
  needless <- if (length(asked)) needless_options(prior)
  wrong <- setdiff(asked, setdiff(c(common_options, entry$takes), c(entry$lacks, needless)))
  if (!length(wrong)) {
    return(invisible())
  }
  maker <- if (all(wrong %in% names(formals(bnp_moves)))) "bnp_moves" else "bnp_control"
  with <- if (any(wrong %in% intersect(entry$takes, needless))) " with {.fn {prior_entry(prior)$constructor}}"
  hints <- as.character(entry$instead[intersect(wrong, names(entry$instead))])
  abort(c("not_defined", "argument"), c(
    paste0("{.arg {wrong}} of {.fn {maker}} {?is/are} not available for ", what, with, "."),
    stats::setNames(hints, rep("i", length(hints))), i = "Leave {cli::qty(wrong)}{?it/them} out."
  ), call = call)
}

# Informs the user that the start that was given replaces these options.
tell_start_wins <- function(control, start, replaced = c("k_init", "init", "restarts", "effort")) {
  wrong <- intersect(asked_options(control), replaced)
  if (length(wrong)) {
    cli::cli_inform(
      "{.arg {wrong}} of {.fn bnp_control} {?has/have} no effect here: the fit begins at {.arg start}.",
      class = c("bnpvi_message_start", "bnpvi_message")
    )
  }
}
