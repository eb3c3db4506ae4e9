# Chooses which points of a large data set are drawn: with all of them, points would hide each other and files
# would take tens of megabytes.

most_points <- 1e5 # more make files slow to open, with 56 bytes a point in a pdf
points_of_many <- 2e4 # of which more cover each other: a guess
points_of_cluster <- 100 # of a small cluster, which stays in sight: a guess

# Numbers of the points that are drawn: all, or the same share of the points of each cluster, evenly spaced in
# their order. cluster: the cluster of each point.
drawn_of <- function(cluster, word = "row") {
  n <- length(cluster)
  if (n <= most_points) {
    return(seq_len(n))
  }
  cluster <- as.integer(factor(cluster))
  size <- tabulate(cluster)
  by_cluster <- order(cluster, na.last = NA)
  place <- sequence(size)
  share <- rep(pmin(1, pmax(points_of_many / n, points_of_cluster / size)), size)
  drawn <- sort(by_cluster[floor(place * share) > floor((place - 1) * share)])
  tell_thinned(length(drawn), n, word)
  drawn
}

thinned <- function(points, word = "row") points[drawn_of(points$cluster, word), , drop = FALSE]

# Numbers of the rows of a long series that are drawn: in each stretch those with the smallest and the largest
# value of each column, so that the line covers the same area as with all rows. x: a matrix, where NA means
# that nothing is drawn.
drawn_of_series <- function(x) {
  n <- nrow(x)
  if (n <= most_points) {
    return(seq_len(n))
  }
  stretch <- ceiling(seq_len(n) * (points_of_many / n))
  ends <- lapply(seq_len(ncol(x)), function(j) {
    by_value <- order(stretch, x[, j], na.last = NA)
    of <- stretch[by_value]
    by_value[c(TRUE, diff(of) > 0) | c(diff(of) > 0, TRUE)]
  })
  drawn <- sort(unique(c(unlist(ends), which(rowSums(!is.na(x)) == 0))))
  tell_thinned(length(drawn), n)
  drawn
}

tell_thinned <- function(drawn, n, word = "row") {
  big <- function(n) format(n, big.mark = ",", scientific = FALSE)
  cli::cli_inform(
    "{big(drawn)} of {big(n)} {word}s are drawn.", class = c("bnpvi_message_picture", "bnpvi_message")
  )
}
