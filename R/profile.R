# How well each column distinguishes the clusters, and the picture of this.

# The information of each column on clusters in nats, the largest first. It is the expected log Bayes factor
# of a column's value for its own cluster k against all clusters, sum_k w_k E[log p_j(x | k) - log sum_l w_l
# p_j(x | l) | k], at the posterior means of the parameters. Values of several columns cannot be added up,
# since columns may carry the same information.
column_information <- function(fit) {
  profile <- cluster_profile(fit)
  sort(vapply(profile$columns, function(parts) information_of(parts, profile$weight), 1), decreasing = TRUE)
}

# How columns are distributed in the clusters: list(cluster, size, weight, columns) with the clusters in use, their
# sizes and shares, and for each column its distribution in each of these clusters, as from obs_marginals().
cluster_profile <- function(fit, call = rlang::caller_env()) {
  obs <- fit$model$obs
  if (!obs_can(obs, "marginals")) {
    abort("argument", c(
      "Clusters of {.fn {obs_facts(obs)$constructor}} have no profile.",
      i = "Read their parameters from {.fn coef}."
    ), call = call)
  }
  used <- in_use(fit)
  of_cluster <- lapply(parts_of_clusters(obs, mean_arrays(fit), used), function(parts) {
    own <- obs_marginals(obs, parts)
    stats::setNames(own, names(own) %||% obs_terms(obs, column_labels(fit))$variable)
  })
  columns <- stats::setNames(nm = names(of_cluster[[1L]]))
  size <- unname(cluster_sizes(fit)[used])
  list(
    cluster = used, size = size, weight = size / sum(size),
    columns = lapply(columns, function(column) lapply(of_cluster, `[[`, column))
  )
}

information_of <- function(parts, weight) {
  of_probabilities <- function(p) {
    average <- colSums(weight * p)
    sum(weight * ifelse(p > 0, p * log(p / rep(average, each = nrow(p))), 0))
  }
  each <- function(field) vapply(parts, `[[`, 1, field)
  switch(parts[[1L]]$kind,
    levels = of_probabilities(do.call(rbind, lapply(parts, `[[`, "prob"))),
    share = of_probabilities(cbind(each("mean"))),
    number = of_densities(
      weight, function(p, k) stats::qnorm(p, each("mean")[k], each("sd")[k]),
      function(x, k) stats::dnorm(x, each("mean")[k], each("sd")[k], log = TRUE)
    ),
    count = of_densities(
      weight, function(p, k) stats::qpois(p, each("mean")[k]),
      function(x, k) stats::dpois(x, each("mean")[k], log = TRUE)
    ),
    time = of_densities(
      weight, function(p, k) stats::qexp(p, 1 / each("mean")[k]),
      function(x, k) stats::dexp(x, 1 / each("mean")[k], log = TRUE)
    )
  )
}

# The information of a column with a density. Expectations are means over the midpoints of 200 parts of equal
# probability, which is exact to about 0.01 nats and enough to rank columns.
of_densities <- function(weight, quantile, log_density) {
  clusters <- seq_along(weight)
  at <- (1:200 - 0.5) / 200
  sum(weight * vapply(clusters, function(k) {
    x <- quantile(at, k)
    if (!all(is.finite(x))) {
      return(0)
    }
    own <- log_density(x, k)
    relative <- vapply(clusters, function(l) weight[l] * exp(pmin(log_density(x, l) - own, 600)), numeric(200))
    -mean(log(rowSums(matrix(relative, 200), na.rm = TRUE)))
  }, 1))
}

# What the picture of profiles shows: list(kind, panels, cluster, word), with one panel for each column, the
# most informative first: list(kind, information, data). Kind "interval": for each cluster the mean and one
# standard deviation to either side, in standard deviations of all data from their mean, no further than three of
# these from the outermost means. Kind "bars": the probability of each level in each cluster.
profile_picture <- function(fit, call = rlang::caller_env()) {
  profile <- cluster_profile(fit, call)
  profile$cluster <- cluster_ids(fit)[profile$cluster]
  information <- column_information(fit)
  panels <- lapply(stats::setNames(nm = names(information)), function(name) {
    parts <- profile$columns[[name]]
    bars <- parts[[1L]]$kind == "levels"
    list(
      kind = if (bars) "bars" else "interval", information = information[[name]],
      data = if (bars) bars_of(parts, profile$cluster) else intervals_of(parts, profile)
    )
  })
  word <- cluster_word(fit)
  substr(word, 1L, 1L) <- toupper(substr(word, 1L, 1L))
  list(kind = "profile", panels = panels, cluster = profile$cluster, word = word, items = items_of(panels, profile))
}

