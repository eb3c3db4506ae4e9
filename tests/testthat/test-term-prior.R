# Hierarchical priors of terms in fits: Dir(even + common * beta), beta with a posterior.

learned_control <- function(...) bnp_control(seed = 1, tol = 1e-9, ...)

# Statistics of the clusters (clusters x terms): what the posterior has more than the prior.
statistics_of <- function(fit) {
  concentration <- posterior_params(fit)$concentration
  concentration - rep(fit$model$obs$term_prior, each = nrow(concentration))
}

draw_topics <- function(k, weight) t(replicate(k, prop.table(rgamma(length(weight), weight))))

# Documents of topics that are drawn from Dirichlet(even + common * share).
planted_prior <- function(even, common, terms = 60, topics = 20, documents = 400) {
  withr::with_seed(3, {
    share <- prop.table(rexp(terms)^2)
    phi <- draw_topics(topics, even + common * share)
    x <- t(replicate(documents, drop(rmultinom(1, 80, prop.table(rgamma(topics, 0.1) + 1e-9) %*% phi))))
    dimnames(x) <- list(NULL, paste0("t", seq_len(terms)))
    x
  })
}

learned_fits <- local({
  made <- NULL
  function() {
    if (!is.null(made)) return(made)
    x <- planted_prior(0.05, 20, documents = 120)
    obs <- obs_multinomial(term_prior = NULL)
    series <- x[withr::with_seed(1, order(rep(1:4, 30) + runif(120))), ]
    made <<- list(
      hdp = bnp_topics(x, obs, control = learned_control(max_laps = 200)),
      lda = bnp_topics(x, obs, prior_lda(12), control = learned_control(max_laps = 200)),
      mixture = bnp_mixture(x, obs, control = learned_control(max_laps = 200)),
      hmm = bnp_hmm(series, obs = obs, control = learned_control(max_laps = 200))
    )
    made
  }
})

test_that("a fit ends where no neighbour on the grids has a higher objective, and with the q(beta) that it teaches", {
  for (name in names(learned_fits())) {
    fit <- learned_fits()[[name]]
    H <- share_of_obs(fit$model$obs)
    expect_gt(n_clusters(fit), 1)
    expect_equal(fit$model$obs$term_prior, share_means(H), tolerance = 1e-12)
    statistic <- statistics_of(fit)
    here <- share_bound(H, statistic)
    steps <- list(c(1, 1), c(2, 1), c(0.5, 1), c(1, 2), c(1, 0.5))
    for (step in some_of(steps, by = 5, from = match(name, names(learned_fits())) %% 5 + 1)) {
      changed <- list(even = H$even * step[1], common = H$common * step[2], omega = H$omega)
      other <- share_settled(changed, statistic)
      expect_lt(share_bound(other, statistic) - here, 0.05, label = paste(name, toString(step)))
    }
  }
})

test_that("the objective is that of the hierarchical prior, and no lap lowers it", {
  for (name in c("hdp", "lda", "mixture")) {
    fit <- learned_fits()[[name]]
    terms <- elbo(fit, terms = TRUE)
    expect_equal(terms[["data"]], share_evidence(share_of_obs(fit$model$obs), statistics_of(fit)), tolerance = 1e-9)
    expect_equal(terms[["hyperprior"]], share_log_hyperprior(fit$model$obs), tolerance = 1e-9)
  }
  for (name in names(learned_fits())) expect_gt(min(relative_gains(learned_fits()[[name]])), -1e-12, label = name)
  data <- count_data(planted_prior(0.05, 20)[1:120, ])
  obs <- resolve_obs(learned_terms(), data)
  control <- resolve_control(
    bnp_control(seed = 1, batches = 3, max_laps = 30, k_init = 12), obs, prior_hdp(), data$n, data$n, NULL
  )
  control$audit <- TRUE
  fit <- engine_fit(data, list(obs = obs, prior = prior_hdp()), control, NULL, NULL)
  for (what in c("elbo", "statistics", "entropy", "sums", "gain")) expect_lte(fit$audit[[what]], 1e-8, label = what)
  expect_gte(fit$audit[["smallest_gain"]], -1e-9)
  expect_gt(fit$audit[["moves"]], 0)
})

