sizes <- if (long_tests()) c(1, 3, 5, 7, 17, 33, 65) else c(1, 5, 7, 33)
versions <- as.vector(engine_kernel_versions())
random <- function(n, m) matrix(rnorm(n * m), n, m)

# Runs a kernel in every version and in several layouts: the bits must not depend on the layout, and
# each version must be within `tolerance` of `truth` and of the base version, relative to `size`.
expect_kernel <- function(which, args, truth, size = lapply(truth, abs), tolerance = 1e-12) {
  base <- engine_kernel("base", which, args, 0L, 0L)
  wrong <- NULL
  for (version in versions) {
    out <- engine_kernel(version, which, args, 0L, 0L)
    for (layout in list(c(3L, 0L), c(5L, 7L))) {
      again <- engine_kernel(version, which, args, layout[1], layout[2])
      if (!identical(again, out)) wrong <- c(wrong, paste(version, "depends on the layout"))
    }
    for (name in names(truth)) {
      for (other in list(truth, base)) {
        error <- abs(out[[name]] - other[[name]])
        right <- out[[name]] == other[[name]] | error <= tolerance * size[[name]]
        if (!isTRUE(all(right))) wrong <- c(wrong, paste(version, name, "off by", max(error)))
      }
    }
  }
  sizes <- vapply(args, function(x) paste(dim(x), collapse = "x"), "")
  expect(is.null(wrong), paste(c(which, sizes, unique(wrong)), collapse = ", "))
}

test_that("the portable version is always there and the best one is chosen", {
  expect_true("base" %in% versions)
  wanted <- Sys.getenv("BNPVI_KERNELS")
  best <- if (wanted %in% versions) wanted else versions[length(versions)]
  expect_identical(attr(engine_kernel_versions(), "chosen"), best)
  expect_error(engine_kernel("sse9", "product_nt", list(), 0L, 0L), "no kernels of version")
})

long_test("BNPVI_KERNELS chooses a version in a new session", {
  code <- sprintf(
    ".libPaths(%s); cat(attr(bnpvi:::engine_kernel_versions(), 'chosen'))",
    paste(deparse(.libPaths()), collapse = "")
  )
  installed <- nzchar(system.file("Meta", package = "bnpvi"))
  skip_if_not(installed, "not installed: a new session cannot load it")
  for (version in some_of(c("base", "no such version"), by = 2)) {
    out <- withr::with_envvar(
      c(BNPVI_KERNELS = version),
      system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE)
    )
    expect_identical(out, if (version %in% versions) version else versions[length(versions)])
  }
})

long_test("fits agree across versions", {
  skip_if_not(nzchar(system.file("Meta", package = "bnpvi")), "not installed: a new session cannot load it")
  file <- withr::local_tempfile(fileext = ".R")
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(bnpvi)",
    "control <- function(...) bnp_control(seed = 1, max_laps = 20, tol = 0, ...)",
    "fixed <- function(k_init = 12, ...) control(k_init = k_init, moves = FALSE, ...)",
    "bits <- function(fit) cat(sprintf('%.17g', elbo(fit)), '')",
    "bits(bnp_mixture(asterisk[1:2], control = fixed()))",
    "bits(bnp_mixture(asterisk[1:2], control = fixed(sparsity = 2, candidates = 3)))",
    "bits(bnp_mixture(asterisk[1:2], control = control(k_init = 25)))",
    "bits(bnp_mixture(bars$counts[1:200, ], obs_multinomial(), control = fixed()))",
    "bits(bnp_topics(whales$counts[1:60, ], control = fixed()))",
    "bits(bnp_hmm(as.matrix(asterisk[1:500, 1:2]), control = fixed()))",
    "visits <- data.frame(id = rep(1:30, rep(2:6, 6)), t = sin(1:120), u = cos(2^(1:120 / 9)))",
    "visits$y <- visits$t + sin(visits$id) * visits$u + cos(3 * 1:120) / 3",
    "for (shared in c(TRUE, FALSE)) for (random in c(~ 1, ~ 0 + t, ~ 1 + t, ~ 1 + t + u))",
    "  bits(bnp_mixture(y ~ t + u, visits, obs_regression(random = random, shared = shared), id = ~ id,",
    "    control = fixed(k_init = 3)))"
  ), file)
  compared <- if (long_tests()) versions else unique(c("base", versions[length(versions)]))
  elbos <- vapply(compared, function(version) {
    out <- withr::with_envvar(
      c(BNPVI_KERNELS = version),
      system2(file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = TRUE, stderr = FALSE)
    )
    scan(text = out, quiet = TRUE)
  }, double(14))
  for (version in compared) expect_lte(max(abs(elbos[, version] / elbos[, "base"] - 1)), 1e-9)
  if (length(compared) > 1) expect_false(identical(elbos[, "base"], elbos[, compared[2L]]))
})

