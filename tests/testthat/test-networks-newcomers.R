# Memberships of nodes that were not in the network that was fitted: their local step, against plain R.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, max_laps = 2000, ...)
group <- rep(1:3, each = 10)
net <- withr::with_seed(2, planted_network(group, matrix(0.08, 3, 3) + diag(0.6, 3)))
many <- withr::with_seed(2, planted_network(group, matrix(0.15, 3, 3) + diag(1.5, 3), counts = TRUE))
flow <- withr::with_seed(3, planted_network(group, matrix(0.1, 3, 3) + cbind(0, diag(0.5, 3))[, 1:3], TRUE))
plain <- adjacency_of(net)
counted <- adjacency_of(many)
directed <- adjacency_of(flow)
unknown <- plain
unknown[1, 2] <- unknown[2, 1] <- unknown[5, 20] <- unknown[20, 5] <- NA
obs_of <- list(
  blocks = obs_links(), corrected = obs_links(degree = TRUE), relational = obs_links(degree = FALSE),
  general = obs_links(assortative = FALSE), gamma = obs_links(degree = TRUE)
)
fit_of <- function(kind, x) {
  prior <- if (kind %in% c("blocks", "corrected")) prior_dp() else prior_hdp()
  control <- if (kind == "corrected") quiet() else quiet(tol = 1e-10)
  suppressWarnings(bnp_network(x, obs_of[[kind]], prior, control))
}
fits <- lapply(stats::setNames(nm = names(obs_of)), fit_of, x = plain)
kinds_of_counts <- setdiff(names(obs_of), if (!long_tests()) "general")
fits_of_counts <- lapply(stats::setNames(nm = kinds_of_counts), fit_of, x = counted)

test_that("a node that is seen again has the membership that it has", {
  again <- function(fit, x) predict(fit, x, type = "prob")
  for (name in some_of(names(fits), by = 2)) {
    # The bound of a node of the relational model is flat between close memberships.
    near <- switch(name, blocks = 1e-5, corrected = 0.35, relational = 0.15, 0.01)
    expect_lt(max(abs(again(fits[[name]], plain) - memberships(fits[[name]]))), near, label = name)
    if (name %in% names(fits_of_counts)) {
      of_counts <- fits_of_counts[[name]]
      expect_lt(max(abs(again(of_counts, counted) - memberships(of_counts))), near, label = name)
    }
    expect_identical(dimnames(again(fits[[name]], plain)), dimnames(memberships(fits[[name]])))
    labels <- predict(fits[[name]], plain, type = "class")
    expect_identical(labels, fitted(fits[[name]]))
  }
  for (name in some_of(c("gamma", "relational", "blocks"), by = 3)) {
    fit <- fit_of(name, unknown)
    expect_lt(max(abs(again(fit, unknown) - memberships(fit))), 0.01, label = name)
  }
  # Directed: as a list under another name.
  for (name in some_of(c("relational", "blocks", "general", "gamma"), by = 4)) {
    fit <- fit_of(name, directed)
    for (i in some_of(c(1, 12, 25), by = 3, from = 2)) {
      at <- flow$from == i | flow$to == i
      name_of <- function(j) ifelse(j == i, "again", j)
      list <- data.frame(from = name_of(flow$from[at]), to = name_of(flow$to[at]), weight = 1)
      list <- rbind(list, data.frame(from = c("again", i), to = c(i, "again"), weight = NA))
      expect_lt(max(abs(predict(fit, list, type = "prob") - memberships(fit)[i, ])), 0.01, label = paste(name, i))
    }
  }
})

# Links of two new nodes: one of group 1, one of groups 2 and 3; some pairs not observed.
new_links <- data.frame(
  from = c(rep("a", 6), rep("b", 7), "a", "b"), to = c(1, 2, 4, 5, 8, 25, 11:14, 21:23, 9, 30),
  weight = c(1, 2, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, NA, NA)
)
plain_links <- transform(new_links, weight = pmin(weight, 1))
rows_of <- function(links, node) {
  y <- replace(double(30), links$to[links$from == node], links$weight[links$from == node])
  list(y = y, seen = !is.na(y))
}

