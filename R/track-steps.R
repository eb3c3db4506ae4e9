# Steps and turning angles of tracks, and the picture of a track in the colours of its states.

#' Steps and turning angles of tracks
#'
#' Computes lengths of steps and turning angles from locations at equally spaced times, the variables by which
#' [bnp_hmm()] models movement with [obs_gamma()] and [obs_vonmises()].
#'
#' @param x,y Coordinates, numbers; or `x` alone, a matrix or a data frame of two columns, beside those that `id` and
#'   `time` name. `NA` where a location was missed.
#' @param id The track of each location, or the name of a column of the data frame `x`. Rows of a track must be in
#'   order, and tracks may be mixed. Default: one track.
#' @param time Times of locations, ascending within a track, or the name of a column of the data frame `x`. Steps over
#'   intervals of different lengths cannot be compared: a message says how many intervals are longer or shorter than
#'   the usual one.
#' @param lonlat Are `x` and `y` longitudes and latitudes in degrees? Steps are then lengths of great circles in
#'   kilometres, on a sphere of radius 6371 km, and angles are those between the great circles. Default: `FALSE`,
#'   coordinates in a plane, and steps in their unit.
#' @param ... Must be empty.
#' @return A data frame of class `bnp_track` with a row for each location: `id`, `time` (if given), `x`, `y`, `step`,
#'   the length of the step from here to the next location of the track, and `angle`, the turning angle here in radians,
#'   from -pi to pi, positive to the left. `step` is `NA` at the last location of a track. `angle` is `NA` at the first
#'   and the last location, and beside a step of length 0, which has no direction. `prepData()` of the package moveHMM
#'   makes the same columns, with `ID` instead of `id` and with angles beside steps of 0.
#' @details Without `obs`, [bnp_hmm()] models the steps by [obs_gamma()] and the angles by [obs_vonmises()], as the
#'   example does explicitly, and averages over those that are missing (`na_action = "model"`). Without `id` the tracks
#'   are those of the column `id`. Models whose blocks name their columns can be fitted to the result of
#'   `track_steps()`, and to that of `prepData()` of the packages moveHMM and momentuHMM, without removing the other
#'   columns, which are left out.
#'
#'   Steps are comparable where locations have equal distances in time. Where some were missed, rows of `NA` stand for
#'   them, which are averaged over: of a track `d` with a location each day these are the rows that
#'   `merge(data.frame(time = seq(min(d$time), max(d$time), by = "day")), d, all.x = TRUE)` adds. Times that are not on
#'   a grid are rounded to it first (`round(d$time, "hours")`), or locations are interpolated (`approx()`).
#' @seealso [bnp_hmm()], [plot.bnp_hmm()] with `"track"`; `vignette("movement")`.
#' @references
#' Michelot, T., Langrock, R. and Patterson, T. A. (2016). moveHMM: an R package for the statistical modelling of animal
#' movement data using hidden Markov models. *Methods in Ecology and Evolution* 7(11), 1308-1315.
#' @examples
#' set.seed(1)
#' turn <- cumsum(c(rnorm(60, 0, 0.2), runif(60, -pi, pi)))
#' length <- rgamma(120, rep(c(9, 1), each = 60), 3)
#' track <- track_steps(cumsum(length * cos(turn)), cumsum(length * sin(turn)))
#' walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
#' fit <- bnp_hmm(track, obs = walk, na_action = "model", control = bnp_control(seed = 1))
#' coef(fit)$gamma
#' plot(fit, "track")
#' @export
track_steps <- function(x, y = NULL, id = NULL, time = NULL, lonlat = FALSE, ...) {
  check_no_dots(..., notes = c(
    data = "The table is {.arg x}: {.code track_steps(data[c(\"lon\", \"lat\")], id = data$animal)}.",
    latlon = "Longitudes come first, as {.arg x}, and latitudes are {.arg y}: {.code lonlat = TRUE}.",
    type = "Longitudes and latitudes are said so by {.code lonlat = TRUE}.",
    coordNames = "Coordinates are the columns of {.arg x}: {.code track_steps(data[c(\"lon\", \"lat\")])}."
  ))
  if (is.null(y)) {
    named <- Filter(function(v) is.character(v) && length(v) == 1L && is.data.frame(x), list(id = id, time = time))
    for (what in names(named)) {
      taken <- take_named_column(x, named[[what]], what, "x", rlang::current_env())
      x <- taken$x
      assign(what, taken$column)
    }
    if (!(is.matrix(x) || is.data.frame(x)) || ncol(x) != 2L) {
      abort("input", c(
        "{.arg x} must have two columns, the coordinates, where {.arg y} is not given, not be {describe(x)}.",
        i = "Choose them, and the individuals: {.code track_steps(x[c(\"lon\", \"lat\")], id = x$animal)}."
      ))
    }
    y <- x[, 2L, drop = TRUE]
    x <- x[, 1L, drop = TRUE]
  }
  check_flag(lonlat, "lonlat")
  x <- track_coordinates(x, "x")
  y <- track_coordinates(y, "y", length(x))
  require_one_each(id, "id", length(x))
  require_one_each(time, "time", length(x))
  if (!is.null(time)) require_times(time)
  if (lonlat) require_degrees(x, y)
  tracks <- split(seq_along(x), if (is.null(id)) rep(1L, length(x)) else factor(id, unique(id)))
  if (!is.null(time)) require_ascending_times(time, tracks)
  step <- angle <- rep(NA_real_, length(x))
  for (rows in tracks) {
    n <- length(rows)
    if (n < 2L) next
    moved <- if (lonlat) on_sphere(x[rows], y[rows]) else on_plane(x[rows], y[rows])
    step[rows[-n]] <- moved$length
    angle[rows[-c(1L, n)]] <- wrapped(moved$leaves[-1L] - moved$arrives[-(n - 1L)])
  }
  out <- data.frame(x = x, y = y, step = step, angle = angle)
  if (!is.null(time)) out <- cbind(time = time, out)
  if (!is.null(id)) out <- cbind(id = id, out)
  structure(out, class = c("bnp_track", "data.frame"))
}

