# Sparse matrices that were edited, or read from a file, are refused wherever one enters, before anything follows their
# indices; valid ones of every class are what the dense matrix is.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
control <- bnp_control(seed = 1, verbose = FALSE, max_laps = 3)
counts <- withr::with_seed(1, matrix(rpois(240, 2), 40, dimnames = list(NULL, letters[1:6])))
sparse <- as(Matrix::Matrix(counts, sparse = TRUE), "dgCMatrix")
cause <- function(expr) {
  e <- tryCatch({
    quiet(expr)
    NULL
  }, error = identity)
  while (!is.null(e$parent)) e <- e$parent
  e
}
expect_gate <- function(expr, what) {
  e <- cause(expr)
  found <- if (is.null(e)) "no error" else conditionMessage(e)
  expect(inherits(e, "bnpvi_error_invalid_matrix"), paste0(what, ": ", found))
}

damages <- list(
  dim = function(m) {
    m@Dim <- c(2L, 2L)
    m@Dimnames <- list(NULL, NULL)
    m
  },
  fewer_rows = function(m) replace_slot(m, "Dim", c(1L, 6L)),
  more_columns = function(m) replace_slot(m, "Dim", c(40L, 7L)),
  missing_dim = function(m) replace_slot(m, "Dim", c(NA, 6L)),
  falling_p = function(m) replace_slot(m, "p", replace(m@p, 3, 0L)),
  missing_p = function(m) replace_slot(m, "p", replace(m@p, 2, NA)),
  p_from_one = function(m) replace_slot(m, "p", m@p + 1L),
  short_p = function(m) replace_slot(m, "p", m@p[-2]),
  p_beyond = function(m) replace_slot(m, "p", replace(m@p, 7, m@p[7] + 900L)),
  p_before_the_end = function(m) replace_slot(m, "p", replace(m@p, 7, m@p[7] - 1L)),
  large_i = function(m) replace_slot(m, "i", replace(m@i, 5, 900000L)),
  negative_i = function(m) replace_slot(m, "i", replace(m@i, 5, -3L)),
  missing_i = function(m) replace_slot(m, "i", replace(m@i, 5, NA)),
  unsorted_i = function(m) replace_slot(m, "i", replace(m@i, 1:2, m@i[2:1])),
  repeated_i = function(m) replace_slot(m, "i", replace(m@i, 2, m@i[1])),
  short_x = function(m) replace_slot(m, "x", m@x[-1]),
  short_i = function(m) replace_slot(m, "i", m@i[-1]),
  names = function(m) replace_slot(m, "Dimnames", list(letters[1:3], NULL))
)
replace_slot <- function(m, name, value) {
  attr(m, name) <- value # as a file may have it: unchecked
  m
}

test_that("every damage is refused, also one that was stored and read again", {
  path <- withr::local_tempfile(fileext = ".rds")
  for (name in some_of(names(damages), by = 2)) {
    bad <- damages[[name]](sparse)
    expect_gate(bnp_topics(bad, control = control), name)
    saveRDS(bad, path)
    expect_gate(bnp_mixture(source_files(path), obs_poisson(), control = control), paste(name, "in a file"))
  }
})

