# Fits whose work on batches is done elsewhere (inst/design/data.md).

# Workers without daemons: tasks go through bytes, in at most so many messages, to a desk in this process.
local_desk <- function(env = parent.frame(), messages = 2L, least_products = 0, threads = 1L) {
  folder <- withr::local_tempdir(.local_envir = env)
  number <- 0L
  seen <- new.env(parent = emptyenv())
  seen$kinds <- character()
  seen$times <- list()
  seen$most <- 0L # messages at a time
  here <- function(control, data, obs, class, call) {
    require_ability(kinds_to_fit(class, obs), "workers", call)
    with <- function(model) {
      number <<- number + 1L
      setup <- file.path(folder, paste0("setup-", number, ".rds"))
      saveRDS(list(
        version = package_version_here(), kernels = kernels_here(), sparsity = as.integer(control$sparsity),
        candidates = as.integer(control$candidates), threads = as.integer(control$threads), model = model
      ), setup)
      run <- function(tasks) {
        seen$most <- max(seen$most, length(tasks))
        lapply(tasks, function(task) {
          kinds <- kinds_in(task)
          seen$kinds <- union(seen$kinds, names(kinds))
          for (kind in names(kinds)) seen$times[[kind]] <- (seen$times[[kind]] %||% 0L) + kinds[[kind]]
          result <- work_on(setup, task)
          if (is.list(result)) stop(result$error)
          result
        })
      }
      list(run = run, messages = function() messages, least_products = least_products, folder = folder)
    }
    list(with = with, threads = threads, finish = function() NULL, traffic = NULL)
  }
  replace_in_package("hire_workers", here, env)
  seen
}

# The kinds of tasks in a message, and how many there are of each.
kinds_in <- function(message) {
  known <- c(
    "visit", "units", "assign", "claim", "statistic", "without", "seen", "documents", "target_rows", "touched_rows",
    "pair_entropy", "snapshot", "labels", "draw_rows", "nearest", "anchors"
  )
  times <- vapply(known, function(name) length(grepRaw(name, message, fixed = TRUE, all = TRUE)), 1L)
  times[times > 0L]
}

# What a fit is but for who did the work, seconds, and where that was.
bits_of_work <- function(fit) {
  fit$call <- fit$trace$seconds <- fit$control$workers <- fit$control$threads <- fit$control$verbose <- NULL
  unclass(fit)
}

