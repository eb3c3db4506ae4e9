# Sequences so long that their rows are shared out among threads.

# Rows of k states that stay or go on to the next: 1 and 2 look alike, 3 and 4 do, ..., and the pairs are far
# apart. Rough rows go from one pair to the other and back, which only logarithms can follow. With the globals
# that these states make.
circling <- function(lengths, rough, k = 4L) {
  n <- sum(lengths)
  z <- withr::with_seed(1, 1 + (cumsum(runif(n) < 0.3) %% k))
  z[rough] <- c(1, 3)[1 + rough %% 2]
  data <- list(
    x = matrix((20 * (seq_len(k) - 1) - 18 * (seq_len(k) %% 2 == 0))[z] + withr::with_seed(2, rnorm(n))),
    n = as.integer(n), d = 1L,
    starts = as.integer(c(0, cumsum(lengths)))
  )
  model <- list(
    obs = utils::modifyList(diagonal_model(1), list(scale = 1)),
    prior = list(family = "hmm", k = k, alpha = 1e-3 * k, start = 1, sticky = 0)
  )
  contract <- engine_contract(data, model, diag(k)[z, ])
  state <- list(
    k = k, obs = contract$statistic, extra = matrix(1, k), pair = 1e3 * (0.7 * diag(k) + 0.3 * diag(k)[c(2:k, 1), ]),
    scalar = 0, u = numeric(), omega = numeric()
  )
  rows <- expected_rows(state, model$prior)
  list(
    data = data, model = model, state = state, lengths = lengths, modelled = seq_len(n),
    weights = contract$weights, start = rows[[1]], transition = do.call(rbind, rows[-1]),
    log_e = contract$features %*% t(contract$weights)
  )
}

# The summary and bound of one visit, and its responsibilities.
one_visit <- function(chain, threads) {
  control <- engine_control(max_laps = 1L, threads = threads)
  fit <- engine_fit(chain$data, chain$model, control, list(state = chain$state), NULL)
  resp <- engine_responsibilities(chain$data, chain$model, chain$state, threads)
  c(fit$state[c("obs", "extra", "pair", "scalar")], list(resp = resp, elbo = fit$elbo))
}

test_that("threads share a sequence that is long, or that has most of the rows", {
  parts <- function(...) {
    lengths <- c(...)
    got <- engine_sequence_pieces(lengths, 100)
    expect_identical(c(got$first, length(lengths) + 1L)[-1L], got$last + 1L)
    expect_identical(got$first[1L], 1L)
    expect_equal(got$first_chunk, cumsum(c(0, got$parts))[seq_along(got$parts)])
    shared <- rep(got$parts, got$last - got$first + 1L) == 8L
    expect_true(all(got$first[got$parts == 8L] == got$last[got$parts == 8L]))
    expect_true(all(got$parts %in% c(1L, 8L)))
    which(shared)
  }
  expect_identical(parts(4096), 1L)
  expect_identical(parts(4095), integer())
  expect_identical(parts(20000, 6000), 1L) # three quarters and a little more
  expect_identical(parts(600, 20000, 600), 2L)
  expect_identical(parts(20000, 7000), integer()) # two threads pass them side by side
  expect_identical(parts(32768, 32768, 20000), 1:3) # of what is left, the last one has all
  expect_identical(parts(32768, 32768, 20000, 20000), 1:2)
  expect_identical(parts(rep(20, 500)), integer())
  expect_identical(parts(rep(20, 100), 7000), 101L)
})

