test_that("Ctrl-C returns within a second and leaves the session intact", {
  skip_on_os("windows")
  set.seed(1)
  x <- matrix(rnorm(4e5), ncol = 8)
  control <- bnp_control(seed = 1, k_init = 40, moves = FALSE, tol = 0, max_laps = 1e6, threads = 2)
  for (signal_after in some_of(c(0.3, 1), by = 2)) {
    system2("sh", c("-c", shQuote(sprintf("sleep %g; kill -INT %d", signal_after, Sys.getpid()))), wait = FALSE)
    started <- proc.time()[["elapsed"]]
    outcome <- tryCatch(
      {
        bnp_mixture(x, control = control)
        "finished"
      },
      interrupt = function(e) "interrupted"
    )
    expect_equal(outcome, "interrupted")
    expect_lt(proc.time()[["elapsed"]] - started, signal_after + 1)
  }
  expect_equal(n_clusters(bnp_mixture(faithful, control = bnp_control(seed = 1))), 3)
})

test_that("Ctrl-C during moves returns within a second and leaves the session intact", {
  skip_on_os("windows")
  x <- withr::with_seed(1, matrix(rnorm(1e5), ncol = 8) + 4 * sample(50, 12500, TRUE))
  case <- planted_case("interrupted", obs_gaussian(), x, NULL)
  for (lap in some_of(c(1, 2, 3), by = 3, from = 2)) {
    signalled <- NULL
    progress <- function(record) {
      if (record$lap == lap) {
        signalled <<- proc.time()[["elapsed"]]
        tools::pskill(Sys.getpid(), tools::SIGINT)
      }
    }
    outcome <- tryCatch(
      {
        engine_run(case, k_init = 1, seed = 1, max_laps = 6, progress = progress)
        "finished"
      },
      interrupt = function(e) "interrupted"
    )
    expect_equal(outcome, "interrupted")
    expect_lt(proc.time()[["elapsed"]] - signalled, 1)
  }
  small <- planted_cases()[[1]]
  expect_equal(engine_run(small, k_init = 1, seed = 1)$state$k, 4)
})

test_that("Ctrl-C returns within a second while threads evaluate births of states", {
  skip_on_os("windows")
  x <- withr::with_seed(1, matrix(rnorm(5e5) + 2 * rep(sample(9, 1e4, TRUE), each = 10), ncol = 5))
  control <- bnp_control(seed = 1, k_init = 1, threads = 2, tol = 0, max_laps = 1e6, verbose = FALSE)
  system2("sh", c("-c", shQuote(sprintf("sleep 0.8; kill -INT %d", Sys.getpid()))), wait = FALSE)
  started <- proc.time()[["elapsed"]]
  outcome <- tryCatch(bnp_hmm(x, control = control), interrupt = function(e) "interrupted")
  expect_equal(outcome, "interrupted")
  expect_lt(proc.time()[["elapsed"]] - started, 1.8)
})

test_that("Ctrl-C ends drawing with the draws there are, which go on to the same bits; in scripts it is an interrupt", {
  skip_on_os("windows")
  fit <- suppressWarnings(bnp_mixture(faithful, control = bnp_control(seed = 1, verbose = FALSE)))
  interrupted <- function(interactive) {
    withr::local_options(rlang_interactive = interactive)
    system2("sh", c("-c", shQuote(sprintf("sleep 0.5; kill -INT %d", Sys.getpid()))), wait = FALSE)
    tryCatch(
      bnp_sample(fit, faithful, draws = 1e6, warmup = 5, chains = 2, keep = 10, seed = 1, verbose = FALSE),
      interrupt = function(e) "interrupted"
    )
  }
  started <- proc.time()[["elapsed"]]
  expect_message(draws <- interrupted(TRUE), class = "bnpvi_message_interrupted")
  expect_lt(proc.time()[["elapsed"]] - started, 3)
  expect_s3_class(draws, "bnp_draws")
  made <- nrow(draws$trace)
  expect_equal(draws$made, made)
  whole <- bnp_sample(fit, faithful, draws = made + 5, warmup = 5, chains = 2, keep = 10, seed = 1, verbose = FALSE)
  expect_identical(update(draws, faithful, draws = 5)$trace, whole$trace)
  expect_identical(interrupted(FALSE), "interrupted")
})

long_test("searches of networks return soon, however many communities there are", {
  n <- 20000L
  network <- withr::with_seed(1, {
    group <- sample(300L, n, TRUE)
    data <- data.frame(from = sample(n, 1e5, TRUE), to = sample(n, 1e5, TRUE))
    list(edges = unique(data[data$from < data$to, ]), group = group)
  })
  # The limit passes while a start is made of shares, in the first lap, or in a search.
  models <- list(
    general = list(obs_links(assortative = FALSE), prior_hdp()), degrees = list(obs_links(degree = TRUE), prior_hdp()),
    assortative = list(obs_links(degree = FALSE), prior_hdp()), blocks = list(obs_links(), prior_dp()),
    corrected = list(obs_links(degree = TRUE), prior_dp())
  )
  started_with <- function(model, ...) {
    bnp_network(network$edges, model[[1L]], model[[2L]], nodes = n, control = bnp_control(seed = 1, ...))
  }
  seconds <- function(expr, limit = if (long_tests()) 2 else 0.6) {
    began <- proc.time()[["elapsed"]]
    expect_error(
      {
        setTimeLimit(elapsed = limit, transient = TRUE)
        expr
      },
      "time limit"
    )
    setTimeLimit()
    proc.time()[["elapsed"]] - began
  }
  withr::defer(setTimeLimit())
  for (name in some_of(names(models), by = 7)) {
    model <- models[[name]]
    took <- seconds(suppressMessages(bnp_network(
      network$edges, model[[1L]], model[[2L]], nodes = n, start = network$group, control = bnp_control(seed = 1)
    )))
    expect_lt(took, 4)
  }
  expect_lt(seconds(started_with(models$general, algorithm = "stochastic", k_init = 300)), 4)
  if (long_tests()) expect_lt(seconds(started_with(models$blocks, k_init = 1000, moves = FALSE)), 4)
})
