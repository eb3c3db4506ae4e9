positions_model <- function(prior, p = 2L) list(obs = diagonal_model(), prior = c(prior, list(positions = p)))
side_of <- function(n) as.integer(seq_len(n) %% 2)

test_that("messages with transitions by position equal the sum over all states", {
  withr::local_seed(1)
  for (n in c(2, 5, 7)) {
    for (k in 1:3) {
      for (p in 2:3) {
        for (spread in c(0.5, 20)) {
          chain <- random_chain(n, k, spread)
          transition <- do.call(rbind, lapply(seq_len(p), function(q) random_chain(1, k)$transition))
          place <- sample(n)
          parent <- renumbered(random_parents(n, min(n, sample(2, 1))), place)
          position <- sample(0:(p - 1), n, TRUE)
          want <- enumerate_trees(chain$start, transition, chain$e, parent, position)
          for (careful in c(FALSE, TRUE)) {
            got <- tree_messages(chain$start, transition, chain$e, parent, careful, position)
            others <- setdiff(names(want), "entropy")
            expect_equal(got[others], want[others], tolerance = 1e-12)
            expect_lt(abs(got$entropy - want$entropy), 1e-12)
            expect_equal(got$log_evidence, want$log_z, tolerance = 1e-12)
          }
        }
      }
    }
  }
})

test_that("the objective of transitions by position equals a recomputation in plain R, and its sticks are optimal", {
  tree <- planted_sides(2, 80)
  tree$position <- (tree$position + seq_len(80)) %% 3
  data <- engine_trees(tree)
  resp <- withr::with_seed(2, matrix(rgamma(240, 0.3), 80))
  resp <- resp / rowSums(resp)
  pair <- array(0, c(3, 3, 3)) # from, position, to
  for (t in which(data$back > 0)) {
    q <- data$position[t] + 1
    pair[, q, ] <- pair[, q, ] + outer(resp[t - data$back[t], ], resp[t, ])
  }
  for (bound in c("tight", "loose")) {
    for (prior in c(hmm_priors, list(small = utils::modifyList(hmm_priors$sticky, list(sticky = 0.1))))) {
      model <- c(positions_model(prior, 3L), list(bound = bound))
      fit <- engine_fit(data, model, engine_control(max_laps = 0L), list(resp = resp), NULL)
      expect_equal(fit$state$pair, matrix(pair, 3), tolerance = 1e-10)
      expect_equal(fit$terms[["entropy"]], -sum(resp * log(resp)), tolerance = 1e-10)
      rows <- expected_rows_by_position(fit$state, prior, 3)
      if (prior$family == "hmm") {
        none <- expected_rows_by_position(
          list(k = 3, pair = 0 * fit$state$pair, extra = 0 * fit$state$extra), prior, 3
        )
        expect_equal(fit$terms[["transitions"]], rows$value - none$value, tolerance = 1e-8)
        next
      }
      value <- function(x) {
        state <- utils::modifyList(fit$state, list(u = stats::plogis(x[1:3])))
        c(
          twin_sticks_by_position(
            state$u, exp(x[4:6]), 3, prior$gamma, prior$sticky, prior$alpha, prior$start, 3, bound
          ),
          expected_rows_by_position(state, prior, 3)$value
        )
      }
      at <- c(stats::qlogis(fit$state$u), log(fit$state$omega))
      expect_equal(unname(fit$terms[c("sticks", "transitions")]), value(at), tolerance = 1e-8)
      best <- stats::optim(at + 0.3, function(x) -sum(value(x)), method = "BFGS", control = list(reltol = 1e-14))
      expect_gte(sum(value(at)), -best$value - 1e-6)
    }
  }
})

