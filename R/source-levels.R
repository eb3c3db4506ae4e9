# Columns of levels (labels) in sources, which are read in pieces. All pieces must have the same codes, so
# that the levels of the whole data are gathered first.

# Whether rows of a source must wait until all levels of columns are known, or what a formula learns from its
# variables.
waits_for_levels <- function(x, obs, formula) {
  if (!is.null(formula) || obs_can(obs, "read")) {
    return(TRUE)
  }
  is.data.frame(x) && any(vapply(x, column_kind, "") == "level")
}

# Names of the columns that an observation model treats as levels, whatever their class.
columns_as_levels <- function(obs, names) {
  if (is.null(obs)) {
    return(NULL)
  }
  blocks <- if (is.null(obs$blocks)) list(obs) else obs$blocks
  unlist(lapply(blocks, function(block) {
    if (!identical(obs_facts(block)$kind, "level")) {
      return(NULL)
    }
    block$columns %||% if (is.null(obs$blocks)) names
  }))
}

# Facts about the columns of a table: for each column list(type, values). type: "number", "text", "factor",
# "ordered", "logical", "unknown" (all values are NA so far), or another class. values: the levels seen so
# far. as_levels: names of columns that are treated as levels.
describe_columns <- function(frame, as_levels) {
  Map(function(v, name) {
    type <- type_of_column(v)
    values <- if (type %in% c("factor", "ordered")) {
      levels(v)
    } else if (type == "text" || type == "number" && name %in% as_levels) {
      unique(v[!is.na(v)])
    }
    list(type = type, values = values, storage = typeof(v), few = if (type == "number") few_values(v))
  }, as.list(frame), names(frame))
}

type_of_column <- function(v) {
  if (is.ordered(v)) {
    return("ordered")
  }
  if (is.factor(v)) {
    return("factor")
  }
  if (is.logical(v) && all(is.na(v))) {
    return("unknown")
  }
  if (is.character(v)) "text" else if (is.logical(v)) "logical" else if (is_plain_number(v)) "number" else class(v)[1L]
}

# Whether any column may have only two different values, both whole numbers, in the whole data; it is then
# treated as levels (default_obs()).
any_few_values <- function(x) {
  x <- plain_columns(x)
  few <- function(v) column_kind(v) == "number" && length(few_values(v)) %in% 1:2
  is.data.frame(x) && any(vapply(x, few, NA))
}

# The facts about columns, changed so that columns of two whole numbers count as levels (default_obs()).
two_values_as_levels <- function(known, names) {
  for (name in intersect(names, names(known))) {
    few <- known[[name]]$few
    if (length(few) == 2L) known[[name]]$values <- few
  }
  known
}

# Names of the columns that are variables of the model without any transformation: for a formula, those that
# it names only outside of functions.
bare_variable_names <- function(formula, x) {
  if (is.null(formula)) {
    return(names(x))
  }
  if (length(formula) != 2L) {
    return(character())
  }
  variables <- as.list(attr(stats::terms(formula, data = x), "variables"))[-1L]
  bare <- vapply(variables, is.name, NA)
  setdiff(vapply(variables[bare], as.character, ""), unlist(lapply(variables[!bare], all.vars)))
}

# Updates the facts about columns with those of one more piece.
join_columns <- function(known, new) {
  if (is.null(known)) {
    return(new)
  }
  Map(function(a, b, name) {
    if (a$type == "unknown") {
      return(b)
    }
    if (b$type == "unknown") {
      return(a)
    }
    if (a$type != b$type) {
      abort("columns", c(
        "The column {.field {name}} has another type than before.",
        x = "It has {b$type} values here, and {a$type} values in the rows before.",
        i = "Set its type in the source, for example {.code types = c({name} = \"text\")}."
      ))
    }
    if (a$type == "ordered" && !identical(a$values, b$values)) {
      abort("columns", "The ordered factor {.field {name}} has other levels than in the rows before.")
    }
    a$values <- union(a$values, b$values)
    a["few"] <- list(if (!is.null(a$few) && !is.null(b$few)) few_values(union(a$few, b$few)))
    if (b$storage == "double") a$storage <- "double"
    a
  }, known, new[names(known)], names(known))
}

# A piece of a table whose factors have all levels of the whole data, in the order that a column in memory
# would have. A factor that stands for text or numbers has the attribute `was` (column_type()).
with_all_levels <- function(frame, known) {
  for (name in intersect(names(frame), names(known))) {
    column <- known[[name]]
    v <- frame[[name]]
    if (is.null(column$values)) {
      if (column$type == "number" && !is.numeric(v)) frame[[name]] <- as.double(v)
      next
    }
    frame[[name]] <- if (column$type %in% c("factor", "ordered")) {
      factor(as.character(v), column$values, ordered = column$type == "ordered")
    } else if (column$type == "text") {
      structure(factor(as.character(v), sort(column$values, method = "radix")), was = "character")
    } else {
      labels <- cell_labels(sort(column$values))
      structure(factor(cell_labels(as.double(v)), labels), was = column$storage)
    }
  }
  frame
}

# A piece of a table with the same columns as the first piece, in their order; an error if columns differ.
same_columns <- function(x, first) {
  given <- colnames(x)
  if (is.null(given) || is.null(first$names)) {
    if (NCOL(x) != first$n) abort("columns", "There are {NCOL(x)} column{?s}, and {first$n} in the rows before.")
    return(x)
  }
  if (identical(given, first$names)) {
    return(x)
  }
  missing <- setdiff(first$names, given)
  if (length(missing) || length(given) != first$n) {
    more <- setdiff(given, first$names)
    abort("columns", c(
      "The columns are not those of the rows before.",
      x = if (length(missing)) "Missing: {places(dQuote(missing, FALSE))}.",
      x = if (length(more)) "New: {places(dQuote(more, FALSE))}."
    ))
  }
  x[, first$names, drop = FALSE]
}

# The reader of a source, which also finds the columns that count the rows over all pieces; counting() gives their
# names.
watch_row_numbers <- function(reader) {
  last <- NULL
  read <- function() {
    piece <- reader$read()
    if (!is.null(piece)) last <<- last_row_numbers(last, without_id(piece)$x)
    piece
  }
  list(read = read, close = reader$close, counting = function() names(last))
}

# The last value of each column of a piece that counts its rows and goes on from the piece before. before: these values
# of the piece before; NULL for the first piece.
last_row_numbers <- function(before, x) {
  if (!is.data.frame(x) || !nrow(x)) {
    return(before)
  }
  x <- plain_columns(x)
  if (!is.null(before)) x <- x[intersect(names(before), names(x))]
  follows <- vapply(names(x), function(name) {
    counts_rows(x[[name]]) && (is.null(before) || x[[name]][1L] == before[[name]] + 1)
  }, NA)
  vapply(x[follows], function(v) as.double(v[length(v)]), 1)
}
