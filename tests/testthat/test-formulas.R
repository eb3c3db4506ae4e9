# Formulas: what a bar means, names in backticks, and arguments that name columns.

once <- bnp_control(seed = 1, max_laps = 5)
calm <- function(expr) suppressMessages(suppressWarnings(expr))

test_that("a bar inside a term is refused, by every verb that takes a formula", {
  bad <- list(
    uptake ~ conc + (1 | Plant), uptake ~ conc + (conc || Plant), uptake ~ (conc | Plant), uptake ~ conc * (1 | Plant),
    uptake ~ conc | Type | Plant, ~ conc + (1 | Plant), ~ uptake + (conc | Plant) + conc,
    uptake ~ conc || Plant, (uptake | Plant) ~ conc, uptake ~ poly(conc, 2) + {conc | Plant}, uptake ~ . - (1 | Plant),
    stats::terms(uptake ~ conc + (1 | Plant))
  )
  rows <- source_function(function(i) if (i == 1) as.data.frame(CO2))
  stream <- bnp_stream(function(i) if (i == 1) as.data.frame(CO2))
  meant <- c(1L, 2L, length(bad)) # random effects, in mixtures alone
  for (i in seq_along(bad)) {
    formula <- bad[[i]]
    if (i %in% meant) {
      expect_true(!is.null(calm(bnp_mixture(formula, CO2, control = once))$model$obs$random))
    } else {
      says <- if (i == 3L) "fixed part" else "id = ~ (Plant|Type).*one cluster"
      expect_bad(bnp_mixture(formula, CO2, control = once), "formula", says)
    }
    expect_bad(bnp_hmm(formula, CO2, control = once), "formula", "random effects.*a sequence of its own")
    if (i %in% meant) {
      expect_true(!is.null(calm(bnp_mixture(formula, rows, control = once))$model$obs$random))
    } else {
      expect_bad(bnp_mixture(formula, rows, control = once), "formula")
    }
  }
  expect_bad(bnp_mixture(uptake ~ conc + (1 | Plant), stream), "formula", "a stream does not bring together")
  fit <- calm(bnp_mixture(uptake ~ conc, CO2, control = once))
  expect_bad(update(fit, . ~ . * (1 | Plant)), "formula", "2 terms with a bar")
  expect_bad(obs_regression(formula = uptake ~ conc + (1 | Plant)), "formula", "1 \\| Plant")
  counts <- matrix(1:12, 4)
  y <- c(1, 3, 2, 5)
  g <- c(1, 1, 2, 2)
  expect_bad(bnp_topics(counts, response = y ~ (1 | g), control = once), "formula", "1 \\| g")
  expect_bad(bnp_topics(counts, response = stats::terms(y ~ (1 | g)), control = once), "formula", "1 \\| g")
  # No remedy that would be refused.
  unnamed <- rlang::catch_cnd(bnp_mixture(uptake ~ conc * (1 | factor(Plant)), CO2), "bnpvi_error_formula")
  expect_no_match(conditionMessage(unnamed), "id =")
  # What has a meaning stays.
  expect_s3_class(calm(bnp_mixture(uptake ~ conc | Plant, CO2, control = once)), "bnp_mixture")
  expect_s3_class(calm(bnp_mixture(uptake ~ I(conc > 500 | conc < 100), CO2, control = once)), "bnp_mixture")
})

test_that("formulas may come as terms", {
  plants <- as.data.frame(CO2)
  same <- function(verb, formula) {
    expect_equal(elbo(calm(verb(stats::terms(formula), plants, control = once))),
      elbo(calm(verb(formula, plants, control = once))))
  }
  same(bnp_mixture, uptake ~ conc | Plant)
  same(bnp_mixture, ~ uptake + conc)
  same(bnp_hmm, uptake ~ conc | Plant)
  expect_identical(obs_regression(formula = stats::terms(uptake ~ conc))$intercept, TRUE)
})

test_that("terms that are no covariates of topics are refused, and what was taken out is out", {
  counts <- withr::with_seed(1, matrix(stats::rpois(200, 2), 20))
  y <- withr::with_seed(2, stats::rnorm(20))
  a <- withr::with_seed(3, stats::rnorm(20))
  b <- rep(1:2, 10)
  value <- function(formula) elbo(calm(bnp_topics(counts, response = formula, control = once)))
  expect_bad(value(y ~ a * b), "response", "interactions")
  expect_bad(value(y ~ a + offset(b)), "response", "offset")
  expect_bad(value(y ~ a + y), "response", "covariate, too")
  expect_equal(value(y ~ a + b - b), value(y ~ a))
  expect_equal(value(y ~ a - a), value(y ~ 1))
  expect_false(isTRUE(all.equal(value(y ~ a + b), value(y ~ a))))
})

