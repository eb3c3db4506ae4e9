# Topics that predict: held-out R2, log score and sign accuracy beside topics first and ridge afterwards, over paired
# splits (three quarters to learn from), and the time of a lap beside the unsupervised one.
#   Rscript inst/bench/responses.R planted|blogs|reviews [first:last split] [directory of data] [file of rows]
#   Rscript inst/bench/responses.R slda 1:10 [directory of data]
#   Rscript inst/bench/responses.R speed
# slda: slda.em of the package lda on the splits of blogs, with the settings of its demo and 10, 20 and 30 topics.
# planted: 400 documents, 500 terms, ten topics by words, of which two are one topic to words but for a tenth of their
# terms, and have opposite effects. blogs: political blogs, from poliblog.*.rda of the package lda (archived; 773 posts,
# -100 and 100). reviews: the first 2,000 of movie_review.RData of the package text2vec, with ratings from 1 to 10 (in
# their names), 20 topics each as the HDP without responses stays with one. The directory has these files.
# Ridge on the topics of words has its penalty chosen by cross-validation; with a response its weight (1, 3, 10, 30) is
# chosen by R2 on a quarter of the documents to learn from. Also: weight 1; and ridge on square roots of shares of
# words, without topics. Rows of results are added to the file of rows, if given, and the summary is of all rows in it.
library(bnpvi)
arguments <- commandArgs(TRUE)
argument <- function(at, otherwise) if (length(arguments) >= at) arguments[at] else otherwise

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

blogs <- function(directory) {
  data <- new.env()
  for (part in c("documents", "ratings", "vocab")) {
    load(file.path(directory, paste0("poliblog.", part, ".rda")), data)
  }
  documents <- data$poliblog.documents
  list(
    x = Matrix::sparseMatrix(
      i = rep(seq_along(documents), vapply(documents, ncol, 1L)),
      j = unlist(lapply(documents, function(d) d[1, ])) + 1L,
      x = as.double(unlist(lapply(documents, function(d) d[2, ]))),
      dims = c(length(documents), length(data$poliblog.vocab)),
      dimnames = list(paste0("d", seq_along(documents)), data$poliblog.vocab)
    ),
    y = as.double(data$poliblog.ratings), prior = prior_hdp()
  )
}

# Words of three letters or more that are in 25 of the 5,000 reviews, but not in more than 1,500.
reviews <- function(directory, n = 2000) {
  data <- new.env()
  load(file.path(directory, "movie_review.RData"), data)
  review <- data$movie_review
  words <- strsplit(gsub("[^a-z]+", " ", gsub("<br />", " ", tolower(review$review))), " ")
  words <- lapply(words, function(w) w[nchar(w) > 2])
  documents <- table(unlist(lapply(words, unique)))
  vocabulary <- names(documents)[documents >= 25 & documents <= 1500]
  at <- lapply(words[seq_len(n)], function(w) stats::na.omit(match(w, vocabulary)))
  list(
    x = Matrix::sparseMatrix(
      i = rep(seq_len(n), lengths(at)), j = unlist(at), x = 1, dims = c(n, length(vocabulary)),
      dimnames = list(paste0("d", seq_len(n)), vocabulary)
    ),
    y = as.double(sub(".*_", "", review$id))[seq_len(n)], prior = prior_lda(20)
  )
}

ridge <- function(z, y, new, precisions) {
  z <- as.matrix(z)
  new <- as.matrix(new)
  fold <- rep_len(1:5, length(y))
  # In the space of documents where that is smaller.
  predict_with <- function(z, y, new, precision) {
    effect <- if (ncol(z) <= nrow(z)) {
      solve(crossprod(z) + precision * diag(ncol(z)), crossprod(z, y - mean(y)))
    } else {
      crossprod(z, solve(tcrossprod(z) + precision * diag(nrow(z)), y - mean(y)))
    }
    drop(new %*% effect) + mean(y)
  }
  loss <- vapply(precisions, function(precision) {
    sum(vapply(1:5, function(f) {
      own <- fold == f
      sum((y[own] - predict_with(z[!own, , drop = FALSE], y[!own], z[own, , drop = FALSE], precision))^2)
    }, 0))
  }, 0)
  list(fit = predict_with(z, y, new, precisions[which.min(loss)]), sd = sqrt(min(loss) / length(y)))
}

r2 <- function(y, fit) 1 - sum((y - fit)^2) / sum((y - mean(y))^2)

# The sign of what is predicted, about the middle of the scale.
scores <- function(new, fit, sd, middle) {
  c(r2 = r2(new, fit), score = mean(dnorm(new, fit, sd, log = TRUE)), sign = mean((fit > middle) == (new > middle)))
}

