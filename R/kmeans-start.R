# The default start of hidden Markov models with a fixed number of states: clusters of rows by
# stats::kmeans().

# Labels of rows from ten starts of k-means, which has its own seed. NULL where the user chose another start,
# or where k-means cannot be used: rows without distances, missing cells, or weights. A fit with a fixed
# number of states most often misses clusters that differ in their means, and its moves do not make up for a
# poor start on real data (inst/design/decisions.md).
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

# The largest number of rows for k-means: up to it k-means takes less time than a pass over the data with
# moves (a guess).
most_rows_of_kmeans <- 10000L
