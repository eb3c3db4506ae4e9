# update(fit, newdata): what users get.

quiet <- bnp_control(seed = 1, verbose = FALSE)
eight <- function(n, seed) {
  withr::with_seed(seed, {
    z <- sample(8, n, TRUE)
    cbind(x = 12 * cos(z * pi / 4), y = 12 * sin(z * pi / 4)) + rnorm(2 * n)
  })
}

test_that("batches of the same law change no identity, and none is used again", {
  fit <- bnp_mixture(eight(1000, 1), control = quiet)
  expect_equal(n_clusters(fit), 8)
  means <- coef(fit)$mean
  for (i in 1:20) {
    before <- fit
    fit <- update(fit, eight(1000, 100 + i))
    expect_setequal(cluster_ids(fit), 1:8)
    expect_gte(min(diff(fit$trace$elbo)), -1e-9 * abs(elbo(fit)))
  }
  # the same identity is the same place
  expect_lt(max(abs(coef(fit)$mean[order(cluster_ids(fit)), ] - means)), 0.5)
  history <- cluster_history(fit)
  expect_identical(history$id, 1:8)
  expect_true(all(history$born_at == 1000 & history$last_seen == 21000 & history$fate == "alive"))
  expect_equal(nobs(fit), 21000)
  expect_identical(unname(table(fitted(fit))) |> as.integer(), as.integer(round(cluster_sizes(fit))))
  expect_output(print(fit), "Last update: no cluster born, merged or removed")
})

test_that("clusters that come later get new identities, of whatever number", {
  few <- eight(600, 1)
  near <- few[few[, 1] > 0, ]
  fit <- bnp_mixture(near, control = quiet)
  known <- n_clusters(fit)
  fit <- update(fit, few[few[, 1] <= 0, ])
  expect_equal(n_clusters(fit), 8)
  expect_setequal(cluster_ids(fit), 1:8)
  history <- cluster_history(fit)
  expect_equal(history$born_at, rep(c(nrow(near), nrow(few)), c(known, 8 - known)))
  expect_equal(history$size, unname(cluster_sizes(fit))[order(cluster_ids(fit))])
  # earlier rows have the identities they had
  expect_identical(
    unname(cluster_ids(fit)[fitted(fit)[seq_len(nrow(near))]]), unname(fitted(bnp_mixture(near, control = quiet)))
  )
  # a cluster without new rows was last seen before
  more <- update(fit, few[few[, 1] > 0, ])
  seen <- cluster_history(more)$last_seen
  expect_setequal(seen, c(nobs(fit), nobs(more)))
  expect_identical(predict(more, few, type = "id"), with_ids(more, predict(more, few)))
})

test_that("the identity of a cluster that is gone is not given to another", {
  few <- eight(600, 1)
  fit <- bnp_mixture(few[few[, 1] > 0, ], control = quiet)
  k <- fit$state$k
  fit$ids <- seq_len(k)
  fit$history <- rbind(cluster_history(fit), data.frame(
    id = 40L, born_at = 1, last_seen = 1, size = 3, fate = "merged", into = 1L
  ))
  up <- update(fit, few[few[, 1] <= 0, ])
  expect_setequal(cluster_ids(up), c(seq_len(k), 40 + seq_len(up$state$k - k)))
  expect_identical(cluster_history(up)$into[cluster_history(up)$id == 40], 1L)
})

