# Simulation-based calibration (Talts and others 2018) of samplers of mixtures whose clusters have shapes: labels and
# data are drawn from the prior and the model, and their posterior by a chain. The rank of each truth among 19 draws is
# then uniform. Three minutes in all.

long <- longest_tests()

# of_clusters(k): parameters of k clusters from the prior, a list of vectors; values(q), from clusters.
calibrated <- function(obs, of_clusters, values, sets, sweeps = 4) {
  n <- 8L
  ranks <- withr::with_seed(4, vapply(seq_len(sets), function(set) {
    concentration <- rgamma(1, 2, 1)
    z <- 1L
    for (i in 2:n) z <- c(z, sample.int(max(z) + 1L, 1L, prob = c(tabulate(z), concentration)))
    x <- values(lapply(of_clusters(max(z)), `[`, z))
    first <- list(labels = rep(1L, n), concentration = 2, sweeps = 0, number = 1)
    model <- list(obs = obs, prior = list(family = "dp", concentration = c(2, 1)))
    records <- engine_sample(engine_data(cbind(x)), model, list(first), sweeps * 23, 0, 0, 1L, set, 1L)[[1L]]$records
    truth <- c(n_clusters = max(z), largest = max(tabulate(z)), concentration = concentration)
    records <- records[sweeps * (4 + seq_len(19)), names(truth)]
    truth <- rep(truth, each = 19)
    below <- colSums(records < truth)
    below + floor(runif(length(below)) * (1 + colSums(records == truth)))
  }, double(3)))
  for (kind in rownames(ranks)) {
    counts <- tabulate(ranks[kind, ] %/% 4 + 1, 5)
    p <- suppressWarnings(stats::chisq.test(counts))$p.value
    expect_gt(p, 0.001, label = paste(obs$family, kind))
  }
}

prior <- gamma_prior(4, 2)
shape <- function(k) rgamma(k, 4, 2)
models <- list(
  shaped_gamma = list(
    obs = list(family = "shaped_gamma", shape = prior, a = 2, b = 3),
    of_clusters = function(k) {
      s <- shape(k)
      list(s = s, rate = rgamma(k, 2, 3 / s))
    },
    values = function(q) rgamma(length(q$s), q$s, q$rate)
  ),
  `shaped_gamma with zeros` = list(
    obs = list(family = "shaped_gamma", shape = prior, a = 2, b = 3, zeros = TRUE),
    of_clusters = function(k) {
      s <- shape(k)
      list(s = s, rate = rgamma(k, 2, 3 / s), zero = rbeta(k, 0.5, 0.5))
    },
    values = function(q) rgamma(length(q$s), q$s, q$rate) * (runif(length(q$s)) > q$zero)
  ),
  weibull = list(
    obs = list(
      family = "weibull", shape = prior, a = 2, b = 3, log_unit = 0.5, most = 10, points = 64L, known = FALSE
    ),
    of_clusters = function(k) {
      grid <- 0.1 * 100^(0:63 / 63)
      s <- sample(grid, k, TRUE, prob = grid * dgamma(grid, 4, 2))
      list(s = s, rate = rgamma(k, 2 / s, 2 / s * 1.5^s))
    },
    values = function(q) (rexp(length(q$s)) / q$rate)^(1 / q$s)
  ),
  von_mises = list(
    obs = list(family = "von_mises", concentration = prior, d = 1, known = FALSE),
    of_clusters = function(k) list(s = shape(k), direction = runif(k, -pi, pi)),
    values = function(q) {
      wrapped(q$direction + vapply(q$s, function(concentration) draw_angles(1L, concentration), 1))
    }
  ),
  negative_binomial = list(
    obs = list(family = "negative_binomial", size = prior, a = 2, mean = 3, known = FALSE, exposed = FALSE),
    of_clusters = function(k) {
      s <- shape(k)
      list(s = s, share = rbeta(k, 2, 1 + 2 * s / 3))
    },
    values = function(q) as.double(rnbinom(length(q$s), q$s, 1 - q$share))
  )
)

# Rows of two columns, each with a mean and a precision; a row has one scale.
models$student_diagonal <- list(
  obs = list(
    family = "student_diagonal", mean = c(0, 1), mean_strength = 0.5, df = 4, scale = c(2, 3), centre = c(0, 0),
    unit = c(1, 1), tails = c(4, 2)
  ),
  of_clusters = function(k) {
    precision <- c(rgamma(k, 2, 1), rgamma(k, 2, 1.5))
    columns <- list(nu = shape(k), a = precision[seq_len(k)], b = precision[k + seq_len(k)])
    c(columns, list(mean_a = rnorm(k, 0, 1 / sqrt(0.5 * columns$a)), mean_b = rnorm(k, 1, 1 / sqrt(0.5 * columns$b))))
  },
  values = function(q) {
    root <- sqrt(rgamma(length(q$nu), q$nu / 2, q$nu / 2))
    cbind(rnorm(root, q$mean_a, 1 / sqrt(q$a) / root), rnorm(root, q$mean_b, 1 / sqrt(q$b) / root))
  },
  sweeps = 10
)
# A line through 0: rows of a response and a covariate.
models$`regression, tails` <- list(
  obs = list(
    family = "regression", responses = 1L, intercept = FALSE, df = 4, scale = matrix(2), coef_mean = matrix(1),
    coef_precision = matrix(0.5), scaled_precision = matrix(0.5), origin = 0, spread = 1, centre = c(0, 0),
    unit = c(1, 1), tails = c(4, 2)
  ),
  of_clusters = function(k) {
    precision <- rgamma(k, 2, 1)
    list(nu = shape(k), precision = precision, slope = rnorm(k, 1, 1 / sqrt(0.5 * precision)))
  },
  values = function(q) {
    z <- rnorm(length(q$nu), 0, 2)
    cbind(rnorm(z, q$slope * z, 1 / sqrt(q$precision * rgamma(length(z), q$nu / 2, q$nu / 2))), z)
  },
  sweeps = 10
)

for (name in names(models)) {
  test_that(paste0(name, ": truths are anywhere among their posterior draws"), {
    skip_if_not(long, "long: set BNPVI_LONG_TESTS=true")
    do.call(calibrated, c(models[[name]], sets = if (name == "negative_binomial") 100L else 300L)) # 41 sums a row
  })
}
