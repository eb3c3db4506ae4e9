# A fit of few data keeps them: what reads the training data answers without them as it does with them.

keep <- function(...) bnp_control(seed = 1, keep_data = TRUE, ...)

# What a verb gives; pictures are compared by what they draw.
same_answers <- function(fit, data, ...) {
  answers <- list(...)
  for (name in names(answers)) {
    verb <- answers[[name]]
    expect_equal(verb(fit), verb(fit, data), ignore_attr = c("row.names", "call"), info = name)
  }
}
tree_of <- function(...) cluster_tree(...)$loss
cut_of <- function(...) cut_fit(..., k = 2)$elbo
together <- function(...) unname(coclustering(...))
prob_of <- function(...) unname(predict(..., type = "prob"))
of_kept <- function(picture) function(fit, data = kept_data(fit)) picture(fit, data)
classes_of <- function(...) as.list(augment(...))[c(".class", ".uncertainty")]

test_that("a mixture answers from the data that it keeps as from the data that it is given", {
  set.seed(1)
  given <- replace(faithful, cbind(c(3, 9), 1:2), NA)
  frame <- data.frame(a = factor(rep(c("x", "y"), 40)), b = rep(c(1, 5), 40) + rnorm(80))
  fit <- bnp_mixture(faithful, control = keep())
  same_answers(
    fit, faithful, class = classes_of, prob = prob_of, tree = tree_of, cut = cut_of, together = together,
    picture = of_kept(cluster_picture), uncertainty = of_kept(uncertainty_picture), density = of_kept(density_picture)
  )
  expect_equal(augment(fit), augment(fit, faithful), ignore_attr = TRUE)
  gaps <- bnp_mixture(given, na_action = "model", control = keep())
  same_answers(gaps, given, class = classes_of, prob = prob_of)
  expect_equal(impute(gaps, seed = 1)[[1]], impute(gaps, given, seed = 1)[[1]], ignore_attr = TRUE)
  omitted <- bnp_mixture(given, na_action = "omit", control = keep())
  same_answers(omitted, given, class = classes_of, prob = prob_of)
  mixed <- bnp_mixture(frame, control = keep())
  expect_identical(lapply(augment(mixed), as.vector)[names(frame)], lapply(frame, as.vector))
  lines <- bnp_mixture(dist ~ speed, cars, control = keep())
  same_answers(lines, cars, residuals = residuals, class = classes_of)
})

test_that("mixtures of individuals, with weights and labels, answer from the data that they keep", {
  fit <- bnp_mixture(uptake ~ log(conc) | Plant, CO2, control = keep())
  same_answers(fit, CO2, class = classes_of)
  known <- replace(iris$Species, -seq(1, 150, by = 5), NA)
  some <- bnp_mixture(iris[1:4], labels = known, weights = rep(1:2, 75), control = keep())
  same_answers(some, iris[1:4], class = classes_of, tree = tree_of)
})

test_that("mixtures that drift, and with weights by covariates, answer from the data that they keep", {
  when <- rep(1:4, 68)
  for (prior in list(prior_dp(), prior_hdp())) {
    fit <- bnp_mixture(faithful, obs_gaussian(drift = 0.1), prior, time = when, control = keep(max_laps = 20))
    expect_equal(classes_of(fit), classes_of(fit, faithful, time = when))
    expect_equal(augment(fit)$waiting, faithful$waiting)
    expect_equal(prob_of(fit), prob_of(fit, faithful, time = when))
  }
  by <- data.frame(long = faithful$waiting > 70)
  fit <- bnp_mixture(faithful["eruptions"], prior = prior_covariates(~ long), covariates = by, control = keep())
  expect_equal(classes_of(fit), classes_of(fit, faithful["eruptions"], covariates = by))
  expect_equal(prob_of(fit), prob_of(fit, faithful["eruptions"], covariates = by))
})

