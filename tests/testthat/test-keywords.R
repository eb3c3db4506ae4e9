# Topics and clusters of texts that have a name by keywords before they are learned.

five_terms <- function(...) {
  c(list(family = "multinomial", term_prior = c(.3, .2, .5, .3, .4), keyword = c(1, 3), keyword_list = c(1, 1),
    expected_share = .2), list(...))
}
statistic <- function(...) {
  t <- rbind(...)
  cbind(rowSums(t), t)
}
tree <- function(t, lambda, s, b = 4, inner = 1, total = sum(lambda)) {
  dm <- function(t, lambda, all = sum(lambda)) {
    lgamma(all) - lgamma(all + sum(t)) + sum(lgamma(lambda + t) - lgamma(lambda))
  }
  n <- sum(t[s])
  m <- sum(t[-s])
  lbeta(1 + n, b + m) - lbeta(1, b) + dm(t[s], rep(inner, length(s))) + dm(t[-s], lambda[-s], total - sum(lambda[s]))
}

test_that("a named topic has the evidence of a Dirichlet tree, its gradient and predictives", {
  t <- c(2.5, 1, 0, 3, .7)
  one <- function(t, name = 1L, phi = diag(6)[0, , drop = FALSE]) engine_named(five_terms(), statistic(t), name, phi)
  expect_equal(one(t)$evidence, -13.308526369, tolerance = 1e-9)
  expect_equal(one(t, 0L)$evidence, -13.630719116, tolerance = 1e-9)
  expect_equal(drop(one(t)$gains), .322192747, tolerance = 1e-8)
  expect_equal(one(t)$evidence, tree(t, five_terms()$term_prior, c(1, 3)), tolerance = 1e-12)
  # The share of keywords, Beta(1, 4), summed over by quadrature.
  dm <- function(t, prior) lgamma(sum(prior)) - lgamma(sum(prior + t)) + sum(lgamma(prior + t) - lgamma(prior))
  over_share <- stats::integrate(function(p) stats::dbeta(p, 1, 4) * p^2.5 * (1 - p)^4.7, 0, 1, rel.tol = 1e-10)$value
  by_quadrature <- log(over_share) + dm(c(2.5, 0), c(1, 1)) + dm(c(1, 3, .7), c(.2, .3, .4))
  expect_equal(one(t)$evidence, by_quadrature, tolerance = 1e-9)
  expect_equal(one(t)$joint, one(t)$evidence, tolerance = 1e-12)
  expect_equal(one(t)$joint_weights, one(t)$weights, tolerance = 1e-12)
  slope <- vapply(1:5, function(v) {
    h <- replace(numeric(5), v, 1e-5)
    up <- one(t + 1e-5 + h)$evidence
    (up - one(t + 1e-5 - h)$evidence) / 2e-5
  }, 0)
  expect_equal(one(t + 1e-5)$weights[-1], slope, tolerance = 1e-7)
  tokens <- c(1, 4, 1, 3, 2, 4, 5)
  so_far <- numeric(5)
  sum <- 0
  for (v in tokens) {
    own <- one(so_far, phi = cbind(1, diag(5)))
    expect_equal(exp(drop(own$predictive)), drop(own$prob), tolerance = 1e-12)
    expect_equal(sum(own$prob), 1, tolerance = 1e-12)
    sum <- sum + own$predictive[v]
    so_far[v] <- so_far[v] + 1
  }
  expect_equal(sum, one(so_far)$evidence, tolerance = 1e-12)
  expect_equal(sum, -14.713517149, tolerance = 1e-9)
  row <- matrix(c(1, tabulate(tokens, 5)), 1)
  expect_equal(drop(one(numeric(5), phi = row)$predictive), sum, tolerance = 1e-12)
  expect_equal(one(numeric(5))$evidence, 0)
  expect_equal(one(c(3, 1, 2, 2, 0))$evidence, -15.48077230, tolerance = 1e-9)
  # Where share and keyword have the weights of the plain prior it is that.
  plain <- five_terms(term_prior = c(1, .2, .5, .3, .4), keyword = 1, keyword_list = 1, expected_share = 1 / 2.4)
  plain <- plain[!duplicated(names(plain), fromLast = TRUE)]
  of <- lapply(1:0, function(name) engine_named(plain, statistic(t), name, cbind(1, diag(5))))
  expect_equal(of[[1]][c("evidence", "weights", "prob")], of[[2]][c("evidence", "weights", "prob")], tolerance = 1e-12)
})