test_that("a lap by position is messages at the expected logarithms of a plain-R twin", {
  tree <- planted_sides(3, 60, spread = 1)
  data <- engine_trees(tree)
  for (prior in hmm_priors) {
    model <- positions_model(prior)
    fit <- engine_fit(data, model, engine_control(3, max_laps = 2L), NULL, NULL)
    rows <- expected_rows_by_position(fit$state, prior, 2)
    resp <- engine_responsibilities(data, model, fit$state, 1L)
    path <- engine_viterbi(data, model, fit$state, 1L)
    log_e <- engine_expected_logs(data, model, fit$state, 1L)
    want <- engine_tree_messages(rows$start, rows$transition, log_e, data$back, data$position, FALSE)
    expect_equal(resp, want$resp, tolerance = 1e-8)
    expect_identical(path, want$state)
  }
})

test_that("one position is the fit without, bit for bit, and names of positions do not matter", {
  tree <- planted_sides(4, 150)
  data <- engine_trees(tree)
  fit <- function(data, p, ...) {
    out <- engine_fit(data, positions_model(hmm_priors$sticky, p), engine_control(
      1, max_laps = 10L, moves = all_moves, ...
    ), NULL, NULL)
    out$trace$seconds <- NULL
    out
  }
  plain <- data
  plain$position <- NULL
  single <- data
  single$position[] <- 0L
  want <- engine_fit(plain, list(obs = diagonal_model(), prior = hmm_priors$sticky), engine_control(
    1, max_laps = 10L, moves = all_moves
  ), NULL, NULL)
  want$trace$seconds <- NULL
  expect_identical(fit(single, 1L), want)
  swapped <- data
  swapped$position <- 1L - swapped$position
  one <- fit(data, 2L)
  two <- fit(swapped, 2L)
  expect_equal(two$elbo, one$elbo, tolerance = 1e-10)
  k <- one$state$k
  expect_equal(array(two$state$pair, c(k, 2, k))[, 2:1, ], array(one$state$pair, c(k, 2, k)), tolerance = 1e-8)
})

test_that("every state of a fit by position with all moves is what its responsibilities say, and none falls", {
  sides <- planted_sides(5, 160)
  forest <- withr::with_seed(5, planted_tree(5, random_parents(200, 5)))
  forest$position <- withr::with_seed(6, sample(0:3, 200, TRUE))
  for (tree in list(sides, forest)) {
    data <- engine_trees(tree)
    p <- max(data$position) + 1L
    for (prior in hmm_priors) {
      for (batches in unique(c(1L, min(3L, length(data$starts) - 1L)))) {
        for (source in some_of(c("memory", "transient"), by = 2, from = min(batches, 2L))) {
          control <- engine_control(
            if (prior$family == "hmm") 3 else 1, max_laps = 12L, moves = all_moves, batches = batches, audit = TRUE,
            source = source
          )
          fit <- engine_fit(data, positions_model(prior, p), control, NULL, NULL)
          expect_audited(fit)
          k <- fit$state$k
          expect_equal(
            apply(array(fit$state$pair, c(k, p, k)), 2, sum), tabulate(data$position[data$back > 0] + 1, p),
            tolerance = 1e-9
          )
        }
      }
    }
  }
})

test_that("any number of threads gives the same bits by position", {
  tree <- planted_sides(6, 34000)
  fits <- lapply(c(1L, 3L), function(threads) {
    fit <- engine_fit(
      engine_trees(tree), positions_model(hmm_priors$sticky),
      engine_control(1, threads = threads, max_laps = 3L, moves = all_moves), NULL, NULL
    )
    fit$trace$seconds <- NULL
    fit
  })
  expect_identical(fits[[2]], fits[[1]])
})

test_that("the engine refuses positions that the model does not have, and the other way round", {
  tree <- planted_sides(7, 20)
  data <- engine_trees(tree)
  fit <- function(data, prior = hmm_priors$finite, p = 2L) {
    engine_fit(data, positions_model(prior, p), engine_control(3), NULL, NULL)
  }
  expect_error(fit(data, p = 1L), "no positions of the model")
  expect_error(fit(data[setdiff(names(data), "position")]), "wants positions")
  expect_error(fit(replace(data, "position", list(-data$position))), "no positions of the model")
  expect_error(fit(replace(data, "position", list(data$position[-1]))), "not a number for each row")
  expect_error(fit(data[setdiff(names(data), "back")]), "not a number for each row")
})

