# Arguments that a function does not have: the message names the function that has them.

test_that("arguments of other packages and of other functions are found", {
  said <- function(expr, ...) {
    message <- conditionMessage(expect_bad(expr, "argument"))
    for (part in c(...)) expect_match(message, part, fixed = TRUE)
  }
  said(bnp_mixture(faithful, G = 3), "called `k` here", "prior = prior_dirichlet(k = )")
  said(bnp_mixture(faithful, k = 3), "prior_dirichlet(k = )")
  said(bnp_topics(whales$counts, k = 3), "prior = prior_lda(k = )")
  said(bnp_hmm(faithful, nstates = 2), "prior = prior_hmm(k = )")
  for (verb in list(bnp_mixture, bnp_topics, bnp_hmm)) {
    said(verb(faithful, max_laps = 1), "control = bnp_control(max_laps = )")
  }
  said(bnp_mixture(faithful, alpha = 1), "prior = prior_dp(concentration = )", "prior_hdp")
  said(bnp_mixture(faithful, concentration = 2), "prior = prior_dp(concentration = )")
  said(bnp_mixture(faithful, covariance = "diagonal"), "obs = obs_gaussian(covariance = )")
  said(bnp_mixture(faithful, iter.max = 5), "`max_laps`", "control = bnp_control(max_laps = )")
  said(bnp_mixture(faithful, nstart = 5), "called `restarts` here")
  said(bnp_mixture(faithful, controll = bnp_control()), "Did you mean `control`?")
  said(bnp_mixture(faithful, na.rm = TRUE), "called `na_action` here")
  said(bnp_topics(bars$counts, na.action = "omit"), "called `na_action` here")
  said(bnp_control(max_lapse = 3), "Did you mean `max_laps`?")
  said(bnp_control(birth = FALSE), "`moves = bnp_moves(birth = )`")
  said(bnp_topics(whales$counts, prevalence = ~day), "`prior = prior_covariates(~ w)`", "proportions of topics")
  said(bnp_topics(whales$counts, content = ~day), "Words of topics do not depend on covariates")
  said(bnp_network(diag(3), k = 3), "The number of communities is found")
  said(source_files("x.csv", columns = "a"), "bnp_mixture(~ a + b, x)")
  said(bnp_hmm(faithful, transitions = diag(2)), "prior = prior_hmm(transitions = )")
  said(bnp_features(faithful, covariates = 1:3), "not available for features")
  said(bnp_mixture(faithful, birth = FALSE), "control = bnp_control(moves = bnp_moves(birth = ))")
  said(bnp_mixture(faithful, quux = 3), "Check the spelling")
  said(bnp_mixture(faithful, sed = 3), "Did you mean `seed`?")
  said(bnp_hmm(faithful, ID = "id"), "Did you mean `id`?")
  said(track_steps(1:3, 2:4, latlon = TRUE), "lonlat = TRUE")
  said(bnp_hmm(faithful, nbStates = 2), "prior = prior_hmm(k = )")
  said(bnp_topics(bars$counts, data = faithful), "Data are `x`", "`covariates`")
  said(bnp_hmm(faithful, prior = left_to_right(3)), "prior_hmm(k, transitions = )")
  said(bnp_mixture(faithful, restarts = "all"), "must be a number of starts or \"auto\"")
  said(do.call(bnp_mixture, list(faithful, k = 3)), "prior_dirichlet(k = )")
})

test_that("constructors of priors and observation models say what an argument is called here", {
  said <- function(expr, ...) {
    message <- conditionMessage(expect_bad(expr, "argument"))
    for (part in c(...)) expect_match(message, part, fixed = TRUE)
  }
  said(prior_dp(alpha = 1), "Unused argument: `alpha`", "called `concentration` here")
  said(bnpvi::prior_dp(gamma = 1), "called `concentration` here")
  said(prior_hdp(concentration = 1), "called `gamma` or `alpha` here")
  said(prior_lda(n_topics = 5), "called `k` here")
  said(prior_hmm(2, stick = 1, nstates = 3), "called `k` here")
  said(prior_dp(k = 3), "Arguments of `prior_dp()`: `concentration`.")
  said(prior_ibp(1, 2), "(unnamed)")
  said(obs_gaussian(modelNames = "VVV"), "called `covariance` here")
  said(obs_student(tail = 3, scales = 4), "Did you mean `scale`?")
  said(obs_poisson(lambda = 3), "Arguments of `obs_poisson()`: `a`, `b`, `exposure`, `columns`.")
  constructors <- grep("^(obs|prior)_|^(gamma_prior|left_to_right)$", getNamespaceExports("bnpvi"), value = TRUE)
  expect_gt(length(constructors), 27)
  for (name in setdiff(constructors, "obs_product")) {
    needed <- intersect(names(formals(name)), c("k", "formula"))
    given <- c(list(k = 2, formula = ~ a)[needed], quux = 3)
    expect_bad(do.call(getExportedValue("bnpvi", name), given), "argument", "quux")
  }
})

test_that("arguments in the wrong place are told where they belong", {
  said <- function(expr, ...) expect_bad(expr, "argument", ..., fixed = TRUE)
  said(bnp_mixture(faithful, prior_dp(2)), "prior = ")
  said(bnp_mixture(faithful, bnp_control()), "control = ")
  said(bnp_mixture(faithful, obs_gaussian(), bnp_control()), "control = ")
  said(bnp_mixture(faithful, 3), "given by `prior`: `prior_dirichlet(k)`")
  said(bnp_mixture(faithful, obs_gaussian), "Call it")
  expect_bad(bnp_hmm(faithful, obs_ar()), "id", "Give it by name: `obs = `", fixed = TRUE)
})

test_that("seeds and switches are checked", {
  few <- bnp_control(seed = 1, max_laps = 3)
  fit <- bnp_mixture(faithful, control = few)
  expect_bad(simulate(fit, seed = "a"), "argument", "seed")
  expect_bad(simulate(fit, seed = NA), "argument", "seed")
  expect_identical(simulate(fit, seed = 3), simulate(fit, seed = 3L))
  expect_bad(bregman_kmeans(faithful, 2, spread = NA), "argument", "spread")
  expect_bad(bregman_kmeans(faithful, 2, seed = "a"), "argument", "seed")
  counts <- bnp_mixture(bars$counts[1:50, ], obs_multinomial(), control = few)
  expect_bad(simulate(counts, total = "a"), "argument", "total")
  expect_bad(heldout_loglik(fit), "newdata", "newdata")
  expect_bad(heldout_loglik(bnp_hmm(faithful, control = few)), "newdata", "newdata")
  topics <- bnp_topics(whales$counts[1:9, ], control = few)
  expect_bad(heldout_loglik(topics), "newdata", "newdata")
  expect_bad(heldout_loglik(topics, whales$counts, per_document = "yes"), "argument", "per_document")
  expect_bad(coherence(topics), "newdata", "needed")
})

test_that("an argument of bnp_control() is not offered to functions without `control`", {
  days <- list(matrix(c(1, 2, 8, 9)), matrix(c(1, 2, 8, 9)))
  expect_bad(bnp_dynamic_means(days, lambda = 4, seed = 1), "argument", "Check the spelling")
  expect_bad(bnp_features(attitude, K = 3), "argument", "prior = prior_beta_bernoulli")
})
