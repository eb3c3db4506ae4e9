# Laws of topic models whose proportions depend on covariates, by the engine itself.

with_parties <- function(corpus, formula = ~ party + day) {
  data <- as_document_data(corpus$x, obs_multinomial(0.1))
  with_document_covariates(
    data, prior_of_documents(prior_covariates(formula), NULL), corpus$about, corpus$x, rlang::current_env()
  )
}
case_of <- function(corpus, formula = ~ party + day) {
  made <- with_parties(corpus, formula)
  obs <- list(family = "multinomial", term_prior = rep(0.1, ncol(corpus$x)))
  list(data = as_engine_data(made$data), model = list(obs = obs, prior = made$prior))
}

test_that("without covariates, and where all are 0, the model is that of prior_hdp() with the tight bound", {
  corpus <- dated_corpus()
  none <- case_of(corpus, ~ 1)
  zero <- case_of(corpus)
  zero$model$prior$patterns[] <- 0
  plain <- none
  plain$data$group_values <- NULL
  plain$model <- list(obs = none$model$obs, prior = prior_hdp(gamma = 1), bound = "tight")
  r <- withr::with_seed(2, matrix(rgamma(nrow(corpus$x) * 5, 0.5), nrow(corpus$x)))
  still <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  run <- function(case) {
    control <- bnp_control(moves = still, batches = 2L, max_laps = 12L, seed = 1, verbose = FALSE)
    start <- list(resp = r / rowSums(r))
    control <- resolve_control(control, case$model$obs, case$model$prior, case$data$n, case$data$n, start)
    engine_fit(case$data, case$model, control, start, NULL)
  }
  dp <- run(plain)
  for (case in list(none, zero)) {
    fit <- run(case)
    expect_equal(fit$trace$elbo, dp$trace$elbo, tolerance = 1e-9)
    expect_equal(fit$sizes, dp$sizes, tolerance = 1e-5)
  }
})

test_that("the bound is that of plain R at the counts of documents, sticks and effects", {
  corpus <- dated_corpus(documents = 50)
  for (batches in c(1L, 3L)) {
    fit <- bnp_topics(
      corpus$x, obs_multinomial(0.1), prior_covariates(~ party + day), covariates = corpus$about,
      control = bnp_control(seed = 3, batches = batches, max_laps = 25, verbose = FALSE)
    )
    terms <- elbo(fit, terms = TRUE)
    counts <- as.matrix(fit$documents)[, order(fit$numbering), drop = FALSE]
    x <- fit$model$prior$patterns
    twin <- twin_tilted_topics(
      counts, fit$input$document_pattern + 1L, x, topic_tilts(fit$state$u, ncol(x)), 1, 0.5
    )
    expect_equal(sum(terms[c("documents", "top_level", "effects")]), twin, tolerance = 1e-8)
    expect_equal(sum(terms), fit$elbo, tolerance = 1e-12)
    expect_gt(ncol(counts), 1L)
  }
})

test_that("with proportions by covariates the bound of topics is below the evidence", {
  words <- list(c(1, 1, 2), c(2, 3, 3), c(1, 3, 4))
  x <- t(vapply(words, tabulate, integer(4), nbins = 4L))
  about <- data.frame(g = c(0, 1, 1))
  fit <- bnp_topics(
    x, obs_multinomial(0.3), prior_covariates(~ g), covariates = about, start = c(1, 2, 1),
    control = bnp_control(seed = 1, moves = FALSE, max_laps = 200, tol = 1e-10, verbose = FALSE)
  )
  # All 2^9 assignments to the first two topics; sticks and effects drawn from their priors.
  token <- unlist(words)
  document <- rep(1:3, each = 3)
  ways <- as.matrix(expand.grid(rep(list(1:2), 9)))
  log_words <- apply(ways, 1, function(z) {
    counts <- vapply(1:2, function(k) tabulate(token[z == k], 4), numeric(4))
    sum(lgamma(1.2) - lgamma(1.2 + colSums(counts))) + sum(lgamma(0.3 + counts) - lgamma(0.3))
  })
  g <- fit$model$prior$patterns[fit$input$document_pattern + 1L, 1]
  n1 <- t(apply(ways, 1, function(z) tapply(z == 1, document, sum)))
  withr::local_seed(1)
  each <- replicate(3000, {
    u <- rbeta(2, 1, 1)
    pi <- c(u[1], (1 - u[1]) * u[2])
    a <- 0.5 * t(pi * exp(outer(rnorm(2), g)))
    s <- rowSums(a) + 0.5 * (1 - sum(pi))
    log_topics <- sum(lgamma(s) - lgamma(s + 3)) + 0 * log_words
    for (d in 1:3) {
      log_topics <- log_topics + lgamma(a[d, 1] + n1[, d]) - lgamma(a[d, 1]) +
        lgamma(a[d, 2] + 3 - n1[, d]) - lgamma(a[d, 2])
    }
    sum(exp(log_words + log_topics))
  })
  evidence <- log(mean(each))
  expect_lt(fit$elbo, evidence)
  expect_gt(fit$elbo, evidence - 6)
})

test_that("states equal their recomputation under moves, and the bound never falls", {
  corpus <- dated_corpus(seed = 5, documents = 90)
  case <- case_of(corpus)
  for (k in c(1L, 9L)) {
    expect_audited_topics(
      engine_run(case, k_init = k, batches = 3L, max_laps = 12L, seed = 2, restarts = 1L, audit = TRUE)
    )
  }
})

test_that("one batch is the full algorithm, and threads change no bit", {
  case <- case_of(dated_corpus(documents = 300))
  run <- function(...) engine_run(case, ..., seed = 1, restarts = 1L)
  moving <- lapply(1:2, function(threads) run(k_init = 2L, batches = 3L, max_laps = 6L, threads = threads))
  expect_identical(moving[[2]]$state, moving[[1]]$state)
  expect_identical(moving[[2]]$elbo, moving[[1]]$elbo)
  whole <- run(algorithm = "full", k_init = 4L, max_laps = 6L)
  expect_identical(run(batches = 1L, k_init = 4L, max_laps = 6L)$state, whole$state)
})
