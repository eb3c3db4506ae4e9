# The internal form of data: rows, groups and columns are taken, and pieces joined, by the table of declared fields
# alone. Taking rows is making the data of these rows; joining is making the data of all.

# Fields that differ between two data, by name.
differing <- function(a, b) {
  fields <- union(names(a), names(b))
  fields[!vapply(fields, function(field) isTRUE(all.equal(a[[field]], b[[field]], tolerance = 0)), NA)]
}
expect_same_data <- function(a, b, label = NULL) {
  expect_s3_class(a, "bnp_data")
  expect_identical(differing(a, b), character(), label = label)
}

named <- function(case) {
  x <- case$x
  rownames(x) <- paste0("r", seq_len(nrow(x)))
  if (!obs_can(case$obs, "read")) colnames(x) <- paste0("col", seq_len(ncol(x)))
  x
}
# The observation model for some of the rows, of which exposures may be given as numbers. Levels are those of all rows.
obs_of <- function(case, rows) {
  obs <- if (!obs_can(case$obs, "read")) case$obs else case$model$obs
  if (is.numeric(obs$exposure)) obs$exposure <- obs$exposure[rows]
  obs
}
cases <- Filter(function(case) obs_lag(case$obs) == 0L && !grepl("sparse", case$name), planted_cases())
names(cases) <- vapply(cases, `[[`, "", "name")
of_rows_of <- function(case, rows, ...) {
  data <- as_mixture_data(named(case)[rows, , drop = FALSE], obs_of(case, rows), ...)
  if (is.null(case$time)) data else with_times(data, list(time = case$time[rows]), "equal", FALSE, "x", NULL)
}
holed <- function(x) {
  x[3, 1] <- x[20, ] <- x[41, 2] <- NA
  x
}

test_that("a field that is not declared is an error", {
  data <- as_mixture_data(faithful, obs_gaussian())
  expect_error(data$colour <- 1, "colour")
  expect_error(new_bnp_data(matrix(1), colour = 1), "colour")
  data <- unclass(data)
  data$colour <- 1
  expect_error(as_engine_data(structure(data, class = "bnp_data")), "colour")
})

test_that("every declared field has an axis that is known, and the design page lists them all", {
  expect_true(all(vapply(data_fields, `[[`, "", "axis") %in% names(data_axes)))
  page <- file.path("..", "..", "inst", "design", "data.md")
  skip_if_not(file.exists(page), "no pages of design beside these tests (not a checkout)")
  rows <- strsplit(grep("^[|] `", readLines(page), value = TRUE), " *[|] *")
  rows <- Filter(function(row) length(row) == 5L, rows)
  fields <- lapply(rows, function(row) strsplit(gsub("`", "", row[2L]), ", ")[[1L]])
  listed <- stats::setNames(rep(vapply(rows, `[[`, "", 3L), lengths(fields)), unlist(fields))
  expect_identical(listed[order(names(listed))], axis_of_field[order(names(axis_of_field))])
})

