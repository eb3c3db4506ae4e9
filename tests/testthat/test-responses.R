# Responses of documents as users meet them.

planted <- planted_responses()
few <- bnp_control(seed = 1, max_laps = 8, threads = 1)
quietly <- function(expr) suppressWarnings(expr, classes = "bnpvi_warning_max_laps")
fit_of <- function(..., x = planted$x, control = few) suppressWarnings(bnp_topics(x, ..., control = control))

test_that("numbers are learned and predicted", {
  train <- 1:90
  fit <- fit_of(x = planted$x[train, ], response = planted$y[train], control = bnp_control(seed = 1, max_laps = 30))
  p <- predict(fit, planted$x[-train, ], type = "response", interval = 0.9)
  y <- planted$y[-train]
  expect_gt(1 - sum((y - p[, "fit"])^2) / sum((y - mean(y))^2), 0.5)
  expect_gt(mean(y >= p[, "lower"] & y <= p[, "upper"]), 0.75)
  expect_identical(dimnames(p), list(rownames(planted$x)[-train], c("fit", "lower", "upper")))
  narrow <- predict(fit, planted$x[-train, ], type = "response", interval = 0.5)
  expect_true(all(narrow[, "lower"] > p[, "lower"] & narrow[, "upper"] < p[, "upper"]))
  expect_identical(rownames(predict(fit, type = "response")), rownames(planted$x)[train])
  effects <- coef(fit)$response
  expect_identical(dimnames(effects), list(as.character(seq_len(fit$state$k)), c("estimate", "sd")))
  expect_match(paste(format(capture.output(print(fit))), collapse = " "), "Response: gaussian of 90 documents")
  expect_true("response" %in% names(elbo(fit, terms = TRUE)))
  expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit))
  expect_bad(predict(fit, planted$x, type = "label"), "response", "label")
  empty <- rbind(planted$x[1, ], 0 * planted$x[1, ])
  expect_true(all(is.finite(suppressWarnings(predict(fit, empty, type = "response")))))
})

test_that("units of the response do not matter", {
  fit <- fit_of(response = planted$y)
  for (scale in c(1e-150, 1e150, 3)) {
    shift <- if (scale == 3) 100 else 0
    other <- fit_of(response = scale * planted$y + shift)
    expect_equal(elbo(other), elbo(fit), tolerance = 1e-7)
    expect_equal(
      predict(other, type = "response")[, "fit"], scale * predict(fit, type = "response")[, "fit"] + shift,
      tolerance = 1e-5
    )
    expect_equal(
      coef(other)$response[, "estimate"], scale * coef(fit)$response[, "estimate"] + shift, tolerance = 1e-5
    )
  }
})

# Shares of documents by words alone, under topics that the documents of their group (every fifth) had no part in: those
# of a fit of the others that starts from the fit and has one lap.
shares_without <- function(fit, x, times = rep(1, nrow(x))) {
  values <- fit$input$document_response$values
  group <- rep_len(1:5, nrow(x))
  out <- matrix(0, nrow(x), fit$state$k)
  control <- engine_control(fit$state$k, max_laps = 1L)
  for (g in 1:5) {
    rest <- group != g
    data <- count_data(x[rest, ])
    data[c("weights", "group_values")] <- list(as.double(times[rest]), values[, rest, drop = FALSE])
    counts <- Matrix::summary(fit$documents[rest, ])
    state <- engine_fit(data, fit$model, control, list(
      state = fit$state, documents = list(document = counts$i, topic = fit$numbering[counts$j], count = counts$x)
    ), NULL)$state
    one <- fit
    one$state$obs <- state$obs
    out[!rest, ] <- document_counts(one, as_documents(x[!rest, ], fit$model$obs)) / rowSums(x[!rest, ])
  }
  out
}

