# Partition nearest to draws, and pairs that are often together: 10,000 rows in 20 overlapping clusters, 500 draws. CPU
# seconds of single runs. Rscript point-partition.R
suppressPackageStartupMessages(library(bnpvi))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "record.R"))

set.seed(11)
centres <- matrix(runif(40, -10, 10), 20)
x <- centres[sample(20, 10000, replace = TRUE), ] + matrix(rnorm(20000, 0, 0.6), 10000)
fit <- bnp_mixture(x, control = bnp_control(seed = 1, verbose = FALSE))
draws <- bnp_sample(fit, x, draws = 125, warmup = 50, seed = 1, verbose = FALSE)
for (loss in c("vi", "binder")) {
  seconds <- sum(system.time(point <- point_partition(draws, loss = loss, seed = 1))[1:2])
  cat(loss, ": ", length(unique(point)), " clusters, ", round(seconds, 1), " s\n", sep = "")
  found <- c(seconds, length(unique(point)))
  record("10,000 rows, 500 draws", paste0(loss, c("", ", clusters")), found, c("CPU s", ""))
}
seconds <- sum(system.time(coclustering(draws, threshold = 0.9))[1:2])
record("10,000 rows, 500 draws", "coclustering(threshold = 0.9)", seconds, "CPU s")
cat("coclustering above 0.9: ", round(seconds, 1), " s\n", sep = "")
