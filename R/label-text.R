# Labels of rows, groups, classes or nodes as text. Two values have the same label exactly where they are equal (of
# dates, numbers and text whatever their class), and the label of a value does not depend on other values, so that
# labels from several pieces, files or calls can be compared.

# The label of each value of a vector of any class; NA where is.na() is TRUE; the text of the level for a
# factor. Dates are "2020-01-31"; times "2020-01-31 12:00:00" in their time zone, at midnight without the
# time; times of day "12:00:00"; durations "90 mins", in the largest unit in which they are whole numbers.
label_text <- function(x, arg = "x", call = rlang::caller_env()) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (!is.atomic(x) || is.null(x) || isS4(x)) {
    abort(arg, c(
      "{.arg {arg}} must be a vector of names, numbers, dates or times, not {describe(x)}.",
      i = if (isS4(x)) "Convert it to text: {.code as.character({arg})}."
    ), call = call)
  }
  missing <- as.vector(is.na(x))
  text <- if (is.factor(x) || is.character(unclass(x))) {
    enc2utf8(as.vector(if (is.factor(x)) as.character(x) else unclass(x)))
  } else if (inherits(x, "integer64")) {
    text_of_integer64(x, arg, call)
  } else if (inherits(x, "Date")) {
    text_of_dates(x)
  } else if (inherits(x, "POSIXct")) {
    text_of_times(x)
  } else if (inherits(x, "difftime")) {
    seconds <- seconds_of(x)
    if (inherits(x, "hms")) time_of_day(seconds) else text_of_durations(seconds)
  } else {
    text_of_others(x)
  }
  text[missing] <- NA
  text
}

# Values of `id`, `labels` and similar arguments as a factor. Levels are in order of appearance or, with
# `sorted`, in the order of the values; a factor keeps the order of its levels, without levels that do not
# occur.
label_factor <- function(x, arg = "x", call = rlang::caller_env(), sorted = FALSE) {
  text <- label_text(x, arg, call)
  levels <- if (is.factor(x)) {
    intersect(enc2utf8(levels(x)), text)
  } else {
    unique(text[if (sorted) order_of_values(x, text) else !is.na(text)])
  }
  factor(text, levels)
}

# The order of the values that are not missing. order() itself does not sort 64-bit integers by value, as it
# reads their bits as doubles.
order_of_values <- function(x, text) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  x <- if (inherits(x, "integer64")) as.double(text) else if (is.character(unclass(x))) text else as.vector(unclass(x))
  order <- order(x)
  order[!is.na(text[order])]
}

# The shortest text that reads back as the same number; whole numbers are written in full, like integers.
number_text <- function(x) {
  if (!is.double(x)) {
    return(as.character(x))
  }
  x <- x + 0 # -0 is 0
  whole <- is.finite(x) & x == round(x) & abs(x) < 2^64 # all that 64-bit integers are
  text <- character(length(x))
  text[whole] <- sprintf("%.0f", x[whole])
  rest <- x[!whole]
  short <- sprintf("%.15g", rest)
  differs <- is.finite(rest) & suppressWarnings(as.double(short)) != rest
  short[differs] <- sprintf("%.17g", rest[differs])
  text[!whole] <- short
  text
}

# The text of 64-bit integers, which are stored in place of doubles: up to 2^53 they are read by their two
# halves, larger ones by package bit64.
text_of_integer64 <- function(x, arg, call) {
  if (requireNamespace("bit64", quietly = TRUE)) {
    return(bit64::as.character.integer64(x))
  }
  value <- halves_of_integer64(x)$number
  if (any(abs(value) > 2^53, na.rm = TRUE)) {
    abort(arg, c(
      "{.arg {arg}} has 64-bit integers above 2^53, which only package {.pkg bit64} can read.",
      i = "Install {.pkg bit64}, or give them as text."
    ), call = call)
  }
  sprintf("%.0f", value)
}

text_of_dates <- function(x) {
  days <- as.double(unclass(x))
  whole <- floor(days)
  text <- format(as.Date(whole, origin = "1970-01-01"), "%Y-%m-%d")
  part <- which(days != whole)
  text[part] <- paste(text[part], number_text(days[part]))
  nameless <- which(is.infinite(days) | abs(days) > 1e8) # beyond what the calendar of R has names for
  text[nameless] <- paste(number_text(days[nameless]), "days")
  as.vector(text)
}

seconds_of <- function(x) {
  size <- c(secs = 1, mins = 60, hours = 3600, days = 86400, weeks = 604800)[[attr(x, "units")]]
  as.double(unclass(x)) * size
}

text_of_durations <- function(seconds) {
  text <- paste(number_text(seconds), "secs")
  for (unit in c("mins", "hours", "days")) {
    size <- c(mins = 60, hours = 3600, days = 86400)[[unit]]
    whole <- which(is.finite(seconds) & seconds %% size == 0)
    text[whole] <- paste(number_text(seconds[whole] / size), unit)
  }
  text
}

# Times of day in the format of package hms, in which hours may exceed 24.
time_of_day <- function(seconds) {
  size <- abs(seconds)
  rest <- size %% 60
  second <- paste0(ifelse(rest < 10, "0", ""), number_text(rest))
  text <- sprintf("%s%02.0f:%02.0f:%s", ifelse(seconds < 0, "-", ""), size %/% 3600, size %/% 60 %% 60, second)
  odd <- which(!is.finite(seconds) | size >= 2^53)
  text[odd] <- number_text(seconds[odd])
  text
}

# Times as text. Where the clock shows the same time twice, or the time is not a whole second, the seconds since 1970
# are appended.
text_of_times <- function(x) {
  zone <- attr(x, "tzone")[1L] %||% ""
  all <- as.double(unclass(x))
  seconds <- unique(all)
  whole <- floor(seconds)
  shown <- format(.POSIXct(whole, zone), "%Y-%m-%d %H:%M:%S")
  text <- sub(" 00:00:00$", "", shown)
  unclear <- which(is.na(shown) | whole != seconds | shown_twice(whole, zone))
  text[unclear] <- paste(shown[unclear], number_text(seconds[unclear]))
  infinite <- which(is.infinite(seconds))
  text[infinite] <- number_text(seconds[infinite])
  text[match(all, seconds)]
}

# TRUE for times that the clock of this zone shows twice, because it is set back within a day: then another
# time, which differs by as many seconds as the clock is changed, looks the same.
shown_twice <- function(seconds, zone) {
  offset <- function(t) {
    out <- as.double(as.POSIXlt(.POSIXct(t, zone))$gmtoff)
    if (length(out)) ifelse(is.na(out), 0, out) else double(length(t))
  }
  own <- offset(seconds)
  twice <- logical(length(seconds))
  for (day in c(-86400, 86400)) {
    other <- offset(seconds + day)
    twice <- twice | (other != own & offset(seconds + own - other) == other)
  }
  twice
}

# The labels of values of all other classes (such as numbers with a unit or with value labels): their plain
# numbers.
text_of_others <- function(x) {
  plain <- as.vector(unclass(x))
  if (is.complex(plain)) {
    return(paste(number_text(Re(plain)), number_text(Im(plain))))
  }
  if (is.raw(plain) || is.logical(plain)) as.character(plain) else number_text(plain)
}
