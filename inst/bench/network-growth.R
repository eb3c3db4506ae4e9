# Time of a lap of the gamma network as the network grows: groups of equal size, ten links a node, nine in ten within
# the groups; from the groups on, without moves. Prints seconds a lap and the most memory that was in use.
#
#   Rscript inst/bench/network-growth.R [nodes ...]
suppressMessages(library(bnpvi))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "record.R"))
sizes <- as.integer(commandArgs(TRUE))
if (!length(sizes)) sizes <- c(25000L, 50000L, 100000L, 200000L)

groups <- 40L
peak <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("^VmHWM", status, value = TRUE))) / 1024
}
for (n in sizes) {
  set.seed(1)
  group <- rep_len(seq_len(groups), n)
  from <- sample.int(n, 10.2 * n, replace = TRUE)
  near <- runif(length(from)) < 0.9
  to <- ifelse(near, (from + groups * sample.int(n / groups - 1, length(from), replace = TRUE) - 1) %% n + 1,
               sample.int(n, length(from), replace = TRUE))
  links <- unique(data.frame(from = pmin(from, to), to = pmax(from, to)))
  links <- links[links$from != links$to, ][seq_len(10 * n), ]
  links <- links[!is.na(links$from), ]
  control <- bnp_control(
    seed = 1, threads = 1, max_laps = 12, verbose = FALSE, moves = bnp_moves(FALSE, FALSE, FALSE, FALSE)
  )
  before <- peak()
  cpu <- system.time(fit <- suppressWarnings(
    bnp_network(links, obs_links(degree = TRUE), nodes = n, start = group, control = control)
  ))
  laps <- diff(fit$trace$seconds)
  cat(sprintf(
    "%7d nodes %8d links: %6.3f s a lap (median), %6.1f CPU s in all, %5.0f MB (%.0f before)\n", n, nrow(links),
    stats::median(laps), sum(cpu[1:2]), peak(), before
  ))
  record(
    paste(n, "nodes,", nrow(links), "links"), c("a lap, median", "in all", "most memory", "memory before the fit"),
    signif(c(stats::median(laps), sum(cpu[1:2]), peak(), before), 4), c("s", "CPU s", "MB", "MB")
  )
}