# q of effects that predictions are made with: a regression on shares by words alone, whatever the weight.
test_that("effects are those of what words alone say", {
  age <- withr::with_seed(1, rnorm(120))
  times <- rep(1:3, 40)
  n <- rowSums(planted$x)
  for (weight in c(1, 8)) {
    fit <- fit_of(response = planted$y, covariates = age, response_weight = weight, weights = times)
    z <- cbind(shares_without(fit, planted$x, times), age = (age - mean(age)) / sqrt(mean((age - mean(age))^2)))
    topics <- seq_len(fit$state$k)
    square <- crossprod(z, times * z)
    square[topics, topics] <- square[topics, topics] - crossprod(z[, topics], times / n * z[, topics]) +
      diag(colSums(times / n * z[, topics]))
    y <- as.vector(scale(planted$y))
    inverse <- solve(diag(ncol(z)) + square)
    mean <- drop(inverse %*% crossprod(z, times * y))
    expect_equal(fit$responses$mean[[1]], unname(mean), tolerance = 1e-8)
    expect_equal(fit$responses$covariance[[1]], unname(inverse), tolerance = 1e-8)
    expect_equal(fit$responses$df, 3 + sum(times))
    expect_equal(fit$responses$scale, 1 + sum(times * y^2) - sum(mean * crossprod(z, times * y)), tolerance = 1e-8)
  }
  two <- planted$y > 0
  fit <- fit_of(response = two, response_weight = 8)
  z <- shares_without(fit, planted$x)
  q <- fit$responses
  second <- q$covariance[[1]] + tcrossprod(q$mean[[1]])
  xi <- sqrt((1 - 1 / n) * rowSums((z %*% second) * z) + drop(z %*% diag(second)) / n)
  omega <- tanh(xi / 2) / (2 * xi)
  square <- crossprod(z, omega * (1 - 1 / n) * z) + diag(colSums(omega / n * z))
  again <- drop(solve(0.1 * diag(ncol(z)) + square, crossprod(z, two - 0.5)))
  expect_equal(q$mean[[1]], unname(again), tolerance = 1e-2)
})

test_that("numbers that weigh more do not lose their variance in what they are predicted with", {
  train <- 1:90
  y <- planted$y[-train]
  score <- vapply(c(1, 30), function(weight) {
    fit <- fit_of(
      x = planted$x[train, ], response = planted$y[train], response_weight = weight,
      control = bnp_control(seed = 1, max_laps = 30)
    )
    p <- predict(fit, planted$x[-train, ], type = "response", interval = 0.5)
    c(mean(y >= p[, "lower"] & y <= p[, "upper"]), 1 - sum((y - p[, "fit"])^2) / sum((y - mean(y))^2))
  }, numeric(2))
  expect_gt(min(score[1, ]), 0.2)
  expect_gt(min(score[2, ]), 0.5)
})

test_that("responses of two classes, of several and with hinges are learned", {
  two <- factor(planted$y > 0, labels = c("low", "high"))
  three <- cut(planted$y, c(-Inf, -0.7, 0.7, Inf), labels = c("a", "b", "c"))
  for (family in some_of(list(NULL, "binomial", binomial(), "hinge"), by = 2, from = 2)) {
    fit <- fit_of(response = two, family = family)
    label <- predict(fit, type = "label")
    expect_identical(levels(label), levels(two))
    expect_gt(mean(label == two), 0.8)
    p <- predict(fit, type = "response")
    expect_true(all(p[, "lower"] <= p[, "fit"] & p[, "fit"] <= p[, "upper"]))
    if (!identical(family, "hinge")) expect_true(all(p >= 0 & p <= 1))
    expect_identical(unname(p[, "fit"] > if (identical(family, "hinge")) 0 else 0.5), unname(label == "high"))
  }
  expect_match(paste(capture.output(print(fit)), collapse = " "), "no bound")
  expect_identical(fit_of(response = planted$y > 0)$input$document_response$family, "binomial")
  fit <- fit_of(response = three)
  p <- predict(fit, type = "response")
  expect_identical(colnames(p), levels(three))
  expect_equal(unname(rowSums(p)), rep(1, nrow(p)))
  expect_gt(mean(predict(fit, type = "label") == three), 0.6)
  expect_identical(dim(coef(fit)$response), c(fit$state$k, 2L, 2L))
  numbers <- fit_of(response = planted$y, family = "eps_hinge", response_epsilon = 0.2)
  expect_gt(cor(predict(numbers, type = "response")[, "fit"], planted$y), 0.8)
})

