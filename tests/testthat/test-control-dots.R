# Some options of bnp_control() may be given to the function that fits.

test_that("seed, restarts, threads and verbose beside `control` replace its own", {
  for (fit in some_of(list(
    function(...) bnp_mixture(faithful, ...), function(...) bnp_mixture(eruptions ~ waiting, faithful, ...),
    function(...) bnp_topics(whales$counts[1:20, 1:50], ...), function(...) bnp_hmm(as.numeric(Nile), ...),
    function(...) bnp_hmm(temp ~ time, beaver2, ...), function(...) bnp_features(attitude[1:3], ...),
    function(...) bnp_network(kronecker(diag(2), matrix(1, 5, 5)) - diag(10), ...)
  ), by = 2)) {
    beside <- fit(seed = 3, restarts = 2, verbose = FALSE, threads = 1)
    within <- fit(control = bnp_control(seed = 3, restarts = 2, verbose = FALSE, threads = 1))
    both <- fit(control = bnp_control(seed = 5, restarts = 2), seed = 3)
    expect_identical(beside$state, within$state)
    expect_identical(both$state, within$state)
    expect_equal(beside$control$seed, 3)
  }
})

test_that("what is given beside `control` is checked as there", {
  expect_bad(bnp_mixture(faithful, seed = 1.5), "argument", "seed")
  expect_bad(bnp_mixture(faithful, restarts = 0), "argument", "restarts")
  expect_bad(bnp_mixture(faithful, seed = 1, seed = 2), "argument", "twice")
  expect_bad(bnp_mixture(faithful, seed = 1, control = 3), "argument", "control")
  expect_bad(bnp_mixture(faithful, seed = 1, max_laps = 3), "argument", "max_laps")
  expect_bad(
    bnp_mixture(faithful, restarts = 3, control = bnp_control("truncation_free")), "argument", "truncation_free"
  )
})

test_that("update() goes on with what was given beside `control`", {
  fit <- bnp_mixture(faithful, seed = 2)
  expect_equal(update(fit, seed = 4)$control$seed, 4)
})
