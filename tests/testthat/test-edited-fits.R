# Fits that were changed by hand: one classed error, or an answer; never an error from inside, never a crash.

test_that("edited fits: what reads a fit says that it is damaged", {
  skip_on_os("windows") # no fork
  most <- how_many_edits(2)
  links <- withr::with_seed(3, matrix(stats::rbinom(400, 1, 0.3), 20))
  x <- as.matrix(attitude)
  walk <- withr::with_seed(2, cbind(rnorm(60, rep(c(0, 4), each = 30)), rnorm(60)))
  how <- how_source(max_laps = 4)
  cases <- rlang::exprs(
    features = list(bnp_features(x, control = how, scale = TRUE), list(
      probs = feature_probs, predict = function(f) predict(f, x), augment = function(f) augment(f, x),
      update = function(f) update(f, newdata = x[1:3, ], control = how)
    )),
    mixture = list(bnp_mixture(faithful, control = how), list(
      predict = function(f) predict(f, faithful[1:9, ], type = "prob"), confint = confint,
      logdensity = function(f) predict(f, faithful[1:9, ], type = "logdensity"),
      simulate = function(f) simulate(f, seed = 1), update = function(f) update(f, newdata = faithful[1:5, ]),
      sizes = cluster_sizes, params = posterior_params, clusters = n_clusters
    )),
    topics = list(bnp_topics(bars$counts[1:20, ], control = how), list(
      predict = function(f) predict(f, bars$counts[1:3, ]), terms = function(f) top_terms(f)
    )),
    sequences = list(bnp_hmm(walk, control = how), list(
      predict = function(f) predict(f, walk), segments = segments, transitions = transition_matrix
    )),
    linear = list(bnp_hmm(walk, obs = obs_lds(), control = how), list(
      predict = function(f) predict(f, walk), path = latent_path, residuals = function(f) residuals(f, walk),
      filter = function(f) bnp_filter(f, walk, particles = 5, seed = 1)
    )),
    labelled = list(bnp_mixture(x, labels = rep(c(1, 2, NA), 10), control = how), list(
      impute = function(f) impute(f, replace(x, 1, NA), seed = 1),
      start = function(f) bnp_mixture(x, start = f, control = how), history = cluster_history
    )),
    network = list(bnp_network(links, control = how), list(
      predict = function(f) predict(f, cbind(1:3, 2:4)), members = memberships, communities = communities
    ))
  )
  here <- environment()
  for (case in some_of(cases, by = 4, from = 2)) {
    case <- eval(case, here) |> suppressWarnings() |> suppressMessages()
    expect_edits_known(case[[1]], c(reading_verbs, case[[2]]), most)
  }
})

test_that("the message about a damaged fit names the field that is damaged", {
  fit <- suppressWarnings(bnp_features(as.matrix(attitude), control = how_source(max_laps = 3)))
  fit$state$pair <- fit$state$pair[-1]
  expect_bad(coef(fit), "format", "state\\$pair")
  fit <- bnp_mixture(faithful, control = how_source())
  expect_bad(coef(put_in(fit, c("state", "obs"), fit$state$obs[1, ])), "format", "state")
  expect_bad(elbo(put_in(fit, "numbering", 2:3)), "format", "numbering")
})

test_that("a fit that was changed in R is one without a seal; one that was changed elsewhere is refused", {
  fit <- bnp_mixture(faithful, control = how_source())
  expect_type(attr(fit, "seal"), "character")
  own <- fit
  own$note <- "mine"
  own[["more"]] <- 1
  expect_identical(coef(own), coef(fit))
  own <- structure(fit, class = c("mine", class(fit)))
  expect_identical(coef(own), coef(fit))
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  expect_identical(readRDS(file), fit)
  expect_identical(coef(readRDS(file)), coef(fit))
  other <- unclass(fit)
  other$state$obs[1] <- other$state$obs[1] + 1e-9
  expect_bad(coef(structure(other, class = class(fit))), "format", "damaged")
  other <- unclass(fit)
  other$labels[3] <- 3L - other$labels[3]
  expect_bad(elbo(structure(other, class = class(fit))), "format", "damaged")
  same <- update(fit, newdata = faithful[1:20, ])
  expect_type(attr(same, "seal"), "character")
})

test_that("what is needed and was removed is named", {
  topics <- suppressWarnings(bnp_topics(bars$counts[1:20, ], control = how_source(max_laps = 3)))
  topics$documents <- NULL
  for (verb in list(fitted, function(f) compare_fits(f, f), print)) expect_bad(verb(topics), "format", "documents")
  linear <- suppressWarnings(bnp_hmm(Nile, obs = obs_lds(), control = how_source(max_laps = 3)))
  expect_bad(plot(put_in(linear, "latent", NULL)), "format", "latent")
  expect_bad(summary(put_in(linear, c("emission", "offset"), 1:9)), "format", "emission")
  mixture <- bnp_mixture(faithful, control = how_source(max_laps = 3))
  of_features <- suppressWarnings(bnp_features(as.matrix(attitude), control = how_source(max_laps = 2)))
  foreign <- put_in(mixture, c("model", "obs"), of_features$model$obs)
  expect_bad(impute(foreign, replace(faithful, 1, NA)), "format", "model")
  expect_bad(residuals(put_in(mixture, "model", NULL), faithful), "format", "model")
  expect_bad(cluster_history(put_in(mixture, "input", list(d = 2L))), "format", "input\\$n")
  expect_bad(print(put_in(topics, c("model", "obs", "term_prior"), numeric())), "format")
})

test_that("a fit of another family is no start", {
  links <- kronecker(diag(3), matrix(1, 10, 10)) - diag(30)
  network <- bnp_network(links, control = how_source())
  expect_bad(bnp_mixture(as.matrix(attitude), start = network, control = how_source()), "start")
})
