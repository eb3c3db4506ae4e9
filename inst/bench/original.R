# CPU seconds a lap on one thread against bnpy, the Python program of the papers' authors: a full-covariance DP
# mixture (N = 100,000, K = 100, D = 8 and 64), an HDP topic model (2,000 documents, 5,000 words, K = 100) and a
# sticky HDP-HMM (10 sequences of 10,000, K = 50, D = 12; states well apart and overlapping). No moves;
# mixtures and HMMs start from the same labels.
# PYTHON=python3 BNPY=checkout BLAS=directory Rscript original.R [mixture8 mixture64 topics hmm overlapping]
#
# PYTHON needs numpy, scipy, numexpr, psutil, munkres, pandas, joblib, scikit-learn and matplotlib; BLAS (optional)
# holds OpenBLAS's libblas.so.3, for Python only. bnpy's compiled parts are used if they are there, as built by
#   cd $BNPY/bnpy/util && $PYTHON setup.py build_ext --inplace
#   cd $BNPY/bnpy/allocmodel/hmm/lib && g++ -O3 -ffast-math -DNDEBUG -shared -fPIC -I/usr/include/eigen3 \
#     FwdBwdRowMajor.cpp -o libfwdbwdcpp$($PYTHON -c 'import sysconfig as s; print(s.get_config_var("EXT_SUFFIX"))')
# No file of bnpy is changed: names that numpy and inspect have dropped are put back before it is loaded.
suppressPackageStartupMessages(library(bnpvi))

wanted <- commandArgs(TRUE)
if (!length(wanted)) wanted <- c("mixture8", "mixture64", "topics", "hmm", "overlapping")
python <- Sys.getenv("PYTHON", "python3")
bnpy <- normalizePath(Sys.getenv("BNPY"), mustWork = TRUE)
dir <- tempfile("original")
dir.create(dir)

