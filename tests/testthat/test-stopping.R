# Ctrl-C, time limits and max_laps: what is lost, what is said.

slow <- function(...) {
  bnp_control(seed = 1, k_init = 40, moves = FALSE, tol = 0, max_laps = 1e6, threads = 1, ...)
}
wide <- withr::with_seed(1, matrix(rnorm(1e5), ncol = 8))
interrupt_after <- function(seconds) {
  system2("sh", c("-c", shQuote(sprintf("sleep %g; kill -INT %d", seconds, Sys.getpid()))), wait = FALSE)
}

test_that("in an interactive session Ctrl-C returns the fit as it stands", {
  skip_on_os("windows")
  withr::local_options(rlang_interactive = TRUE)
  x <- wide[1:4000, ] # its first lap ends before the signal comes, its last one after
  interrupt_after(0.8)
  expect_message(fit <- bnp_mixture(x, control = slow(verbose = FALSE)), class = "bnpvi_message_interrupted")
  expect_false(fit$converged)
  expect_identical(fit$reason, "interrupted")
  expect_output(print(fit), "stopped")
  same <- bnp_mixture(x, control = bnp_control(seed = 1, k_init = 40, moves = FALSE, tol = 0, max_laps = fit$laps))
  expect_identical(fit$elbo, same$elbo)
  expect_equal(coef(fit), coef(same), tolerance = 1e-10)
  expect_identical(fit$labels, same$labels)
  if (!long_tests()) return()
  interrupt_after(0.8)
  control <- bnp_control("stochastic", seed = 1, k_init = 40, moves = FALSE, max_laps = 1e6, verbose = FALSE)
  expect_message(fit <- bnp_mixture(x, control = control), class = "bnpvi_message_interrupted")
  expect_true(is.finite(fit$elbo) && !fit$converged)
  expect_equal(fit$elbo, sum(elbo(fit, terms = TRUE)))
})

long_test("elsewhere, and before there is a fit, Ctrl-C is an interrupt", {
  skip_on_os("windows")
  for (interactive in c(FALSE, TRUE)) {
    withr::local_options(rlang_interactive = interactive)
    x <- if (interactive) wide[rep(1:12500, 16), ] else wide
    interrupt_after(if (interactive) 0.3 else 1)
    stopped <- tryCatch(bnp_mixture(x, control = slow(verbose = FALSE)), interrupt = function(e) "interrupted")
    expect_identical(stopped, "interrupted")
  }
})

long_test("Ctrl-C returns the draws so far, and is an interrupt before there is one", {
  skip_on_os("windows")
  withr::local_options(rlang_interactive = TRUE)
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  draw <- function(...) bnp_sample(fit, faithful, warmup = 5, seed = 1, verbose = FALSE, ...)
  interrupt_after(0.6)
  expect_message(stopped <- draw(draws = 1e6), class = "bnpvi_message_interrupted")
  expect_gt(dim(stopped$trace)[1L], 0)
  interrupt_after(0.6)
  expect_message(more <- update(stopped, faithful, draws = 1e6), class = "bnpvi_message_interrupted")
  expect_gte(dim(more$trace)[1L], dim(stopped$trace)[1L])
  interrupt_after(0.6)
  outcome <- tryCatch(draw(draws = 2, thin = 1e6), interrupt = function(e) "interrupted")
  expect_identical(outcome, "interrupted")
})

test_that("setTimeLimit() raises its own error", {
  expect_error(
    {
      setTimeLimit(elapsed = 0.4, transient = TRUE)
      bnp_mixture(wide, control = slow(verbose = FALSE))
    },
    "time limit"
  )
  setTimeLimit()
  expect_identical(n_clusters(bnp_mixture(faithful, control = bnp_control(seed = 1))), 3L)
})