test_that("broken indices are refused in sparse matrices of every class", {
  square <- Matrix::crossprod(sparse)
  triplets <- as(sparse, "TsparseMatrix")
  by_row <- as(sparse, "RsparseMatrix")
  pattern <- as(sparse, "nMatrix")
  triangle <- as(Matrix::tril(square), "triangularMatrix")
  triangle@uplo <- "U"
  bad <- list(
    dgTMatrix = replace_slot(triplets, "j", triplets@j + 100L),
    dgTMatrix = replace_slot(triplets, "i", triplets@i[-1]),
    dgRMatrix = replace_slot(by_row, "j", replace(by_row@j, 1, 77L)),
    dgRMatrix = replace_slot(by_row, "p", by_row@p[-1]),
    ngCMatrix = replace_slot(pattern, "i", replace(pattern@i, 1, -1L)),
    dsCMatrix = replace_slot(square, "i", replace(square@i, 1, 9L)),
    dsCMatrix = replace_slot(square, "uplo", "L"),
    dtCMatrix = triangle,
    ddiMatrix = replace_slot(Matrix::Diagonal(6, 1:6), "x", 1),
    indMatrix = replace_slot(as(c(1L, 2L, 1L), "indMatrix"), "perm", c(1L, 200L, 1L)),
    dgeMatrix = replace_slot(as(as(as(counts, "dMatrix"), "generalMatrix"), "unpackedMatrix"), "Dim", c(400L, 6L))
  )
  for (i in seq_along(bad)) {
    expect_s4_class(bad[[i]], names(bad)[i])
    expect_gate(bnp_topics(bad[[i]], control = control), names(bad)[i])
  }
  slam <- list(i = c(1L, 2L), j = c(1L, 3L), v = c(2, 1), nrow = 2L, ncol = 3L, dimnames = NULL)
  spoiled <- list(
    replace(slam, "i", list(c(1L, 9L))), replace(slam, "j", list(c(0L, 3L))), replace(slam, "v", list(2)),
    replace(slam, "i", list(c(1L, NA))), replace(slam, "nrow", list(NA_integer_)), replace(slam, "ncol", list(-3L)),
    replace(replace(slam, "i", list(c(1L, 1L))), "j", list(c(3L, 3L))), replace(slam, "i", list("a")),
    replace(slam, "dimnames", list(list(letters[1:5], NULL)))
  )
  spoiled <- lapply(spoiled, structure, class = "simple_triplet_matrix") # whose package may be loaded, or not
  for (i in seq_along(spoiled)) expect_gate(bnp_topics(spoiled[[i]], control = control), paste("triplets", i))
})

test_that("a sparse matrix that is not valid is refused wherever one enters", {
  bad <- damages$large_i(sparse)
  ones <- (counts > 1) * 1
  topics <- quiet(bnp_topics(sparse, control = control))
  mixture <- quiet(bnp_mixture(sparse, obs_poisson(), control = control))
  chain <- quiet(bnp_hmm(counts, obs = obs_poisson(), control = control))
  features <- quiet(bnp_features(counts, control = control))
  draws <- quiet(bnp_sample(mixture, sparse, draws = 4, warmup = 2, seed = 1, verbose = FALSE))
  ring <- Matrix::sparseMatrix(i = 1:12, j = c(2:12, 1L), x = 1)
  network <- quiet(bnp_network(ring, control = control))
  bad_ring <- replace_slot(ring, "i", replace(ring@i, 3, 5000L))
  once <- function(x) source_function(function(b) x, 1)
  calls <- rlang::exprs(
    bnp_topics(bad), bnp_topics(bad, id = "a"), bnp_topics(bad, id = rep(1:20, 2)), bnp_mixture(bad),
    bnp_mixture(bad, obs_poisson()), bnp_mixture(bad, obs_poisson(columns = c("a", "b"))),
    bnp_mixture(bad, obs_poisson(), id = "a"), bnp_hmm(bad, obs = obs_poisson()),
    bnp_hmm(list(sparse, bad), obs = obs_poisson()), bnp_hmm(bad, id = "a", obs = obs_poisson()), bnp_features(bad),
    bnp_network(bad_ring), bnp_topics(once(bad)), bnp_mixture(once(bad), obs_poisson()),
    bnp_hmm(once(list(bad)), obs = obs_poisson()), bnp_features(once(bad)),
    bnp_topics(bnp_stream(function(i) if (i < 3) bad)), bnp_topics(bnp_stream(once(bad))), predict(topics, bad),
    predict(mixture, bad), predict(chain, bad), predict(chain, list(bad)), predict(features, bad),
    predict(topics, once(bad)), heldout_loglik(topics, bad), heldout_loglik(topics, bad, type = "sequential"),
    heldout_loglik(topics, once(bad)), heldout_loglik(mixture, bad), heldout_loglik(chain, bad),
    heldout_loglik(features, bad), coherence(topics, bad), ldavis_data(topics, bad), update(topics, bad),
    update(mixture, bad), update(mixture, sparse, olddata = bad), update(mixture, once(bad)), update(chain, bad),
    update(features, bad), update(draws, bad, draws = 2), augment(mixture, bad), augment(chain, bad),
    bnp_sample(topics, bad, draws = 2), check_fit(mixture, bad), cluster_tree(mixture, bad),
    bregman_kmeans(bad, 2, obs_poisson()), bnp_filter(chain, bad), forecast(chain, bad, h = 2),
    predict(network, ring[1:2, ], type = "prob"), split_links(bad_ring, 0.1)
  )
  calls[[which(vapply(calls, function(x) identical(x[[2L]], quote(network)), NA))]] <-
    quote(predict(network, replace_slot(ring[1:2, ], "i", replace(ring[1:2, ]@i, 1, 700L)), type = "prob"))
  for (call in calls) expect_gate(eval(call), paste(deparse(call), collapse = ""))
  expect_null(cause(bnp_mixture(ones, obs_bernoulli(), control = control)))
})

