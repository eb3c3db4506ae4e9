# Converts vectors and columns of any class to plain values. For classes that the package does not know,
# is.na() says which values are missing, whatever numbers the class stores in their place.

# Converts a vector, matrix or column x to numbers, logical values, text or a factor without another class,
# with names and dimensions (a single dimension is dropped). Values whose class gives them a meaning (dates,
# units, lists) are returned unchanged. So are 64-bit integers that are not exact as doubles: functions that
# use such values refuse them, and in columns that are not used they do no harm.
plain_values <- function(x) {
  if (isS4(x) || !is.atomic(x)) {
    return(x)
  }
  if (length(dim(x)) == 1L) {
    names <- dimnames(x)[[1L]]
    attributes(x) <- attributes(x)[setdiff(names(attributes(x)), c("dim", "dimnames"))]
    names(x) <- names
  }
  if (!is.object(x)) {
    return(x)
  }
  class(x) <- setdiff(oldClass(x), c("AsIs", "noquote", "table", "xtabs"))
  if (is.factor(x) || inherits(x, with_meaning) || is.complex(x) || is.raw(x)) {
    return(x)
  }
  long <- if (inherits(x, "integer64")) halves_of_integer64(x)
  if (!all(long$exact)) {
    return(x)
  }
  # Only haven's is.na() knows which codes stand for missing values.
  if (inherits(x, "haven_labelled_spss")) rlang::check_installed("haven", "to read columns of SPSS files.")
  shape <- attributes(x)[intersect(c("names", "dim", "dimnames"), names(attributes(x)))]
  bare <- long$number %||% replace(as.vector(unclass(x)), which(as.vector(is.na(x))), NA)
  attributes(bare) <- shape
  bare
}

# Classes of numbers whose meaning depends on the class, so that they are not converted to plain numbers.
with_meaning <- c("units", "difftime", "Date", "POSIXt", "Surv")

# Converts 64-bit integers of package bit64, which are stored in place of doubles: list(number, exact), where
# `exact` says whether all are exact as doubles (up to 2^53). NA has the pattern that bit64 uses: all bits but
# the first are 0.
halves_of_integer64 <- function(x) {
  halves <- matrix(readBin(writeBin(as.double(unclass(x)), raw()), "integer", 2L * length(x)), 2L)
  halves <- if (.Platform$endian == "little") halves else halves[2:1, , drop = FALSE]
  word <- function(v, unsigned) ifelse(is.na(v), -2^31, as.double(v)) + ifelse(unsigned & (is.na(v) | v < 0L), 2^32, 0)
  high <- word(halves[2L, ], FALSE) * 2^32
  low <- word(halves[1L, ], TRUE)
  number <- ifelse(high == -2^63 & low == 0, NA, high + low)
  list(number = number, exact = is.na(number) | abs(number) <= 2^53 & number - high == low)
}

# Converts a data frame to plain columns. A column that is itself a matrix or a data frame (such as scale() of
# one column, or poly()) is replaced by its columns. The attribute `parts` gives, by the name of each such
# column, the names of the columns made of it.
plain_columns <- function(x) {
  if (!is.data.frame(x)) {
    return(x)
  }
  columns <- unclass(x)[seq_along(x)]
  wide <- vapply(columns, function(v) length(dim(v)) == 2L, NA)
  if (!any(wide)) {
    other <- !vapply(columns, function(v) is.atomic(v) && is.null(attributes(v)), NA)
    return(frame_like(x, replace(columns, other, lapply(columns[other], plain_column)), attr(x, "parts")))
  }
  parts <- Map(function(v, name, wide) {
    if (!wide) {
      return(stats::setNames(list(plain_column(v)), name))
    }
    columns <- columns_of_matrix(v)
    stats::setNames(columns, if (length(columns) == 1L) name else sprintf("%s.%s", name, names(columns)))
  }, columns, names(x), wide)
  out <- do.call(c, unname(parts))
  frame_like(x, out, lapply(parts[wide], names))
}

# Makes a data frame of these columns, with the row names of x, which may be automatic.
frame_like <- function(x, columns, parts) {
  structure(columns, class = "data.frame", row.names = .row_names_info(x, 0L), parts = parts)
}

plain_column <- function(v) {
  v <- plain_values(v)
  if (is.null(names(v)) || is.data.frame(v)) v else unname(v)
}

columns_of_matrix <- function(v) {
  if (is.data.frame(v)) {
    columns <- plain_columns(v)
    return(unclass(columns)[seq_along(columns)])
  }
  v <- plain_values(v)
  columns <- lapply(seq_len(ncol(v)), function(j) as.vector(v[, j]))
  stats::setNames(columns, colnames(v) %||% seq_len(ncol(v)))
}
