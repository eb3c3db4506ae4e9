# Columns and vectors of every class: the numbers that they are, missing where is.na() says so, or a clear refusal.

once <- bnp_control(seed = 1, max_laps = 5)
calm <- function(expr) suppressMessages(suppressWarnings(expr))
whole <- withr::with_seed(1, round(stats::rnorm(40, rep(c(0, 30), each = 20), 4)))

# The same 40 whole numbers in every class that means numbers.
number_classes <- function(v = whole) {
  out <- list(
    double = v, integer = as.integer(v), array = array(v), table = as.table(v), as_is = I(v), noquote = noquote(v),
    ts = stats::ts(v), roman_like = structure(v, class = "mine"), matrix = cbind(v), frame = data.frame(v = v)
  )
  if (rlang::is_installed("haven")) {
    out$labelled <- haven::labelled(v, c(none = 0))
    out$labelled_spss <- haven::labelled_spss(v, na_values = 999)
  }
  if (rlang::is_installed("bit64")) out$integer64 <- bit64::as.integer64(v)
  if (rlang::is_installed("vctrs")) out$vctrs <- vctrs::new_vctr(v, class = "mine")
  out
}

# Columns that are no numbers and no levels.
refused_classes <- function(n = 40L) {
  v <- seq_len(n)
  out <- list(
    complex = v + 0i, raw = as.raw(v), Date = Sys.Date() + v, POSIXct = Sys.time() + v,
    difftime = as.difftime(v, units = "mins"), list = as.list(v), version = numeric_version(as.character(v))
  )
  out$POSIXlt <- as.POSIXlt(out$POSIXct)
  if (rlang::is_installed("hms")) out$hms <- hms::hms(v)
  if (rlang::is_installed("units")) out$units <- units::set_units(v, "m")
  if (rlang::is_installed("vctrs")) {
    out$rcrd <- vctrs::new_rcrd(list(a = v, b = v))
    out$list_of <- vctrs::as_list_of(as.list(v))
  }
  if (rlang::is_installed("bit64")) out$integer64 <- bit64::as.integer64(v) + bit64::as.integer64("9007199254740992")
  out
}

with_column <- function(v, name = "v", x = data.frame(u = rep(c(0.5, 1.25, -2, 7), 10))) {
  x[[name]] <- v
  x[c(name, setdiff(names(x), name))]
}

test_that("numbers of every class are the same numbers, whatever takes them", {
  document <- rep(1:4, each = 10)
  verbs <- list(
    mixture = function(x) bnp_mixture(x, obs_gaussian(), control = once),
    hmm = function(x) bnp_hmm(x, obs = obs_gaussian(), control = once),
    topics = function(x) bnp_topics(x, obs_gaussian(), id = document, control = once),
    features = function(x) bnp_features(x, control = once),
    formula = function(x) bnp_mixture(~ v + u, x, obs_gaussian(), control = once),
    regression = function(x) bnp_mixture(u ~ v, x, control = once),
    response = function(x) bnp_mixture(v ~ u, x, control = once),
    source = function(x) {
      halves <- source_function(function(i) if (i <= 2) x[1:20 + 20 * (i - 1), ])
      bnp_mixture(halves, obs_gaussian(), control = once)
    }
  )
  for (verb in names(verbs)) {
    truth <- calm(elbo(verbs[[verb]](with_column(whole))))
    for (class in some_of(names(number_classes()), by = 3, from = match(verb, names(verbs)) %% 3 + 1)) {
      x <- with_column(number_classes()[[class]])
      if (class == "frame") x$v <- x$v$v # a formula sees a data frame as such
      expect_equal(calm(elbo(verbs[[verb]](x))), truth, tolerance = 1e-12, label = paste(verb, class))
    }
  }
})

test_that("a vector of every class is a column, and rows that are asked about are read alike", {
  fit <- calm(bnp_mixture(whole, control = once))
  table <- calm(bnp_mixture(with_column(whole), obs_gaussian(), control = once))
  for (class in setdiff(names(number_classes()), c("matrix", "frame"))) {
    v <- number_classes()[[class]]
    expect_equal(calm(elbo(bnp_mixture(v, control = once))), elbo(fit), label = class)
    expect_equal(unname(predict(fit, v)), unname(predict(fit, whole)), label = class)
    expect_equal(predict(table, with_column(v)), predict(table, with_column(whole)), label = class)
    expect_equal(
      elbo(update(table, newdata = with_column(v))), elbo(update(table, newdata = with_column(whole))), label = class
    )
  }
})