few <- bnp_control(seed = 1, verbose = FALSE)
sides <- planted_sides(8, 500)
names_of_sides <- c("right", "left")[1 + side_of(500)]
sided <- bnp_hmm(sides$x, parent = sides$parent, position = names_of_sides, control = few)

long_test("positions with different transitions are found, and explain new trees better than one matrix", {
  expect_equal(n_clusters(sided), 3)
  expect_gt(adjusted_rand_index(fitted(sided), sides$z), 0.95)
  p <- transition_matrix(sided)
  expect_equal(dim(p), c(3L, 3L, 2L))
  expect_equal(dimnames(p)[[3]], c("left", "right"))
  expect_equal(apply(p, c(1, 3), sum), matrix(1, 3, 2), ignore_attr = TRUE)
  state <- as.integer(fitted(sided)[match(1:3, sides$z)]) # of the planted states
  for (side in 0:1) {
    name <- names_of_sides[match(side, sides$position)]
    for (j in 1:3) expect_gt(p[state[j], state[(j + side - 1) %% 3 + 1], name], 0.8)
  }
  same <- bnp_hmm(sides$x, parent = sides$parent, control = few)
  expect_gt(elbo(sided), elbo(same) + 100)
  new <- planted_sides(9, 300)
  expect_gt(
    heldout_loglik(sided, new$x, parent = new$parent, position = c("right", "left")[1 + side_of(300)]),
    heldout_loglik(same, new$x, parent = new$parent) + 0.2
  )
  # Bits of a fit without, and its start for one with.
  single <- bnp_hmm(sides$x, parent = sides$parent, position = rep("any", 500), control = few)
  expect_identical(single$state, same$state)
  expect_identical(predict(single, new$x, parent = new$parent), predict(same, new$x, parent = new$parent))
  from <- bnp_hmm(sides$x, parent = sides$parent, position = names_of_sides, control = few, start = same)
  expect_equal(elbo(from), elbo(sided), tolerance = 1e-3)
  back <- bnp_hmm(sides$x, parent = sides$parent, control = few, start = sided)
  expect_equal(elbo(back), elbo(same), tolerance = 1e-3)
  renamed <- bnp_hmm(sides$x, parent = sides$parent, position = side_of(500), control = few, start = sided)
  expect_equal(elbo(renamed), elbo(sided), tolerance = 1e-6)
})

test_that("log densities by position are sums over all states, one not seen yet included", {
  tree <- planted_tree(9, c(0, 1, 1, 2, 2, 3, 0, 7), k = 2)
  side <- c(0, 0, 1, 0, 1, 0, 0, 1)
  for (prior in list(prior_hdp_hmm(sticky = 3), prior_hmm(2))) {
    line <- planted_sides(10, 60, k = 2)
    fit <- bnp_hmm(line$x, parent = line$parent, position = line$position, prior = prior, control = few)
    got <- predict(fit, tree$x, parent = tree$parent, position = side, type = "logdensity")
    p <- engine_mean_transitions(fit$model, fit$state)
    expect_equal(nrow(p), 1 + 2 * ncol(p))
    data <- as_engine_data(as_sequence_data(tree$x, fit$model$obs, na_action = "fail"))
    log_e <- engine_log_predictives(data, replace(fit$model, "prior", list(prior)), state_for_positions(
      fit$state, fit, list()
    ), 1L)[, seq_len(ncol(p))]
    want <- enumerate_trees(log(p[1, ]), log(p[-1, ]), log_e, tree$parent, side)
    expect_equal(sum(got), want$log_z, tolerance = 1e-8)
    expect_equal(heldout_loglik(fit, tree$x, parent = tree$parent, position = side), want$log_z / 8, tolerance = 1e-8)
    new <- transition_matrix(fit, new = TRUE)
    if (ncol(p) > fit$state$k) expect_equal(apply(new, c(1, 3), sum), matrix(1, fit$state$k, 2), ignore_attr = TRUE)
    k <- fit$state$k
    at <- list(p[1, seq_len(k)], p[1 + c(seq_len(k), ncol(p) + seq_len(k)), seq_len(k)])
    at <- list(at[[1]] / sum(at[[1]]), at[[2]] / rowSums(at[[2]]))
    expect_equal(
      unname(matrix(aperm(unclass(transition_matrix(fit)), c(1, 3, 2)), 2 * k)),
      at[[2]][c(fit$numbering, k + fit$numbering), fit$numbering], tolerance = 1e-12
    )
    # At point estimates of the parameters, and only the states of the fit.
    flat <- function(parent, position) {
      heldout_loglik(fit, tree$x[1:3, ], parent = parent, position = position, type = "plugin")
    }
    expect_equal(flat(c(0, 1, 1), c(0, 0, 1)), flat(c(0, 1, 1), factor(c(NA, 0, 1))))
  }
})

