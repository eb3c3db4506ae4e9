# Sources: the same rows in the same batches give the same bits as in memory, whatever they come from.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
points <- withr::with_seed(1, {
  x <- matrix(rnorm(1200), 300) + 4 * rep(c(-1, 0, 1), each = 100)
  `colnames<-`(signif(x, 8), letters[1:4])
})
mixed <- withr::with_seed(2, data.frame(
  g = sample(c("v", "u", "w"), 300, TRUE), x = signif(rnorm(300) + rep(c(0, 5), 150), 8),
  yes = rep(c(TRUE, FALSE), 150), k = rep(1:3, 100)
))

test_that("mixtures from files of text, of R and of Parquet are those of memory", {
  csv <- csv_of(points[1:170, ])
  tsv <- withr::local_tempfile(fileext = ".tsv.gz")
  rds <- withr::local_tempfile(fileext = ".rds")
  zipped <- gzfile(tsv)
  utils::write.table(points[171:250, ], zipped, sep = "\t", row.names = FALSE)
  saveRDS(points[251:300, 4:1], rds) # matched by name
  source <- source_files(c(csv, tsv, rds), rows = 40)
  for (batches in list(NULL, 3L, rep(1:6, 50))) {
    mine <- if (is.null(batches)) 1L else batches
    same <- if (length(mine) > 1L) mine else if (mine > 1L) dealt(300, mine)
    fit <- bnp_mixture(source, control = how_source(batches = batches))
    expect_fit_of_source(fit, bnp_mixture(points, control = how_source(batches = same)), "rows from files")
  }
  expect_output(print(source), "3 files")
  skip_if_not_installed("nanoparquet")
  parquet <- withr::local_tempfile(fileext = ".parquet")
  nanoparquet::write_parquet(as.data.frame(points), parquet)
  expect_fit_of_source(
    bnp_mixture(source_files(parquet), control = how_source(batches = 3)),
    bnp_mixture(points, control = how_source(batches = dealt(300, 3))), "rows of Parquet"
  )
})

test_that("a source gives the fit of memory with every observation model, kind of column, formula and gap", {
  same <- function(x, size = 70, ..., n = NROW(x)) {
    laps <- if (long_tests()) 15 else 3
    control <- how_source(batches = 3, max_laps = laps)
    again <- how_source(batches = dealt(n, 3), max_laps = laps)
    expect_fit_of_source(
      quiet(bnp_mixture(in_pieces(x, size), ..., control = control)), quiet(bnp_mixture(x, ..., control = again)),
      deparse(substitute(x))
    )
  }
  exposed <- cbind(round(abs(points)), hours = rep(1:3, 100))
  calls <- rlang::exprs(
    same(mixed),
    same(mixed["g"], size = 1),
    same(transform(mixed, g = factor(g, c("w", "u", "v", "never")))),
    same(mixed[c("k", "yes")], obs = obs_categorical()),
    same(mixed, obs = obs_product(obs_poisson(columns = "k"), obs_gaussian(), obs_categorical())),
    same(abs(points), obs = obs_gamma()),
    same(points, obs = obs_gaussian("diagonal", learn = TRUE)),
    same(points, obs = obs_gaussian("tied")),
    same(round(abs(points)), obs = obs_poisson()),
    same(Matrix::Matrix(1 * (points > 1), sparse = TRUE), obs = obs_bernoulli()),
    same(points, prior = prior_dirichlet(4)),
    same(points, prior = prior_py(gamma_prior(), 0.2)),
    same(exposed, obs = obs_poisson(columns = letters[1:4], exposure = "hours"))
  )
  here <- environment()
  for (call in some_of(calls, by = 2)) eval(call, here)
  for (formula in some_of(list(x ~ poly(k, 2), x ~ g, ~ scale(x) + g), by = 3)) {
    expect_fit_of_source(
      quiet(bnp_mixture(formula, in_pieces(mixed, 70), control = how_source(batches = 3))),
      quiet(bnp_mixture(formula, mixed, control = how_source(batches = dealt(300, 3)))), deparse(formula)
    )
  }
  gaps <- withr::with_seed(3, replace(points, sample(1200, 100), NA))
  gaps[5, ] <- NA
  gaps[71:140, "b"] <- NA # a column that is empty in one piece
  for (na_action in c("model", "omit")) {
    kept <- if (na_action == "omit") rowSums(is.na(gaps)) == 0 else rowSums(!is.na(gaps)) > 0
    batches <- replace(rep(1L, 300), kept, dealt(sum(kept), 3))
    fit <- quiet(bnp_mixture(in_pieces(gaps, 70), control = how_source(batches = 3), na_action = na_action))
    memory <- quiet(bnp_mixture(gaps, control = how_source(batches = batches), na_action = na_action))
    expect_fit_of_source(fit, memory, na_action)
    expect_identical(fitted(fit), fitted(memory))
  }
  told <- function() bnp_mixture(in_pieces(gaps, 70), control = how_source(), na_action = "model")
  expect_message(told(), "1 row of", fixed = TRUE)
})

