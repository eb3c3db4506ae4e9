# Truncation-free topics beside stochastic learning with a given number, memoized learning with births and gensim's
# HDP: seconds, topics, and log probability of a held-out token, of single runs.
# [PYTHON=python3] Rscript streams-topics.R bars|articles|whales [picture.pdf]
# bars: planted topics on a grid, the documents of the package. articles: planted text of the
# size of a well-known set of news articles (2,246 documents of 194 tokens, 10,473 terms), 50 topics, with terms by
# Zipf's law. whales: real. Scores are sequential estimates of whole documents (20 draws), the same for all.
suppressPackageStartupMessages(library(bnpvi))
here <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(here), "score-picture.R"))

what <- commandArgs(TRUE)
sets <- c("bars", "articles", "whales")
if (!length(what) || !what[1] %in% sets) stop("Usage: Rscript streams-topics.R bars|articles|whales [picture.pdf]")
python <- Sys.getenv("PYTHON", "python3")

articles <- function(documents = 2246, terms = 10473, topics = 50) {
  zipf <- 1 / seq_len(terms)
  phi <- t(vapply(seq_len(topics), function(k) zipf * stats::rgamma(terms, 0.03), numeric(terms)))
  phi <- phi / rowSums(phi)
  share <- stats::rgamma(topics, 1)
  rows <- lapply(seq_len(documents), function(d) {
    theta <- stats::rgamma(topics, 2 * share / sum(share))
    theta <- theta / sum(theta)
    word <- tabulate(sample.int(terms, max(1, stats::rpois(1, 194)), TRUE, drop(theta %*% phi)), terms)
    cbind(d, which(word > 0), word[word > 0])
  })
  entry <- do.call(rbind, rows)
  Matrix::sparseMatrix(i = entry[, 1], j = entry[, 2], x = entry[, 3], dims = c(documents, terms))
}
set.seed(1)
x <- switch(what[1], bars = bars$counts, whales = whales$counts, articles = articles())
held <- sample(nrow(x), nrow(x) %/% 10)
test <- x[held, ]
train <- x[-held, ]
train <- train[, keep <- Matrix::colSums(train) > 0]
test <- test[, keep]
n <- nrow(train)
cat(what[1], ": ", n, " documents, ", sum(train), " tokens, ", ncol(train), " terms; held out ", nrow(test), "\n",
  sep = ""
)

runs <- data.frame()
record <- function(kind, label, seconds, k, score) {
  cat(sprintf("%-45s %7.2f s  K %3d  %8.4f\n", label, seconds, k, score))
  runs <<- rbind(runs, data.frame(kind, seconds, score))
}
show <- function(kind, label, ...) {
  start <- sum(proc.time()[1:2])
  fit <- suppressWarnings(bnp_topics(train, ...))
  seconds <- sum(proc.time()[1:2]) - start
  record(kind, label, seconds, n_clusters(fit), heldout_loglik(fit, test, "sequential", draws = 20, seed = 1))
  invisible(fit)
}
for (size in c(1, 10, 100, 500)) {
  for (passes in c(1, 3)) {
    show("truncation free", paste0("truncation free, batches of ", size, ", passes ", passes),
      control = bnp_control("truncation_free",
        seed = 1, batches = max(1, n %/% size), max_laps = passes, verbose = FALSE
      )
    )
  }
}
# A stream that begins with a memoized fit of its first documents.
for (first in switch(what[1], whales = 50, c(250, 500))) {
  start <- sum(proc.time()[1:2])
  begun <- suppressWarnings(bnp_topics(train[seq_len(first), ], control = bnp_control(
    seed = 1, max_laps = 20, verbose = FALSE
  )))
  of_start <- sum(proc.time()[1:2]) - start
  record("memoized start", paste0("memoized fit of the first ", first), of_start, n_clusters(begun), heldout_loglik(
    begun, test, "sequential",
    draws = 20, seed = 1
  ))
  batches <- split(seq(first + 1, n), (seq_len(n - first) - 1) %/% 100)
  next_batch <- function(i) if (i <= length(batches)) train[batches[[i]], ]
  fit <- suppressWarnings(bnp_topics(bnp_stream(next_batch),
    start = begun, control = bnp_control("truncation_free", seed = 1, verbose = FALSE)
  ))
  record("memoized start", paste0("... and a stream of the others, batches of 100"), sum(proc.time()[1:2]) - start,
    n_clusters(fit), heldout_loglik(fit, test, "sequential", draws = 20, seed = 1)
  )
}
numbers <- switch(what[1], bars = c(5, 10, 50), c(10, 50, 200))
online <- NULL
for (k in numbers) {
  for (laps in c(1, 5, 20)) {
    fit <- show(paste("stochastic LDA,", k), paste0("stochastic LDA, ", k, " topics, laps ", laps),
      prior = prior_lda(k), control = bnp_control("stochastic",
        seed = 1, batches = max(10, n %/% 100), max_laps = laps, verbose = FALSE
      )
    )
    if (k == numbers[2] && laps == 20) online <- fit
  }
}
for (laps in c(1, 5, 20, 100)) {
  show("memoized with births", paste("memoized with births, laps", laps),
    control = bnp_control(seed = 1, max_laps = laps, verbose = FALSE)
  )
}