test_that("max_laps reached is a warning of its own class, but for stochastic learning", {
  with_lap_warnings({
    for (laps in 1:2) {
      control <- bnp_control(seed = 1, max_laps = laps)
      expect_warning(bnp_mixture(faithful, control = control), class = "bnpvi_warning_max_laps")
    }
    expect_no_warning(bnp_mixture(faithful, control = bnp_control(seed = 1)))
    expect_no_warning(bnp_mixture(faithful, control = bnp_control("stochastic", seed = 1, max_laps = 3)))
  })
})

test_that("a lap after one of a search says nothing of what it raised", {
  links <- kronecker(diag(2), matrix(1, 10, 10)) - diag(20)
  with_lap_warnings({
    said <- expect_warning(
      bnp_network(links, prior = prior_dp(), control = bnp_control(seed = 1, verbose = FALSE, max_laps = 1)),
      class = "bnpvi_warning_max_laps"
    )
  })
  expect_no_match(conditionMessage(said), "NA")
})

test_that("restarts are recorded and shown", {
  x <- asterisk[, 1:2]
  fit <- bnp_mixture(x, control = bnp_control(seed = 1, restarts = 3, k_init = 10, moves = FALSE, max_laps = 20))
  expect_named(fit$restarts, columns_of_restarts)
  expect_identical(fit$restarts$restart, 1:3)
  expect_identical(max(fit$restarts$elbo), fit$elbo)
  expect_gt(diff(range(fit$restarts$elbo)), 0)
  shown <- paste(capture.output(print(summary(fit))), collapse = " ")
  expect_match(shown, "Restarts")
  for (elbo in fit$restarts$elbo) expect_match(shown, format(elbo, digits = 8), fixed = TRUE)
  expect_null(bnp_mixture(x, control = bnp_control(seed = 1, max_laps = 3))$restarts)
})

test_that("a restart is repeated by its seed", {
  x <- asterisk[, 1:2]
  for (batches in c(1L, 3L)) {
    fit_with <- function(seed, restarts) {
      control <- bnp_control(
        seed = seed, restarts = restarts, k_init = 8, moves = FALSE, max_laps = 200, batches = batches
      )
      bnp_mixture(x, control = control)
    }
    all <- fit_with(seed = 4, restarts = 4)$restarts
    expect_identical(all$seed[1], 4)
    expect_identical(anyDuplicated(all$seed), 0L)
    for (i in seq_len(nrow(all))) {
      one <- fit_with(seed = all$seed[i], restarts = 1)
      expect_identical(c(one$elbo, one$laps), c(all$elbo[i], all$laps[i]))
    }
  }
})

test_that("what would not fit into memory is refused", {
  control <- bnp_control(seed = 1)
  expect_bad(bnp_hmm(faithful, prior = prior_hmm(1e5), control = control), "memory", "at most 5000")
  expect_bad(bnp_mixture(faithful, prior = prior_dirichlet(1e6), control = control), "memory", "at most 100000")
  expect_bad(bnp_topics(whales$counts, prior = prior_lda(1e6), control = control), "memory", "prior_hdp")
  wide <- bnp_control(seed = 1, k_init = 6000)
  expect_bad(bnp_hmm(matrix(seq_len(6000) %% 7), control = wide), "memory", "k_init")
  expect_bad(too_large(NULL), "memory", "not enough memory")
})

test_that("threads are limited where the system or a check says so", {
  withr::local_options(mc.cores = 8L)
  withr::local_envvar(c("_R_CHECK_LIMIT_CORES_" = NA, OMP_THREAD_LIMIT = NA))
  expect_identical(bnp_control()$threads, 8L)
  withr::with_envvar(c(OMP_THREAD_LIMIT = "3"), expect_identical(bnp_control()$threads, 3L))
  withr::with_envvar(c("_R_CHECK_LIMIT_CORES_" = "true"), expect_identical(bnp_control()$threads, 2L))
  withr::with_envvar(c("_R_CHECK_LIMIT_CORES_" = "FALSE"), expect_identical(bnp_control()$threads, 8L))
  withr::with_envvar(c(OMP_THREAD_LIMIT = "3"), expect_identical(bnp_control(threads = 5)$threads, 5L))
})
