# Dynamic Means on three moving clusters of which one dies and one is born (720 rows, 10 times): agreement over all
# times,
# identities kept, by lambda, with q = lambda / 4 and tau = 0.5; ten data sets, or the one in a file.
#
#   Rscript dynamic-means.R [moving_clusters.csv]
library(bnpvi)
file <- commandArgs(TRUE)[1]

# Centres take steps of standard deviation 0.5; points 0.7; cluster 2 dies after time 7, 3 is born at time 4.
planted <- function(seed) {
  set.seed(seed)
  centre <- rbind(c(-3, 0), c(3, 0), c(0, 3))
  do.call(rbind, lapply(1:10, function(t) {
    centre <<- centre + rnorm(6, sd = 0.5)
    alive <- c(TRUE, t <= 7, t >= 4)
    k <- rep(which(alive), each = 30)
    x <- centre[k, ] + rnorm(2 * length(k), sd = 0.7)
    data.frame(time = t, x1 = x[, 1], x2 = x[, 2], cluster = k)
  }))
}
sets <- if (is.na(file)) lapply(1:10, planted) else list(read.csv(file))
for (lambda in c(2, 4, 8, 16, 32, 64)) {
  agreement <- vapply(sets, function(data) {
    adjusted_rand_index(bnp_dynamic_means(data[c("x1", "x2")], data$time, lambda)$cluster, data$cluster)
  }, 1)
  cat("lambda", lambda, " ARI median", round(stats::median(agreement), 3), "range", round(range(agreement), 3), "\n")
}
big <- do.call(rbind, lapply(1:200, function(s) planted(s)))
big$time <- rep(seq_len(nrow(big) / 720), each = 720)
cat(nrow(big), "rows:", system.time(bnp_dynamic_means(big[c("x1", "x2")], big$time, 16))[["user.self"]], "CPU s\n")
