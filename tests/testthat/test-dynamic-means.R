# Dynamic Means against a plain one, and its laws.

# The cost of labels under their best means; old: list by id of list(centre, weight, age).
dynamic_cost <- function(x, label, old, lambda, q, tau) {
  sum(vapply(unique(label), function(k) {
    rows <- x[label == k, , drop = FALSE]
    before <- old[[as.character(k)]]
    gamma <- if (is.null(before)) 0 else 1 / (1 / before$weight + before$age * tau)
    centre <- before$centre %||% rep(0, ncol(x))
    mean <- (gamma * centre + colSums(rows)) / (gamma + nrow(rows))
    (if (is.null(before)) lambda else q * before$age) + gamma * sum((mean - centre)^2) + sum((t(rows) - mean)^2)
  }, 1))
}

# Weights, centres and ages after each time, from the labels alone.
known_before <- function(x, time, label, tau, q, lambda) {
  old <- list()
  lapply(unique(time), function(t) {
    before <- old
    now <- which(time == t)
    for (k in unique(label[now])) {
      own <- x[now[label[now] == k], , drop = FALSE]
      b <- old[[as.character(k)]]
      gamma <- if (is.null(b)) 0 else 1 / (1 / b$weight + b$age * tau)
      mean <- (gamma * (b$centre %||% 0) + colSums(own)) / (gamma + nrow(own))
      old[[as.character(k)]] <<- list(centre = mean, weight = gamma + nrow(own), age = 0)
    }
    for (k in names(old)) old[[k]]$age <<- old[[k]]$age + 1
    old <<- Filter(function(b) b$age == 1 || q * b$age <= lambda, old)
    before
  })
}

moving <- function(seed, n = 15, times = 6) {
  withr::with_seed(seed, {
    time <- rep(seq_len(times), each = 3 * n)
    group <- rep(rep(1:3, each = n), times)
    centre <- cbind(c(-4, 0, 4)[group] + 0.3 * time * (group == 1), c(0, 3, 0)[group] - 0.3 * time * (group == 2))
    keep <- !(group == 2 & time %in% 3:4) & !(group == 3 & time == 1)
    list(x = (centre + rnorm(2 * length(time), sd = 0.6))[keep, ], time = time[keep], group = group[keep])
  })
}

test_that("the cost never rises, and is that of the labels", {
  for (seed in 1:4) {
    data <- moving(seed)
    for (lambda in c(1, 4, 16)) {
      for (tau in c(0, 0.5, 20)) {
        fit <- bnp_dynamic_means(data$x, data$time, lambda, tau = tau)
        falls <- tapply(fit$trace$objective, fit$trace$batch, function(j) all(diff(j) <= 1e-9 * abs(j[1])))
        expect_true(all(falls))
        before <- known_before(data$x, data$time, fit$cluster, tau, lambda / 4, lambda)
        want <- vapply(seq_along(before), function(t) {
          now <- data$time == unique(data$time)[t]
          dynamic_cost(data$x[now, , drop = FALSE], fit$cluster[now], before[[t]], lambda, lambda / 4, tau)
        }, 1)
        expect_equal(fit$objective, want, tolerance = 1e-10)
      }
    }
  }
})

test_that("no row would be better off elsewhere", {
  data <- moving(2)
  fit <- bnp_dynamic_means(data$x, data$time, 9)
  first <- data$time == 1
  means <- fit$trajectories[fit$trajectories$time == 1, ]
  distance <- vapply(seq_len(nrow(means)), function(k) {
    (data$x[first, 1] - means$mean.x1[k])^2 + (data$x[first, 2] - means$mean.x2[k])^2
  }, numeric(sum(first)))
  expect_equal(fit$cluster[first], means$cluster[max.col(-distance)])
  expect_true(all(apply(distance, 1, min) <= 9))
})

test_that("one batch is DP-means, whatever q and tau", {
  x <- moving(3)$x
  # Rows in turn go to the nearest mean, or begin a cluster; means; until nothing changes.
  dp_means <- function(x, lambda) {
    label <- rep(0L, nrow(x))
    means <- matrix(0, 0, 2)
    repeat {
      before <- label
      for (i in seq_len(nrow(x))) {
        distance <- colSums((t(means) - x[i, ])^2)
        if (!length(distance) || min(distance) > lambda) {
          means <- rbind(means, x[i, ])
          label[i] <- nrow(means)
        } else {
          label[i] <- which.min(distance)
        }
      }
      if (identical(label, before)) return(label)
      for (k in unique(label)) means[k, ] <- colMeans(x[label == k, , drop = FALSE])
      means[!seq_len(nrow(means)) %in% label, ] <- Inf
    }
  }
  for (lambda in c(2, 5, 50)) {
    want <- dp_means(x, lambda)
    fit <- bnp_dynamic_means(x, rep(1, nrow(x)), lambda, q = 0, tau = 0)
    expect_equal(adjusted_rand_index(fit$cluster, want), 1)
    expect_identical(fit$cluster, bnp_dynamic_means(x, rep(1, nrow(x)), lambda, q = 7, tau = 3)$cluster)
  }
})

