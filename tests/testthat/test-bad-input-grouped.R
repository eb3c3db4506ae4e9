test_that("documents: counts, ids and emptiness are checked", {
  documents <- function(x, ...) as_document_data(x, obs_multinomial(), ...)
  expect_bad(documents(matrix(0, 2, 2)), "no_tokens", "empty")
  expect_bad(documents(matrix(-1, 2, 2)), "not_counts")
  expect_bad(documents(matrix(0.5, 2, 2)), "not_counts")
  expect_bad(documents(data.frame(document = "a", term = "x", n = 1.5)), "not_counts", "row 1")
  expect_bad(documents(data.frame(document = "a", term = "x", n = "b")), "not_numeric")
  expect_bad(documents(data.frame(document = NA, term = "x", n = 1)), "not_finite", "row 1")
  expect_bad(as_document_data(faithful, obs_gaussian()), "id", "needed")
  expect_bad(as_document_data(faithful, obs_gaussian(), id = "doc"), "id", "doc")
  expect_bad(as_document_data(faithful, obs_gaussian(), id = 1:3), "id", "272")
  expect_bad(as_document_data(faithful, obs_gaussian(), id = c(NA, rep(1, 271))), "id", "At 1")
})

test_that("empty documents are kept", {
  data <- as_document_data(rbind(a = c(0, 0), b = c(1, 2)), obs_multinomial())
  expect_equal(data$n, 2)
  expect_equal(data$row_start, c(0, 0, 2))
})

test_that("sequences: order, widths and lengths are checked", {
  x <- matrix(rnorm(12), 6)
  expect_bad(as_sequence_data(x, obs_gaussian(), id = c(1, 1, 2, 2, 1, 1)), "id", "Sequence 1 starts again in row 5")
  expect_bad(as_sequence_data(list(x, x[, 1]), obs_gaussian()), "widths", "sequence 2 has 1")
  expect_bad(as_sequence_data(list(a = cbind(u = 1:2), b = cbind(v = 1:2)), obs_gaussian()), "widths", "sequence b")
  expect_bad(as_sequence_data(list(x, x[0, ]), obs_gaussian()), "no_rows", "\\[\\[2\\]\\]")
  expect_bad(as_sequence_data(list(), obs_gaussian()), "no_rows")
  expect_bad(as_sequence_data(list(a = x, b = x[1:2, ]), obs_ar(2)), "too_short", "sequence b")
  expect_bad(as_sequence_data(list(a = x), obs_gaussian(), id = 1:6), "id", "list")
  expect_bad(as_sequence_data(list(x, NA * x), obs_gaussian()), "not_finite", "\\[\\[2\\]\\]")
})

test_that("a sequence of length one is fine", {
  expect_equal(as_sequence_data(matrix(1:2, 1), obs_gaussian())$n, 1)
})
