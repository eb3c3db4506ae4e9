#' Pictures of forecasts
#'
#' Draws the forecasts of `predict(fit, newdata, n.ahead = )` for the rows after the last one of each sequence. `plot()`
#' uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A forecast of [predict.bnp_hmm()].
#' @param type `"values"`: a panel for each sequence and column, with the mean as a line, and one standard deviation to
#'   either side as a band. If columns are measurements ([obs_gaussian()], [obs_ar()]), the last rows of the sequence
#'   are drawn before the forecast. `"states"`: a panel for each sequence, with the probabilities of the states,
#'   stacked.
#' @param columns For `"values"`, names of the columns to show; default: all. At most twelve panels are drawn, fewer if
#'   a picture is small; a note in the picture says how many.
#' @param ... For `plot()`, graphical parameters like `ylim`; else empty.
#' @details
#' Two standard deviations hold about 95 % only if one state is nearly certain: a forecast in which several states are
#' probable is a mixture, and may be bimodal.
#' @return `plot()`: the forecast, invisibly. `autoplot()`: a ggplot.
#' @references
#' Zucchini, W., MacDonald, I. L. and Langrock, R. (2016). *Hidden Markov models for time
#' series*, 2nd edition. CRC Press, chapter 5.
#' @seealso [predict.bnp_hmm()] for what a forecast is made of, [plot.bnp_hmm()].
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' ahead <- predict(fit, beaver2["temp"], n.ahead = 30)
#' plot(ahead)
#' plot(ahead, "states")
#' @export
plot.bnp_forecast <- function(x, type = c("values", "states"), columns = NULL, ...) {
  check_drawing(...)
  type <- check_choice(type, c("values", "states"), "type")
  if (type == "values") {
    draw_forecast(forecast_picture(x, columns), ...)
  } else {
    draw_states_ahead(states_ahead_picture(x), ...)
  }
  invisible(x)
}

most_panels <- 12L

# The data of a picture of forecasts, in the order of its panels: list(ahead, before, axis, n_panels). ahead:
# panel, left, right, mean, low, high; before: panel, at, value, for the last rows of the sequences.
forecast_picture <- function(x, columns, call = rlang::caller_env()) {
  steps <- steps_ahead(x, "mean", call)
  all <- sub("^mean[.]", "", grep("^mean[.]", names(x), value = TRUE))
  columns <- columns %||% all
  if (!is.character(columns) || !length(columns) || !all(columns %in% all)) {
    abort("argument", c(
      "{.arg columns} must be names of columns of the data, not {describe(columns)}.",
      i = "The forecast has {places(dQuote(all, FALSE))}."
    ), call = call)
  }
  ids <- unique(x$id)
  panels <- expand.grid(column = unique(columns), id = ids, stringsAsFactors = FALSE)
  panels$panel <- if (length(ids) == 1L) panels$column else if (length(all) == 1L) panels$id else
    paste(panels$id, panels$column, sep = ", ")
  n_panels <- nrow(panels)
  panels <- utils::head(panels, most_panels)
  before <- attr(x, "before")
  of_panel <- function(id, column, panel) {
    at <- x$id == id
    mean <- x[[paste0("mean.", column)]][at]
    sd <- x[[paste0("sd.", column)]][at]
    past <- before$id == id
    list(
      ahead = data.frame(panel = panel, steps[at, ], mean = mean, low = mean - sd, high = mean + sd),
      before = if (column %in% colnames(before$x)) {
        data.frame(panel = panel, at = before$at[past], value = before$x[past, column])
      }
    )
  }
  parts <- Map(of_panel, panels$id, panels$column, panels$panel)
  gather <- function(what) {
    out <- do.call(rbind, unname(lapply(parts, `[[`, what)))
    if (!is.null(out)) out$panel <- factor(out$panel, unique(panels$panel))
    out
  }
  list(ahead = gather("ahead"), before = gather("before"), axis = attr(steps, "axis"), n_panels = n_panels)
}

# The data of a picture of forecast states: list(ahead, axis, k, n_panels) with ahead: panel, left, right,
# state, bottom, top.
states_ahead_picture <- function(x, call = rlang::caller_env()) {
  steps <- steps_ahead(x, "prob", call)
  prob <- as.matrix(as.data.frame(x)[grep("^prob[.]", names(x))])
  k <- ncol(prob)
  top <- prob
  for (j in seq_len(k)[-1L]) top[, j] <- top[, j - 1L] + prob[, j]
  ids <- unique(x$id)
  shown <- utils::head(ids, most_panels)
  ahead <- data.frame(
    panel = factor(rep(x$id, k), shown), steps[rep(seq_len(nrow(x)), k), ], state = rep(seq_len(k), each = nrow(x)),
    bottom = as.double(top - prob), top = as.double(top)
  )
  # The states that are drawn: those that are improbable everywhere would only fill the legend.
  likely <- which(apply(prob, 2L, max) >= 0.005)
  list(
    ahead = ahead[!is.na(ahead$panel) & ahead$state %in% likely, ], axis = attr(steps, "axis"), k = k,
    n_panels = length(ids)
  )
}

