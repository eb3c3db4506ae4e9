# Fields of an observation model that have the wrong number of entries, as those of a damaged object, are errors of the
# engine; a crash would end the child.

test_that("every field with a number too many or too few is an error or an answer, for every model", {
  for (case in model_cases()) {
    fields <- names(Filter(is.numeric, unclass(case$model$obs)))
    n <- length(case$rows(case$data)[, 1L])
    resp <- matrix(1, n, 1L)
    out <- in_child(function() {
      vapply(fields, function(field) {
        value <- case$model$obs[[field]]
        for (wrong in list(c(value, 1), value[-1L])) {
          model <- case$model
          model$obs[[field]] <- wrong
          tryCatch(engine_contract(case$data, model, resp), error = function(e) NULL)
        }
        "alive"
      }, "")
    })
    expect_true(all(out == "alive") && length(out) == length(fields), label = case$name)
  }
})
