# Memberships of nodes that were not in the network: q of each new node is computed with everything else
# fixed.

# Reads the links of new nodes: list(ids, links, hidden). links and hidden (pairs that were not observed) are
# data frames new, known, y, out: the numbers of the new node and of the known one, the value, and whether the
# link starts at the new node (TRUE if the network is undirected).
new_nodes <- function(fit, x, call) {
  check_sparse(x, "newdata", call)
  found <- if (is.matrix(x) || inherits(x, "Matrix")) {
    new_of_matrix(fit, x, call)
  } else if (is.data.frame(x)) {
    new_of_list(fit, x, call)
  } else {
    abort("network", c(
      "{.arg newdata} must be a data frame of links between new nodes and nodes of the network, or a matrix (new nodes x
       nodes of the network), not {describe(x)}."
    ), call = call)
  }
  pairs <- found$pairs
  if (isFALSE(fit$input$weighted)) pairs$y[!is.na(pairs$y) & pairs$y != 0] <- 1
  check_values(pairs$y, call, "newdata")
  key <- paste(pairs$new, pairs$known, pairs$out)
  pairs$y <- stats::ave(pairs$y, key, FUN = sum)
  pairs <- pairs[!duplicated(key), ]
  if (fit$model$obs$links == "binary" && any(pairs$y > 1, na.rm = TRUE)) {
    abort("not_binary", c(
      "Links of {.arg newdata} must be 0 or 1, as those of the network were, not {max(pairs$y, na.rm = TRUE)}.",
      i = "Pairs that are listed several times add up."
    ), call = call)
  }
  list(
    ids = found$ids, links = pairs[!is.na(pairs$y) & pairs$y > 0, ], hidden = pairs[is.na(pairs$y), ]
  )
}

new_of_list <- function(fit, x, call) {
  links <- listed_new_links(fit, x, call)
  from <- node_names(links$from)
  to <- node_names(links$to)
  known <- cbind(match(from, fit$input$ids), match(to, fit$input$ids))
  both <- which(rowSums(!is.na(known)) == 2L)
  if (length(both)) {
    abort("nodes", c(
      "Each link of {.arg newdata} must have a new node at one end.",
      x = "In row {places(both)} both ends are in the network that was fitted.",
      i = "Give a node of the network that is observed again a new name, and {.code NA} for its pair with the old one."
    ), call = call)
  }
  none <- which(rowSums(!is.na(known)) == 0L)
  if (length(none)) {
    abort("nodes", c(
      "One end of each link of {.arg newdata} must be a node of the fitted network.",
      x = "In row {places(none)} both ends are new.",
      i = "Leave out links between new nodes: each new node is predicted by itself. Nodes are named
           {places(fit$input$ids, 3L)}."
    ), call = call)
  }
  out <- is.na(known[, 1L])
  name <- ifelse(out, from, to)
  ids <- unique(name)
  list(ids = ids, pairs = data.frame(
    new = match(name, ids), known = ifelse(out, known[, 2L], known[, 1L]), y = links$value,
    out = out | !fit$input$directed
  ))
}

# Reads the links of new nodes from a list of links. Whether values of links count is taken from the fit.
listed_new_links <- function(fit, x, call) {
  weighted <- fit$input$weighted
  named <- is.character(weighted) && weighted %in% names(x)
  read <- function() listed_links(x, call, "newdata", if (named) list(weighted))
  if (named || isFALSE(weighted)) suppressMessages(read(), "bnpvi_message_network") else read()
}

new_of_matrix <- function(fit, x, call) {
  ids <- fit$input$ids
  if (fit$input$directed) {
    abort("argument", c(
      "{.arg newdata} must be a data frame of links, as the network is directed, not a matrix.",
      i = "Its columns {.field from} and {.field to} say which end is new."
    ), call = call)
  }
  if (is.matrix(x) && !is.numeric(x) && !is.logical(x)) {
    abort("not_numeric", "{.arg newdata} must be a matrix of numbers, not {describe(x)}.", call = call)
  }
  at <- if (is.null(colnames(x))) seq_len(ncol(x)) else match(ids, colnames(x))
  if (ncol(x) != length(ids) || anyNA(at)) {
    abort("network", c(
      "{.arg newdata}, a matrix, must have a column for each node of the network ({length(ids)}), not {ncol(x)}.",
      x = if (anyNA(at)) "Columns with names have those of nodes; there is none for {places(ids[is.na(at)])}.",
      i = "Give a data frame where links are listed."
    ), call = call)
  }
  names <- rownames(x) %||% seq_len(nrow(x))
  cells <- matrix_cells(x)
  again <- match(rownames(x), ids)
  seen <- which(!is.na(again))
  pairs <- data.frame(
    new = c(cells$i, seen), known = c(match(cells$j, at), again[seen]), y = c(cells$x, rep(NA, length(seen)))
  )
  pairs$out <- rep(TRUE, nrow(pairs))
  with_itself <- !is.na(again[pairs$new]) & again[pairs$new] == pairs$known
  list(ids = as.character(names), pairs = pairs[!with_itself | is.na(pairs$y), ])
}

