# Missing values in sequences: rows keep their places.

few <- bnp_control(seed = 1, verbose = FALSE)
diagonal <- obs_gaussian("diagonal")
steps <- withr::with_seed(2, {
  state <- rep(rep(1:2, 4), each = 15)
  list(x = matrix(rnorm(240, c(0, 4)[state]), 120, dimnames = list(NULL, c("a", "b"))), state = state)
})
gappy <- replace(steps$x, cbind(c(2, 20, 21, 22, 50, 51, 51, 119, 120, 120), c(1, 1, 2, 1, 2, 1, 2, 1, 1, 2)), NA)
hmm <- function(x, ...) bnp_hmm(x, obs = diagonal, control = few, na_action = "model", ...)

test_that("with one state the bound is the evidence of the cells that are there", {
  one <- hmm(gappy, prior = prior_hmm(1))
  diagonal <- obs_gaussian("diagonal", learn = FALSE)
  rows <- suppressMessages(bnp_mixture(gappy, diagonal, prior_dirichlet(1), few, na_action = "model"))
  expect_equal(nobs(one), 120)
  expect_equal(nobs(rows), 118)
  given <- bnp_hmm(gappy, obs = rows$model$obs[c("family", "mean", "mean_strength", "df", "scale")] |>
    structure(class = class(diagonal)), prior = prior_hmm(1), control = few, na_action = "model")
  expect_equal(elbo(given), elbo(rows), tolerance = 1e-10)
})

test_that("without missing values na_action changes no bit", {
  fit <- hmm(steps$x)
  plain <- bnp_hmm(steps$x, obs = diagonal, control = few)
  expect_identical(fit$input$na_action, "model")
  fit$input$na_action <- NULL
  expect_identical(fit[setdiff(names(fit), c("call", "trace"))], plain[setdiff(names(plain), c("call", "trace"))])
})

test_that("states are found, laps rise, and the chain goes through rows without values", {
  fit <- hmm(gappy)
  expect_gt(min(diff(elbo_trace(fit)$elbo)), -1e-9)
  expect_gt(adjusted_rand_index(fitted(fit), steps$state), 0.9)
  expect_length(fitted(fit), 120)
  prob <- predict(fit, gappy, type = "prob", na_action = "model")
  expect_equal(unname(rowSums(prob)), rep(1, 120))
  expect_gt(prob[51, fitted(fit)[50]], 0.9)
  ends <- predict(fit, gappy, type = "logdensity", na_action = "model")
  expect_equal(unname(ends[c(51, 120)]), c(0, 0), tolerance = 1e-12)
  expect_equal(heldout_loglik(fit, gappy, na_action = "model"), mean(ends[-c(51, 120)]))
  expect_equal(sum(segments(fit)$length), 120)
})

test_that("probabilities are those of all paths", {
  # Two states, four rows, the second without values: by the sum over 16 paths.
  fit <- hmm(gappy, prior = prior_hmm(2))
  x <- rbind(c(0, 0), NA, c(4, NA), c(4, 4))
  log_p <- engine_log_predictives(
    as_engine_data(as_new_sequences(fit, x, NULL, na_action = "model")), fit$model, fit$state, 1
  )[, fit$numbering]
  moves <- engine_mean_transitions(fit$model, fit$state)
  start <- moves[1, fit$numbering]
  transition <- moves[1 + fit$numbering, fit$numbering]
  paths <- as.matrix(expand.grid(rep(list(1:2), 4)))
  value <- apply(paths, 1, function(z) {
    log(start[z[1]]) + sum(log(transition[cbind(z[-4], z[-1])])) + sum(log_p[cbind(1:4, z)])
  })
  share <- exp(value) / sum(exp(value))
  given <- clusters_given(fit, as_new_sequences(fit, x, NULL, na_action = "model"))
  for (k in 1:2) expect_equal(given$prob[, k], unname(colSums(share * (paths == k))), tolerance = 1e-10)
  drawn <- withr::with_seed(4, replicate(4000, sum((given$draw() - 1) * c(1, 2, 4, 8)) + 1))
  expect_gt(stats::chisq.test(
    tabulate(drawn, 16)[share > 1e-3], p = share[share > 1e-3], rescale.p = TRUE, simulate.p.value = TRUE
  )$p.value, 0.001)
  expect_equal(
    sum(predict(fit, x, type = "logdensity", na_action = "model")), log(sum(exp(value))), tolerance = 1e-6
  )
})

test_that("omit leaves rows out of their sequences", {
  id <- rep(c("u", "v"), each = 60)
  frame <- data.frame(id, gappy)
  gone <- !stats::complete.cases(gappy)
  expect_message(fit <- bnp_hmm(frame, "id", diagonal, control = few, na_action = "omit"), "9 rows|8 rows")
  expect_identical(is.na(fitted(fit)), gone)
  suppressMessages({
    expect_identical(is.na(predict(fit, frame, na_action = "omit")), gone)
    expect_identical(is.na(predict(fit, frame, type = "prob", na_action = "omit")[, 1]), gone)
    expect_identical(is.na(augment(fit, frame, na_action = "omit")$.class), gone)
  })
  expect_equal(unname(fit$input$starts), c(0L, cumsum(tapply(!gone, id, sum))), ignore_attr = TRUE)
})

test_that("lists of sequences, products and counts have gaps too", {
  parts <- list(u = gappy[1:60, ], v = gappy[61:120, ])
  fit <- hmm(parts)
  expect_length(fitted(fit), 120)
  copies <- impute(fit, parts, m = 2, seed = 1)
  expect_named(copies[[1]], c("u", "v"))
  expect_false(anyNA(unlist(copies)))
  expect_identical(copies[[2]]$u[1, ], parts$u[1, ])
  frame <- data.frame(gappy, kind = factor(steps$state))
  frame$kind[c(4, 51, 90)] <- NA
  fit <- bnp_hmm(frame, obs = obs_product(diagonal, obs_categorical()), control = few, na_action = "model")
  expect_identical(predict(fit, frame, type = "impute")$kind[c(4, 51, 90)], factor(steps$state)[c(4, 51, 90)])
})
