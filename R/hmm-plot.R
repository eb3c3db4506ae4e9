#' Pictures of a hidden Markov model
#'
#' `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A fit of [bnp_hmm()].
#' @param type What is drawn:
#'   * `"segments"`: the most probable path, one strip per sequence; with `data`, each column's series above its
#'     coloured segments, one panel per sequence. Fits with [obs_lds()] always show series: each column without its
#'     noise as a line in a band of two standard deviations, and with `data` the rows as points.
#'   * `"tree"`, the default for fits with `parent`: the trees, roots above, each node in the colour of its state.
#'   * `"transitions"`: the transition matrix as a heat map, for trees with positions one for each position; with `by`,
#'     the probability of each transition as a function of a covariate, averaged over other covariates and with
#'     intervals as in [prevalence()].
#'   * `"elbo"`: the bound by lap, with the accepted moves.
#'   * `"profile"`: the values that states have in each column, as in [plot.bnp_mixture()].
#'   * `"density"`: a panel for each column with the density of each state times its share of the rows, over the
#'     histogram of `data`.
#'   * `"track"`: the path through the locations in `data`, each step in the colour of the state in which it begins.
#'     Without `data`, through those of the table of [track_steps()], or of moveHMM's `prepData()`, that was fitted, if
#'     the fit keeps its data.
#'   * `"response"`, for logistic regressions and counts ([obs_regression()]): the expected response as a function of a
#'     covariate in each state, with 90 % intervals.
#' @param data Sequences to draw, usually the training data, in any form that [bnp_hmm()] takes; they may also be the
#'   second argument: `plot(fit, data)`. Without this argument `"density"`, `"track"`, and `"segments"` of at most four
#'   sequences draw the data that the fit keeps ([strip_data()]), if any.
#' @param id As in [bnp_hmm()].
#' @param xy For `"track"`: the names of the two columns of `data` that are coordinates.
#' @param by For `"transitions"`, with [prior_covariates()]: the name of a covariate.
#' @param max_sequences The largest number of sequences, or trees, to draw; the first ones are drawn.
#' @param ... For `plot()`, graphical parameters like `main`; else empty.
#' @return `plot()`: the fit, invisibly. `autoplot()`: a ggplot.
#' @inheritSection plot.bnp_mixture Many rows
#' @references
#' Okabe, M. and Ito, K. (2008). *Color universal design: how to make figures and presentations
#' that are friendly to colorblind people*. <https://jfly.uni-koeln.de/color/>; the colours.
#' @seealso [segments()], [transition_matrix()], [plot.bnp_forecast()]; `vignette("segmenting-sequences")`.
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' plot(fit, data = beaver1["temp"])
#' plot(fit, "transitions")
#' @export
plot.bnp_hmm <- function(x, type = c(
                           "segments", "tree", "transitions", "elbo", "profile", "density", "track", "response"
                         ), data = NULL, id = NULL, max_sequences = 40L, xy = c("x", "y"), by = NULL, ...) {
  check_drawing(...)
  if (!missing(type) && is_table(type)) {
    data <- type
    type <- NULL
  }
  read_arguments(rlang::enquos(id = id), data, "data")
  type <- picture_type(x, if (!missing(type)) type)
  data <- data %||% drawn_of_kept(x, type)
  switch(type,
    tree = draw_tree(tree_picture(x, max_sequences), ...),
    segments = {
      picture <- segment_picture(x, data, id, max_sequences)
      if (is.null(picture$series)) draw_strips(picture, ...) else draw_series(picture, ...)
    },
    transitions = if (is.null(by)) draw_transitions(transition_matrix(x), ...) else
      plot(transitions_by(x, by, rlang::current_env()), transitions_shown(x), ...),
    elbo = draw_trace(trace_picture(x), ...),
    profile = draw_profile(profile_picture(x), ...),
    density = draw_densities(state_densities(x, data, id), ...),
    track = draw_track(track_picture(x, data, id, xy), ...),
    response = draw_plane(picture_of_responses(x, data, id), ...)
  )
  invisible(x)
}

# The data that the fit keeps, for pictures that need them: densities, and series of at most `most` sequences
# (more are clearer as strips of states). NULL for other pictures.
drawn_of_kept <- function(fit, type, most = 4L) {
  if (type == "density" || type == "segments" && length(fit$input$starts) <= most + 1L) kept_data(fit)
}

# The type of picture, checked. By default states of sequences as strips or, for trees, of trees.
picture_type <- function(fit, type, call = rlang::caller_env()) {
  type <- type %||% if (has_trees(fit$input)) "tree" else "segments"
  types <- c("segments", "tree", "transitions", "elbo", "profile", "density", "track", "response")
  check_choice(type, types, "type", call)
}

