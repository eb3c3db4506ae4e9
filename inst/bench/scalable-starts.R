# Starts with K given, from all rows in few passes ("scalable") and from a sample ("bregman", "kmeans", "random"): what
# a start and ten laps after it reach, and processor seconds.
#
#   Rscript inst/bench/scalable-starts.R [thousand rows, default 200] [seeds, default 3]
#
# `start` is what a fit of one lap takes more than a lap. Sizes of clusters are equal, or fall by 0.8 from one to the
# next, so that the smallest of 40 has one row in 30,000.
library(bnpvi)

given <- as.numeric(commandArgs(TRUE))
n <- 1000 * if (length(given)) given[1] else 200
seeds <- seq_len(if (length(given) > 1) given[2] else 3)

planted <- function(k, d, share, apart) {
  set.seed(k + d)
  centres <- matrix(rnorm(k * d, sd = apart), k)
  centres[sample.int(k, n, TRUE, share), ] + rnorm(n * d)
}
cases <- list(
  "equal, K 40, D 8" = function() planted(40, 8, rep(1, 40), 4),
  "unequal, K 40, D 8" = function() planted(40, 8, 0.8^(1:40), 4),
  "unequal, K 100, D 16" = function() planted(100, 16, 0.93^(1:100), 3)
)
for (name in names(cases)) {
  x <- cases[[name]]()
  k <- as.integer(sub(".*K ([0-9]+).*", "\\1", name))
  for (init in c("random", "bregman", "kmeans", "scalable")) {
    found <- vapply(seeds, function(seed) {
      fit <- function(laps) {
        time <- system.time(out <- suppressWarnings(bnp_mixture(x, control = bnp_control(
          init = init, k_init = k, moves = FALSE, max_laps = laps, seed = seed, threads = 1, verbose = FALSE
        ))))
        c(elbo(out), sum(tabulate(fitted(out), k) > 0), sum(time[1:2]))
      }
      one <- fit(1)
      more <- fit(11)
      lap <- (more[3] - one[3]) / 10
      c(one[1], more[1:2], lap, one[3] - lap)
    }, double(5))
    cat(sprintf(
      "%-22s %-9s after one lap %s; after 11 %s; clusters %s; lap %.2f s, start %.2f s\n", name, init,
      paste(round(found[1, ]), collapse = " "), paste(round(found[2, ]), collapse = " "),
      paste(found[3, ], collapse = " "), mean(found[4, ]), mean(found[5, ])
    ))
  }
}
