# The covariance of coefficients in models with random effects, against plain R with the rows of each individual.

# The inverse information of coefficients, entries of D, variance of the noise and log weights [Louis 1982] at the
# estimates of `fit`, a fit of y ~ t + u + (1 + t | id); its rows and columns of coefficients.
coef_covariance_of <- function(fit, data, shared, pairs) {
  k <- n_clusters(fit)
  at <- coef(fit)
  weights <- at$weights[seq_len(k)] / sum(at$weights[seq_len(k)])
  obs <- fit$model$obs
  n_var <- length(pairs) + 1L
  size <- 3L * k + n_var * (if (shared) 1L else k) + k - 1L
  places <- lapply(seq_len(k), function(j) c(3L * (j - 1L) + 1:3, 3L * k + (if (shared) 0L else j - 1L) * n_var +
    seq_len(n_var)))
  total <- matrix(0, size, size)
  trace <- function(a) sum(diag(a))
  unit <- function(ab) {
    out <- matrix(0, 2L, 2L)
    out[ab[1L], ab[2L]] <- out[ab[2L], ab[1L]] <- 1
    out
  }
  for (j in seq_len(k)) {
    D <- at$random_cov[, , j]
    own <- places[[j]][1:3]
    total[own, own] <- 0.01 * rbind(cbind(solve(D), 0), c(0, 0, var(data$u) / at$cov[j]))
    if (shared && j > 1L) next
    step <- lapply(pairs, function(ab) solve(D, unit(ab)))
    for (a in seq_along(pairs)) for (b in seq_along(pairs)) {
      i <- places[[j]][3L + c(a, b)]
      strength <- obs$random_df + (if (obs$independent) 1 else 2) + 1
      total[i[1L], i[2L]] <- total[i[1L], i[2L]] + strength * trace(step[[a]] %*% step[[b]]) / 2
    }
    noise <- places[[j]][3L + n_var]
    total[noise, noise] <- total[noise, noise] + (obs$df + 2) / at$cov[j]^2 / 2
  }
  rows <- split(data[c("y", "t", "u")], data$id)
  last <- size - k + 1L
  total[-seq_len(last), -seq_len(last)] <- (length(rows) + k) * (diag(weights) - tcrossprod(weights))[-k, -k]
  for (one in rows) {
    x <- cbind(1, one$t, one$u)
    inside <- lapply(seq_len(k), function(j) {
      changes <- c(lapply(pairs, function(ab) x[, 1:2] %*% unit(ab) %*% t(x[, 1:2])), list(diag(nrow(one))))
      V <- x[, 1:2] %*% at$random_cov[, , j] %*% t(x[, 1:2]) + diag(at$cov[j], nrow(one))
      e <- one$y - drop(x %*% at$coef[1L, , j])
      w <- solve(V, e)
      list(
        log = log(weights[j]) - sum(e * w) / 2 - as.numeric(determinant(V)$modulus) / 2,
        score = c(crossprod(x, w), vapply(changes, function(A) (sum(w * (A %*% w)) - trace(solve(V, A))) / 2, 1)),
        coef = crossprod(x, solve(V, x)),
        var = outer(seq_len(n_var), seq_len(n_var), Vectorize(function(a, b) {
          trace(solve(V, changes[[a]]) %*% solve(V, changes[[b]])) / 2
        }))
      )
    })
    r <- vapply(inside, `[[`, 1, "log")
    r <- exp(r - max(r)) / sum(exp(r - max(r)))
    mean <- double(size)
    for (j in seq_len(k)) {
      i <- places[[j]]
      s <- double(size)
      s[i] <- inside[[j]]$score
      if (j < k) s[last + j] <- 1
      total[i[1:3], i[1:3]] <- total[i[1:3], i[1:3]] + r[j] * inside[[j]]$coef
      total[i[-(1:3)], i[-(1:3)]] <- total[i[-(1:3)], i[-(1:3)]] + r[j] * inside[[j]]$var
      total <- total - r[j] * tcrossprod(s)
      mean <- mean + r[j] * s
    }
    total <- total + tcrossprod(mean)
  }
  solve(total)[seq_len(3L * k), seq_len(3L * k)]
}