test_that("weights, exposures, responses and covariates are read alike in every class", {
  w <- rep(c(1, 2), 20)
  truth <- calm(elbo(bnp_mixture(with_column(whole), obs_gaussian(), weights = w, control = once)))
  counts <- withr::with_seed(2, matrix(stats::rpois(400, 2), 40))
  topics <- function(y, z) calm(elbo(bnp_topics(counts, response = y, covariates = z, control = once)))
  exposed <- function(e) calm(elbo(bnp_mixture(counts[, 1:2], obs_poisson(exposure = e), control = once)))
  for (class in setdiff(names(number_classes()), c("matrix", "frame"))) {
    one <- number_classes(w)[[class]]
    expect_equal(
      calm(elbo(bnp_mixture(with_column(whole), obs_gaussian(), weights = one, control = once))), truth, label = class
    )
    expect_equal(topics(number_classes()[[class]], one), topics(whole, w), label = class)
    expect_equal(exposed(one), exposed(w), label = class)
  }
})

test_that("columns that mean something else are refused by name, whatever takes them", {
  document <- rep(1:4, each = 10)
  for (class in names(refused_classes())) {
    x <- with_column(refused_classes()[[class]])
    expect_bad(bnp_mixture(x, control = once), "not_numeric", "v")
    expect_bad(bnp_hmm(x, control = once), "not_numeric", "v")
    expect_bad(bnp_features(x, control = once), "not_numeric", "v")
    expect_bad(bnp_topics(x, obs_gaussian(), id = document, control = once), "not_numeric", "v")
    named <- obs_product(obs_gaussian(columns = "u"), obs_categorical(columns = "v"))
    expect_bad(bnp_mixture(x, named, control = once), "not_numeric", "v")
  }
})

test_that("what is.na() calls missing is missing, in every class", {
  skip_if_not_installed("haven")
  holes <- replace(whole, c(3, 21), NA)
  coded <- replace(whole, c(3, 21), 999)
  cases <- list(
    spss = haven::labelled_spss(coded, na_values = 999), range = haven::labelled_spss(coded, na_range = c(900, Inf)),
    tagged = replace(haven::labelled(whole), c(3, 21), haven::tagged_na("a"))
  )
  if (rlang::is_installed("bit64")) cases$integer64 <- bit64::as.integer64(holes)
  fits <- list(
    function(x) bnp_mixture(x, obs_gaussian(), na_action = "model", control = once),
    function(x) bnp_hmm(x, obs = obs_gaussian(), na_action = "model", control = once),
    function(x) bnp_features(x, na_action = "model", control = once),
    function(x) {
      both <- obs_product(obs_categorical(columns = "v"), obs_gaussian())
      bnp_mixture(x, both, na_action = "model", control = once)
    },
    function(x) bnp_mixture(~ v + u, x, obs_gaussian(), na_action = "omit", control = once),
    function(x) bnp_mixture(v ~ u, x, na_action = "omit", control = once)
  )
  for (fit in fits) {
    truth <- calm(elbo(fit(with_column(holes))))
    for (class in names(cases)) {
      expect_equal(calm(elbo(fit(with_column(cases[[class]])))), truth, label = class)
      expect_bad(bnp_mixture(with_column(cases[[class]]), obs_gaussian(), control = once), "not_finite", "\\(3, v\\)")
    }
  }
  text <- haven::labelled_spss(rep(c("a", "b", "?"), c(18, 20, 2)), na_values = "?")
  known <- c(rep(c("a", "b"), c(18, 20)), NA, NA)
  one <- function(v) calm(elbo(bnp_mixture(data.frame(v = v), na_action = "model", control = once)))
  expect_equal(one(text), one(known))
})

test_that("labelled columns are read where haven is not loaded, those of SPSS only with it", {
  codes <- replace(whole, c(3, 21), 999)
  labelled <- function(...) structure(codes, labels = c(none = 0), class = c(..., "vctrs_vctr", "double"))
  fit <- function(v) calm(elbo(bnp_mixture(with_column(v), na_action = "model", control = once)))
  expect_equal(fit(labelled("haven_labelled")), fit(codes))
  spss <- structure(labelled("haven_labelled_spss", "haven_labelled"), na_values = 999)
  if (rlang::is_installed("haven")) {
    expect_equal(fit(spss), fit(replace(whole, c(3, 21), NA)))
  } else {
    expect_error(fit(spss), "haven", class = "rlib_error_package_not_found")
  }
})

