# Latent features: held-out cells beside factor models, time, and pictures.
#   Rscript features.R heldout [masks]  a tenth of the cells held out: psychTools::bfi (25 items, answers 1 to 6) and
#                                       the four pictures of Griffiths & Ghahramani; log score and RMSE of a cell
#   Rscript features.R speed [sizes]    seconds a fit and a lap as rows, columns and features grow; sizes: which
#   Rscript features.R threads          the same fit with one and two threads: seconds and bits
#   Rscript features.R images [sets]    sets of the four pictures: how many fits end where one from the truth ends
#   Rscript features.R bars [sets]      the same of pictures of 8 x 8 with 16 bars
#   Rscript features.R scales           bfi: held-out cells by the number of features that there may be

suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
what <- if (length(args)) args[1] else "heldout"
number <- function(default) if (length(args) > 1) as.integer(args[2]) else default
control <- function(...) bnp_control(seed = 1, verbose = FALSE, threads = 1, ...)

pictures <- local({
  pixels <- c(
    "010000 111000 010000 000000 000000 000000", "000111 000101 000111 000000 000000 000000",
    "000000 000000 000000 100000 110000 111000", "000000 000000 000000 000111 000010 000010"
  )
  t(vapply(strsplit(gsub(" ", "", pixels), ""), as.numeric, numeric(36)))
})

picture_rows <- function(seed, n = 100, sd = 0.5, shapes = pictures, share = 0.5) {
  set.seed(seed)
  z <- matrix(rbinom(nrow(shapes) * n, 1, share), n)
  list(x = z %*% shapes + rnorm(ncol(shapes) * n, sd = sd), z = z)
}

# Rows and columns of 8 x 8 pixels
bars <- local({
  at <- expand.grid(row = 1:8, column = 1:8)
  lines <- function(number) t(vapply(1:8, function(i) (number == i) + 0, numeric(64)))
  rbind(lines(at$row), lines(at$column))
})

planted <- function(n, d, k, sd = 0.5, seed = 1) {
  set.seed(seed)
  z <- matrix(rbinom(n * k, 1, rep(runif(k, 0.1, 0.4), each = n)), n)
  a <- matrix(rnorm(k * d) * (runif(k * d) < 0.4) * 2, k)
  list(x = z %*% a + rnorm(n * d, sd = sd), z = z)
}

# ---- peers ----------------------------------------------------------------------------------------------------------

# x = mean + W f + noise by EM with missing cells left out (Rubin & Thayer 1982; Tipping & Bishop 1999): with one
# variance for all columns probabilistic PCA, with one for each factor analysis. Mean and variance of every cell.
factor_em <- function(x, rank, common, rounds = 100) {
  n <- nrow(x)
  d <- ncol(x)
  seen <- !is.na(x)
  mean <- colMeans(x, na.rm = TRUE)
  y <- replace(x - rep(mean, each = n), !seen, 0)
  start <- svd(y, 0, rank)
  w <- start$v %*% diag(start$d[seq_len(rank)] / sqrt(n), rank)
  psi <- rep(mean(y[seen]^2) / 2, d)
  for (round in seq_len(rounds)) {
    outer_w <- t(apply(w, 1, function(v) as.vector(v %o% v)))
    if (rank == 1) outer_w <- matrix(outer_w, ncol = 1)
    precision <- seen %*% (outer_w / psi)
    cov <- t(apply(precision, 1, function(p) as.vector(chol2inv(chol(matrix(p, rank) + diag(rank))))))
    if (rank == 1) cov <- matrix(cov, ncol = 1)
    b <- y %*% (w / psi)
    m <- vapply(seq_len(rank), function(j) rowSums(cov[, (j - 1) * rank + seq_len(rank), drop = FALSE] * b), numeric(n))
    second <- cov + m[, rep(seq_len(rank), rank), drop = FALSE] * m[, rep(seq_len(rank), each = rank), drop = FALSE]
    value <- list(mean = m %*% t(w), var = cov %*% t(outer_w) + rep(psi, each = n))
    if (round == rounds) break
    s <- crossprod(seen, second)
    xm <- crossprod(y, m)
    w <- t(vapply(seq_len(d), function(j) solve(matrix(s[j, ], rank), xm[j, ]), numeric(rank)))
    if (rank == 1) w <- matrix(w, ncol = 1)
    rest <- colSums(y^2) - rowSums(w * xm)
    psi <- if (common) rep(sum(rest) / sum(seen), d) else pmax(rest / colSums(seen), 1e-6)
  }
  value$mean <- value$mean + rep(mean, each = n)
  value
}

