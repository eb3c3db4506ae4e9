# Logistic and negative binomial regressions in plain R, by the formulas of their bound.

tangent <- function(c) ifelse(c < 1e-4, 0.25 - c^2 / 48, tanh(c / 2) / (2 * c))
log_2cosh <- function(c) c / 2 + log1p(exp(-c)) # of c / 2

# What each row's likelihood is: exp(constant + kappa psi) / (2 cosh(psi / 2))^m, psi = offset + x'b.
glm_rows <- function(y, m = rep(1, length(y)), size = NULL, offset = 0 * y) {
  if (is.null(size)) {
    return(list(m = m, kappa = y - m / 2, constant = lchoose(m, y), offset = offset))
  }
  list(
    m = y + size, kappa = (y - size) / 2, constant = lgamma(y + size) - lgamma(size) - lgamma(y + 1),
    offset = offset - log(size)
  )
}

# T of one cluster from q(b) = N(b$mean, b$cov), for rows of which it has the shares r.
glm_statistic <- function(rows, x, r, b) {
  psi <- rows$offset + drop(x %*% b$mean)
  c <- sqrt(psi^2 + rowSums((x %*% b$cov) * x))
  w <- rows$m * tangent(c)
  list(
    linear = colSums(r * (rows$kappa - w * rows$offset) * x), quadratic = crossprod(x, r * w * x),
    constant = sum(r * (rows$constant + rows$kappa * rows$offset - w * rows$offset^2 / 2 + w * c^2 / 2 -
      rows$m * log_2cosh(c)))
  )
}

# The evidence of such sums, and q(b).
glm_evidence <- function(t, mean, precision) {
  after <- precision + t$quadratic
  cov <- solve(after)
  b <- drop(cov %*% (precision %*% mean + t$linear))
  list(
    value = (log_det(precision) - log_det(after)) / 2 + t$constant +
      drop(b %*% after %*% b - mean %*% precision %*% mean) / 2,
    mean = b, cov = cov
  )
}

# The bound of one cluster at its optimum.
glm_fixed_point <- function(rows, x, precision, mean = rep(0, ncol(x)), r = rep(1, nrow(x)), laps = 2000) {
  q <- list(mean = mean, cov = solve(precision))
  for (lap in seq_len(laps)) q <- glm_evidence(glm_statistic(rows, x, r, q), mean, precision)
  q
}

# log of the evidence of one cluster with two coefficients, by a grid around the mode.
glm_quadrature <- function(rows, x, precision, mean = c(0, 0)) {
  log_joint <- function(b) {
    psi <- rows$offset + x %*% t(b)
    away <- b - rep(mean, each = nrow(b))
    colSums(rows$constant + rows$kappa * psi - rows$m * (abs(psi) / 2 + log1p(exp(-abs(psi))))) -
      rowSums((away %*% precision) * away) / 2 + log_det(precision) / 2 - log(2 * pi)
  }
  top <- stats::optim(mean, function(b) -log_joint(t(b)), hessian = TRUE, control = list(reltol = 1e-14, maxit = 5000))
  root <- t(chol(solve(top$hessian)))
  node <- seq(-9, 9, 0.12)
  grid <- as.matrix(expand.grid(node, node))
  value <- log_joint(grid %*% t(root) + rep(top$par, each = nrow(grid)))
  max(value) + log(sum(exp(value - max(value)))) + log(prod(diag(root))) + 2 * log(0.12)
}

six <- data.frame(x = c(-1.5, -0.7, -0.2, 0.4, 1.1, 1.9), one = c(0, 1, 0, 1, 1, 1), two = c(0, 0, 1, 1, 0, 1))

glm_control <- function(..., moves = FALSE) {
  bnp_control(moves = moves, verbose = FALSE, max_laps = 2000, tol = 1e-13, restarts = 1, ...)
}

# Trials in five sessions, states (0, 4), (2, .8), (-2, .8) that last.
planted_choices <- function(seed, n = 2500, stay = 0.97) {
  withr::with_seed(seed, {
    state <- integer(n)
    state[1] <- 1L
    for (t in 2:n) state[t] <- if (stats::runif(1) < stay) state[t - 1] else sample(setdiff(1:3, state[t - 1]), 1)
    x <- stats::rnorm(n)
    b <- rbind(c(0, 4), c(2, 0.8), c(-2, 0.8))
    y <- stats::rbinom(n, 1, stats::plogis(b[state, 1] + b[state, 2] * x))
    data.frame(x, y, state, session = rep(1:5, length.out = n, each = ceiling(n / 5)))
  })
}