test_that("numbers of positions do not matter to densities", {
  swapped <- sided
  k <- sided$state$k
  swapped$state$pair <- matrix(array(sided$state$pair, c(k, 2, k))[, 2:1, ], k)
  swapped$input$tree$positions <- rev(sided$input$tree$positions)
  new <- planted_sides(14, 40)
  for (type in c("completion", "plugin")) {
    score <- function(fit) {
      heldout_loglik(fit, new$x, parent = new$parent, position = c("right", "left")[1 + side_of(40)], type = type)
    }
    expect_equal(score(swapped), score(sided), tolerance = 1e-12)
  }
})

test_that("learned concentrations are those of the rows of all positions", {
  prior <- list(family = "hdp_hmm", gamma = 5, alpha = c(1, 0.1), start = 4, sticky = 2)
  data <- engine_trees(planted_sides(15, 400, stay = 0.6, spread = 8))
  fit <- engine_fit(data, positions_model(prior), engine_control(3, max_laps = 60L), NULL, NULL)
  learned <- fit$concentrations$alpha[3]
  rows <- function(value) {
    at <- utils::modifyList(prior, list(alpha = value))
    sum(twin_sticks_by_position(fit$state$u, fit$state$omega, fit$state$k, 5, 2, value, 4, 2)) +
      expected_rows_by_position(fit$state, at, 2)$value + stats::dgamma(value, 1, 0.1, log = TRUE)
  }
  best <- stats::optimize(function(x) rows(exp(x)), log(c(0.01, 100)), maximum = TRUE)$maximum
  expect_equal(log(learned), best, tolerance = 0.05)
})

test_that("simulated states follow the transitions of their positions", {
  big <- planted_sides(11, 4000, d = 1, spread = 12)
  fit <- bnp_hmm(big$x, parent = big$parent, position = big$position, prior = prior_hmm(3), control = few)
  sim <- simulate(fit, 1, seed = 5)$sim_1
  for (side in 0:1) {
    at <- which(big$parent > 0 & big$position == side)
    counts <- table(sim$.state[big$parent[at]], sim$.state[at])
    expect_equal(
      unclass(counts / rowSums(counts)), transition_matrix(fit)[, , side + 1], tolerance = 0.1, ignore_attr = TRUE
    )
  }
})

