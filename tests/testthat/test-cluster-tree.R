# Trees of clusters: the bound after every join against plain R, what a fit that is cut from one is, and planted groups.

tree_of <- function(data, model, start, control = engine_control()) engine_cluster_tree(data, model, start, control)

# The bounds along a tree in plain R. parts: a list for each cluster, in the engine's order; join(parts, a, b): b added
# to a < b, and removed; value(parts): the bound; size(parts): what clusters are put in order by.
replay <- function(tree, parts, join, value, size) {
  id <- seq_along(size(parts))
  out <- value(parts)$elbo
  for (i in seq_along(tree$a)) {
    at <- sort(match(c(tree$a[i], tree$b[i]), id))
    parts <- join(parts, at[1], at[2])
    id[at[1]] <- tree$a[i] # whichever of the two stands first
    id <- id[-at[2]]
    by_size <- order(-size(parts))
    tried <- list(list(parts, id), list(join(parts, order = by_size), id[by_size]))
    values <- vapply(tried, function(x) value(x[[1]])$elbo, 1)
    best <- if (values[2] > values[1]) 2L else 1L
    parts <- tried[[best]][[1]]
    id <- tried[[best]][[2]]
    out <- c(out, max(values))
  }
  out
}

expect_replayed <- function(tree, bounds, tolerance = 1e-8) {
  expect_length(tree$elbo, length(bounds))
  expect_lt(max(abs(tree$elbo - bounds) / (1 + abs(bounds))), tolerance)
}

# Of responsibilities as columns.
join_columns <- function(r, a, b, order = NULL) {
  if (!is.null(order)) {
    return(r[, order, drop = FALSE])
  }
  r[, a] <- r[, a] + r[, b]
  r[, -b, drop = FALSE]
}

# The L largest of each row.
keep_largest <- function(r, width) {
  r <- t(apply(r, 1, function(row) replace(row, order(-row)[-seq_len(width)], 0)))
  r / rowSums(r)
}

# Responsibilities that blur labels.
blurred <- function(labels, k, seed = 3) {
  withr::with_seed(seed, {
    r <- 0.1 * matrix(rexp(length(labels) * k), length(labels))
    r[cbind(seq_along(labels), 1 + (labels + rbinom(length(labels), 1, 0.3)) %% k)] <- 1
    r / rowSums(r)
  })
}

open_priors <- list(list(family = "dp", concentration = 1), list(family = "dirichlet", k = 5L, concentration = 2))

test_that("mixtures of every observation model: the bound after each join is that of the added responsibilities", {
  # Scales of joined rows are those of the clusters before, which responsibilities do not give.
  for (case in some_of(without_scales(model_cases()), by = 11, from = 4)) {
    rows <- case$rows(case$data)
    for (prior in open_priors) {
      model <- list(obs = case$model$obs, prior = prior)
      start <- blurred(seq_len(case$data$n), 5L)
      fit <- engine_fit(case$data, model, engine_control(5, max_laps = 0L), list(resp = start), NULL)
      all <- engine_responsibilities(case$data, model, fit$state, 1L)[modelled(case, case$data), ]
      for (width in c(0L, 2L)) {
        tree <- tree_of(case$data, model, fit["state"], engine_control(sparsity = width))
        expect_identical(lengths(tree), c(a = 4L, b = 4L, elbo = 5L))
        value <- function(r) {
          prior$k <- if (!is.null(prior$k)) ncol(r)
          list(elbo = sum(elbo_twin(case, rows, r, prior)))
        }
        resp <- if (width > 0L) keep_largest(all, width) else all
        expect_replayed(tree, replay(tree, resp, join_columns, value, colSums))
        again <- tree_of(case$data, model, fit["state"], engine_control(sparsity = width, threads = 3L))
        expect_identical(again, tree)
      }
    }
  }
})