test_that("topics answer from the data that they keep as from the data that they are given", {
  counts <- whales$counts[1:30, ]
  fit <- bnp_topics(counts, control = keep(max_laps = 5))
  same_answers(fit, counts, coherence = coherence, tree = tree_of, cut = cut_of, map = ldavis_data)
  texts <- bnp_mixture(counts, obs_multinomial(), control = keep(max_laps = 5))
  same_answers(
    texts, counts, coherence = coherence, map = ldavis_data, documents = function(fit, data = NULL) {
      top_documents(fit, 2, data)[c("topic", "proportion")]
    }
  )
})

test_that("topics of rows answer from the data that they keep, rows in the order in which they were given", {
  id <- rep(c(2, 1, 3), 50)
  gaps <- replace(as.matrix(iris[1:4]), cbind(c(4, 9, 9, 9, 9), c(2, 1:4)), NA)
  fit <- suppressMessages(bnp_topics(gaps, obs_gaussian(), id = id, na_action = "model", control = keep(max_laps = 5)))
  expect_equal(as.data.frame(augment(fit)), as.data.frame(suppressMessages(augment(fit, gaps, id = id))))
})

test_that("hidden Markov models answer from the data that they keep as from the data that they are given", {
  fit <- bnp_hmm(as.numeric(Nile), control = keep())
  ahead <- function(...) as.list(forecast(..., h = 2))
  same_answers(fit, as.numeric(Nile), class = classes_of, prob = prob_of, ahead = ahead)
  expect_equal(segment_picture(fit, drawn_of_kept(fit, "segments"), NULL, 40L)$series$x[, 1], as.numeric(Nile))
  two <- rbind(cbind(beaver1["temp"], id = 1), cbind(beaver2["temp"], id = 2))
  states <- bnp_hmm(two, "id", control = keep())
  expect_equal(augment(states)$.class, augment(states, two)$.class)
  expect_equal(augment(states)$temp, two$temp)
  expect_equal(residuals(states), residuals(states, two), ignore_attr = TRUE)
  expect_equal(residuals(fit), residuals(fit, as.numeric(Nile)), ignore_attr = TRUE)
  expect_bad(residuals(strip_data(fit)), "newdata", "keeps no data")
})

test_that("data are kept by size, by argument and by option, in the columns of the model alone", {
  with_names <- faithful
  with_names$secret <- 1:272
  rownames(with_names) <- paste0("person", 1:272)
  fit <- bnp_mixture(with_names, obs_gaussian(columns = c("eruptions", "waiting")), control = keep())
  expect_false(grepl("secret", paste(deparse(unclass(fit)$data), collapse = "")))
  expect_null(rownames(unclass(fit)$data$x))
  expect_null(bnp_mixture(faithful)$data)
  expect_null(bnp_mixture(faithful, control = bnp_control(keep_data = FALSE))$data)
  withr::local_options(bnpvi.keep_data = NULL)
  small <- bnp_mixture(faithful, seed = 1)
  expect_false(is.null(small$data))
  large <- bnp_mixture(matrix(rnorm(2e5), ncol = 2), control = bnp_control(seed = 1, max_laps = 1, moves = FALSE))
  expect_null(large$data)
  withr::local_options(bnpvi.keep_data = TRUE)
  expect_false(is.null(bnp_mixture(faithful, seed = 1)$data))
})

test_that("strip_data() takes them out, and says so", {
  fit <- bnp_mixture(faithful, control = keep())
  bare <- strip_data(fit)
  expect_identical(strip_data(bare), bare)
  expect_identical(bare$state, fit$state)
  expect_false(is.null(attr(bare, "seal")))
  expect_match(capture.output(print(fit)), "Data kept [(]. kB[)]; strip_data", all = FALSE)
  expect_no_match(paste(capture.output(print(bare)), collapse = " "), "kept")
  expect_bad(augment(bare), "newdata", "keeps no data")
  expect_bad(cluster_tree(bare), "newdata", "keeps no data")
  expect_bad(strip_data(3), "argument", "fit")
})

