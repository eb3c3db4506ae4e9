fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
waiting <- bnp_mixture(faithful$waiting, control = bnp_control(seed = 1))
birds <- bnp_mixture(penguins_measurements[, -1], control = bnp_control(seed = 1))
zoo <- bnp_mixture(animals, obs_bernoulli(), control = bnp_control(seed = 1))

# Colours as people without green-sensitive cones see them (Machado, Oliveira and Fernandes, 2009, in linear RGB), in
# CIE Lab.
as_seen <- function(colours, deuteranope) {
  rgb <- t(grDevices::col2rgb(colours)) / 255
  linear <- ifelse(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
  if (deuteranope) {
    linear <- linear %*% t(matrix(c(0.367, 0.861, -0.228, 0.280, 0.673, 0.047, -0.012, 0.043, 0.969), 3, byrow = TRUE))
  }
  linear <- pmin(pmax(linear, 0), 1)
  rgb <- ifelse(linear <= 0.0031308, 12.92 * linear, 1.055 * linear^(1 / 2.4) - 0.055)
  grDevices::convertColor(rgb, "sRGB", "Lab")
}

test_that("clusters of neighbouring numbers have different colours, however many there are", {
  for (k in c(8, 9, 25, 100)) {
    expect_equal(anyDuplicated(cluster_colours(k)), 0)
    for (deuteranope in c(FALSE, TRUE)) {
      lab <- as_seen(cluster_colours(k), deuteranope)
      expect_gt(min(sqrt(rowSums(diff(lab)^2))), 8)
    }
  }
  expect_length(cluster_colours(0), 0)
})

test_that("every type of picture can be drawn, with and without data", {
  withr::local_pdf(NULL)
  expect_invisible(plot(fit))
  expect_identical(plot(fit, data = faithful), fit)
  expect_silent(plot(fit, "density", data = faithful, main = "Geyser"))
  expect_silent(plot(fit, "elbo"))
  expect_silent(plot(waiting))
  expect_silent(plot(waiting, "density", data = faithful$waiting))
  expect_silent(plot(birds, data = penguins_measurements))
  expect_silent(plot(zoo))
  expect_bad(plot(zoo, "density"), "argument", "needs columns with a density")
  expect_silent(plot(birds, "density"))
  expect_bad(plot(fit, "topics"), "argument", "type")
  expect_bad(plot(fit, data = faithful[1]), "newdata_columns", "waiting")
})

test_that("rows that weigh next to nothing have a cluster to draw, to count and to give intervals of", {
  withr::local_pdf(NULL)
  light <- bnp_mixture(
    faithful, weights = rep(1e-4, nrow(faithful)), control = bnp_control(k_init = 5L, seed = 1, moves = FALSE)
  )
  size <- cluster_sizes(light)
  expect_lt(sum(size), 0.5)
  expect_identical(n_clusters(light), sum(size >= max(size) / 2))
  expect_silent(plot(light))
  expect_silent(plot(light, "density"))
  expect_true(all(is.finite(confint(light, "weights"))))
})

test_that("the ELBO of laps is drawn where it is known", {
  last <- bnp_mixture(faithful, control = bnp_control(algorithm = "stochastic", seed = 1, max_laps = 3))
  expect_bad(plot(last, "elbo"), "type", "stochastic learning computes that of its last lap only")
  skip_if_not_installed("ggplot2")
  expect_bad(ggplot2::autoplot(last, "elbo"), "type")
})

test_that("curves of a picture are the densities of the clusters", {
  picture <- cluster_picture(waiting)
  step <- diff(picture$total$x[1:2])
  expect_equal(sum(picture$total$density) * step, 1, tolerance = 0.02)
  parts <- tapply(picture$parts$density, picture$parts$cluster, sum) * step
  expect_equal(unname(c(parts)), unname(coef(waiting)$weights[in_use(waiting)]), tolerance = 0.03)
})

test_that("rings hold 90 % of a cluster", {
  ring <- subset(cluster_picture(fit)$rings, cluster == 1)
  distance <- mahalanobis(ring[c("x", "y")], coef(fit)$mean[1, ], coef(fit)$cov[, , 1])
  expect_equal(distance, rep(qchisq(0.9, 2), nrow(ring)), ignore_attr = TRUE)
})

test_that("more than two columns are projected on principal components", {
  picture <- cluster_picture(birds, penguins_measurements)
  expected <- prcomp(penguins_measurements[, -1], scale. = TRUE)$x
  expect_gt(abs(cor(picture$points$x, expected[, 1])), 0.99)
  expect_gt(abs(cor(picture$points$y, expected[, 2])), 0.95)
})

test_that("the heat map shows the columns that differ", {
  picture <- cluster_picture(zoo)
  expect_equal(ncol(picture$value), 40)
  spread <- function(columns) mean(apply(coef(zoo)$prob[, columns], 2, sd))
  expect_gt(spread(colnames(picture$value)), spread(setdiff(colnames(animals), colnames(picture$value))))
})

test_that("laps with accepted moves are marked", {
  picture <- trace_picture(fit)
  expect_equal(sum(picture$marks$move == "birth"), sum(elbo_trace(fit)$births > 0))
  expect_gte(nrow(picture$marks), 1)
})

test_that("autoplot() draws the pictures that plot() draws", {
  skip_if_not_installed("ggplot2")
  withr::local_pdf(NULL)
  plots <- list(
    ggplot2::autoplot(fit, data = faithful), ggplot2::autoplot(fit), ggplot2::autoplot(fit, "elbo"),
    ggplot2::autoplot(fit, "density", data = faithful), ggplot2::autoplot(waiting, data = faithful$waiting),
    ggplot2::autoplot(birds, data = penguins_measurements), ggplot2::autoplot(zoo)
  )
  for (p in plots) {
    expect_s3_class(p, "ggplot")
    expect_silent(print(p))
  }
  expect_equal(nrow(ggplot2::layer_data(plots[[1]], 1)), 272)
})

test_that("a cluster of one row does not hide the others' profiles", {
  far <- data.frame(a = c(qnorm(ppoints(40)), qnorm(ppoints(40), 9), 500), b = gl(2, 1, 81, c("no", "yes")))
  fit <- bnp_mixture(far, start = rep(1:3, c(40, 40, 1)), control = bnp_control(seed = 1, moves = FALSE))
  expect_equal(unname(cluster_sizes(fit)), c(40, 40, 1), tolerance = 0.01)
  shown <- profile_picture(fit)$panels$a$data
  expect_equal(abs(diff(shown$mean[1:2])), 9 / sqrt(1 + 4.5^2), tolerance = 0.05)
  expect_gt(min(shown$low), min(shown$mean) - 3.01)
  expect_lt(max(shown$high), max(shown$mean) + 3.01)
})

long_test("many columns of two levels are drawn as one heat map", {
  set.seed(1)
  group <- rep(1:3, each = 40)
  items <- as.data.frame(lapply(1:14, function(j) {
    factor(ifelse(runif(120) < c(0.1, 0.5, 0.9)[(group + j) %% 3 + 1], "yes", "no"))
  }))
  names(items) <- paste0("item", 1:14)
  fit <- bnp_mixture(items, control = bnp_control(seed = 1))
  heat <- profile_picture(fit)$items
  expect_equal(dim(heat$value), c(n_clusters(fit), 14))
  expect_identical(heat$label, "Probability of \"yes\"")
  probs <- as.data.frame(tidy(fit))
  item3 <- probs[probs$variable == "item3" & probs$level == "yes", ]
  expect_equal(heat$value[, "item3"], item3$estimate)
  expect_null(profile_picture(bnp_mixture(items[1:12], control = bnp_control(seed = 1)))$items)
  withr::local_pdf(NULL)
  expect_identical(plot(fit), fit)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("a cluster whose expected covariance is not finite enters the axes of a picture by its centre", {
  x <- rbind(matrix(sin(1:60), 20), 5)
  near <- obs_gaussian(df = 3, learn = FALSE, rounding = 0)
  few <- bnp_control(moves = FALSE, max_laps = 2, tol = 0)
  alone <- function(weights, start) {
    withr::with_options(list(warn = -1), bnp_mixture(x, near, weights = weights, start = start, control = few))
  }
  fit <- alone(rep(1:0 + 1e-9, c(20, 1)), rep(1:2, c(20, 1)))
  expect_identical(unname(is.finite(coef(fit)$cov[1, 1, ])), c(TRUE, FALSE))
  axes <- plane_axes(fit, moments(fit))
  expect_true(all(is.finite(axes$direction)))
  expect_no_match(axes$labels, "NaN|NA")
  expect_silent(plot(fit, x))
  nothing <- alone(rep(1e-9, 21), rep(1, 21))
  expect_true(all(is.infinite(coef(nothing)$cov)))
  expect_silent(plot(nothing, x))
})
