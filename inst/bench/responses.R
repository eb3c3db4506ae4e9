# Topics that predict: held-out R2 and log score beside topics first and ridge afterwards, over ten paired splits, and
# the time of a lap beside the unsupervised one.
#   Rscript inst/bench/responses.R [planted | blogs | speed] [splits]
# planted: 400 documents, 500 terms, ten topics by words, of which two are one topic to words but for a tenth of their
# terms, and have opposite effects. blogs: political blogs of the package lda (archived), where it is installed.
library(bnpvi)
arguments <- c(commandArgs(TRUE), "planted", "10")[1:2]
if (length(commandArgs(TRUE)) == 1L) arguments <- c(commandArgs(TRUE), "10")
splits <- as.integer(arguments[2])

planted <- function(documents = 400, terms = 500, topics = 10, tokens = 80, seed = 1) {
  set.seed(seed)
  phi <- matrix(rgamma(topics * terms, 0.1), topics) + 1e-4
  own <- sample(terms, terms / 10)
  phi[2, -own] <- phi[1, -own]
  share <- matrix(rgamma(documents * topics, 0.3), documents)
  share <- share / rowSums(share)
  x <- t(apply(share %*% (phi / rowSums(phi)), 1, function(p) rmultinom(1, tokens, p)))
  dimnames(x) <- list(paste0("d", seq_len(documents)), paste0("t", seq_len(terms)))
  list(x = x, y = drop(share %*% c(-3, 3, rnorm(topics - 2))) + 0.3 * rnorm(documents))
}

blogs <- function() {
  data <- new.env()
  utils::data("poliblog.documents", "poliblog.ratings", "poliblog.vocab", package = "lda", envir = data)
  documents <- data$poliblog.documents
  x <- Matrix::sparseMatrix(
    i = rep(seq_along(documents), vapply(documents, ncol, 1L)), j = unlist(lapply(documents, function(d) d[1, ])) + 1L,
    x = as.double(unlist(lapply(documents, function(d) d[2, ]))),
    dims = c(length(documents), length(data$poliblog.vocab)),
    dimnames = list(paste0("d", seq_along(documents)), data$poliblog.vocab)
  )
  list(x = x, y = as.double(data$poliblog.ratings))
}

ridge <- function(z, y, new, precisions = 2^(-4:6)) {
  fold <- rep_len(1:5, length(y))
  predict_with <- function(z, y, new, precision) {
    drop(new %*% solve(crossprod(z) + precision * diag(ncol(z)), crossprod(z, y - mean(y)))) + mean(y)
  }
  loss <- vapply(precisions, function(precision) {
    sum(vapply(1:5, function(f) {
      sum((y[fold == f] - predict_with(z[fold != f, ], y[fold != f], z[fold == f, ], precision))^2)
    }, 0))
  }, 0)
  best <- precisions[which.min(loss)]
  residual <- y - predict_with(z, y, z, best)
  list(fit = predict_with(z, y, new, best), sd = sqrt(min(loss) / length(y)))
}

r2 <- function(y, fit) 1 - sum((y - fit)^2) / sum((y - mean(y))^2)

one_split <- function(data, seed) {
  set.seed(seed)
  held <- sample(nrow(data$x), nrow(data$x) / 4)
  x <- data$x[-held, ]
  y <- data$y[-held]
  new <- data$y[held]
  control <- bnp_control(seed = seed, max_laps = 40, threads = 1)
  words <- suppressWarnings(bnp_topics(x, control = control))
  two <- ridge(fitted(words), y, predict(words, data$x[held, ]))
  both <- suppressWarnings(bnp_topics(x, response = y, control = control))
  joint <- predict(both, data$x[held, ], type = "response", interval = 0.6826895)
  spread <- (joint[, "upper"] - joint[, "lower"]) / 2
  score <- function(fit, sd) mean(dnorm(new, fit, sd, log = TRUE))
  c(
    r2_words = r2(new, two$fit), r2_response = r2(new, joint[, "fit"]), score_words = score(two$fit, two$sd),
    score_response = score(joint[, "fit"], spread), sign_words = mean((two$fit > 0) == (new > 0)),
    sign_response = mean((joint[, "fit"] > 0) == (new > 0)), k_words = n_clusters(words), k_response = n_clusters(both)
  )
}

compare <- function(data) {
  all <- t(vapply(seq_len(splits), function(s) one_split(data, s), numeric(8)))
  print(round(rbind(mean = colMeans(all), se = apply(all, 2, sd) / sqrt(splits)), 4))
  for (what in c("r2", "score", "sign")) {
    gain <- all[, paste0(what, "_response")] - all[, paste0(what, "_words")]
    cat(what, "gain", signif(mean(gain), 3), "+-", signif(sd(gain) / sqrt(splits), 2), "\n")
  }
}

# Seconds of a lap without moves, with 1, 2 and 7 equations, beside that without a response.
speed <- function() {
  data <- planted(4000, 1000, 20, 100)
  no_moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  for (k in c(10, 25, 50)) {
    lap <- function(...) {
      fit <- suppressWarnings(bnp_topics(data$x, prior = prior_lda(k), control = bnp_control(
        seed = 1, max_laps = 25, tol = 0, moves = no_moves, init = "bregman", threads = 1
      ), ...))
      c(seconds = median(diff(fit$trace$seconds)[10:24]), active = mean(rowSums(as.matrix(fit$documents) > 0)))
    }
    classes <- function(n) cut(data$y, quantile(data$y, 0:n / n), include.lowest = TRUE)
    base <- lap()
    for (response in list(gaussian = data$y, two = classes(2), three = classes(3), eight = classes(8))) {
      now <- lap(response = response)
      kind <- if (is.numeric(response)) "gaussian" else paste(nlevels(response), "classes")
      times <- now[["seconds"]] / base[["seconds"]]
      cat("K", k, kind, "active", round(now[["active"]], 1), "times", round(times, 2), "\n")
    }
  }
}

switch(arguments[1],
  planted = compare(planted()),
  blogs = if (requireNamespace("lda", quietly = TRUE)) compare(blogs()) else message("lda is not installed."),
  speed = speed()
)
