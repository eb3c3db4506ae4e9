# The laws of inst/design and src/observations/obs_model.h, for every registered observation model.

contract <- function(case, resp, data = case$data, obs = NULL) {
  model <- case$model
  model$obs <- obs %||% model$obs
  engine_contract(data, model, resp)
}

# Column by column: everything once, soft weights, nothing.
weights_of <- function(case) {
  n <- nrow(case$rows(case$data))
  withr::with_seed(
    1, cbind(all = 1, soft = runif(n), sparse = rexp(n) * rbinom(n, 1, 0.2), none = 0)
  )
}

by_column <- function(resp, f) {
  unname(vapply(seq_len(ncol(resp)), function(k) f(resp[, k]), f(resp[, 1])))
}

cluster_of <- function(array, k, first = FALSE) {
  if (first) {
    return(array[k, , ]) # means at all times
  }
  switch(as.character(length(dim(array))),
    "3" = array[, , k],
    "2" = array[k, ],
    array[k]
  )
}

# Twins know averages over the posterior of a shape, of its logarithm and of those of parameters given it.
average_over_shapes <- function(arrays) {
  if (!is.null(arrays$tails_node)) {
    prob <- arrays$tails_prob
    arrays$tails_prob <- rowSums(prob * log(arrays$tails_node))
    arrays$tails_node <- rowSums(prob * arrays$tails_node)
  }
  if (is.null(arrays$shape_node)) {
    return(arrays)
  }
  lapply(stats::setNames(nm = names(arrays)), function(name) {
    if (length(dim(arrays[[name]])) < 3L) {
      return(arrays[[name]])
    }
    value <- switch(
      name, shape_node = arrays$shape_node, shape_prob = log(arrays$shape_node),
      log(pmax(abs(arrays[[name]]), 1e-300))
    )
    apply(value * arrays$shape_prob, 1:2, sum)
  })
}

expect_clusters <- function(arrays, twin, resp, tolerance) {
  arrays <- average_over_shapes(arrays)
  for (k in seq_len(ncol(resp))) {
    expected <- twin(resp[, k])
    expect_setequal(names(arrays), names(expected))
    for (name in names(expected)) {
      own <- cluster_of(arrays[[name]], k, length(dim(arrays[[name]])) == 3L && name == "mean")
      expect_equal(as.numeric(own), as.numeric(expected[[name]]),
        tolerance = tolerance, info = name
      )
    }
  }
}

# No cell is missing, and no column of levels has one without a level.
is_whole <- function(case) {
  if (anyNA(case$data$x)) {
    return(FALSE)
  }
  blocks <- case$model$obs$blocks %||% list(case$model$obs)
  first <- cumsum(c(0L, vapply(blocks, n_block_columns, 1L)))
  holes <- mapply(function(block, from) {
    !is.null(block$n_levels) && any(case$data$x[, from + seq_along(block$n_levels)] == 0)
  }, blocks, first[seq_along(blocks)])
  !any(holes)
}

test_that("estimates from rows far out, collinear columns and many columns are those of their statistics", {
  x <- withr::with_seed(5, matrix(rnorm(60), 20))
  wide <- withr::with_seed(6, matrix(rnorm(20 * 16), 20))
  for (obs in list(obs_gaussian(), obs_gaussian("zero_mean"))) {
    for (scale in c(10, 1e2, 1e3, 1e4, 1e6, 1e12)) {
      case <- planted_case("far", obs, x, rep(1, 20))
      case$data$x[7:20, ] <- case$data$x[7:20, ] * scale
      e <- contract(case, diag(20))
      expect_equal(e$row_mean, e$point_mean, tolerance = 1e-11)
      expect_equal(e$row_weights, e$point_weights, tolerance = 1e-10)
      # Relative to each row's own weights, too.
      differs <- rowSums(abs(e$row_weights - e$point_weights)) / rowSums(abs(e$point_weights))
      expect_lt(max(differs), 1e-9)
    }
    collinear <- planted_case("collinear", obs, cbind(x, x[, 1] + 1e-9 * x[, 2]), rep(1, 20))
    for (case in list(collinear, planted_case("wide", obs, wide, rep(1, 20)))) {
      e <- contract(case, diag(3, 20))
      expect_equal(e$row_mean, e$point_mean, tolerance = 1e-11)
      expect_equal(e$row_weights, e$point_weights, tolerance = 1e-9)
    }
  }
})

