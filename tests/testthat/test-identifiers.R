# Ids, labels and nodes are labels, whatever their class, and are told apart exactly; see also test-by-name.R.

of <- rep(1:8, each = 6)
x <- withr::with_seed(1, data.frame(a = stats::rnorm(48, rep(c(0, 5, 10), 16)), b = stats::rnorm(48, 6 * (of > 4))))
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
classes <- label_classes()

test_that("labels are injective, and functions of the value alone", {
  for (class in names(classes)) {
    value <- classes[[class]]
    label <- label_text(value)
    expect_identical(anyDuplicated(label), 0L, info = class)
    expect_true(all(!is.na(label) & Encoding(label) != "latin1"), info = class)
    for (at in c(as.list(1:8), list(8:1, c(3, 3, 7)))) {
      expect_identical(label_text(value[at]), label[at], info = class)
    }
  }
})

test_that("equal values of different classes have one label", {
  same <- function(...) for (other in list(...)[-1L]) expect_identical(label_text(other), label_text(..1))
  same(c(1, 100000, 123456789012), c("1", "100000", "123456789012"))
  same(1:3, c(1, 2, 3), c(TRUE, 2, 3), factor(1:3), I(1:3), array(1:3), as.raw(1:3) |> as.integer())
  same(0, -0, "0")
  same("2020-02-29", as.Date("2020-02-29"), as.POSIXct("2020-02-29", tz = "UTC"), as.POSIXlt("2020-02-29", tz = "UTC"))
  hour <- as.difftime(1, units = "hours")
  same(hour, as.difftime(60, units = "mins"), as.difftime(3600, units = "secs"), "1 hours")
  skip_if_not_installed("bit64")
  big <- c("1000000000000001", "9007199254740994", "-4611686018427387904")
  same(big, bit64::as.integer64(big), as.double(big))
})

test_that("labels are what users read", {
  expect_identical(label_text(c(0.1 + 0.2, 0.3, 1e15 + 1, 1e22, 1 / 3)), c(
    "0.30000000000000004", "0.3", "1000000000000001", "1e+22", "0.33333333333333331"
  ))
  expect_identical(label_text(as.Date(c("2020-01-31", NA))), c("2020-01-31", NA))
  expect_identical(
    label_text(as.POSIXct(c("2020-01-31 00:00", "2020-01-31 13:30"), tz = "America/New_York")),
    c("2020-01-31", "2020-01-31 13:30:00")
  )
  expect_identical(label_text(as.difftime(c(48, 1.5, 0.1), units = "hours")), c("2 days", "90 mins", "6 mins"))
  expect_identical(label_text(c(TRUE, NA)), c("TRUE", NA))
  latin <- "Z\xfcrich"
  Encoding(latin) <- "latin1"
  expect_identical(label_text(latin), "Z\u00fcrich")
  expect_identical(levels(label_factor(c(latin, "Z\u00fcrich"))), "Z\u00fcrich")
  expect_identical(levels(label_factor(c(10, 9, NA, 10))), c("10", "9"))
  expect_identical(levels(label_factor(c(10, 9, NA, 10), sorted = TRUE)), c("9", "10"))
  expect_identical(levels(label_factor(factor("b", c("c", "b", "a")))), "b")
  skip_if_not_installed("hms")
  expect_identical(label_text(hms::hms(c(3600, -61, NA))), c("01:00:00", "-00:01:01", NA))
})

test_that("every time around a change of the clock has its own label, which says it is one of two where it is", {
  for (zone in c("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kolkata")) {
    for (day in c("2021-10-30", "2021-11-06", "2021-04-03", "2021-03-13")) {
      times <- as.POSIXct(day, tz = "UTC") + 900 * 0:300
      attr(times, "tzone") <- zone
      label <- label_text(times)
      expect_identical(anyDuplicated(label), 0L, info = paste(zone, day))
      shown <- format(times, "%Y-%m-%d %H:%M:%S")
      twice <- duplicated(shown) | duplicated(shown, fromLast = TRUE)
      expect_identical(grepl(" [0-9]+$", label), twice, info = paste(zone, day))
    }
  }
})

test_that("what is no vector of labels is refused", {
  expect_bad(label_text(list(1), "id"), "id", "must be a vector")
  expect_bad(label_text(NULL, "id"), "id", "NULL")
  odd <- methods::setClass("odd_id", representation(month = "numeric"), contains = "numeric", where = environment())
  # As periods of lubridate, of which a part is out of sight
  expect_bad(label_text(odd(1, month = 2), "id"), "id", "as.character")
  expect_bad(bnp_hmm(x, id = addNA(factor(c(NA, of[-1])))), "id", "At 1")
  expect_bad(bnp_mixture(x, id = c(of[-48], NaN)), "id", "At 48")
})

