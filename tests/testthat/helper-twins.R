# Slow twins of the observation models, from the textbook formulas in the user's units: no features,
# no centring, no factorisation shared with the engine. Each is made from a model's prior and gives
# - evidence: log p(rows | prior), row i counted r_i times;
# - expected: E_q log p(row | parameters) for the rows `new`, q the posterior given (x, r);
# - predictive: log p(row | rows counted r) for the rows `new`;
# - posterior and mean_parameters: those of one cluster, with the engine's names.
# x and new are matrices with one row per modelled row.

multigamma <- function(d, a) d * (d - 1) / 4 * log(pi) + sum(lgamma(a + (1 - seq_len(d)) / 2))
log_det <- function(a) if (length(a)) as.numeric(determinant(a)$modulus) else 0
quadratic <- function(e, a) rowSums((e %*% solve(a)) * e)
expected_log_det <- function(df, scale) {
  d <- nrow(scale)
  sum(digamma((df + 1 - seq_len(d)) / 2)) + d * log(2) - log_det(scale)
}
log_t <- function(e, df, sigma) {
  d <- ncol(e)
  lgamma((df + d) / 2) - lgamma(df / 2) - d / 2 * log(df * pi) - log_det(sigma) / 2 -
    (df + d) / 2 * log1p(quadratic(e, sigma) / df)
}

twin_gaussian_full <- function(obs) {
  d <- length(obs$mean)
  post <- function(x, r) {
    n <- sum(r)
    centre <- if (n > 0) colSums(r * x) / n else obs$mean
    e <- sweep(x, 2, centre)
    strength <- obs$mean_strength + n
    gap <- centre - obs$mean
    list(
      mean = (obs$mean_strength * obs$mean + n * centre) / strength,
      mean_strength = strength, df = obs$df + n,
      scale = obs$scale + crossprod(e, r * e) + obs$mean_strength * n / strength * tcrossprod(gap)
    )
  }
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      -sum(r) * d / 2 * log(pi) + multigamma(d, q$df / 2) - multigamma(d, obs$df / 2) +
        obs$df / 2 * log_det(obs$scale) - q$df / 2 * log_det(q$scale) +
        d / 2 * (log(obs$mean_strength) - log(q$mean_strength))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      (expected_log_det(q$df, q$scale) - d * log(2 * pi) - d / q$mean_strength -
        q$df * quadratic(sweep(new, 2, q$mean), q$scale)) / 2
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      df <- q$df - d + 1
      log_t(sweep(new, 2, q$mean), df, q$scale * (q$mean_strength + 1) / (q$mean_strength * df))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(mean = q$mean, cov = q$scale / (q$df - d - 1))
    }
  )
}

twin_gaussian_diagonal <- function(obs) {
  d <- length(obs$mean)
  column <- function(j) {
    twin_gaussian_full(list(
      mean = obs$mean[j], mean_strength = obs$mean_strength, df = obs$df,
      scale = matrix(obs$scale[j])
    ))
  }
  for_column <- function(what) {
    function(x, r, new) {
      Reduce(`+`, lapply(seq_len(d), function(j) {
        column(j)[[what]](x[, j, drop = FALSE], r, new[, j, drop = FALSE])
      }))
    }
  }
  each <- function(what, x, r) {
    lapply(seq_len(d), function(j) column(j)[[what]](x[, j, drop = FALSE], r))
  }
  pick <- function(q, name) vapply(q, function(z) as.numeric(z[[name]]), 0)
  list(
    evidence = function(x, r) sum(unlist(each("evidence", x, r))),
    expected = for_column("expected"),
    predictive = for_column("predictive"),
    posterior = function(x, r) {
      q <- each("posterior", x, r)
      list(
        mean = pick(q, "mean"), mean_strength = q[[1]]$mean_strength, df = q[[1]]$df,
        scale = pick(q, "scale")
      )
    },
    mean_parameters = function(x, r) {
      q <- each("mean_parameters", x, r)
      list(mean = pick(q, "mean"), cov = diag(pick(q, "cov"), d))
    }
  )
}

# Rounded rows: each is shared out among the corners of a box that has the mean and the variance of its cell, so that
# features which are quadratic have the mean that they have over the cell. Predictives are those of rows as they are.
twin_rounded <- function(twin) {
  function(obs) {
    inner <- twin(obs)
    width <- obs$rounding
    corners <- as.matrix(expand.grid(rep(list(c(-1, 1)), length(width))))
    corners <- corners * rep(width / sqrt(12), each = nrow(corners))
    m <- nrow(corners)
    in_cell <- function(x) {
      x[rep(seq_len(nrow(x)), each = m), , drop = FALSE] + corners[rep(seq_len(m), nrow(x)), , drop = FALSE]
    }
    shared <- function(r) rep(r, each = m) / m
    of_cells <- function(what) function(x, r) inner[[what]](in_cell(x), shared(r))
    list(
      evidence = of_cells("evidence"),
      expected = function(x, r, new) colMeans(matrix(inner$expected(in_cell(x), shared(r), in_cell(new)), m)),
      predictive = function(x, r, new) inner$predictive(in_cell(x), shared(r), new),
      posterior = of_cells("posterior"), mean_parameters = of_cells("mean_parameters")
    )
  }
}

