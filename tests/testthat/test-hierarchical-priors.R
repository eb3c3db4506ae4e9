# Hierarchical priors of Gaussian clusters: formulas against plain R and a table of figures.

# Columns, rows, clusters, e, kind; bound, occupied term and log density without prices.
golden <- list(
  list(c(1, 24, 3, 4, Inf), c(-50.817438, -0.443807, -3.382824)),
  list(c(1, 24, 1, 4, Inf), c(-36.396858, -1.274797, -1.816364)),
  list(c(2, 30, 3, 4, Inf), c(-102.639215, -0.756269, -6.363460)),
  list(c(2, 30, 3, 4, 3), c(-102.093095, -0.825352, -8.197634)),
  list(c(2, 30, 1, 4, 3), c(-92.406658, -2.366945, -6.680881)),
  list(c(2, 30, 3, 16, 6), c(-102.265703, -0.838641, -9.464928)),
  list(c(3, 60, 4, 4, 4), c(-310.119203, -1.046574, -13.013210))
)

test_that("q(H) is refreshed as in plain R, never lowers the bound, and ends at the figures of the design", {
  for (row in golden) {
    at <- row[[1L]]
    data <- clusters_by_rule(at[1], at[2], at[3])
    H <- hyper_start(data$x, at[4], at[5], at[3])
    price <- log(12) + if (at[1] > 1) log(11) else 0
    before <- -Inf
    for (round in 1:300) {
      engine <- engine_hyperparameters(hyper_about(H), hyper_to_engine(H), hyper_expected(H, data$clusters))
      if (round == 3L) {
        prior <- hyper_effective(H)
        expect_equal(engine[c("mean", "strength", "df")], prior[c("mean", "strength", "df")], tolerance = 1e-13)
        expect_equal(engine$scale, as.numeric(prior$scale), tolerance = 1e-13)
        expect_equal(engine$occupied, hyper_occupied(H), tolerance = 1e-12)
        expect_equal(engine$log_density, hyper_log_density(H) - price, tolerance = 1e-12)
      }
      bound <- hyper_bound(H, data$clusters)
      expect_gte(bound, before - 1e-10)
      if (bound - before < 1e-12) break
      before <- bound
      H <- hyper_from_engine(H, engine$refreshed)
    }
    expect_lt(max(abs(c(bound, hyper_occupied(H), hyper_log_density(H)) - row[[2L]])), 1e-5, label = toString(at))
  }
})

test_that("the gain of a merge at one q(H) is the change of the whole bound", {
  data <- clusters_by_rule(2, 30, 3)
  H <- hyper_start(data$x, 4, 3, 3)
  for (round in 1:200) {
    H <- hyper_from_engine(H, engine_hyperparameters(
      hyper_about(H), hyper_to_engine(H), hyper_expected(H, data$clusters)
    )$refreshed)
  }
  merged <- list(rbind(data$clusters[[1L]], data$clusters[[2L]]), data$clusters[[3L]])
  expect_equal(hyper_bound(H, merged) - hyper_bound(H, data$clusters), -14.4159, tolerance = 1e-4)
})
