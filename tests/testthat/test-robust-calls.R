# Calls that ended in errors or warnings from inside, or in silence.

quiet_control <- function(...) bnp_control(seed = 1, max_laps = 10, verbose = FALSE, ...)

test_that("summaries of filters say nothing from inside, whether tibbles are loaded or not", {
  level <- lds_model(A = 1, Q = 1469.1, C = 1, R = 15098.5, start_mean = 1000, start_var = 1e5)
  if (requireNamespace("tibble", quietly = TRUE)) loadNamespace("tibble")
  filter <- bnp_filter(level, Nile)
  expect_no_warning(shown <- capture.output(print(summary(filter))))
  expect_match(shown, "Effective particles", fixed = TRUE, all = FALSE)
  expect_no_match(shown, "Alarm", fixed = TRUE)
  expect_identical(class(as.data.frame(tidy(filter))), "data.frame")
})

test_that("topics of a stream are simulated with lengths, and ask for them", {
  counts <- bars$counts[1:40, ]
  fit <- bnp_topics(
    bnp_stream(function(i) if (i <= 2) counts[20 * (i - 1) + 1:20, ]),
    control = bnp_control("truncation_free", seed = 1, verbose = FALSE)
  )
  error <- expect_bad(simulate(fit, seed = 1), "argument")
  expect_match(conditionMessage(error), "lengths", fixed = TRUE)
  expect_equal(Matrix::rowSums(simulate(fit, seed = 1, lengths = c(3, 40))$sim_1), c(3, 40))
})

test_that("draws beyond what can be made are refused by name", {
  fit <- bnp_mixture(faithful, control = quiet_control())
  for (too_much in list(
    list(thin = 1e9), list(thin = 3e6), list(chains = 1e9), list(draws = 1e9), list(warmup = 2e9, draws = 2)
  )) {
    error <- expect_bad(do.call(bnp_sample, c(list(fit, faithful), too_much)), "argument")
    expect_match(conditionMessage(error), names(too_much)[1L], fixed = TRUE)
  }
  draws <- bnp_sample(fit, faithful, draws = 4, chains = 2, seed = 1, verbose = FALSE)
  expect_bad(update(draws, faithful, draws = 1.9e9), "argument")
  expect_bad(bnp_sample(faithful, prior = prior_ibp()), "argument", "prior_ibp")
  expect_bad(bnp_sample(as.matrix(faithful), obs_gaussian(), prior_beta_bernoulli(3)), "argument")
})

test_that("first states far beyond the data are refused, others are taken", {
  for (far in some_of(c(1e300, -1e300, 1e160, 1e14), by = 3)) {
    expect_bad(bnp_hmm(Nile, obs = obs_lds(start_mean = far), control = quiet_control()), "range", "start_mean")
  }
  fit <- bnp_hmm(Nile, obs = obs_lds(start_mean = 1e4), control = quiet_control())
  expect_true(is.finite(elbo(fit)))
  moved <- bnp_hmm(Nile + 1e6, obs = obs_lds(start_mean = 1e6 + 900), control = quiet_control())
  expect_true(is.finite(elbo(moved))) # far from 0, but not from the data
})

test_that("draws have intervals and one line of what they are", {
  draws <- bnp_sample(faithful, draws = 40, chains = 2, seed = 1, verbose = FALSE)
  trace <- as.data.frame(draws)
  ends <- confint(draws, level = 0.8)
  expect_identical(rownames(ends), suppressWarnings(summary(draws))$table$term)
  expect_equal(
    ends["entropy", ], stats::quantile(trace$entropy, c(0.1, 0.9), names = FALSE), ignore_attr = TRUE
  )
  expect_identical(colnames(ends), c("10 %", "90 %"))
  expect_identical(confint(draws, "largest", 0.8), ends["largest", , drop = FALSE])
  expect_identical(confint(draws, 1, 0.8), ends[1, , drop = FALSE])
  for (parm in list("mean", 9, NA, character())) expect_bad(confint(draws, parm), "argument", "parm")
  expect_bad(confint(draws, level = 2), "argument", "level")
  line <- as.data.frame(glance(draws))
  expect_equal(line[c("chains", "draws", "warmup", "thin", "nobs")], data.frame(
    chains = 2, draws = 40, warmup = 20, thin = 1, nobs = 272
  ))
  expect_equal(line$n_clusters, mean(trace$n_clusters))
})