test_that("covariates have effects of their own", {
  extra <- withr::with_seed(2, data.frame(
    year = 2000 + rnorm(120), source = factor(sample(c("u", "v", "w"), 120, TRUE))
  ))
  y <- planted$y + 3 * (extra$year - 2000) + 2 * (extra$source == "v")
  fit <- fit_of(response = y, covariates = extra)
  effects <- coef(fit)$response
  expect_identical(rownames(effects)[fit$state$k + 1:3], c("year", "sourcev", "sourcew"))
  expect_equal(effects[["year", "estimate"]], 3, tolerance = 0.1)
  expect_equal(effects[["sourcev", "estimate"]], 2, tolerance = 0.2)
  p <- predict(fit, planted$x[1:10, ], type = "response", covariates = extra[1:10, ])
  later <- predict(fit, planted$x[1:10, ], type = "response", covariates = transform(extra[1:10, ], year = year + 1))
  expect_equal(unname(later[, "fit"] - p[, "fit"]), rep(effects[["year", "estimate"]], 10))
  formula <- with(extra, fit_of(response = y ~ year + source))
  expect_equal(elbo(formula), elbo(fit))
  expect_bad(predict(fit, planted$x, type = "response"), "response", "covariates")
  expect_bad(predict(fit, planted$x, covariates = extra), "response", "covariates")
  double <- cbind(extra, twin = extra$year)
  expect_true(is.finite(elbo(fit_of(response = y, covariates = double)))) # collinear: the prior shares the effect out
  expect_bad(fit_of(response = y, covariates = rep(1, 120)), "response", "vary")
  expect_bad(fit_of(response = y, covariates = extra[1:5, ]), "response", "document of `x` \\(120\\)")
  expect_bad(
    predict(fit, planted$x[1:2, ], type = "response", covariates = extra), "response", "document of `newdata` \\(2\\)"
  )
  missing <- extra
  missing$year[4] <- NA
  expect_bad(fit_of(response = y, covariates = missing), "response", "document 4")
  unknown <- replace(y, 4, NA)
  expect_true(is.finite(elbo(fit_of(response = unknown, covariates = missing))))
})

test_that("a dfm has responses and covariates among its variables", {
  skip_if_not_installed("quanteda")
  quanteda <- function(name, ...) getExportedValue("quanteda", name)(...)
  text <- apply(planted$x, 1, function(n) paste(rep(colnames(planted$x), n), collapse = " "))
  variables <- withr::with_seed(3, data.frame(rating = planted$y, age = rnorm(120)))
  dfm <- quanteda("dfm", quanteda("tokens", quanteda("corpus", text, docvars = variables)))
  x <- planted$x[, colnames(dfm)]
  by_hand <- fit_of(x = x, response = planted$y, covariates = variables["age"])
  expect_identical(elbo(fit_of(x = dfm, response = "rating", covariates = "age")), elbo(by_hand))
  expect_identical(elbo(fit_of(x = dfm, response = rating ~ age)), elbo(by_hand))
  expect_identical(
    elbo(fit_of(x = dfm, response = rating > 0 ~ 1)), elbo(fit_of(x = x, response = planted$y > 0))
  )
  p <- predict(by_hand, x[1:9, ], type = "response", covariates = variables[1:9, "age", drop = FALSE])
  expect_equal(predict(by_hand, dfm[1:9, ], type = "response", covariates = variables[1:9, "age", drop = FALSE]), p)
  expect_bad(fit_of(x = dfm, response = "stars"), "response", "one value")
  expect_bad(fit_of(x = dfm, response = nothing_like_it ~ 1), "response", "cannot be evaluated")
})

