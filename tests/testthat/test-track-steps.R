# Steps and angles of tracks, their models from end to end, and the picture of a track.

quiet <- bnp_control(seed = 1, verbose = FALSE)
walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
# Two animals that forage and travel in turn.
animals_moved <- function() {
  withr::with_seed(5, {
    state <- rep(rep(1:2, 5), each = 40)
    turn <- wrapped(c(pi, 0)[state] + ifelse(state == 1, draw_angles(400, 0.4), draw_angles(400, 6)))
    length <- rgamma(400, c(0.9, 3)[state], c(3, 2.5)[state])
    length[c(7, 250)] <- 0
    id <- rep(c("a", "b"), each = 200)
    heading <- stats::ave(turn, id, FUN = cumsum)
    list(
      x = stats::ave(length * cos(heading), id, FUN = cumsum), y = stats::ave(length * sin(heading), id, FUN = cumsum),
      id = id, state = state
    )
  })
}

test_that("steps and angles are those of the plane, and missing where there are none", {
  x <- c(0, 1, 1, 0, 0, 0)
  y <- c(0, 0, 1, 1, 1, 0)
  track <- track_steps(x, y)
  expect_s3_class(track, c("bnp_track", "data.frame"))
  expect_equal(track$step, c(1, 1, 1, 0, 1, NA))
  expect_equal(track$angle, c(NA, pi / 2, pi / 2, NA, NA, NA))
  expect_equal(track_steps(cbind(x, y)), track)
  expect_equal(track_steps(data.frame(x, y)), track)
  # Straight on, half a turn, and left and right.
  expect_equal(track_steps(c(0, 1, 2, 1), c(0, 0, 0, 0))$angle[2:3], c(0, pi))
  expect_equal(track_steps(c(0, 1, 2, 3), c(0, 0, 1, 1))$angle[2:3], c(pi / 4, -pi / 4))
  both <- track_steps(c(x, x), c(y, -y), id = rep(c("b", "a"), each = 6), time = rep(1:6, 2))
  expect_identical(names(both), c("id", "time", "x", "y", "step", "angle"))
  expect_equal(both$angle, c(track$angle, -track$angle))
  mixed <- track_steps(rep(x, each = 2), c(rbind(y, -y)), id = rep(c("b", "a"), 6))
  expect_equal(mixed$step[c(TRUE, FALSE)], track$step)
  gap <- track_steps(c(0, NA, 2, 3, 4), c(0, 0, 0, 0, 0))
  expect_equal(gap$step, c(NA, NA, 1, 1, NA))
  expect_equal(gap$angle, c(NA, NA, NA, 0, NA))
  expect_equal(track_steps(1, 2)$step, NA_real_)
})

test_that("on the sphere steps are great circles, and angles are those between them", {
  quarter <- track_steps(c(0, 90, 90), c(0, 0, 90), lonlat = TRUE)
  expect_equal(quarter$step[1:2], rep(6371 * pi / 2, 2))
  expect_equal(quarter$angle[2], pi / 2)
  # Along the equator straight on, across the date line; along another circle of latitude a little to the pole.
  expect_equal(track_steps(c(178, 179, -180, -179), rep(0, 4), lonlat = TRUE)$angle[2:3], c(0, 0))
  expect_equal(track_steps(c(0, 1, 2), rep(60, 3), lonlat = TRUE)$angle[2], 2 * atan(tan(pi / 360) * sin(pi / 3)))
  # Short steps are those of the plane.
  near <- track_steps(c(10, 10.001, 10.001, 10.003), c(0, 0, 0.001, 0.001), lonlat = TRUE)
  flat <- track_steps(c(10, 10.001, 10.001, 10.003), c(0, 0, 0.001, 0.001))
  expect_equal(near$step, flat$step * 6371 * pi / 180, tolerance = 1e-6)
  expect_equal(near$angle, flat$angle, tolerance = 1e-4)
})

