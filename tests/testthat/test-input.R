test_that("all tabular inputs give the same internal form", {
  data <- as_mixture_data(faithful, obs_gaussian())
  expect_equal(as_mixture_data(as.matrix(faithful), obs_gaussian()), data)
  expect_equal(as_mixture_data(formula_frame(~., faithful)$frame, obs_gaussian()), data)
  expect_equal(data$column_names, c("eruptions", "waiting"))
  expect_equal(as_mixture_data(faithful$waiting, obs_gaussian())$x, matrix(faithful$waiting))
  expect_equal(as_mixture_data(c(a = 1, b = 2), obs_gaussian())$row_names, c("a", "b"))
  expect_equal(as_mixture_data(data.frame(u = c(TRUE, FALSE)), obs_bernoulli())$x, matrix(c(1, 0)))
})

test_that("bare numbers are read by the straight road as by the long one", {
  bare <- as.matrix(faithful)
  tables <- list(
    faithful, faithful[3:1, ], as.data.frame(bare), bare, unname(bare), bare[, 1, drop = FALSE], 1 * volcano,
    mtcars[1:2], faithful[1], scale(bare), cbind(a = 1:3, b = 4:6), data.frame(n = 1:3, x = c(0.5, 1, 2)),
    data.frame(x = I(c(0.5, 1, 2)), y = c(1.5, 1, 2)), cbind(x = c(1, 2), x = c(3, 4)), cbind(c(a = 1, b = 2), 3:4),
    data.frame(m = I(bare[1:3, ]), x = c(0.5, 1, 2)), `names<-`(data.frame(1:2 / 3, 3:4 / 5), c("a;b", "c")),
    structure(list(a = c(1.5, 2), b = c(2.5, 3)), class = "data.frame", row.names = c("u", "v"))
  )
  bad <- list(faithful[0, ], bare[0, ], faithful[0], replace(bare, 3, NA), replace(faithful, 1, Inf), 1i * bare)
  obs <- list(obs_gaussian(), obs_gaussian(columns = "waiting"), obs_categorical())
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 2)) |> suppressWarnings()
  read <- function() {
    said <- function(expr) {
      tryCatch(list(expr), error = function(e) c(class(e), conditionMessage(e))) |> suppressMessages() |>
        suppressWarnings()
    }
    lapply(c(tables, bad), function(x) {
      c(lapply(obs, function(obs) said(as_mixture_data(x, obs))), said(as_newdata(fit, x)))
    })
  }
  straight <- read()
  expect_true(all(vapply(tables[1:8], function(x) is.matrix(plain_table(x, obs_gaussian())), NA)))
  replace_in_package("plain_table", function(x, obs) NULL, environment())
  expect_identical(read(), straight)
  for (x in Filter(is.data.frame, tables)) {
    expect_identical(default_obs(x, NULL), obs_of_columns(x, NULL)) |> suppressMessages()
  }
})

test_that("formulas take functions of columns", {
  frame <- formula_frame(~ log(eruptions) + I(waiting * 2), faithful)$frame
  expect_equal(names(frame), c("log(eruptions)", "I(waiting * 2)"))
  expect_equal(frame[[2]], faithful$waiting * 2)
})

counts <- matrix(c(1, 0, 0, 2, 0, 0, 3, 4, 0, 0, 0, 5), 4, dimnames = list(letters[1:4], c("x", "y", "z")))

test_that("all sparse classes give the rows of the matrix", {
  reference <- as_mixture_data(Matrix::Matrix(counts, sparse = TRUE), obs_multinomial())
  expect_equal(as.matrix(data_matrix(reference)), counts)
  expect_equal(diff(reference$row_start), unname(rowSums(counts > 0)))
  triplet <- as(Matrix::Matrix(counts, sparse = TRUE), "TsparseMatrix")
  by_row <- as(Matrix::Matrix(counts, sparse = TRUE), "RsparseMatrix")
  expect_equal(as_mixture_data(triplet, obs_multinomial()), reference)
  expect_equal(as_mixture_data(by_row, obs_multinomial()), reference)
  logical <- Matrix::Matrix(counts > 0, sparse = TRUE)
  expect_equal(as.matrix(data_matrix(as_mixture_data(logical, obs_bernoulli()))), (counts > 0) * 1)
})

test_that("explicit zeros are dropped", {
  m <- Matrix::sparseMatrix(i = c(1, 2, 2), j = c(1, 1, 2), x = c(1, 0, 2))
  expect_equal(as_mixture_data(m, obs_multinomial())$value, c(1, 2))
})

test_that("documents: matrix, sparse, triplets of slam and a data frame agree", {
  reference <- as_document_data(counts, obs_multinomial())
  expect_equal(as_document_data(Matrix::Matrix(counts, sparse = TRUE), obs_multinomial()), reference)
  at <- which(counts > 0, arr.ind = TRUE)
  slam <- structure(
    list(i = at[, 1], j = at[, 2], v = counts[at], nrow = 4L, ncol = 3L,
         dimnames = list(Docs = letters[1:4], Terms = c("x", "y", "z"))),
    class = c("DocumentTermMatrix", "simple_triplet_matrix")
  )
  expect_equal(as_document_data(slam, obs_multinomial()), reference)
  long <- data.frame(
    document = factor(letters[at[, 1]], letters[1:4]), term = factor(c("x", "y", "z")[at[, 2]]), n = counts[at]
  )
  expect_equal(as_document_data(long[sample(nrow(long)), ], obs_multinomial()), reference)
  expect_equal(reference$group_names, letters[1:4])
  expect_equal(reference$starts, 0:4)
})

test_that("repeated document-term pairs are added up", {
  long <- data.frame(document = c("a", "a"), term = c("x", "x"), n = c(1, 2))
  expect_equal(as_document_data(long, obs_multinomial())$value, 3)
})

test_that("rows of documents may come in any order", {
  x <- data.frame(doc = c("b", "a", "b", "a"), v = 1:4)
  data <- as_document_data(x, obs_gaussian(), id = "doc")
  expect_equal(data$group_names, c("b", "a"))
  expect_equal(data$x[, 1], c(1, 3, 2, 4))
  expect_equal(data$starts, c(0, 2, 4))
  expect_equal(data$x[order(data$order), 1], 1:4)
})

test_that("sequences: list, id vector, id column and ts agree", {
  a <- matrix(rnorm(6), 3, dimnames = list(NULL, c("u", "v")))
  b <- matrix(rnorm(4), 2, dimnames = list(NULL, c("u", "v")))
  reference <- as_sequence_data(list(a = a, b = b), obs_gaussian())
  expect_equal(reference$starts, c(0, 3, 5))
  id <- rep(c("a", "b"), c(3, 2))
  expect_equal(as_sequence_data(rbind(a, b), obs_gaussian(), id = id), reference)
  frame <- data.frame(rbind(a, b), id = id)
  expect_equal(as_sequence_data(frame, obs_gaussian(), id = "id"), reference)
  series <- as_sequence_data(ts(a, start = 1990), obs_gaussian())
  expect_equal(series$times, 1990:1992)
  expect_equal(series$x, unname(a))
})
