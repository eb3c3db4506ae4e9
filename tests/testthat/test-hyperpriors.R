# Learned concentrations of hierarchical models: gamma against integrals, the others against searches in plain R, and
# the laws of fits that learn.

ab <- function(shape = 2, rate = 1) c(shape, rate)
learn <- gamma_prior(2, 1)

hmm_learned <- list(
  plain = list(family = "hdp_hmm", gamma = ab(), alpha = ab(), start = ab(), sticky = 0),
  sticky = list(family = "hdp_hmm", gamma = ab(), alpha = ab(), start = ab(), sticky = ab(1, 0.1)),
  finite = list(family = "hmm", k = 3L, alpha = ab(), start = ab(), sticky = ab(1, 0.1))
)

# log of the integral of exp(f) over Gamma(a, b), by 4,000 nodes between far quantiles.
log_integral <- function(f, prior) {
  t <- seq(log(qgamma(1e-12, prior[1], prior[2])), log(qgamma(1e-12, prior[1], prior[2], lower.tail = FALSE)),
    length.out = 4000
  )
  v <- vapply(exp(t), f, 0) + dgamma(exp(t), prior[1], prior[2], log = TRUE) + t
  max(v) + log(sum(exp(v - max(v))) * diff(t[1:2]))
}

random_counts <- function(seed = 2) {
  resp <- withr::with_seed(seed, matrix(rgamma(300, 0.3), 100))
  resp / rowSums(resp)
}

long_test("sticks with gamma integrated: the term is the integral, and no other sticks are better", {
  toy <- toy_sequences(1)
  resp <- random_counts()
  counts <- twin_rows(resp, toy$data$starts)
  priors <- list(ab(), ab(1, 0.01), ab(30, 300))
  for (sticky in c(0, 20)) for (prior in some_of(priors, by = 2, from = 1 + (sticky > 0))) {
    model <- list(
      obs = diagonal_model(), prior = list(family = "hdp_hmm", gamma = prior, alpha = 0.5, start = 4, sticky = sticky)
    )
    fit <- engine_fit(toy$data, model, engine_control(max_laps = 0L), list(resp = resp), NULL)
    u <- fit$state$u
    omega <- fit$state$omega
    given <- function(gamma) twin_sticks(u, omega, 3, gamma, sticky, 0.5, 4)$value
    expect_equal(fit$terms[["sticks"]], log_integral(given, prior), tolerance = 1e-9)
    q <- engine_posterior(model, fit$state)$gamma
    s <- sum(digamma((1 - u) * omega) - digamma(omega))
    expect_equal(q, c(prior[1] + 3, prior[2] - s), tolerance = 1e-10)
    value <- function(x) {
      u <- stats::plogis(x[1:3])
      omega <- exp(x[4:6])
      s <- sum(digamma((1 - u) * omega) - digamma(omega))
      top <- twin_sticks(u, omega, 3, 1, sticky, 0.5, 4)
      top$value - s - (prior[1] + 3) * log(prior[2] - s) + prior[1] * log(prior[2]) + lgamma(prior[1] + 3) -
        lgamma(prior[1]) + twin_transitions(counts, top$pi, 0.5, 4, sticky)
    }
    at <- c(stats::qlogis(u), log(omega))
    expect_equal(sum(fit$terms[c("sticks", "transitions")]), value(at), tolerance = 1e-9)
    best <- stats::optim(at + 0.3, function(x) -value(x), method = "BFGS", control = list(reltol = 1e-14))
    expect_gte(value(at), -best$value - 1e-6)
  }
})

test_that("a sharp prior is a fixed gamma", {
  x <- toy_corpus()
  resp <- random_counts()[1:30, ]
  top <- function(gamma) {
    engine_elbo_of(count_data(x), topic_model(12, list(family = "hdp", gamma = gamma, alpha = 0.5)), resp)
  }
  for (gamma in c(0.05, 3, 1e4)) expect_equal(top(ab(1e9, 1e9 / gamma)), top(gamma), tolerance = 1e-6)
})

