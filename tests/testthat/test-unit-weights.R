# Weights of sequences and documents: a unit of weight w is w units that share one q(z).

repeat_groups <- function(data, times) {
  groups <- rep(seq_along(times), times)
  rows <- unlist(lapply(groups, function(g) data$starts[g] + seq_len(data$starts[g + 1L] - data$starts[g])))
  out <- if (is.null(data$x)) {
    x <- matrix(0, data$n, data$d)
    x[cbind(rep(seq_len(data$n), diff(data$row_start)), data$column + 1L)] <- data$value
    sparse_engine_data(x[rows, , drop = FALSE])
  } else {
    engine_data(data$x[rows, , drop = FALSE])
  }
  out$starts <- as.integer(c(0, cumsum(diff(data$starts)[groups])))
  list(data = out, rows = rows)
}

# A case with weights from 1 to 3 for its groups, and the same groups written out.
weigh_groups <- function(case, seed = 1) {
  w <- withr::with_seed(seed, sample(3, length(case$data$starts) - 1L, TRUE))
  again <- repeat_groups(case$data, w)
  case$written_out <- case
  case$written_out$data <- again$data
  case$rows <- again$rows
  case$data$weights <- as.double(rep(w, diff(case$data$starts)))
  case
}

random_resp <- function(n, k, seed = 3) {
  resp <- withr::with_seed(seed, matrix(stats::rgamma(n * k, 0.3) + 1e-6, n))
  resp / rowSums(resp)
}

expect_same_laps <- function(case, resp, ..., laps = 4L, label = NULL) {
  a <- engine_at(case, resp, ..., laps = laps, threads = 2L)
  b <- engine_at(case$written_out, resp[case$rows, ], ..., laps = laps)
  expect_equal(a$elbo, b$elbo, tolerance = 1e-10, label = label)
  expect_equal(a$terms, b$terms, tolerance = 1e-9, label = label)
  expect_equal(a$trace$elbo, b$trace$elbo, tolerance = 1e-9, label = label)
  expect_equal(a$state$obs, b$state$obs, tolerance = 1e-7, label = label)
}

sequence_cases <- function() {
  lapply(planted_sequences(), function(case) {
    case$model$prior <- hmm_priors$sticky
    weigh_groups(case)
  })
}

test_that("laps of weighted sequences are laps of the sequences written out", {
  for (case in sequence_cases()) {
    resp <- random_resp(case$data$n, 3)
    for (prior in names(hmm_priors)) {
      case$model$prior <- case$written_out$model$prior <- hmm_priors[[prior]]
      for (sparsity in some_of(c(0L, 2L), by = 2, from = match(prior, names(hmm_priors)) %% 2 + 1)) {
        expect_same_laps(case, resp, sparsity = sparsity, label = paste(case$name, prior, sparsity))
      }
    }
  }
})

test_that("moves of weighted sequences equal their recomputation", {
  total <- c(births = 0, merges = 0, deletes = 0)
  for (case in sequence_cases()[c(1, 2, 6)]) {
    for (sparsity in list(NULL, 2)) {
      for (k_init in some_of(c(8, 1), by = 2, from = if (is.null(sparsity)) 1 else 2)) {
        fit <- engine_run(
          case, prior = prior_hdp_hmm(sticky = 5), k_init = k_init, sparsity = sparsity, batches = 2, seed = 2,
          max_laps = 30, audit = TRUE
        )
        expect_audited(fit)
        lag <- case$model$obs$lag %||% 0L
        modelled <- sum(case$data$weights) - sum(lag * case$data$weights[case$data$starts[-1]])
        expect_equal(sum(fit$sizes), modelled)
        total <- total + colSums(fit$trace[names(total)])
      }
    }
    finite <- engine_run(case, prior = prior_hmm(4), batches = 2, seed = 2, max_laps = 30, audit = TRUE)
    expect_audited(finite)
  }
  expect_gt(total[["births"]], 0)
  expect_gt(total[["merges"]] + total[["deletes"]], 0)
})

document_cases <- function() {
  counts <- list(name = "counts", data = count_data(toy_corpus(documents = 40)), model = topic_model(12))
  learned <- utils::modifyList(counts, list(name = "learned", model = list(prior = unclass(prior_hdp(
    gamma = gamma_prior(), alpha = gamma_prior()
  )))))
  finite <- utils::modifyList(counts, list(name = "lda"))
  finite$model$prior <- list(family = "lda", k = 3L, alpha = 0.5)
  rows <- list(
    name = "rows", data = toy_sequences(4)$data, model = list(obs = diagonal_model(), prior = counts$model$prior)
  )
  lapply(list(counts, learned, finite, rows), weigh_groups)
}

test_that("laps of weighted documents are laps of the documents written out", {
  for (case in document_cases()) {
    for (sparsity in c(0L, 2L)) {
      expect_same_laps(case, random_resp(case$data$n, 3), sparsity = sparsity, label = paste(case$name, sparsity))
    }
  }
})