# Where nothing is in common the shares are almost even, and only the sum of the two parts can be told.
long_test("a planted prior is found: something in common, or nothing", {
  learned <- function(even, common) {
    rows <- withr::with_seed(4, {
      share <- prop.table(rexp(40)^2)
      phi <- draw_topics(60, even + common * share)
      t(apply(phi[rep(1:60, each = 10), ], 1, function(p) rmultinom(1, 100, p)))
    })
    obs <- bnp_mixture(
      rows, obs_multinomial(NULL), start = rep(1:60, each = 10), control = bnp_control(seed = 1)
    )$model$obs
    c(obs$term_prior_even, obs$term_prior_common)
  }
  much <- learned(0.05, 20)
  expect_lt(abs(much[2] / 20 - 1), 0.3)
  expect_lt(much[1], 0.15)
  nothing <- learned(0.3, 0)
  expect_lt(abs((40 * nothing[1] + nothing[2]) / 12 - 1), 0.3)
})

long_test("articles are predicted better than with the prior of 0.1", {
  odd <- seq(1, nrow(whales$counts), by = 2)
  heldout <- function(term_prior, start) {
    fit <- bnp_topics(whales$counts[odd, ], obs_multinomial(term_prior), control = bnp_control(seed = start))
    vapply(1:6, function(seed) {
      heldout_loglik(fit, whales$counts[-odd, ], split = "type", seen = 0.8, inference = "variational", seed = seed)
    }, 0)
  }
  gain <- vapply(1:2, function(start) mean(heldout(NULL, start) - heldout(0.1, start)), 1)
  expect_gt(mean(gain), 0.01)
})

test_that("bits do not depend on threads, and an earlier fit hands its prior on", {
  x <- planted_prior(0.05, 20, documents = 120)
  fit <- function(threads) {
    bnp_topics(x, obs_multinomial(NULL), control = bnp_control(seed = 5, max_laps = 8, threads = threads))
  }
  one <- fit(1)
  three <- fit(3)
  expect_identical(three$model, one$model)
  expect_identical(three$state, one$state)
  before <- learned_fits()$hdp
  again <- bnp_topics(
    x, obs_multinomial(NULL), start = before, control = bnp_control(seed = 5, moves = FALSE, max_laps = 3)
  )
  expect_equal(again$model$obs$term_prior_common, before$model$obs$term_prior_common, tolerance = 0.01)
  expect_gte(elbo(again), elbo(before) - 1e-4)
})

test_that("one cluster teaches, and rows without tokens or a vocabulary of one do no harm", {
  one <- bnp_topics(toy_corpus(), obs_multinomial(NULL), prior_lda(1), control = bnp_control(seed = 1))
  given <- bnp_topics(toy_corpus(), obs_multinomial(0.1), prior_lda(1), control = bnp_control(seed = 1))
  expect_gt(elbo(one), elbo(given))
  empty <- bnp_mixture(0 * toy_corpus(), obs_multinomial(NULL), prior_dirichlet(3), control = bnp_control(seed = 1))
  expect_true(all(is.finite(empty$model$obs$term_prior)))
  single <- bnp_topics(matrix(1:6, 6), obs_multinomial(NULL), prior_lda(2), control = bnp_control(seed = 1))
  expect_true(is.finite(elbo(single)) && all(single$model$obs$term_prior > 0))
})

test_that("the fit can be asked everything, and print says what was learned", {
  fit <- learned_fits()$hdp
  x <- planted_prior(0.05, 20, documents = 120)
  expect_equal(rowSums(predict(fit, x[1:5, ])), rep(1, 5), ignore_attr = TRUE)
  for (inference in c("collapsed", "variational", "predictive")) {
    expect_true(is.finite(heldout_loglik(fit, x[1:5, ], inference = inference, seed = 1)))
  }
  expect_output(print(summary(fit)), "term_prior_common")
  expect_true(all(is.finite(predict(learned_fits()$mixture, x[1:5, ], type = "logdensity"))))
})

