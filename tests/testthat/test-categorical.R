# Columns of levels: closed forms, how levels are read, matched and shown, and what is refused.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
six <- data.frame(f3 = factor(c(1, 1, 3, 2, 3, 1)), f2 = factor(c(1, 2, 2, 2, 1, 1)))
soft <- c(0.9, 0.1, 0.5, 0.7, 0.2, 1)

# Two groups of four columns, told apart by most cells.
profiles <- function(n, seed = 1) {
  withr::with_seed(seed, {
    group <- rep(1:2, length.out = n)
    pick <- function(levels, likely) {
      factor(levels[ifelse(runif(n) < 0.85, likely[group], sample(seq_along(levels), n, TRUE))], levels)
    }
    data.frame(
      colour = pick(c("red", "green", "blue"), c(1, 3)), size = pick(c("s", "m", "l", "xl"), c(2, 4)),
      shape = pick(c("round", "square"), c(1, 2)), taste = pick(letters[1:5], c(5, 2))
    )
  })
}

# log p(rows), each given those before it.
sequential <- function(codes, weight) {
  sum(vapply(seq_len(ncol(codes)), function(j) {
    a <- weight[[j]]
    sum(vapply(seq_len(nrow(codes)), function(i) {
      before <- tabulate(codes[seq_len(i - 1L), j], length(a))
      log((a + before)[codes[i, j]] / sum(a + before))
    }, 1))
  }, 1))
}
codes_of <- function(x) vapply(x, as.integer, integer(nrow(x)))

test_that("evidence of hard and soft responsibilities is what enumeration gave", {
  obs <- list(family = "categorical", n_levels = c(3, 2), concentration = rep(c(1 / 3, 1 / 2), c(3, 2)))
  model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
  expect_equal(
    engine_contract(engine_data(codes_of(six) * 1), model, cbind(1, soft))$evidence, c(-13.77445997, -8.30906276),
    tolerance = 1e-9
  )
  expect_equal(elbo(bnp_mixture(six, obs_categorical("perks"), one, quiet())), -13.77445997, tolerance = 1e-9)
})

test_that("the ELBO of one cluster is the exact log evidence, in every family", {
  x <- profiles(40)
  exact <- sequential(codes_of(x), lapply(x, function(v) rep(1 / nlevels(v), nlevels(v))))
  for (batches in c(1, 3)) {
    control <- quiet(seed = 1, batches = batches)
    expect_equal(elbo(bnp_mixture(x, obs_categorical("perks"), one, control = control)), exact, tolerance = 1e-12)
    chain <- bnp_hmm(x, rep(1:4, each = 10), prior = prior_hmm(1), control = control)
    expect_equal(elbo(chain), exact, tolerance = 1e-12)
    topics <- bnp_topics(x, obs_categorical("perks"), prior_lda(1), control, id = rep(1:4, 10))
    expect_equal(elbo(topics), exact, tolerance = 1e-12)
  }
  stochastic <- bnp_mixture(x, obs_categorical("perks"), one, quiet("stochastic", seed = 1, batches = 4))
  expect_equal(elbo(stochastic), exact, tolerance = 1e-12)
})

test_that("a factor with two levels is a column of zeros and ones", {
  x <- withr::with_seed(2, matrix(rbinom(300, 1, rep(c(0.1, 0.8), each = 50)), 100))
  levels <- as.data.frame(lapply(as.data.frame(x), function(v) v == 1))
  for (start in list(NULL, rep(1:4, 25))) {
    control <- quiet(seed = 1, moves = is.null(start))
    binary <- bnp_mixture(x, obs_bernoulli(0.3, 0.6), control = control, start = start)
    labels <- bnp_mixture(levels, obs_categorical(list(c(0.6, 0.3))), control = control, start = start)
    expect_equal(elbo(labels), elbo(binary), tolerance = 1e-12)
    expect_identical(unname(fitted(labels)), unname(fitted(binary)))
    expect_equal(coef(labels)$prob[[2]][, "TRUE"], coef(binary)$prob[, 2], tolerance = 1e-9)
  }
})

test_that("order and names of levels and columns, and how they are stored, change nothing", {
  x <- profiles(80)
  fit <- bnp_mixture(x, obs_categorical("perks"), control = quiet(seed = 1))
  expect_equal(n_clusters(fit), 2)
  same <- list(
    x[4:1], lapply(x, function(v) factor(v, rev(levels(v)))) |> as.data.frame(),
    lapply(x, as.character) |> as.data.frame(), lapply(x, as.integer) |> as.data.frame(),
    lapply(x, function(v) as.ordered(as.integer(v) * 1000)) |> as.data.frame(), cbind(x, constant = factor("a")),
    as.matrix(x), unname(codes_of(x))
  )
  for (other in same) {
    again <- suppressMessages(bnp_mixture(other, obs_categorical("perks"), control = quiet(), start = fitted(fit)))
    expect_equal(elbo(again), elbo(fit), tolerance = 1e-9)
    expect_equal(unname(fitted(again)), unname(fitted(fit)))
  }
  expect_message(bnp_mixture(same[[5]], control = quiet(max_laps = 50)), class = "bnpvi_message_order")
  unused <- transform(x, taste = factor(taste, c(levels(taste), "f")))
  expect_lt(elbo(bnp_mixture(unused, control = quiet(), start = fitted(fit))), elbo(fit))
})