long_test("files for newer processors show nothing but the way to their table", {
  source <- test_path("..", "..", "src")
  skip_if_not(dir.exists(source), "no source beside the tests")
  skip_if_not(nzchar(Sys.which("nm")) && R.version$arch == "x86_64", "no nm, or another processor")
  r <- file.path(R.home("bin"), "R")
  compiler <- vapply(c("CXX17", "CXX17STD", "CXX17PICFLAGS"), function(x) system2(r, c("CMD", "config", x), TRUE), "")
  for (version in some_of(c("avx512", "avx2"), by = 2)) {
    object <- tempfile(fileext = ".o")
    file <- file.path(source, "kernels", paste0("kernels_", version, ".cpp"))
    for (level in some_of(c("-O0", "-O2"), by = 3)) {
      command <- paste(c(compiler, level, paste0("-I", source), "-c", file, "-o", object), collapse = " ")
      expect_equal(system2("sh", c("-c", shQuote(command))), 0)
      external <- system2("nm", c("--defined-only", "--extern-only", object), stdout = TRUE)
      expect_length(external, 1)
      expect_match(external, paste0(version, "_kernels"))
      expect_false(any(grepl("_GLOBAL__sub", system2("nm", object, stdout = TRUE)))) # nothing runs when loaded
    }
  }
})

test_that("products agree with R's", {
  set.seed(1)
  for (n in sizes) {
    for (k in sizes) {
      for (p in sample(c(sizes, 191, 192, 193, 450), 3)) {
        a <- random(n, p)
        b <- random(k, p)
        expect_kernel(
          "product_nt", list(a = a, b = b), list(c = tcrossprod(a, b)),
          list(c = tcrossprod(abs(a), abs(b)))
        )
        expect_kernel(
          "product_packed", list(a = a, b = b), list(c = tcrossprod(a, b)),
          list(c = tcrossprod(abs(a), abs(b)))
        )
        index <- sample(n, k, replace = TRUE)
        expect_kernel(
          "selected_product_nt", list(a = a, b = b, index = index - 1L),
          list(c = tcrossprod(a[index, , drop = FALSE], b)),
          list(c = tcrossprod(abs(a[index, , drop = FALSE]), abs(b)))
        )
        r <- random(n, k)
        s <- random(k, p)
        expect_kernel(
          "add_product_tn", list(r = r, a = a, s = s), list(s = s + crossprod(r, a)),
          list(s = abs(s) + crossprod(abs(r), abs(a)))
        )
        base <- random(1, k)
        share <- random(1, k)
        expect_kernel(
          "add_transposed", list(a = t(r), base = base, share = share),
          list(out = matrix(drop(base) + t(r) * drop(share), 1)),
          list(out = matrix(abs(drop(base)) + abs(t(r) * drop(share)), 1))
        )
        expect_kernel(
          "add_product", list(r = t(r), a = a, s = s), list(s = s + crossprod(r, a)),
          list(s = abs(s) + crossprod(abs(r), abs(a)))
        )
      }
    }
  }
})

test_that("long products agree with R's", {
  set.seed(2)
  a <- random(9, 2145)
  b <- random(50, 2145)
  expect_kernel(
    "product_nt", list(a = a, b = b), list(c = tcrossprod(a, b)),
    list(c = tcrossprod(abs(a), abs(b)))
  )
  r <- random(500, 10)
  a <- random(500, 45)
  s <- random(10, 45)
  expect_kernel(
    "add_product_tn", list(r = r, a = a, s = s), list(s = s + crossprod(r, a)),
    list(s = abs(s) + crossprod(abs(r), abs(a)))
  )
})

