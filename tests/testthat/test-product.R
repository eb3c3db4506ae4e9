# Products of observation models, which is what data frames of several kinds of columns are fitted by.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)

six <- data.frame(
  x = c(0.1, -0.4, 2.2, 1.9, 2.4, -0.2), y = c(1.2, 0.3, 0.8, -0.5, 0.1, 0.9), f3 = factor(c(1, 1, 3, 2, 3, 1)),
  f2 = factor(c(1, 2, 2, 2, 1, 1)), count = c(0L, 1L, 5L, 7L, 4L, 2L), days = c(1, 2, 1, 1.5, 1, 0.5),
  yes = c(TRUE, FALSE, TRUE, TRUE, TRUE, FALSE)
)
gaussian <- function(...) obs_gaussian(..., mean = 0, mean_strength = 0.1, scale = 0.5, columns = c("x", "y"))
four <- obs_product(
  gaussian(df = 4), obs_categorical("perks", c("f3", "f2")), obs_poisson(1, 0.3, exposure = "days", columns = "count"),
  obs_bernoulli(0.5, 0.5, columns = "yes")
)

# Two groups in numbers, levels and counts.
mixed <- function(n, seed = 1) {
  withr::with_seed(seed, {
    group <- rep(1:2, length.out = n)
    data.frame(
      len = rnorm(n, c(0, 3)[group]), mass = rnorm(n, c(10, 14)[group], 2),
      sex = factor(ifelse(runif(n) < 0.9, c("f", "m")[group], "m")), visits = rpois(n, c(2, 6)[group]),
      site = sample(c("a", "b"), n, TRUE), seen = runif(n) < c(0.2, 0.7)[group], stringsAsFactors = FALSE
    )
  })
}

four_blocks <- function(...) {
  obs_product(
    size = obs_gaussian(columns = c("len", "mass"), ...), obs_categorical(columns = c("sex", "site")),
    obs_poisson(columns = "visits"), obs_bernoulli(columns = "seen")
  )
}

test_that("evidence of hard and soft responsibilities is the sum of what quadrature gave", {
  fit <- bnp_mixture(six, four, one, quiet())
  expect_equal(elbo(fit), -58.03220144, tolerance = 1e-9)
  data <- as_mixture_data(six, fit$model$obs)
  e <- engine_contract(as_engine_data(data), fit$model, cbind(c(0.9, 0.1, 0.5, 0.7, 0.2, 1)))
  expect_equal(e$evidence + sum(c(0.9, 0.1, 0.5, 0.7, 0.2, 1) * e$log_base), -34.99206459, tolerance = 1e-9)
  diagonal <- four
  diagonal$blocks$gaussian <- gaussian("diagonal", df = 3)
  expect_equal(elbo(bnp_mixture(six, diagonal, one, quiet())), -57.26780109, tolerance = 1e-9)
})

# Of n things into sets, as rows of labels.
partitions <- function(n) {
  if (n == 1L) return(matrix(1L))
  before <- partitions(n - 1L)
  do.call(rbind, lapply(seq_len(nrow(before)), function(i) {
    next_label <- seq_len(max(before[i, ]) + 1L)
    cbind(before[rep(i, length(next_label)), , drop = FALSE], next_label)
  }))
}

test_that("no bound is above the evidence of all partitions of six rows", {
  fit <- bnp_mixture(six, four, one, quiet())
  obs <- fit$model$obs
  all <- partitions(6L)
  resp <- apply(all, 1, function(labels) vapply(1:6, function(k) 1 * (labels == k), numeric(6)), simplify = FALSE)
  e <- engine_contract(as_engine_data(as_mixture_data(six, obs)), fit$model, do.call(cbind, resp))
  evidence <- rowSums(matrix(e$evidence, ncol = 6, byrow = TRUE))
  log_prior <- apply(all, 1, function(labels) {
    n <- tabulate(labels)
    sum(lgamma(n)) - lgamma(7) # concentration 1
  })
  exact <- log(sum(exp(evidence + log_prior))) + sum(e$log_base)
  expect_equal(exact, -47.15041795, tolerance = 1e-9)
  for (case in list(list(c(1, 1, 2, 2, 2, 1), -48.80891044), list(rep(1, 6), -59.97811159))) {
    bound <- bnp_mixture(six, four, start = case[[1]], control = quiet(moves = FALSE, tol = 1e-12))
    expect_equal(elbo(bound), case[[2]], tolerance = 1e-8)
    expect_lt(elbo(bound), exact)
  }
  expect_lt(elbo(bnp_mixture(six, four, control = quiet(seed = 1))), exact)
})