test_that("64-bit integers are exact up to 2^53, and refused above only where they are read", {
  skip_if_not_installed("bit64")
  most <- bit64::as.integer64("9007199254740992")
  x <- c(most, -most, bit64::as.integer64(NA), bit64::as.integer64(c(0, -1, 4294967296, 2147483648)))
  expect_identical(plain_values(x), c(2^53, -2^53, NA, 0, -1, 2^32, 2^31))
  for (more in 1:2) expect_s3_class(plain_values(most + bit64::as.integer64(more)), "integer64")
  d <- data.frame(v = whole, key = most + bit64::as.integer64(seq_along(whole)))
  fit <- calm(bnp_mixture(~v, d, control = once))
  expect_equal(predict(fit, d), predict(fit, d["v"]))
  expect_bad(bnp_mixture(d, control = once), "not_numeric", "2\\^53")
  expect_bad(bnp_mixture(whole, weights = d$key, control = once), "weights")
})

test_that("columns with one value in all rows are told of", {
  once <- bnp_control(seed = 1, max_laps = 2, moves = FALSE)
  said <- function(x) expect_message(suppressWarnings(bnp_mixture(x, control = once)), "has one value in all rows")
  said(cbind(faithful, same = 3))
  said(cbind(faithful, same = factor("a")))
  quiet <- function(...) {
    expect_no_message(suppressWarnings(bnp_mixture(..., control = once)), class = "bnpvi_message_one_value_columns")
  }
  quiet(faithful)
  quiet(cbind(faithful, same = 3)[1:2])
  quiet(cbind(faithful, same = 3), obs_gaussian())
})

test_that("columns that count the rows are named", {
  once <- bnp_control(seed = 1, max_laps = 2, restarts = 1, verbose = FALSE)
  numbered <- transform(faithful, number = seq_len(272), from_7 = as.double(6 + seq_len(272)))
  said <- function(expr) expect_message(suppressWarnings(expr), class = "bnpvi_message_row_numbers")
  message <- tryCatch(bnp_mixture(numbered, control = once), bnpvi_message_row_numbers = conditionMessage)
  expect_match(message, "Columns number and from_7 of `x` count the rows.*Leave them out")
  said(bnp_mixture(transform(numbered[1:3], kind = rep(c("a", "b"), 136)), control = once))
  quiet <- function(x, ...) {
    expect_no_message(suppressWarnings(bnp_mixture(x, ..., control = once)), class = "bnpvi_message_row_numbers")
  }
  quiet(faithful)
  quiet(transform(faithful, number = c(seq_len(271), 300)))
  quiet(transform(faithful, number = seq_len(272) * 2))
  quiet(transform(faithful, number = c(1, 3, 2, 4:272)))
  quiet(numbered, obs = obs_gaussian())
  quiet(seq_len(272))
})

test_that("columns that count the rows are named in sources, whatever the pieces", {
  once <- bnp_control(seed = 1, max_laps = 2, restarts = 1, verbose = FALSE)
  numbered <- transform(faithful, number = seq_len(272), from_7 = as.double(6 + seq_len(272)))
  pieces <- function(x, rows) {
    parts <- unname(split(x, (seq_len(nrow(x)) - 1L) %/% rows))
    source_function(function(b) parts[[b]], batches = length(parts))
  }
  fit <- function(x, rows, ...) suppressWarnings(bnp_mixture(pieces(x, rows), ..., control = once))
  kinds <- transform(numbered[1:3], kind = rep(c("a", "b"), 136))
  for (rows in some_of(c(50L, 1L, 272L), by = 2)) {
    expect_message(fit(numbered, rows), "Columns number and from_7 of `x` count", class = "bnpvi_message_row_numbers")
  }
  expect_message(fit(kinds, 100L), "Column number of `x` counts", class = "bnpvi_message_row_numbers")
  quiet <- function(...) expect_no_message(fit(...), class = "bnpvi_message_row_numbers")
  quiet(faithful, 50L)
  quiet(transform(faithful, number = rep(1:68, 4)), 68L) # begins anew in each piece
  quiet(transform(faithful, number = c(1:271, 300)), 50L)
  quiet(numbered, 50L, obs = obs_gaussian())
})

test_that("a column without any value is to be left out", {
  once <- bnp_control(seed = 1, max_laps = 2, restarts = 1, verbose = FALSE)
  for (none in list(NA_real_, NA, NA_character_)) {
    expect_bad(bnp_mixture(cbind(faithful, none = none), control = once), "not_finite", "Column none.* no value at all")
  }
})
