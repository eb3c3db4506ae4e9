# Labels: what users call rows, groups, classes or nodes. A label is never a number, so two values have one label exactly
# where they are equal, whatever their class, and the label of a value does not depend on the values beside it: those of
# several pieces, files or calls can be compared.

# x: a vector of any class -> the label of each value, NA where is.na() says so; text of a factor is that of its levels.
# Dates are "2020-01-31"; times "2020-01-31 12:00:00" in their time zone, without the time at midnight.
label_text <- function(x, arg = "x", call = rlang::caller_env()) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (!is.atomic(x) && !is.factor(x) || is.null(x)) {
    abort(arg, "{.arg {arg}} must be a vector of names, numbers, dates or times, not {describe(x)}.", call = call)
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
  } else if (inherits(x, "difftime") && !inherits(x, "hms")) {
    paste(number_text(as.vector(unclass(x))), attr(x, "units"))
  } else {
    text_of_others(x)
  }
  text[missing] <- NA
  text
}

# Values of `id`, `labels` and their like as a factor: levels in order of appearance, those of a factor in its own order
# and only where they are used.
label_factor <- function(x, arg = "x", call = rlang::caller_env()) {
  text <- label_text(x, arg, call)
  levels <- if (is.factor(x)) intersect(enc2utf8(levels(x)), text) else unique(text[!is.na(text)])
  factor(text, levels)
}

# The shortest text that is read as the same number; whole numbers in full, as those of integers are.
number_text <- function(x) {
  if (!is.double(x)) {
    return(as.character(x))
  }
  x <- x + 0 # -0 is 0
  whole <- is.finite(x) & x == round(x) & abs(x) < 2^53
  text <- character(length(x))
  text[whole] <- sprintf("%.0f", x[whole])
  rest <- x[!whole]
  short <- sprintf("%.15g", rest)
  differs <- is.finite(rest) & suppressWarnings(as.double(short)) != rest
  short[differs] <- sprintf("%.17g", rest[differs])
  text[!whole] <- short
  text
}

# 64 bits in the place of a double: whole numbers up to 2^53 by their two halves, others by package bit64.
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
  text <- format(as.Date(whole, origin = "1970-01-01"))
  part <- which(days != whole)
  text[part] <- paste(text[part], number_text(days[part]))
  infinite <- which(is.infinite(days))
  text[infinite] <- number_text(days[infinite])
  as.vector(text)
}

# Seconds since 1970 go behind a time that the clock shows twice, or that is no whole second.
text_of_times <- function(x) {
  zone <- attr(x, "tzone")[1L] %||% ""
  seconds <- as.double(unclass(x))
  whole <- floor(seconds)
  shown <- format(as.POSIXct(whole, origin = "1970-01-01", tz = zone), "%Y-%m-%d %H:%M:%S", tz = zone)
  back <- as.double(as.POSIXct(shown, format = "%Y-%m-%d %H:%M:%S", tz = zone))
  text <- sub(" 00:00:00$", "", shown)
  unclear <- which(is.na(back) | back != seconds)
  text[unclear] <- paste(shown[unclear], number_text(seconds[unclear]))
  infinite <- which(is.infinite(seconds))
  text[infinite] <- number_text(seconds[infinite])
  text
}

# Numbers with a unit, value labels or another meaning: as numbers.
text_of_others <- function(x) {
  plain <- as.vector(unclass(x))
  if (is.complex(plain)) {
    return(paste(number_text(Re(plain)), number_text(Im(plain))))
  }
  if (is.raw(plain) || is.logical(plain)) as.character(plain) else number_text(plain)
}