test_that("an entry of a product depends on its own row and column only", {
  set.seed(3)
  a <- random(33, 200)
  b <- random(29, 200)
  s <- random(29, 33)
  for (version in versions) {
    all <- engine_kernel(version, "product_nt", list(a = a, b = b), 0L, 0L)$c
    expect_identical(engine_kernel(version, "product_packed", list(a = a, b = b), 0L, 0L)$c, all)
    rows <- c(2, 30, 7)
    columns <- c(28, 3)
    some <- list(a = a[rows, ], b = b[columns, ])
    expect_identical(engine_kernel(version, "product_nt", some, 0L, 0L)$c, all[rows, columns])
    all <- engine_kernel(version, "add_product_tn", list(r = t(b), a = t(a), s = s), 0L, 0L)$s
    some <- list(r = t(b)[, columns], a = t(a)[, rows], s = s[columns, rows])
    expect_identical(engine_kernel(version, "add_product_tn", some, 0L, 0L)$s, all[columns, rows])
  }
})

test_that("packed outer products are exact", {
  set.seed(4)
  for (m in c(2, 4, 8, 9, 16, sizes)) {
    v <- random(3, m)
    pairs <- which(upper.tri(diag(m), diag = TRUE), arr.ind = TRUE) # l <= j, by j
    out <- v[, pairs[, 2], drop = FALSE] * v[, pairs[, 1], drop = FALSE]
    expect_kernel("packed_outer", list(v = v), list(out = out), tolerance = 0)
  }
})

softmax_twin <- function(w, floor) {
  top <- apply(w, 1, max)
  top[top == -Inf] <- 0
  e <- exp(w - top)
  least <- pmin(max(floor, .Machine$double.xmin) * rowSums(e), 1)
  e[e < least] <- 0
  total <- rowSums(e)
  list(w = e / ifelse(total == 0, 1, total), log_norm = top + log(total))
}

expect_softmax <- function(w, floor = 0) {
  truth <- softmax_twin(w, floor)
  size <- list(w = truth$w, log_norm = pmax(1, abs(truth$log_norm)))
  expect_kernel("softmax_rows", list(w = w, floor = floor), truth, size)
  alive <- truth$log_norm > -Inf
  for (version in versions) {
    out <- engine_kernel(version, "softmax_rows", list(w = w, floor = floor), 0L, 0L)
    expect_true(all(abs(rowSums(out$w)[alive] - 1) <= 1e-15 * ncol(w)))
    expect_true(all((out$w == 0) == (truth$w == 0)))
  }
}

test_that("softmax agrees with R's, at any spread", {
  set.seed(5)
  for (k in c(2, 8, 100, sizes)) {
    for (spread in c(0, 1e-3, 1, 30, 200)) {
      for (floor in c(0, 1e-12, 1e-3)) expect_softmax(spread * random(19, k) + 100, floor)
    }
  }
})

test_that("softmax is exact where it must be", {
  for (version in versions) {
    run <- function(...) engine_kernel(version, "softmax_rows", list(...), 0L, 0L)
    expect_identical(run(w = matrix(-3.25), floor = 0), list(w = matrix(1), log_norm = -3.25))
    expect_identical(run(w = matrix(2, 1, 8), floor = 0.2)$w, matrix(1 / 8, 1, 8))
    out <- run(w = matrix(c(0, 1, -Inf, -1e300, -50), 1), floor = 1e-12)
    expect_identical(out$w[3:5], c(0, 0, 0))
    expect_equal(out$log_norm, log1p(exp(1)), tolerance = 1e-15)
    expect_identical(
      run(w = matrix(-Inf, 1, 5), floor = 0), list(w = matrix(0, 1, 5), log_norm = -Inf)
    )
    expect_true(all(is.nan(run(w = matrix(c(0, NaN, 1), 1), floor = 0)$w)))
  }
})

test_that("softmax handles -Inf, huge, equal and subnormal weights", {
  w <- rbind(
    c(-Inf, 0, 1, 2, -Inf, 3, -Inf), c(-1e300, -1, -2, -1e308, -3, -4, -5), rep(-1e5, 7),
    rep(1e-310, 7), c(1e308, 1e308, 0, 1, 2, 3, 4), c(0, -700, -708, -709, -745, -746, -1000),
    rep(-Inf, 7), c(5e-324, -5e-324, 1e-308, -1e-308, 0, 1, -1)
  )
  for (floor in c(0, 1e-12)) for (k in 7:1) expect_softmax(w[, 1:k, drop = FALSE], floor)
})