test_that("every registered model is in the table", {
  expect_setequal(
    unique(vapply(model_cases(), function(case) case$model$obs$family, "")),
    setdiff(names(obs_models), "random_effects") # sums over individuals: test-growth-mixtures.R
  )
})

# Models of which the short suite sees more than that their numbers are those of plain R.
thorough <- vapply(some_of(model_cases(), by = 5, from = 4), function(case) case$name, "")

for (case in model_cases()) {
  rows <- case$rows(case$data)
  resp <- weights_of(case)
  n <- nrow(rows)
  tolerance <- tolerance_of(case, 1e-10)

  test_that(paste0(case$name, ": statistics are weighted sums of features, and N comes first"), {
    e <- contract(case, resp)
    expect_equal(nrow(e$features), n)
    expect_equal(e$features[, 1], rep(1, n))
    expect_equal(e$statistic, unname(crossprod(resp, e$features)), tolerance = 1e-13)
  })

  test_that(paste0(case$name, ": evidence is the closed form"), {
    expected <- by_column(resp, function(r) case$twin$evidence(rows, r))
    e <- contract(case, resp)
    expect_equal(e$evidence + colSums(resp * e$log_base), expected, tolerance = tolerance, ignore_attr = TRUE)
    expect_identical(any(e$log_base != 0), e$has_base)
  })

  test_that(paste0(case$name, ": hands out what it has beside the core, and nothing else"), {
    expect_identical(engine_capabilities(case$model$obs), beside[[case$name]] %||% character())
  })

  test_that(paste0(case$name, ": features times weights are expected log-likelihoods"), {
    e <- contract(case, resp)
    expected <- by_column(resp, function(r) case$twin$expected(rows, r, rows))
    expect_equal(e$features %*% t(e$weights) + e$log_base, expected, tolerance = tolerance)
  })

  test_that(paste0(case$name, ": posterior and posterior means in the user's units"), {
    e <- contract(case, resp)
    expect_clusters(e$posterior, function(r) case$twin$posterior(rows, r), resp, tolerance)
    proper <- resp[, c("all", "soft")]
    m <- contract(case, proper)$mean_parameters
    expect_clusters(m, function(r) case$twin$mean_parameters(rows, r), proper, tolerance)
  })

  if (!case$name %in% thorough) next

  test_that(paste0(case$name, ": evidence and weights together are those asked for one by one"), {
    e <- contract(case, resp)
    expect_equal(e$joint_evidence, e$evidence, tolerance = 1e-14)
    expect_equal(e$joint_weights, e$weights, tolerance = 1e-14)
  })

  test_that(paste0(case$name, ": without data the cluster is the prior"), {
    e <- contract(case, resp[, c("none", "none")])
    expect_lt(max(abs(e$evidence)), 1e-10)
  })

  test_that(paste0(case$name, ": weights are the gradient of the evidence"), {
    # Along each row's features, which span all that the statistics can do.
    h <- 1e-4
    base <- resp[, "soft"] + 0.5
    above <- contract(case, base + diag(h, n))$evidence
    below <- contract(case, base - diag(h, n))$evidence
    e <- contract(case, cbind(base))
    slope <- (above - below) / (2 * h)
    expect_equal(as.numeric(e$features %*% e$weights[1, ]), slope, tolerance = 1e-6)
  })

  test_that(paste0(case$name, ": predictive is the definition and the twin"), {
    e <- contract(case, resp)
    # Of rounded rows the predictive is that of the row as it is, and statistics are of its cell.
    if (is.null(case$model$obs$rounding) && is.null(case$scales)) {
      expect_equal(e$log_predictive, e$log_predictive_by_definition, tolerance = 10 * tolerance)
    }
    expected <- by_column(resp, function(r) case$twin$predictive(rows, r, rows))
    # Of scales that are averaged over points of the tails' posterior every other one is used.
    near <- if (is.null(case$scales)) tolerance else 1e-7
    expect_equal(e$log_predictive + e$log_base, expected, tolerance = near)
  })

  test_that(paste0(case$name, ": one-step predictives multiply to the evidence"), {
    skip_if(!is.null(case$model$obs$rounding), "of rows as they are, and the evidence of their cells")
    skip_if(!is.null(case$scales), "of any scale, and the evidence of rows whose scale is 1")
    before <- 1 * upper.tri(diag(n))
    steps <- diag(contract(case, before)$log_predictive)
    expect_equal(sum(steps), contract(case, cbind(rep(1, n)))$evidence, tolerance = tolerance)
  })

  test_that(paste0(case$name, ": permuting groups permutes the answers"), {
    lag <- if (is.null(case$model$obs$lag)) 0L else case$model$obs$lag
    order <- withr::with_seed(2, sample(length(case$data$starts) - 1L))
    moved <- permute_groups(case$data, lag, order)
    e <- contract(case, resp)
    m <- contract(case, resp[moved$rows, ], data = moved$data)
    expect_equal(m$features, e$features[moved$rows, ])
    expect_equal(m$evidence, e$evidence, tolerance = 1e-11)
    expect_equal(m$log_predictive, e$log_predictive[moved$rows, ], tolerance = 1e-10)
  })

  test_that(paste0(case$name, ": permuting columns changes nothing"), {
    order <- rev(seq_len(count_parameters(case)))
    data <- in_other_order(case, order)
    e <- contract(case, resp)
    m <- contract(case, resp, data, if (length(order) > 1L) permute_columns(case$model$obs, order))
    expect_equal(m$evidence, e$evidence, tolerance = 1e-10)
    expect_equal(m$features %*% t(m$weights), e$features %*% t(e$weights), tolerance = 1e-10)
    expect_equal(m$log_predictive, e$log_predictive, tolerance = 1e-10)
  })

  test_that(paste0(case$name, ": estimates from single rows are those of their statistics"), {
    for (times in c(1, 0.2, 25)) {
      e <- contract(case, diag(times, n))
      by_formula <- is.matrix(case$model$obs$scale) && !is.null(case$model$obs$rounding) # takes rows as they are
      of <- if (by_formula) contract(case, diag(times, n), obs = without_rounding(case$model$obs)) else e
      expect_equal(e$row_mean, of$point_mean, tolerance = 1e-11)
      expect_equal(e$row_weights, of$point_weights, tolerance = 1e-11)
    }
  })

  test_that(paste0(case$name, ": divergence is zero at equality and positive elsewhere"), {
    # One cluster per row, and larger ones, some so close that a term of first order would show.
    soft <- resp[, "soft"]
    several <- cbind(diag(n)[, seq_len(10)], 1, soft, soft * 1.01, soft * 0.99)
    e <- contract(case, several)
    divergence <- vapply(seq_len(ncol(several)), function(b) {
      rowSums(e$point_mean * sweep(e$point_weights, 2, e$point_weights[b, ]))
    }, numeric(ncol(several)))
    different <- as.matrix(stats::dist(e$point_weights)) > 1e-8
    likelihood <- rowSums(e$point_mean[, -1, drop = FALSE] != 0) > 0
    expect_equal(diag(divergence), rep(0, ncol(several)), tolerance = 1e-10)
    # Clusters of single rows say nothing of columns in which these have no level.
    if (is_whole(case)) expect_gt(min(divergence[different & likelihood]), 0)
    expect_gte(min(divergence), -1e-10)
    expect_gt(sum(different & likelihood), 100)
  })

  test_that(paste0(case$name, ": the point estimate is the posterior's limit"), {
    many <- cbind(resp[, "soft"] * 1e7)
    e <- contract(case, many)
    # What is known does not follow the data.
    free <- if (length(case$model$obs$tails) == 1L) 4L - ncol(e$point_mean) else
      if (is.null(case$model$obs$variance)) TRUE else seq_len(1L + case$data$d)
    expect_equal(e$point_mean[, free], (e$statistic / e$statistic[, 1])[, free], tolerance = 1e-5)
    expect_equal(e$features %*% t(e$point_weights), e$features %*% t(e$weights), tolerance = 1e-5)
  })
}

