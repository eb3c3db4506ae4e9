# Fits go on from a file and end with the bits that they would have ended with (inst/design/data.md).

test_that("a fit that was stopped in any lap of any run or restart goes on to the same bits", {
  cases <- checkpoint_cases()
  for (name in some_of(names(cases), by = 30)) {
    case <- cases[[name]]
    file <- withr::local_tempfile()
    whole <- stopped_after(Inf, checkpointed(case, file))
    expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, case[[1]]))), bits_of_fit(whole), info = name)
    laps <- attr(whole, "reported")
    stops <- if (startsWith(name, "network")) 4 else 7
    for (after in some_of(unique(round(seq(0, laps - 1, length.out = stops))), by = stops, from = 2)) {
      unlink(file)
      expect_identical(c(stopped_after(after, checkpointed(case, file))), "stopped", ignore_attr = TRUE, info = name)
      again <- stopped_after(Inf, bnp_resume(file, case[[1]]))
      expect_identical(bits_of_fit(again), bits_of_fit(whole), info = paste(name, "after", after, "of", laps))
    }
  }
})

test_that("all that is written of a network is read", {
  cases <- checkpoint_cases()
  engine <- engine_fit
  # The state after a lap, behind the numbers of the run and 88 bytes for each lap, some of which are its seconds.
  state_after <- function(case, lap, from = NULL) {
    kept <- NULL
    keeping <- function(data, model, control, ...) {
      out <- engine(data, model, c(control, list(keep_lap = lap), if (!is.null(from)) list(resume = from)), ...)
      kept <<- out$progress
      out
    }
    replace_in_package("engine_fit", keeping, environment())
    control <- bnp_control(seed = 5, verbose = FALSE)
    control[names(case[[3]])] <- case[[3]]
    control$restarts <- 1L
    suppressWarnings(case[[2]](case[[1]], control))
    list(all = kept, own = utils::tail(kept, -(220 + 88 * lap)))
  }
  kinds <- c("large", "plain", "general", "blocks", "degrees", "blocks_stochastic")
  for (name in some_of(paste0("network_", kinds), by = 6, from = 2)) {
    for (lap in c(2L, if (name == "network_large") 9L)) {
      there <- state_after(cases[[name]], lap)
      again <- state_after(cases[[name]], lap + 1L, there$all)
      expect_gt(length(again$own), 100)
      expect_identical(again$own, state_after(cases[[name]], lap + 1L)$own, info = paste(name, lap))
    }
  }
})

test_that("work that was done is not done again, and a fit that was stopped twice is the same", {
  case <- checkpoint_cases()$restarts
  file <- withr::local_tempfile()
  whole <- stopped_after(Inf, checkpointed(case, file))
  laps <- attr(whole, "reported")
  stopped_after(laps - 4, checkpointed(case, file))
  expect_identical(c(stopped_after(2, bnp_resume(file, case[[1]]))), "stopped", ignore_attr = TRUE)
  again <- stopped_after(Inf, bnp_resume(file, case[[1]]))
  expect_lte(attr(again, "reported"), 3)
  expect_identical(bits_of_fit(again), bits_of_fit(whole))
})

test_that("a seed from R's generator and threads are as in the fit", {
  case <- checkpoint_cases()$mixture
  file <- withr::local_tempfile()
  control <- bnp_control(verbose = TRUE, checkpoint = file, checkpoint_every = 0, threads = 2L)
  run <- function() withr::with_seed(8, bnp_mixture(case[[1]], control = control))
  whole <- stopped_after(Inf, run())
  stopped_after(3, run())
  expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, case[[1]]))), bits_of_fit(whole))
})