test_that("a visit is messages over the whole sequence, fast or careful, for any number of threads", {
  both <- c(20, 33000, 33500, 40)
  alone <- c(20, 5000, 40)
  end <- cumsum(both)
  # careful: none of the long ones; one, from the last of its rows on; the other, from its first. Many states
  # have shorter segments, of which not all stay in memory.
  all <- list(
    list(both, integer(), 4L), list(both, end[2] - 0:9, 4L), list(both, end[2] + 1:1e4, 4L),
    list(both, integer(), 40L), list(alone, integer(), 4L), list(alone, 5010:5020, 4L)
  )
  for (case in some_of(all, by = 7, from = 2)) {
    lengths <- case[[1]]
    rough <- case[[2]]
    chain <- circling(lengths, rough, case[[3]])
    want <- lapply(seq_along(lengths), function(g) {
      at <- chain$data$starts[g] + seq_len(lengths[g])
      careful <- engine_messages(chain$start, chain$transition, chain$log_e[at, ], c(0L, lengths[g]), TRUE)
      if (!careful$fast_is_exact) return(careful)
      engine_messages(chain$start, chain$transition, chain$log_e[at, ], c(0L, lengths[g]), FALSE)
    })
    has_rough <- seq_along(lengths) %in% findInterval(rough - 1, chain$data$starts)
    expect_identical(vapply(want, `[[`, NA, "fast_is_exact"), !has_rough)
    got <- one_visit(chain, 1L)
    total <- function(what) Reduce(`+`, lapply(want, `[[`, what))
    expect_equal(got$resp, do.call(rbind, lapply(want, `[[`, "resp")), tolerance = 1e-9)
    expect_equal(c(got$extra), total("start"), tolerance = 1e-9)
    expect_equal(got$pair, total("transition"), tolerance = 1e-9)
    expect_equal(got$scalar, total("entropy"), tolerance = 1e-8)
    for (threads in some_of(c(3, 2, 4, 8), by = 5)) expect_identical(one_visit(chain, threads), got)
  }
})

test_that("with so many states that only a few segments stay in memory, threads do not write over each other's", {
  chain <- circling(4200, integer(), 140L)
  one <- one_visit(chain, 1L)
  for (threads in c(2L, 4L)) for (again in some_of(1:3, by = 3)) expect_identical(one_visit(chain, threads), one)
  expect_equal(rowSums(one$resp), rep(1, 4200), tolerance = 1e-9)
})

test_that("one long sequence has the same bits on any number of threads with every observation model", {
  for (name in names(chains <- withr::with_seed(3, random_chains(3, 4200, "finite")))) {
    chain <- chains[[name]]
    one <- one_visit(chain, 1L)
    for (threads in some_of(c(4L, 2L, 8L), by = 5)) expect_identical(one_visit(chain, threads), one, info = name)
    if (any_tails(chain$model$obs)) next # their first lap visits all rows more than once
    careful <- engine_messages(chain$start, chain$transition, chain$log_e, c(0L, 4200L), TRUE)
    expect_equal(one$pair, careful$transition, tolerance = 1e-6, info = name)
  }
})

test_that("whole fits of one long sequence and answers about it do not depend on threads", {
  x <- withr::with_seed(5, {
    z <- rep(sample(4, 250, TRUE), each = 20)
    cbind(rnorm(5000, 4 * z), rnorm(5000, -3 * z))
  })
  x[cbind(sample(5000, 300), 1 + seq_len(300) %% 2)] <- NA
  id <- rep(1:2, c(4800, 200))
  fits <- lapply(some_of(c(1L, 4L, 2L, 8L), by = 3), function(threads) {
    laps <- if (long_tests()) 12 else 5
    control <- bnp_control(seed = 1, threads = threads, max_laps = laps, restarts = 1, verbose = FALSE)
    suppressWarnings(bnp_hmm(x, id, na_action = "model", weights = c(2.5, 1), control = control))
  })
  for (fit in fits[-1]) {
    expect_identical(fit[c("state", "elbo", "labels")], fits[[1]][c("state", "elbo", "labels")])
    for (type in c("class", "prob", "responsibility", "logdensity")) {
      expect_identical(predict(fit, x, id, type = type), predict(fits[[1]], x, id, type = type))
    }
    expect_identical(augment(fit, as.data.frame(x), id = id), augment(fits[[1]], as.data.frame(x), id = id))
  }
})

long_test("L-sparse visits of long sequences, fast or careful, do not depend on threads either", {
  lengths <- c(20, 33000, 33500, 40)
  end <- cumsum(lengths)
  for (rough in some_of(list(integer(), end[2] - 0:9, end[2] + 1:1e4), by = 5, from = 2)) {
    chain <- circling(lengths, rough)
    for (width in 1:2) {
      sets <- NULL
      for (same in c(FALSE, FALSE, TRUE)) {
        got <- lapply(some_of(1:3, by = 2), function(threads) visit(chain, width, sets, same = same, threads = threads))
        for (more in got[-1]) expect_identical(more, got[[1]])
        if (width == 2 && is.null(sets)) {
          expect_equal(log_z(chain, got[[1]]), log_z_of_paths(chain, got[[1]]$sets), tolerance = 1e-9)
        }
        if (same) expect_equal(got[[1]], before, tolerance = 1e-10)
        before <- got[[1]]
        sets <- before$sets
      }
    }
  }
})
