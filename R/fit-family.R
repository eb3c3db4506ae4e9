# What fits of all families share: a call of the engine, what is said of how it went, and the object that comes of it.

# Learns a fit of this class and returns the engine's list. engine: engine(data, model, asked, start, report), of
# engine_for() or plain_engine(). model: as the engine reads it. learn: learn(run, asked) for fits that call
# the engine more than once; `run` calls it with what is given in place of the arguments here. extra: what the engine is
# asked beside `control`. arg, remedy: of the error where numbers break down; shift: of the engine's ELBO to that of the
# data as given; go_on: can the call be made again from where it ended?
fit_family <- function(class, engine, data, model, control, start, call, learn = function(run, asked) run(),
                       teller = lap_teller, extra = list(), arg = "x", remedy = remedy_of_breakdowns, shift = 0,
                       go_on = TRUE) {
  progress <- progress_reporter(control, class, teller)
  on.exit(progress$finish())
  control$header <- NULL
  asked <- c(control, list(keep_interrupted = rlang::is_interactive()), Filter(Negate(is.null), extra))
  from <- list(data, model, asked, start, progress$report)
  run <- function(model = from[[2L]], asked = from[[3L]], start = from[[4L]], data = from[[1L]], report = from[[5L]]) {
    tryCatch(
      if (is_spooled(data) || has_workers(control)) in_spool(engine(data, model, asked, start, report), call) else
        engine(data, model, asked, start, report),
      `std::bad_alloc` = function(e) too_large(call), `std::length_error` = function(e) too_large(call)
    )
  }
  result <- report_breakdown(learn(run, asked), call, arg, remedy, shift)
  result <- report_interruption(result, control)
  if (result$reason == "max_laps" && control$algorithm != "stochastic") warn_of_laps(result, control, call, go_on)
  result
}

# How a fit calls the engine, arguments as those of checkpointed_engine().
engine_for <- function(class, call, data, model, control, resolved, start, frame, form = as_engine_data) {
  if (is.null(control$checkpoint)) {
    return(plain_engine(form))
  }
  checkpointed_engine(class, call, data, model, control, resolved, start, frame, form)
}

# An engine without checkpoints; form(data) is the data as it reads them.
plain_engine <- function(form = as_engine_data) {
  function(data, model, asked, start, report) engine_fit(form(data), model, asked, start, report)
}

# The object that users get, of any family. verb: what it is a fit of; learned: what it has beside, as the engine or the
# family calls it.
new_bnp_fit <- function(verb, call, model, control, input, learned) {
  names(learned)[names(learned) == "terms"] <- "elbo_terms"
  control$threads <- learned$threads %||% control$threads
  control$header <- control$batch_of <- learned$threads <- NULL
  lacking <- setdiff(c("state", "elbo", "elbo_terms", "trace", "converged", "reason", "laps", "sizes"), names(learned))
  if (length(lacking)) cli::cli_abort("A fit has no {.field {lacking}}.", .internal = TRUE)
  learned <- learned[!vapply(learned, is.null, NA) | names(learned) %in% c("state", "trace")]
  structure(
    c(list(format = fit_format, call = call, model = model, control = control), learned, list(input = input)),
    class = fit_classes(verb, model)
  )
}

remedy_of_breakdowns <- c(
  i = "Numbers lose their digits where parameters of the prior or columns of the data differ by many orders of
       magnitude: choose a less extreme {.arg prior} or {.arg obs}, or rescale {.arg {arg}}."
)

# The engine ends a fit with the last lap before its ELBO fell or was not finite,
# neither of which exact arithmetic allows: `taken_back` is the lap that did.
# shift: of the engine's ELBO to that of the data as given.
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
        paste0("Numbers broke down in lap {lap$lap}, where the ELBO ", what, "."),
        i = "The fit is what it was after the lap before, and has not converged.", remedy
      ),
      class = c("bnpvi_warning_numerical", "bnpvi_warning"), call = call
    )
  }
  result$taken_back <- NULL
  result
}

# Ctrl-C in an interactive session ends a fit with its last lap.
report_interruption <- function(result, control) {
  if (!is.null(result$restarts)) {
    ends <- result$restarts
    result$restarts <- data.frame(
      restart = seq_along(ends$elbo), seed = result$seeds, elbo = ends$elbo, k = ends$k, laps = ends$lap
    )
    result$seeds <- NULL
  }
  if (!isTRUE(result$interrupted)) {
    return(result)
  }
  result$interrupted <- NULL
  done <- max(1L, nrow(result$restarts))
  cli::cli_inform(
    c(
      if (result$reason == "interrupted") {
        "Stopped: the fit is what it was after lap {result$laps}, and has not converged."
      } else {
        "Stopped: the fit is the best of those that were done."
      },
      i = if (control$restarts > 1L) "{done} of {control$restarts} restarts were begun.",
      i = if (result$reason == "interrupted") "To go on from here: {.code update(fit, start = fit)}."
    ),
    class = c("bnpvi_message_interrupted", "bnpvi_message"), call = NULL
  )
  result
}

# go_on: can the call be made again from where it ended?
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