# A heat map of the probabilities of second levels, for more than a dozen columns of two levels (such as the
# items of a questionnaire), since there is no room for a panel for each. NULL for other columns.
items_of <- function(panels, profile) {
  levels <- lapply(panels, function(panel) levels(panel$data$level))
  if (length(panels) <= 12L || any(lengths(levels) != 2L)) {
    return(NULL)
  }
  second <- unique(vapply(levels, `[`, "", 2L))
  value <- vapply(panels, function(panel) {
    panel$data$prob[as.integer(panel$data$level) == 2L]
  }, double(length(profile$cluster)))
  list(
    value = matrix(value, length(profile$cluster), dimnames = list(NULL, names(panels))), cluster = profile$cluster,
    label = if (length(second) == 1L) paste0("Probability of \"", second, "\"") else "Probability of the second level"
  )
}

bars_of <- function(parts, cluster) {
  prob <- do.call(rbind, lapply(parts, `[[`, "prob"))
  data.frame(
    cluster = rep(cluster, ncol(prob)), level = factor(rep(colnames(prob), each = nrow(prob)), levels = colnames(prob)),
    prob = as.double(prob)
  )
}

intervals_of <- function(parts, profile) {
  mean <- vapply(parts, `[[`, 1, "mean")
  sd <- vapply(parts, function(part) {
    switch(part$kind, number = part$sd, count = sqrt(part$mean), time = part$mean, 0)
  }, 1)
  # The expected variance of a cluster of one row can be a thousand times that of all data: it has no say in their unit.
  counted <- profile$size >= 2
  if (!any(counted)) counted[] <- TRUE
  weight <- profile$size[counted] / sum(profile$size[counted])
  centre <- sum(weight * mean[counted])
  unit <- sqrt(sum(weight * (sd[counted]^2 + (mean[counted] - centre)^2)))
  if (!is.finite(unit) || unit == 0) unit <- 1
  at <- (mean - centre) / unit
  low <- pmax(at - sd / unit, min(at) - 3)
  data.frame(cluster = profile$cluster, mean = at, low = low, high = pmin(at + sd / unit, max(at) + 3))
}

# The most informative columns in words: "island 0.95, bill_length 0.81 and 4 more".
described_information <- function(fit) {
  information <- column_information(fit)
  places(paste(names(information), format(round(information, 2), nsmall = 2L, trim = TRUE)), 6L)
}

panel_titles <- function(picture) {
  paste0(names(picture$panels), " (", signif(vapply(picture$panels, `[[`, 1, "information"), 2), ")")
}

draw_profile <- function(picture, main = "", xlab = picture$word, ...) {
  if (!is.null(picture$items)) {
    return(draw_heat(picture$items, main = main, ylab = xlab, ...))
  }
  titles <- panel_titles(picture)
  draw_grid(titles, length(titles), "column", xlab, function(title) {
    panel <- picture$panels[[match(title, titles)]]
    if (panel$kind == "bars") draw_bars(panel$data, picture$cluster) else draw_intervals(panel$data, picture$cluster)
  }, side = 0.35)
  if (nzchar(main)) graphics::mtext(main, side = 3L, outer = TRUE)
}

draw_intervals <- function(data, cluster) {
  k <- seq_along(cluster)
  colour <- cluster_colours(max(cluster))[cluster]
  graphics::plot(
    range(k) + c(-0.5, 0.5), range(data[c("low", "high")]), type = "n", xaxt = "n", xlab = "", ylab = "", bty = "n"
  )
  graphics::abline(h = 0, col = "grey80")
  graphics::segments(k, data$low, k, data$high, col = colour, lwd = 3)
  graphics::points(k, data$mean, pch = 21, bg = "white", col = colour, lwd = 2)
  graphics::axis(1L, k, cluster, tick = FALSE)
}