test_that("bad tracks are refused, and uneven times are told", {
  expect_bad(track_steps("a", 1), "input", "`x`")
  expect_bad(track_steps(1:3, 1:2), "input", "`y`.*length 3")
  expect_bad(track_steps(1:3), "input", "two columns")
  expect_bad(track_steps(c(1, Inf), 1:2), "not_finite", "element 2")
  expect_bad(track_steps(1:3, 1:3, id = 1:2), "argument", "`id`")
  expect_bad(track_steps(1:3, 1:3, time = c(1, NA, 3)), "argument", "`time`")
  expect_bad(track_steps(1:3, 1:3, time = c(1, 3, 2)), "times", "row 3")
  expect_bad(track_steps(1:3, 91:93, lonlat = TRUE), "range", "lonlat = FALSE")
  expect_bad(track_steps(1:3, 1:3, lonlat = NA), "argument", "lonlat")
  locations <- data.frame(x = 1:3, y = 1:3, animal = "a")
  expect_bad(track_steps(data = locations), "argument", "`data`.*The table is `x`")
  expect_bad(track_steps("x", "y", data = locations), "argument", "The table is `x`")
  expect_bad(track_steps(locations, y = 1:3), "input", "Choose its columns")
  expect_bad(track_steps(1:3, 1:3, id = "animal"), "argument", "name of a column is for `x` a data frame")
  expect_bad(track_steps(1:3, 1:3, id = list(1, 1, 1)), "argument", "`id` must be a vector")
  expect_bad(track_steps(numeric(), numeric()), "input", "no locations")
  expect_bad(track_steps(1:3, 1:3, time = c("09:00", "10:00", "11:00")), "times", "as.POSIXct")
  expect_bad(track_steps(1:3, 1:3, time = c(1, 2, Inf)), "times", "element 3")
  expect_equal(track_steps(c(0, 3e200), c(0, 4e200))$step, c(5e200, NA))
  expect_message(
    track_steps(1:4, 1:4, time = c(1, 2, 3, 5)), "1 of 3 intervals.*differs", class = "bnpvi_message_times"
  )
  expect_silent(track_steps(1:4, 1:4, time = c(1, 2, 1, 2), id = c(1, 1, 2, 2)))
})

test_that("a table of tracks needs neither its id nor its gaps to be named", {
  moved <- animals_moved()
  track <- track_steps(moved$x, moved$y, moved$id)
  told <- bnp_hmm(track, id = "id", obs = walk, na_action = "model", control = quiet)
  plain <- suppressMessages(bnp_hmm(track, control = quiet))
  expect_identical(elbo(plain), elbo(told))
  expect_identical(segments(plain), segments(told))
  expect_identical(segments(plain, track), segments(told, track))
  alone <- suppressMessages(bnp_hmm(track_steps(moved$x, moved$y), control = quiet))
  expect_identical(nrow(segments(alone, track[c("step", "angle")])) > 1L, TRUE)
  expect_bad(bnp_hmm(track, obs = walk, control = quiet), "not_finite", "na_action")
})