for (case in some_of(Filter(function(case) !is.null(case$model$obs$unit), model_cases()), by = 7)) {
  obs <- case$model$obs
  resp <- weights_of(case)
  rows <- case$rows(case$data)

  test_that(paste0(case$name, ": centre and unit change rounding only"), {
    other <- obs
    other$unit <- rev(obs$unit) * 2
    if (any(obs$centre != 0)) other$centre <- obs$centre + seq_along(obs$centre)
    e <- contract(case, resp)
    m <- contract(case, resp, obs = other)
    expect_false(isTRUE(all.equal(m$features, e$features)))
    expect_equal(m$evidence, e$evidence, tolerance = 1e-10)
    expect_equal(m$features %*% t(m$weights), e$features %*% t(e$weights), tolerance = 1e-9)
    expect_equal(m$log_predictive, e$log_predictive, tolerance = 1e-10)
    for (name in names(e$posterior)) {
      expect_equal(m$posterior[[name]], e$posterior[[name]], tolerance = 1e-10, info = name)
    }
  })

  # Of logarithms another unit moves the mean, which the model's own tests see to; yes, no and counts have no unit.
  if (is_of_logs(case) || is_glm_case(case)) next
  test_that(paste0(case$name, ": data in other units have the evidence of a change of variables"), {
    for (factor in 2^c(-490, 490)) {
      scaled <- obs
      scaled$unit <- obs$unit * factor
      squares <- intersect(names(obs), c("scale", "variance"))
      scaled[squares] <- lapply(obs[squares], function(v) v * factor * factor)
      located <- intersect(names(obs), c("mean", "centre", "origin", "spread", "rounding"))
      scaled[located] <- lapply(obs[located], `*`, factor)
      if (obs$family == "ar" && obs$intercept) {
        last <- ncol(obs$coef_mean)
        scaled$coef_mean[, last] <- obs$coef_mean[, last] * factor
        rescale <- rep(c(factor, 1), c(last - 1L, 1L))
        scaled$coef_precision <- obs$coef_precision * outer(rescale, rescale)
      } else if (obs$family == "ar") {
        scaled$coef_precision <- obs$coef_precision * factor * factor
      }
      if (obs$family == "regression" && obs$intercept) scaled$coef_mean[, 1] <- obs$coef_mean[, 1] * factor
      e <- contract(case, resp)
      m <- contract(case, resp, engine_data(with_modelled(case, function(x) x * factor), case$data$starts), scaled)
      expect_equal(m$features, e$features, tolerance = 1e-12)
      modelled <- seq_len(obs$responses %||% count_columns(case))
      cells <- rowSums(!is.na(rows[, modelled, drop = FALSE]))
      expect_equal(m$evidence + colSums(resp * cells) * log(factor), e$evidence,
        tolerance = 1e-10, ignore_attr = TRUE
      )
      for (name in intersect(names(e$posterior), c("scale", "cov"))) {
        expect_equal(m$posterior[[name]], e$posterior[[name]] * factor * factor, tolerance = 1e-10)
      }
    }
  })
}