test_that("clusters that come back keep their number, those forgotten get another", {
  x <- c(0, 0.1, 5, 5.1, 0, 5, 5.2, 0.1)
  time <- c(1, 1, 1, 1, 2, 2, 3, 3)
  expect_equal(bnp_dynamic_means(x, time, 2)$cluster, c(1, 1, 2, 2, 1, 2, 2, 1))
  gap <- bnp_dynamic_means(c(0, 5, 5, 5, 0), c(1, 1, 2, 3, 4), 2, q = 0.5)
  expect_equal(gap$cluster, c(1, 2, 2, 2, 1))
  expect_equal(bnp_dynamic_means(c(0, 5, 5, 5, 0), c(1, 1, 2, 3, 4), 2, q = 0.7)$cluster, c(1, 2, 2, 2, 3))
  expect_equal(gap$clusters$born, c(1, 1))
  expect_equal(gap$clusters$last, c(4, 3))
  # What moves less than tau allows is followed.
  path <- cumsum(rep(1, 12))
  expect_equal(unique(bnp_dynamic_means(path, seq_along(path), 2, q = 0, tau = 10)$cluster), 1)
})

test_that("order of rows within the table, units and origin change nothing but numbers", {
  data <- moving(4)
  fit <- bnp_dynamic_means(data$x, data$time, 9)
  scaled <- bnp_dynamic_means(data$x * 1e3 + 1e9, data$time, 9e6)
  expect_identical(scaled$cluster, fit$cluster)
  expect_equal(sum(scaled$objective), 1e6 * sum(fit$objective), tolerance = 1e-5)
  shuffled <- withr::with_seed(1, sample(nrow(data$x)))
  back <- order(shuffled, decreasing = FALSE)
  late_first <- order(-data$time)
  expect_identical(bnp_dynamic_means(data$x[late_first, ], data$time[late_first], 9)$cluster, fit$cluster[late_first])
  dated <- bnp_dynamic_means(cbind(as.data.frame(data$x), day = as.Date("2024-01-01") + data$time), "day", 9)
  expect_identical(unname(dated$cluster), unname(fit$cluster))
  expect_s3_class(dated$trajectories$time, "Date")
  hours <- bnp_dynamic_means(data$x, as.POSIXlt("2024-01-01", tz = "UTC") + 3600 * data$time, 9)
  expect_identical(hours$cluster, fit$cluster)
})

test_that("tables have a row for each cluster and time, and pictures are drawn", {
  withr::local_pdf(NULL)
  data <- moving(5)
  fit <- bnp_dynamic_means(data$x, data$time, 9)
  expect_output(print(fit), "Dynamic Means: ")
  expect_invisible(plot(fit))
  expect_invisible(plot(bnp_dynamic_means(1, 1, 1)))
  expect_equal(nrow(glance(fit)), 1)
  expect_equal(sum(tidy(fit)$size), nrow(data$x))
  expect_equal(as.integer(as.character(augment(fit, data$x)$.class)), unname(fit$cluster))
  expect_identical(fitted(fit), fit$cluster)
  expect_gt(adjusted_rand_index(fit$cluster, data$group), 0.9)
})

test_that("what is refused", {
  x <- matrix(1:6, 3)
  expect_bad(bnp_dynamic_means(x, 1:3), "argument", "lambda")
  expect_bad(bnp_dynamic_means(x, lambda = 1), "argument", "time")
  for (bad in list(0, -1, NA, Inf, "a", NULL)) expect_bad(bnp_dynamic_means(x, 1:3, bad), "argument", "lambda")
  expect_bad(bnp_dynamic_means(x, 1:3, 1, q = -1), "argument", "q")
  expect_bad(bnp_dynamic_means(x, 1:3, 1, tau = NA), "argument", "tau")
  expect_bad(bnp_dynamic_means(x, 1:2, 1), "time", "time")
  expect_bad(bnp_dynamic_means(x, c(1, NA, 2), 1), "time", "time")
  expect_bad(bnp_dynamic_means(x, c("a", "b", "c"), 1), "time", "time")
  expect_bad(bnp_dynamic_means(x, "z", 1), "time", "time")
  expect_bad(bnp_dynamic_means(x + NA, 1:3, 1), "not_finite", "x")
  expect_bad(bnp_dynamic_means("a", 1, 1), "not_numeric", "x")
  expect_bad(bnp_dynamic_means(x * 1e300, 1:3, 1), "range", "x")
  expect_bad(bnp_dynamic_means(x[0, ], numeric(), 1), "no_rows", "x")
  expect_bad(augment(bnp_dynamic_means(x, 1:3, 1), x[1:2, ]), "data", "data")
})
