# Random damages of spools, checkpoints and stored fits: refused, or the right answer; never a crash, never another
# answer. Each runs in a child.

skip_on_os("windows") # no fork

test_that("a damaged spool is refused or gives the right answer", {
  rows <- as.matrix(faithful)[rep(seq_len(272), 2), ]
  texts <- Matrix::Matrix(bars$counts[1:40, ], sparse = TRUE)
  walks <- data.frame(a = rows[, 1], b = rows[, 2], id = rep(1:8, each = 68))
  kinds <- list(
    mixture = list(
      function(folder) source_function(function(b) rows[1:136 + 136 * (b - 1), ], 4, spool = folder),
      function(source) bnp_mixture(source, control = how_source(max_laps = 2, batches = 3))
    ),
    topics = list(
      function(folder) source_function(function(b) texts[1:20 + 20 * (b - 1), ], 2, spool = folder),
      function(source) bnp_topics(source, control = how_source(max_laps = 2, batches = 2))
    ),
    sequences = list(
      function(folder) source_function(function(b) walks[1:136 + 136 * (b - 1), ], 4, spool = folder),
      function(source) bnp_hmm(source, id = "id", control = how_source(max_laps = 2, batches = 2))
    )
  )
  for (name in names(kinds)) {
    kept <- file.path(withr::local_tempdir(), "kept")
    folder <- paste0(kept, "-damaged")
    answer <- function(source) kinds[[name]][[2]](source)[c("elbo", "labels", "state", "input")]
    right <- suppressMessages(suppressWarnings(answer(kinds[[name]][[1]](kept))))
    source <- kinds[[name]][[1]](folder)
    files <- list.files(kept)
    expect_setequal(files, c("batches.spool", "description.rds"))
    dir.create(folder)
    once <- function() {
      file.copy(file.path(kept, files), folder, overwrite = TRUE)
      file <- file.path(folder, sample(files, 1, prob = c(3, 1)))
      writeBin(damaged(bytes_of(file)), file)
      outcome_of(function() answer(source), right)
    }
    outcomes <- expect_damage_known(how_many_damages(6L), 47, once)
    expect_gt(outcomes[["refused"]], 0)
  }
})

test_that("a damaged checkpoint is refused", {
  cases <- checkpoint_cases()[c("mixture", "topics", "features")]
  for (name in some_of(names(cases), by = 2)) {
    case <- cases[[name]]
    file <- withr::local_tempfile()
    stopped_after(3, checkpointed(case, file))
    bytes <- bytes_of(file)
    right <- elbo(stopped_after(Inf, bnp_resume(file, case[[1]])))
    once <- function() {
      writeBin(damaged(bytes), file)
      outcome_of(function() elbo(stopped_after(Inf, bnp_resume(file, case[[1]]))), right)
    }
    expect_damage_known(how_many_damages(6L), 48, once, "refused")
  }
})

# R reads what it is told to read: its readRDS() may itself end the process before there is a fit, and takes the folder
# of temporary files with it. So this is done in a process that has children of its own.
test_that("a stored fit that is damaged is refused or gives the right answer", {
  links <- withr::with_seed(3, matrix(stats::rbinom(400, 1, 0.3), 20, dimnames = list(NULL, NULL)))
  walk <- withr::with_seed(2, cbind(a = rnorm(60, rep(c(0, 4), each = 30)), b = rnorm(60)))
  times <- rep(1:4, each = 68)
  sequences <- bnp_hmm(walk, control = how_source(max_laps = 5))
  batches <- bnp_stream(function(i) if (i < 3) faithful[1:136 + 136 * (i - 1), ])
  makers <- rlang::exprs(
    mixture = bnp_mixture(faithful, control = how_source(max_laps = 5)),
    topics = bnp_topics(bars$counts[1:30, ], control = how_source(max_laps = 3)),
    features = bnp_features(scale(attitude), control = how_source(max_laps = 5)),
    network = bnp_network(replace(links, diag(20) == 1, 0), control = how_source(max_laps = 5)),
    sequences = sequences, linear = bnp_hmm(walk, obs = obs_lds(), control = how_source(max_laps = 3)),
    drift = bnp_mixture(faithful, obs_gaussian(drift = 0.3), time = times, control = how_source(max_laps = 3)),
    stream = bnp_mixture(batches, control = bnp_control("truncation_free", seed = 1)),
    draws = bnp_sample(faithful[1:60, ], draws = 4, chains = 2, warmup = 2, seed = 1),
    filter = bnp_filter(sequences, walk), means = bnp_dynamic_means(faithful, time = times, lambda = 400),
    tree = cluster_tree(bnp_mixture(faithful, prior = prior_dirichlet(4), control = how_source(max_laps = 5)), faithful)
  )
  here <- environment()
  fits <- lapply(some_of(makers, by = 4), eval, here) |> suppressWarnings() |> suppressMessages()
  folder <- withr::local_tempdir()
  saveRDS(list(fits, how_many_damages(1L)), file.path(folder, "fits.rds"))
  script <- file.path(folder, "damage.R")
  writeLines(c(
    sprintf("folder <- %s; source(%s)", deparse(folder), deparse(normalizePath(test_path("helper-damage.R")))),
    readLines(test_path("damaged-fits.R"))
  ), script)
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = FALSE, stderr = FALSE)
  expect_true(file.exists(file.path(folder, "outcomes.rds")))
  outcomes <- readRDS(file.path(folder, "outcomes.rds"))
  for (name in names(outcomes)) {
    wrong <- setdiff(outcomes[[name]], c("refused", "right", "not read", "ended by readRDS()"))
    expect_identical(wrong, character(), info = name)
  }
})