test_that("entropy from softmax is that of the support", {
  set.seed(6)
  w <- 20 * random(11, 33)
  for (version in versions) {
    out <- engine_kernel(version, "softmax_rows", list(w = w, floor = 1e-6), 0L, 0L)
    r <- out$w
    entropy <- -rowSums(ifelse(r > 0, r * log(r), 0))
    expect_equal(out$log_norm - rowSums(r * w), entropy, tolerance = 1e-12)
  }
  for (k in sizes) {
    for (spread in c(0, 1, 30, 200)) {
      for (floor in c(0, 1e-12)) {
        w <- spread * random(19, k) - 50
        r <- softmax_twin(w, floor)$w
        entropy <- -rowSums(ifelse(r > 0, r * log(r), 0))
        expect_kernel(
          "responsibility_rows", list(w = w, floor = floor), list(r = r, entropy = entropy),
          list(r = r, entropy = pmax(entropy, 1))
        )
      }
    }
  }
  for (version in versions) {
    out <- engine_kernel(version, "responsibility_rows", list(w = matrix(-Inf, 1, 5), floor = 0), 0L, 0L)
    expect_identical(out, list(r = matrix(0, 1, 5), entropy = 0))
  }
})

test_that("the largest of each row are found, the first of equals", {
  set.seed(9)
  for (k in c(2, 8, 100, sizes)) {
    for (width in unique(pmin(k, c(1, 2, 4, 9, k)))) {
      for (w in list(
        random(13, k), round(random(13, k)), matrix(0, 3, k), -cbind(Inf, random(3, k))[, 1:k, drop = FALSE]
      )) {
        column <- t(apply(w, 1, function(x) sort(order(-x)[seq_len(width)])))
        truth <- list(column = matrix(column, nrow(w), width) - 1)
        expect_kernel("largest_rows", list(w = w, width = width), truth, tolerance = 0)
        for (guess in list(truth$column[1, ], sample(k, width) - 1)) {
          expect_kernel("largest_rows", list(w = w, width = width, guess = as.integer(guess)), truth, tolerance = 0)
        }
      }
    }
  }
})

test_that("sparse rows agree with R's, repeated indices included", {
  set.seed(7)
  for (k in c(sizes, 8, 64, 100, 200)) {
    for (nnz in c(0, 1, 5, 40)) {
      b <- random(20, k)
      index <- sample(20, nnz, replace = TRUE)
      x <- random(1, nnz)
      y <- random(1, k)
      rows <- b[index, , drop = FALSE]
      expect_kernel(
        "add_sparse_rows", list(index = index - 1L, x = x, b = b, y = y),
        list(y = y + x %*% rows), list(y = abs(y) + abs(x) %*% abs(rows))
      )
      chosen <- outer(1:20, index, "==") * 1
      expect_kernel(
        "scatter_sparse_rows", list(index = index - 1L, x = x, r = y, b = b),
        list(b = b + chosen %*% crossprod(x, y)),
        list(b = abs(b) + chosen %*% crossprod(abs(x), abs(y)))
      )
    }
  }
})

test_that("products of listed rows agree with R's", {
  set.seed(10)
  for (k in c(sizes, 2, 8, 91, 130)) {
    for (n in c(1, 2, 4, 7)) {
      b <- random(20, k)
      index <- sample(20, n)
      rows <- b[index, , drop = FALSE]
      x <- random(1, k)
      expect_kernel(
        "dot_rows", list(index = index - 1L, a = b, x = x), list(out = x %*% t(rows)),
        list(out = abs(x) %*% t(abs(rows)))
      )
      share <- random(1, n)
      expect_kernel(
        "weigh_rows", list(index = index - 1L, x = share, b = b, factor = x),
        list(sum = share %*% rows, product = share %*% rows * x),
        list(sum = abs(share) %*% abs(rows), product = abs(share) %*% abs(rows) * abs(x))
      )
    }
  }
})

