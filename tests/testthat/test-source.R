# A fit works on one batch at a time: where each batch is gone when nobody holds it any more, numbered by itself,
# every bit comes out as with all data in memory (src/testing/transient_source.h).

moves <- list(
  birth = TRUE, merge = TRUE, delete = TRUE, reorder = TRUE, adopt = FALSE, max_births = 5L, birth_size = 3L,
  max_deletes = 5L, max_merges = 10L
)
adopting <- utils::modifyList(moves, list(adopt = TRUE))

# Both fits of a list(data, model), which are to agree; that of the transient source comes back.
expect_same_fit <- function(case, ..., start = NULL, audit = FALSE) {
  control <- engine_control(..., audit = audit)
  label <- paste(c(case$model$prior$family, case$name, deparse(list(...))), collapse = " ")
  fit <- function(control) {
    out <- engine_fit(case$data, case$model, control, start, NULL)
    out$trace$seconds <- NULL
    out
  }
  memory <- fit(control)
  transient <- fit(c(control, source = "transient"))
  # A move may watch one batch while an audit opens them all, one by one.
  expect_lte(transient$most_open, control$threads + audit, label = paste("batches open at once,", label))
  for (field in names(memory)) {
    expect_identical(transient[[field]], memory[[field]], label = paste(field, "of", label))
  }
  invisible(transient)
}

tried <- function(fit, kind) sum(fit$trace[[paste0(kind, "_tried")]])

# Rows in three runs, for lag 2, in groups of which one has a single row with a likelihood and one has none.
lagged_case <- function() {
  x <- withr::with_seed(3, planted_series(180)$x)
  obs <- resolve_obs(obs_ar(2), engine_data(x))
  list(
    name = "ar, lag 2", data = engine_data(x, c(0, 60, 63, 64, 130, 180)),
    model = list(obs = obs, prior = list(family = "dp", concentration = 1))
  )
}

mixture_cases <- function() {
  cases <- Filter(function(case) case$name != "ar", planted_cases())
  cases <- stats::setNames(cases, vapply(cases, `[[`, "", "name"))
  cases[["bernoulli, sparse"]] <- utils::modifyList(
    cases$bernoulli, list(name = "bernoulli, sparse", data = sparse_engine_data(cases$bernoulli$x))
  )
  cases[["bernoulli, sparse"]]$data$x <- NULL
  c(cases, list("ar, lag 2" = lagged_case()))
}

test_that("mixtures of every observation model come out the same, with all moves", {
  births <- merges <- deletes <- 0
  for (case in some_of(mixture_cases(), by = 9)) {
    split <- expect_same_fit(case, k_init = 1L, batches = 3L, moves = moves, threads = 2L)
    joined <- expect_same_fit(case, k_init = 12L, batches = 4L, moves = moves, init = "random", max_laps = 20L)
    births <- births + sum(split$trace$births)
    merges <- merges + sum(joined$trace$merges)
    deletes <- deletes + tried(joined, "deletes")
  }
  expect_gt(min(births, merges, deletes), 0)
})

test_that("mixtures come out the same however they are learned and from wherever they start", {
  cases <- mixture_cases()
  for (case in cases[c("gaussian_diagonal", "multinomial, sparse", "ar, lag 2")]) {
    n <- case$data$n
    labels <- rep_len(1:4, n)
    resp <- withr::with_seed(1, matrix(rexp(3 * n), n))
    for (start in list(list(labels = labels, k = 4L), list(resp = resp / rowSums(resp)))) {
      expect_same_fit(case, batches = 3L, max_laps = 5L, start = start)
    }
    for (init in some_of(c("bregman", "kmeans", "blocks"), by = 2)) {
      expect_same_fit(case, k_init = 4L, batches = 3L, init = init, restarts = 3L, max_laps = 5L)
    }
    full <- expect_same_fit(case, k_init = 4L, algorithm = "full", moves = moves, max_laps = 10L)
    expect_same_fit(case, batches = 3L, max_laps = 5L, start = full["state"])
    expect_same_fit(case, k_init = 4L, algorithm = "stochastic", batches = 5L, max_laps = 5L)
    expect_same_fit(case, k_init = 2L, batches = 3L, moves = adopting, max_laps = 10L)
    expect_same_fit(case, k_init = 10L, batches = 3L, moves = moves, sparsity = 2L, max_laps = 15L)
    expect_same_fit(
      case, k_init = 10L, batches = 3L, moves = moves, sparsity = 2L, candidates = 4L, max_laps = 15L
    )
    expect_same_fit(
      case, k_init = 10L, algorithm = "stochastic", batches = 3L, sparsity = 2L, candidates = 4L, max_laps = 5L
    )
    finite <- case
    finite$model$prior <- list(family = "dirichlet", k = 4L, concentration = 1)
    expect_same_fit(finite, k_init = 4L, batches = 4L, moves = moves, max_laps = 10L)
  }
})