test_that("a product is the sum of its blocks at the same responsibilities, in any order of blocks and columns", {
  x <- mixed(60)
  resp <- withr::with_seed(2, matrix(rexp(180), 60))
  resp <- resp / rowSums(resp)
  data_term <- function(x, obs) {
    data <- as_mixture_data(x, obs)
    model <- list(obs = resolve_obs(obs, data), prior = list(family = "dp", concentration = 1))
    engine_elbo_of(as_engine_data(data), model, resp)[["data"]]
  }
  blocks <- list(
    obs_gaussian(columns = c("len", "mass")), obs_categorical(columns = c("sex", "site")),
    obs_poisson(columns = "visits"), obs_bernoulli(columns = "seen")
  )
  sum_of_blocks <- sum(vapply(blocks, function(block) data_term(x[block$columns], block), 1))
  for (order in list(1:4, 4:1, c(2, 4, 1, 3))) {
    product <- do.call(obs_product, blocks[order])
    expect_equal(data_term(x, product), sum_of_blocks, tolerance = 1e-12)
    expect_equal(data_term(x[c(3, 6, 1, 5, 4, 2)], product), sum_of_blocks, tolerance = 1e-12)
  }
  expect_equal(
    data_term(cbind(x, constant = factor("a")), obs_product(
      blocks[[1]], obs_categorical(columns = c("sex", "site", "constant")), blocks[[3]], blocks[[4]]
    )), sum_of_blocks, tolerance = 1e-12
  )
})

test_that("a product of one block is the block, move by move", {
  x <- mixed(80)
  for (block in list(obs_gaussian(), obs_gaussian("diagonal"), obs_poisson(columns = "visits"))) {
    own <- if (is.null(block$columns)) x[c("len", "mass")] else x["visits"]
    alone <- bnp_mixture(own, block, control = quiet(seed = 3))
    product <- bnp_mixture(own, obs_product(block), control = quiet(seed = 3))
    expect_identical(elbo_trace(product)[-7][1:6], elbo_trace(alone)[-7][1:6])
    expect_identical(fitted(product), fitted(alone))
  }
  plain <- bnp_mixture(x["sex"], control = quiet(seed = 3))
  expect_equal(elbo(bnp_mixture(x["sex"], obs_product(obs_categorical()), control = quiet(seed = 3))), elbo(plain))
})