# The memberships of new nodes: new nodes x communities.
newcomers_memberships <- function(fit, new) {
  step <- newcomer_step(fit)
  by_node <- function(x) split(x, factor(x$new, seq_along(new$ids)))
  all_links <- by_node(new$links)
  all_hidden <- by_node(new$hidden)
  prob <- vapply(seq_along(new$ids), function(i) {
    links <- all_links[[i]]
    hidden <- all_hidden[[i]]
    step(list(
      out = links[links$out, ], into = links[!links$out, ], hidden_out = hidden$known[hidden$out],
      hidden_into = hidden$known[!hidden$out]
    ))
  }, double(fit$state$k))
  prob <- matrix(prob, length(new$ids), fit$state$k, byrow = TRUE)
  dimnames(prob) <- list(new$ids, colnames(fit$prob))
  prob
}

# Makes the function that computes q of a new node from its pairs, list(out, into, hidden_out, hidden_into),
# under this fit's model.
newcomer_step <- function(fit) UseMethod("newcomer_step")
newcomer_step.bnp_blocks <- function(fit) if (fit$model$obs$degree) corrected_step(fit) else blocks_step(fit)
newcomer_step.bnp_communities <- function(fit) if (fit$model$obs$degree) gamma_step(fit) else relational_step(fit)

softmax <- function(x) {
  p <- exp(x - max(x))
  p / sum(p)
}

# digamma(), but -Inf, the log of 0, where the argument is 0: a labelled node has no mass outside its classes.
digamma_or_none <- function(x) {
  x[] <- ifelse(x > 0, digamma(replace(x, x == 0, 1)), -Inf)
  x
}

# The sum over some pairs of a row of x for each: rows[i] is the row of pair i, times[i] its weight.
sum_of <- function(x, rows, times = 1) colSums(x[rows, , drop = FALSE] * times)

# The weights `none` and `link` of blocks, with which E log p(y) = none + y link. n, s: numbers of pairs and
# sums of values in the blocks; a, b: the prior's parameters.
block_weights <- function(n, s, a, b, counts) {
  if (counts) {
    return(list(none = -(a + s) / (b + n), link = digamma(a + s) - log(b + n)))
  }
  none <- pmax(0, n - s)
  list(none = digamma(b + none) - digamma(a + b + s + none), link = digamma(a + s) - digamma(b + none))
}

# Blockmodel: the memberships r of a new node are proportional to exp(E log pi + E log p(pairs)), in one step.
blocks_step <- function(fit) {
  obs <- fit$model$obs
  state <- fit$state
  w <- block_weights(state$pairs, state$sum, obs$a, obs$b, obs$links == "counts")
  # Sizes of communities in the order of learning, on which their stick-breaking weights depend.
  size <- double(state$k)
  size[fit$numbering] <- fit$sizes
  one <- 1 + size
  zero <- fit$model$prior$concentration + rev(cumsum(rev(size))) - size
  stick <- digamma(one) - digamma(one + zero)
  prior <- stick + c(0, cumsum(digamma(zero) - digamma(one + zero))[-state$k])
  prior <- prior[fit$numbering]
  all <- colSums(fit$prob)
  met <- function(w, links, hidden) {
    drop(w$none %*% (all - sum_of(fit$prob, hidden)) + w$link %*% sum_of(fit$prob, links$known, links$y))
  }
  turned <- lapply(w, t)
  function(x) {
    score <- prior + met(w, x$out, x$hidden_out)
    if (fit$input$directed) score <- score + met(turned, x$into, x$hidden_into)
    softmax(score)
  }
}