# Groups with known topics, two and those not seen: sticks and gamma by quadrature.
test_that("the bound with gamma integrated is below the evidence", {
  counts <- withr::with_seed(3, cbind(rpois(6, 4), rpois(6, 2)))
  n <- if (long_tests()) 80 else 40
  nodes <- (seq_len(n) - 0.5) / n
  for (alpha in c(0.5, 3)) for (prior in list(ab(), ab(1, 0.2))) {
    model <- topic_model(1, list(family = "hdp", gamma = prior, alpha = alpha), 1)
    resp <- counts / rowSums(counts)
    terms <- engine_elbo_of(count_data(cbind(a = rowSums(counts))), model, resp)
    bound <- sum(terms[c("documents", "top_level")])
    log_groups <- function(pi) {
      each <- function(k) rowSums(lgamma(outer(alpha * pi[, k], counts[, k], `+`)) - lgamma(alpha * pi[, k]))
      each(1) + each(2) + sum(lgamma(alpha) - lgamma(alpha + rowSums(counts)))
    }
    at_gamma <- function(gamma) {
      u <- 1 - (1 - nodes)^(1 / gamma)
      pi <- cbind(rep(u, each = n), as.vector(outer(u, 1 - u)))
      v <- log_groups(pmax(pi, 1e-300))
      max(v) + log(mean(exp(v - max(v))))
    }
    gammas <- qgamma((1:30 - 0.5) / 30, prior[1], prior[2])
    v <- vapply(gammas, at_gamma, 0)
    evidence <- max(v) + log(mean(exp(v - max(v))))
    expect_lt(bound, evidence)
    expect_gt(bound, evidence - 3)
  }
})

# The objective along one concentration, all else fixed: no value in the range of the search is better.
expect_best <- function(f, found, tolerance = 1e-6) {
  best <- stats::optimise(function(t) f(exp(t)), log(found) + c(-3, 3), maximum = TRUE, tol = 1e-8)$objective
  expect_gte(f(found), best - tolerance)
}

log_prior <- function(value, prior) dgamma(value, prior[1], prior[2], log = TRUE)

test_that("concentrations of rows are the best for a fit's counts and sticks, and the objective has their density", {
  toy <- toy_sequences(4, rep(c(30, 60, 10), 5))
  for (prior in hmm_learned) for (bound in c("tight", "loose")) {
    if (prior$family == "hmm" && bound == "loose") next
    model <- list(obs = diagonal_model(), prior = prior, bound = bound)
    fit <- engine_fit(toy$data, model, engine_control(3, 7, tol = 1e-13, max_laps = 200L), NULL, NULL)
    learned <- vapply(fit$concentrations, function(x) x[3], 0)
    state <- fit$state
    counts <- list(start = state$extra[, 1], transition = state$pair)
    s <- sum(digamma((1 - state$u) * state$omega) - digamma(state$omega))
    value <- function(at) {
      at <- utils::modifyList(list(sticky = 0), as.list(at))
      density <- sum(mapply(log_prior, at[names(learned)], prior[names(learned)]))
      if (prior$family == "hmm") {
        none <- list(start = rep(0, 3), transition = matrix(0, 3, 3))
        return(density + do.call(twin_transitions, c(list(counts, rep(1 / 3, 3)), at[c("alpha", "start", "sticky")])) -
          do.call(twin_transitions, c(list(none, rep(1 / 3, 3)), at[c("alpha", "start", "sticky")])))
      }
      top <- twin_sticks(state$u, state$omega, 3, 1, at$sticky, at$alpha, at$start, bound)
      density + top$value - s - 5 * log(1 - s) + lgamma(5) - lgamma(2) +
        twin_transitions(counts, top$pi, at$alpha, at$start, at$sticky)
    }
    expect_equal(value(learned), sum(fit$terms[names(fit$terms) %in% c("transitions", "sticks", "hyperprior")]))
    expect_equal(fit$terms[["hyperprior"]], sum(mapply(log_prior, learned, prior[names(learned)])))
    for (name in names(learned)) {
      expect_best(function(x) value(replace(learned, name, x)), learned[[name]], 1e-5)
    }
  }
})