track_coordinates <- function(v, arg, n = length(v), call = rlang::caller_env()) {
  if (!is.numeric(v) || !is.null(dim(v)) || length(v) != n) {
    of <- if (length(v) != n) paste(" of length", n)
    abort("input", c(
      "{.arg {arg}} must be a numeric vector{of}, not {describe(v)}.",
      i = if (is.data.frame(v)) "Choose its columns: {.code track_steps(x$lon, x$lat)}."
    ), call = call)
  }
  if (!n) abort("input", "{.arg {arg}} has no locations: at least one is needed.", call = call)
  bad <- which(is.infinite(v))
  if (length(bad)) {
    abort("not_finite", c(
      "{.arg {arg}} must be finite; {cli::qty(length(bad))}element{?s} {places(bad)}
       {cli::qty(length(bad))}{?is/are} not.",
      i = "Give {.code NA} where a location was missed."
    ), call = call)
  }
  as.double(v)
}

require_one_each <- function(v, arg, n, call = rlang::caller_env()) {
  if (!is.null(v) && (!is.atomic(v) || !is.null(dim(v)) || length(v) != n || anyNA(v))) {
    abort("argument", c(
      "{.arg {arg}} must be a vector with one value for each location ({n}), none of them missing, not
       {describe(v)}.",
      i = if (is.character(v) && length(v) == 1L) "The name of a column is for {.arg x} a data frame without {.arg y}."
    ), call = call)
  }
}

require_times <- function(time, call = rlang::caller_env()) {
  if (!(is.numeric(time) || inherits(time, c("Date", "POSIXct", "difftime")))) {
    abort("times", c(
      "{.arg time} must be numbers, dates or times, not {describe(time)}.",
      i = "Text is turned into times by {.fn as.POSIXct} or {.fn as.Date}."
    ), call = call)
  }
  bad <- which(!is.finite(as.numeric(time)))
  if (length(bad)) {
    abort("times", c(
      "{.arg time} must be finite; {cli::qty(length(bad))}element{?s} {places(bad)}
       {cli::qty(length(bad))}{?is/are} not.",
      i = "Leave out locations whose time is not known."
    ), call = call)
  }
}

require_degrees <- function(x, y, call = rlang::caller_env()) {
  bad <- which(abs(x) > 360 | abs(y) > 90)
  if (length(bad)) {
    abort("range", c(
      "Longitudes {.arg x} must be from -360 to 360 degrees, latitudes {.arg y} from -90 to 90.",
      x = "Not so in {cli::qty(length(bad))}row{?s} {places(bad)}.",
      i = "Coordinates on a plane, as of UTM, go with {.code lonlat = FALSE}."
    ), call = call)
  }
}