test_that("names in backticks are the columns that they name, in every verb", {
  odd <- stats::setNames(faithful, c("eruption time", "a|b"))
  truth <- elbo(bnp_mixture(faithful, control = once))
  expect_equal(elbo(bnp_mixture(~ `eruption time` + `a|b`, odd, control = once)), truth)
  expect_equal(elbo(bnp_mixture(~., odd, control = once)), truth)
  piece <- source_function(function(i) if (i == 1) odd)
  expect_equal(elbo(bnp_mixture(~ `eruption time` + `a|b`, piece, control = once)), truth, tolerance = 1e-10)
  expect_equal(
    elbo(calm(bnp_hmm(~ `eruption time` + `a|b`, odd, control = once))), elbo(calm(bnp_hmm(faithful, control = once)))
  )
  logs <- bnp_mixture(~ log(`eruption time`) + `a|b`, odd, control = once)
  expect_equal(elbo(logs), elbo(bnp_mixture(transform(faithful, eruptions = log(eruptions)), control = once)))
  expect_equal(predict(logs, odd[5:9, ]), fitted(logs)[5:9])
  expect_equal(nrow(augment(logs, odd)), 272L)
  expect_equal(nobs(update(logs, newdata = odd[1:3, ])), 275)
  plants <- stats::setNames(as.data.frame(CO2), c("Pl ant", "Type", "Treatment", "co nc", "up take"))
  truth <- elbo(calm(bnp_mixture(uptake ~ log(conc) | Plant, CO2, control = once)))
  expect_equal(elbo(calm(bnp_mixture(`up take` ~ log(`co nc`) | `Pl ant`, plants, control = once))), truth)
  expect_equal(elbo(calm(bnp_mixture(`up take` ~ log(`co nc`), plants, id = ~`Pl ant`, control = once))), truth)
  counts <- withr::with_seed(1, matrix(stats::rpois(200, 2), 20))
  z <- withr::with_seed(2, data.frame(`o z` = stats::rnorm(20), check.names = FALSE))
  fit <- calm(bnp_topics(counts, response = 1:20, covariates = z, control = once))
  expect_equal(
    elbo(fit), elbo(calm(bnp_topics(counts, response = 1:20, covariates = stats::setNames(z, "oz"), control = once)))
  )
  expect_equal(nrow(predict(fit, counts, type = "response", covariates = z)), 20L)
})

test_that("weights, labels, id and time name columns of data: bare, as text, or by a formula", {
  hair <- as.data.frame(HairEyeColor)
  truth <- elbo(bnp_mixture(hair[1:3], weights = hair$Freq, control = once))
  same <- function(fit) expect_equal(elbo(calm(fit)), truth)
  same(bnp_mixture(~ Hair + Eye + Sex, hair, weights = Freq, control = once))
  same(bnp_mixture(~., hair, weights = Freq, control = once))
  same(bnp_mixture(~., hair, weights = "Freq", control = once))
  same(bnp_mixture(~., hair, weights = ~Freq, control = once))
  same(bnp_mixture(hair, weights = "Freq", control = once))
  same(bnp_mixture(~ Hair + Eye + Sex, hair, weights = 2 * Freq / 2, control = once))
  Freq <- rep(1, 32) # the column wins, as in lm()
  same(bnp_mixture(~., hair, weights = Freq, control = once))
  w <- hair$Freq
  same(bnp_mixture(~ Hair + Eye + Sex, hair, weights = w, control = once))
  inside <- function(...) bnp_mixture(~ Hair + Eye + Sex, hair, ..., control = once)
  same(inside(weights = w))
  same(inside(weights = Freq))
  same(update(bnp_mixture(~., hair, weights = Freq, control = once)))
  expect_bad(bnp_mixture(~Hair, hair, weights = nowhere, control = once), "weights", "nowhere")
  expect_bad(bnp_mixture(hair, weights = "nowhere", control = once), "weights", "nowhere")
  expect_bad(bnp_mixture(~Hair, hair, weights = ~ Freq + 1, control = once), "weights", "one column")

  truth <- elbo(calm(bnp_mixture(uptake ~ conc | Plant, CO2, control = once)))
  same(bnp_mixture(uptake ~ conc, CO2, id = Plant, control = once))
  same(bnp_mixture(uptake ~ conc, CO2, id = "Plant", control = once))
  known <- ifelse(seq_len(150) %% 5 == 0, as.character(iris$Species), NA)
  flowers <- cbind(iris[1:4], known)
  truth <- elbo(bnp_mixture(iris[1:4], labels = known, control = once))
  same(bnp_mixture(~., flowers, labels = known, control = once))
  same(bnp_mixture(flowers, labels = ~known, control = once))
  weeks <- data.frame(y = withr::with_seed(1, stats::rnorm(60, rep(1:6, each = 10))), week = rep(1:6, each = 10))
  truth <- elbo(calm(bnp_mixture(weeks["y"], obs_gaussian(drift = 0.5), time = weeks$week, control = once)))
  same(bnp_mixture(~y, weeks, obs_gaussian(drift = 0.5), time = week, control = once))
  same(bnp_mixture(~y, weeks, obs_gaussian(drift = 0.5), time = "week", control = once))
  chain <- cbind(faithful, day = rep(1:2, each = 136))
  truth <- elbo(calm(bnp_hmm(faithful, id = chain$day, control = once)))
  same(bnp_hmm(~., chain, id = day, control = once))
})

