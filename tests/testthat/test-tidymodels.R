# Tables of recipes go in, and what comes out has the names that tidymodels gives to predictions.

few <- bnp_control(seed = 1, max_laps = 20, verbose = FALSE)
fit <- bnp_mixture(faithful, control = few)

test_that("clusters and probabilities come as one table", {
  out <- predict(fit, new_data = faithful, type = "cluster")
  expect_identical(out, predict(fit, faithful, type = "cluster"))
  levels <- paste0("Cluster_", seq_len(fit$state$k))
  expect_identical(names(out), c(".pred_cluster", paste0(".pred_", levels)))
  expect_identical(levels(out$.pred_cluster), levels)
  expect_identical(as.integer(out$.pred_cluster), unname(predict(fit, faithful)))
  expect_equal(as.matrix(out[-1]), predict(fit, faithful, type = "prob"), ignore_attr = TRUE)
  expect_equal(dim(predict(fit, faithful[0, ], type = "cluster")), c(0, 1 + fit$state$k))
  path <- suppressWarnings(bnp_hmm(faithful, control = few))
  states <- predict(path, new_data = faithful, type = "cluster")
  expect_identical(as.integer(states$.pred_cluster), unname(predict(path, faithful)))
  expect_equal(as.matrix(states[-1]), predict(path, faithful, type = "prob"), ignore_attr = TRUE)
  expect_bad(predict(fit, faithful, new_data = faithful), "argument", "the same")
  expect_bad(predict(fit, type = "cluster"), "newdata", "keep")
})

test_that("new data have the columns of the training data, or say which are not", {
  expected <- predict(fit, faithful)
  expect_identical(predict(fit, new_data = cbind(z = "a", faithful[2:1])), expected)
  whole <- transform(faithful, waiting = as.integer(waiting))
  expect_identical(predict(fit, new_data = whole), expected)
  expect_bad(predict(fit, new_data = faithful[1]), "newdata_columns", "waiting")
  for (change in list(
    as.character, factor, function(x) as.Date(x, "1970-01-01"), function(x) as.difftime(x, units = "mins")
  )) {
    other <- transform(faithful, waiting = change(waiting))
    expect_bad(predict(fit, new_data = other), "not_numeric", "waiting")
  }
})

test_that("recipes and moulds are data frames like any", {
  skip_if_not_installed("recipes")
  recipe <- recipes::recipe(~., faithful)
  recipe <- recipes::prep(recipes::step_normalize(recipe, recipes::all_numeric()))
  baked <- bnp_mixture(recipes::bake(recipe, NULL), control = few)
  by_hand <- bnp_mixture(scale(faithful), control = few)
  expect_equal(elbo(baked), elbo(by_hand))
  new <- recipes::bake(recipe, faithful[5:9, ])
  expect_equal(unname(predict(baked, new_data = new)), unname(fitted(baked))[5:9])
  expect_s3_class(augment(baked, new), "tbl_df")
  skip_if_not_installed("hardhat")
  mould <- hardhat::mold(~., faithful)
  moulded <- bnp_mixture(mould$predictors, control = few)
  expect_equal(elbo(moulded), elbo(fit))
  expect_equal(
    unname(predict(moulded, new_data = hardhat::forge(faithful[2:1], mould$blueprint)$predictors)),
    unname(fitted(moulded))
  )
})
