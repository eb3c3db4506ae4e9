# The table of mclust's names in the help of obs_gaussian() names all of them, and what it says is here is here.

test_that("all fourteen names are in the help page, with the six that are here", {
  page <- file.path("..", "..", "man", "obs_gaussian.Rd")
  skip_if_not(file.exists(page), "no help pages beside these tests (not a checkout)")
  text <- readLines(page)
  names <- c("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV")
  rows <- vapply(names, function(name) grep(paste0("code{", name, "}"), text, fixed = TRUE, value = TRUE)[1], "")
  expect_false(anyNA(rows))
  expect_identical(names[grepl("obs_gaussian", rows)], c("EII", "VII", "EEI", "VVI", "EEE", "VVV"))
  if (requireNamespace("mclust", quietly = TRUE))
    expect_setequal(names, utils::tail(mclust::mclust.options("emModelNames"), 14L))
})

test_that("those that are here find what mclust finds where clusters are far apart", {
  skip_if_not_installed("mclust")
  mclustBIC <- mclust::mclustBIC # Mclust() looks for it where it is called
  set.seed(2)
  own <- rbind(cbind(rnorm(150, 0, 1), rnorm(150, 0, 3)), cbind(rnorm(100, 12, 2), rnorm(100, 12, 1)))
  same <- matrix(rnorm(500), 250) + rep(c(0, 12), c(150, 100))
  spheres <- matrix(rnorm(500), 250) * rep(c(1, 3), c(150, 100)) + rep(c(0, 20), c(150, 100))
  covariances <- c(
    EII = "tied_spherical", VII = "spherical", EEI = "tied_diagonal", EEE = "tied", VVI = "diagonal", VVV = "full"
  )
  for (name in names(covariances)) {
    x <- if (name %in% c("VVI", "VVV")) own else if (name == "VII") spheres else same
    theirs <- mclust::Mclust(x, 2, name, verbose = FALSE)
    obs <- obs_gaussian(covariances[[name]])
    ours <- coef(bnp_mixture(x, obs, control = bnp_control(seed = 1, verbose = FALSE)))
    expect_equal(unname(ours$mean), t(theirs$parameters$mean), tolerance = 0.02, ignore_attr = TRUE)
    expect_equal(unname(ours$cov), theirs$parameters$variance$sigma, tolerance = 0.08, ignore_attr = TRUE)
  }
})
