# Products with blocks whose data come in pairs of columns: successes and failures, times and their status.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
pairs <- withr::with_seed(1, {
  group <- rep(1:2, length.out = 90)
  near <- rpois(90, 12)
  far <- rpois(90, 5)
  hit <- rbinom(90, near, c(0.2, 0.7)[group])
  wide <- rbinom(90, far, c(0.4, 0.9)[group])
  event <- rexp(90, c(1, 20)[group])
  until <- rexp(90, c(0.3, 6)[group])
  data.frame(
    len = rnorm(90, c(0, 3)[group]), hit, miss = near - hit, far.in = wide, far.out = far - wide,
    sex = factor(c("f", "m")[group]), time = pmin(event, until), dead = event <= until
  )
})
tries <- c("hit", "miss", "far.in", "far.out")
times <- c("time", "dead")
tries_block <- function(...) obs_binomial(..., columns = tries)
times_block <- function(...) obs_survival(..., columns = times)
all_blocks <- function() obs_product(obs_gaussian(columns = "len"), tries_block(), times_block(), obs_categorical())

test_that("a product of one such block is the block alone, move by move", {
  for (block in list(tries_block(), times_block())) {
    for (x in list(pairs[block$columns], pairs)) {
      alone <- bnp_mixture(x, block, control = quiet(seed = 3))
      product <- bnp_mixture(x[block$columns], obs_product(block), control = quiet(seed = 3))
      expect_equal(elbo(product), elbo(alone), tolerance = 1e-10)
      expect_identical(fitted(product), fitted(alone))
      expect_equal(predict(product, pairs, "logdensity"), predict(alone, pairs, "logdensity"), tolerance = 1e-10)
      expect_gt(n_clusters(alone), 1)
    }
    bare <- obs_facts(block)$constructor
    bare <- bnp_mixture(pairs[block$columns], getExportedValue("bnpvi", bare)(), control = quiet(seed = 3))
    expect_identical(elbo(bare), elbo(alone))
  }
})

test_that("the bound is the sum of those of the blocks, with and without missing values", {
  gaps <- pairs
  gaps$hit[c(1, 7)] <- NA
  gaps$far.out[7] <- NA
  gaps$time[4] <- NA
  gaps$dead[5] <- NA
  gaps$len[c(1, 9)] <- NA
  for (x in list(pairs, gaps)) {
    fit <- function(x, obs, ...) bnp_mixture(x, obs, ..., na_action = "model")
    size <- obs_gaussian(mean = 1, mean_strength = 0.1, df = 3, scale = 2, columns = "len")
    whole <- fit(x, obs_product(size, tries_block(), times_block(), obs_categorical()), one, quiet())
    parts <- lapply(list(size, tries_block(), times_block(), obs_categorical(columns = "sex")),
      function(block) suppressMessages(fit(x, block, one, quiet()))
    )
    data_term <- function(fit) elbo(fit, terms = TRUE)[["data"]]
    expect_equal(data_term(whole), sum(vapply(parts, data_term, 1)), tolerance = 1e-12)
    density <- vapply(parts, function(part) predict(part, x, "logdensity", na_action = "model"), numeric(90))
    expect_equal(predict(whole, x, "logdensity", na_action = "model"), rowSums(density), tolerance = 1e-10)
  }
  # A pair of which one column is missing is missing.
  both <- gaps
  for (pair in list(tries[1:2], tries[3:4], times)) both[rowSums(is.na(gaps[pair])) > 0, pair] <- NA
  whole <- lapply(list(gaps, both), bnp_mixture, all_blocks(), control = quiet(seed = 1), na_action = "model")
  expect_identical(elbo(whole[[1]]), elbo(whole[[2]]))
  expect_identical(whole[[1]]$input$n_missing, whole[[2]]$input$n_missing)
  left <- suppressMessages(bnp_mixture(gaps, all_blocks(), one, quiet(), na_action = "omit"))
  kept <- bnp_mixture(gaps[stats::complete.cases(gaps), ], all_blocks(), one, quiet())
  expect_equal(elbo(left), elbo(kept), tolerance = 1e-12)
  expect_identical(which(is.na(unname(fitted(left)))), c(1L, 4L, 5L, 7L, 9L))
})

