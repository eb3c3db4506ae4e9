# Latent features of rows in a source: the bits of memory in the same batches, and answers about new rows by piece.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
planted <- planted_features(31, 240, 7, 3)
rows <- `colnames<-`(signif(planted$x, 8), letters[1:7])
gaps <- withr::with_seed(32, replace(rows, sample(length(rows), 150), NA))
gaps[5, ] <- NA
gaps[61:120, "b"] <- NA # a column that is empty in one piece

test_that("a source gives the bits of memory in the same batches", {
  same <- function(x, ..., na_action = "fail", batches = 3L, size = 60) {
    kept <- if (na_action == "omit") rowSums(is.na(x)) == 0 else rowSums(!is.na(x)) > 0
    given <- if (batches > 1L) replace(rep(1L, 240), kept, dealt(sum(kept), batches)) else 1L
    own <- list(...)
    control <- own[names(own) %in% names(bnp_control())]
    control$max_laps <- control$max_laps %||% 12
    fit <- function(x, batches) {
      how <- do.call(how_source, c(control, list(batches = batches)))
      quiet(do.call(bnp_features, c(
        list(x, control = how, na_action = na_action), own[setdiff(names(own), names(control))]
      )))
    }
    source <- fit(in_pieces(x, size), batches)
    expect_fit_of_source(source, fit(x, given), paste(c(names(own), na_action), collapse = " "))
    invisible(source)
  }
  same(rows)
  same(rows, batches = 1L, size = 7)
  same(rows, centre = FALSE, prior = prior_beta_bernoulli(5))
  same(rows * 1e4 + 7, scale = TRUE, prior = prior_ibp(gamma_prior(1, 1)))
  same(rows, restarts = 2, sparsity = 2, threads = 2)
  same(gaps, na_action = "model")
  same(gaps, na_action = "model", centre = FALSE, scale = TRUE)
  same(gaps, na_action = "omit")
  same(as.data.frame(rows))
  same(rows, start = planted$z == 1)
  same(rows, start = quiet(bnp_features(rows[1:90, ], control = how_source(max_laps = 5))))
  full <- function(x) quiet(bnp_features(x, control = how_source(algorithm = "full", max_laps = 5)))
  expect_fit_of_source(full(in_pieces(rows, 60)), full(rows), "full")
})

test_that("a fit of a source goes on from its checkpoint", {
  file <- withr::local_tempfile()
  fit <- function(...) quiet(bnp_features(in_pieces(rows, 60), control = how_source(batches = 3, tol = 0, ...)))
  expect_identical(fit(max_laps = 1, checkpoint = file, checkpoint_every = 0)$laps, 1L)
  whole <- fit(max_laps = 6)
  expect_gt(whole$laps, 1L)
  again <- quiet(bnp_resume(file, in_pieces(rows, 60), max_laps = 6))
  compared <- setdiff(names(whole), c("call", "control", "trace"))
  expect_identical(unclass(again)[compared], unclass(whole)[compared])
  expect_error(bnp_resume(file, in_pieces(rows + 1, 60)), class = "bnpvi_error_checkpoint")
})

test_that("batches that are gone as soon as nobody holds them give the same bits", {
  y <- withr::with_seed(33, replace(rows, sample(length(rows), 80), NA))
  at <- function(source) {
    out <- engine_features(unname(y), offset = TRUE, batches = 5L, laps = 6L, source = source)
    out$trace$seconds <- NULL
    out
  }
  expect_identical(at("transient"), at("memory"))
})

test_that("answers about rows of a source are those of the rows", {
  fit <- bnp_features(in_pieces(rows, 60), control = how_source(batches = 3))
  source <- in_pieces(gaps, 60)
  part <- fit
  part$input$sampled <- 10L
  expect_output(print(summary(part)), "random sample")
  for (type in c("prob", "response")) {
    expect_equal(predict(fit, source, type), predict(fit, gaps, type), ignore_attr = "dimnames")
  }
  expect_equal(predict(fit, source, "impute"), predict(fit, gaps, "impute"), ignore_attr = "dimnames")
  path <- withr::local_tempfile()
  expect_identical(predict(fit, source, "impute", write = path), 240)
  written <- utils::read.csv(path)
  expect_identical(written$row, 1:240)
  expect_equal(as.matrix(written[-1L]), predict(fit, gaps, "impute"), ignore_attr = TRUE)
  expect_equal(heldout_loglik(fit, source), heldout_loglik(fit, gaps))
  cells <- withr::with_seed(34, matrix(stats::runif(1680) < 0.2, 240)) & !is.na(gaps)
  expect_equal(heldout_loglik(fit, source, cells = cells), heldout_loglik(fit, gaps, cells = cells))
  first <- quiet(bnp_features(rows[1:140, ], control = how_source()))
  expect_identical(
    elbo(quiet(update(first, in_pieces(rows[141:240, ], 50)))),
    elbo(quiet(update(update(first, rows[141:190, ]), rows[191:240, ])))
  )
})

test_that("what sources of features cannot be is refused by name", {
  expect_error(bnp_features(in_pieces(Matrix::Matrix(rows > 1, sparse = TRUE) * 1, 60)), class = "bnpvi_error")
  expect_error(bnp_features(in_pieces(data.frame(a = letters[1:9], b = 1:9), 3)), class = "bnpvi_error")
  expect_error(
    bnp_features(in_pieces(replace(rows, 100, Inf), 60), control = how_source()), class = "bnpvi_error_source"
  )
  expect_error(bnp_features(in_pieces(rows, 60), start = planted$z[-1, ]), class = "bnpvi_error_start")
  expect_error(
    bnp_features(in_pieces(rows + 1e8, 60), centre = FALSE, control = how_source()), class = "bnpvi_error_range"
  )
  # Far from 0 in a row that the sample does not have.
  far <- replace(rows, cbind(200, 3), 1e9)
  data <- feature_source(in_pieces(far, 60), NULL, "fail", how_source())
  data$sample$x <- data$sample$x[-200, ]
  expect_error(feature_units(data, FALSE, FALSE, NULL), "Not so in column 3", class = "bnpvi_error_range")
  expect_equal(feature_units(data, TRUE, FALSE, NULL), feature_units(list(x = unname(far[-200, ])), TRUE, FALSE, NULL))
  fit <- quiet(bnp_features(rows, control = how_source(max_laps = 3)))
  source <- in_pieces(rows, 60)
  cells <- col(rows) == 2
  expect_error(heldout_loglik(fit, source, cells = cells[-1, ]), "the source more", class = "bnpvi_error_argument")
  expect_error(heldout_loglik(fit, source, cells[c(1:240, 1), ]), "the source 240", class = "bnpvi_error_argument")
  expect_error(heldout_loglik(fit, source, cells = cells[, -1]), "a row for each", class = "bnpvi_error_argument")
  expect_bad(heldout_loglik(fit, rows[1:2, ], cells = cells), "argument", "like `newdata`, 2 x")
  expect_error(predict(fit, rows, write = "a"), class = "bnpvi_error_argument")
  expect_error(update(fit, source, olddata = rows), class = "bnpvi_error_update")
  two <- how_source(batches = 1:2)
  expect_error(bnp_features(rows, control = two), "240 observations", class = "bnpvi_error_argument")
})
