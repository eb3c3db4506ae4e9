# Chromosome 11 of K562 in ten binary marks per 200 base pairs, cut where nothing is marked for at least 50 bins,
# into sequences of at least 5,000: an HDP-HMM from one state.
# Rscript hmm-chromatin.R file.txt.gz [max_laps] [threads] [heatmap.png]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
lines <- readLines(args[1], 2)
x <- as.matrix(utils::read.table(args[1], skip = 2, col.names = strsplit(lines[2], "\t")[[1]]))
quiet <- rle(rowSums(x) == 0)
ends <- cumsum(quiet$lengths)
middles <- (ends - quiet$lengths %/% 2)[quiet$values & quiet$lengths >= 50]
cuts <- 0
for (m in middles) if (m - cuts[length(cuts)] >= 5000) cuts <- c(cuts, m)
id <- findInterval(seq_len(nrow(x)), cuts + 1)
cat(nrow(x), "rows,", max(id), "sequences\n")

fit <- bnp_hmm(x, id, obs_bernoulli(),
  control = bnp_control(
    batches = 20, seed = 1, max_laps = if (length(args) > 1) as.integer(args[2]) else 30L,
    threads = if (length(args) > 2) as.integer(args[3]) else 1L, verbose = TRUE
  )
)
print(fit)
print(elbo_trace(fit), digits = 8)
print(round(coef(fit)$prob, 2))
print(round(state_durations(fit), 1))
if (length(args) > 3) {
  prob <- coef(fit)$prob
  order <- stats::hclust(stats::dist(prob))$order
  grDevices::png(args[4], 700, 250 + 18 * nrow(prob))
  graphics::par(mar = c(6, 9, 2, 1))
  graphics::image(
    seq_len(ncol(prob)), seq_len(nrow(prob)), t(prob[order, ]), zlim = c(0, 1), axes = FALSE, xlab = "", ylab = "",
    col = grDevices::hcl.colors(40, "Blues 3", rev = TRUE), main = "Probability of each mark"
  )
  graphics::axis(1, seq_len(ncol(prob)), colnames(prob), las = 2, tick = FALSE)
  share <- cluster_sizes(fit) / sum(cluster_sizes(fit))
  graphics::axis(2, seq_len(nrow(prob)), sprintf("%d (%.1f %%)", order, 100 * share[order]), las = 1, tick = FALSE)
  invisible(grDevices::dev.off())
}
if (file.exists("/proc/self/status")) cat(grep("VmHWM", readLines("/proc/self/status"), value = TRUE), "\n")
