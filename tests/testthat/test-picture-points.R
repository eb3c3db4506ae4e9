# Pictures of many points draw some of them, and say so.

drawn <- function(expr) {
  pdf(NULL)
  withr::defer(dev.off())
  force(expr)
}
quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
told <- function(expr, what = "of 120,000 rows are drawn") {
  expect_message(out <- drawn(expr), what, class = "bnpvi_message_picture")
  out
}

test_that("of each cluster the same share is drawn, of small ones enough, in their order", {
  cluster <- rep(c(1, 2, 1, 3, NA), c(50000, 40000, 30000, 150, 5))
  at <- told(drawn_of(cluster), "of 120,155 rows")
  expect_false(is.unsorted(at, strictly = TRUE))
  expect_equal(as.vector(table(cluster[at])), c(80000, 40000, 600) / c(6, 6, 6), tolerance = 0.01)
  expect_false(anyNA(cluster[at]))
  # At equal distances.
  expect_lte(max(diff(at[at <= 50000])), 7)
  few <- rep(1:2, c(1e5 - 1, 1))
  expect_silent(all <- drawn_of(few))
  expect_identical(all, seq_len(1e5))
})

long_test("a long series is drawn by the least and largest values of its stretches", {
  n <- 120000
  x <- withr::with_seed(1, cbind(cumsum(rnorm(n)), rnorm(n)))
  x[c(17, 90000), 2] <- c(50, -60)
  x[100:120, ] <- NA
  at <- told(drawn_of_series(x))
  expect_lt(length(at), 4 * 20000 + 30)
  expect_true(all(c(17, 90000, 100:120) %in% at))
  stretch <- ceiling(seq_len(n) / 6)
  for (j in 1:2) {
    expect_identical(tapply(x[, j], stretch, max), tapply(x[at, j], stretch[at], max))
    expect_identical(tapply(x[, j], stretch, min), tapply(x[at, j], stretch[at], min))
  }
})

test_that("pictures of many rows are small files that show all clusters", {
  n <- 120000
  x <- withr::with_seed(1, cbind(a = rnorm(n) + rep(c(0, 20), c(n - 200, 200)), b = rnorm(n)))
  fit <- bnp_mixture(x[seq(1, n, 40), ], start = rep(1:2, c(n / 40 - 5, 5)), control = quiet(max_laps = 5))
  file <- withr::local_tempfile(fileext = ".pdf")
  for (type in some_of(c("clusters", "density", "uncertainty"), by = 3)) {
    pdf(file)
    expect_message(plot(fit, type, data = x), "rows are drawn", class = "bnpvi_message_picture")
    dev.off()
    expect_lt(file.size(file), 2.5e6)
  }
  picture <- told(cluster_picture(fit, x))
  expect_identical(unique(picture$points$cluster), 1:2)
  expect_gte(sum(picture$points$cluster == 2), 100)
  skip_if_not_installed("ggplot2")
  for (type in some_of(c("uncertainty", "clusters", "density"), by = 3)) {
    picture <- told(ggplot2::autoplot(fit, type, data = x))
    rows <- vapply(ggplot2::ggplot_build(picture)$data, nrow, 1L)
    expect_lt(max(rows), 25000)
  }
})

test_that("values far from all others leave a histogram that can be drawn", {
  v <- withr::with_seed(1, c(rnorm(5000), 1e6))
  expect_lt(length(histogram_of(v)$counts), 3000)
  plain <- withr::with_seed(1, rnorm(5000))
  expect_identical(histogram_of(plain)$breaks, graphics::hist(plain, "FD", plot = FALSE)$breaks)
})

test_that("long sequences, and networks with many links, are drawn in part", {
  n <- 120000
  x <- withr::with_seed(1, cbind(rnorm(n) + rep(c(0, 5), each = 500)))
  fit <- suppressWarnings(bnp_hmm(x[1:3000, , drop = FALSE], control = quiet(max_laps = 5)))
  told(plot(fit, data = x))
  links <- withr::with_seed(1, unique(data.frame(from = sample(700, 130000, TRUE), to = sample(700, 130000, TRUE))))
  links <- links[links$from < links$to, ]
  group <- rep(1:2, each = 350)
  small <- suppressMessages(bnp_network(links[1:3000, ], nodes = 1:700, prior = prior_dp(), start = group,
    control = quiet(max_laps = 2, moves = bnp_moves(FALSE, FALSE, FALSE))))
  data <- list(from = rep(links$from, 3), to = rep(links$to, 3))
  expect_gt(length(data$from), 1e5)
  told(shown <- drawn_links(small, data), "links are drawn")
  expect_lt(length(shown$from), 25000)
})
