#' Pictures of a topic model
#'
#' `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A fit of [bnp_topics()].
#' @param type What is drawn:
#'   * `"terms"`: the top terms of each topic, for counts only.
#'   * `"clusters"`: proportions of the training documents, ordered by their main topic. The default if there are no
#'     terms.
#'   * `"correlation"`: a heat map of [topic_correlation()].
#'   * `"response"`: the effect of each topic on the response, for fits with a response.
#'   * `"elbo"`: the bound by lap, with the accepted moves.
#'   * `"score"`, for truncation-free learning: how well each batch was predicted, and the number of topics. The default
#'     for a stream of documents whose observations are rows, as such a fit keeps no documents.
#' @param topics Which topics to show, by number (after an update, titles show the identities of topics, see
#'   [cluster_ids()]); default: the largest twelve, for `"correlation"` the largest thirty. If topics are left out, or a
#'   small picture has no room for them, a note in the picture says how many are shown.
#' @param n Number of terms per topic, fewer where there is no room.
#' @param by As in [top_terms()].
#' @param ... For `plot()`, graphical parameters like `main`; else empty.
#' @return `plot()`: the fit, invisibly. `autoplot()`: a ggplot.
#' @references
#' Bischof, J. M. and Airoldi, E. M. (2012). Summarizing topical content with word frequency and
#' exclusivity. *International Conference on Machine Learning* 29.
#' @seealso [top_terms()], [ldavis_data()]; `vignette("topics")`.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' plot(fit, topics = 1:6)
#' plot(fit, "clusters")
#' @export
plot.bnp_topics <- function(x, type = c("terms", "clusters", "correlation", "response", "elbo", "score"),
                            topics = NULL, n = 8L, by = c("prob", "frex", "lift"), ...) {
  check_drawing(...)
  type <- check_topics_type(x, type)
  switch(type,
    score = draw_score(score_picture(x), ...),
    terms = draw_terms(terms_picture(x, topics, n, by), ...),
    clusters = draw_proportions(proportions_picture(x, topics), ...),
    correlation = draw_correlation(correlation_picture(x, topics), ...),
    response = draw_response(response_picture(x, topics), ...),
    elbo = draw_trace(trace_picture(x), ...)
  )
  invisible(x)
}

# The type of picture, by default the terms of topics. Documents of rows have no terms, so that for these the
# default is the proportions of topics, if the fit has stored them.
check_topics_type <- function(fit, type, call = rlang::caller_env()) {
  types <- c("terms", "clusters", "correlation", "response", "elbo", "score")
  if (identical(type, types) && !obs_facts(check_format(fit, call)$model$obs)$counts_tokens) {
    return(if (is.null(fit$documents)) "score" else "clusters")
  }
  check_choice(type, types, "type", call)
}

check_topics <- function(topics, fit, call = rlang::caller_env(), most = 12L) {
  if (is.null(topics)) {
    return(utils::head(in_use(fit), most))
  }
  if (!is.numeric(topics) || !length(topics) || !all(topics %in% seq_len(fit$state$k))) {
    abort("argument", "{.arg topics} must be numbers between 1 and {fit$state$k}.", call = call)
  }
  as.integer(topics)
}

# What the picture of terms shows: for each topic a title and its top terms.
terms_picture <- function(fit, topics, n, by, call = rlang::caller_env()) {
  topics <- check_topics(topics, fit, call)
  by <- check_choice(by, c("prob", "frex", "lift"), "by", call)
  terms <- top_terms(fit, n, by)
  terms <- terms[terms$topic %in% topics, ]
  size <- cluster_sizes(fit)
  share <- 100 * size[terms$topic] / sum(size)
  terms$title <- sprintf("%s (%.0f %%)", topic_captions(fit, terms$topic, "Topic"), share)
  list(
    terms = terms, label = c(prob = "Probability", frex = "FREX", lift = "Lift")[[by]], n_topics = length(in_use(fit))
  )
}

# What the picture of proportions shows: the documents, ordered by main topic and its proportion.
proportions_picture <- function(fit, topics, call = rlang::caller_env()) {
  topics <- check_topics(topics, fit, call)
  theta <- document_proportions(fit, call)
  main <- max.col(theta, ties.method = "first")
  order <- order(main, -theta[cbind(seq_along(main), main)])
  list(theta = theta[order, topics, drop = FALSE], topics = topic_captions(fit, topics), n_topics = length(in_use(fit)))
}

correlation_picture <- function(fit, topics, call = rlang::caller_env()) {
  topics <- check_topics(topics, fit, call, most = 30L)
  list(
    value = unname(topic_correlation(fit)[topics, topics, drop = FALSE]), topics = topic_captions(fit, topics),
    n_topics = length(in_use(fit))
  )
}

