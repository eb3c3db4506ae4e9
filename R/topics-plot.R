#' Pictures of a topic model
#'
#' `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A fit of [bnp_topics()].
#' @param type `"terms"`: the top terms of each topic, for counts only. `"clusters"`:
#'   proportions of the training documents, those with the same main topic
#'   together; the default where there are no terms. `"elbo"`:
#'   the bound by lap, with the accepted moves.
#' @param topics Which topics to show; default: the largest twelve.
#' @param n Number of terms per topic.
#' @param by As in [top_terms()].
#' @param ... For `plot()`, graphical parameters like `main`; else empty.
#' @return `plot()`: the fit, invisibly. `autoplot()`: a ggplot.
#' @references
#' Bischof, J. M. and Airoldi, E. M. (2012). Summarizing topical content with word frequency and
#' exclusivity. *International Conference on Machine Learning* 29.
#' @seealso [top_terms()], [ldavis_data()]; `vignette("topics")`.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15))
#' plot(fit, topics = 1:6)
#' plot(fit, "clusters")
#' @export
plot.bnp_topics <- function(x, type = c("terms", "clusters", "elbo"), topics = NULL, n = 8L,
                            by = c("prob", "frex", "lift"), ...) {
  type <- check_topics_type(x, type)
  switch(type,
    terms = draw_terms(terms_picture(x, topics, n, by), ...),
    clusters = draw_proportions(proportions_picture(x, topics), ...),
    elbo = draw_trace(trace_picture(x), ...)
  )
  invisible(x)
}

# Without a choice, documents of rows have no terms to show but their proportions.
check_topics_type <- function(fit, type, call = rlang::caller_env()) {
  types <- c("terms", "clusters", "elbo")
  if (identical(type, types) && !obs_entry(fit$model$obs)$counts_tokens) {
    return("clusters")
  }
  check_choice(type, types, "type", call)
}

check_topics <- function(topics, fit, call = rlang::caller_env()) {
  if (is.null(topics)) {
    return(utils::head(in_use(fit), 12L))
  }
  if (!is.numeric(topics) || !length(topics) || !all(topics %in% seq_len(fit$state$k))) {
    abort("argument", "{.arg topics} must be numbers between 1 and {fit$state$k}.", call = call)
  }
  as.integer(topics)
}

# Top terms with a title for each topic.
terms_picture <- function(fit, topics, n, by, call = rlang::caller_env()) {
  topics <- check_topics(topics, fit, call)
  by <- check_choice(by, c("prob", "frex", "lift"), "by", call)
  terms <- top_terms(fit, n, by)
  terms <- terms[terms$topic %in% topics, ]
  size <- cluster_sizes(fit)
  terms$title <- sprintf("Topic %d (%.0f %%)", terms$topic, 100 * size[terms$topic] / sum(size))
  list(terms = terms, label = c(prob = "Probability", frex = "FREX", lift = "Lift")[[by]])
}

# Documents ordered by main topic and its proportion.
proportions_picture <- function(fit, topics, call = rlang::caller_env()) {
  topics <- check_topics(topics, fit, call)
  theta <- fitted(fit)
  main <- max.col(theta, ties.method = "first")
  order <- order(main, -theta[cbind(seq_along(main), main)])
  list(theta = theta[order, topics, drop = FALSE], topics = topics)
}

draw_terms <- function(picture, main = NULL, ...) {
  panels <- split(picture$terms, picture$terms$topic)
  across <- ceiling(sqrt(length(panels)))
  old <- graphics::par(mfrow = c(ceiling(length(panels) / across), across), mar = c(2, 6, 2, 1))
  on.exit(graphics::par(old))
  colour <- cluster_colours(length(panels))
  for (i in seq_along(panels)) {
    panel <- panels[[i]][rev(seq_len(nrow(panels[[i]]))), ]
    graphics::barplot(
      panel$value, names.arg = panel$term, horiz = TRUE, las = 1, col = colour[i], border = NA,
      main = main %||% panel$title[1], cex.names = 0.8, ...
    )
  }
}

draw_proportions <- function(picture, main = "", xlab = "Document", ylab = "Topic", ...) {
  theta <- picture$theta
  rows <- rev(seq_len(ncol(theta)))
  graphics::image(
    seq_len(nrow(theta)), seq_len(ncol(theta)), theta[, rows, drop = FALSE], zlim = c(0, 1),
    col = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), axes = FALSE, main = main, xlab = xlab, ylab = ylab, ...
  )
  graphics::axis(1L)
  graphics::axis(2L, seq_along(rows), picture$topics[rows], las = 1, tick = FALSE)
  graphics::box()
}

#' @rdname plot.bnp_topics
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_topics <- function(object, type = c("terms", "clusters", "elbo"), topics = NULL, n = 8L,
                                by = c("prob", "frex", "lift"), ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  type <- check_topics_type(object, type)
  switch(type,
    terms = gg_terms(terms_picture(object, topics, n, by)),
    clusters = gg_proportions(proportions_picture(object, topics)),
    elbo = gg_trace(trace_picture(object))
  )
}

gg_terms <- function(picture) {
  terms <- picture$terms
  terms$title <- factor(terms$title, levels = unique(terms$title))
  terms$place <- factor(paste(terms$topic, terms$term), levels = rev(paste(terms$topic, terms$term)))
  ggplot2::ggplot(terms, ggplot2::aes(.data$value, .data$place, fill = .data$title)) +
    ggplot2::geom_col(show.legend = FALSE) +
    ggplot2::facet_wrap(ggplot2::vars(.data$title), scales = "free") +
    ggplot2::scale_y_discrete(labels = function(x) sub("^[0-9]+ ", "", x)) +
    ggplot2::scale_fill_manual(values = cluster_colours(nlevels(terms$title))) +
    ggplot2::labs(x = picture$label, y = NULL) +
    ggplot2::theme_minimal()
}

gg_proportions <- function(picture) {
  theta <- picture$theta
  long <- data.frame(
    document = rep(seq_len(nrow(theta)), ncol(theta)),
    topic = factor(rep(picture$topics, each = nrow(theta)), levels = rev(picture$topics)),
    proportion = as.double(theta)
  )
  ggplot2::ggplot(long, ggplot2::aes(.data$document, .data$topic, fill = .data$proportion)) +
    ggplot2::geom_raster() +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), limits = c(0, 1)) +
    ggplot2::labs(x = "Document", y = "Topic", fill = "Proportion") +
    ggplot2::theme_minimal()
}
