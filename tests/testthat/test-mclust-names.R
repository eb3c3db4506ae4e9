# The table of mclust's names in the help of obs_gaussian() names all of them, and what it says is here is here.

test_that("all fourteen names are in the help page, with the two that are here", {
  page <- file.path("..", "..", "man", "observation_models.Rd")
  skip_if_not(file.exists(page), "no help pages beside these tests (not a checkout)")
  text <- readLines(page)
  names <- c("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV")
  rows <- vapply(names, function(name) grep(paste0("code{", name, "}"), text, fixed = TRUE, value = TRUE)[1], "")
  expect_false(anyNA(rows))
  expect_identical(names[grepl("obs_gaussian", rows)], c("VVI", "VVV"))
  if (requireNamespace("mclust", quietly = TRUE))
    expect_setequal(names, utils::tail(mclust::mclust.options("emModelNames"), 14L))
})

test_that("the two that are here find what mclust finds where clusters are far apart", {
  skip_if_not_installed("mclust")
  mclustBIC <- mclust::mclustBIC # Mclust() looks for it where it is called
  set.seed(2)
  x <- rbind(cbind(rnorm(150, 0, 1), rnorm(150, 0, 3)), cbind(rnorm(100, 12, 2), rnorm(100, 12, 1)))
  for (name in c("VVI", "VVV")) {
    theirs <- mclust::Mclust(x, 2, name, verbose = FALSE)
    obs <- if (name == "VVI") obs_gaussian("diagonal") else obs_gaussian()
    ours <- coef(bnp_mixture(x, obs, control = bnp_control(seed = 1, verbose = FALSE)))
    expect_equal(unname(ours$mean), t(theirs$parameters$mean), tolerance = 0.02, ignore_attr = TRUE)
    expect_equal(unname(ours$cov), theirs$parameters$variance$sigma, tolerance = 0.08, ignore_attr = TRUE)
  }
})
