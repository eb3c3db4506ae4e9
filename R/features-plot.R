#' Pictures of latent features
#'
#' `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A fit of [bnp_features()].
#' @param type `"loadings"`: features x columns as colours, blue above and red below 0. `"usage"`: the number of rows
#'   that have each feature. `"elbo"`: the bound by lap, with the accepted moves. `"images"`: loadings as images of
#'   `dim` pixels, for columns that are the pixels of images in the column-by-column order of a matrix.
#' @param dim For `"images"`: the number of rows and of columns of an image.
#' @param ... For `plot()`, graphical parameters like `main`; else empty.
#' @return `plot()`: the fit, invisibly. `autoplot()`: a ggplot.
#' @references
#' Griffiths, T. L. and Ghahramani, Z. (2011). The Indian buffet process: an introduction and review.
#' *Journal of Machine Learning Research* 12, 1185-1224.
#' @seealso [bnp_features()], `vignette("latent-features")`.
#' @examples
#' fit <- bnp_features(attitude, control = bnp_control(seed = 1))
#' plot(fit)
#' plot(fit, "usage")
#' @export
plot.bnp_features <- function(x, type = c("loadings", "usage", "elbo", "images"), dim = NULL, ...) {
  check_drawing(...)
  check_format(x)
  type <- check_choice(type, c("loadings", "usage", "elbo", "images"), "type")
  switch(type,
    loadings = draw_loadings_heat(x, ...),
    usage = draw_usage(x, ...),
    elbo = draw_trace(trace_picture(x), ...),
    images = draw_images(x, check_image_dim(dim, x, rlang::current_env()), ...)
  )
  invisible(x)
}

# Colours for loadings from -1 (red) over 0 (white) to 1 (blue).
loading_shades <- function() grDevices::hcl.colors(61L, "Blue-Red 3", rev = TRUE)

need_features <- function(fit, call = rlang::caller_env()) {
  if (!length(fit$numbering)) {
    abort("no_features", "This fit has no feature: there is nothing to draw.", call = call)
  }
}

draw_loadings_heat <- function(fit, main = "", xlab = "", ylab = "Feature", ...) {
  need_features(fit, rlang::caller_env())
  value <- feature_loadings(fit)
  reach <- max(abs(value), .Machine$double.xmin)
  rows <- rev(seq_len(nrow(value)))
  longest <- max(graphics::strwidth(colnames(value), units = "inches", cex = 0.7))
  old <- set_margins(pmax(usual, c(longest + 0.35, 0, 0, 0)))
  on.exit(graphics::par(old))
  graphics::image(
    seq_len(ncol(value)), seq_len(nrow(value)), t(value[rows, , drop = FALSE]) / reach, col = loading_shades(),
    zlim = c(-1, 1), axes = FALSE, main = main, xlab = xlab, ylab = ylab, ...
  )
  graphics::axis(1L, seq_len(ncol(value)), colnames(value), las = 2, cex.axis = 0.7, tick = FALSE, line = -0.2)
  graphics::axis(2L, seq_len(nrow(value)), rows, las = 1, tick = FALSE)
  say_above(paste("loadings from", signif(-reach, 2), "(red) over 0 (white) to", signif(reach, 2), "(blue)"))
  graphics::box()
}

draw_usage <- function(fit, main = "", xlab = "Feature", ylab = "Rows that have it", ...) {
  need_features(fit, rlang::caller_env())
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::barplot(
    fit$sizes, names.arg = seq_along(fit$sizes), col = cluster_colours(1L), border = NA, main = main, xlab = xlab,
    ylab = ylab, ...
  )
}

check_image_dim <- function(dim, fit, call) {
  d <- fit$input$d
  if (!is.numeric(dim) || length(dim) != 2L || anyNA(dim) || any(dim < 1) || prod(dim) != d) {
    abort("argument", c(
      "{.arg dim} must be the rows and columns of an image, two whole numbers whose product is {d}, the number of
       columns, not {describe(dim)}."
    ), call = call)
  }
  as.integer(dim)
}

draw_images <- function(fit, dim, main = "", ...) {
  need_features(fit, rlang::caller_env())
  value <- feature_loadings(fit)
  reach <- max(abs(value), .Machine$double.xmin)
  k <- nrow(value)
  wide <- ceiling(sqrt(k))
  old <- graphics::par(mfrow = c(ceiling(k / wide), wide), mar = c(0.5, 0.5, 1.5, 0.5))
  on.exit(graphics::par(old))
  for (j in seq_len(k)) {
    pixels <- matrix(value[j, ], dim[1L], dim[2L])
    graphics::image(
      t(pixels[rev(seq_len(dim[1L])), , drop = FALSE]) / reach, col = loading_shades(), zlim = c(-1, 1), axes = FALSE,
      asp = dim[1L] / dim[2L], main = if (nzchar(main)) main else paste0(j, " (", round(fit$sizes[j]), " rows)"), ...
    )
  }
}

#' @rdname plot.bnp_features
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_features <- function(object, type = c("loadings", "usage", "elbo", "images"), dim = NULL, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  check_format(object)
  type <- check_choice(type, c("loadings", "usage", "elbo", "images"), "type")
  if (type == "elbo") {
    return(gg_trace(trace_picture(object)))
  }
  need_features(object)
  k <- length(object$sizes)
  if (type == "usage") {
    used <- data.frame(feature = factor(seq_len(k)), rows = object$sizes)
    return(
      ggplot2::ggplot(used, ggplot2::aes(.data$feature, .data$rows)) +
        ggplot2::geom_col(fill = cluster_colours(1L)) +
        ggplot2::labs(x = "Feature", y = "Rows that have it") +
        ggplot2::theme_minimal()
    )
  }
  long <- as.data.frame(tidy(object))
  fill <- ggplot2::scale_fill_gradient2(low = loading_shades()[1L], high = loading_shades()[61L])
  if (type == "images") {
    dim <- check_image_dim(dim, object, rlang::current_env())
    long$row <- -rep(rep(seq_len(dim[1L]), dim[2L]), k)
    long$across <- rep(rep(seq_len(dim[2L]), each = dim[1L]), k)
    return(
      ggplot2::ggplot(long, ggplot2::aes(.data$across, .data$row, fill = .data$estimate)) +
        ggplot2::geom_raster() + fill + ggplot2::facet_wrap(~feature) + ggplot2::coord_equal() +
        ggplot2::labs(x = NULL, y = NULL, fill = "Loading") + ggplot2::theme_void()
    )
  }
  long$column <- factor(long$column, unique(long$column))
  long$feature <- factor(long$feature, rev(seq_len(k)))
  ggplot2::ggplot(long, ggplot2::aes(.data$column, .data$feature, fill = .data$estimate)) +
    ggplot2::geom_tile() + fill +
    ggplot2::scale_x_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE, angle = 90)) +
    ggplot2::labs(x = NULL, y = "Feature", fill = "Loading") +
    ggplot2::theme_minimal()
}
