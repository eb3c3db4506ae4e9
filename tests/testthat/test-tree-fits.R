tree_model <- function(prior = hmm_priors$sticky) list(obs = diagonal_model(), prior = prior)

test_that("a fit of trees in which each node has one child is that of the sequences, for every observation model", {
  for (case in some_of(planted_sequences(), by = 11, from = 3)) {
    if (case$model$obs$family == "ar") next
    model <- list(obs = case$model$obs, prior = hmm_priors$sticky)
    trees <- case$data
    trees$back <- rep(1L, trees$n)
    trees$back[trees$starts[-length(trees$starts)] + 1L] <- 0L
    for (moves in list(no_moves, all_moves)) {
      control <- engine_control(3, max_laps = 4L, moves = moves)
      if (moves$birth) control$moves$birth <- FALSE # blocks of trees are subtrees, not windows
      want <- engine_fit(case$data, model, control, NULL, NULL)
      got <- engine_fit(trees, model, control, NULL, NULL)
      expect_equal(got$elbo, want$elbo, tolerance = 1e-10, label = case$name)
      expect_equal(got$trace$elbo, want$trace$elbo, tolerance = 1e-9, label = case$name)
      expect_identical(
        engine_viterbi(trees, model, got$state, 1L), engine_viterbi(case$data, model, got$state, 1L),
        label = case$name
      )
      expect_equal(
        engine_responsibilities(trees, model, got$state, 1L), engine_responsibilities(case$data, model, got$state, 1L),
        tolerance = 1e-9, label = case$name
      )
    }
  }
})

test_that("every state of a fit with all moves is what its responsibilities say, and none falls", {
  parents <- list(
    random = random_parents(200, 4), binary = rep(seq_len(160) %/% 2, 2) + rep(c(0, 160), each = 160) *
      rep(c(0, rep(1, 159)), 2), star = c(0, rep(1, 120)), single = rep(0, 60)
  )
  for (name in names(parents)) {
    tree <- withr::with_seed(1, planted_tree(1, parents[[name]]))
    data <- engine_trees(tree)
    for (prior in hmm_priors) {
      for (batches in unique(c(1L, min(3L, length(data$starts) - 1L)))) {
        for (source in some_of(c("memory", "transient"), by = 2, from = min(batches, 2L))) {
          control <- engine_control(
            if (prior$family == "hmm") 3 else 1, max_laps = 12L, moves = all_moves, batches = batches, audit = TRUE,
            source = source
          )
          fit <- engine_fit(data, tree_model(prior), control, NULL, NULL)
          expect_audited(fit)
          expect_equal(sum(fit$state$pair), data$n - length(data$starts) + 1, tolerance = 1e-9, label = name)
          expect_equal(sum(fit$state$extra), length(data$starts) - 1, tolerance = 1e-9, label = name)
        }
      }
    }
  }
})

test_that("births find the states of a tree from one state", {
  parent <- withr::with_seed(5, random_parents(600, 2))
  tree <- planted_tree(5, parent, k = 4)
  fit <- bnp_hmm(tree$x, parent = parent, control = bnp_control(seed = 1, k_init = 1, verbose = FALSE))
  expect_equal(n_clusters(fit), 4)
  expect_gt(adjusted_rand_index(fitted(fit), tree$z), 0.97)
  expect_gt(sum(elbo_trace(fit)$births), 0)
})

test_that("independent rows on a tree have the transitions and the entropy that they have", {
  tree <- withr::with_seed(6, planted_tree(6, random_parents(40, 2)))
  data <- engine_trees(tree)
  resp <- withr::with_seed(2, matrix(rgamma(120, 0.3), 40))
  resp <- resp / rowSums(resp)
  fit <- engine_fit(data, tree_model(), engine_control(max_laps = 0L), list(resp = resp), NULL)
  want <- matrix(0, 3, 3)
  for (t in which(data$back > 0)) want <- want + outer(resp[t - data$back[t], ], resp[t, ])
  expect_equal(fit$state$pair, want, tolerance = 1e-10)
  expect_equal(c(fit$state$extra), colSums(resp[data$back == 0, ]), tolerance = 1e-10)
  expect_equal(fit$terms[["entropy"]], -sum(resp * log(resp)), tolerance = 1e-10)
})

