# Topics of rows that hide something: scales of rows (obs_student()) and missing cells. What is expected of a row
# depends on its topic, so that statistics are those of the weights of the visit, whatever came after it.

# Documents of rows with t(4) noise, `share` the parameter of their proportions of topics.
heavy_documents <- function(documents, length, means, share = 0.5, df = 4, missing = 0, seed = 1) {
  withr::with_seed(seed, {
    id <- rep(seq_len(documents), each = length)
    theta <- matrix(stats::rgamma(documents * nrow(means), share), documents)
    z <- vapply(id, function(d) sample.int(nrow(means), 1L, prob = theta[d, ]), 1L)
    noise <- matrix(stats::rnorm(length(z) * ncol(means)), length(z)) / sqrt(stats::rgamma(length(z), df / 2, df / 2))
    x <- means[z, ] + noise
    x[stats::runif(length(x)) < missing] <- NA
    list(x = x[rowSums(!is.na(x)) > 0, ], id = id[rowSums(!is.na(x)) > 0], z = z[rowSums(!is.na(x)) > 0])
  })
}
three_means <- cbind(c(0, 8, -8), c(0, 6, 6))
five_means <- cbind(c(0, 7, -7, 7, -7), c(0, 7, 7, -7, -7))
small <- heavy_documents(8, 15, three_means)
gappy <- heavy_documents(8, 15, three_means, missing = 0.15)
fixed <- function(...) {
  bnp_control(moves = FALSE, verbose = FALSE, max_laps = 2000, tol = 1e-13, restarts = 1, seed = 1, ...)
}

test_that("given responsibilities, topics have the data term of the mixture", {
  for (data in list(small, gappy)) {
    r <- random_responsibilities(1, nrow(data$x), 3)
    rows <- as_document_data(data$x, obs_student(), id = data$id, na_action = "model")
    for (covariance in c("full", "diagonal")) {
      obs <- with_gaps(resolve_obs(obs_student(covariance), rows), rows)
      terms <- function(prior, data) engine_elbo_of(as_engine_data(data), list(obs = obs, prior = prior), r)
      topics <- terms(prior_lda(3), rows)
      mixture <- terms(prior_dirichlet(3), as_mixture_data(data$x, obs, na_action = "model"))
      # Both stop with expectations once the bound hardly rises, which may be a round earlier or later.
      expect_equal(topics[["data"]], mixture[["data"]], tolerance = 1e-6)
      expect_equal(topics[["entropy"]], mixture[["entropy"]], tolerance = 1e-10)
    }
  }
})

test_that("the ELBO is that of plain R, from responsibilities and parameters alone, with missing cells, too", {
  for (data in list(small, gappy)) {
    fit <- bnp_topics(data$x, obs_student(), id = data$id, start = data$z, na_action = "model",
      control = fixed(bound = "tight")
    )
    q <- posterior_params(fit)
    counts <- unname(as.matrix(fit$documents))
    theta <- counts + rep(document_weight(fit)[1:3], each = nrow(counts))
    log_r <- expected_logs_of_t_rows(data$x, q) + digamma(theta)[data$id, ]
    log_r[counts[data$id, ] == 0] <- -Inf # topics that a document has let go
    r <- exp(log_r - apply(log_r, 1L, max))
    r <- r / rowSums(r)
    expect_equal(unname(rowsum(r, data$id)), counts, tolerance = 1e-7)
    terms <- elbo(fit, terms = TRUE)
    of_data <- term_of_student(data$x, r, fit$model$obs, q)
    expect_equal(terms[["data"]], of_data, tolerance = 1e-8)
    by_stick <- counts[, order(fit$numbering)]
    twin <- twin_hdp_terms(by_stick, tabulate(data$id), fit$state$u, fit$state$omega, 10, 0.5)
    expect_equal(terms[["documents"]] + terms[["top_level"]], sum(twin), tolerance = 1e-8)
    expect_equal(fit$elbo, of_data + entropy_of(r) + sum(twin), tolerance = 1e-9)
    expect_gte(min(diff(elbo_trace(fit)$elbo)), -1e-9)
  }
})