# Non-negative factors by multiplicative updates [Lee & Seung 2001] of the cells in sight; their noise is what is left.
nmf_cells <- function(x, rank, rounds = 300) {
  shift <- min(x, na.rm = TRUE) - 1e-3
  seen <- !is.na(x)
  y <- replace(x - shift, !seen, 0)
  w <- matrix(stats::runif(nrow(x) * rank, 0.5, 1), nrow(x))
  h <- matrix(stats::runif(rank * ncol(x), 0.5, 1), rank)
  for (round in seq_len(rounds)) {
    h <- h * crossprod(w, y) / pmax(crossprod(w, seen * (w %*% h)), 1e-12)
    w <- w * tcrossprod(y, h) / pmax(tcrossprod(seen * (w %*% h), h), 1e-12)
  }
  mean <- w %*% h + shift
  list(mean = mean, var = matrix(mean((mean - x)^2, na.rm = TRUE), nrow(x), ncol(x)))
}

heldout <- function(masks) {
  sets <- list(pictures = picture_rows(1)$x)
  if (requireNamespace("psychTools", quietly = TRUE)) sets$bfi <- as.matrix(psychTools::bfi[1:25])
  for (name in names(sets)) {
    x <- sets[[name]]
    ranks <- if (name == "bfi") 1:12 else 1:8
    for (mask in seq_len(masks)) {
      set.seed(mask)
      gone <- matrix(runif(length(x)) < 0.1, nrow(x))
      gone[rowSums(!is.na(replace(x, gone, NA))) == 0, 1] <- FALSE
      y <- replace(x, gone, NA)
      cells <- gone & !is.na(x)
      say <- function(method, rank, score, rmse, seconds) {
        cat(sprintf(
          "%s, mask %d: %-22s %2d, log score %.4f, RMSE %.4f, %.1f s\n", name, mask, method, rank, score, rmse, seconds
        ))
      }
      for (centre in c(TRUE, FALSE)) {
        if (name == "bfi" && !centre) next
        seconds <- system.time(
          fit <- bnp_features(y, control = control(), centre = centre, na_action = "model")
        )[["user.self"]]
        for (draws in c(100, 0)) {
          score <- heldout_loglik(fit, x, cells = cells, draws = draws)
          what <- paste0("features", if (!centre) ", no offset", if (draws == 0) ", no draws")
          say(what, n_features(fit), score, attr(score, "rmse"), seconds)
        }
      }
      peers <- list(
        PCA = function(r) factor_em(y, r, TRUE), `factor analysis` = function(r) factor_em(y, r, FALSE),
        NMF = function(r) nmf_cells(y, r)
      )
      for (peer in names(peers)) {
        seconds <- system.time(tried <- vapply(ranks, function(r) {
          at <- peers[[peer]](r)
          error <- x[cells] - at$mean[cells]
          c(mean(dnorm(error, 0, sqrt(at$var[cells]), log = TRUE)), sqrt(mean(error^2)))
        }, c(0, 0)))[["user.self"]]
        best <- which.max(tried[1, ])
        say(paste(peer, "(told rank)"), ranks[best], tried[1, best], min(tried[2, ], na.rm = TRUE), seconds)
      }
    }
  }
}