test_that("levels of new data are matched by label, and one not seen before says nothing, with one warning", {
  x <- profiles(80)
  fit <- bnp_mixture(x, obs_categorical("perks"), control = quiet(seed = 1))
  prob <- predict(fit, x, "prob")
  turned <- as.data.frame(lapply(x[4:1], function(v) factor(v, rev(levels(v)))))
  expect_equal(predict(fit, turned, "prob"), prob)
  expect_equal(predict(fit, as.data.frame(lapply(x, as.character)), "prob"), prob)
  expect_equal(predict(fit, droplevels(x[x$colour == "red", ]), "prob"), prob[x$colour == "red", ], ignore_attr = TRUE)
  expect_equal(dim(predict(fit, x[0, ], "prob")), c(0L, fit$state$k))

  new <- data.frame(colour = "mauve", size = "s", shape = c("round", "square"), taste = "a")
  condition <- expect_warning(out <- predict(fit, new, "prob"), class = "bnpvi_warning_unseen_levels")
  expect_match(conditionMessage(condition), "colour.*mauve")
  # As without the column.
  q <- coef(fit)$prob
  w <- coef(fit)$weights
  known <- seq_len(fit$state$k)
  joint <- t(vapply(1:2, function(i) {
    w[known] * q$size[, "s"] * q$shape[, as.character(new$shape[i])] * q$taste[, "a"]
  }, numeric(fit$state$k)))
  rest <- (1 - sum(w)) * 1 / 4 * 1 / 2 * 1 / 5
  density <- suppressWarnings(predict(fit, new, "logdensity"))
  expect_equal(unname(density), log(rowSums(joint) + rest), tolerance = 1e-10)
  red <- log(q$colour[, "red"])
  odds <- function(p) unname(log(p[, 1] / p[, 2]))
  expect_equal(odds(predict(fit, transform(new, colour = "red"), "prob")) - odds(out), rep(red[[1]] - red[[2]], 2))
  expect_bad(predict(fit, x[-2]), "newdata_columns", "size")
  expect_bad(predict(fit, replace(x, 1, NA)), "not_finite", "colour")
})

test_that("parameters come by column with the names of clusters and levels, with intervals", {
  x <- profiles(80)
  fit <- bnp_mixture(x, obs_categorical("perks"), control = quiet(seed = 1))
  for (prob in list(coef(fit)$prob, posterior_params(fit)$concentration)) {
    expect_named(prob, names(x))
    expect_equal(dimnames(prob$size), list(as.character(seq_len(fit$state$k)), levels(x$size)))
  }
  expect_equal(rowSums(coef(fit)$prob$taste), c(`1` = 1, `2` = 1)[seq_len(fit$state$k)])
  r <- predict(fit, x, "prob")
  counts <- 1 / 4 + crossprod(r, stats::model.matrix(~ 0 + size, x))
  expect_equal(posterior_params(fit)$concentration$size, counts, tolerance = 1e-3, ignore_attr = TRUE)

  table <- tidy(fit, conf.int = TRUE)
  expect_named(table, c("cluster", "block", "variable", "level", "estimate", "conf.low", "conf.high"))
  expect_equal(nrow(table), 14 * fit$state$k)
  at <- table$cluster == 1 & table$variable == "size" & table$level == "xl"
  expect_equal(table$estimate[at], coef(fit)$prob$size[[1, "xl"]])
  q <- posterior_params(fit)$concentration$size[1, ]
  expect_equal(table$conf.low[at], stats::qbeta(0.025, q[["xl"]], sum(q) - q[["xl"]]))
  expect_equal(confint(fit, "prob[1,size=xl]")[1, 2], table$conf.high[at])
  expect_named(tidy(fit), names(table)[1:5])
  expect_true("size=xl" %in% names(as.data.frame(fit)))
  expect_output(print(summary(fit)), "Columns by what they tell")
})

