# Collects the data of a source piece by piece, in the internal form: facts about all rows, a random sample of
# units (rows or groups), and all numbers, which wait in files until the spool (the file of batches) is
# written. A part is what an input function makes of a piece.

# An environment for what is collected over the parts of a source: sums, names, the sample, and the files with
# numbers.
new_parts <- function(folder, grouped, tokens) {
  list2env(list(
    folder = folder, grouped = grouped, tokens = tokens, files = character(), n = 0, n_given = 0, units = 0,
    lengths = list(), entries = list(), group_names = list(), order = list(), kept = list(), terms = NULL,
    first = NULL, fingerprint = NULL, n_missing = 0, d = 0L, totals = NULL, counts = list(), chosen = list(),
    keys = list(), bound = Inf, individuals = list(), individual_names = list(), n_individuals = 0L,
    obs = NULL
  ), envir = new.env(parent = emptyenv()))
}

add_part <- function(all, part) {
  given <- rows_given(part)
  if (!is.null(part$left_out) || length(all$kept)) {
    before <- if (length(all$kept)) list() else list(seq_len(all$n_given))
    all$kept <- c(all$kept, before, list(all$n_given + (part$left_out$kept %||% seq_len(given))))
  }
  all$n_given <- all$n_given + given
  if (all$tokens) part <- in_known_terms(all, part)
  all$first <- all$first %||% unclass(part)[intersect(c("column_names", "frame", "id"), names(part))]
  all$sparse <- is_sparse_data(part)
  all$d <- if (all$tokens) max(all$d, part$d) else part$d
  part$row_names <- part$times <- NULL
  if (!is.null(part$order)) part$order <- all$n + part$order
  numbered <- part
  numbered$order <- part$order %||% (all$n + seq_len(part$n))
  all$fingerprint <- if (is.null(all$fingerprint)) fingerprint_of(numbered) else
    sum_of_fingerprints(all$fingerprint, fingerprint_of(numbered))
  if (has_missing(part)) all$n_missing <- all$n_missing + colSums(part$missing)
  if (all$tokens) add_totals(all, part)
  engine <- as_engine_data(part)
  units <- units_of(part, all$grouped)
  if (has_individuals(part)) add_individuals(all, part)
  if (all$grouped) all$lengths <- c(all$lengths, list(diff(part$starts)))
  if (all$sparse) {
    ends <- if (all$grouped) engine$row_start[part$starts + 1L] else engine$row_start
    all$entries <- c(all$entries, list(diff(ends)))
  }
  all$engine_d <- if (all$tokens) all$d else engine$d
  all$group_names <- c(all$group_names, list(part$group_names))
  all$order <- c(all$order, list(part$order))
  choose_units(all, part, units)
  all$files <- c(all$files, write_part(all$folder, length(all$files) + 1L, engine))
  all$n <- all$n + part$n
  all$units <- all$units + units
  if (all$n > .Machine$integer.max) abort("memory", "More than {(.Machine$integer.max)} rows cannot be numbered.")
}

# Gives the terms of a part of a source their numbers: terms of earlier parts keep theirs, new ones get the next
# numbers in order of appearance. The number of a term without a name is that of its column.
in_known_terms <- function(all, part) {
  if (is.null(part$column_names)) {
    return(part)
  }
  new <- setdiff(part$column_names, all$terms)
  all$terms <- c(all$terms, new)
  number <- match(part$column_names, all$terms)
  part$d <- length(all$terms)
  part$column_names <- all$terms
  if (identical(number, seq_along(number))) {
    return(part)
  }
  row <- rep(seq_len(part$n), diff(part$row_start))
  column <- number[part$column + 1L] - 1L
  at <- order(row, column)
  part$column <- column[at]
  part$value <- part$value[at]
  part
}

add_totals <- function(all, part) {
  total <- column_totals(part)
  upto <- c(0, cumsum(part$value))
  all$counts <- c(all$counts, list(diff(upto[part$row_start + 1L])))
  all$totals <- c(all$totals, double(length(total) - length(all$totals))) + total
}

