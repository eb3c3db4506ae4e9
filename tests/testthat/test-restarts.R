# Several starts of a fit: which are made, which are given up and when they end (src/inference/learn/restarts.h), by
# fits whose laps do what a script says; and bnp_control(restarts = "auto") in every family.

# Fits of one lap that end at these values, all kinds taking turns.
ends_at <- function(..., work = 1, k = 1) {
  lapply(list(...), function(x) script(laps(still = x), value = x, work = work, k = k))
}
two_kinds <- list(one = list(least = 1, most = 1), many = list(least = 2, most = 100))
chosen <- function(scripts, kinds = two_kinds, most_work = 100, ...) {
  driven(scripts = scripts, control = list(kinds = kinds, most_work = most_work, ...))
}
n_starts <- function(run) max(1L, nrow(run$restarts))

test_that("starts end when the best one and one of another kind agree", {
  agreed <- chosen(ends_at(5, 5.5, 9))
  expect_identical(agreed$restarts$elbo, c(5, 5.5))
  expect_identical(agreed$restarts$agrees, c(TRUE, TRUE))
  expect_identical(agreed$best, 2L)
  # The third is of the kind of the first, which is no second opinion; the fourth is.
  expect_identical(chosen(ends_at(5, 1, 5, 5, 9))$restarts$agrees, c(TRUE, FALSE, TRUE, TRUE))
  # Two that agree below the best one do not count.
  expect_identical(n_starts(chosen(ends_at(5, 5, 9)[c(1, 3, 2, 1, 3, 3)])), 5L)
  # Where there is one kind, any two.
  expect_identical(n_starts(chosen(ends_at(5, 5, 9), two_kinds[1])), 2L)
})

test_that("starts end when they have spent what they may, but each kind is tried", {
  far <- function(n, ...) do.call(ends_at, c(as.list(10 * seq_len(n)), ...))
  expect_identical(n_starts(chosen(far(60), most_work = 7)), 7L)
  expect_identical(n_starts(chosen(far(60), most_work = 1e9)), 50L)
  three <- c(two_kinds, other = list(list(least = 5, most = 5)))
  expect_identical(n_starts(chosen(ends_at(5, 5, 5, 9), three)), 3L)
  expect_identical(n_starts(chosen(far(9, work = 3), three, most_work = 4)), 2L)
  expect_null(chosen(far(9, work = 5), three, most_work = 4)$restarts)
})

test_that("kinds take turns, each start with a seed of its own, and many are twice those found", {
  run <- chosen(ends_at(10, 30, 20, 40, k = 7), most_work = 4)
  expect_identical(run$restarts$init, c("one", "many", "one", "many"))
  expect_identical(run$restarts$k_init, c(1L, 14L, 1L, 14L))
  expect_identical(run$restarts$seed, vapply(0:3, function(r) engine_restart_seed(1, r), 1))
  expect_identical(chosen(ends_at(10, 30, k = 70), most_work = 2)$restarts$k_init, c(1L, 100L))
})

test_that("a start has no more clusters than one lap can have with the work that is left", {
  k_of_second <- function(work, least = 50L, most = 100L, k = 1) {
    kinds <- list(one = list(least = 1L, most = 1L), many = list(least = least, most = most))
    chosen(ends_at(10, 10, work = work, k = k), kinds)$restarts$k_init[2]
  }
  expect_identical(k_of_second(1), 50L)
  expect_identical(k_of_second(20), 4L)
  expect_identical(k_of_second(60), 2L) # twice those found
  expect_identical(k_of_second(60, k = 10), 20L)
  expect_identical(k_of_second(60, most = 50L), 50L) # a prior says how many
})

test_that("once each kind has ended, the best end is altered until enough starts agree with it", {
  altered <- function(..., most_work = 60) chosen(ends_at(..., k = 7), alters = TRUE, most_work = most_work)
  run <- altered(10, 20, 15, 30, 30.5, 29, 30.4, 30, 29.8, 99)
  expect_identical(run$restarts$init, c("one", "many", rep("altered", 7)))
  expect_identical(run$restarts$agrees, c(FALSE, FALSE, FALSE, TRUE, TRUE, FALSE, TRUE, TRUE, TRUE))
  expect_identical(run$best, 5L)
  expect_identical(run$restarts$k_init, c(1L, 14L, rep(NA, 7)))
  # Four altered ends that agree with the end they come from are enough; 16 where that costs next to nothing.
  expect_identical(n_starts(altered(10, 20, 20, 20, 20, 20, 99)), 6L)
  twenties <- as.list(rep(20, 20))
  expect_identical(n_starts(do.call(altered, c(10, twenties, most_work = 1000))), 18L)
  # Two kinds that agree, and four altered ends that are no better than the best; without these where all work is done.
  expect_identical(n_starts(altered(10, 10.5, 9, 9, 9, 9, 99)), 6L)
  better <- altered(10, 10.5, 9, 11, 9, 9, 9, 9, 99)
  expect_identical(n_starts(better), 8L)
  expect_identical(better$best, 4L)
  expect_identical(n_starts(altered(10, 10.5, 99, most_work = 2)), 2L)
  # One cluster cannot be altered: kinds go on in turn.
  one <- chosen(ends_at(1, 5, 9, 9, k = 1), alters = TRUE, most_work = 4)
  expect_identical(one$restarts$init, rep(names(two_kinds), 2))
})

