#' Pictures of a filter
#'
#' `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A filter of [bnp_filter()].
#' @param type What is drawn:
#'   * `"filter"`: for one sequence, panels above each other: the probabilities of the states over time (for a
#'     [particle_model()] the means of the state variables, with two standard deviations to either side), how surprising
#'     each row was, and, for models that have it, the alarm, which is the probability of a state not in use.
#'   * `"smoothed"`: the same with probabilities given all rows.
#'   * `"latent"`: means of the state variables.
#' @param id The name of the sequence that is drawn; default: the first.
#' @param ... For `plot()`, graphical parameters like `xlim`; else empty.
#' @return `plot()`: the filter, invisibly. `autoplot()`: a ggplot.
#' @references
#' Okabe, M. and Ito, K. (2008). *Color universal design: how to make figures and presentations
#' that are friendly to colorblind people*. <https://jfly.uni-koeln.de/color/>; the colours.
#' @seealso [bnp_filter()], [plot.bnp_forecast()].
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' plot(bnp_filter(fit, beaver2["temp"]))
#' @export
plot.bnp_filter <- function(x, type = c("filter", "smoothed", "latent"), id = NULL, ...) {
  check_drawing(...)
  type <- check_choice(type, c("filter", "smoothed", "latent"), "type")
  draw_filter(filter_picture(x, type, id), ...)
  invisible(x)
}

# The data of the picture of a filter: list(at, states = data frame (at, state, bottom, top) or NULL, latent =
# data frame (at, name, mean, low, high) or NULL, lines = list of named vectors by panel, k).
filter_picture <- function(f, type, id, call = rlang::caller_env()) {
  check_filter(f, "x", call)
  names <- names(f$sequences)
  at <- if (is.null(id)) 1L else if (is.atomic(id) && length(id) == 1L) match(label_text(id, "id", call), names) else NA
  if (is.na(at) || !length(names)) {
    abort("argument", c(
      "{.arg id} must be the name of a sequence of the filter, not {describe(id)}.",
      i = if (length(names)) "It has {places(names)}." else "It has seen no rows yet."
    ), call = call)
  }
  id <- names[at]
  s <- f$sequences[[at]]
  rows <- s$rows
  at <- row_numbers(s)
  if (!length(at)) {
    abort("no_rows", "The filter {.arg x} remembers no rows of sequence {.val {id}}: there is nothing to draw.",
      call = call)
  }
  prob <- rows$prob
  if (type == "smoothed") {
    if (is.null(prob)) {
      abort("argument",
        "{.code type = \"smoothed\"} needs states or modes, which a {.fn particle_model} does not have.",
        call = call)
    }
    prob <- filter_kinds[[f$kind]]$smooth(f, s, call)
  }
  latent <- type == "latent" || is.null(prob)
  if (latent && is.null(rows$mean)) {
    abort("argument", c(
      "{.code type = \"latent\"} needs state variables, which a hidden Markov model does not have.",
      i = "Use {.code \"filter\"}."
    ), call = call)
  }
  out <- list(at = at, lines = list(surprise = -rows$log_density))
  if ("new" %in% colnames(prob) && !latent) out$lines$alarm <- rows$prob[, "new"]
  if (latent) {
    names <- colnames(rows$mean)
    n <- length(names)
    out$latent <- data.frame(
      at = rep(at, n), name = factor(rep(names, each = length(at)), names), mean = as.double(rows$mean),
      low = as.double(rows$mean - 2 * rows$sd), high = as.double(rows$mean + 2 * rows$sd)
    )
    out$k <- n
  } else {
    k <- ncol(prob)
    top <- t(apply(prob, 1L, cumsum))
    if (k == 1L) top <- t(top)
    out$states <- data.frame(
      at = rep(at, k), state = factor(rep(colnames(prob), each = length(at)), colnames(prob)),
      bottom = as.double(top - prob), top = as.double(top)
    )
    out$states <- out$states[!is.na(out$states$top), ]
    out$k <- k
  }
  out
}