# name = list(data, fit(data, control), control): small fits that take turns at all moves.
worker_cases <- function() {
  planted <- withr::with_seed(3, {
    centres <- matrix(rnorm(12, sd = 5), 6)
    centres[sample(6, 900, TRUE), ] + rnorm(1800)
  })
  overlapping <- withr::with_seed(2, matrix(rnorm(24, sd = 2), 12)[sample(12, 600, TRUE), ] + rnorm(1200))
  crowd <- withr::with_seed(8, matrix(runif(4800), 2400))
  holes <- withr::with_seed(5, replace(planted, cbind(sample(900, 200), sample(2, 200, TRUE)), NA))
  walks <- withr::with_seed(4, lapply(c(150, 90, 120, 60, 75), function(n) {
    state <- rep(rep(1:3, length.out = 12), each = 15)[seq_len(n)]
    cbind(rnorm(n, 4 * state), rnorm(n, -3 * state))
  }))
  apart <- withr::with_seed(9, lapply(1:9, function(i) {
    state <- rep(rep(if (i <= 5) 1:3 else 4:6, 4), each = 15)
    cbind(rnorm(180, 4 * state), rnorm(180, -3 * state))
  }))
  counts <- withr::with_seed(6, matrix(rpois(300 * 12, 12 * prop.table(rep(1:3, 4))), 300, byrow = TRUE))
  documents <- bars$counts[1:120, ]
  rows <- list(planted[1:600, ], id = rep(1:30, each = 20))
  known <- replace(rep(1:2, length.out = 900), -(1:30), NA)
  mixture <- function(...) function(x, control) bnp_mixture(x, ..., control = control)
  topics <- function(...) function(x, control) bnp_topics(x, ..., control = control)
  hmm <- function(...) function(x, control) bnp_hmm(x, ..., control = control)
  list(
    mixture = list(planted, mixture(), list(batches = 5L)),
    overlapping = list(overlapping, mixture(), list(batches = 4L, k_init = 8L)),
    fixed = list(overlapping, mixture(prior = prior_dirichlet(6)), list(batches = 3L)),
    near = list(planted, mixture(), list(batches = 4L, sparsity = 2L, candidates = 6L, k_init = 30L)),
    # Clusters that move within a lap, so that those near each other at its beginning are others than later.
    neighbours = list(crowd, mixture(), list(
      batches = 12L, sparsity = 1L, candidates = 2L, k_init = 60L, init = "random",
      moves = bnp_moves(FALSE, FALSE, FALSE)
    )),
    adopt = list(planted, mixture(), list(batches = 4L, moves = bnp_moves(adopt = TRUE))),
    holes = list(holes, mixture(na_action = "model"), list(batches = 4L)),
    learned = list(planted, mixture(obs_gaussian(learn = TRUE), prior_dp(gamma_prior(2, 1))), list(batches = 4L)),
    counts = list(counts, mixture(obs_multinomial()), list(batches = 3L)),
    # Of densities with a factor that no cluster changes.
    based = list(counts[, 1:3], mixture(obs_poisson()), list(batches = 3L)),
    weights = list(planted, mixture(weights = rep(c(0, 1, 2.5), 300)), list(batches = 3L)),
    labels = list(planted, mixture(labels = known), list(batches = 3L, max_laps = 8L)),
    individuals = list(planted, mixture(id = rep(1:300, each = 3)), list(batches = 3L)),
    times = list(planted, mixture(obs_gaussian(drift = 0.5), time = rep(1:4, 225)), list(batches = 3L, max_laps = 8L)),
    restarts = list(planted, mixture(), list(batches = 3L, restarts = 2L, k_init = 5L)),
    topics = list(documents, topics(), list(batches = 4L)),
    lda = list(documents, topics(prior = prior_lda(5)), list(batches = 4L)),
    few = list(documents, topics(), list(batches = 4L, sparsity = 2L, k_init = 8L)),
    response = list(
      documents, topics(response = withr::with_seed(3, rnorm(120))), list(batches = 3L, k_init = 6L)
    ),
    rows = list(rows[[1]], topics(obs_gaussian(), id = rows$id), list(batches = 3L)),
    sequences = list(walks, hmm(prior = prior_hdp_hmm(sticky = 5, alpha = gamma_prior(2, 1))), list(batches = 3L)),
    apart = list(apart, hmm(), list(batches = 3L)),
    states = list(walks, hmm(prior = prior_hmm(4)), list(batches = 3L)),
    trees = list(
      walks[[1]], hmm(parent = c(NA, seq_len(74) %/% 2 + 1L, NA, seq_len(74) %/% 2 + 76L)), list(batches = 2L)
    ),
    positions = list(
      walks[[1]], hmm(
        parent = c(NA, seq_len(74) %/% 2 + 1L, NA, seq_len(74) %/% 2 + 76L), position = rep(0:1, length.out = 150)
      ), list(batches = 2L)
    ),
    weighted_sequences = list(walks, hmm(weights = c(1, 0.5, 2, 1, 1)), list(batches = 2L)),
    autoregression = list(walks, hmm(obs = obs_ar()), list(batches = 2L)),
    sparse_states = list(walks, hmm(), list(batches = 3L, sparsity = 2L, k_init = 6L))
  )
}

fit_of_case <- function(case, ..., laps = 25L) {
  control <- bnp_control(seed = 5, verbose = FALSE, max_laps = laps)
  given <- utils::modifyList(case[[3]], list(...))
  control[names(given)] <- given
  suppressWarnings(case[[2]](case[[1]], control))
}

# Two daemons, or so many, for the time of a test, which are sent all work; their process numbers.
local_daemons <- function(n = 2L, profile = "bnpvi tests", env = parent.frame()) {
  skip_if_not_installed("mirai")
  mirai::daemons(n, .compute = profile)
  withr::defer(mirai::daemons(0, .compute = profile), envir = env)
  replace_in_package("least_products", 0, env)
  vapply(mirai::everywhere(Sys.getpid(), .compute = profile)[], identity, 1L)
}
