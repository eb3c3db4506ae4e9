# Cases whose rows belong to individuals.

# individual: the number of each row's.
with_individual_rows <- function(case, individual) {
  case$model$obs$repeated <- TRUE
  case$data$individual <- as.integer(individual)
  case$data$n_individuals <- max(individual)
  case
}

# Models whose rows can be added up: not autoregressions, nor those whose rows have times or scales.
can_repeat <- function(case) {
  obs <- case$model$obs
  !identical(obs$family, "ar") && is.null(obs$drift) && !any_tails(obs) && !is_glm_case(case)
}

# Individuals of one to four rows, each within one planted cluster, in an order that has nothing to do with them.
repeated_cases <- function() {
  cases <- Filter(function(case) can_repeat(case), planted_cases())
  withr::with_seed(7, lapply(cases, function(case) {
    rows <- sample(case$data$n)
    rows <- rows[order(case$cluster[rows])]
    size <- sample(4, case$data$n, TRUE)
    block <- rep(seq_along(size), size)[seq_len(case$data$n)]
    key <- paste(case$cluster[rows], block)
    individual <- integer(case$data$n)
    individual[rows] <- match(key, sample(unique(key)))
    case$of_individual <- case$cluster[match(seq_len(max(individual)), individual)]
    with_individual_rows(case, individual)
  }))
}

# Terms of the bound in plain R, of responsibilities by individual.
repeated_elbo_twin <- function(case, rows, resp, prior) {
  c(
    data = sum(apply(resp, 2, function(r) case$twin$evidence(rows, r[case$data$individual]))),
    allocation = allocation_twin(prior, colSums(resp)),
    entropy = -sum(resp[resp > 0] * log(resp[resp > 0]))
  )
}

# The optimal responsibilities of individuals given the globals that are optimal for `resp`.
repeated_local_twin <- function(case, rows, resp, prior) {
  counts <- colSums(resp)
  a <- 1 + counts
  b <- prior$concentration + rev(cumsum(rev(counts))) - counts
  log_pi <- digamma(a) - digamma(a + b) + c(0, cumsum(digamma(b) - digamma(a + b)))[seq_along(counts)]
  of_rows <- vapply(seq_along(counts), function(k) {
    case$twin$expected(rows, resp[case$data$individual, k], rows)
  }, rows[, 1])
  w <- rowsum(of_rows, case$data$individual) + rep(log_pi, each = nrow(resp))
  w <- exp(w - apply(w, 1, max))
  w / rowSums(w)
}

# Whole weights of individuals: the data with each written so many times, under numbers of its own.
written_out_individuals <- function(data, times) {
  copies <- rep(seq_len(data$n_individuals), times)
  rows <- lapply(copies, function(i) which(data$individual == i))
  out <- repeat_rows(replace(data, "weights", list(NULL)), rep(1, data$n))
  x <- data_matrix(c(out, list(row_names = NULL, column_names = NULL)))
  x <- as.matrix(x)[unlist(rows), , drop = FALSE]
  out <- if (is.null(data$x)) sparse_engine_data(x) else engine_data(x)
  c(out, list(individual = rep(seq_along(copies), lengths(rows)), n_individuals = length(copies)))
}

# The engine's individuals in another order of rows.
reordered_rows <- function(case, order) {
  case$data$x <- case$data$x[order, , drop = FALSE]
  case$data$individual <- case$data$individual[order]
  case
}
