# Checkpoints: files from which another process continues an interrupted fit (inst/design/data.md).

#' Continue a fit from its checkpoint
#'
#' A fit with `bnp_control(checkpoint = "file")` regularly writes everything that is needed to continue it to that file:
#' after a given number of seconds, and whenever a restart ends. If its process is killed, the machine stops, or Ctrl-C
#' ends it, `bnp_resume()` continues the fit from there. The result is the fit that would have been made without the
#' interruption, to the last bit (except for the seconds in [elbo_trace()]).
#'
#' @param file The path of the checkpoint.
#' @param x The data: the argument `x` of the fit, or with a formula its `data`. All other arguments are in the file.
#' @param max_laps Another largest number of laps than that of the fit, for instance to continue one that ended at this
#'   limit. Restarts that are done stay as they are.
#' @param workers Other `workers` than those of the fit, as in [bnp_control()]; `FALSE`: none. `wave` stays as it was.
#' @param ... Must be empty.
#' @return The fit that [bnp_mixture()], [bnp_topics()], [bnp_hmm()], [bnp_features()] or [bnp_network()] would have
#'   returned.
#' @details The fit continues to write to the same file. If the fit had already ended, `bnp_resume()` returns it from
#'   the file without further learning; the file can then be removed.
#'
#'   A checkpoint is first written to a new file beside it, named `file.bnpvi-` and 16 random digits, which only its
#'   owner can read. This file is flushed to disk and then renamed, so that the previous checkpoint remains until the
#'   new one is complete. If a process was killed while it wrote, `bnp_resume()` removes the incomplete file. If `file`
#'   is a folder, a link, or a file that is not a checkpoint, it is refused before the fit begins, and left as it is. If
#'   the first checkpoint cannot be written, this is an error, before anything is lost. If a later one cannot (for
#'   example since the disk is full), there is one warning of class `bnpvi_warning_checkpoint`, and the fit continues.
#'   Work since the last checkpoint is repeated, and so is the search for a start, which is not stored.
#'
#'   Some files are refused with an error of class `bnpvi_error_checkpoint` that says what differs: files that are cut
#'   short or were changed, files of a fit to other data, and files of another version of the package or of a machine
#'   whose instructions round differently. As with any file of R objects, resume only from files that you trust.
#' @seealso [bnp_control()].
#' @examples
#' file <- tempfile()
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, checkpoint = file))
#' again <- bnp_resume(file, faithful)
#' identical(elbo(fit), elbo(again))
#' @export
bnp_resume <- function(file, x, max_laps = NULL, workers = NULL, ...) {
  check_no_dots(...)
  file <- check_path(file, "file")
  header <- read_checkpoint(file)
  if (missing(x)) abort("checkpoint", "{.arg x} is needed: a checkpoint holds no data.")
  given <- header$arguments
  given$control[c("seed", "checkpoint")] <- list(header$seed, file)
  if (!is.null(max_laps)) given$control$max_laps <- check_count(max_laps, "max_laps")
  if (has_workers(given$control) || !is.null(workers) && !isFALSE(workers)) {
    given$control$wave <- resolve_wave(given$control)
  }
  if (!is.null(workers)) given$control$workers <- check_workers(workers)
  given$control$header <- header
  if (inherits(given$x, "formula")) {
    environment(given$x) <- rlang::caller_env()
    given["data"] <- list(x)
  } else {
    given["x"] <- list(x)
  }
  # The arguments of the fit by names that cannot be those of columns. They are passed by name, so that
  # neither messages nor the call of the fit show the data.
  values <- stats::setNames(given, paste0(".given_", names(given)))
  call <- as.call(c(as.name(header$verb), stats::setNames(lapply(names(values), as.name), names(given))))
  fit <- eval(call, list2env(values, parent = asNamespace("bnpvi")))
  fit$call <- header$call
  sealed(fit)
}