test_that("columns of a data frame go to blocks by their kind, which the fit says", {
  x <- mixed(80)
  fit <- bnp_mixture(x, control = quiet(seed = 1))
  expect_output(print(fit), "gaussian (len, mass, visits), categorical (sex, site, seen)", fixed = TRUE)
  expect_named(coef(fit), c("gaussian", "categorical", "weights"))
  expect_named(coef(fit)$categorical$prob, c("sex", "site", "seen"))
  expect_equal(dimnames(coef(fit)$gaussian$cov)[[1]], c("len", "mass", "visits"))
  expect_gt(adjusted_rand_index(fitted(fit), rep(1:2, 40)), 0.8)
  expect_identical(bnp_mixture(~., x, control = quiet(seed = 1))$elbo, fit$elbo)
  expect_identical(bnp_mixture(x, NULL, control = quiet(seed = 1))$elbo, fit$elbo)
  expect_identical(bnp_mixture(x[1:2], control = quiet(seed = 1))$model$obs$family, "gaussian_full")
  expect_identical(bnp_mixture(x[c(3, 5, 6)], control = quiet(seed = 1))$model$obs$family, "categorical")
  wide <- data.frame(withr::with_seed(1, matrix(rnorm(60 * 51), 60)), f = rep(c("a", "b"), 30))
  expect_message(fit <- bnp_mixture(wide, prior = one, control = quiet(seed = 1)), class = "bnpvi_message_diagonal")
  expect_identical(fit$model$obs$blocks$gaussian$family, "gaussian_diagonal")

  chain <- bnp_hmm(data.frame(x, who = rep(c("u", "v"), each = 40)), "who", control = quiet(seed = 1, max_laps = 30))
  expect_identical(chain$model$obs$columns, names(x))
  apart <- split(x, rep(1:2, each = 40))
  apart <- lapply(apart, function(part) transform(part, sex = as.character(sex)))
  chain <- bnp_hmm(apart, control = quiet(seed = 1, max_laps = 30))
  expect_length(predict(chain, apart), 80)
  expect_equal(nrow(predict(chain, apart, n.ahead = 2)), 4)
  topics <- bnp_topics(x, four_blocks(), id = rep(1:8, 10), control = quiet(seed = 1, max_laps = 10))
  expect_equal(dim(fitted(topics)), c(8L, topics$state$k))
})

test_that("all that reads a fit knows its blocks", {
  x <- mixed(80)
  fit <- bnp_mixture(x, four_blocks(), control = quiet(seed = 1, keep = "probabilities"))
  expect_named(coef(fit), c("size", "categorical", "poisson", "bernoulli", "weights"))
  expect_named(posterior_params(fit)$size, c("mean", "mean_strength", "df", "scale"))
  table <- tidy(fit, conf.int = TRUE)
  expect_named(table, c("cluster", "block", "variable", "level", "estimate", "conf.low", "conf.high"))
  expect_true(all(table$conf.low <= table$estimate & table$estimate <= table$conf.high))
  expect_setequal(table$variable, names(x))
  mass <- table$variable == "mass" & table$cluster == 1
  expect_equal(table$conf.low[mass], confint(fit, "size.mean[1,mass]")[[1]])
  expect_named(simulate(fit, seed = 1)$sim_1, c(names(x), ".class"))
  expect_identical(lapply(simulate(fit, seed = 1)$sim_1[names(x)], class), lapply(x, class))
  expect_equal(predict(fit, x[sample(6)], "responsibility"), fit$probabilities)
  expect_named(augment(fit, x), c(names(x), ".class", ".uncertainty"))
  expect_equal(nrow(as.data.frame(fit)), fit$state$k)
  expect_equal(glance(fit)$k, n_clusters(fit))
  expect_output(print(summary(fit)), "Columns by what they tell")
  expect_output(print(fit$model$obs), "size \\(len, mass\\): Gaussian")
  # Densities are products, and so are overlaps; divergences are sums.
  at <- x[1, ]
  alone <- function(block, columns) {
    own <- bnp_mixture(x[columns], block, prior = prior_dirichlet(fit$state$k), start = fit$probabilities,
                       control = quiet(moves = FALSE, max_laps = 1))
    cluster_divergence(own)
  }
  expect_equal(dim(cluster_divergence(fit)), rep(fit$state$k, 2))
  rate <- coef(fit)$poisson$rate
  p <- coef(fit)$bernoulli$prob
  prob <- coef(fit)$categorical$prob
  kl <- obs_divergence(
    obs_gaussian(), list(mean = coef(fit)$size$mean[1, ], cov = coef(fit)$size$cov[, , 1]),
    list(mean = coef(fit)$size$mean[2, ], cov = coef(fit)$size$cov[, , 2])
  ) + rate[1] * log(rate[1] / rate[2]) - rate[1] + rate[2] + p[1] * log(p[1] / p[2]) +
    (1 - p[1]) * log((1 - p[1]) / (1 - p[2])) + sum(vapply(prob, function(q) sum(q[1, ] * log(q[1, ] / q[2, ])), 1))
  expect_equal(cluster_divergence(fit)[1, 2], kl)
  overlap <- obs_overlap(
    obs_gaussian(), list(mean = coef(fit)$size$mean[1, ], cov = coef(fit)$size$cov[, , 1]),
    list(mean = coef(fit)$size$mean[2, ], cov = coef(fit)$size$cov[, , 2])
  ) * exp(-(sqrt(rate[1]) - sqrt(rate[2]))^2 / 2) * (sqrt(p[1] * p[2]) + sqrt((1 - p[1]) * (1 - p[2]))) *
    prod(vapply(prob, function(q) sum(sqrt(q[1, ] * q[2, ])), 1))
  expect_equal(cluster_overlap(fit)[1, 2], overlap)
  tree <- cluster_tree(fit, x)
  expect_s3_class(tree, "hclust")
  expect_equal(n_clusters(cut_fit(fit, x, 1)), 1)
  expect_equal(dim(coclustering(fit, x)), c(80L, 80L))
})

