# Lists of keywords beside labels: a list and a label that are called the same are about one topic or cluster; other
# lists name topics of no label. What is known is never joined with something else that is known.

# For each list of keywords the class that owns its topic or cluster; NA for no class.
owners_of_lists <- function(fit) {
  at <- match(seq_along(fit$model$obs$keywords), fit$state$named)
  c(NA, classes_of_labels(fit))[fit$state$owner[at] + 1L]
}

test_that("a list and a label that are called the same have one topic, with the prior of the list", {
  data <- planted_labels(1)
  keywords <- list(sport = c("ball1", "ball2"), words = "word1")
  control <- bnp_control(seed = 1, max_laps = 30)
  fit <- function(keywords, prior = prior_hdp(), ...) {
    suppressWarnings(bnp_topics(data$x, obs_multinomial(.1, keywords = keywords), prior, control, ...))
  }
  both <- fit(keywords, labels = data$labels)
  expect_identical(owners_of_lists(both), c("sport", NA))
  expect_identical(forbidden(both, one_of(data$labels, both$input$class_names)), 0)
  expect_identical(colnames(predict(both, type = "label_prob"))[1:4], c("politics", "sport", "tech", "words"))
  expect_identical(sum(colnames(fitted(both)) == "sport"), 1L)
  known <- predict(both, type = "label") == data$truth
  expect_gt(mean(known, na.rm = TRUE), .9)
  # The log evidence of the topic of the label is that of a Dirichlet tree.
  topic <- which(both$state$named == 1L)
  t <- both$state$obs[topic, -1L]
  tree <- function(t, s, b) {
    dm <- function(t, w) lgamma(sum(w)) - lgamma(sum(w) + sum(t)) + sum(lgamma(w + t) - lgamma(w))
    lbeta(1 + sum(t[s]), b + sum(t[-s])) - lbeta(1, b) + dm(t[s], rep(1, length(s))) +
      dm(t[-s], rep(.1, length(t) - length(s))) - dm(t, rep(.1, length(t)))
  }
  share <- both$model$obs$expected_share[1]
  expect_equal(engine_gains_of_names(both$model, both$state)[1], tree(t, 1:2, 1 / share - 1), tolerance = 1e-8)
  # One topic less is needed, and the order of lists is that of names only.
  expect_identical(owners_of_lists(fit(keywords, prior_lda(4), labels = data$labels)), c("sport", NA))
  expect_bad(fit(keywords, prior_lda(3), labels = data$labels), "labels", "need 4 topics")
  all <- list(tech = "chip1", sport = "ball1", politics = "vote1")
  expect_identical(owners_of_lists(fit(all, prior_lda(3), labels = data$labels)), names(all))
  expect_equal(
    elbo(fit(rev(keywords), labels = data$labels)), elbo(both), tolerance = 1e-8
  )
})

test_that("topics of labels that are named stay so in updates, cuts, other starts and stochastic learning", {
  data <- planted_labels(3)
  new <- planted_labels(4, n = 60)
  rownames(new$x) <- paste0("n", 1:60)
  obs <- obs_multinomial(keywords = list(words = "word2", tech = c("chip2", "chip3")))
  control <- bnp_control(seed = 1, max_laps = 15)
  fit <- suppressWarnings(bnp_topics(data$x, obs, control = control, labels = data$labels))
  plain <- suppressWarnings(bnp_topics(data$x, control = control, labels = data$labels))
  moving <- bnp_control("stochastic", seed = 1, max_laps = 5, batches = 3)
  made <- suppressWarnings(list(
    fit, update(fit, new$x, labels = new$labels), update(fit, new$x, labels = new$labels, olddata = data$x),
    bnp_topics(data$x, obs, control = control, labels = data$labels, start = fit),
    bnp_topics(data$x, obs, control = control, labels = data$labels, start = plain),
    bnp_topics(data$x, obs, control = bnp_control(seed = 1, max_laps = 15, batches = 4), labels = data$labels),
    bnp_topics(data$x, obs, prior_lda(6), moving, labels = data$labels)
  ))
  for (one in made) {
    expect_identical(owners_of_lists(one), c(NA, "tech"))
    expect_equal(sum(elbo(one, terms = TRUE)), elbo(one), tolerance = 1e-10)
  }
})