# Draws the top terms of topics in panels. A panel needs at least 1.2 x 0.9 inches, and a term 0.14 inches
# (guesses at what is readable).
draw_terms <- function(picture, main = NULL, ...) {
  size <- graphics::par("din") - c(0, 0.36)
  panels <- split(picture$terms, picture$terms$topic)
  grid <- panel_grid(length(panels), size, c(1.2, 0.9))
  across <- grid$across
  down <- grid$down
  panels <- utils::head(panels, grid$shown)
  note <- shown_of(length(panels), picture$n_topics, "topic")
  letters <- min(0.75, max(0.55, size[1] / across / 3))
  fit <- max(1L, floor((size[2] / down - 0.55) / 0.14))
  shown <- lapply(panels, function(panel) utils::head(panel, fit))
  widest <- max(graphics::strwidth(unlist(lapply(shown, `[[`, "term")), units = "inches", cex = letters))
  old <- set_panels(
    c(down, across), c(0.25, min(widest + 0.2, 0.6 * size[1] / across), 0.22, 0.08),
    c(0.16, 0, if (is.null(note)) 0.05 else 0.2, 0.1)
  )
  on.exit(graphics::par(old))
  colour <- cluster_colours(length(panels))
  for (i in seq_along(shown)) {
    panel <- shown[[i]][rev(seq_len(nrow(shown[[i]]))), ]
    at <- graphics::barplot(panel$value, horiz = TRUE, col = colour[i], border = NA, axes = FALSE, ...)
    ticks <- graphics::axTicks(1L)
    graphics::axis(1L, ticks[c(1L, length(ticks))], cex.axis = letters)
    terms <- shorten(panel$term, graphics::par("mai")[2] - 0.05, letters)
    graphics::mtext(terms, side = 2L, at = at, las = 1, line = 0.2, cex = letters)
    graphics::mtext(main %||% panel$title[1], side = 3L, line = 0.1, cex = letters, font = 2)
  }
  graphics::mtext(picture$label, side = 1L, outer = TRUE, line = -0.2, cex = 0.7)
  if (!is.null(note)) graphics::mtext(note, side = 3L, outer = TRUE, adj = 1, cex = 0.7, col = "grey30")
}

# An axis of documents: with names for few documents, with numbers for many.
document_axis <- function(theta) {
  n <- nrow(theta)
  at <- if (n <= 8L) seq_len(n) else pretty(seq_len(n))
  list(at = at, labels = if (n <= 8L) rownames(theta) %||% at else at)
}

# Margins with room for topics, some of which may have names, at the left.
beside_topics <- function(topics) pmax(usual, c(0, max(graphics::strwidth(topics, units = "inches")) + 0.6, 0, 0))

# An axis of topics at the left, with `title` outside of their names.
topics_axis <- function(topics, title) {
  letters <- graphics::par("cex.axis")
  topics <- shorten(topics, graphics::par("mai")[2L] - 0.45, letters)
  graphics::axis(2L, seq_along(topics), topics, las = 1, tick = FALSE)
  outside <- max(graphics::strwidth(topics, units = "inches", cex = letters)) / graphics::par("csi") + 1.2
  graphics::title(ylab = title, line = max(graphics::par("mgp")[1L], outside))
}

draw_proportions <- function(picture, main = "", xlab = "Document", ylab = "Topic", ...) {
  theta <- picture$theta
  rows <- rev(seq_len(ncol(theta)))
  old <- set_margins(beside_topics(picture$topics))
  on.exit(graphics::par(old))
  graphics::image(
    seq_len(nrow(theta)), seq_len(ncol(theta)), theta[, rows, drop = FALSE], zlim = c(0, 1),
    col = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), axes = FALSE, main = main, xlab = xlab, ylab = "", ...
  )
  axis <- document_axis(theta)
  graphics::axis(1L, axis$at, axis$labels)
  topics_axis(picture$topics[rows], ylab)
  say_above(shown_of(length(rows), picture$n_topics, "topic"))
  graphics::box()
}

# Colours of correlations between topics: positive ones are blue, negative ones red. Topics without a
# correlation, and each topic with itself, are grey.
correlation_colours <- function() grDevices::hcl.colors(41L, "Blue-Red 2", rev = TRUE)

