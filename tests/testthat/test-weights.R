# The share of the data that a topic or state has, and its weight at the top level, are two numbers with two names.

few <- bnp_control(seed = 1, max_laps = 10)

test_that("shares of the data come first, and are the same everywhere", {
  rows <- bnp_topics(faithful, obs_gaussian(), id = rep(1:34, 8), control = few)
  topics <- bnp_topics(whales$counts[1:30, ], control = few)
  chain <- bnp_hmm(faithful, control = few)
  for (fit in list(rows, topics, chain)) {
    share <- cluster_sizes(fit) / sum(cluster_sizes(fit))
    expect_identical(coef(fit)$proportion, share)
    expect_gt(max(abs(coef(fit)$proportion - coef(fit)$weights)), 1e-3)
    expect_identical(tail(names(coef(fit)), 2), c("proportion", "weights"))
    frame <- as.data.frame(fit)
    expect_identical(names(frame)[2:4], c("size", "proportion", "weight"))
    expect_identical(frame$proportion, unname(share))
    expect_identical(frame$weight, unname(coef(fit)$weights))
    if (!identical(fit, topics)) expect_identical(tidy(fit)$proportion, unname(share))
  }
})

test_that("a mixture has one kind of weight", {
  fit <- bnp_mixture(faithful, control = few)
  expect_null(coef(fit)$proportion)
  expect_identical(tidy(fit)$proportion, unname(coef(fit)$weights))
})