test_that("words of a named topic are drawn from its posterior", {
  for (t in list(c(2.5, 1, 0, 3, .7), numeric(5))) {
    exact <- engine_named(five_terms(), statistic(t), 1L, diag(6)[0, , drop = FALSE])
    draws <- engine_named_draws(five_terms(), drop(statistic(t)), 1L, 4000L, 1)
    expect_equal(draws[, 1], rep(0, 4000))
    share <- exp(draws[, -1])
    expect_equal(rowSums(share), rep(1, 4000))
    expect_lt(max(abs(colMeans(share) - exact$prob) / (apply(share, 2L, stats::sd) / sqrt(4000))), 4)
  }
})

test_that("topics with and without a name have the sums of the derivation under a prior with common weights", {
  share <- c(.3, .25, .2, .15, .1)
  sum_at <- function(even, common) {
    obs <- utils::modifyList(five_terms(), list(
      term_prior = even + common * share, keyword = c(1, 3, 2), keyword_list = c(1, 1, 2), expected_share = c(.2, .2)
    ))
    counts <- rbind(c(5, 2, 4, 1, 0), c(0, 7, 1, 6, 2), c(9, 1, 0, 0, 5))
    sum(vapply(1:3, function(k) {
      engine_named(obs, statistic(counts[k, ]), c(1L, 0L, 2L)[k], diag(6)[0, , drop = FALSE])$evidence
    }, 0))
  }
  expect_equal(sum_at(.1, 1.5), -62.367213, tolerance = 1e-8)
  best <- stats::optim(c(.1, 1.5), function(at) -sum_at(at[1], at[2]), method = "L-BFGS-B", lower = 1e-3)
  expect_equal(-best$value, -61.9913004, tolerance = 1e-8)
})

# Evidence of clusters, given shares beta of terms, averaged over Dir(1/2, ...) of three terms.
evidence_of_three <- function(counts, s, even, common, b, n = 120) {
  u <- (seq_len(n) - .5) / n
  first <- stats::qbeta(u, .5, 1) # beta_1 ~ Beta(1/2, 1); the rest shared by Beta(1/2, 1/2)
  second <- stats::qbeta(u, .5, .5)
  log_p <- outer(first, second, Vectorize(function(x, y) {
    lambda <- even + common * c(x, (1 - x) * y, (1 - x) * (1 - y))
    sum(vapply(seq_len(nrow(counts)), function(k) {
      if (length(s[[k]])) tree(counts[k, ], lambda, s[[k]], b) else {
        lgamma(sum(lambda)) - lgamma(sum(lambda) + sum(counts[k, ])) +
          sum(lgamma(lambda + counts[k, ]) - lgamma(lambda))
      }
    }, 0))
  }))
  max(log_p) + log(mean(exp(log_p - max(log_p))))
}

test_that("with a learned prior the sum of all is below the evidence, and learning never lowers it", {
  counts <- rbind(c(5, 2, 4), c(0, 7, 1), c(9, 1, 0))
  for (s in list(list(1L, integer(), 2L), list(c(1L, 3L), integer(), integer()))) {
    names <- integer(3)
    names[lengths(s) > 0] <- seq_len(sum(lengths(s) > 0))
    obs <- list(
      family = "multinomial", term_prior = rep(1, 3), term_prior_even = 2^-4, term_prior_common = 2,
      hyper_share = c(2, 3, 1), keyword = unlist(s), keyword_list = rep(names[names > 0], lengths(s)[lengths(s) > 0]),
      expected_share = rep(.2, max(names))
    )
    points <- log(16) + log(16) # even and common are on grids of 16 numbers each
    rises <- engine_learned_with_names(obs, statistic(counts), names, 30L, FALSE)
    expect_true(all(diff(rises) >= -1e-10))
    truth <- evidence_of_three(counts, s, 2^-4, 2, 4)
    expect_lt(max(rises) + points, truth)
    expect_gt(max(rises) + points, truth - 2)
    searched <- engine_learned_with_names(obs, statistic(counts), names, 30L, TRUE)
    expect_true(all(diff(searched) >= -1e-10))
    expect_gte(max(searched), max(rises) - 1e-6)
  }
})

