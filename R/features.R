#' Latent features: rows as sums of features, whose number is inferred
#'
#' In a mixture each row has one cluster; here each row has any number of *features*: \eqn{X = Z A + } noise, with
#' binary `Z` (rows x features), loadings `A` (features x columns) and Gaussian noise of one standard deviation. The
#' number of features, the noise and the scale of the loadings are learned, and so is the concentration if the prior has
#' a [gamma_prior()].
#'
#' @param x Observations: a numeric vector, a matrix or a data frame of numeric columns, or a [source][sources] of
#'   such rows.
#' @param prior [prior_ibp()], an Indian buffet process, or [prior_beta_bernoulli()], for a number of features that is
#'   known or has an upper limit.
#' @param control [bnp_control()], with `algorithm = "memoized"` or `"full"`; not `"stochastic"`, since a fit starts
#'   without any feature and all come by moves, which stochastic steps do not have. `sparsity`: the number of features
#'   that a row does not have yet and that a visit of the row considers. `checkpoint`: see [bnp_resume()]. `k_init`,
#'   `init`, `candidates`, `keep` and `bound` cannot be chosen.
#' @param centre `TRUE`: all rows contain an offset, one number for each column, whose prior is centred at the column
#'   means. `FALSE`: rows without any feature are noise around 0, as for images.
#' @param scale Divide columns by their standard deviations? The noise has the same standard deviation in all columns,
#'   so that columns should have the same unit. Results are in the units of `x` either way.
#' @param start A start in place of the default one, no feature: a matrix (rows x features) of probabilities or logical
#'   values, or an earlier fit of the same columns.
#' @inheritParams missing_values
#' @param ... `seed`, `restarts`, `threads` and `verbose` of [bnp_control()], which replace those of `control`.
#'
#' @return An object of class `c("bnp_features", "bnp_fit")`, a plain list without the data. Features are numbered by
#'   decreasing use. See [n_features()], [predict.bnp_features()], [coef.bnp_features()], [plot.bnp_features()].
#'
#' @section Model:
#'   With the noise variance \eqn{\sigma^2}, loadings are \eqn{A_k \sim N(0, \sigma^2 / \rho)}, \eqn{1 / \sigma^2 \sim}
#'   Gamma(1, rate b) with b a quarter of the mean variance of a column, and \eqn{\rho \sim} Gamma(1, 1). Loadings and
#'   noise are integrated out together: the gain from leaving out a feature is then known exactly, without another pass
#'   over the rows. With the Indian buffet process the bound is one on the evidence of the infinite model, so that fits
#'   with different numbers of features can be compared.
#'
#' @section Missing values:
#'   With `na_action = "model"` a missing cell is left out of the likelihood, which is exact, as noise is independent
#'   given the features; [predict.bnp_features()] has expectations of such cells. Columns that are missing in the same
#'   rows share the covariance of their loadings. If cells are missing in different rows of each column, each column has
#'   a covariance of its own, which takes (features squared) x columns numbers of memory.
#'
#' @section Data in a source:
#'   The rows are read once, as [sources] describes, and stay on disk; means, spreads and the prior of the noise are
#'   computed from a sample of the rows. The memory holds which features each row has: 12 bytes for each feature of a
#'   row, and as much again while the fit is made. The fit is the same as one of data in memory in the same batches.
#'
#' @section What to expect:
#'   Two features that always occur together are found as one. Without an offset (`centre = FALSE`) an offset of the
#'   data becomes a feature that all rows have. With an offset, presence and absence of a feature can be exchanged: the
#'   loadings change sign, and the offset changes accordingly; the fit does this if it raises the bound. Loadings may
#'   have any sign. The search ends in a local optimum: `restarts` help. A thousand rows with a dozen features take less
#'   than a second, 100,000 rows of 64 columns with fifty features half a minute. If features are independent of each
#'   other and there are fewer of them than columns, they are found together and quickly (sometimes from forty rows on,
#'   reliably from thousands); other features are found one after the other.
#' @references
#' Griffiths, T. L. and Ghahramani, Z. (2011). The Indian buffet process: an introduction and review.
#' *Journal of Machine Learning Research* 12, 1185-1224.
#'
#' Doshi-Velez, F., Miller, K. T., Van Gael, J. and Teh, Y. W. (2009). Variational inference for the Indian buffet
#' process. *Artificial Intelligence and Statistics* 12.
#'
#' Teh, Y. W., Görür, D. and Ghahramani, Z. (2007). Stick-breaking construction for the Indian buffet process.
#' *Artificial Intelligence and Statistics* 11.
#' @seealso [bnp_mixture()] for one cluster a row; `vignette("latent-features")` beside principal components, factor
#'   analysis and non-negative matrix factorisation.
#' @examples
#' # Three patterns of eight numbers, each in about a third of the rows
#' set.seed(1)
#' patterns <- rbind(c(1, 1, 1, 0, 0, 0, 0, 0), c(0, 0, 1, 1, 1, 0, 0, 0), c(0, 0, 0, 0, 0, 1, 1, 1))
#' z <- matrix(runif(300) < 1 / 3, 100)
#' x <- z %*% patterns + rnorm(800, sd = 0.2)
#' fit <- bnp_features(x, centre = FALSE, control = bnp_control(seed = 1))
#' fit
#' round(coef(fit)$loadings, 1)
#' @export
bnp_features <- function(x, prior = prior_ibp(), control = bnp_control(), centre = TRUE, scale = FALSE, start = NULL,
                         na_action = c("fail", "model", "omit"), ...) {
  if (...length()) control <- control_with(control, ...)
  call <- rlang::current_env()
  na_action <- check_na_action(na_action)
  check_form(x, "features", call)
  check_prior(prior, "bnp_features", call)
  check_options(control, "features", prior, call)
  if (!is.null(start)) tell_start_wins(control, start)
  centre <- check_flag(centre, "centre")
  scale <- check_flag(scale, "scale")
  data <- if (inherits(x, "bnp_source")) feature_source(x, call, na_action, control) else
    feature_data(x, "x", call, na_action)
  from <- features_start(start, data, prior, call)
  units <- feature_units(data, centre, scale, call)
  model <- list(
    prior = prior, likelihood = linear_gaussian, offset = centre, centre = units$centre, unit = units$unit
  )
  model$likelihood$noise_rate <- units$noise_rate
  resolved <- resolve_features_control(control, data, from, call)
  call_of_user <- match.call()
  engine <- engine_for("bnp_features", call_of_user, data, model, control, resolved, from, call)
  fit <- run_features(
    call_of_user, features_input(data), observed_cells(data), data, model, resolved, from, integer(data$d), call,
    engine = engine
  )
  fit$ids <- NULL # identities are the features' numbers until an update
  fit$data <- data_to_keep(fit, data)
  sealed(fit)
}

