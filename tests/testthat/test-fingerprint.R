# The fingerprint of R's values: fixed figures, so that no version of anything changes it.

test_that("fingerprints are those of fixed figures", {
  values <- list(
    null = NULL, logical = c(TRUE, FALSE, NA), integer = c(1L, -2L, NA), double = c(0.1, -0, 1e300, NA, NaN, Inf),
    complex = 1 + 2i, character = c("a", "", NA, "\u00e9\u4e2d"), raw = as.raw(c(0, 255)),
    factor = factor(c("b", "a", NA)), names = c(a = 1, b = 2), matrix = matrix(1:4, 2),
    frame = data.frame(x = 1:3, y = letters[1:3]), list = list(1, "a", list(NULL)), formula = y ~ log(x) + 1,
    call = quote(f(x, y = 2)), "function" = function(x, y = 2) x + y, date = as.Date("2026-01-01")
  )
  figures <- vapply(values, engine_value_fingerprint, "")
  fixed_figures <- c(
    null = "9e3779b9e17d05ac856640f7ec1fbf74",
    logical = "dc65c04421f70afd6d4a7fc475a40db5",
    integer = "7467860f8cb582456a3163fb3b5142e8",
    double = "fee1c4fd4aa9d53d3b3734ffc7d4de4e",
    complex = "0109152c99681e5d0ce4e379496ecfe3",
    character = "a6a793e62e8aa76da6be35c6d6fad31b",
    raw = "12d31448bcfbae7f330bdeee6f20048e",
    factor = "29bdf4c0a9458b60fcde43e5c8092cd6",
    names = "f9b9c6e6dba7b4d4dcc3d5ad1ead70cf",
    matrix = "1a5733e51bd9ce0410f1e37be5b39daa",
    frame = "a0b2f876cf3430fba32fea255ea06703",
    list = "36174f8a63a12cc175374b5735b1fdbb",
    formula = "ce94a1d7d1435666606f0d1a548c9274",
    call = "d1c8275a82ef0e17a7b4f5c5b7388d3f",
    "function" = "6d2d543c3a8d0680790e3339b6e71438",
    date = "fc50f29d3f266ba4982e74a69deae14e"
  )
  expect_identical(figures, fixed_figures)
  expect_identical(anyDuplicated(figures), 0L)
})

test_that("what is no value does not count", {
  same <- function(a, b) expect_identical(engine_value_fingerprint(a), engine_value_fingerprint(b))
  differ <- function(a, b) expect_false(engine_value_fingerprint(a) == engine_value_fingerprint(b))
  same("\u00e9", iconv("\u00e9", "UTF-8", "latin1"))
  same(1:5, c(1L, 2L, 3L, 4L, 5L))
  same(structure(1, a = 1, b = 2), structure(1, b = 2, a = 1))
  f <- function() y ~ x
  same(f(), y ~ x)
  same(eval(parse(text = "function(x) x + 1", keep.source = TRUE)), eval(parse(text = "function(x) x + 1")))
  same(unserialize(serialize(faithful, NULL, version = 2L)), faithful)
  differ(1, 1L)
  differ(NA, NA_integer_)
  differ(NA_real_, NaN)
  differ(0, -0)
  differ(c("a", "b"), c("b", "a"))
  differ("ab", c("a", "b"))
  differ(list(1, 2), list(list(1), 2))
  differ(c(a = 1), c(b = 1))
  differ(factor("a"), factor("a", c("a", "b")))
  differ(y ~ x, y ~ z)
  deep <- 1
  for (i in 1:1000) deep <- list(deep)
  expect_error(engine_value_fingerprint(deep), "too deep")
})
