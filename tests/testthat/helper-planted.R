# Small data with planted clusters for every registered observation model, with the default prior; `obs` as the user
# gives it, `model` as the engine gets it.

planted_case <- function(name, obs, x, cluster, sparse = FALSE, time = NULL) {
  data <- as_mixture_data(x, obs)
  if (!is.null(time)) data <- with_times(data, list(time = time), "equal", FALSE, "x", NULL)
  model <- list(obs = resolve_obs(obs, data), prior = list(family = "dp", concentration = 1))
  if (sparse) data <- c(sparse_engine_data(x), list(exposure = data$exposure))
  list(name = name, obs = obs, model = model, data = as_engine_data(data), x = x, cluster = cluster, time = time)
}

# A logistic or negative binomial regression of a matrix: the first columns are the responses.
glm_of_rows <- function(family, responses, ...) {
  obs <- obs_regression(family = family, ...)
  obs$responses <- responses
  obs
}

planted_points <- function(n, spread = 5) {
  cluster <- rep(1:4, length.out = n)
  centre <- spread * cbind(c(0, 1, 0, -1), c(1, 0, -1, 0))
  list(x = centre[cluster, ] + matrix(rnorm(2 * n), n), cluster = cluster)
}

# Four clusters that turn around the origin as time passes.
planted_paths <- function(n, spread = 5) {
  cluster <- rep(1:4, length.out = n)
  time <- sample(6, n, TRUE)
  angle <- cluster * pi / 2 + time / 8
  list(x = spread * cbind(cos(angle), sin(angle)) + matrix(rnorm(2 * n), n), cluster = cluster, time = time)
}

planted_series <- function(n) {
  cluster <- rep(1:3, each = n / 3)
  x <- matrix(rnorm(2), n, 2, byrow = TRUE)
  for (i in 2:n) x[i, ] <- c(0.95, -0.9, 0.1)[cluster[i]] * x[i - 1, ] + c(0.1, 0.1, 2)[cluster[i]] * rnorm(2)
  list(x = x, cluster = cluster)
}