test_that("blocks with a mean known to be zero, of terms and with several exposures are fitted and read", {
  x <- mixed(60)
  x[c("len", "mass")] <- scale(x[c("len", "mass")])
  x$hours <- rep(c(1, 2, 4), 20)
  x <- cbind(x, a = rep(0:2, 20), b = rep(c(3, 1, 0), 20), c = 1)
  obs <- obs_product(
    obs_gaussian("zero_mean", columns = c("len", "mass")), obs_poisson(columns = "visits", exposure = "hours"),
    terms = obs_multinomial(columns = c("a", "b", "c")), obs_categorical(),
    obs_poisson(columns = "a2", exposure = "hours")
  )
  x$a2 <- x$a + 1L
  fit <- bnp_mixture(x, obs, control = quiet(seed = 1))
  expect_setequal(tidy(fit)$variable, setdiff(names(x), c("len", "mass", "hours")))
  expect_named(simulate(fit, seed = 1)$sim_1, c(names(x), ".class"))
  expect_identical(class(simulate(fit, seed = 1)$sim_1$a2), "integer")
  expect_equal(unique(simulate(fit, seed = 1)$sim_1$hours), mean(x$hours))
  expect_length(column_information(fit), ncol(x) - 1L)
  expect_output(print(fit), "poisson_1 \\(a2\\)")
  zero <- bnp_mixture(x[c("len", "mass")], obs_product(obs_gaussian("zero_mean")), control = quiet(seed = 1))
  expect_equal(nrow(tidy(zero, conf.int = TRUE)), 0)
  expect_equal(nrow(as.data.frame(zero)), zero$state$k)
  expect_length(bregman_kmeans(x, 2, seed = 1)$cluster, 60)
})