# Rows as long vectors of one-dimensional values that share a precision but not their means.
twin_gaussian_spherical <- function(obs) {
  d <- length(obs$mean)
  post <- function(x, r) {
    n <- sum(r)
    centre <- if (n > 0) colSums(r * x) / n else obs$mean
    strength <- obs$mean_strength + n
    within <- sum(r * rowSums(sweep(x, 2, centre)^2))
    list(
      mean = (obs$mean_strength * obs$mean + n * centre) / strength, mean_strength = strength, df = obs$df + n * d,
      scale = obs$scale + within + obs$mean_strength * n / strength * sum((centre - obs$mean)^2)
    )
  }
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      -sum(r) * d / 2 * log(pi) + lgamma(q$df / 2) - lgamma(obs$df / 2) + obs$df / 2 * log(obs$scale) -
        q$df / 2 * log(q$scale) + d / 2 * (log(obs$mean_strength) - log(q$mean_strength))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      d / 2 * (digamma(q$df / 2) - log(q$scale / 2) - log(2 * pi) - 1 / q$mean_strength) -
        q$df / q$scale * rowSums(sweep(new, 2, q$mean)^2) / 2
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      log_t(sweep(new, 2, q$mean), q$df, diag(q$scale * (1 + 1 / q$mean_strength) / q$df, d))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(mean = q$mean, cov = diag(q$scale / (q$df - 2), d))
    }
  )
}

# Rows of one cluster are jointly normal: each column has the covariance variance * (I + 11' / mean_strength).
twin_gaussian_tied <- function(obs) {
  d <- length(obs$mean)
  cov <- if (is.matrix(obs$variance)) obs$variance else diag(obs$variance, d)
  post <- function(x, r) {
    strength <- obs$mean_strength + sum(r)
    list(mean = (obs$mean_strength * obs$mean + colSums(r * x)) / strength, mean_strength = strength, cov = cov)
  }
  log_normal <- function(e, cov) -(d * log(2 * pi) + log_det(cov) + quadratic(e, cov)) / 2
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      prior <- log_normal(t(q$mean - obs$mean), cov / obs$mean_strength)
      prior + sum(r * log_normal(sweep(x, 2, q$mean), cov)) - log_normal(t(rep(0, d)), cov / q$mean_strength)
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      log_normal(sweep(new, 2, q$mean), cov) - d / q$mean_strength / 2
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      log_normal(sweep(new, 2, q$mean), cov * (1 + 1 / q$mean_strength))
    },
    posterior = post,
    mean_parameters = function(x, r) post(x, r)[c("mean", "cov")]
  )
}

twin_gaussian_zero_mean <- function(obs) {
  d <- nrow(obs$scale)
  post <- function(x, r) list(df = obs$df + sum(r), scale = obs$scale + crossprod(x, r * x))
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      -sum(r) * d / 2 * log(pi) + multigamma(d, q$df / 2) - multigamma(d, obs$df / 2) +
        obs$df / 2 * log_det(obs$scale) - q$df / 2 * log_det(q$scale)
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      (expected_log_det(q$df, q$scale) - d * log(2 * pi) - q$df * quadratic(new, q$scale)) / 2
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      log_t(new, q$df - d + 1, q$scale / (q$df - d + 1))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(cov = q$scale / (q$df - d - 1))
    }
  )
}

# A row is (y, z), see lagged_rows(); least squares with prior rows.
twin_ar <- function(obs) {
  d <- nrow(obs$scale)
  m <- obs$coef_mean
  v <- obs$coef_precision
  split <- function(x) list(y = x[, seq_len(d), drop = FALSE], z = x[, -seq_len(d), drop = FALSE])
  post <- function(x, r) {
    s <- split(x)
    precision <- v + crossprod(s$z, r * s$z)
    coef <- (m %*% v + crossprod(s$y, r * s$z)) %*% solve(precision)
    e <- s$y - s$z %*% t(coef)
    list(
      coef_mean = coef, coef_precision = precision, df = obs$df + sum(r),
      scale = obs$scale + crossprod(e, r * e) + (coef - m) %*% v %*% t(coef - m)
    )
  }
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      -sum(r) * d / 2 * log(pi) + multigamma(d, q$df / 2) - multigamma(d, obs$df / 2) +
        obs$df / 2 * log_det(obs$scale) - q$df / 2 * log_det(q$scale) +
        d / 2 * (log_det(v) - log_det(q$coef_precision))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      s <- split(new)
      (expected_log_det(q$df, q$scale) - d * log(2 * pi) - d * quadratic(s$z, q$coef_precision) -
        q$df * quadratic(s$y - s$z %*% t(q$coef_mean), q$scale)) / 2
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      s <- split(new)
      e <- s$y - s$z %*% t(q$coef_mean)
      df <- q$df - d + 1
      spread <- 1 + quadratic(s$z, q$coef_precision)
      log_t(e / sqrt(spread), df, q$scale / df) - d / 2 * log(spread)
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(coef = q$coef_mean, cov = q$scale / (q$df - d - 1))
    }
  )
}

twin_multinomial <- function(obs) {
  post <- function(x, r) list(concentration = obs$term_prior + colSums(r * x))
  log_z <- function(a) sum(lgamma(a)) - lgamma(sum(a))
  list(
    evidence = function(x, r) log_z(post(x, r)$concentration) - log_z(obs$term_prior),
    expected = function(x, r, new) {
      a <- post(x, r)$concentration
      as.numeric(new %*% (digamma(a) - digamma(sum(a))))
    },
    predictive = function(x, r, new) {
      a <- post(x, r)$concentration
      apply(new, 1, function(s) log_z(a + s) - log_z(a))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      a <- post(x, r)$concentration
      list(prob = a / sum(a))
    }
  )
}

