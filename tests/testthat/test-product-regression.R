# Products with blocks that are regressions.

quiet <- function(...) bnp_control(..., verbose = FALSE)
few <- quiet(seed = 1)
one <- prior_dirichlet(1)
rows <- withr::with_seed(1, {
  group <- rep(1:2, length.out = 160)
  x <- rnorm(160, c(0, 3)[group])
  kind <- factor(sample(c("a", "b", "c"), 160, TRUE))
  y <- ifelse(group == 1, 1 + 2 * x, 9 - x) + c(0, 1, 4)[kind] + rnorm(160) / 2
  data.frame(
    sex = factor(ifelse(runif(160) < 0.9, c("f", "m")[group], "m")), y, x, kind, after = 2 - y + rnorm(160),
    days = runif(160, 1, 4), visits = rpois(160, c(2, 6)[group]), group
  )
})
line <- function(..., formula = y ~ x) obs_regression(..., formula = formula)
only <- function(...) rows[c(...)]

test_that("a product of one regression is the regression alone, move by move", {
  for (formula in list(y ~ x, y ~ x + kind, y ~ poly(x, 2), cbind(y, after) ~ kind, y ~ x - 1, y ~ 1)) {
    alone <- bnp_mixture(formula, rows, control = quiet(seed = 2))
    x <- rows[all.vars(formula)]
    block <- bnp_mixture(x, obs_product(line(formula = formula)), control = quiet(seed = 2))
    expect_equal(elbo(block), elbo(alone), tolerance = 1e-12)
    expect_identical(unname(fitted(block)), unname(fitted(alone)))
    expect_equal(coef(block)$regression$coef, coef(alone)$coef, tolerance = 1e-12)
    expect_identical(dimnames(coef(block)$regression$coef), dimnames(coef(alone)$coef))
    expect_equal(predict(block, rows[9:1, ], "prob"), predict(alone, rows[9:1, ], "prob"), tolerance = 1e-10)
    expect_equal(
      unname(predict(block, rows, "logdensity")), unname(predict(alone, rows, "logdensity")), tolerance = 1e-10
    )
    expect_equal(heldout_loglik(block, rows), heldout_loglik(alone, rows), tolerance = 1e-10)
  }
})

test_that("the bound is the sum of those of the blocks, with and without missing values", {
  gaps <- only("sex", "y", "x", "kind", "after")
  gaps$y[c(2, 5)] <- NA
  gaps$sex[c(5, 7)] <- NA
  gaps$after[9] <- NA
  blocks <- list(line(formula = cbind(y, after) ~ x + kind), obs_categorical(columns = "sex"))
  for (data in list(only("sex", "y", "x", "kind", "after"), gaps)) {
    data_term <- function(...) {
      elbo(bnp_mixture(..., prior = one, control = few, na_action = "model"), terms = TRUE)[["data"]]
    }
    whole <- data_term(data, do.call(obs_product, blocks))
    parts <- c(
      data_term(data[c("y", "after", "x", "kind")], obs_product(blocks[[1]])),
      suppressMessages(data_term(data["sex"], obs_categorical()))
    )
    expect_equal(whole, sum(parts), tolerance = 1e-10)
    expect_equal(data_term(data, do.call(obs_product, rev(blocks))), whole, tolerance = 1e-10)
  }
  known <- gaps
  known$kind[3] <- NA
  product <- obs_product(blocks[[1]], obs_categorical())
  expect_bad(bnp_mixture(known, product, control = few, na_action = "model"), "gaps", "Covariates.*\n.*3")
  expect_bad(bnp_mixture(known, product, control = few), "not_finite", "\\(3, y, after ~ kindb\\)")
  expect_message(left <- bnp_mixture(known, product, control = few, na_action = "omit"), "5 rows")
  expect_identical(which(is.na(unname(fitted(left)))), c(2L, 3L, 5L, 7L, 9L))
})

test_that("a regression and a Gaussian of its covariate are the joint Gaussian, in one cluster", {
  # p(x) p(y | x) of the Gaussian with mean 0, scale I: the Wishart's conditionals (Murphy, 2012, section 4.5).
  joint <- obs_gaussian(mean = 0, mean_strength = 0.5, df = 5, scale = 1)
  x <- obs_gaussian(mean = 0, mean_strength = 0.5, df = 4, scale = 1, columns = "x")
  y <- line(df = 5, scale = 1, coef_mean = 0:1 * 0, coef_precision = c(0.5, 1))
  whole <- bnp_mixture(only("x", "y"), joint, one, few)
  parts <- bnp_mixture(only("x", "y"), obs_product(x, y), one, few)
  expect_equal(elbo(parts), elbo(whole), tolerance = 1e-10)
  expect_equal(predict(parts, rows, "logdensity"), predict(whole, rows, "logdensity"), tolerance = 1e-9)
  expect_s3_class(compare_fits(parts, whole), "bnp_comparison")
  expect_bad(compare_fits(bnp_mixture(only("x", "y"), obs_product(line()), one, few), whole), "not_comparable")
})

