#' Positions of clusters over time
#'
#' Returns the positions of clusters that drift: of fits of [bnp_mixture()] with `obs_gaussian(drift = )` and `time`.
#'
#' @param fit A fit of [bnp_mixture()] with `time`.
#' @param ... Must be empty.
#' @return A data frame with a row for each cluster and time: `cluster`, its number; `time`; `size`, its expected number
#'   of rows at that time; for each column `mean.<column>`, the posterior mean of its centre, `se.<column>`, the
#'   posterior standard deviation of its centre, and `sd.<column>`, the standard deviation of its rows, which is the
#'   same at all times (as in [tidy()]); and `alive`: is the time between the first and the last at which the cluster
#'   has half a row or more?
#'
#'   At times before its first and after its last rows the centre of a cluster stays where it was, with a standard error
#'   that grows by the step of every time. The model has no births, deaths or absences: they are inferred from `size`.
#' @references
#' West, M. and Harrison, J. (1997). *Bayesian forecasting and dynamic models*, 2nd edition. Springer; the filter.
#'
#' Lin, D., Grimson, E. and Fisher, J. (2010). Construction of dependent Dirichlet processes based on Poisson processes.
#' *Advances in Neural Information Processing Systems* 23.
#' @seealso [bnp_mixture()], *Clusters over time*; [cluster_ids()]; `vignette("over-time")`.
#' @examples
#' week <- rep(1:6, each = 20)
#' x <- cbind(rnorm(120, rep(c(0, 8), 60) + week / 2), rnorm(120))
#' fit <- bnp_mixture(x, obs_gaussian(drift = 0.5), time = week, control = bnp_control(seed = 1))
#' trajectories(fit)
#' plot(fit)
#' @export
trajectories <- function(fit, ...) {
  check_no_dots(...)
  check_able(fit, "trajectories")
  params <- posterior_arrays(fit)
  sd <- cluster_sds(mean_arrays(fit)$cov)
  k <- fit$state$k
  times <- fit$model$obs$times
  n <- length(times)
  # The standard error of the centre, which is Student-t with variance E[covariance] / strength.
  share <- 1 / sqrt(params$mean_strength)
  cluster <- rep(seq_len(k), each = n)
  slot <- rep(seq_len(n), k)
  out <- data.frame(cluster = cluster, time = times[slot], size = params$size[cbind(cluster, slot)])
  for (j in seq_len(fit$input$d)) {
    name <- column_labels(fit)[j]
    out[paste0("mean.", name)] <- params$mean[cbind(cluster, j, slot)]
    out[paste0("se.", name)] <- share[cbind(cluster, slot)] * sd[cluster, j]
    out[paste0("sd.", name)] <- sd[cluster, j]
  }
  out$alive <- as.vector(apply(params$size >= 0.5, 1L, function(there) {
    at <- which(there)
    if (length(at)) seq_along(there) >= at[1L] & seq_along(there) <= at[length(at)] else rep(FALSE, length(there))
  }))
  as_tidy(out)
}

# The data of the picture: list(parts, points, columns). parts: a row for each column, cluster in use and time
# at which the cluster was alive; at most `most` columns.
trajectory_picture <- function(fit, data = NULL, most = 6L, call = rlang::caller_env()) {
  check_able(fit, "trajectories", call = call)
  path <- as.data.frame(trajectories(fit))
  path <- path[path$alive & path$cluster %in% in_use(fit), ]
  columns <- utils::head(column_labels(fit), most)
  own <- if (!is.null(data)) as_newdata(fit, data, call, "data")
  if (NROW(own$x) == 0L) own <- NULL
  class <- if (!is.null(own)) most_probable(state_responsibilities(fit, own))
  drawn <- drawn_of(class)
  parts <- do.call(rbind, lapply(columns, function(name) data.frame(
    column = rep(name, nrow(path)), cluster = cluster_ids(fit)[path$cluster], time = path$time, size = path$size,
    mean = path[[paste0("mean.", name)]], sd = path[[paste0("sd.", name)]]
  )))
  points <- if (!is.null(own)) do.call(rbind, lapply(seq_along(columns), function(j) data.frame(
    column = columns[j], cluster = cluster_ids(fit)[class[drawn]], time = fit$model$obs$times[own$slot[drawn]],
    value = own$x[drawn, j]
  )))
  list(parts = parts, points = points, columns = columns)
}

