# What is no data yet is told what reads it.

test_that("names of files are told source_files(), in every verb", {
  there <- withr::local_tempfile(fileext = ".dat", lines = c("a,b", "1,2"))
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 3))
  for (path in c(there, "data.csv", "words.ldac.gz", "table.TSV")) {
    expect_bad(bnp_mixture(path), "file", "source_files")
    expect_bad(bnp_hmm(path), "file", "source_files")
    expect_bad(bnp_topics(path), "file", "source_files")
    expect_bad(bnp_features(path), "file", "source_files")
    expect_bad(bnp_mixture(~ a + b, path), "file", "source_files")
    expect_bad(bnp_hmm(a ~ b, path), "file", "source_files")
    expect_bad(predict(fit, path), "file", "source_files")
    expect_bad(update(fit, newdata = path), "file", "source_files")
  }
})

test_that("text, words and corpora are told what counts them", {
  counts <- matrix(c(1, 2, 3, 4), 2)
  fit <- bnp_topics(counts, control = bnp_control(seed = 1, max_laps = 3))
  tell <- function(x, what) {
    expect_bad(bnp_topics(x), "not_numeric", what)
    expect_bad(predict(fit, x), "not_numeric", what)
    expect_bad(bnp_topics(source_function(function(i) if (i == 1) x)), "source")
  }
  tell(c("some words here", "others"), "unnest_tokens")
  tell(factor(c("some words here", "others")), "unnest_tokens")
  tell(data.frame(doc_id = c("a", "b"), text = c("some words", "others")), "DataframeSource")
  tell(data.frame(document = c("a", "b"), text = c("some words", "others")), "unnest_tokens")
  tell(data.frame(document = c("a", "a", "b"), word = c("x", "y", "x")), "dplyr::count\\(.*, document, word\\)")
  tell(data.frame(doc_id = c(1, 1, 2), token = c("x", "y", "x")), "document = doc_id, word = token")
  tell(data.frame(document = c(1, 1, 2), term = c(7, 8, 7)), "dplyr::count")
  tell(data.frame(doc_id = c(1, 1, 2), word = c("x", "y", "x"), n = 1:3), "rename\\(.*, document = doc_id\\)")
  tell(data.frame(doc = c(1, 1, 2), word = c("x", "y", "x"), count = 1:3), "document = doc, n = count")
  expect_bad(bnp_topics(list(c("a", "b"), "c")), "not_numeric", "VectorSource")
  expect_bad(bnp_topics(structure(c(a = "x y"), class = c("corpus", "character"))), "not_numeric", "quanteda::tokens")
  expect_bad(bnp_topics(structure(list(c("a", "b")), class = c("tokens", "list"))), "not_numeric", "quanteda::dfm")
  skip_if_not_installed("tm")
  corpus <- tm::VCorpus(tm::VectorSource(c("a b", "c")))
  expect_bad(bnp_topics(corpus), "not_numeric", "DocumentTermMatrix")
  expect_bad(bnp_mixture(corpus, obs_multinomial()), "not_numeric", "DocumentTermMatrix")
  expect_bad(bnp_topics(corpus[[1]]), "not_numeric", "DocumentTermMatrix")
})

test_that("a table whose columns were not separated says so", {
  path <- withr::local_tempfile(fileext = ".csv", lines = c("a;b", "1;2", "3;4", "5;6", "9;8"))
  for (x in list(utils::read.csv(path), utils::read.csv(path, check.names = FALSE, stringsAsFactors = TRUE))) {
    expect_bad(bnp_mixture(x), "separator", "read.csv2")
    expect_bad(bnp_hmm(x), "separator", "read.csv2")
    expect_bad(bnp_features(x), "separator", "read.csv2")
    expect_bad(bnp_mixture(~ a + b, x), "separator", "read.csv2")
  }
  for (verb in list(bnp_mixture, bnp_hmm, bnp_features, bnp_topics)) {
    error <- expect_bad(verb(source_files(path)), "source")
    expect_match(conditionMessage(error$parent), "read = read.csv2")
  }
  expect_s3_class(suppressMessages(bnp_mixture(data.frame(f = c("a; b", "c", "c", "a; b")))), "bnp_mixture")
})

test_that("a model, a prior or controls that are not made by their function are told which", {
  expect_bad(bnp_mixture(faithful, obs = "gaussian"), "argument", "Write.*obs_gaussian\\(\\)")
  expect_bad(bnp_mixture(faithful, obs = gaussian()), "argument", "Write.*obs_gaussian\\(\\)")
  expect_bad(bnp_hmm(faithful, obs = "obs_poisson"), "argument", "Write.*obs_poisson\\(\\)")
  expect_bad(bnp_mixture(faithful, prior = "DP"), "argument", "Write.*prior_dp\\(\\)")
  expect_bad(bnp_topics(matrix(1:4, 2), obs = "multinomial"), "argument", "Write.*obs_multinomial\\(\\)")
  for (verb in list(bnp_mixture, bnp_hmm, bnp_features)) {
    expect_bad(verb(faithful, control = list()), "argument", "control =\\s+bnp_control\\(\\.\\.\\.\\)")
    expect_bad(verb(faithful, control = list(seed = 1)), "argument", "bnp_control")
  }
})

test_that("infinite values are not advised na.omit()", {
  x <- faithful
  x[3, 1] <- Inf
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 3))
  counts <- matrix(c(1, Inf, 2, 3), 2)
  for (wrong in list(
    function() bnp_mixture(x), function() bnp_hmm(x), function() bnp_features(x), function() predict(fit, x),
    function() bnp_topics(counts), function() bnp_mixture(x, na_action = "model"), function() bregman_kmeans(x, 2),
    function() bnp_mixture(Matrix::Matrix(counts, sparse = TRUE), obs_poisson())
  )) {
    error <- expect_bad(wrong(), "not_finite", "Infinite values are not missing")
    expect_no_match(conditionMessage(error), "na.omit")
  }
})