test_that("the order of rows, and trees as groups or alone, change nothing", {
  parent <- withr::with_seed(7, random_parents(120, 3))
  tree <- planted_tree(7, parent)
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 8, tol = 0, verbose = FALSE)
  fit <- function(x, parent, ...) {
    suppressWarnings(bnp_hmm(x, parent = parent, control = control, ...), classes = "bnpvi_warning_max_laps")
  }
  one <- fit(tree$x, parent, start = tree$z)
  place <- withr::with_seed(8, sample(120))
  mixed <- matrix(0, 120, 2)
  mixed[place, ] <- tree$x
  labels <- integer(120)
  labels[place] <- tree$z
  two <- fit(mixed, renumbered(parent, place), start = labels)
  expect_equal(elbo(two), elbo(one), tolerance = 1e-10)
  expect_identical(unname(fitted(two))[place], unname(fitted(one)))
  expect_equal(predict(two, mixed, type = "prob")[place, ], predict(one, tree$x, type = "prob"), tolerance = 1e-8)
  root <- root_of(as.integer(parent))
  grouped <- fit(tree$x, parent, start = tree$z, id = ifelse(root == 3, "b", "a"))
  expect_equal(elbo(grouped), elbo(one), tolerance = 1e-10)
  expect_equal(grouped$input$group_names, c("a", "b"))
  weighted <- fit(tree$x, parent, start = tree$z, weights = c(2, 1, 3))
  times <- c(2, 1, 3)[root]
  copies <- unlist(lapply(1:3, function(i) which(times >= i)))
  copy <- unlist(lapply(1:3, function(i) rep(i, sum(times >= i))))
  of_copy <- match(paste(parent[copies], copy), paste(copies, copy))
  written <- fit(tree$x[copies, ], ifelse(parent[copies] == 0, 0, of_copy), start = tree$z[copies],
    obs = weighted$model$obs)
  again <- fit(tree$x, parent, start = tree$z, weights = c(2, 1, 3), obs = weighted$model$obs)
  expect_equal(elbo(written), elbo(again), tolerance = 1e-10)
})

test_that("log densities of trees are sums over all states, one not seen yet included", {
  tree <- planted_tree(9, c(0, 1, 1, 2, 2, 3, 0, 7), k = 2)
  line <- planted_tree(8, 0:39, k = 2)
  for (prior in list(prior_hdp_hmm(sticky = 3), prior_hmm(2))) {
    fit <- bnp_hmm(line$x, parent = 0:39, prior = prior, control = bnp_control(seed = 1, verbose = FALSE))
    got <- predict(fit, tree$x, parent = tree$parent, type = "logdensity")
    expect_named(got, c("1", "7"))
    p <- engine_mean_transitions(fit$model, fit$state)
    pi <- c(fit$state$u, 1) * cumprod(c(1, 1 - fit$state$u))
    data <- as_engine_data(as_sequence_data(tree$x, fit$model$obs, na_action = "fail"))
    log_e <- engine_log_predictives(data, fit$model, fit$state, 1L)[, seq_len(ncol(p))]
    if (length(fit$state$u)) {
      expect_equal(p[nrow(p), ], (fit$model$prior$alpha * pi + c(0 * fit$state$u, 3)) / (0.5 + 3), tolerance = 1e-12)
    }
    want <- enumerate_trees(log(p[1, ]), log(p[-1, ]), log_e, tree$parent)
    expect_equal(sum(got), want$log_z, tolerance = 1e-8)
    expect_equal(heldout_loglik(fit, tree$x, parent = tree$parent), want$log_z / 8, tolerance = 1e-8)
    sequence <- fit
    sequence$input[c("back", "tree", "left_out")] <- NULL
    new <- planted_tree(7, 0:19, k = 2)$x
    for (type in c("completion", "plugin")) {
      expect_equal(
        heldout_loglik(fit, new, parent = 0:19, type = type), heldout_loglik(sequence, new, type = type),
        tolerance = 1e-10
      )
    }
  }
})