test_that("covariates have a part in clusters where a block models them", {
  data <- only("sex", "y", "x", "kind")
  both <- line(formula = y ~ x + kind)
  weighted <- bnp_mixture(data, obs_product(both, obs_gaussian(columns = "x"), obs_categorical(columns = "sex")),
    control = few
  )
  expect_equal(n_clusters(weighted), 2)
  expect_gt(adjusted_rand_index(fitted(weighted), rows$group), 0.9)
  # x alone says much of the cluster, and of what is expected of y in it.
  unknown <- data.frame(sex = NA, y = NA, x = c(-1, 4), kind = "a")
  expect_equal(
    unname(predict(weighted, unknown, "class", na_action = "model")), unname(predict(weighted, data))[c(1, 2)]
  )
  filled <- predict(weighted, unknown, "impute")
  expect_equal(filled$y, c(-1, 5), tolerance = 0.15)
  expect_true(all(attr(filled, "sd")[, "y"] > 0.4))
  known <- bnp_mixture(data, obs_product(both, obs_categorical(columns = "sex")), control = few)
  weights <- coef(known)$weights[1:n_clusters(known)]
  expect_equal(unname(predict(known, unknown, "prob", na_action = "model")),
    matrix(weights / sum(weights), 2, length(weights), byrow = TRUE), tolerance = 0.01
  )
  drawn <- impute(weighted, rbind(data, unknown), m = 3, seed = 1)
  expect_false(anyNA(drawn[[2]]))
})

test_that("all that reads a fit knows such blocks", {
  model <- obs_product(
    line(formula = y ~ x + kind), obs_categorical(columns = "sex"), obs_poisson(columns = "visits", exposure = "days"),
    second = line(formula = after ~ y)
  )
  data <- rows[setdiff(names(rows), "group")]
  fit <- bnp_mixture(data, model, control = quiet(seed = 1, keep = "probabilities"))
  expect_output(print(model), "regression (y ~ x + kind)", fixed = TRUE)
  expect_output(print(fit), "160 observations of 7 columns.*regression \\(y ~ x \\+ kind\\).*second \\(after ~ y\\)")
  expect_output(print(summary(fit)), "Columns by what they tell.*sex")
  expect_identical(dimnames(coef(fit)$second$coef)[1:2], list("after", c("(Intercept)", "y")))
  expect_identical(dimnames(coef(fit)$regression$coef)[[2]], c("(Intercept)", "x", "kindb", "kindc"))
  expect_true("regression.coef[1,y,kindc]" %in% rownames(confint(fit, "regression.coef")))
  expect_setequal(tidy(fit)$variable, c("sex", "visits", "y", "after"))
  table <- tidy(fit, conf.int = TRUE, conf.level = 0.8)
  kindc <- table[table$block == "regression" & table$level == "kindc", ]
  expect_equal(kindc$estimate, unname(coef(fit)$regression$coef["y", "kindc", ]))
  expect_equal(unname(as.matrix(kindc[c("conf.low", "conf.high")])), unname(confint(fit, "regression.coef", 0.8)[
    paste0("regression.coef[", kindc$cluster, ",y,kindc]"), , drop = FALSE
  ]))
  expect_false(is.unsorted(table$cluster))
  expect_equal(predict(fit, data, "responsibility"), fit$probabilities)
  expect_identical(unname(predict(fit, data[9:1, rev(names(data))])), rev(predict(fit, data)[1:9]))
  expect_named(augment(fit, data), c(names(data), ".class", ".uncertainty"))
  expect_s3_class(cluster_tree(fit, data), "hclust")
  # Covariates are part of the data, whether a block models them or not.
  other <- replace(data, "kind", list(rev(data$kind)))
  expect_bad(cluster_tree(fit, other), "other_data", "Their values")
  expect_bad(compare_fits(fit, bnp_mixture(other, model, one, few)), "not_comparable", "different data")
  expect_gte(elbo(bnp_mixture(data, model, start = fit, control = few)), elbo(fit) - 1e-8)
  # A learned prior goes on to learn.
  expect_equal(elbo(bnp_mixture(data, fit$model$obs, control = few)), elbo(fit), tolerance = 1e-6)
  expect_bad(cluster_divergence(fit), "argument", "closed form")
  expect_bad(predict(fit, data, type = "response"), "argument", "obs_product.*\n.*impute")
  expect_bad(predict(fit, data[-3]), "newdata_columns", "\"x\"")
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  expect_bad(plot(bnp_mixture(only("y", "x"), obs_product(line()), control = few)), "argument", "profile")
  chain <- bnp_hmm(data, rep(1:4, each = 40), model, control = quiet(seed = 1, max_laps = 20))
  expect_length(predict(chain, data, rep(1:4, each = 40)), 160)
  expect_bad(predict(chain, data, rep(1:4, each = 40), n.ahead = 2), "argument", "Covariates.*Add these rows")
  halves <- split(data, rep(1:2, each = 80))
  expect_length(predict(bnp_hmm(halves, obs = model, control = quiet(seed = 1, max_laps = 5)), halves), 160)
  expect_named(simulate(chain, seed = 1)$sim_1, c(names(data), ".id", ".state"))
  whole <- bnp_mixture(data, model, id = rep(1:80, each = 2), control = few)
  expect_length(predict(whole, data), 160)
  weighted <- bnp_mixture(data, model, weights = rep(2, 160), start = rows$group, control = quiet(moves = FALSE))
  twice <- bnp_mixture(rbind(data, data), model, start = rep(rows$group, 2), control = quiet(moves = FALSE))
  expect_equal(elbo(weighted), elbo(twice), tolerance = 1e-10)
})