test_that("Dynamic Means says that it has no likelihood, and is drawn by ggplot2", {
  moving <- bnp_dynamic_means(as.matrix(faithful), rep(1:2, 136), 100)
  expect_bad(logLik(moving), "not_defined", "objective")
  expect_bad(stats::BIC(moving), "not_defined")
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(moving)
  expect_equal(nrow(ggplot2::layer_data(picture, 2)), 2 * nrow(moving$trajectories))
  expect_equal(sort(ggplot2::layer_data(picture, 2)$y), sort(unlist(
    moving$trajectories[c("mean.eruptions", "mean.waiting")], use.names = FALSE
  )))
})

# Kinds of objects x verbs that take nothing else: each answers, or says by a classed error why not. (update() needs the
# call's own arguments.)
kinds_of_objects <- function() {
  counts <- bars$counts[1:20, ]
  hmm <- bnp_hmm(faithful, control = quiet_control())
  links <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
  x <- as.matrix(faithful)
  list(
    mixture = bnp_mixture(x, control = quiet_control()), topics = bnp_topics(counts, control = quiet_control()),
    regression = bnp_mixture(eruptions ~ waiting, faithful, control = quiet_control()),
    logistic = bnp_mixture(factor(vs) ~ wt, mtcars, control = quiet_control()),
    counts = bnp_hmm(carb ~ wt, mtcars, obs = obs_regression(family = "negbinomial"), control = quiet_control()),
    hmm = hmm, hidden = bnp_hmm(Nile, obs = obs_lds(), control = quiet_control()),
    features = bnp_features(x, control = quiet_control()), network = bnp_network(links, control = quiet_control()),
    stream = bnp_mixture(
      bnp_stream(function(i) if (i < 3) x[136 * (i - 1) + 1:136, ]),
      control = bnp_control("truncation_free", seed = 1, verbose = FALSE)
    ),
    draws = bnp_sample(x, draws = 10, chains = 2, seed = 1, verbose = FALSE),
    moving = bnp_dynamic_means(x, rep(1:2, 136), 100), filter = bnp_filter(hmm, faithful)
  )
}

test_that("every verb answers every kind of object, or says by a classed error why not", {
  withr::local_pdf(NULL)
  if (requireNamespace("tibble", quietly = TRUE)) loadNamespace("tibble")
  verbs <- list(
    tidy = tidy, glance = glance, coef = coef, confint = confint, logLik = logLik, nobs = nobs, BIC = stats::BIC,
    elbo = elbo, elbo_trace = elbo_trace, n_clusters = n_clusters, cluster_sizes = cluster_sizes,
    cluster_ids = cluster_ids, cluster_history = cluster_history, fitted = fitted, predict = predict, vcov = vcov,
    communities = communities, memberships = memberships, link_auc = link_auc, log_joint = log_joint,
    coherence = coherence, exclusivity = exclusivity, top_terms = top_terms, top_documents = top_documents,
    topic_correlation = topic_correlation, ldavis_data = ldavis_data, n_features = n_features,
    feature_probs = feature_probs, filter_probs = filter_probs, latent_path = latent_path, anova = anova,
    state_durations = state_durations, transition_matrix = transition_matrix, trajectories = trajectories,
    posterior_params = posterior_params, point_partition = point_partition, check_fit = check_fit,
    cluster_divergence = cluster_divergence, cluster_overlap = cluster_overlap, prevalence = prevalence,
    forecast = forecast, simulate = function(x) simulate(x, seed = 1), as.data.frame = as.data.frame, plot = plot,
    cluster_tree = cluster_tree, cut_fit = cut_fit, coclustering = coclustering, impute = impute, augment = augment,
    heldout_loglik = heldout_loglik, bnp_sample = function(x) bnp_sample(x), extractAIC = extractAIC,
    summary = function(x) print(summary(x)), print = print, autoplot = function(x) print(ggplot2::autoplot(x))
  )
  if (!requireNamespace("ggplot2", quietly = TRUE)) verbs$autoplot <- NULL
  objects <- suppressMessages(suppressWarnings(kinds_of_objects()))
  for (kind in names(objects)) for (verb in names(verbs)) {
    if (!is_tried(match(kind, names(objects)), match(verb, names(verbs)), by = 14L)) next
    trouble <- NULL
    foreign <- function(own, restart) function(condition) {
      if (!inherits(condition, own)) trouble <<- conditionMessage(condition)
      invokeRestart(restart)
    }
    tryCatch(
      withCallingHandlers(
        capture.output(answer <- verbs[[verb]](objects[[kind]])),
        warning = foreign("bnpvi_warning", "muffleWarning"), message = foreign("bnpvi_message", "muffleMessage")
      ),
      error = function(e) if (!inherits(e, "bnpvi_error")) trouble <<- conditionMessage(e)
    )
    expect_null(trouble, label = paste0(verb, "(", kind, "): ", trouble))
    if (verb %in% c("tidy", "glance", "elbo_trace") && exists("answer")) {
      expect_length(grep("NaN", broken_numbers(answer)), 0L)
      rm(answer)
    }
  }
})

