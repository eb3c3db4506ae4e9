# Fields of an observation model with the wrong number of entries, or with values that cannot be, as those of a damaged
# object, are errors of the engine or have an answer; a crash would end the child.

test_that("every field with a number too many or too few, or out of its range, leaves the engine alive", {
  for (case in some_of(model_cases(), by = 17)) {
    fields <- names(Filter(is.numeric, unclass(case$model$obs)))
    n <- length(case$rows(case$data)[, 1L])
    resp <- matrix(1, n, 1L)
    out <- in_child(function() {
      vapply(fields, function(field) {
        value <- case$model$obs[[field]]
        for (wrong in list(c(value, 1), value[-1L], -1 - abs(value), NaN * value)) {
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