test_that("simulated rows have responses that follow their covariates, drawn or known", {
  model <- obs_product(
    line(formula = after ~ y), line(formula = y ~ x + kind), obs_gaussian(columns = "x"),
    obs_categorical(columns = "sex")
  )
  data <- rows[c("sex", "y", "x", "kind", "after")]
  fit <- bnp_mixture(data, model, control = few)
  drawn <- simulate(fit, seed = 1, n = 3000)$sim_1
  expect_named(drawn, c(names(data), ".class"))
  expect_identical(lapply(drawn[names(data)], class), lapply(data, class))
  expect_identical(drawn$kind[1:160], data$kind)
  for (k in 1:2) {
    own <- drawn[drawn$.class == k, ]
    expect_equal(stats::coef(stats::lm(y ~ x + kind, own)), coef(fit)$regression_1$coef[1, , k], tolerance = 0.3)
    expect_equal(stats::coef(stats::lm(after ~ y, own)), coef(fit)$regression$coef[1, , k], tolerance = 0.4)
    expect_equal(mean(own$x), coef(fit)$gaussian$mean[k, 1], tolerance = 0.4)
  }
  at <- simulate(fit, seed = 1, n = 4, covariates = data.frame(kind = c("c", "a"), x = 100))$sim_1
  expect_identical(as.character(at$kind), c("c", "a", "c", "a"))
  expect_lt(max(abs(at$x)), 20)
  expect_bad(simulate(fit, covariates = data.frame(x = 1)), "newdata_columns", "kind")
  expect_bad(simulate(fit, covariates = data.frame(kind = "nothing")), "formula", "new level")
  expect_bad(simulate(fit, covariates = 1:3), "newdata", "data frame")
  alone <- bnp_mixture(rows["x"], obs_product(obs_gaussian()), control = few)
  expect_bad(simulate(alone, covariates = data), "argument", "no meaning")
})

test_that("formulas that make no block are refused by what is wrong", {
  refused <- function(formula, ...) expect_bad(obs_regression(formula = formula), "formula", ...)
  refused(~x, "must have a response")
  refused("y ~ x", "must have a response")
  refused(log(y) ~ x, "Compute the column")
  refused(cbind(y, log(after)) ~ x, "Compute the column")
  refused(cbind(y, y) ~ x, "Compute the column")
  refused(y ~ ., "name the covariates")
  refused(y ~ y + x, "among its covariates")
  refused(y ~ x + offset(days), "offset")
  expect_bad(obs_product(obs_regression()), "formula", "..1. must have a formula")
  expect_bad(bnp_mixture(rows, line()), "formula", "blocks of a product.*\n.*bnp_mixture\\(y ~ x, data\\)")
  expect_bad(bnp_hmm(y ~ x, rows, obs = line(), control = few), "formula", "blocks of")
  bad <- function(class, ..., blocks = list()) {
    expect_bad(bnp_mixture(rows[c("sex", "y", "x", "after")], do.call(obs_product, blocks), control = few), class, ...)
  }
  rest <- obs_categorical()
  bad("columns", "nothing", blocks = list(line(formula = y ~ nothing), rest))
  bad("columns", "named by several", blocks = list(line(), obs_gaussian(columns = "y"), rest))
  x <- obs_gaussian(columns = "x")
  bad("formula", "each other's columns", blocks = list(line(formula = y ~ after), line(formula = after ~ y), rest, x))
  bad("not_numeric", "sex", blocks = list(line(formula = sex ~ y), obs_gaussian(columns = c("y", "x", "after"))))
  bad("columns", "No block takes", blocks = list(line(), rest))
})

test_that("a column is an exposure or modelled, not both", {
  expect_bad(
    bnp_mixture(rows, obs_poisson(exposure = "days", columns = c("visits", "days"))), "exposure", "days.*both.*columns"
  )
  both <- obs_product(obs_poisson(exposure = "days", columns = "visits"), obs_gaussian(columns = c("x", "days")))
  expect_bad(bnp_mixture(rows[c("x", "days", "visits")], both), "exposure", "days.*both.*columns")
  expect_bad(bnp_hmm(rows[c("x", "days", "visits")], obs = both), "exposure", "days.*both.*columns")
})