test_that("all that reads a fit knows such blocks", {
  fit <- bnp_mixture(pairs, all_blocks(), control = quiet(seed = 1, keep = "probabilities"))
  expect_equal(n_clusters(fit), 2)
  expect_output(print(fit), "binomial (hit, miss, far.in, far.out)", fixed = TRUE)
  expect_output(print(all_blocks()), "survival (time, dead)", fixed = TRUE)
  expect_output(print(summary(fit)), "Columns by what they tell.*time.*far")
  expect_identical(colnames(coef(fit)$binomial$prob), c("hit", "far"))
  expect_identical(colnames(posterior_params(fit)$survival$b), "time")
  table <- tidy(fit, conf.int = TRUE)
  expect_identical(table$variable[table$cluster == 1], c("len", "hit", "far", "time", "sex", "sex"))
  prob <- table[table$block == "binomial" & table$cluster == 1, ]
  expect_equal(prob$estimate, unname(coef(fit)$binomial$prob[1, ]))
  expect_equal(c(prob$conf.low[1], prob$conf.high[1]), unname(confint(fit, "binomial.prob[1,hit]")[1, ]))
  expect_equal(predict(fit, pairs[sample(8)], "responsibility"), fit$probabilities)
  expect_named(augment(fit, pairs), c(names(pairs), ".class", ".uncertainty"))
  drawn <- simulate(fit, seed = 1, n = 4000)$sim_1
  expect_identical(lapply(drawn[names(pairs)], class), lapply(pairs, class))
  expect_true(all(drawn$dead))
  expect_identical(unique(drawn$hit + drawn$miss), as.integer(round(mean(pairs$hit + pairs$miss))))
  first <- drawn[drawn$.class == 1, ]
  expect_equal(mean(first$hit / (first$hit + first$miss)), coef(fit)$binomial$prob[1, "hit"], tolerance = 0.2)
  expect_equal(1 / mean(first$time), coef(fit)$survival$rate[1, "time"], tolerance = 0.5)
  expect_gt(mean(predict(fit, drawn) == as.integer(drawn$.class)), 0.95)
  estimates <- function(name) table$estimate[table$variable == name]
  means <- lapply(1:2, function(k) list(mean = estimates("len")[k], cov = cbind(coef(fit)$gaussian$cov[, , k])))
  bernoulli <- function(name) sqrt(prod(estimates(name))) + sqrt(prod(1 - estimates(name)))
  root <- sqrt(estimates("time")[1] / estimates("time")[2])
  levels <- sum(sqrt(apply(coef(fit)$categorical$prob$sex, 2, prod)))
  overlap <- obs_overlap(obs_gaussian(), means[[1]], means[[2]]) *
    bernoulli("hit") * bernoulli("far") * 2 / (root + 1 / root) *
    levels
  expect_equal(cluster_overlap(fit)[1, 2], overlap)
  expect_equal(dim(cluster_divergence(fit)), c(2L, 2L))
  expect_s3_class(cluster_tree(fit, pairs), "hclust")
  expect_equal(n_clusters(cut_fit(fit, pairs, 1)), 1)
  expect_named(glance(fit)[1:3], c("k", "elbo", "nobs"))
  expect_equal(bnp_mixture(pairs, fit$model$obs, control = quiet(seed = 1))$elbo, elbo(fit), tolerance = 1e-7)
  expect_gte(elbo(bnp_mixture(pairs, all_blocks(), start = fit, control = quiet(seed = 1))), elbo(fit) - 1e-8)
  hits <- tries_block(a = c(far = 2, hit = 1))
  named <- obs_product(obs_gaussian(columns = "len"), hits, times_block(), obs_categorical())
  expect_identical(bnp_mixture(pairs, named, one, quiet())$model$obs$blocks$binomial$a, c(1, 2))
})

test_that("profiles have trials and times, told apart as quadrature says", {
  fit <- bnp_mixture(pairs, all_blocks(), control = quiet(seed = 1))
  information <- column_information(fit)
  expect_setequal(names(information), c("len", "hit", "far", "time", "sex"))
  w <- unname(cluster_sizes(fit) / 90)
  rate <- coef(fit)$survival$rate
  exact <- sum(vapply(1:2, function(k) {
    w[k] * stats::integrate(function(t) {
      p <- stats::dexp(t, rate[k])
      p * (stats::dexp(t, rate[k], log = TRUE) - log(w[1] * stats::dexp(t, rate[1]) + w[2] * stats::dexp(t, rate[2])))
    }, 0, 40 / rate[k])$value
  }, 1))
  expect_equal(information[["time"]], exact, tolerance = 0.01)
  p <- cbind(coef(fit)$binomial$prob[, "far"], 1 - coef(fit)$binomial$prob[, "far"])
  expect_equal(information[["far"]], sum(w * p * log(p / rep(colSums(w * p), each = 2))))
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  expect_silent(plot(bnp_mixture(pairs, tries_block(), control = quiet(seed = 1)), "profile"))
  expect_silent(plot(bnp_mixture(pairs, times_block(), control = quiet(seed = 1)), "profile"))
  skip_if_not_installed("ggplot2")
  expect_gt(length(ggplot2::ggplot_build(ggplot2::autoplot(fit, "profile"))$data), 1)
})