require_ascending_times <- function(time, tracks, call = rlang::caller_env()) {
  intervals <- lapply(tracks, function(rows) diff(as.numeric(time)[rows]))
  late <- unlist(Map(function(rows, interval) rows[-1L][interval <= 0], tracks, intervals))
  if (length(late)) {
    abort("times", c(
      "{.arg time} must ascend within a track.",
      x = "Not so in {cli::qty(length(late))}row{?s} {places(sort(late))}.", i = "Sort the locations by track and time."
    ), call = call)
  }
  every <- unlist(intervals)
  usual <- stats::median(every)
  uneven <- sum(abs(every - usual) > 0.1 * usual)
  if (uneven) {
    cli::cli_inform(
      c("{uneven} of {length(every)} intervals between locations differ{cli::qty(uneven)}{?s/} from the usual one by
         more than a tenth.",
        i = "Steps over different times cannot be compared: interpolate, or insert {.code NA} where locations were
             missed, as {.code ?track_steps} shows."),
      class = c("bnpvi_message_times", "bnpvi_message"), call = NULL
    )
  }
}

# Classes of tables of tracks. Such tables have coordinates in addition to the modelled steps, so that columns
# that no block of a product names are left out.
track_classes <- c("bnp_track", "moveData", "momentuHMMData")
# The default observation model of a table of tracks. If no step is 0, the model has no probability of zeros.
obs_of_track <- function(x, call) {
  zeros <- any(x$step == 0, na.rm = TRUE)
  cli::cli_inform(
    c("The steps and turning angles of a track are modelled, not its locations.",
      i = "This is the model {.code obs = obs_product(obs_gamma(columns = \"step\"{if (zeros) ', zeros = TRUE'}),
           obs_vonmises(columns = \"angle\"))}."),
    class = c("bnpvi_message_track", "bnpvi_message"), call = call
  )
  obs_product(obs_gamma(columns = "step", zeros = zeros), obs_vonmises(columns = "angle"))
}

# The column of a table of tracks that says to which track a row belongs; NULL for other data.
id_of_track <- function(x) {
  named <- if (inherits(x, track_classes)) intersect(c("id", "ID"), names(x))
  if (length(named)) named[1L]
}

# Gaps belong to the default model of a track: its last step and its first angle are not there. NULL: no choice is made.
action_of_track <- function(x, obs) if (inherits(x, track_classes) && is.null(obs)) "model"

steps_of_track <- function(x, obs) {
  if (!inherits(x, track_classes) || any(vapply(obs$blocks, function(block) is.null(named_columns_of(block)), NA))) {
    return(x)
  }
  named <- unlist(lapply(obs$blocks, function(block) {
    c(named_columns_of(block), exposure_column(block), covariates_of(block))
  }))
  class(x) <- "data.frame"
  x[names(x) %in% named]
}

# The locations in a table of tracks, for the picture of a fit: a matrix with columns x and y. NULL if there are none.
locations_of_track <- function(x) {
  if (all(c("x", "y") %in% names(x)) && is.numeric(x$x) && is.numeric(x$y)) {
    cbind(x = as.double(x$x), y = as.double(x$y))
  }
}

# The steps of a track on a plane: list(length, leaves, arrives), with the length of each step, and its
# direction (anticlockwise) at its beginning and end; NA for a missing step.
on_plane <- function(x, y) {
  dx <- diff(x)
  dy <- diff(y)
  direction <- ifelse(dx == 0 & dy == 0, NA, atan2(dy, dx))
  list(length = Mod(complex(real = dx, imaginary = dy)), leaves = direction, arrives = direction)
}

on_sphere <- function(x, y) {
  from <- -length(x)
  lon <- x * pi / 180
  lat <- y * pi / 180
  apart <- diff(lon)
  a <- sin(diff(lat) / 2)^2 + cos(lat[from]) * cos(lat[-1L]) * sin(apart / 2)^2
  # The direction in which the great circle from point a to point b leaves a, anticlockwise from east.
  bearing <- function(lat_a, lat_b, apart) {
    atan2(cos(lat_a) * sin(lat_b) - sin(lat_a) * cos(lat_b) * cos(apart), sin(apart) * cos(lat_b))
  }
  leaves <- bearing(lat[from], lat[-1L], apart)
  arrives <- wrapped(bearing(lat[-1L], lat[from], -apart) + pi)
  none <- a == 0
  list(
    length = 2 * 6371 * asin(pmin(sqrt(a), 1)), leaves = replace(leaves, none, NA), arrives = replace(arrives, none, NA)
  )
}

# --- The picture ---

# What the picture of a track shows: list(from (x, y, state of each step), all (x, y of locations), k).
track_picture <- function(fit, data, id, xy, call = rlang::caller_env()) {
  if (has_trees(fit$input)) {
    abort("argument", "{.code type = \"track\"} is for sequences, and this fit is one to trees.", call = call)
  }
  if (!is.character(xy) || length(xy) != 2L || anyNA(xy)) {
    abort("argument", "{.arg xy} must be the names of two columns, not {describe(xy)}.", call = call)
  }
  if (is.null(data)) {
    at <- as.data.frame(kept_locations(fit, xy, call))
    starts <- fit$input$starts
    runs <- segments(fit)
  } else {
    at <- data
    starts <- starts_of_track(fit, data, id, xy, call)
    runs <- segments(fit, data, !!id)
  }
  state <- cluster_ids(fit)[rep(runs$state, runs$length)]
  from <- unlist(Map(seq_len, diff(starts) - 1L))
  first <- rep(starts[-length(starts)], pmax(diff(starts) - 1L, 0L)) + from
  x <- at[[xy[1L]]]
  y <- at[[xy[2L]]]
  list(
    steps = data.frame(x = x[first], y = y[first], to_x = x[first + 1L], to_y = y[first + 1L], state = state[first]),
    ends = list(x = range(x, na.rm = TRUE), y = range(y, na.rm = TRUE)), xy = xy, k = max(state, fit$state$k)
  )
}

kept_locations <- function(fit, xy, call) {
  locations <- kept_data(fit)$locations
  if (is.null(locations) || !all(xy %in% colnames(locations))) {
    abort("argument", c(
      "{.code type = \"track\"} needs {.arg data}, with the coordinates in columns {.field {xy}}.",
      i = "Only a fit of a table of {.fn track_steps} or {.code prepData()} that keeps its data has locations, those in
           columns {.field x} and {.field y}."
    ), call = call)
  }
  locations
}

starts_of_track <- function(fit, data, id, xy, call) {
  if (!is.data.frame(data) || !all(xy %in% names(data)) || !all(vapply(unclass(data)[xy], is.numeric, NA))) {
    abort("columns", c(
      "{.arg data} must be a data frame with numeric columns {.field {xy}}, where locations are.",
      i = "{.fn track_steps} keeps them; other names are given as {.arg xy}."
    ), call = call)
  }
  internal <- as_new_sequences(fit, data, id, call, "data")
  if (internal$n != nrow(data)) {
    abort("argument", "{.arg data} must have no missing values in the modelled columns, as every row is a location
      of the track.", call = call)
  }
  internal$starts
}

draw_track <- function(picture, main = "", xlab = picture$xy[1L], ylab = picture$xy[2L], asp = 1, ...) {
  steps <- picture$steps
  plan <- state_plan(steps$state, graphics::par("fin")[2L])
  old <- set_margins(c(usual[1:3], plan$width))
  on.exit(graphics::par(old))
  graphics::plot(picture$ends$x, picture$ends$y, type = "n", main = main, xlab = xlab, ylab = ylab, asp = asp, ...)
  colour <- cluster_colours(picture$k)
  graphics::segments(steps$x, steps$y, steps$to_x, steps$to_y, col = colour[steps$state], lwd = 1.5)
  graphics::points(steps$x, steps$y, pch = 20, cex = 0.4, col = colour[steps$state])
  state_legend(plan, colour, graphics::grconvertX(1, "nfc", "inches"), graphics::grconvertY(0.95, "nfc", "inches"))
}

gg_track <- function(picture) {
  steps <- picture$steps
  steps$state <- factor(steps$state, levels = seq_len(picture$k))
  ggplot2::ggplot(
    steps, ggplot2::aes(.data$x, .data$y, xend = .data$to_x, yend = .data$to_y, colour = .data$state)
  ) +
    ggplot2::geom_segment(na.rm = TRUE) +
    gg_states(picture$k, picture$steps$state, "colour") +
    ggplot2::coord_equal() +
    ggplot2::labs(x = picture$xy[1L], y = picture$xy[2L], colour = "State") +
    ggplot2::theme_minimal()
}