# The default prior of the likelihood of latent features, in scaled units. noise_rate is computed from the
# data.
linear_gaussian <- list(noise_shape = 1, noise_rate = NULL, loading_shape = 1, loading_rate = 1)

# Runs the engine and makes a fit of latent features from its result. cells: the numbers of observed cells in
# all data that the fit has seen; group: the groups of columns in an earlier fit.
run_features <- function(fit_call, input, cells, data, model, control, start, group, call, arg = "x",
                         engine = plain_engine()) {
  jacobian <- -sum(cells * log(model$unit))
  result <- fit_family(
    "bnp_features", engine, data, engine_features_model(model, group), control, start, call, arg = arg,
    shift = jacobian, go_on = is.null(start$settled)
  )
  new_bnp_fit("bnp_features", fit_call, model, control, input, features_learned(result, data, model, cells, jacobian))
}

# The result of the engine with features sorted by decreasing use, and with bounds for the data in their own
# units. jacobian: the log density of the data as given minus that of the data in units of the columns.
features_learned <- function(result, data, model, cells, jacobian) {
  k <- result$state$k
  counts <- result$state$counts[model$offset + seq_len(k)]
  numbering <- order(-counts)
  terms <- result$terms
  terms[["data"]] <- terms[["data"]] + jacobian
  result$trace$elbo <- result$trace$elbo + jacobian
  if (!is.null(result$restarts)) result$restarts$elbo <- result$restarts$elbo + jacobian
  c(
    list(cells = cells, state = result$state, numbering = numbering, elbo = result$elbo + jacobian, terms = terms),
    result[c("trace", "converged", "reason", "laps")],
    list(
      sizes = counts[numbering],
      presence = presence_matrix(result$presence, data, k)[, numbering, drop = FALSE], ids = result$id[numbering] + 1L,
      restarts = result$restarts, threads = result$threads
    )
  )
}

# Turns the engine's triplets (row, feature, probability) into a sparse matrix, rows x features.
presence_matrix <- function(presence, data, k) {
  sparseMatrix(
    i = presence$row, j = presence$feature, x = presence$value, dims = c(data$n, k),
    dimnames = list(data$row_names, NULL)
  )
}

engine_features_model <- function(model, group) {
  prior <- unclass(model$prior)
  if (inherits(prior$alpha, "bnp_gamma_prior")) prior$alpha <- as.double(prior$alpha)
  c(
    list(
      family = "features", prior = prior, likelihood = model$likelihood, offset = model$offset,
      group = as.integer(group)
    ),
    model[intersect(c("centre", "unit"), names(model))]
  )
}

resolve_features_control <- function(control, data, start, call) {
  control$seed <- control$seed %||% draw_seed()
  if (length(control$batches) > 1L) control$batch_of <- batch_numbers(control, data, "bnp_mixture", call)
  if (is_spooled(data)) {
    if (isTRUE(control$keep_data)) require_ability("source", "keep_data", call)
    control["batches"] <- list(if (control$algorithm != "full") data$n_batches)
  } else if (!is.null(control$batch_of)) {
    control$batches <- max(control$batch_of)
  }
  control$batches <- resolve_batches(control, data$n, call, "observations")
  control$sparsity <- control$sparsity %||% 0L
  # Adds the usual starts to the control of restarts: fits of latent features always begin without any
  # feature.
  with_starts(control, if (chooses_starts(control, start)) stats::setNames(list(start_kind(0L)), ""))
}
