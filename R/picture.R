# The contents of pictures of mixtures as data frames, shared by plot() and autoplot().

# Colours of k clusters. The first eight are those of Okabe and Ito (2008), which people with colour blindness
# can distinguish. Further colours have the same hues, alternately darker and lighter, so that clusters with
# neighbouring numbers always differ in hue.
cluster_colours <- function(k) {
  base <- unname(grDevices::palette.colors(9L, "Okabe-Ito")[c(6, 7, 4, 2, 8, 3, 5, 9)])
  round <- (seq_len(k) - 1L) %/% 8L
  shade <- c(0, -0.45, 0.5, -0.65, 0.25, -0.25, 0.7, -0.1, 0.38, -0.55, 0.6, -0.35, 0.12)[round %% 13L + 1L]
  rgb <- grDevices::col2rgb(base[(seq_len(k) - 1L) %% 8L + 1L])
  rgb <- rgb + rep(abs(shade), each = 3L) * (rep(255 * (shade > 0), each = 3L) - rgb)
  grDevices::rgb(t(rgb), maxColorValue = 255)
}

column_labels <- function(fit) fit$input$column_names %||% default_names(fit$input$d)

# The contents of the picture of a mixture: list(kind, ...), with kind "curve" (one column), "plane" (two or
# more columns) or "heat" (probabilities or rates of many columns).
cluster_picture <- function(fit, data = NULL, call = rlang::caller_env()) {
  obs <- fit$model$obs
  if (!obs_can(obs, "picture")) {
    abort("argument", c(
      "Clusters of {.fn {obs_facts(obs)$constructor}} have no picture.",
      i = "Read their parameters from {.fn coef}, or use {.code type = \"elbo\"}."
    ), call = call)
  }
  data <- if (!is.null(data)) as_newdata(fit, data, call, "data")
  picture <- obs_picture(obs, fit, data)
  # One column has a density to look at, which a heat map of one column would hide.
  dense <- is.null(data) || !is_sparse_data(data)
  if (picture$kind == "heat" && fit$input$d == 1L && dense && !lacks_density(obs)) {
    return(densities_picture(fit, data, call))
  }
  if (!is.null(data)) picture <- placed_rows(picture, data)
  if (is.null(fit$ids) || picture$kind == "profile") picture else by_identity(picture, fit)
}

# Replaces the numbers of clusters in a picture by their identities, which persist when an update of the fit
# changes the numbers.
by_identity <- function(picture, fit) {
  for (name in intersect(c("parts", "rings", "centres", "points"), names(picture))) {
    if (!is.null(picture[[name]])) picture[[name]]$cluster <- cluster_ids(fit)[picture[[name]]$cluster]
  }
  if (!is.null(picture$cluster)) picture$cluster <- cluster_ids(fit)[picture$cluster]
  picture
}

# A histogram with classes of the width of Freedman and Diaconis, if there are at least two values; at most
# about a thousand classes, since a few values may be far from all others.
histogram_of <- function(values) {
  breaks <- if (length(values) > 1L) min(grDevices::nclass.FD(values), 1000) else 1L
  graphics::hist(values, breaks = breaks, plot = FALSE)
}

obs_picture.obs_gaussian <- function(obs, fit, data) {
  if (fit$input$d == 1L) curve_picture(fit, data) else plane_picture(fit, data)
}

# Leaves out rows with a missing value, which have no place in the picture, and informs the user.
placed_rows <- function(picture, data) {
  if (!is.null(picture$points)) picture$points <- picture$points[stats::complete.cases(picture$points), ]
  drawn <- if (is.null(picture$points)) length(picture$values) else nrow(picture$points)
  if (picture$kind %in% c("curve", "plane")) tell_rows_without_place(data$n, drawn)
  if (!is.null(picture$points)) picture$points <- thinned(picture$points)
  picture
}

tell_rows_without_place <- function(given, drawn) {
  if (drawn < given) {
    cli::cli_inform(
      c(
        "{given - drawn} of {given} row{?s} {cli::qty(given - drawn)}{?is/are} not drawn: {?it lacks/they lack} a
         value.",
        i = "{.fn impute} fills rows from the fit."
      ),
      class = c("bnpvi_message_picture", "bnpvi_message")
    )
  }
}

moments <- function(fit) {
  means <- coef(fit)
  k <- fit$state$k
  d <- fit$input$d
  mean <- means$mean %||% matrix(0, k, d)
  list(mean = unname(mean), cov = unname(means$cov), weight = unname(means$weights[seq_len(k)]))
}