test_that("steps of a chain agree with R's", {
  set.seed(8)
  for (k in c(sizes, 2, 8, 100, 130)) {
    p <- matrix(runif(k * k), k)
    a <- matrix(runif(k), 1)
    e <- matrix(runif(k), 1)
    out <- a %*% p * e
    expect_kernel(
      "forward_step", list(a = a, p = p, e = e), list(out = out / sum(out), sum = sum(out))
    )
    scaled <- 0.7 * e * a
    expect_kernel(
      "backward_step", list(b = a, pt = t(p), e = e, scale = 0.7),
      list(e = scaled, out = tcrossprod(scaled, p))
    )
    expect_kernel(
      "forward_step", list(a = a, p = p, e = 0 * e), list(out = 0 * e, sum = 0),
      list(out = 1 + e, sum = 1)
    )
  }
})

test_that("digamma, log-gamma and logarithms agree with R's, from tiny to huge", {
  x <- matrix(
    c(1e-300, 1e-20, 1e-5, 0.02, seq(0.1, 25, 0.1), 1.4616321449683623, 9.999999, 10, 1e3, 1e9, 1e15, 1e200), 1
  )
  digammas <- ifelse(x < 1e-100, -1 / x, digamma(x)) # R's digamma(1e-300) is NaN
  size <- function(out) list(out = pmax(1, abs(out)))
  expect_kernel("digamma_each", list(x = x), list(out = digammas), size(digammas), 1e-14)
  expect_kernel("log_gamma_each", list(x = x), list(out = lgamma(x)), size(lgamma(x)), 2e-14)
  expect_kernel("log_each", list(x = x), list(out = log(x)), list(out = abs(log(x))), 1e-14)
  for (version in versions) {
    part <- engine_kernel(version, "log_gamma_each", list(x = x[, 3:7, drop = FALSE]), 0L, 0L)$out
    expect_identical(part, engine_kernel(version, "log_gamma_each", list(x = x), 0L, 0L)$out[, 3:7, drop = FALSE])
  }
  set.seed(10)
  for (n in c(0, sizes)) {
    x <- matrix(exp(runif(n, -700, 700)), 1)
    c <- matrix(rpois(n, 2), 1)
    expect_kernel(
      "weighted_log_sum", list(c = c, x = x), list(sum = sum(c * log(x))), list(sum = sum(c * abs(log(x)))), 1e-14
    )
  }
  near <- matrix(1 + c(-1e-9, -1e-3, 0, 1e-12, 1e-3, 0.414, 0.4143, -0.2929, -0.2928), 1)
  for (i in seq_along(near)) { # relative to the logarithm itself
    expect_kernel(
      "weighted_log_sum", list(c = matrix(1), x = near[, i, drop = FALSE]), list(sum = log(near[i])), tolerance = 1e-14
    )
  }
})

test_that("exponentials below the largest of a row agree with R's", {
  set.seed(11)
  for (k in sizes) {
    for (spread in c(0, 1, 30)) {
      w <- spread * random(5, k) - 100
      top <- apply(w, 1, max)
      expect_kernel("exp_rows", list(w = w), list(e = exp(w - top), top = top))
    }
  }
})

# One round of sharing counts, G clusters x counts.
round_twin <- function(w, g, c, least) {
  s <- drop(w %*% g)
  share <- ifelse(s > least, c / s, 0)
  list(s = t(s), share = t(share), y = w * drop(g %*% share), lowest = if (length(s)) min(s) else Inf)
}

test_that("rounds of sharing counts agree with R's, by cluster and by count", {
  set.seed(12)
  for (m in sizes) {
    for (n in sizes) {
      g <- matrix(rexp(2 * m * n)^4, 2 * m)
      row <- sample(2 * m, m)
      w <- matrix(rexp(m), 1)
      c <- matrix(as.numeric(rpois(n, 1)), 1)
      if (n > 1) g[, 2] <- 1e-280
      truth <- round_twin(w, g[row, , drop = FALSE], c, 1e-250)
      expect_kernel("share_round", list(row = row - 1L, w = w, g = g, c = c, least = 1e-250), truth)
      b <- t(g[row, , drop = FALSE])
      row <- sample(n)
      expect_kernel(
        "share_sweep", list(row = order(row) - 1L, w = w, g = b[row, , drop = FALSE], c = c, least = 1e-250), truth
      )
    }
  }
})