one_split <- function(data, seed, weights = c(1, 3, 10, 30)) {
  middle <- mean(range(data$y))
  control <- bnp_control(seed = seed, max_laps = 40, threads = 1)
  topics <- function(rows, ...) {
    x <- data$x[rows, ]
    suppressWarnings(bnp_topics(x[, Matrix::colSums(x) > 0], prior = data$prior, control = control, ...))
  }
  quietly <- function(expr) suppressWarnings(expr) # terms that were not seen in training
  with_response <- function(rows, new, weight) {
    fit <- topics(rows, response = data$y[rows], response_weight = weight)
    p <- quietly(predict(fit, data$x[new, ], type = "response", interval = 0.6826895))
    list(fit = p[, "fit"], sd = (p[, "upper"] - p[, "lower"]) / 2, k = n_clusters(fit))
  }
  set.seed(seed)
  held <- sample(nrow(data$x), nrow(data$x) / 4)
  train <- setdiff(seq_len(nrow(data$x)), held)
  inner <- sample(train, length(train) / 4)
  gain <- vapply(weights, function(w) r2(data$y[inner], with_response(setdiff(train, inner), inner, w)$fit), 0)
  weight <- weights[which.max(gain)]
  words <- topics(train)
  by_words <- ridge(
    fitted(words), data$y[train], quietly(predict(words, data$x[held, ])), 2^(-6:8)
  )
  share <- as.matrix(sqrt(data$x / Matrix::rowSums(data$x)))
  without <- ridge(share[train, ], data$y[train], share[held, ], 2^(-4:5))
  chosen <- with_response(train, held, weight)
  one <- if (weight == 1) chosen else with_response(train, held, 1)
  each <- lapply(list(topics = by_words, response = chosen, weight_1 = one, bag = without), function(p) {
    scores(data$y[held], p$fit, p$sd, middle)
  })
  c(split = seed, weight = weight, k_topics = n_clusters(words), k_response = chosen$k, unlist(each))
}

compare <- function(data) {
  rows <- argument(4L, "")
  splits <- eval(parse(text = argument(2L, "1:10")))
  all <- do.call(rbind, lapply(splits, function(s) {
    found <- one_split(data, s)
    if (nzchar(rows)) {
      utils::write.table(t(found), rows, append = TRUE, col.names = !file.exists(rows), row.names = FALSE)
    }
    found
  }))
  if (nzchar(rows)) all <- as.matrix(utils::read.table(rows, header = TRUE))
  print(round(all[, 1:4, drop = FALSE], 2))
  each <- all[, -(1:4), drop = FALSE]
  error <- function(x) sd(x) / sqrt(length(x))
  print(round(rbind(mean = colMeans(each), se = apply(each, 2, error)), 4))
  for (what in c("r2", "score", "sign")) {
    gain <- all[, paste0("response.", what)] - all[, paste0("topics.", what)]
    cat(what, "gain", signif(mean(gain), 3), "+-", signif(error(gain), 2), "of", length(gain), "splits\n")
  }
}

# Responses go in as in the demo: -1 and 1. It gives no standard deviations, so there is no log score.
slda <- function(directory) {
  data <- new.env()
  for (part in c("documents", "ratings", "vocab")) load(file.path(directory, paste0("poliblog.", part, ".rda")), data)
  y <- as.double(data$poliblog.ratings) / 100
  documents <- data$poliblog.documents
  all <- do.call(rbind, lapply(eval(parse(text = argument(2L, "1:10"))), function(seed) {
    set.seed(seed)
    held <- sample(length(y), length(y) / 4)
    unlist(lapply(c(10, 20, 30), function(k) {
      seconds <- system.time({
        fit <- lda::slda.em(
          documents[-held], k, data$poliblog.vocab, 10, 4, alpha = 1, eta = 0.1, y[-held], sample(c(-1, 1), k, TRUE),
          variance = 0.25, lambda = 1, logistic = FALSE, method = "sLDA"
        )
        p <- lda::slda.predict(documents[held], fit$topics, fit$model, alpha = 1, eta = 0.1)
      })[["user.self"]]
      found <- c(r2 = r2(y[held], p), sign = mean((p > 0) == (y[held] > 0)), seconds = seconds)
      stats::setNames(found, paste0(names(found), ".", k))
    }))
  }))
  print(signif(cbind(mean = colMeans(all), se = apply(all, 2, sd) / sqrt(nrow(all))), 3))
}

# Seconds of a lap without moves, with 1, 4 and 9 equations, beside that without a response.
speed <- function() {
  data <- planted(4000, 1000, 20, 100)
  no_moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  for (k in c(10, 30, 100)) {
    lap <- function(...) {
      fit <- suppressWarnings(bnp_topics(data$x, prior = prior_lda(k), control = bnp_control(
        seed = 1, max_laps = 25, tol = 0, moves = no_moves, init = "bregman", threads = 1
      ), ...))
      c(seconds = median(diff(fit$trace$seconds)[10:24]), active = mean(rowSums(as.matrix(fit$documents) > 0)))
    }
    classes <- function(n) cut(data$y, quantile(data$y, 0:n / n), include.lowest = TRUE)
    base <- lap()
    for (response in list(gaussian = data$y, two = classes(2), five = classes(5), ten = classes(10))) {
      now <- lap(response = response)
      kind <- if (is.numeric(response)) "gaussian" else paste(nlevels(response), "classes")
      times <- now[["seconds"]] / base[["seconds"]]
      cat("K", k, kind, "active", round(now[["active"]], 1), "times", round(times, 2), "\n")
    }
  }
}

switch(argument(1L, "planted"),
  planted = compare(c(planted(), list(prior = prior_hdp()))),
  blogs = compare(blogs(argument(3L, "."))),
  reviews = compare(reviews(argument(3L, "."))),
  slda = slda(argument(3L, ".")),
  speed = speed()
)
