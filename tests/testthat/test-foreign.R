# What users of other packages bring: taken as it was meant, or refused with what to do instead.

few <- bnp_control(seed = 1, max_laps = 5)
same_fit <- function(a, b) expect_identical(a[c("elbo", "labels", "state")], b[c("elbo", "labels", "state")])

test_that("a TermDocumentMatrix has its documents in columns", {
  counts <- as.matrix(whales$counts[1:20, 1:50])
  triplets <- function(x, class) {
    at <- which(x > 0, arr.ind = TRUE)
    structure(
      list(i = at[, 1], j = at[, 2], v = x[at], nrow = nrow(x), ncol = ncol(x), dimnames = dimnames(x)),
      class = c(class, "simple_triplet_matrix")
    )
  }
  documents <- bnp_topics(triplets(counts, "DocumentTermMatrix"), control = few)
  terms <- bnp_topics(triplets(t(counts), "TermDocumentMatrix"), control = few)
  same_fit(terms, documents)
  expect_identical(predict(terms, triplets(t(counts), "TermDocumentMatrix")), predict(documents, counts))
  same_fit(
    bnp_mixture(triplets(t(counts), "TermDocumentMatrix"), obs_multinomial(), control = few),
    bnp_mixture(counts, obs_multinomial(), control = few)
  )
})

test_that("distances and co-occurrences are refused", {
  expect_bad(bnp_mixture(dist(faithful[1:10, ]), control = few), "input", "distances")
  expect_bad(predict(bnp_mixture(faithful, control = few), dist(faithful[1:4, ])), "input", "distances")
  relation <- structure(list(), class = "fcm")
  expect_bad(bnp_topics(relation, control = few), "input", "no documents")
  expect_bad(bnp_topics(c("a b", "b c")), "not_numeric", "Count the words")
  expect_bad(bnp_topics(whales), "input", "x\\$counts")
})

test_that("columns with a unit or a meaning of their own say what to do", {
  bad <- function(column, ...) {
    x <- data.frame(a = c(1, 2, 4, 8))
    x$b <- column
    expect_bad(bnp_mixture(x, obs_gaussian(), control = few), "not_numeric", ...)
    expect_bad(bnp_mixture(column, obs_gaussian(), control = few), "not_numeric", ...)
  }
  metres <- structure(list(numerator = "m", denominator = character()), class = "symbolic_units")
  bad(structure(c(1, 2, 3, 4), units = metres, class = "units"), "drop_units")
  bad(as.difftime(1:4, units = "hours"), "as.numeric\\(x, units")
  bad(Sys.Date() + 1:4, "for days")
  bad(Sys.time() + 1:4, "for seconds")
  bad(structure(c(1, 2, 3, 4), class = "integer64"), "as.numeric")
  bad(letters[1:4], "obs_categorical")
  bad(factor(letters[1:4]), "obs_categorical")
})

test_that("matrix columns of data frames are columns", {
  x <- faithful
  x$waiting <- scale(x$waiting)
  plain <- faithful
  plain$waiting <- as.vector(x$waiting)
  fit <- bnp_mixture(x, control = few)
  same_fit(fit, bnp_mixture(plain, control = few))
  expect_identical(predict(fit, x[2:1], type = "prob"), predict(fit, plain, type = "prob"))
  x$poly <- poly(faithful$eruptions, 2)
  fit <- bnp_mixture(x, obs_gaussian(learn = FALSE, rounding = 0), control = few)
  expect_identical(colnames(coef(fit)$mean), c("eruptions", "waiting", "poly.1", "poly.2"))
  expect_identical(predict(fit, x[3:1]), fitted(fit))
})

test_that("a formula scales new data as it did the old", {
  fit <- bnp_mixture(~ scale(waiting) + eruptions, faithful, control = few)
  expect_equal(predict(fit, faithful[1:5, ], type = "prob"), predict(fit, faithful, type = "prob")[1:5, ])
})

test_that("repeated column names are numbered, and said", {
  lagged <- cbind(w = faithful$waiting[-1], w = faithful$waiting[-272])
  obs <- obs_gaussian(learn = FALSE, rounding = 0)
  expect_message(fit <- bnp_mixture(lagged, obs, control = few), class = "bnpvi_message_names")
  expect_identical(colnames(coef(fit)$mean), c("w", "w.1"))
  expect_silent(expect_identical(unname(predict(fit, lagged)), unname(fitted(fit))))
})

test_that("columns without names are taken by position, and that is said", {
  fit <- bnp_mixture(faithful, control = few)
  bare <- unname(as.matrix(faithful))
  expect_message(prob <- predict(fit, bare), class = "bnpvi_message_by_position")
  expect_identical(unname(prob), unname(fitted(fit)))
  expect_silent(predict(fit, as.matrix(faithful)[, 2:1]))
  expect_silent(predict(bnp_mixture(bare, control = few), bare))
  expect_silent(predict(bnp_mixture(faithful["waiting"], control = few), bare[, 2]))
})

test_that("tables of tidytext are documents", {
  counts <- as.data.frame(as.table(as.matrix(whales$counts[1:10, 1:30])), stringsAsFactors = FALSE)
  names(counts) <- c("document", "term", "n")
  counts <- counts[counts$n > 0, ]
  fit <- bnp_topics(counts, control = few)
  for (name in c("word", "feature")) {
    named <- stats::setNames(counts, c("document", name, "count"))
    same_fit(bnp_topics(named, control = few), fit)
    expect_identical(predict(fit, named), predict(fit, counts))
    expect_identical(augment(fit, named)$.topic, augment(fit, counts)$.topic)
  }
})

