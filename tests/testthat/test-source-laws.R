# The laws of a source (src/inference/data/source.h), for each one there is. A new source adds its name here.

sources <- c("memory", "transient")

# Groups of these lengths; x has whole numbers, so that dense and sparse ones compare.
grouped_data <- function(lengths, sparse) {
  n <- sum(lengths)
  x <- matrix(rpois(4 * n, 0.7) + 0, n)
  data <- if (sparse) sparse_engine_data(x) else engine_data(x)
  data$starts <- as.integer(c(0, cumsum(lengths)))
  list(x = x, data = data)
}

rows_in <- function(starts, g, lag = 0L) {
  rows <- seq_len(starts[g + 1]) # in R's numbers
  rows[rows > starts[g] + lag]
}

deal <- function(units, n_batches) {
  batch <- sample(n_batches, length(units), replace = TRUE)
  c(unname(lapply(seq_len(n_batches), function(b) units[batch == b])), list(integer()))
}

expect_source_laws <- function(name, lengths, grouped, lag, sparse, n_batches) {
  made <- grouped_data(lengths, sparse)
  x <- made$x
  starts <- made$data$starts
  all_groups <- seq_along(lengths)
  modelled <- unlist(lapply(all_groups, function(g) rows_in(starts, g, lag)))
  units <- if (grouped) all_groups else modelled
  dealt <- deal(units, n_batches)
  rows <- sample(length(modelled), 2 * length(modelled), replace = TRUE)
  groups <- sample(length(lengths), 5, replace = TRUE)
  source <- engine_source(made$data, name, dealt, grouped, lag, rows, groups)
  expect_identical(
    source[c("n", "d", "n_groups", "sparse", "rows_are_groups")],
    list(n = nrow(x), d = 4L, n_groups = length(lengths), sparse = sparse, rows_are_groups = all(lengths == 1))
  )
  expect_equal(source$starts, starts)
  expect_identical(source$n_rows, length(modelled))

  # Units: those dealt, ascending, each once, in both numberings.
  expect_length(source$batches, n_batches + 1L)
  number <- if (grouped) "groups" else "rows"
  for (b in seq_along(dealt)) {
    batch <- source$batches[[b]]
    expect_false(is.unsorted(batch$units, strictly = TRUE))
    expect_equal(batch[[number]][batch$units], dealt[[b]])
    expect_identical(batch$x, x[batch$rows, , drop = FALSE])
    expect_identical(batch[c("sparse", "rows_are_groups")], source[c("sparse", "rows_are_groups")])
    expect_equal(batch$starts[c(1, length(batch$starts))], c(0, length(batch$rows)))
    for (g in seq_along(batch$groups)) {
      own <- batch$rows[rows_in(batch$starts, g)]
      expect_true(all(own %in% rows_in(starts, batch$groups[g])))
    }
    if (grouped) {
      for (g in batch$units) {
        expect_equal(batch$rows[rows_in(batch$starts, g)], rows_in(starts, batch$groups[g]))
      }
    } else {
      for (before in seq_len(lag)) {
        expect_equal(batch$rows[batch$units - before], batch$rows[batch$units] - before)
      }
    }
  }
  # Numbers of rows and groups are bijections onto those of all data; where units are rows, of each batch's.
  if (name != "memory") {
    for (batch in source$batches) expect_identical(anyDuplicated(batch$rows) + anyDuplicated(batch$groups), 0L)
    if (grouped) {
      expect_setequal(unlist(lapply(source$batches, `[[`, "groups")), all_groups)
      expect_setequal(unlist(lapply(source$batches, `[[`, "rows")), seq_len(nrow(x)))
    }
    expect_identical(source$most_open, 1L)
  }

  # Copies: any order, as often as asked for.
  taken <- source$taken_rows
  around <- unlist(lapply(modelled[rows], function(row) seq(row - lag, row)))
  expect_identical(taken$x, x[around, , drop = FALSE])
  expect_equal(taken$rows, seq_along(rows) * (lag + 1))
  expect_equal(taken$starts, c(0, seq_along(rows)) * (lag + 1))
  expect_identical(taken$sparse, sparse)
  if (!grouped) return(invisible())
  taken <- source$taken_groups
  inside <- unlist(lapply(groups, function(g) rows_in(starts, g)))
  expect_identical(taken$x, x[inside, , drop = FALSE])
  expect_equal(taken$rows, seq_along(inside))
  expect_equal(taken$starts, c(0, cumsum(lengths[groups])))
  expect_identical(taken$sparse, sparse)
}

test_that("batches of a source are parts of all data, each once, under numbers that lead back", {
  set.seed(31)
  for (name in sources) {
    for (sparse in c(FALSE, TRUE)) {
      for (lag in some_of(0:2, by = 3, from = 1 + 2 * sparse)) {
        for (n_batches in c(1L, 4L)) {
          expect_source_laws(name, c(7, 0, 3, 1, 12, 0, 2, 6), FALSE, lag, sparse, n_batches)
          expect_source_laws(name, c(7, 0, 3, 1, 12, 0, 2, 6), TRUE, lag, sparse, n_batches)
        }
      }
      expect_source_laws(name, rep(1, 12), TRUE, 0L, sparse, 3L)
      expect_source_laws(name, c(2, 0, 1), TRUE, 0L, sparse, 2L)
      expect_source_laws(name, 30, FALSE, 0L, sparse, 3L)
    }
  }
})

test_that("nothing taken is nothing, of the same kind", {
  for (name in sources) {
    for (sparse in c(FALSE, TRUE)) {
      made <- grouped_data(c(2, 3), sparse)
      source <- engine_source(made$data, name, list(1:2), TRUE, 0L, integer(), integer())
      for (taken in source[c("taken_rows", "taken_groups")]) {
        expect_identical(dim(taken$x), c(0L, 4L))
        expect_identical(taken$sparse, sparse)
      }
    }
  }
})

test_that("a source that there is not is refused", {
  made <- grouped_data(3, FALSE)
  expect_error(engine_source(made$data, "nowhere", list(1:3), FALSE, 0L, 1L, 1L), "unknown source: nowhere")
})