test_that("rows are simulated with the exposures that are asked for, by column where there are several", {
  x <- mixed(60)
  x$hours <- rep(c(1, 2, 4), 20)
  x$km <- rep(c(10, 30), 30)
  x$deer <- rpois(60, x$km / 5)
  once <- obs_product(
    obs_gaussian(columns = c("len", "mass")), obs_categorical(), obs_poisson(columns = "visits", exposure = "hours"),
    obs_poisson(columns = "deer", exposure = "hours")
  )
  fit <- bnp_mixture(x[names(x) != "km"], once, one, quiet())
  long <- rep(c(1, 10), 2000)
  for (exposure in list(long, list(hours = long), data.frame(hours = long))) {
    sim <- simulate(fit, seed = 1, n = 4000, exposure = exposure)$sim_1
    expect_identical(sim$hours, long)
    for (name in c("visits", "deer")) {
      expect_equal(mean(sim[[name]][long == 10]) / mean(sim[[name]][long == 1]), 10, tolerance = 0.1)
    }
  }
  expect_equal(simulate(fit, seed = 1, exposure = mean(x$hours)), simulate(fit, seed = 1))
  expect_equal(unique(simulate(fit, seed = 1, n = 3, exposure = 7)$sim_1$hours), 7)
  expect_bad(simulate(fit, exposure = 1:3), "exposure", "one number or one per row \\(60\\)")
  expect_bad(simulate(fit, exposure = -1), "exposure", "above 0")
  expect_bad(simulate(fit, exposure = "hours"), "exposure", "numbers")
  expect_bad(simulate(fit, exposure = list(days = 2)), "exposure", "days.*\n.*hours")
  expect_bad(simulate(fit, exposure = list(2)), "exposure", "names")

  apart <- once
  apart$blocks[[4]] <- obs_poisson(columns = "deer", exposure = "km")
  fit <- bnp_mixture(x, apart, one, quiet())
  sim <- simulate(fit, seed = 1, n = 4000, exposure = data.frame(km = 20 * long, hours = rev(long)))$sim_1
  expect_identical(sim[c("hours", "km")], data.frame(hours = rev(long), km = 20 * long))
  expect_equal(mean(sim$deer[long == 10]) / mean(sim$deer[long == 1]), 10, tolerance = 0.1)
  expect_equal(mean(sim$visits[long == 1]) / mean(sim$visits[long == 10]), 10, tolerance = 0.1)
  sim <- simulate(fit, seed = 1, n = 5, exposure = list(km = 3))$sim_1
  expect_equal(sim$hours, rep(mean(x$hours), 5))
  expect_equal(sim$km, rep(3, 5))
  expect_bad(simulate(fit, exposure = 2), "exposure", "list or a data frame.*\n.*hours.*km")
  chain <- bnp_hmm(x, obs = apart, prior = prior_hmm(1), control = quiet(seed = 1))
  expect_equal(simulate(chain, seed = 1, lengths = c(2, 3), exposure = list(hours = 1:5))$sim_1$hours, as.double(1:5))
  without <- bnp_mixture(x, prior = one, control = quiet())
  expect_bad(simulate(without, exposure = 2), "argument", "no meaning.*\n.*poisson")
})

test_that("fits of the same columns compare, whatever the blocks that have densities for the same ones", {
  x <- mixed(80)
  full <- bnp_mixture(x, four_blocks(), control = quiet(seed = 1))
  diagonal <- four_blocks()
  diagonal$blocks$size <- obs_gaussian("diagonal", columns = c("len", "mass"))
  diagonal <- bnp_mixture(x, diagonal, control = quiet(seed = 1))
  expect_equal(compare_fits(full, diagonal)$elbo, c(elbo(full), elbo(diagonal)))
  by_kind <- bnp_mixture(x, control = quiet(seed = 1)) # counts as real numbers
  expect_bad(compare_fits(full, by_kind), "not_comparable", "densities of")
  codes <- bnp_mixture(x[c("site", "seen")], control = quiet(seed = 1))
  ones <- obs_product(obs_categorical(columns = "site"), obs_bernoulli(columns = "seen"))
  ones <- bnp_mixture(x[c("site", "seen")], ones, control = quiet(seed = 1))
  expect_s3_class(compare_fits(codes, ones), "bnp_comparison")
  numbers <- bnp_mixture(x[1:2], control = quiet(seed = 1))
  expect_bad(compare_fits(full, numbers), "not_comparable", "different data")
  product <- bnp_mixture(x[1:2], obs_product(obs_gaussian()), control = quiet(seed = 1))
  expect_s3_class(compare_fits(numbers, product), "bnp_comparison")
})

