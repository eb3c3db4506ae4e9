# Streams of documents of rows, as users see them.

how <- function(...) bnp_control("truncation_free", seed = 1, verbose = FALSE, ...)
# Documents of 20 rows with proportions of their own of three topics.
grouped <- function(documents, from = 1L, seed = 1) {
  withr::with_seed(seed, {
    share <- matrix(stats::rgamma(3 * documents, 0.5), ncol = 3)
    doc <- rep(seq_len(documents), each = 20L)
    z <- vapply(doc, function(d) sample(3L, 1L, prob = share[d, ] + 1e-6), 1L)
    centre <- rbind(c(0, 0), c(6, 0), c(0, 6))
    data.frame(u = rnorm(length(z), centre[z, 1]), v = rnorm(length(z), centre[z, 2]), doc = from - 1L + doc, z = z)
  })
}
rows <- grouped(100)
x <- rows[c("u", "v", "doc")]
in_parts <- function(x, size = 10L) {
  part <- split(x, ceiling(match(x$doc, unique(x$doc)) / size))
  function(i) if (i <= length(part)) part[[i]]
}
fit <- bnp_topics(bnp_stream(in_parts(x)), obs_gaussian(), id = "doc", control = how())

test_that("a stream of documents of rows gives topics with scores and identities, and no bound or proportions", {
  expect_s3_class(fit, c("bnp_topics", "bnp_fit"), exact = TRUE)
  expect_identical(n_clusters(fit), 3L)
  expect_identical(fit$stream$seen, 100)
  expect_identical(nobs(fit), 2000L)
  expect_equal(sum(cluster_sizes(fit)), 2000, tolerance = 0.002)
  expect_equal(sort(coef(fit)$mean[, "u"]), c(0, 0, 6), tolerance = 0.1, ignore_attr = TRUE)
  trace <- elbo_trace(fit)
  expect_identical(trace$rows, rep(10, 10))
  expect_identical(trace$seen, 10 * 1:10)
  expect_gt(trace$score[10], trace$score[1])
  expect_output(print(fit), "100 documents seen in 10 batches")
  expect_output(print(fit), "Log density of a row")
  expect_output(print(summary(fit)), "truncation free")
  expect_bad(elbo(fit), "stream", "random state")
  expect_bad(fitted(fit), "stream", "documents")
  share <- predict(fit, x[1:100, ])
  expect_identical(dim(share), c(5L, 3L))
  expect_equal(rowSums(share), rep(1, 5), ignore_attr = TRUE)
  expect_identical(predict(fit, x[1:100, c("v", "u")], id = x$doc[1:100]), share)
  expect_true(all(predict(fit, x[1:100, ], type = "id") %in% cluster_ids(fit)))
  expect_setequal(cluster_history(fit)$id[cluster_history(fit)$fate == "alive"], cluster_ids(fit))
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
})

test_that("storing and going on gives the same bits as never stopping, for any number of threads", {
  part <- in_parts(x)
  half <- bnp_topics(bnp_stream(part, n = 50), obs_gaussian(), id = ~doc, control = how())
  expect_identical(half$stream$seen, 50)
  stored <- unserialize(serialize(half, NULL))
  for (i in 6:10) stored <- update(stored, part(i))
  expect_identical(stored$stream, fit$stream)
  expect_identical(nobs(stored), 2000L)
  named <- update(half, transform(part(6), who = doc, doc = NULL), id = "who")
  expect_identical(named$stream, update(half, part(6))$stream)
  rest <- bnp_topics(bnp_stream(function(i) part(i + 5L)), obs_gaussian(), id = "doc", start = half, control = how(
    threads = 3
  ))
  expect_identical(rest$stream, fit$stream)
})

test_that("data in memory are learned from in passes, and hand over to memoized learning and back", {
  own <- bnp_topics(x, obs_gaussian(), id = "doc", control = how(batches = 5))
  expect_identical(own$control$batches, 5L)
  expect_identical(nrow(elbo_trace(own)), 15L)
  expect_identical(dim(fitted(own)), c(100L, n_clusters(own)))
  expect_equal(fitted(own), predict(own, x, id = "doc"), ignore_attr = TRUE)
  expect_identical(n_clusters(own), 3L)
  quiet <- bnp_control(seed = 1, verbose = FALSE)
  memoized <- bnp_topics(x, obs_gaussian(), id = "doc", start = own, control = quiet)
  alone <- bnp_topics(x, obs_gaussian(), id = "doc", control = quiet)
  expect_gt(elbo(memoized), elbo(alone) - 1)
  expect_gt(elbo(memoized), elbo(bnp_topics(x, obs_gaussian(), id = "doc", start = fit, control = quiet)) - 1)
  new <- grouped(10, 101L, seed = 2)[c("u", "v", "doc")]
  on <- bnp_topics(bnp_stream(in_parts(new)), obs_gaussian(), id = "doc", start = memoized, control = how())
  expect_identical(on$stream$seen, 110)
  expect_identical(nobs(on), 2200L)
  expect_true(all(cluster_ids(memoized) %in% cluster_ids(on)))
  expect_equal(sum(cluster_sizes(on)), 2200)
  expect_gt(elbo_trace(on)$score, mean(elbo_trace(fit)$score[6:10]) - 0.3) # other documents
  a <- document_weight(memoized)[1:3]
  n <- as.matrix(memoized$documents)
  expect_equal(stream_of_fit(memoized)$tables, colSums(t(a * t(digamma(t(a + t(n))) - rep(digamma(a), each = 100)))),
    ignore_attr = TRUE
  )
})

