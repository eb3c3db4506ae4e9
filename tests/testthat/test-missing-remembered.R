# A fit remembers what its data's missing values were taken for: its methods need not be told again. And columns that
# new data lack.

with_holes <- function() {
  withr::with_seed(5, {
    x <- data.frame(
      a = c(rnorm(30), rnorm(30, 6)), b = c(rnorm(30), rnorm(30, 6)), f = factor(rep(c("u", "v"), each = 30)),
      n = rpois(60, rep(c(2, 20), each = 30)), series = rep(1:2, 30)[order(rep(1:2, 30))]
    )
    x$a[c(3, 40)] <- NA
    x$b[7] <- NA
    x$f[50] <- NA
    x$n[9] <- NA
    x
  })
}

remembering_fits <- function(x, na_action, complete = FALSE) {
  if (complete) x <- stats::na.omit(x)
  control <- bnp_control(seed = 1, max_laps = 20, verbose = FALSE)
  mixture <- function(...) bnp_mixture(..., control = control, na_action = na_action)
  hmm <- function(...) bnp_hmm(..., id = x$series, control = control, na_action = na_action)
  quietly(list(
    full = mixture(x[c("a", "b")]), diagonal = mixture(x[c("a", "b")], obs_gaussian("diagonal")),
    mixed = mixture(x[c("a", "b", "f")]), levels = mixture(x["f"], obs_categorical()),
    counts = mixture(x["n"], obs_poisson()), formula = mixture(~ a + f, x), regression = mixture(n ~ series, x),
    hmm = hmm(x[c("a", "b")]), hmm_mixed = hmm(x[c("a", "f")])
  ))
}

quietly <- function(expr) {
  withCallingHandlers(
    expr, bnpvi_message = function(m) invokeRestart("muffleMessage"),
    bnpvi_warning = function(w) invokeRestart("muffleWarning")
  )
}

# Calls of verbs that take `na_action`, as functions of the fit, the table and more arguments.
told_verbs <- list(
  predict = function(fit, x, ...) predict(fit, x, ...),
  prob = function(fit, x, ...) predict(fit, x, type = "prob", ...),
  logdensity = function(fit, x, ...) predict(fit, x, type = "logdensity", ...),
  cluster = function(fit, x, ...) predict(fit, x, type = "cluster", ...),
  augment = function(fit, x, ...) augment(fit, x, ...), heldout = function(fit, x, ...) heldout_loglik(fit, x, ...),
  update = function(fit, x, ...) elbo(update(fit, newdata = x, ...)), residuals = function(fit, x, ...) {
    if (inherits(fit, "bnp_mixture") && fit$model$obs$family == "regression") residuals(fit, x, ...)
  }
)

test_that("verbs do with missing values as the fit did, whether its data had any or not", {
  x <- with_holes()
  ways <- list(list("model", FALSE), list("model", TRUE), list("omit", FALSE), list("omit", TRUE))
  for (way in some_of(ways, by = 5)) {
    na_action <- way[[1L]]
    complete <- way[[2L]]
    fits <- remembering_fits(x, na_action, complete)
    for (name in names(fits)) for (verb in names(told_verbs)) {
      fit <- fits[[name]]
      if (name == "hmm" && na_action == "omit" && verb == "update") next # both series are cut alike: nothing to learn
      call <- told_verbs[[verb]]
      own <- if (inherits(fit, "bnp_hmm")) list(id = x$series)
      label <- paste(name, verb, na_action, complete)
      told <- try(quietly(do.call(call, c(list(fit, x), own, na_action = na_action))), silent = TRUE)
      untold <- try(quietly(do.call(call, c(list(fit, x), own))), silent = TRUE)
      if (inherits(told, "try-error")) told <- conditionMessage(attr(told, "condition"))
      if (inherits(untold, "try-error")) untold <- conditionMessage(attr(untold, "condition"))
      expect_identical(untold, told, label = label)
      expect_false(is.character(told), label = paste(label, told[1L]))
    }
  }
})