planted_cases <- function() {
  withr::with_seed(42, {
    points <- planted_points(240)
    edges <- rep(1:3, each = 100)
    scatter <- matrix(rnorm(900), 300) * rbind(c(5, 1, 0.2), c(0.2, 5, 1), c(1, 0.2, 5))[edges, ]
    terms <- rep(1:4, each = 50)
    prob <- kronecker(diag(4), t(rep(1, 3))) + 0.05
    counts <- t(vapply(terms, function(k) stats::rmultinom(1, 20, prob[k, ])[, 1], double(12)))
    binary <- 1 * (matrix(runif(200 * 12), 200) < pmin(prob, 0.9)[terms, ])
    series <- planted_series(300)
    hours <- exp(rnorm(200) / 2)
    rate <- 6 * prob[terms, ]
    events <- matrix(as.double(rpois(2400, rate)), 200)
    over_hours <- matrix(as.double(rpois(2400, hours * rate)), 200)
    waits <- matrix(rgamma(2400, 2, rate), 200)
    groups <- rep(1:3, each = 60)
    event <- rexp(180, c(1, 12, 150)[groups])
    until <- rexp(180, c(0.3, 4, 50)[groups])
    followed <- cbind(pmin(event, until), 1 * (event <= until))
    share <- pmin(prob, 0.9)[terms, c(1, 4, 7, 10)]
    trials <- matrix(as.double(rpois(800, 12)), 200)
    hits <- matrix(as.double(rbinom(800, trials, share)), 200)
    tries <- cbind(hits, trials - hits)[, c(1, 5, 2, 6, 3, 7, 4, 8)]
    lines <- rep(1:3, each = 60)
    at <- runif(180, -3, 3)
    on_lines <- cbind(c(4, 0, -4)[lines] + c(-2, 1, 3)[lines] * at + rnorm(180) / 2, at, deparse.level = 0)
    profile <- rbind(
      c(1, 1, 2, 2, 3, 3, 1, 2), c(2, 3, 1, 2, 1, 2, 3, 1), c(3, 2, 3, 1, 2, 1, 2, 3), c(1, 3, 3, 3, 1, 3, 2, 1)
    )
    levels <- ifelse(matrix(runif(1600), 200) < 0.85, profile[terms, ], sample(3, 1600, TRUE))
    mixed <- cbind(
      planted_points(200, 2)$x[rank(terms, ties.method = "first"), ], levels[, 1:4], events[, c(1, 4, 7, 10)],
      1 + (levels[, 5] > 1)
    )
    colnames(mixed) <- paste0("col", seq_len(ncol(mixed)))
    lasted <- rexp(200, c(0.5, 5, 50, 500)[terms])
    ended <- rexp(200, c(0.1, 1, 10, 100)[terms])
    with_pairs <- cbind(mixed[, 1:2], tries, pmin(lasted, ended), 1 * (lasted <= ended), levels[, 1:3])
    colnames(with_pairs) <- paste0("col", seq_len(ncol(with_pairs)))
    with_lines <- cbind(on_lines, profile[lines, 1:3], rpois(180, c(2, 6, 15)[lines]))
    shuffled <- cbind(runif(180) < 0.2, runif(180) < 0.2, runif(180) < 0.2)
    with_lines[, 3:5][shuffled] <- sample(3, sum(shuffled), TRUE)
    colnames(with_lines) <- c("y", "at", "f", "g", "h", "n")
    along <- planted_paths(240)
    odds <- c(1, -2, 3)[lines] + c(-1.5, 0.5, 1)[lines] * at
    asked <- as.double(10 + rpois(180, 5))
    said <- as.double(rbinom(180, asked, stats::plogis(odds)))
    answers <- cbind(yes = said, no = asked - said, at = at)
    seen <- cbind(n = as.double(stats::rnbinom(180, size = 10, mu = exp(1.5 + 0.6 * odds))), at = at)
    list(
      planted_case("gaussian_full", obs_gaussian(learn = FALSE), points$x, points$cluster),
      planted_case("gaussian_diagonal", obs_gaussian("diagonal", learn = FALSE), points$x, points$cluster),
      planted_case("gaussian_zero_mean", obs_gaussian("zero_mean", learn = FALSE), scatter, edges),
      planted_case("ar", obs_ar(), series$x, series$cluster),
      planted_case("multinomial", obs_multinomial(0.1), counts, terms),
      planted_case("multinomial, sparse", obs_multinomial(0.1), counts, terms, sparse = TRUE),
      planted_case("bernoulli", obs_bernoulli(learn = FALSE), binary, terms),
      planted_case("poisson", obs_poisson(), events, terms),
      planted_case("poisson, exposure", obs_poisson(exposure = hours), over_hours, terms),
      planted_case("poisson, exposure, sparse", obs_poisson(exposure = hours), over_hours, terms, sparse = TRUE),
      planted_case("waiting_time", obs_gamma(2), waits, terms),
      planted_case("censored", obs_survival(), followed, groups),
      planted_case("binomial", obs_binomial(), tries, terms),
      planted_case("gaussian_spherical", obs_gaussian("spherical", learn = FALSE), points$x, points$cluster),
      planted_case("gaussian_tied_spherical", obs_gaussian("tied_spherical"), points$x, points$cluster),
      planted_case("gaussian_tied_diagonal", obs_gaussian("tied_diagonal"), points$x, points$cluster),
      planted_case("gaussian_tied", obs_gaussian("tied"), points$x, points$cluster),
      planted_case("regression", obs_regression(learn = FALSE), on_lines, lines),
      planted_case("gaussian_tied, known", obs_gaussian("tied", variance = 1), points$x, points$cluster),
      planted_case("categorical", obs_categorical("perks"), levels, terms),
      planted_case("product", obs_product(
        obs_gaussian(columns = c("col1", "col2"), learn = FALSE),
        obs_categorical("perks", columns = c("col11", paste0("col", 3:6))),
        obs_poisson(columns = paste0("col", 7:10))
      ), mixed, terms),
      planted_case("product with pairs", obs_product(
        obs_survival(columns = c("col11", "col12")), obs_binomial(columns = paste0("col", 3:10)),
        obs_gaussian(columns = c("col1", "col2"), learn = FALSE),
        obs_categorical("perks", columns = paste0("col", 13:15))
      ), with_pairs, terms),
      planted_case("product with a regression", obs_product(
        obs_categorical("perks", columns = c("f", "g", "h")), obs_regression(formula = y ~ at, learn = FALSE),
        obs_poisson(columns = "n")
      ), with_lines, lines),
      planted_case("gaussian_full, drifting", obs_gaussian(drift = 0.2), along$x, along$cluster, time = along$time),
      planted_case(
        "gaussian_diagonal, drifting", obs_gaussian("diagonal", drift = 0.2), along$x, along$cluster, time = along$time
      ),
      planted_case("lognormal_full", obs_lognormal(learn = FALSE), exp(points$x / 3), points$cluster),
      planted_case("lognormal_diagonal", obs_lognormal("diagonal", learn = FALSE), exp(points$x / 3), points$cluster),
      planted_case("shaped_gamma", obs_gamma(), waits[, c(1, 4, 7, 10)], terms),
      planted_case("von_mises", obs_vonmises(), wrapped(points$x / 2), points$cluster),
      planted_case(
        "shaped_gamma, zeros", obs_gamma(zeros = TRUE), waits[, c(1, 4, 7, 10)] * (binary[, 1:4] < 1), terms
      ),
      planted_case("negative_binomial", obs_negbinomial(), events[, c(1, 4, 7, 10)], terms),
      planted_case("weibull", obs_weibull(), waits[, c(1, 4, 7, 10)], terms),
      planted_case("weibull, zeros", obs_weibull(zeros = TRUE), waits[, c(1, 4, 7, 10)] * (binary[, 1:4] < 1), terms),
      planted_case("censored_weibull", obs_survival(shape = NULL), followed, groups),
      planted_case("student_full", obs_student(), points$x, points$cluster),
      planted_case("student_diagonal", obs_student("diagonal"), points$x, points$cluster),
      planted_case("regression, tails", obs_regression(tails = NULL), on_lines, lines),
      planted_case("ar, tails", obs_ar(tails = NULL), series$x, series$cluster),
      planted_case("yes and no", glm_of_rows("binomial", 2L), answers, lines),
      planted_case("counts of rows", glm_of_rows("negbinomial", 1L, size = c(2, 10)), seen, lines)
    )
  })
}