for (name in names(cases)) {
  case <- cases[[name]]
  rows <- seq_len(nrow(case$x))
  test_that(paste0(name, ": rows that are taken are the data made of these rows, and pieces joined the whole"), {
    # Of times the slots are numbered among those of the whole.
    same <- function(a, b) {
      a <- a[!names(a) %in% c("slot", "distinct_times", "gap")]
      b <- b[!names(b) %in% c("slot", "distinct_times", "gap")]
      expect_identical(differing(a, b), character())
    }
    whole <- of_rows_of(case, rows)
    kept <- rows[rows %% 3 != 0]
    order <- rev(rows)
    same(unclass(whole[kept]), unclass(of_rows_of(case, kept)))
    same(unclass(whole[order]), unclass(of_rows_of(case, order)))
    expect_same_data(whole[rows], whole)
    expect_same_data(whole[rows %in% kept], whole[kept])
    pieces <- split(rows, (rows - 1L) %/% 77L)
    expect_same_data(do.call(c, lapply(unname(pieces), function(at) whole[at])), whole)
    same(unclass(do.call(c, lapply(unname(pieces), function(at) of_rows_of(case, at)))), unclass(whole))
    if (!is.null(case$time)) expect_identical(whole[kept]$slot, whole$slot[kept])
  })

  test_that(paste0(name, ": rows in another order have the same densities, probabilities and bound in that order"), {
    x <- named(case)
    order <- order(rows %% 7, rev(rows))
    data <- of_rows_of(case, rows)
    moved <- data[order]
    model <- case$model
    resp <- withr::with_seed(3, matrix(rgamma(3 * length(rows), 1), ncol = 3))
    resp <- resp / rowSums(resp)
    weights <- 1 + rows %% 3
    data$weights <- weights
    moved$weights <- weights[order]
    bound <- engine_elbo_of(as_engine_data(data), model, resp)
    expect_equal(engine_elbo_of(as_engine_data(moved), model, resp[order, ]), bound, tolerance = 1e-10)
    expect_identical(data[order]$weights, moved$weights)
    state <- engine_run(case, k_init = 3, max_laps = 2, moves = FALSE, seed = 1)
    ask <- function(data, verb, ...) verb(as_engine_data(data), model, state$state, ...)
    expect_equal(ask(moved, engine_responsibilities, 1L), ask(data, engine_responsibilities, 1L)[order, ])
    expect_equal(ask(moved, engine_log_predictive, FALSE, 1L), ask(data, engine_log_predictive, FALSE, 1L)[order])
  })

  if (identical(obs_facts(case$obs)$gaps, "cells")) {
    test_that(paste0(name, ": rows with missing cells are taken, joined and left out like others"), {
      x <- holed(named(case))
      if (!is.null(case$obs$responses)) x[, -1] <- named(case)[, -1]
      make <- function(rows, na_action) {
        suppressMessages(as_mixture_data(x[rows, , drop = FALSE], obs_of(case, rows), na_action = na_action))
      }
      whole <- make(rows, "model")
      used <- whole$left_out$kept %||% rows
      one <- used[used < 30]
      two <- used[used >= 30]
      none <- used[used > 60]
      at <- function(given) match(given, used)
      expect_same_data(whole[at(one)], make(one, "model"))
      expect_same_data(whole[at(none)], make(none, "model"))
      expect_null(whole[at(none)]$missing)
      expect_same_data(c(make(rows[rows < 30], "model"), make(rows[rows >= 30], "model")), whole)
      expect_same_data(c(make(none, "model"), make(one, "model")), make(c(none, one), "model"))
      expect_same_data(
        c(make(rows[rows < 30], "omit"), make(rows[rows >= 30], "omit")), make(rows, "omit")
      )
    })
  }
}

test_that("sequences, with times, exposures and weights, are taken and joined as they are", {
  x <- withr::with_seed(1, matrix(as.double(rpois(60, 3)), 30, dimnames = list(letters[c(1:26, 1:4)], c("u", "v"))))
  id <- rep(c("b", "a", "c"), c(12, 8, 10))
  hours <- seq(1, 2, length.out = 30)
  make <- function(rows) {
    data <- as_sequence_data(x[rows, , drop = FALSE], obs_poisson(exposure = hours[rows]), id[rows])
    data$weights <- match(id[rows], c("b", "a", "c")) + 0
    data
  }
  whole <- make(1:30)
  expect_same_data(data_groups(whole, 2:3), make(13:30))
  expect_same_data(data_groups(whole, c(3, 1)), make(c(21:30, 1:12)))
  expect_same_data(c(make(1:12), make(13:30)), whole)
  expect_same_data(c(make(1:12), make(13:20), make(21:30)), whole)
  dropped <- c(1:3, 7, 12, 21:29)
  expect_same_data(whole[dropped], make(dropped))
  expect_error(whole[c(1, 13, 2)], "follow each other")
  timed <- function(at) as_sequence_data(lapply(at, function(i) ts(x[12 * (i - 1) + 1:6, ], 1990 + i)), obs_gaussian())
  expect_identical(c(timed(1), timed(2))$times, timed(1:2)$times)
  expect_identical(data_groups(timed(1:2), 2)$times, timed(2)$times)
})