# P(z_{t-1}, z_t) of a chain, list(resp, joint = list by row, NULL at first rows), by scaled messages in plain R.
chain_twin <- function(log_rows, log_e, first) {
  n <- nrow(log_e)
  k <- ncol(log_e)
  e <- exp(log_e - apply(log_e, 1, max))
  step <- exp(do.call(rbind, log_rows[-1]))
  alpha <- matrix(0, n, k)
  beta <- matrix(1, n, k)
  for (t in seq_len(n)) {
    a <- (if (first[t]) exp(log_rows[[1]]) else drop(alpha[t - 1, ] %*% step)) * e[t, ]
    alpha[t, ] <- a / sum(a)
  }
  for (t in rev(seq_len(n - 1))) {
    b <- if (first[t + 1]) rep(1, k) else drop(step %*% (e[t + 1, ] * beta[t + 1, ]))
    beta[t, ] <- b / sum(b)
  }
  resp <- alpha * beta
  joint <- lapply(seq_len(n), function(t) {
    if (first[t]) {
      return(NULL)
    }
    j <- alpha[t - 1, ] * step * rep(e[t, ] * beta[t, ], each = k)
    j / sum(j)
  })
  list(resp = resp / rowSums(resp), joint = joint)
}

join_states <- function(q, a, b, order = NULL) {
  if (!is.null(order)) {
    joint <- lapply(q$joint, function(j) if (!is.null(j)) j[order, order, drop = FALSE])
    return(list(resp = q$resp[, order, drop = FALSE], joint = joint))
  }
  rows <- function(j) {
    j[a, ] <- j[a, ] + j[b, ]
    j[-b, , drop = FALSE]
  }
  list(resp = join_columns(q$resp, a, b), joint = lapply(q$joint, function(j) if (!is.null(j)) t(rows(t(rows(j))))))
}

# What sticks can make of a value: list(elbo), of a function of (u, omega).
best_sticks <- function(k, value) {
  at <- c(stats::qlogis(1 / (2 + k - seq_len(k))), rep(log(20), k))
  for (i in 1:3) {
    found <- stats::optim(at, function(x) -value(stats::plogis(x[seq_len(k)]), exp(x[k + seq_len(k)])),
      method = "BFGS", control = list(reltol = 1e-15, maxit = 1000)
    )
    at <- found$par
  }
  -found$value
}

# Rows that begin a sequence, among those that are modelled.
first_rows <- function(model, data) {
  lag <- if (is.null(model$obs$lag)) 0L else model$obs$lag
  modelled(list(model = model), data) %in% (data$starts[-length(data$starts)] + lag + 1)
}

chain_value <- function(data, model) {
  prior <- model$prior
  first <- first_rows(model, data)
  function(q) {
    k <- ncol(q$resp)
    contract <- engine_contract(data, model, q$resp)
    transition <- Reduce(`+`, Filter(Negate(is.null), q$joint))
    counts <- list(start = colSums(q$resp[first, , drop = FALSE]), transition = transition)
    entropy <- sum(vapply(seq_along(q$joint), function(t) {
      j <- q$joint[[t]]
      if (is.null(j)) entropy_of(q$resp[t, ]) else entropy_of(j) - entropy_of(rowSums(j))
    }, 1))
    known <- sum(contract$evidence) + sum(contract$log_base) + entropy
    if (prior$family == "hmm") {
      none <- list(start = rep(0, k), transition = matrix(0, k, k))
      value <- function(counts) twin_transitions(counts, rep(1 / k, k), prior$alpha, prior$start, prior$sticky)
      return(list(elbo = known + value(counts) - value(none)))
    }
    list(elbo = known + best_sticks(k, function(u, omega) {
      top <- twin_sticks(u, omega, k, prior$gamma, prior$sticky, prior$alpha, prior$start)
      top$value + twin_transitions(counts, top$pi, prior$alpha, prior$start, prior$sticky)
    }))
  }
}