# Positions of the steps of a forecast on the horizontal axis: at, left, right, with the attribute `axis`.
# They continue the rows of the sequences, whose last rows are the attribute `before` of the forecast. A
# subset of a forecast may have lost this attribute: steps are then counted from 1.
steps_ahead <- function(x, kind, call) {
  if (!nrow(x) || !all(c("id", "step") %in% names(x)) || !any(startsWith(names(x), paste0(kind, ".")))) {
    abort("argument", c(
      "This is not a complete forecast: rows or columns of it are missing.",
      i = "Draw what {.code predict(fit, newdata, n.ahead = )} gives."
    ), call = call)
  }
  before <- attr(x, "before")
  last <- length(before$id) + 1L - match(x$id, rev(before$id))
  if ("time" %in% names(x)) {
    gap <- unname(attr(x, "gap")[x$id]) %||% 1
    at <- x$time
    axis <- "Time"
  } else {
    gap <- 1
    at <- if (length(before$id) && !anyNA(last)) before$at[last] + x$step else x$step
    axis <- if (length(before$id)) "Row" else "Step"
  }
  structure(data.frame(at = at, left = at - gap / 2, right = at + gap / 2), axis = axis)
}

draw_forecast <- function(picture, xlab = picture$axis, ylim = NULL, ...) {
  ahead <- split(picture$ahead, picture$ahead$panel)
  band <- grDevices::adjustcolor(cluster_colours(1L), 0.25)
  draw_grid(names(ahead), picture$n_panels, "panel", xlab, function(name) {
    now <- ahead[[name]]
    past <- picture$before[picture$before$panel == name, ]
    reach <- c(now$mean, now$low, now$high, past$value)
    across <- range(if (length(past$at)) c(past$at, now$right) else c(now$left, now$right))
    graphics::plot(across, ylim %||% range(reach[is.finite(reach)]), type = "n", xlab = "", ylab = "", ...)
    usr <- graphics::par("usr")
    graphics::rect(now$left, pmax(now$low, usr[3]), now$right, pmin(now$high, usr[4]), col = band, border = NA)
    graphics::segments(now$left, now$mean, now$right, now$mean, lwd = 2, col = cluster_colours(1L))
    graphics::lines(as.numeric(past$at), past$value)
  })
}

draw_states_ahead <- function(picture, xlab = picture$axis, ...) {
  ahead <- split(picture$ahead, picture$ahead$panel)
  colour <- cluster_colours(picture$k)
  plan <- state_plan(picture$ahead$state, graphics::par("din")[2])
  label <- if (picture$n_panels > 1L) "" else "Probability"
  draw_grid(names(ahead), picture$n_panels, "sequence", xlab, function(name) {
    now <- ahead[[name]]
    graphics::plot(range(c(now$left, now$right)), c(0, 1), type = "n", yaxs = "i", xlab = "", ylab = label, ...)
    graphics::rect(now$left, now$bottom, now$right, now$top, col = colour[now$state], border = NA)
    graphics::box()
  }, titled = picture$n_panels > 1L, legend = list(plan = plan, colour = colour))
}

#' @rdname plot.bnp_forecast
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_forecast <- function(object, type = c("values", "states"), columns = NULL, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  type <- check_choice(type, c("values", "states"), "type")
  picture <- if (type == "values") forecast_picture(object, columns) else states_ahead_picture(object)
  n <- nlevels(droplevels(picture$ahead$panel))
  plot <- if (type == "values") gg_forecast(picture) else gg_states_ahead(picture)
  named <- type == "values" || picture$n_panels > 1L
  plot +
    (if (named) ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = if (type == "values") "free" else "free_x")) +
    ggplot2::guides(x = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(
      x = picture$axis, y = if (type == "values") NULL else "Probability", fill = "State",
      caption = shown_of(n, picture$n_panels, if (type == "values") "panel" else "sequence")
    ) +
    ggplot2::theme_minimal() +
    tight_panels(n)
}

gg_forecast <- function(picture) {
  colour <- cluster_colours(1L)
  past <- if (!is.null(picture$before)) {
    ggplot2::geom_line(ggplot2::aes(.data$at, .data$value), data = picture$before, linewidth = 0.3, na.rm = TRUE)
  }
  ggplot2::ggplot(picture$ahead) +
    past +
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$left, xmax = .data$right, ymin = .data$low, ymax = .data$high), fill = colour,
      alpha = 0.25
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$left, xend = .data$right, y = .data$mean, yend = .data$mean), colour = colour,
      linewidth = 0.8
    ) +
    ggplot2::scale_y_continuous(guide = ggplot2::guide_axis(check.overlap = TRUE))
}

gg_states_ahead <- function(picture) {
  ahead <- picture$ahead
  ahead$state <- factor(ahead$state, levels = seq_len(picture$k))
  ggplot2::ggplot(ahead) +
    ggplot2::geom_rect(ggplot2::aes(
      xmin = .data$left, xmax = .data$right, ymin = .data$bottom, ymax = .data$top, fill = .data$state
    )) +
    gg_states(picture$k, ahead$state)
}
