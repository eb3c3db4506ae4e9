# A fit stored by another version, or damaged, is refused by everything that reads it.

few <- bnp_control(seed = 1, max_laps = 3)

readers <- list(
  print = print, summary = summary, elbo = elbo, elbo_trace = elbo_trace, n_clusters = n_clusters,
  sizes = cluster_sizes, fitted = fitted, coef = coef, posterior_params = posterior_params, nobs = nobs,
  logLik = logLik, glance = glance,
  tidy = tidy, simulate = simulate, predict = function(fit) predict(fit, faithful),
  heldout = function(fit) heldout_loglik(fit, faithful), plot = plot, frame = as.data.frame, update = update
)

test_that("fits of other formats are refused by every reader", {
  withr::local_pdf(NULL)
  fits <- list(
    bnp_mixture(faithful, control = few), bnp_hmm(faithful, control = few),
    bnp_topics(faithful, obs_gaussian(), id = rep(1:34, 8), control = few)
  )
  for (fit in fits) {
    other <- fit
    other$format <- 0L
    old <- fit
    old$format <- NULL
    damaged <- fit
    damaged$state <- NULL
    for (name in names(readers)) {
      expect_bad(readers[[name]](other), "format", "another version", info = name)
      expect_bad(readers[[name]](old), "format", "another version", info = name)
      expect_bad(readers[[name]](damaged), "format", "lacks `?state", info = name)
    }
  }
  expect_bad(segments(`[[<-`(fits[[2]], "format", 9L)), "format")
  expect_bad(transition_matrix(`[[<-`(fits[[2]], "format", 9L)), "format")
  expect_bad(bnp_mixture(faithful, start = `[[<-`(fits[[1]], "format", 9L)), "format")
  unknown <- fits[[1]]
  unknown$model$obs$family <- "cauchy"
  expect_bad(coef(unknown), "format", "model\\$obs")
})