test_that("chains of every observation model: the bound after each join is that of the added joint probabilities", {
  cases <- without_scales(planted_sequences()) # as above
  for (i in some_of(seq_along(cases), by = 9)) {
    case <- cases[[i]]
    data <- case$data
    for (prior in if (i <= 2) hmm_priors else hmm_priors["finite"]) {
      if (!is.null(prior$k)) prior$k <- 4L
      model <- list(obs = case$model$obs, prior = prior)
      seen <- modelled(case, data)
      start <- blurred(case$cluster, 4L)
      fit <- engine_fit(data, model, engine_control(4, max_laps = 0L), list(resp = start), NULL)
      tree <- tree_of(data, model, fit["state"])
      contract <- engine_contract(data, model, start[seen, ])
      potentials <- tcrossprod(contract$features, contract$weights)
      q <- chain_twin(expected_rows(fit$state, prior), potentials, first_rows(model, data))
      expect_equal(q$resp, engine_responsibilities(data, model, fit$state, 1L)[seen, ], tolerance = 1e-7)
      expect_replayed(tree, replay(tree, q, join_states, chain_value(data, model), function(q) colSums(q$resp)), 1e-7)
      expect_identical(tree_of(data, model, fit["state"], engine_control(threads = 3L)), tree)
    }
  }
})

# Words' topics of documents, list(r = by document: words x topics, x), from the documents' counts of topics: r is
# proportional to exp(C) w with the weights w that give these counts.
document_twin <- function(x, counts, log_phi) {
  r <- lapply(seq_len(nrow(x)), function(d) {
    words <- which(x[d, ] > 0)
    e <- exp(log_phi[words, , drop = FALSE])
    w <- as.numeric(counts[d, ] > 0)
    for (i in 1:20000) {
      r <- e * rep(w, each = length(words))
      r <- r / rowSums(r)
      found <- colSums(x[d, words] * r)
      if (max(abs(found - counts[d, ])) < 1e-9) break
      w <- ifelse(w > 0, w * counts[d, ] / found, 0)
    }
    r
  })
  list(r = r)
}
join_topics <- function(q, a, b, order = NULL) list(r = lapply(q$r, join_columns, a, b, order))
counts_of_topics <- function(q, x) {
  do.call(rbind, lapply(seq_along(q$r), function(d) colSums(x[d, x[d, ] > 0] * q$r[[d]])))
}

topic_value <- function(x, prior) {
  function(q) {
    k <- ncol(q$r[[1]])
    counts <- counts_of_topics(q, x)
    statistic <- matrix(0, k, ncol(x))
    for (d in seq_len(nrow(x))) {
      words <- which(x[d, ] > 0)
      statistic[, words] <- statistic[, words] + t(x[d, words] * q$r[[d]])
    }
    entropy <- sum(vapply(seq_len(nrow(x)), function(d) sum(x[d, x[d, ] > 0] * apply(q$r[[d]], 1, entropy_of)), 1))
    known <- twin_data_term(statistic, rep(0.1, ncol(x))) + entropy
    if (prior$family == "lda") {
      theta <- counts + prior$alpha / k
      documents <- lgamma(prior$alpha) - k * lgamma(prior$alpha / k) + rowSums(lgamma(theta)) - lgamma(rowSums(theta))
      return(list(elbo = known + sum(documents)))
    }
    list(elbo = known + best_sticks(k, function(u, omega) {
      sum(twin_hdp_terms(counts, rowSums(x), u, omega, prior$gamma, prior$alpha))
    }))
  }
}

test_that("topics: the bound after each join is that of the merged counts of documents", {
  x <- toy_corpus(documents = 20)
  data <- count_data(x)
  for (prior in list(list(family = "hdp", gamma = 10, alpha = 0.5), list(family = "lda", k = 4L, alpha = 0.5))) {
    model <- topic_model(ncol(x), prior)
    fit <- engine_fit(data, model, engine_control(4, max_laps = 3L), NULL, NULL)
    start <- list(state = fit$state, documents = fit$documents)
    tree <- tree_of(data, model, start)
    leaves <- engine_join_clusters(data, model, start, engine_control(), integer(), integer())
    expect_identical(leaves$elbo, tree$elbo[1])
    used <- leaves$documents
    counts <- as.matrix(Matrix::sparseMatrix(used$document, used$topic, x = used$count))
    log_phi <- digamma(t(fit$state$obs[, -1]) + 0.1) - rep(digamma(fit$state$obs[, 1] + 0.1 * ncol(x)), each = ncol(x))
    q <- document_twin(x, counts, log_phi)
    expect_equal(counts_of_topics(q, x), counts, tolerance = 1e-7)
    sizes <- function(q) colSums(counts_of_topics(q, x))
    expect_replayed(tree, replay(tree, q, join_topics, topic_value(x, prior), sizes), 1e-7)
    expect_identical(tree_of(data, model, start, engine_control(threads = 3L)), tree)
  }
})

