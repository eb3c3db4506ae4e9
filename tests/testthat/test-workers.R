# Work on batches in other processes has the bits of work here (inst/design/data.md).

test_that("work that goes through bytes has the bits of work here, for all families and moves", {
  cases <- worker_cases()
  laps <- if (long_tests()) 14L else 8L
  cases <- some_of(cases, by = 3)
  here <- lapply(cases, function(case) bits_of_work(fit_of_case(case, wave = 2L, laps = laps)))
  seen <- local_desk()
  for (name in names(cases)) {
    expect_identical(
      bits_of_work(fit_of_case(cases[[name]], wave = 2L, laps = laps, workers = TRUE)), here[[name]], info = name
    )
  }
  if (long_tests()) expect_setequal(seen$kinds, c(
    "visit", "units", "assign", "claim", "statistic", "without", "seen", "documents", "target_rows", "touched_rows",
    "pair_entropy", "snapshot", "labels"
  ))
})

test_that("the entropy of clusters that are joined comes back", {
  x <- withr::with_seed(4, matrix(rnorm(900), ncol = 3))
  case <- list(x, function(x, control) bnp_mixture(x, control = control), list(
    batches = 3L, k_init = 4L, init = "random", moves = bnp_moves(birth = FALSE, delete = FALSE)
  ))
  here <- fit_of_case(case, wave = 2L)
  expect_lt(here$state$k, 4L)
  seen <- local_desk()
  expect_identical(bits_of_work(fit_of_case(case, wave = 2L, workers = TRUE)), bits_of_work(here))
  expect_true("pair_entropy" %in% seen$kinds)
  # Pairs that are joined and split anew, K being fixed.
  fixed <- function(x, control) bnp_mixture(x, prior = prior_dirichlet(4), control = control)
  case <- list(as.matrix(quakes[1:2]), fixed, list(batches = 2L))
  here <- fit_of_case(case, wave = 2L, laps = 100L)
  expect_gte(sum(here$trace$births), 1)
  expect_identical(bits_of_work(fit_of_case(case, wave = 2L, laps = 100L, workers = TRUE)), bits_of_work(here))
})

test_that("rows that refits claim come back", {
  x <- withr::with_seed(4, matrix(rnorm(30, sd = 3), 15)[sample(15, 3000, TRUE), ] + rnorm(6000))
  case <- list(x, function(x, control) bnp_mixture(x, control = control), list(batches = 3L, seed = 1))
  here <- fit_of_case(case, wave = 2L, laps = 100L)
  seen <- local_desk()
  expect_identical(bits_of_work(fit_of_case(case, wave = 2L, laps = 100L, workers = TRUE)), bits_of_work(here))
  expect_true("claim" %in% seen$kinds)
})

test_that("tasks share messages, and what takes longer to send is done here, on several threads, with the same bits", {
  cases <- worker_cases()[c("mixture", "topics")]
  for (name in names(cases)) {
    fit <- function(...) bits_of_work(fit_of_case(cases[[name]], wave = 4L, laps = 10L, restarts = 2L, ...))
    here <- fit()
    for (messages in c(1L, 3L)) {
      seen <- local_desk(messages = messages, threads = messages)
      expect_identical(fit(workers = TRUE), here, info = name)
      expect_identical(seen$most, messages, info = name)
      expect_true("visit" %in% seen$kinds, info = name)
    }
    seen <- local_desk(least_products = Inf, threads = 2L)
    expect_identical(fit(workers = TRUE), here, info = name)
    expect_false(any(c("visit", "without", "documents") %in% seen$kinds), info = name)
  }
})

test_that("this process has a thread for each daemon on its machine", {
  skip_if_not_installed("mirai")
  hired <- function(beside, threads) {
    replace_in_package("check_daemons", function(...) beside, environment())
    replace_in_package("connected", function(profile) 5L, environment())
    control <- replace(bnp_control(batches = 2), "threads", threads)
    out <- hire_workers(control, list(), obs_multinomial(), "bnp_topics", NULL)
    withr::defer(out$finish())
    expect_identical(out$with(list())$messages(), 5L * messages_of_daemon)
    out$threads
  }
  expect_identical(hired(3L, 1L), 3L)
  expect_identical(hired(1L, 2L), 2L)
  expect_identical(hired(0L, 1L), 1L) # all on other machines
  profile <- "bnpvi tests of machines"
  local_daemons(2L, profile)
  setup <- list(version = package_version_here(), kernels = kernels_here())
  expect_identical(check_daemons(profile, setup, tempdir(), 60, NULL), 2L)
})