twin_bernoulli <- function(obs) {
  post <- function(x, r) list(a = obs$a + colSums(r * x), b = obs$b + colSums(r * (1 - x)))
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      sum(lbeta(q$a, q$b) - lbeta(obs$a, obs$b))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      both <- digamma(q$a + q$b)
      as.numeric(new %*% (digamma(q$a) - both) + (1 - new) %*% (digamma(q$b) - both))
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      p <- q$a / (q$a + q$b)
      as.numeric(new %*% log(p) + (1 - new) %*% log(1 - p))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(prob = q$a / (q$a + q$b))
    }
  )
}

# The exposure, where there is one, is the last column.
twin_poisson <- function(obs) {
  counts <- function(x) x[, seq_along(obs$a), drop = FALSE]
  exposure <- function(x) if (obs$exposed) x[, ncol(x)] else rep(1, nrow(x))
  post <- function(x, r) list(a = obs$a + colSums(r * counts(x)), b = obs$b + sum(r * exposure(x)))
  log_base <- function(x) rowSums(counts(x) * log(exposure(x)) - lgamma(counts(x) + 1))
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      sum(obs$a * log(obs$b) - lgamma(obs$a) + lgamma(q$a) - q$a * log(q$b)) + sum(r * log_base(x))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      log_rate <- digamma(q$a) - log(q$b)
      as.numeric(counts(new) %*% log_rate - exposure(new) * sum(q$a / q$b) + log_base(new))
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      prob <- 1 / (1 + outer(exposure(new), q$b, "/"))
      size <- rep(q$a, each = nrow(new))
      rowSums(matrix(stats::dnbinom(counts(new), size, prob, log = TRUE), nrow(new)))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(rate = q$a / q$b)
    }
  )
}

# Compound gamma predictives, x / (x + b) ~ Beta(shape, a).
twin_gamma <- function(obs) {
  s <- obs$shape
  post <- function(x, r) list(a = obs$a + s * sum(r), b = obs$b + colSums(r * x), shape = s)
  log_base <- function(x) as.numeric(log(x) %*% (s - 1) - sum(lgamma(s)))
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      sum(obs$a * log(obs$b) - lgamma(obs$a) + lgamma(q$a) - q$a * log(q$b)) + sum(r * log_base(x))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      sum(s * (digamma(q$a) - log(q$b))) - as.numeric(new %*% (q$a / q$b)) + log_base(new)
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      b <- rep(q$b, each = nrow(new))
      of_share <- stats::dbeta(new / (new + b), rep(s, each = nrow(new)), rep(q$a, each = nrow(new)), log = TRUE)
      rowSums(matrix(of_share + log(b) - 2 * log(new + b), nrow(new)))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(rate = q$a / q$b, shape = s)
    }
  )
}

# Columns: success, failure, success, failure, ...
twin_binomial <- function(obs) {
  success <- function(x) x[, c(TRUE, FALSE), drop = FALSE]
  failure <- function(x) x[, c(FALSE, TRUE), drop = FALSE]
  log_base <- function(x) rowSums(lchoose(success(x) + failure(x), success(x)))
  post <- function(x, r) list(a = obs$a + colSums(r * success(x)), b = obs$b + colSums(r * failure(x)))
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      sum(lbeta(q$a, q$b) - lbeta(obs$a, obs$b)) + sum(r * log_base(x))
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      both <- digamma(q$a + q$b)
      as.numeric(success(new) %*% (digamma(q$a) - both) + failure(new) %*% (digamma(q$b) - both)) + log_base(new)
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      a <- rep(q$a, each = nrow(new))
      b <- rep(q$b, each = nrow(new))
      rowSums(lbeta(a + success(new), b + failure(new)) - lbeta(a, b)) + log_base(new)
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(prob = q$a / (q$a + q$b))
    }
  )
}

# Columns: time and status.
twin_censored <- function(obs) {
  post <- function(x, r) list(a = obs$a + sum(r * x[, 2]), b = obs$b + sum(r * x[, 1]))
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      obs$a * log(obs$b) - lgamma(obs$a) + lgamma(q$a) - q$a * log(q$b)
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      new[, 2] * (digamma(q$a) - log(q$b)) - new[, 1] * q$a / q$b
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      survives <- -q$a * log1p(new[, 1] / q$b)
      survives + new[, 2] * log(q$a / (q$b + new[, 1]))
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(rate = q$a / q$b)
    }
  )
}

# One Dirichlet a column, of counts of its levels; 0 is a cell of no level.
twin_categorical <- function(obs) {
  prior <- split(obs$concentration, rep(seq_along(obs$n_levels), obs$n_levels))
  post <- function(x, r) {
    lapply(seq_along(prior), function(j) prior[[j]] + vapply(seq_along(prior[[j]]), function(l) sum(r[x[, j] == l]), 1))
  }
  log_z <- function(a) sum(lgamma(a)) - lgamma(sum(a))
  look_up <- function(new, value) {
    rowSums(vapply(seq_along(prior), function(j) c(0, value(j))[new[, j] + 1], numeric(nrow(new))))
  }
  list(
    evidence = function(x, r) sum(mapply(function(q, a) log_z(q) - log_z(a), post(x, r), prior)),
    expected = function(x, r, new) {
      q <- post(x, r)
      look_up(new, function(j) digamma(q[[j]]) - digamma(sum(q[[j]])))
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      look_up(new, function(j) log(q[[j]] / sum(q[[j]])))
    },
    posterior = function(x, r) list(concentration = unlist(post(x, r))),
    mean_parameters = function(x, r) list(prob = unlist(lapply(post(x, r), function(a) a / sum(a))))
  )
}

