# bnp_stream(), sources, and truncation-free fits as users see them.

how <- function(...) bnp_control("truncation_free", seed = 1, verbose = FALSE, ...)
three <- function(n, centres = rbind(c(0, 0), c(6, 0), c(0, 6)), seed = 1) {
  withr::with_seed(seed, {
    z <- sample(nrow(centres), n, replace = TRUE)
    data.frame(x = rnorm(n, centres[z, 1]), y = rnorm(n, centres[z, 2]))
  })
}
in_parts <- function(x, size = 100L) {
  part <- split(x, ceiling(seq_len(nrow(x)) / size))
  function(i) if (i <= length(part)) part[[i]]
}
x <- three(1000)
fit <- bnp_mixture(bnp_stream(in_parts(x)), control = how())

test_that("options may be given beside `control` as in other fits", {
  expect_identical(cluster_sizes(bnp_mixture(bnp_stream(in_parts(x)), seed = 1)), cluster_sizes(fit))
  expect_bad(bnp_mixture(bnp_stream(in_parts(x)), restarts = 2), "argument", "restarts")
  expect_bad(bnp_mixture(bnp_stream(in_parts(x)), halflife = 2), "argument", "halflife")
})

test_that("options of the fit are not those of the stream", {
  expect_bad(bnp_stream(in_parts(x), seed = 1), "argument", "seed")
  expect_bad(bnp_stream(in_parts(x), Inf, 3), "argument", "unnamed")
})

test_that("a fit of a stream takes the pieces of a source one after the other", {
  more <- three(300, seed = 2)
  path <- c(csv_of(more[1:200, ]), csv_of(more[201:300, ]))
  updated <- update(update(fit, more[1:200, ]), more[201:300, ])
  from_files <- update(fit, source_files(path))
  expect_identical(nobs(from_files), 1300L)
  expect_identical(cluster_sizes(from_files), cluster_sizes(updated))
  expect_bad(update(fit, source_files(path), olddata = x), "update", "olddata")
})

test_that("the print-out of a stream's fit does not advise more starts, which streams refuse", {
  withr::local_options(bnpvi.restarts = "auto")
  expect_no_match(capture.output(print(bnp_mixture(bnp_stream(in_parts(x)), control = how()))), "restarts")
})

test_that("a stream gives a fit with scores, identities and no bound or labels", {
  expect_identical(n_clusters(fit), 3L)
  expect_identical(nobs(fit), 1000L)
  trace <- elbo_trace(fit)
  expect_identical(trace$rows, rep(100, 10))
  expect_identical(trace$seen, seq(100, 1000, by = 100))
  expect_true(all(diff(trace$seconds) > 0))
  expect_gt(mean(trace$score[6:10]), trace$score[1])
  expect_equal(mean(trace$score[6:10]), heldout_loglik(fit, three(5000, seed = 2)), tolerance = 0.05)
  expect_equal(sum(cluster_sizes(fit)), 1000)
  expect_bad(elbo(fit), "stream", "random state")
  expect_bad(logLik(fit), "stream")
  expect_bad(fitted(fit), "stream", "predict")
  expect_bad(plot(fit, "elbo"), "stream")
  expect_output(print(fit), "1,000 rows seen in 10 batches")
  expect_output(print(summary(fit)), "truncation free, 5 sweeps")
  expect_identical(glance(fit)$elbo, NA_real_)
})

test_that("stopping, storing and going on gives the same bits as never stopping", {
  part <- in_parts(x)
  half <- bnp_mixture(bnp_stream(part, n = 500), control = how())
  expect_identical(half$stream$seen, 500)
  file <- withr::local_tempfile()
  saveRDS(half, file)
  stored <- readRDS(file)
  for (i in 6:10) stored <- update(stored, part(i))
  expect_identical(stored$stream, fit$stream)
  expect_identical(cluster_ids(stored), cluster_ids(fit))
  rest <- bnp_mixture(bnp_stream(function(i) part(i + 5L)), start = half, control = how())
  expect_identical(rest$stream, fit$stream)
  expect_identical(bnp_mixture(bnp_stream(part), control = how(threads = 3))$stream, fit$stream)
})

