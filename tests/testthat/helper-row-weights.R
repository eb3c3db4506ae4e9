# The engine's data with each row written so many times.
repeat_rows <- function(data, times) {
  x <- data$x
  if (is.null(x)) {
    x <- matrix(0, data$n, data$d)
    x[cbind(rep(seq_len(data$n), diff(data$row_start)), data$column + 1L)] <- data$value
  }
  x <- x[rep(seq_len(data$n), times), , drop = FALSE]
  if (is.null(data$x)) sparse_engine_data(x) else engine_data(x)
}

# Planted rows with whole weights from 1 to 3, and the same rows written out.
weighted_cases <- function() {
  withr::with_seed(5, lapply(planted_cases(), function(case) {
    case$data$weights <- as.double(sample(3, case$data$n, TRUE))
    if (case$model$obs$family != "ar") {
      case$written_out <- utils::modifyList(case, list(data = NULL))
      case$written_out$data <- repeat_rows(case$data, case$data$weights)
    }
    case
  }))
}

mixture_priors <- list(
  dp = prior_dp(), py = prior_py(1, 0.3), learned = prior_dp(gamma_prior()), finite = prior_dirichlet(4)
)

repeat_matrix <- function(x, times) x[rep(seq_len(nrow(x)), times), , drop = FALSE]

# A fit that stays at the responsibilities from which it starts, or makes a few laps without moves.
engine_at <- function(case, resp, ..., laps = 0L) {
  control <- engine_control(ncol(resp), max_laps = laps, tol = 0, ...)
  engine_fit(case$data, case$model, control, list(resp = resp), NULL)
}

# Rows of a case that are conditioned on.
conditioned_on <- function(case) {
  lag <- case$model$obs$lag
  if (is.null(lag)) integer() else unlist(lapply(case$data$starts[-length(case$data$starts)], `+`, seq_len(lag)))
}
