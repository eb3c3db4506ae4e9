# Fits to data in sources. A single pass over the source reads and checks the rows, deals them to batches and
# writes these to a file, the spool. From then on `data` is an internal form without rows.
#
# In addition to n, d, starts and names, this form has `spool`, the file; `engine_d`, its number of columns
# (exposures included); `sample`, an ordinary internal form of some units, with `counted`, how many rows and
# units it stands for; `fingerprint`; `lengths` (numbers of tokens of documents); and `cells_missing`, by
# column.

# Reads the source of a fit into a spool (file of batches) and returns list(data, obs, input), as the input
# functions of a fit do. Uses an existing spool of the same data.
read_source <- function(source, class, obs, na_action, id, formula, control, call) {
  check_class(control, "bnp_control", "control", "bnp_control", call)
  check_object(source, call)
  key <- list(
    version = package_version_here(), source = identity_of_source(source), verb = class,
    obs = without_environments(obs), na_action = na_action, id = id, formula = without_environments(formula),
    terms = source$terms, types = source$types, batches = control$batches, algorithm = control$algorithm
  )
  key <- vapply(key, engine_value_fingerprint, "")
  known <- known_spool(source, key, class, call)
  if (!is.null(known)) {
    return(known)
  }
  folder <- begin_spool(source, call)
  done <- FALSE
  on.exit(if (!done) unlink(folder, recursive = TRUE))
  read <- pass_over(source, class, obs, na_action, id, formula, control, folder, call)
  keep_spool(source, folder, key, read, call)
  done <- TRUE
  read
}

# What distinguishes a source from other sources, as far as can be known without reading it.
identity_of_source <- function(source) {
  list(
    source$kind, source$paths, if (source$kind == "files") state_of_files(source$paths), deparse(source$read),
    source$query, source$batches
  )
}

# Replaces formulas in a list by their text, since the environments of formulas may hold anything.
without_environments <- function(x) {
  if (inherits(x, "formula")) deparse(x) else if (is.list(x)) lapply(x, without_environments) else x
}

spool_file <- function(folder) file.path(folder, "batches.spool")
# The file with the description of a spool (file of batches). It is serialised with a checksum, not written by
# saveRDS().
spool_note <- function(folder) file.path(folder, "description.rds")

# The spool (file of batches) that an earlier fit made from this source, or NULL. Temporary spools are reused
# only for files, whose times show whether they have changed.
known_spool <- function(source, key, class, call) {
  folder <- source$spool
  if (is.null(folder)) {
    folder <- if (source$kind == "files" && identical(source$kept$key, key)) source$kept$temporary
    if (is.null(folder) || !file.exists(spool_file(folder))) {
      return(NULL)
    }
  }
  if (!file.exists(spool_note(folder))) {
    return(NULL)
  }
  note <- tryCatch(engine_read_bytes(spool_note(folder)), error = function(e) refuse_note(folder, call))
  if (!identical(note, sealed_note(note))) refuse_note(folder, call)
  if (!is.character(note$key) || !rlang::is_named(note$key) || !is.list(note$read)) refuse_note(folder, call)
  differs <- names(key)[key != note$key[names(key)] | is.na(note$key[names(key)])]
  if (length(differs)) {
    abort("spool", c(
      "The folder {.file {folder}} has the spool of another fit.",
      x = "What differs: {.field {differs}}.",
      i = "Choose another folder as {.arg spool}, or remove this one."
    ), call = call)
  }
  read <- note$read
  index <- in_spool(engine_spool_index(spool_file(folder)), call)
  if (!identical(index$sums, note$sums)) {
    abort("spool", c(
      "The description of the spool in {.file {folder}} was written beside other batches.",
      i = "Delete the folder to make the spool anew."
    ), call = call)
  }
  if (!tryCatch(is_note_of(read, index, class), error = function(e) FALSE)) refuse_note(folder, call)
  read$data$spool <- spool_file(folder)
  read$data$sample <- as_bnp_data(read$data$sample)
  read$data <- as_bnp_data(read$data)
  read
}