test_that("log densities have the base measure", {
  counts <- withr::with_seed(12, cbind(rpois(40, rep(c(2, 9), each = 20)), rpois(40, 4)))
  fit <- bnp_hmm(counts, obs = obs_poisson(), parent = 0:39, control = bnp_control(seed = 1, verbose = FALSE))
  sequence <- fit
  sequence$input[c("back", "tree", "left_out")] <- NULL
  expect_equal(
    sum(predict(fit, counts, parent = 0:39, type = "logdensity")),
    sum(predict(sequence, counts, type = "logdensity")), tolerance = 1e-10
  )
})

test_that("blocks for births are subtrees, cut where another subtree gains most", {
  # 1 - (2 - (3, 4), 5 - (6 - 7, 8)), and rows 6 and 7 far away
  back <- c(0L, 1L, 1L, 2L, 4L, 1L, 1L, 3L)
  x <- matrix(c(0, 0.1, -0.1, 0.2, 0, 30, 31, 0.1), 8)
  data <- list(x = x, n = 8L, d = 1L, starts = c(0L, 8L), back = back)
  cut <- function(row, most) engine_tree_cut(data, diagonal_model(1), row, most)
  expect_equal(cut(3, 2)$block, c(3, 3))
  expect_equal(cut(3, 3)$block, c(2, 4))
  expect_equal(cut(7, 2)$block, c(6, 7))
  expect_equal(cut(7, 7)$block, c(5, 8))
  expect_equal(cut(1, 3)$block, c(1, 3))
  all <- cut(7, 8)
  expect_equal(all$block, c(1, 8))
  expect_equal(all$begin, c(1, 6, 8))
  expect_equal(all$end, c(5, 7, 8))
  expect_equal(all$part, c(1, 2, 1))
  t <- matrix(all$t, 2, byrow = TRUE)
  whole <- function(rows) c(length(rows), sum(x[rows]), sum(x[rows]^2))
  expect_equal(t, rbind(whole(c(1:5, 8)), whole(6:7)), tolerance = 1e-12)
  best <- evidence_diagonal(t[1, ]) + evidence_diagonal(t[2, ])
  size <- c(8, 3, 1, 1, 4, 2, 1, 1)
  for (i in 2:8) {
    inner <- seq(i, length.out = size[i])
    expect_lte(evidence_diagonal(whole(inner)) + evidence_diagonal(whole(setdiff(1:8, inner))), best + 1e-10)
  }
  expect_equal(cut(3, 3)$part, 1)
})

test_that("sources pass trees on, and the engine refuses parents elsewhere", {
  tree <- withr::with_seed(13, planted_tree(13, random_parents(30, 4)))
  data <- engine_trees(tree)
  groups <- length(data$starts) - 1L
  of <- function(g) data$back[seq(data$starts[g] + 1, data$starts[g + 1])]
  for (name in c("memory", "transient")) {
    source <- engine_source(data, name, list(c(1L, 3L), c(2L, 4L)), TRUE, 0L, 1L, c(3L, 1L))
    for (batch in source$batches) {
      for (g in batch$units) {
        rows <- seq(batch$starts[g] + 1, batch$starts[g + 1])
        expect_equal(batch$back[rows], of(batch$groups[g]))
      }
    }
    expect_equal(source$taken_groups$back, c(of(3), of(1)))
  }
  for (bad in list(replace(data$back, 1, 1L), replace(data$back, 5, -1L), replace(data$back, 30, 30L), 0L)) {
    spoilt <- data
    spoilt$back <- as.integer(bad)
    expect_error(engine_fit(spoilt, tree_model(), engine_control(3), NULL, NULL), "back")
  }
})

test_that("any number of threads gives the same bits", {
  forest <- withr::with_seed(10, planted_tree(10, random_parents(4000, 300)))
  large <- withr::with_seed(11, planted_tree(11, random_parents(34000, 1)))
  for (tree in list(forest, large)) {
    fits <- lapply(c(1L, 2L, 3L), function(threads) {
      fit <- engine_fit(
        engine_trees(tree), tree_model(), engine_control(1, threads = threads, max_laps = 3L, moves = all_moves), NULL,
        NULL
      )
      fit$trace$seconds <- NULL
      fit
    })
    expect_identical(fits[[2]], fits[[1]])
    expect_identical(fits[[3]], fits[[1]])
  }
})