test_that("restarts, starts, stochastic and full learning, and checkpoints", {
  source <- in_pieces(points, 70)
  batches <- dealt(300, 4)
  same <- function(...) {
    expect_fit_of_source(
      quiet(bnp_mixture(source, control = how_source(batches = 4, ...))),
      quiet(bnp_mixture(points, control = how_source(batches = batches, ...))), deparse(list(...))
    )
  }
  same(restarts = 3, k_init = 5, init = "random")
  same(algorithm = "stochastic", k_init = 4, max_laps = 5)
  same(k_init = 4, init = "kmeans", threads = 2)
  labels <- rep(1:3, 100)
  from <- function(x, batches, start) quiet(bnp_mixture(x, control = how_source(batches = batches), start = start))
  memory <- from(points, batches, labels)
  expect_fit_of_source(from(source, 4, labels), memory, "labels")
  expect_fit_of_source(from(source, 4, memory), from(points, batches, memory), "a fit")
  full <- how_source(algorithm = "full")
  expect_fit_of_source(bnp_mixture(source, control = full), bnp_mixture(points, control = full), "full")
  file <- withr::local_tempfile()
  fit <- bnp_mixture(source, control = how_source(batches = 4, checkpoint = file))
  expect_identical(elbo(bnp_resume(file, source)), elbo(fit))
  expect_bad(bnp_resume(file, in_pieces(points + 1, 70)), "checkpoint", "other data")
})

test_that("topics from sparse rows, tables of counts, LDA-C and Matrix Market files, and rows", {
  counts <- whales$counts[1:90, 1:200]
  counts <- counts[Matrix::rowSums(counts) > 0, Matrix::colSums(counts) > 0]
  n <- nrow(counts)
  laps <- 6
  expect_same_topics <- function(source, x, what, ..., obs = obs_multinomial()) {
    n <- if (is.null(list(...)$id)) NROW(x) else length(unique(x[[list(...)$id]]))
    fit <- quiet(bnp_topics(source, obs, control = how_source(batches = 3, max_laps = laps), ...))
    memory <- quiet(bnp_topics(x, obs, control = how_source(batches = dealt(n, 3), max_laps = laps), ...))
    expect_fit_of_source(fit, memory, what)
    fit
  }
  fit <- expect_same_topics(in_pieces(counts, 20), counts, "sparse rows")
  expect_equal(predict(fit, in_pieces(counts, 20)), predict(fit, counts))
  expect_equal(heldout_loglik(fit, in_pieces(counts, 20), seed = 1), heldout_loglik(fit, counts, seed = 1))
  expect_same_topics(in_pieces(counts, 20), counts, "learned terms", obs = obs_multinomial(NULL))
  lists <- list(first = colnames(counts)[1:2], second = colnames(counts)[5])
  named <- expect_same_topics(in_pieces(counts, 20), counts, "keywords", obs = obs_multinomial(keywords = lists))
  expect_setequal(stats::na.omit(names_of_clusters(named)), names(lists))
  entry <- Matrix::summary(counts)
  entry <- entry[order(entry$i), ]
  frame <- data.frame(document = rownames(counts)[entry$i], term = colnames(counts)[entry$j], n = entry$x)
  path <- csv_of(frame)
  by_term <- counts[unique(frame$document), unique(frame$term)]
  expect_same_topics(source_files(path, rows = 700), by_term, "a table of counts")
  ldac <- withr::local_tempfile(fileext = ".ldac")
  lines <- vapply(split(seq_len(nrow(entry)), entry$i), function(at) {
    paste(length(at), paste0(entry$j[at] - 1, ":", entry$x[at], collapse = " "))
  }, "")
  writeLines(lines, ldac)
  plain <- `dimnames<-`(counts, list(NULL, NULL))
  expect_same_topics(source_files(ldac, rows = 30), plain, "LDA-C")
  terms <- `dimnames<-`(counts, list(NULL, colnames(counts)))
  expect_same_topics(source_files(ldac, rows = 30, terms = colnames(counts)), terms, "LDA-C with terms")
  market <- withr::local_tempfile(fileext = ".mtx")
  Matrix::writeMM(counts, market)
  expect_same_topics(source_files(market, terms = colnames(counts)), terms, "Matrix Market")
  rows <- data.frame(points, who = rep(1:60, each = 5))
  expect_same_topics(in_pieces(rows, 32), rows, "rows of documents", id = "who", obs = obs_gaussian())
})

