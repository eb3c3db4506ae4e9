# Converts objects of other packages to what this package reads, or says how the user can convert them. Values
# with a meaning of their own (units, distances, times) are never taken as plain numbers.

# Classes of numbers that are not plain numbers, each with the advice that an error gives.
foreign_numbers <- list(
  units = "Drop the unit once all columns have the one you want: {.code units::drop_units()}.",
  difftime = "Convert it in a unit of your choice: {.code as.numeric(x, units = \"hours\")}.",
  Date = "Use {.code as.numeric()} for days, or what of the date matters, such as {.fn weekdays}; leave it out if it
          only says when.",
  POSIXt = "Use {.code as.numeric()} for seconds, or what of the time matters, such as its hour; leave it out if it only
            says when.",
  integer64 = "It has 64-bit integers above 2^53, which are no exact numbers: {.code as.numeric()} rounds them. Leave
               identifiers out.",
  factor = "Factors are for {.fn obs_categorical}, beside numbers in {.fn obs_product}; without {.arg obs} both are
            chosen by the columns of a data frame.",
  character = "Text is for {.fn obs_categorical}, beside numbers in {.fn obs_product}; without {.arg obs} both are
               chosen by the columns of a data frame."
)

# The first class in `foreign_numbers` that x has; character() for plain numbers.
foreign_class <- function(x) {
  utils::head(names(foreign_numbers)[inherits(x, names(foreign_numbers), which = TRUE) > 0], 1L)
}

# Whether a vector or column is a plain number once plain_values() has converted it.
is_plain_number <- function(x) {
  (is.numeric(x) || is.logical(x)) && !isS4(x) && !(is.object(x) && length(foreign_class(x)))
}

# Advice for errors about columns that are not numeric, one line for each kind of column.
foreign_remedies <- function(columns) {
  kinds <- unique(unlist(lapply(columns, function(v) if (is.character(v)) "character" else foreign_class(v))))
  remedies <- foreign_numbers[kinds]
  if (length(remedies)) stats::setNames(unlist(remedies, use.names = FALSE), rep("i", length(remedies)))
}