test_that("what a verb is told goes before what the fit did, and a fit that was not told anything refuses", {
  x <- with_holes()[c("a", "b")]
  fit <- remembering_fits(with_holes(), "model")$full
  expect_bad(predict(fit, x, na_action = "fail"), "not_finite")
  expect_message(left <- predict(fit, x, na_action = "omit"), class = "bnpvi_message_left_out")
  expect_equal(which(is.na(left)), c(3, 7, 40), ignore_attr = TRUE)
  whole <- bnp_mixture(stats::na.omit(x), control = bnp_control(seed = 1))
  for (verb in c("predict", "augment", "heldout")) {
    error <- expect_bad(told_verbs[[verb]](whole, x), "not_finite")
    expect_match(conditionMessage(error), "na_action = \"model\"", fixed = TRUE)
  }
  expect_no_error(predict(whole, x, na_action = "model"))
})

test_that("rows that are left out are NA in place, in every answer by rows", {
  x <- with_holes()
  fits <- remembering_fits(x, "omit", complete = TRUE)
  gone <- which(is.na(x$a) | is.na(x$b))
  for (type in c("class", "prob", "logdensity")) {
    answer <- as.matrix(quietly(predict(fits$full, x, type = type)))
    expect_equal(which(is.na(answer[, 1L])), gone, ignore_attr = TRUE, label = type)
  }
  left <- quietly(residuals(fits$hmm, x, id = x$series))
  expect_identical(dim(left), c(60L, 2L))
  expect_equal(which(is.na(left[, 1L])), gone, ignore_attr = TRUE)
  expect_equal(which(is.na(quietly(augment(fits$hmm, x, id = x$series))$.class)), gone)
})

test_that("verbs without the argument do as the fit did, too", {
  x <- with_holes()
  for (na_action in c("model", "omit")) {
    fits <- remembering_fits(x, na_action)
    own <- x[c("a", "b")]
    expect_s3_class(tree <- cluster_tree(fits$full, own), "bnp_tree")
    expect_equal(n_clusters(cut_fit(fits$full, own, k = 1)), 1)
    expect_equal(dim(coclustering(fits$full, own)), if (na_action == "omit") c(57L, 57L) else c(60L, 60L))
    withr::with_pdf(NULL, expect_no_error(quietly(plot(fits$full, data = own))))
    expect_no_error(quietly(segments(fits$hmm, own, id = x$series)))
    expect_no_error(quietly(bnp_filter(fits$hmm, own, id = x$series)))
    if (na_action == "model") {
      expect_length(quietly(impute(fits$full, own, m = 2, seed = 1)), 2)
      expect_s3_class(
        quietly(check_fit(fits$diagonal, own, chains = 1, draws = 10, seed = 1, verbose = FALSE)), "bnp_check"
      )
    }
    table <- quietly(compare_fits(full = fits$full, diagonal = fits$diagonal, newdata = own))
    expect_true(all(is.finite(table$loglik)))
  }
})

test_that("topics, features and streams remember, too, from a first batch without any", {
  withr::local_seed(3)
  counts <- matrix(rpois(200, 2), 20, dimnames = list(NULL, letters[1:10]))
  holes <- replace(counts, c(3, 25), NA)
  control <- bnp_control(seed = 1, max_laps = 5)
  topics <- quietly(bnp_topics(counts, control = control, na_action = "omit"))
  expect_equal(
    quietly(predict(topics, holes)), quietly(predict(topics, holes, na_action = "omit"))
  )
  expect_equal(which(is.na(quietly(predict(topics, holes, type = "class")))), c(3, 5))
  expect_true(is.finite(quietly(heldout_loglik(topics, holes, seed = 1))))
  expect_bad(predict(topics, holes, na_action = "fail"), "not_finite")
  features <- quietly(bnp_features(counts + 0.5, control = control, na_action = "omit"))
  expect_equal(nobs(quietly(update(features, newdata = holes))), 20 + 18)
  x <- with_holes()[c("a", "b")]
  batches <- function(x) function(i) if (i < 3) x[30 * (i - 1) + 1:30, ]
  holes_last <- rbind(stats::na.omit(x)[1:30, ], x[1:30, ])
  by_stream <- bnp_control("truncation_free", seed = 1, verbose = FALSE)
  diagonal <- obs_gaussian("diagonal")
  fit <- bnp_mixture(bnp_stream(batches(holes_last)), diagonal, control = by_stream, na_action = "model")
  expect_equal(nobs(fit), 60)
  more <- bnp_mixture(bnp_stream(batches(holes_last)), diagonal, control = by_stream, start = fit)
  expect_equal(nobs(more), 120)
  expect_equal(nobs(update(fit, newdata = x)), 120)
  expect_error(
    bnp_mixture(bnp_stream(batches(holes_last)), diagonal, control = by_stream, start = fit, na_action = "fail"),
    class = "bnpvi_error_stream"
  )
})

