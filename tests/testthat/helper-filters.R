# A system of one variable and two modes with rows, from which all paths can be listed.
small_system <- function(...) {
  given <- list(
    A = c(0.9, -0.5), Q = c(0.3, 0.6), C = 1, R = 0.25, start_mean = 0, start_var = 2, start = c(0.6, 0.4),
    transition = rbind(c(0.9, 0.1), c(0.2, 0.8))
  )
  do.call(lds_model, utils::modifyList(given, list(...)))
}
small_rows <- c(0.3, -0.8, 1.1, 0.4, 2, 1.7)

# Two state variables seen through three columns with correlated noise and intercepts, three modes.
wide_system <- function() {
  turn <- function(angle, r) r * rbind(c(cos(angle), -sin(angle)), c(sin(angle), cos(angle)))
  lds_model(
    A = array(
      c(cbind(turn(0.1, 0.9), c(0.1, 0)), cbind(turn(1, 0.8), 0), cbind(turn(-0.5, 0.5), c(0, -0.3))), c(2, 3, 3)
    ),
    Q = array(c(diag(2) * 0.3, diag(2), 0.5, 0.2, 0.2, 0.4), c(2, 2, 3)),
    C = rbind(a = c(1, 0, 0), b = c(0, 1, 2), c = c(0.5, -0.5, 0)), R = diag(c(0.3, 0.2, 0.4)) + 0.1,
    start_mean = c(0, 1), start_var = 2, start = c(0.5, 0.3, 0.2),
    transition = rbind(c(0.8, 0.1, 0.1), c(0.3, 0.7, 0), c(0.2, 0.2, 0.6))
  )
}

# Two modes that differ in everything, the second with a dead sensor, and an input. Arguments take the place of some.
fault_system <- function(...) {
  slices <- function(...) array(c(...), c(2, 2, 2))
  given <- list(
    A = slices(0.9, 0.1, -0.2, 0.8, -0.5, 0.3, 0, 0.7), Q = slices(diag(c(0.3, 0.2)), diag(c(0.6, 0.1))),
    C = slices(1, 0.5, 0, 1, 1, 0, 0, 0), R = slices(0.25, 0.05, 0.05, 0.4, 0.25, 0, 0, 3),
    F = array(c(0.5, -0.2, 1, 0.4), c(2, 1, 2)), G = array(c(0.1, 0, -0.3, 0.2), c(2, 1, 2)),
    start_mean = c(0, 0.5), start_var = 1, start = c(0.6, 0.4), transition = rbind(c(0.9, 0.1), c(0.2, 0.8))
  )
  do.call(lds_model, utils::modifyList(given, list(...)))
}
fault_rows <- rbind(c(0.3, 0.1), c(-0.8, 0.5), c(1.1, NA), c(0.4, -1), c(2, 0.7))
fault_inputs <- c(0.5, -1, 0.8, 1.5, 0)

# What a system has for all modes, or for each.
of_mode <- function(x, k) if (length(dim(x)) == 3L) array(x[, , k], dim(x)[1:2]) else x
differs_by_mode <- function(model) any(lengths(lapply(model[c("C", "R", "G")], dim)) == 3L)

named_rows <- function(n) matrix(rnorm(3 * n, sd = 2), n, dimnames = list(NULL, c("a", "b", "c")))

