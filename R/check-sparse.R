# The check of sparse matrices from users. All code that computes with their slots trusts them, and an object
# that was edited, or read from a file, may hold indices that point outside its memory.

# Checks x if it is a sparse matrix, and returns it. Reads each entry once.
check_sparse <- function(x, arg = "x", call = rlang::caller_env()) {
  if (inherits(x, "simple_triplet_matrix")) {
    problem <- problem_of_triplets(x)
  } else if (isS4(x) && (is(x, "Matrix") || is(x, "sparseVector"))) {
    problem <- problem_of_matrix(x)
  } else {
    return(invisible(x))
  }
  if (!is.null(problem)) {
    abort("invalid_matrix", c(
      "{.arg {arg}} is an invalid sparse matrix ({.cls {class(x)[1L]}}).",
      x = gsub("([{}])", "\\1\\1", problem),
      i = "Make it anew, for example by {.fn Matrix::sparseMatrix}, rather than by editing its slots."
    ), call = call)
  }
  if (inherits(x, "simple_triplet_matrix")) {
    check_size_of_sparse(x$nrow, x$ncol, length(x$i), arg, call)
  } else if (is(x, "sparseMatrix")) {
    check_size_of_sparse(nrow(x), ncol(x), entries_of(x), arg, call)
  }
  invisible(x)
}

# Describes what is wrong with a matrix of package Matrix; NULL if nothing is wrong.
problem_of_matrix <- function(x) {
  found <- tryCatch(methods::validObject(x, test = TRUE, complete = TRUE), error = conditionMessage)
  if (!isTRUE(found)) {
    return(found[1L])
  }
  by_p <- is(x, "CsparseMatrix") || is(x, "RsparseMatrix")
  if (by_p && entries_of(x) != x@p[length(x@p)]) "it has more entries than its slot p says"
}

# The number of stored entries of a sparse matrix.
entries_of <- function(x) {
  if (is(x, "RsparseMatrix")) length(x@j) else if (methods::.hasSlot(x, "i")) length(x@i) else nrow(x)
}

problem_of_triplets <- function(x) {
  size <- c(x$nrow, x$ncol)
  whole <- function(v) is.numeric(v) && !anyNA(v) && all(v == round(v))
  if (!whole(size) || length(size) != 2L || any(size < 0 | size > .Machine$integer.max)) {
    return("its numbers of rows and columns are not two whole numbers")
  }
  if (!whole(x$i) || !whole(x$j) || length(x$i) != length(x$j) || length(x$i) != length(x$v)) {
    return("i, j and v are not whole numbers and values, as many of each")
  }
  if (any(x$i < 1 | x$i > x$nrow) || any(x$j < 1 | x$j > x$ncol)) {
    return("i or j are not within its rows and columns")
  }
  if (anyDuplicated((x$i - 1) * x$ncol + x$j)) {
    return("a cell is listed twice")
  }
  names <- x$dimnames
  fits <- function(v, n) is.null(v) || length(v) == n
  if (!is.null(names) && !(is.list(names) && length(names) == 2L && fits(names[[1L]], x$nrow) &&
    fits(names[[2L]], x$ncol))) {
    return("its dimnames are not as long as its dimensions")
  }
}

# The largest number of rows and columns of a sparse matrix. A matrix with few entries may claim any number of
# rows and columns, each of which needs memory.
most_indices <- 1e8

check_size_of_sparse <- function(rows, columns, entries, arg = "x", call = rlang::caller_env()) {
  if (max(rows, columns) > most_indices + 100 * entries) {
    abort("memory", c(
      "{.arg {arg}} has {format(rows, big.mark = ',')} rows and {format(columns, big.mark = ',')} columns, and only
       {format(entries, big.mark = ',')} entries.",
      i = "Leave out rows and columns that are empty."
    ), call = call)
  }
}
