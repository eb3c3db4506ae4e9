# Topics of documents whose labels are known: labels = of bnp_topics().

test_that("documents use topics of their labels and open ones only, exactly, after all moves", {
  data <- planted_labels()
  for (batches in c(1L, 4L)) {
    for (prior in list(prior_hdp(), prior_lda(8))) {
      control <- bnp_control(seed = 1, max_laps = 60, batches = batches, sparsity = if (batches > 1L) 2)
      fit <- bnp_topics(data$x, prior = prior, control = control, labels = data$labels)
      expect_identical(fit$input$class_names, c("politics", "sport", "tech"))
      sets <- one_of(data$labels, fit$input$class_names)
      expect_identical(forbidden(fit, sets), 0)
      expect_setequal(setdiff(fit$state$owner, 0L), 1:3)
      prob <- predict(fit, type = "label_prob")
      expect_identical(colnames(prob), c("politics", "sport", "tech", if (any(fit$state$owner == 0L)) "(none)"))
      expect_equal(unname(rowSums(prob)), rep(1, nrow(prob)))
      open <- is.na(data$labels)
      named <- colnames(prob)[1:3][max.col(prob[, 1:3])]
      if (is.null(prior$k)) expect_gt(mean(named[open] == data$truth[open]), .9)
      expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-10)
    }
  }
  closed <- bnp_topics(data$x, control = bnp_control(seed = 1, max_laps = 60), labels = data$labels, open = FALSE)
  expect_identical(forbidden(closed, one_of(data$labels, closed$input$class_names), FALSE), 0)
})

test_that("a label keeps a topic of a finite prior, and has the topics that its documents are about", {
  # An open topic had taken over what label politics or tech is about, or both idle topics of sport had made room.
  for (case in list(list(1, prior_hdp()), list(1, prior_lda(8, alpha = 1)), list(3, prior_lda(8)))) {
    data <- planted_labels(case[[1]])
    fit <- bnp_topics(data$x, prior = case[[2]], control = bnp_control(seed = 1), labels = data$labels)
    expect_setequal(setdiff(fit$state$owner, 0L), 1:3)
    expect_identical(forbidden(fit, one_of(data$labels, fit$input$class_names)), 0)
    prob <- predict(fit, type = "label_prob")
    named <- colnames(prob)[1:3][max.col(prob[, 1:3])]
    open <- is.na(data$labels)
    expect_gt(mean(named[open] == data$truth[open]), .95)
  }
})

test_that("two idle topics of a label do not both make room", {
  for (case in list(c(6, 0.5), c(8, 1))) { # label politics, or tech, had none in the end
    data <- planted_labels(case[1])
    run <- function(max_laps, ...) {
      control <- bnp_control(seed = 1, max_laps = max_laps, restarts = 1)
      suppressWarnings(bnp_topics(data$x, prior = prior_lda(8, alpha = case[2]), control = control,
        labels = data$labels, ...))
    }
    expect_setequal(setdiff(run(60, start = run(1))$state$owner, 0L), 1:3)
  }
})

test_that("births leave a label one of its idle topics", {
  # Documents of eight subjects. Of six topics two are idle, both of label a, and births want room.
  data <- withr::with_seed(1, {
    topic <- sample(8L, 160, TRUE)
    phi <- matrix(.02, 8, 80)
    for (k in 1:8) phi[k, (k - 1) * 10 + 1:10] <- 1
    phi <- phi / rowSums(phi)
    x <- t(vapply(topic, function(k) drop(stats::rmultinom(1, 30, phi[k, ])), double(80)))
    dimnames(x) <- list(paste0("d", 1:160), paste0("w", 1:80))
    labels <- rep(NA_character_, 160)
    for (k in 1:2) labels[which(topic == k)[1:3]] <- c("a", "b")[k]
    list(x = x, labels = labels)
  })
  run <- function(k, start = NULL, moves = TRUE, laps = 30) {
    control <- bnp_control(seed = 1, max_laps = laps, moves = moves)
    suppressWarnings(bnp_topics(data$x, prior = prior_lda(k, alpha = k / 4), labels = data$labels, control = control,
      start = start))
  }
  wide <- run(6, run(4), moves = FALSE, laps = 1)
  size <- colSums(as.matrix(wide$documents))[order(wide$numbering)]
  idle <- which(size < .5 & wide$state$owner == 0L)
  expect_length(idle, 2)
  wide$state$owner[wide$state$owner == 1L] <- 0L
  wide$state$owner[idle] <- 1L
  fit <- run(6, wide)
  expect_identical(sum(fit$state$owner == 1L), 1L)
  expect_gt(sum(fit$trace$births), 0)
})