test_that("positions come as labels, as columns or in order, and go with new data", {
  frame <- data.frame(sides$x, up = sides$parent, side = names_of_sides)
  by_name <- bnp_hmm(frame, parent = "up", position = "side", control = few)
  expect_identical(by_name$state, sided$state)
  expect_named(posterior_params(by_name)$mean[1, ], c("X1", "X2"))
  expect_identical(unname(predict(by_name, frame)), unname(fitted(sided)))
  expect_identical(
    unname(predict(by_name, frame[1:2], parent = sides$parent, position = names_of_sides)), unname(fitted(sided))
  )
  expect_identical(as.integer(augment(by_name, frame)$.class), unname(fitted(sided)))
  expect_equal(predict(sided, sides$x, type = "prob"), predict(by_name, frame, type = "prob"), ignore_attr = TRUE)
  # Any order of the rows, and another order of levels.
  place <- withr::with_seed(12, sample(500))
  mixed <- matrix(0, 500, 2)
  mixed[place, ] <- sides$x
  moved <- character(500)
  moved[place] <- names_of_sides
  labels <- integer(500)
  labels[place] <- fitted(sided)
  other <- bnp_hmm(mixed, parent = renumbered(sides$parent, place), position = factor(moved, c("right", "left", "up")),
    control = few, start = labels)
  expect_equal(dimnames(transition_matrix(other))[[3]], c("right", "left"))
  expect_equal(
    unname(transition_matrix(other)[, , "left"]), unname(transition_matrix(sided)[, , "left"]), tolerance = 1e-3
  )
  ordered <- bnp_hmm(sides$x, parent = sides$parent, position = TRUE, control = few)
  expect_equal(dimnames(transition_matrix(ordered))[[3]], c("1", "2"))
  expect_equal(elbo(ordered), elbo(sided), tolerance = 1e-4) # even rows are first children
  new <- planted_sides(13, 50)
  expect_identical(
    predict(ordered, new$x, parent = new$parent),
    predict(ordered, new$x, parent = new$parent, position = 1 + side_of(50))
  )
  expect_equal(place_among_siblings(c(2L, 0L, 2L, 1L, 2L, 1L)), c(1L, 0L, 2L, 1L, 3L, 2L))
  skip_if_not_installed("ape")
  tree <- ape::read.tree(text = "((a,b),(c,d),e);")
  birds <- bnp_hmm(c(a = 1, b = 5, c = 1.1, d = 5.2, e = 3), parent = tree, position = TRUE, prior = prior_hmm(2),
    control = few)
  expect_equal(dimnames(transition_matrix(birds))[[3]], c("1", "2", "3"))
  expect_length(predict(birds, c(a = 1, b = 5, c = 1.1, d = 5.2, e = 3), na_action = "model"), 8)
})

test_that("methods of a fit to a tree show the transitions of each position", {
  expect_match(paste(capture.output(print(sided)), collapse = " "), "in 1 tree, transitions by 2 positions")
  expect_match(paste(capture.output(print(summary(sided))), collapse = " "), "positions = 2")
  interval <- confint(sided, "transition[1,2,left]")
  p <- transition_matrix(sided)
  expect_lt(interval[1], p[1, 2, "left"])
  expect_gt(interval[2], p[1, 2, "left"])
  table <- tidy(sided, conf.int = TRUE)
  rows <- table[table$parameter == "transition", ]
  expect_equal(nrow(rows), 18)
  expect_equal(rows$estimate, c(vapply(1:2, function(q) c(t(p[, , q])), numeric(9))))
  theta <- posterior_params(sided)$transition
  expect_equal(dim(theta), c(3L, 4L, 2L))
  expect_equal(dimnames(theta)[[3]], c("left", "right"))
  share <- table(names_of_sides[-1]) / 499
  stay <- diag(p[, , "left"]) * share[["left"]] + diag(p[, , "right"]) * share[["right"]]
  expect_equal(as.double(state_durations(sided)), unname(1 / (1 - stay)), tolerance = 1e-12)
  expect_true(all(is.finite(tidy(sided)$duration)))
  grown <- cluster_tree(sided, sides$x)
  cut <- cut_fit(sided, sides$x, k = 2, tree = grown)
  expect_equal(dim(transition_matrix(cut)), c(2L, 2L, 2L))
  expect_lt(elbo(cut), elbo(sided))
  expect_equal(elbo(update(sided, start = sided)), elbo(sided), tolerance = 1e-8)
  single <- bnp_hmm(sides$x[1:7, ], parent = sides$parent[1:7], position = side_of(7), prior = prior_hmm(1),
    control = few)
  expect_equal(c(transition_matrix(single)), c(1, 1))
  withr::local_pdf(NULL)
  expect_invisible(plot(sided, "transitions"))
  expect_invisible(plot(sided))
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(sided, "transitions"))
  expect_equal(nrow(built$data[[1]]), 18)
  expect_equal(levels(built$plot$data$position), c("left", "right"))
})