test_that("the longer the first start took, the more work altered ends may do", {
  ends <- function(work, first = work, n = 60) {
    scripts <- c(ends_at(0, work = first, k = 2), do.call(ends_at, c(as.list(10 * seq_len(n)), work = work, k = 2)))
    chosen(scripts, alters = TRUE)$restarts
  }
  # The geometric mean of the work of the first start and of 70 times what is allowed, 100 here.
  expect_identical(sum(ends(70)$work), 700)
  expect_identical(sum(ends(700)$work), 2800)
  # What is allowed, if that is more.
  expect_identical(sum(ends(5, first = 1)$work), 101)
  # No other kind of start where the first one took more than is allowed; no start at all where it took too much.
  expect_identical(ends(100, first = 120)$init[1:3], c("one", "altered", "altered"))
  expect_null(ends(1, first = 7000))
  expect_identical(nrow(ends(0.01, n = 250)), 200L)
})

# The laps of a start that ends at `value`, by 10 laps of equal gains after the first.
rising <- function(from, value, k = 1) {
  steps <- seq(from, value, length.out = 11)
  script(do.call(laps, c(stats::setNames(as.list(steps), rep("moves", 11)), still = value)), value = from, k = k)
}
patient <- list(max_laps = 100L, tol = 1e-6)
# A sixth start agrees with nothing and takes all the work that is left.
raced <- function(...) {
  last <- script(laps(still = -1000), value = -1000, work = 1e6)
  driven(scripts = list(..., last), control = c(list(kinds = two_kinds, most_work = 60), patient))$restarts[1:5, ]
}

test_that("a start is given up when it is behind at equal work by more than it gains", {
  # The third is 90 behind and gains 10 while its work doubles, or comes from behind.
  behind <- raced(rising(0, 100), rising(0, 50), rising(-90, -50), rising(0, 97), rising(0, 99))
  expect_identical(behind$given_up, c(FALSE, FALSE, TRUE, FALSE, FALSE))
  expect_true(behind$laps[3] < behind$laps[1])
  catches_up <- raced(rising(0, 100), rising(-90, 110), rising(-90, 105), rising(0, 50), rising(0, 60))
  expect_identical(catches_up$given_up[3], FALSE)
  # None before each kind has ended.
  expect_identical(raced(rising(0, 100), rising(-90, -50), rising(0, 50), rising(0, 60))$given_up[2], FALSE)
})

test_that("an altered end is given up when it is further behind than it gains, but not at once", {
  # Laps of work 1, which double it after 2, 4 and 8 laps; a tenth of the work of the first start is 4.4 units.
  first <- list(script(laps(still = 100), value = 100, work = 44, k = 2), rising(0, 50))
  run <- function(...) {
    driven(scripts = c(first, list(...)), control = c(list(kinds = two_kinds, most_work = 60, alters = TRUE), patient))
  }
  soon <- script(laps(moves = 20, moves = 99, still = 101), value = 20, k = 2)
  ended <- do.call(run, c(list(rising(-90, 60)), rep(list(soon), 5)))$restarts
  expect_identical(ended$given_up, c(FALSE, FALSE, TRUE, rep(FALSE, 5)))
  expect_identical(ended$laps[3], 8L)
})

test_that("a start that goes on for too long must be ahead", {
  long <- function(value) script(laps(moves = value), value = value, work = 10)
  control <- c(list(kinds = two_kinds, most_work = 20), patient)
  run <- driven(scripts = list(script(laps(still = 5), value = 5), long(1), long(1)), control = control)
  expect_identical(run$restarts$given_up, c(FALSE, TRUE))
  expect_identical(run$best, 1L)
  ahead <- driven(scripts = list(script(laps(still = 5), value = 5), long(8), long(1)), control = control)
  expect_identical(ahead$restarts$given_up[2], FALSE)
  expect_identical(ahead$best, 2L)
})

