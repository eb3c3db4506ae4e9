expect_bad <- function(expr, what, ...) {
  expect_error(expr, ..., class = paste0("bnpvi_error_", what))
}