# The sum of the twins of its blocks, each on its own columns.
# Rows are responses, then covariates.
twin_regression <- function(obs) {
  twin <- twin_ar(obs)
  y <- seq_len(obs$responses)
  with_intercept <- function(x) if (obs$intercept) cbind(x[, y, drop = FALSE], 1, x[, -y, drop = FALSE]) else x
  list(
    evidence = function(x, r) twin$evidence(with_intercept(x), r),
    expected = function(x, r, new) twin$expected(with_intercept(x), r, with_intercept(new)),
    predictive = function(x, r, new) twin$predictive(with_intercept(x), r, with_intercept(new)),
    posterior = function(x, r) twin$posterior(with_intercept(x), r),
    mean_parameters = function(x, r) twin$mean_parameters(with_intercept(x), r)
  )
}

twin_product <- function(obs) {
  twin_of <- list(
    gaussian_full = twin_gaussian_full, gaussian_diagonal = twin_gaussian_diagonal, poisson = twin_poisson,
    categorical = twin_categorical, binomial = twin_binomial, censored = twin_censored, regression = twin_regression
  )
  twins <- lapply(obs$blocks, function(block) {
    twin <- twin_of[[block$family]]
    (if (isTRUE(block$gaps)) twin_with_gaps(twin) else twin)(block)
  })
  width <- vapply(obs$blocks, n_block_columns, 1L)
  columns <- split(seq_len(sum(width)), rep(seq_along(width), width))
  own <- function(x, m) x[, columns[[m]], drop = FALSE]
  over_blocks <- function(f) Reduce(`+`, lapply(seq_along(twins), f))
  lists <- function(what, x, r) {
    unlist(lapply(seq_along(twins), function(m) {
      part <- twins[[m]][[what]](own(x, m), r)
      stats::setNames(part, paste(names(twins)[m], names(part), sep = "."))
    }), recursive = FALSE)
  }
  list(
    evidence = function(x, r) over_blocks(function(m) twins[[m]]$evidence(own(x, m), r)),
    expected = function(x, r, new) over_blocks(function(m) twins[[m]]$expected(own(x, m), r, own(new, m))),
    predictive = function(x, r, new) over_blocks(function(m) twins[[m]]$predictive(own(x, m), r, own(new, m))),
    posterior = function(x, r) lists("posterior", x, r),
    mean_parameters = function(x, r) lists("mean_parameters", x, r)
  )
}

# (y, lag 1, lag 2, ..., [1]) of every modelled row of the groups that begin at `starts`.
lagged_rows <- function(x, starts, lag, intercept) {
  at <- unlist(lapply(seq_len(length(starts) - 1L), function(g) {
    rows <- seq_len(starts[g + 1L] - starts[g]) + starts[g]
    rows[-seq_len(lag)]
  }))
  past <- lapply(seq_len(lag), function(l) x[at - l, , drop = FALSE])
  do.call(cbind, c(list(x[at, , drop = FALSE]), past, if (intercept) list(rep(1, length(at)))))
}

# Independent columns with missing cells: each column by itself, with the rows that have it.
twin_with_gaps <- function(twin) {
  function(obs) {
    d <- length(obs$mean %||% obs$a)
    by_column <- intersect(names(obs), c("mean", "scale", "a", "b", "shape", "rounding"))
    column <- function(j) twin(replace(obs, by_column, lapply(obs[by_column], `[`, j)))
    seen <- function(x, j) !is.na(x[, j])
    part <- function(x, j) x[seen(x, j), union(j, if (isTRUE(obs$exposed)) ncol(x)), drop = FALSE]
    of_rows <- function(what) {
      function(x, r, new) {
        out <- double(nrow(new))
        for (j in seq_len(d)) {
          own <- column(j)[[what]](part(x, j), r[seen(x, j)], part(new, j))
          out[seen(new, j)] <- out[seen(new, j)] + own
        }
        out
      }
    }
    arrays <- function(what) {
      function(x, r) {
        each <- lapply(seq_len(d), function(j) column(j)[[what]](part(x, j), r[seen(x, j)]))
        joint <- lapply(stats::setNames(nm = names(each[[1]])), function(name) {
          vapply(each, function(q) as.numeric(q[[name]]), 0)
        })
        if (!is.null(joint$cov)) joint$cov <- diag(joint$cov, d)
        joint
      }
    }
    list(
      evidence = function(x, r) {
        sum(vapply(seq_len(d), function(j) column(j)$evidence(part(x, j), r[seen(x, j)]), 0))
      },
      expected = of_rows("expected"), predictive = of_rows("predictive"), posterior = arrays("posterior"),
      mean_parameters = arrays("mean_parameters")
    )
  }
}