test_that("the first start goes on to its end, however far ahead another one is at equal work", {
  slow <- script(do.call(laps, c(stats::setNames(as.list(1:9), rep("moves", 9)), still = 10)), work = 5)
  quick <- script(do.call(laps, c(stats::setNames(as.list(5:9), rep("moves", 5)), still = 9)), work = 5)
  # The first start takes 50 in all: a quarter of what may be done, half, more than half, and more than that.
  for (most_work in c(200, 100, 60, 40)) {
    control <- c(list(kinds = two_kinds, most_work = most_work), patient)
    run <- driven(scripts = list(slow, quick, quick, quick, quick), control = control)
    expect_identical(run[c("best", "objective")], list(best = 1L, objective = 10), info = most_work)
  }
})

test_that("several starts never end below the one of the same seed", {
  sets <- list(faithful = faithful, quakes = quakes[1:4], swiss = swiss)
  for (name in some_of(names(sets), by = 5)) {
    by <- function(...) bnp_mixture(sets[[name]], control = bnp_control(seed = 1, verbose = FALSE, ...))
    one <- elbo(by(restarts = 1))
    work <- by(restarts = "auto", effort = "low")$restarts$work[1]
    # As much as the first start takes is where others begin to be tried.
    for (share in c(0.5, 0.9, 1.1, 1.9)) {
      replace_in_package("work_of_starts", c(low = 4e8, default = share * work), rlang::current_env())
      expect_gte(elbo(by(restarts = "auto")), one, label = paste(name, share))
    }
  }
})

test_that("a run of several kinds that was written after any lap goes on to the same end", {
  scripts <- list(rising(0, 100), rising(0, 50), rising(-90, -50), rising(0, 97), rising(0, 97.5), rising(0, 40))
  bits <- function(run) {
    run$trace$seconds <- run$progress <- NULL
    run
  }
  control <- c(list(kinds = two_kinds, most_work = 45), patient)
  whole <- bits(driven(scripts = scripts, control = control))
  expect_true(any(whole$restarts$given_up))
  for (lap in 0:12) {
    part <- driven(scripts = scripts, control = c(control, keep_lap = lap))
    expect_identical(bits(part), whole)
    expect_identical(bits(driven(scripts = scripts, control = c(control, list(resume = part$progress)))), whole)
  }
  control <- c(control, list(alters = TRUE))
  ends <- lapply(c(97, 99, rep(101, 5)), function(value) script(laps(moves = 9, still = value), value = 9, k = 2))
  scripts <- c(list(rising(0, 100, k = 2), rising(0, 50), rising(-90, 60)), ends)
  whole <- bits(driven(scripts = scripts, control = control))
  expect_true("altered" %in% whole$restarts$init)
  for (lap in c(0, 5, 12)) {
    part <- driven(scripts = scripts, control = c(control, keep_lap = lap))
    expect_identical(bits(driven(scripts = scripts, control = c(control, list(resume = part$progress)))), whole)
  }
})

same_bits <- c("elbo", "state", "labels", "sizes", "laps", "restarts")
bits_of <- function(fit) unclass(fit)[intersect(same_bits, names(fit))]

test_that("altered ends rise above those of every kind of start, with the same bits for any threads", {
  x <- scale(as.matrix(quakes[1:4]))
  obs <- obs_gaussian(learn = FALSE, rounding = 0)
  by <- function(threads) {
    control <- bnp_control(seed = 1, restarts = "auto", effort = "low", threads = threads)
    bnp_mixture(x, obs, control = control)
  }
  fit <- by(1)
  altered <- fit$restarts$init == "altered"
  expect_gt(elbo(fit), max(fit$restarts$elbo[!altered]) + 5)
  expect_identical(elbo(fit), max(fit$restarts$elbo))
  expect_identical(bits_of(by(2)), bits_of(fit))
  again <- bnp_mixture(x, obs, start = fit, control = bnp_control(moves = FALSE, max_laps = 200))
  expect_gte(elbo(again), elbo(fit) - 1e-8)
  expect_output(print(fit), "Best of 2 starts and [0-9]+ altered ends")
})

test_that("asked to stop, the best start so far is returned", {
  stopped <- chosen(c(ends_at(5, 3), list(script(laps(stopped = 1))), ends_at(9)))
  expect_identical(stopped[c("best", "objective", "interrupted")], list(best = 1L, objective = 5, interrupted = TRUE))
})

