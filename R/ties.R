# Warns of clusters and states that are narrower than the steps between repeated values.

# Warns if clusters, topics or states of rounded data have shrunk to single values. A density on repeated values
# can be made arbitrarily high: such clusters have a higher bound, but are not a useful answer.
warn_of_ties <- function(fit, data) {
  obs <- fit$model$obs
  if (!is.null(obs$responses) || !is.null(obs$blocks)) warn_of_lines(fit, data)
  # Finds the columns of one block in which clusters have shrunk. spread: covariances or variances of clusters, of
  # angles inverse concentrations; NULL for models that cannot shrink to a value, such as regressions.
  shrinking <- function(obs, means, data) {
    spread <- if (!is.null(means[["mean"]])) {
      means$cov %||% if (!is.null(means$shape)) means$mean^2 / means$shape
    } else if (!is.null(means$shape) && !is.null(means$scale)) { # Weibull
      means$scale^2 * (gamma(1 + 2 / means$shape) - gamma(1 + 1 / means$shape)^2)
    } else if (!is.null(means$concentration)) 1 / means$concentration
    if (is.null(spread) || is.null(means[["mean"]]) && NCOL(spread) != data$d) return()
    data$x <- obs_scaled(obs, data$x)
    narrow_columns(fit, spread, obs$rounding %||% 0, data)
  }
  means <- engine_mean_parameters(fit$model, fit$state)
  columns <- if (is.null(obs$blocks)) shrinking(obs, means, data) else {
    do.call(rbind, Map(function(block, name) {
      shrinking(block, arrays_of_block(means, name, block), data_of_block(data, block))
    }, unname(obs$blocks), names(obs$blocks)))
  }
  if (!NROW(columns)) {
    return(invisible())
  }
  single <- columns$name[!columns$cells]
  wide <- columns$name[columns$cells]
  counts <- columns$name[columns$counts]
  clusters <- paste0(cluster_word(fit), "s")
  cli::cli_warn(
    c(
      if (length(single)) {
        "Some {clusters} are narrower than the rounding of {cli::qty(length(single))}column{?s} {.val {single}}: they
         stand for single values."
      },
      if (length(wide)) {
        "Some {clusters} are narrower than the spacing of {cli::qty(length(wide))}column{?s} {.val {wide}}: how many
         there are can hardly be told."
      },
      i = if (length(counts)) {
        "Counts have models of their own: {.fn {makers_of_counts()}}."
      },
      i = if (any(columns$few)) {
        "A column with few different values has levels rather than measurements: make it a factor, or leave it out."
      },
      i = if (!all(columns$few | columns$cells)) {
        "To spread repeated values out, add noise of the size of the rounding, as
         {.code x + runif(length(x), -0.05, 0.05)} for one decimal place."
      }
    ),
    class = c("bnpvi_warning_ties", "bnpvi_warning")
  )
}

makers_of_counts <- function() {
  obs_makers(function(facts) {
    "number" %in% facts$kind && !facts$counts_tokens && identical(facts$refusal[["class"]], "not_counts")
  })
}

# Columns with at most this many values probably have levels rather than rounded numbers: a guess.
most_few_values <- 12L

# Steps below this share of the largest value are rounding errors of arithmetic: a guess.
least_step <- 1e-8

# TRUE if some step between neighbouring values of v is surely at most `width` and yet counts (is above
# least_step). For this two values suffice that are at most `width` apart, and farther apart than all steps
# that do not count could add up to: one of the steps between them must count. A thousand values are nearly
# always enough; the others are not sorted.
steps_within <- function(v, width) {
  if (!length(v)) {
    return(FALSE)
  }
  some <- sort(v[seq_len(min(length(v), 1000L))])
  apart <- some[findInterval(some + width, some)] - some
  any(apart <= width & apart > least_step * (max(v) - min(v)) * length(v))
}

# The columns in which clusters are narrower than the steps between values or, for columns that are taken as
# rounded, narrower than the cells of rounding: a data frame of name, few (values), counts (TRUE if all values
# are whole numbers of 0 and above) and cells (TRUE for a rounded column). cov: covariances of the clusters in
# the engine's order; rounding: the spacing of each column's values, or one number.
narrow_columns <- function(fit, cov, rounding, data) {
  used <- fit$numbering[fit$sizes > 1.5]
  # Variances, clusters x columns; cov has covariances (columns x columns x clusters) or variances.
  variance <- if (length(dim(cov)) == 3L) t(matrix(apply(cov, 3L, diag), data$d)) else matrix(cov, ncol = data$d)
  variance <- variance[used, , drop = FALSE]
  narrowest <- sqrt(apply(variance, 2L, min, Inf, na.rm = TRUE))
  cells <- rep_len(rounding > 0, data$d)
  narrow <- ifelse(cells, narrowest < rounding, vapply(seq_len(data$d), function(j) {
    v <- data$x[!is.na(data$x[, j]), j]
    narrowest[j] < Inf && !steps_within(v, 4 * narrowest[j]) && anyDuplicated(v) > 0L && {
      steps <- diff(sort(unique(v)))
      length(steps) > 0L && narrowest[j] < min(steps[steps > least_step * max(steps)]) / 4
    }
  }, NA))
  few <- apply(data$x[, narrow, drop = FALSE], 2, function(v) length(unique(v[!is.na(v)])) <= most_few_values)
  names <- data$column_names[narrow] %||% as.character(which(narrow))
  counts <- vapply(which(narrow), function(j) all_counts(data$x[, j]), NA)
  data.frame(name = names, few = as.logical(few), counts = counts, cells = cells[narrow])
}