test_that("the prior of terms is learned unless it is given, wherever the summary of the whole data is kept", {
  x <- toy_corpus(documents = 40)
  few <- function(...) bnp_control(seed = 1, max_laps = 3, ...)
  learns <- function(fit) !is.null(obs_learned(fit$model$obs))
  quietly <- function(...) suppressWarnings(suppressMessages(...))
  learned <- list(
    topics = quietly(bnp_topics(x, control = few())),
    full = quietly(bnp_topics(x, control = few(algorithm = "full"))),
    finite = quietly(bnp_topics(x, prior = prior_lda(3), control = few())),
    responses = quietly(bnp_topics(x, response = seq_len(40), control = few())),
    rows = quietly(bnp_topics(x, id = rep(1:10, 4), control = few())),
    source = quietly(bnp_topics(source_function(function(i) if (i <= 4) x[10 * i - 9:0, ]), control = few())),
    mixture = quietly(bnp_mixture(x, obs_multinomial(), control = few())),
    product = quietly(bnp_mixture(
      data.frame(x, y = rnorm(40)),
      obs_product(terms = obs_multinomial(columns = colnames(x)), obs_gaussian(columns = "y")),
      control = few()
    )),
    sequence = quietly(bnp_hmm(x, obs = obs_multinomial(), control = few()))
  )
  for (name in names(learned)) expect_true(learns(learned[[name]]), label = name)
  given <- list(
    stated = quietly(bnp_topics(x, obs_multinomial(0.1), control = few())),
    stochastic = quietly(bnp_topics(x, control = few(algorithm = "stochastic"))),
    passes = quietly(bnp_topics(x, control = bnp_control("truncation_free", seed = 1))),
    stream = quietly(bnp_topics(
      bnp_stream(function(i) if (i == 1) x), control = bnp_control("truncation_free", seed = 1)
    )),
    draws = quietly(bnp_sample(x, prior = prior_hdp(1, 1), chains = 1, draws = 2, warmup = 0, seed = 1))
  )
  for (name in names(given)) {
    expect_false(learns(given[[name]]), label = name)
    expect_identical(given[[name]]$model$obs$term_prior, rep(0.1, ncol(x)), label = name)
  }
  # What a fit has learned is held where learning ends.
  on <- quietly(update(learned$topics, x[1:5, ]))
  expect_true(learns(on))
  held <- quietly(bnp_topics(bnp_stream(function(i) if (i == 1) x), start = learned$topics, control = bnp_control(
    "truncation_free", seed = 1
  )))
  expect_false(learns(held))
  expect_identical(held$model$obs$term_prior, learned$topics$model$obs$term_prior)
})

test_that("terms that never occur keep a probability", {
  x <- withr::with_seed(1, rbind(t(rmultinom(30, 50, c(5, 3, 1, 1, 0, 0))), t(rmultinom(30, 50, c(3, 5, 1, 1, 0, 0)))))
  fit <- bnp_mixture(
    x, obs_multinomial(NULL), prior_dirichlet(2), bnp_control(seed = 1, max_laps = 150, tol = 0, moves = FALSE)
  )
  expect_gt(min(diff(elbo_trace(fit)$elbo)), -1e-9 * abs(fit$elbo))
  expect_true(is.finite(predict(fit, matrix(c(0, 0, 0, 0, 1, 1), 1), "logdensity")))
  expect_no_error(obs_multinomial(fit$model$obs$term_prior))
})

test_that("probabilities of terms sum to 1, and predict at least as well as the bound's share of them", {
  fit <- learned_fits()$mixture
  v <- fit$input$d
  expect_equal(rowSums(coef(fit)$prob), rep(1, n_clusters(fit)), ignore_attr = TRUE)
  one_token <- diag(v)
  dimnames(one_token) <- list(NULL, colnames(planted_prior(0.05, 20, documents = 120)))
  expect_equal(sum(exp(predict(fit, one_token, "logdensity"))), 1, tolerance = 1e-9)
  H <- share_of_obs(fit$model$obs)
  expect_true(all(share_means(H) >= share_weights(H)))
  expect_lt(sum(share_weights(H)), sum(share_means(H)))
})

test_that("samplers and streams hold the Dirichlet prior that predicts", {
  fit <- learned_fits()$mixture
  x <- planted_prior(0.05, 20, documents = 120)
  draws <- suppressWarnings(bnp_sample(fit, x, chains = 2, draws = 4, warmup = 0, seed = 1))
  expect_identical(draws$model$obs$term_prior, fit$model$obs$term_prior)
  expect_null(obs_learned(draws$model$obs))
})

test_that("one batch is full learning, and several never lower the objective", {
  x <- planted_prior(0.05, 20)[1:150, ]
  muffled <- function(...) {
    control <- bnp_control(seed = 2, tol = 0, max_laps = 12, ...)
    suppressWarnings(bnp_mixture(x, obs_multinomial(NULL), control = control))
  }
  expect_identical(muffled(batches = 1)$state, muffled(algorithm = "full")$state)
  expect_gt(min(relative_gains(muffled(batches = 5))), -1e-12)
})

test_that("weights that are no whole numbers: print says that the objective is no bound, and laps still rise", {
  x <- planted_prior(0.05, 20)[1:100, ]
  fit <- function(...) suppressWarnings(bnp_mixture(x, ..., control = bnp_control(seed = 1, max_laps = 20)))
  halves <- fit(obs_multinomial(NULL), weights = rep(0.5, 100))
  expect_output(print(halves), "no bound")
  expect_gt(min(relative_gains(halves)), -1e-12)
  whole <- fit(obs_multinomial(NULL), weights = rep(2, 100))
  for (one in list(whole, fit(obs_multinomial(0.1), weights = rep(0.5, 100)))) {
    expect_false(any(grepl("no bound", utils::capture.output(print(one)))))
  }
})
