test_that("the helper of tests lists the entries of the engine that only tests call", {
  skip_without_testing_entries()
  expect_setequal(names(engine_testing_entries()), testing_entries)
})

test_that("no function of the package calls an entry for tests", {
  functions <- Filter(is.function, as.list(asNamespace("bnpvi"), all.names = TRUE))
  called <- unique(unlist(lapply(functions, function(f) all.names(body(f)))))
  expect_identical(intersect(c(testing_entries, "engine_testing"), called), character())
})

test_that("arguments of an entry go by name, and an entry that is not there is an error", {
  skip_without_testing_entries()
  expect_identical(engine_special(d = c(1, 2), x = c(3, 4)), engine_special(c(3, 4), c(1, 2)))
  expect_error(engine_testing("none", list()), "no entry none")
  expect_error(engine_testing("engine_special", list(1)), "another number of arguments")
})
