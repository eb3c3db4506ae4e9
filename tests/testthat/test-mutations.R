# Calls that nobody would write on purpose: see helper-mutations.R. BNPVI_LONG_TESTS=true takes 2,400 of them instead of
# 150. Mutation i can be looked at alone by mutate(i, calls, valid).

numbers <- if (identical(Sys.getenv("BNPVI_LONG_TESTS"), "true")) 1:2400 else 1:150

withr::local_pdf(NULL)
calls <- all_calls()
valid <- lapply(calls, function(call) called(call, call$arguments))

test_that("the calls to be spoiled are valid, and of every exported verb", {
  failed <- vapply(valid, function(out) !is.null(out$error), NA)
  expect(!any(failed), paste(unlist(lapply(valid[failed], function(out) conditionMessage(out$error))), collapse = "\n"))
  wrong <- unlist(Map(function(call, out) complaint(call, call$arguments, "", out, out$result), calls, valid))
  expect(length(wrong) == 0L, paste(wrong, collapse = "\n"))
  verbs <- unlist(lapply(calls, function(call) if (is.character(call$verb)) call$verb))
  expect_setequal(intersect(getNamespaceExports("bnpvi"), verbs), getNamespaceExports("bnpvi"))
})

test_that("spoiled calls give sound results, or errors that name the argument", {
  results <- lapply(valid, `[[`, "result")
  wrong <- unlist(with_breakdowns(lapply(numbers, mutate, calls, results)))
  expect(length(wrong) == 0L, paste(wrong, collapse = "\n"))
})