test_that("batches of many chunks come out the same, for any number of threads", {
  points <- withr::with_seed(8, planted_points(4000, 3))
  data <- engine_data(points$x)
  model <- list(obs = resolve_obs(obs_gaussian(), data), prior = list(family = "dp", concentration = 1))
  fit <- expect_same_fit(
    list(data = data, model = model), k_init = 6L, batches = 3L, moves = moves, threads = 3L, max_laps = 15L
  )
  expect_gt(tried(fit, "births"), 0)
})

# Documents of rows: several, and some of a single one.
row_documents <- function(x, obs, lengths) {
  list(
    name = "rows", data = utils::modifyList(x, list(starts = as.integer(c(0, cumsum(lengths))))),
    model = list(obs = obs, prior = list(family = "hdp", gamma = 2, alpha = 0.5))
  )
}

test_that("topics come out the same", {
  counts <- list(name = "counts", data = count_data(toy_corpus(documents = 40)), model = topic_model(12))
  merged <- expect_same_fit(counts, k_init = 8L, batches = 3L, moves = moves, max_laps = 15L)
  split <- expect_same_fit(counts, k_init = 1L, batches = 4L, moves = moves, restarts = 2L, threads = 2L)
  expect_gt(sum(split$trace$births), 0)
  expect_gt(sum(merged$trace$merges, merged$trace$deletes), 0)
  for (init in some_of(c("anchor", "best", "random", "kmeans", "blocks"), by = 2)) {
    expect_same_fit(counts, k_init = 4L, batches = 3L, init = init, max_laps = 5L)
  }
  full <- expect_same_fit(counts, k_init = 4L, algorithm = "full", moves = moves, max_laps = 10L)
  expect_same_fit(counts, batches = 3L, max_laps = 5L, start = full["state"])
  expect_same_fit(counts, k_init = 4L, algorithm = "stochastic", batches = 5L, max_laps = 5L)
  expect_same_fit(counts, k_init = 6L, batches = 3L, moves = moves, sparsity = 2L, max_laps = 10L)
  expect_same_fit(counts, batches = 3L, max_laps = 5L, start = list(labels = rep_len(1:3, 40), k = 3L))
  resp <- withr::with_seed(2, matrix(rexp(120), 40))
  expect_same_fit(counts, batches = 3L, max_laps = 5L, start = list(resp = resp / rowSums(resp)))

  learned <- counts
  learned$model$obs <- resolve_obs(learned_terms(), counts$data)
  expect_same_fit(learned, k_init = 2L, batches = 3L, moves = moves, max_laps = 15L)
  finite <- counts
  finite$model$prior <- list(family = "lda", k = 3L, alpha = 0.5)
  expect_same_fit(finite, k_init = 3L, batches = 3L, moves = moves, max_laps = 10L)
  expect_same_fit(finite, k_init = 3L, algorithm = "stochastic", batches = 4L, max_laps = 5L)
})