test_that("forecasts of what has no next row are refused", {
  fit <- bnp_mixture(faithful, control = quiet_control())
  topics <- bnp_topics(bars$counts[1:20, ], control = quiet_control())
  features <- bnp_features(as.matrix(attitude), control = quiet_control())
  for (one in list(fit, topics, features)) expect_bad(forecast(one, h = 2), "not_defined", "bnp_hmm")
})

test_that("what is missing in the first batch of a stream is said once", {
  x <- faithful
  x[3, 1] <- NA
  said <- 0
  withCallingHandlers(
    bnp_mixture(
      bnp_stream(function(i) if (i < 3) x[136 * (i - 1) + 1:136, ]), obs_gaussian(), na_action = "omit",
      control = bnp_control("truncation_free", seed = 1, verbose = FALSE)
    ),
    bnpvi_message_left_out = function(m) {
      said <<- said + 1
      invokeRestart("muffleMessage")
    }
  )
  expect_equal(said, 1)
})

test_that("documents without a known word have the proportions of the prior, and are named", {
  counts <- as.matrix(bars$counts[1:40, ])
  fit <- bnp_topics(counts, control = quiet_control())
  prior <- document_weight(fit)[seq_len(n_clusters(fit))]
  prior <- prior / sum(prior)
  strange <- matrix(1:4, 2, dimnames = list(c("first", "second"), c("never", "seen")))
  warning <- expect_warning(prob <- predict(fit, strange), class = "bnpvi_warning_no_known_terms")
  expect_equal(prob, rbind(first = prior, second = prior), ignore_attr = TRUE)
  expect_match(conditionMessage(warning), "first, second", fixed = TRUE)
  mixed <- cbind(counts[1:2, ], never = 1)
  mixed[2, colnames(counts)] <- 0
  rownames(mixed) <- c("known", "unknown")
  warning <- expect_warning(
    expect_warning(prob <- predict(fit, mixed), class = "bnpvi_warning_unseen_terms"),
    class = "bnpvi_warning_no_known_terms"
  )
  expect_match(conditionMessage(warning), "Document unknown", fixed = TRUE)
  expect_equal(prob["unknown", ], prior, ignore_attr = TRUE)
  expect_equal(prob["known", ], predict(fit, counts[1, , drop = FALSE])[1L, ])
  expect_bad(predict(fit, strange - 7), "not_counts")
})

test_that("intervals near 0 say nothing from inside", {
  expect_no_warning(ends <- beta_quantile(c(0.025, 0.5), c(1e-12, 1e-3), c(1e-2, 1e-2)))
  expect_true(all(ends >= 0 & ends < 1e-100))
  expect_identical(beta_quantile(0.3, 2, 3), stats::qbeta(0.3, 2, 3))
})

test_that("series of text are refused", {
  fit <- bnp_hmm(data.frame(a = c(1, 2, 8, 9), f = c("u", "u", "v", "v")), control = quiet_control())
  text <- stats::ts(cbind(a = c("1", "2"), f = c("u", "v")))
  expect_bad(predict(fit, text), "not_numeric", "time series")
})