test_that("every state of a fit is what its documents say, and accepted moves gain what they foretold", {
  total <- c(births = 0, merges = 0, deletes = 0)
  data <- heavy_documents(20, 20, three_means, seed = 2)
  runs <- list(
    list(obs = obs_student(), batches = 1, k_init = 1), list(obs = obs_student("diagonal"), batches = 3, k_init = 8),
    list(obs = obs_product(a = obs_student(columns = "a"), b = obs_student(columns = "b")), batches = 2, k_init = 6),
    list(obs = obs_student(), batches = 3, k_init = 8, moves = bnp_moves(birth = FALSE, delete = FALSE)),
    list(obs = obs_student(), batches = 1, k_init = 8, moves = bnp_moves(birth = FALSE, merge = FALSE)),
    list(obs = obs_student(), prior = prior_lda(5), batches = 2, k_init = 5),
    list(obs = obs_student(), batches = 2, k_init = 6, missing = TRUE),
    list(obs = obs_gaussian(learn = FALSE), batches = 2, k_init = 6, missing = TRUE)
  )
  if (!long_tests()) runs <- runs[c(1, 4, 7)]
  for (run in runs) {
    x <- `colnames<-`(data$x, c("a", "b"))
    if (isTRUE(run$missing)) x[withr::with_seed(1, sample(length(x), 80))] <- NA
    rows <- suppressMessages(as_document_data(x, run$obs, id = data$id, na_action = "model"))
    model <- list(obs = with_gaps(resolve_obs(run$obs, rows), rows), prior = run$prior %||% prior_hdp())
    case <- list(data = as_engine_data(rows), model = model)
    run[c("obs", "prior", "missing")] <- NULL
    fit <- do.call(engine_run, c(list(case, seed = 2, max_laps = 15, audit = TRUE), run))
    expect_audited_topics(fit)
    total <- total + colSums(fit$trace[names(total)])
  }
  expect_true(total[["births"]] > 0 && total[["merges"]] > 0)
  if (long_tests()) expect_gt(total[["deletes"]], 0)
})

test_that("states between the batches of the first lap are what the given responsibilities say", {
  for (obs in list(obs_student(), obs_gaussian(learn = FALSE))) {
    rows <- as_document_data(gappy$x, obs, id = gappy$id, na_action = "model")
    model <- list(obs = with_gaps(resolve_obs(obs, rows), rows), prior = prior_hdp())
    start <- list(resp = random_responsibilities(2, nrow(gappy$x), 4))
    for (batches in c(1L, 3L)) {
      case <- list(data = as_engine_data(rows), model = model)
      expect_audited_topics(engine_run(case, start = start, seed = 1, max_laps = 4, batches = batches, audit = TRUE))
    }
  }
})

test_that("known tails of 1e7 are nearly Gaussian, and one document is a mixture with these weights", {
  one_document <- function(obs, id = data_id) {
    bnp_topics(small$x, obs, prior_lda(3, alpha = 1.5), id = id, start = small$z, control = fixed())
  }
  data_id <- rep(1L, nrow(small$x))
  prior <- list(mean = c(0, 0), mean_strength = 0.3, df = 3, scale = diag(2))
  given <- function(maker, ...) do.call(maker, c(prior, list(...)))
  gaussian <- given(obs_gaussian, learn = FALSE)
  nearly <- given(obs_student, tails = 1e7)
  expect_equal(elbo(one_document(nearly, small$id)), elbo(one_document(gaussian, small$id)), tolerance = 1e-6)
  heavy <- given(obs_student, tails = gamma_prior(2, 0.1))
  mixture <- bnp_mixture(small$x, heavy, prior_dirichlet(3, 1.5), start = small$z, control = fixed())
  expect_equal(elbo(one_document(heavy)), elbo(mixture), tolerance = 1e-9)
  expect_equal(coef(one_document(heavy))$tails, coef(mixture)$tails, tolerance = 1e-5)
})

test_that("threads change no bit, and batches and the order of rows next to nothing", {
  data <- heavy_documents(130, 8, three_means, seed = 4)
  run <- function(threads, batches) {
    suppressWarnings(bnp_topics(data$x, obs_student(), id = data$id, control = bnp_control(
      threads = threads, batches = batches, seed = 1, verbose = FALSE, restarts = 1, max_laps = 6
    ))$state)
  }
  for (batches in c(1L, 3L)) {
    alone <- run(1L, batches)
    for (threads in c(2L, 4L)) expect_identical(run(threads, batches), alone)
  }
  settled <- function(rows, ...) {
    bnp_topics(small$x[rows, ], obs_student(), id = small$id[rows], start = small$z[rows], control = fixed(...))
  }
  all <- seq_along(small$z)
  expect_equal(elbo(settled(all, batches = 3)), elbo(settled(all)), tolerance = 1e-7)
  expect_equal(elbo(settled(rev(all))), elbo(settled(all)), tolerance = 1e-7)
})

# Judged by the sum of two statistics six topics would be left of the twelve, the bound 12 nats lower.
test_that("merges are judged after visits", {
  data <- heavy_documents(10, 200, five_means / 2, share = 0.1, df = 3, seed = 2)
  fit <- bnp_topics(data$x, obs_student(), id = data$id, control = bnp_control(
    seed = 2, verbose = FALSE, restarts = 1, k_init = 12, init = "random", batches = 2,
    moves = bnp_moves(birth = FALSE, delete = FALSE)
  ))
  expect_identical(n_clusters(fit), 5L)
})