test_that("weights, individuals, sequences and documents take such blocks", {
  twice <- rep(c(1, 2), 45)
  written_out <- pairs[rep(1:90, twice), ]
  start <- rep(1:2, 45)
  still <- quiet(moves = FALSE)
  weighted <- bnp_mixture(pairs, all_blocks(), start = start, weights = twice, control = still)
  plain <- bnp_mixture(written_out, all_blocks(), start = rep(start, twice), control = still)
  expect_equal(elbo(weighted), elbo(plain), tolerance = 1e-10)
  id <- rep(1:45, each = 2)
  rows <- pairs[c(seq(1, 90, 2), seq(2, 90, 2)), ]
  whole <- bnp_mixture(rows, all_blocks(), id = id, start = rep(1:45 %% 2 + 1, each = 2), prior = prior_dirichlet(2),
    control = quiet(seed = 1)
  )
  expect_identical(unname(fitted(whole))[c(TRUE, FALSE)], unname(fitted(whole))[c(FALSE, TRUE)])
  expect_length(predict(whole, rows, id = id), 90)
  chain <- bnp_hmm(pairs, rep(c("u", "v"), each = 45), all_blocks(), control = quiet(seed = 1, max_laps = 20))
  expect_equal(nrow(predict(chain, pairs, rep(c("u", "v"), each = 45), n.ahead = 2)), 4)
  expect_named(simulate(chain, seed = 1)$sim_1, c(names(pairs), ".id", ".state"))
  topics <- bnp_topics(pairs, all_blocks(), id = rep(1:9, 10), control = quiet(seed = 1, max_laps = 10))
  expect_setequal(tidy(topics)$variable, c("len", "hit", "far", "time", "sex"))
})

test_that("one name stands for the columns of a matrix or of a Surv, wherever they are", {
  skip_if_not_installed("survival")
  x <- pairs["len"]
  x$tries <- cbind(hit = pairs$hit, miss = pairs$miss)
  x$s <- survival::Surv(pairs$time, pairs$dead)
  model <- function() obs_product(obs_gaussian(), obs_binomial(columns = "tries"), obs_survival(columns = "s"))
  control <- quiet(seed = 1)
  fit <- bnp_mixture(x, model(), control = control)
  flat <- bnp_mixture(pairs[c("len", "hit", "miss", times)], obs_product(
    obs_gaussian(), obs_binomial(columns = c("hit", "miss")), times_block()
  ), control = control)
  expect_equal(elbo(fit), elbo(flat), tolerance = 1e-12)
  expect_identical(tidy(fit)$variable[1:3], c("len", "tries", "s"))
  expect_identical(predict(fit, x[5:1, ]), stats::setNames(fitted(fit)[5:1], 5:1))
  expect_equal(elbo(bnp_mixture(~ len + tries + s, x, model(), control = control)), elbo(fit))
  expect_length(predict(fit, simulate(fit, seed = 1)$sim_1), 90)
  expect_named(augment(fit, x), c("len", "tries", "s", ".class", ".uncertainty"))
  halves <- list(u = x[1:45, ], v = x[46:90, ])
  chain <- bnp_hmm(halves, obs = model(), control = quiet(seed = 1, max_laps = 10))
  expect_length(predict(chain, halves), 90)
  for (block in list(obs_survival(columns = "s"), obs_binomial(columns = "tries"), obs_poisson(columns = "tries"))) {
    alone <- bnp_mixture(x, block, control = control)
    expect_identical(predict(alone, x), fitted(alone))
    expect_length(alone$model$obs$columns, 2)
    expect_equal(elbo(bnp_mixture(x, alone$model$obs, control = control)), elbo(alone))
  }
  # Another column that only looks like a part of the matrix is none.
  x$s <- NULL
  x$s.time <- pairs$time
  x$s.status <- 1
  expect_bad(bnp_mixture(x, model(), control = control), "columns", "\"s\"")
})