test_that("alpha of topics is the best for a fit's counts and sticks, from the documents alone", {
  x <- toy_corpus(documents = 40)
  for (prior in list(prior_hdp(learn, learn), prior_lda(4, learn), prior_hdp(2, learn))) {
    for (bound in if (is.null(prior$k)) c("tight", "loose") else list(NULL)) {
      control <- do.call(bnp_control, c(
        list(seed = 3, batches = 3, max_laps = 150, tol = 1e-13), if (!is.null(bound)) list(bound = bound)
      ))
      fit <- suppressWarnings(bnp_topics(x, obs_multinomial(0.1), prior, control))
      counts <- as.matrix(fit$documents)[, order(fit$numbering)]
      k <- ncol(counts)
      terms <- elbo(fit, terms = TRUE)
      value <- function(alpha) {
        if (!is.null(prior$k)) {
          theta <- counts + alpha / k
          return(log_prior(alpha, ab()) + nrow(x) * (lgamma(alpha) - k * lgamma(alpha / k)) +
            sum(lgamma(theta)) - sum(lgamma(rowSums(theta))))
        }
        twin <- twin_hdp_terms(counts, rowSums(x), fit$state$u, fit$state$omega, 2, alpha, bound)
        sum(twin) + log_prior(alpha, ab())
      }
      found <- coef(fit)$alpha
      expect_best(value, found, 1e-5)
      expect_equal(terms[["hyperprior"]], log_prior(found, ab()))
      if (!is.null(prior$k)) expect_equal(sum(terms[c("documents", "hyperprior")]), value(found), tolerance = 1e-8)
      if (identical(prior$gamma, 2)) {
        expect_equal(sum(terms[c("documents", "top_level", "hyperprior")]), value(found), tolerance = 1e-8)
      }
      expect_equal(sum(terms), elbo(fit), tolerance = 1e-12)
    }
  }
})

test_that("audited fits of topics with all moves never fall", {
  x <- toy_corpus(documents = 60, topics = 4)
  data <- as_document_data(x, obs_multinomial())
  case <- list(data = as_engine_data(data), model = list(obs = resolve_obs(obs_multinomial(), data)))
  priors <- list(prior_hdp(learn, learn), prior_lda(6, learn))
  for (prior in priors) for (batches in some_of(c(4, 1), by = 2)) for (k in c(1, 12)) {
    if (!is.null(prior$k)) k <- prior$k
    fit <- engine_run(case, prior = prior, batches = batches, k_init = k, seed = 2, max_laps = 25, audit = TRUE)
    expect_audited(fit)
    expect_length(fit$concentrations$alpha, 3)
  }
})

test_that("audited fits of sequences with all moves never fall, in either bound", {
  toy <- toy_sequences(4, rep(c(30, 60, 10), 5))
  for (prior in hmm_learned) for (batches in some_of(c(4L, 1L), by = 2)) for (bound in c("tight", "loose")) {
    if (prior$family == "hmm" && bound == "loose") next
    model <- list(obs = diagonal_model(), prior = prior, bound = bound)
    control <- engine_control(3, 7, batches = batches, moves = all_moves, audit = TRUE)
    expect_audited(engine_fit(toy$data, model, control, NULL, NULL))
  }
})

test_that("threads change no bit of a fit that learns", {
  x <- toy_corpus(documents = 300)
  topics <- function(threads) {
    control <- bnp_control(seed = 5, max_laps = 6, threads = threads)
    suppressWarnings(bnp_topics(x, prior = prior_hdp(learn, learn), control = control))
  }
  expect_identical(topics(2)[c("state", "elbo_terms")], topics(1)[c("state", "elbo_terms")])
  toy <- toy_sequences(4, rep(c(30, 60, 10), 5))
  sequences <- function(threads) {
    model <- list(obs = diagonal_model(), prior = hmm_learned$sticky)
    engine_fit(toy$data, model, engine_control(3, 7, threads = threads, moves = all_moves), NULL, NULL)
  }
  shown <- c("state", "terms", "concentrations")
  expect_identical(sequences(2L)[shown], sequences(1L)[shown])
})

# Every topic has a term of its own, so that topics are seen.
seen_topics <- function(n, tokens, alpha, weights) {
  t(replicate(n, stats::rmultinom(1, tokens, rgamma(length(weights), alpha * weights) + 1e-300)[, 1]))
}