state_densities <- function(fit, data, id, call = rlang::caller_env()) {
  densities_picture(fit, if (!is.null(data)) as_new_sequences(fit, data, id, call, "data"), call)
}

# The data of a picture of states: runs of rows in one state and, with `data`, their values in long form.
segment_picture <- function(fit, data, id, max_sequences, call = rlang::caller_env()) {
  max_sequences <- check_count(max_sequences, "max_sequences", call = call)
  internal <- if (!is.null(data)) as_new_sequences(fit, data, id, call, "data")
  if (!is.null(internal)) refuse_joined_sequences(fit, internal, call)
  runs <- if (is.null(data)) segments(fit) else segments(fit, data, !!id)
  if (!nrow(runs)) {
    abort(
      "no_rows", c("{.arg data} has no rows.", i = "Without {.arg data} the training data's path is drawn."),
      call = call
    )
  }
  all_ids <- unique(runs$id)
  ids <- utils::head(all_ids, max_sequences)
  runs <- runs[runs$id %in% ids, ]
  runs$state <- cluster_ids(fit)[runs$state]
  latent <- latent_rows(fit, internal)
  as_series <- (!is.null(data) || !is.null(latent)) && obs_facts(fit$model$obs)$as_series
  timed <- !is.null(runs$start_time)
  picture <- list(
    runs = with_edges(runs, as_series), ids = ids, k = max(runs$state, fit$state$k), names = fit$model$prior$states,
    axis = if (timed) "Time" else "Row", n_sequences = length(all_ids)
  )
  if (as_series) {
    from <- internal %||% fit$input
    lengths <- diff(from$starts)
    names <- from$group_names %||% as.character(seq_along(lengths))
    row_id <- rep(names, lengths)
    kept <- which(row_id %in% ids)
    if (!is.null(from$x)) kept <- kept[drawn_of_series(from$x[kept, , drop = FALSE])]
    picture$series <- list(
      x = from$x[kept, , drop = FALSE], id = row_id[kept], at = (from$times %||% sequence(lengths))[kept],
      columns = column_labels(fit)
    )
    if (!is.null(latent)) picture$series <- with_band(picture$series, fit, latent, kept)
  }
  picture
}

# Refuses rows of several sequences as one: a picture would show transitions that did not occur.
refuse_joined_sequences <- function(fit, data, call) {
  of_fit <- fit$input$starts
  if (identical(as.integer(data$n), as.integer(fit$input$n)) && length(data$starts) < length(of_fit)) {
    abort("id", c(
      "{.arg data} must be given with the sequences of the fit: it has {length(of_fit) - 1L}, {.arg data} have
       {length(data$starts) - 1L}.",
      i = "Give {.arg id} as it was given to {.fn bnp_hmm}."
    ), call = call)
  }
}

# Adds `left` and `right`, the ends of runs on the horizontal axis. With times, a run lasts until the next one
# begins; else a row is one unit long, and in a series its value is in the middle of the unit.
with_edges <- function(runs, as_series) {
  if (is.null(runs$start_time)) {
    runs$left <- runs$start - if (as_series) 0.5 else 1
    runs$right <- runs$left + runs$length
    return(runs)
  }
  runs$left <- runs$start_time
  runs$right <- runs$end_time
  follows <- which(runs$id[-1L] == runs$id[-nrow(runs)])
  runs$right[follows] <- runs$start_time[follows + 1L]
  runs
}

draw_strips <- function(picture, main = "", xlab = picture$axis, ylab = "", ...) {
  runs <- picture$runs
  rank <- match(runs$id, rev(picture$ids))
  labels <- rev(picture$ids)
  plan <- state_plan(runs$state, graphics::par("fin")[2], names = picture$names)
  longest <- max(graphics::strwidth(labels, units = "inches"))
  old <- set_margins(c(0.85, longest + 0.3, 0.4, plan$width), xpd = NA)
  on.exit(graphics::par(old))
  graphics::plot(
    range(c(runs$left, runs$right)), c(0.5, length(labels) + 0.5), type = "n", yaxt = "n", bty = "n", main = main,
    xlab = xlab, ylab = ylab, ...
  )
  graphics::axis(2L, seq_along(labels), labels, las = 1, tick = FALSE, line = -0.5)
  say_above(shown_of(length(labels), picture$n_sequences, "sequence"))
  colour <- cluster_colours(picture$k)
  graphics::rect(
    as.numeric(runs$left), rank - 0.4, as.numeric(runs$right), rank + 0.4, col = colour[runs$state], border = NA
  )
  state_legend(plan, colour, graphics::grconvertX(1, "nfc", "inches"), graphics::grconvertY(0.95, "nfc", "inches"))
}