# Reads the part of a checkpoint that R wrote and checks everything except the data. No part of the file is
# called or evaluated before these checks.
read_checkpoint <- function(file, call = rlang::caller_env()) {
  refuse <- function(why) {
    abort("checkpoint", c("{.arg file} is not a checkpoint, or cannot be read.", x = "{why}"), call = call)
  }
  header <- tryCatch(engine_checkpoint_header(file), error = function(e) refuse(conditionMessage(e)))
  engine_remove_left_beside(file)
  here <- package_version_here()
  if (!is.list(header) || !rlang::is_string(header[["version"]])) refuse("It does not say of which version it is.")
  if (!identical(header$version, here)) {
    abort("checkpoint", c(
      "The checkpoint was written by version {header$version} of the package; this is version {here}.",
      i = "Go on with version {header$version}, or fit anew."
    ), call = call)
  }
  why <- spoiled_header(header)
  if (!is.null(why)) refuse(why)
  header
}

# Describes why the header of a file is none that checkpointed_engine() wrote; NULL if it may be one.
spoiled_header <- function(header) {
  if (!rlang::is_string(header[["verb"]], verbs_of_fits)) {
    return("It is of no verb that writes checkpoints.")
  }
  given <- header[["arguments"]]
  methods <- mget(paste0(header$verb, c("", ".default", ".formula")), asNamespace("bnpvi"), "function", list(NULL))
  known <- unlist(lapply(Filter(is.function, methods), function(method) names(formals(method))))
  named <- is.list(given) && (!length(given) || rlang::is_named(given) && !anyDuplicated(names(given)))
  if (!named || !all(names(given) %in% setdiff(known, "..."))) {
    return("Its arguments are not those of a fit.")
  }
  parts <- c(call = is.call(header[["call"]]), seed = is.numeric(header[["seed"]]) && length(header$seed) == 1L,
    control = inherits(given$control, "bnp_control") || is.null(given$control), data = is.list(header[["data"]]),
    parts = is.character(header[["parts"]]), done = is.list(header[["done"]]), x = is.null(given$x) ||
      inherits(given$x, "formula"))
  if (!all(parts)) paste0("It is damaged: ", paste(names(parts)[!parts], collapse = ", "), ".")
}

package_version_here <- function() format(utils::packageVersion("bnpvi"))

# Makes the function engine(data, model, asked, start, report) by which a fit with a checkpoint calls C++,
# with the data as form(data).
# A fit is a function of its data and arguments that calls the engine once or a few times. To resume, the verb
# is called again: engine calls that had ended return their stored results, and the one that was in progress
# goes on. frame: that of the verb's method, which has the arguments.
checkpointed_engine <- function(class, call, data, model, control, resolved, start, frame, form) {
  run <- plain_engine(form)
  file <- control$checkpoint
  earlier <- control$header
  in_checkpoint(engine_refuse_other_file(file), frame)
  header <- list(
    version = package_version_here(), verb = class, call = call, seed = resolved$seed,
    arguments = earlier$arguments %||% given_arguments(call, frame),
    data = checkpoint_of_data(data), parts = fingerprints_of_parts(model, resolved, start, data$group_values),
    done = list()
  )
  if (!is.null(earlier)) {
    refuse_other_data(earlier$data, header$data, frame)
    refuse_other_parts(earlier$parts, header$parts, frame)
    header$call <- earlier$call
    header$arguments$control$max_laps <- control$max_laps
  }
  number <- 0L
  function(data, model, asked, start, report) {
    number <<- number + 1L
    if (number <= length(earlier$done)) {
      header$done[number] <<- list(earlier$done[[number]])
      return(header$done[[number]])
    }
    asked$checkpoints <- list(
      file = file, every = control$checkpoint_every, header = serialize(header, NULL), first = number == 1L,
      resume = !is.null(earlier) && number == length(earlier$done) + 1L
    )
    result <- in_checkpoint(run(data, model, asked, start, report), frame, asked$checkpoints$resume, data$spool)
    header$done[number] <<- list(result)
    result
  }
}

