# How near a lap of a full-covariance mixture is to the machine's limit: N = 100,000, K = 100, D = 64 and 8, one thread,
# against OpenBLAS's dgemm (2,000 x 2,000) in the same run. Counted are N K D^2 operations for the quadratic forms and
# as many for the scatter matrices (N L D^2 when L-sparse), nothing else. CPU seconds, medians of five, the two in turn.
# Rscript limit.R libopenblas.so.0   (Debian: from libopenblas0-serial; R's own BLAS is not touched)
suppressPackageStartupMessages(library(bnpvi))

path <- commandArgs(TRUE)
if (!length(path)) stop("Usage: Rscript limit.R path/to/libopenblas.so.0")

code <- "
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
typedef void (*Dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                      const int*, const double*, const int*, const double*, double*, const int*);
static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
void gflops(char** path, double* out) {
  static Dgemm dgemm;
  if (!dgemm) dgemm = (Dgemm) dlsym(dlopen(path[0], RTLD_NOW | RTLD_LOCAL), \"dgemm_\");
  const int n = 2000;
  const double one = 1, zero = 0;
  double *a = malloc(8L * n * n), *b = malloc(8L * n * n), *c = calloc((long) n * n, 8);
  for (long i = 0; i < (long) n * n; ++i) a[i] = i % 7, b[i] = i % 5;
  const double began = cpu();
  dgemm(\"N\", \"N\", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
  *out = 2e-9 * n * n * n / (cpu() - began);
  free(a), free(b), free(c);
}
"
file <- tempfile(fileext = ".c")
writeLines(code, file)
library_file <- sub("\\.c$", .Platform$dynlib.ext, file)
system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", file, "-ldl"), stdout = NULL)
dyn.load(library_file)
dgemm_gflops <- function() .C("gflops", normalizePath(path[1]), out = 0)$out

cpu <- function(expr) sum(system.time(expr)[c("user.self", "sys.self")])

# Fits that differ by a number of laps only.
lap_gflops <- function(x, cluster, k, laps, sparsity) {
  fit <- function(max_laps) {
    control <- bnp_control(k_init = k, moves = FALSE, max_laps = max_laps, tol = 0, seed = 1, sparsity = sparsity)
    seconds <- cpu(fit <- bnp_mixture(x, control = control, start = cluster))
    stopifnot(nrow(elbo_trace(fit)) == max_laps)
    seconds
  }
  seconds <- (fit(1 + laps) - fit(1)) / laps
  kept <- if (is.null(sparsity)) k else sparsity
  c(seconds = seconds, gflops = 1e-9 * nrow(x) * ncol(x)^2 * (k + kept) / seconds)
}

n <- 100000
k <- 100
for (d in c(64, 8)) {
  set.seed(d)
  cluster <- sample(k, n, TRUE)
  x <- matrix(stats::rnorm(k * d, 0, 1.2 / sqrt(d)), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
  for (sparsity in list(NULL, 4L)) {
    runs <- replicate(5, c(dgemm = dgemm_gflops(), lap_gflops(x, cluster, k, if (d == 64) 4 else 60, sparsity)))
    print(data.frame(
      D = d, L = if (is.null(sparsity)) k else sparsity, seconds_a_lap = round(stats::median(runs["seconds", ]), 4),
      Gflops = round(stats::median(runs["gflops", ]), 1), dgemm = round(stats::median(runs["dgemm", ]), 1),
      share = round(stats::median(runs["gflops", ] / runs["dgemm", ]), 2)
    ), row.names = FALSE)
  }
}