test_that("more laps than were asked for go on to the fit that had asked for them", {
  cases <- checkpoint_cases()
  few <- c(
    mixture = 4L, topics = 4L, sequences = 4L, features = 4L, lds = 2L, network_large = 4L,
    network_blocks_stochastic = 4L
  )
  for (name in some_of(names(few), by = 5)) {
    case <- cases[[name]]
    case[[3]]$restarts <- NULL # those that are done stay as they are
    file <- withr::local_tempfile()
    whole <- stopped_after(Inf, checkpointed(case, file, max_laps = 9L))
    short <- stopped_after(Inf, checkpointed(case, file, max_laps = few[[name]]))
    expect_identical(short$laps, few[[name]])
    expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, case[[1]], max_laps = 9))), bits_of_fit(whole))
    stopped_after(Inf, checkpointed(case, file, max_laps = few[[name]]))
    stopped_after(2, bnp_resume(file, case[[1]], max_laps = 9))
    expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, case[[1]]))), bits_of_fit(whole), info = name)
  }
  expect_error(bnp_resume(file, case[[1]], max_laps = 0), "max_laps", class = "bnpvi_error_argument")
})

test_that("a learned prior of levels is not taken for the prior of clusters, whose field has the same name", {
  table <- as.data.frame(HairEyeColor)
  people <- table[rep(seq_len(32), table$Freq), 1:3]
  file <- withr::local_tempfile()
  control <- bnp_control(seed = 1, restarts = 1, checkpoint = file, checkpoint_every = 0)
  whole <- stopped_after(Inf, bnp_mixture(people, control = control))
  stopped_after(3, bnp_mixture(people, control = control))
  expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, people))), bits_of_fit(whole))
  # Altered ends begin with what the best end has learned.
  titanic <- as.data.frame(Titanic)
  titanic <- titanic[rep(seq_len(32), titanic$Freq), 1:4]
  classes <- bnp_mixture(titanic, control = bnp_control(seed = 1, verbose = FALSE, restarts = "auto", effort = "low"))
  expect_true("altered" %in% classes$restarts$init)
})

test_that("laps after which numbers broke down break down again", {
  toy <- toy_sequences(1, 200)
  toy$data$x <- toy$data$x + 1e7
  model <- list(
    obs = utils::modifyList(diagonal_model(), list(mean = c(1e7, 1e7))), prior = list(family = "dp", concentration = 1)
  )
  file <- withr::local_tempfile()
  run <- function(resume) {
    files <- list(file = file, every = 0, header = as.raw(1:3), first = TRUE, resume = resume)
    with_breakdowns(engine_fit(
      toy$data, model, engine_control(6, 1, batches = 4L, tol = 1e-12, max_laps = 20L, checkpoints = files), NULL, NULL
    ))
  }
  whole <- run(FALSE)
  again <- run(TRUE)
  expect_identical(whole$reason, "numerical")
  whole$trace$seconds <- again$trace$seconds <- whole$taken_back$seconds <- again$taken_back$seconds <- NULL
  expect_identical(again, whole)
})

test_that("other data, other versions, and files that are cut short or changed are refused", {
  case <- checkpoint_cases()$mixture
  file <- withr::local_tempfile()
  stopped_after(3, checkpointed(case, file))
  x <- case[[1]]
  refused <- function(x, pattern) expect_error(bnp_resume(file, x), pattern, class = "bnpvi_error_checkpoint")
  refused(x[-1, ], "number of rows: 600 then, 599 now")
  refused(x[, 1], "number of columns: 2 then, 1 now")
  refused(`colnames<-`(x, c("a", "b")), "names of columns")
  refused(replace(x, 1, x[1] + 1e-9), "content of the rows")
  refused(x[600:1, ], "content of the rows")
  expect_error(bnp_resume(file), "holds no data", class = "bnpvi_error_checkpoint")
  expect_bad(bnp_resume(file, NULL), "not_numeric", "not NULL")
  expect_error(bnp_resume(paste0(file, "none"), x), class = "bnpvi_error_checkpoint")
  expect_error(bnp_resume(NA, x), "path of a file", class = "bnpvi_error_argument")
  bytes <- readBin(file, "raw", file.size(file))
  rewrite <- function(bytes) writeBin(bytes, file)
  for (n in c(0, 5, 40, length(bytes) %/% 2, length(bytes) - 1)) {
    rewrite(bytes[seq_len(n)])
    refused(x, "cut short or was changed")
  }
  for (at in unique(round(seq(1, length(bytes), length.out = 50)))) {
    rewrite(replace(bytes, at, xor(bytes[at], as.raw(16))))
    refused(x, "cut short or was changed")
  }
  rewrite(bytes)
  replace_in_package("package_version_here", function() "99.1", environment())
  refused(x, "this is version 99.1")
})

