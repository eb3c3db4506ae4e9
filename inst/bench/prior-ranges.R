# Small fits with each parameter of the priors at powers of ten, and with all at the ends of their ranges (name "ends"):
# for which is the ELBO finite, and when does it fall by more than 1e-9 of itself? Ranges are enforced by the
# constructors, so that parameters are set after them.
# Rscript inst/bench/prior-ranges.R [name] [from] [to] [step]
library(bnpvi)
args <- c(commandArgs(TRUE), rep(NA, 4))
number <- function(i, default) if (is.na(args[i])) default else as.numeric(args[i])
powers <- as.double(paste0("1e", seq(number(2, -320), number(3, 300), number(4, 20))))

set <- function(x, ...) utils::modifyList(x, list(...))
free <- list(
  bnp_control(seed = 1, max_laps = 25, verbose = FALSE),
  bnp_control(seed = 1, k_init = 6, moves = FALSE, batches = 3, max_laps = 25, verbose = FALSE)
)
fixed <- list(free[[1]], bnp_control(seed = 2, moves = FALSE, batches = 3, max_laps = 25, verbose = FALSE))
images <- as.matrix(bars$counts[1:120, ])
text <- whales$counts[1:40, 1:150]
days <- beaver1["temp"]
unit <- c(1, 16) # of faithful
centred <- scale(as.matrix(faithful))
beavers <- function(prior, control) bnp_hmm(days, id = rep(1:6, each = 19), prior = prior, control = control)
series <- function(obs, control) bnp_hmm(as.matrix(faithful), id = rep(1:8, each = 34), obs = obs, control = control)
gaussian <- function(obs, control) bnp_mixture(faithful, obs, control = control)
ar <- obs_ar(intercept = TRUE)
waits <- faithful
followed <- cbind(faithful$waiting, rep(c(1, 1, 0, 1), 68))
tries <- images[, 1:2]

fits <- list(
  term_prior = function(v, c) bnp_mixture(images, set(obs_multinomial(), term_prior = v), control = c),
  term_prior_topics = function(v, c) bnp_topics(text, set(obs_multinomial(), term_prior = v), control = c),
  a = function(v, c) bnp_mixture(animals, set(obs_bernoulli(), a = v), control = c),
  b = function(v, c) bnp_mixture(animals, set(obs_bernoulli(), b = v), control = c),
  a_b = function(v, c) bnp_mixture(animals, set(obs_bernoulli(), a = v, b = v), control = c),
  mean = function(v, c) gaussian(set(obs_gaussian(), mean = c(3.5, 71) + v * unit), c),
  mean_diagonal = function(v, c) gaussian(set(obs_gaussian("diagonal"), mean = c(3.5, 71) + v * unit), c),
  mean_strength = function(v, c) gaussian(set(obs_gaussian(), mean_strength = v), c),
  mean_strength_far = function(v, c) gaussian(set(obs_gaussian(), mean_strength = v, mean = c(3, 75)), c),
  mean_strength_diagonal = function(v, c) gaussian(
    set(obs_gaussian("diagonal"), mean_strength = v, mean = c(3, 75)), c
  ),
  scale = function(v, c) gaussian(set(obs_gaussian(), scale = v * unit^2), c),
  scale_diagonal = function(v, c) gaussian(set(obs_gaussian("diagonal"), scale = v * unit^2), c),
  scale_zero_mean = function(v, c) bnp_mixture(centred, set(obs_gaussian("zero_mean"), scale = v), control = c),
  df = function(v, c) gaussian(set(obs_gaussian(), df = 1 + v), c),
  df_same_scale = function(v, c) gaussian(set(obs_gaussian(), df = 1 + v, scale = max(v, 1) * 0.1 * unit^2), c),
  df_diagonal = function(v, c) gaussian(set(obs_gaussian("diagonal"), df = v), c),
  df_zero_mean = function(v, c) bnp_mixture(centred, set(obs_gaussian("zero_mean"), df = 1 + v), control = c),
  ar_scale = function(v, c) series(set(obs_ar(), scale = v * unit^2), c),
  ar_df = function(v, c) series(set(obs_ar(), df = 1 + v), c),
  ar_coef_mean = function(v, c) series(set(obs_ar(), coef_mean = v * matrix(1, 2, 2)), c),
  ar_coef_precision = function(v, c) series(set(obs_ar(), coef_precision = v * unit^2), c),
  ar_intercept_precision = function(v, c) series(set(ar, coef_precision = c(unit^2, v)), c),
  gamma_shape = function(v, c) bnp_mixture(waits, set(obs_gamma(1), shape = v), control = c),
  gamma_a = function(v, c) bnp_mixture(waits, set(obs_gamma(50), a = v), control = c),
  gamma_b = function(v, c) bnp_mixture(waits, set(obs_gamma(50), b = v), control = c),
  survival_a = function(v, c) bnp_mixture(followed, set(obs_survival(), a = v), control = c),
  binomial_a = function(v, c) bnp_mixture(tries, set(obs_binomial(), a = v), control = c),
  spherical_scale = function(v, c) gaussian(set(obs_gaussian("spherical"), scale = v * 16), c),
  variance = function(v, c) gaussian(set(obs_gaussian("tied_spherical"), variance = v * 16), c),
  variance_full = function(v, c) gaussian(set(obs_gaussian("tied"), variance = diag(v * unit^2)), c),
  regression_scale = function(v, c) gaussian(set(obs_regression(), scale = matrix(v)), c),
  regression_precision = function(v, c) gaussian(set(obs_regression(), coef_precision = diag(v, 2)), c),
  dp = function(v, c) bnp_mixture(faithful, prior = set(prior_dp(), concentration = v), control = c),
  discount = function(v, c) bnp_mixture(faithful, prior = set(prior_py(), discount = v), control = c),
  no_discount = function(v, c) bnp_mixture(faithful, prior = set(prior_py(), discount = 1 - v), control = c),
  shape = function(v, c) bnp_mixture(faithful, prior = prior_dp(replace(gamma_prior(), "shape", v)), control = c),
  rate = function(v, c) bnp_mixture(faithful, prior = prior_dp(replace(gamma_prior(), "rate", v)), control = c),
  dirichlet = function(v, c) bnp_mixture(faithful, prior = set(prior_dirichlet(6), concentration = v), control = c),
  hdp_gamma = function(v, c) bnp_topics(text, prior = set(prior_hdp(), gamma = v), control = c),
  hdp_alpha = function(v, c) bnp_topics(text, prior = set(prior_hdp(), alpha = v), control = c),
  lda = function(v, c) bnp_topics(text, prior = set(prior_lda(6), alpha = v), control = c),
  hdp_hmm_gamma = function(v, c) beavers(set(prior_hdp_hmm(), gamma = v), c),
  hdp_hmm_alpha = function(v, c) beavers(set(prior_hdp_hmm(), alpha = v), c),
  hdp_hmm_start = function(v, c) beavers(set(prior_hdp_hmm(), start = v), c),
  hdp_hmm_sticky = function(v, c) beavers(set(prior_hdp_hmm(), sticky = v), c),
  hmm_alpha = function(v, c) beavers(set(prior_hmm(6), alpha = v), c),
  hmm_start = function(v, c) beavers(set(prior_hmm(6), start = v), c),
  hmm_sticky = function(v, c) beavers(set(prior_hmm(6), sticky = v), c)
)

