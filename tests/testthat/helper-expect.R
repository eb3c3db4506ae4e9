expect_bad <- function(expr, what, ...) {
  expect_error(expr, ..., class = paste0("bnpvi_error_", what))
}

# In place of testthat's, which up to 3.1.6 never fails (it waits for conditions of class "messsage").
expect_no_message <- function(object, ..., class = "message") {
  expect_no_condition(object, ..., class = class)
}
