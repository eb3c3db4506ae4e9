# Models of positive values that may also be 0: obs_gamma(zeros = TRUE) and similar ones. Their first class is
# obs_with_zeros. A cell is 0 with a probability that has a Beta posterior (parameters zero_a and zero_b);
# otherwise it follows the model of positive values, whose methods the methods here call.

# The observation model without zeros: the model of the positive values alone.
positive_part <- function(obs) {
  obs$zeros <- NULL
  structure(obs, class = obs_class(obs))
}

positive_data <- function(data) {
  data$x[data$x == 0] <- NA
  data
}

obs_facts.obs_with_zeros <- function(obs) {
  facts <- NextMethod()
  facts$title <- paste0(facts$title, ", or 0")
  facts$refusal <- c(
    class = "not_positive", must = "hold values of at least 0", remedy = "Leave rows with values below 0 out."
  )
  by_column <- c("clusters", "columns")
  facts$arrays <- c(facts$arrays, list(zero_a = by_column, zero_b = by_column, zero = by_column))
  facts
}

obs_supports.obs_with_zeros <- function(obs, values) values == 0 | NextMethod()

obs_check_columns.obs_with_zeros <- function(obs, x, arg, call) NULL

obs_resolve.obs_with_zeros <- function(obs, data, start, call) {
  positive <- positive_data(data)
  empty <- which(colSums(!is.na(positive$x)) == 0 & colSums(!is.na(data$x)) > 0)
  if (length(empty)) {
    abort("only_zeros", c(
      "Columns of {.arg x} must have values above 0, too.",
      x = "All are 0 in {places(as.character(data$column_names[empty] %||% empty))}.", i = "Leave them out."
    ), call = call)
  }
  own <- obs_resolve(positive_part(obs), positive, start, call)
  obs[names(own)] <- own
  obs
}

obs_quantiles.obs_with_zeros <- function(obs) {
  c(NextMethod(), list(zero = function(q, p) stats::qbeta(p, q$zero_a, q$zero_b)))
}

obs_draw_rows.obs_with_zeros <- function(obs, q, rows, given) {
  values <- NextMethod()
  share <- stats::rbeta(ncol(values), q$zero_a, q$zero_b)
  values[stats::runif(length(values)) < rep(share, each = nrow(values))] <- 0
  values
}

obs_predictive_cdf.obs_with_zeros <- function(obs, q, data) {
  share <- rep(q$zero_a / (q$zero_a + q$zero_b), each = data$n)
  above <- obs_predictive_cdf(positive_part(obs), q, positive_data(data))
  out <- share + (1 - share) * above
  replace(out, which(data$x == 0), array(share, dim(out))[which(data$x == 0)])
}

obs_moments.obs_with_zeros <- function(obs, q, given) {
  positive <- NextMethod()
  share <- q$zero_b / (q$zero_a + q$zero_b)
  list(
    mean = share * positive$mean,
    var = ifelse(is.finite(positive$mean), share * (positive$var + (1 - share) * positive$mean^2), Inf)
  )
}

# Divides the parameters of coef() by column: a list with, for each column, the parameters of that column.
parts_by_column <- function(means) lapply(seq_along(means$zero), function(j) lapply(means, `[`, j))

obs_divergence.obs_with_zeros <- function(obs, a, b) {
  inner <- positive_part(obs)
  sum(mapply(function(a, b) {
    a$zero * log(a$zero / b$zero) + (1 - a$zero) * (log1p(-a$zero) - log1p(-b$zero) + obs_divergence(inner, a, b))
  }, parts_by_column(a), parts_by_column(b)))
}

obs_overlap.obs_with_zeros <- function(obs, a, b) {
  inner <- positive_part(obs)
  prod(mapply(function(a, b) {
    sqrt(a$zero * b$zero) + sqrt((1 - a$zero) * (1 - b$zero)) * obs_overlap(inner, a, b)
  }, parts_by_column(a), parts_by_column(b)))
}

# Says what densities are of, for output: there is a point mass at 0 in addition to the density of positive
# values.
obs_measure.obs_with_zeros <- function(obs) "densities beside a mass at 0"

obs_marginals.obs_with_zeros <- function(obs, means) {
  Map(function(part, zero) {
    square <- part$sd^2 + part$mean^2
    list(kind = "number", mean = (1 - zero) * part$mean, sd = sqrt((1 - zero) * square - ((1 - zero) * part$mean)^2))
  }, NextMethod(), unname(means$zero))
}

obs_densities.obs_with_zeros <- function(obs, means) {
  Map(function(column, zero) {
    positive <- column$density
    column$density <- function(x) (1 - zero) * positive(x)
    column$mass_0 <- zero
    column
  }, NextMethod(), unname(means$zero))
}