# bfi by the number of features, with the posterior of rows' features as good as draws make it.
scales <- function() {
  x <- as.matrix(psychTools::bfi[1:25])
  set.seed(1)
  gone <- matrix(runif(length(x)) < 0.1, nrow(x))
  y <- replace(x, gone, NA)
  y[rowSums(!is.na(y)) == 0, 1] <- x[rowSums(!is.na(y)) == 0, 1]
  cells <- is.na(y) & !is.na(x)
  for (scale in c(FALSE, TRUE)) {
    for (k in c(2, 4, 8, 12, 16, 20, 30)) {
      fit <- suppressWarnings(bnp_features(
        y, prior_beta_bernoulli(k), control(max_laps = 20), scale = scale, na_action = "model"
      ))
      scores <- lapply(c(100, 0), function(draws) heldout_loglik(fit, x, cells = cells, draws = draws))
      cat(sprintf(
        "scale = %s, at most %d: %d found, bound %.0f, log score %.4f, RMSE %.4f; without draws %.4f, %.4f\n", scale, k,
        n_features(fit), elbo(fit), scores[[1]], attr(scores[[1]], "rmse"), scores[[2]], attr(scores[[2]], "rmse")
      ))
    }
  }
}

threads <- function() {
  for (size in list(c(10000, 64, 25), c(20000, 256, 25), c(100000, 64, 10))) {
    rows <- planted(size[1], size[2], size[3])
    runs <- lapply(1:2, function(n) {
      how <- bnp_control(seed = 1, verbose = FALSE, threads = n)
      seconds <- system.time(fit <- bnp_features(rows$x, control = how, centre = FALSE))[["elapsed"]]
      list(seconds = seconds, bits = fit[c("elbo", "state", "presence", "sizes")])
    })
    cat(sprintf(
      "%d x %d, %d features: %.2f s with one thread, %.2f with two; %s bits\n", size[1], size[2], size[3],
      runs[[1]]$seconds, runs[[2]]$seconds, if (identical(runs[[1]]$bits, runs[[2]]$bits)) "the same" else "OTHER"
    ))
  }
}

speed <- function(which) {
  for (size in list(
    c(1000, 64, 10), c(10000, 64, 10), c(100000, 64, 10), c(10000, 16, 10), c(10000, 256, 10), c(10000, 64, 25),
    c(10000, 64, 50), c(20000, 64, 50), c(100000, 64, 50)
  )[which]) {
    rows <- planted(size[1], size[2], size[3])
    seconds <- system.time(
      fit <- bnp_features(rows$x, control = control(), centre = FALSE)
    )[["user.self"]]
    truth <- bnp_features(rows$x, control = control(moves = FALSE), centre = FALSE, start = rows$z == 1)
    laps <- diff(c(0, elbo_trace(truth)$seconds))
    cat(sprintf(
      "%d x %d, %d features: %.2f s, %d laps, %d found, bound %.1f, from the truth %.1f; a lap without moves %.3f s\n",
      size[1], size[2], size[3], seconds, fit$laps, n_features(fit), elbo(fit), elbo(truth), median(laps)
    ))
  }
}

images <- function(sets, shapes = pictures, share = 0.5, n = 100) {
  for (prior in list(prior_beta_bernoulli(nrow(shapes) + 6), prior_ibp())) {
    for (centre in c(FALSE, TRUE)) {
      seconds <- 0
      right <- logical(sets)
      gain <- vapply(seq_len(sets), function(seed) {
        rows <- picture_rows(seed, n, shapes = shapes, share = share)
        seconds <<- seconds +
          system.time(fit <- bnp_features(rows$x, prior, control(), centre = centre))[["user.self"]]
        near <- abs(stats::cor(t(coef(fit)$loadings), t(shapes)))
        right[seed] <<- n_features(fit) == nrow(shapes) && min(apply(near, 2, max)) > 0.93
        elbo(fit) - elbo(bnp_features(rows$x, prior, control(), centre = centre, start = rows$z == 1))
      }, 0)
      cat(sprintf(
        "%s, %s: %d of %d end where the fit from the truth ends, or higher; worst %.2f; %d with all pictures; %.3f s\n",
        prior$family, if (centre) "offset" else "no offset", sum(gain > -1e-3), sets, min(gain), sum(right),
        seconds / sets
      ))
    }
  }
}

switch(what,
  heldout = heldout(number(2L)), threads = threads(), images = images(number(60L)), scales = scales(),
  speed = speed(if (length(args) > 1) as.integer(args[-1]) else 1:9), bars = images(number(10L), bars, 0.2, 500),
  stop("heldout, speed, threads, images, bars or scales")
)