test_that("0, 1 and 2 daemons end with the same bits", {
  cases <- worker_cases()[c("mixture", "topics", "sequences")]
  here <- lapply(cases, function(case) bits_of_work(fit_of_case(case, wave = 8L)))
  for (n in 1:2) {
    profile <- paste("bnpvi tests of", n)
    local_daemons(n, profile)
    for (name in names(cases)) {
      expect_identical(bits_of_work(fit_of_case(cases[[name]], workers = profile)), here[[name]], info = name)
    }
  }
  batch <- dealt(900, 5)
  source <- in_pieces(cases$mixture[[1]], 200)
  fit <- bnp_mixture(source, control = how_source(workers = profile, batches = 5L))
  expect_identical(
    bits_of_work(fit), bits_of_work(bnp_mixture(source, control = how_source(wave = 8L, batches = 5L)))
  )
})

test_that("a daemon that is killed or hangs is done without, and without any the checkpoint is named", {
  skip_on_os("windows")
  profile <- "bnpvi tests of faults"
  pids <- local_daemons(3L, profile)
  case <- worker_cases()$mixture
  whole <- fit_of_case(case, wave = 8L)
  at_lap <- function(lap, what, code) {
    withCallingHandlers(code, message = function(m) {
      if (grepl(paste0("^Lap ", lap, ":"), conditionMessage(m))) what()
      if (grepl("^Lap", conditionMessage(m))) invokeRestart("muffleMessage")
    })
  }
  undone <- 0L # tasks that no daemon did
  by_daemons <- replace_in_package("work_of_daemons", function(...) {
    results <- by_daemons(...)
    undone <<- undone + sum(vapply(results, is.null, NA))
    results
  }, environment())
  killed <- at_lap(2, function() tools::pskill(pids[1], 9L), fit_of_case(case, workers = profile, verbose = TRUE))
  expect_identical(bits_of_work(killed), bits_of_work(whole))
  withr::local_options(bnpvi.worker_timeout = 1)
  hangs <- at_lap(
    2, function() tools::pskill(pids[2], tools::SIGSTOP), fit_of_case(case, workers = profile, verbose = TRUE)
  )
  expect_identical(bits_of_work(hangs), bits_of_work(whole))
  expect_identical(undone, 0L)
  tools::pskill(pids[2], 9L)
  file <- withr::local_tempfile()
  Sys.sleep(0.3)
  expect_error(
    at_lap(2, function() {
      tools::pskill(pids[3], 9L)
      Sys.sleep(0.5)
    }, fit_of_case(case, workers = profile, verbose = TRUE, checkpoint = file, checkpoint_every = 0)),
    "bnp_resume", class = "bnpvi_error_workers"
  )
  again <- suppressMessages(bnp_resume(file, case[[1]], workers = FALSE))
  expect_identical(again$elbo, whole$elbo)
  expect_identical(fitted(again), fitted(whole))
  expect_error(fit_of_case(case, workers = profile), "no daemons", class = "bnpvi_error_workers")
})

test_that("daemons of other versions, instructions and folders are refused before any work", {
  profile <- "bnpvi tests of versions"
  local_daemons(1L, profile)
  case <- worker_cases()$mixture
  refused <- function(what, name, value) {
    replace_in_package(name, function() value, environment())
    expect_error(fit_of_case(case, workers = profile), what, class = "bnpvi_error_workers")
  }
  refused("version 0.0.0", "package_version_here", "0.0.0")
  refused("instructions", "kernels_here", "none")
  setup <- list(version = package_version_here(), kernels = kernels_here())
  expect_error(
    check_daemons(profile, setup, file.path(tempdir(), "nowhere"), 60, NULL), "does not see the folder",
    class = "bnpvi_error_workers"
  )
  expect_error(
    refuse_worker(setup, list(version = NA_character_), NULL), "no bnpvi", class = "bnpvi_error_workers"
  )
  file <- withr::local_tempfile()
  saveRDS(replace(setup, "version", "0.0.0"), file)
  expect_match(work_on(file, raw())$error, "version")
})

test_that("what a daemon cannot do is told", {
  profile <- "bnpvi tests of errors"
  local_daemons(1L, profile)
  setup <- withr::local_tempfile()
  traffic <- list2env(list(down = 0, up = 0))
  control <- bnp_control()
  ask <- function(...) work_of_daemons(list(as.raw(1:9)), setup, profile, 60, traffic, control, NULL)
  expect_error(ask(), "A daemon failed", class = "bnpvi_error_workers") # no setup
  fit <- fit_of_case(worker_cases()$mixture, laps = 2L)
  saveRDS(list(
    version = package_version_here(), kernels = kernels_here(), sparsity = 0L, candidates = 0L, threads = 1L,
    model = fit$model
  ), setup)
  expect_error(ask(), "not a stored state", class = "bnpvi_error_workers")
})

