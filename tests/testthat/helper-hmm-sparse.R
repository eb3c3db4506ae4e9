# Visits of L-sparse chains, and what they should be.

# A random chain over every observation model, whose rows are repeated where it is longer: data, globals, and
# E log p(x | state) of the modelled rows. The short suite has one of six models. Rows with tangents are left out: their
# log likelihoods are no products of features that stay the same.
random_chains <- function(
  k, lengths, prior_names = names(hmm_priors),
  cases = some_of(Filter(Negate(is_glm_case), model_cases()), by = 6, from = 5)
) {
  out <- list()
  for (case in cases) {
    lag <- case$model$obs$lag %||% 0L
    case$data$starts <- as.integer(c(0, cumsum(lengths + lag)))
    case$data$n <- as.integer(sum(lengths + lag))
    case$data$x <- case$data$x[rep_len(seq_len(nrow(case$data$x)), case$data$n), , drop = FALSE]
    for (name in prior_names) {
      prior <- hmm_priors[[name]]
      if (name == "finite") prior$k <- as.integer(k)
      resp <- matrix(stats::rgamma(sum(lengths) * k, 0.2) + 1e-9, ncol = k)
      contract <- engine_contract(case$data, case$model, resp / rowSums(resp))
      state <- list(
        k = as.integer(k), obs = contract$statistic, extra = matrix(stats::rgamma(k, 1)),
        pair = matrix(stats::rgamma(k^2, 1), k), scalar = 0, u = numeric(), omega = numeric()
      )
      if (prior$family == "hdp_hmm") {
        state$u <- rep(0.4, k)
        state$omega <- rep(8, k)
      }
      rows <- expected_rows(state, prior)
      model <- list(obs = case$model$obs, prior = prior)
      out[[paste(case$name, name)]] <- list(
        data = case$data, model = model, state = state, lengths = lengths, weights = contract$weights,
        start = rows[[1]], transition = do.call(rbind, rows[-1]),
        log_e = log_likelihoods(case$model$obs, contract$features, contract$weights),
        modelled = unlist(lapply(seq_along(lengths), function(g) case$data$starts[g] + lag + seq_len(lengths[g])))
      )
    }
  }
  out
}

visit <- function(chain, width, sets = NULL, same = FALSE, threads = 1L, number = NULL) {
  engine_sparse_visit(chain$data, chain$model, chain$state, as.integer(width), sets, number, same, threads)
}

# The bound at fixed globals but for terms of these, from a summary: log Z of q's family when q is its optimum.
log_z <- function(chain, s) {
  s$entropy + sum(s$obs * chain$weights) + sum(s$start * chain$start) + sum(s$transition * chain$transition)
}

rows_of <- function(chain, g) sum(chain$lengths[seq_len(g - 1)]) + seq_len(chain$lengths[g])

# Log potentials of the paths that keep to the sets (rows x L), −Inf elsewhere.
within_sets <- function(log_e, sets) {
  inside <- matrix(FALSE, nrow(log_e), ncol(log_e))
  inside[cbind(c(row(sets)), c(sets))] <- TRUE
  ifelse(inside, log_e, -Inf)
}

log_z_of_paths <- function(chain, sets) {
  sum(vapply(seq_along(chain$lengths), function(g) {
    rows <- rows_of(chain, g)
    log_forward(chain$start, chain$transition, within_sets(chain$log_e, sets)[rows, , drop = FALSE])
  }, 1))
}

lse <- function(x) if (max(x) == -Inf) -Inf else max(x) + log(sum(exp(x - max(x))))

log_forward <- function(start, transition, log_e) {
  a <- start + log_e[1, ]
  for (t in seq_len(nrow(log_e))[-1]) a <- apply(a + transition, 2, lse) + log_e[t, ]
  lse(a)
}

# One visit of one sequence in plain R, on logarithms: sets and log scores s_t(k) as in the design page.
twin_visit <- function(start, transition, log_e, width, sets = NULL) {
  n <- nrow(log_e)
  k <- ncol(log_e)
  largest <- function(s) sort(order(-s)[seq_len(width)])
  fresh <- is.null(sets)
  if (fresh) sets <- matrix(0L, n, width)
  enter <- function(t) if (t == 1) start else apply(a[t - 1, ] + transition, 2, lse)
  a <- matrix(-Inf, n, k)
  for (t in seq_len(n)) {
    s <- enter(t) + log_e[t, ]
    if (fresh) sets[t, ] <- largest(s)
    a[t, sets[t, ]] <- s[sets[t, ]]
  }
  right <- rep(0, k)
  for (t in n:1) {
    s <- enter(t) + log_e[t, ] + right
    sets[t, ] <- largest(s)
    into <- rep(-Inf, k)
    into[sets[t, ]] <- (log_e[t, ] + right)[sets[t, ]]
    right <- apply(into + t(transition), 2, lse)
  }
  sets
}