test_that("moves of weighted documents equal their recomputation", {
  total <- c(births = 0, merges = 0, deletes = 0)
  x <- toy_corpus(documents = 60, topics = 4)
  cases <- list(
    list(data = as_engine_data(as_document_data(x, obs_multinomial())), obs = obs_multinomial()),
    list(data = toy_sequences(4, lengths = rep(30, 8))$data, obs = obs_gaussian("diagonal"))
  )
  for (case in cases) {
    sparse <- is.null(case$data$x)
    input <- if (sparse) as_document_data(x, obs_multinomial()) else as_mixture_data(case$data$x, case$obs)
    case$model <- list(obs = resolve_obs(case$obs, input), prior = prior_hdp())
    case <- weigh_groups(case)
    for (k_init in c(1, 9)) {
      for (sparsity in some_of(list(NULL, 2), by = 2, from = min(k_init, 2))) {
        fit <- engine_run(
          case, k_init = k_init, batches = 3, seed = 2, max_laps = 25, sparsity = sparsity, audit = TRUE
        )
        for (what in c("elbo", "statistics", "entropy", "sums", "gain")) {
          expect_lte(fit$audit[[what]], 1e-8, label = what)
        }
        expect_gte(fit$audit[["smallest_gain"]], -1e-9)
        expect_gt(fit$audit[["checks"]], nrow(fit$trace))
        expect_equal(fit$state$scalar[2], sum(case$data$weights[case$data$starts[-1]]))
        total <- total + colSums(fit$trace[names(total)])
      }
    }
  }
  expect_gt(total[["births"]], 0)
  expect_gt(total[["merges"]] + total[["deletes"]], 0)
})

test_that("trees of weighted sequences and documents are those of the units written out", {
  for (case in list(sequence_cases()[[1]], document_cases()[[1]], document_cases()[[4]])) {
    fit <- engine_at(case, random_resp(case$data$n, 5), laps = 3L)
    again <- engine_at(case$written_out, random_resp(case$data$n, 5)[case$rows, ], laps = 3L)
    control <- list(threads = 1L, sparsity = 0L, candidates = 0L)
    tree <- function(case, fit) {
      engine_cluster_tree(case$data, case$model, c(list(state = fit$state), fit["documents"]), control)
    }
    if (is.null(fit$documents)) fit <- fit[names(fit) != "documents"]
    a <- tree(case, fit)
    b <- tree(case$written_out, again)
    expect_identical(a[c("a", "b")], b[c("a", "b")])
    expect_equal(a$elbo, b$elbo, tolerance = 1e-8)
  }
})

test_that("stochastic learning scales batches of units by their weights", {
  case <- sequence_cases()[[1]]
  for (prior in list(hmm_priors$sticky, topic_model(12)$prior)) {
    case$model$prior <- prior
    control <- engine_control(3, seed = 4, batches = 3L, algorithm = "stochastic", max_laps = 2L)
    fit <- engine_fit(case$data, case$model, control, NULL, NULL)
    expect_equal(sum(fit$sizes), sum(case$data$weights))
  }
})

test_that("sequences with weights are fitted as sequences written out, and wrong weights are refused", {
  x <- split(beaver1["temp"], rep(1:6, each = 19))
  w <- c(2, 1, 3, 1, 1, 2)
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 4)
  start <- rep(1:2, length.out = 114)
  run <- function(x, start, ...) suppressWarnings(bnp_hmm(x, start = start, control = control, ...))
  for (obs in list(obs_gaussian(), obs_ar())) {
    a <- run(x, start, weights = w, obs = obs)
    again <- unlist(split(start, rep(1:6, each = 19))[rep(1:6, w)], use.names = FALSE)
    b <- run(x[rep(1:6, w)], again, obs = obs)
    expect_equal(elbo(a), elbo(b), tolerance = 1e-9)
    expect_equal(a$model, b$model, tolerance = 1e-9)
    expect_equal(nobs(a), nobs(b))
  }
  expect_output(print(a), "190 observations \\(114 rows with weights\\)")
  expect_bad(compare_fits(a, run(x, start, obs = obs_ar())), "not_comparable", "other weights")
  tree <- cluster_tree(a, x)
  expect_s3_class(tree, "bnp_tree")
  expect_bad(run(x, start, weights = rep(1, 114)), "weights", "one number per sequence \\(6\\), not one per row")
  expect_bad(run(x, start, weights = 1:5), "weights", "one number per sequence \\(6\\), not 5")
  expect_bad(run(x, start, weights = c(1, 1, 0, 1, 1, 1)), "weights", "sequences must be above 0")
  expect_bad(run(x, start, weights = c(1, 1, NA, 1, 1, 1)), "weights", "at least 0")
})

test_that("documents with weights are fitted as documents written out, and wrong weights are refused", {
  x <- toy_corpus(documents = 30)
  w <- withr::with_seed(1, sample(3, 30, TRUE))
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 4)
  run <- function(x, start, ...) suppressWarnings(bnp_topics(x, start = start, control = control, ...))
  start <- rep(1:3, 10)
  for (obs in list(obs_multinomial(0.1), obs_multinomial(term_prior = NULL))) {
    a <- run(x, start, weights = w, obs = obs)
    b <- run(unname(x)[rep(1:30, w), ], rep(start, w), obs = obs)
    expect_equal(elbo(a), elbo(b), tolerance = 1e-9)
    expect_equal(unname(fitted(a)[rep(1:30, w), ]), unname(fitted(b)), tolerance = 1e-6)
    expect_equal(unname(cluster_sizes(a)), unname(cluster_sizes(b)), tolerance = 1e-6)
  }
  expect_output(print(a), "documents \\(30 documents with weights\\) of 12 terms")
  expect_equal(nobs(a), sum(w))
  again <- bnp_topics(x, start = a, weights = w, obs = obs, control = bnp_control(seed = 1))
  expect_gte(elbo(again), elbo(a) - 1e-6)
  expect_s3_class(cluster_tree(a, x), "bnp_tree")
  expect_bad(run(x, start, weights = 1:3), "weights", "one number per document \\(30\\), not 3")
  expect_bad(run(x, start, weights = replace(w, 4, 0)), "weights", "document d4")
  id <- rep(letters[1:15], each = 2)
  rows <- bnp_topics(x, id = id, weights = rep(c(1, 2, 1), 5), control = bnp_control(seed = 1, max_laps = 60))
  expect_equal(nobs(rows), 20)
})