test_that("with all documents of one label each and one topic a label the ELBO is the log evidence", {
  x <- matrix(c(2, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 2, 1), 3, byrow = TRUE, dimnames = list(NULL, paste0("w", 1:5)))
  dm <- function(t, a) lgamma(sum(a)) - lgamma(sum(a) + sum(t)) + sum(lgamma(a + t) - lgamma(a))
  evidence <- function(label) {
    topics <- rowsum(x, label)
    documents <- vapply(seq_len(3), function(d) dm(replace(c(0, 0), label[d], sum(x[d, ])), c(.6, .6)), 0)
    sum(apply(topics, 1L, dm, rep(.1, 5))) + sum(documents)
  }
  for (label in list(c(1L, 1L, 2L), c(1L, 2L, 2L))) {
    fit <- bnp_topics(x, obs_multinomial(.1), prior_lda(2, alpha = 1.2), bnp_control(seed = 1),
      labels = c("a", "b")[label], open = FALSE)
    expect_equal(elbo(fit), evidence(label), tolerance = 1e-10)
    expect_equal(max.col(predict(fit, type = "label_prob")), label)
  }
  # one document unknown: below the sum over the topics of its tokens
  fit <- bnp_topics(x, obs_multinomial(.1), prior_lda(2, alpha = 1.2), bnp_control(seed = 1),
    labels = c("a", NA, "b"), open = FALSE)
  words <- rep(1:5, x[2, ])
  all <- apply(expand.grid(1:2, 1:2, 1:2), 1L, function(z) {
    topics <- rbind(x[1, ], x[3, ])
    for (u in 1:3) topics[z[u], words[u]] <- topics[z[u], words[u]] + 1
    n <- rbind(c(3, 0), tabulate(z, 2), c(0, 3))
    sum(apply(topics, 1L, dm, rep(.1, 5))) + sum(apply(n, 1L, dm, c(.6, .6)))
  })
  truth <- log(sum(exp(all)))
  expect_lt(elbo(fit), truth)
  expect_gt(elbo(fit), truth - 1.5)
})

test_that("forms of labels are the same, and are matched by name", {
  data <- planted_labels(2)
  control <- bnp_control(seed = 1, max_laps = 15)
  fit <- function(labels, ...) suppressWarnings(bnp_topics(data$x, control = control, labels = labels, ...))
  one <- fit(data$labels)
  expect_equal(elbo(fit(factor(data$labels))), elbo(one), tolerance = 1e-12)
  expect_equal(elbo(fit(as.list(data$labels))), elbo(one), tolerance = 1e-12)
  expect_equal(elbo(fit(one_of(data$labels, c("politics", "sport", "tech")))), elbo(one), tolerance = 1e-12)
  named <- stats::setNames(data$labels, rownames(data$x))
  expect_equal(elbo(fit(rev(named))), elbo(one), tolerance = 1e-12)
  several <- as.list(data$labels)
  several[[1]] <- c("sport", "tech")
  two <- fit(several)
  counts <- as.matrix(two$documents)[1, ]
  expect_identical(unname(counts[two$state$owner[two$numbering] == 1L]), 0)
  expect_message(fit(factor(data$labels, c("sport", "tech", "politics", "art"))), "art")
})

