# Truncation-free learning at the engine's level.

no_clusters <- function(concentration = 1) {
  list(
    t = numeric(), id = numeric(), born_at = numeric(), last_seen = numeric(), next_id = 1, batches = 0, seen = 0,
    untended = 0, concentration = concentration, recent = numeric()
  )
}

learn_rows <- function(data, model, clusters = no_clusters(model$prior$concentration[1L]), ...) {
  options <- utils::modifyList(list(
    threads = 1L, seed = 1, half_life = Inf, sweeps = 5L, k_max = 500L, merge = FALSE, split = FALSE, passes = 1L,
    batches = 1L, shuffled = FALSE, keep_interrupted = FALSE
  ), list(...))
  engine_stream(data, model, clusters, options, NULL)
}

# p x K statistics of the clusters.
statistics_of <- function(clusters) matrix(clusters$t, ncol = length(clusters$id))