test_that("pairs that cannot be are refused by their names", {
  refused <- function(obs, class, ...) expect_bad(bnp_mixture(pairs, obs, control = quiet()), class, ...)
  expect_bad(obs_product(obs_gaussian(), obs_binomial()), "columns", "..2. must name its columns.*obs_binomial")
  expect_bad(obs_product(when = obs_survival()), "columns", "when.*must name.*obs_survival")
  expect_bad(obs_binomial(columns = 1:2), "argument", "columns")
  rest <- list(obs_gaussian(), obs_categorical())
  with_rest <- function(...) do.call(obs_product, c(list(...), rest))
  refused(with_rest(obs_binomial(columns = c("hit", "miss", "far.in"))), "not_pairs", "not 3.*\n.*\"far.in\"")
  refused(with_rest(obs_binomial(columns = c("hit", "len"))), "not_counts", "len")
  refused(with_rest(obs_survival(columns = c("time", "dead", "hit"))), "not_times", "not 3.*\n.*\"hit\"")
  refused(with_rest(obs_survival(columns = c("time", "hit"))), "not_times", "0 or 1")
  refused(with_rest(obs_survival(columns = "time")), "not_times", "not 1")
  refused(with_rest(obs_binomial(columns = c("hit", "sex"))), "not_numeric", "sex")
  refused(with_rest(obs_binomial(columns = c("hit", "misses"))), "columns", "misses")
  expect_bad(bnp_mixture(pairs, obs_binomial(columns = c("hit", "misses"))), "columns", "misses")
  odd <- stats::setNames(pairs[c("hit", "miss", "far.in")], c("{stop()}", "a", "b"))
  expect_bad(bnp_mixture(odd, obs_binomial(), control = quiet()), "not_pairs", "{stop()}", fixed = TRUE)
  gaps <- replace(pairs, "hit", list(replace(pairs$hit, 3, NA)))
  fit <- bnp_mixture(gaps, all_blocks(), control = quiet(seed = 1), na_action = "model")
  expect_bad(impute(fit, gaps), "argument", "obs_binomial.*\n.*how many trials")
  expect_bad(predict(fit, gaps, "impute"), "argument", "obs_binomial")
  others <- replace(pairs, "sex", list(replace(pairs$sex, 3, NA)))
  expect_identical(as.character(predict(fit, others, "impute")$sex[3]), "f")
  expect_false(anyNA(impute(fit, others, m = 1)[[1]]$sex))
})

test_that("simulated rows have as many trials as are asked for, block by block", {
  fit <- bnp_mixture(pairs, all_blocks(), control = quiet(seed = 1))
  trials <- function(...) {
    drawn <- simulate(fit, seed = 1, n = 20, ...)$sim_1
    unique(cbind(drawn$hit + drawn$miss, drawn$far.in + drawn$far.out))
  }
  expect_equal(trials(total = 7), cbind(7, 7))
  expect_equal(trials(total = c(3, 40)), cbind(3, 40))
  expect_equal(trials(total = list(binomial = c(3, 40))), cbind(3, 40))
  expect_equal(trials(), rbind(round(c(mean(pairs$hit + pairs$miss), mean(pairs$far.in + pairs$far.out)))))
  expect_bad(trials(total = 1:3), "argument", "one for each pair")
  expect_bad(trials(total = list(survival = 3)), "argument", "\"survival\".*\n.*binomial")
  two <- obs_product(
    near = obs_binomial(columns = tries[1:2]), obs_multinomial(columns = tries[3:4]), obs_gaussian(columns = "len")
  )
  fit <- bnp_mixture(pairs[c("len", tries)], two, control = quiet(seed = 1))
  expect_equal(trials(total = 9), cbind(9, 9))
  expect_equal(trials(total = list(multinomial = 2, near = 5)), cbind(5, 2))
  expect_equal(trials(total = list(near = 5))[1], 5)
  expect_bad(trials(total = 1:2), "argument", "names the blocks")
  chain <- bnp_hmm(pairs[c("len", tries)], obs = two, control = quiet(seed = 1, max_laps = 10))
  drawn <- simulate(chain, seed = 1, total = list(near = 4))$sim_1
  expect_true(all(drawn$hit + drawn$miss == 4))
  numbers <- bnp_mixture(pairs["len"], obs_product(obs_gaussian()), control = quiet(seed = 1))
  expect_bad(simulate(numbers, total = 3), "argument", "no meaning")
})