test_that("a checkpoint has the values of arguments that name columns, and no column takes their place", {
  d <- cbind(faithful, w = rep(1:2, 136), weights = 1)
  file <- withr::local_tempfile()
  control <- bnp_control(seed = 1, max_laps = 3, checkpoint = file)
  fit <- calm(bnp_mixture(~ eruptions + waiting, d, weights = w, control = control))
  expect_identical(elbo(calm(bnp_resume(file, d))), elbo(fit))
})

test_that("a level that a regression has not seen is refused by column, level and remedy", {
  fit <- calm(bnp_mixture(uptake ~ conc + Type, CO2, control = once))
  new <- transform(as.data.frame(CO2[1:3, ]), Type = "Mars")
  for (type in c("class", "prob", "response")) {
    expect_bad(predict(fit, new, type = type), "formula", "Type.*Mars.*leave these rows out")
  }
  expect_bad(update(fit, newdata = new), "formula", "Mars")
  expect_bad(residuals(fit, new), "formula", "Mars")
  both <- obs_product(obs_regression(formula = uptake ~ Type), obs_gaussian(columns = "conc"))
  fit <- calm(bnp_mixture(as.data.frame(CO2)[c("Type", "conc", "uptake")], both, control = once))
  expect_bad(predict(fit, new), "formula", "Mars")
})

test_that("a text with braces stands in a message as it is", {
  odd <- stats::setNames(faithful, c("{a}", "b"))
  expect_bad(bnp_mixture(~ `{stop()}` + b, odd, control = once), "formula", "{stop()}", fixed = TRUE)
  expect_bad(bnp_mixture(b ~ `{1 + 1}`, odd, control = once), "formula", "{1 + 1}", fixed = TRUE)
  expect_bad(bnp_mixture(~b, odd, weights = `{w}`, control = once), "weights", "{w}", fixed = TRUE)
  fit <- calm(bnp_mixture(b ~ `{a}`, odd, control = once))
  expect_bad(predict(fit, odd["b"]), "formula", "{a}", fixed = TRUE)
  counts <- matrix(1:12, 4, dimnames = list(NULL, c("{x}", "y", "z")))
  topics <- calm(bnp_topics(counts, control = once))
  expect_bad(update(topics, newdata = cbind(counts, `{new}` = 1L)), "new_terms", "{new}", fixed = TRUE)
  expect_bad(bnp_topics(counts, response = `{r}` ~ 1, control = once), "response", "{r}", fixed = TRUE)
  file <- withr::local_tempfile(pattern = "{file}")
  expect_bad(bnp_resume(file, odd), "checkpoint", "{file}", fixed = TRUE)
  nowhere <- bnp_control(seed = 1, checkpoint = file.path(file, "fit"))
  expect_bad(bnp_mixture(odd, control = nowhere), "checkpoint", "{file}", fixed = TRUE)
})

test_that("the variables of a formula have a value for each row of the data", {
  other <- 1:7
  for (fit in list(bnp_mixture, bnp_hmm)) {
    expect_bad(fit(~ mean(eruptions), faithful, control = once), "formula", "1 value, .* 272 rows")
    expect_bad(fit(~ head(eruptions, 10), faithful, control = once), "formula", "10 values")
    expect_bad(fit(head(eruptions, 10) ~ head(waiting, 10), faithful, control = once), "formula", "10 values")
    expect_bad(fit(~ c(eruptions, waiting), faithful, control = once), "formula", "544 values")
    expect_bad(fit(~other, faithful, control = once), "formula", "7 values")
  }
  waiting <- faithful$waiting
  alone <- calm(bnp_mixture(~waiting, faithful, control = once))
  expect_identical(elbo(calm(bnp_mixture(~waiting, control = once))), elbo(alone))
  # New data that lack a variable do not get another vector of that name.
  assign("waiting", 1:7, globalenv())
  withr::defer(rm("waiting", envir = globalenv()))
  for (type in c("class", "prob", "logdensity")) {
    lacking <- faithful[1:5, "eruptions", drop = FALSE]
    expect_bad(predict(alone, lacking, type = type), "formula", "lacks a column .*waiting")
  }
  expect_equal(predict(alone, faithful[1:5, ]), fitted(alone)[1:5])
})