# The coordinates that are there share a precision.
twin_spherical_with_gaps <- function(obs) {
  d <- length(obs$mean)
  sums <- function(x) colSums(replace(x, is.na(x), 0))
  post <- function(x, r) {
    n <- sums(r * !is.na(x))
    centre <- ifelse(n > 0, sums(r * x) / n, obs$mean)
    strength <- obs$mean_strength + n
    within <- sum(sums(r * sweep(x, 2, centre)^2))
    list(
      mean = (obs$mean_strength * obs$mean + n * centre) / strength, mean_strength = strength, df = obs$df + sum(n),
      scale = obs$scale + within + sum(obs$mean_strength * n / strength * (centre - obs$mean)^2)
    )
  }
  list(
    evidence = function(x, r) {
      q <- post(x, r)
      (obs$df - q$df) / 2 * log(pi) + lgamma(q$df / 2) - lgamma(obs$df / 2) + obs$df / 2 * log(obs$scale) -
        q$df / 2 * log(q$scale) + sum(log(obs$mean_strength) - log(q$mean_strength)) / 2
    },
    expected = function(x, r, new) {
      q <- post(x, r)
      own <- digamma(q$df / 2) - log(q$scale / 2) - log(2 * pi) - 1 / q$mean_strength
      rowSums((rep(own, each = nrow(new)) - q$df / q$scale * sweep(new, 2, q$mean)^2) / 2, na.rm = TRUE)
    },
    predictive = function(x, r, new) {
      q <- post(x, r)
      apply(new, 1, function(y) {
        o <- !is.na(y)
        if (any(o)) log_t(t(y[o] - q$mean[o]), q$df, diag(q$scale * (1 + 1 / q$mean_strength[o]) / q$df, sum(o))) else 0
      })
    },
    posterior = post,
    mean_parameters = function(x, r) {
      q <- post(x, r)
      list(mean = q$mean, cov = diag(q$scale / (q$df - 2), d))
    }
  )
}

# Means at all times have a joint normal prior, whose covariance (in units of the cluster's) is written out; the last
# column of x is the number of the row's time.
twin_drift <- function(obs) {
  d <- length(obs$mean)
  times <- length(obs$gap) + 1L
  blocks <- if (is.matrix(obs$scale)) list(list(at = seq_len(d), scale = obs$scale)) else
    lapply(seq_len(d), function(j) list(at = j, scale = matrix(obs$scale[j])))
  passed <- c(0, cumsum(obs$drift * obs$gap))
  prior <- solve(1 / obs$mean_strength + outer(passed, passed, pmin))
  n_at <- function(x, r) vapply(seq_len(times), function(t) sum(r[x[, d + 1L] == t]), 1)
  post <- function(x, r, block) {
    y <- x[, block$at, drop = FALSE]
    sums <- t(vapply(seq_len(times), function(t) {
      colSums(r * y * (x[, d + 1L] == t))
    }, double(length(block$at)))) |> matrix(times)
    start <- matrix(obs$mean[block$at], times, length(block$at), byrow = TRUE)
    precision <- prior + diag(n_at(x, r), times)
    mean <- solve(precision, prior %*% start + sums)
    off <- start - mean
    e <- y - mean[x[, d + 1L], , drop = FALSE]
    list(
      mean = mean, variance = diag(solve(precision)), df = obs$df + sum(r),
      scale = block$scale + crossprod(e, r * e) + t(off) %*% prior %*% off,
      log_det = log_det(prior) - log_det(precision)
    )
  }
  over_blocks <- function(f) Reduce(`+`, lapply(blocks, f))
  each <- function(what, x, r) lapply(blocks, function(block) post(x, r, block)[[what]])
  posterior <- function(x, r) {
    list(
      mean = t(do.call(cbind, each("mean", x, r))), mean_strength = 1 / each("variance", x, r)[[1]],
      df = obs$df + sum(r), scale = if (is.matrix(obs$scale)) each("scale", x, r)[[1]] else unlist(each("scale", x, r)),
      size = n_at(x, r)
    )
  }
  list(
    evidence = function(x, r) over_blocks(function(block) {
      q <- post(x, r, block)
      p <- length(block$at)
      -sum(r) * p / 2 * log(pi) + multigamma(p, q$df / 2) - multigamma(p, obs$df / 2) +
        obs$df / 2 * log_det(block$scale) - q$df / 2 * log_det(q$scale) + p / 2 * q$log_det
    }),
    expected = function(x, r, new) over_blocks(function(block) {
      q <- post(x, r, block)
      p <- length(block$at)
      at <- new[, d + 1L]
      (expected_log_det(q$df, q$scale) - p * log(2 * pi) - p * q$variance[at] -
        q$df * quadratic(new[, block$at, drop = FALSE] - q$mean[at, , drop = FALSE], q$scale)) / 2
    }),
    predictive = function(x, r, new) over_blocks(function(block) {
      q <- post(x, r, block)
      df <- q$df - length(block$at) + 1
      at <- new[, d + 1L]
      spread <- 1 + q$variance[at]
      e <- (new[, block$at, drop = FALSE] - q$mean[at, , drop = FALSE]) / sqrt(spread)
      log_t(e, df, q$scale / df) - length(block$at) / 2 * log(spread)
    }),
    posterior = posterior,
    mean_parameters = function(x, r) {
      q <- posterior(x, r)
      cov <- if (is.matrix(q$scale)) q$scale / (q$df - d - 1) else diag(q$scale / (q$df - 2), d)
      list(mean = q$mean, cov = cov)
    }
  )
}

# Of values whose logarithms are what the other twin is of: each cell that is there has the Jacobian 1 / x.
twin_of_logs <- function(twin) {
  function(obs) {
    inner <- twin(obs)
    log_base <- function(x) -rowSums(log(x), na.rm = TRUE)
    list(
      evidence = function(x, r) inner$evidence(log(x), r) + sum(r * log_base(x)),
      expected = function(x, r, new) inner$expected(log(x), r, log(new)) + log_base(new),
      predictive = function(x, r, new) inner$predictive(log(x), r, log(new)) + log_base(new),
      posterior = function(x, r) inner$posterior(log(x), r),
      mean_parameters = function(x, r) inner$mean_parameters(log(x), r)
    )
  }
}

fine_grid <- function(obs) {
  place <- seq(-6.2, 23, 0.08)
  s <- exp(place - exp(-place))
  structure(s, log_prior = function(prior) {
    stats::dgamma(s, prior[["shape"]], prior[["rate"]], log = TRUE) + place - exp(-place) + log1p(exp(-place)) +
      log(0.08)
  })
}

