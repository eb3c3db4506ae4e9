# The picture of a stream: how well its batches were predicted before they were learned from, and the number
# of clusters.

# The scores shown in the picture of a stream: one row for each batch or, for more than 200 batches, means
# over groups of batches.
score_picture <- function(fit, call = rlang::caller_env()) {
  if (!is_stream_fit(fit)) {
    abort("argument", c(
      "{.code type = \"score\"} is for truncation-free learning ({.fn bnp_stream}).",
      i = "{.code type = \"elbo\"} shows how this fit was learned."
    ), call = call)
  }
  trace <- elbo_trace(fit)
  group <- ceiling(seq_len(nrow(trace)) * min(1, 200 / nrow(trace)))
  mean_of <- function(x) as.vector(tapply(x, group, mean, na.rm = TRUE))
  data.frame(
    seen = mean_of(trace$seen), score = mean_of(trace$score), k = mean_of(trace$k),
    unit = if (row_word(fit) == "document") "Documents seen" else "Rows seen",
    what = if (is_of_tokens(fit)) "Log probability of a token" else "Log density of a row"
  )
}

draw_score <- function(picture, main = "", xlab = picture$unit[1L], ylab = picture$what[1L], ...) {
  old <- graphics::par(mfrow = c(2L, 1L), mar = c(3.2, 4, 1.2, 1), mgp = c(2.1, 0.7, 0))
  on.exit(graphics::par(old))
  graphics::plot(
    picture$seen, picture$score, type = "l", lwd = 2, col = cluster_colours(1L), main = main, xlab = "",
    ylab = ylab, ...
  )
  graphics::plot(
    picture$seen, picture$k, type = "s", lwd = 2, col = "grey40", xlab = xlab, ylab = "Clusters",
    ylim = c(0, max(picture$k))
  )
}

gg_score <- function(picture) {
  what <- c(picture$what[1L], "Clusters")
  long <- data.frame(
    seen = rep(picture$seen, 2L), value = c(picture$score, picture$k),
    what = factor(rep(what, each = nrow(picture)), levels = what)
  )
  ggplot2::ggplot(long, ggplot2::aes(.data$seen, .data$value)) +
    ggplot2::geom_line(colour = cluster_colours(1L)) +
    ggplot2::facet_wrap("what", ncol = 1L, scales = "free_y", strip.position = "left") +
    ggplot2::labs(x = picture$unit[1L], y = NULL) +
    ggplot2::theme_minimal() +
    ggplot2::theme(strip.placement = "outside")
}
