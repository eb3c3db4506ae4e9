# Bounds of the normalisers of Dirichlet rows under sticks: moments, one cluster by quadrature, more by a plain twin.

settings <- expand.grid(alpha = c(0.01, 0.5, 3, 20, 60), kappa = c(0, 0.05, 0.5, 2, 50))

test_that("moments of the weights keep their digits", {
  for (k in c(1, 4, 30)) {
    q <- withr::with_seed(k, list(u = plogis(rnorm(k, sd = 2)), omega = 10^runif(k, -1, 4)))
    found <- engine_dirichlet_rows(q$u, q$omega, 1, 1, 0, "tight")
    expect_equal(found[c("mean", "variance", "log")], stick_moments(q$u, q$omega), tolerance = 1e-9)
  }
  far <- engine_dirichlet_rows(c(0.3, 1e-60), c(1e14, 1e70), 1, 1, 0, "tight")
  expect_equal(far$variance, c(0.21e-14, 0.49e-60 * 1e-70, 0.21e-14), tolerance = 1e-6)
})

test_that("values are those of a plain twin, never below the loose bound", {
  for (i in seq_len(nrow(settings))) for (k in c(1, 2, 9)) {
    alpha <- settings$alpha[i]
    kappa <- settings$kappa[i]
    q <- withr::with_seed(100 * i + k, list(u = plogis(rnorm(k, sd = 1.5)), omega = 10^runif(k, 0, 3)))
    tight <- engine_dirichlet_rows(q$u, q$omega, 7, alpha, kappa, "tight")$value
    loose <- engine_dirichlet_rows(q$u, q$omega, 7, alpha, kappa, "loose")$value
    expect_equal(tight, sum(row_terms(q$u, q$omega, 7, alpha, kappa)), tolerance = 1e-9)
    expect_equal(loose, sum(row_terms(q$u, q$omega, 7, alpha, kappa, "loose")), tolerance = 1e-12)
    expect_gte(tight, loose - 1e-12 * (1 + abs(loose)))
  }
})

test_that("with one cluster both are below the exact value, by quadrature", {
  p <- (seq_len(4000) - 0.5) / 4000
  for (u in c(0.1, 0.5, 0.95)) for (omega in c(3, 40, 800)) {
    x <- qbeta(p, u * omega, (1 - u) * omega)
    y <- qbeta(p, (1 - u) * omega, u * omega, lower.tail = FALSE)
    for (i in seq_len(nrow(settings))) {
      alpha <- settings$alpha[i]
      kappa <- settings$kappa[i]
      exact <- mean(lgamma(alpha + kappa) - lgamma(alpha * x + kappa) - lgamma(alpha * y))
      m <- stick_moments(u, omega)
      counted <- log(alpha) + if (kappa > 0) m$log[2] else sum(m$log)
      for (bound in c("loose", "tight")) {
        rows <- engine_dirichlet_rows(u, omega, 1, alpha, kappa, bound)$value
        expect_lt(counted + rows, exact + 2e-2 * (1 + abs(exact)) * (u * omega < 1 || (1 - u) * omega < 1) + 1e-3)
      }
    }
  }
  # kappa = 0.1, alpha = 3: only the third bound of the own term is of any use
  gain <- function(bound) engine_dirichlet_rows(0.5, 10, 1, 3, 0.1, bound)$value
  expect_gt(gain("tight"), gain("loose") + 1)
})

test_that("derivatives are those of finite differences", {
  for (i in seq_len(nrow(settings))) {
    q <- withr::with_seed(i, list(u = plogis(rnorm(3)), omega = 10^runif(3, 0, 3)))
    at <- function(u, omega) engine_dirichlet_rows(u, omega, 7, settings$alpha[i], settings$kappa[i], "tight")
    here <- at(q$u, q$omega)
    for (what in c("u", "omega")) for (j in 1:3) {
      h <- 1e-6 * q[[what]][j]
      up <- down <- q
      up[[what]][j] <- up[[what]][j] + h
      down[[what]][j] <- down[[what]][j] - h
      up <- at(up$u, up$omega)
      down <- at(down$u, down$omega)
      chain <- sum(
        here$by_mean * (up$mean - down$mean), here$by_variance * (up$variance - down$variance),
        here$by_log * (up$log - down$log)
      )
      expect_equal((up$value - down$value) / (2 * h), chain / (2 * h), tolerance = 1e-5)
    }
  }
})