test_that("id may be a formula", {
  x <- cbind(rbind(beaver1["temp"], beaver2["temp"]), animal = rep(c("a", "b"), c(114, 100)))
  fit <- bnp_hmm(x, id = ~animal, control = few)
  same_fit(fit, bnp_hmm(x, id = "animal", control = few))
  expect_identical(predict(fit, x, id = ~animal), predict(fit, x))
  expect_identical(predict(fit, x), fitted(fit))
  topics <- bnp_topics(x, obs_gaussian(), id = ~animal, control = few)
  same_fit(topics, bnp_topics(x, obs_gaussian(), id = "animal", control = few))
  expect_identical(predict(topics, x, id = ~animal), predict(topics, x, id = "animal"))
  expect_bad(bnp_hmm(x, id = ~ animal + temp, control = few), "id", "one column")
  expect_bad(bnp_hmm(x, id = ~creature, control = few), "id", "creature")
})

test_that("clusterings of other packages are starts", {
  hard <- withr::with_seed(1, kmeans(faithful, 3))
  from <- function(start, ...) bnp_mixture(faithful, start = start, control = few, ...)
  expected <- from(hard$cluster)
  same_fit(from(hard), expected)
  same_fit(from(list(clustering = hard$cluster, medoids = 1:3)), expected)
  seeds <- bregman_kmeans(faithful, 3, seed = 1)
  same_fit(from(seeds), from(seeds$cluster))
  z <- diag(3)[hard$cluster, ]
  same_fit(from(structure(list(z = z, classification = hard$cluster, G = 3L), class = "Mclust")), from(z))
  tree <- hclust(dist(faithful))
  same_fit(from(cutree(tree, 4)), from(unname(cutree(tree, 4))))
  expect_bad(from(tree), "start", "cutree")
  expect_bad(from(as.dendrogram(tree)), "start", "cutree")
})

test_that("noise of dbscan is a cluster of its own, and said", {
  labels <- withr::with_seed(1, kmeans(faithful, 2))$cluster
  labels[c(5, 50, 150)] <- 0L
  found <- structure(list(cluster = labels, eps = 0.5, minPts = 5), class = c("dbscan_fast", "dbscan"))
  from <- function(start) bnp_mixture(faithful, start = start, control = bnp_control(seed = 1, verbose = FALSE))
  expect_message(fit <- from(found), "3 observations of `start` are noise", class = "bnpvi_message_noise")
  same_fit(fit, from(labels))
  expect_no_message(from(structure(list(cluster = labels + 1L), class = "dbscan")), class = "bnpvi_message_noise")
  expect_no_message(from(labels), class = "bnpvi_message_noise")
  found$cluster[] <- 0L
  expect_message(from(found), class = "bnpvi_message_noise")
  found$cluster <- labels
  suppressMessages(expect_bad(bnp_mixture(faithful, prior = prior_dirichlet(2), start = found), "start", "3 clusters"))
})

test_that("a finite prior has its own number of clusters, whatever the start has", {
  labels <- rep(1:3, length.out = 272)
  expect_identical(bnp_mixture(faithful, prior = prior_dirichlet(5), start = labels, control = few)$state$k, 5L)
  expect_bad(bnp_mixture(faithful, prior = prior_dirichlet(2), start = labels, control = few), "start", "3 clusters")
})

test_that("results have the class of the input", {
  fit <- bnp_mixture(faithful, control = few)
  skip_if_not_installed("tibble")
  expect_s3_class(augment(fit, tibble::as_tibble(faithful)), "tbl_df")
  skip_if_not_installed("data.table")
  table <- data.table::as.data.table(faithful)
  expect_s3_class(augment(fit, table), "data.table")
  expect_false(".class" %in% names(table))
  expect_identical(predict(fit, table[, 2:1]), unname(predict(fit, faithful[2:1])))
  same_fit(bnp_mixture(table, control = few), fit)
  chain <- bnp_hmm(table, control = few)
  expect_s3_class(augment(chain, table), "data.table")
})

test_that("times of series are kept in segments and pictures", {
  series <- ts(withr::with_seed(1, rnorm(120, rep(c(0, 5), each = 60))), start = c(2001, 1), frequency = 12)
  fit <- bnp_hmm(series, control = few)
  expect_equal(segments(fit)$start_time, c(2001, 2006))
  both <- bnp_hmm(list(a = window(series, end = c(2005, 12)), b = window(series, start = 2006)), control = few)
  expect_equal(segments(both)$start_time, c(2001, 2006))
  picture <- segment_picture(fit, series, NULL, 40L)
  expect_equal(picture$runs$right, c(2006, 2010 + 11 / 12))
  expect_equal(range(picture$series$at), range(time(series)))
  withr::local_pdf(NULL)
  expect_no_error(plot(fit))
  expect_no_error(plot(fit, data = series))
  skip_if_not_installed("zoo")
  days <- as.Date("2020-01-01") + 0:119
  for (x in list(
    zoo::zoo(as.numeric(series), days), zoo::zoo(cbind(y = as.numeric(series)), days),
    if (requireNamespace("xts", quietly = TRUE)) xts::xts(cbind(y = as.numeric(series)), days)
  )) {
    if (is.null(x)) next
    fit <- bnp_hmm(x, control = few)
    expect_equal(segments(fit)$start_time, days[c(1, 61)])
    expect_equal(segments(fit, x)$end_time, days[c(60, 120)])
    expect_no_error(plot(fit))
    expect_no_error(plot(fit, data = x))
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit, data = x), "ggplot")
  }
})
