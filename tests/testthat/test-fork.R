test_that("fits in forked processes are those of their parent", {
  skip_on_os("windows")
  run <- function(seed) {
    fit <- bnp_mixture(asterisk[1:2], control = bnp_control(seed = seed, threads = 2, k_init = 5, max_laps = 4))
    fit$trace$seconds <- NULL
    fit[c("state", "elbo", "trace", "labels")]
  }
  here <- lapply(1:2, run)
  expect_identical(parallel::mclapply(1:2, run, mc.cores = 2), here)
  expect_identical(run(1), here[[1]])
})