# log p of rows (n x D, NA missing) with inputs u (n x q) given modes z of all rows (of the first, NA: it has none), by
# the joint Gaussian of all cells: no recursion at all. Also mean and variance of the last state.
dense_given_path <- function(model, y, z, u = matrix(0, nrow(y), 0)) {
  m <- nrow(model$A)
  n <- nrow(y)
  mean <- matrix(0, m, n)
  cov <- matrix(list(), n, n)
  mean[, 1] <- model$start_mean
  cov[[1, 1]] <- model$start_var
  for (t in seq_len(n)[-1]) {
    a <- matrix(model$A[, seq_len(m), z[t]], m)
    mean[, t] <- a %*% mean[, t - 1] + model$A[, m + 1, z[t]]
    if (ncol(u)) mean[, t] <- mean[, t] + of_mode(model$F, z[t]) %*% u[t, ]
    for (s in seq_len(t - 1)) {
      cov[[t, s]] <- a %*% cov[[t - 1, s]]
      cov[[s, t]] <- t(cov[[t, s]])
    }
    cov[[t, t]] <- a %*% cov[[t - 1, t - 1]] %*% t(a) + model$Q[, , z[t]]
  }
  all <- do.call(rbind, lapply(seq_len(n), function(t) do.call(cbind, cov[t, ])))
  d <- ncol(y)
  c <- matrix(0, n * d, n * m)
  noise <- matrix(0, n * d, n * d)
  expected <- matrix(0, d, n)
  for (t in seq_len(n)) {
    here <- (t - 1) * d + seq_len(d)
    c_t <- of_mode(model$C, z[t])
    c[here, (t - 1) * m + seq_len(m)] <- c_t[, seq_len(m)]
    noise[here, here] <- of_mode(model$R, z[t])
    expected[, t] <- c_t %*% c(mean[, t], 1)
    if (ncol(u)) expected[, t] <- expected[, t] + of_mode(model$G, z[t]) %*% u[t, ]
  }
  seen <- !is.na(t(y))
  s <- (c %*% all %*% t(c) + noise)[seen, seen, drop = FALSE]
  off <- (t(y) - expected)[seen]
  last <- (n - 1) * m + seq_len(m)
  squares <- if (length(off)) determinant(s)$modulus + sum(off * solve(s, off)) else 0
  log_p <- -0.5 * (length(off) * log(2 * pi) + squares)
  gain <- if (length(off)) all[last, ] %*% t(c[seen, , drop = FALSE]) %*% solve(s) else matrix(0, m, 0)
  list(
    log_p = as.numeric(log_p), mean = mean[, n] + drop(gain %*% off),
    var = all[last, last, drop = FALSE] - gain %*% (c[seen, , drop = FALSE] %*% all[, last, drop = FALSE])
  )
}

# list(log_p, smoothed (n x K), mean, var of the last state), by a sum over all paths.
enumerated <- function(model, y, u = NULL) {
  y <- as.matrix(y)
  k <- length(model$start)
  n <- nrow(y)
  u <- if (is.null(u)) matrix(0, n, 0) else as.matrix(u)
  without <- if (differs_by_mode(model)) 0L else 1L # rows without a mode
  paths <- unname(as.matrix(expand.grid(rep(list(seq_len(k)), n - without))))
  each <- lapply(seq_len(nrow(paths)), function(i) dense_given_path(model, y, c(rep(NA, without), paths[i, ]), u))
  prior <- apply(paths, 1, function(z) {
    model$start[z[1]] * prod(model$transition[cbind(z[-length(z)], z[-1])])
  })
  value <- log(prior) + vapply(each, `[[`, 1, "log_p")
  top <- max(value)
  share <- exp(value - top) / sum(exp(value - top))
  mean <- Reduce(`+`, Map(function(e, w) w * e$mean, each, share))
  list(
    log_p = top + log(sum(exp(value - top))),
    smoothed = rbind(
      if (without) NA, t(apply(paths, 2, function(z) vapply(seq_len(k), function(j) sum(share[z == j]), 1)))
    ),
    mean = mean,
    var = Reduce(`+`, Map(function(e, w) w * (e$var + tcrossprod(e$mean - mean)), each, share))
  )
}

# A filter that keeps every path has what enumerated() has.
expect_enumerated <- function(f, want, model) {
  expect_equal(as.numeric(logLik(f)), want$log_p, tolerance = 1e-10)
  expect_equal(unname(filter_probs(f, "smoothed")), want$smoothed, tolerance = 1e-9, ignore_attr = TRUE)
  rows <- as.data.frame(f)
  last <- rows[nrow(rows), ]
  expect_equal(unlist(last[paste0("mean.", model$states)]), want$mean, tolerance = 1e-9, ignore_attr = TRUE)
  sd <- sqrt(pmax(0, diag(want$var)))
  expect_equal(unlist(last[paste0("sd.", model$states)]), sd, tolerance = 1e-9, ignore_attr = TRUE)
}