test_that("results that do not fit their tasks are refused, and what nobody did is done here", {
  case <- worker_cases()$mixture
  folder <- withr::local_tempdir()
  run <- NULL
  hired <- function(...) {
    with <- function(model) list(run = run, messages = function() Inf, least_products = 0, folder = folder)
    list(with = with, threads = 1L, finish = function() NULL, traffic = NULL)
  }
  replace_in_package("hire_workers", hired, environment())
  fit <- function(...) fit_of_case(case, workers = TRUE, laps = 3L, ...)
  run <- function(tasks) list()
  expect_error(fit(), "internal error.*as many results as tasks")
  run <- function(tasks) lapply(tasks, function(task) as.raw(1:9))
  expect_error(fit(), "not a stored state")
  run <- function(tasks) stop("no way")
  expect_error(fit(), "no way")
  run <- function(tasks) NULL
  expect_identical(tryCatch(fit(), interrupt = function(e) "stopped"), "stopped")
  run <- function(tasks) vector("list", length(tasks))
  expect_identical(bits_of_work(fit()), bits_of_work(fit_of_case(case, laps = 3L, wave = 8L)))
})

test_that("workers that there are not, and what they cannot work for, are refused", {
  case <- worker_cases()$mixture
  x <- case[[1]]
  with <- function(workers) bnp_control(workers = workers, batches = 3, seed = 1)
  for (workers in list(NA, NULL, 1, "", c("a", "b"), c(TRUE, TRUE))) {
    expect_error(bnp_control(workers = workers), "workers", class = "bnpvi_error_argument")
  }
  expect_error(bnp_control("full", workers = TRUE), "no meaning", class = "bnpvi_error_argument")
  skip_if_not_installed("mirai")
  expect_error(bnp_mixture(x, control = with("nobody")), "profile.*nobody", class = "bnpvi_error_workers")
  expect_error(bnp_mixture(x, control = with(TRUE)), "mirai::daemons", class = "bnpvi_error_workers")
  refused <- function(expr, what) expect_error(expr, what, class = "bnpvi_error_argument")
  refused(bnp_mixture(x, obs = obs_ar(), control = with(TRUE)), "obs_ar")
  refused(bnp_features(x, control = bnp_control(workers = TRUE)), "workers")
  refused(bnp_network(matrix(0:1, 4, 4), control = bnp_control(workers = TRUE)), "workers")
  fit <- fit_of_case(case, laps = 3L)
  refused(update(fit, x[1:50, ], control = with(TRUE)), "workers")
  withr::local_options(bnpvi.worker_timeout = "soon")
  refused(worker_timeout(), "worker_timeout")
})

test_that("traffic is told lap by lap, and one batch is remarked upon", {
  profile <- "bnpvi tests of traffic"
  local_daemons(1L, profile)
  case <- worker_cases()$mixture
  told <- testthat::capture_messages(fit_of_case(case, workers = profile, verbose = TRUE, laps = 3L))
  expect_match(told[1:3], "Lap [123]: .*, [0-9.]+ (B|kB|MB) down, [0-9.]+ (B|kB|MB) up")
  expect_message(
    fit_of_case(case, workers = profile, batches = 1L, laps = 2L), "one batch", class = "bnpvi_message_workers"
  )
  expect_identical(format_bytes(c(0, 999, 1000, 123456, 2e9, 5e12)), c(
    "0 B", "999 B", "1 kB", "123 kB", "2 GB", "5000 GB"
  ))
})

test_that("a daemon is killed in the middle of a lap, ten times", {
  skip_if_not(longest_tests(), "long")
  skip_on_os("windows")
  x <- withr::with_seed(7, matrix(rnorm(60, sd = 6), 20)[sample(20, 40000, TRUE), ] + rnorm(120000))
  control <- function(...) bnp_control(seed = 3, batches = 16L, max_laps = 60L, verbose = FALSE, ...)
  fit <- function(...) suppressWarnings(bnp_mixture(x, control = control(...)))
  whole <- bits_of_work(fit(wave = 8L))
  seconds <- system.time(fit(wave = 8L))[["elapsed"]]
  for (run in 1:10) {
    profile <- paste("bnpvi long tests", run)
    pids <- local_daemons(2L, profile)
    after <- withr::with_seed(run, stats::runif(1, 0.1, 0.9)) * seconds / 2
    system(sprintf("sleep %.2f; kill -9 %d", after, pids[1 + run %% 2]), wait = FALSE)
    expect_identical(bits_of_work(fit(workers = profile)), whole, info = paste("run", run))
    expect_identical(as.integer(mirai::status(.compute = profile)$connections), 1L)
    mirai::daemons(0, .compute = profile)
  }
})