test_that("names are assigned by the best sum", {
  value <- withr::with_seed(5, matrix(rnorm(3 * 6), 3))
  all <- expand.grid(1:6, 1:6, 1:6)
  all <- as.matrix(all[apply(all, 1L, anyDuplicated) == 0L, ])
  sums <- apply(all, 1L, function(at) sum(value[cbind(1:3, at)]))
  expect_identical(engine_best_assignment(value), unname(all[which.max(sums), ]))
  expect_identical(engine_best_assignment(diag(4)), 1:4)
})

tiny <- matrix(
  c(2, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 2, 1), 3, byrow = TRUE, dimnames = list(NULL, paste0("w", 1:5))
)
named_tiny <- function(...) {
  obs_multinomial(c(.3, .2, .5, .3, .4), keywords = list(first = c("w1", "w3")), keyword_share = .2, ...)
}

test_that("of a tiny corpus the bound is the best that enumeration and other programs know", {
  x <- tiny
  best <- max(vapply(1:12, function(seed) {
    start <- withr::with_seed(seed, matrix(stats::runif(6), 3))
    control <- bnp_control("full", seed = seed, max_laps = 300, tol = 0)
    elbo(bnp_topics(x, named_tiny(), prior_lda(2, alpha = 1.2), control, start = start / rowSums(start)))
  }, 0))
  expect_lt(best, -16.82795691) # all assignments summed
  expect_equal(best, -18.31988996, tolerance = 1e-7)
  plain <- max(vapply(1:12, function(seed) {
    start <- withr::with_seed(seed, matrix(stats::runif(6), 3))
    control <- bnp_control("full", seed = seed, max_laps = 300, tol = 0)
    elbo(bnp_topics(x, obs_multinomial(c(.3, .2, .5, .3, .4)), prior_lda(2, alpha = 1.2), control,
      start = start / rowSums(start)))
  }, 0))
  expect_lt(plain, -16.88972383)
  expect_equal(plain, -18.99943384, tolerance = 1e-7)
  # One topic that has a name leaves nothing to find: its bound is the evidence.
  one <- bnp_topics(x, named_tiny(), prior_lda(1), bnp_control(seed = 1))
  expect_equal(elbo(one), tree(colSums(x), c(.3, .2, .5, .3, .4), c(1, 3)), tolerance = 1e-12)
})

planted_texts <- function(seed = 1, n = 120, length = 40) {
  withr::with_seed(seed, {
    phi <- matrix(.02, 3, 30)
    for (k in 1:3) phi[k, (k - 1) * 10 + 1:10] <- 1
    phi <- phi / rowSums(phi)
    theta <- matrix(stats::rgamma(3 * n, .3), n)
    theta <- theta / rowSums(theta)
    x <- t(vapply(seq_len(n), function(d) drop(stats::rmultinom(1, length, theta[d, ] %*% phi)), double(30)))
    colnames(x) <- paste0(rep(c("ball", "chip", "vote"), each = 10), 1:10)
    list(x = x, theta = theta)
  })
}
lists <- list(sport = c("ball1", "ball2"), politics = "vote1*")

test_that("named topics are found, keep their names, and all else is as before", {
  data <- planted_texts()
  for (term_prior in list(.1, NULL)) {
    obs <- obs_multinomial(term_prior, keywords = lists)
    fit <- bnp_topics(data$x, obs, control = bnp_control(seed = 1, max_laps = 60))
    names <- names_of_clusters(fit)
    expect_setequal(stats::na.omit(names), names(lists))
    expect_gte(n_clusters(fit), 3L)
    prob <- fitted(fit)
    expect_setequal(colnames(prob), c(names[!is.na(names)], which(is.na(names))))
    expect_gt(stats::cor(prob[, "sport"], data$theta[, 1]), .9)
    expect_gt(stats::cor(prob[, "politics"], data$theta[, 3]), .9)
    terms <- top_terms(fit, 10)
    expect_true(all(grepl("^ball", terms$term[terms$name %in% "sport"])))
    expect_identical(sort(terms$term[terms$keyword & terms$name %in% "sport"]), c("ball1", "ball2"))
    expect_false(any(terms$keyword & is.na(terms$name)))
    # the bound as plain R has it
    expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-10)
    labels <- predict(fit, type = "label")
    expect_identical(levels(labels), names(lists))
    shares <- predict(fit, type = "label_prob")
    expect_identical(colnames(shares), c(names(lists), "(none)"))
    expect_equal(unname(rowSums(shares)), rep(1, nrow(shares)))
    expect_identical(is.na(labels), apply(shares, 1L, which.max) == 3L, ignore_attr = TRUE)
    expect_identical(rownames(coef(fit)$prob), cluster_labels(fit))
    expect_equal(unname(rowSums(coef(fit)$prob)), rep(1, fit$state$k))
    expect_match(described_keywords(fit)[1], "^sport: 2 of 2 keywords in the data, [0-9,]+ tokens, fits its key")
  }
})