test_that("the largest of each column are kept, the first of equals", {
  set.seed(13)
  for (m in c(sizes, 70, 130)) {
    for (width in unique(pmin(m, c(1, 4, 9)))) {
      for (g in list(matrix(runif((m + 2) * 11), m + 2), matrix(rpois((m + 2) * 11, 1), m + 2), matrix(0, m + 2, 5))) {
        row <- sample(m + 2, m)
        w <- matrix(if (g[1] == round(g[1])) 1 else runif(m), 1, m)
        x <- as.vector(w) * g[row, , drop = FALSE]
        kept <- matrix(apply(x, 2, function(y) rank(-y, ties.method = "first") <= width), m) * 1
        expect_kernel(
          "keep_largest", list(row = row - 1L, w = w, g = g, width = width),
          list(out = g[row, , drop = FALSE] * kept, kept = kept), tolerance = 0
        )
      }
    }
  }
})

test_that("rows that are turned into columns are those of t()", {
  set.seed(16)
  for (n in sizes) {
    for (k in sizes) {
      a <- matrix(runif(n * k), n)
      expect_kernel("transpose_rows", list(a = a), list(out = t(a)), tolerance = 0)
    }
  }
})

test_that("evidence and weights of counts agree with R's", {
  set.seed(14)
  for (n in sizes) {
    a <- matrix(exp(runif(n, -5, 3)), 1)
    t <- matrix(rpois(n, 2) * runif(n) - 1e-12 * (runif(n) < 0.3), 1)
    s <- pmax(t, 0)
    truth <- list(digamma = digamma(a + s) - 1.5, sum = sum(s), rising = sum(lgamma(a + s) - lgamma(a)))
    size <- list(digamma = 2 + abs(digamma(a + s)), sum = sum(s), rising = sum(1 + abs(lgamma(a + s)) + abs(lgamma(a))))
    for (part in c("digamma", "rising")) {
      truth[[paste0("joint_", part)]] <- truth[[part]]
      size[[paste0("joint_", part)]] <- size[[part]]
    }
    expect_kernel("of_counts", list(a = a, t = t, b = lgamma(a), shift = 1.5), truth, size, 1e-14)
    for (version in versions) {
      b <- engine_kernel(version, "log_gamma_each", list(x = a), 0L, 0L)$out
      none <- engine_kernel(version, "of_counts", list(a = a, t = 0 * t, b = b, shift = 0), 0L, 0L)
      expect_identical(none[c("rising", "joint_rising")], list(rising = 0, joint_rising = 0))
    }
  }
})

test_that("scaled rows and their energy agree with R's", {
  set.seed(15)
  for (k in sizes) {
    for (n in c(1, 6)) {
      m <- function(rows = n) matrix(runif(k * rows), rows)
      args <- list(e = m(), c = -m(), t = m(), top = m(1))
      out <- args$t * args$e
      by <- sweep(args$c, 2, args$top)
      expect_kernel("scale_rows", args, list(t = out, sum = sum(out * by)))
    }
  }
})

test_that("tangents of logistic likelihoods are those of plain R, from tiny to huge", {
  set.seed(11)
  for (n in c(1, sizes)) {
    row <- function(x) matrix(rep_len(x, n), 1)
    m <- row(c(1, 3, 0, 25))
    kappa <- row(stats::rnorm(n))
    offset <- row(c(0, stats::rnorm(n)))
    linear <- row(c(0, 1e-6, -0.3, stats::rnorm(n), 40, -800, 1e5))
    square <- linear^2 + row(c(0, 1e-9, 0.02, 1, 30))
    r <- row(c(stats::runif(n), 0))
    constant <- row(-stats::rexp(n))
    psi <- linear + offset
    c <- sqrt(pmax(square + offset * (2 * linear + offset), psi^2))
    omega <- m * tangent(c)
    height <- m * log_2cosh(c)
    bound <- constant + kappa * psi - height
    curve <- m * stats::plogis(c) * stats::plogis(-c)
    truth <- list(
      bound = bound, omega = omega, curve = curve, pull = r * (kappa - omega * offset), r_omega = r * omega,
      r_curve = r * curve, sums = cbind(1 + sum(r), sum(r * bound) - 2)
    )
    size <- list(
      bound = abs(constant) + abs(kappa * psi) + height, omega = m, curve = m,
      pull = r * (abs(kappa) + abs(omega * offset)), r_omega = r * m, r_curve = r * m,
      sums = cbind(sum(r), sum(r * (height + abs(kappa * psi) + abs(constant)))) + 2
    )
    args <- list(
      m = m, kappa = kappa, constant = constant, offset = offset, linear = linear, square = square, r = r,
      sums = cbind(1, -2)
    )
    expect_kernel("tangents", args, truth, size, 1e-10)
  }
})