draw_correlation <- function(picture, main = "", xlab = "Topic", ylab = "Topic", ...) {
  value <- picture$value
  diag(value) <- NA
  k <- nrow(value)
  reach <- max(0.1, abs(value), na.rm = TRUE)
  old <- set_margins(beside_topics(picture$topics))
  on.exit(graphics::par(old))
  graphics::plot(
    c(0.5, k + 0.5), c(0.5, k + 0.5), type = "n", axes = FALSE, xaxs = "i", yaxs = "i", main = main, xlab = xlab,
    ylab = "", ...
  )
  graphics::rect(0.5, 0.5, k + 0.5, k + 0.5, col = "grey85", border = NA)
  graphics::image(
    seq_len(k), seq_len(k), value[, rev(seq_len(k)), drop = FALSE], zlim = c(-reach, reach),
    col = correlation_colours(), add = TRUE
  )
  graphics::axis(1L, seq_len(k), picture$topics, tick = FALSE)
  topics_axis(rev(picture$topics), ylab)
  shown <- shown_of(k, picture$n_topics, "topic")
  say_above(paste0(
    "Correlation from ", signif(-reach, 2), " (red) to ", signif(reach, 2), " (blue)",
    if (!is.null(shown)) paste0("; ", shown)
  ))
  graphics::box()
}

#' @rdname plot.bnp_topics
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_topics <- function(object, type = c("terms", "clusters", "correlation", "response", "elbo", "score"),
                                topics = NULL, n = 8L, by = c("prob", "frex", "lift"), ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  type <- check_topics_type(object, type)
  switch(type,
    score = gg_score(score_picture(object)),
    terms = gg_terms(terms_picture(object, topics, n, by)),
    clusters = gg_proportions(proportions_picture(object, topics)),
    correlation = gg_correlation(correlation_picture(object, topics)),
    response = gg_response(response_picture(object, topics)),
    elbo = gg_trace(trace_picture(object))
  )
}

gg_terms <- function(picture) {
  terms <- picture$terms
  terms$title <- factor(terms$title, levels = unique(terms$title))
  terms$place <- factor(paste(terms$topic, terms$term), levels = rev(paste(terms$topic, terms$term)))
  panels <- nlevels(terms$title)
  ggplot2::ggplot(terms, ggplot2::aes(.data$value, .data$place, fill = .data$title)) +
    ggplot2::geom_col(show.legend = FALSE) +
    ggplot2::facet_wrap(ggplot2::vars(.data$title), scales = "free") +
    ggplot2::scale_y_discrete(
      labels = function(x) sub("^[0-9]+ ", "", x), guide = ggplot2::guide_axis(check.overlap = TRUE)
    ) +
    ggplot2::scale_x_continuous(n.breaks = 3, guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_fill_manual(values = cluster_colours(nlevels(terms$title))) +
    ggplot2::labs(x = picture$label, y = NULL, caption = shown_of(panels, picture$n_topics, "topic")) +
    ggplot2::theme_minimal() +
    tight_panels(panels)
}

gg_proportions <- function(picture) {
  theta <- picture$theta
  axis <- document_axis(theta)
  long <- data.frame(
    document = rep(seq_len(nrow(theta)), ncol(theta)),
    topic = factor(rep(picture$topics, each = nrow(theta)), levels = rev(picture$topics)),
    proportion = as.double(theta)
  )
  ggplot2::ggplot(long, ggplot2::aes(.data$document, .data$topic, fill = .data$proportion)) +
    ggplot2::geom_raster() +
    ggplot2::scale_x_continuous(
      breaks = axis$at, labels = axis$labels, guide = ggplot2::guide_axis(check.overlap = TRUE)
    ) +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), limits = c(0, 1)) +
    ggplot2::labs(
      x = "Document", y = "Topic", fill = "Proportion",
      caption = shown_of(length(picture$topics), picture$n_topics, "topic")
    ) +
    ggplot2::theme_minimal()
}

gg_correlation <- function(picture) {
  value <- picture$value
  diag(value) <- NA
  k <- nrow(value)
  reach <- max(0.1, abs(value), na.rm = TRUE)
  long <- data.frame(
    x = factor(rep(picture$topics, k), levels = picture$topics),
    y = factor(rep(picture$topics, each = k), levels = rev(picture$topics)), correlation = as.double(value)
  )
  ggplot2::ggplot(long, ggplot2::aes(.data$x, .data$y, fill = .data$correlation)) +
    ggplot2::geom_tile() +
    ggplot2::scale_fill_gradientn(colours = correlation_colours(), limits = c(-reach, reach), na.value = "grey85") +
    ggplot2::scale_x_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_y_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(
      x = "Topic", y = "Topic", fill = "Correlation",
      caption = shown_of(k, picture$n_topics, "topic")
    ) +
    ggplot2::theme_minimal()
}
