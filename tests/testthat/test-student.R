# Student-t clusters beside figures of plain R (quadrature, enumeration) and beside the Gaussian models that they become.

one_cluster <- function(x, obs, ..., laps = 500L) {
  bnp_mixture(x, obs,
    prior = prior_dirichlet(1), start = rep(1, NROW(x)), ...,
    control = bnp_control(moves = FALSE, verbose = FALSE, max_laps = laps, tol = 1e-12, restarts = 1, init = "random")
  )
}
four <- matrix(c(-1.2, 0.3, 0.5, 4.1))
by_hand <- function(...) obs_student(mean = 0, mean_strength = 0.3, df = 3, scale = 0.8, ...)
term_of_data <- function(fit) unname(elbo(fit, terms = TRUE)["data"])

test_that("bounds of four values are those of plain R", {
  known <- one_cluster(four, by_hand(tails = 4))
  expect_equal(elbo(known), -11.47347382, tolerance = 1e-9)
  learned <- one_cluster(four, suppressMessages(by_hand()))
  expect_equal(elbo(learned), -12.63754464, tolerance = 1e-9)
  expect_equal(coef(learned)$tails, 18.626542, tolerance = 1e-5, ignore_attr = TRUE)
  expect_equal(elbo(one_cluster(four, by_hand(tails = 1e7))), -12.38260860, tolerance = 1e-9)
  gaussian <- obs_gaussian(mean = 0, mean_strength = 0.3, df = 3, scale = 0.8, learn = FALSE)
  expect_equal(elbo(one_cluster(four, gaussian)), -12.38260885, tolerance = 1e-9)
})

# The data term of a fit from responsibilities and posterior parameters alone, by the formulas of the bound: rows are
# given the scales that these parameters say, clusters the statistics of these.
term_of_student <- function(x, r, obs, q) {
  d <- ncol(x)
  c_of <- function(nu) nu / 2 * log(nu / 2) - lgamma(nu / 2)
  log_z <- function(df, scale, strength) {
    -df / 2 * log_det(scale) + df * d / 2 * log(2) + multigamma(d, df / 2) - d / 2 * log(strength)
  }
  sum(vapply(seq_len(ncol(r)), function(k) {
    nu <- sum(q$tails_node[k, ] * q$tails_prob[k, ])
    m <- q$mean[k, ]
    e <- sweep(x, 2, m)
    a <- (nu + d) / 2
    b <- (nu + d / q$mean_strength[k] + q$df[k] * quadratic(e, as.matrix(q$scale[, , k]))) / 2
    u <- a / b
    log_u <- digamma(a) - log(b)
    n <- sum(r[, k])
    w <- sum(r[, k] * u)
    l <- sum(r[, k] * log_u)
    h <- sum(r[, k] * (a - log(b) + lgamma(a) + (1 - a) * digamma(a)))
    strength <- obs$mean_strength + w
    mean <- (obs$mean_strength * obs$mean + colSums(r[, k] * u * x)) / strength
    scale <- obs$scale + crossprod(x, r[, k] * u * x) + obs$mean_strength * tcrossprod(obs$mean) -
      strength * tcrossprod(mean)
    log_nu <- seq(-12, 14, 0.001)
    each <- stats::dgamma(exp(log_nu), 2, 0.1, log = TRUE) + log_nu + n * c_of(exp(log_nu)) + exp(log_nu) / 2 * (l - w)
    of_tails <- max(each) + log(sum(exp(each - max(each))) * 0.001)
    log_z(obs$df + n, scale, strength) - log_z(obs$df, obs$scale, obs$mean_strength) - n * d / 2 * log(2 * pi) +
      (d / 2 - 1) * l + h + of_tails
  }, 1))
}
