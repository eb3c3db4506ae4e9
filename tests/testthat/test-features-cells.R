# Cells of rows as features expect them: averages over draws of the rows' features.

gappy <- withr::with_seed(41, {
  y <- planted_features(41, 60, 5, 4, sd = 1)$x
  replace(y, sample(300, 60), NA)
})

test_that("means and standard deviations of cells are those of all sets of features", {
  for (offset in c(FALSE, TRUE)) {
    nu <- withr::with_seed(42, matrix(stats::runif(240), 60))
    s <- engine_features(gappy, offset = offset, start = nu, laps = 5L, moves = FALSE)$state
    rows <- gappy[1:8, ]
    drawn <- engine_features_cells(rows_for_engine(rows), replace(
      features_model(prior_ibp(), offset, 5), "group", list(s$group)
    ), s, 2e4L, 1L)
    tau <- s$noise[1] / s$noise[2]
    z <- as.matrix(expand.grid(rep(list(0:1), s$k)))
    logit <- s$logit
    if (offset) {
      z <- cbind(1, z)
      logit <- c(0, logit)
    }
    for (i in 1:8) {
      gram <- 0
      for (j in which(!is.na(rows[i, ]))) gram <- gram + tau * tcrossprod(s$loadings[, j]) + s$inverse[[s$group[j] + 1]]
      g <- tau * s$loadings %*% ifelse(is.na(rows[i, ]), 0, rows[i, ])
      weight <- as.vector(z %*% (g + logit)) - rowSums((z %*% gram) * z) / 2
      weight <- exp(weight - log_sum_exp(weight))
      sums <- z %*% s$loadings
      mean <- colSums(weight * sums)
      expect_equal(drawn$mean[i, ], mean, tolerance = 0.03)
      expect_equal(drawn$variance[i, ], colSums(weight * sums^2) - mean^2, tolerance = 0.1)
      spread <- vapply(1:5, function(j) sum(weight * rowSums((z %*% s$inverse[[s$group[j] + 1]]) * z)), 0)
      expect_equal(drawn$spread[i, ], spread, tolerance = 0.05)
    }
  }
})

test_that("what is said of a row does not depend on other rows, threads or the order of rows", {
  fit <- suppressWarnings(
    bnp_features(gappy, control = bnp_control(seed = 1, verbose = FALSE, max_laps = 9), na_action = "model")
  )
  for (type in c("prob", "response", "impute")) {
    whole <- predict(fit, gappy, type)
    expect_equal(predict(fit, gappy[60:1, ], type)[60:1, ], whole[1:60, ])
    expect_identical(predict(fit, gappy[7:9, ], type)[1:3, ], whole[7:9, ])
  }
  many <- planted_features(43, 90, 6, 7, sd = 0.8)
  seven <- suppressWarnings(bnp_features(
    many$x, control = bnp_control(seed = 1, verbose = FALSE, max_laps = 3, moves = FALSE), start = many$z == 1
  ))
  expect_identical(predict(seven, many$x[90:1, ])[90:1, ], predict(seven, many$x), ignore_attr = TRUE)
  two <- fit
  two$control$threads <- 2L
  expect_identical(predict(two, gappy, "impute"), predict(fit, gappy, "impute"))
  none <- predict(fit, gappy, "impute", draws = 0)
  missing <- is.na(gappy)
  expect_identical(c(none[missing]), c(predict(fit, gappy, "response")[missing]))
  expect_error(predict(fit, gappy, draws = -1), "draws", class = "bnpvi_error_argument")
  expect_error(heldout_loglik(fit, gappy, draws = NA), "draws", class = "bnpvi_error_argument")
  expect_identical(dim(predict(fit, gappy[0, ], "impute")), c(0L, 5L))
})

long_test("where many sets of features could have made a row, draws predict its cells better", {
  better <- vapply(1:4, function(seed) {
    y <- withr::with_seed(seed, matrix(stats::rnorm(900), 300) %*% matrix(stats::rnorm(30), 3) + stats::rnorm(3000))
    cells <- withr::with_seed(seed, matrix(stats::runif(3000) < 0.1, 300))
    fit <- suppressWarnings(bnp_features(
      replace(y, cells, NA), control = bnp_control(seed = 1, verbose = FALSE, max_laps = 15), na_action = "model"
    ))
    heldout_loglik(fit, y, cells = cells) - heldout_loglik(fit, y, cells = cells, draws = 0)
  }, 0)
  expect_true(all(better > 0))
})
