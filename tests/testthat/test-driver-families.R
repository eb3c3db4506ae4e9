# What the driver does for each of the six families: Ctrl-C keeps the last lap, restarts have a table, and each of them
# is the fit with its seed.

family_fits <- function() {
  with_seed <- withr::with_seed
  groups <- with_seed(1, matrix(rnorm(20, sd = 4), 10)[sample(10, 20000, TRUE), ] + rnorm(40000))
  walks <- with_seed(2, lapply(1:4, function(i) apply(matrix(rnorm(600), 300), 2, cumsum) + rnorm(600)))
  sums <- planted_features(3, 3000, 16, 8)$x
  blocks <- rep(1:6, each = 40)
  net <- with_seed(4, planted_network(blocks, matrix(0.04, 6, 6) + diag(0.3, 6)))
  links <- data.frame(from = net$from, to = net$to)
  list(
    mixture = function(control) bnp_mixture(groups, control = control),
    topics = function(control) bnp_topics(whales$counts, control = control),
    chains = function(control) bnp_hmm(walks, control = control),
    features = function(control) bnp_features(sums, control = control),
    linear = function(control) bnp_hmm(walks, obs = obs_lds(), control = control),
    communities = function(control) bnp_network(links, obs_links(degree = FALSE), nodes = 240, control = control),
    blocks = function(control) bnp_network(links, prior = prior_dp(), nodes = 240, control = control)
  )
}
one_fit <- function(fit, ...) suppressWarnings(fit(bnp_control(seed = 3, verbose = FALSE, ...)))

test_that("Ctrl-C keeps the last lap in every family", {
  skip_on_os("windows")
  withr::local_options(rlang_interactive = TRUE)
  fits <- family_fits()
  for (name in names(fits)) {
    reported <- 0
    stopped <- NULL
    interrupt <- function(record) {
      reported <<- reported + 1
      # What R makes of Ctrl-C. A signal could come a moment later, after the end of a short fit.
      # The engine asks once in 50 milliseconds.
      if (reported == 2) {
        Sys.sleep(0.06)
        stop(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
      }
    }
    local({
      quiet <- list(report = interrupt, finish = function() NULL)
      replace_in_package("progress_reporter", function(...) quiet, environment())
      expect_message(stopped <<- one_fit(fits[[name]]), class = "bnpvi_message_interrupted")
    })
    expect_identical(stopped$reason, "interrupted", info = name)
    expect_false(stopped$converged, info = name)
    expect_true(is.finite(elbo(stopped)), info = name)
    if (name == "linear") next # stopped in a search for a start
    same <- one_fit(fits[[name]], max_laps = stopped$laps)
    expect_equal(elbo(stopped), elbo(same), tolerance = if (name == "blocks") 0.01 else 1e-9, info = name)
  }
})

test_that("restarts have a table in every family, and each is the fit with its seed", {
  fits <- family_fits()
  for (name in setdiff(names(fits), c("linear", "communities"))) {
    fit <- one_fit(fits[[name]], restarts = 2, max_laps = 4)
    expect_identical(names(fit$restarts), c("restart", "seed", "elbo", "k", "laps"), info = name)
    expect_identical(fit$restarts$seed, c(3, engine_restart_seed(3, 1)), info = name)
    second <- suppressWarnings(fits[[name]](bnp_control(seed = fit$restarts$seed[2], verbose = FALSE, max_laps = 4)))
    expect_equal(elbo(second), fit$restarts$elbo[2], tolerance = 1e-12, info = name)
  }
})