test_that("latent features answer from the data that they keep, rows that were left out among them", {
  gaps <- as.data.frame(as.matrix(replace(attitude, cbind(c(3, 9), 1:2), NA)))
  rows <- function(...) unname(as.matrix(augment(...)))
  for (action in c("model", "omit")) {
    fit <- suppressMessages(bnp_features(gaps, na_action = action, control = keep()))
    seen <- if (action == "omit") replace(gaps, cbind(rep(c(3, 9), each = 7), 1:7), NA) else gaps
    expect_equal(augment(fit)[names(gaps)], tibble::as_tibble(seen), ignore_attr = TRUE)
    same_rows <- if (action == "omit") -c(3, 9) else TRUE
    expect_equal(rows(fit)[same_rows, ], rows(fit, gaps)[same_rows, ])
    expect_equal(residuals(fit)[same_rows, ], residuals(fit, gaps)[same_rows, ], ignore_attr = TRUE)
    filled <- predict(fit, type = "impute")
    expect_equal(filled[same_rows, ], predict(fit, gaps, type = "impute")[same_rows, ], ignore_attr = TRUE)
    drawn <- impute(fit, gaps, seed = 1)[[1]]
    expect_equal(impute(fit, seed = 1)[[1]][same_rows, ], drawn[same_rows, ], ignore_attr = TRUE)
    expect_identical(nrow(residuals(fit)), 30L)
    expect_output(print(fit), "Data kept")
  }
  expect_bad(residuals(strip_data(fit)), "newdata", "keeps no data")
  expect_null(update(fit, newdata = attitude[1:5, ])$data)
})

test_that("what has no data to keep refuses to keep them", {
  source <- source_function(function(i) faithful, 1)
  expect_bad(bnp_mixture(source, control = keep()), "argument", "source")
  expect_bad(bnp_features(source, control = keep()), "argument", "source")
  expect_bad(bnp_network(matrix(1, 3, 3), control = keep()), "argument", "keep_data")
  expect_bad(bnp_control("truncation_free", keep_data = TRUE), "argument", "keep_data")
  fit <- bnp_mixture(faithful[1:200, ], control = keep())
  expect_null(update(fit, newdata = faithful[201:272, ])$data)
})

test_that("coarsen() is the tree and its cut", {
  fit <- bnp_mixture(quakes[1:3], control = keep())
  expect_bad(coarsen(fit), "argument", "`k`")
  expect_identical(n_clusters(coarsen(fit, 2)), 2L)
  expect_equal(elbo(coarsen(fit, 2)), elbo(cut_fit(fit, quakes[1:3], k = 2)))
  expect_output(print(coarsen(fit, 2)), "converged, as")
  limited <- capture.output(print(coarsen(fit, 2, laps = 1)), print(coarsen(fit, 2, laps = 0)))
  expect_match(paste(limited, collapse = " "), "after 1 lap, the most that laps allows.*joined and not polished")
  expect_false(any(grepl("not converged", limited)))
  expect_bad(coarsen(strip_data(fit), 2), "newdata", "keeps no data")
  expect_bad(coarsen(fit, 1e3), "argument", "k")
})

test_that("a table may come second in plot()", {
  withr::local_pdf(NULL)
  fit <- bnp_mixture(faithful, seed = 1)
  expect_identical(plot(fit, faithful), fit)
  states <- bnp_hmm(as.numeric(Nile), seed = 1)
  expect_identical(plot(states, as.numeric(Nile)), states)
})

test_that("augment() of topics needs no counts where they are kept", {
  counts <- whales$counts[1:20, 1:300]
  counts <- counts[, Matrix::colSums(counts) > 0]
  fit <- bnp_topics(counts, prior = prior_lda(3), control = bnp_control(seed = 1, keep_data = TRUE, max_laps = 5))
  found <- Matrix::summary(methods::as(counts, "CsparseMatrix"))
  given <- data.frame(document = rownames(counts)[found$i], term = colnames(counts)[found$j], n = found$x)
  by_name <- function(table) {
    table <- as.data.frame(table)
    table[order(table$document, table$term), ] |> `rownames<-`(NULL)
  }
  expect_equal(by_name(augment(fit)), by_name(augment(fit, given)))
  expect_bad(augment(strip_data(fit)), "newdata", "keeps no data")
})
