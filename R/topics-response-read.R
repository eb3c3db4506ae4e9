# Results about the responses of documents from a fit of topics: coefficients and predictions.

# The distribution q(eta) of the effects of topics from which responses are predicted (see
# responses_by_words()): for each equation list(mean, covariance), where the covariance is divided by the
# variance of a gaussian response; and df and scale of the response's precision.
response_posterior <- function(fit) {
  q <- (if (is.list(fit$responses)) fit$responses) %||% abort("format", c(
    "This fit lacks {.field responses}, the effects that responses are predicted with.",
    i = "It was stored by another version of the package, or is damaged: fit again."
  ), call = NULL)
  names <- c(as.character(seq_len(fit$state$k)), fit$input$document_response$covariates$names)
  list(
    equations = Map(function(mean, covariance) {
      list(
        mean = stats::setNames(mean, names), covariance = `dimnames<-`(covariance, list(names, names))
      )
    }, q$mean, q$covariance),
    df = q$df, scale = q$scale
  )
}

# The effects of topics and covariates on the response: a matrix with a row for each topic and covariate and
# columns estimate, sd. For several classes an array, whose third dimension has all classes but the last, each
# compared with the classes after it. In the units of response and covariates.
response_coefficients <- function(fit) {
  response <- fit$input$document_response
  q <- response_posterior(fit)
  k <- fit$state$k
  of_covariate <- seq_along(q$equations[[1L]]$mean) > k
  unit <- (response$scale %||% 1) / c(rep(1, k), response$covariates$scale)
  variance <- if (response$family == normal_response) q$scale / max(q$df - 2, 1) else 1
  each <- lapply(q$equations, function(equation) {
    cbind(
      estimate = equation$mean * unit + ifelse(of_covariate, 0, response$centre %||% 0),
      sd = sqrt(diag(equation$covariance) * variance) * abs(unit)
    )
  })
  if (length(each) == 1L) {
    return(each[[1L]])
  }
  out <- array(
    unlist(each), c(dim(each[[1L]]), length(each)),
    c(dimnames(each[[1L]]), list(response$order[seq_along(each)]))
  )
  out
}

# Moments of the predictor f of documents' responses, for documents with these expected counts of topics, and
# covariates in standard units: in each equation the mean of f, its variance due to the unknown topics of
# tokens, and its variance due to q(eta), the uncertain effects (divided by the variance of a gaussian
# response).
response_moments <- function(fit, counts, covariates) {
  counts <- as.matrix(counts)
  length <- rowSums(counts)
  none <- length <= 0
  share <- counts / pmax(length, 1e-300)
  weight <- document_weight(fit)[seq_len(fit$state$k)]
  share[none, ] <- rep(weight / sum(weight), each = sum(none))
  length[none] <- 1
  full <- cbind(share, covariates)
  q <- response_posterior(fit)
  each <- lapply(q$equations, function(equation) {
    eta <- equation$mean[seq_len(ncol(share))]
    v <- equation$covariance
    mean <- drop(full %*% equation$mean)
    of_topics <- drop(share %*% eta)
    within <- (drop(share %*% eta^2) - of_topics^2) / length
    between <- rowSums((full %*% v) * full)
    own <- diag(v)[seq_len(ncol(share))]
    in_topics <- v[seq_len(ncol(share)), seq_len(ncol(share)), drop = FALSE]
    between <- between + (drop(share %*% own) - rowSums((share %*% in_topics) * share)) / length
    list(mean = mean, within = pmax(within, 0), between = pmax(between, 0))
  })
  list(each = each, df = q$df, scale = q$scale, names = rownames(counts))
}

predict_response <- function(fit, counts, covariates, type, level, call) {
  response <- fit$input$document_response
  f <- response_moments(fit, counts, covariates)
  if (type == "label") {
    return(predicted_labels(response, f, call))
  }
  first <- f$each[[1L]]
  out <- response_predictions[[response$family]](response, f, first$mean, first$between + first$within, level)
  rownames(out) <- f$names
  out
}

# For each family of responses, a function that predicts responses. Arguments: the response, moments of f (the
# predictor), mean and variance of f in the first equation, and the level of the interval.
response_predictions <- list(
  gaussian = function(response, f, mean, variance, level) {
    first <- f$each[[1L]]
    spread <- sqrt(f$scale / f$df * (1 + first$between) + first$within)
    with_ends(mean, stats::qt((1 + level) / 2, f$df) * spread) * response$scale + response$centre
  },
  eps_hinge = function(response, f, mean, variance, level) {
    normal_interval(mean, variance, level) * response$scale + response$centre
  },
  hinge = function(response, f, mean, variance, level) normal_interval(mean, variance, level),
  binomial = function(response, f, mean, variance, level) {
    ends <- stats::plogis(normal_interval(mean, variance, level))
    ends[, "fit"] <- stats::plogis(mean / sqrt(1 + pi * variance / 8))
    ends
  },
  classes = function(response, f, mean, variance, level) response_probabilities(response, f)
)

normal_interval <- function(mean, variance, level) with_ends(mean, stats::qnorm((1 + level) / 2) * sqrt(variance))

with_ends <- function(mean, half) cbind(fit = mean, lower = mean - half, upper = mean + half)