# Draws stacked bars of the probabilities of levels, the first level at the bottom, with the names of the
# levels at the right: of eight at most, of fewer where the panel is too low for them.
draw_bars <- function(data, cluster) {
  k <- seq_along(cluster)
  prob <- matrix(data$prob, length(k))
  line <- 1.4 * graphics::strheight("Ag", units = "inches", cex = 0.65)
  most <- max(2L, min(8L, floor(graphics::par("pin")[2] / line)))
  top <- matrix(t(apply(prob, 1L, cumsum)), length(k))
  bottom <- cbind(0, top[, -ncol(top), drop = FALSE])
  shade <- level_shades(ncol(prob))
  named <- utils::head(seq_len(ncol(prob)), most)
  labels <- shorten(levels(data$level)[named], 0.35 * graphics::par("pin")[1], 0.65)
  if (ncol(prob) > most) labels[most] <- paste("+", ncol(prob) - most + 1L)
  inches <- max(graphics::strwidth(labels, units = "inches", cex = 0.65)) + 0.25
  room <- length(k) * inches / max(graphics::par("pin")[1] - inches, 0.1)
  graphics::plot(
    range(k) + c(-0.5, 0.5 + room), 0:1, type = "n", xaxt = "n", xlab = "", ylab = "", bty = "n", xaxs = "i"
  )
  for (l in seq_len(ncol(prob))) {
    graphics::rect(k - 0.42, bottom[, l], k + 0.42, top[, l], col = shade[l], border = "white")
  }
  at <- (named - 0.5) / length(named)
  x <- length(k) + 0.5
  square <- 0.25 * room * 0.15 / inches
  graphics::rect(x + square, at - 0.03, x + 4 * square, at + 0.03, col = shade[named], border = NA)
  graphics::text(x + 5 * square, at, labels, adj = c(0, 0.5), cex = 0.65)
  graphics::axis(1L, k, cluster, tick = FALSE)
}

# Colours of n levels, from light to dark, so that levels have the same order of shades in every column.
level_shades <- function(n) grDevices::hcl.colors(n + 2L, "Blues 3", rev = TRUE)[seq_len(n) + 1L]

gg_profile <- function(picture, most = 24L) {
  if (!is.null(picture$items)) {
    return(gg_heat(picture$items) + ggplot2::labs(y = picture$word))
  }
  titles <- utils::head(panel_titles(picture), most)
  of_kind <- function(kind) {
    chosen <- which(vapply(picture$panels[seq_along(titles)], function(panel) panel$kind == kind, NA))
    do.call(rbind, lapply(chosen, function(i) {
      data <- picture$panels[[i]]$data
      data$column <- factor(titles[i], levels = titles)
      data$cluster <- factor(data$cluster, levels = picture$cluster)
      if (kind == "bars") data$shade <- level_shades(nlevels(data$level))[as.integer(data$level)]
      if (kind == "bars") data$ink <- ifelse(as.integer(data$level) > nlevels(data$level) / 2, "white", "black")
      if (kind == "bars") data$level <- as.character(data$level)
      if (kind == "bars") data$name <- ifelse(data$prob > 0.1, data$level, "")
      data
    }))
  }
  bars <- of_kind("bars")
  intervals <- of_kind("interval")
  stacked <- if (!is.null(bars)) list(
    ggplot2::geom_col(
      ggplot2::aes(.data$cluster, .data$prob, group = .data$level), data = bars, fill = bars$shade, colour = "white",
      position = ggplot2::position_stack(reverse = TRUE)
    ),
    ggplot2::geom_text(
      ggplot2::aes(.data$cluster, .data$prob, label = .data$name, group = .data$level), data = bars, colour = bars$ink,
      position = ggplot2::position_stack(vjust = 0.5, reverse = TRUE), size = 2.5, check_overlap = TRUE
    )
  )
  ranges <- if (!is.null(intervals)) list(
    ggplot2::geom_hline(ggplot2::aes(yintercept = 0), data = unique(intervals["column"]), colour = "grey80"),
    ggplot2::geom_pointrange(
      ggplot2::aes(.data$cluster, .data$mean, ymin = .data$low, ymax = .data$high, colour = .data$cluster),
      data = intervals
    )
  )
  note <- shown_of(length(titles), length(picture$panels), "column")
  ggplot2::ggplot() + stacked + ranges +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free_y") +
    ggplot2::scale_colour_manual(
      values = stats::setNames(cluster_colours(max(picture$cluster)), seq_len(max(picture$cluster))), guide = "none"
    ) +
    ggplot2::labs(x = picture$word, y = NULL, caption = note) +
    ggplot2::theme_minimal()
}