test_that("a chain whose messages need log space is joined like any other", {
  # States 1 and 2 overlap; nothing has ever led from them to state 3, but the data do.
  x <- c(rep(c(0, 0, 1, 1), 4) + sin(1:16), rep(3000, 8) + sin(1:8))
  model <- list(obs = diagonal_model(1), prior = list(family = "hmm", k = 3L, alpha = 1e-3, start = 1, sticky = 0))
  resp <- diag(3)[c(rep(c(1, 1, 2, 2), 4), rep(3, 8)), ]
  two_parts <- engine_data(matrix(x), c(0L, 16L, 24L))
  apart <- engine_fit(two_parts, model, engine_control(3, max_laps = 0L), list(resp = resp), NULL)
  data <- engine_data(matrix(x), c(0L, 24L))
  contract <- engine_contract(data, model, resp)
  log_rows <- expected_rows(apart$state, model$prior)
  step <- do.call(rbind, log_rows[-1])
  log_e <- tcrossprod(contract$features, contract$weights)
  expect_false(engine_messages(log_rows[[1]], step, log_e, data$starts, FALSE)$fast_is_exact)
  careful <- engine_messages(log_rows[[1]], step, log_e, data$starts, TRUE)
  expect_gt(careful$entropy, 0.5)
  tree <- tree_of(data, model, apart["state"])
  model$prior$k <- 1L
  expect_equal(tree$elbo[3], sum(engine_elbo_of(data, model, matrix(1, 24, 1))), tolerance = 1e-10)
})

fits_of <- function() {
  tables <- small_tables()
  fits <- small_fits(tables)
  id <- rep(c("u", "v"), c(8, 6))
  lapply(stats::setNames(nm = names(fits)), function(name) {
    fit <- fits[[name]]
    grouped <- inherits(fit, "bnp_hmm") || name == "topics_rows"
    list(fit = fit, given = c(list(data = table_of(name, tables)), if (grouped) list(id = id)))
  })
}

one_cluster_bound <- function(case) {
  fit <- case$fit
  data <- do.call(training_data, c(list(fit), case$given))
  model <- fit$model
  if (!is.null(model$prior$k)) model$prior$k <- 1L
  sum(engine_elbo_of(as_engine_data(data), model, matrix(1, data$n, 1L)))
}

same_groups <- function(a, b) identical(match(a, unique(a)), match(b, unique(b)))