test_that("identities last, and what came and went is in the history", {
  moving <- function(i) {
    if (i > 40) return(NULL)
    three(100, rbind(c(i / 8, 0), if (i <= 20) c(0, 20) else c(0, -20)), seed = i)
  }
  fading <- bnp_mixture(bnp_stream(moving), control = how(half_life = 300))
  expect_gt(sum(cluster_sizes(fading)[1:2]), 0.95 * sum(cluster_sizes(fading)))
  history <- cluster_history(fading)
  expect_setequal(history$id[history$fate == "alive"], cluster_ids(fading))
  mover <- coef(fading)$mean[1:2, ]
  at <- which.min(abs(mover[, "y"]))
  expect_equal(mover[at, "x"][[1]], 5, tolerance = 0.15)
  expect_identical(history$born_at[match(cluster_ids(fading)[at], history$id)], 100)
  expect_gt(history$born_at[match(cluster_ids(fading)[3L - at], history$id)], 2000)
  longer <- fading
  for (i in 1:20) longer <- update(longer, three(200, rbind(c(5, 0), c(0, -20)), seed = 100 + i))
  expect_identical(cluster_ids(longer)[1:2] %in% cluster_ids(fading)[1:2], c(TRUE, TRUE))
  expect_identical(unname(predict(longer, data.frame(x = 5, y = 0), type = "id")), cluster_ids(fading)[at])
  everything <- bnp_mixture(bnp_stream(moving), control = how())
  expect_gt(n_clusters(everything), 2L)
})

test_that("the history of a stream tells what was merged and removed, also within one call", {
  # Two groups that become one: the second moves to the first.
  meeting <- function(i) {
    if (i > 40) return(NULL)
    three(200, rbind(c(0, 0), c(max(8 - i / 3, 0), 0)), seed = i)
  }
  own <- bnp_mixture(bnp_stream(meeting), control = how(half_life = 400))
  history <- cluster_history(own)
  expect_false(is.unsorted(history$id, strictly = TRUE))
  expect_setequal(history$id[history$fate == "alive"], cluster_ids(own))
  merged <- history[history$fate == "merged", ]
  expect_gt(nrow(merged), 0L)
  expect_true(all(merged$into %in% history$id))
  expect_true(all(is.na(history$into[history$fate != "merged"])))
  expect_true(all(history$born_at <= history$last_seen & history$last_seen <= 8000))
  # The same by single updates, from a fit that has both groups
  early <- bnp_mixture(bnp_stream(meeting, n = 2000), control = how(half_life = 400))
  both <- cluster_ids(early)[1:2]
  for (i in 11:40) early <- update(early, meeting(i))
  by_updates <- cluster_history(early)
  expect_identical(sum(by_updates$fate[by_updates$id %in% both] == "alive"), 1L)
  gone <- by_updates[by_updates$id %in% both & by_updates$fate != "alive", ]
  expect_identical(gone$fate, "merged")
  expect_identical(by_updates$fate[by_updates$id == gone$into], "alive")
  shared <- intersect(history$id[history$fate != "alive"], by_updates$id)
  columns <- c("id", "born_at", "last_seen", "size", "fate", "into")
  expect_identical(
    as.list(history[match(shared, history$id), columns]), as.list(by_updates[match(shared, by_updates$id), columns])
  )
})

test_that("a cluster that a fit had is in the history, though it went before clusters were tended", {
  far <- rbind(three(500), data.frame(x = rep(1e3, 3), y = 1e3))
  obs <- obs_gaussian(mean = c(2, 2), mean_strength = 0.001, df = 4, scale = 1)
  early <- bnp_mixture(bnp_stream(in_parts(far, 503)), obs, control = how(half_life = 100))
  lone <- cluster_ids(early)[which.min(abs(cluster_sizes(early) - 3))]
  later <- early
  for (i in 1:10) later <- update(later, three(100, seed = i))
  expect_false(lone %in% cluster_ids(later))
  expect_identical(cluster_history(later)$fate[cluster_history(later)$id == lone], "removed")
})

test_that("of merges of merges the history has the last cluster that it knows", {
  alive <- list(id = c(1, 9), born_at = c(1, 5), last_seen = c(9, 9))
  departed <- data.frame(
    id = c(2, 3, 4), born_at = 1:3, last_seen = 4:6, lasting = c(TRUE, FALSE, TRUE), size = 7:9, into = c(3, 1, NA)
  )
  history <- history_of_stream(NULL, alive, c(5, 4), departed)
  expect_identical(history$id, c(1L, 2L, 4L, 9L))
  expect_identical(history$into, c(NA, 1L, NA, NA))
  expect_identical(history$fate, c("alive", "merged", "removed", "alive"))
  expect_identical(history$size, c(5, 7, 9, 4))
  expect_identical(history_of_stream(data.frame(
    id = 3L, born_at = 2, last_seen = 2, size = 1, fate = "alive", into = NA_integer_
  ), alive, c(5, 4), departed)$into, c(NA, 3L, 1L, NA, NA))
})

