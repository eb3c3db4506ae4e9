# Models with a learned shape or with scales of rows, one after the other: equal values, one row, far values, a million
# rows, and shapes and their priors at both ends of their ranges.

few <- bnp_control(seed = 1, threads = 1, max_laps = if (long_tests()) 15 else 8, verbose = FALSE)
one_cluster <- prior_dirichlet(1)
calm <- function(expr) suppressMessages(suppressWarnings(expr))

# The bound is finite and rises to the end; nothing that is reported, drawn or predicted is NaN, and intervals have
# their ends in order. Returns the fit.
expect_sound <- function(x, obs = NULL, ..., fit = calm(bnp_mixture(x, obs, control = few, ...)), what = NULL) {
  bound <- elbo_trace(fit)$elbo
  expect_true(all(is.finite(bound)), info = what)
  expect_true(all(diff(bound) >= -1e-6 * (1 + abs(bound[-1L]))), info = what)
  expect_false(anyNA(unlist(coef(fit))), info = what)
  expect_false(identical(fit$reason, "numerical"), info = what)
  if (!is.null(obs) && is.null(obs$exposure)) {
    expect_true(all(is.finite(calm(predict(fit, x, type = "logdensity")))), info = what)
  }
  ends <- calm(confint(fit))
  expect_true(all(ends[, 1L] <= ends[, 2L] + 1e-9 * abs(ends[, 2L])), info = what)
  expect_false(anyNA(unlist(calm(simulate(fit, seed = 1))$sim_1)), info = what)
  invisible(fit)
}

positive <- withr::with_seed(1, rgamma(60, 3, c(0.1, 5)))
with_zeros <- positive * c(1, 1, 0)
counts <- withr::with_seed(1, rnbinom(60, 2, mu = c(2, 30)))
angles <- withr::with_seed(1, wrapped(rnorm(60, c(0, 2), 0.5)))
reals <- withr::with_seed(1, rt(60, 3) + c(0, 9))
times <- function(x, status = 1) survival::Surv(x, rep_len(status, length(x)))
straight <- function(x) data.frame(y = x, z = seq_along(x))
of_line <- function(tails) obs_product(obs_regression(formula = y ~ z, tails = tails))

# For each family: a model, and how it takes a vector of numbers.
families <- list(
  gamma = list(obs_gamma(), identity), gamma_zeros = list(obs_gamma(zeros = TRUE), identity),
  weibull = list(obs_weibull(), identity), weibull_zeros = list(obs_weibull(zeros = TRUE), identity),
  survival = list(obs_survival(shape = NULL), times), negbinomial = list(obs_negbinomial(), identity),
  vonmises = list(obs_vonmises(), identity), student = list(obs_student(), identity),
  student_column = list(obs_student("diagonal"), identity),
  student_columns = list(obs_student("diagonal"), function(x) cbind(x, rev(x))), line = list(of_line(NULL), straight)
)

for (name in names(families)) {
  test_that(paste0(name, ": equal values and one row"), {
    skip_if(name == "survival" && !requireNamespace("survival", quietly = TRUE))
    make <- families[[name]][[2L]]
    for (n in c(100L, 1L)) expect_sound(make(rep(2, n)), families[[name]][[1L]], what = paste(name, n))
  })
}

test_that("values of one sort only: zeros beside a few others, no event, ends of the circle", {
  for (obs in list(obs_gamma(zeros = TRUE), obs_weibull(zeros = TRUE))) {
    expect_sound(rep(c(0, 2), 50), obs)
    expect_sound(c(rep(0, 99), 2), obs)
  }
  expect_sound(rep(0, 100), obs_negbinomial())
  expect_sound(c(0, 1, 1e9), obs_negbinomial())
  for (end in c(-2, -1, 0, 1, 2) * pi) expect_sound(rep(end, 20), obs_vonmises())
  skip_if_not_installed("survival")
  expect_sound(times(positive, 0), obs_survival(shape = NULL))
})

test_that("values of 1e-150 and 1e150: alone they change nothing but units, and together they are finite", {
  near <- positive / max(positive)
  skip_if_not_installed("survival")
  for (name in some_of(setdiff(names(families), c("negbinomial", "vonmises", "line")), by = 2)) {
    make <- families[[name]][[2L]]
    obs <- families[[name]][[1L]]
    bound <- function(unit) {
      x <- make(near * unit)
      elbo(expect_sound(x, obs, what = paste(name, unit))) + length(x) * log(unit)
    }
    usual <- bound(1)
    for (unit in c(1e-147, 1e149)) expect_equal(bound(unit), usual, tolerance = 1e-6, info = paste(name, unit))
    expect_sound(make(c(1e-150, 1, 1e150, rep(1, 20))), obs, what = name)
  }
  for (unit in c(1e-147, 1e149)) {
    expect_sound(straight(reals * unit), of_line(NULL))
    expect_sound(fit = calm(bnp_hmm(reals * unit, obs = obs_ar(1, tails = NULL), control = few)))
  }
})