writeLines("
import time
laps = []
def onLapComplete(**state):
    laps.append(time.process_time())
", file.path(dir, "lapclock.py"))
writeLines("
import ast, inspect, os, sys, warnings
warnings.simplefilter('ignore')
here, root, what = sys.argv[1:4]
call = {name: ast.literal_eval(value) for name, value in (a.split('=') for a in sys.argv[4:])}
sys.path[:0] = [root, os.path.join(root, 'bnpy', 'util'), here]
import numpy as np
for name, kind in dict(float=float, int=int, bool=bool, object=object, str=str).items():
    setattr(np, name, kind)
inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]
import bnpy, lapclock
from bnpy.util import EntropyUtil
from bnpy.allocmodel.hmm.lib import LibFwdBwd
def read(name, kind=np.float64):
    return np.fromfile(os.path.join(here, name), kind)
offsets = read('offsets', np.int32)
if what == 'topics':
    data = bnpy.data.BagOfWordsData(read('term', np.int32), read('x'), offsets, call.pop('terms'))
else:
    x = np.ascontiguousarray(read('x').reshape(-1, offsets[-1]).T).copy()
    z = read('label', np.int32)
    data = bnpy.data.XData(x, TrueZ=z) if what == 'mixture' else bnpy.data.GroupXData(x, offsets, TrueZ=z)
    call.update(initname='truelabels', ECovMat='eye', sF=1.0)
models = dict(mixture=('DPMixtureModel', 'Gauss'), topics=('HDPTopicModel', 'Mult'), hmm=('HDPHMM', 'Gauss'))
model, info = bnpy.run(data, *models[what], call.pop('algorithm'), customFuncPath=os.path.join(here, 'lapclock.py'),
                       convergeThr=-1, doSaveToDisk=False, doWriteStdOut=False, printEvery=-1, saveEvery=-1, **call)
assert model.obsModel.K == call['K']
print(EntropyUtil.hasCython, LibFwdBwd.cppReady())
print(*np.diff(lapclock.laps))
", file.path(dir, "run.py"))

# CPU seconds of laps 2, 3, ... by bnpy's own lap counter.
bnpy_laps <- function(what, call) {
  env <- c("OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", paste0("BNPYOUTDIR=", dir))
  if (nzchar(Sys.getenv("BLAS"))) env <- c(env, paste0("LD_LIBRARY_PATH=", Sys.getenv("BLAS")))
  text <- vapply(call, function(value) if (is.character(value)) paste0("'", value, "'") else format(value), "")
  arguments <- c(file.path(dir, "run.py"), dir, bnpy, what, paste0(names(call), "=", text))
  out <- system2(python, shQuote(arguments), stdout = TRUE, env = env)
  if (!identical(out[length(out) - 1], "True True")) message("bnpy runs without (all of) its compiled parts")
  seconds <- as.numeric(strsplit(out[length(out)], " ")[[1]])
  if (call$algorithm == "VB") seconds[-1] else seconds
}

write_bnpy <- function(x, offsets, label = integer(), term = integer()) {
  files <- list(x = as.double(x), offsets = as.integer(offsets), label = as.integer(label), term = as.integer(term))
  for (name in names(files)) writeBin(files[[name]], file.path(dir, name))
}

# Mean of laps 2, 3, ...: fits that differ by a number of laps only. Median of five such means.
our_seconds <- function(fit, laps) {
  cpu <- function(max_laps) sum(system.time(result <<- fit(max_laps))[c("user.self", "sys.self")])
  stats::median(replicate(5, (cpu(1 + laps) - cpu(1)) / laps))
}

compare <- function(name, ours, laps, mean_lap = stats::median) {
  for (way in names(laps)) {
    seconds <- mean_lap(laps[[way]])
    cat(sprintf("%s: %.4f s; bnpy (%s) %.3f s: %.1f x\n", name, ours, way, seconds, seconds / ours))
  }
}

for (d in c(8, 64)[paste0("mixture", c(8, 64)) %in% wanted]) {
  n <- 100000
  k <- 100
  set.seed(d)
  cluster <- sample(k, n, TRUE)
  x <- matrix(stats::rnorm(k * d, 0, 1.2 / sqrt(d)), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
  write_bnpy(x, c(0, n), label = cluster - 1L)
  ours <- our_seconds(function(max_laps) {
    control <- bnp_control(k_init = k, moves = FALSE, max_laps = max_laps, tol = 0, seed = 1)
    bnp_mixture(x, start = cluster, control = control)
  }, if (d == 8) 40 else 5)
  stopifnot(n_clusters(result) == k)
  call <- list(K = k, nLap = 7, gamma0 = 1)
  compare(sprintf("Mixture, D = %d", d), ours, list(
    "VB" = bnpy_laps("mixture", c(call, algorithm = "VB")),
    "memoVB, 10 batches" = bnpy_laps("mixture", c(call, algorithm = "memoVB", nBatch = 10))
  ))
}

if ("topics" %in% wanted) {
  k <- 100
  terms <- 5000
  set.seed(1)
  phi <- matrix(stats::rgamma(k * terms, 0.02), k)
  phi <- phi / rowSums(phi)
  train <- Matrix::Matrix(do.call(rbind, lapply(1:2000, function(d) {
    theta <- stats::rgamma(k, 0.05)
    tabulate(sample.int(terms, 175, TRUE, drop((theta / sum(theta)) %*% phi)), terms)
  })), sparse = TRUE)
  by_document <- Matrix::t(train)
  write_bnpy(by_document@x, by_document@p, term = by_document@i)
  laps <- 20
  ours <- our_seconds(function(max_laps) {
    bnp_topics(train,
      obs = obs_multinomial(0.02), prior = prior_hdp(gamma = 1, alpha = 0.5),
      control = bnp_control(
        k_init = k, init = "random", moves = FALSE, max_laps = max_laps, tol = 0, seed = 1, batches = 1
      )
    )
  }, laps)
  stopifnot(n_clusters(result) == k)
  # Ours: from the last visit, rounds until no count moves by 0.05, at most 100; and a fresh start and sparsity restarts
  # (25 topics, 10 rounds each) at visits that get rarer as they find nothing.
  call <- list(
    K = k, nLap = 1 + laps, algorithm = "memoVB", nBatch = 1, terms = terms, gamma = 1, alpha = 0.5, lam = 0.02,
    initname = "randexamples", initDocTopicCountLP = "useDocTopicCountIfProvided"
  )
  rounds <- list(nCoordAscentItersLP = 100, convThrLP = 0.05)
  restarts <- list(restartNumTrialsLP = 25, restartNumItersLP = 10)
  compare("Topics, mean of laps 2 to 21", ours, list(
    "at most 10 rounds to 0.01, no restarts" = bnpy_laps("topics", call),
    "rounds as ours, no restarts" = bnpy_laps("topics", c(call, rounds)),
    "rounds as ours, restarts in every lap" = bnpy_laps("topics", c(call, rounds, restarts, restartLP = 1))
  ), mean)
}

for (spread in c(hmm = 3, overlapping = 0.6)[c("hmm", "overlapping") %in% wanted]) {
  n <- 1e5
  k <- 50
  d <- 12
  set.seed(1)
  change <- stats::runif(n) > 0.98
  change[1] <- TRUE
  state <- sample(k, sum(change), TRUE)[cumsum(change)]
  x <- matrix(stats::rnorm(k * d, sd = spread), k)[state, ] + matrix(stats::rnorm(n * d), n)
  id <- rep(1:10, each = n / 10)
  write_bnpy(x, seq(0, n, n / 10), label = state - 1L)
  ours <- our_seconds(function(max_laps) {
    bnp_hmm(x, id,
      prior = prior_hdp_hmm(gamma = 10, alpha = 0.5, start = 5, sticky = 10), start = state,
      control = bnp_control(k_init = k, moves = FALSE, max_laps = max_laps, tol = 0, seed = 1, batches = 1)
    )
  }, 5)
  stopifnot(n_clusters(result) == k)
  call <- list(K = k, nLap = 6, gamma = 10, transAlpha = 0.5, startAlpha = 5, hmmKappa = 10)
  sparing <- c(call, limitMemoryLP = 1)
  compare(sprintf("HDP-HMM, means of sd %g", spread), ours, list(
    "VB, limitMemoryLP 0, its default" = bnpy_laps("hmm", c(call, algorithm = "VB")),
    "VB, limitMemoryLP 1" = bnpy_laps("hmm", c(sparing, algorithm = "VB")),
    "memoVB, 10 batches, limitMemoryLP 1" = bnpy_laps("hmm", c(sparing, algorithm = "memoVB", nBatch = 10))
  ))
}
