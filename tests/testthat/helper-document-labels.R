# Documents of which the labels are known.

planted_labels <- function(seed = 1, n = 150, length = 40, known = 0.4) {
  withr::with_seed(seed, {
    phi <- matrix(.02, 4, 40)
    for (k in 1:4) phi[k, (k - 1) * 10 + 1:10] <- 1
    phi <- phi / rowSums(phi)
    main <- sample(3L, n, TRUE)
    theta <- matrix(.02, n, 4)
    theta[cbind(seq_len(n), main)] <- .6
    theta[, 4] <- stats::runif(n, .1, .4)
    theta <- theta / rowSums(theta)
    x <- t(vapply(seq_len(n), function(d) drop(stats::rmultinom(1, length, theta[d, ] %*% phi)), double(40)))
    dimnames(x) <- list(paste0("d", seq_len(n)), paste0(rep(c("ball", "chip", "vote", "word"), each = 10), 1:10))
    labels <- c("sport", "tech", "politics")[main]
    list(x = x, theta = theta, truth = labels, labels = ifelse(stats::runif(n) < known, labels, NA))
  })
}

# Expected tokens of each document in topics that it may not use, given the owners of a fit.
forbidden <- function(fit, sets, open = TRUE) {
  owner <- fit$state$owner[fit$numbering]
  counts <- as.matrix(fit$documents)
  allowed <- cbind(open, sets)[, owner + 1L, drop = FALSE]
  allowed[is.na(sets[, 1]), ] <- TRUE
  max(0, counts[!allowed])
}

one_of <- function(labels, classes) {
  out <- outer(labels, classes, `==`)
  colnames(out) <- classes
  out
}
