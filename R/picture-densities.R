# Pictures of fitted densities over histograms of the data: a panel for each column, a curve for each cluster.

# How obs_densities() describes the distribution of a column in a cluster. density: a function of values;
# quantile: a function of probabilities; mass_0: the probability of the value 0 where there is a point mass at
# 0, which the density leaves out; circular: whether values are angles.
column_density <- function(density, quantile, discrete = FALSE, mass_0 = 0, circular = FALSE) {
  list(density = density, quantile = quantile, discrete = discrete, mass_0 = mass_0, circular = circular)
}

# Whether there is no density of a column to draw. Counts over an exposure, for example, have a distribution
# that depends on the exposure of each row.
lacks_density <- function(obs) !obs_can(obs, "densities") || isTRUE(obs$exposed)

# What a picture of densities shows: list(kind, panels, cluster, word). data: rows for the histograms, in the
# internal form, or NULL.
densities_picture <- function(fit, data, call) {
  obs <- fit$model$obs
  require_density(fit, call)
  if (!is.null(data) && is_sparse_data(data)) {
    abort("argument", "{.arg data} must be dense: give {.code as.matrix(data)}.", call = call)
  }
  used <- in_use(fit)
  labels <- column_labels(fit)
  of_cluster <- lapply(parts_of_clusters(obs, mean_arrays(fit), used), function(parts) {
    own <- obs_densities(obs, parts)
    stats::setNames(own, names(own) %||% obs_terms(obs, labels)$variable)
  })
  weight <- cluster_sizes(fit)[used]
  weight <- unname(weight / sum(weight))
  x <- data$x
  if (!is.null(data) && has_missing(data)) x[data$missing] <- NA
  ids <- cluster_ids(fit)[used]
  panels <- lapply(stats::setNames(nm = names(of_cluster[[1L]])), function(name) {
    values <- if (!is.null(x)) x[!is.na(x[, match(name, labels)]), match(name, labels)]
    density_panel(lapply(of_cluster, `[[`, name), weight, ids, values)
  })
  tell_without_density(setdiff(modelled_labels(fit), names(panels)))
  list(kind = "densities", panels = panels, cluster = ids, word = cluster_word(fit))
}

modelled_labels <- function(fit) {
  setdiff(column_labels(fit), unlist(lapply(blocks_or_self(fit$model$obs), exposure_column)))
}
blocks_or_self <- function(obs) obs$blocks %||% list(obs)

require_density <- function(fit, call) {
  blocks <- blocks_or_self(fit$model$obs)
  if (any(!vapply(blocks, lacks_density, NA))) {
    return(invisible())
  }
  if (any(vapply(blocks, function(block) isTRUE(block$exposed), NA))) {
    abort("argument", c(
      "{.code type = \"density\"} has no picture of counts over exposures: each has a distribution of its own.",
      i = "Use {.code type = \"profile\"}."
    ), call = call)
  }
  makers <- makers_that_can("densities")
  abort("argument", c(
    "{.code type = \"density\"} needs columns with a density of their own, as {.or {.fn {makers}}} have them, not
     {.fn {obs_facts(fit$model$obs)$constructor}}.",
    i = "Use another {.arg type}, or read the parameters from {.fn coef}."
  ), call = call)
}

tell_without_density <- function(columns) {
  if (length(columns)) {
    cli::cli_inform(
      "Column{?s} {.field {columns}} {?is/are} not drawn: {?it has/they have} no density of {?its/their} own.",
      class = c("bnpvi_message_picture", "bnpvi_message")
    )
  }
}

# The contents of the panel of one column: list(parts (x, density, cluster), total (x, density), values,
# discrete, mass_0 (NULL: none)).
density_panel <- function(columns, weight, cluster, values) {
  first <- columns[[1L]]
  if (first$circular) values <- if (!is.null(values)) wrapped(values)
  at <- points_of_panel(columns, values)
  each <- mapply(function(column, w) w * column$density(at), columns, weight)
  each <- matrix(each, length(at))
  list(
    parts = data.frame(
      x = rep(at, length(cluster)), density = as.vector(each), cluster = rep(cluster, each = length(at))
    ),
    total = data.frame(x = at, density = rowSums(each)), values = values, discrete = first$discrete,
    circular = first$circular,
    mass_0 = if (any(vapply(columns, function(column) column$mass_0 > 0, NA))) {
      sum(weight * vapply(columns, `[[`, 1, "mass_0"))
    }
  )
}

# The values at which the densities of a panel are drawn: they cover the range of the data or, without data,
# the central 99 % of the clusters' probability.
points_of_panel <- function(columns, values) {
  if (columns[[1L]]$circular) {
    return(seq(-pi, pi, length.out = 401L))
  }
  if (length(unique(values)) < 2L) {
    values <- c(values, unlist(lapply(columns, function(column) column$quantile(c(0.005, 0.995)))))
  }
  ends <- ends_of_axis(values)
  if (columns[[1L]]$discrete) {
    return(unique(round(seq(ends[1L], ends[2L], length.out = min(diff(ends) + 1, 400)))))
  }
  ends <- ends + c(-0.05, 0.05) * diff(ends)
  if (columns[[1L]]$density(-1) == 0) ends[1L] <- max(ends[1L], diff(ends) / 1e4) # values above 0
  seq(ends[1L], ends[2L], length.out = 401L)
}