test_that("responses are matched by name, and unknown ones leave words alone", {
  y <- stats::setNames(planted$y, rownames(planted$x))
  fit <- fit_of(response = planted$y)
  expect_identical(elbo(fit_of(response = rev(y))), elbo(fit))
  some <- replace(planted$y, seq(1, 120, 2), NA)
  half <- fit_of(response = some)
  expect_identical(half$input$document_response$n, 60L)
  without <- fit_of()
  expect_warning(all_missing <- quietly(bnp_topics(planted$x, response = rep(NA_real_, 120), control = few)),
    class = "bnpvi_warning_response"
  )
  expect_identical(elbo(all_missing), elbo(without))
  expect_null(all_missing$model$response)
  empty <- rbind(planted$x, none = 0)
  expect_warning(with_empty <- quietly(bnp_topics(empty, response = c(planted$y, 1), control = few)),
    class = "bnpvi_warning_response"
  )
  expect_identical(with_empty$input$document_response$n, 120L)
})

test_that("bad responses are refused by name", {
  bad <- function(..., what) expect_bad(fit_of(...), "response", what)
  bad(response = planted$y[-1], what = "one value for each document")
  bad(response = list(1), what = "vector")
  bad(response = rep(3, 120), what = "different values")
  bad(response = c(1, rep(NA, 119)), what = "different values")
  bad(response = replace(planted$y, 5, Inf), what = "document 5")
  bad(response = as.Date("2020-01-01") + 1:120, what = "as.numeric")
  bad(response = paste0("c", 1:120), what = "at most 100")
  bad(response = rep("a", 120), what = "two classes")
  bad(response = rep(c("a", "b", "c"), 40), family = "binomial", what = "two classes")
  bad(response = rep(c("a", "b"), 60), family = "gaussian", what = "numbers")
  bad(response = planted$y, family = poisson(), what = "canonical")
  bad(response = planted$y, family = binomial("probit"), what = "canonical")
  bad(response = stats::setNames(planted$y, paste0("x", 1:120)), what = "names")
  bad(family = "gaussian", what = "no meaning")
  bad(covariates = planted$y, what = "no meaning")
  bad(response = ~ 1, what = "left side")
  bad(response = nowhere ~ 1, what = "cannot be evaluated")
  for (argument in c("response_weight", "response_cost", "response_precision")) {
    for (value in list(0, -1, NA, "a", Inf)) {
      given <- c(list(response = planted$y), stats::setNames(list(value), argument))
      expect_bad(do.call(fit_of, given), "argument", argument)
    }
  }
  expect_bad(fit_of(response = planted$y, response_epsilon = -1), "argument", "response_epsilon")
  expect_bad(fit_of(response = planted$y, family = "ridge"), "argument", "family")
  unseen <- factor(rep(c("a", "b"), 60), levels = c("a", "b", "c"))
  expect_warning(quietly(bnp_topics(planted$x, response = unseen, control = few)), class = "bnpvi_warning_response")
  stream <- bnp_control("truncation_free")
  expect_bad(bnp_topics(planted$x, response = planted$y, control = stream), "response", "Truncation")
  fit <- fit_of(response = planted$y)
  expect_bad(predict(fit_of(), type = "response"), "response", "needs a fit")
  expect_bad(plot(fit_of(), "response"), "response", "needs a fit")
  older <- fit
  older$responses <- NULL
  expect_bad(coef(older), "format", "fit again")
  expect_bad(bnp_sample(fit, planted$x), "response", "samplers")
  expect_bad(update(fit, planted$x), "response", "updates")
  expect_bad(predict(fit, planted$x, type = "response", interval = 2), "argument", "interval")
})

