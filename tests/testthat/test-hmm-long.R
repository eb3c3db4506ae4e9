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

test_that("a visit is messages over the whole sequence, fast or careful, for any number of threads", {
  lengths <- c(20, 33000, 33500, 40)
  end <- cumsum(lengths)
  # careful: none of the long ones; one, from the last of its rows on; the other, from its first. Many states
  # have shorter segments.
  for (case in list(list(integer(), 4L), list(end[2] - 0:9, 4L), list(end[2] + 1:1e4, 4L), list(integer(), 40L))) {
    rough <- case[[1]]
    chain <- circling(lengths, rough, case[[2]])
    want <- lapply(1:4, function(g) {
      at <- chain$data$starts[g] + seq_len(lengths[g])
      careful <- engine_messages(chain$start, chain$transition, chain$log_e[at, ], c(0L, lengths[g]), TRUE)
      if (!careful$fast_is_exact) return(careful)
      engine_messages(chain$start, chain$transition, chain$log_e[at, ], c(0L, lengths[g]), FALSE)
    })
    expect_identical(vapply(want, `[[`, NA, "fast_is_exact"), !(1:4 %in% findInterval(rough - 1, chain$data$starts)))
    got <- one_visit(chain, 1L)
    total <- function(what) Reduce(`+`, lapply(want, `[[`, what))
    expect_equal(got$resp, do.call(rbind, lapply(want, `[[`, "resp")), tolerance = 1e-9)
    expect_equal(c(got$extra), total("start"), tolerance = 1e-9)
    expect_equal(got$pair, total("transition"), tolerance = 1e-9)
    expect_equal(got$scalar, total("entropy"), tolerance = 1e-8)
    for (threads in 2:3) expect_identical(one_visit(chain, threads), got)
  }
})

test_that("L-sparse visits of long sequences, fast or careful, do not depend on threads either", {
  lengths <- c(20, 33000, 33500, 40)
  end <- cumsum(lengths)
  for (rough in list(integer(), end[2] - 0:9, end[2] + 1:1e4)) {
    chain <- circling(lengths, rough)
    for (width in 1:2) {
      sets <- NULL
      for (same in c(FALSE, FALSE, TRUE)) {
        got <- lapply(1:3, function(threads) visit(chain, width, sets, same = same, threads = threads))
        for (threads in 2:3) expect_identical(got[[threads]], got[[1]])
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