located <- Filter(function(case) !is.null(case$model$obs$centre) && !is_of_logs(case), model_cases())
for (case in some_of(located, by = 5)) {
  if (is.null(case$model$obs$mean)) next
  test_that(paste0(case$name, ": an offset of 1e8 changes nothing"), {
    # On a grid of 2^-20 the shift is exact, so nothing at all may change.
    grid <- function(v) round(v * 2^20) / 2^20
    obs <- case$model$obs
    near <- utils::modifyList(obs, list(mean = grid(obs$mean), centre = grid(obs$centre)))
    far <- utils::modifyList(near, list(mean = near$mean + 1e8, centre = near$centre + 1e8))
    x <- with_modelled(case, grid)
    resp <- weights_of(case)
    e <- contract(case, resp, engine_data(x), near)
    m <- contract(case, resp, engine_data(with_modelled(case, function(y) grid(y) + 1e8)), far)
    compared <- c("features", "evidence", "weights", "log_predictive")
    expect_identical(m[compared], e[compared])
    expect_equal(m$posterior$mean - 1e8, e$posterior$mean, tolerance = 1e-6)
  })
}

is_discrete <- function(case) {
  case$model$obs$family %in% c("multinomial", "bernoulli", "poisson") && !isTRUE(case$model$obs$gaps)
}
for (case in Filter(is_discrete, model_cases())) {
  test_that(paste0(case$name, ": sparse rows are the dense ones"), {
    resp <- weights_of(case)
    expect_identical(contract(case, resp, sparse_engine_data(case$data$x)), contract(case, resp))
  })
}