test_that("sequences by a column, in files of their own, and as lists; the last rows of a piece wait", {
  laps <- quiet
  rows <- data.frame(points, g = mixed$g, id = rep(c("one", "two", "three", "four"), c(20, 150, 30, 100)))
  control <- how_source(batches = 2, max_laps = 10)
  memory <- function(x, ...) {
    quiet(bnp_hmm(x, ..., control = how_source(batches = dealt(4, 2), max_laps = 10)))
  }
  for (size in c(1, 19, 50, 400)) {
    fit <- quiet(bnp_hmm(in_pieces(rows[-5], size), id = "id", control = control))
    expect_fit_of_source(fit, memory(rows[-5], id = "id"), paste("pieces of", size))
  }
  expect_identical(predict(fit, in_pieces(rows[-5], 50)), unname(predict(fit, rows[-5])))
  expect_equal(heldout_loglik(fit, in_pieces(rows[-5], 50)), heldout_loglik(fit, rows[-5]))
  for (obs in list(NULL, obs_categorical(columns = "g"), obs_ar(2))) {
    x <- if (identical(obs$family, "ar")) rows[-5] else rows
    fit <- quiet(bnp_hmm(in_pieces(x, 50), id = "id", obs = obs, control = control))
    expect_fit_of_source(fit, memory(x, id = "id", obs = obs), "models")
  }
  fit <- quiet(bnp_hmm(in_pieces(rows[-5], 50), id = "id", prior = prior_hmm(3), control = control))
  expect_fit_of_source(fit, memory(rows[-5], id = "id", prior = prior_hmm(3)), "k-means start")
  fit <- quiet(bnp_hmm(a ~ b, in_pieces(rows, 50), id = "id", control = control))
  expect_fit_of_source(fit, memory(a ~ b, rows, id = "id"), "formula")
  gaps <- rows[-5]
  gaps[c(3, 60:90), 2] <- NA
  fit <- quiet(bnp_hmm(in_pieces(gaps, 50), id = "id", na_action = "model", control = control))
  expect_fit_of_source(fit, memory(gaps, id = "id", na_action = "model"), "missing")
  parts <- split(as.data.frame(points), factor(rows$id, unique(rows$id)))
  fit <- quiet(bnp_hmm(source_function(function(b) list(parts[1:2], parts[3:4])[[b]], 2), control = control))
  expect_fit_of_source(fit, memory(parts), "lists")
  folder <- withr::local_tempdir()
  paths <- file.path(folder, paste0(names(parts), ".csv"))
  for (i in 1:4) utils::write.csv(parts[[i]], paths[i], row.names = FALSE)
  fit <- quiet(bnp_hmm(source_files(paths, rows = 40), control = control))
  expect_fit_of_source(fit, memory(stats::setNames(parts, paste0(names(parts), ".csv"))), "files")
})

test_that("a database, and what is written piece by piece", {
  skip_if_not_installed("RSQLite")
  path <- withr::local_tempfile(fileext = ".sqlite")
  con <- DBI::dbConnect(RSQLite::SQLite(), path)
  withr::defer(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "rows", data.frame(points, g = mixed$g))
  query <- "SELECT a, b, c, d, g FROM rows ORDER BY rowid"
  x <- data.frame(points, g = mixed$g)
  open <- function() DBI::dbConnect(RSQLite::SQLite(), path)
  memory <- quiet(bnp_mixture(x, control = how_source(batches = dealt(300, 3))))
  for (connection in list(con, open)) {
    fit <- quiet(bnp_mixture(source_dbi(connection, query, rows = 70), control = how_source(batches = 3)))
    expect_fit_of_source(fit, memory, "SQLite")
  }
  source <- source_dbi(open, query, rows = 70)
  expect_identical(predict(fit, source), predict(fit, x))
  expect_equal(predict(fit, source, type = "prob"), predict(fit, x, type = "prob"))
  expect_equal(heldout_loglik(fit, source), heldout_loglik(fit, x))
  out <- withr::local_tempfile()
  expect_identical(predict(fit, source, type = "prob", write = out), 300)
  written <- utils::read.csv(out)
  expect_identical(written$row, 1:300)
  expect_equal(as.matrix(written[-1L]), predict(fit, x, type = "prob"), ignore_attr = TRUE)
  seen <- list()
  predict(fit, source, write = function(answer, number) seen[[number]] <<- answer)
  expect_identical(do.call(c, seen), predict(fit, x))
  expect_output(print(source), "a query")
  # The database goes away.
  expect_bad(bnp_mixture(source_dbi(con, "SELECT nothing FROM nowhere")), "source", "The query cannot be read")
  gone <- DBI::dbConnect(RSQLite::SQLite(), path)
  source <- source_dbi(gone, query)
  DBI::dbDisconnect(gone)
  expect_bad(bnp_mixture(source), "source", "query")
  lost <- source_function(function(b) if (b < 3) points[1:9, ] else stop("connection lost"))
  expect_error(bnp_mixture(lost), "Piece 3 cannot be read", class = "bnpvi_error_source")
  expect_bad(source_dbi(3, query), "argument", "con")
  expect_bad(source_dbi(con, 3), "argument", "query")
})

