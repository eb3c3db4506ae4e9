# The picture of individuals' responses over time (or another covariate), for fits with random effects.

# What the picture of individuals shows: list(parts, lines, labels). For each cluster in use, its mean at
# points of the covariate, and the interval that contains 90 % of its individuals' means; and the rows of the
# data with their individuals (at most 500) and clusters.
individual_picture <- function(fit, data, call = rlang::caller_env()) {
  obs <- fit$model$obs
  axes <- obs_axes(obs, fit$input$column_names)
  covariates <- setdiff(axes$regressors, "(Intercept)")
  name <- setdiff(c(axes$effects, covariates), "(Intercept)")[1L]
  if (is.na(name)) {
    abort("argument", c(
      "Individuals without a covariate have no picture over one.",
      i = "{.code predict(fit, type = \"effects\")} has them."
    ), call = call)
  }
  column <- match(name, covariates)
  own <- if (!is.null(data)) as_newdata(fit, data, call, "data")
  x <- if (is.null(own)) obs$covariates[, column] else own$x[, 1L + column]
  at <- seq(min(x), max(x), length.out = 41L)
  z <- matrix(obs$origin, length(at), length(obs$origin), byrow = TRUE)
  if (!is.null(obs$covariates)) z[] <- rep(colMeans(obs$covariates), each = length(at))
  z[, column] <- at
  design <- with_intercept(z, obs)
  clusters <- posterior_clusters(fit)
  parts <- do.call(rbind, lapply(in_use(fit), function(k) {
    q <- clusters[[k]]
    mean <- drop(design %*% q$coef_mean[1L, ])
    effects <- design[, obs$effects + 1L, drop = FALSE]
    half <- stats::qnorm(.95) * sqrt(rowSums((effects %*% effects_of_cluster(obs, q)) * effects))
    data.frame(x = at, mean = mean, lower = mean - half, upper = mean + half, cluster = cluster_ids(fit)[k])
  }))
  lines <- if (!is.null(own)) lines_of_individuals(fit, own, column)
  list(parts = parts, lines = lines, labels = c(name, axes$responses))
}

lines_of_individuals <- function(fit, own, column, most = 500L) {
  cluster <- most_probable(responsibilities(fit, own))
  shown <- unique(round(seq(1, own$n_individuals, length.out = min(own$n_individuals, most))))
  rows <- which(own$individual %in% shown)
  rows <- rows[order(own$individual[rows], own$x[rows, 1L + column])]
  data.frame(
    x = own$x[rows, 1L + column], y = own$x[rows, 1L], individual = own$individual[rows],
    cluster = cluster_ids(fit)[cluster[own$individual[rows]]]
  )
}

draw_individuals <- function(picture, main = "", xlab = picture$labels[1L], ylab = picture$labels[2L], ...) {
  parts <- picture$parts
  colour <- cluster_colours(max(parts$cluster, 1L))
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::plot(
    range(parts$x), range(parts$lower, parts$upper, picture$lines$y), type = "n", main = main, xlab = xlab, ylab = ylab,
    ...
  )
  for (one in if (!is.null(picture$lines)) split(picture$lines, picture$lines$individual)) {
    graphics::lines(one$x, one$y, col = grDevices::adjustcolor(colour[one$cluster[1L]], 0.25))
  }
  for (one in split(parts, parts$cluster)) {
    k <- one$cluster[1L]
    graphics::polygon(
      c(one$x, rev(one$x)), c(one$lower, rev(one$upper)), col = grDevices::adjustcolor(colour[k], 0.15), border = NA
    )
    graphics::lines(one$x, one$mean, col = colour[k], lwd = 3)
    graphics::text(one$x[nrow(one)], one$mean[nrow(one)], k, font = 2, pos = 3L)
  }
}

gg_individuals <- function(picture) {
  parts <- picture$parts
  k <- max(parts$cluster, 1L)
  parts$cluster <- factor(parts$cluster, levels = seq_len(k))
  lines <- picture$lines
  lines <- if (!is.null(lines)) {
    lines$cluster <- factor(lines$cluster, levels = seq_len(k))
    ggplot2::geom_line(
      ggplot2::aes(y = .data$y, group = .data$individual), data = lines, alpha = 0.25, linewidth = 0.3
    )
  }
  ggplot2::ggplot(parts, ggplot2::aes(.data$x, .data$mean, colour = .data$cluster)) +
    lines +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper, fill = .data$cluster), alpha = 0.15, colour = NA
    ) +
    ggplot2::geom_line(linewidth = 1.2) +
    gg_states(k, parts$cluster, "colour") +
    ggplot2::scale_fill_manual(values = stats::setNames(cluster_colours(k), seq_len(k)), guide = "none") +
    ggplot2::labs(x = picture$labels[1L], y = picture$labels[2L], colour = "Cluster") +
    ggplot2::theme_minimal()
}
