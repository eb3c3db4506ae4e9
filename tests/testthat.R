library(testthat)
library(bnpvi)

test_check("bnpvi")
