# Tails of t distributions. Observation models with the field `tails` have Student-t rows: their degrees of
# freedom are known or learned, and each row has a scale u, by which its precision is multiplied. Models
# without the field are Gaussian. Posterior parameters of a cluster include points of the posterior of its
# degrees of freedom, `tails_node`, and their probabilities, `tails_prob`.

tails_arrays <- list(
  tails = "clusters", tails_node = c("clusters", "nodes"), tails_prob = c("clusters", "nodes")
)

# Checks the argument `tails`. Returns NULL for infinite degrees of freedom, since Gaussian models have no
# field `tails`. Otherwise learn = TRUE is refused: only priors of Gaussian noise are learned.
tails_argument <- function(tails, learn = NULL, call = rlang::caller_env()) {
  if (identical(tails, Inf)) {
    return(NULL)
  }
  if (isTRUE(learn)) {
    abort("argument", c(
      "{.code learn = TRUE} learns priors of Gaussian noise, not of noise with finite {.arg tails}.",
      i = "Leave {.arg learn} or {.arg tails} out."
    ), call = call)
  }
  if (is.numeric(tails) && !inherits(tails, "bnp_gamma_prior") && length(tails) != 1L) {
    abort("argument", c(
      "{.arg tails} must be one number, a {.fn gamma_prior}, or {.code NULL}, not {describe(tails)}.",
      i = "For columns with tails of their own make each a block of a product."
    ), call = call)
  }
  tails <- shape_argument(tails, "tails", gamma_prior(2, 0.1), known_tails, call)
  if (is.object(tails)) {
    check_range(tails[["shape"]], "tails$shape", c(1e-4, 1e8), call)
    check_range(tails[["rate"]], "tails$rate", c(1e-3, parameter_ranges$rate[2L]), call)
    check_range(tails[["shape"]] / tails[["rate"]], "tails$shape / tails$rate", known_tails, call)
  }
  tails
}

# The range of degrees of freedom, and of the mean of their prior. With a lower rate of the prior than 0.001,
# degrees of freedom of rows without outliers would be as large as those that stand for Gaussian rows in the
# engine (TailWeight::gaussian in src/observations/tail_weight.h), from which they are not told apart. With a
# higher shape than 1e8 the bound loses digits.
known_tails <- c(0.1, 1e8)

has_tails <- function(obs) !is.null(obs$tails)
any_tails <- function(obs) has_tails(obs) || any(vapply(obs$blocks, has_tails, NA))

# The facts of an observation model, completed for models with the field `tails` (Student-t rows).
facts_with_tails <- function(facts, obs) {
  if (has_tails(obs)) {
    facts$title <- paste0(facts$title, ", Student-t noise")
    facts$arrays <- c(facts$arrays, tails_arrays)
  }
  facts
}

# --- One cluster with posterior parameters q ---
# The posterior of its degrees of freedom as points (nu) and their probabilities.

tails_of <- function(q) {
  used <- q$tails_prob > 0
  list(nu = q$tails_node[used], prob = q$tails_prob[used])
}

# The posterior of the degrees of freedom as list(shape_node, shape_prob), with the width that draws and intervals need.
# Their posterior in the fit takes the scales of rows, and the scale of the cluster, as known, which makes it much too
# narrow: its 90 % intervals held the truth in a quarter of the samples. It is therefore stretched on the log scale by
# the information that is left when both are unknown; the stretched ones held it in nine tenths.
widened_tails <- function(obs, q) {
  tails <- tails_of(q)
  if (length(tails$nu) == 1L) {
    return(list(shape_node = tails$nu, shape_prob = tails$prob))
  }
  log_nu <- log(tails$nu)
  centre <- sum(tails$prob * log_nu)
  nu <- exp(centre)
  of_prior <- nu * obs$tails[["rate"]]
  of_rows <- max(0, 1 / sum(tails$prob * (log_nu - centre)^2) - of_prior)
  left <- of_rows * share_of_information(nu, NROW(q$scale)) + of_prior
  stretched <- centre + sqrt((of_rows + of_prior) / left) * (log_nu - centre)
  list(shape_node = exp(stretched), shape_prob = tails$prob)
}

draw_tails <- function(obs, q) draw_shape(widened_tails(obs, q))$shape_node

# Quantiles of the degrees of freedom, by cluster; NA if they are known.
tails_quantiles <- function(obs) {
  function(q, p) shape_quantile(widened_tails(obs, q), p)
}

# The Fisher information on degrees of freedom nu in one row of a t distribution in d dimensions whose scale is to be
# estimated, too, over the information if the row's hidden scale and that of the distribution were known. (Lange, Little
# and Taylor 1989, appendix B.)
share_of_information <- function(nu, d) {
  known <- trigamma(nu / 2) / 2 - 1 / nu
  seen <- trigamma(nu / 2) / 2 - trigamma((nu + d) / 2) / 2 - d * (nu + d + 4) / (nu * (nu + d) * (nu + d + 2))
  by_scale <- 4 * d / (nu * (nu + d)^2 * (nu + d + 2))
  if (nu > 1e3) 0 else max(0, seen - by_scale) / known # beyond 1,000 it is below 1e-5
}

# Draws the scales u of n rows of one cluster; the scale multiplies the precision of a row.
draw_scales <- function(obs, q, n) {
  nu <- draw_tails(obs, q)
  pmax(stats::rgamma(n, nu / 2, nu / 2), 1e-200)
}

