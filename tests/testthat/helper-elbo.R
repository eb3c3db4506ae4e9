# The ELBO of given responsibilities in plain R.

allocation_twin <- function(prior, counts) {
  if (prior$family == "dp") {
    after <- rev(cumsum(rev(counts))) - counts
    sum(lbeta(1 + counts, prior$concentration + after) - lbeta(1, prior$concentration))
  } else {
    share <- prior$concentration / prior$k
    lgamma(prior$concentration) - lgamma(prior$concentration + sum(counts)) +
      sum(lgamma(share + counts) - lgamma(share))
  }
}

elbo_twin <- function(case, rows, resp, prior) {
  c(
    data = sum(apply(resp, 2, function(r) case$twin$evidence(rows, r))),
    allocation = allocation_twin(prior, colSums(resp)),
    entropy = -sum(resp[resp > 0] * log(resp[resp > 0]))
  )
}

# Rows of the data that a model has a likelihood for.
modelled <- function(case, data) {
  lag <- if (is.null(case$model$obs$lag)) 0L else case$model$obs$lag
  unlist(lapply(seq_len(length(data$starts) - 1L), function(g) {
    rows <- seq_len(data$starts[g + 1L] - data$starts[g])
    data$starts[g] + rows[rows > lag]
  }))
}