test_that("a valid matrix of every class gives the fit of the dense one", {
  dense <- withr::with_seed(2, matrix(rpois(144, 1), 12))
  dense[upper.tri(dense)] <- 0
  diag(dense) <- 1
  dimnames(dense) <- rep(list(paste0("t", 1:12)), 2)
  both <- dense + t(dense)
  general <- as(Matrix::Matrix(dense, sparse = TRUE), "generalMatrix")
  triplets <- as(general, "TsparseMatrix")
  triplets@i <- c(triplets@i, triplets@i[1]) # a cell that is listed twice adds up
  triplets@j <- c(triplets@j, triplets@j[1])
  triplets@x <- c(triplets@x, 2)
  symmetric <- Matrix::forceSymmetric(Matrix::Matrix(both, sparse = TRUE))
  triangle <- as(general, "triangularMatrix")
  cases <- list(
    general, as(general, "RsparseMatrix"), triplets, triangle, Matrix::diagN2U(triangle), as(general, "nMatrix"),
    as(general, "lMatrix"), symmetric, as(symmetric, "TsparseMatrix"), Matrix::Diagonal(12, 1:12), Matrix::Diagonal(12),
    as(rep(1:4, 3), "indMatrix"), as(12:1, "pMatrix"), as(general, "unpackedMatrix")
  )
  for (x in cases) {
    y <- 1 * as.matrix(x)
    a <- quiet(bnp_topics(x, control = control))
    b <- quiet(bnp_topics(y, control = control))
    expect_identical(elbo(a), elbo(b), label = class(x)[1L])
    expect_identical(unname(predict(a, x)), unname(predict(b, y)), label = class(x)[1L])
  }
  skip_if_not_installed("slam")
  expect_identical(
    elbo(quiet(bnp_topics(slam::as.simple_triplet_matrix(dense), control = control))),
    elbo(quiet(bnp_topics(dense, control = control)))
  )
})

test_that("a matrix that claims rows or columns without entries is refused before memory is asked for", {
  wide <- Matrix::sparseMatrix(i = 1:2, j = c(1, 2e9), x = 1, dims = c(2, 2e9), repr = "T")
  expect_bad(bnp_topics(wide), "memory", "2,000,000,000 columns")
  long <- list(i = 1L, j = 1L, v = 1, nrow = 2e9, ncol = 2L, dimnames = NULL)
  class(long) <- "simple_triplet_matrix"
  expect_bad(bnp_topics(long), "memory", "rows")
})