# Columns with a shape s of their own in each cluster, integrated over by the trapezoid rule on a fine grid.
# given(obs, j) has of column j, for all s: evidence(s, x, r), expected(s, x, r, new) and predictive(s, x, r, new)
# (points x rows), parameters(s, x, r), a list, and means(prob, s, x, r).
twin_of_shapes <- function(given, prior = function(obs) obs$shape, grid = fine_grid) {
  function(obs) {
    s <- grid(obs)
    log_prior <- attr(s, "log_prior")(prior(obs))
    s <- as.vector(s)
    columns <- lapply(seq_len(obs$d %||% length(obs$a)), function(j) given(obs, j))
    log_sum <- function(v) max(v) + log(sum(exp(v - max(v))))
    # With an exposure a cell is list(x, e).
    part <- function(x, j) {
      seen <- !is.na(x[, j])
      beside <- isTRUE(obs$exposed) || isTRUE(obs$censored)
      if (beside) list(x = x[seen, j], e = x[seen, ncol(x)]) else x[seen, j]
    }
    weight <- function(x, r, j) r[!is.na(x[, j])]
    log_post <- function(x, r, j) log_prior + columns[[j]]$evidence(s, part(x, j), weight(x, r, j))
    prob <- function(x, r, j) exp(log_post(x, r, j) - log_sum(log_post(x, r, j)))
    of_rows <- function(f) function(x, r, new) {
      rowSums(vapply(seq_along(columns), function(j) {
        out <- double(nrow(new))
        seen <- !is.na(new[, j])
        if (any(seen)) out[seen] <- f(columns[[j]], x, r, part(new, j), j)
        out
      }, double(nrow(new))))
    }
    by_column <- function(f) vapply(seq_along(columns), f, 1)
    list(
      evidence = function(x, r) sum(by_column(function(j) log_sum(log_post(x, r, j)))),
      expected = of_rows(function(column, x, r, new, j) {
        colSums(prob(x, r, j) * column$expected(s, part(x, j), weight(x, r, j), new))
      }),
      predictive = of_rows(function(column, x, r, new, j) {
        each <- log_post(x, r, j) + column$predictive(s, part(x, j), weight(x, r, j), new)
        apply(each, 2, log_sum) - log_sum(log_post(x, r, j))
      }),
      posterior = function(x, r) {
        over <- function(f) by_column(function(j) sum(prob(x, r, j) * f(j)))
        names <- names(columns[[1]]$parameters(s, part(x, 1), weight(x, r, 1)))
        c(list(shape_node = over(function(j) s), shape_prob = over(function(j) log(s))), lapply(
          stats::setNames(nm = names), function(name) over(function(j) {
            log(pmax(abs(columns[[j]]$parameters(s, part(x, j), weight(x, r, j))[[name]]), 1e-300))
          })
        ))
      },
      mean_parameters = function(x, r) {
        each <- lapply(seq_along(columns), function(j) {
          columns[[j]]$means(prob(x, r, j), s, part(x, j), weight(x, r, j))
        })
        lapply(stats::setNames(nm = names(each[[1]])), function(name) vapply(each, `[[`, 1, name))
      }
    )
  }
}

given_gamma <- function(obs, j) {
  a0 <- obs$a[j]
  post <- function(s, x, r) list(a = a0 + s * sum(r), b = obs$b[j] / s + sum(r * x))
  list(
    evidence = function(s, x, r) {
      q <- post(s, x, r)
      (s - 1) * sum(r * log(x)) - sum(r) * lgamma(s) + lgamma(q$a) - lgamma(a0) + a0 * log(obs$b[j] / s) -
        q$a * log(q$b)
    },
    expected = function(s, x, r, new) {
      q <- post(s, x, r)
      s * (digamma(q$a) - log(q$b)) - lgamma(s) + outer(s - 1, log(new)) - outer(q$a / q$b, new)
    },
    predictive = function(s, x, r, new) {
      q <- post(s, x, r)
      lgamma(q$a + s) - lgamma(q$a) - lgamma(s) + q$a * log(q$b) + outer(s - 1, log(new)) -
        (q$a + s) * log(outer(q$b, new, `+`))
    },
    parameters = post,
    means = function(prob, s, x, r) {
      q <- post(s, x, r)
      list(shape = sum(prob * s), mean = 1 / sum(prob * q$a / (s * q$b)))
    }
  )
}

# exp(-z) I_nu(z): by R's function, whose time grows with z, up to 500, and by Hankel's series beyond, whose fifth term
# is below 1e-14 there.
twin_bessel <- function(z, nu) {
  out <- z
  near <- z < 500
  out[near] <- besselI(z[near], nu, TRUE)
  far <- z[!near]
  term <- sum <- rep(1, length(far))
  for (k in 1:5) {
    term <- -term * (4 * nu^2 - (2 * k - 1)^2) / (8 * k * far)
    sum <- sum + term
  }
  out[!near] <- sum / sqrt(2 * pi * far)
  out
}
twin_ratio <- function(z) twin_bessel(z, 1) / twin_bessel(z, 0)