# Weights make a thousand rows a million. What is known of the shape is then its maximum-likelihood value.
test_that("a million rows in a cluster: shapes are those of maximum likelihood", {
  draws <- withr::with_seed(2, list(
    gamma = rgamma(1000, 4, 2), negbinomial = rnbinom(1000, 2, mu = 10), vonmises = draw_angles(1000, 3),
    student = rt(1000, 4)
  ))
  fit_of <- function(name, obs) {
    control <- bnp_control(seed = 1, threads = 1, max_laps = 200, verbose = FALSE)
    fit <- calm(bnp_mixture(draws[[name]], obs, one_cluster, control, weights = rep(1000, 1000)))
    expect_sound(fit = fit, what = name)
  }
  best <- function(log_density, range) stats::optimize(function(s) sum(log_density(s)), range, maximum = TRUE)$maximum
  x <- draws$gamma
  expect_equal(coef(fit_of("gamma", obs_gamma()))$shape[1], tolerance = 1e-4,
    best(function(s) dgamma(x, s, s / mean(x), log = TRUE), c(1, 10))
  )
  y <- draws$negbinomial
  expect_equal(coef(fit_of("negbinomial", obs_negbinomial()))$size[1], tolerance = 1e-3,
    best(function(s) dnbinom(y, s, mu = mean(y), log = TRUE), c(0.5, 10))
  )
  length <- sqrt(mean(cos(draws$vonmises))^2 + mean(sin(draws$vonmises))^2)
  expect_equal(coef(fit_of("vonmises", obs_vonmises()))$concentration[1], tolerance = 1e-3,
    best(function(s) s * length - log(besselI(s, 0)), c(0.5, 10))
  )
  v <- draws$student
  likeliest <- stats::optim(c(0, 0, 1), function(p) -sum(dt((v - p[1]) / exp(p[2]), exp(p[3]), log = TRUE) - p[2]))
  found <- coef(fit_of("student", obs_student()))
  expect_equal(c(found$mean[1], found$tails[[1]]), c(likeliest$par[1], exp(likeliest$par[3])), tolerance = 0.02)
})

told <- function(s) paste(format(unlist(unclass(s))), collapse = " ")
ends_of_priors <- list(
  gamma_prior(1e-10, 1e-10), gamma_prior(1e10, 1e10), gamma_prior(1e10, 1e-10), gamma_prior(1e-10, 1)
)

test_that("known shapes, and priors of shapes, at both ends", {
  skip_if_not_installed("survival")
  # In the short suite each model has one known end, one in four priors, and neighbours have others.
  ends <- function(known, from) some_of(c(known, ends_of_priors), by = 4, from = from)
  for (s in ends(list(1e-3, 1e6), 1)) expect_sound(positive, obs_gamma(s), what = told(s))
  for (s in ends(list(1e-3, 1e6), 2)) expect_sound(with_zeros, obs_gamma(s, zeros = TRUE), what = told(s))
  for (s in ends(list(1e-3, 1e6), 2)) expect_sound(counts, obs_negbinomial(s), what = told(s))
  for (s in ends(list(0.05, 70), 1)) expect_sound(positive, obs_weibull(s), what = told(s))
  for (s in ends(list(0.05, 70), 2)) expect_sound(times(positive, c(1, 1, 0)), obs_survival(shape = s), what = told(s))
  expect_bad(obs_weibull(0.04), "range", "from 0.05")
  expect_bad(calm(bnp_mixture(positive, obs_weibull(1e6), control = few)), "range", "too large")
  circular <- list(1e-3, 1e6, gamma_prior(1, 1e-10), gamma_prior(1, 1e10), gamma_prior(1e10, 1e-10))
  for (s in some_of(circular, by = 2)) {
    expect_sound(angles, obs_vonmises(s), what = told(s))
  }
})

test_that("degrees of freedom, and their priors, at both ends", {
  models <- list(
    function(tails) expect_sound(reals, obs_student(tails = tails), what = told(tails)),
    function(tails) expect_sound(straight(reals), of_line(tails), what = told(tails)),
    function(tails) {
      fit <- calm(bnp_hmm(reals, obs = obs_ar(1, tails = tails), control = few))
      expect_sound(fit = fit, what = told(tails))
    }
  )
  ends <- list(
    0.1, 1e8, gamma_prior(0.0002, 0.001), gamma_prior(1e5, 1e-3), gamma_prior(1e8, 9e8), gamma_prior(1e8, 1)
  )
  for (tails in ends) for (model in models) model(tails)
  for (make in list(obs_student, obs_ar, obs_regression)) {
    expect_bad(make(tails = gamma_prior(1, 1e-10)), "range", "`tails\\$rate` must be from 0.001")
    expect_bad(make(tails = gamma_prior(1e10, 1e10)), "range", "`tails\\$shape` must be from 1e-04 to 1e\\+08")
    for (tails in list(gamma_prior(1, 1e10), gamma_prior(1e6, 0.001))) {
      expect_bad(make(tails = tails), "range", "`tails\\$shape / tails\\$rate` must be from 0.1 to 1e\\+08")
    }
  }
})