test_that("arguments that are not what they were are refused by name", {
  file <- withr::local_tempfile()
  case <- checkpoint_cases()$mixture
  stopped_after(3, checkpointed(case, file))
  replace_in_package("resolve_batches", function(...) 2L, environment())
  expect_error(bnp_resume(file, case[[1]]), "control", class = "bnpvi_error_checkpoint")
})

test_that("a folder that cannot be written to is an error at once, a disk that fills up a warning", {
  skip_on_os("windows")
  case <- checkpoint_cases()$mixture
  missing <- file.path(withr::local_tempdir(), "no", "such")
  expect_error(stopped_after(0, checkpointed(case, missing)), "No such file", class = "bnpvi_error_checkpoint")
  said <- with_full_disk(sprintf(
    "try(bnp_mixture(faithful, control = bnp_control(seed = 1, checkpoint = %s, verbose = FALSE)))",
    deparse(file.path(withr::local_tempdir(), "checkpoint"))
  ))
  expect_match(said, "The checkpoint cannot be written.*too large")
  # From the third lap on a folder is in the way of the file.
  file <- withr::local_tempfile()
  kept <- withr::local_tempfile()
  laps <- 0
  control <- bnp_control(seed = 5, verbose = TRUE, checkpoint = file, checkpoint_every = 0, batches = 3)
  warnings <- 0
  block <- function(m) {
    laps <<- laps + 1
    if (laps == 3) {
      file.rename(file, kept)
      dir.create(file)
    }
    invokeRestart("muffleMessage")
  }
  count <- function(w) {
    warnings <<- warnings + inherits(w, "bnpvi_warning_checkpoint")
    invokeRestart("muffleWarning")
  }
  fit <- withCallingHandlers(case[[2]](case[[1]], control), message = block, warning = count)
  expect_identical(warnings, 1)
  unlink(file, recursive = TRUE)
  file.rename(kept, file)
  expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, case[[1]]))), bits_of_fit(fit))
})

test_that("verbs that write no checkpoints say so", {
  control <- bnp_control(checkpoint = tempfile())
  short <- bnp_control(max_laps = 1, verbose = FALSE)
  features <- suppressWarnings(bnp_features(matrix(rnorm(20), 10), control = short))
  expect_error(
    update(features, matrix(rnorm(4), 2), control = control), "with new rows", class = "bnpvi_error_argument"
  )
  expect_error(bnp_control("truncation_free", checkpoint = "a"), "no meaning", class = "bnpvi_error_argument")
  expect_error(bnp_control(checkpoint = 1), "path of a file", class = "bnpvi_error_argument")
})

long_test("the best restart is the fit with its seed, rows and batches included", {
  case <- checkpoint_cases()$race
  file <- withr::local_tempfile()
  best <- 1L
  for (seed in 5:12) {
    fit <- stopped_after(Inf, checkpointed(case, file, seed = seed))
    best <- which.max(fit$restarts$elbo)
    if (best > 1L) break
  }
  expect_gt(best, 1L)
  alone <- stopped_after(Inf, checkpointed(case, file, restarts = 1L, seed = fit$restarts$seed[best]))
  for (what in c("elbo", "labels", "documents", "sizes", "state")) {
    expect_identical(fit[[what]], alone[[what]], info = what)
  }
})
