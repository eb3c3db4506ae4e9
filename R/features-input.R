# Reads data of latent features: NA in missing cells, and a unit for all columns or for each; and reads the
# starts of fits.

# Reads a table of numbers into the internal form of data; rows without any value are left out.
feature_data <- function(x, arg, call, na_action, allow_no_rows = FALSE, use = "rows") {
  data <- as_mixture_data(x, feature_columns(), arg, allow_no_rows, call, na_action, use)
  if (!is.matrix(data$x)) refuse_sparse(feature_columns(), arg, call)
  if (has_missing(data)) data$x[data$missing] <- NA_real_
  data
}

# An observation model that accepts any numeric columns, with missing cells.
feature_columns <- function() obs_gaussian("diagonal")

# Reads data in pieces (a source) into the form of feature_data(): list(data, ...) as from read_source().
feature_source <- function(x, call, na_action, control) {
  read <- read_source(x, "bnp_mixture", feature_columns(), na_action, NULL, NULL, control, call)
  if (is_sparse_data(sample_of(read$data))) refuse_sparse(feature_columns(), "x", call)
  read$data
}

features_fields <- c(
  "n", "d", "starts", "grouped", "row_names", "column_names", "left_out", "na_action", "n_missing", "sampled",
  "fingerprint"
)

features_input <- function(data) {
  input <- kept_input(data, feature_columns(), list())
  input[intersect(features_fields, names(input))]
}

observed_cells <- function(data) {
  if (is_spooled(data)) data$n - (data$cells_missing %||% numeric(data$d)) else colSums(!is.na(data$x))
}

# The units of latent features: list(centre, unit, noise_rate). centre is subtracted from each column, which
# is then divided by unit; noise_rate is the prior rate of the noise variance in these units, a quarter of the
# mean variance of a column.
feature_units <- function(data, centre, scale, call) {
  x <- sample_of(data)$x
  reach <- max(abs(x), 0, na.rm = TRUE)
  if (reach == 0) reach <- 1
  x <- x / reach
  means <- colMeans(x, na.rm = TRUE)
  means[!is.finite(means)] <- 0
  spread <- colMeans((x - rep(means, each = nrow(x)))^2, na.rm = TRUE)
  spread[!is.finite(spread)] <- 0
  # A spread that is only the rounding error of a constant column counts as 0.
  spread[spread < (1e-14 * pmax(abs(means), 1e-300))^2] <- 0
  square <- if (centre) spread else colMeans(x^2, na.rm = TRUE)
  own <- function(v) ifelse(v > 0, sqrt(v), 1)
  unit <- if (scale) own(ifelse(spread > 0, spread, square)) else
    rep(2^round(log2(own(if (mean(spread) > 0) mean(spread) else mean(square, na.rm = TRUE)))), ncol(x))
  if (!centre) refuse_far_offset(farthest(data, x, reach), unit, call)
  rate <- mean(spread / unit^2)
  list(
    centre = if (centre) unname(means * reach) else numeric(ncol(x)), unit = unname(unit * reach),
    noise_rate = if (rate > 0) rate / 4 else 0.25
  )
}

# The largest absolute value of each column, in units of `reach`. For data in a spool (file of batches) all
# rows are read, not the sample alone.
farthest <- function(data, x, reach) {
  largest <- function(x) apply(abs(x), 2L, function(v) max(v, 0, na.rm = TRUE))
  far <- largest(x)
  if (is_spooled(data)) for_batches(data, function(part, rows) far <<- pmax(far, largest(part$x / reach)))
  far
}

# Refuses values far from 0 in a model without offset: their squares would leave no digits for the noise.
refuse_far_offset <- function(farthest, unit, call) {
  far <- farthest / unit > 1e5
  if (any(far)) {
    abort("range", c(
      "With {.code centre = FALSE} the values of {.arg x} must be within 1e5 of their spread about 0.",
      x = "Not so in column{?s} {places(which(far))}.", i = "Choose {.code centre = TRUE}."
    ), call = call)
  }
}

scaled_values <- function(data, model) {
  x <- data$x
  # Centred and scaled values. They are divided before the centre is subtracted, as differences of large
  # numbers may overflow.
  (x / rep(model$unit, each = nrow(x))) - rep(model$centre / model$unit, each = nrow(x))
}

# Reads new rows with the columns of a fit of latent features. All rows are kept, also those without any
# value.
feature_newdata <- function(fit, newdata, call, arg = "newdata", na_action = "model", use = "predict") {
  check_format(fit, call)
  if (is_internal(newdata)) return(newdata)
  arg <- arg_of_table(arg, newdata)
  newdata <- select_feature_columns(newdata, fit, call, arg, na_action)
  data <- feature_data(newdata, arg, call, na_action, allow_no_rows = TRUE, use = use)
  refuse_far_rows(data$x, fit, arg, call)
  data
}

# Refuses rows whose values are too far from the training data. rows: the numbers of these rows among all
# rows.
refuse_far_rows <- function(x, fit, arg, call, rows = row_number(seq_len(nrow(x)), arg)) {
  far <- abs(scaled_values(list(x = x), fit$model)) > 1e100
  if (any(far, na.rm = TRUE)) {
    abort("range", c(
      "{.arg {arg}} has values that are more than 1e100 times the spread of the training data away.",
      x = "The first of them is in row {rows[which(rowSums(far, na.rm = TRUE) > 0)[1]]}."
    ), call = call)
  }
}

# Selects the columns of a fit of latent features from a table, like select_columns(), which needs the
# observation model that other fits have.
select_feature_columns <- function(x, fit, call, arg, na_action) {
  select_columns(x, list(model = list(obs = feature_columns()), input = fit$input), call, arg, na_action)
}

# Reads the argument `start` into the engine's form: list(presence), the probabilities of features for each
# row, or NULL.
features_start <- function(start, data, prior, call) {
  if (is.null(start)) {
    return(NULL)
  }
  if (inherits(start, "bnp_features")) {
    check_start_columns(start$input$column_names, data$column_names, call)
    if (start$input$d != data$d) {
      abort("start", "{.arg start} must be a fit of the same columns.", call = call)
    }
    nu <- presence_under(start, data, call)
  } else {
    refuse_source_of_starts(start, call)
    start <- values_of_rows(start, data, "start", call)
    given <- is.matrix(start) && (is.numeric(start) || is.logical(start)) && nrow(start) == rows_given(data)
    if (!given || anyNA(start) || any(start < 0 | start > 1)) {
      abort("start", c(
        "{.arg start} must be a matrix of probabilities with one row per observation of {.arg x}
         ({rows_given(data)}), or a fit of {.fn bnp_features}, not {describe(start)}."
      ), call = call)
    }
    nu <- of_kept_rows(data, start)
  }
  k <- prior$k
  if (!is.null(k) && ncol(nu) > k) {
    abort("start", c(
      "{.arg start} has {ncol(nu)} features, the finite prior {k}.", i = "Raise {.arg k} of the prior."
    ), call = call)
  }
  list(presence = unname(nu + 0))
}

# Probabilities that these rows have the features of an earlier fit: rows x features.
presence_under <- function(fit, data, call) {
  nu <- matrix(0, data$n, length(fit$numbering))
  take <- function(part, rows) {
    refuse_far_rows(part$x, fit, "x", call, rows)
    nu[rows, ] <<- latent_features(fit, part)$nu
  }
  if (is_spooled(data)) for_batches(data, take) else take(data, seq_len(data$n))
  nu
}
