# Seconds a lap on one thread for one sequence of 100,000 rows, 12 columns and 50 Gaussian states with full covariance,
# against depmixS4's forward-backward and an EM iteration of hmmlearn, each when it is installed; then a very long
# sequence and very many short ones.
# Rscript hmm-speed.R; BNPVI_BENCH_PYTHON names the Python to ask for hmmlearn.
suppressPackageStartupMessages(library(bnpvi))

draw <- function(n, d, k, stay = 0.98) {
  set.seed(1)
  change <- stats::runif(n) > stay
  change[1] <- TRUE
  state <- sample(k, sum(change), TRUE)[cumsum(change)]
  matrix(stats::rnorm(k * d, sd = 3), k)[state, ] + matrix(stats::rnorm(n * d), n)
}

seconds_a_lap <- function(x, id, k, laps = 4) {
  fit <- bnp_hmm(x, id,
    prior = prior_hmm(k, sticky = 10),
    control = bnp_control("full", max_laps = laps, tol = 0, init = "random", seed = 1, threads = 1, verbose = FALSE)
  )
  min(diff(elbo_trace(fit)$seconds))
}

x <- draw(1e5, 12, 50)
ours <- seconds_a_lap(x, NULL, 50)
cat(sprintf("bnpvi, T = 100,000, K = 50, D = 12: %.3f s a lap\n", ours))
best_of_3 <- function(f) min(vapply(1:3, function(i) system.time(f())[["elapsed"]], 1))
if (requireNamespace("depmixS4", quietly = TRUE)) {
  # depmixS4's forward-backward alone, on ready-made densities: less work than a lap.
  set.seed(2)
  density <- array(stats::runif(1e5 * 50), c(1e5, 1, 50))
  transition <- array(matrix(1 / 50, 50, 50), c(1, 50, 50))
  seconds <- best_of_3(function() {
    depmixS4::fb(matrix(1 / 50, 1, 50), transition, density, ntimes = 1e5, homogeneous = TRUE, useC = TRUE)
  })
  cat(sprintf("depmixS4, forward-backward only: %.3f s, %.1f times ours\n", seconds, seconds / ours))
}
python <- Sys.getenv("BNPVI_BENCH_PYTHON", "python3")
script <- "
import sys, time, warnings, logging
import numpy as np
from hmmlearn.hmm import GaussianHMM
warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)
x = np.fromfile(sys.argv[1]).reshape(12, -1).T.copy()
def run(n):
    h = GaussianHMM(50, 'full', n_iter=n, tol=-1e300, init_params='stc', random_state=1)
    h.means_ = x[np.random.RandomState(1).choice(len(x), 50, False)]
    t = time.time(); h.fit(x); return time.time() - t
print(run(2) - run(1))
"
if (!system2(python, c("-c", shQuote("import hmmlearn")), stdout = FALSE, stderr = FALSE)) {
  files <- file.path(tempdir(), c("x.bin", "em.py"))
  writeBin(as.double(x), files[1])
  writeLines(script, files[2])
  threads <- "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"
  seconds <- as.double(system2("env", c(threads, python, rev(files)), stdout = TRUE, stderr = FALSE))
  cat(sprintf("hmmlearn, one EM iteration: %.3f s, %.1f times ours\n", seconds, seconds / ours))
}
cat(sprintf("one sequence of 700,000, K = 30, D = 10: %.3f s a lap\n", seconds_a_lap(draw(7e5, 10, 30), NULL, 30)))
many <- draw(1e6, 10, 30)
cat(sprintf("100,000 sequences of 10, K = 30, D = 10: %.3f s a lap\n", seconds_a_lap(many, rep(1:1e5, each = 10), 30)))
