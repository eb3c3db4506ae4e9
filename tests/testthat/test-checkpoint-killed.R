# Fits whose process is killed, in every family and way of learning.

skip_on_os("windows")

test_that("a process that is killed goes on to the same bits", {
  long <- longest_tests()
  folder <- withr::local_tempdir()
  file <- file.path(folder, "checkpoint")
  groups <- withr::with_seed(1, matrix(rnorm(60, sd = 2), 20)[sample(20, 5000, TRUE), ] + rnorm(15000))
  walks <- withr::with_seed(2, lapply(1:4, function(i) apply(matrix(rnorm(400), 200), 2, cumsum) + rnorm(400)))
  net <- withr::with_seed(4, planted_network(rep(1:6, each = 30), matrix(0.04, 6, 6) + diag(0.3, 6)))
  links <- adjacency_of(net)
  how <- function(...) bnp_control(seed = 2, checkpoint = file, checkpoint_every = 0, verbose = FALSE, ...)
  cases <- list(
    mixture = list("bnp_mixture", groups, how(max_laps = 40, k_init = 5, restarts = 2, batches = 5)),
    stochastic = list("bnp_mixture", groups, how(algorithm = "stochastic", max_laps = 60, k_init = 20, batches = 5)),
    topics = list("bnp_topics", whales$counts, how(max_laps = 20, k_init = 10, batches = 3)),
    chains = list("bnp_hmm", walks, how(max_laps = 40, k_init = 8, batches = 2)),
    linear = list("bnp_hmm", walks, how(max_laps = 6, restarts = 2), obs = obs_lds()),
    features = list("bnp_features", planted_features(5, 2000, 16, 6)$x, how(max_laps = 30, restarts = 2, batches = 5)),
    communities = list("bnp_network", links, how(max_laps = 60)),
    blocks = list("bnp_network", links, how(restarts = 3), prior = prior_dp()),
    degrees = list("bnp_network", links, how(restarts = 2), obs = obs_links(degree = TRUE), prior = prior_dp()),
    sampled_communities = list(
      "bnp_network", links, how(algorithm = "stochastic", max_laps = 300, k_init = 20, batches = 10)
    ),
    sampled_blocks = list(
      "bnp_network", links, how(algorithm = "stochastic", max_laps = 600, k_init = 20, batches = 10), prior = prior_dp()
    )
  )
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  script <- file.path(folder, "fit.R")
  given <- file.path(folder, "arguments")
  writeLines(c(
    "suppressPackageStartupMessages(library(bnpvi))",
    sprintf("case <- readRDS(%s)", deparse(given)), "do.call(case[[1]], case[[2]])"
  ), script)
  command <- paste(shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script), ">/dev/null 2>&1 & echo $!")
  for (name in some_of(names(cases), by = 12)) {
    case <- cases[[name]]
    arguments <- c(list(case[[2]], control = case[[3]]), case[-(1:3)])
    saveRDS(list(case[[1]], arguments), given)
    began <- proc.time()[["elapsed"]]
    whole <- suppressMessages(suppressWarnings(do.call(case[[1]], arguments)))
    seconds <- proc.time()[["elapsed"]] - began
    compared <- setdiff(names(whole), "call")
    for (kill in seq_len(if (long) 20 else 1)) {
      unlink(file)
      pid <- as.integer(system(command, intern = TRUE))
      limit <- Sys.time() + 60
      while (!file.exists(file) && Sys.time() < limit) Sys.sleep(0.02)
      Sys.sleep(stats::runif(1, 0, seconds))
      tools::pskill(pid, tools::SIGKILL)
      again <- suppressMessages(suppressWarnings(bnp_resume(file, case[[2]])))
      expect_identical(bits_of_fit(again)[compared], bits_of_fit(whole)[compared], info = name)
    }
  }
})