test_that("learned concentrations by position, weights of trees, and a fit resumed", {
  two <- list(x = rbind(sides$x[1:60, ], sides$x[1:31, ]), parent = c(sides$parent[1:60], ifelse(
    sides$parent[1:31] == 0, 0, sides$parent[1:31] + 60
  )), position = c(side_of(60), side_of(31)))
  obs <- obs_gaussian("diagonal", mean = c(4, 4), mean_strength = 0.01, df = 4, scale = 1)
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 10, tol = 0, verbose = FALSE)
  start <- c(sides$z[1:60], sides$z[1:31])
  fit <- function(tree, start, ...) suppressWarnings(
    bnp_hmm(tree$x, obs = obs, parent = tree$parent, position = tree$position, control = control, start = start, ...),
    classes = "bnpvi_warning_max_laps"
  )
  weighted <- fit(two, start, weights = c(1, 2))
  three <- list(x = rbind(two$x, sides$x[1:31, ]), parent = c(two$parent, ifelse(
    sides$parent[1:31] == 0, 0, sides$parent[1:31] + 91
  )), position = c(two$position, side_of(31)))
  expect_equal(elbo(weighted), elbo(fit(three, c(start, sides$z[1:31]))), tolerance = 1e-10)
  learned <- bnp_hmm(sides$x, parent = sides$parent, position = names_of_sides, control = few,
    prior = prior_hdp_hmm(alpha = gamma_prior(1, 1), start = gamma_prior(1, 1), sticky = gamma_prior(1, 0.1)))
  expect_gte(min(diff(elbo_trace(learned)$elbo)), -1e-6 * abs(elbo(learned)))
  expect_named(glance(learned)[c("alpha", "start", "sticky")])
  file <- withr::local_tempfile()
  stopped <- bnp_control(seed = 1, verbose = FALSE, max_laps = 3, checkpoint = file)
  suppressWarnings(
    bnp_hmm(sides$x, parent = sides$parent, position = names_of_sides, control = stopped),
    classes = "bnpvi_warning_max_laps"
  )
  again <- suppressWarnings(bnp_resume(file, sides$x), classes = "bnpvi_warning_max_laps")
  expect_equal(dim(transition_matrix(again))[3], 2L)
})

test_that("positions that do not go with the parents are refused", {
  x <- sides$x[1:7, ]
  parent <- sides$parent[1:7]
  bad <- function(position, ..., up = parent) {
    expect_bad(bnp_hmm(x, parent = up, position = position, control = few), "position", ...)
  }
  bad(1:6, "one value per node.*7.*6")
  bad(c(1, 1, NA, 1, 1, 1, 1), "NA.*row 3")
  bad("side", "names the column")
  bad(list(1, 2), "label per row")
  bad(matrix(1, 7, 1), "label per row")
  bad(complex(7), "label per row")
  bad(1:7, "parent", up = NULL)
  bad(FALSE, "one value per node")
  expect_bad(
    bnp_hmm(rnorm(200), parent = c(0, rep(1, 199)), position = TRUE, control = few), "position", "at most 100.*199"
  )
  expect_bad(predict(sided, x, parent = parent), "position", "needed")
  expect_bad(predict(sided, x, parent = parent, position = rep("up", 7)), "position", "left.*right.*up")
  expect_bad(predict(sided, x, position = rep("left", 7)), "position", "parent")
  plain <- bnp_hmm(x, parent = parent, control = few)
  expect_bad(predict(plain, x, parent = parent, position = 1:7), "position", "same transitions")
  expect_bad(heldout_loglik(plain, x, parent = parent, position = 1:7), "position", "same transitions")
  expect_bad(augment(plain, x, parent = parent, position = 1:7), "position", "same transitions")
  swapped <- data.frame(sides$x, up = sides$parent, side = names_of_sides)
  by_name <- bnp_hmm(swapped, parent = "up", position = "side", control = few)
  swapped$side <- rev(swapped$side)
  expect_bad(cluster_tree(by_name, swapped), "other_data")
})