test_that("a table of tracks is modelled as it is, has pseudo-residuals that are normal, and is drawn", {
  moved <- animals_moved()
  track <- track_steps(moved$x, moved$y, moved$id)
  fit <- bnp_hmm(track, id = "id", obs = walk, na_action = "model", control = quiet)
  expect_equal(n_clusters(fit), 2)
  expect_gt(adjusted_rand_index(fitted(fit), c(moved$state[-1], 2)), 0.6)
  plain <- bnp_hmm(as.data.frame(unclass(track))[c("id", "step", "angle")],
    id = "id", obs = walk, na_action = "model", control = quiet
  )
  expect_equal(elbo(fit), elbo(plain))
  like_prep <- structure(track, class = c("moveData", "data.frame"), names = c("ID", "x", "y", "step", "angle"))
  expect_equal(elbo(bnp_hmm(like_prep, id = "ID", obs = walk, na_action = "model", control = quiet)), elbo(fit))
  left <- residuals(fit, track, id = "id")
  expect_identical(dim(left), c(400L, 2L))
  expect_identical(is.na(unname(left)), is.na(cbind(track$step, track$angle)))
  above <- left[!is.na(track$step) & track$step > 0, 1]
  expect_gt(stats::ks.test(above, "pnorm")$p.value, 0.01)
  expect_gt(stats::ks.test(left[!is.na(track$angle), 2], "pnorm")$p.value, 0.01)
  turned <- replace(track, "angle", list(replace(track$angle, 10:12, c(pi, -pi, 3))))
  expect_silent(at_cut <- residuals(fit, turned, id = "id")[10:12, 2])
  expect_identical(is.na(unname(at_cut)), c(TRUE, TRUE, FALSE)) # the circle is cut at pi
  alone <- residuals(bnp_hmm(track["step"][-400, , drop = FALSE], obs = obs_gamma(zeros = TRUE), na_action = "model",
    control = quiet), track["step"][-400, , drop = FALSE])
  expect_identical(ncol(alone), 1L)
  picture <- track_picture(fit, track, "id", c("x", "y"))
  expect_equal(nrow(picture$steps), 398L)
  expect_equal(sqrt((picture$steps$to_x - picture$steps$x)^2 + (picture$steps$to_y - picture$steps$y)^2),
    track$step[!is.na(track$step)]
  )
  expect_identical(picture$steps$state, unname(fitted(fit))[-c(200, 400)])
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit, "track", data = track, id = "id", main = "Ways"))
  expect_silent(plot(fit, "density", data = track, id = "id"))
  renamed <- track
  names(renamed)[2:3] <- c("east", "north")
  expect_silent(plot(fit, "track", data = renamed, id = "id", xy = c("east", "north")))
  if (rlang::is_installed("ggplot2")) {
    expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(fit, "track", data = track, id = "id")), "ggplot_built")
  }
  keeping <- bnp_control(seed = 1, verbose = FALSE, keep_data = TRUE)
  kept <- bnp_hmm(track, id = "id", obs = walk, na_action = "model", control = keeping)
  expect_equal(track_picture(kept, NULL, NULL, c("x", "y")), picture)
  expect_silent(plot(kept, "track"))
  mixed_up <- track[c(201:400, 1:200), ]
  mixed <- bnp_hmm(mixed_up, obs = walk, na_action = "model", control = keeping)
  expect_equal(track_picture(mixed, NULL, NULL, c("x", "y")), track_picture(mixed, mixed_up, NULL, c("x", "y")))
  for (without in list(strip_data(kept), fit, plain)) expect_bad(plot(without, "track"), "argument", "`data`")
  expect_bad(plot(kept, "track", xy = c("east", "north")), "argument", "`data`")
  expect_bad(plot(fit, "track", data = renamed, id = "id"), "columns", "x")
  expect_bad(plot(fit, "track", data = track, id = "id", xy = 1:2), "argument", "xy")
})

test_that("without a model a track is steps and angles, and its columns may be named", {
  moved <- animals_moved()
  track <- track_steps(moved$x, moved$y, moved$id)
  fit <- bnp_hmm(track, id = "id", obs = walk, na_action = "model", control = quiet)
  of_track <- function(x) bnp_hmm(x, id = "id", na_action = "model", control = quiet)
  expect_message(own <- of_track(track), "zeros = TRUE", class = "bnpvi_message_track")
  expect_identical(elbo(own), elbo(fit))
  without <- track[c(1, 2, 3, 4, 5)]
  without$step <- pmax(without$step, 0.01)
  expect_message(of_track(without), '"step"), obs_vonmises', fixed = TRUE)

  rows <- data.frame(who = moved$id, east = moved$x, when = rep(1:200, 2), north = moved$y)
  named <- track_steps(rows, id = "who", time = "when")
  expect_identical(named, track_steps(rows$east, rows$north, rows$who, rows$when))
  expect_bad(track_steps(rows, id = "whose"), "id", "who")
  expect_bad(track_steps(rows, id = "who"), "input", "two columns")
})

test_that("elks of package moveHMM: two states are those of its maximum likelihood fit", {
  skip_if_not_installed("moveHMM")
  elk <- moveHMM::elk_data
  tracks <- moveHMM::prepData(
    data.frame(ID = elk$ID, x = elk$Easting / 1000, y = elk$Northing / 1000), type = "UTM"
  )
  fit <- bnp_hmm(tracks, id = "ID", obs = walk, na_action = "model", prior = prior_hmm(2), control = quiet)
  expect_equal(unname(coef(fit)$gamma$shape[, 1]), c(0.883, 0.529), tolerance = 0.05)
  expect_equal(unname(coef(fit)$gamma$mean[, 1]), c(0.378, 3.149), tolerance = 0.05)
  own <- track_steps(elk$Easting / 1000, elk$Northing / 1000, elk$ID)
  expect_equal(own$step, tracks$step, tolerance = 1e-10)
  moving <- !is.na(own$angle)
  expect_lt(max(abs(wrapped(own$angle - tracks$angle)[moving])), 1e-8)
})