# Limits on the random sample of units (rows, individuals or groups): the largest number of units (of individuals:
# of their rows), and of numbers in them. The sample consists of the units with the smallest random keys. The limits
# are guesses; medians of such a sample are accurate to a hundredth of a spread.
most_sampled <- 65536L
most_sampled_numbers <- 2^22

choose_units <- function(all, part, units) {
  key <- engine_unit_keys(all$units, units)
  at <- which(key < all$bound)
  if (length(at)) {
    all$chosen <- c(all$chosen, list(units_of_part(part, at, all$grouped)))
    all$keys <- c(all$keys, list(key[at]))
  }
  size <- if (has_individuals(part)) sum(vapply(all$chosen, `[[`, 1L, "n")) else length(unlist(all$keys))
  if (numbers_of_parts(all$chosen) > 2 * most_sampled_numbers || size > 2 * most_sampled) thin_sample(all)
}

numbers_of_parts <- function(parts) {
  sum(vapply(parts, function(part) as.double(length(part$x %||% part$value) + part$n), 1))
}

thin_sample <- function(all) {
  part <- do.call(c, all$chosen)
  key <- unlist(all$keys)
  size <- if (!is_sparse_data(part)) {
    as.double(part$d) * rows_of_units(part, all$grouped)
  } else {
    as.double(diff(part$row_start[(if (all$grouped) part$starts else 0:part$n) + 1L]))
  }
  order <- order(key)
  upto <- if (has_individuals(part)) cumsum(rows_of_units(part, FALSE)[order]) else seq_along(order)
  fits <- cumsum(size[order]) <= most_sampled_numbers & upto <= most_sampled
  kept <- sort(order[fits | seq_along(order) == 1L])
  if (length(kept) < length(key)) all$bound <- min(all$bound, key[-kept])
  all$chosen <- list(units_of_part(part, kept, all$grouped))
  all$keys <- list(key[kept])
}

# Takes the given units (rows, individuals or groups) of a part, in ascending order.
units_of_part <- function(part, units, grouped) {
  if (grouped) data_groups(part, units) else part[if (has_individuals(part)) part$individual %in% units else units]
}

# The number of units (groups, individuals or rows) of a part, and the number of rows of each of them.
units_of <- function(part, grouped) if (grouped) length(part$starts) - 1L else n_units(part)
rows_of_units <- function(part, grouped) {
  if (grouped) diff(part$starts) else if (has_individuals(part)) tabulate(part$individual, part$n_individuals) else
    rep(1, part$n)
}

# Writes an R object to a file; read_part() reads it again, without a copy of its bytes in memory. A full disk
# is an error or, when the file is closed, a warning, which is treated as an error.
write_part <- function(folder, number, object, name = "part") {
  path <- file.path(folder, sprintf("%s-%06d", name, number))
  done <- tryCatch(
    {
      connection <- file(path, "wb")
      tryCatch(serialize(object, connection, xdr = FALSE), finally = close(connection))
      TRUE
    },
    error = function(e) FALSE, warning = function(w) FALSE
  )
  if (!done) {
    abort("spool", c(
      "The spool cannot be written: {.file {folder}}.",
      i = "The disk may be full. Give a folder on another disk as {.arg spool} of the source."
    ))
  }
  path
}

read_part <- function(path) {
  tryCatch(
    {
      connection <- suppressWarnings(file(path, "rb"))
      on.exit(close(connection))
      unserialize(connection)
    },
    error = function(e) abort("spool", "The spool cannot be read: {.file {path}} is gone or was changed.")
  )
}

# Runs R's garbage collector after a large piece; without this, R would wait until the memory in use has
# doubled. The limit of 2^20 numbers is a guess: a collection takes as long as reading some hundred thousand
# numbers.
collect_after <- function(numbers) if (numbers >= 2^20) gc(FALSE)

numbers_of <- function(x) if (is.null(dim(x))) length(x) else prod(dim(x))
