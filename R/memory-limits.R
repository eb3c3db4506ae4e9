# Refuses requests whose results would not fit into memory, before memory fills up.

# The most bytes of a result (4 GB), and the most tokens that are drawn or learned one by one, at about 40
# bytes each. Both are guesses at what an R session can spare, including copies that are made on the way.
most_bytes <- 2^32
most_tokens <- 1e8

# Refuses a request whose result would take more than most_bytes. what: the beginning of the message; remedy:
# its hint.
check_memory <- function(bytes, what, remedy, call) {
  if (bytes > most_bytes) {
    abort("memory", c(
      paste0(what, " would take {signif(bytes / 2^30, 3)} GB, more than the {most_bytes / 2^30} GB that are allowed."),
      i = remedy
    ), call = call)
  }
}

# Refuses to draw a data set, rows x columns of numbers, that would not fit into memory.
check_drawn <- function(rows, columns, arg, call = rlang::caller_env()) {
  check_memory(8 * sum(as.double(rows)) * columns, paste0("{.arg ", arg, "}: a data set"),
    "Draw fewer rows at a time.", call
  )
}

# Refuses documents with too many tokens to be processed one by one, in `batches` parts.
check_tokens <- function(data, batches, doing, call) {
  of_document <- diff(c(0, cumsum(data$value))[data$row_start + 1L])
  most <- max(of_document, sum(of_document) / batches, 0)
  if (most > most_tokens) {
    in_full <- function(n) format(n, big.mark = ",", scientific = FALSE, digits = 15)
    abort("memory", c(
      "{doing} takes tokens one by one, and there are {in_full(most)} at once, more than {in_full(most_tokens)}.",
      x = "The longest document is {.val {as.character(numbered_documents(data)[which.max(of_document)])}}.",
      i = "Are its values counts? {.code bnp_control(\"memoized\")}, the default, fits counts of any size."
    ), call = call)
  }
}
