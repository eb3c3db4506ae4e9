# A fit in progress is a plain value: written after any lap, read again and gone on with, it ends with the same bits.

progress_cases <- function() {
  planted <- withr::with_seed(3, {
    centres <- matrix(rnorm(12, sd = 5), 6)
    centres[sample(6, 600, TRUE), ] + rnorm(1200)
  })
  overlapping <- withr::with_seed(2, {
    centres <- matrix(rnorm(24, sd = 3), 12)
    centres[sample(12, 600, TRUE), ] + rnorm(1200)
  })
  walks <- withr::with_seed(4, lapply(c(150, 90, 120), function(n) {
    state <- rep(rep(1:3, length.out = 12), each = 15)[seq_len(n)]
    cbind(rnorm(n, 4 * state), rnorm(n, -3 * state))
  }))
  documents <- whales$counts[1:80, ]
  events <- withr::with_seed(6, matrix(rpois(600, rep(c(1, 8, 3), each = 100)), 300))
  list(
    mixture_exposed = function(control) bnp_mixture(events, obs_poisson(exposure = 1:300), control = control),
    mixture = function(control) bnp_mixture(planted, control = control),
    mixture_overlapping = function(control) {
      control$max_laps <- 30L
      bnp_mixture(overlapping, control = control)
    },
    mixture_concentration = function(control) {
      bnp_mixture(planted, prior = prior_py(gamma_prior(2, 1), 0.3), control = control)
    },
    mixture_sparse = function(control) {
      control$sparsity <- 2L
      control$candidates <- 4L
      bnp_mixture(planted, control = control)
    },
    gaussian_learned = function(control) bnp_mixture(planted, obs_gaussian(learn = TRUE), control = control),
    sequences_learned = function(control) {
      bnp_hmm(walks, obs = obs_gaussian("diagonal", learn = TRUE), control = control)
    },
    mixture_learned = function(control) bnp_mixture(documents, obs_multinomial(NULL), control = control),
    topics = function(control) bnp_topics(documents, control = control),
    topics_learned = function(control) bnp_topics(documents, obs_multinomial(NULL), control = control),
    lda = function(control) bnp_topics(documents, prior = prior_lda(5), control = control),
    lda_empty = function(control) bnp_topics(documents[1:12, ], prior = prior_lda(8), control = control),
    sequences_finite = function(control) bnp_hmm(walks, prior = prior_hmm(8), control = control),
    topics_gamma = function(control) bnp_topics(documents, prior = prior_hdp(gamma_prior(2, 1)), control = control),
    topics_alpha_learned = function(control) {
      bnp_topics(documents, obs_multinomial(NULL), prior_hdp(gamma_prior(2, 1), gamma_prior(2, 1)), control)
    },
    lda_alpha_learned = function(control) {
      bnp_topics(documents, prior = prior_lda(8, gamma_prior(2, 1)), control = control)
    },
    sequences_rows_learned = function(control) {
      prior <- prior_hdp_hmm(gamma_prior(2, 1), gamma_prior(2, 1), gamma_prior(2, 1), gamma_prior(1, 0.1))
      bnp_hmm(walks, prior = prior, control = control)
    },
    everything_learned = function(control) {
      prior <- prior_hdp_hmm(gamma_prior(2, 1), gamma_prior(2, 1), gamma_prior(2, 1))
      bnp_hmm(walks, obs = obs_gaussian(learn = TRUE), prior = prior, control = control)
    },
    sequences = function(control) bnp_hmm(walks, prior = prior_hdp_hmm(sticky = 5), control = control),
    sequences_sparse = function(control) {
      control$sparsity <- 2L
      bnp_hmm(walks, control = control)
    }
  )
}

progress_control <- function(algorithm, ..., k_init = 8L) {
  control <- bnp_control(algorithm, batches = if (algorithm != "full") 3L, seed = 5, max_laps = 9, k_init = k_init)
  control[names(list(...))] <- list(...)
  control
}

# Everything of a fit but the time it took and what was asked of it.
bits_of <- function(fit) {
  fit$trace$seconds <- NULL
  unclass(fit)[setdiff(names(fit), c("call", "control", "progress", "data"))]
}

fit_case <- function(case, algorithm, ...) {
  suppressWarnings(progress_cases()[[case]](progress_control(algorithm, ..., k_init = if (case != "lda") 8L)))
}

test_that("a fit that goes on from any lap ends with the same bits", {
  for (case in some_of(names(progress_cases()), by = 18)) {
    for (algorithm in c("memoized", "full", "stochastic")) {
      if (endsWith(case, "learned") && algorithm == "stochastic") next # refused: it needs the whole data's summary
      whole <- fit_case(case, algorithm)
      for (lap in some_of(unique(c(1L, 4L, whole$laps %/% 2L, whole$laps - 1L)), by = 7, from = 2)) {
        part <- fit_case(case, algorithm, keep_lap = lap)
        expect_identical(bits_of(part), bits_of(whole), info = paste(case, algorithm, "keeping lap", lap))
        rest <- fit_case(case, algorithm, resume = part$progress)
        expect_identical(bits_of(rest), bits_of(whole), info = paste(case, algorithm, "from lap", lap))
      }
    }
  }
})

test_that("progress that is damaged, of another machine or of another version is refused", {
  progress <- fit_case("mixture", "memoized", keep_lap = 3L)$progress
  resume <- function(bytes) fit_case("mixture", "memoized", resume = bytes)
  expect_error(resume(progress[seq_len(length(progress) - 9L)]), "cut short or damaged")
  expect_error(resume(progress[1:5]), "not a stored state")
  other <- progress
  other[21:28] <- as.raw(c(99, 0, 0, 0, 0, 0, 0, 0))
  expect_error(resume(other), "another version")
  other <- progress
  other[13:20] <- rev(other[13:20])
  expect_error(resume(other), "order of bytes")
})

long_test("progress is read in a new process, which ends with the same bits", {
  for (case in some_of(c("mixture_sparse", "topics", "sequences"), by = 5)) {
    folder <- withr::local_tempdir()
    part <- fit_case(case, "memoized", keep_lap = 4L)
    saveRDS(list(call = part$call, progress = part$progress), file.path(folder, "part.rds"))
    script <- file.path(folder, "rest.R")
    helpers <- c("progress_cases", "progress_control", "fit_case")
    writeLines(c(
      "suppressPackageStartupMessages(library(bnpvi))",
      unlist(lapply(helpers, function(f) c(paste(f, "<-"), deparse(get(f))))),
      sprintf("part <- readRDS(%s)", deparse(file.path(folder, "part.rds"))),
      sprintf("fit <- fit_case(%s, \"memoized\", resume = part$progress)", deparse(case)),
      sprintf("saveRDS(fit, %s)", deparse(file.path(folder, "rest.rds")))
    ), script)
    status <- withr::with_envvar(
      c(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep)),
      system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = FALSE, stderr = FALSE)
    )
    expect_identical(status, 0L)
    expect_identical(bits_of(readRDS(file.path(folder, "rest.rds"))), bits_of(part), info = case)
  }
})
