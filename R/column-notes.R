# Messages about columns of a data frame that would be modelled otherwise than meant: row numbers, one value in all
# rows, codes of missing values, columns that follow from others, numbers as text.

# Says which columns of a data frame tell no clusters apart: those that count its rows (1, 2, ..., or from another
# number on), as those do that only name them, and those with one value; and which should not be modelled as they are.
# Called where the user has not chosen columns.
tell_of_columns <- function(x, arg, call) {
  if (!is.data.frame(x) || nrow(x) < 10L || length(x) < 2L) {
    return(invisible())
  }
  say_row_numbers(names(x)[vapply(x, counts_rows, NA)], arg, call)
  same <- names(x)[vapply(x, function(v) is.atomic(v) && is.null(dim(v)) && !anyNA(v) && all(v == v[1L]), NA)]
  if (length(same)) {
    cli::cli_inform(c(
      "{cli::qty(length(same))}Column{?s} {.field {same}} of {.arg {arg}} {cli::qty(length(same))}{?has/have} one value
       in all rows, which tells no clusters apart.",
      i = "Leave {cli::qty(length(same))}{?it/them} out."
    ), class = c("bnpvi_message_one_value_columns", "bnpvi_message"), call = call)
  }
  numbers <- Filter(function(v) is_plain_number(v) && is.null(dim(v)), as.list(x))
  say_missing_codes(numbers, arg, call)
  say_dependent_columns(numbers[!names(numbers) %in% same], arg, call)
}

# Numbers that often stand for a missing value.
missing_codes <- c(-9, outer(c(-1, 1), c(99, 999, 9999, 99999, 88, 888, 77, 777)))

# Says which columns of numbers have such a code, more than once and away from all other values: below 0 where no other
# value is, or further away than the others from each other.
say_missing_codes <- function(numbers, arg, call) {
  code <- vapply(numbers, code_of_missing, 1)
  code <- code[!is.na(code)]
  for (name in names(code)) {
    count <- sum(numbers[[name]] == code[[name]], na.rm = TRUE)
    column <- paste0(arg, "[[", dQuote(name, FALSE), "]]")
    cli::cli_inform(c(
      "Column {.field {name}} of {.arg {arg}} is {code[[name]]} in {count} rows, away from all other values.",
      i = "If this stands for a missing value, say so before the fit:
           {.code {column}[{column} == {code[[name]]}] <- NA}."
    ), class = c("bnpvi_message_missing_code", "bnpvi_message"), call = call)
  }
}

# The value at one end of v that looks like a code of missing values; NA if there is none.
code_of_missing <- function(v) {
  if (!any(is.finite(v))) {
    return(NA_real_)
  }
  for (end in range(v[is.finite(v)])) {
    if (!end %in% missing_codes || sum(v == end, na.rm = TRUE) < 2L) next
    others <- v[is.finite(v) & v != end]
    if (length(others) < 2L) next
    if (end < 0 && all(others >= 0) || min(abs(others - end)) > diff(range(others))) {
      return(as.double(end))
    }
  }
  NA_real_
}

# Says which columns of numbers are sums of multiples of others, and of a constant. A few rows are looked at first.
say_dependent_columns <- function(numbers, arg, call) {
  if (length(numbers) < 2L || length(numbers) > 200L) {
    return(invisible())
  }
  x <- do.call(cbind, lapply(numbers, as.double))
  x <- x[is.finite(rowSums(x)), , drop = FALSE]
  some <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), 1000L))))
  if (nrow(x) < ncol(x) + 10L || !length(following_columns(x[some, , drop = FALSE]))) {
    return(invisible())
  }
  names <- following_columns(x)
  if (length(names)) {
    n <- length(names)
    cli::cli_inform(c(
      "{cli::qty(n)}Column{?s} {.field {names}} of {.arg {arg}} {cli::qty(n)}{?is a sum/are sums} of multiples of other
       columns, as a copy is, and {cli::qty(n)}{?tells/tell} nothing new.",
      i = "Leave {cli::qty(n)}{?it/them} out: bounds and the number of clusters would depend on the digits to which such
           columns agree."
    ), class = c("bnpvi_message_dependent_columns", "bnpvi_message"), call = call)
  }
}

# The names of columns that follow from those before them. Columns that do not vary are left out.
following_columns <- function(x) {
  x <- scale(x)
  x <- x[, is.finite(colSums(x)), drop = FALSE]
  parts <- qr(x, tol = 1e-9)
  colnames(x)[parts$pivot[-seq_len(parts$rank)]]
}

# Says which columns of text hold numbers, with or without a unit: those of more than ten different values of which
# nearly all are numbers (both limits are guesses).
say_numbers_as_text <- function(x, arg, call) {
  for (name in names(x)[vapply(x, is.character, NA)]) {
    labels <- trimws(unique(x[[name]][!is.na(x[[name]])]))
    number <- grepl("^[$\u20ac\u00a3]? ?[-+]?[0-9.,' ]*[0-9][.,]?( ?[[:alpha:]%\u00b0/]+)?$", labels)
    unit <- unique(sub("^.*[0-9][.,]? ?", "", labels[number]))
    if (length(labels) <= 10L || mean(number) < 0.8 || length(unit) > 1L) next
    column <- paste0(arg, "[[", dQuote(name, FALSE), "]]")
    comma <- any(grepl(",[0-9]{1,2}$", labels)) && !any(grepl(".", labels, fixed = TRUE))
    plain <- !anyNA(suppressWarnings(as.numeric(labels[number])))
    remedy <- if (plain) column else if (comma) paste0("sub(\",\", \".\", ", column, ")") else
      paste0("gsub(\"[^-0-9.]\", \"\", ", column, ")")
    cli::cli_inform(c(
      "Column {.field {name}} of {.arg {arg}} holds numbers as text, and is taken as {length(labels)} levels.",
      x = if (!all(number)) "No numbers: {places(dQuote(labels[!number], FALSE), 3L)}.",
      i = "{.code {column} <- as.numeric({remedy})} makes numbers of them. Leave it out if it only names the rows."
    ), class = c("bnpvi_message_number_text", "bnpvi_message"), call = call)
  }
}

say_row_numbers <- function(counting, arg, call) {
  n <- length(counting)
  if (n) {
    cli::cli_inform(c(
      "{cli::qty(n)}Column{?s} {.field {counting}} of {.arg {arg}} {cli::qty(n)}{?counts/count} the rows, and {?is/are}
       modelled like any other.",
      i = "Leave {cli::qty(n)}{?it/them} out if {?it/they} only {?names/name} the rows: before the data, a formula
           such as {.code ~ a + b} says which columns are modelled."
    ), class = c("bnpvi_message_row_numbers", "bnpvi_message"), call = call)
  }
}

counts_rows <- function(v) {
  if (!is.numeric(v)) {
    return(FALSE)
  }
  v <- as.double(unclass(v))
  n <- length(v)
  isTRUE(v[n] - v[1L] == n - 1) && isTRUE(all(v == v[1L] + seq_len(n) - 1))
}
