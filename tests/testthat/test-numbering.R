# Clusters are numbered by decreasing size in all that a fit says, whatever the engine's order.

numbered_fits <- local({
  made <- NULL
  function() {
    if (!is.null(made)) return(made)
    x <- as.matrix(iris[, 1:4])
    counts <- toy_corpus(documents = 40, topics = 4)
    made <<- list(
      dp = list(fit = bnp_mixture(x, control = bnp_control(seed = 1)), x = x),
      dirichlet = list(
        fit = bnp_mixture(x, obs_gaussian("diagonal"), prior_dirichlet(4), bnp_control(seed = 1)), x = x
      ),
      hdp = list(fit = bnp_topics(counts, obs_multinomial(0.1), control = bnp_control(seed = 3)), x = counts),
      lda = list(fit = bnp_topics(counts, obs_multinomial(0.1), prior_lda(4), bnp_control(seed = 1)), x = counts),
      hdp_hmm = list(fit = bnp_hmm(x, control = bnp_control(seed = 1)), x = x),
      hmm = list(fit = bnp_hmm(x, prior = prior_hmm(3), control = bnp_control(seed = 1)), x = x)
    )
    made
  }
})

test_that("sizes decrease, and are those of the labels and proportions", {
  for (name in names(numbered_fits())) {
    case <- numbered_fits()[[name]]
    fit <- case$fit
    sizes <- unname(cluster_sizes(fit))
    expect_false(is.unsorted(-sizes), label = name)
    if (inherits(fit, "bnp_topics")) {
      expect_equal(unname(Matrix::colSums(fit$documents)), sizes, tolerance = 1e-9)
      given <- unname(colSums(predict(fit, case$x) * rowSums(case$x)))
      expect_gt(cor(given, sizes), 0.99)
      expect_equal(unname(rowSums(posterior_params(fit)$concentration)), sizes + 0.1 * ncol(case$x), tolerance = 1e-9)
    } else {
      expect_equal(unname(colSums(predict(fit, case$x, type = "prob"))), sizes, tolerance = 0.05)
      expect_lt(max(abs(tabulate(fitted(fit), length(sizes)) - sizes)), 0.1 * nrow(case$x))
    }
  }
})

test_that("another order in the engine changes no answer", {
  for (name in names(numbered_fits())) {
    case <- numbered_fits()[[name]]
    fit <- case$fit
    k <- fit$state$k
    expect_gt(k, 1)
    turned <- fit
    turned$numbering <- c(fit$numbering[-1], fit$numbering[1])
    back <- c(k, seq_len(k - 1L)) # its number of each of the fit's clusters
    params <- posterior_params(fit)
    other <- posterior_params(turned)
    for (what in setdiff(names(params), "transition")) {
      a <- params[[what]]
      b <- other[[what]]
      last <- if (is.null(dim(a))) length(a) else dim(a)[if (length(dim(a)) == 3L) 3L else 1L]
      index <- c(back, seq_len(last)[-seq_len(k)])
      same <- if (is.null(dim(a))) b[index] else
        if (length(dim(a)) == 3L) b[, , index, drop = FALSE] else b[index, , drop = FALSE]
      expect_equal(same, a, ignore_attr = TRUE, label = paste(name, what))
    }
    expect_equal(coef(turned)$weights[back], coef(fit)$weights[seq_len(k)], ignore_attr = TRUE)
    expect_equal(
      predict(turned, case$x, type = "prob")[, back], predict(fit, case$x, type = "prob"), ignore_attr = TRUE
    )
    if (inherits(fit, "bnp_topics")) {
      expect_equal(
        heldout_loglik(turned, case$x, seed = 1, inference = "collapsed"),
        heldout_loglik(fit, case$x, seed = 1, inference = "collapsed")
      )
      expect_equal(
        heldout_loglik(turned, case$x, seed = 1, inference = "variational"),
        heldout_loglik(fit, case$x, seed = 1, inference = "variational")
      )
    }
    if (inherits(fit, "bnp_hmm")) {
      expect_identical(match(predict(turned, case$x), back), unname(predict(fit, case$x)))
      expect_equal(transition_matrix(turned)[back, back], transition_matrix(fit), ignore_attr = TRUE)
      width <- ncol(params$transition)
      index <- c(back, seq_len(width)[-seq_len(k)])
      expect_equal(other$transition[back, index], params$transition, ignore_attr = TRUE)
      expect_equal(residuals(turned, case$x), residuals(fit, case$x))
    }
  }
})

test_that("a fit goes on from its own state", {
  x <- toy_corpus()
  fit <- bnp_topics(x, obs_multinomial(0.1), control = bnp_control(seed = 3, batches = 4, max_laps = 25))
  expect_gt(n_clusters(fit), 2)
  fit$numbering <- c(fit$numbering[-1], fit$numbering[1])
  on <- bnp_topics(x, obs_multinomial(0.1), start = fit, control = bnp_control(seed = 1, moves = FALSE, max_laps = 3))
  expect_gt(elbo(on), elbo(fit) - 1e-6 * abs(elbo(fit)))
  stick <- posterior_params(fit)$position
  u <- fit$state$u
  expect_equal(
    unname(bnpvi:::document_weight(fit)[seq_along(u)] / 0.5), (u * cumprod(c(1, 1 - u))[seq_along(u)])[stick]
  )
})
