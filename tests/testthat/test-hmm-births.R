# Births of states (src/chains/moves/birth.cpp): newborns that are alike join, and forecasts end later tries.

# Joins two groups of clusters of which the union has the highest gain in evidence, and again, in plain R.
joined_by_evidence <- function(t, least) {
  groups <- as.list(seq_len(nrow(t)))
  evidence <- function(group) evidence_diagonal(colSums(t[group, , drop = FALSE]))
  while (length(groups) > least) {
    pairs <- utils::combn(length(groups), 2)
    gain <- apply(pairs, 2, function(p) {
      evidence(unlist(groups[p])) - evidence(groups[[p[1]]]) - evidence(groups[[p[2]]])
    })
    if (max(gain) <= 0) break
    best <- pairs[, which.max(gain)]
    groups[[best[1]]] <- unlist(groups[best])
    groups[[best[2]]] <- NULL
  }
  list(
    t = t(vapply(groups, function(group) colSums(t[group, , drop = FALSE]), t[1, ])),
    group = vapply(seq_len(nrow(t)), function(j) which(vapply(groups, function(group) j %in% group, NA)), 1L)
  )
}

test_that("alike clusters of stretches join as long as evidence rises, as in plain R", {
  for (seed in 1:6) {
    n <- withr::with_seed(seed, sample(3:30, 8, TRUE))
    x <- planted_chain(sum(n), 3, 3, 1.5, 0.9, seed)
    part <- rep(1:8, n)
    t <- cbind(n, rowsum(x, part), rowsum(x^2, part))
    for (least in c(1, 2, 5)) {
      found <- engine_join_alike(diagonal_model(3), t, least)
      expected <- joined_by_evidence(t, least)
      expect_equal(found$group, expected$group)
      expect_equal(found$t, unname(expected$t))
    }
  }
})

test_that("the first birth from one state of two has two new states, not copies of them", {
  for (seed in 1:6) {
    x <- planted_chain(300, 10, 2, 3, 0.8, seed)
    control <- bnp_control(seed = seed, restarts = 1, max_laps = 2, verbose = FALSE)
    fit <- suppressWarnings(bnp_hmm(x, obs = obs_gaussian(learn = FALSE, rounding = 0), control = control))
    expect_equal(fit$trace$k, c(1, 2))
  }
})

traced_chain <- function(set, spared, seed) {
  x <- do.call(planted_chain, c(as.list(set), seed))
  case <- planted_case("gaussian_full", obs_gaussian(learn = FALSE), x, rep(1, nrow(x)))
  case$data$starts <- c(0L, nrow(x))
  model <- list(obs = case$model$obs, prior = hmm_priors$plain)
  moves <- utils::modifyList(all_moves, list(max_births = 10L, birth_size = 10L))
  control <- engine_control(1, seed = seed, moves = moves, max_laps = 200L, tol = 1e-6)
  control <- c(control, proposals = TRUE, spared = spared)
  engine_fit(case$data, model, control, NULL, NULL)
}

test_that("births of states that forecasts end would have gained next to nothing, and trying them changes nothing", {
  skip_without_testing_entries()
  sets <- list(
    c(803, 20, 4, 2, 0.9), c(1200, 5, 8, 1.5, 0.9), c(1000, 2, 6, 3, 0.95), c(600, 10, 3, 1, 0.8),
    c(1500, 3, 12, 3, 0.95)
  )
  ended <- lapply(some_of(1:10, by = 4), function(i) {
    fit <- traced_chain(sets[[(i + 1) %/% 2]], TRUE, i)
    if (i == 1) expect_identical(fit$trace$elbo, traced_chain(sets[[1]], FALSE, i)$trace$elbo)
    trials <- as.data.frame(fit$proposals[c("kind", "failures", "gain")])
    trials[trials$kind == "forecast of a birth", ]
  })
  expect_gte(min(vapply(ended, nrow, 1L)), 10)
  for (trials in ended) expect_gte(min(trials$failures), 1)
  expect_lte(median(vapply(ended, function(trials) sum(pmax(trials$gain, 0), na.rm = TRUE), 1)), 1)
})
