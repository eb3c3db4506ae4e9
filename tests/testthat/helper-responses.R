# Documents with responses, and slow plain-R twins of their part of the bound.

# Three documents of three tokens over four words, whose evidence can be summed over all topics of all tokens.
three_documents <- list(c(1, 1, 2), c(2, 3, 3), c(1, 3, 4))

response_list <- function(family = "gaussian", precision = 0.5, equations = 1, covariates = 0, weight = 1, ...) {
  utils::modifyList(list(
    family = family, equations = equations, covariates = covariates, precision = precision, df = 3, scale = 1,
    variance = 0, cost = 1, epsilon = 0.1, weight = weight
  ), list(...))
}

# A fit of the engine itself: `values` has a column for each document.
fit_responses <- function(x, values, response, prior = list(family = "lda", k = 2L, alpha = 1.2), seed = 1, laps = 60,
                          start = NULL, moves = FALSE, term_prior = 0.3, ...) {
  data <- count_data(x)
  if (!is.null(values)) data$group_values <- values
  model <- topic_model(ncol(x), prior, term_prior)
  model$response <- response
  control <- engine_control(
    2L, seed, moves = if (moves) all_moves else no_moves, max_laps = laps, tol = 0, audit = TRUE
  )
  control <- utils::modifyList(control, list(...))
  engine_fit(data, model, control, start, NULL)
}

random_responsibilities <- function(seed, n, k) {
  withr::with_seed(seed, {
    r <- matrix(rexp(n * k)^2, n)
    r / rowSums(r)
  })
}

# The regression evidence (or bound) given sums over documents of omega E zz', b E z, and what is left.
twin_response_evidence <- function(family, square, product, n, constant, precision, df = 3, scale = 1) {
  posterior <- diag(precision, nrow(square)) + square
  explained <- sum(product * solve(posterior, product))
  determinants <- 0.5 * (nrow(square) * log(precision) - as.double(determinant(posterior)$modulus))
  if (family != "gaussian") {
    return(determinants + explained / 2 + constant)
  }
  determinants - n / 2 * log(2 * pi) + lgamma((df + n) / 2) - lgamma(df / 2) + df / 2 * log(scale / 2) -
    (df + n) / 2 * log((scale + constant - explained) / 2)
}

# E zz' of a document with one row of responsibilities for each token: exactly, or as if all had their mean.
second_moment <- function(r, exact) {
  n <- nrow(r)
  s <- colSums(r)
  if (exact) (tcrossprod(s) + diag(s) - crossprod(r)) / n^2 else (1 - 1 / n) * tcrossprod(s) / n^2 + diag(s) / n^2
}

# All of the bound of documents (lists of words) with responsibilities r (lists of tokens x topics) under LDA with `a`
#  for each topic; xi: local numbers of a logistic response, or NULL for a gaussian one.
twin_supervised_bound <- function(docs, r, y, xi, a, lambda, precision, terms, exact) {
  k <- ncol(r[[1]])
  counts <- matrix(0, k, terms)
  value <- 0
  square <- matrix(0, k, k)
  product <- numeric(k)
  constant <- 0
  for (d in seq_along(docs)) {
    for (n in seq_along(docs[[d]])) counts[, docs[[d]][n]] <- counts[, docs[[d]][n]] + r[[d]][n, ]
    s <- colSums(r[[d]])
    value <- value + entropy_of(r[[d]]) + lgamma(k * a) - lgamma(k * a + sum(s)) + sum(lgamma(a + s) - lgamma(a))
    omega <- if (is.null(xi)) 1 else tanh(xi[d] / 2) / (2 * xi[d])
    b <- if (is.null(xi)) y[d] else y[d] - 0.5
    square <- square + omega * second_moment(r[[d]], exact)
    product <- product + b * s / sum(s)
    constant <- constant +
      if (is.null(xi)) y[d]^2 else stats::plogis(xi[d], log.p = TRUE) - xi[d] / 2 + omega * xi[d]^2 / 2
  }
  family <- if (is.null(xi)) "gaussian" else "logistic"
  value + twin_data_term(counts, rep(lambda, terms)) +
    twin_response_evidence(family, square, product, length(docs), constant, precision)
}

# log p(words, y): the sum over the topics of all tokens.
supervised_evidence <- function(docs, y, family, a, lambda, precision, terms) {
  paths <- as.matrix(expand.grid(rep(list(1:2), sum(lengths(docs)))))
  document <- rep(seq_along(docs), lengths(docs))
  word <- unlist(docs)
  each <- apply(paths, 1, function(z) {
    shares <- t(vapply(seq_along(docs), function(d) tabulate(z[document == d], 2) / length(docs[[d]]), numeric(2)))
    counts <- t(vapply(1:2, function(k) as.double(tabulate(word[z == k], terms)), numeric(terms)))
    n <- shares * lengths(docs)
    words <- twin_data_term(counts, rep(lambda, terms)) +
      sum(lgamma(2 * a) - lgamma(2 * a + rowSums(n))) + sum(lgamma(a + n) - lgamma(a))
    words + if (family == "gaussian") {
      twin_response_evidence("gaussian", crossprod(shares), drop(crossprod(shares, y)), length(y), sum(y^2), precision)
    } else {
      logistic_evidence(shares, y, precision)
    }
  })
  max(each) + log(sum(exp(each - max(each))))
}

# log of the integral of the logistic likelihood over two normal coefficients, on a grid.
logistic_evidence <- function(shares, y, precision, reach = 9, nodes = 61) {
  at <- seq(-reach, reach, length.out = nodes)
  grid <- as.matrix(expand.grid(at, at))
  f <- grid %*% t(shares)
  value <- f %*% y - rowSums(log1p(exp(f))) - precision / 2 * rowSums(grid^2) + log(precision / (2 * pi))
  log(sum(exp(value)) * (at[2] - at[1])^2)
}

# Documents of five topics whose response is a sum of effects of topics.
planted_responses <- function(documents = 120, terms = 60, tokens = 60, seed = 1, noise = 0.3) {
  withr::with_seed(seed, {
    phi <- matrix(rgamma(5 * terms, 0.15), 5) + 1e-3
    share <- matrix(rgamma(documents * 5, 0.4), documents)
    share <- share / rowSums(share)
    x <- t(vapply(seq_len(documents), function(d) {
      as.double(rmultinom(1, tokens, drop(share[d, ] %*% (phi / rowSums(phi)))))
    }, numeric(terms)))
    dimnames(x) <- list(paste0("d", seq_len(documents)), paste0("t", seq_len(terms)))
    list(x = x, y = drop(share %*% (-2:2)) + noise * rnorm(documents))
  })
}
