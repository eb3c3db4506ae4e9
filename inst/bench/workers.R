# Workers: whole default fits by one local daemon and by two, bytes sent, and what the main process does itself.
#
#   Rscript inst/bench/workers.R [scale, default 1] [numbers of daemons, default 1,2,8,32] [family]
#
# Scale 1: a mixture of 1 million rows of 16 columns from 30 clusters, 20,000 documents, 400 sequences of 1,000 rows.
# `seconds` are elapsed ones; `main` and `work` are processor seconds, of the main process and of all daemons. Where the
# machine has other jobs, ratio = (main + work) / (main + work / daemons) says how much shorter a fit is that waits for
# nothing.
library(bnpvi)

given <- commandArgs(TRUE)
scale <- if (length(given)) as.numeric(given[1]) else 1
daemons <- if (length(given) > 1) as.integer(strsplit(given[2], ",")[[1]]) else c(1L, 2L, 8L, 32L)

rows <- function(n, d = 16, k = 30) {
  centres <- matrix(rnorm(k * d, sd = 3), k)
  centres[sample.int(k, n, TRUE), ] + rnorm(n * d)
}
documents <- function(n, terms = 2000, k = 20) {
  topics <- matrix(rgamma(k * terms, 0.05), k)
  topics <- topics / rowSums(topics)
  proportions <- matrix(rgamma(n * k, 0.2), n) + 1e-8
  p <- (proportions / rowSums(proportions)) %*% topics
  counts <- lapply(seq_len(n), function(i) {
    w <- sample.int(terms, 150, TRUE, p[i, ])
    n_w <- tabulate(w, terms)
    j <- which(n_w > 0)
    list(i = rep(i, length(j)), j = j, x = n_w[j])
  })
  Matrix::sparseMatrix(
    i = unlist(lapply(counts, `[[`, "i")), j = unlist(lapply(counts, `[[`, "j")), x = unlist(lapply(counts, `[[`, "x")),
    dims = c(n, terms)
  )
}
sequences <- function(n, length = 1000, k = 12, d = 4) {
  centres <- matrix(rnorm(k * d, sd = 4), k)
  lapply(seq_len(n), function(i) {
    state <- rep(sample.int(k, ceiling(length / 20), TRUE), each = 20)[seq_len(length)]
    centres[state, ] + rnorm(length * d)
  })
}

set.seed(1)
cases <- list(
  mixture = function() list(rows(1e6 * scale), bnp_mixture, list(batches = 48L)),
  topics = function() list(documents(ceiling(20000 * scale)), bnp_topics, list(batches = 16L)),
  sequences = function() list(sequences(ceiling(400 * scale)), bnp_hmm, list(batches = 16L))
)
if (length(given) > 2) cases <- cases[given[3]]

one <- function(name, case, n) {
  sent <- c(0, 0)
  unit <- c(B = 1, kB = 1e3, MB = 1e6, GB = 1e9)
  read <- function(m) {
    found <- regmatches(m, gregexpr("[0-9.e+]+ (B|kB|MB|GB) (down|up)", m))[[1]]
    if (!length(found)) return(c(0, 0))
    as.numeric(sub(" .*", "", found)) * unit[sub("^[^ ]+ ([^ ]+) .*", "\\1", found)]
  }
  workers <- if (n > 0) "bench" else FALSE
  if (n > 0) {
    mirai::daemons(n, .compute = "bench")
    on.exit(mirai::daemons(0, .compute = "bench"))
    mirai::everywhere(library(bnpvi), .compute = "bench")[]
  }
  processor <- function() {
    if (n == 0) return(0)
    sum(vapply(mirai::everywhere(sum(proc.time()[1:2]), .compute = "bench")[], identity, 0))
  }
  before <- processor()
  control <- do.call(bnp_control, c(case[[3]], list(
    seed = 1, wave = 8L, workers = workers, verbose = TRUE, threads = 1L
  )))
  invisible(gc())
  time <- system.time(fit <- withCallingHandlers(case[[2]](case[[1]], control = control), message = function(m) {
    sent <<- sent + read(conditionMessage(m))
    invokeRestart("muffleMessage")
  }))
  main <- sum(time[1:2])
  work <- processor() - before
  data.frame(
    fit = name, daemons = n, seconds = time[["elapsed"]], main = main, work = work,
    ratio = (main + work) / (main + work / max(1, n)), main_lap = main / fit$laps, laps = fit$laps, k = n_clusters(fit),
    down_mb_lap = sent[1] / 1e6 / fit$laps, up_mb_lap = sent[2] / 1e6 / fit$laps,
    elbo = sprintf("%a", elbo(fit))
  )
}

for (name in names(cases)) {
  case <- cases[[name]]()
  for (n in c(0L, daemons)) print(one(name, case, n), digits = 3)
}