test_that("an update is a fit like any other, of all rows", {
  x <- data.frame(iris[1:4], kind = iris$Species, row.names = paste0("r", 1:150))
  first <- seq(1, 150, by = 2)
  fit <- bnp_mixture(x[first, ], control = bnp_control(seed = 1, keep = "probabilities"))
  up <- update(fit, x[-first, 5:1])
  all <- x[c(first, seq(2, 150, by = 2)), ]
  expect_equal(nobs(up), 150)
  expect_named(fitted(up), row.names(all))
  whole <- bnp_mixture(all, obs = fit$model$obs, control = bnp_control(seed = 1))
  expect_identical(up$input$fingerprint, whole$input$fingerprint)
  expect_lte(elbo(up), elbo(whole) + 1e-6)
  expect_s3_class(compare_fits(up, whole), "bnp_comparison")
  expect_equal(dim(up$probabilities), c(150, up$state$k))
  expect_equal(unname(rowSums(up$probabilities)), rep(1, 150))
  expect_equal(unname(max.col(up$probabilities)), unname(fitted(up)))
  expect_s3_class(cluster_tree(up, all), "hclust")
  expect_equal(nrow(augment(up, all)), 150)
  expect_output(print(summary(up)), "Last update")
  expect_identical(sum_of_fingerprints("ffffffffffffffff", "0000000000000002"), "0000000000000001")
  path <- withr::local_tempfile()
  saveRDS(fit, path)
  drop_times <- function(fit) replace(fit, "trace", list(fit$trace[names(fit$trace) != "seconds"]))
  expect_identical(drop_times(update(readRDS(path), x[-first, ])), drop_times(update(fit, x[-first, ])))
  threads <- function(n) drop_times(update(fit, x[-first, ], control = bnp_control(seed = 2, batches = 3, threads = n)))
  expect_identical(threads(1)[c("state", "labels", "elbo")], threads(2)[c("state", "labels", "elbo")])
})

test_that("with the earlier data an update is the fit of both from there", {
  fit <- bnp_mixture(faithful[1:100, ], obs_gaussian(learn = FALSE), control = quiet)
  both <- update(fit, faithful[101:272, ], olddata = faithful[1:100, ])
  alone <- update(fit, faithful[101:272, ])
  again <- bnp_mixture(faithful, obs = fit$model$obs, start = fit, control = quiet)
  expect_equal(elbo(both), elbo(again), tolerance = 1e-8)
  expect_gte(elbo(both), elbo(alone))
  expect_equal(nobs(both), 272)
  expect_setequal(cluster_ids(both), seq_len(both$state$k))
  expect_bad(update(fit, faithful[101:272, ], olddata = faithful[2:101, ]), "other_data", "data")
  expect_bad(update(fit, olddata = faithful), "update", "newdata")
})

test_that("identities follow most of their rows when all rows are visited", {
  before <- bnp_mixture(faithful, prior = prior_dirichlet(3), control = quiet)
  before$labels <- c(1L, 1L, 1L, 2L, 2L, 3L, 3L, 3L)
  after <- function(...) {
    labels <- c(...)
    with_ids_of_rows(structure(list(state = list(k = max(labels)), labels = labels), class = "bnp_mixture"), before)
  }
  same <- after(3L, 3L, 3L, 2L, 2L, 1L, 1L, 1L, 2L)
  expect_identical(same$ids, 3:1)
  expect_equal(nrow(same$merged), 0)
  split <- after(1L, 1L, 4L, 2L, 2L, 3L, 3L, 3L)
  expect_identical(split$ids, 1:4)
  joined <- after(1L, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 3L)
  expect_identical(joined$ids, c(1L, 3L, 4L))
  expect_equal(joined$merged, data.frame(id = 2L, into = 1L))
})