# The plan of one legend of states for all panels. height: of the region for it, in inches; names: what states are
# called, NULL for their numbers.
state_plan <- function(states, height, title = "State", names = NULL) {
  states <- as.integer(as.character(sort(unique(states))))
  plan <- legend_plan(if (is.null(names)) states else names[states], 0.9 * height, title = title)
  plan$states <- utils::head(states, length(plan$labels))
  plan
}

state_legend <- function(plan, colour, right, top) draw_legend(plan, colour[plan$states], right, top)

# Draws states over the series of up to eight sequences, in panels of at least 0.75 inches (a guess).
draw_series <- function(picture, main = NULL, xlab = picture$axis, ylab = NULL, ...) {
  colour <- cluster_colours(picture$k)
  series <- picture$series
  size <- graphics::par("din")
  panels <- utils::head(picture$ids, min(8L, max(1L, floor(size[2] / 0.75))))
  columns <- ncol(series$x)
  several <- length(panels) > 1L
  plan <- state_plan(picture$runs$state[picture$runs$id %in% panels], size[2], names = picture$names)
  note <- shown_of(length(panels), picture$n_sequences, "sequence")
  old <- set_panels(
    c(length(panels), 1L), c(if (several) 0.25 else 0.6, if (several) 0.5 else 0.7, 0.2, 0.1),
    c(if (several) 0.25 else 0, 0, if (is.null(note)) 0.05 else 0.2, plan$width)
  )
  on.exit(graphics::par(old))
  name <- ylab %||% (if (columns == 1L) series$columns else "Value")
  for (panel in panels) {
    at <- series$id == panel
    values <- series$x[at, , drop = FALSE]
    runs <- picture$runs[picture$runs$id == panel, ]
    band <- lapply(series$band, function(x) x[at, , drop = FALSE])
    shown <- c(values, band$low, band$high)
    height <- if (all(is.na(shown))) 0:1 else range(shown, na.rm = TRUE)
    graphics::plot(
      range(series$at[at]), height, type = "n", main = if (several) "" else main %||% "",
      xlab = if (several) "" else xlab, ylab = if (several && size[2] < 5) "" else name, ...
    )
    if (several) graphics::mtext(main %||% panel, side = 3L, line = 0.1, cex = 0.75, font = 2)
    usr <- graphics::par("usr")
    shade <- grDevices::adjustcolor(colour, 0.45)
    graphics::rect(
      as.numeric(runs$left), usr[3], as.numeric(runs$right), usr[4], col = shade[runs$state], border = NA
    )
    ink <- if (columns == 1L) "black" else grDevices::grey.colors(columns, 0, 0.6)
    if (is.null(series$band)) {
      graphics::matlines(as.numeric(series$at[at]), values, lty = 1, col = ink)
    } else {
      draw_band(as.numeric(series$at[at]), values, band, rep_len(ink, columns))
    }
    graphics::box()
  }
  if (several) graphics::mtext(xlab, side = 1L, outer = TRUE, line = 0.1, cex = 0.7)
  if (!is.null(note)) graphics::mtext(note, side = 3L, outer = TRUE, line = 0.1, cex = 0.7, adj = 1, col = "grey30")
  state_legend(plan, shade, size[1], 0.95 * size[2])
}

# Draws each column's expected values without its noise as a line in a band, and its rows as points.
draw_band <- function(at, values, band, ink) {
  for (j in seq_along(ink)) {
    graphics::polygon(
      c(at, rev(at)), c(band$low[, j], rev(band$high[, j])), border = NA, col = grDevices::adjustcolor(ink[j], 0.25)
    )
    graphics::points(at, values[, j], pch = 20L, cex = 0.35, col = ink[j])
    graphics::lines(at, band$mean[, j], col = ink[j])
  }
}

#' @rdname plot.bnp_hmm
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_hmm <- function(object, type = c(
                               "segments", "tree", "transitions", "elbo", "profile", "density", "track", "response"
                             ), data = NULL, id = NULL, max_sequences = 40L, xy = c("x", "y"), by = NULL, ...) {
  check_no_dots(...)
  if (!missing(type) && is_table(type)) {
    data <- type
    type <- NULL
  }
  read_arguments(rlang::enquos(id = id), data, "data")
  rlang::check_installed("ggplot2", "for autoplot().")
  type <- picture_type(object, if (!missing(type)) type)
  data <- data %||% drawn_of_kept(object, type)
  switch(type,
    tree = gg_tree(tree_picture(object, max_sequences)),
    segments = gg_segments(segment_picture(object, data, id, max_sequences)),
    transitions = if (is.null(by)) gg_transitions(transition_matrix(object)) else
      ggplot2::autoplot(transitions_by(object, by, rlang::current_env()), transitions_shown(object)),
    elbo = gg_trace(trace_picture(object)),
    profile = gg_profile(profile_picture(object)),
    density = gg_densities(state_densities(object, data, id)),
    track = gg_track(track_picture(object, data, id, xy)),
    response = gg_plane(picture_of_responses(object, data, id))
  )
}

