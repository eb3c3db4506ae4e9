# Updates by the engine itself: a fit of some rows takes in others.

# Some rows (or, by their starts, sequences) of the data of the engine.
engine_rows <- function(data, rows, starts = c(0L, length(rows))) {
  data$n <- length(rows)
  data$starts <- as.integer(starts)
  if (!is.null(data$x)) {
    data$x <- data$x[rows, , drop = FALSE]
    return(data)
  }
  entries <- lapply(rows, function(i) data$row_start[i] + seq_len(data$row_start[i + 1L] - data$row_start[i]))
  data$row_start <- as.integer(c(0, cumsum(lengths(entries))))
  for (name in c("column", "value")) data[[name]] <- data[[name]][unlist(entries)]
  data
}

# A case with only some of its rows.
part_of <- function(case, rows, ...) replace(case, "data", list(engine_rows(case$data, rows, ...)))

engine_update <- function(case, before, ..., prior = case$model$prior) {
  case$model$obs <- with_learned_fields(case$model$obs, before$learned)
  engine_run(case, ..., prior = prior, start = list(state = before$state, settled = TRUE))
}

# For each cluster of an update the engine's number of the cluster it was before, NA for newborn ones.
earlier_clusters <- function(after, before) order(-before$sizes)[after$origins]

# Responsibilities of the earlier rows in the clusters that there are after an update.
carried_on <- function(resp, earlier) {
  out <- resp[, ifelse(is.na(earlier), 1L, earlier), drop = FALSE]
  out[, is.na(earlier)] <- 0
  out
}
