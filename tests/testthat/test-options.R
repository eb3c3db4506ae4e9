# Every option of bnp_control() and bnp_moves() is used or refused by every kind of fit, never ignored.

net <- local({
  x <- kronecker(diag(2), matrix(1, 5, 5))
  diag(x) <- 0
  x
})
counts <- as.matrix(whales$counts[1:12, 1:30])
series <- as.numeric(Nile[1:40])
# A small fit of each kind of the table, by the name it has there.
kinds <- list(
  mixture = function(...) bnp_mixture(faithful[1:60, ], control = bnp_control(...)),
  mixture_by_time = function(...) {
    bnp_mixture(faithful[1:60, ], obs_gaussian(drift = 0.1), time = rep(1:6, 10), control = bnp_control(...))
  },
  topics = function(...) bnp_topics(counts, control = bnp_control(...)),
  sequences = function(...) bnp_hmm(series, control = bnp_control(...)),
  placed = function(...) {
    two <- rep(1:2, length.out = NROW(series))
    bnp_hmm(series, id = sort(two), prior = prior_hmm(2, transitions = left_to_right(2)), control = bnp_control(...))
  },
  sequences_by_covariates = function(...) {
    bnp_hmm(series, covariates = data.frame(odd = seq_along(series) %% 2), prior = prior_covariates(~ odd),
      control = bnp_control(...))
  },
  trees = function(...) bnp_hmm(series[1:15], parent = c(0, 2:15 %/% 2), control = bnp_control(...)),
  hidden = function(...) bnp_hmm(series[1:30], obs = obs_lds(), control = bnp_control(...)),
  features = function(...) bnp_features(attitude, control = bnp_control(...)),
  network = function(...) bnp_network(net, prior = prior_dp(), control = bnp_control(...)),
  corrected_network = function(...) {
    bnp_network(net, obs_links(degree = TRUE), prior_dp(), control = bnp_control(...))
  },
  sampled_network = function(...) bnp_network(net, control = bnp_control("stochastic", ...)),
  truncation_free = function(...) bnp_mixture(faithful, control = bnp_control("truncation_free", ...)),
  stream = function(...) {
    bnp_mixture(
      bnp_stream(function(i) if (i < 3) faithful[100 * (i - 1) + 1:100, ]),
      control = bnp_control("truncation_free", ...)
    )
  },
  update = function(...) update(half_of_faithful(), faithful[101:150, ], control = bnp_control(...)),
  features_update = function(...) update(half_of_attitude(), attitude[21:30, ], control = bnp_control(...))
)
half_of_faithful <- function() bnp_mixture(faithful[1:100, ], control = bnp_control(seed = 1, max_laps = 2))
half_of_attitude <- function() bnp_features(attitude[1:20, ], control = bnp_control(seed = 1, max_laps = 2))
# Values beside the defaults; of moves inside bnp_moves().
values <- list(
  batches = 2, restarts = 2, k_init = 2, init = "random", sparsity = 2, candidates = 2, keep = "probabilities",
  bound = "tight", checkpoint = "never-written", workers = TRUE, wave = 2, max_laps = 5, tol = 1e-3, adopt = TRUE,
  max_births = 3, birth_size = 3, max_deletes = 3, max_merges = 3, effort = "low", keep_data = TRUE
)
of_moves <- intersect(names(values), names(formals(bnp_moves)))
arguments <- function(name) {
  c(
    list(seed = 1, verbose = FALSE),
    if (name %in% of_moves) list(moves = do.call(bnp_moves, values[name])) else values[name],
    if (name == "candidates") list(sparsity = 3), if (name == "effort") list(restarts = "auto")
  )
}
quietly <- function(expr) suppressWarnings(suppressMessages(expr))

test_that("the table names every kind that is tried here, and options that there are", {
  expect_setequal(names(kinds), names(option_table))
  known <- union(names(formals(bnp_control)), names(formals(bnp_moves)))
  for (entry in option_table) expect_true(all(c(entry$takes, entry$lacks, names(entry$instead)) %in% known))
  expect_setequal(setdiff(known, c(common_options, "moves", "...")), setdiff(names(values), c("max_laps", "tol")))
})