test_that("ids of every class group as whole numbers do", {
  verbs <- quiet(grouping_verbs(x, of))
  long <- longest_tests()
  few <- c("Date", "integer64", "zeros")
  cheap <- c("predict_hmm", "predict_mixture", "predict_topics", "segments", "filter", "filter_on", "agreement")
  ordered <- setdiff(names(classes), c("text", "zeros", "as_is", "hms")) # those whose values ascend
  for (verb in names(verbs)) {
    truth <- quiet(verbs[[verb]](of))
    own <- some_of(names(classes), by = 2, from = match(verb, names(verbs)) %% 2 + 1)
    tried <- if (long) names(classes) else if (verb %in% cheap) own else intersect(few, names(classes))
    if (verb %in% c("start", "labels")) tried <- intersect(tried, ordered)
    for (class in tried) {
      expect_equal(quiet(verbs[[verb]](classes[[class]][of])), truth, tolerance = 1e-6, info = paste(verb, class))
    }
  }
  expect_identical(quiet(verbs$start(letters[9 - of])), quiet(verbs$start(9 - of)))
})

test_that("results are named by the labels", {
  fit <- quiet(bnp_hmm(x, id = classes$Date[of], control = bnp_control(seed = 1, max_laps = 2)))
  expect_identical(unique(segments(fit)$id), as.character(classes$Date))
  ahead <- forecast(fit, x, id = classes$Date[of], h = 2)
  expect_identical(unique(ahead$id), as.character(classes$Date))
  topics <- quiet(bnp_topics(x, obs_gaussian(), id = rep(c(0.1 + 0.2, 0.3, 1e5, NA)[1:3], each = 16)))
  expect_identical(rownames(fitted(topics)), c("0.30000000000000004", "0.3", "100000"))
  classed <- quiet(bnp_mixture(x, labels = ifelse(of > 4, 1e15 + 1, 1e15 + 2)))
  expect_identical(levels(predict(classed, type = "label")), c("1000000000000001", "1000000000000002"))
  filter <- bnp_filter(fit, x, id = classes$Date[of])
  on <- update(filter, x[1:2, ], id = classes$Date[3])
  expect_identical(table(as.data.frame(on)$id)[["2019-12-31"]], 8L)
  expect_identical(as.data.frame(update(filter, x[1:2, ], id = "2019-12-31")), as.data.frame(on))
  expect_bad(update(filter, list(a = x[1:2, ], a = x[3:4, ])), "id", "Repeated")
  individuals <- quiet(bnp_mixture(x, id = classes$Date[of]))
  expect_bad(update(individuals, newdata = x[1:2, ], id = c("2019-12-31", "new")), "id", "2019-12-31")
})

test_that("nodes of networks are labels", {
  ends <- data.frame(from = c(1, 2, 3, 4, 5, 6, 7), to = c(2, 3, 1, 5, 6, 4, 8))
  fit_of <- function(links) quiet(bnp_network(links, prior = prior_dp(), control = bnp_control(seed = 1)))
  truth <- fit_of(ends)
  for (class in setdiff(names(classes), c("POSIXlt", "array"))) {
    value <- classes[[class]]
    fit <- fit_of(data.frame(from = value[ends$from], to = value[ends$to]))
    expect_setequal(fit$input$ids, label_text(value))
    expect_equal(elbo(fit), elbo(truth), tolerance = 1e-6, info = class)
    pair <- data.frame(from = value[1], to = value[2])
    expect_equal(predict(fit, pair), predict(truth, data.frame(from = 1, to = 2)), tolerance = 1e-6, ignore_attr = TRUE)
  }
})

test_that("files hold labels as they stand, whatever looks like a number", {
  path <- withr::local_tempfile(fileext = ".csv")
  written <- function(id, quote = TRUE, name = "key") {
    rows <- x
    rows[[name]] <- id[of]
    utils::write.csv(rows, path, row.names = FALSE, quote = quote)
    source_files(path, rows = 10)
  }
  control <- bnp_control(seed = 1, max_laps = 3)
  truth <- quiet(elbo(bnp_hmm(x, id = of, control = control)))
  for (class in c("digits", "zeros", "text", "Date")) {
    for (quote in if (class == "zeros") TRUE else c(TRUE, FALSE)) {
      source <- written(classes[[class]], quote)
      fit <- quiet(bnp_hmm(source, "key", control = control))
      expect_equal(elbo(fit), truth, tolerance = 1e-8, info = class)
      expect_identical(fit$input$group_names, as.character(classes[[class]]), info = class)
    }
  }
  expect_identical(rownames(predict(quiet(bnp_topics(x, obs_gaussian(), id = of)), source, id = "key")), label_text(
    classes$Date
  ))
  # The same ids are the same individuals.
  kept <- quiet(bnp_mixture(cbind(x, key = classes$digits[of]), id = "key"))
  expect_bad(quiet(update(kept, written(classes$digits))), "source", "cannot be used")
  # Streams
  stream <- bnp_topics(bnp_stream(written(classes$zeros)), obs_gaussian(), id = "key", control = bnp_control(
    "truncation_free", seed = 1
  ))
  expect_identical(rownames(predict(stream, written(classes$zeros))), classes$zeros)
})