test_that("every kind of fit has a tree, an hclust whose last join is the one-cluster bound, and can be cut", {
  for (name in some_of(names(cases <- fits_of()), by = 3)) {
    case <- cases[[name]]
    fit <- case$fit
    verb <- function(verb, ...) do.call(verb, c(list(fit), case$given, list(...)))
    k <- fit$state$k
    if (k == 1L) {
      expect_bad(verb(cluster_tree), "one_cluster", "fit")
      next
    }
    tree <- verb(cluster_tree)
    expect_s3_class(tree, c("bnp_tree", "hclust"), exact = TRUE)
    # engine_elbo_of() renews the tangents of topics once, a tree until that gains nothing.
    gained <- utils::tail(tree$elbo, 1) - one_cluster_bound(case)
    expect_gte(gained, -1e-8)
    expect_lt(gained, if (inherits(fit, "bnp_topics")) 1e-4 else 1e-8)
    expect_false(is.unsorted(tree$height))
    expect_gte(min(tree$height), 0)
    expect_equal(tree$loss, -diff(tree$elbo))
    expect_equal(stats::nobs(as.dendrogram(tree)), k)
    expect_identical(as.hclust(tree), tree)
    expect_setequal(tree$order, seq_len(k))
    expect_output(print(tree), "Tree of")
    for (left in unique(c(1L, 2L, k))) {
      joined <- verb(cut_fit, k = left, tree = tree, laps = 0L)
      expect_equal(elbo(joined), tree$elbo[k - left + 1L], info = name)
      expect_equal(sum(elbo(joined, terms = TRUE)), elbo(joined))
      groups <- cutree(tree, k = left)
      expect_true(same_groups(groups, joined$cut$cluster))
      cut <- verb(cut_fit, k = left, tree = tree)
      expect_gte(elbo(cut), elbo(joined) - 1e-8 * abs(elbo(joined)))
      expect_identical(cut$state$k, left)
      expect_null(is_sound_fit(cut))
      expect_output(print(cut), "Cut from")
      expect_output(print(summary(cut)), "Cut from")
      if (!is.null(fit$model$prior$k)) expect_identical(cut$model$prior$k, left)
      newdata <- c(list(cut, newdata = case$given$data), case$given["id"][!is.null(case$given$id)])
      expect_identical(ncol(do.call(predict, c(newdata, type = "prob"))), left)
      if (!inherits(fit, "bnp_topics")) {
        expect_identical(unname(do.call(predict, c(newdata, type = "class"))), unname(fitted(cut)))
      }
      expect_identical(cut$cut$from, list(k = k, elbo = elbo(fit)))
      withr::with_pdf(NULL, {
        plot(cut, type = "elbo")
        plot(joined, type = "elbo")
        plot(tree)
        if (left > 1L && left < k) stats::rect.hclust(tree, k = left)
      })
    }
  }
})

blobs <- withr::with_seed(4, {
  z <- rep(1:4, each = 60)
  x <- 8 * cbind(z %% 2, z > 2) + matrix(rnorm(480), 240)
  core <- rep(c(TRUE, FALSE), 120)
  x[core, ] <- 8 * cbind(z %% 2, z > 2)[core, ] + matrix(rnorm(240), 120) / 8
  list(x = `colnames<-`(x, c("u", "v")), z = z)
})
blob_fit <- bnp_mixture(blobs$x, obs_gaussian(learn = FALSE), control = bnp_control(seed = 1, verbose = FALSE))

test_that("before polishing, clusters are the groups of cutree(), and the height says what was lost", {
  tree <- cluster_tree(blob_fit, blobs$x)
  k <- blob_fit$state$k
  expect_gt(k, 5L)
  prob <- predict(blob_fit, blobs$x, type = "responsibility")
  for (left in 1:k) {
    joined <- cut_fit(blob_fit, blobs$x, left, tree = tree, laps = 0)
    groups <- cutree(tree, left)
    added <- t(rowsum(t(prob), joined$cut$cluster))
    expect_equal(unname(cluster_sizes(joined)), unname(colSums(added)))
    expect_true(same_groups(groups, joined$cut$cluster))
    expect_equal(elbo(joined), sum(engine_elbo_of(
      as_engine_data(training_data(blob_fit, blobs$x)), joined$model,
      unname(added[, order(joined$numbering), drop = FALSE])
    )))
    expect_lte(tree$elbo[1] - elbo(joined), c(0, tree$height)[k - left + 1] + 1e-9)
  }
  expect_equal(elbo(blob_fit), tree$elbo[1], tolerance = 1e-5)
  four <- cut_fit(blob_fit, blobs$x, 4)
  expect_identical(adjusted_rand_index(fitted(four), blobs$z), 1)
  expect_identical(unname(four$cut$cluster[fitted(blob_fit)]), unname(fitted(four)))
  by_height <- cut_fit(blob_fit, blobs$x, h = mean(tree$height[k - 4:3]), tree = tree)
  expect_equal(n_clusters(by_height), 4)
  expect_equal(n_clusters(cut_fit(blob_fit, blobs$x, h = 1e9)), 1)
  expect_equal(n_clusters(cut_fit(blob_fit, blobs$x, h = 0)), k)
  expect_identical(update(four, k = 2)$cut$from$k, k)
})