test_that("streams of groups take every kind of column, finite priors and learned concentrations", {
  frame <- transform(grouped(30), kind = factor(c("a", "b", "c")[z]), on = z > 1, n = rpois(600, 3 * z), z = NULL)
  sets <- list(
    list(frame[c("u", "v", "kind", "doc")], obs_product(
      one = obs_gaussian(columns = c("u", "v")), two = obs_categorical(columns = "kind")
    )),
    list(frame[c("on", "doc")], obs_bernoulli()), list(frame[c("n", "doc")], obs_poisson()),
    list(frame[c("u", "v", "doc")], obs_gaussian("diagonal"))
  )
  for (set in sets) {
    for (prior in list(prior_hdp(gamma = gamma_prior(), alpha = gamma_prior()), prior_lda(4))) {
      own <- bnp_topics(bnp_stream(in_parts(set[[1]])), set[[2]], prior, id = "doc", control = how(half_life = 20))
      expect_true(all(is.finite(elbo_trace(own)$score)))
      expect_identical(own$stream$seen, 30)
      if (!is.null(prior$k)) expect_length(cluster_sizes(own), 4L)
    }
  }
  expect_gt(coef(own)$mean[[1L]], -2)
})

long_test("topics follow what drifts where documents fade", {
  moving <- function(i) {
    if (i > 30) return(NULL)
    out <- grouped(10, 10L * i, seed = i)
    out$u <- out$u - i / 5 * (out$z == 1L)
    out[c("u", "v", "doc")]
  }
  fading <- bnp_topics(bnp_stream(moving), obs_gaussian(), id = "doc", control = how(half_life = 30))
  everything <- bnp_topics(bnp_stream(moving), obs_gaussian(), id = "doc", control = how())
  last <- function(fit) mean(elbo_trace(fit)$score[26:30])
  expect_gt(last(fading), last(everything))
  expect_lt(min(coef(fading)$mean[, "u"]), min(coef(everything)$mean[, "u"]))
})

test_that("a batch that cannot be learned from is an error that has the fit so far", {
  part <- in_parts(x)
  failing <- function(third) tryCatch(
    bnp_topics(bnp_stream(function(i) if (i < 3) part(i) else third(i)), obs_gaussian(), id = "doc", control = how()),
    error = identity
  )
  two <- bnp_topics(bnp_stream(part, n = 20), obs_gaussian(), id = "doc", control = how())
  problems <- list(
    "could not be read" = function(i) stop("disk gone"), "cannot be learned from" = function(i) part(i)["doc"],
    "cannot be learned from" = function(i) part(i)[c("u", "v")],
    "cannot be learned from" = function(i) transform(part(i), u = "a"),
    "cannot be learned from" = function(i) transform(part(i), u = replace(u, 1, NA)),
    "cannot be learned from" = function(i) transform(part(i), doc = replace(doc, 2, NA))
  )
  for (at in seq_along(problems)) {
    broken <- failing(problems[[at]])
    expect_s3_class(broken, "bnpvi_error_stream")
    expect_match(conditionMessage(broken), paste("Batch 3", names(problems)[at]))
    expect_identical(broken$fit$stream, two$stream)
  }
  skipped <- bnp_topics(
    bnp_stream(function(i) if (i == 2) part(2)[0, ] else part(i)), obs_gaussian(), id = "doc", control = how()
  )
  expect_identical(skipped$stream$seen, 90)
})

test_that("single rows, single documents and duplicates make no nonsense", {
  obs <- obs_gaussian(mean = 0, mean_strength = 0.01, df = 4, scale = 1)
  one_by_one <- bnp_topics(bnp_stream(function(i) if (i <= 60) x[i, ]), obs, id = "doc", control = how())
  expect_identical(one_by_one$stream$seen, 60) # each row is a document of its own
  expect_true(all(is.finite(elbo_trace(one_by_one)$score)))
  expect_identical(update(fit, x[1, ])$stream$seen, 101)
  expect_bad(update(fit, x[0, ]), "no_rows")
  same <- data.frame(u = 1, v = 2, doc = rep(1:10, each = 20))
  more <- rbind(x, transform(same, doc = doc + 100))
  copies <- bnp_topics(bnp_stream(in_parts(more)), obs, id = "doc", control = how())
  expect_true(all(is.finite(unlist(coef(copies)$mean))))
  constant <- bnp_topics(bnp_stream(in_parts(transform(x, v = 0))), obs, id = "doc", control = how())
  expect_true(all(is.finite(elbo_trace(constant)$score)))
  left_out <- bnp_topics(
    transform(x, u = replace(u, 1:30, NA)), obs, id = "doc", control = how(), na_action = "omit"
  )
  expect_true(all(is.na(fitted(left_out)[1, ])))
})

test_that("what streams of documents of rows cannot do is refused", {
  go <- function(..., id = "doc") bnp_topics(bnp_stream(in_parts(x)), ..., id = id, control = how())
  expect_error(go(obs_gaussian(), id = NULL), "id", class = "bnpvi_error_stream")
  expect_error(go(obs_gaussian(), id = "who"), "who", class = "bnpvi_error_stream")
  expect_bad(go(obs_gaussian(), id = x$doc), "id", "name of a column")
  expect_error(go(obs_gaussian(learn = TRUE)), "memoized", class = "bnpvi_error_stream")
  expect_bad(bnp_topics(x, obs_gaussian(), id = "doc", control = how(), weights = rep(2, 100)), "weights")
  expect_bad(update(fit, x, olddata = x), "update", "olddata")
  expect_bad(update(fit, x, weights = 1), "argument", "weights")
  mixture <- bnp_mixture(x[c("u", "v")], control = how())
  expect_bad(update(mixture, x, id = "doc"), "id", "repeated")
})