test_that("sequences and documents are taken in", {
  a <- faithful[1:150, ]
  b <- faithful[151:272, ]
  chain <- bnp_hmm(list(one = a), prior = prior_hdp_hmm(sticky = 5), control = quiet)
  up <- update(chain, list(two = b))
  whole <- bnp_hmm(list(one = a, two = b), obs = chain$model$obs, prior = prior_hdp_hmm(sticky = 5), control = quiet)
  expect_identical(up$input$fingerprint, whole$input$fingerprint)
  expect_identical(up$input$starts, whole$input$starts)
  expect_lte(elbo(up), elbo(whole) + 1e-6)
  expect_identical(unique(segments(up)$id), c("one", "two"))
  expect_length(fitted(up), 272)
  expect_equal(elbo(update(chain, list(two = b), olddata = list(one = a))), elbo(whole), tolerance = 1e-6)
  id <- rep(c("p", "q"), c(80, 70))
  named <- bnp_hmm(a, id = id, control = quiet)
  expect_equal(nobs(update(named, b, id = rep("r", 122))), 272)
  expect_equal(nobs(update(named, b, id = rep("r", 122), olddata = a)), 272)

  old <- whales$counts[1:60, ]
  new <- whales$counts[61:90, ]
  few <- bnp_control(seed = 1, max_laps = 12, verbose = FALSE)
  topics <- bnp_topics(old, control = few)
  up <- update(topics, new)
  expect_equal(dim(fitted(up)), c(90, up$state$k))
  expect_identical(rownames(fitted(up)), rownames(whales$counts)[1:90])
  expect_equal(sum(cluster_sizes(up)), sum(whales$counts[1:90, ]))
  expect_equal(as.numeric(Matrix::colSums(up$documents)), unname(cluster_sizes(up)), tolerance = 1e-8)
  # A topic with earlier documents that was divided anew with a new one, for next to nothing, is still that topic.
  if (long_tests()) {
    first <- bnp_topics(whales$counts[1:40, ], control = bnp_control(seed = 2, max_laps = 25, verbose = FALSE))
    more <- update(first, whales$counts[41:65, ])
    expect_equal(as.numeric(Matrix::colSums(more$documents)), unname(cluster_sizes(more)), tolerance = 1e-8)
  }
  kept <- match(cluster_ids(topics), cluster_ids(up))
  expect_equal(as.matrix(up$documents[1:60, kept]), as.matrix(topics$documents), ignore_attr = TRUE)
  once <- bnp_control(seed = 1, max_laps = 1, verbose = FALSE)
  expect_identical(up$input$fingerprint, bnp_topics(whales$counts[1:90, ], control = once)$input$fingerprint)
  expect_gt(n_clusters(up), n_clusters(topics))
  more <- cbind(new, zebra = 1)
  expect_bad(update(topics, more), "new_terms", "zebra")
  expect_no_warning(dropped <- update(topics, more, new_terms = "drop"))
  expect_equal(elbo(dropped), elbo(up))
  both <- update(topics, new, olddata = old)
  expect_equal(dim(both$documents), dim(fitted(both)))
  expect_gte(elbo(both), elbo(up) - 1)
})

test_that("weights, individuals, labels and missing values go with the rows", {
  x <- iris[1:4]
  first <- rep(c(TRUE, FALSE), 75)
  w <- rep(1:3, 50)
  weighted <- update(bnp_mixture(x[first, ], weights = w[first], control = quiet), x[!first, ], weights = w[!first])
  expect_equal(sum(cluster_sizes(weighted)), sum(w))
  expect_equal(nobs(weighted), sum(w))
  once <- update(bnp_mixture(x[first, ], weights = w[first], control = quiet), x[!first, ])
  expect_equal(nobs(once), sum(w[first]) + 75)
  written <- x[!first, ][rep(1:75, w[!first]), ]
  plain <- bnp_mixture(x[first, ], control = quiet)
  expect_equal(elbo(update(plain, x[!first, ], weights = w[!first])), elbo(update(plain, written)), tolerance = 1e-8)
  expect_equal(nobs(update(plain, x[!first, ], weights = w[!first])), 75 + sum(w[!first]))

  plants <- CO2[CO2$Plant %in% levels(CO2$Plant)[1:6], ]
  others <- CO2[!CO2$Plant %in% levels(CO2$Plant)[1:6], ]
  repeated <- bnp_mixture(uptake ~ log(conc) | Plant, droplevels(plants), control = quiet)
  up <- update(repeated, droplevels(others))
  expect_equal(sum(cluster_sizes(up)), 12)
  expect_length(fitted(up), nrow(CO2))
  expect_true(all(tapply(fitted(up), rbind(plants, others)$Plant, function(v) length(unique(v))) == 1))
  expect_bad(update(repeated, droplevels(plants)), "id", "new ones")

  labels <- replace(iris$Species, -seq(1, 150, by = 5), NA)
  known <- bnp_mixture(x[first, ], labels = labels[first], control = quiet)
  up <- update(known, x[!first, ])
  expect_setequal(levels(predict(up, type = "label")), levels(iris$Species))
  expect_equal(sum(up$input$classes > 0), sum(!is.na(labels[first])))

  holes <- x
  holes[cbind(1:40, rep(1:4, 10))] <- NA
  up <- update(plain, holes[!first, ], na_action = "model")
  expect_equal(nobs(up), 150)
  expect_equal(nobs(update(up, holes[first, ])), 225)
  gaps <- bnp_mixture(x[first, ], obs_gaussian("diagonal"), control = quiet)
  up <- update(gaps, holes[!first, ], na_action = "model")
  expect_equal(up$input$n_missing, sum(is.na(holes[!first, ])))
  expect_message(up <- update(gaps, holes[!first, ], na_action = "omit"), "left out")
  expect_length(fitted(up), 150)
  expect_equal(sum(is.na(fitted(up))), sum(!stats::complete.cases(holes[!first, ])))
  series <- bnp_mixture(list(a = lynx[1:60], b = lynx[61:90]) |> lapply(matrix), obs_ar(), control = quiet)
  expect_length(fitted(update(series, list(c = matrix(lynx[91:114])))), 114)
})

