# Topics over documents of rows instead of counts: the methods that show rows.

planted <- withr::with_seed(5, {
  document <- sample(rep(1:12, each = 20))
  topic <- ifelse(runif(240) < c(0.9, 0.6)[1 + document %% 2], 1L, 2L)
  data.frame(u = rnorm(240, c(-4, 4)[topic]), v = rnorm(240), doc = paste0("d", document))
})
fit <- bnp_topics(planted, obs_gaussian(), id = "doc", control = bnp_control(seed = 1, max_laps = 20))

test_that("augment() keeps the rows of the data in their order", {
  augmented <- augment(fit, planted, id = "doc")
  expect_equal(as.data.frame(augmented)[names(planted)], planted)
  expect_equal(n_clusters(fit), 2)
  left <- which.min(coef(fit)$mean[, "u"])
  expect_gt(mean((augmented$.topic == left) == (planted$u < 0)), 0.99)
  expect_lt(abs(planted$u[which.max(augmented$.uncertainty)]), 2.5)
  expect_lt(max(augmented$.uncertainty[abs(planted$u) > 3]), 1e-5)
  expect_bad(augment(fit), "newdata", "needed")
  expect_bad(augment(fit, planted), "id", "needed")
})

test_that("tidy() has a row for each topic, with its moments", {
  tidied <- tidy(fit)
  expect_named(tidied, c("topic", "size", "proportion", "mean.u", "mean.v", "sd.u", "sd.v"))
  expect_equal(tidied$mean.u, unname(coef(fit)$mean[, "u"]))
  expect_named(tidy(fit, "gamma"), c("document", "topic", "gamma"))
})

test_that("simulated documents have the lengths asked for, and rows like those of their topics", {
  lengths <- c(4000, 0, 3000)
  sims <- simulate(fit, nsim = 2, seed = 3, lengths = lengths)
  expect_identical(simulate(fit, nsim = 2, seed = 3, lengths = lengths), sims)
  sim <- sims$sim_2
  expect_named(sim, c("u", "v", ".id", ".topic"))
  expect_equal(tabulate(sim$.id, 3), lengths)
  for (k in 1:2) {
    expect_equal(mean(sim$u[sim$.topic == k]), coef(fit)$mean[[k, "u"]], tolerance = 0.1)
    expect_equal(sd(sim$u[sim$.topic == k]), sqrt(coef(fit)$cov["u", "u", k]), tolerance = 0.2)
  }
  shares <- vapply(simulate(fit, nsim = 400, seed = 1, lengths = 50), function(sim) mean(sim$.topic == 1), 0)
  weight <- document_weight(fit)[1:2]
  expect_gt(weight[1], 1.25 * weight[2])
  expect_equal(mean(shares), weight[1] / sum(weight), tolerance = 0.1)
  expect_equal(nrow(simulate(fit, seed = 1)$sim_1), 240)
  expect_bad(simulate(fit, lengths = -1), "argument", "lengths")
})

test_that("without a choice plot() shows proportions, and terms only of counts", {
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  expect_bad(plot(fit, "terms"), "not_defined", "not available for topics of documents of rows")
  expect_bad(top_terms(fit), "not_defined", "not available for topics of documents of rows")
})