test_that("pictures and tables of terms call topics by their names", {
  data <- planted_texts(n = 40)
  fit <- suppressWarnings(bnp_topics(data$x, obs_multinomial(.1, keywords = lists), control = bnp_control(seed = 1,
    max_laps = 5)))
  named <- ifelse(is.na(names_of_clusters(fit)), seq_len(fit$state$k), names_of_clusters(fit))
  used <- in_use(fit)
  expect_identical(proportions_picture(fit, NULL)$topics, named[used])
  expect_identical(correlation_picture(fit, NULL)$topics, named[used])
  called <- ifelse(named %in% names(lists), named, paste("Topic", named))[used]
  expect_identical(colnames(terms(fit)), called)
  expect_identical(sub(" [(].*", "", unique(terms_picture(fit, NULL, 3, "prob")$terms$title)), called)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  for (type in c("terms", "clusters", "correlation")) expect_no_error(plot(fit, type = type))
})

test_that("of few terms, names are on the topics that use their keywords", {
  data <- planted_texts(2, n = 60)
  keys <- list(b = c("ball1", "ball2"), c = c("chip1", "chip2"), v = c("vote1", "vote2"))
  control <- bnp_control(seed = 1, max_laps = 20)
  for (fit_to in list(bnp_topics, bnp_mixture)) {
    fit <- suppressWarnings(fit_to(data$x, obs_multinomial(keywords = keys), control = control))
    prob <- coef(fit)$prob[names(keys), ]
    expect_identical(max.col(vapply(keys, function(words) rowSums(prob[, words]), numeric(3))), 1:3)
  }
})

test_that("the expected share of keywords is .02, or twice their share in the data", {
  x <- matrix(c(1, 5, 30, 64), 1, dimnames = list(NULL, c("rare", "known", "usual", "other")))
  keys <- list(one = "rare", few = "known", many = c("usual", "known"))
  expected <- function(...) {
    obs <- obs_multinomial(.1, keywords = keys, ...)
    quietly <- suppressMessages(suppressWarnings(bnp_mixture(x, obs, control = bnp_control(max_laps = 1))))
    quietly$model$obs$expected_share
  }
  expect_equal(expected(), c(.02, .1, .5))
  expect_equal(expected(keyword_share = .3), rep(.3, 3))
})

test_that("the data term is that of a tree for named topics", {
  data <- planted_texts(2)
  fit <- bnp_topics(data$x, obs_multinomial(.1, keywords = lists), control = bnp_control(seed = 2, max_laps = 30))
  t <- fit$state$obs[, -1]
  columns <- split(fit$model$obs$keyword, fit$model$obs$keyword_list)
  lambda <- rep(.1, ncol(t))
  own <- vapply(seq_len(nrow(t)), function(k) {
    name <- fit$state$named[k]
    if (name > 0) tree(t[k, ], lambda, columns[[name]], b = 1 / fit$model$obs$expected_share[name] - 1) else {
      lgamma(sum(lambda)) - lgamma(sum(lambda) + sum(t[k, ])) + sum(lgamma(lambda + t[k, ]) - lgamma(lambda))
    }
  }, 0)
  expect_equal(elbo(fit, terms = TRUE)[["data"]], sum(own), tolerance = 1e-10)
})