test_that("topics of documents of rows come out the same, also where all documents of a batch have one row", {
  points <- withr::with_seed(4, planted_points(120))
  data <- engine_data(points$x)
  case <- row_documents(data, resolve_obs(obs_gaussian("diagonal"), data), c(rep(9, 12), rep(1, 12)))
  split <- expect_same_fit(case, k_init = 1L, batches = 3L, moves = moves, threads = 2L)
  expect_gt(sum(split$trace$births), 0)
  expect_same_fit(case, k_init = 6L, batches = 4L, moves = moves, init = "blocks", max_laps = 10L)
  expect_same_fit(case, k_init = 3L, algorithm = "stochastic", batches = 4L, max_laps = 4L)
  expect_same_fit(case, batches = 3L, max_laps = 4L, start = list(labels = points$cluster, k = 4L))

  counts <- toy_corpus(documents = 30) + 0
  case <- row_documents(sparse_engine_data(counts), topic_model(12)$obs, c(rep(5, 4), rep(1, 10)))
  expect_same_fit(case, k_init = 4L, batches = 7L, moves = moves, max_laps = 8L)
  expect_same_fit(case, k_init = 4L, algorithm = "stochastic", batches = 7L, max_laps = 4L)
  case <- row_documents(case$data, case$model$obs, c(2, 0, rep(1, 28))) # as many documents as rows
  expect_same_fit(case, k_init = 4L, batches = 7L, moves = moves, max_laps = 8L)
})

# Sequences, some of a single row with a likelihood.
sequence_case <- function(seed, lengths, prior = hmm_priors$sticky) {
  toy <- toy_sequences(seed, lengths)
  list(data = toy$data, model = list(obs = diagonal_model(), prior = prior), z = toy$z)
}

test_that("hidden Markov models come out the same", {
  lengths <- c(40, 1, 25, 34, 1, 3, 50, 20)
  case <- sequence_case(5, lengths)
  split <- expect_same_fit(case, k_init = 1L, batches = 3L, moves = moves, restarts = 2L, threads = 2L)
  joined <- expect_same_fit(case, k_init = 8L, batches = 4L, moves = moves, init = "random")
  expect_gt(sum(split$trace$births), 0)
  expect_gt(sum(joined$trace$merges, joined$trace$deletes), 0)
  for (init in some_of(c("bregman", "kmeans", "blocks"), by = 2)) {
    expect_same_fit(case, k_init = 3L, batches = 3L, init = init, max_laps = 5L)
  }
  full <- expect_same_fit(case, k_init = 3L, algorithm = "full", moves = moves, max_laps = 10L)
  expect_same_fit(case, batches = 3L, max_laps = 5L, start = full["state"])
  expect_same_fit(case, k_init = 3L, algorithm = "stochastic", batches = 4L, max_laps = 5L)
  expect_same_fit(case, k_init = 6L, batches = 3L, moves = moves, sparsity = 2L, max_laps = 15L)
  expect_same_fit(case, k_init = 6L, algorithm = "stochastic", batches = 3L, sparsity = 2L, max_laps = 5L)
  expect_same_fit(case, batches = 3L, max_laps = 5L, start = list(labels = case$z, k = 3L))
  expect_same_fit(
    case, batches = 3L, max_laps = 5L, sparsity = 2L, start = list(resp = diag(3)[case$z, ] * 0.7 + 0.1)
  )
  expect_same_fit(sequence_case(5, lengths, hmm_priors$finite), k_init = 3L, batches = 3L, moves = moves)
})

test_that("autoregressive sequences come out the same", {
  case <- lagged_case()
  case$data$starts <- as.integer(c(0, 60, 63, 130, 180))
  for (prior in hmm_priors[c("sticky", "finite")]) {
    case$model$prior <- prior
    expect_same_fit(case, k_init = 3L, batches = 3L, moves = moves, max_laps = 10L)
    expect_same_fit(case, k_init = 3L, batches = 4L, moves = moves, sparsity = 2L, init = "blocks", max_laps = 10L)
    expect_same_fit(case, k_init = 3L, algorithm = "stochastic", batches = 3L, max_laps = 4L)
  }
})

test_that("audited fits come out the same, and as exact", {
  cases <- mixture_cases()[c("gaussian_full", "ar, lag 2", "bernoulli, sparse")]
  cases$counts <- list(data = count_data(toy_corpus()), model = topic_model(12))
  cases$sequences <- sequence_case(6, c(20, 1, 25, 14))
  for (case in cases) {
    for (k in c(1L, 6L)) {
      fit <- expect_same_fit(case, k_init = k, batches = 3L, moves = moves, max_laps = 10L, audit = TRUE)
      expect_lte(max(fit$audit[c("elbo", "statistics", "entropy", "sums")]), 1e-8)
    }
  }
})