# Degree-corrected blockmodel: p(label of the new node | links, labels of all others) with everything else
# integrated out (src/networks/degrees.h).
corrected_step <- function(fit) {
  obs <- fit$model$obs
  k <- fit$state$k
  theta <- activities(fit)$theta
  by_community <- function(x) {
    as.vector(tapply(x, factor(fit$labels, seq_len(k)), sum, default = 0))
  }
  nodes <- as.double(tabulate(fit$labels, k))
  ends <- by_community(fit$state$degrees$ends)
  lent <- by_community(fit$state$degrees$lent)
  own <- diag(k) == 1
  # The number of observed pairs in a block of two communities is all (1 - hidden / both). Here `all` is the number
  # of their pairs of nodes, and `both` that of pairs of their Dirichlet parameters' sums; both count each pair once
  # within a community.
  parts <- function(nodes, sums) {
    all <- outer(nodes, nodes)
    both <- outer(sums, sums)
    diag(all) <- diag(all) / 2
    diag(both) <- sums * (sums + 1) / 2
    list(all = all, both = both)
  }
  now <- parts(nodes, nodes + ends + lent)
  hidden <- now$both * (1 - fit$state$pairs / now$all)
  usual <- fit$input$n * fit$input$total / max(1, fit$input$n * (fit$input$n - 1) / 2 - fit$input$hidden)
  upper <- upper.tri(own, diag = TRUE)
  function(x) {
    met <- by_community(replace(double(fit$input$n), x$out$known, x$out$y))
    degree <- sum(x$out$y)
    part <- length(x$hidden_out) / (fit$input$n + 1)
    loan <- (1 + degree) * usual * part / (1 + usual * (1 - part))
    met_hidden <- (1 + degree + loan) * by_community(replace(double(fit$input$n), x$hidden_out, theta[x$hidden_out]))
    softmax(vapply(seq_len(k), function(a) {
      here <- seq_len(k) == a
      nodes <- nodes + here
      ends <- ends + met + here * degree
      lent <- lent + here * loan
      sums <- nodes + ends + lent
      added <- function(t, x) {
        t[a, ] <- t[a, ] + x
        t[!here, a] <- t[!here, a] + x[!here]
        t
      }
      part <- parts(nodes, sums)
      n <- part$all * pmax(0, 1 - added(hidden, met_hidden) / part$both)
      s <- added(fit$state$sum, met)
      blocks <- lgamma(obs$a + s) - (obs$a + s) * log(obs$b + n)
      log(nodes[a] - 1) + sum(blocks[upper]) +
        sum(ends * log(nodes) + lgamma(nodes) - lgamma(sums) + lent * digamma(sums))
    }, 1))
  }
}

# Iterates step() from each of several starts until the numbers converge, and returns the end with the largest
# value(), as there may be several optima.
best_settled <- function(starts, step, value) {
  ends <- lapply(starts, function(now) {
    for (round in seq_len(1000L)) {
      last <- now
      now <- step(last)
      if (max(abs(now - last)) <= 1e-10 * (1 + max(abs(now)))) break
    }
    now
  })
  ends[[which.max(vapply(ends, value, 1))]]
}

# Weights of communities from which iterations start: equal weights, and for each of the five communities with
# most link ends a start that strongly prefers it.
start_weights <- function(ends) {
  preferred <- utils::head(order(-ends), 5L)
  lapply(c(0L, preferred), function(a) ifelse(seq_along(ends) == a, 1, if (a == 0L) 1 else 0.01))
}