# The description of a spool with the fingerprint of its content as a seal, as fits have (R/seal.R). The
# checksum of its file only shows that the file is as it was written.
sealed_note <- function(note) {
  note$seal <- NULL
  c(note, seal = engine_value_fingerprint(note))
}

refuse_note <- function(folder, call) {
  abort("spool", c(
    "The description of the spool in {.file {folder}} was damaged, or is of another version of the package.",
    i = "Delete the folder to make the spool anew."
  ), call = call)
}

# Whether a stored result of pass_over() (the pass that made a spool) belongs to the spool with this index.
is_note_of <- function(read, index, class) {
  data <- read[["data"]]
  sample <- data[["sample"]]
  n <- data[["n"]]
  is_count <- function(x) is.numeric(x) && length(x) == 1L && !is.na(x) && x >= 0
  is_of <- function(x, type, length) is.null(x) || is.atomic(x) && typeof(x) == type && length(x) == length
  offsets <- function(x, upto) {
    is.integer(x) && length(x) > 1L && x[1L] == 0L && !anyNA(x) && !is.unsorted(x) && x[length(x)] == upto
  }
  known <- is.list(data) && is.list(sample) && is_obs(read[["obs"]]) && holds_no_function(read$obs) &&
    is_count(data[["n"]]) && is_count(data[["d"]]) && is_count(data[["engine_d"]]) && is_count(data[["n_batches"]]) &&
    is_count(sample[["n"]]) && all(c(names(data), names(sample)) %in% names(data_fields))
  known && n_units(data) == index$n && are_individuals(data) && are_individuals(sample) &&
    data$engine_d == index$d && data$n_batches == nrow(index$sizes) &&
    offsets(data[["starts"]], n) && offsets(sample[["starts"]], sample$n) &&
    (class == "bnp_mixture" || length(data$starts) - 1L == sum(index$sizes[, 2L])) &&
    is_of(data[["column_names"]], "character", data$d) && is_of(data[["fingerprint"]], "character", 1L) &&
    is_of(data[["group_names"]], "character", length(data$starts) - 1L) &&
    (is.null(data[["order"]]) || is.integer(data$order) && identical(sort(data$order), seq_len(n))) &&
    is_of(data[["lengths"]], typeof(data$lengths), length(data$starts) - 1L) &&
    (is.null(data[["cells_missing"]]) || is.numeric(data$cells_missing) && length(data$cells_missing) == data$d) &&
    is_count(sample$counted[["rows"]]) && is_count(sample$counted[["units"]]) && is_count(sample[["d"]]) &&
    sample$d == data$d && identical(sample[["frame"]], data[["frame"]]) &&
    (if (index$sparse) is.integer(sample[["column"]]) && all(sample[["value"]] >= 0) else
      is.matrix(sample[["x"]]) && nrow(sample$x) == sample$n) &&
    are_values(sample[["x"]] %||% sample[["value"]])
}

holds_no_function <- function(x) !is.function(x) && (!is.list(x) || all(vapply(x, holds_no_function, NA)))

# Whether a model can be made from these numbers: some are not missing, and all are within the range of valid
# data.
are_values <- function(x) {
  is.numeric(x) && (!length(x) || any(!is.na(x))) && all(abs(x) < 1e200, na.rm = TRUE)
}

# Evaluates code that reads or writes a spool (the file that holds the rows of a source). If the code fails,
# the error has a class of the package and names the folder of the spool.
in_spool <- function(expr, call, writes = FALSE) {
  tryCatch(expr, `bnpvi::FileError` = function(e) {
    abort("spool", c(
      "The spool cannot be {if (writes) 'written' else 'read'}.", x = "{conditionMessage(e)}",
      i = if (writes) {
        "The disk may be full. Another folder may be given as {.arg spool} of the source."
      } else {
        "Delete the folder of the spool to make it anew, and let nothing else write to it meanwhile."
      }
    ), call = call)
  })
}

