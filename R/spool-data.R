# Makes the internal form of data in a spool (a file of batches), and lets R work on these data batch by
# batch.

spooled_data <- function(all, obs, na_action, class, control, folder, call) {
  if (all$n == 0) abort("no_rows", "All rows of {.arg x} are left out for missing values.", call = call)
  if (all$tokens && !sum(all$totals)) {
    abort("no_tokens", c(
      "All documents of {.arg x} are empty.", i = "At least one count must be above 0."
    ), call = call)
  }
  lengths <- unlist(all$lengths)
  entries <- unlist(all$entries)
  thin_sample(all)
  sample <- all$chosen[[1L]]
  terms <- if (all$tokens) all$terms else all$first$column_names
  sample$d <- all$d
  sample$column_names <- terms
  sample$frame <- all$first$frame
  of_individuals <- has_individuals(sample)
  sample$counted <- list(rows = all$n, units = if (of_individuals) all$units else all$n)
  if (all$tokens) sample$totals <- c(all$totals, double(all$d - length(all$totals)))
  if (of_individuals) begin_sums(all, obs, sample, call)
  numbers <- if (of_individuals) all$units * as.double(all$engine_d) else all$n * as.double(all$d)
  batch <- batches_of_spool(control, all, class, sum(as.double(entries %||% numbers)), call)
  write_spool(all, batch, lengths, entries, folder, call)
  n <- as.integer(all$n)
  order <- unlist(all$order)
  data <- as_bnp_data(list(
    n = n, d = all$d, starts = if (all$grouped) as.integer(c(0, cumsum(lengths))) else c(0L, n), grouped = all$grouped,
    column_names = terms, group_names = unlist(all$group_names), frame = all$first$frame,
    order = if (length(order)) as.integer(order), spool = spool_file(folder), engine_d = all$engine_d,
    sample = sample, fingerprint = all$fingerprint, n_batches = max(batch),
    na_action = if (keeps_missing(na_action)) na_action,
    lengths = if (all$tokens) unlist(all$counts), id = all$first$id
  ))
  if (any(all$n_missing > 0)) {
    data$cells_missing <- all$n_missing
    empty <- list(missing = matrix(all$n_missing == all$n, 1L), column_names = terms)
    check_observed(empty, modelled_columns(data, obs), "x", call)
  }
  if (length(all$kept)) {
    kept <- unlist(all$kept)
    if (length(kept) < all$n_given) {
      data$left_out <- list(n = as.integer(all$n_given), kept = as.integer(kept), row_names = NULL)
      tell_left_out(all$n_given - length(kept), na_action)
    }
  }
  if (of_individuals) data <- numbered_individuals(data, unlist(all$individuals), unlist(all$individual_names))
  check_many_levels(data$frame$levels %||% list(), all$n, "x", call)
  data
}

tell_left_out <- function(n, na_action) {
  what <- if (identical(na_action, "omit")) "with missing values" else "without any value"
  cli::cli_inform("{n} row{?s} of {.arg x} {what} {cli::qty(n)}{?is/are} left out.",
    class = c("bnpvi_message_left_out", "bnpvi_message"), call = NULL
  )
}

# The number of the batch of every unit (row or group), from 1. numbers: the total number of values in the
# rows.
batches_of_spool <- function(control, all, class, numbers, call) {
  n <- all$units
  if (length(control$batches) > 1L) {
    if (length(all$individuals)) {
      return(batches_of_individuals(control, all, call))
    }
    given <- if (all$grouped) n else all$n_given
    batch <- check_batch_numbers(control, given, unit_words[[class]], call)
    return(if (length(all$kept) && !all$grouped) batch[unlist(all$kept)] else batch)
  }
  batches <- if (is.null(control$batches) && control$algorithm != "full") {
    small <- n <= 20000 && numbers <= most_sampled_numbers
    rows <- if (length(all$individuals)) n else all$n
    enough <- if (small) 1 else ceiling(max(rows / most_sampled, numbers / most_sampled_numbers))
    min(n, if (control$algorithm == "stochastic") max(10, enough) else enough)
  } else {
    resolve_batches(control, n, call, unit_words[[class]])
  }
  engine_deal(as.integer(n), as.integer(batches))
}

write_spool <- function(all, batch, lengths, entries, folder, call) {
  batches <- max(batch)
  total <- function(x) {
    out <- double(batches)
    if (length(x)) {
      sums <- rowsum(as.double(x), batch)
      out[as.integer(rownames(sums))] <- sums
    }
    out
  }
  units <- tabulate(batch, batches)
  sizes <- cbind(if (all$grouped) total(lengths) else units, if (all$grouped) units else 0, total(entries))
  if (max(sizes[, 3L]) > .Machine$integer.max) {
    abort("memory", "A batch has more than {(.Machine$integer.max)} entries: raise {.arg batches}.", call = call)
  }
  single <- all$grouped && all(lengths == 1L)
  writer <- in_spool(
    engine_spool_begin(spool_file(folder), all$engine_d, all$sparse, single, sizes), call,
    writes = TRUE
  )
  finished <- FALSE
  on.exit(if (!finished) engine_spool_end(writer, FALSE))
  at <- 0
  add <- function(file) {
    part <- read_part(file)
    unlink(file)
    if (!is.null(all$obs)) part <- sums_of_part(part, all$obs)
    part$d <- all$engine_d
    units <- if (all$grouped) length(part$starts) - 1L else part$n
    in_spool(engine_spool_add(writer, part, batch[at + seq_len(units)]), call, writes = TRUE)
    at <<- at + units
    length(part$x %||% part$value)
  }
  for (file in all$files) collect_after(add(file))
  in_spool(engine_spool_end(writer, TRUE), call, writes = TRUE)
  finished <- TRUE
}

# The number of groups of the data or, where rows are not grouped, of rows.
rows_or_groups <- function(data) if (is.null(data$group_names)) data$n else length(data$group_names)
sample_size <- function(data) {
  if (is.null(data$group_names)) data$sample$n else length(data$sample$starts) - 1L
}

# The number x as an integer, if it is small enough for one; else unchanged.
whole_number <- function(x) if (x <= .Machine$integer.max) as.integer(x) else x

# Data of one row that lack a cell in each column that has missing cells in the spool (file of batches); data
# in memory are returned unchanged.
gaps_of <- function(data) {
  if (!is_spooled(data)) {
    return(data)
  }
  list(
    missing = if (!is.null(data$cells_missing)) matrix(data$cells_missing > 0, 1L), d = data$d,
    column_names = data$column_names, frame = data$frame
  )
}

# Calls f(data, rows) for the data of every batch of a spool (file of batches). rows: the numbers of these
# rows among all rows.
for_batches <- function(data, f) {
  for (b in seq_len(data$n_batches)) {
    part <- in_spool(engine_spool_batch(data$spool, b), NULL)
    f(as_bnp_data(part[setdiff(names(part), c("rows", "groups"))]), part$rows)
  }
}