test_that("a column of NA is read by the fit's kind, whatever its class, and said", {
  x <- with_holes()
  fits <- remembering_fits(x, "model")
  some <- x[c(1, 2, 31, 32), ]
  nothing <- list(NA, NA_real_, NA_integer_, NA_character_, factor(NA), as.Date(NA),
    as.difftime(NA_real_, units = "mins"))
  cases <- list(
    list("full", "b"), list("diagonal", "a"), list("mixed", "f"), list("mixed", "a"), list("formula", "f"),
    list("formula", "a"), list("hmm_mixed", "f"), list("hmm", "b"), list("counts", "n"), list("levels", "f")
  )
  for (i in seq_along(cases)) {
    case <- cases[[i]]
    fit <- fits[[case[[1L]]]]
    id <- if (inherits(fit, "bnp_hmm")) list(id = some$series)
    ask <- function(x) do.call(predict, c(list(fit, x), type = "prob", id))
    of_numbers <- some
    of_numbers[[case[[2L]]]] <- as.double(NA)
    right <- quietly(ask(of_numbers))
    expect_false(anyNA(right))
    for (value in some_of(nothing, by = 4, from = i %% 4 + 1)) {
      of_kind <- some
      of_kind[[case[[2L]]]] <- rep(value, 4L)
      expect_message(answer <- ask(of_kind), class = "bnpvi_message_wholly_missing")
      expect_identical(answer, right, label = paste(case[[1L]], case[[2L]], class(value)[1L]))
    }
    if (ncol(as.data.frame(fit$input$column_names)) && length(fit$input$column_names) > 1L) {
      absent <- some[setdiff(names(some), case[[2L]])]
      expect_message(answer <- ask(absent), class = "bnpvi_message_wholly_missing")
      expect_identical(answer, right, label = paste("without", case[[2L]]))
      one <- absent[1L, ]
      if (is.null(id)) expect_message(ask(one), class = "bnpvi_message_wholly_missing")
    }
  }
})

test_that("columns that are needed, or all, are refused where they are not there", {
  x <- with_holes()
  fits <- remembering_fits(x, "model")
  expect_bad(predict(fits$full, x["n"]), "newdata_columns")
  expect_bad(predict(fits$full, cbind(a = 1:3, z = 1:3)), "newdata_columns") # a matrix whose names are others
  expect_message(predict(fits$full, cbind(a = 1:3)), class = "bnpvi_message_wholly_missing")
  expect_bad(predict(fits$full, x["a"], na_action = "fail"), "newdata_columns")
  expect_bad(predict(fits$full, x["a"], na_action = "omit"), "newdata_columns")
  expect_bad(predict(fits$formula, x["n"]), "formula")
  expect_bad(predict(fits$regression, x["n"]), "formula")
  watched <- data.frame(n = stats::na.omit(x)$n, m = stats::na.omit(x)$n + 1, time = 1)
  exposed <- quietly(bnp_mixture(
    watched, obs_poisson(exposure = "time"), control = bnp_control(seed = 1, max_laps = 5), na_action = "model"
  ))
  expect_bad(predict(exposed, watched[c("n", "m")]), "newdata_columns")
  expect_message(predict(exposed, watched[c("n", "time")]), class = "bnpvi_message_wholly_missing")
})