test_that("priors of blocks are matched by name and learned, and a fit goes on from where another ended", {
  x <- mixed(120)
  named <- four_blocks(mean = c(mass = 12, len = 1))
  expect_equal(bnp_mixture(x, named, one, quiet())$model$obs$blocks$size$mean, c(1, 12))
  learning <- four_blocks(learn = TRUE)
  fit <- bnp_mixture(x, learning, control = quiet(seed = 1))
  expect_true("hyperprior" %in% names(elbo(fit, TRUE)))
  expect_output(print(fit), "Learned prior: size.mean_strength")
  expect_false(identical(fit$model$obs$blocks$size$df, 4))
  expect_named(glance(fit)[7:8], c("prior.size.mean_strength", "prior.size.df"))
  again <- bnp_mixture(x, learning, control = quiet(seed = 1), start = fit)
  expect_gte(elbo(again), elbo(fit) - 1e-8)
  expect_equal(again$model$obs$blocks$size$df, fit$model$obs$blocks$size$df, tolerance = 0.05)
  expect_bad(
    bnp_mixture(x, learning, control = quiet("stochastic")), "argument", "learn = TRUE"
  )
  moved <- bnp_mixture(
    transform(x, len = len * 1000 + 7), four_blocks(), control = quiet(seed = 1, max_laps = 60), start = fitted(fit)
  )
  from <- bnp_mixture(x, four_blocks(), control = quiet(seed = 1), start = fitted(fit))
  on <- bnp_mixture(x[41:120, ], four_blocks(), start = from, control = quiet(seed = 1, max_laps = 60))
  expect_gte(n_clusters(on), 2)
  expect_equal(n_clusters(moved), n_clusters(from))
  other <- transform(x, site = sub("b", "c", site))
  expect_bad(bnp_mixture(other, four_blocks(), start = from, control = quiet()), "start", "same levels")
  expect_bad(bnp_mixture(x, control = quiet(), start = from), "start", "blocks")
})

test_that("results do not depend on threads, and stochastic fits of a product learn", {
  x <- mixed(3000)
  fits <- lapply(1:2, function(threads) {
    bnp_mixture(x, four_blocks(), control = quiet(seed = 1, batches = 3, threads = threads))
  })
  same <- c("state", "elbo", "labels", "sizes")
  expect_identical(fits[[1]][same], fits[[2]][same])
  expect_gt(adjusted_rand_index(fitted(fits[[1]]), rep(1:2, 1500)), 0.8)
  sparse <- bnp_mixture(x, four_blocks(), control = quiet(seed = 1, k_init = 6, sparsity = 2))
  expect_lt(abs(elbo(sparse) / elbo(fits[[1]]) - 1), 0.01)
  stochastic <- bnp_mixture(x, four_blocks(), prior_dirichlet(2), quiet("stochastic", seed = 1, batches = 10))
  expect_gt(elbo(stochastic), elbo(bnp_mixture(x, four_blocks(), one, quiet())))
})

test_that("rows far out in a block of numbers go where the numbers say, as without the other blocks", {
  x <- mixed(80)
  fit <- bnp_mixture(x, four_blocks(), control = quiet(seed = 1))
  for (far in c(1e20, 1e150, 1e200)) {
    new <- x[1:2, ]
    new$len <- c(1, -1) * far
    prob <- predict(fit, new, "prob")
    expect_true(all(is.finite(prob)))
    expect_true(all(is.finite(predict(fit, new, "logdensity"))))
    turned <- transform(new, sex = rev(sex), site = rev(site), visits = rev(visits))
    expect_equal(predict(fit, turned, "prob"), prob)
  }
  expect_lt(diff(predict(fit, transform(x[1:2, ], len = c(1e100, 1e200)), "logdensity")), 0)

  # Of one cluster, densities of blocks add up, whichever of them is far out.
  for (covariance in c("diagonal", "spherical", "tied", "tied_diagonal", "tied_spherical")) {
    blocks <- list(
      obs_gaussian(columns = "len", learn = FALSE), obs_gaussian(covariance, columns = "mass", learn = FALSE),
      obs_poisson(columns = "visits"), obs_categorical(columns = "sex")
    )
    all <- bnp_mixture(x, do.call(obs_product, c(blocks, list(obs_categorical()))), one, quiet())
    apart <- lapply(c(blocks, list(obs_categorical(columns = c("site", "seen")))), function(block) {
      bnp_mixture(x[block$columns], block, one, quiet())
    })
    for (far in list(c(1, 1), c(1e160, 1), c(1, 1e140), c(1e180, 1e140))) {
      new <- transform(x[1:6, ], len = len * far[1], mass = mass * far[2])
      sum_of <- Reduce(`+`, lapply(apart, function(fit) predict(fit, new, "logdensity")))
      expect_equal(predict(all, new, "logdensity"), sum_of, tolerance = 1e-10, label = covariance)
    }
  }
})