# A fit of each family whose starts differ, and its bits.
families <- function() {
  control <- function(..., seed = 1) bnp_control(seed = seed, verbose = FALSE, ...)
  set.seed(3)
  rows <- matrix(rnorm(16, sd = 2.5), 8)[sample(8, 250, TRUE), ] + rnorm(500)
  walk <- matrix(rnorm(10, sd = 3), 5)[rep(sample(5, 30, TRUE), each = 8), ] + rnorm(480)
  group <- rep(1:4, each = 12)
  links <- 1 * (matrix(runif(48^2), 48) < ifelse(outer(group, group, "=="), 0.5, 0.08))
  links <- pmin(links + t(links), 1)
  diag(links) <- 0
  few <- bnp_moves(max_births = 2)
  list(
    mixture = function(...) bnp_mixture(rows, control = control(...)),
    finite = function(...) {
      bnp_mixture(rows, prior = prior_dirichlet(8), control = control(...))
    },
    topics = function(...) bnp_topics(bars$counts[1:60, ], control = control(...)),
    sequences = function(...) bnp_hmm(walk, control = control(...)),
    features = function(...) {
      bnp_features(planted_features(3, 80, 8, 3)$x, control = control(moves = few, ...))
    },
    blocks = function(...) bnp_network(links, prior = prior_dp(), control = control(...)),
    communities = function(...) bnp_network(links, control = control(...))
  )
}
test_that("every row of the table of starts is a fit of its own, in every family", {
  for (name in some_of(names(families()), by = 9)) {
    fit_by <- families()[[name]]
    # One start of communities takes all that the default allows.
    fit <- fit_by(restarts = "auto", effort = if (name == "communities") "high" else "low")
    ends <- fit$restarts
    expect_true(nrow(ends) > 1L, info = name)
    # Blockmodels are compared by the log joint of their labels.
    if (name != "blocks") expect_identical(max(ends$elbo), elbo(fit), info = name)
    for (row in head(which(!ends$init %in% "altered"), 3L)) {
      given <- Filter(Negate(is.na), as.list(ends[row, c("seed", "init", "k_init")]))
      alone <- do.call(fit_by, c(given, restarts = 1))
      if (!ends$given_up[row]) {
        expect_equal(alone$elbo, ends$elbo[row], tolerance = 1e-14, info = paste(name, row)) # a sum of other terms
        expect_identical(alone$laps, ends$laps[row], info = paste(name, row))
      } else {
        expect_true(alone$laps >= ends$laps[row], info = paste(name, row))
      }
    }
  }
})

test_that("threads change no bit in any family, with several starts and little work", {
  set.seed(4)
  walk <- apply(matrix(rnorm(120), 60), 2, cumsum)
  fits <- c(
    families(),
    linear = function(...) bnp_hmm(walk, obs = obs_lds(), control = bnp_control(seed = 1, verbose = FALSE, ...)),
    # Where births are accepted that others were evaluated with.
    corpus = function(...) {
      bnp_topics(whales$counts, obs_multinomial(0.1), control = bnp_control(seed = 2, verbose = FALSE, ...))
    }
  )
  for (name in some_of(names(fits), by = 5)) {
    own <- if (name %in% c("linear", "corpus")) list(restarts = 2) else list(restarts = "auto", effort = "low")
    bits <- lapply(some_of(c(1, 4, 2, 8), by = 3), function(threads) {
      bits_of(suppressWarnings(do.call(fits[[name]], c(own, max_laps = 10, threads = threads))))
    })
    for (other in seq_along(bits)[-1]) expect_identical(bits[[other]], bits[[1]], info = paste(name, other))
  }
})

test_that("there is one start where something says where to begin, or nothing is gained by another", {
  fit_by <- families()$mixture
  one <- fit_by(restarts = 1)
  expect_identical(one$control$restarts, 1L)
  expect_null(fit_by(restarts = "auto", k_init = 4)$restarts)
  expect_null(fit_by(restarts = "auto", init = "random")$restarts)
  expect_null(fit_by(restarts = "auto", algorithm = "stochastic", max_laps = 3)$restarts)
  expect_identical(fit_by(restarts = "auto", k_init = 1)$elbo, one$elbo)
  from <- bnp_mixture(faithful, start = rep(1:2, 136), control = bnp_control(seed = 1, restarts = "auto"))
  expect_null(from$restarts)
  replace_in_package("work_of_starts", c(default = 1), rlang::current_env())
  short <- fit_by(restarts = "auto")
  expect_null(short$restarts)
  expect_identical(short$elbo, one$elbo)
  expect_output(print(short), "One start; restarts = 5 would take about 5 times as long", fixed = TRUE)
})