test_that("documents of counts, dense or sparse, and documents of rows, are taken and joined as they are", {
  counts <- withr::with_seed(1, matrix(rpois(120, 1), 20, dimnames = list(paste0("d", 1:20), paste0("t", 1:6))))
  counts[7, ] <- 0
  make <- function(rows, names = TRUE) {
    x <- counts[rows, , drop = FALSE]
    if (!names) rownames(x) <- NULL
    as_document_data(x, obs_multinomial())
  }
  for (names in c(TRUE, FALSE)) {
    whole <- make(1:20, names)
    expect_same_data(whole[c(2, 7, 5)], make(c(2, 7, 5), names))
    expect_same_data(data_groups(whole, c(2, 7, 5)), make(c(2, 7, 5), names))
    expect_same_data(c(make(1, names), make(2:9, names), make(10:20, names)), whole)
  }
  x <- as.matrix(faithful[1:40, ])
  rownames(x) <- paste0("r", 1:40)
  id <- rep(c("b", "a", "c", "d"), 10)
  rows <- function(at) as_document_data(x[at, ], obs_gaussian(), id = id[at])
  whole <- rows(1:40)
  expect_same_data(data_groups(whole, c(1, 3)), rows(which(id %in% c("b", "c"))))
  some <- setdiff(1:40, c(6, 7, 17, 30))
  expect_same_data(whole[whole$order %in% some], rows(some))
  one <- which(id %in% c("b", "a"))
  joined <- c(rows(one), rows(setdiff(1:40, one)))
  expect_same_data(joined, rows(c(one, setdiff(1:40, one))))
})

test_that("individuals are numbered anew among those whose rows are taken, and behind those before", {
  x <- as.matrix(faithful[1:24, ])
  id <- rep(c("q", "p", "s", "r"), 6)
  obs <- obs_gaussian()
  make <- function(rows) with_individuals(as_mixture_data(x[rows, ], obs), id[rows], obs, "x", NULL)
  whole <- make(1:24)
  of_two <- which(id %in% c("p", "s"))
  expect_same_data(whole[of_two], make(of_two))
  turned <- whole[24:1]
  expect_identical(turned$individuals$names[turned$individual], rev(id))
  apart <- c(which(id %in% c("q", "p")), which(!id %in% c("q", "p")))
  joined <- c(make(apart[1:12]), make(apart[13:24]))
  expect_identical(joined$n_individuals, 4L)
  expect_identical(joined$individuals$names[joined$individual], id[apart])
  expect_identical(joined$individuals$all_names[joined$individuals$all], id[apart])
})

test_that("rows are left out of those that are left, and known by their numbers among those given", {
  data <- as_mixture_data(as.matrix(iris[1:10, 1:2]), obs_gaussian())
  gone <- function(data, which) without_rows(data, seq_len(data$n) %in% which, "gone", "x", NULL) |> suppressMessages()
  twice <- gone(gone(data, c(2, 5)), c(1, 8))
  expect_identical(twice$left_out, list(n = 10L, kept = c(3L, 4L, 6:9), row_names = as.character(1:10)))
  expect_identical(twice$x, data$x[twice$left_out$kept, ])
})

test_that("responses go with their documents", {
  counts <- matrix(1:12, 4, dimnames = list(letters[1:4], NULL))
  data <- as_document_data(counts, obs_multinomial())
  data$group_values <- matrix(1:8 + 0, 2)
  expect_identical(data_groups(data, c(3, 1))$group_values, data$group_values[, c(3, 1)])
  expect_identical(c(data_groups(data, 1:2), data_groups(data, 3:4))$group_values, data$group_values)
})

test_that("rows of trees keep their parents when whole trees are taken", {
  parent <- c(0, 1, 1, 0, 4, 5, 4)
  x <- as.matrix(faithful[1:7, ])
  make <- function(x, parent) as_sequence_data(x, obs_gaussian(), parent = parent)
  whole <- make(x, parent)
  second <- data_groups(whole, 2)
  expect_identical(second$back, make(x[4:7, ], c(0, 1, 2, 1))$back)
  expect_identical(second$x, make(x[4:7, ], c(0, 1, 2, 1))$x)
  expect_null(second$tree)
})

test_that("what was computed of all rows is not there after some are taken, and columns go with their names", {
  data <- as_mixture_data(holed(as.matrix(iris[1:4])), obs_gaussian("diagonal"), na_action = "model") |>
    suppressMessages()
  data$expected <- list(1)
  expect_null(data[1:10]$expected)
  expect_null(data[1:10]$left_out)
  part <- data_columns(data, c("Petal.Width", "Sepal.Width"))
  expect_identical(part$x, data$x[, c(4, 2)])
  expect_identical(part$missing, data$missing[, c(4, 2)])
  expect_identical(part$d, 2L)
})
