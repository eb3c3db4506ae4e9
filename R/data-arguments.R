# Arguments that may name a column of the data: `id`, `time`, `weights` and `labels`. One rule for all of
# them: a string, or a formula with one name, names a column. With `data`, a bare name does so, too, and an
# expression is evaluated with the columns of `data` before the variables of the calling scope, as in lm(). A
# column named in this way is not modelled.

# Evaluates the captured arguments of a method, by name, and assigns them in its frame. An argument that is
# the bare name of a column becomes that name. `of`: what the method calls the data. Code within the package
# passes a value as `id = !!id`, which is taken as it is, since `id = id` would be the column "id" of data
# that have one.
read_arguments <- function(captured, data, of = "data", frame = rlang::caller_env()) {
  for (arg in names(captured)) {
    asked <- !rlang::quo_is_null(captured[[arg]])
    assign(arg, if (asked) argument_in_data(captured[[arg]], data, arg, of, frame), frame)
  }
}

argument_in_data <- function(captured, data, arg, of, call) {
  expr <- rlang::quo_get_expr(captured)
  # the columns of such data are not known yet
  reads_later <- inherits(data, c("bnp_source", "bnp_stream", "bnp_data"))
  if (is.symbol(expr) && length(dim(data)) == 2L && as.character(expr) %in% colnames(data)) {
    return(as.character(expr))
  }
  mask <- if (is.list(data) && !reads_later) data[!duplicated(names(data)) & nzchar(names(data))]
  tryCatch(rlang::eval_tidy(captured, if (is.list(mask)) as.list(mask)), error = function(e) {
    if (is.symbol(expr) && reads_later) {
      return(as.character(expr))
    }
    abort(arg, c(
      "{.arg {arg}} cannot be evaluated.",
      x = "{conditionMessage(e)}",
      i = "It may be the name of a column of {.arg {of}}, or a variable where the function is called."
    ), call = call)
  })
}

# The name of the column that a formula such as `~ animal` names; a value that is no formula stays as it is.
column_named <- function(value, arg, call = rlang::caller_env()) {
  if (!inherits(value, "formula")) {
    return(value)
  }
  if (length(value) != 2L || !is.name(value[[2L]])) {
    abort(arg, c(
      "{.arg {arg}} must name one column, as {.code ~ column} or {.code \"column\"}.",
      i = "To use several columns, join them first, for example by {.fn interaction}."
    ), call = call)
  }
  as.character(value[[2L]])
}

# Splits a table into the column that an argument names and the rest: list(x, value, name) with the table
# without this column, its values, and its name.
split_argument <- function(x, value, arg, call) {
  name <- column_named(value, arg, call)
  if (!(is.character(name) && length(name) == 1L && !is.null(colnames(x)))) {
    return(list(x = x, value = name))
  }
  taken <- take_named_column(x, name, arg, "x", call)
  list(x = taken$x, value = taken$column, name = name)
}

# Splits `data` like split_argument(), if the variables of the model come by a formula. A column that the
# formula has, too, stays in the data.
split_formula_argument <- function(formula, data, value, arg, call) {
  if (!is.data.frame(data)) {
    if (inherits(value, "formula")) value <- named_variable(value, data, arg, call)
    return(list(x = data, value = value))
  }
  split <- split_argument(data, value, arg, call)
  if (isTRUE(split$name %in% all.vars(formula))) split$x <- data
  split
}

# The variable that a formula such as `~ animal` names, if there is no data frame.
named_variable <- function(value, data, arg, call) {
  name <- column_named(value, arg, call)
  tryCatch(eval(value[[2L]], data, environment(value)), error = function(e) {
    abort(arg, c("{.arg {arg}} names {.val {name}}, which does not exist.", i = "Give {.arg data}."), call = call)
  })
}