test_that("classes that can be told apart, and more topics than documents, stay finite", {
  apart <- factor(rep(c("u", "v"), each = 10))
  x <- cbind(matrix(rep(c(9, 0), each = 10), 20, 3), matrix(rep(c(0, 9), each = 10), 20, 3))
  dimnames(x) <- list(NULL, letters[1:6])
  for (family in c("binomial", "hinge")) {
    fit <- fit_of(x = x, response = apart, family = family)
    expect_true(all(is.finite(unlist(coef(fit)$response))))
    expect_identical(as.character(predict(fit, type = "label")), as.character(apart))
  }
  many <- fit_of(x = x[c(1, 2, 11), ], response = c(1, 2, 4), prior = prior_lda(6))
  expect_true(all(is.finite(unlist(coef(many)$response))))
  expect_true(all(is.finite(predict(many, x, type = "response"))))
})

test_that("a response goes with every other option", {
  y <- planted$y
  fit <- fit_of(response = y)
  expect_identical(elbo(fit_of(response = y, x = Matrix::Matrix(planted$x, sparse = TRUE))), elbo(fit))
  weighted <- fit_of(response = y, weights = rep(2, 120), prior = prior_lda(4))
  still <- bnp_control(seed = 1, max_laps = 3, moves = FALSE, threads = 1)
  twice <- fit_of(
    response = c(y, y), x = rbind(planted$x, planted$x), prior = prior_lda(4),
    start = rbind(fitted(weighted), fitted(weighted)), control = still
  )
  once <- fit_of(
    response = y, weights = rep(2, 120), prior = prior_lda(4), start = fitted(weighted),
    control = still
  )
  expect_equal(elbo(once, terms = TRUE)[["response"]], elbo(twice, terms = TRUE)[["response"]], tolerance = 1e-2)
  for (control in some_of(list(
    bnp_control(seed = 1, max_laps = 6, batches = 4), bnp_control("stochastic", seed = 1, max_laps = 4, batches = 4),
    bnp_control(seed = 1, max_laps = 5, sparsity = 2), bnp_control("full", seed = 1, max_laps = 5),
    bnp_control(seed = 1, max_laps = 4, restarts = 2), bnp_control(seed = 1, max_laps = 6, bound = "tight")
  ), by = 3)) {
    other <- fit_of(response = y, control = control)
    expect_true(is.finite(elbo(other)))
    expect_true(all(is.finite(predict(other, planted$x, type = "response"))))
  }
  learned <- fit_of(response = y, prior = prior_hdp(gamma_prior(), gamma_prior()))
  expect_equal(sum(elbo(learned, terms = TRUE)), elbo(learned))
  on <- quietly(bnp_topics(planted$x, response = y, start = fit, control = few))
  expect_gte(elbo(on), elbo(fit) - 1e-6)
  from_words <- quietly(bnp_topics(planted$x, response = y, start = fit_of(), control = few))
  expect_true(is.finite(elbo(from_words)))
  without <- quietly(bnp_topics(planted$x, start = fit, control = few))
  expect_null(without$model$response)
  expect_true(is.finite(heldout_loglik(fit, planted$x, seed = 1)))
  tree <- cluster_tree(fit, planted$x)
  expect_gte(tree$elbo[1], elbo(fit) - 1)
  cut <- cut_fit(fit, planted$x, k = 3)
  expect_identical(nrow(coef(cut)$response), 3L)
  again <- fit_of(response = 2 * planted$y)
  expect_equal(elbo(again), elbo(fit), tolerance = 1e-7)
  expect_false(isTRUE(all.equal(elbo(fit), elbo(fit_of()))))
  expect_bad(compare_fits(fit, fit_of()), "not_comparable")
})

