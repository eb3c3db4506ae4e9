# Zeros and ones: each cluster has a probability of a one in each column.

#' @rdname observation_models
#' @order 5
#' @param a,b One number or one per column. Of `obs_bernoulli()` and
#'   `obs_binomial()`: Beta prior of each probability, the weights of a one and of a zero
#'   (of a success and of a failure, for each pair of columns). Of `obs_poisson()`,
#'   `obs_gamma()` and `obs_survival()`: Gamma prior of each rate, with shape `a` and mean `a / b`; by
#'   default, the mean is the rate in all data, where a column of zeros counts as half an
#'   event.
#' @export
obs_bernoulli <- function(a = 0.1, b = 0.3, learn = FALSE, columns = NULL) {
  learn <- check_flag(learn, "learn")
  do.call(new_obs, c(
    "bernoulli", list(a = check_positive(a, "a"), b = check_positive(b, "b")), if (learn) list(learn = TRUE),
    columns_field(columns)
  ))
}

model_bernoulli <- list(
  title = "Bernoulli", constructor = "obs_bernoulli", values = "zeros and ones", kind = "level",
  gaps = "cells",
  refusal = c(
    class = "not_binary", must = "hold zeros and ones",
    remedy = "Code each column as 0 and 1, or {.code TRUE} and {.code FALSE}."
  ),
  takes_sparse = TRUE, parameters = list(a = "columns", b = "columns"),
  arrays = list(a = c("clusters", "columns"), b = c("clusters", "columns"), prob = c("clusters", "columns")),
  location = "prob"
)

obs_supports.obs_bernoulli <- function(obs, values) values == 0 | values == 1

obs_resolve.obs_bernoulli <- function(obs, data, start, call) {
  if (!is.null(obs$learn)) obs <- learned_before(obs, start, data$d, c("a", "b"))
  resolve_fields(obs, c("a", "b"), data$d, call)
}

obs_learned.obs_bernoulli <- function(obs) if (!is.null(obs$learn)) list(by = "learn = TRUE", plug_in = TRUE)
obs_quantiles.obs_bernoulli <- function(obs) list(prob = function(q, p) beta_quantile(p, q$a, q$b))

obs_draw_rows.obs_bernoulli <- function(obs, q, rows, given) {
  prob <- stats::rbeta(length(q$a), q$a, q$b)
  matrix(stats::rbinom(length(rows) * length(prob), 1L, rep(prob, each = length(rows))), length(rows))
}

obs_moments.obs_bernoulli <- function(obs, q, given) {
  list(mean = q$a / (q$a + q$b), var = q$a / (q$a + q$b) * q$b / (q$a + q$b))
}

obs_divergence.obs_bernoulli <- function(obs, a, b) {
  sum(a$prob * log(a$prob / b$prob) + (1 - a$prob) * (log1p(-a$prob) - log1p(-b$prob)))
}

obs_overlap.obs_bernoulli <- function(obs, a, b) prod(sqrt(a$prob * b$prob) + sqrt((1 - a$prob) * (1 - b$prob)))

obs_marginals.obs_bernoulli <- function(obs, means) {
  lapply(means$prob, function(p) list(kind = "levels", prob = c("0" = 1 - p, "1" = p)))
}

obs_picture.obs_bernoulli <- function(obs, fit, data) heat_picture(fit)
