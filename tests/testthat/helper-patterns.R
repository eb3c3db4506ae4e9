# A plain-R twin of chains with known transitions, for rows of a Gaussian of variance 1 whose mean is N(0, 10).

# Evidence of one state with these rows, which may be counted in parts: n, sum, sum of squares.
twin_state_evidence <- function(n, s, q) {
  -n / 2 * log(2 * pi) - 0.5 * log1p(10 * n) - 0.5 * (q - s^2 / (n + 0.1))
}

# weight, fixed: (k + 1) x k, of free cells and of fixed ones; 0 elsewhere.
twin_cells <- function(start, rows, fixed = matrix(0, length(start), length(start))) {
  list(weight = rbind(start, rows * (fixed == 0)), fixed = rbind(0, fixed))
}

twin_log_share <- function(cells) log(pmax(1 - rowSums(cells$fixed), 0))

# Of expected (or whole) counts (k + 1) x k: log evidence of the paths, transitions integrated out.
twin_rows_value <- function(m, cells) {
  free <- cells$weight > 0
  value <- sum(m[cells$fixed > 0] * log(cells$fixed[cells$fixed > 0]))
  for (row in which(rowSums(free) > 0)) {
    a <- cells$weight[row, free[row, ]]
    n <- m[row, free[row, ]]
    value <- value + sum(lgamma(a + n) - lgamma(a)) + lgamma(sum(a)) - lgamma(sum(a) + sum(n))
    if (sum(n) > 0) value <- value + sum(n) * twin_log_share(cells)[row]
  }
  value
}

# E log P, -Inf where forbidden.
twin_expected <- function(m, cells) {
  a <- (cells$weight + m) * (cells$weight > 0)
  out <- suppressWarnings(digamma(a) - digamma(rowSums(a))) + twin_log_share(cells)
  ifelse(cells$fixed > 0, log(cells$fixed), ifelse(cells$weight > 0, out, -Inf))
}

# Laps from responsibilities, by enumeration of all paths. allowed: n x k.
twin_chain <- function(x, cells, resp, allowed = resp * 0 + 1, laps = 200) {
  k <- ncol(resp)
  m <- twin_rows(resp, c(0, nrow(resp)))
  m <- rbind(m$start, m$transition) * (cells$weight > 0 | cells$fixed > 0)
  bound <- -Inf
  for (lap in seq_len(laps)) {
    n <- colSums(resp)
    v <- 1 / (n + 0.1)
    mean <- v * colSums(resp * x)
    log_p <- twin_expected(m, cells)
    log_e <- -0.5 * log(2 * pi) - 0.5 * (outer(x, mean, `-`)^2 + rep(v, each = length(x))) + log(allowed)
    q <- enumerate_paths(log_p[1, ], log_p[-1, ], log_e)
    resp <- q$resp
    m <- rbind(q$start, q$transition)
    before <- bound
    of_states <- twin_state_evidence(colSums(resp), colSums(resp * x), colSums(resp * x^2))
    bound <- sum(of_states) + twin_rows_value(m, cells) + q$entropy
    if (lap > 2 && bound - before < 1e-13) break
  }
  list(bound = bound, resp = resp, counts = m, entropy = q$entropy, path = q$path, fell = before - bound)
}

# log p(x, z is allowed), summed over all paths.
twin_log_evidence <- function(x, cells, allowed = matrix(1, length(x), ncol(cells$weight))) {
  k <- ncol(cells$weight)
  n <- length(x)
  paths <- as.matrix(expand.grid(rep(list(seq_len(k)), n)))
  value <- apply(paths, 1, function(z) {
    if (!all(allowed[cbind(seq_len(n), z)] > 0)) {
      return(-Inf)
    }
    m <- rbind(tabulate(z[1], k), table(factor(z[-n], seq_len(k)), factor(z[-1], seq_len(k))))
    if (any(m[cells$weight == 0 & cells$fixed == 0] > 0)) {
      return(-Inf)
    }
    of_states <- vapply(seq_len(k), function(j) twin_state_evidence(sum(z == j), sum(x[z == j]), sum(x[z == j]^2)), 1)
    sum(of_states) + twin_rows_value(m, cells)
  })
  max(value) + log(sum(exp(value - max(value))))
}

pattern_x <- c(-1.2, -0.8, 1.4, 0.9, 1.8, -0.5, 0.2)
# A variance that is as good as known: bounds are off by some 1e-6.
unit_variance <- obs_gaussian(mean = 0, mean_strength = 0.1, df = 1e6, scale = 1e6)

# Responsibilities near a path.
near_path <- function(path, k = 3, sure = 0.98) {
  resp <- matrix((1 - sure) / (k - 1), length(path), k)
  resp[cbind(seq_along(path), path)] <- sure
  resp
}

# Four stages of which two are alike: means 0, 1, 0, 2.
four_stages <- function(seed, sequences = 10) {
  withr::with_seed(seed, {
    z <- lapply(seq_len(sequences), function(i) rep(1:4, sample(15:30, 4, TRUE)))
    list(x = lapply(z, function(z) cbind(x = rnorm(length(z), c(0, 1, 0, 2)[z], 0.5))), z = unlist(z))
  })
}
