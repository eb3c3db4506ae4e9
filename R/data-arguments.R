# Arguments that may name a column: `id`, `time`, `weights` and `labels`. One rule for all of them: a string, or a
# formula with one name, is a column; beside `data` a bare name is one, too, and an expression is evaluated with the
# columns of `data` before the variables of the calling scope, as lm() does. A column that is named so is no variable.

# Captured arguments of a method, by name, get their values in its frame; a bare name of a column stays that name. `of`:
# what the method calls the data. Within the package a value is handed on as `id = !!id`, which stands for itself:
# `id = id` would be the column "id" where the data have one.
read_arguments <- function(captured, data, of = "data", frame = rlang::caller_env()) {
  for (arg in names(captured)) {
    asked <- !rlang::quo_is_null(captured[[arg]])
    assign(arg, if (asked) argument_in_data(captured[[arg]], data, arg, of, frame), frame)
  }
}

argument_in_data <- function(captured, data, arg, of, call) {
  expr <- rlang::quo_get_expr(captured)
  reads_later <- inherits(data, c("bnp_source", "bnp_stream", "bnp_data")) # its columns are not known yet
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
      i = "It may be a column of {.arg {of}}, by its name, or a variable where the function is called."
    ), call = call)
  })
}

# `~ animal` is the column "animal".
column_named <- function(value, arg, call = rlang::caller_env()) {
  if (!inherits(value, "formula")) {
    return(value)
  }
  if (length(value) != 2L || !is.name(value[[2L]])) {
    abort(arg, c(
      "{.arg {arg}} must name one column, as {.code ~ column} or {.code \"column\"}.",
      i = "Of several columns make one first, by {.fn interaction}."
    ), call = call)
  }
  as.character(value[[2L]])
}

# list(x, value, name): the table without the column that an argument names, what it holds, and its name.
split_argument <- function(x, value, arg, call) {
  name <- column_named(value, arg, call)
  if (!(is.character(name) && length(name) == 1L && !is.null(colnames(x)))) {
    return(list(x = x, value = name))
  }
  taken <- take_named_column(x, name, arg, "x", call)
  list(x = taken$x, value = taken$column, name = name)
}

# The same where variables come by a formula. The column stays in the data where the formula has it too.
split_formula_argument <- function(formula, data, value, arg, call) {
  if (!is.data.frame(data)) {
    if (inherits(value, "formula")) value <- named_variable(value, data, arg, call)
    return(list(x = data, value = value))
  }
  split <- split_argument(data, value, arg, call)
  if (isTRUE(split$name %in% all.vars(formula))) split$x <- data
  split
}

# What `~ animal` names, where no data frame has it.
named_variable <- function(value, data, arg, call) {
  name <- column_named(value, arg, call)
  tryCatch(eval(value[[2L]], data, environment(value)), error = function(e) {
    abort(arg, c("{.arg {arg}} names {.val {name}}, which does not exist.", i = "Give {.arg data}."), call = call)
  })
}