test_that("lists and matrices of links say the same", {
  wide <- rbind(b = rows_of(plain_links, "b")$y, a = rows_of(plain_links, "a")$y)
  named <- wide[, 30:1]
  colnames(named) <- 30:1
  for (fit in fits) {
    prob <- predict(fit, plain_links, type = "prob")
    expect_identical(rownames(prob), c("a", "b"))
    expect_equal(unname(rowSums(prob)), c(1, 1))
    expect_equal(predict(fit, wide, type = "prob")[2:1, , drop = FALSE], prob)
    expect_equal(predict(fit, named, type = "prob")[2:1, , drop = FALSE], prob)
    expect_equal(predict(fit, Matrix::Matrix(wide, sparse = TRUE), type = "prob")[2:1, , drop = FALSE], prob)
    expect_equal(predict(fit, plain_links[15:1, c(2, 1, 3)], type = "prob")[2:1, , drop = FALSE], prob)
    expect_identical(predict(fit, plain_links, type = "class"), stats::setNames(max.col(prob), c("a", "b")))
    expect_identical(dim(predict(fit, plain_links[0, ], type = "prob")), c(0L, fit$state$k))
    # A row of zeros has no links, and is a new node nevertheless.
    expect_identical(rownames(predict(fit, data.frame(from = "c", to = 1, weight = 0), type = "prob")), "c")
    expect_equal(predict(fit, type = "prob"), memberships(fit))
  }
})

test_that("new nodes of a blockmodel have the softmax of plain R", {
  for (data in list(list(fits$blocks, plain_links, FALSE), list(fits_of_counts$blocks, new_links, TRUE))) {
    fit <- data[[1]]
    state <- fit$state
    k <- state$k
    obs <- fit$model$obs
    size <- fit$sizes
    log_p <- function(y, a, b) {
      s <- obs$a + state$sum[a, b]
      rate <- obs$b + state$pairs[a, b] - if (data[[3]]) 0 else state$sum[a, b]
      if (data[[3]]) y * (digamma(s) - log(rate)) - s / rate
      else ifelse(y > 0, digamma(s), digamma(rate)) - digamma(s + rate)
    }
    prior <- vapply(seq_len(k), function(a) {
      after <- function(c) sum(size[order(fit$numbering)][-seq_len(c)])
      place <- fit$numbering[a]
      total <- digamma(1 + size[a]) - digamma(2 + size[a] + after(place))
      for (c in seq_len(place - 1L)) {
        own <- size[order(fit$numbering)][c]
        total <- total + digamma(1 + after(c)) - digamma(2 + own + after(c))
      }
      total
    }, 1)
    for (node in c("a", "b")) {
      x <- rows_of(data[[2]], node)
      score <- prior
      for (a in seq_len(k)) for (j in which(x$seen)) for (b in seq_len(k)) {
        score[a] <- score[a] + fit$prob[j, b] * log_p(x$y[j], a, b)
      }
      expected <- exp(score - max(score))
      expect_equal(unname(predict(fit, data[[2]], type = "prob")[node, ]), expected / sum(expected), tolerance = 1e-7)
    }
  }
})

test_that("new nodes of a degree-corrected blockmodel have the probability of each label", {
  for (data in list(list(fits$corrected, net, plain_links), list(fits_of_counts$corrected, many, new_links))) {
    fit <- data[[1]]
    obs <- fit$model$obs
    model <- list(counts = TRUE, degree = TRUE, a = obs$a, b = obs$b, gamma = 1)
    all_seen <- data[[3]][!is.na(data[[3]]$weight), ]
    for (node in c("a", "b")) {
      x <- rows_of(all_seen, node)
      larger <- small_network(
        31, c(data[[2]]$from, which(x$y > 0)), c(data[[2]]$to, rep(31, sum(x$y > 0))), c(data[[2]]$value, x$y[x$y > 0])
      )
      joint <- vapply(seq_len(fit$state$k), function(a) {
        engine_network_joint(larger, model, c(unname(fitted(fit)), a))$log_joint
      }, 1)
      expect_equal(unname(predict(fit, all_seen, type = "prob")[node, ]), exp(joint - log_sum(joint)), tolerance = 1e-7)
    }
  }
  # Nearly so where pairs are hidden.
  hidden <- predict(fits$corrected, plain_links, type = "prob")
  expect_lt(max(abs(hidden - predict(fits$corrected, subset(plain_links, !is.na(weight)), type = "prob"))), 0.1)
})