test_that("print() says how many starts there were and how many agree", {
  fit <- families()$mixture(restarts = "auto")
  said <- function(given_up, agrees, init = "bregman") {
    fit$restarts <- data.frame(init = init, given_up = given_up, agrees = agrees)
    described_starts(fit)
  }
  expect_output(print(fit), "Best of [0-9]+ starts.*; [0-9]+ agree")
  expect_identical(said(c(FALSE, FALSE), c(TRUE, TRUE)), "Best of 2 starts; 2 agree")
  expect_identical(
    said(c(FALSE, TRUE, FALSE), c(TRUE, FALSE, FALSE)), "Best of 3 starts (1 given up); no other one agrees"
  )
  expect_identical(
    said(c(FALSE, FALSE, TRUE), c(FALSE, TRUE, FALSE), c("bregman", "altered", "altered")),
    "Best of 1 start and 2 altered ends (1 given up); no other one agrees"
  )
  expect_identical(
    said(c(FALSE, TRUE), c(TRUE, FALSE)),
    "One start (others were given up); restarts = 5 would take about 5 times as long"
  )
  ends <- fit$restarts
  expect_identical(ends$agrees, !ends$given_up & ends$elbo >= max(ends$elbo) - 1)
  expect_identical(fit$control$restarts, "auto")
  expect_false(any(c("kinds", "most_work") %in% names(fit$control)))
})

test_that("work grows with the number of communities, in every model of networks", {
  links <- function(n) withr::with_seed(1, t(utils::combn(n, 2))[sample(n * (n - 1) / 2, 5 * n), ])
  work <- function(obs, prior, k, n = 60) {
    fit <- suppressWarnings(suppressMessages(bnp_network(links(n), obs, prior, control = bnp_control(
      restarts = 2, k_init = k, init = "random", moves = FALSE, max_laps = 4, tol = 0, seed = 1
    ))))
    mean(fit$restarts$work)
  }
  # The search with hard labels visits nodes until none moves: fewer times from more clusters.
  for (model in list(
    list(obs_links(degree = TRUE), prior_hdp(), 3), list(obs_links(degree = FALSE), prior_hdp(), 3),
    list(obs_links(assortative = FALSE), prior_hdp(), 3), list(obs_links(), prior_dp(), 1.5)
  )) {
    few <- work(model[[1]], model[[2]], 4)
    expect_gt(work(model[[1]], model[[2]], 24), model[[3]] * few)
    expect_gt(work(model[[1]], model[[2]], 4, 120), 1.5 * few)
  }
})

test_that("effort says how much work starts may do, and is refused where there is one", {
  expect_bad(bnp_control(restarts = "many"), "argument", "restarts")
  expect_bad(bnp_control(restarts = 2, effort = "high"), "argument", "effort")
  expect_bad(bnp_control(restarts = "auto", k_init = 2, effort = "low"), "argument", "effort")
  expect_bad(bnp_control(restarts = "auto", effort = "most"), "argument", "effort")
  expect_bad(bnp_control("truncation_free", effort = "low"), "argument", "effort")
  expect_true(!is.unsorted(work_of_starts[c("low", "default", "high")], strictly = TRUE))
})

long_test("more effort makes more starts", {
  n_starts <- function(effort) {
    nrow(bnp_topics(bars$counts[1:400, ], control = bnp_control(seed = 1, restarts = "auto", effort = effort))$restarts)
  }
  expect_true(n_starts("low") < n_starts("default"))
})

test_that("groups by modularity are found, whatever the order of nodes", {
  set.seed(4)
  group <- rep(1:6, each = 30)
  links <- 1 * (matrix(runif(180^2), 180) < ifelse(outer(group, group, "=="), 0.3, 0.02))
  links <- pmin(links + t(links), 1)
  diag(links) <- 0
  alone <- rbind(cbind(links, 0, 0), 0, 0) # two nodes without links
  found <- engine_network_modularity(links_of_data(as_network(alone, NULL, NULL, NULL, NULL)), 1)
  expect_identical(adjusted_rand_index(found[1:180], group), 1)
  expect_identical(found[181], found[182])
  expect_false(found[181] %in% found[1:180])
  fit <- bnp_network(links, prior = prior_dp(), control = bnp_control(seed = 1, init = "modularity"))
  expect_identical(adjusted_rand_index(fitted(fit), group), 1)
  expect_bad(
    bnp_network(links, control = bnp_control(init = "modularity", k_init = 3)), "argument", "k_init"
  )
})