test_that("new documents may have labels, too", {
  data <- planted_labels(3)
  fit <- bnp_topics(data$x, control = bnp_control(seed = 1, max_laps = 40), labels = data$labels)
  new <- planted_labels(4, n = 60)
  label <- predict(fit, new$x, type = "label")
  expect_identical(levels(label), fit$input$class_names)
  expect_gt(mean(label == new$truth, na.rm = TRUE), .9)
  prob <- predict(fit, new$x, type = "label_prob", labels = new$labels)
  free <- predict(fit, new$x, type = "label_prob")
  unknown <- is.na(new$labels)
  expect_equal(prob[unknown, ], free[unknown, ], tolerance = 1e-8)
  wrong <- outer(new$labels, colnames(prob)[1:3], `!=`)
  counts <- document_counts(fit, with_document_labels(
    new_documents(fit, new$x), new$labels, new$x, TRUE, NULL, fit$input$class_names
  ))
  owner <- fit$state$owner[fit$numbering]
  for (c in 1:3) expect_true(all(counts[which(wrong[, c]), owner == c] == 0))
  expect_bad(predict(fit, new$x, labels = rep("other", 60)), "labels")
  expect_bad(predict(fit, labels = data$labels), "labels")
})

test_that("starts, keywords beside labels, stochastic learning and documents of rows", {
  data <- planted_labels(5)
  control <- bnp_control(seed = 1, max_laps = 30)
  fit <- bnp_topics(data$x, control = control, labels = data$labels)
  again <- bnp_topics(data$x, control = control, labels = data$labels, start = fit)
  expect_gte(elbo(again), elbo(fit) - 1e-6)
  expect_identical(forbidden(again, one_of(data$labels, fit$input$class_names)), 0)
  expect_null(suppressWarnings(bnp_topics(data$x, control = control, start = fit))$state$owner)
  both <- bnp_topics(data$x, obs_multinomial(keywords = list(words = c("word1", "word2"))), control = control,
    labels = data$labels)
  expect_identical(colnames(predict(both, type = "label_prob"))[1:4], c("politics", "sport", "tech", "words"))
  expect_identical(forbidden(both, one_of(data$labels, fit$input$class_names)), 0)
  moving <- suppressWarnings(bnp_topics(data$x, prior = prior_lda(6), labels = data$labels,
    control = bnp_control("stochastic", seed = 1, max_laps = 5, batches = 3)))
  expect_identical(forbidden(moving, one_of(data$labels, fit$input$class_names)), 0)
  rows <- withr::with_seed(1, matrix(stats::rnorm(120), 60) + rep(c(0, 4, 8), each = 20))
  id <- rep(1:12, each = 5)
  of_rows <- bnp_topics(rows, obs_gaussian(), id = id, labels = rep(c("a", NA, "b"), each = 4),
    control = bnp_control(seed = 1))
  expect_identical(of_rows$input$class_names, c("a", "b"))
  expect_identical(forbidden(of_rows, one_of(rep(c("a", NA, "b"), each = 4), c("a", "b"))), 0)
})

test_that("labels that make no sense are refused", {
  data <- planted_labels(6, n = 20)
  fit <- function(labels, ...) bnp_topics(data$x, labels = labels, ...)
  expect_bad(fit("sport"), "labels")
  expect_bad(fit(rep(NA, 20)), "labels")
  expect_bad(fit(matrix(1, 20, 2)), "labels")
  expect_bad(fit(matrix(c(TRUE, NA), 20, 2, byrow = TRUE)), "labels")
  expect_bad(fit(matrix(FALSE, 20, 2), open = FALSE), "labels")
  expect_bad(fit(data$labels, prior = prior_lda(2)), "labels")
  expect_bad(fit(data$labels, start = max.col(data$theta)), "start")
  expect_bad(fit(data$labels, open = NA), "argument")
  expect_bad(fit(data$labels, control = bnp_control("truncation_free")), "labels")
  expect_bad(fit(sum), "labels")
  named <- suppressWarnings(fit(data$labels, control = bnp_control(seed = 1, max_laps = 2)))
  expect_bad(bnp_sample(named, data$x), "labels")
  expect_bad(cluster_tree(named, data$x), "labels")
  unlabelled <- suppressWarnings(bnp_topics(data$x, control = bnp_control(seed = 1, max_laps = 1)))
  expect_bad(predict(unlabelled, data$x, labels = data$labels), "labels")
  expect_bad(predict(unlabelled, type = "label"), "labels")
})