test_that("factors in two blocks are what they are in one under a given prior", {
  x <- mixed(80)
  one_block <- obs_product(obs_gaussian(columns = c("len", "mass", "visits")), obs_categorical("perks"))
  two_blocks <- obs_product(
    a = obs_categorical("perks", c("site", "seen")), obs_gaussian(), b = obs_categorical("perks", "sex")
  )
  for (sparsity in list(NULL, 2)) {
    control <- quiet(seed = 1, moves = FALSE, sparsity = sparsity)
    one_fit <- bnp_mixture(x, one_block, control = control, start = rep(1:4, 20))
    two_fit <- bnp_mixture(x, two_blocks, control = control, start = rep(1:4, 20))
    expect_equal(elbo(two_fit), elbo(one_fit), tolerance = 1e-10)
    expect_identical(fitted(two_fit), fitted(one_fit))
  }
})

test_that("blocks and columns that do not fit each other are refused by name, place and remedy", {
  x <- mixed(40)
  refused <- function(obs, class, ...) expect_bad(bnp_mixture(x, obs, control = quiet()), class, ...)
  expect_bad(obs_product(), "argument", "needs")
  expect_bad(obs_product(obs_ar()), "argument", "no block")
  expect_bad(obs_product(obs_product(obs_gaussian())), "argument", "no block")
  expect_bad(obs_product("gaussian"), "argument", "..1. must be made by")
  expect_bad(obs_product(size = 3), "argument", "size")
  expect_bad(obs_product(a = obs_gaussian(columns = "len"), a = obs_categorical()), "argument", "different names")
  expect_bad(obs_product(weights = obs_gaussian(), obs_categorical()), "argument", "weights")
  expect_bad(obs_product(obs_poisson(exposure = 1:3)), "exposure", "name of a column")
  refused(obs_product(obs_gaussian(columns = c("len", "width")), obs_categorical()), "columns", "width.*len")
  twice <- obs_product(obs_gaussian(columns = c("len", "mass")), obs_poisson(columns = "mass"))
  refused(twice, "columns", "mass.*several")
  refused(obs_product(obs_gaussian(columns = "len"), obs_categorical()), "columns", "No block takes.*mass.*visits")
  refused(obs_product(obs_gaussian(), obs_poisson(), obs_categorical()), "columns", "poisson.*no columns left")
  refused(obs_product(obs_gaussian(columns = "sex"), obs_gaussian(), obs_categorical()), "not_numeric", "sex")
  refused(
    obs_product(obs_poisson(columns = "len"), obs_gaussian(), obs_categorical()), "not_counts", "\\(1, len\\)|len"
  )
  negative <- obs_product(obs_poisson(columns = "visits", exposure = "len"), obs_gaussian(), obs_categorical())
  refused(negative, "exposure", "len")
  x$when <- Sys.time()
  refused(NULL, "not_numeric", "when.*POSIXct")
  x$when <- I(as.list(seq_len(40)))
  refused(NULL, "not_numeric", "when")
  x$when <- c(NA, 2:40)
  refused(NULL, "not_finite", "\\(1, when\\)")
  x$when <- factor(c(NA, 2:40))
  refused(NULL, "not_finite", "\\(1, when\\)")
  x$when <- NULL
  refused(obs_gaussian(), "not_numeric", "sex.*obs_categorical")
  fit <- bnp_mixture(x, control = quiet(seed = 1))
  expect_bad(predict(fit, x[-2]), "newdata_columns", "mass")
  expect_bad(predict(fit, replace(x, 1, "a")), "not_numeric", "len")
  expect_bad(predict(fit, replace(x, "sex", list(list(1)))), "not_numeric", "sex")
  expect_length(predict(fit, x[0, ]), 0)
})

