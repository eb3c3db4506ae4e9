# update(fit, newdata, labels = ): labels of the rows, sequences and documents that a fit takes in.

test_that("documents that are taken in use topics of their labels and open ones only", {
  data <- planted_labels(1)
  new <- planted_labels(2, n = 80, known = .5)
  rownames(new$x) <- paste0("n", 1:80)
  fit <- bnp_topics(data$x, control = bnp_control(seed = 1, max_laps = 40), labels = data$labels)
  sets <- rbind(one_of(data$labels, fit$input$class_names), one_of(new$labels, fit$input$class_names))
  several <- as.list(new$labels)
  both <- which(!is.na(new$labels))[1:2]
  several[both] <- list(c("sport", "tech"), c("tech", "sport"))
  sets[150 + both, ] <- rep(c(FALSE, TRUE, TRUE), each = 2)
  for (old in list(NULL, data$x)) {
    up <- update(fit, new$x, labels = several, olddata = old)
    expect_identical(forbidden(up, sets), 0)
    expect_identical(up$input$class_names, fit$input$class_names)
    expect_equal(sum(elbo(up, terms = TRUE)), elbo(up), tolerance = 1e-10)
    label <- predict(up, type = "label")[151:230]
    unknown <- is.na(new$labels)
    expect_gt(mean(label[unknown] == new$truth[unknown], na.rm = TRUE), .9)
  }
  # The bound is that of words and labels: below the one of words alone, as is that of a fit to all of them.
  free <- update(fit, new$x)
  expect_gt(forbidden(free, sets), 0)
  expect_gt(elbo(free), elbo(update(fit, new$x, labels = new$labels)))
  # The documents of a second update are joined with sets that only the first one had.
  twice <- update(update(fit, new$x[1:40, ], labels = several[1:40]), new$x[41:80, ], labels = several[41:80])
  expect_identical(forbidden(twice, sets), 0)
  expect_identical(nrow(twice$input$class_sets), 4L)
  expect_bad(update(fit, new$x, labels = rep("other", 80)), "labels", "does not know")
  plain <- suppressWarnings(bnp_topics(data$x, control = bnp_control(seed = 1, max_laps = 2)))
  expect_bad(update(plain, new$x, labels = new$labels), "labels", "this one has none")
})

test_that("an open topic is left where labels explain all documents, and takes in what they do not explain", {
  phi <- withr::with_seed(1, matrix(stats::rgamma(90, .1), 3))
  phi <- phi / rowSums(phi)
  texts <- function(seed, common) {
    withr::with_seed(seed, t(vapply(1:60, function(d) {
      share <- c(d %% 2 == 0, d %% 2 == 1, common) * stats::rgamma(3, 2)
      drop(stats::rmultinom(1, 80, drop(share %*% phi)))
    }, double(30))))
  }
  x <- `dimnames<-`(texts(2, FALSE), list(paste0("d", 1:60), paste0("w", 1:30)))
  new <- `dimnames<-`(texts(3, TRUE), list(paste0("n", 1:60), paste0("w", 1:30)))
  labels <- rep(c("odd", "even"), 30)
  for (prior in list(prior_hdp(), prior_lda(4))) {
    fit <- bnp_topics(x, prior = prior, labels = labels, control = bnp_control(seed = 1, verbose = FALSE))
    expect_true(any(fit$state$owner == 0))
    up <- update(fit, new, labels = labels)
    open <- up$state$owner[up$numbering] == 0
    expect_equal(sum(as.matrix(up$documents)[61:120, open]), 60 * 80 / 2, tolerance = .2)
  }
  closed <- bnp_topics(x, labels = labels, open = FALSE, control = bnp_control(seed = 1, verbose = FALSE))
  expect_setequal(closed$state$owner, 1:2)
})

test_that("keywords stay with their topics in updates, and beside labels", {
  data <- planted_labels(3)
  new <- planted_labels(4, n = 60)
  rownames(new$x) <- paste0("n", 1:60)
  obs <- obs_multinomial(keywords = list(words = c("word1", "word2")))
  fit <- bnp_topics(data$x, obs, labels = data$labels, control = bnp_control(seed = 1, max_laps = 30))
  up <- update(fit, new$x, labels = new$labels)
  sets <- one_of(c(data$labels, new$labels), fit$input$class_names)
  expect_identical(forbidden(up, sets), 0)
  expect_identical(sum(names_of_clusters(up) == "words", na.rm = TRUE), 1L)
  again <- update(fit, new$x, labels = new$labels, olddata = data$x)
  expect_gte(elbo(again), elbo(up) - 1e-6)
})

test_that("rows of mixtures and of sequences that are taken in stay in their classes", {
  known <- as.character(replace(iris$Species, -seq(1, 150, by = 5), NA))
  half <- seq(1, 150, by = 2)
  fit <- bnp_mixture(iris[half, 1:4], labels = known[half], control = bnp_control(seed = 1))
  rest <- as.character(iris$Species)[-half]
  rest[1:10] <- "virginica" # of rows that are setosa
  up <- update(fit, iris[-half, 1:4], labels = rest)
  expect_identical(as.character(predict(up, type = "label"))[-(1:75)], rest)
  full <- update(fit, iris[-half, 1:4], labels = rest, olddata = iris[half, 1:4])
  given <- which(!is.na(c(known[half], rest)))
  expect_identical(as.character(predict(full, type = "label"))[given], c(known[half], rest)[given])
  expect_bad(update(fit, iris[-half, 1:4], labels = rep("tulip", 75)), "labels", "tulip")

  x <- withr::with_seed(1, matrix(rnorm(240) + rep(c(0, 5), each = 30)))
  state <- rep(rep(c("low", "high"), each = 30), 4)
  seen <- replace(state, -seq(5, 240, by = 10), NA)
  chain <- bnp_hmm(list(a = x[1:120, , drop = FALSE]), labels = seen[1:120], control = bnp_control(seed = 1))
  wrong <- replace(state[121:240], 1:3, "high")
  longer <- update(chain, list(b = x[121:240, , drop = FALSE]), labels = wrong)
  expect_identical(as.character(predict(longer, type = "label"))[121:240], wrong)
})
