# Normal scores qnorm(below), where `below` is the probability of a smaller value. Where rounding makes this
# probability 0 or 1, the score would be infinite: such values get the most extreme score that double
# precision can represent, and a message says how many they are.
normal_scores <- function(below) {
  ends <- c(2^-1074, 1 - 2^-53)
  beyond <- sum(below < ends[1] | below > ends[2], na.rm = TRUE)
  if (beyond > 0L) {
    last <- format(stats::qnorm(ends), digits = 3, trim = TRUE)
    cli::cli_inform(c(
      "{beyond} pseudo-residual{?s} {?is/are} given as {last[1]} or {last[2]}, the most extreme that double precision
       can represent.",
      i = "{cli::qty(beyond)}{?Its true value is/Their true values are} larger: {.arg newdata} {?has a value/have
           values} far from what the fit expects."
    ), class = c("bnpvi_message_residuals", "bnpvi_message"))
  }
  below[] <- stats::qnorm(pmin(pmax(below, ends[1]), ends[2]))
  below
}