# Evaluates an expression that reads or writes a checkpoint, and turns its errors into errors about the file.
# reads: TRUE if errors of the engine, too, are errors about the file. spool: a spool (file of batches) that
# is read meanwhile; its errors are left to in_spool().
in_checkpoint <- function(expr, call, reads = FALSE, spool = NULL) {
  tryCatch(
    expr,
    `bnpvi::FileError` = function(e) {
      if (!is.null(spool) && startsWith(conditionMessage(e), paste0("\"", spool, "\""))) stop(e)
      abort("checkpoint", c(
        "The checkpoint cannot be written or read.", x = "{conditionMessage(e)}",
        i = "Choose another path as {.arg checkpoint} of {.fn bnp_control}, in a folder where you may write."
      ), call = call)
    },
    `C++Error` = function(e) {
      if (!reads) stop(e)
      abort("checkpoint", c(
        "The checkpoint cannot be used: it is damaged.", x = "{conditionMessage(e)}", i = "Fit anew."
      ), call = call)
    }
  )
}

# The arguments that the user gave to a fitting function, without the data. A formula loses its environment,
# which may hold the data.
given_arguments <- function(call, frame) {
  names <- setdiff(names(call)[-1L], "data")
  given <- mget(names, envir = frame)
  if (inherits(given$x, "formula")) environment(given$x) <- globalenv() else given$x <- NULL
  given
}

checkpoint_of_data <- function(data) {
  if (!inherits(data, "bnp_data")) { # a network, whose data are no bnp_data
    return(list(nodes = data$n, links = length(data$value), network = engine_value_fingerprint(data)))
  }
  list(
    n = data$n, d = data$d, column_names = data$column_names, groups = length(data$starts) - 1L,
    fingerprint = fingerprint_of(data), times = engine_value_fingerprint(unclass(data)[c("slot", "order")]),
    trees = if (has_trees(data)) engine_value_fingerprint(unclass(data)[c("back", "position")]),
    covariates = if (!has_trees(data) && !is.null(data$position)) engine_value_fingerprint(data$position)
  )
}

refuse_other_data <- function(there, here, call) {
  what <- c(
    n = "number of rows", d = "number of columns", column_names = "names of columns",
    groups = "number of documents or sequences", fingerprint = "content of the rows", times = "time of the rows",
    trees = "parent or position of the rows", covariates = "covariates of the rows",
    nodes = "number of nodes", links = "number of links",
    network = "content of the network"
  )
  differs <- names(what)[!mapply(identical, there[names(what)], here[names(what)])]
  if (!length(differs)) {
    return(invisible())
  }
  first <- differs[1L]
  counted <- first %in% c("n", "d", "groups", "nodes", "links")
  numbers <- if (counted) paste0(": ", there[[first]], " then, ", here[[first]], " now")
  abort("checkpoint", c(
    "The checkpoint belongs to other data.",
    x = "What differs is the {what[[first]]}{numbers}.",
    i = "Give the {.arg x} of the fit, with rows or nodes in the same order."
  ), call = call)
}

# Digests of the observation model, the prior, the control and the start, and of the values of responses, by
# which a checkpoint is recognised.
fingerprints_of_parts <- function(model, resolved, start, values) {
  free <- c("threads", "verbose", "max_laps", "checkpoint", "checkpoint_every", "header", "workers")
  parts <- list(obs = model$obs, prior = model$prior, control = resolved[setdiff(names(resolved), free)], start = start)
  units <- intersect(c("offset", "centre", "unit", "likelihood"), names(model))
  if (length(units)) parts$centre <- model[units]
  if (!is.null(model$response)) parts$response <- list(model$response, values)
  vapply(parts, engine_value_fingerprint, "")
}

refuse_other_parts <- function(there, here, call) {
  differs <- names(there)[there != here]
  if (length(differs)) {
    abort("checkpoint", c(
      "The fit cannot go on: its {.arg {differs}} {?differs/differ} from before.",
      i = "Data, the package and packages that it uses must be as they were."
    ), call = call)
  }
}

# Warns that a checkpoint could not be written. Called by the engine, for any checkpoint but the first.
warn_of_checkpoint <- function(why) {
  cli::cli_warn(
    c(
      "The checkpoint cannot be written; the fit goes on.", x = "{why}",
      i = "The last complete one is still there, and writing is tried again."
    ),
    class = c("bnpvi_warning_checkpoint", "bnpvi_warning"), call = NULL
  )
}