fit_of_three <- function(data, independent = FALSE, shared = FALSE, ...) {
  random <- if (independent) ~ (1 + t || id) else ~ 1 + t
  bnp_mixture(y ~ t + u, data, obs_regression(random = random, shared = shared), prior_dirichlet(3), id = ~ id,
    start = data$kind[!duplicated(data$id)], ...,
    control = bnp_control(seed = 1, threads = 1L, moves = FALSE, tol = 1e-12, max_laps = 500L))
}
data_of_three <- function() {
  data <- growth_data("three", 1, 80L) # which overlap
  data$u <- sin(seq_len(nrow(data)))
  data
}

test_that("coefficients are as uncertain as the likelihood of all parameters says, summed over clusters", {
  data <- data_of_three()
  for (shared in c(FALSE, TRUE)) for (independent in c(FALSE, TRUE)) {
    fit <- fit_of_three(data, independent, shared)
    pairs <- if (independent) list(c(1, 1), c(2, 2)) else list(c(1, 1), c(1, 2), c(2, 2))
    by_hand <- coef_covariance_of(fit, data, shared, pairs)
    found <- posterior_params(fit)$coef_cov
    for (k in 1:3) {
      own <- 3L * (k - 1L) + 1:3
      expect_equal(unname(found[, , k]), by_hand[own, own], tolerance = 5e-3)
    }
  }
})

test_that("weights of 2 are individuals written twice, and units do not matter", {
  data <- data_of_three()
  weighted <- posterior_params(fit_of_three(data, weights = rep(2, nrow(data))))$coef_cov
  again <- transform(data, id = factor(paste(id, "again")))
  expect_equal(posterior_params(fit_of_three(rbind(data, again)))$coef_cov, weighted, tolerance = 1e-4)
  one <- posterior_params(fit_of_three(data))$coef_cov[2L, 2L, ]
  other <- posterior_params(fit_of_three(transform(data, t = t * 12 + 2000, y = 10 * y)))$coef_cov[2L, 2L, ]
  expect_equal(1.44 * other, one, tolerance = 1e-3)
})

test_that("sums of individuals whose rows are far apart are those of all their rows", {
  set.seed(1)
  n <- 70000L # more than are added up at once
  individual <- rep_len(1:7, n)
  t <- runif(n)
  y <- rnorm(n)
  small <- growth_data("one", 1, 30L)
  for (formula in list(y ~ t + (1 + t | id), y ~ 0 + t + (0 + t | id))) {
    obs <- growth_fit(small, formula)$model$obs
    found <- individual_sums(obs, numbered_individuals(new_bnp_data(cbind(y, t)), individual, letters[1:7]))
    z <- (t - obs$centre[2L]) / obs$unit[2L]
    v <- (y - obs$centre[1L]) / obs$unit[1L]
    by_hand <- rowsum(cbind(1, if (obs$intercept) z, z^2, if (obs$intercept) v, z * v, v^2), individual)
    expect_equal(unname(found), unname(by_hand), tolerance = 1e-12)
    expect_identical(rownames(found), letters[1:7])
  }
})

test_that("a single coefficient, with a single cluster, has an interval", {
  data <- growth_data("one", 2, 40L)
  for (random in list(~ 1, ~ 0 + t)) for (shared in c(TRUE, FALSE)) {
    formula <- as.formula(call("~", quote(y), random[[2L]]))
    obs <- obs_regression(random = random, shared = shared)
    fit <- bnp_mixture(formula, data, obs, prior_dirichlet(1), id = ~ id, control = bnp_control(seed = 1))
    expect_identical(dim(posterior_params(fit)$coef_cov), c(1L, 1L, 1L))
    interval <- confint(fit, parm = "coef")
    expect_true(interval[1L] < coef(fit)$coef[1L] && coef(fit)$coef[1L] < interval[2L])
  }
})