test_that("clusters are joined by the user's numbers, whatever the engine's order is", {
  labels <- rep(1:3, c(30, 20, 50))
  x <- cbind(c(0, 60, 3)[labels], 0) + withr::with_seed(7, matrix(rnorm(200), 100))
  control <- bnp_control(seed = 1, max_laps = 1, moves = FALSE, verbose = FALSE)
  fit <- bnp_mixture(x, prior = prior_dirichlet(3), start = labels, control = control)
  expect_identical(fit$numbering, c(3L, 1L, 2L))
  expect_identical(unname(fitted(fit))[labels == 2], rep(3L, 20))
  two <- cut_fit(fit, x, 2)
  expect_identical(unname(two$cut$cluster), c(1L, 1L, 2L))
  expect_identical(unname(fitted(two)), c(1L, 2L, 1L)[labels])
})

test_that("a tree needs nothing but what is stored: a fit that was saved, in batches, with few clusters a row", {
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(blob_fit, file)
  without_call <- function(x) x[names(x) != "call"]
  expect_identical(without_call(cluster_tree(readRDS(file), blobs$x)), without_call(cluster_tree(blob_fit, blobs$x)))
  control <- bnp_control(seed = 1, batches = 3, sparsity = 2, threads = 2, verbose = FALSE)
  sparse <- bnp_mixture(blobs$x, control = control)
  tree <- cluster_tree(sparse, blobs$x)
  expect_equal(tree$elbo[1], elbo(sparse), tolerance = 1e-5)
  expect_equal(utils::tail(tree$elbo, 1), one_cluster_bound(list(fit = sparse, given = list(data = blobs$x))))
  expect_equal(n_clusters(cut_fit(sparse, blobs$x, 3)), 3)
  path <- withr::with_seed(6, rep(rep(1:5, each = 8), 4) * 6 + rnorm(160))
  chain <- bnp_hmm(data.frame(x = path), control = bnp_control(seed = 1, sparsity = 2, k_init = 6, verbose = FALSE))
  tree <- cluster_tree(chain, data.frame(x = path))
  in_one <- one_cluster_bound(list(fit = chain, given = list(data = data.frame(x = path))))
  expect_equal(utils::tail(tree$elbo, 1), in_one)
  cut <- cut_fit(chain, data.frame(x = path), 3, tree = tree)
  expect_gte(elbo(cut), tree$elbo[n_clusters(chain) - 2])
})

test_that("wrong arguments are refused by name", {
  x <- blobs$x
  tree <- cluster_tree(blob_fit, x)
  expect_bad(cluster_tree(3, x), "argument", "fit")
  expect_bad(cut_fit(3, x), "argument", "fit")
  expect_bad(cluster_tree(blob_fit), "newdata", "data")
  expect_bad(cut_fit(blob_fit, k = 2), "newdata", "data")
  expect_bad(cluster_tree(blob_fit, x[-1, ]), "other_data", "239 rows")
  expect_bad(cluster_tree(blob_fit, x[240:1, ]), "other_data", "order")
  expect_bad(cluster_tree(blob_fit, x + 1), "other_data", "data")
  for (k in list(0, 1.5, "a", NA, -1, 100, 1:2)) expect_bad(cut_fit(blob_fit, x, k, tree = tree), "argument", "k")
  expect_bad(cut_fit(blob_fit, x, 100, tree = tree), "argument", "at most")
  expect_bad(cut_fit(blob_fit, x, tree = tree), "argument", "either")
  expect_bad(cut_fit(blob_fit, x, 2, h = 3, tree = tree), "argument", "either")
  expect_bad(cut_fit(blob_fit, x, h = -3, tree = tree), "argument", "h")
  expect_bad(cut_fit(blob_fit, x, 2, tree = hclust(dist(1:3))), "argument", "cluster_tree")
  other <- bnp_mixture(x, prior = prior_dirichlet(3), control = bnp_control(seed = 1, max_laps = 3, verbose = FALSE))
  expect_bad(cut_fit(other, x, 2, tree = tree), "argument", "another fit")
  expect_bad(cut_fit(blob_fit, x, 2, tree = tree, laps = -1), "argument", "laps")
  one <- bnp_mixture(x, prior = prior_dirichlet(1), control = bnp_control(seed = 1, verbose = FALSE))
  expect_bad(cluster_tree(one, x), "one_cluster", "nothing to join")
  hours <- rep(c(1, 2), 20)
  counts <- cbind(n = withr::with_seed(1, rpois(40, 5 * rep(c(1, 9), each = 20) * hours)), hours = hours)
  rates <- bnp_mixture(counts, obs_poisson(exposure = "hours"), control = bnp_control(seed = 1, verbose = FALSE))
  expect_bad(cluster_tree(rates, cbind(counts[, 1, drop = FALSE], hours = 1)), "other_data", "values")
  expect_length(cluster_tree(rates, counts)$loss, n_clusters(rates) - 1L)
  steps <- data.frame(x = sin(1:60) + rep(c(0, 0, 0, 9, 9, 9), 10))
  control <- bnp_control(seed = 1, k_init = 3, moves = FALSE, verbose = FALSE)
  rows <- bnp_hmm(steps, id = rep(1:2, each = 30), control = control)
  expect_bad(cluster_tree(rows, steps, id = rep(1:3, each = 20)), "other_data", "id")
  nan <- function(...) list(a = 1:2, b = 2:3, elbo = c(1, NaN))
  broken <- replace_in_package("engine_cluster_tree", nan, environment())
  expect_bad(cluster_tree(blob_fit, x), "numerical", "prior")
})