test_that("what cannot be taken in is refused with the reason", {
  fit <- bnp_mixture(faithful, obs_gaussian(learn = FALSE), control = quiet)
  expect_bad(update(fit, faithful["waiting"]), "newdata_columns", "lacks 1 column")
  expect_bad(update(fit, faithful[0, ]), "no_rows", "newdata")
  expect_bad(update(fit, newdata = NULL), "newdata", "needed")
  expect_bad(update(fit, newdata = faithful, k = 3), "argument", "Unused")
  expect_bad(update(fit, "no"), "newdata_columns")
  expect_bad(update(fit, faithful, new_terms = "keep"), "argument", "new_terms")
  expect_bad(update(fit, faithful, control = bnp_control("stochastic")), "argument", "stochastic")
  expect_bad(update(fit, faithful, weights = 1:3), "weights", "newdata")
  stochastic <- bnp_mixture(faithful, control = bnp_control("stochastic", seed = 1, k_init = 3))
  expect_bad(update(stochastic, faithful), "update", "stochastic")
  older <- fit
  older$state$log_base <- NULL
  expect_bad(update(older, faithful), "format", "Fit again")
  up <- update(fit, faithful[1:5, ])
  expect_bad(update(up, prior = prior_dp(2)), "update", "updated with data")
  # one row, and nothing but the same row
  one <- update(fit, faithful[1, ])
  expect_equal(nobs(one), 273)
  expect_equal(elbo_trace(one)$k[nrow(one$trace)], 2)
  same <- update(fit, faithful[rep(1, 200), ])
  expect_true(is.finite(elbo(same)))
  # the same data once more count twice
  expect_equal(unname(cluster_sizes(update(fit, faithful))), 2 * unname(cluster_sizes(fit)), tolerance = 0.02)
  # a batch far away
  far <- update(fit, faithful[1:50, ] + 1e4)
  expect_setequal(cluster_ids(far), 1:3)
  expect_true(is.finite(elbo(far)))
})

test_that("names that the fit has seen are those of new sequences and documents, which is said", {
  x <- withr::with_seed(1, matrix(rnorm(40)))
  id <- rep(letters[1:4], each = 10)
  few <- bnp_control(seed = 1, max_laps = 3, verbose = FALSE)
  fits <- suppressWarnings(list(
    sequence = bnp_hmm(x, id = id, control = few), document = bnp_topics(x, obs_gaussian(), id = id, control = few)
  ))
  for (word in names(fits)) {
    again <- function(id) suppressWarnings(update(fits[[word]], newdata = x, id = id))
    expect_message(
      fit <- again(rep(c("c", "z"), each = 20)), paste0("new ", word, "s, named c.1"),
      class = "bnpvi_message_same_names"
    )
    expect_identical(fit$input$group_names, c(letters[1:4], "c.1", "z"))
    expect_no_message(again(toupper(id)), class = "bnpvi_message_same_names")
  }
})