draw_filter <- function(picture, xlab = "Row", ...) {
  colour <- cluster_colours(picture$k)
  n <- 1L + length(picture$lines)
  shown <- levels(if (is.null(picture$states)) picture$latent$name else picture$states$state)
  plan <- legend_plan(shown, 0.9 * graphics::par("din")[2], title = if (is.null(picture$states)) "" else "State")
  old <- set_panels(c(n, 1L), c(0.25, 0.6, 0.1, 0.1), c(0.3, 0, 0.05, plan$width))
  on.exit(graphics::par(old))
  across <- range(picture$at) + c(-0.5, 0.5)
  if (is.null(picture$states)) {
    latent <- picture$latent
    reach <- range(c(latent$low, latent$high)[is.finite(c(latent$low, latent$high))])
    graphics::plot(across, reach, type = "n", xlab = "", ylab = "Mean", ...)
    for (i in seq_along(shown)) {
      one <- latent[latent$name == shown[i], ]
      graphics::polygon(
        c(one$at, rev(one$at)), c(one$low, rev(one$high)), col = grDevices::adjustcolor(colour[i], 0.25), border = NA
      )
      graphics::lines(one$at, one$mean, col = colour[i])
    }
  } else {
    states <- picture$states
    graphics::plot(across, c(0, 1), type = "n", xlab = "", ylab = "P(state)", yaxs = "i", ...)
    graphics::rect(
      states$at - 0.5, states$bottom, states$at + 0.5, states$top, col = colour[as.integer(states$state)], border = NA
    )
    graphics::box()
  }
  for (name in names(picture$lines)) {
    value <- picture$lines[[name]]
    reach <- if (name == "alarm") c(0, 1) else if (all(is.na(value))) c(0, 1) else range(value, na.rm = TRUE)
    graphics::plot(across, reach, type = "n", xlab = "", ylab = filter_panels[[name]], ...)
    graphics::lines(picture$at, value, type = if (length(value) == 1L) "p" else "l")
  }
  graphics::mtext(xlab, side = 1L, outer = TRUE, line = 0.3, cex = 0.7)
  draw_legend(plan, colour[match(plan$labels, shown)], graphics::par("din")[1], 0.95 * graphics::par("din")[2])
}

filter_panels <- c(surprise = "Surprise", alarm = "Alarm")

#' @rdname plot.bnp_filter
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_filter <- function(object, type = c("filter", "smoothed", "latent"), id = NULL, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  type <- check_choice(type, c("filter", "smoothed", "latent"), "type")
  picture <- filter_picture(object, type, id)
  panels <- c(if (is.null(picture$states)) "Mean" else "P(state)", unname(filter_panels[names(picture$lines)]))
  lines <- do.call(rbind, lapply(names(picture$lines), function(name) {
    data.frame(at = picture$at, value = picture$lines[[name]], panel = factor(filter_panels[[name]], panels))
  }))
  shown <- levels(if (is.null(picture$states)) picture$latent$name else picture$states$state)
  colours <- stats::setNames(cluster_colours(picture$k), shown)
  first <- if (is.null(picture$states)) {
    latent <- cbind(picture$latent, panel = factor(panels[1L], panels))
    list(
      ggplot2::geom_ribbon(
        ggplot2::aes(.data$at, ymin = .data$low, ymax = .data$high, fill = .data$name), data = latent, alpha = 0.25
      ),
      ggplot2::geom_line(ggplot2::aes(.data$at, .data$mean, colour = .data$name), data = latent),
      ggplot2::scale_colour_manual(values = colours), ggplot2::labs(fill = NULL, colour = NULL)
    )
  } else {
    states <- cbind(picture$states, panel = factor(rep(panels[1L], nrow(picture$states)), panels))
    list(ggplot2::geom_rect(ggplot2::aes(
      xmin = .data$at - 0.5, xmax = .data$at + 0.5, ymin = .data$bottom, ymax = .data$top, fill = .data$state
    ), data = states), ggplot2::labs(fill = "State"))
  }
  ggplot2::ggplot() +
    first +
    ggplot2::geom_line(ggplot2::aes(.data$at, .data$value), data = lines, na.rm = TRUE) +
    ggplot2::scale_fill_manual(values = colours) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1L, scales = "free_y", strip.position = "left") +
    ggplot2::labs(x = "Row", y = NULL) +
    ggplot2::theme_minimal()
}
