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

# Models whose rows have tangents, which are those at b = 0 where features are asked for (obs_glm.cpp).
is_glm_case <- function(case) case$model$obs$family %in% c("binomial_regression", "negbinomial_regression")

# The twin of helper-models.R of a cluster with such rows, for each size of counts: all is averaged over them.
twin_glm <- function(obs) {
  sizes <- if (is.null(obs$size)) list(NULL) else as.list(obs$size)
  v <- obs$scaled_precision
  start <- list(mean = 0 * obs$coef_mean, cov = 0 * v)
  rows_of <- function(x, size) {
    trials <- if (obs$responses == 2L) x[, 1] + x[, 2] else rep(1, nrow(x))
    offset <- if (isTRUE(obs$offset)) x[, obs$responses + 1L] else 0 * x[, 1]
    glm_rows(x[, 1], trials, size, offset)
  }
  design <- function(x) {
    at <- x[, -seq_len(obs$responses + isTRUE(obs$offset)), drop = FALSE]
    if (obs$intercept) cbind(1, at) else at
  }
  posterior <- function(x, r) {
    z <- design(x)
    each <- lapply(sizes, function(size) {
      rows <- rows_of(x, size)
      q <- glm_evidence(glm_statistic(rows, z, r, start), obs$coef_mean, v)
      p <- stats::plogis(rows$offset) # at the tangents
      c(q, list(curved = solve(v + crossprod(z, r * rows$m * p * (1 - p) * z))))
    })
    value <- vapply(each, `[[`, 1, "value")
    list(each = each, share = exp(value - max(value)) / sum(exp(value - max(value))),
      evidence = max(value) + log(mean(exp(value - max(value)))))
  }
  average <- function(q, f) Reduce(`+`, Map(function(one, share) share * f(one), q$each, q$share))
  arrays <- function(q) {
    mean <- average(q, function(one) one$mean)
    cov <- average(q, function(one) one$curved + tcrossprod(one$mean - mean))
    c(list(coef_mean = mean, coef_cov = cov), if (!is.null(obs$size)) list(size_prob = q$share))
  }
  # f(q, rows, mean of psi, x) summed over sizes with their shares
  over_sizes <- function(x, r, new, f) {
    q <- posterior(x, r)
    z <- design(new)
    Reduce(`+`, Map(function(one, size, share) {
      rows <- rows_of(new, size)
      share * f(one, rows, rows$offset + drop(z %*% one$mean), z)
    }, q$each, sizes, q$share))
  }
  list(
    evidence = function(x, r) posterior(x, r)$evidence,
    expected = function(x, r, new) over_sizes(x, r, new, function(q, rows, psi, z) {
      second <- psi^2 + rowSums((z %*% q$cov) * z)
      c <- abs(rows$offset)
      rows$constant + rows$kappa * psi - rows$m * tangent(c) * (second - c^2) / 2 - rows$m * log_2cosh(c)
    }),
    predictive = function(x, r, new) { # with the tangents of the new row at 0, too; test-glm.R has the integral
      before <- posterior(x, r)$evidence
      vapply(seq_len(nrow(new)), function(i) posterior(rbind(x, new[i, ]), c(r, 1))$evidence - before, 1)
    },
    posterior = function(x, r) arrays(posterior(x, r)),
    mean_parameters = function(x, r) {
      q <- posterior(x, r)
      c(list(coef = average(q, function(one) one$mean)), if (!is.null(obs$size)) list(size = sum(q$share * obs$size)))
    }
  )
}

# Cases of helper-models.R.
new_glm_cases <- function(counts) {
  withr::with_seed(6, {
    asked <- cbind(rpois(40, 2), rpois(40, 3), rnorm(40), rnorm(40), 3 + rnorm(40), rnorm(40))
    yes_no <- list(
      family = "binomial_regression", responses = 2L, offset = TRUE, intercept = TRUE,
      coef_mean = c(0.3, -0.2, 0.5, 0.1), scaled_precision = random_definite(4), origin = rep(0, 3),
      spread = rep(1, 3), centre = c(0, 0, 0, 0.2, 3, 0.1), unit = c(1, 1, 1, 2, 0.5, 1)
    )
    no_intercept <- utils::modifyList(yes_no, list(
      intercept = FALSE, coef_mean = c(-0.2, 0.5), scaled_precision = random_definite(2), origin = c(0, 0),
      spread = c(1, 1), centre = rep(0, 5), unit = c(1, 1, 1, 2, 0.5)
    ))
    counted <- utils::modifyList(yes_no, list(
      family = "negbinomial_regression", responses = 1L, coef_mean = c(0.3, -0.2, 0.5), size = c(0.5, 2, 8),
      scaled_precision = random_definite(3), origin = c(0, 0), spread = c(1, 1), centre = c(0, 0, 3, 0.1),
      unit = c(1, 1, 2, 0.5)
    ))
    list(
      yes_no = case("binomial_regression", yes_no, asked, twin_glm),
      no_intercept = case("binomial_regression, no intercept", no_intercept, asked[, -4], twin_glm),
      counts = case("negbinomial_regression", counted, cbind(counts, 0.3 * asked[, 4], asked[, 5:6]), twin_glm)
    )
  })
}