test_that("a list and a label that are called the same have one cluster of texts, other lists have open ones", {
  data <- planted_labels(5, n = 200, length = 12, known = .3)
  obs <- obs_multinomial(keywords = list(words = c("word1", "word2"), sport = c("ball1", "ball2")))
  fit <- function(prior, obs, control = bnp_control(seed = 1, max_laps = 20, verbose = FALSE), ...) {
    suppressWarnings(bnp_mixture(data$x, obs, prior, control, labels = data$labels, ...))
  }
  for (prior in list(prior_dp(), prior_dirichlet(4), prior_dirichlet(7))) {
    texts <- fit(prior, obs)
    expect_identical(owners_of_lists(texts), c(NA, "sport"))
    known <- !is.na(data$labels)
    expect_identical(as.character(predict(texts, type = "label"))[known], data$labels[known])
    again <- fit(prior, obs, start = texts)
    expect_identical(owners_of_lists(again), c(NA, "sport"))
    expect_gte(elbo(again), elbo(texts) - 1e-6)
  }
  expect_bad(fit(prior_dirichlet(3), obs), "labels", "need 4 clusters")
  # A start of the user's in which every cluster has a label: the list gets one of these, as there is no other.
  start <- match(data$truth, c("sport", "tech", "politics"))
  expect_identical(owners_of_lists(fit(prior_dirichlet(3), obs_multinomial(keywords = obs$keywords[2]), start = start)),
    "sport")
  expect_identical(sum(fit(prior_dp(), obs, start = start)$state$named > 0L), 2L)
})

test_that("topics of two lists are not joined, even if they have the same words", {
  x <- withr::with_seed(1, t(stats::rmultinom(40, 60, rep(1, 8))))
  dimnames(x) <- list(paste0("d", 1:40), paste0("w", 1:8))
  obs <- obs_multinomial(.1, keywords = list(one = "w1", two = "w2"))
  control <- bnp_control(seed = 1, max_laps = 30, verbose = FALSE)
  for (fit in list(bnp_topics(x, obs, control = control), bnp_mixture(x, obs, control = control))) {
    expect_setequal(setdiff(fit$state$named, 0L), 1:2)
  }
  half <- bnp_mixture(x, obs, prior_dp(), control, labels = rep(c("a", NA), 20))
  expect_identical(owners_of_lists(half), c(NA_character_, NA_character_))
})

test_that("states and clusters of two labels are not joined, even if their rows are alike", {
  x <- withr::with_seed(1, matrix(stats::rnorm(80)))
  labels <- rep(c("a", "b", NA, NA), 20)
  control <- bnp_control(seed = 1, max_laps = 20, verbose = FALSE)
  given <- !is.na(labels)
  for (verb in list(bnp_hmm, bnp_mixture)) {
    fit <- verb(x, labels = labels, control = control)
    expect_setequal(setdiff(fit$state$owner, 0L), 1:2)
    expect_identical(as.character(predict(fit, type = "label"))[given], labels[given])
  }
})

test_that("three documents, of which one or two may use one topic only, have the figures of the derivation", {
  x <- matrix(c(2, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 2, 1), 3, byrow = TRUE, dimnames = list(NULL, paste0("w", 1:5)))
  obs <- obs_multinomial(c(.3, .2, .5, .3, .4), keywords = list(first = c("w1", "w3")), keyword_share = .2)
  fit <- function(labels) {
    control <- bnp_control("full", seed = 1, max_laps = 300, tol = 0, verbose = FALSE)
    bnp_topics(x, obs, prior_lda(2, alpha = 1.2), control, labels = labels, open = FALSE)
  }
  part <- fit(c("first", NA, "second"))
  expect_equal(elbo(part), -19.43871620, tolerance = 1e-9)
  expect_lt(elbo(part), -18.76609519) # all assignments that the labels allow
  expect_equal(unname(as.matrix(part$documents)[2, owners_of_clusters(part)]), c(2.969922, .030078), tolerance = 1e-6)
  expect_equal(elbo(fit(c("first", "first", "second"))), -19.46521269, tolerance = 1e-9) # one assignment: the evidence
})

test_that("a list stays with its label where another label's documents use its words more", {
  prob <- rbind(c(.05, .05, .3, .3, .15, .15), c(.4, .4, .05, .05, .05, .05))
  label <- rep(1:2, each = 30)
  x <- withr::with_seed(1, t(vapply(label, function(l) stats::rmultinom(1, 80, prob[l, ])[, 1], numeric(6))))
  colnames(x) <- paste0("w", 1:6)
  obs <- obs_multinomial(keywords = list(a = c("w1", "w2")))
  for (moves in c(TRUE, FALSE)) {
    fit <- bnp_topics(x, obs, labels = letters[label], control = bnp_control(seed = 1, moves = moves))
    expect_identical(owners_of_lists(fit), "a")
    expect_gt(fitted(fit)[1, "a"], .9)
  }
})
