# Individuals: rows that are repeated measurements of an individual belong to one cluster.
#
# The internal form of data then has `individual`, the number of each row's individual; `n_individuals`; and
# `individuals`: list(names, of_given, all, all_names) with the names of the individuals; the individual of each row
# that was given, NA where all rows of an individual were left out; and both for all individuals that were given. The
# observation model has `repeated = TRUE`. What the engine returns by row is then by individual; weights and classes
# remain by row, equal within individuals.

# Splits off the argument `id` of bnp_mixture(): list(x, id, name) has the table without the column that `id`
# names, the id of each row, and the name of the column.
split_id <- function(x, id, arg, call) {
  id <- id_column(id, call)
  if (is.null(id)) {
    return(list(x = x))
  }
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "simple_triplet_matrix")) {
    abort("id", "{.arg id} has no meaning when {.arg {arg}} is a list of series.", call = call)
  }
  split <- take_id(x, id, arg, call)
  names_column <- is.character(id) && length(id) == 1L && !is.null(colnames(x))
  c(split, list(name = if (names_column) id))
}

# Splits off `id`, as split_id() does, where variables come by a formula: list(formula, data, id, name). `y ~
# x | subject` is `y ~ x` with `id = ~ subject`, as in flexmix. A column that the formula uses, too, stays in
# the data.
split_formula_id <- function(formula, data, id, call) {
  split <- split_bar(formula, id, call)
  formula <- split$formula
  id <- split$id
  name <- id_column(id, call)
  if (is.data.frame(data) || !inherits(id, "formula")) {
    split <- if (is.data.frame(data)) split_id(data, id, "data", call) else list(x = data, id = id)
    if (!is.null(split$name) && split$name %in% all.vars(formula)) split$x <- data
    return(list(formula = formula, data = split$x, id = split$id, name = split$name))
  }
  list(formula = formula, data = data, id = named_variable(id, data, "id", call), name = name)
}

# The formula without what stands after `|`, and `id`, which that is if `id` is not given: list(formula, id).
split_bar <- function(formula, id, call) {
  right <- formula[[length(formula)]]
  if (is.call(right) && identical(right[[1L]], quote(`|`))) {
    if (!is.null(id)) {
      abort("id", c(
        "{.arg id} and {.code | {paste(deparse(right[[3L]]), collapse = ' ')}} in the formula both name the
         individuals: give only one of them.",
        i = "A logical covariate is written {.code I(a | b)}."
      ), call = call)
    }
    id <- stats::as.formula(call("~", right[[3L]]), environment(formula))
    formula[[length(formula)]] <- right[[2L]]
  }
  list(formula = formula, id = id)
}

# Adds individuals to checked data. id: the individual of each given row; NULL if rows are not grouped.
with_individuals <- function(data, id, obs, arg, call, name = NULL) {
  if (is.null(id)) {
    return(data)
  }
  require_ability(kinds_to_fit("bnp_mixture", obs), "id", call)
  id <- check_id(id, rows_given(data), arg, call, given_row_names(data))
  data$id <- name
  without_unknown_rows(numbered_individuals(data, as.integer(id), levels(id)), obs, arg, call)
}

# Numbers the individuals that have rows left, in the order that they have among all. all: for each given row
# the number of its individual among all.
numbered_individuals <- function(data, all, names) {
  used <- of_kept_rows(data, all)
  left <- sort(unique(used))
  # If all are left, the three vectors below are one in memory, as long as there are rows.
  number <- if (length(left) == length(names)) identity else function(all) match(all, left)
  data$individual <- number(used)
  data$n_individuals <- length(left)
  data$individuals <- list(names = names[left], of_given = number(all), all = all, all_names = names)
  data
}