# Draws the path of each cluster as a line, the wider the larger the cluster is at the time, over a band of
# one standard deviation to either side.
draw_trajectories <- function(picture, main = "", xlab = "Time", ...) {
  parts <- picture$parts
  colour <- cluster_colours(max(parts$cluster, 1L))
  width <- 1 + 5 * sqrt(parts$size / max(parts$size, 1))
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  rows <- ceiling(sqrt(length(picture$columns)))
  layout <- graphics::par(mfrow = c(rows, ceiling(length(picture$columns) / rows)))
  on.exit(graphics::par(layout), add = TRUE, after = FALSE)
  for (name in picture$columns) {
    own <- parts$column == name
    shown <- picture$points[picture$points$column == name, ]
    reach <- range(parts$mean[own] - parts$sd[own], parts$mean[own] + parts$sd[own], shown$value)
    graphics::plot(
      range(parts$time), reach, type = "n", main = main, xlab = xlab, ylab = name, xaxt = "n", ...
    )
    graphics::Axis(parts$time, side = 1L)
    if (!is.null(shown)) {
      graphics::points(
        shown$time, shown$value, pch = 16, cex = 0.5, col = grDevices::adjustcolor(colour[shown$cluster], 0.4)
      )
    }
    for (k in unique(parts$cluster)) {
      at <- which(own & parts$cluster == k)
      graphics::polygon(
        c(parts$time[at], rev(parts$time[at])),
        c(parts$mean[at] - parts$sd[at], rev(parts$mean[at] + parts$sd[at])),
        col = grDevices::adjustcolor(colour[k], 0.15), border = NA
      )
      from <- at[-length(at)]
      graphics::segments(
        parts$time[from], parts$mean[from], parts$time[from + 1L], parts$mean[from + 1L], col = colour[k],
        lwd = (width[from] + width[from + 1L]) / 2
      )
      if (length(at) == 1L) graphics::points(parts$time[at], parts$mean[at], pch = 19, col = colour[k])
      graphics::text(parts$time[at[1L]], parts$mean[at[1L]], k, cex = 0.8, font = 2, pos = 3L)
    }
  }
}

gg_trajectories <- function(picture) {
  parts <- picture$parts
  k <- max(parts$cluster, 1L)
  as_panels <- function(x) {
    x$column <- factor(x$column, levels = picture$columns)
    x$cluster <- factor(x$cluster, levels = seq_len(k))
    x
  }
  parts <- as_panels(parts)
  points <- if (!is.null(picture$points)) {
    ggplot2::geom_point(ggplot2::aes(y = .data$value), data = as_panels(picture$points), alpha = 0.4, size = 0.8)
  }
  ggplot2::ggplot(parts, ggplot2::aes(.data$time, .data$mean, colour = .data$cluster)) +
    points +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$mean - .data$sd, ymax = .data$mean + .data$sd, fill = .data$cluster),
      alpha = 0.15, colour = NA
    ) +
    ggplot2::geom_path(ggplot2::aes(linewidth = .data$size), lineend = "round") +
    ggplot2::geom_point(size = 1) +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free_y") +
    ggplot2::scale_linewidth(range = c(0.4, 2)) +
    gg_states(k, parts$cluster, "colour") +
    ggplot2::scale_fill_manual(values = stats::setNames(cluster_colours(k), seq_len(k)), guide = "none") +
    ggplot2::labs(x = "Time", y = NULL, colour = "Cluster", linewidth = "Rows") +
    ggplot2::theme_minimal()
}