test_that("a planted alpha is recovered, by the loose bound as one too low", {
  weights <- 0.7^(1:8) / sum(0.7^(1:8))
  fits <- lapply(c(0.5, 3), function(alpha) {
    x <- withr::with_seed(1, seen_topics(300, 50, alpha, weights))
    lapply(c(tight = "tight", loose = "loose"), function(bound) {
      control <- bnp_control(seed = 1, max_laps = 60, bound = bound, k_init = 8, moves = FALSE)
      prior <- prior_hdp(learn, gamma_prior(1, 0.1))
      suppressWarnings(coef(bnp_topics(x, obs_multinomial(1e-4), prior, control))$alpha)
    })
  })
  expect_equal(fits[[1]]$tight, 0.5, tolerance = 0.2)
  expect_equal(fits[[2]]$tight, 3, tolerance = 0.2)
  expect_lt(fits[[1]]$loose, fits[[1]]$tight)
  expect_lt(fits[[2]]$loose, 2)
})

test_that("answers of a fit are those of a model that has the learned values", {
  x <- toy_corpus()
  fit <- suppressWarnings(bnp_topics(x, prior = prior_hdp(learn, learn), control = bnp_control(seed = 1, max_laps = 8)))
  given <- fit
  given$model$prior$alpha <- coef(fit)$alpha
  expect_false(isTRUE(all.equal(coef(fit)$alpha, 2)))
  expect_identical(fitted(fit), fitted(given))
  expect_identical(predict(fit, x), predict(given, x))
  expect_identical(simulate(fit, seed = 1), simulate(given, seed = 1))
  tree <- cluster_tree(fit, x)
  whole <- elbo(cut_fit(fit, x, k = n_clusters(fit), tree = tree, laps = 0))
  expect_gte(whole, elbo(fit) - 1e-8 * abs(whole)) # with sticks that are optimal for the last alpha
  expect_lt(whole, elbo(fit) + 1)
  coarse <- cut_fit(fit, x, k = 2, tree = tree, laps = 0)
  expect_identical(coef(coarse)$alpha, coef(fit)$alpha)
  expect_equal(sum(elbo(coarse, terms = TRUE)), elbo(coarse), tolerance = 1e-10)

  walks <- toy_sequences(1)$data
  id <- findInterval(seq_len(walks$n) - 1, walks$starts)
  hmm <- suppressWarnings(bnp_hmm(
    walks$x, id, prior = prior_hdp_hmm(learn, learn, learn, gamma_prior(1, 0.1)),
    control = bnp_control(seed = 1, max_laps = 8)
  ))
  given <- hmm
  given$model$prior[c("alpha", "start", "sticky")] <- coef(hmm)[c("alpha", "start", "sticky")]
  expect_identical(transition_matrix(hmm, new = TRUE), transition_matrix(given, new = TRUE))
  expect_identical(predict(hmm, walks$x, id = id, n.ahead = 2), predict(given, walks$x, id = id, n.ahead = 2))
  expect_identical(heldout_loglik(hmm, walks$x, id = id), heldout_loglik(given, walks$x, id = id))
})

test_that("a fit starts from the values of an earlier one, and never ends lower", {
  x <- toy_corpus()
  prior <- prior_hdp(learn, learn)
  one <- suppressWarnings(bnp_topics(x, prior = prior, control = bnp_control(seed = 1, max_laps = 10)))
  again <- suppressWarnings(update(one, start = one, control = bnp_control(seed = 2, max_laps = 1)))
  expect_gte(elbo(again), elbo(one) - 1e-8 * abs(elbo(one)))
  expect_equal(coef(again)$alpha, coef(one)$alpha, tolerance = 0.05)
  fixed <- suppressWarnings(bnp_topics(x, prior = prior_hdp(2, 0.3), control = bnp_control(seed = 1, max_laps = 10)))
  after <- suppressWarnings(bnp_topics(x, prior = prior, start = fixed, control = bnp_control(seed = 1, max_laps = 1)))
  expect_lt(abs(log(coef(after)$alpha / 0.3)), abs(log(coef(after)$alpha / 2)))
  same <- suppressWarnings(bnp_topics(x, prior = one$model$prior, control = bnp_control(seed = 1, max_laps = 10)))
  expect_identical(same$state, one$state)
})

