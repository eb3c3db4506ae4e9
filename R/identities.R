#' Identities of clusters
#'
#' Clusters are numbered by decreasing size, so that the number of a cluster may change when more observations have come
#' in. Its identity lasts: an integer that [update()][update.bnp_fit] never gives to another cluster.
#'
#' @param fit A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @return
#' * `cluster_ids()`: an integer for each cluster, in the order of their numbers. In a fit that was never updated,
#'   identities are the numbers. `NA`: an empty cluster of a stream's finite prior.
#' * `cluster_history()`: a data frame with a row for each identity that was ever given: `id`; `born_at` and
#'   `last_seen`, the number of observations that had been seen when the cluster was found, and when an observation last
#'   belonged to it; `size`, its expected number of observations, for a cluster that no longer exists the last one;
#'   `fate`, `"alive"`, `"merged"` or `"removed"`; and `into`, the cluster that it was merged into. When two clusters
#'   are merged, the larger one keeps its identity.
#'
#' `predict(type = "id")` gives the identity of the cluster, topic or state of each row (in topic models of each
#' document), and `cluster_ids(fit)[fitted(fit)]` those of the training data. Pictures show identities.
#' @seealso [update.bnp_fit()]
#' @examples
#' half <- seq(1, 272, by = 2)
#' fit <- bnp_mixture(faithful[half, ], control = bnp_control(seed = 1))
#' cluster_ids(fit)
#' cluster_history(fit)
#' table(predict(fit, faithful[-half, ], type = "id"))
#' @export
cluster_ids <- function(fit) {
  check_able(fit, "cluster_ids")
  fit$ids %||% seq_len(fit$state$k)
}

#' @rdname cluster_ids
#' @export
cluster_history <- function(fit) {
  check_able(fit, "cluster_history")
  fit$history %||% next_history(NULL, seq_len(fit$state$k), fit$sizes, nobs(fit))
}

# Names values by the lasting identities of clusters, which updates do not change. clusters: their present
# numbers.
with_ids <- function(fit, clusters) stats::setNames(cluster_ids(fit)[clusters], names(clusters))

# Updates the history of clusters (NULL: none yet). ids, sizes: of the present clusters; seen: the number of
# observations seen so far; touched: for each cluster, whether some of the new observations belong to it;
# merged: data frame (id, into) of the merges since. Clusters in the history that are not in `ids` were
# merged, if `merged` lists them, or else removed. Clusters that were born and gone between two histories
# leave no trace.
next_history <- function(history, ids, sizes, seen, touched = rep(TRUE, length(ids)), merged = NULL) {
  born <- !ids %in% history$id
  history <- rbind(history, data.frame(
    id = as.integer(ids[born]), born_at = rep(as.double(seen), sum(born)), last_seen = rep(as.double(seen), sum(born)),
    size = as.double(sizes[born]), fate = rep("alive", sum(born)), into = rep(NA_integer_, sum(born))
  ))
  at <- match(ids, history$id)
  history$size[at] <- as.double(sizes)
  history$last_seen[at[touched]] <- seen
  gone <- which(history$fate == "alive" & !history$id %in% ids)
  history$into[gone] <- vapply(history$id[gone], merged_into, 1L, merged, known = history$id)
  history$fate[gone] <- ifelse(is.na(history$into[gone]), "removed", "merged")
  history
}

# The known cluster into which cluster `id` was merged, NA if there is none. If it was merged into a cluster
# that is not in `known`, because it existed only between two histories, the merges are followed further.
merged_into <- function(id, merged, known) {
  repeat {
    id <- as.integer(merged$into[match(id, merged$id)])
    if (!length(id) || is.na(id)) {
      return(NA_integer_)
    }
    if (id %in% known) {
      return(id)
    }
  }
}

# The history of clusters in a stream, whose engine reports for each cluster when it was born and last seen.
# departed: a table of clusters that are gone. A cluster that was gone before clusters were first split,
# merged or removed leaves no trace, unless it is in the history.
history_of_stream <- function(history, clusters, sizes, departed) {
  merged <- departed
  departed <- departed[departed$lasting | departed$id %in% history$id, ]
  known <- c(history$id, departed$id, clusters$id)
  into <- vapply(departed$id, merged_into, 1L, merged, known)
  now <- data.frame(
    id = as.integer(c(departed$id, clusters$id)), born_at = c(departed$born_at, clusters$born_at),
    last_seen = c(departed$last_seen, clusters$last_seen), size = c(departed$size, sizes),
    fate = rep(c("merged", "removed", "alive"), c(0L, nrow(departed), length(sizes))),
    into = c(into, rep(NA_integer_, length(sizes)))
  )
  now$fate[!is.na(now$into)] <- "merged"
  out <- rbind(history[!history$id %in% now$id, ], now)
  out <- out[order(out$id), ]
  rownames(out) <- NULL
  out
}

# The changes of clusters between two histories, which print() reports as `fit$changes`: list(born, merged,
# removed). born and removed are identities, merged is a data frame (id, into).
history_changes <- function(before, after) {
  was <- before$id[before$fate == "alive"]
  left <- after[after$id %in% was & after$fate != "alive", ]
  list(
    born = after$id[!after$id %in% before$id & after$fate == "alive"],
    merged = data.frame(id = left$id, into = left$into)[left$fate == "merged", ],
    removed = left$id[left$fate == "removed"]
  )
}

# Describes the changes of clusters in the last update: "Last update: 1 cluster born (9), 2 merged (4 into 2,
# 5 into 1)"; NULL before the first update.
described_changes <- function(fit) {
  changes <- fit$changes
  if (is.null(changes)) {
    return(NULL)
  }
  word <- cluster_word(fit)
  merged <- paste(changes$merged$id, "into", changes$merged$into)[seq_len(nrow(changes$merged))]
  parts <- Filter(length, list(born = changes$born, merged = merged, removed = changes$removed))
  counts <- as.character(lengths(parts))
  if (length(parts)) counts[1L] <- count_of(length(parts[[1L]]), word)
  line <- if (length(parts)) {
    paste0(counts, " ", names(parts), " (", vapply(parts, places, ""), ")", collapse = ", ")
  } else {
    paste0("no ", word, " born, merged or removed")
  }
  strwrap(paste0("Last update: ", line), exdent = 2)
}