test_that("tables of DuckDB and Arrow are read as sources", {
  control <- how_source(batches = 3)
  memory <- bnp_mixture(points, control = how_source(batches = dealt(300, 3)))
  if (requireNamespace("duckdb", quietly = TRUE)) {
    con <- DBI::dbConnect(duckdb::duckdb())
    withr::defer(DBI::dbDisconnect(con, shutdown = TRUE))
    DBI::dbWriteTable(con, "points", as.data.frame(points))
    expect_fit_of_source(bnp_mixture(source_dbi(con, "SELECT * FROM points"), control = control), memory, "DuckDB")
  }
  expect_bad(source_arrow(3), "argument", "dataset")
  expect_output(print(source_arrow(as.data.frame(points))), "Arrow data")
  if (!requireNamespace("arrow", quietly = TRUE)) {
    expect_bad(bnp_mixture(source_arrow(as.data.frame(points))), "package", "arrow")
  }
  skip_if_not_installed("arrow")
  table <- arrow::arrow_table(as.data.frame(points))
  expect_fit_of_source(bnp_mixture(source_arrow(table), control = control), memory, "Arrow")
})

test_that("update takes in the pieces, and batches are numbers or given", {
  fit <- bnp_mixture(points[1:200, ], control = how_source())
  expect_identical(
    elbo(quiet(update(fit, in_pieces(points[201:300, ], 50)))),
    elbo(quiet(update(update(fit, points[201:250, ]), points[251:300, ])))
  )
  expect_bad(update(fit, in_pieces(points, 50), olddata = points), "update", "olddata")
  expect_bad(bnp_control(batches = c(0, 1)), "argument", "batches")
  expect_bad(bnp_control(batches = c(1.5, 2)), "argument", "batches")
  expect_bad(bnp_mixture(points, control = bnp_control(batches = 1:2)), "argument", "300 observations")
  expect_bad(bnp_mixture(points, control = bnp_control(batches = rep(c(1, 3), 150))), "argument", "Empty: 2")
  expect_bad(bnp_mixture(points, control = bnp_control("full", batches = rep(1:2, 150))), "argument", "full")
  expect_bad(bnp_mixture(in_pieces(points, 50), control = bnp_control(batches = 1:2)), "argument", "300 observations")
  expect_bad(
    bnp_mixture(points, control = bnp_control("truncation_free", batches = rep(1:2, 150))), "argument", "batches"
  )
  expect_output(print(bnp_control(batches = c(1, 2, 2))), "2 (as given)", fixed = TRUE)
  one <- bnp_mixture(points, control = how_source(batches = rep(1, 300)))
  expect_identical(elbo(one), elbo(bnp_mixture(points, control = how_source(batches = 1))))
  known <- bnp_mixture(points, labels = rep(c("p", NA, NA), 100), control = how_source(batches = dealt(300, 3)))
  expect_identical(known$control$batches, 3L)
  people <- bnp_mixture(points, id = rep(1:60, each = 5), control = how_source(batches = rep(1:3, 20)))
  expect_identical(people$control$batches, 3L)
})

test_that("defaults come from a sample when there are more rows than it holds, and print says of how many", {
  rows <- withr::with_seed(5, matrix(rnorm(150000 * 2), ncol = 2))
  control <- how_source(max_laps = 1, moves = FALSE)
  fit <- quiet(bnp_mixture(in_pieces(rows, 30000), obs_gaussian("diagonal", learn = FALSE), control = control))
  expect_lte(fit$input$sampled, 65536)
  expect_gt(fit$input$sampled, 65000)
  expect_output(print(summary(fit)), "random sample")
  expect_identical(nobs(fit), 150000L)
  memory <- resolve_obs(obs_gaussian("diagonal"), as_mixture_data(rows, obs_gaussian("diagonal")))
  expect_equal(fit$model$obs$scale, memory$scale, tolerance = 0.05)
  expect_equal(fit$control$batches, 3L)
})