test_that("clusters that nobody saw twice leave no trace, and empty ones of a finite prior have no identity", {
  alone <- three(1200)
  alone[c(5, 105, 305), ] <- c(1e3, -1e3, 5e3)
  own <- bnp_mixture(bnp_stream(in_parts(alone)), control = how(half_life = 100))
  expect_gt(max(cluster_history(own)$id), nrow(cluster_history(own)) + 1L)
  finite <- bnp_mixture(bnp_stream(in_parts(x)), prior = prior_dirichlet(6), control = how())
  n <- sum(cluster_sizes(finite) > 0)
  expect_lt(n, 6L)
  expect_identical(is.na(cluster_ids(finite)), seq_len(6) > n)
  expect_setequal(cluster_history(finite)$id[cluster_history(finite)$fate == "alive"], cluster_ids(finite)[seq_len(n)])
})

test_that("data in memory are learned from in several passes, with labels", {
  own <- bnp_mixture(asterisk[1:2], control = how())
  expect_gte(n_clusters(own), 7L)
  expect_lte(n_clusters(own), 12L) # other seeds: 8; with this one two of 27 and 11 rows, too
  expect_gt(adjusted_rand_index(fitted(own), asterisk$cluster), 0.9)
  expect_identical(own$control$batches, 5L)
  expect_identical(sum(is.finite(elbo_trace(own)$score)), 5L)
  expect_identical(nrow(elbo_trace(own)), 15L)
  memoized <- bnp_mixture(asterisk[1:2], start = own, control = bnp_control(seed = 1, verbose = FALSE))
  alone <- bnp_mixture(asterisk[1:2], control = bnp_control(seed = 1, verbose = FALSE))
  expect_gte(elbo(memoized), elbo(alone) - 1)
  expect_identical(is.na(compare_fits(own, memoized)$elbo), c(TRUE, FALSE))
})

test_that("a memoized fit goes on as a stream at full weight, with its clusters", {
  memoized <- bnp_mixture(x, control = bnp_control(seed = 1, verbose = FALSE))
  on <- bnp_mixture(bnp_stream(in_parts(three(200, seed = 5))), start = memoized, control = how())
  expect_equal(sum(cluster_sizes(on)), 1200)
  expect_identical(nobs(on), 1200L)
  expect_setequal(cluster_ids(on), cluster_ids(memoized))
  expect_equal(coef(on)$mean, coef(memoized)$mean, tolerance = 0.1)
})

test_that("every kind of column and prior is learned from", {
  levels <- data.frame(a = rep(c("u", "v"), 40), b = rep(c(TRUE, FALSE), 40))
  frames <- list(iris, transform(iris, n = rep(0:4, 30)), levels)
  for (frame in frames) {
    for (prior in list(prior_dp(gamma_prior(2, 1)), prior_py(1, 0.2), prior_dirichlet(4))) {
      own <- bnp_mixture(frame, prior = prior, control = how(max_laps = 2))
      expect_lte(n_clusters(own), if (prior$family == "dirichlet") 4L else 12L)
      expect_equal(sum(cluster_sizes(own)), nrow(frame), tolerance = 0.02)
      expect_equal(rowSums(predict(own, frame, type = "prob")), rep(1, nrow(frame)), ignore_attr = TRUE)
    }
  }
  counts <- bnp_mixture(bars$counts[1:100, ], obs_multinomial(), control = how())
  expect_gt(n_clusters(counts), 1L)
  series <- bnp_mixture(as.matrix(mocap6[1:300, c("root.ty", "lowerback.rx")]), obs_ar(1), control = how())
  expect_length(fitted(series), 300L)
})