outcome <- function(fit) {
  out <- tryCatch(suppressWarnings(fit), error = function(e) sub("\n.*", "", conditionMessage(e)))
  if (is.character(out)) {
    return(substr(out, 1, 70))
  }
  elbo <- elbo_trace(out)$elbo
  fall <- -min(diff(elbo), 0) / (1 + abs(out$elbo))
  if (!all(is.finite(elbo))) "not finite" else if (fall > 1e-9) paste("falls by", signif(fall, 1)) else "right"
}

# Runs of powers with the same outcomes.
report <- function(name) {
  controls <- if (name %in% c("dirichlet", "lda", "hmm_alpha", "hmm_start", "hmm_sticky")) fixed else free
  one <- function(v) vapply(controls, function(control) outcome(fits[[name]](v, control)), "") |>
    unique() |> paste(collapse = ", ")
  runs <- rle(vapply(powers, one, ""))
  last <- cumsum(runs$lengths)
  cat(
    name,
    paste0("  ", signif(powers[c(0, last[-length(last)]) + 1], 2), " to ", signif(powers[last], 2), ": ", runs$values),
    sep = "\n"
  )
}

ends <- function() {
  range <- asNamespace("bnpvi")$parameter_ranges
  every <- function(...) do.call(expand.grid, list(...))
  run <- function(what, grid, fit) {
    said <- vapply(seq_len(nrow(grid)), function(i) outcome(do.call(fit, as.list(grid[i, , drop = FALSE]))), "")
    cat(what, paste0("  ", names(table(said)), ": ", table(said)), sep = "\n")
    wrong <- which(said != "right" & !grepl("must be|would leave", said))
    if (length(wrong)) print(cbind(grid[wrong, , drop = FALSE], said = said[wrong]))
  }
  control <- free[[2]]
  run(
    "bernoulli", every(a = range$a, b = range$b),
    function(...) bnp_mixture(animals, obs_bernoulli(...), control = control)
  )
  run("multinomial", every(even = range$term_prior, odd = range$term_prior), function(even, odd) {
    bnp_mixture(images, obs_multinomial(rep(c(odd, even), 72)), control = control)
  })
  for (covariance in c("full", "diagonal")) {
    df <- if (covariance == "full") c(1 + 2e-10, range$df[2]) else range$df
    grid <- every(mean_strength = range$mean_strength, df = df, scale = c(2e-10, 1, 5e49), far = c(0, 1, 1e4))
    run(covariance, grid, function(mean_strength, df, scale, far) {
      obs <- obs_gaussian(covariance, c(4, 76) + far * unit, mean_strength, df, scale * unit^2)
      bnp_mixture(faithful, obs, control = control)
    })
  }
  ar <- every(df = c(1 + 2e-10, range$df[2]), scale = c(2e-10, 1, 5e49), precision = c(2e-16, 1, 1e6))
  run("ar", ar, function(df, scale, precision) {
    series(obs_ar(df = df, scale = scale * unit^2, coef_precision = precision * unit^2), control)
  })
  run(
    "hdp", every(gamma = range$gamma, alpha = range$alpha),
    function(...) bnp_topics(text, prior = prior_hdp(...), control = control)
  )
  sticky <- c(0, range$sticky)
  run("hdp_hmm", every(gamma = range$gamma, alpha = range$alpha, start = range$start, sticky = sticky), function(...) {
    beavers(prior_hdp_hmm(...), control)
  })
  run(
    "hmm", every(alpha = c(7e-8, 1e6), start = c(7e-8, 1e6), sticky = sticky),
    function(...) beavers(prior_hmm(6, ...), control)
  )
}

if (identical(args[1], "ends")) {
  ends()
} else {
  for (name in grep(if (is.na(args[1])) "" else args[1], names(fits), value = TRUE)) report(name)
}