# With EM steps of degrees of freedom in edits of several batches: 32 laps.
test_that("births find five topics in batches as soon as in one, and Gaussian rows are one topic", {
  data <- heavy_documents(200, 5, five_means, share = 0.1)
  for (batches in if (long_tests()) c(1L, 3L) else 3L) {
    fit <- bnp_topics(data$x, obs_student(), id = data$id, control = bnp_control(
      seed = 1, verbose = FALSE, restarts = 1, batches = batches
    ))
    expect_identical(n_clusters(fit), 5L)
    expect_lt(fit$laps, 27)
  }
  x <- withr::with_seed(5, matrix(rnorm(2000), 1000))
  control <- bnp_control(seed = 1, verbose = FALSE, restarts = 1)
  expect_identical(n_clusters(bnp_topics(x, obs_student(), id = rep(1:20, 50), control = control)), 1L)
})

long_test("topics with t(4) rows are found from one topic, where Gaussian ones are more", {
  for (seed in 1:3) {
    data <- heavy_documents(60, 80, five_means, seed = seed)
    gappy <- heavy_documents(60, 80, five_means, seed = seed, missing = 0.1)
    found <- function(data, obs) {
      control <- bnp_control(seed = seed, verbose = FALSE, restarts = 1)
      n_clusters(bnp_topics(data$x, obs, id = data$id, na_action = "model", control = control))
    }
    expect_identical(found(data, obs_student()), 5L)
    expect_identical(found(gappy, obs_student()), 5L)
    expect_gt(found(data, obs_gaussian(learn = FALSE)), 5L)
  }
})

fit_of <- function(x, obs = obs_student(), id = small$id, ..., seed = 1, laps = 40) {
  bnp_topics(x, obs, id = id, ..., control = bnp_control(seed = seed, verbose = FALSE, restarts = 1, max_laps = laps))
}
few <- fit_of(small$x)

test_that("readers have scales and tails, and new documents their topics", {
  expect_identical(n_clusters(few), 3L)
  expect_length(coef(few)$tails, 3L)
  expect_named(tidy(few), c("topic", "size", "proportion", "mean.x1", "mean.x2", "sd.x1", "sd.x2"))
  expect_output(print(few), "Student-t")
  turned <- rev(seq_along(small$z))
  augmented <- augment(few, small$x[turned, ], id = small$id[turned])
  expect_equal(augmented$.topic, rev(augment(few, small$x, id = small$id)$.topic))
  expect_equal(augmented$.scale, rev(augment(few, small$x, id = small$id)$.scale))
  far <- replace(small$x, 1, 200)
  scales <- augment(few, far, id = small$id)$.scale
  expect_lt(scales[1], 1e-2)
  expect_gt(min(scales[-1]), 10 * scales[1])
  expect_equal(predict(few, small$x, id = small$id), fitted(few), tolerance = 0.02)
  withr::local_pdf(NULL)
  expect_silent(plot(few))
  expect_gt(min(diff(simulate(few, seed = 1)$sim_1$.id)), -1)
  expect_true(all(is.finite(confint(few, "tails"))))
})

test_that("new documents may lack cells, rows without any are left out, and two blocks have two scales", {
  fit <- fit_of(gappy$x, na_action = "model", id = gappy$id)
  expect_true(fit$model$obs$gaps)
  x <- rbind(gappy$x[1:20, ], NA)
  id <- c(gappy$id[1:20], 1)
  augmented <- suppressMessages(augment(fit, x, id = id))
  expect_identical(is.na(augmented$.topic), rep(c(FALSE, TRUE), c(20, 1)))
  expect_identical(is.na(augmented$.scale), is.na(augmented$.topic))
  expect_gt(mean(augmented$.topic[1:20] == augment(fit, gappy$x, id = gappy$id)$.topic[1:20]), 0.9)
  expect_equal(suppressMessages(predict(fit, x, id = id)), predict(fit, x[1:20, ], id = id[1:20]))
  expect_identical(rownames(predict(few, gappy$x, id = gappy$id, na_action = "model")), rownames(fitted(few)))
  only_first <- suppressMessages(predict(fit, cbind(small$x[, 1], NA), id = small$id))
  expect_equal(only_first, predict(fit, small$x, id = small$id), tolerance = 0.2)
  blocks <- obs_product(first = obs_student(columns = "a"), second = obs_student(columns = "b"))
  two <- fit_of(`colnames<-`(gappy$x, c("a", "b")), blocks, na_action = "model", id = gappy$id)
  both <- augment(two, as.data.frame(`colnames<-`(gappy$x, c("a", "b"))), id = gappy$id)
  expect_identical(is.na(both$.scale_1), is.na(gappy$x[, 1]))
  expect_identical(is.na(both$.scale_2), is.na(gappy$x[, 2]))
})