# Probabilities of classes: in each equation, a class gets its share of the probability that the classes
# before it leave.
response_probabilities <- function(response, f) {
  left <- rep(1, length(f$each[[1L]]$mean))
  out <- matrix(0, length(left), length(response$order), dimnames = list(f$names, response$order))
  for (e in seq_along(f$each)) {
    one <- f$each[[e]]
    p <- stats::plogis(one$mean / sqrt(1 + pi * (one$between + one$within) / 8))
    out[, e] <- left * p
    left <- left * (1 - p)
  }
  out[, ncol(out)] <- left
  out[, response$levels, drop = FALSE]
}

predicted_labels <- function(response, f, call) {
  if (is.null(response$levels)) {
    abort("response", c(
      "{.code type = \"label\"} is for classes; the response of this fit is {.val {response$family}}.",
      i = "Choose {.code type = \"response\"}."
    ), call = call)
  }
  at <- if (response$family == "classes") {
    max.col(response_probabilities(response, f), ties.method = "first")
  } else {
    1L + (f$each[[1L]]$mean > 0)
  }
  stats::setNames(factor(response$levels[at], response$levels), f$names)
}

# Covariates of the documents whose response is to be predicted, in the engine's units.
new_covariates <- function(fit, covariates, data, call) {
  known <- fit$input$document_response$covariates
  if (is.null(known) != is.null(covariates)) {
    abort("response", c(
      if (is.null(known)) "This fit has no {.arg covariates}." else "{.arg covariates} are needed: the fit has them.",
      i = if (is.null(known)) "Leave them out." else "Give {.field {known$names}} of each document."
    ), call = call)
  }
  x <- read_covariates(covariates, data, call, known)
  covariate_values(x, rep(TRUE, if (is.null(x)) length(data$starts) - 1L else nrow(x$value)), call)
}

need_response <- function(fit, what, call) {
  if (is.null(fit$model$response)) {
    abort("response", c(
      paste(what, "needs a fit with a response."), i = "Give {.fn bnp_topics} the {.arg response} of the documents."
    ), call = call)
  }
}

# ---- picture --------------------------------------------------------------------------------------------------------

# What the picture of responses shows: the effects of topics and covariates with two standard deviations, from
# low to high, one equation after the other.
response_picture <- function(fit, topics, call = rlang::caller_env()) {
  need_response(fit, "{.code type = \"response\"}", call)
  topics <- check_topics(topics, fit, call, most = 30L)
  all <- response_coefficients(fit)
  if (length(dim(all)) == 2L) all <- array(all, c(dim(all), 1L), c(dimnames(all), list("")))
  rows <- c(topics, fit$state$k + seq_len(fit$model$response$covariates))
  labels <- c(topic_captions(fit, topics, "Topic"), fit$input$document_response$covariates$names)
  points <- do.call(rbind, lapply(seq_len(dim(all)[3L]), function(e) {
    estimate <- all[rows, "estimate", e]
    sd <- all[rows, "sd", e]
    order <- order(estimate)
    data.frame(
      panel = dimnames(all)[[3L]][e], label = labels[order], place = seq_along(rows), estimate = estimate[order],
      lower = (estimate - 2 * sd)[order], upper = (estimate + 2 * sd)[order]
    )
  }))
  list(points = points, n_topics = length(in_use(fit)), shown = length(topics))
}

draw_response <- function(picture, main = NULL, xlab = "Effect on the response, with two standard deviations", ...) {
  panels <- split(picture$points, factor(picture$points$panel, unique(picture$points$panel)))
  size <- graphics::par("din") - c(0, 0.36)
  grid <- panel_grid(length(panels), size, c(1.6, 1.2))
  widest <- max(graphics::strwidth(picture$points$label, units = "inches", cex = 0.7))
  old <- set_panels(c(grid$down, grid$across), c(0.3, widest + 0.2, 0.25, 0.1), c(0.2, 0, 0.15, 0))
  on.exit(graphics::par(old))
  for (panel in utils::head(panels, grid$shown)) {
    graphics::plot(
      panel$estimate, panel$place, xlim = range(panel$lower, panel$upper), pch = 16, yaxt = "n", xlab = "", ylab = "",
      main = main %||% panel$panel[1L], cex.main = 0.8, ...
    )
    graphics::segments(panel$lower, panel$place, panel$upper, panel$place)
    graphics::axis(2L, panel$place, panel$label, las = 1, cex.axis = 0.7, tick = FALSE)
  }
  graphics::mtext(xlab, side = 1L, outer = TRUE, cex = 0.75, line = -0.2)
  say_above(shown_of(picture$shown, picture$n_topics, "topic"))
}

gg_response <- function(picture) {
  points <- picture$points
  points$row <- factor(paste(points$panel, points$label), levels = unique(paste(points$panel, points$label)))
  points$panel <- factor(points$panel, unique(points$panel))
  plot <- ggplot2::ggplot(points, ggplot2::aes(.data$estimate, .data$row)) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$lower, xend = .data$upper, yend = .data$row)) +
    ggplot2::geom_point() +
    ggplot2::scale_y_discrete(labels = stats::setNames(points$label, points$row)) +
    ggplot2::labs(
      x = "Effect on the response, with two standard deviations", y = NULL,
      caption = shown_of(picture$shown, picture$n_topics, "topic")
    ) +
    ggplot2::theme_minimal()
  if (nlevels(points$panel) > 1L) plot + ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free") else plot
}