# The ends of an axis that has these values, those that are infinite left out: a cluster of a single row may have no
# variance, and so no quantiles. Around one value alone the axis has a length, too.
ends_of_axis <- function(values) {
  values <- values[is.finite(values)]
  if (!length(values)) {
    return(c(-1, 1))
  }
  ends <- range(values)
  if (diff(ends) > 0) ends else ends + c(-1, 1) * if (ends[1L] == 0) 1 else abs(ends[1L]) / 2
}

# The bars of a panel's histogram. Whole numbers get one bar each if these are at most a hundred bars; where
# there is a point mass at 0, zeros are left out.
bars_of_panel <- function(panel) {
  values <- panel$values
  if (!length(values)) {
    return(NULL)
  }
  share <- 1
  if (!is.null(panel$mass_0)) {
    share <- mean(values != 0)
    values <- values[values != 0]
    if (!length(values)) return(NULL)
  }
  bars <- if (panel$circular) {
    graphics::hist(values, seq(-pi, pi, length.out = 37L), plot = FALSE)
  } else if (panel$discrete && diff(range(values)) <= 100) {
    graphics::hist(values, seq(min(values) - 0.5, max(values) + 0.5), plot = FALSE)
  } else {
    histogram_of(values)
  }
  bars$density <- bars$density * share
  bars
}

# The largest density on the axis of a panel. A density that rises towards the end of the range, as one does that
# tends to infinity at 0, is cut off.
top_of_panel <- function(panel, bars) {
  density <- panel$total$density[is.finite(panel$total$density)]
  rises <- !panel$discrete && which.max(density) <= 3L
  max(bars$density, if (rises) stats::quantile(density, 0.985) else density)
}

mass_note <- function(panel) {
  if (!is.null(panel$mass_0)) paste0("0: ", format(signif(100 * panel$mass_0, 2)), " %")
}

draw_densities <- function(picture, main = "", xlab = "Value", ...) {
  titles <- names(picture$panels)
  colour <- cluster_colours(max(picture$cluster))
  word <- picture$word
  substr(word, 1L, 1L) <- toupper(substr(word, 1L, 1L))
  plan <- state_plan(picture$cluster, graphics::par("din")[2L], word)
  draw_grid(titles, length(titles), "column", xlab, function(title) {
    panel <- picture$panels[[title]]
    bars <- bars_of_panel(panel)
    graphics::plot(
      range(panel$total$x), c(0, 1.02 * top_of_panel(panel, bars)), type = "n", xlab = "", ylab = "", bty = "n",
      yaxs = "i"
    )
    if (!is.null(bars)) graphics::plot(bars, freq = FALSE, add = TRUE, col = "grey90", border = "white")
    line <- if (panel$discrete && nrow(panel$total) <= 30L) "b" else "l"
    for (part in split(panel$parts, panel$parts$cluster)) {
      graphics::lines(part$x, part$density, type = line, pch = 20, col = colour[part$cluster[1L]], lwd = 2)
    }
    graphics::lines(panel$total$x, panel$total$density, lty = 2)
    if (!is.null(panel$mass_0)) graphics::mtext(mass_note(panel), adj = 1, cex = 0.6, line = -1, col = "grey30")
  }, least = c(1.8, 1.2), legend = list(plan = plan, colour = colour))
  if (nzchar(main)) graphics::mtext(main, side = 3L, outer = TRUE)
}

gg_densities <- function(picture, most = 24L) {
  titles <- utils::head(names(picture$panels), most)
  long <- function(of) {
    do.call(rbind, lapply(titles, function(title) {
      own <- of(picture$panels[[title]])
      if (!is.null(own) && nrow(own)) cbind(own, column = factor(title, levels = titles))
    }))
  }
  cut <- function(panel, frame) {
    frame$density <- pmin(frame$density, top_of_panel(panel, bars_of_panel(panel)))
    frame
  }
  parts <- long(function(panel) cut(panel, panel$parts))
  parts$cluster <- factor(parts$cluster, levels = picture$cluster)
  bars <- long(function(panel) {
    bars <- bars_of_panel(panel)
    if (!is.null(bars)) data.frame(left = bars$breaks[-length(bars$breaks)], right = bars$breaks[-1L],
      density = bars$density)
  })
  masses <- long(function(panel) if (!is.null(panel$mass_0)) data.frame(label = mass_note(panel)))
  ggplot2::ggplot() +
    (if (!is.null(bars)) ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$left, xmax = .data$right, ymin = 0, ymax = .data$density), data = bars, fill = "grey90"
    )) +
    ggplot2::geom_line(
      ggplot2::aes(.data$x, .data$density, colour = .data$cluster), data = parts, linewidth = 0.8
    ) +
    ggplot2::geom_line(
      ggplot2::aes(.data$x, .data$density), data = long(function(panel) cut(panel, panel$total)), linetype = 2
    ) +
    (if (!is.null(masses)) ggplot2::geom_text(
      ggplot2::aes(Inf, Inf, label = .data$label), data = masses, hjust = 1.1, vjust = 1.5, size = 3
    )) +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free") +
    ggplot2::scale_colour_manual(
      values = stats::setNames(cluster_colours(max(picture$cluster)), seq_len(max(picture$cluster)))
    ) +
    ggplot2::labs(
      x = "Value", y = "Density", colour = picture$word,
      caption = shown_of(length(titles), length(picture$panels), "column")
    ) +
    ggplot2::theme_minimal()
}