test_that("constant, duplicated and collinear columns and D > n give finite answers", {
  x <- withr::with_seed(3, matrix(rnorm(12), 4))
  constant <- matrix(1e6 / c(3, 7, 11, 13), 4, 4, byrow = TRUE)
  x <- cbind(x, x[, 1], x[, 1] + x[, 2], x * 1e6, constant)
  d <- ncol(x)
  # Off centre, so that the constants cancel only to rounding.
  for (scale in c(1, 1e-12)) {
    shared <- list(
      mean = colMeans(x), mean_strength = 0.01, df = d + 2, scale = diag(scale, d),
      centre = colMeans(x) / 2, unit = rep(1, d)
    )
    lagged <- c(shared[c("df", "scale", "centre", "unit")], list(
      lag = 1L, intercept = TRUE, coef_mean = cbind(diag(d), 0), coef_precision = diag(1e-6, d + 1L)
    ))
    models <- list(
      c(family = "gaussian_full", shared),
      c(family = "gaussian_zero_mean", shared[c("df", "scale", "unit")]),
      c(family = "gaussian_diagonal", utils::modifyList(shared, list(scale = rep(scale, d)))),
      c(family = "ar", lagged)
    )
    for (obs in models) {
      n <- if (obs$family == "ar") nrow(x) - 1L else nrow(x)
      model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
      e <- engine_contract(engine_data(x), model, cbind(rep(1, n), 0))
      expect_true(all(is.finite(unlist(e[names(e) != "capabilities"]))), info = paste(obs$family, scale))
    }
  }
})

test_that("statistics that round to less than nothing give finite answers", {
  for (case in model_cases()) {
    obs <- case$model$obs
    tiny <- intersect(names(obs), c("mean_strength", "term_prior", "a", "b"))
    obs[tiny] <- lapply(obs[tiny], `*`, 1e-20)
    data <- engine_data(matrix(1, 6, case$data$d))
    n <- 6L - if (is.null(obs$lag)) 0L else obs$lag
    resp <- cbind(c(0.3, -0.1, -0.2, rep(0, n - 3L)))
    expect_lt(sum(resp), 0)
    e <- contract(case, resp, data, obs)
    of_clusters <- setdiff(names(e), c("mean_parameters", "row_mean", "row_weights", "capabilities"))
    expect_true(all(is.finite(unlist(e[of_clusters]))), info = case$name)
  }
})

test_that("what is not positive definite or not translatable is refused", {
  cases <- model_cases()
  bad <- cases[[1]]
  bad$model$obs$scale <- diag(c(1, -1, 1))
  expect_error(contract(bad, weights_of(bad)), "not positive definite")
  origin <- Filter(function(case) case$name == "ar, lag 1", cases)[[1]]
  origin$model$obs$centre <- c(1, 0)
  expect_error(contract(origin, weights_of(origin)), "without an intercept")
})

# A model without gaps, or with them in some blocks of a product only.
without_gaps <- function(obs, blocks = names(obs$blocks)) {
  obs$gaps <- NULL
  obs$blocks[blocks] <- lapply(obs$blocks[blocks], without_gaps)
  obs[!vapply(obs, is.null, NA)]
}
has_gaps <- function(case) {
  any(vapply(case$model$obs$blocks %||% list(case$model$obs), function(block) isTRUE(block$gaps), NA))
}
for (case in some_of(Filter(has_gaps, model_cases()), by = 5)) {
  test_that(paste0(case$name, ": where nothing is missing it is the model without gaps"), {
    whole <- engine_data(replace(case$data$x, is.na(case$data$x), 1), case$data$starts)
    resp <- weights_of(case)
    e <- contract(case, resp, whole)
    obs <- case$model$obs
    for (plain in list(without_gaps(obs), if (!is.null(obs$blocks)) without_gaps(obs, names(obs$blocks)[2]))) {
      if (is.null(plain)) next
      p <- contract(case, resp, whole, plain)
      expect_equal(engine_complete_to_gaps(plain, obs, p$statistic), e$statistic, tolerance = 1e-13)
      expect_equal(e$evidence, p$evidence, tolerance = 1e-11)
      expect_equal(e$log_predictive, p$log_predictive, tolerance = 1e-11)
      expect_equal(e$mean_parameters, p$mean_parameters, tolerance = 1e-11)
    }
  })
}
