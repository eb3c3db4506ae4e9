# Calls that nobody would write on purpose: see helper-mutations.R. The long suite makes 2,000 of them, others
# each day, in place of 200 that are always the same. A run can be repeated by BNPVI_MUTATION_SEED, which it prints;
# mutation i can be looked at alone by mutate(i, calls, results, seed).

long <- longest_tests()
numbers <- seq_len(if (long) 2000 else 200)
seed <- as.integer(Sys.getenv("BNPVI_MUTATION_SEED", if (long) format(Sys.Date(), "%Y%m%d") else "1"))

withr::local_pdf(NULL)
calls <- all_calls()
# In the short suite one call of each verb, and every sixth.
verbs <- vapply(calls, function(call) if (is.character(call$verb)) call$verb else "(fit)", "")
if (!long_tests()) calls <- calls[!duplicated(verbs) | seq_along(calls) %% 6L == 0L]
valid <- lapply(calls, function(call) called(call, call$arguments))

test_that("the calls to be spoiled are valid, and of every exported verb", {
  failed <- vapply(valid, function(out) !is.null(out$error), NA)
  expect(!any(failed), paste(unlist(lapply(valid[failed], function(out) conditionMessage(out$error))), collapse = "\n"))
  wrong <- unlist(Map(function(call, out) complaint(call, call$arguments, "", out, out$result), calls, valid))
  expect(length(wrong) == 0L, paste(wrong, collapse = "\n"))
  verbs <- unlist(lapply(calls, function(call) if (is.character(call$verb)) call$verb))
  # Not yet spoiled: what needs a graph of igraph, and a prior whose fits ask for covariates.
  exported <- setdiff(getNamespaceExports("bnpvi"), c("as_communities", "prior_covariates"))
  expect_setequal(intersect(exported, verbs), exported)
})

test_that("spoiled calls give sound results, or errors that name the argument", {
  cat("\nBNPVI_MUTATION_SEED=", seed, "\n", sep = "")
  results <- lapply(valid, `[[`, "result")
  wrong <- unlist(with_breakdowns(lapply(numbers, mutate, calls, results, seed)))
  expect(length(wrong) == 0L, paste(c(paste("With the seed", seed), wrong), collapse = "\n"))
})