curve_picture <- function(fit, data) {
  m <- moments(fit)
  used <- in_use(fit)
  sd <- sqrt(m$cov[1, 1, ])
  values <- if (!is.null(data)) data$x[!is.na(data$x[, 1L]), 1L]
  range <- if (length(unique(values)) > 1L) range(values) else
    ends_of_axis(c(m$mean[used] - 3 * sd[used], m$mean[used] + 3 * sd[used], m$mean[used], values))
  at <- seq(range[1] - 0.15 * diff(range), range[2] + 0.15 * diff(range), length.out = 400L)
  parts <- lapply(used, function(k) {
    data.frame(x = at, density = m$weight[k] * stats::dnorm(at, m$mean[k], sd[k]), cluster = k)
  })
  total <- exp(overall_log_predictive(fit, new_bnp_data(matrix(at))))
  list(
    kind = "curve", parts = do.call(rbind, parts), total = data.frame(x = at, density = total),
    values = if (length(values)) values, label = column_labels(fit)
  )
}

plane_picture <- function(fit, data) {
  m <- moments(fit)
  used <- in_use(fit)
  axes <- plane_axes(fit, m)
  project <- function(x) (x - rep(axes$centre, each = nrow(x))) %*% axes$direction
  angle <- seq(0, 2 * pi, length.out = 101L)
  circle <- cbind(cos(angle), sin(angle)) * sqrt(stats::qchisq(0.9, 2))
  # Of a cluster of a single row only the centre is drawn, as its width is that of the prior; so is that of a cluster
  # with so few rows that its expected covariance is not finite.
  rings <- lapply(used, function(k) {
    cov <- crossprod(axes$direction, m$cov[, , k] %*% axes$direction)
    seen <- all(is.finite(cov)) && fit$sizes[k] > 1.5
    around <- if (seen) circle %*% chol(cov) else 0 * circle
    ring <- around + rep(project(m$mean[k, , drop = FALSE]), each = nrow(circle))
    data.frame(x = ring[, 1], y = ring[, 2], cluster = k)
  })
  centres <- project(m$mean[used, , drop = FALSE])
  points <- if (!is.null(data) && data$n > 0L) {
    xy <- project(data$x)
    data.frame(x = xy[, 1], y = xy[, 2], cluster = max.col(of_rows(data, responsibilities(fit, data)), "first"))
  }
  list(
    kind = "plane", points = points, rings = do.call(rbind, rings),
    centres = data.frame(x = centres[, 1], y = centres[, 2], cluster = used), labels = axes$labels
  )
}

# The axes of a picture of points: the two columns themselves or, for more columns, the first two principal
# components of the fitted mixture, with columns scaled to unit variance. A cluster with so few rows that its expected
# covariance is not finite enters by its centre alone.
plane_axes <- function(fit, m) {
  d <- fit$input$d
  if (d == 2L) {
    return(list(centre = c(0, 0), direction = diag(2L), labels = column_labels(fit)))
  }
  weight <- proportion(fit)[in_use(fit)] / sum(proportion(fit)[in_use(fit)])
  mean <- m$mean[in_use(fit), , drop = FALSE]
  centre <- colSums(weight * mean)
  deviation <- (mean - rep(centre, each = nrow(mean))) * sqrt(weight)
  within <- Map(function(w, k) w * m$cov[, , k], weight, in_use(fit))
  total <- Reduce(`+`, Filter(function(cov) all(is.finite(cov)), within), crossprod(deviation))
  sd <- sqrt(diag(total))
  sd[sd == 0] <- 1
  decomposition <- eigen(total / sd / rep(sd, each = d), symmetric = TRUE)
  direction <- decomposition$vectors[, 1:2]
  direction <- direction * rep(sign(colSums(direction)), each = d)
  share <- round(100 * decomposition$values[1:2] / d)
  list(
    centre = centre, direction = direction / sd,
    labels = paste0("Principal component ", 1:2, " (", share, " % of variance)")
  )
}