# The expectation E 1 / u over the scales u of a cluster's rows; infinite where degrees of freedom of at most
# two have a probability above 0.
mean_spread <- function(q) {
  tails <- tails_of(q)
  heavy <- tails$nu <= 2
  if (sum(tails$prob[heavy]) > 1e-6) Inf else sum((tails$prob * tails$nu / (tails$nu - 2))[!heavy])
}

# For each of k clusters, the variance of noise as a multiple of the covariance of rows with scale 1. tails:
# degrees of freedom of the clusters; NULL for Gaussian noise.
spread_by_tails <- function(tails, k) {
  if (is.null(tails)) rep(1, k) else ifelse(tails > 2, tails / (tails - 2), Inf)
}

# Points of the distribution of a row's scale u in a cluster, and their probabilities.
scale_nodes <- function(q) {
  tails <- tails_of(q)
  step <- min(0.25, 0.5 * sqrt(2 / max(tails$nu[tails$prob > 1e-6])))
  least <- min(tails$nu[tails$prob > 1e-6])
  log_u <- seq(max(-60, -40 * sqrt(2 / least) - 80 / least), min(5, 20 * sqrt(2 / least)), by = step)
  density <- function(nu) exp(nu / 2 * log(nu / 2) - lgamma(nu / 2) + nu / 2 * (log_u - exp(log_u)))
  weight <- rowSums(vapply(seq_along(tails$nu), function(i) tails$prob[i] * density(tails$nu[i]), log_u))
  used <- weight > 1e-14 * max(weight)
  list(u = exp(log_u[used]), prob = weight[used] / sum(weight[used]))
}

# The average of the function `of` over the distribution of a row's scale u. of(s) is evaluated at the
# variance s of a row with this scale; `spread` is the variance for u = 1.
over_scales <- function(q, spread, of) {
  if (is.null(q$tails_node)) {
    return(of(spread))
  }
  nodes <- scale_nodes(q)
  out <- 0
  for (i in seq_along(nodes$u)) out <- out + nodes$prob[i] * of(spread - 1 + 1 / nodes$u[i])
  out
}

# The expected scale E u of each row in a cluster, under q(u); NA for rows without any value. Distances are
# from `location`, with the inverse of `cov` (a matrix, or a vector for independent columns) as the expected
# precision. spread: z' V^-1 z from the posterior of the mean, for each row.
scales_of_rows <- function(q, x, location, cov, spread) {
  tails <- tails_of(q)
  nu <- sum(tails$nu * tails$prob)
  d <- ncol(location)
  if (!is.matrix(cov)) cov <- diag(cov, d)
  offset <- x[, seq_len(d), drop = FALSE] - location
  missing <- is.na(offset)
  out <- double(nrow(x))
  for (at in split(seq_len(nrow(x)), apply(missing, 1L, paste, collapse = " "))) {
    o <- which(!missing[at[1L], ])
    square <- if (length(o)) {
      colSums(backsolve(chol(cov[o, o, drop = FALSE]), t(offset[at, o, drop = FALSE]), transpose = TRUE)^2)
    }
    # The term of the mean's uncertainty counts all columns, also missing cells, which have their expectations
    # given the mean.
    out[at] <- if (length(o)) (nu + length(o)) / (nu + square + d * spread[at]) else NA_real_
  }
  out
}

# Draws the missing cells of rows: first the parameters of each cluster, once, then each row's scale given its
# observed cells, then its missing cells.
draw_gaps_with_scales <- function(obs, clusters, data, path) {
  x <- data$x
  for (k in unique(path)) {
    rows <- which(path == k)
    own <- data[rows]
    q <- clusters[[k]]
    drawn <- obs_draw_conditional(obs, q, own$x)
    nu <- draw_tails(obs, q)
    d <- ncol(drawn$location)
    if (!has_missing(own)) next
    by_pattern(own$missing[, seq_len(d), drop = FALSE], function(at, o, m) {
      given <- regress(drawn$cov, o, m, own$x[at, o, drop = FALSE] - drawn$location[at, o, drop = FALSE])
      u <- stats::rgamma(length(at), (nu + length(o)) / 2, (nu + given$square) / 2)
      noise <- matrix(stats::rnorm(length(at) * length(m)), length(at)) %*% chol(given$cov) / sqrt(u)
      x[rows[at], m] <<- drawn$location[at, m] + given$shift + noise
    })
  }
  x
}

# Columns of augment() with the expected scale of each row: `.scale`, or `.scale_1`, `.scale_2`, ... for those
# blocks of a product (models of some columns) whose rows have scales; an empty list where no model has
# scales. prob: rows that were given x clusters.
row_scales <- function(fit, data, prob) {
  obs <- fit$model$obs
  clusters <- posterior_clusters(fit)
  own <- of_kept_rows(data, prob)
  of <- function(block, data, clusters) {
    scales <- vapply(clusters, function(q) obs_row_scales(block, q, data), double(data$n))
    for_all_rows(data, rowSums(matrix(scales, data$n) * own))
  }
  if (is.null(obs$blocks)) {
    return(if (has_tails(obs)) list(.scale = unname(of(obs, data, clusters))) else list())
  }
  names <- names(Filter(has_tails, obs$blocks))
  scales <- lapply(names, function(name) {
    block <- obs$blocks[[name]]
    block_data <- data_of_block(data, block)
    block_data$left_out <- data$left_out
    unname(of(block, block_data, lapply(clusters, arrays_of_block, name, block)))
  })
  stats::setNames(scales, if (length(names) > 1L) paste0(".scale_", seq_along(names)) else rep(".scale", length(names)))
}