begin_spool <- function(source, call) {
  folder <- source$spool %||% tempfile("spool")
  if (!is.null(source$spool) && length(list.files(folder, all.files = TRUE, no.. = TRUE))) {
    abort("spool", c(
      "The folder {.file {folder}} is not empty, and has no complete spool.",
      i = "Choose another folder as {.arg spool}, or empty this one."
    ), call = call)
  }
  if (!dir.exists(folder) && !suppressWarnings(dir.create(folder, recursive = TRUE))) {
    abort("spool", "The folder {.file {folder}} cannot be made.", call = call)
  }
  enc2utf8(normalizePath(folder))
}

keep_spool <- function(source, folder, key, read, call) {
  if (is.null(source$spool)) {
    if (!is.null(source$kept$temporary)) unlink(source$kept$temporary, recursive = TRUE)
    source$kept$temporary <- folder
    source$kept$key <- key
  }
  read$data <- unclass(read$data)
  read$data$sample <- unclass(read$data$sample)
  sums <- in_spool(engine_spool_index(spool_file(folder)), call)$sums # tell these batches from those of another spool
  note <- serialize(sealed_note(list(key = key, read = read, sums = sums)), NULL, xdr = FALSE)
  in_spool(engine_write_bytes(spool_note(folder), note), call, writes = TRUE)
}

# Makes the single pass over a source, from which the spool (file of batches) is written. If all columns are
# numbers, rows are converted to the engine's form at once; otherwise they wait in files until all levels are
# known.
pass_over <- function(source, class, obs, na_action, id, formula, control, folder, call) {
  tokens <- class == "bnp_topics" && obs_facts(obs)$counts_tokens
  chosen <- class != "bnp_mixture" || !is.null(obs) || !is.null(formula) # by the user: which columns are modelled
  reader <- watch_row_numbers(read_units(source, class, id, call))
  on.exit(reader$close())
  piece <- reader$read()
  if (is.null(piece)) abort("no_rows", "{.arg x} has no rows: its source is empty.", call = call)
  own <- without_id(piece)$x
  is_settled <- !is.data.frame(own) || !any(vapply(own, type_of_column, "") == "unknown")
  given <- !is.null(obs)
  undecided <- is.null(formula) && !given && (any_few_values(own) || !is_settled)
  if (is.null(formula) && !undecided) {
    obs <- in_piece(piece, call, obs %||% default_obs(own, call))
    check_obs(obs, class, call)
  }
  if (!is.null(obs)) require_ability(kinds_to_fit(class, obs), "source", call)
  fit <- NULL # what pieces that waited are turned into numbers by
  all <- new_parts(folder, class != "bnp_mixture", tokens)
  columns <- list(names = colnames(piece$x), n = NCOL(piece$x))
  if (!tokens && (is.null(obs) || waits_for_levels(own, obs, formula))) {
    used <- if (given) character() else bare_variable_names(formula, own)
    waiting <- gather_levels(reader, piece, obs, columns, formula, used, folder, call)
    fit <- tryCatch(first_look(waiting$sample, class, obs, na_action, formula, call), error = function(e) {
      # Finds the piece in which the error is, so that the message can name it. The error that no rows are
      # left is not one of a single piece.
      for (file in if (!inherits(e, "bnpvi_error_no_rows")) waiting$files) {
        piece <- read_part(file)
        piece$x <- with_all_levels(piece$x, waiting$columns)
        suppressMessages(
          in_piece(piece, call, first_look(piece, class, obs, na_action, formula, call)), "bnpvi_message"
        )
      }
      stop(e)
    })
    obs <- fit$given
    for (i in seq_along(waiting$files)) {
      piece <- read_part(waiting$files[i])
      unlink(waiting$files[i])
      piece$x <- with_all_levels(piece$x, waiting$columns)
      add_piece(all, piece, class, obs, na_action, fit, call)
    }
  } else {
    while (!is.null(piece)) {
      if (!tokens) piece$x <- in_piece(piece, call, same_columns(numbers_only(piece$x), columns))
      add_piece(all, piece, class, obs, na_action, NULL, call)
      numbers <- numbers_of(piece$x)
      piece <- NULL
      collect_after(numbers)
      piece <- reader$read()
    }
  }
  if (!chosen && all$n_given >= 10L && columns$n > 1L) say_row_numbers(reader$counting(), "x", call)
  data <- spooled_data(all, obs, na_action, class, control, folder, call)
  list(data = data, obs = obs, input = fit$own)
}

