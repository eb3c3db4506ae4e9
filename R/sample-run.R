# Runs the Markov chains of bnp_sample() in parts, reports progress, and stores results of each draw.

# Runs `warmup` sweeps and then `draws` draws, in parts that take about `seconds` each; between parts R can be
# interrupted.
draw_more <- function(object, data, warmup, draws, seconds = 0.3) {
  options <- object$options
  engine_data <- as_engine_data(data)
  all <- warmup + draws * options$thin
  progress <- sampling_progress(options$verbose, warmup, all)
  on.exit(progress$finish())
  # The progress so far, changed in a single assignment, since an interrupt could come between two
  # assignments.
  at <- list(chains = object$chains, done = 0, parts = list())
  n <- 1
  tryCatch(
    while (at$done < all) {
      warming <- at$done < warmup
      n <- min(n, if (warming) warmup - at$done else all - at$done)
      started <- proc.time()[["elapsed"]]
      part <- engine_sample(
        engine_data, object$model, at$chains, n, if (warming) 0 else object$every, options$warmup,
        options$split_merge, options$seed, options$threads
      )
      at <- list(
        chains = lapply(part, state_of_chain), done = at$done + n,
        parts = c(at$parts, if (!warming) list(part))
      )
      progress$report(at$done)
      took <- max(proc.time()[["elapsed"]] - started, 1e-3)
      n <- max(1, round(n * min(10, seconds / took)))
    },
    interrupt = function(e) {
      drawn <- object$made + max(0, at$done - warmup)
      if (!rlang::is_interactive() || drawn < options$thin) rlang::interrupt()
      say_stopped(at$done, all)
    }
  )
  object$chains <- at$chains
  sealed(with_draws(object, at$parts))
}

# What the next sweep of a chain depends on. `scales` are those of rows, only in models in which they are unobserved.
state_of_chain <- function(part) {
  part[c("labels", "weights", if (length(part$scales)) "scales", "concentration", "sweeps", "number")]
}

say_stopped <- function(done, all) {
  cli::cli_inform(
    c("Stopped: these are the draws of {done} of {all} sweeps.", i = "To go on from here: {.fn update}."),
    class = c("bnpvi_message_interrupted", "bnpvi_message"), call = NULL
  )
}

# Adds the engine's results to the draws: the recorded numbers of every draw, and the partitions of some
# draws. When there would be more partitions than are stored, every second one is dropped.
with_draws <- function(object, parts) {
  if (!length(parts)) {
    return(object)
  }
  options <- object$options
  chains <- seq_len(options$chains)
  records <- lapply(chains, function(c) do.call(rbind, lapply(parts, function(part) part[[c]]$records)))
  at <- seq_len(NROW(records[[1L]])) + object$made
  recorded <- at %% options$thin == 0L
  fresh <- vapply(records, function(r) r[recorded, , drop = FALSE], records[[1L]][recorded, , drop = FALSE])
  object$made <- max(at, object$made)
  object$trace <- along_draws(object$trace, aperm(fresh, c(1L, 3L, 2L)))
  for (c in chains) {
    labels <- do.call(cbind, lapply(parts, function(part) part[[c]]$kept))
    if (!NCOL(labels)) next
    sweeps <- at[at %% object$every == 0L]
    object$labels <- cbind(object$labels, labels)
    if (any_tails(object$model$obs)) {
      object$scales <- cbind(object$scales, do.call(cbind, lapply(parts, function(part) part[[c]]$kept_scales)))
    }
    object$kept <- rbind(object$kept, data.frame(chain = c, draw = sweeps %/% options$thin))
  }
  while (NROW(object$kept) > options$keep) {
    object$every <- 2 * object$every
    stay <- (object$kept$draw * options$thin) %% object$every == 0L
    object$labels <- object$labels[, stay, drop = FALSE]
    if (!is.null(object$scales)) object$scales <- object$scales[, stay, drop = FALSE]
    object$kept <- object$kept[stay, ]
  }
  object
}

# Joins two arrays, draws x chains x numbers, along the draws.
along_draws <- function(a, b) {
  if (is.null(a)) {
    return(b)
  }
  out <- array(0, c(dim(a)[1L] + dim(b)[1L], dim(a)[-1L]), list(NULL, NULL, dimnames(a)[[3L]]))
  out[seq_len(dim(a)[1L]), , ] <- a
  out[dim(a)[1L] + seq_len(dim(b)[1L]), , ] <- b
  out
}

# Functions list(report, finish) that show the progress of chains, as for fits: in a terminal a progress bar,
# elsewhere a line after every tenth of the sweeps, or, if R is not interactive, a few lines when sampling
# takes more than some seconds.
sampling_progress <- function(verbose, warmup, all) {
  silent <- list(report = function(done) NULL, finish = function() NULL)
  if (isFALSE(verbose) || isTRUE(getOption("knitr.in.progress"))) {
    return(silent)
  }
  line <- function(done) sprintf("%s: %d of %d sweeps", if (done <= warmup) "Warm-up" else "Drawing", done, all)
  if (is.null(verbose) && !interactive()) {
    return(list(report = late_lines(line) %||% silent$report, finish = silent$finish))
  }
  if (!cli::is_dynamic_tty()) {
    told <- 0
    return(list(finish = silent$finish, report = function(done) {
      if (floor(10 * done / all) > told) message(line(done))
      told <<- floor(10 * done / all)
    }))
  }
  bar <- cli::cli_progress_bar(
    format = "{cli::pb_bar} {cli::pb_extra$line} [{cli::pb_elapsed}]", total = all, extra = list(line = "Starting"),
    clear = TRUE, .auto_close = FALSE, current = FALSE
  )
  list(
    report = function(done) cli::cli_progress_update(id = bar, set = done, extra = list(line = line(done))),
    finish = function() cli::cli_progress_done(id = bar)
  )
}