test_that("tangents and sums of rows with few regressors are those of plain R", {
  set.seed(17)
  for (e in 1:4) {
    packed <- t(upper.tri(diag(e), diag = TRUE)) # by rows of the lower triangle
    pairs <- which(t(packed), arr.ind = TRUE)[, 2:1, drop = FALSE]
    for (n in c(1, sizes, 130)) {
      row <- function(x) matrix(rep_len(x, n), 1)
      m <- row(c(1, 3, 0, 25))
      kappa <- row(stats::rnorm(n))
      offset <- row(c(0, stats::rnorm(n)))
      constant <- row(-stats::rexp(n))
      r <- row(c(stats::runif(n), 0))
      x <- random(e, n) * 3
      mean <- stats::rnorm(e)
      second <- crossprod(random(e, e)) + tcrossprod(mean)
      linear <- drop(mean %*% x)
      square <- colSums(x * (second %*% x))
      c <- sqrt(square + offset * (2 * linear + offset))
      psi <- linear + offset
      omega <- m * tangent(c)
      bound <- constant + kappa * psi - m * log_2cosh(c)
      pull <- r * (kappa - omega * offset)
      xx <- x[pairs[, 1], , drop = FALSE] * x[pairs[, 2], , drop = FALSE]
      by <- function(a, x) rowSums(rep(a, each = nrow(x)) * x)
      sums <- c(sum(r), sum(r * bound), by(pull, x), by(r * omega, xx))
      sized <- abs(constant) + abs(kappa) * (1 + c) + m * (1 + c)
      wide <- r * (abs(kappa) + m * abs(offset))
      truth <- list(bound = bound, omega = omega, sums = rbind(sums + seq_along(sums), deparse.level = 0))
      size <- list(
        bound = sized, omega = m,
        sums = rbind(c(sum(r), sum(r * sized), by(wide, abs(x)), by(r * m, abs(xx))) + seq_along(sums))
      )
      args <- list(
        m = m, kappa = kappa, constant = constant, offset = offset, x = x, mean = rbind(mean, deparse.level = 0),
        second = rbind(second[pairs] * ifelse(pairs[, 1] == pairs[, 2], 1, 2)), r = r,
        sums = rbind(as.double(seq_along(sums)))
      )
      expect_kernel("tangents_of_few", args, truth, size, 1e-10)
    }
  }
})

test_that("scales of rows and their sums agree with R's", {
  set.seed(16)
  for (k in sizes) {
    for (n in c(0, 1, 6)) {
      flat <- function(x) matrix(t(x), 1, length(x))
      m <- function(rows = n) matrix(runif(k * rows, 0.01, 3), rows, k)
      ratio <- m() * 10^sample(-8:8, n * k, TRUE)
      r <- m() * sample(0:1, n * k, TRUE)
      c <- m(1) - 1
      a <- m(1)
      sums <- m(4)
      by_row <- function(x) matrix(rep(x, each = n), n, k)
      of <- function(v) colSums(r * v)
      truth <- list(
        log = flat(log(ratio)), out = flat(by_row(c) - by_row(a) * log(ratio)), share = flat(r / ratio),
        sums = flat(sums + rbind(of(1), of(-log(ratio)), of(1 - log(ratio) - 1 / ratio), of((1 / ratio - 1)^2)))
      )
      size <- list(
        log = pmax(1, abs(truth$log)), out = flat(by_row(abs(c)) + by_row(a) * pmax(1, abs(log(ratio)))),
        share = abs(truth$share),
        sums = flat(sums + rbind(
          of(1), of(abs(log(ratio))), of(1 + abs(log(ratio)) + 1 / ratio), of((1 + 1 / ratio)^2)
        ))
      )
      args <- list(ratio = flat(ratio), r = flat(r), c = c, a = a, sums = flat(sums))
      expect_kernel("scales", args, truth, size, 1e-14)
    }
  }
})