test_that("formulas that R cannot read, and a response among its covariates, are refused", {
  for (formula in list(~., ~"a")) expect_bad(bnp_mixture(formula, control = once), "formula", "cannot be evaluated")
  twice <- stats::setNames(cbind(faithful, 1), c("a", "a", "b"))
  expect_bad(bnp_hmm(~., twice, control = once), "formula", "duplicated name")
  for (formula in list(waiting ~ waiting, waiting ~ waiting + eruptions, waiting ~ eruptions:waiting)) {
    expect_bad(bnp_mixture(formula, faithful, control = once), "formula", "must not be a covariate")
  }
  expect_silent(suppressWarnings(
    bnp_mixture(waiting ~ I(eruptions^2), faithful, control = once), "bnpvi_warning"
  ))
})

test_that("verbs that take no formula say so, with data beside it, too", {
  for (fit in list(bnp_features, bnp_topics, bnp_network)) {
    expect_bad(fit(~ eruptions + waiting, faithful), "formula", "bnp_mixture")
    expect_bad(fit(~eruptions), "formula", "bnp_mixture")
  }
})

test_that("new data must have the fit's columns, whatever variables of their names there are elsewhere", {
  data <- withr::with_seed(1, data.frame(a = c(rnorm(20), rnorm(20, 6)), b = rnorm(40)))
  data$y <- data$a + data$b
  far <- c("a_elsewhere", "b_elsewhere", "y_elsewhere")
  names(data) <- far
  for (name in far) assign(name, rep(99, 40), globalenv())
  assign("times_elsewhere", 2, globalenv())
  withr::defer(rm(list = c(far, "times_elsewhere"), envir = globalenv()))
  plain <- bnp_mixture(~ a_elsewhere + I(b_elsewhere * times_elsewhere), data, control = once)
  lines <- bnp_mixture(y_elsewhere ~ a_elsewhere + poly(b_elsewhere, 2), data, control = once)
  states <- bnp_hmm(~ a_elsewhere + b_elsewhere, data, control = once)
  given <- data["a_elsewhere"]
  refused <- list(
    quote(predict(plain, given)), quote(predict(plain, given, type = "logdensity")), quote(augment(plain, given)),
    quote(heldout_loglik(plain, given)), quote(update(plain, newdata = given)), quote(coclustering(plain, given)),
    quote(predict(lines, data[c("a_elsewhere", "y_elsewhere")])), quote(predict(lines, given, type = "response")),
    quote(residuals(lines, given)), quote(augment(lines, data[c("a_elsewhere", "b_elsewhere")])),
    quote(predict(states, given)), quote(segments(states, given)), quote(forecast(states, given)),
    quote(cluster_tree(plain, given)), quote(bnp_sample(plain, given))
  )
  for (call in refused) expect_bad(eval(call), "formula", "elsewhere")
  # A variable that was no column is read where it is.
  expect_length(predict(plain, data), 40L)
  # With missing values it is a column of these.
  model <- bnp_mixture(~ a_elsewhere + b_elsewhere, data, control = once, na_action = "model")
  without <- transform(data, b_elsewhere = NA_real_)
  for (rows in list(1:40, 7)) {
    expect_message(found <- predict(model, given[rows, , drop = FALSE], type = "prob"), "no value at all")
    expect_equal(found, suppressMessages(predict(model, without[rows, ], type = "prob")))
  }
  expect_message(bnp_filter(states, given), "no value at all")
})

test_that("functions that give no numbers are refused before R warns", {
  data <- data.frame(y = c(-1, 2, 3, -4, 1:20), x = 1:24)
  for (action in c("fail", "omit", "model")) for (formula in list(~ log(y), ~ sqrt(y) + x, log(y) ~ x, x ~ log(y))) {
    expect_no_warning(
      expect_bad(bnp_mixture(formula, data, control = once, na_action = action), "not_finite", "not a number in 2 rows")
    )
  }
  expect_no_warning(expect_bad(bnp_hmm(log(y) ~ x, data, control = once), "not_finite", "1, 4"))
  fit <- bnp_mixture(~ log(y), data[-c(1, 4), ], control = once)
  for (verb in list(predict, augment, heldout_loglik)) {
    expect_no_warning(expect_bad(verb(fit, data), "not_finite", "log"))
  }
  # Other warnings of the formula stay.
  noted <- function(x) {
    warning("as I said")
    x
  }
  expect_warning(bnp_mixture(~ noted(y), data, control = once), "as I said")
})