# Refuses tables whose rows are not observations, such as tables of distances.
refuse_relations <- function(x, arg, call) {
  refuse_files(x, arg, call)
  refuse_unseparated(x, arg, call)
  refuse_corpora(x, arg, call)
  check_sparse(x, arg, call)
  if (inherits(x, "dist")) {
    abort("input", c(
      "{.arg {arg}} is a matrix of distances; models need observations.",
      i = "Give the data from which the distances were computed, or coordinates: {.code cmdscale({arg}, k = 2)}."
    ), call = call)
  }
  if (inherits(x, "table") && length(dim(x)) > 2L) {
    abort("input", c("{.arg {arg}} is a contingency table of {length(dim(x))} factors; models need rows.",
      i = "Give its cells as rows: {.code d <- as.data.frame({arg})}, then
           {.code bnp_mixture(d[names(d) != \"Freq\"], weights = d$Freq)}."
    ), call = call)
  }
  if (inherits(x, "fcm")) {
    abort("input", c(
      "{.arg {arg}} counts how often features occur together, and has no documents.",
      i = "Give the {.cls dfm} of the documents."
    ), call = call)
  }
  refuse_other_censoring(x, arg, call)
}

makers_of_times <- function() obs_makers(function(facts) identical(facts$values, "times with status"))

# Survival times are pairs of a time and its status: refuses them if no part of the observation model (NULL: the
# default) takes such pairs, since a status is no value.
need_model_of_times <- function(x, obs, arg, call) {
  columns <- if (is.data.frame(x)) as.list(x) else list(x)
  if (!is.null(obs$columns)) columns <- columns[names(columns) %in% obs$columns]
  parts <- if (is.null(obs)) list() else obs$blocks %||% list(obs)
  takes_pairs <- any(vapply(parts, function(part) "pair" %in% obs_facts(part)$kind, NA))
  if (any(vapply(columns, inherits, NA, "Surv")) && !takes_pairs) {
    makers <- makers_of_times()
    abort("not_numeric", c("{.arg {arg}} has survival times, which {.fn {makers}} models.",
      i = "Give it as {.arg obs}, or as a part of a product: {.code {makers}(shape = NULL)} is the Weibull one."
    ), call = call)
  }
}

# Refuses survival times of package survival unless they are right-censored: other kinds have two times per row.
refuse_other_censoring <- function(x, arg, call) {
  columns <- if (is.data.frame(x)) x else list(x)
  other <- Filter(function(v) inherits(v, "Surv") && !identical(attr(v, "type"), "right"), columns)
  if (length(other)) {
    abort("input", c(
      "{.arg {arg}} has times of type {.val {attr(other[[1]], 'type')}}; only right-censored times are supported.",
      i = "Give {.code survival::Surv(time, status)}."
    ), call = call)
  }
}

# Whether x is a zoo or xts object, of which only the values and times are used.
is_indexed <- function(x) inherits(x, "zoo")

split_times <- function(x, arg = "x", call = rlang::caller_env()) {
  if (stats::is.ts(x)) {
    if (!is.numeric(x) && !is.logical(x)) {
      abort("not_numeric", c(
        "{.arg {arg}} is a time series of {typeof(x)} values, which must be numbers.",
        i = "Give columns of text or factors in a data frame."
      ), call = call)
    }
    names <- colnames(x)
    values <- matrix(as.double(x), NROW(x), NCOL(x), dimnames = if (!is.null(names)) list(NULL, names))
    return(list(x = values, times = as.numeric(stats::time(x))))
  }
  if (!is_indexed(x)) {
    return(list(x = x))
  }
  if (inherits(x, "xts")) rlang::check_installed("xts", "to read its series.")
  rlang::check_installed("zoo", "to read its series.")
  values <- as.matrix(zoo::coredata(x))
  rownames(values) <- NULL
  list(x = values, times = zoo::index(x))
}

# The names of the columns of x, the result of plain_columns() for these columns: those of a column that is a
# matrix are columns of their own.
flat_names <- function(columns, x) {
  parts <- attr(x, "parts")
  unlist(lapply(columns, function(name) if (name %in% colnames(x)) name else parts[[name]] %||% name))
}

# Makes the names of columns unique. Columns that share a name, as from cbind() of lagged series, get numbers;
# columns without a name are called x1, x2, ... by position, as in a matrix without names.
unique_columns <- function(x, arg = NULL, call = NULL) {
  names <- colnames(x)
  if (!anyDuplicated(c("", NA, names))) {
    return(x)
  }
  unnamed <- which(is.na(names) | !nzchar(names))
  repeated <- unique(names[duplicated(names)])
  names[unnamed] <- paste0("x", unnamed)
  names <- make.unique(names)
  if (is.data.frame(x)) names(x) <- names else colnames(x) <- names
  if (!is.null(arg) && length(unnamed)) {
    cli::cli_inform(
      "{cli::qty(length(unnamed))}Column{?s} {.field {unnamed}} of {.arg {arg}}
       {cli::qty(length(unnamed))}{?has no name and is/have no names and are} called {.field {names[unnamed]}}.",
      class = c("bnpvi_message_names", "bnpvi_message"), call = call
    )
  }
  repeated <- repeated[!is.na(repeated) & nzchar(repeated)]
  if (!is.null(arg) && length(repeated)) {
    cli::cli_inform(
      "{cli::qty(length(repeated))}Column{?s} of {.arg {arg}} with the same name ({places(dQuote(repeated, FALSE))})
       {cli::qty(length(repeated))}{?is/are} numbered by {.fn make.unique}.",
      class = c("bnpvi_message_names", "bnpvi_message"), call = call
    )
  }
  x
}

id_column <- function(id, call = rlang::caller_env()) column_named(id, "id", call)

# Gives a result made of `data` and further columns the class of `data` (data.table, tibble). Other results
# are tibbles if that package is installed, as in broom.
like_input <- function(out, data) {
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    return(data.table::as.data.table(as.data.frame(out)))
  }
  as_tidy(as.data.frame(out))
}

# Reports how many observations of `start` are noise, as cluster 0 is in clusterings of dbscan and similar
# packages. They become one cluster of the start.
say_noise <- function(labels) {
  n <- if (is.numeric(labels)) sum(labels == 0, na.rm = TRUE) else 0L
  if (n > 0L) {
    cli::cli_inform(
      c("{n} observation{?s} of {.arg start} {?is/are} noise (cluster 0).",
        i = "{cli::qty(n)}{?It starts/They start} as a cluster of {?its/their} own; give labels to start otherwise."),
      class = c("bnpvi_message_noise", "bnpvi_message")
    )
  }
  labels
}

# Turns clusterings of other packages into labels or responsibilities (probabilities of clusters): kmeans(),
# all objects with one `cluster` or `clustering` per observation, and Mclust objects.
start_from_clustering <- function(start, call) {
  if (inherits(start, c("hclust", "dendrogram", "twins"))) {
    abort("start", c(
      "{.arg start} is a tree of clusters: say how many of them to start with.",
      i = "Give labels: {.code start = cutree(h, k = 5)}."
    ), call = call)
  }
  if (inherits(start, "Mclust")) {
    return(if (is.matrix(start$z) && all(is.finite(start$z))) `colnames<-`(start$z, NULL) else start$classification)
  }
  if (is.list(start) && !is.data.frame(start)) {
    for (name in c("cluster", "clustering")) {
      if (is.atomic(start[[name]]) && length(start[[name]]) > 1L) {
        return(say_noise(start[[name]]))
      }
    }
  }
  start
}