given_von_mises <- function(obs, j) {
  sums <- function(x, r) sum(r * exp(1i * x))
  i0 <- function(s) -log(2 * pi) - s - log(twin_bessel(s, 0))
  log_i0 <- function(z) z + log(twin_bessel(z, 0))
  list(
    evidence = function(s, x, r) sum(r) * i0(s) + log_i0(s * Mod(sums(x, r))),
    expected = function(s, x, r, new) {
      i0(s) + outer(s * twin_ratio(s * Mod(sums(x, r))), cos(new - Arg(sums(x, r))))
    },
    predictive = function(s, x, r, new) {
      i0(s) + log_i0(outer(s, Mod(sums(x, r) + exp(1i * new)))) - log_i0(s * Mod(sums(x, r)))
    },
    parameters = function(s, x, r) list(location = rep(Arg(sums(x, r)), length(s)), strength = s * Mod(sums(x, r))),
    means = function(prob, s, x, r) list(concentration = sum(prob * s), direction = Arg(sums(x, r)))
  )
}

# Polynomials of degree 39 in log s between its nodes, by Chebyshev polynomials, and tangents beyond.
size_basis <- function(s) {
  ends <- log(c(0.005, 50000))
  node <- cos((2 * 0:39 + 1) * pi / 80)
  values <- function(at) vapply(0:39, function(k) cos(k * acos(at)), double(length(at)))
  slopes <- function(at) vapply(0:39, function(k) k * sin(k * acos(at)) / sin(acos(at)), double(length(at)))
  at <- (log(s) - mean(ends)) / (diff(ends) / 2)
  inside <- pmin(pmax(at, node[40]), node[1])
  basis <- values(inside)
  beyond <- at != inside
  if (any(beyond)) basis[beyond, ] <- basis[beyond, ] + (at - inside)[beyond] * slopes(inside[beyond])
  list(basis = basis %*% solve(values(node)), node = exp(mean(ends) + diff(ends) / 2 * node))
}

# The model as it is computed, with the logarithm of a ratio of Gamma functions interpolated.
given_negative_binomial <- function(obs, j) {
  nodes <- NULL
  f <- function(s, x) {
    if (is.null(nodes)) nodes <<- size_basis(s) # always of the same grid
    size <- outer(nodes$node, x$e)
    nodes$basis %*% (lgamma(size + rep(x$x, each = nrow(size))) - lgamma(size))
  }
  with_exposure <- function(x) if (is.list(x)) x else list(x = x, e = rep(1, length(x)))
  prior_b <- function(s) 1 + obs$a[j] * s / obs$mean[j]
  post <- function(s, x, r) {
    x <- with_exposure(x)
    list(a = rep(obs$a[j] + sum(r * x$x), length(s)), b = prior_b(s) + s * sum(r * x$e))
  }
  list(
    evidence = function(s, x, r) {
      x <- with_exposure(x)
      q <- post(s, x, r)
      of_counts <- if (length(r)) drop(f(s, x) %*% r) else 0
      of_counts + lbeta(q$a, q$b) - lbeta(obs$a[j], prior_b(s)) - sum(r * lgamma(x$x + 1))
    },
    expected = function(s, x, r, new) {
      new <- with_exposure(new)
      q <- post(s, x, r)
      both <- digamma(q$a + q$b)
      f(s, new) + outer(digamma(q$a) - both, new$x) + outer(s * (digamma(q$b) - both), new$e) -
        rep(lgamma(new$x + 1), each = length(s))
    },
    predictive = function(s, x, r, new) {
      new <- with_exposure(new)
      q <- post(s, x, r)
      f(s, new) + lbeta(outer(q$a, new$x, `+`), q$b + outer(s, new$e)) - lbeta(q$a, q$b) -
        rep(lgamma(new$x + 1), each = length(s))
    },
    parameters = post,
    means = function(prob, s, x, r) {
      q <- post(s, x, r)
      list(size = sum(prob * s), mean = q$a[1] / (obs$a[j] / obs$mean[j] + sum(r * with_exposure(x)$e)))
    }
  )
}

# Values that may be 0, beside the twin of positive ones.
twin_with_zeros <- function(twin) {
  function(obs) {
    inner <- twin(obs)
    positive <- function(x) replace(x, which(x == 0), NA)
    counts <- function(x, r) {
      list(zero_a = 0.5 + colSums(r * (x == 0), na.rm = TRUE), zero_b = 0.5 + colSums(r * (x > 0), na.rm = TRUE))
    }
    of_cells <- function(new, zero, above) {
      rowSums(ifelse(new == 0, rep(zero, each = nrow(new)), rep(above, each = nrow(new))), na.rm = TRUE)
    }
    list(
      evidence = function(x, r) {
        q <- counts(x, r)
        inner$evidence(positive(x), r) + sum(lbeta(q$zero_a, q$zero_b) - lbeta(0.5, 0.5))
      },
      expected = function(x, r, new) {
        q <- counts(x, r)
        both <- digamma(q$zero_a + q$zero_b)
        inner$expected(positive(x), r, positive(new)) +
          of_cells(new, digamma(q$zero_a) - both, digamma(q$zero_b) - both)
      },
      predictive = function(x, r, new) {
        q <- counts(x, r)
        share <- q$zero_a / (q$zero_a + q$zero_b)
        inner$predictive(positive(x), r, positive(new)) + of_cells(new, log(share), log1p(-share))
      },
      posterior = function(x, r) c(inner$posterior(positive(x), r), counts(x, r)),
      mean_parameters = function(x, r) {
        q <- counts(x, r)
        c(inner$mean_parameters(positive(x), r), list(zero = q$zero_a / (q$zero_a + q$zero_b)))
      }
    )
  }
}

# The few shapes that there are, by the density of their logarithm.
weibull_grid <- function(obs) {
  s <- 0.1 * (obs$most[1] / 0.1)^(seq(0, obs$points - 1) / (obs$points - 1))
  structure(s, log_prior = function(prior) {
    density <- s * stats::dgamma(s, prior[["shape"]], prior[["rate"]])
    log(density / sum(density))
  })
}

