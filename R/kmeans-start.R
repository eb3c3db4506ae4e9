# Where hidden Markov models with a fixed number of states start unless told otherwise: from stats::kmeans().

# Labels from ten starts of k-means, by a seed of its own; NULL where another start was asked for, or the data have no
# distances between rows, gaps, or weights, which k-means does not know. Clusters that differ in their means are what
# a finite fit most often misses, and its search does not make up for a poor start on real data
# (inst/design/decisions.md).
kmeans_start <- function(data, obs, prior, control, resolved) {
  finite_chain <- prior_entry(prior)$verb == "bnp_hmm" && !is.null(prior$k)
  has_means <- identical(obs_facts(obs)$location, "mean")
  if (!finite_chain || !has_means || !is.null(control$init) ||
        control$algorithm == "stochastic" || has_missing(data) || !is.null(data$cells_missing) ||
        !is.null(data$weights)) {
    return(NULL)
  }
  whole <- data
  data <- sample_of(data)
  x <- obs_scaled(obs, data$x)
  middle <- colMeans(x)
  x <- x - rep(middle, each = nrow(x))
  largest <- max(abs(x), .Machine$double.xmin)
  x <- x / largest # squares that neither overflow nor vanish
  some <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), most_rows_of_kmeans))))
  if (nrow(unique(x[some, , drop = FALSE])) <= prior$k) {
    return(NULL)
  }
  centres <- with_r_seed(1L, resolved$seed %% .Machine$integer.max, function() {
    suppressWarnings(stats::kmeans(x[some, , drop = FALSE], prior$k, iter.max = 50L, nstart = 10L))$centers
  }, NULL)$sets[[1]]
  nearest <- function(x) {
    nearness <- x %*% t(centres) - rep(rowSums(centres^2) / 2, each = nrow(x))
    max.col(nearness, "first")
  }
  if (data$n < whole$n) {
    labels <- integer(whole$n)
    for_batches(whole, function(part, rows) {
      labels[rows] <<- nearest((obs_scaled(obs, part$x) - rep(middle, each = part$n)) / largest)
    })
    return(list(labels = labels, k = prior$k))
  }
  labels <- lapply(split_blocks(nrow(x)), function(rows) nearest(x[rows, , drop = FALSE]))
  list(labels = unlist(labels, use.names = FALSE), k = prior$k)
}

# A guess: k-means of as many rows takes less than a lap with moves.
most_rows_of_kmeans <- 10000L