# The ggplot2 scale and legend of the states that occur, ten to a column.
gg_states <- function(k, states, aesthetics = "fill", names = NULL) {
  breaks <- sort(unique(as.integer(states)))
  ggplot2::scale_colour_manual(
    aesthetics = aesthetics, values = stats::setNames(cluster_colours(k), seq_len(k)),
    breaks = breaks, labels = if (is.null(names)) breaks else names[breaks],
    guide = ggplot2::guide_legend(
      ncol = ceiling(length(unique(states)) / 10), keywidth = 0.6, keyheight = 0.6,
      theme = ggplot2::theme(legend.text = ggplot2::element_text(size = 8))
    )
  )
}

gg_segments <- function(picture) {
  runs <- picture$runs
  runs$state <- factor(runs$state, levels = seq_len(picture$k))
  series <- picture$series
  if (is.null(series)) {
    runs$rank <- match(runs$id, rev(picture$ids))
    return(
      ggplot2::ggplot(runs) +
        ggplot2::geom_rect(ggplot2::aes(
          xmin = .data$left, xmax = .data$right, ymin = .data$rank - 0.4, ymax = .data$rank + 0.4, fill = .data$state
        )) +
        ggplot2::scale_y_continuous(
          breaks = seq_along(picture$ids), labels = rev(picture$ids), guide = ggplot2::guide_axis(check.overlap = TRUE)
        ) +
        gg_states(picture$k, picture$runs$state, names = picture$names) +
        ggplot2::labs(
          x = picture$axis, y = NULL, fill = "State",
          caption = shown_of(length(picture$ids), picture$n_sequences, "sequence")
        ) +
        ggplot2::theme_minimal()
    )
  }
  runs$id <- factor(runs$id, levels = picture$ids)
  long <- data.frame(
    at = rep(series$at, ncol(series$x)), value = as.double(series$x),
    id = factor(rep(series$id, ncol(series$x)), levels = picture$ids),
    column = rep(series$columns, each = nrow(series$x))
  )
  lines <- if (is.null(series$band)) {
    ggplot2::geom_line(ggplot2::aes(.data$at, .data$value, group = .data$column), linewidth = 0.3, na.rm = TRUE)
  } else {
    gg_band(long, series)
  }
  ggplot2::ggplot(long) +
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$left, xmax = .data$right, ymin = -Inf, ymax = Inf, fill = .data$state),
      data = runs, alpha = 0.4
    ) +
    lines +
    (if (length(picture$ids) > 1L) ggplot2::facet_wrap(ggplot2::vars(.data$id), ncol = 1L)) +
    ggplot2::scale_y_continuous(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    gg_states(picture$k, picture$runs$state, names = picture$names) +
    ggplot2::labs(
      x = picture$axis, y = if (length(series$columns) == 1L) series$columns else "Value", fill = "State",
      caption = shown_of(length(picture$ids), picture$n_sequences, "sequence")
    ) +
    ggplot2::theme_minimal() +
    tight_panels(length(picture$ids))
}

gg_band <- function(long, series) {
  long[c("mean", "low", "high")] <- lapply(series$band, as.double)
  list(
    ggplot2::geom_ribbon(
      ggplot2::aes(.data$at, ymin = .data$low, ymax = .data$high, group = .data$column), data = long, alpha = 0.25
    ),
    if (series$seen) ggplot2::geom_point(ggplot2::aes(.data$at, .data$value), size = 0.3, na.rm = TRUE),
    ggplot2::geom_line(ggplot2::aes(.data$at, .data$mean, group = .data$column), data = long, linewidth = 0.3)
  )
}

# A ggplot2 theme with smaller text if there are many panels.
tight_panels <- function(n) {
  if (n < 3L) return(NULL)
  ggplot2::theme(
    strip.text = ggplot2::element_text(size = 7, hjust = 1, margin = ggplot2::margin(1, 1, 1, 1)), strip.clip = "off",
    panel.spacing = ggplot2::unit(2, "pt"), axis.text = ggplot2::element_text(size = 7)
  )
}