without_id <- function(piece) {
  if (!is.null(piece$id_column)) piece$x <- piece$x[, !colnames(piece$x) %in% piece$id_column, drop = FALSE]
  piece
}

# A table in which columns without any value, which may have been read as logical, are numbers.
numbers_only <- function(x) {
  if (is.data.frame(x)) {
    for (name in names(x)) if (type_of_column(x[[name]]) == "unknown") x[[name]] <- as.double(x[[name]])
  }
  x
}

# Adds a piece of a source to `all`, as numbers in the internal form, with all levels. fit: what first_look()
# found in the sample; NULL if all columns are numbers.
add_piece <- function(all, piece, class, obs, na_action, fit, call) {
  arg <- arg_from("x", piece)
  part <- in_piece(piece, call, {
    x <- piece$x
    if (is.null(fit)) {
      x <- without_id(piece)$x
    } else {
      if (is.null(fit$input$terms)) x <- without_id(piece)$x
      x <- select_columns(variables_of(fit, x, arg, call), fit, call, arg)
      obs <- fit$model$obs
    }
    grows <- attr(piece$x, "grows")
    part <- switch(class,
      bnp_mixture = piece_of_mixture(x, obs, piece, arg, call, na_action),
      bnp_topics = as_documents(x, obs, piece$id, arg, TRUE, call, na_action),
      bnp_hmm = as_sequence_data(x, obs, piece$id, arg, call, na_action)
    )
    # The range of values is checked here, since the sample may not contain such values. Sparse rows are
    # counts and need no check.
    far <- if (!is.null(part$x)) which(abs(part$x) > 1e150, arr.ind = TRUE)
    if (length(far)) {
      abort("range", c(
        "{.arg x} has values above 1e150 or below -1e150, whose squares are too large for a number.",
        x = "The first of them is in row {far[1L, 1L]}."
      ))
    }
    if (all$tokens && is.null(part$column_names) && is.null(grows) && all$d > 0L && part$d != all$d) {
      abort("columns", c(
        "There are {part$d} term{?s}, and {all$d} in the documents before.", i = "Give the columns names."
      ))
    }
    if (all$tokens && all$units > 0 && is.null(part$column_names) != is.null(all$terms)) {
      abort("columns", "Some documents have names of terms, and others have none.")
    }
    part
  })
  add_part(all, part)
}

# The number of rows from which on a source with a column of identifiers is not read to its end; a guess.
rows_that_show_identifiers <- 20000