# A fit by the engine itself, with a report of its audit when asked for.
engine_run <- function(case, ..., prior = case$model$prior, start = NULL, audit = FALSE, progress = NULL) {
  control <- resolve_control(bnp_control(..., verbose = FALSE), case$model$obs, prior, case$data$n, case$data$n, start)
  control$audit <- audit
  engine_fit(case$data, list(obs = case$model$obs, prior = prior), control, start, progress)
}

relative_gains <- function(fit) diff(fit$trace$elbo) / (1 + abs(fit$elbo))

# Of an audited run: every state equals its recomputation, and none falls.
expect_audited <- function(fit) {
  audit <- fit$audit
  expect_gt(audit[["checks"]], nrow(fit$trace))
  for (what in c("elbo", "statistics", "entropy", "sums")) expect_lte(audit[[what]], 1e-8, label = what)
  expect_gte(audit[["smallest_gain"]], -1e-9)
  expect_gte(min(0, relative_gains(fit)), -1e-9)
}

# The registered models of single rows with features that all clusters share. Rows with random effects are sums over
# individuals, with laws of their own (test-growth-mixtures.R, test-random-effects.R). Rows with tangents have bounds
# for evidence (test-glm.R), but are planted, too.
models_of_rows <- function() {
  setdiff(names(obs_models), c("random_effects", "binomial_regression", "negbinomial_regression"))
}