# A heat map of the columns that distinguish clusters best, grouped by the cluster in which they exceed their
# average most. Shown are probabilities or, if `relative`, rates relative to their average over the clusters.
# Among equal relative rates, those with more counts distinguish clusters better.
heat_picture <- function(fit, relative = FALSE, max_columns = 40L) {
  means <- mean_arrays(fit)
  used <- in_use(fit)
  value <- cluster_locations(fit, means)[used, , drop = FALSE]
  weight <- proportion(fit, means)[used] / sum(proportion(fit, means)[used])
  average <- colSums(weight * value)
  lift <- value - rep(average, each = nrow(value))
  contrast <- colSums(weight * lift^2)
  if (relative) {
    contrast <- contrast / average
    value <- value / rep(average, each = nrow(value))
    lift <- value
  }
  kept <- utils::head(order(-contrast), max_columns)
  lift <- lift[, kept, drop = FALSE]
  kept <- kept[order(max.col(t(lift), "first"), -apply(lift, 2L, max))]
  list(
    kind = "heat", value = value[, kept, drop = FALSE], cluster = used,
    label = if (relative) "Rate relative to the average" else "Probability"
  )
}

density_picture <- function(fit, data = NULL, call = rlang::caller_env()) {
  obs <- fit$model$obs
  as_whole <- fit$input$d <= 2L && is.null(obs$responses) && is.null(obs$logs) && obs_can(obs, "picture")
  picture <- if (as_whole) cluster_picture(fit, data, call)
  if (!isTRUE(picture$kind %in% c("curve", "plane"))) {
    return(densities_picture(fit, if (!is.null(data)) as_newdata(fit, data, call, "data"), call))
  }
  if (picture$kind == "curve") {
    return(picture)
  }
  reach <- rbind(picture$rings[c("x", "y")], picture$points[c("x", "y")])
  axis <- function(v) {
    wider <- if (min(v) < max(v)) 0 else 1
    seq(min(v) - wider, max(v) + wider, length.out = 120L)
  }
  x <- axis(reach$x)
  y <- axis(reach$y)
  grid <- as.matrix(expand.grid(x = x, y = y))
  picture$kind <- "surface"
  picture$x <- x
  picture$y <- y
  picture$density <- matrix(exp(overall_log_predictive(fit, new_bnp_data(grid))), length(x))
  picture
}

# The picture of a fit's trace: laps (passes over all batches) with a mark for each kind of move that was
# accepted in them. Element `from`: the first lap on the scale; `labels`: the laps in which the number of
# clusters changed.
trace_picture <- function(fit, call = rlang::caller_env()) {
  require_ability(fit, "elbo", call)
  trace <- elbo_trace(fit)
  searched <- !is.null(trace$log_joint)
  if (searched) trace$elbo <- ifelse(is.na(trace$elbo), trace$log_joint, trace$elbo)
  if (anyNA(trace$elbo)) {
    abort("type", c(
      "{.code type = \"elbo\"} needs the ELBO of every lap: stochastic learning computes that of its last lap only.",
      i = "{.code elbo(fit)} is {format(elbo(fit), digits = 8)}."
    ), call = call)
  }
  kinds <- c(birth = "births", merge = "merges", delete = "deletes")
  marks <- lapply(names(kinds), function(kind) {
    at <- which(trace[[kinds[[kind]]]] > 0)
    data.frame(lap = trace$lap[at], elbo = trace$elbo[at], move = rep(kind, length(at)))
  })
  from <- first_lap_shown(trace$elbo, Reduce(`+`, trace[kinds]) > 0)
  list(
    trace = trace, marks = do.call(rbind, marks), shapes = c(birth = 24L, merge = 21L, delete = 25L), from = from,
    labels = trace[c(TRUE, diff(trace$k) != 0) & seq_along(trace$k) >= from | seq_along(trace$k) == from, ],
    scale = if (searched) "Log joint of labels, then ELBO" else "ELBO", note = if (from > 1L) below_note(trace, from)
  )
}

# The first lap (pass over all batches) that is on the scale of the trace. Early laps before any move are left
# out if each would take more than half of the scale; at most a quarter of all laps. If later laps gain less
# than a fiftieth of the whole (a guess), all laps stay, since the later ones alone would show only rounding.
first_lap_shown <- function(elbo, moved) {
  n <- length(elbo)
  from <- 1L
  span <- function(i) diff(range(elbo[i:n]))
  while (
    from <= n / 4 && !moved[from] && span(from + 1L) > span(1L) / 50 && span(from + 1L) < span(from) / 2
  ) from <- from + 1L
  from
}

below_note <- function(trace, from) {
  laps <- trace$lap[c(1L, from - 1L)]
  paste0(
    if (from > 2L) paste0("Laps ", laps[1], " to ", laps[2], " are") else paste("Lap", laps[1], "is"),
    " below (", format(trace$elbo[1], digits = 4, big.mark = ","), ")"
  )
}