# Relational model: computes q(s, r) of the communities at both ends of the new node's links, its profile
# (memberships in pairs without a link), and q(pi).
relational_step <- function(fit) {
  obs <- fit$model$obs
  state <- fit$state
  k <- state$k
  own <- seq_len(k)
  counts <- obs$links == "counts"
  if (obs$assortative) {
    each <- block_weights(
      state$params$pairs, state$params$sum, c(rep(obs$a, k), obs$background[1L]), c(rep(obs$b, k), obs$background[2L]),
      counts
    )
    w <- lapply(each, function(x) {
      cells <- matrix(x[k + 1L], k, k)
      diag(cells) <- x[own]
      cells
    })
  } else {
    w <- block_weights(state$pairs, state$sum, obs$a, obs$b, counts)
  }
  turned <- lapply(w, t)
  theta <- state$params$theta
  log_pi <- (digamma_or_none(theta) - digamma(rowSums(theta)))[, own, drop = FALSE]
  rho <- state$params$rho
  all <- colSums(rho)
  prior <- fit$model$prior$alpha * state$weights
  # For each link of the new node and each community k: the logarithm of the sum of exp(E log p(y) + E log pi)
  # over the communities of the link's other end, if the new node is in k. Links x communities.
  other_end <- function(w, links) {
    if (!nrow(links)) {
      return(matrix(0, 0L, k))
    }
    rows <- lapply(seq_len(nrow(links)), function(l) {
      cells <- w$none + w$link * links$y[l] + rep(log_pi[links$known[l], ], each = k)
      most <- apply(cells, 1L, max)
      most + log(rowSums(exp(cells - most)))
    })
    matrix(unlist(rows), nrow(links), k, byrow = TRUE)
  }
  function(x) {
    directed <- fit$input$directed
    links <- rbind(other_end(w, x$out), if (directed) other_end(turned, x$into))
    gone <- list(c(x$out$known, x$hidden_out), c(x$into$known, x$hidden_into))
    zeros <- fit$input$n * (1 + directed) - length(gone[[1L]]) - length(gone[[2L]])
    gain <- drop(w$none %*% (all - sum_of(rho, gone[[1L]])))
    if (directed) gain <- gain + drop(turned$none %*% (all - sum_of(rho, gone[[2L]])))
    weighed <- function(log_weight) links + rep(log_weight, each = nrow(links))
    shares <- function(log_weight) {
      q <- weighed(log_weight)
      q <- exp(q - apply(q, 1L, max))
      colSums(q / rowSums(q))
    }
    # theta, the Dirichlet parameters of the new node, from the numbers that are iterated: link ends, then the
    # profile (memberships in pairs without a link). The sum of theta never changes.
    theta_of <- function(both) both[own] + zeros * both[k + own] + prior[own]
    step <- function(both) {
      profile <- both[k + own]
      if (zeros > 0) profile <- engine_network_profile(zeros, gain / zeros, both[own], prior[own], profile)
      c(shares(digamma(theta_of(c(both[own], profile)))), profile)
    }
    value <- function(both) {
      theta <- theta_of(both)
      profile <- both[k + own]
      q <- weighed(digamma(theta))
      most <- apply(q, 1L, max)
      sum(most + log(rowSums(exp(q - most)))) - sum(both[own] * digamma(theta)) + sum(gain * profile) -
        zeros * sum(ifelse(profile > 0, profile * log(profile), 0)) + sum(lgamma(theta))
    }
    starts <- lapply(start_weights(shares(double(k))), function(weight) {
      ends <- shares(log(weight))
      c(ends, (ends + prior[own]) / sum(ends + prior[own]))
    })
    theta <- theta_of(best_settled(starts, step, value))
    theta / sum(theta)
  }
}

# Gamma network: computes q(t) of the new node, a Gamma distribution whose rate does not depend on the node's
# links.
gamma_step <- function(fit) {
  obs <- fit$model$obs
  params <- fit$state$params
  own <- seq_len(fit$state$k)
  last <- fit$state$k + 1L
  counts <- obs$links == "counts"
  mean <- params$shape / params$rate
  tilde <- exp(digamma_or_none(params$shape) - log(params$rate))
  phi <- params$phi_shape / params$phi_rate
  phi_tilde <- exp(digamma(params$phi_shape) - log(params$phi_rate))
  # For each known node and community: the evidence that a link with the node gives for the community, and
  # what every pair with the node costs.
  said <- tilde * rep(phi_tilde[own], each = nrow(tilde)) + phi_tilde[last] * rowSums(tilde)
  cost <- mean * rep(phi[own], each = nrow(mean)) + phi[last] * (rowSums(mean) + fit$state$weights[last])
  cost_of_all <- colSums(cost) * (1 + fit$input$directed)
  alpha <- fit$model$prior$alpha
  prior <- alpha * fit$state$weights[own]
  function(x) {
    links <- rbind(x$out, x$into)
    met <- said[links$known, , drop = FALSE]
    rate <- alpha + cost_of_all - sum_of(cost, c(x$hidden_out, x$hidden_into))
    rates_of_links <- function(t) pmax(drop(met %*% t), 1e-290)
    shares <- function(t) {
      l <- rates_of_links(t)
      t * colSums(met * (if (counts) links$y / l else -1 / expm1(-l)))
    }
    log_of <- function(ends) digamma(prior + ends) - log(rate)
    value <- function(ends) {
      l <- rates_of_links(exp(log_of(ends)))
      sum(if (counts) links$y * log(l) else l + log(-expm1(-l))) -
        sum(ends * log_of(ends)) + sum(lgamma(prior + ends) - (prior + ends) * log(rate))
    }
    even <- rep(1 / length(own), length(own))
    starts <- lapply(start_weights(shares(even)), function(weight) shares(weight / sum(weight)))
    ends <- best_settled(starts, function(ends) shares(exp(log_of(ends))), value)
    t <- (prior + ends) / rate
    t / sum(t)
  }
}