# Reads a source to its end, when columns have levels. Returns list(files, columns, sample): the files in
# which the pieces wait, facts about all columns, and the rows of a random sample of units (rows or groups),
# with all levels. used: names of columns that the model has for certain.
gather_levels <- function(reader, piece, obs, columns, formula, used, folder, call) {
  known <- NULL
  files <- character()
  sample <- new_parts(folder, FALSE, FALSE)
  number <- rows <- 0
  while (!is.null(piece)) {
    piece$x <- in_piece(piece, call, {
      x <- as_frame(piece$x, "x", call)
      x <- same_columns(x, list(names = columns$names %||% names(x), n = columns$n))
      own <- setdiff(names(x), piece$id_column)
      known <- join_columns(known, describe_columns(x[own], columns_as_levels(obs, own)))
      x
    })
    rows <- rows + nrow(piece$x)
    if (rows >= rows_that_show_identifiers) {
      text <- Filter(function(column) column$type == "text", known[intersect(used, names(known))])
      check_many_levels(lapply(text, `[[`, "values"), rows, "x", call, warn = FALSE)
    }
    files <- c(files, write_part(folder, length(files) + 1L, piece, "piece"))
    unit <- if (is.null(piece$id)) seq_len(nrow(piece$x)) else match(piece$id, unique(piece$id))
    add_rows_to_sample(sample, piece, unit, number)
    number <- number + max(unit)
    piece <- reader$read()
  }
  rows <- sampled_rows(sample)
  if (is.null(obs)) known <- two_values_as_levels(known, bare_variable_names(formula, rows$x))
  list(files = files, columns = known, sample = replace(rows, "x", list(with_all_levels(rows$x, known))))
}

# Adds rows of a piece, still in R's form, to a random sample of units; the sample is the one that
# choose_units() would draw.
add_rows_to_sample <- function(sample, piece, unit, before) {
  key <- engine_unit_keys(before, max(unit))[unit]
  at <- which(key < sample$bound)
  kept <- list(x = piece$x[at, , drop = FALSE], id = piece$id[at], key = key[at], id_column = piece$id_column)
  sample$chosen <- c(sample$chosen, list(kept))
  if (sum(vapply(sample$chosen, function(part) length(part$key), 1L)) > 2 * most_sampled) {
    part <- sampled_rows(sample)
    limit <- sort(part$key)[max(1L, min(most_sampled, most_sampled_numbers %/% max(1L, ncol(part$x))))]
    kept <- part$key <= limit
    sample$bound <- min(part$key[!kept], sample$bound)
    sample$chosen <- list(list(
      x = part$x[kept, , drop = FALSE], id = part$id[kept], key = part$key[kept], id_column = part$id_column
    ))
  }
}

sampled_rows <- function(sample) {
  parts <- sample$chosen
  list(
    x = do.call(rbind, lapply(parts, `[[`, "x")), id = unlist(lapply(parts, `[[`, "id")),
    key = unlist(lapply(parts, `[[`, "key")), id_column = parts[[1L]]$id_column
  )
}

# Reads a random sample of the rows as a fit in memory would, to find what a formula and levels determine. The
# result has the form that fits keep, so that all pieces are read like new data. given: the observation model
# before it is resolved; own: what the fit is to keep.
first_look <- function(sample, class, obs, na_action, formula, call) {
  arg <- arg_from("x", sample, sample = TRUE)
  own <- list()
  x <- if (is.null(formula) || !any(sample$id_column %in% all.vars(formula))) without_id(sample)$x else sample$x
  if (!is.null(formula)) {
    read <- formula_input(formula, x, obs, class, call)
    x <- read$x
    obs <- read$obs
    own <- read$input
  }
  obs <- obs %||% default_obs(x, call)
  data <- withCallingHandlers(
    switch(class,
      bnp_mixture = piece_of_mixture(x, obs, sample, arg, call, na_action),
      bnp_topics = as_documents(x, obs, sample$id, arg, FALSE, call, na_action),
      bnp_hmm = as_sequence_data(x, obs, sample$id, arg, call, na_action)
    ),
    bnpvi_message_left_out = function(m) invokeRestart("muffleMessage")
  )
  resolved <- suppressMessages(resolve_obs(obs, data, NULL, call), "bnpvi_message_few_rows") # said by the fit
  fit <- list(
    format = fit_format, given = obs, own = own, model = list(obs = resolved),
    input = c(own, unclass(data)[c("n", "d", "column_names")])
  )
  structure(fit, class = c(class, "bnp_fit"))
}