test_that("documents and terms of files of counts are labels", {
  counts <- data.frame(document = rep(classes$digits, each = 3), term = c("01", "1", "1.0"), n = 1:24)
  path <- withr::local_tempfile(fileext = c(".csv", ".tsv"))
  utils::write.csv(counts, path[1], row.names = FALSE)
  utils::write.table(counts, path[2], sep = "\t", row.names = FALSE, quote = FALSE)
  memory <- bnp_topics(counts, control = bnp_control(seed = 1))
  for (one in path) {
    fit <- bnp_topics(source_files(one, rows = 5), control = bnp_control(seed = 1))
    expect_equal(elbo(fit), elbo(memory), tolerance = 1e-8)
    expect_identical(rownames(fitted(fit)), classes$digits)
    expect_setequal(fit$input$column_names, c("01", "1", "1.0"))
    expect_equal(predict(memory, source_files(one, rows = 5)), predict(memory, counts))
  }
  # Columns of a mixture that happen to have these names are numbers.
  counts$term <- counts$n %% 5
  counts$document <- counts$n %/% 5
  utils::write.csv(counts, path[1], row.names = FALSE)
  expect_identical(quiet(bnp_mixture(source_files(path[1])))$input$column_names, c("document", "term", "n"))
})

test_that("pieces of a source may have ids of different classes", {
  pieces <- list(1:3, as.character(3:6), c(7, 8))
  fit <- quiet(bnp_hmm(source_function(function(b) {
    if (b <= 3) {
      id <- rep(pieces[[b]], each = 6)
      if (b == 1) id <- id[1:15]
      if (b == 2) id <- id[4:24]
      first <- c(0, 15, 36)[b]
      cbind(x[first + seq_along(id), ], key = id)
    }
  }), "key", control = bnp_control(seed = 1, max_laps = 3)))
  expect_equal(elbo(fit), quiet(elbo(bnp_hmm(x, id = of, control = bnp_control(seed = 1, max_laps = 3)))))
  expect_identical(fit$input$group_names, as.character(1:8))
})

test_that("individuals and documents of rows of a source are whole, though pieces are not", {
  x$key <- sprintf("%02d", of)
  source <- in_pieces(x, 10)
  mixture <- quiet(bnp_mixture(x, id = "key"))
  expect_equal(predict(mixture, source, "prob"), predict(mixture, x, "prob"), ignore_attr = "dimnames")
  expect_equal(heldout_loglik(mixture, source), heldout_loglik(mixture, x))
})

test_that("what is written of a source says of whom it is", {
  x$key <- sprintf("%02d", of)
  path <- withr::local_tempfile()
  read <- function() utils::read.csv(path, colClasses = c(key = "character"))
  mixture <- quiet(bnp_mixture(x[1:2]))
  predict(mixture, in_pieces(x[1:2], 10), "prob", write = path)
  expect_identical(utils::read.csv(path)$row, 1:48)
  hmm <- quiet(bnp_hmm(x, "key"))
  predict(hmm, in_pieces(x, 10), write = path)
  expect_identical(read()[c("key", "row")], data.frame(key = x$key, row = 1:48))
  expect_identical(read()$value, unname(predict(hmm, x)))
  predict(quiet(bnp_mixture(x, id = "key")), in_pieces(x, 10), write = path)
  expect_identical(names(read()), c("key", "row", "value"))
  topics <- quiet(bnp_topics(x, obs_gaussian(), id = "key"))
  predict(topics, in_pieces(x, 10), id = "key", write = path)
  expect_identical(utils::read.csv(path, colClasses = c(document = "character"))$document, unique(x$key))
  named <- `rownames<-`(x[1:2], paste0("r", 1:48))
  predict(mixture, in_pieces(named, 10), "logdensity", write = path)
  expect_identical(utils::read.csv(path)$row, rownames(named))
})

test_that("a column of identifiers is refused before all of a source is read", {
  read <- 0
  pieces <- source_function(function(b) {
    read <<- as.double(b)
    if (b <= 50) data.frame(x = seq_len(2000) / b, name = paste0(b, "-", seq_len(2000)))
  })
  expect_bad(bnp_mixture(pieces, control = bnp_control(seed = 1)), "many_levels", "name")
  expect_identical(read, 10)
})
