# Reads every form of input of bnp_topics() into the internal form, in which each document is a group of rows.

as_document_data <- function(x, obs, id = NULL, arg = "x", allow_no_rows = FALSE,
                             call = rlang::caller_env(), na_action = NULL) {
  id <- id_column(id, call)
  if (!is.null(id)) {
    return(rows_by_document(x, obs, id, arg, allow_no_rows, call, na_action))
  }
  if (!obs_facts(obs)$counts_tokens) {
    abort("id", c(
      "{.arg id} is needed: it says to which document each row of {.arg {arg}} belongs.",
      i = "Only {.fn {token_makers()}} takes a document per row."
    ), call = call)
  }
  refuse_uncounted(x, arg, call)
  if (is.data.frame(x) && is_term_frame(x)) {
    x <- term_frame_to_sparse(x, arg, call)
  }
  x <- one_document(x)
  x <- as_table(x, arg, allow_no_rows, call, obs, na_action)
  whole <- whole_rows(x, arg, call, na_action)
  x <- whole$x
  if (is.matrix(x)) {
    check_support(x, obs, arg, call)
    x <- as_column_sparse(Matrix::Matrix(x, sparse = TRUE))
  }
  data <- table_to_data(x, obs, arg, call, starts = seq(0L, nrow(x)), group_names = rownames(x))
  data$left_out <- data$left_out_documents <- whole$left_out
  data$na_action <- whole$na_action
  if (!length(data$value) && data$n > 0L && !allow_no_rows) {
    abort("no_tokens", c(
      "All documents of {.arg {arg}} are empty.", i = "At least one count must be above 0."
    ), call = call)
  }
  data
}

# Treats a vector of counts as one document: x[1, ] of a matrix x is such a vector.
one_document <- function(x) {
  x <- plain_values(x)
  if (!is.null(dim(x)) || !is_plain_number(x)) {
    return(x)
  }
  matrix(x, 1L, dimnames = if (!is.null(names(x))) list(NULL, names(x)))
}

# Names of columns that mark a table with one row for each document and term, such as from tidytext's
# count(document, word).
term_names <- c("term", "word", "feature")
count_names <- c("n", "count", "freq", "Freq")
first_of <- function(names, x) intersect(names, colnames(x))[1]

is_term_frame <- function(x) {
  "document" %in% names(x) && any(term_names %in% names(x)) && any(count_names %in% names(x))
}

term_frame_to_sparse <- function(x, arg, call) {
  count <- plain_values(x[[first_of(count_names, x)]])
  if (!is.numeric(count) || !is_plain_number(count)) {
    abort("not_numeric", "The counts in {.arg {arg}} must be numbers, not {typeof(count)} values.", call = call)
  }
  index <- function(v, column) {
    if (anyNA(v)) {
      abort("not_finite", c(
        "Column {.field {column}} of {.arg {arg}} has missing values.",
        x = "In row{?s} {places(which(is.na(v)))}.", i = "Remove these rows."
      ), call = call)
    }
    if (is.factor(v)) v else label_factor(v, column, call)
  }
  document <- index(x$document, "document")
  term <- first_of(term_names, x)
  term <- index(x[[term]], term)
  bad <- which(!is.finite(count) | count < 0 | count != round(count))
  if (length(bad)) {
    abort("not_counts", c(
      "Counts in {.arg {arg}} must be whole numbers of at least 0.", x = "Not so in row {places(bad)}."
    ), call = call)
  }
  sparseMatrix(
    i = as.integer(document), j = as.integer(term), x = as.double(count),
    dims = c(nlevels(document), nlevels(term)), dimnames = list(levels(document), levels(term))
  )
}

# Groups rows by document. Rows may come in any order; documents are ordered by first appearance (or by the
# levels of a factor).
rows_by_document <- function(x, obs, id, arg, allow_no_rows, call, na_action) {
  split <- take_id(x, id, arg, call)
  x <- as_table(split$x, arg, allow_no_rows, call, obs, na_action)
  id <- check_id(split$id, nrow(x), arg, call, rownames(x))
  rows <- rows_with_gaps(x, obs, arg, allow_no_rows, call, na_action)
  documents <- levels(id)
  if (!is.null(rows$left_out)) id <- droplevels(id[rows$left_out$kept])
  order <- order(as.integer(id))
  data <- regrouped(rows, order, tabulate(id, nlevels(id)), levels(id))
  data$na_action <- rows$na_action
  if (nlevels(id) < length(documents)) {
    data$left_out_documents <- list(n = length(documents), kept = match(levels(id), documents), row_names = documents)
  }
  data
}

# The rows of a checked table as data, without those that na_action leaves out.
rows_with_gaps <- function(x, obs, arg, allow_no_rows, call, na_action) {
  if (identical(na_action, "model")) {
    use <- if (allow_no_rows) "new_documents" else "rows"
    return(table_to_data(x, obs, arg, call, na_action = na_action, use = use))
  }
  whole <- whole_rows(x, arg, call, na_action)
  data <- table_to_data(whole$x, obs, arg, call)
  data$left_out <- whole$left_out
  data$na_action <- whole$na_action
  data
}

# Reads `id`, which says to which document each row belongs: a vector over the rows, or the name of a column,
# which is then removed from x.
take_id <- function(x, id, arg, call) {
  id <- id_column(id, call)
  if (!(is.character(id) && length(id) == 1L && !is.null(colnames(x)))) {
    return(list(x = x, id = id))
  }
  taken <- take_named_column(x, id, "id", arg, call)
  list(x = taken$x, id = taken$column)
}

# Checks the document of each of n rows. names: names of the rows, which names of `id` must match.
check_id <- function(id, n, arg, call, names = NULL) {
  hint <- misplaced_hint(id, "id", character())
  id <- as_vector(id)
  if (!is.atomic(id) || length(id) != n) {
    abort("id", c(
      "{.arg id} must name a column, or have one value per row of {.arg {arg}} ({n}), not {describe(id)}.", hint
    ), call = call)
  }
  id <- label_factor(in_order_of_names(id, names, n, "id", "row", call), "id", call)
  if (anyNA(id)) {
    abort("id", c(
      "{.arg id} has missing values.", x = "At {places(which(is.na(id)))}.",
      i = "Every row must belong somewhere."
    ), call = call)
  }
  id
}
