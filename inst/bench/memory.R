# Peak memory of a fit beyond the data: it should grow with K and D^2, hardly with N. Linux only (reads
# VmHWM of a fresh process for each size).
# Rscript memory.R
sizes <- expand.grid(n = c(1e5, 4e5), k = c(20, 100))
one <- function(n, k, d = 16) {
  code <- sprintf("
    suppressPackageStartupMessages(library(bnpvi))
    high <- function() {
      as.numeric(gsub('[^0-9]', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1024
    }
    set.seed(1)
    x <- matrix(rnorm(%g * %g), ncol = %g)
    invisible(gc())
    before <- high()
    fit <- bnp_mixture(x, control = bnp_control(k_init = %g, moves = FALSE, max_laps = 3, seed = 1, verbose = FALSE))
    cat(before, high(), 8 * length(x) / 2^20)", n, d, d, k)
  as.numeric(strsplit(system2("Rscript", c("-e", shQuote(code)), stdout = TRUE), " ")[[1]])
}
for (i in seq_len(nrow(sizes))) {
  mb <- one(sizes$n[i], sizes$k[i])
  cat(sprintf(
    paste0(
      "n = %6.0f  K = %3.0f  data %4.0f MB  peak beyond loading %4.0f MB  ",
      "responsibilities would take %4.0f MB\n"
    ),
    sizes$n[i], sizes$k[i], mb[3], mb[2] - mb[1], 8 * sizes$n[i] * sizes$k[i] / 2^20
  ))
}