test_that("simulated data have the columns of the training data", {
  x <- profiles(60)
  mixed <- transform(
    x, colour = as.character(colour), shape = shape == "round", taste = as.integer(taste), size = as.ordered(size)
  )
  fit <- suppressMessages(bnp_mixture(mixed, obs_categorical("perks"), control = quiet(seed = 1)))
  sim <- simulate(fit, seed = 1, n = 500)$sim_1
  expect_identical(lapply(sim[names(mixed)], class), lapply(mixed, class))
  expect_identical(levels(sim$size), levels(mixed$size))
  expect_setequal(unique(sim$colour), unique(mixed$colour))
  expect_equal(mean(sim$shape), mean(mixed$shape), tolerance = 0.2)
  expect_equal(nrow(simulate(fit, n = 0)$sim_1), 0)
  chain <- bnp_hmm(x, control = quiet(seed = 1, max_laps = 20))
  expect_identical(levels(simulate(chain, seed = 1)$sim_1$size), levels(x$size))
})

test_that("priors are numbers, one for each column or one for each level, by name or place", {
  x <- profiles(20)
  weights <- function(prior) bnp_mixture(x, obs_categorical(prior), one, quiet())$model$obs$concentration
  expect_equal(weights("perks"), rep(1 / c(3, 4, 2, 5), c(3, 4, 2, 5)))
  expect_equal(weights(0.7), rep(0.7, 14))
  expect_equal(weights(c(taste = 4, colour = 1, shape = 3, size = 2)), rep(1:4, c(3, 4, 2, 5)))
  expect_equal(weights(list(1, 2, c(3, 4), 5)), c(1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 5, 5, 5, 5))
  expect_equal(weights(list(size = 2, taste = 5, colour = 1, shape = c(3, 4)))[8:9], c(3, 4))
  x_codes <- codes_of(x)
  fit <- bnp_mixture(x, obs_categorical(list(1, 2, c(3, 4), 5)), one, quiet())
  expect_equal(elbo(fit), sequential(x_codes, list(rep(1, 3), rep(2, 4), c(3, 4), rep(5, 5))), tolerance = 1e-12)
  expect_bad(weights(c(1, 2)), "argument", "prior")
  expect_bad(weights(list(1, 2, c(3, 4, 5), 5)), "argument", "Column 3 has 2 levels")
  expect_bad(weights(c(a = 1, b = 2, c = 3, d = 4)), "names", "prior")
  for (bad in list("flat", -1, 0, NA_real_, list("a"))) expect_bad(obs_categorical(bad), "argument", "prior")
  expect_bad(obs_categorical(1e-12), "range", "prior")
})

test_that("what is no column of levels is refused by name, place and remedy", {
  x <- profiles(12)
  refused <- function(x, class, why, ...) {
    expect_bad(bnp_mixture(x, obs_categorical(...), control = quiet()), class, why)
  }
  refused(replace(x, 2, c("a", NA)), "not_finite", "\\(2, size\\)")
  refused(replace(x, 2, seq(0.5, 6, by = 0.5)), "not_levels", "\\(1, size\\).*cut")
  x$day <- Sys.Date()
  refused(x, "not_numeric", "day.*Leave it out|day")
  x$day <- I(as.list(1:12))
  refused(x, "not_numeric", "day")
  refused(x[0], "no_columns", "x")
  refused(x[0, 1:4], "no_rows", "x")
  refused(x, "columns", "hue.*colour", columns = "hue")
  refused(list(1, "a", x), "input", "data frame")
  for (bad in list(1, character(), NA_character_, c("a", "a"))) {
    expect_bad(obs_categorical("perks", columns = bad), "argument", "columns")
  }
  fit <- bnp_mixture(x, obs_categorical("perks", columns = c("size", "taste")), one, quiet())
  expect_equal(fit$input$d, 2L)
  expect_length(predict(fit, x[c("taste", "size")]), 12)
  keys <- data.frame(id = paste0("row", c(1:30, 1:10)), f = profiles(40)$size)
  expect_warning(bnp_mixture(keys, prior = one, control = quiet()), class = "bnpvi_warning_many_levels")
})

test_that("a thousand levels, a level for most rows and columns with one level are fitted", {
  many <- withr::with_seed(5, sample(1000, 3000, TRUE))
  x <- data.frame(many = factor(many, 1:1000), one = "a", two = rep(c("x", "y"), 1500))
  fit <- bnp_mixture(x, obs_categorical("perks"), one, control = quiet(seed = 1))
  codes <- cbind(many, 1L, rep(1:2, 1500))
  expect_equal(elbo(fit), sequential(codes, list(rep(0.001, 1000), 1, c(0.5, 0.5))), tolerance = 1e-11)
  each <- suppressWarnings(bnp_mixture(data.frame(id = sprintf("r%03d", pmin(1:60, 50))), control = quiet(seed = 1)))
  expect_true(is.finite(elbo(each)))
  alone <- bnp_mixture(data.frame(f = rep("a", 5)), control = quiet(seed = 1))
  expect_equal(n_clusters(alone), 1)
  expect_equal(elbo(alone, TRUE)[["data"]], 0)
})