# Each option in a pair with each other one: the objective never falls, and what is predicted is finite and of one kind.
test_that("every option goes with every other", {
  small <- planted_responses(40, 20, 25)
  extra <- withr::with_seed(1, data.frame(age = rnorm(40), place = factor(rep(c("u", "v"), 20))))
  y <- small$y
  families <- list(
    gaussian = list(response = y), two = list(response = y > 0), hinge = list(response = y > 0, family = "hinge"),
    eps_hinge = list(response = y, family = "eps_hinge"), several = list(response = cut(y, 3, letters[1:3]))
  )
  options <- list(
    covariates = list(covariates = extra), weighted = list(response_weight = 5),
    precision = list(response_precision = 0.01), often = list(weights = rep(1:2, 20)),
    finite = list(prior = prior_lda(3)), learned = list(prior = prior_hdp(gamma_prior(), gamma_prior())),
    sparse = list(sparsity = 2), stochastic = list(algorithm = "stochastic", batches = 3),
    full = list(algorithm = "full"), batches = list(batches = 3), random = list(init = "random", k_init = 3),
    tight = list(bound = "tight"), threads = list(threads = 2)
  )
  of_control <- c("sparsity", "algorithm", "batches", "init", "k_init", "bound", "threads")
  pairs <- utils::combn(names(options), 2L, simplify = FALSE)
  for (at in some_of(seq_along(pairs), by = 3)) {
    family <- names(families)[1L + at %% length(families)]
    given <- c(families[[family]], do.call(c, unname(options[pairs[[at]]])))
    given <- given[!duplicated(names(given))]
    refused <- list(c("learned", "stochastic"), c("full", "batches"))
    if (any(vapply(refused, setequal, NA, pairs[[at]]))) next
    if (identical(given$prior$family, "lda")) given[c("k_init", "bound")] <- NULL # which are refused
    in_control <- names(given) %in% of_control
    control <- do.call(bnp_control, c(list(seed = 1, max_laps = 3), given[in_control]))
    what <- paste(c(family, pairs[[at]]), collapse = ", ")
    fit <- do.call(fit_of, c(list(x = small$x, control = control), given[!in_control]))
    if (!any(c("stochastic", "sparse") %in% pairs[[at]])) expect_gte(min(diff(fit$trace$elbo)), -1e-6, label = what)
    expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), label = what)
    p <- predict(fit, small$x, type = "response", covariates = given$covariates)
    expect_true(all(is.finite(p)), label = what)
    expect_identical(ncol(p), 3L, label = what)
  }
})

test_that("documents of rows have responses, too", {
  rows <- withr::with_seed(3, {
    share <- runif(40)
    id <- rep(seq_len(40), each = 12)
    data.frame(id = id, v = rnorm(480) + 6 * (runif(480) < share[id]))
  })
  y <- vapply(split(rows$v > 3, rows$id), mean, 0) + withr::with_seed(1, 0.05 * rnorm(40))
  fit <- suppressWarnings(bnp_topics(rows, obs_gaussian(), id = "id", response = unname(y), control = few))
  p <- predict(fit, rows, id = "id", type = "response")
  expect_gt(cor(p[, "fit"], y), 0.9)
  left <- rows
  left$v[left$id == 2] <- NA
  out <- suppressWarnings(
    bnp_topics(left, obs_gaussian(), id = "id", response = unname(y), control = few, na_action = "omit")
  )
  expect_identical(out$input$document_response$n, 39L)
  expect_true(is.na(predict(out, type = "response")[2, "fit"]))
})

test_that("checkpoints go on with the response", {
  file <- withr::local_tempfile()
  control <- function(laps) bnp_control(seed = 1, max_laps = laps, checkpoint = file, checkpoint_every = 0, threads = 1)
  suppressWarnings(bnp_topics(planted$x, response = planted$y, control = control(4)))
  on <- suppressWarnings(bnp_resume(file, planted$x, max_laps = 8))
  expect_identical(elbo(on), elbo(fit_of(response = planted$y)))
})

test_that("effects of topics on a response are drawn as a picture", {
  withr::local_pdf(NULL)
  fit <- fit_of(response = cut(planted$y, 3), covariates = seq_len(120))
  expect_invisible(plot(fit, "response"))
  expect_invisible(plot(fit_of(response = planted$y), "response", topics = 1:2))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, "response"), "ggplot")
})