test_that("a fit shows what it learned", {
  x <- toy_corpus()
  fit <- suppressWarnings(bnp_topics(x, prior = prior_hdp(learn, learn), control = bnp_control(seed = 1, max_laps = 5)))
  q <- posterior_params(fit)$gamma
  expect_named(q, c("shape", "rate"))
  expected <- c(mean = q[["shape"]] / q[["rate"]], lower = qgamma(0.05, q[1], q[2]), upper = qgamma(0.95, q[1], q[2]))
  expect_equal(coef(fit)$gamma, expected)
  shown <- glance(fit)
  expect_equal(
    unlist(shown[c("gamma", "gamma.low", "gamma.high", "alpha")], use.names = FALSE),
    c(unname(expected), coef(fit)$alpha)
  )
  expect_output(print(fit), "Gamma [0-9.]+ \\(90 % interval [0-9.]+ to [0-9.]+\\), alpha [0-9.]+")
  expect_output(print(summary(fit)), "gamma = Gamma\\(2, 1\\),\\s+alpha =\\s+Gamma\\(2, 1\\)")
  plain <- bnp_topics(x, control = bnp_control(seed = 1))
  expect_false(any(c("gamma", "alpha") %in% c(names(glance(plain)), names(coef(plain)))))
})

test_that("numbers that stochastic learning cannot follow are refused, gamma is not", {
  x <- toy_corpus()
  stochastic <- function(prior) {
    control <- bnp_control("stochastic", seed = 1, max_laps = 4, k_init = 5)
    suppressWarnings(bnp_topics(x, prior = prior, control = control))
  }
  expect_bad(stochastic(prior_hdp(learn, learn)), "argument", "alpha.*prior_hdp.*stochastic")
  expect_bad(stochastic(prior_lda(5, learn)), "argument", "alpha.*prior_lda.*stochastic")
  expect_true(is.finite(coef(stochastic(prior_hdp(learn)))$gamma[["mean"]]))
})

test_that("learned concentrations stay within the range of given ones", {
  x <- diag(6)[rep(1:6, 10), ] * 20
  control <- bnp_control(seed = 1, max_laps = 20)
  for (prior in list(gamma_prior(1, 1e10), gamma_prior(1e10, 1e-10), gamma_prior(1, 1e-10))) {
    for (given in list(prior_hdp(prior, prior), prior_lda(7, prior))) {
      fit <- suppressWarnings(bnp_topics(x, prior = given, control = control))
      expect_gte(coef(fit)$alpha, 1e-8)
      expect_lte(coef(fit)$alpha, 1e6)
      expect_true(is.finite(elbo(fit)))
    }
    hmm <- suppressWarnings(bnp_hmm(faithful, prior = prior_hdp_hmm(prior, prior, prior, prior), control = control))
    expect_true(all(is.finite(unlist(coef(hmm)[c("gamma", "alpha", "start", "sticky")]))))
  }
})

test_that("concentrations and the prior of clusters are learned together, in one term", {
  toy <- toy_sequences(4, rep(c(30, 60, 10), 5))
  obs <- resolve_obs(obs_gaussian("diagonal", learn = TRUE), engine_data(toy$data$x))
  for (prior in c(hmm_learned, list(topics = list(family = "hdp", gamma = ab(), alpha = ab())))) {
    for (batches in some_of(c(1L, 4L), by = 2)) {
      control <- engine_control(3, 7, batches = batches, moves = all_moves, max_laps = 30L, audit = TRUE)
      fit <- engine_fit(toy$data, list(obs = obs, prior = prior), control, NULL, NULL)
      expect_audited(fit)
      expect_false(anyDuplicated(names(fit$terms)) > 0)
      expect_equal(sum(fit$terms), fit$elbo, tolerance = 1e-12)
      values <- vapply(fit$concentrations, function(x) x[3], 0)
      density <- sum(mapply(log_prior, values, prior[names(values)]))
      end <- utils::modifyList(obs, fit$learned)
      expect_false(identical(end$scale, obs$scale))
      expect_equal(fit$terms[["hyperprior"]], density + log_hyperprior_twin(end), tolerance = 1e-9)
    }
  }
})

test_that("a fit that learned both starts another, which never ends lower", {
  walks <- toy_sequences(1)$data
  id <- findInterval(seq_len(walks$n) - 1, walks$starts)
  fit_from <- function(start, seed, laps) {
    suppressWarnings(bnp_hmm(
      walks$x, id, obs_gaussian(learn = TRUE), prior_hdp_hmm(learn, learn, learn), start = start,
      control = bnp_control(seed = seed, max_laps = laps)
    ))
  }
  before <- fit_from(NULL, 1, 20)
  expect_gte(elbo(fit_from(before, 2, 1)), elbo(before) - 1e-8 * abs(elbo(before)))
})