test_that("degenerate batches make no nonsense", {
  same <- data.frame(x = rep(1, 50), y = 2)
  own <- bnp_mixture(bnp_stream(in_parts(rbind(x, same, x), 50)), control = how())
  expect_true(all(is.finite(unlist(coef(own)$mean))))
  one <- update(fit, x[1, ])
  expect_equal(sum(cluster_sizes(one)), 1001)
  expect_bad(update(fit, x[0, ]), "no_rows")
  expect_true(all(is.finite(elbo_trace(bnp_mixture(bnp_stream(in_parts(x[1:200, ], 1), n = 200), control = how(
  ), obs = obs_gaussian(mean = 0, mean_strength = 0.01, df = 4, scale = 1)))$score)))
})

test_that("at k_max a warning says so, once", {
  far <- three(200, rbind(c(0, 0), c(50, 0), c(0, 50), c(50, 50)))
  expect_warning(
    own <- bnp_mixture(bnp_stream(in_parts(far, 50)), control = how(k_max = 2)),
    class = "bnpvi_warning_k_max"
  )
  expect_identical(n_clusters(own), 2L)
})

test_that("an iterator that fails, or a batch of another shape, is an error that has the fit so far", {
  part <- in_parts(x)
  broken <- tryCatch(
    bnp_mixture(bnp_stream(function(i) if (i < 4) part(i) else stop("disk gone")), control = how()),
    error = identity
  )
  expect_s3_class(broken, "bnpvi_error_stream")
  expect_match(conditionMessage(broken), "Batch 4 could not be read")
  expect_identical(nobs(broken$fit), 300L)
  expect_identical(broken$fit$stream, bnp_mixture(bnp_stream(part, n = 300), control = how())$stream)
  other <- tryCatch(
    bnp_mixture(bnp_stream(function(i) if (i < 3) part(i) else part(i)["x"]), control = how()), error = identity
  )
  expect_match(conditionMessage(other), "Batch 3 cannot be learned from")
  expect_identical(nobs(other$fit), 200L)
  first <- tryCatch(bnp_mixture(bnp_stream(function(i) stop("no")), control = how()), error = identity)
  expect_null(first$fit)
})

test_that("what streams cannot do is refused", {
  expect_bad(bnp_stream(1:3), "argument", "function")
  expect_bad(bnp_stream("days.csv"), "file", "source_files")
  expect_bad(bnp_stream(in_parts(x), n = 0), "argument", "n")
  expect_bad(bnp_mixture(bnp_stream(function(i) NULL), control = how()), "rows", "no batch")
  expect_bad(bnp_mixture(bnp_stream(in_parts(x)), control = bnp_control()), "argument", "read once")
  expect_bad(bnp_mixture(x, control = how(), weights = rep(1:2, 500)), "weights")
  expect_bad(bnp_mixture(x, control = how(), labels = rep(c("a", NA), 500)), "labels")
  expect_bad(bnp_mixture(x, control = how(), id = rep(1:500, 2)), "id")
  expect_bad(bnp_mixture(x, control = how(), start = rep(1:2, 500)), "start", "no cluster")
  expect_bad(bnp_mixture(x, obs_gaussian(learn = TRUE), control = how()), "argument", "learn")
  gaps <- replace(x, cbind(3, 1), NA)
  expect_bad(bnp_mixture(gaps, control = how(), na_action = "model"), "gaps", "diagonal")
  independent <- bnp_mixture(gaps, obs_gaussian("diagonal"), control = how(), na_action = "model")
  expect_equal(sum(cluster_sizes(independent)), 1000, tolerance = 0.01)
  expect_bad(bnp_hmm(x, rep(1:2, each = 500), control = how()), "argument", "truncation_free")
  expect_bad(bnp_control(k_max = 3), "argument", "truncation_free")
  expect_bad(bnp_control("truncation_free", restarts = 2), "argument", "restarts")
  expect_bad(how(half_life = 0), "argument", "half_life")
  expect_bad(how(sweeps = 0), "argument", "sweeps")
  expect_bad(bnp_sample(fit, x), "stream", "not available for streams")
  memory <- bnp_mixture(x, control = how())
  expect_bad(cluster_tree(memory, x), "stream", "no ELBO")
  expect_bad(cut_fit(memory, x, k = 1), "stream", "no ELBO")
  expect_bad(update(fit, x, olddata = x), "update", "olddata")
  expect_bad(update(fit, x, weights = 1), "argument", "weights")
})