test_that("an option that a kind of fit does not take is refused", {
  for (kind in names(kinds)) {
    entry <- option_table[[kind]]
    refused <- setdiff(names(values), c(setdiff(common_options, entry$lacks), entry$takes))
    has_top <- c("topics", "sequences", "sequences_by_covariates", "trees", "hidden", "mixture_by_time")
    refused <- union(refused, if (!kind %in% has_top) "bound")
    for (name in refused) {
      if (!is_tried(match(kind, names(kinds)), match(name, names(values)), by = 4L)) next
      expect_error(
        quietly(do.call(kinds[[kind]], arguments(name))), class = "bnpvi_error_argument",
        info = paste(kind, name)
      )
    }
  }
})

test_that("what a kind of fit takes is not refused", {
  for (kind in names(kinds)) {
    taken <- setdiff(option_table[[kind]]$takes, c("workers", "checkpoint"))
    if (kind == "update") taken <- setdiff(taken, "bound")
    if (kind == "trees") taken <- setdiff(taken, c("batches", "wave"))
    if (kind %in% c("sequences", "sequences_by_covariates")) taken <- setdiff(taken, "batches") # one sequence
    for (name in taken) {
      if (!is_tried(match(kind, names(kinds)), match(name, names(values)), by = 8L)) next
      expect_no_error(quietly(do.call(kinds[[kind]], arguments(name))))
    }
  }
})

test_that("options that a prior or an algorithm has no use for are refused", {
  refused <- function(expr) expect_bad(quietly(expr), "argument")
  for (name in c("bound", "birth_size", "adopt")) {
    refused(bnp_mixture(faithful, prior = prior_dirichlet(3), control = do.call(bnp_control, arguments(name))))
    refused(bnp_hmm(series, prior = prior_hmm(2), control = do.call(bnp_control, arguments(name))))
    refused(bnp_topics(counts, prior = prior_lda(3), control = do.call(bnp_control, arguments(name))))
  }
  refused(bnp_control(learning_rate = c(delay = 2, power = 0.7)))
  refused(bnp_control("full", learning_rate = c(delay = 2, power = 0.7)))
  refused(bnp_control("stochastic", tol = 1e-3))
  refused(bnp_control("stochastic", moves = bnp_moves(birth = FALSE)))
  refused(bnp_control("stochastic", moves = bnp_moves(max_births = 2)))
  refused(bnp_control("truncation_free", moves = bnp_moves(reorder = FALSE)))
  refused(bnp_control("truncation_free", moves = bnp_moves(max_merges = 2)))
  refused(bnp_control("full", batches = 4))
  refused(bnp_control(checkpoint_every = 1))
  for (algorithm in c("memoized", "full", "stochastic", "truncation_free")) {
    expect_silent(bnp_control(algorithm, moves = FALSE))
    expect_silent(bnp_control(algorithm, moves = TRUE))
  }
  expect_silent(bnp_control("truncation_free", moves = bnp_moves(birth = FALSE)))
  expect_silent(bnp_control("full", batches = 1))
  expect_bad(bnp_hmm(series, control = bnp_control("truncation_free")), "argument", "not available for")
  expect_bad(bnp_features(attitude, control = bnp_control("stochastic")), "argument", "not available for.*by moves")
})

test_that("a start that is given takes the place of other starts, which a message says", {
  start <- rep(1:2, 136)
  told <- function(expr, class = "bnpvi_message_start") expect_message(expr, class = class)
  told(bnp_mixture(faithful, start = start, control = bnp_control(seed = 1, restarts = 3)))
  told(bnp_mixture(faithful, start = start, control = bnp_control(seed = 1, k_init = 5)))
  told(bnp_network(net, start = rep(1:2, 5), prior = prior_dp(), control = bnp_control(seed = 1, init = "random")))
  expect_no_message(
    bnp_mixture(faithful, start = start, control = bnp_control(seed = 1)), class = "bnpvi_message_start"
  )
  # Runs of networks differ from one start, too.
  expect_no_message(
    bnp_network(net, start = rep(1:2, 5), prior = prior_dp(), control = bnp_control(seed = 1, restarts = 2)),
    class = "bnpvi_message_start"
  )
})