# Parts of the bound that a new node adds under the gamma network, q(t) = Gamma(shape, rate).
gamma_part <- function(fit, x, shape, rate) {
  k <- fit$state$k
  p <- fit$state$params
  pi <- fit$state$weights
  alpha <- fit$model$prior$alpha
  mean <- p$shape / p$rate
  tilde <- exp(digamma(p$shape)) / p$rate
  phi <- p$phi_shape / p$phi_rate
  phi_tilde <- exp(digamma(p$phi_shape)) / p$phi_rate
  own <- shape / rate
  own_log <- digamma(shape) - log(rate)
  total <- sum((alpha * pi[seq_len(k)] - shape) * own_log - (alpha - rate) * own + lgamma(shape) - shape * log(rate))
  for (j in which(x$seen)) {
    l <- phi_tilde[k + 1] * sum(exp(own_log)) * sum(tilde[j, ]) + sum(phi_tilde[seq_len(k)] * exp(own_log) * tilde[j, ])
    cost <- phi[k + 1] * sum(own) * (sum(mean[j, ]) + pi[k + 1]) + sum(phi[seq_len(k)] * own * mean[j, ])
    y <- x$y[j]
    total <- total - cost
    if (y > 0) total <- total + if (fit$model$obs$links == "counts") y * log(l) else l + log(-expm1(-l))
  }
  total
}

test_that("new nodes of the gamma network are at a maximum of their part of the bound", {
  # With more weight left for other communities than a fit leaves.
  with_rest <- fits$gamma
  with_rest$state$weights <- c(with_rest$state$weights[-(with_rest$state$k + 1)], 1.5)
  for (data in some_of(list(
    list(with_rest, plain_links), list(fits$gamma, plain_links), list(fits_of_counts$gamma, new_links)
  ), by = 2)) {
    fit <- data[[1]]
    k <- fit$state$k
    for (node in some_of(c("a", "b"), by = 2)) {
      x <- rows_of(data[[2]], node)
      value <- function(par) -gamma_part(fit, x, exp(par[1:k]), exp(par[k + 1:k]))
      best <- stats::optim(rep(0, 2 * k), value, method = "BFGS", control = list(maxit = 2000, reltol = 1e-14))
      mean <- exp(best$par[1:k] - best$par[k + 1:k])
      expect_equal(unname(predict(fit, data[[2]], type = "prob")[node, ]), mean / sum(mean), tolerance = 1e-3)
    }
  }
})

# The same under the relational model: q of links at its optimum, a profile for other pairs, theta at its optimum.
relational_part <- function(fit, x) {
  k <- fit$state$k
  obs <- fit$model$obs
  p <- fit$state$params
  counts <- obs$links == "counts"
  weights <- function(y, n, s, a, b) {
    if (counts) y * (digamma(a + s) - log(b + n)) - (a + s) / (b + n)
    else (if (y > 0) digamma(a + s) else digamma(b + n - s)) - digamma(a + b + n)
  }
  block <- function(y) {
    if (!obs$assortative) return(weights(y, fit$state$pairs, fit$state$sum, obs$a, obs$b))
    each <- weights(y, p$pairs, p$sum, c(rep(obs$a, k), obs$background[1]), c(rep(obs$b, k), obs$background[2]))
    diag(each[seq_len(k)] - each[k + 1], k) + each[k + 1]
  }
  own <- (digamma(p$theta) - digamma(rowSums(p$theta)))[, seq_len(k), drop = FALSE]
  linked <- which(x$seen & x$y > 0)
  others <- which(x$seen & x$y == 0)
  of_links <- lapply(linked, function(j) block(x$y[j]) + rep(own[j, ], each = k))
  of_others <- rowSums(block(0) %*% t(p$rho[others, seq_len(k), drop = FALSE]))
  entropy <- function(q) -sum(ifelse(q > 0, q * log(q), 0))
  function(profile, log_pi) {
    ends <- length(others) * profile
    total <- sum(profile * of_others) + length(others) * entropy(profile)
    for (weight in of_links) {
      q <- exp(log_pi + weight - max(log_pi + weight))
      q <- q / sum(q)
      total <- total + sum(q * weight) + entropy(q)
      ends <- ends + rowSums(q)
    }
    theta <- fit$model$prior$alpha * fit$state$weights + c(ends, 0)
    list(value = total + sum(lgamma(theta)) - lgamma(sum(theta)), theta = theta)
  }
}