test_that("leaps stand out only where they do", {
  expect_identical(largest_leap(c(1, 2, 300, 400))$step, 3L)
  expect_identical(largest_leap(c(200, 210, 400))$step, 1L)
  expect_identical(largest_leap(c(-3, 20, 30, 40))$times, 2)
  expect_lt(largest_leap(c(5, 44, 60, 110, 250, 400, 800))$times, clear_leap)
  tree <- cluster_tree(blob_fit, blobs$x)
  expect_output(print(tree), "suggests 4\\s+groups")
  tree$loss <- rep(10, length(tree$loss))
  expect_output(print(tree), "No leap stands out")
  tree$loss[1] <- 300
  expect_output(print(tree), "no join is\\s+cheap")
})

long_test("clusters of groups with dense cores are joined to the groups, and the leap shows how many there are", {
  for (seed in some_of(1:2, by = 2)) {
    planted <- withr::with_seed(seed, {
      z <- rep(1:15, each = 300)
      centre <- 7 * as.matrix(expand.grid(0:3, 0:3))[1:15, ] + runif(30, -0.8, 0.8)
      list(x = centre[z, ] + ifelse(runif(4500) < 0.4, 0.3, 1) * matrix(rnorm(9000), ncol = 2), z = z)
    })
    fit <- bnp_mixture(planted$x, control = bnp_control(seed = 1, verbose = FALSE))
    expect_gt(n_clusters(fit), 24)
    expect_lt(adjusted_rand_index(fitted(fit), planted$z), 0.85)
    tree <- cluster_tree(fit, planted$x)
    expect_gt(adjusted_rand_index(fitted(cut_fit(fit, planted$x, 15, tree = tree)), planted$z), 0.99)
    expect_output(print(tree), "suggests 15\\s+groups")
  }
})

test_that("known labels: the bound after each join is that of the added responsibilities, within classes", {
  for (name in c("gaussian_full", "product")) {
    case <- Find(function(case) case$name == name, model_cases())
    n <- case$data$n
    data <- c(case$data, list(classes = rep(c(1L, 2L, 0L, 0L), length.out = n), class_sets = diag(2) == 1))
    owner <- c(1L, 2L, 0L, 1L, 0L, 2L)
    for (prior in list(list(family = "dp", concentration = 1), list(family = "dirichlet", k = 6L, concentration = 2))) {
      model <- list(obs = case$model$obs, prior = prior)
      resp <- withr::with_seed(2, matrix(rexp(6 * n)^2, n)) * allowed_clusters(data, owner)
      start <- list(resp = resp / rowSums(resp), owner = owner)
      fit <- engine_fit(data, model, engine_control(6, max_laps = 0L), start, NULL)
      all <- engine_responsibilities(data, model, fit$state, 1L)
      tree <- tree_of(data, model, fit["state"])
      expect_identical(lengths(tree), c(a = 4L, b = 4L, elbo = 5L))
      value <- function(r) {
        prior$k <- if (!is.null(prior$k)) ncol(r)
        list(elbo = sum(elbo_twin(case, case$rows(data), r, prior)))
      }
      expect_replayed(tree, replay(tree, all, join_columns, value, colSums))
      now <- fit$state$owner
      for (i in seq_along(tree$a)) {
        pair <- now[c(tree$a[i], tree$b[i])]
        expect_false(setequal(pair, 1:2))
        now[tree$a[i]] <- max(pair)
      }
      expect_setequal(now[setdiff(1:6, tree$b)], 1:2)
      bad <- which(outer(fit$state$owner, fit$state$owner, `*`) == 2L, arr.ind = TRUE)[1, ]
      join <- function(a, b) engine_join_clusters(data, model, fit["state"], engine_control(), a, b)
      expect_error(join(bad[1], bad[2]), "different classes")
    }
  }
})