test_that("documents are not judged by a posterior that named topics do not have", {
  data <- planted_texts(2)
  fit <- bnp_topics(data$x, obs_multinomial(.1, keywords = lists), control = bnp_control(seed = 2, max_laps = 5)) |>
    suppressWarnings()
  expect_bad(heldout_loglik(fit, data$x, inference = "predictive"), "argument", "no Dirichlet")
  expect_true(is.finite(heldout_loglik(fit, data$x, seed = 1)))
})

test_that("batches, earlier fits and updates keep names; the order of lists and words does not matter", {
  data <- planted_texts(3)
  obs <- obs_multinomial(.1, keywords = lists)
  control <- bnp_control(seed = 1, max_laps = 40)
  fit <- bnp_topics(data$x, obs, control = control)
  turned <- bnp_topics(data$x, obs_multinomial(.1, keywords = rev(lapply(lists, rev))), control = control)
  expect_equal(elbo(turned), elbo(fit), tolerance = 1e-8)
  batches <- bnp_topics(data$x, obs, control = bnp_control(seed = 1, max_laps = 40, batches = 4))
  expect_setequal(stats::na.omit(names_of_clusters(batches)), names(lists))
  stochastic <- suppressWarnings(bnp_topics(data$x, obs, prior_lda(5),
    bnp_control("stochastic", seed = 1, max_laps = 10, batches = 4)))
  expect_setequal(stats::na.omit(names_of_clusters(stochastic)), names(lists))
  again <- bnp_topics(data$x, obs, control = control, start = fit)
  expect_gte(elbo(again), elbo(fit) - 1e-6)
  other <- bnp_topics(data$x, obs_multinomial(.1, keywords = list(it = "chip1", polls = "vote2")), control = control,
    start = fit)
  expect_setequal(stats::na.omit(names_of_clusters(other)), c("it", "polls"))
  none <- bnp_topics(data$x, obs_multinomial(.1), control = control, start = fit)
  expect_null(none$state$named)
  more <- update(fit, planted_texts(4)$x)
  expect_setequal(stats::na.omit(names_of_clusters(more)), names(lists))
  hard <- bnp_topics(data$x, obs, control = control, start = max.col(data$theta))
  expect_setequal(stats::na.omit(names_of_clusters(hard)), names(lists))
  expect_gt(stats::cor(fitted(hard)[, "sport"], data$theta[, 1]), .9)
})

test_that("what moves accept is audited with names, of topics and of mixtures", {
  x <- planted_texts(7)$x
  for (run in list(list(), list(batches = 3), list(prior = prior_lda(5)))) {
    for (term_prior in list(.1, NULL)) {
      obs <- obs_multinomial(term_prior, keywords = lists)
      obs$learn <- is.null(term_prior)
      fit <- do.call(audited_topics, c(list(x, obs, seed = 2, max_laps = 25), run))
      expect_audited_topics(fit)
      expect_identical(sort(fit$state$named[fit$state$named > 0]), 1:2)
    }
  }
  for (batches in c(1, 3)) {
    case <- planted_case("named", obs_multinomial(.1, keywords = list(a = "col1", b = "col4")),
      `colnames<-`(planted_texts(8, length = 10)$x, paste0("col", 1:30)), rep(1L, 120))
    fit <- engine_run(case, batches = batches, seed = 1, max_laps = 30, audit = TRUE)
    expect_audited(fit)
    expect_identical(sort(fit$state$named[fit$state$named > 0]), 1:2)
  }
})

test_that("keywords name the clusters of short texts, too", {
  data <- planted_texts(5, n = 200, length = 8)
  fit <- bnp_mixture(data$x, obs_multinomial(keywords = lists), control = bnp_control(seed = 1))
  expect_setequal(stats::na.omit(names_of_clusters(fit)), names(lists))
  label <- predict(fit, data$x, type = "label")
  expect_gt(mean(label[data$theta[, 1] > .9] == "sport", na.rm = TRUE), .9)
  expect_identical(colnames(predict(fit, data$x, type = "label_prob"))[1:2], names(lists))
  expect_true(all(names(lists) %in% colnames(predict(fit, data$x, type = "prob"))))
})

