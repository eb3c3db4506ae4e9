# One split of documents of counts and one completion, for programs that are
# compared; sourced by the scripts about topics.

# The seen parts (documents x terms) and the held-out entries (document, term, n): half the tokens of each
# word type, or by = "type" and seen = 0.8 as in Hughes (2016, ch. 7).
halve <- function(counts, seed, by = "token", seen = 0.5) {
  set.seed(seed)
  halves <- bnpvi:::complete_split(bnpvi:::as_documents(counts, obs_multinomial()), by, seen)
  list(seen = halves$seen, matrix = bnpvi:::data_matrix(halves$seen), held = halves$held)
}

# Per held-out token: log sum_k theta_dk phi_kv.
score <- function(theta, phi, halves) {
  held <- halves$held
  prob <- rowSums(theta[held$document, , drop = FALSE] * t(phi[, held$term, drop = FALSE]))
  sum(held$n * log(prob)) / sum(held$n)
}

# The thesis's completion: the optimal q(pi_d) q(z_d) of the seen part at the topics `phi`.
score_variational <- function(phi, weight, halves) {
  seen <- halves$seen
  theta <- t(vapply(seq_len(seen$n), function(d) {
    entry <- seen$row_start[d] + seq_len(seen$row_start[d + 1] - seen$row_start[d])
    likelihood <- phi[, seen$column[entry] + 1L, drop = FALSE]
    count <- numeric(length(weight))
    power <- rep(1, length(weight))
    for (round in 1:200) {
      before <- count
      count <- drop(power * likelihood %*% (seen$value[entry] / colSums(power * likelihood)))
      if (max(abs(count - before)) < 1e-3) break
      power <- exp(digamma(count + weight) - digamma(max(count + weight)))
    }
    (count + weight) / sum(count + weight)
  }, weight))
  score(theta, phi, halves)
}

# With proportions found by collapsed inference at the topics `phi` and
# document weights `weight`, whoever found the topics.
score_collapsed <- function(phi, weight, halves) {
  seen <- bnpvi:::as_engine_data(halves$seen)
  score(bnpvi:::engine_collapsed_proportions(seen, phi, weight, 1L), phi, halves)
}

# And with uncertain topics: `concentration` are the parameters of their Dirichlet distributions.
score_predictive <- function(concentration, weight, halves) {
  seen <- bnpvi:::as_engine_data(halves$seen)
  held <- seen
  held$row_start <- c(0L, cumsum(tabulate(halves$held$document, seen$n)))
  held$column <- halves$held$term - 1L
  held$value <- halves$held$n
  prob <- bnpvi:::engine_predictive_probabilities(seen, held, concentration, weight, 1L)
  sum(held$value * log(prob)) / sum(held$value)
}

# Counts as the triplets that topicmodels takes.
as_triplet <- function(x) {
  triplet <- slam::as.simple_triplet_matrix(as.matrix(x))
  storage.mode(triplet$v) <- "integer"
  triplet
}

# scikit-learn's LDA on `train`, in a process of its own: topics' Dirichlet
# parameters, and CPU seconds of fitting. `python` must have scikit-learn.
sklearn_lda <- function(train, k, seed, options, python = Sys.getenv("PYTHON", "python3")) {
  files <- file.path(tempdir(), c("train.mtx", "topics.txt", "fit.py"))
  Matrix::writeMM(Matrix::Matrix(train, sparse = TRUE), files[1])
  writeLines(c(
    "import time, numpy as np, scipy.io as sio, scipy.sparse as sp",
    "from sklearn.decomposition import LatentDirichletAllocation as LDA",
    sprintf("x = sp.csr_matrix(sio.mmread('%s'))", files[1]),
    sprintf("model = LDA(%d, random_state=%d, %s)", k, seed, options),
    "start = time.process_time(); model.fit(x); spent = time.process_time() - start",
    sprintf("np.savetxt('%s', model.components_)", files[2]),
    "print(spent)"
  ), files[3])
  spent <- system2(python, files[3], stdout = TRUE, env = c("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"))
  list(concentration = unname(as.matrix(utils::read.table(files[2]))), seconds = as.numeric(utils::tail(spent, 1)))
}
has_sklearn <- function(python = Sys.getenv("PYTHON", "python3")) {
  nzchar(Sys.which(python)) && system2(python, c("-c", shQuote("import sklearn")), stdout = FALSE, stderr = FALSE) == 0
}