test_that("files and functions are read in pieces", {
  folder <- withr::local_tempdir()
  csv <- file.path(folder, "a.csv")
  utils::write.csv(x[1:600, ], csv, row.names = FALSE)
  rds <- file.path(folder, "b.rds")
  saveRDS(x[601:1000, ], rds)
  parts <- list()
  read <- reader_of(source_files(c(csv, rds), rows = 250))
  while (!is.null(part <- read(length(parts) + 1L))) parts <- c(parts, list(part))
  expect_identical(vapply(parts, nrow, 1L), c(250L, 250L, 100L, 400L))
  expect_equal(do.call(rbind, parts), x, ignore_attr = TRUE)
  own <- bnp_mixture(bnp_stream(source_files(c(csv, rds), rows = 250)), control = how())
  expect_identical(nobs(own), 1000L)
  mine <- source_files(rep(rds, 2), read = function(path) readRDS(path)[1:10, ])
  expect_identical(nobs(bnp_mixture(bnp_stream(mine), control = how())), 20L)
  part <- in_parts(x)
  two <- bnp_mixture(bnp_stream(source_function(part, batches = 2)), control = how())
  expect_identical(nobs(two), 200L)
  expect_output(print(source_function(part, 2)), "2 batches")
  expect_output(print(bnp_stream(source_files(csv), n = 5000)), "1 file, at most 5,000 rows")
  expect_bad(source_files("nowhere.csv"), "file", "nowhere")
  expect_bad(source_files(character()), "argument", "paths")
  unknown <- file.path(folder, "c.xyz")
  file.create(unknown)
  expect_bad(source_files(unknown), "file", "read")
  expect_bad(source_function(3), "argument", "read")
})

test_that("the scores of a stream's batches can be drawn as a picture", {
  withr::local_pdf(NULL)
  expect_silent(plot(fit, "score"))
  picture <- score_picture(fit)
  expect_identical(picture$seen, elbo_trace(fit)$seen)
  long <- fit
  long$trace <- long$trace[rep(1:10, each = 100), ]
  expect_identical(nrow(score_picture(long)), 200L)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, "score"), "ggplot")
  expect_bad(plot(bnp_mixture(iris[1:4], control = bnp_control(seed = 1, verbose = FALSE)), "score"), "argument")
})

test_that("a formula takes its variables from every batch, and what it learned from the first", {
  x <- data.frame(group = gl(3, 1, 300))
  x[c("a", "b")] <- withr::with_seed(1, list(rnorm(300, rep(c(0, 9), 150)), exp(rnorm(300))))
  parts <- function(i) if (i <= 3) x[100 * (i - 1) + 1:100, ]
  control <- bnp_control("truncation_free", seed = 1, verbose = FALSE)
  fit <- bnp_mixture(~ scale(a) + log(b), data = bnp_stream(parts), control = control)
  by_hand <- function(i) {
    if (i > 3) return(NULL)
    piece <- parts(i)
    centre <- mean(x$a[1:100])
    data.frame(a = (piece$a - centre) / sd(x$a[1:100]), b = log(piece$b))
  }
  plain <- bnp_mixture(bnp_stream(by_hand), control = control)
  expect_equal(elbo_trace(fit)$score, elbo_trace(plain)$score, tolerance = 1e-10)
  expect_identical(nobs(fit), 300L)
  expect_identical(dim(predict(fit, x, type = "prob")), c(300L, n_clusters(fit)))
  more <- update(fit, x[1:50, ])
  expect_identical(nobs(more), 350L)
  on <- bnp_mixture(~ scale(a) + log(b), data = bnp_stream(parts, n = 100), start = fit, control = control)
  expect_identical(nobs(on), 400L)
  response <- bnp_mixture(b ~ a + group, data = bnp_stream(parts), control = control)
  expect_identical(response$input$levels, list(group = c("1", "2", "3")))
  expect_length(predict(response, x), 300L)
  expect_identical(bnp_mixture(~ a + b, data = bnp_stream(parts))$control$algorithm, "truncation_free")
  expect_bad(bnp_mixture(~a, data = bnp_stream(parts), weights = 1:3), "argument", "weights")
  expect_bad(bnp_mixture(b ~ a | group, data = bnp_stream(parts)), "stream", "Batch 1")
  expect_bad(bnp_mixture(~a, data = bnp_stream(function(i) matrix(1, 2, 2))), "stream", "Batch 1")
  expect_bad(bnp_mixture(~nowhere, data = bnp_stream(parts)), "stream", "Batch 1")
  expect_bad(bnp_mixture(~a, data = bnp_stream(parts), control = bnp_control()), "argument", "read once")
})