test_that("known labels: trees end with the classes, and fits are cut no further", {
  known <- replace(rep(c("a", "b"), each = 100), -c(1:20, 101:120), NA)
  x <- withr::with_seed(3, rbind(
    matrix(rnorm(200, rep(c(0, 8), each = 50)), 100), matrix(rnorm(200, rep(c(30, 40), each = 50)), 100),
    matrix(rnorm(60, 80), 30)
  ))
  known <- c(known, rep(NA, 30))
  fit <- bnp_mixture(x, labels = known, control = bnp_control(seed = 1, verbose = FALSE))
  owner <- cluster_classes(fit)
  expect_equal(n_clusters(fit), 5)
  tree <- cluster_tree(fit, x)
  expect_length(tree$loss, 3)
  expect_length(tree$height, 4)
  expect_gt(tree$height[4], max(tree$height[1:3]))
  two <- stats::cutree(tree, k = 2)
  classes <- tapply(owner, two, function(v) length(unique(stats::na.omit(v))))
  expect_identical(as.vector(classes), c(1L, 1L))
  expect_output(print(tree), "Clusters of the 2 classes are not joined")
  expect_true(all(is.finite(tree$height)) && !is.unsorted(tree$height))
  expect_true(all(is.finite(stats::cophenetic(tree))))
  expect_true(is.finite(attr(stats::as.dendrogram(tree), "height")))
  withr::local_pdf(NULL)
  expect_silent(plot(tree))
  cut <- cut_fit(fit, x, k = 2)
  expect_equal(cut$cut$joined, utils::tail(tree$elbo, 1), tolerance = 1e-10)
  expect_gte(elbo(cut), cut$cut$joined - 1e-8)
  expect_setequal(cluster_classes(cut), c("a", "b"))
  expect_identical(unname(as.character(predict(cut, x, type = "label"))[!is.na(known)]), known[!is.na(known)])
  expect_identical(n_clusters(cut_fit(fit, x, h = 1e300)), 2L)
  expect_equal(n_clusters(cut_fit(fit, x, k = 3, tree = tree)), 3)
  expect_bad(cut_fit(fit, x, k = 1), "labels", "at least 2")
  expect_bad(cluster_tree(cut, x), "one_cluster", "labels")
  # One class alone has a tree to its root.
  alone <- bnp_mixture(x, labels = sub("b", "a", known), control = bnp_control(seed = 1, verbose = FALSE))
  expect_true(all(is.finite(cluster_tree(alone, x)$height)))
  expect_equal(n_clusters(cut_fit(alone, x, k = 1)), 1)
})

test_that("what a formula learns from the data does not hide that they are the training data", {
  few <- bnp_control(seed = 1, k_init = 3, moves = FALSE, verbose = FALSE)
  for (formula in list(mpg ~ poly(wt, 2) + scale(hp), ~ poly(wt, 2) + scale(hp))) {
    fit <- suppressWarnings(bnp_mixture(formula, mtcars, control = few))
    expect_s3_class(cluster_tree(fit, mtcars), "hclust")
    expect_identical(predict(fit, mtcars), fitted(fit))
  }
})