# Refuses individuals with partly observed rows where columns depend on each other: the expectation of a
# missing cell then depends on the cluster, so that features of rows cannot be added up. Rows without any
# response are left out.
without_unknown_rows <- function(data, obs, arg, call) {
  if (!has_missing(data)) {
    return(data)
  }
  expects <- blocks_that_expect(data, obs)
  if (!length(expects)) {
    return(data)
  }
  if (any(!has_values(data, modelled_columns(data, obs)))) {
    left <- without_rows(data, !has_values(data, modelled_columns(data, obs)), "without any value", arg, call)
    left <- numbered_individuals(left, data$individuals$all, data$individuals$all_names)
    return(without_unknown_rows(left, obs, arg, call))
  }
  maker <- expects[1L]
  rows <- given_row(data, which(rowSums(data$missing) > 0))
  abort("gaps", c(
    "{.arg {arg}} has rows of which some values are missing, which {.fn {maker}} with {.arg id} cannot have.",
    x = "In {cli::qty(length(rows))}row{?s} {places(rows)}.",
    i = "Here the expectation of a missing value depends on the other values of its row. Use
         {.code na_action = \"omit\"}, or a model
         whose columns are independent given the cluster, as with {.code covariance = \"diagonal\"}."
  ), call = call)
}

# The names of the constructors of blocks (models of some columns) in which some rows lack values that depend
# on observed ones.
blocks_that_expect <- function(data, obs) {
  if (!has_missing(data)) {
    return(character())
  }
  expects <- function(block) obs_can(block$obs, "conditional") && any(data$missing[, block$columns])
  vapply(Filter(expects, blocks_of(data, obs)), function(block) obs_facts(block$obs)$constructor, "")
}

unit_names <- function(data) if (has_individuals(data)) data$individuals$names else data$row_names

# Values for the engine's rows (individuals, if there are any) from values for rows: each individual has that
# of its first row.
of_units <- function(data, x) {
  if (!has_individuals(data) || is.null(x)) x else values_at(x, match(seq_len(data$n_individuals), data$individual))
}

# Values for rows from values for the engine's rows (individuals, if there are any).
of_rows <- function(data, x) if (has_individuals(data)) values_at(x, data$individual) else x

# Values for all given rows, from one value per individual (by name, or in the order of first rows or of the
# levels of a factor) or from one per row, equal within individuals. known: an NA in a row is ignored if other
# rows of the individual have a value.
one_per_individual <- function(x, data, arg, call, known = FALSE) {
  if (is.null(x) || !has_individuals(data) || inherits(x, "bnp_fit")) {
    return(x)
  }
  x <- plain_values(x)
  matrix <- is.matrix(x)
  if (!matrix && !is.atomic(x)) {
    return(x)
  }
  given <- if (matrix) nrow(x) else length(x)
  of_given <- data$individuals$all
  names <- data$individuals$all_names
  part <- function(at) values_at(x, at)
  by_individual <- given == length(names) &&
    (given != rows_given(data) || setequal(if (matrix) rownames(x) else base::names(x), names))
  if (by_individual) {
    x <- in_order_of_names(x, names, given, arg, "individual", call)
    return(part(of_given))
  }
  if (given != rows_given(data)) {
    abort(arg, c(
      "{.arg {arg}} must have one value per row ({rows_given(data)}), the same in all rows of an individual, or one per
       individual ({length(names)}), not {given}."
    ), call = call)
  }
  x <- in_order_of_names(x, given_row_names(data), given, arg, "row", call)
  says <- if (!known) rep(TRUE, given) else if (matrix) rowSums(is.na(x)) < ncol(x) else !is.na(x)
  rows <- which(says)
  first <- rows[match(of_given, of_given[rows])]
  same <- function(a, b) a == b | (is.na(a) & is.na(b))
  equal <- same(part(seq_len(given)), part(first))
  equal <- if (matrix) rowSums(!equal | is.na(equal)) == 0 else equal & !is.na(equal)
  bad <- rows[!equal[rows]]
  if (length(bad)) {
    abort(arg, c(
      "{.arg {arg}} must be the same in all rows of an individual.",
      x = "Not so: {places(names[unique(of_given[bad])])}."
    ), call = call)
  }
  first[is.na(first)] <- which(is.na(first))
  part(first)
}

# A start of a fit whose labels, or probabilities, are for the engine's rows (individuals, if there are any).
start_of_units <- function(start, data) {
  for (field in c("labels", "resp")) start[[field]] <- of_units(data, start[[field]])
  start
}

# Splits new data into list(x, id). An `id` that is not given is the column that the fit used as id or, for
# the training data, the id of the fit.
newdata_id <- function(fit, newdata, id, arg, call) {
  repeated <- isTRUE(fit$model$obs$repeated)
  if (!repeated && !is.null(id)) {
    abort("id", c(
      "{.arg id} is for fits of repeated measurements, which this one is not.",
      i = "Fit with {.code bnp_mixture(x, id = )}."
    ), call = call)
  }
  if (!repeated) {
    return(list(x = newdata))
  }
  name <- fit$input$id
  if (is.null(id) && !is.null(name) && length(dim(newdata)) == 2L && name %in% colnames(newdata)) id <- name
  split <- split_id(newdata, id, arg, call)
  if (!is.null(fit$input$terms) || isTRUE(split$name %in% fit$input$column_names)) split$x <- newdata
  split
}

# The individuals of the training data, if `data` has the same rows; otherwise an error, since `id` is needed.
training_individuals <- function(fit, data, arg, call) {
  known <- fit$input
  rows <- data
  kept <- known$left_out$kept
  # New data still have the rows without any value, which the fit left out.
  empty <- is.null(data$left_out) && !is.null(kept) && identical(as.integer(data$n), as.integer(known$left_out$n))
  if (empty) rows <- data[kept]
  same <- !is.null(as_trained(rows, fit)) &&
    (empty || identical(data$left_out$kept, kept))
  if (!same) {
    abort("id", c(
      "{.arg id} is needed: it says which rows of {.arg {arg}} are measurements of the same individual.",
      i = "For rows of different individuals give {.code id = seq_len(nrow({arg}))}."
    ), call = call)
  }
  without_unknown_rows(
    numbered_individuals(data, known$individuals$all, known$individuals$all_names), fit$model$obs, arg, call
  )
}

# Refuses rows so far from the training data that their sums of squares overflow.
check_reach_of_sums <- function(data, obs, arg, call) check_reach(data, obs, call, arg, farthest = 1e120)

# Data in which each row is an individual of its own; used for curves of densities.
as_single_rows <- function(fit, data) {
  if (!isTRUE(fit$model$obs$repeated)) {
    return(data)
  }
  numbered_individuals(data, seq_len(data$n), as.character(seq_len(data$n)))
}

# The id of each row that is to be simulated; NULL if the fit has no individuals.
simulated_id <- function(fit, id, n, n_given, call) {
  if (!isTRUE(fit$model$obs$repeated)) {
    if (!is.null(id)) newdata_id(fit, NULL, id, "object", call)
    return(NULL)
  }
  if (!is.null(id)) {
    if (!is.atomic(id) && !inherits(id, "POSIXlt")) {
      abort("id", "{.arg id} must be a vector, one value a row, not {describe(id)}.", call = call)
    }
    id <- check_id(id, length(id), "object", call)
    if (n_given && n != length(id)) {
      abort("id", "{.arg id} has {length(id)} row{?s}, {.arg n} is {n}: leave {.arg n} out.", call = call)
    }
    return(id)
  }
  if (n_given) {
    abort("id", c(
      "{.arg id} is needed with {.arg n}: it says which of the rows are of the same individual.",
      i = "For 20 individuals with 5 rows each: {.code id = rep(1:20, each = 5)}."
    ), call = call)
  }
  factor(fit$input$individuals$names[fit$input$individual], fit$input$individuals$names)
}
