# Messages about a fit while it is learned, and about how it ended.

remedy_of_breakdowns <- c(
  i = "Numbers lose their digits where parameters of the prior or columns of the data differ by many orders of
       magnitude: choose a less extreme {.arg prior} or {.arg obs}, or rescale {.arg {arg}}."
)

# Reports a numerical breakdown: the ELBO fell or was not finite, which exact arithmetic does not allow. The
# engine then returns the fit as it was one lap (pass over the data) before; `taken_back` is the lap in which
# the breakdown occurred. shift: what is added to the engine's ELBO to give that of the data in their own
# units.
report_breakdown <- function(result, call, arg = "x", remedy = remedy_of_breakdowns, shift = 0) {
  if (!is.finite(result$elbo)) {
    what <- "The ELBO cannot be computed: a term of it is not finite, or uncertain by more than 1 from rounding."
    abort("numerical", c(what, remedy), call = call)
  }
  if (result$reason == "numerical") {
    lap <- result$taken_back
    what <- if (is.finite(lap$elbo)) "fell from {.val {result$elbo + shift}} to {.val {lap$elbo + shift}}" else
      "was not finite"
    cli::cli_warn(
      c(
        paste0("The arithmetic broke down in lap {lap$lap}, where the ELBO ", what, "."),
        i = "The fit returned is that of the lap before; it has not converged.", remedy
      ),
      class = c("bnpvi_warning_numerical", "bnpvi_warning"), call = call
    )
  }
}

# Reports that Ctrl-C in an interactive session ended a fit with its last complete lap (pass over the data).
report_interruption <- function(result, control) {
  done <- max(1L, nrow(result$restarts))
  cli::cli_inform(
    c(
      if (result$reason == "interrupted") {
        "Stopped: the fit is that after lap {result$laps}, and has not converged."
      } else {
        "Stopped: the fit is the best of those that were done."
      },
      i = if (!is.null(control$kinds)) "{done} start{?s} {?was/were} begun." else
        if (control$restarts > 1L) "{done} of {control$restarts} restarts were begun.",
      i = if (result$reason == "interrupted") "To go on from here: {.code update(fit, start = fit)}."
    ),
    class = c("bnpvi_message_interrupted", "bnpvi_message"), call = NULL
  )
}

# Warns that a fit has reached `max_laps` without convergence. go_on: whether the same call can continue from
# the end of the fit.
warn_of_laps <- function(result, control, call, go_on = TRUE) {
  gain <- Filter(is.finite, utils::tail(diff(result$trace$elbo), 1L)) # laps of a search have no ELBO
  cli::cli_warn(
    c(
      "The fit has not converged: {.arg max_laps} ({control$max_laps}) was reached.",
      i = if (length(gain)) "The last lap raised the ELBO by {signif(max(gain, 0), 2)}.",
      i = paste0(
        if (go_on) "To go on from here: {.code update(fit, start = fit)}; or raise" else "Raise",
        " {.arg max_laps} in {.fn bnp_control}."
      )
    ),
    class = c("bnpvi_warning_max_laps", "bnpvi_warning"), call = call
  )
}

too_large <- function(call) {
  abort("memory", c(
    "There is not enough memory for this fit.",
    i = "Choose a smaller {.arg k} or {.arg k_init}, more {.arg batches}, or fewer columns."
  ), call = call)
}

# Warns that the engine got fewer threads than were requested; called by the engine. The fit stores how many
# there were, and predictions request no more.
warn_of_threads <- function(running, asked, most) {
  cli::cli_warn(
    c(
      "{running} of {format(asked, big.mark = \",\", scientific = FALSE)} threads are used.",
      i = if (running < most) {
        "The system did not start more: memory or the number of processes is limited."
      } else {
        "More threads than {most}, or than there are processors, would only take turns."
      },
      i = "The result does not depend on the number of threads."
    ),
    class = c("bnpvi_warning_threads", "bnpvi_warning"), call = NULL
  )
}

# The report of a fit's progress: list(report, finish), a function that the engine calls once per lap (NULL:
# no report), and one that ends the report. In a terminal the report is a progress bar, elsewhere a line per
# lap (pass over the data); in knitr it is one message at the end, as every message becomes a block of output
# of its own. In a script without `verbose`, a few lines say that a long fit is still running.
progress_reporter <- function(control, class, teller = lap_teller) {
  silent <- list(report = NULL, finish = function() NULL)
  if (isFALSE(control$verbose)) {
    return(silent)
  }
  if (is.null(control$verbose) && !interactive()) {
    return(replace(silent, "report", list(late_lines(teller(cluster_words[[class]])))))
  }
  told <- teller(cluster_words[[class]])
  if (isTRUE(getOption("knitr.in.progress"))) {
    lines <- character()
    return(list(
      report = function(record) lines <<- c(lines, told(record)),
      finish = function() message(paste(thin_lines(lines), collapse = "\n"))
    ))
  }
  if (!cli::is_dynamic_tty()) {
    return(list(report = function(record) message(told(record)), finish = function() NULL))
  }
  bar <- cli::cli_progress_bar(
    format = "{cli::pb_spin} {cli::pb_extra$line} [{cli::pb_elapsed}]", extra = list(line = "Starting"), clear = TRUE,
    .auto_close = FALSE, current = FALSE
  )
  list(
    report = function(record) cli::cli_progress_update(id = bar, extra = list(line = told(record))),
    finish = function() cli::cli_progress_done(id = bar)
  )
}

# Makes a function of the record of a lap (pass over the data) that reports one line after `after` seconds,
# and then each time the elapsed time has doubled; NULL for no report. told: a function that makes the line
# from the record, called only when a line is due. clock: a function that returns the time.
late_lines <- function(told, after = getOption("bnpvi.progress_after", 5), clock = proc.time) {
  if (!is.finite(after) || isTRUE(getOption("knitr.in.progress"))) {
    return(NULL)
  }
  begun <- clock()[[3L]]
  due <- after
  function(record) {
    passed <- clock()[[3L]] - begun
    if (passed < due) {
      return(invisible())
    }
    message(told(record), sprintf(" [%.0f s]", passed))
    due <<- 2 * max(passed, 1)
  }
}

# Makes a function that turns the record of a lap (pass over the data) into "Lap 3: 5 clusters, ELBO -1190.1
# (+2.3)", and stores the ELBO for the next difference. A restart counts laps from 1 again. A search with hard
# labels reports the log joint probability, and stochastic learning reports neither.
lap_teller <- function(word = "cluster", traffic = NULL) {
  last <- list(lap = Inf, what = "")
  sent <- traffic_teller(traffic)
  function(record) {
    what <- if (is.nan(record$log_joint)) "ELBO" else "log joint"
    value <- if (is.nan(record$log_joint)) record$elbo else record$log_joint
    gain <- if (record$lap > last$lap && what == last$what) value - last$value else NaN
    last <<- list(lap = record$lap, what = what, value = value)
    paste0(
      sprintf("Lap %d: %s", record$lap, count_of(record$k, word)),
      if (is.finite(value)) sprintf(", %s %.8g", what, value), if (is.finite(gain)) sprintf(" (%+.3g)", gain), sent()
    )
  }
}

# Shortens a report to at most `most` lines: the first ones and the last.
thin_lines <- function(lines, most = 10L) {
  if (length(lines) <= most) {
    return(lines)
  }
  c(utils::head(lines, most - 3L), paste0("... ", length(lines) - most + 1L, " more laps"), utils::tail(lines, 2L))
}
