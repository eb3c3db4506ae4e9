# Latent features: held-out cells beside factor models, time, and pictures.
#   Rscript features.R heldout [masks]  a tenth of the cells held out: psychTools::bfi (25 items, answers 1 to 6) and
#                                       the four pictures of Griffiths & Ghahramani; log score and RMSE of a cell
#   Rscript features.R speed            seconds a fit and a lap as rows, columns and features grow
#   Rscript features.R images [sets]    sets of the four pictures: how many fits end where one from the truth ends

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

picture_rows <- function(seed, n = 100, sd = 0.5) {
  set.seed(seed)
  z <- matrix(rbinom(4 * n, 1, 0.5), n)
  list(x = z %*% pictures + rnorm(36 * n, sd = sd), z = z)
}

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
        score <- heldout_loglik(fit, x, cells = cells)
        say(if (centre) "features" else "features, no offset", n_features(fit), score, attr(score, "rmse"), seconds)
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

speed <- function() {
  for (size in list(
    c(1000, 64, 10), c(10000, 64, 10), c(100000, 64, 10), c(10000, 16, 10), c(10000, 256, 10), c(10000, 64, 25),
    c(10000, 64, 50), c(20000, 64, 50), c(100000, 64, 50)
  )) {
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

images <- function(sets) {
  for (prior in list(prior_beta_bernoulli(10), prior_ibp())) {
    for (centre in c(FALSE, TRUE)) {
      seconds <- 0
      gain <- vapply(seq_len(sets), function(seed) {
        rows <- picture_rows(seed)
        seconds <<- seconds +
          system.time(fit <- bnp_features(rows$x, prior, control(), centre = centre))[["user.self"]]
        elbo(fit) - elbo(bnp_features(rows$x, prior, control(), centre = centre, start = rows$z == 1))
      }, 0)
      cat(sprintf(
        "%s, %s: %d of %d end where the fit from the truth ends, or higher; worst %.2f; %.3f s each\n",
        class(prior)[1], if (centre) "offset" else "no offset", sum(gain > -1e-3), sets, min(gain), seconds / sets
      ))
    }
  }
}

switch(what,
  heldout = heldout(number(2L)), speed = speed(), images = images(number(60L)),
  stop("heldout, speed or images")
)