# Given s, theta ~ Gamma(a / s, rate (a / s) m^s) for the hazard theta s x^(s - 1); e: did the event come?
given_weibull <- function(obs, j) {
  a0 <- obs$a[j]
  m <- obs$b[j] / a0
  with_status <- function(x) if (is.list(x)) x else list(x = x, e = rep(1, length(x)))
  power <- function(s, x) exp(outer(s, log(x)))
  post <- function(s, x, r) {
    x <- with_status(x)
    of_rows <- if (length(r)) drop(power(s, x$x) %*% r) else 0
    list(a = a0 / s + sum(r * x$e), b = a0 / s * m^s + of_rows)
  }
  list(
    evidence = function(s, x, r) {
      q <- post(s, x, r)
      x <- with_status(x)
      sum(r * x$e) * log(s) + (s - 1) * sum(r * x$e * log(x$x)) + lgamma(q$a) - lgamma(a0 / s) +
        a0 / s * log(a0 / s * m^s) - q$a * log(q$b)
    },
    expected = function(s, x, r, new) {
      q <- post(s, x, r)
      new <- with_status(new)
      outer(log(s) + digamma(q$a) - log(q$b), new$e) + outer(s - 1, new$e * log(new$x)) - q$a / q$b * power(s, new$x)
    },
    predictive = function(s, x, r, new) {
      q <- post(s, x, r)
      new <- with_status(new)
      outer(log(s * q$a), new$e) + outer(s - 1, new$e * log(new$x)) + q$a * log(q$b) -
        outer(q$a, new$e, `+`) * log(q$b + power(s, new$x))
    },
    parameters = function(s, x, r) {
      q <- post(s, x, r)
      list(a = q$a, b = q$b^(1 / s))
    },
    means = function(prob, s, x, r) {
      q <- post(s, x, r)
      list(shape = sum(prob * s), scale = exp(sum(prob * (log(q$b) - digamma(q$a)) / s)))
    }
  )
}

# Gaussian rows with a scale each, of which `twin` is that without: rows as they are have u = 1, whose density given nu
# is exp(nu / 2 log(nu / 2) - log Gamma(nu / 2) - nu / 2). Averages over nu by the trapezoid rule on a fine grid of its
# logarithm; the predictive over u, too.
twin_of_tails <- function(twin, responses = function(obs) length(obs$mean)) {
  function(obs) {
    inner <- twin(obs)
    d <- responses(obs)
    log_nu <- seq(-25, 13, 0.02)
    nu <- if (length(obs$tails) == 1L) obs$tails else exp(log_nu)
    log_prior <- if (length(obs$tails) == 1L) 0 else
      stats::dgamma(nu, obs$tails[[1]], obs$tails[[2]], log = TRUE) + log_nu + log(0.02)
    log_scale <- function(u) nu / 2 * log(nu / 2) - lgamma(nu / 2) + (nu / 2 - 1) * log(u) - nu / 2 * u
    log_sum <- function(v) max(v) + log(sum(exp(v - max(v))))
    log_post <- function(r) log_prior + sum(r) * log_scale(1)
    prob <- function(r) exp(log_post(r) - log_sum(log_post(r)))
    log_u <- seq(-45, 5, 0.02)
    list(
      evidence = function(x, r) inner$evidence(x, r) + log_sum(log_post(r)),
      expected = function(x, r, new) inner$expected(x, r, new) + sum(prob(r) * log_scale(1)),
      predictive = function(x, r, new) {
        p <- prob(r)
        weight <- vapply(log_u, function(v) log(sum(p * exp(log_scale(exp(v)) + v))), 1)
        q <- inner$posterior(x, r)
        at_scale <- vapply(log_u, function(v) student_given_scale(obs, q, new, exp(v)), double(nrow(new)))
        at_scale <- matrix(at_scale, nrow(new))
        apply(sweep(at_scale, 2, weight, "+"), 1, log_sum) + log(0.02)
      },
      posterior = function(x, r) {
        c(inner$posterior(x, r), list(tails_node = sum(prob(r) * nu), tails_prob = sum(prob(r) * log(nu))))
      },
      mean_parameters = function(x, r) c(inner$mean_parameters(x, r), list(tails = sum(prob(r) * nu)))
    )
  }
}

# log density of rows with the scale u, of a Gaussian cluster, a regression or an autoregression with the posterior q.
student_given_scale <- function(obs, q, new, u) {
  if (is.null(q$coef_mean)) {
    e <- sweep(new, 2, q$mean)
    spread <- rep(1 / u + 1 / q$mean_strength, nrow(new))
  } else {
    y <- seq_len(nrow(q$scale))
    z <- new[, -y, drop = FALSE]
    if (!is.null(obs$responses) && obs$intercept) z <- cbind(1, z)
    e <- new[, y, drop = FALSE] - z %*% t(q$coef_mean)
    spread <- 1 / u + quadratic(z, q$coef_precision)
  }
  if (is.matrix(q$scale)) {
    df <- q$df - ncol(e) + 1
    return(log_t(e / sqrt(spread), df, q$scale / df) - ncol(e) / 2 * log(spread))
  }
  rowSums(vapply(seq_along(q$scale), function(j) {
    sd <- sqrt(q$scale[j] * spread / q$df)
    stats::dt(e[, j] / sd, q$df, log = TRUE) - log(sd)
  }, double(nrow(e))))
}