test_that("missing cells of columns that are independent in a topic are left out, as in mixtures", {
  r <- random_responsibilities(3, nrow(gappy$x), 3)
  for (obs in list(obs_gaussian("diagonal", learn = FALSE), obs_poisson())) {
    x <- if (obs_facts(obs)$constructor == "obs_poisson") round(abs(gappy$x)) else gappy$x
    rows <- as_document_data(x, obs, id = gappy$id, na_action = "model")
    obs <- with_gaps(resolve_obs(obs, rows), rows)
    expect_true(obs$gaps)
    data <- function(data, prior) engine_elbo_of(as_engine_data(data), list(obs = obs, prior = prior), r)[["data"]]
    mixture <- data(as_mixture_data(x, obs, na_action = "model"), prior_dirichlet(3))
    expect_equal(data(rows, prior_lda(3)), mixture, tolerance = 1e-12)
  }
})

test_that("learning in steps, earlier fits, more documents and trees of topics go with scales", {
  stochastic <- bnp_topics(small$x, obs_student(), id = small$id, start = small$z, control = bnp_control(
    "stochastic", seed = 1, batches = 2, max_laps = 8, verbose = FALSE
  ))
  expect_gt(elbo(stochastic), elbo(few) - 30)
  again <- fit_of(small$x, start = few)
  expect_gte(elbo(again), elbo(few) - 1e-8)
  more <- heavy_documents(3, 15, three_means, seed = 8)
  longer <- update(few, more$x, id = more$id + 100)
  expect_equal(sum(cluster_sizes(longer)), nrow(small$x) + nrow(more$x))
  merged <- cut_fit(few, small$x, id = small$id, k = 2)
  expect_identical(n_clusters(merged), 2L)
})

test_that("weights of documents are copies of these", {
  control <- fixed()
  obs <- obs_student(tails = gamma_prior(2, 0.1), mean = c(0, 0), mean_strength = 1, df = 4, scale = diag(2))
  weighted <- bnp_topics(small$x, obs, prior_lda(3), id = small$id, start = small$z, weights = rep(c(2, 1), 4),
    control = control
  )
  twice <- c(seq_along(small$id), which(small$id %% 2 == 1))
  copy <- small$id[twice] + 100 * (seq_along(twice) > length(small$id))
  copies <- bnp_topics(small$x[twice, ], obs, prior_lda(3), id = copy, start = small$z[twice], control = control)
  expect_equal(elbo(weighted), elbo(copies), tolerance = 1e-8)
  expect_equal(coef(weighted)$tails, coef(copies)$tails, tolerance = 1e-4)
})

test_that("extremes: a row a document, one document, constant columns, units of 1e150 and far rows", {
  for (fit in list(
    fit_of(small$x, id = seq_along(small$z), laps = 15), fit_of(small$x, id = rep(1, nrow(small$x)), laps = 15),
    fit_of(cbind(small$x, 3), laps = 15), fit_of(small$x[1, , drop = FALSE], id = 1, laps = 5),
    fit_of(replace(small$x, 1, 1e6), laps = 15), fit_of(1e150 * small$x, laps = 15),
    fit_of(1e-150 * small$x, laps = 15)
  )) expect_true(is.finite(elbo(fit)))
})

test_that("what topics with scales do not have is refused by name", {
  expect_bad(bnp_sample(few, small$x, id = small$id), "not_defined", "topics of rows with scales")
  stream <- bnp_stream(function(i) if (i == 1L) data.frame(small$x, doc = small$id))
  expect_bad(bnp_topics(stream, obs_student(), id = "doc"), "not_defined", "topics of rows with scales")
  expect_bad(bnp_topics(bars$counts, na_action = "model"), "not_defined", "not available for topics")
  source <- source_function(function(i) if (i == 1L) data.frame(small$x, doc = small$id))
  expect_bad(bnp_topics(source, obs_student(), id = "doc", na_action = "model"), "not_defined", "in a source")
})

test_that("work in other processes has the bits of work here", {
  fit <- function(x, control) bnp_topics(x, obs_student(), id = gappy$id, na_action = "model", control = control)
  case <- list(gappy$x, fit, list(batches = 3L, k_init = 5L))
  here <- bits_of_work(fit_of_case(case, wave = 2L, laps = 8L))
  seen <- local_desk()
  expect_identical(bits_of_work(fit_of_case(case, wave = 2L, laps = 8L, workers = TRUE)), here)
  expect_true(all(c("visit", "documents") %in% seen$kinds))
})