# Online learning of LDA: perplexity as usual, and the mean over documents that Hoffman and others (2013) print.
of_documents <- heldout_loglik(online, test, seed = 1, per_document = TRUE)
of_documents <- of_documents[of_documents$tokens > 0, ]
cat(sprintf(
  "stochastic LDA, %d topics, completion: perplexity %.1f, by the mean over documents %.1f\n", numbers[2],
  exp(-sum(of_documents$loglik) / sum(of_documents$tokens)), exp(-mean(of_documents$loglik / of_documents$tokens))
))

gensim <- "
import sys, time
from gensim.corpora import MmCorpus, Dictionary
from gensim.models import HdpModel
import numpy as np
folder, passes, terms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
corpus = list(MmCorpus(folder + '/train.mm'))
names = Dictionary.from_corpus(corpus, id2word={i: str(i) for i in range(terms)})
start = time.process_time()
chunk = 100
model = HdpModel(corpus, names, chunksize=chunk, max_chunks=passes * (len(corpus) // chunk), eta=0.1, alpha=0.5,
                 gamma=10, kappa=float(sys.argv[4]), tau=1.0, T=150, K=15, random_state=1)
seconds = time.process_time() - start
alpha, beta = model.hdp_to_lda()
np.savetxt(folder + '/alpha.txt', alpha)
np.savetxt(folder + '/beta.txt', beta)
print(seconds)
"
installed <- nzchar(Sys.which(python)) &&
  system2(python, c("-c", shQuote("import gensim")), stdout = FALSE, stderr = FALSE) == 0
if (installed) {
  folder <- tempfile()
  dir.create(folder)
  entry <- Matrix::summary(as(train, "dMatrix"))
  entry <- entry[order(entry$i, entry$j), ]
  writeLines(c("%%MatrixMarket matrix coordinate real general", paste(n, ncol(train), nrow(entry)), paste(
    entry$i, entry$j, entry$x
  )), file.path(folder, "train.mm"))
  script <- file.path(folder, "hdp.py")
  writeLines(gensim, script)
  for (kappa in c(0.6, 1)) {
    for (passes in c(1, 5)) {
      out <- system2(python, c(script, folder, passes, ncol(train), kappa), stdout = TRUE, stderr = FALSE,
        env = c("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
      )
      weight <- scan(file.path(folder, "alpha.txt"), quiet = TRUE)
      phi <- as.matrix(utils::read.table(file.path(folder, "beta.txt")))
      data <- bnpvi:::as_engine_data(bnpvi:::as_documents(test, obs_multinomial()))
      score <- bnpvi:::engine_sequential_estimates(data, phi / rowSums(phi), 0.5 * weight / sum(weight), 20, 1, 1)
      record("gensim HDP", paste0("gensim HDP, kappa ", kappa, ", passes ", passes), as.double(utils::tail(out, 1)),
        sum(weight > 0.001 * sum(weight)), sum(score) / sum(test)
      )
    }
  }
} else {
  cat("gensim is not installed\n")
}

if (length(what) > 1) draw_scores(runs, what[2], what[1], "Log probability of a held-out token", 0.5)
