# A lap (local and global step) of a full-covariance mixture against the same step of others, N = 100,000, K = 50, D = 8
# and 64: mclust's E and M step, and scikit-learn's BayesianGaussianMixture (Debian's python3-sklearn) if Python finds
# it. One thread; CPU seconds, medians of five, the programs in turn.
# Rscript peers.R [python3] [directory of OpenBLAS's libblas.so.3, for Python only]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
python <- if (length(args)) args[1] else "python3"
blas <- if (length(args) > 1) args[2] else ""
n <- 100000
k <- 50

cpu <- function(expr) sum(system.time(expr)[c("user.self", "sys.self")])

# Fits that differ by a number of laps only.
lap_seconds <- function(x, cluster, laps, sparsity = NULL) {
  fit <- function(max_laps) {
    control <- bnp_control(k_init = k, moves = FALSE, max_laps = max_laps, tol = 0, seed = 1, sparsity = sparsity)
    seconds <- cpu(fit <- bnp_mixture(x, control = control, start = cluster))
    stopifnot(nrow(elbo_trace(fit)) == max_laps)
    seconds
  }
  (fit(1 + laps) - fit(1)) / laps
}

mclust_seconds <- function(x, cluster) {
  if (!requireNamespace("mclust", quietly = TRUE)) return(NA)
  z <- mclust::unmap(cluster)
  cpu({
    m <- mclust::mstep(data = x, modelName = "VVV", z = z)
    mclust::estep(data = x, modelName = "VVV", parameters = m$parameters)
  })
}

sklearn <- "
import sys, time, warnings
import numpy as np
from sklearn.mixture import BayesianGaussianMixture
warnings.simplefilter('ignore')
n, d, k = (int(a) for a in sys.argv[2:5])
x = np.fromfile(sys.argv[1]).reshape(d, n).T.copy()
m = BayesianGaussianMixture(n_components=k, weight_concentration_prior_type='dirichlet_process', init_params='random',
                            max_iter=1, random_state=0).fit(x)
began = time.process_time()
log_prob, log_resp = m._e_step(x)
m._m_step(x, log_resp)
m._compute_lower_bound(log_resp, log_prob)
print(time.process_time() - began)
"
script <- tempfile(fileext = ".py")
writeLines(sklearn, script)
sklearn_seconds <- function(x) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.vector(x), file)
  env <- c("OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", if (nzchar(blas)) paste0("LD_LIBRARY_PATH=", blas))
  arguments <- c(script, file, sprintf("%d", as.integer(c(n, ncol(x), k))))
  out <- suppressWarnings(system2(python, arguments, stdout = TRUE, stderr = FALSE, env = env))
  if (length(out)) as.numeric(out[length(out)]) else NA
}

if (requireNamespace("mclust", quietly = TRUE)) suppressPackageStartupMessages(library(mclust))
for (d in c(8, 64)) {
  set.seed(d)
  cluster <- sample(k, n, TRUE)
  x <- matrix(stats::rnorm(k * d, 0, 1.2 / sqrt(d)), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
  laps <- if (d == 8) 50 else 5
  runs <- replicate(5, c(
    bnpvi = lap_seconds(x, cluster, laps), sparse = lap_seconds(x, cluster, laps, 4L),
    mclust = mclust_seconds(x, cluster), sklearn = sklearn_seconds(x)
  ))
  seconds <- apply(runs, 1, stats::median)
  print(data.frame(D = d, K = k, t(round(seconds, 4))), row.names = FALSE)
  ratio <- seconds[c("mclust", "sklearn")]
  print(round(rbind(dense = ratio / seconds["bnpvi"], "L = 4" = ratio / seconds["sparse"]), 1))
}