test_that("profiles order the columns by what they tell of the clusters", {
  x <- data.frame(mixed(400), noise = withr::with_seed(3, rnorm(400)))
  fit <- bnp_mixture(x, control = quiet(seed = 1), start = rep(1:2, 200))
  expect_equal(n_clusters(fit), 2)
  information <- column_information(fit)
  expect_setequal(names(information), names(x))
  expect_false(is.unsorted(rev(information)))
  expect_true(all(information >= -1e-12 & information <= log(2)))
  expect_setequal(names(utils::tail(information, 2)), c("site", "noise"))
  # By quadrature, and by the definition.
  w <- cluster_sizes(fit) / 400
  m <- coef(fit)$gaussian$mean[, "len"]
  s <- sqrt(coef(fit)$gaussian$cov["len", "len", ])
  exact <- sum(vapply(1:2, function(k) {
    w[k] * stats::integrate(function(v) {
      stats::dnorm(v, m[k], s[k]) * (stats::dnorm(v, m[k], s[k], TRUE) -
        log(w[1] * stats::dnorm(v, m[1], s[1]) + w[2] * stats::dnorm(v, m[2], s[2])))
    }, m[k] - 12 * s[k], m[k] + 12 * s[k])$value
  }, 1))
  expect_equal(information[["len"]], exact, tolerance = 0.01)
  p <- coef(fit)$categorical$prob$sex
  expect_equal(information[["sex"]], sum(w * p * log(p / rep(colSums(w * p), each = 2))))
  withr::local_pdf(NULL)
  expect_silent(plot(fit, "profile", main = "Title"))
  expect_silent(plot(fit))
  counts <- bnp_mixture(as.matrix(x["visits"]), obs_poisson(), control = quiet(seed = 1))
  expect_silent(plot(counts, "profile"))
  chain <- bnp_hmm(x, control = quiet(seed = 1, max_laps = 20))
  expect_silent(plot(chain, "profile"))
  dynamics <- suppressWarnings(bnp_mixture(faithful, obs_ar(), control = quiet(seed = 1, max_laps = 3)))
  expect_bad(plot(dynamics, "profile"), "argument", "profile")
  skip_if_not_installed("ggplot2")
  for (shown in list(fit, counts, chain)) {
    drawn <- ggplot2::ggplot_build(ggplot2::autoplot(shown, "profile"))
    expect_gt(length(drawn$data), 1)
  }
})

test_that("penguins are told apart by species and sex, where numbers, sex and island are given", {
  skip_if_not_installed("palmerpenguins")
  birds <- stats::na.omit(as.data.frame(palmerpenguins::penguins))
  x <- cbind(as.data.frame(scale(birds[3:6])), birds[c("sex", "island")])
  kind <- paste(birds$species, birds$sex)
  given <- obs_gaussian(scale = 333^(-1 / 4), learn = FALSE, rounding = 0)
  model <- obs_product(given, obs_categorical(1 / 3))
  independent <- obs_product(obs_gaussian("diagonal", learn = FALSE, rounding = 0), obs_categorical(1 / 3))
  for (seed in 1:3) {
    fit <- bnp_mixture(x, model, control = quiet(seed = seed))
    expect_equal(n_clusters(fit), 6)
    expect_gt(adjusted_rand_index(fitted(fit), kind), 0.97)
    expect_equal(elbo(fit), -1624.281, tolerance = 1e-6)
    numbers <- bnp_mixture(x[1:4], given, control = quiet(seed = seed))
    expect_equal(elbo(numbers), -1288.219, tolerance = 1e-6)
    expect_lt(elbo(bnp_mixture(x, independent, control = quiet(seed = seed))), elbo(fit))
  }
})