test_that("new nodes of the relational model are at a maximum of their part of the bound", {
  for (data in list(
    list(fits$relational, plain_links), list(fits$general, plain_links), list(fits_of_counts$relational, new_links)
  )) {
    fit <- data[[1]]
    k <- fit$state$k
    for (node in some_of(c("a", "b"), by = 2)) {
      x <- rows_of(data[[2]], node)
      softmax_of <- function(par) exp(par - max(par)) / sum(exp(par - max(par)))
      part <- relational_part(fit, x)
      at <- function(par) part(softmax_of(c(0, par[seq_len(k - 1)])), c(0, par[k - 1 + seq_len(k - 1)]))
      prob <- unname(predict(fit, data[[2]], type = "prob")[node, ])
      starts <- lapply(seq_len(k), function(a) rep(log(0.1 + 0.9 * (seq_len(k) == a)), 2))
      tries <- lapply(starts, function(s) {
        s <- s - rep(s[c(1, k + 1)], each = k)
        stats::optim(s[-c(1, k + 1)], function(par) -at(par)$value, method = "BFGS", control = list(reltol = 1e-10))
      })
      best <- tries[[which.min(vapply(tries, function(t) t$value, 1))]]$par
      end <- at(best)
      expect_equal(prob, end$theta[seq_len(k)] / sum(end$theta[seq_len(k)]), tolerance = 0.02, label = node)
    }
  }
})

test_that("a node of which nothing was observed has what the prior says, one without links what that says", {
  for (name in names(fits)) {
    fit <- fits[[name]]
    none <- predict(fit, matrix(NA_real_, 1, 30), type = "prob")[1, ]
    weight <- switch(name, blocks = NULL, corrected = fit$sizes, fit$state$weights[seq_len(fit$state$k)])
    if (!is.null(weight)) {
      near <- if (name == "corrected") 0.05 else 1e-6
      expect_equal(unname(none), weight / sum(weight), tolerance = near, label = name)
    }
    expect_equal(sum(predict(fit, matrix(0, 1, 30), type = "prob")), 1)
  }
})

test_that("new nodes that cannot be read are refused by name", {
  fit <- fits$blocks
  refused <- function(newdata, class, of = fit) {
    expect_error(predict(of, newdata, type = "prob"), "newdata", class = paste0("bnpvi_error_", class))
  }
  refused(1:3, "network")
  refused(data.frame(from = "a", to = "b"), "nodes")
  refused(data.frame(from = 1, to = 2), "nodes")
  refused(data.frame(from = "a"), "network")
  refused(data.frame(from = "a", to = NA), "missing")
  refused(data.frame(from = "a", to = 1, weight = 0.5), "not_counts")
  refused(data.frame(from = "a", to = 1, weight = 2), "not_binary")
  refused(data.frame(from = c("a", 1), to = c(1, "a")), "not_binary")
  refused(matrix(0, 2, 29), "network")
  refused(matrix(0, 2, 30, dimnames = list(NULL, c(1:29, "x"))), "network")
  refused(matrix("a", 2, 30), "not_numeric")
  refused(matrix(0, 1, 30), "argument", fit_of("blocks", directed))
  refused("a", "network", fits$gamma)
})