test_that("an empty list is kept, and a wrong one is told apart by its fit", {
  data <- planted_texts(6)
  x <- cbind(data$x, unused = 0)
  fit <- bnp_topics(x, obs_multinomial(.1, keywords = c(lists, list(nothing = "unused", mixed = c("ball5", "vote5")))),
    control = bnp_control(seed = 1, max_laps = 40))
  expect_setequal(stats::na.omit(names_of_clusters(fit)), c(names(lists), "nothing", "mixed"))
  said <- described_keywords(fit)
  expect_match(said[3], "^nothing: 1 of 1 keyword in the data")
})

test_that("keywords that make no sense are refused", {
  x <- planted_texts()$x
  fit <- function(keywords, ...) bnp_topics(x, obs_multinomial(keywords = keywords), ...)
  expect_bad(obs_multinomial(keywords = list("a")), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = "a", a = "b")), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = "a", "b")), "keywords")
  expect_bad(obs_multinomial(keywords = list()), "keywords")
  expect_bad(obs_multinomial(keywords = "ball"), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = character())), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = 1:3)), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = NA_character_)), "keywords")
  expect_bad(obs_multinomial(keywords = list("2" = "a")), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = "b"), keyword_share = 1), "keywords")
  expect_bad(obs_multinomial(keywords = list(a = "b"), keyword_share = NA), "keywords")
  expect_bad(fit(list(a = "balll1")), "keywords")
  expect_bad(fit(list(a = "*")), "keywords")
  expect_bad(fit(list(a = "ball one")), "keywords")
  expect_bad(fit(lists, prior = prior_lda(1)), "keywords")
  expect_bad(bnp_topics(unname(x), obs_multinomial(keywords = lists)), "keywords")
  expect_message(fit(list(a = c("ball1", "goal")), control = bnp_control(max_laps = 1)) |> suppressWarnings(), "goal")
  expect_message(
    fit(list(a = "ball1", b = c("ball1", "ball2")), control = bnp_control(max_laps = 1)) |> suppressWarnings(),
    "more than one list: ball1"
  )
  expect_bad(bnp_hmm(x, obs = obs_multinomial(keywords = lists)), "keywords")
  expect_bad(obs_product(a = obs_multinomial(keywords = lists)), "keywords")
  expect_bad(bnp_topics(x, obs_multinomial(keywords = lists), control = bnp_control("truncation_free")), "keywords")
  named <- suppressWarnings(fit(lists, control = bnp_control(seed = 1, max_laps = 2)))
  expect_bad(bnp_sample(named, x), "keywords")
  expect_bad(confint(named), "keywords")
  expect_bad(simulate(named), "keywords")
})

test_that("nested lists and dictionaries have names joined by dots; patterns match in either case", {
  nested <- as_keywords(list(sport = list(ball = c("a", "b"), other = "c"), tech = "d"), NULL)
  expect_identical(nested, list(sport.ball = c("a", "b"), sport.other = "c", tech = "d"))
  inner <- as_keywords(list(sport = list(list("a", "b"), ball = "c")[c(1, 2)]), NULL)
  expect_named(inner, c("sport", "sport.ball"))
  terms <- c("Ball", "ball", "Chip1", "a.b", "axb")
  expect_identical(matched_terms("Ball", terms), 1L)
  expect_identical(matched_terms("CHIP?", terms), 3L)
  expect_identical(matched_terms("BALL", terms), 1:2)
  expect_identical(matched_terms("a.b", terms), 4L)
  expect_identical(matched_terms("a.*", terms), 4L)
})

test_that("labels and keywords go together in mixtures, with an open and a fixed number of clusters", {
  texts <- whales$counts[31:120, ]
  category <- as.character(whales$category)[31:120]
  some <- ifelse(seq_along(category) %% 3 == 0, category, NA)
  obs <- obs_multinomial(keywords = list(Whaling = c("whaling", "whaler"), sea = "sea"))
  for (prior in list(prior_dp(), prior_dirichlet(9), prior_dirichlet(7))) {
    fit <- suppressWarnings(bnp_mixture(
      texts, obs, prior = prior, labels = some, control = bnp_control(seed = 1, max_laps = 8, verbose = FALSE)
    ))
    expect_setequal(setdiff(fit$state$named, 0), 1:2)
    expect_equal(sum(fit$state$named > 0), 2)
    known <- !is.na(some)
    expect_equal(as.character(predict(fit, type = "label"))[known], some[known])
  }
})