test_that("other arguments at both ends", {
  for (make in some_of(list(obs_gamma, obs_weibull), by = 2)) {
    for (a in c(1e-10, 1e10)) expect_sound(positive, make(a = a), what = a)
    for (b in c(1e-10, 1e50)) expect_sound(positive, make(b = b), what = b)
    for (spacing in c(1e-300, 1e150)) expect_sound(positive, make(rounding = spacing), what = spacing)
    expect_bad(calm(bnp_mixture(positive, make(rounding = 1e151), control = few)), "range", "`rounding` must be")
  }
  for (a in c(1e-10, 1e50)) expect_sound(counts, obs_negbinomial(a = a), what = a)
  for (mean in c(1e-10, 1e10)) expect_sound(counts, obs_negbinomial(mean = mean), what = mean)
  for (spacing in c(1e-300, 6)) expect_sound(angles, obs_vonmises(rounding = spacing), what = spacing)
  for (covariance in some_of(c("full", "diagonal"), by = 2)) {
    student <- function(...) expect_sound(reals, calm(obs_student(covariance, ...)), what = paste(covariance, ...))
    for (df in c(1e-10, 1e8)) student(df = df)
    for (strength in c(1e-50, 1e50)) student(mean_strength = strength, mean = stats::median(reals))
    for (scale in c(1e-7, 1e50)) student(scale = scale)
    for (spacing in c(1e-300, 1e4)) student(rounding = spacing)
  }
  skip_if_not_installed("survival")
  for (a in c(1e-10, 1e10)) {
    for (shape in list(1, NULL)) expect_sound(times(positive, c(1, 1, 0)), obs_survival(a = a, shape = shape), what = a)
  }
})

test_that("weights of priors and exposures outside their ranges are refused", {
  expect_bad(obs_gamma(a = 1e50), "range", "`a` must be from 1e-10 to 1e\\+10")
  expect_bad(obs_weibull(a = 1e50), "range", "`a` must be from 1e-10 to 1e\\+10")
  far <- function(e) calm(bnp_mixture(counts, obs_negbinomial(exposure = rep(e, 60)), control = few))
  for (e in c(1e-10, 1e11)) expect_bad(far(e), "range", "exposures.*Divide them by their mean")
  for (e in c(1e-6, 1e10)) expect_true(is.finite(elbo(far(e))))
})

# Some clusters of a birth have a mode of the shape's posterior far from where its search begins.
test_that("priors that hold the mean fast do not break births, alone or beside another block", {
  x <- withr::with_seed(3, data.frame(x = c(rgamma(20, 3, 1), rgamma(20, 30, 1)), z = rnorm(40)))
  for (a in c(1e4, 1e6, 1e10)) {
    both <- obs_product(obs_gamma(a = a, columns = "x"), obs_gaussian(columns = "z"))
    fit <- bnp_mixture(x, both, control = bnp_control(seed = 1, restarts = 1, verbose = FALSE))
    expect_true(fit$converged)
    expect_equal(n_clusters(fit), 2)
    expect_equal(elbo(fit), -322.9, tolerance = 1e-3)
  }
})

test_that("what a model does not have is refused with what to do instead", {
  expect_bad(obs_negbinomial(zeros = TRUE), "argument", "zeros.*small `size`")
  expect_bad(obs_student(learn = FALSE), "argument", "learn.*`tails` are learned")
  expect_bad(obs_negbinomial(sise = 1), "argument", "Did you mean `size`")
  turned <- cbind(cos(angles), sin(angles))
  expect_bad(bnp_mixture(turned, obs_vonmises()), "not_angles", "atan2")
  expect_bad(bnp_mixture(cbind(turned, turned[, 2:1]), obs_vonmises()), "not_angles", "atan2")
  expect_bad(bnp_mixture(cbind(turned / sqrt(2), sqrt(0.5)), obs_vonmises()), "not_angles", "3 dimensions")
  named <- stats::setNames(as.data.frame(turned), c("east", "north"))
  block <- obs_product(obs_vonmises(columns = c("east", "north")))
  expect_bad(bnp_mixture(named, block), "not_angles", "atan2")
  expect_bad(bnp_mixture(angles * 180 / pi, obs_vonmises()), "not_angles", "pi / 180")
  expect_sound(cbind(angles, rev(angles)), obs_vonmises())
  expect_sound(rbind(c(0, 1), c(1, 0)), obs_vonmises())
})

test_that("a peak much narrower than the mass around it ends the integral over a shape, too", {
  # Prior mass e^-5 beside a spike of height 1 and no width, of which coarse steps see too much.
  of_spike <- function(width) {
    engine_shape_integral(c(2, 0.1), function(s) -5 * min(1, abs(log(s) - 2) / width), 1e12, 2)
  }
  for (width in c(1e-5, 1e-9, 1e-15)) {
    spike <- of_spike(width)
    expect_equal(spike$log_integral, -5, tolerance = 0.02)
    expect_lt(length(spike$shape), 20000)
  }
  flat <- engine_shape_integral(c(2, 0.1), function(s) 0, 1, NaN)
  expect_equal(flat$log_integral, 0, tolerance = 1e-10)
  expect_lt(length(flat$shape), 100)
})