# Ratings of 118 slides by seven pathologists (Landis and Koch, 1977; Agresti, 2002, table 13.1): patterns and their
# numbers.
carcinoma <- function() {
  patterns <- c(
    "1111111" = 34, "1111211" = 2, "1211111" = 6, "1211112" = 1, "1211211" = 4, "1211212" = 5, "2111111" = 2,
    "2121212" = 1, "2211111" = 2, "2211112" = 1, "2211211" = 2, "2211212" = 7, "2211222" = 1, "2212112" = 1,
    "2212212" = 2, "2212222" = 3, "2221212" = 13, "2221222" = 5, "2222212" = 10, "2222222" = 16
  )
  ratings <- do.call(rbind, strsplit(rep(names(patterns), patterns), ""))
  `colnames<-`(matrix(as.integer(ratings), 118), LETTERS[1:7])
}

test_that("three kinds of slides are found where poLCA's BIC has three classes, from every seed", {
  for (seed in 1:3) {
    fit <- bnp_mixture(carcinoma(), obs_categorical("perks"), control = quiet(seed = seed))
    expect_equal(elbo(fit), -346.923, tolerance = 1e-6)
    expect_equal(unname(cluster_sizes(fit)), c(53, 44.5, 20.5), tolerance = 1e-3)
  }
})

test_that("a learned prior has the objective of the hierarchical model, and ends where no strength is better", {
  x <- profiles(200)
  group <- rep(1:2, 100)
  long <- quiet(seed = 1, max_laps = 500, tol = 1e-12)
  fit <- bnp_mixture(x, obs_categorical("learned"), control = long, start = group)
  expect_gte(min(diff(elbo_trace(fit)$elbo)), -1e-8)
  obs <- fit$model$obs
  expect_output(print(obs), "prior = learned")
  column <- rep(1:4, c(3, 4, 2, 5))
  statistic <- fit$state$obs[, -1]
  H <- function(obs) lapply(split(obs$hyper_share, column), function(omega) {
    list(even = 0, common = obs$prior_strength, omega = omega)
  })
  bound <- function(H) {
    sum(mapply(function(H, j) share_bound(H, statistic[, column == j, drop = FALSE]), H, 1:4)) - log(11)
  }
  expect_equal(sum(elbo(fit, terms = TRUE)[c("data", "hyperprior")]), bound(H(obs)), tolerance = 1e-9)
  expect_equal(obs$concentration, unlist(lapply(H(obs), share_means), use.names = FALSE))
  for (strength in 2^(-3:7)) {
    other <- lapply(1:4, function(j) share_settled(
      list(even = 0, common = strength, omega = H(obs)[[j]]$omega), statistic[, column == j, drop = FALSE]
    ))
    expect_lt(bound(other), bound(H(obs)) + 0.01)
  }
  steps <- engine_learned(unclass(obs), fit$state$obs, 50)
  expect_gte(min(diff(steps$objective)), -1e-9)

  in_batches <- bnp_mixture(x, obs_categorical("learned"), control = quiet(seed = 1, batches = 4), start = group)
  expect_equal(elbo(in_batches), elbo(fit), tolerance = 1e-3)
  again <- bnp_mixture(x, obs_categorical("learned"), control = quiet(seed = 1), start = fit)
  expect_equal(again$model$obs$prior_strength, obs$prior_strength)
  mixed <- data.frame(x, number = group + withr::with_seed(1, rnorm(200)) / 5)
  product <- bnp_mixture(mixed, obs_product(obs_gaussian(), obs_categorical()), control = quiet(seed = 1))
  expect_false(is.null(product$model$obs$blocks$categorical$hyper_share))
  expect_bad(bnp_mixture(x, obs_categorical("learned"), control = quiet("stochastic")), "argument", "learned")
  expect_identical(bnp_mixture(x, obs_categorical(), control = quiet("stochastic"))$model$obs$prior, "perks")
})

test_that("new data without names of columns are taken in the order of the training data", {
  frame <- data.frame(colour = factor(rep(c("red", "blue"), 30)), word = rep(c("u", "v", "w"), each = 20))
  fit <- bnp_mixture(frame, control = bnp_control(seed = 1, verbose = FALSE))
  bare <- unname(as.matrix(frame))
  expect_message(prob <- predict(fit, bare, type = "prob"), class = "bnpvi_message_by_position")
  expect_equal(prob, predict(fit, frame, type = "prob"), ignore_attr = TRUE)
  suppressMessages(expect_equal(augment(fit, bare)$.class, augment(fit, frame)$.class))
})
