# Two threads against one: seconds a lap by the clock, the two in turn, several runs each; by the median laps, and by
# the quickest of all, to which nothing was added by whoever else uses the machine. Then whole fits by the clock, those
# of whole-fits.R, the two in turn; of these the fits alone: Rscript threads.R [runs] whole [fits, a regular expression]
# Rscript threads.R [runs]
suppressPackageStartupMessages(library(bnpvi))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "planted-chain.R"))
source(file.path(here, "planted-topics.R"))

args <- commandArgs(TRUE)
runs <- if (length(args)) as.integer(args[1]) else 7L

# fit(control); of each run the median lap and the quickest.
compare <- function(name, laps, fit, ...) {
  lap <- function(threads) {
    control <- bnp_control(max_laps = laps, tol = 0, seed = 1, threads = threads, verbose = FALSE, ...)
    seconds <- diff(elbo_trace(fit(control))$seconds)
    c(stats::median(seconds), min(seconds))
  }
  seconds <- replicate(runs, c(lap(1L), lap(2L)))
  ratio <- seconds[1, ] / seconds[3, ]
  cat(sprintf(
    "%-44s one %.4f s, two %.4f s; %.2f x in the median of %d, %.2f to %.2f; quickest laps %.2f x\n", name,
    stats::median(seconds[1, ]), stats::median(seconds[3, ]), stats::median(ratio), runs, min(ratio), max(ratio),
    min(seconds[2, ]) / min(seconds[4, ])
  ))
}

whole_fits <- function(names, seeds) {
  own <- dirname(system.file(package = "bnpvi"))
  one <- function(name, seed, threads) {
    arguments <- c(file.path(here, "whole-fits.R"), "one", own, name, "given", seed, threads)
    out <- system2("Rscript", arguments, stdout = TRUE, stderr = FALSE)
    as.numeric(strsplit(trimws(utils::tail(out, 1)), " ")[[1]])
  }
  for (name in names) {
    seconds <- vapply(seq_len(seeds), function(seed) {
      found <- lapply(1:2, function(threads) one(name, seed, threads))
      stopifnot(identical(found[[1]][3:5], found[[2]][3:5]))
      c(found[[1]][2], found[[2]][2])
    }, numeric(2))
    ratio <- seconds[1, ] / seconds[2, ]
    cat(sprintf(
      "whole fit, %-6s one %.2f s, two %.2f s; %.2f x in the median of %d seeds, %.2f to %.2f\n", name,
      stats::median(seconds[1, ]), stats::median(seconds[2, ]), stats::median(ratio), seeds, min(ratio), max(ratio)
    ))
  }
}

if (identical(args[2], "whole")) {
  wanted <- if (length(args) > 2) args[3] else "."
  whole_fits(grep(wanted, c("m8", "m2", "m32", "whales", "t2000", "s20k", "mocap"), value = TRUE), runs)
  quit("no")
}

for (case in list(
  list(d = 8, k = 100), list(d = 64, k = 100), list(d = 64, k = 100, l = 4), list(d = 32, k = 1000, l = 4)
)) {
  n <- 100000
  set.seed(case$d)
  cluster <- sample(case$k, n, TRUE)
  x <- matrix(stats::rnorm(case$k * case$d, 0, 1.2 / sqrt(case$d)), case$k)[cluster, ] +
    matrix(stats::rnorm(n * case$d), n)
  compare(
    paste0("mixture, D = ", case$d, ", K = ", case$k, if (!is.null(case$l)) paste0(", L = ", case$l)),
    if (case$d == 8) 40L else 6L, function(control) bnp_mixture(x, control = control, start = cluster),
    moves = FALSE, sparsity = case$l
  )
}

x <- draw(1e5, 12, 50)
for (sequences in c(10L, 1L)) {
  for (sparsity in list(NULL, 4L)) {
    compare(
      paste0(
        "sequences, ", sequences, " x ", format(1e5 / sequences, scientific = FALSE),
        if (!is.null(sparsity)) paste0(", L = ", sparsity)
      ),
      20L, function(control) {
        id <- rep(seq_len(sequences), each = 1e5 / sequences)
        bnp_hmm(x, id, prior = prior_hmm(50, sticky = 10), control = control)
      },
      algorithm = "full", init = "random", moves = FALSE, sparsity = sparsity
    )
  }
}

documents <- planted_topics(100, 5000)(2000)
compare(
  "topics, 2,000 documents, V = 5,000, K = 100", 60L,
  function(control) {
    bnp_topics(documents, obs = obs_multinomial(0.02), prior = prior_lda(100, alpha = 0.5), control = control)
  },
  init = "anchor"
)
