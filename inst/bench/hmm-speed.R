# Seconds a lap on one thread for one sequence of 100,000 rows, 12 columns and 50 Gaussian states with full covariance,
# against the forward-backward of the R packages HiddenMarkov (Fortran) and depmixS4 (C) on ready-made densities, which
# is less work than a lap, and an EM iteration of hmmlearn (Python, C++), each when it is installed; then a very long
# sequence and very many short ones. All in CPU seconds of one thread.
# Rscript hmm-speed.R; BNPVI_BENCH_PYTHON names the Python to ask for hmmlearn.
suppressPackageStartupMessages(library(bnpvi))

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "planted-chain.R"))

cpu <- function(f) {
  time <- system.time(f())
  sum(time[c("user.self", "user.child")])
}

# The difference of runs of 1 and of 5 laps, so that starting and reading do not count.
seconds_a_lap <- function(x, id, k) {
  run <- function(laps) {
    cpu(function() {
      bnp_hmm(x, id,
        prior = prior_hmm(k, sticky = 10),
        control = bnp_control("full", max_laps = laps, tol = 0, init = "random", seed = 1, threads = 1, verbose = FALSE)
      )
    })
  }
  (run(5L) - run(1L)) / 4
}

x <- draw(1e5, 12, 50)
ours <- seconds_a_lap(x, NULL, 50)
cat(sprintf("bnpvi, T = 100,000, K = 50, D = 12: %.3f s a lap\n", ours))
compare <- function(name, seconds) cat(sprintf("%s: %.3f s, %.1f times ours\n", name, seconds, seconds / ours))
best_of_3 <- function(f) min(vapply(1:3, function(i) cpu(f), 1))
set.seed(2)
density <- matrix(stats::runif(1e5 * 50), 1e5)
transition <- matrix(1 / 50, 50, 50)
if (requireNamespace("HiddenMarkov", quietly = TRUE)) {
  compare("HiddenMarkov, forward-backward only", best_of_3(function() {
    HiddenMarkov::forwardback.dthmm(transition, transition[1, ], density)
  }))
  # Its E step keeps T x K x K numbers: a tenth of the rows, times ten.
  part <- seq_len(1e4)
  compare("HiddenMarkov, E step for one column", 10 * cpu(function() {
    HiddenMarkov::Estep(
      x[part, 1], transition, transition[1, ], "norm", list(mean = seq(-9, 9, length.out = 50), sd = rep(1, 50))
    )
  }))
}
if (requireNamespace("depmixS4", quietly = TRUE)) {
  compare("depmixS4, forward-backward only", cpu(function() {
    depmixS4::fb(
      transition[1, , drop = FALSE], array(transition, c(1, 50, 50)), array(density, c(1e5, 1, 50)),
      ntimes = 1e5, homogeneous = TRUE, useC = TRUE
    )
  }))
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
    h = GaussianHMM(50, 'full', n_iter=n, tol=-1e300, init_params='stc', random_state=1, implementation='scaling')
    h.means_ = x[np.random.RandomState(1).choice(len(x), 50, False)]
    t = time.process_time(); h.fit(x); return time.process_time() - t
print(run(2) - run(1))
"
if (!system2(python, c("-c", shQuote("import hmmlearn")), stdout = FALSE, stderr = FALSE)) {
  files <- file.path(tempdir(), c("x.bin", "em.py"))
  writeBin(as.double(x), files[1])
  writeLines(script, files[2])
  threads <- "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"
  seconds <- as.double(system2("env", c(threads, python, rev(files)), stdout = TRUE, stderr = FALSE))
  compare("hmmlearn, one EM iteration", seconds)
}
cat(sprintf("one sequence of 700,000, K = 30, D = 10: %.3f s a lap\n", seconds_a_lap(draw(7e5, 10, 30), NULL, 30)))
many <- draw(1e6, 10, 30)
cat(sprintf("100,000 sequences of 10, K = 30, D = 10: %.3f s a lap\n", seconds_a_lap(many, rep(1:1e5, each = 10), 30)))
