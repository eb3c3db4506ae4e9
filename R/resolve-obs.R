# Completes an observation model from the data: every NULL of the constructor becomes a number, and C++ gets a
# centre and a unit for each column, in which it works. This file holds what models share; each model
# completes itself in its own file.

resolve_obs <- function(obs, data, start = NULL, call = rlang::caller_env()) {
  if (has_parameters(obs)) obs <- in_column_order(obs, data, call)
  obs <- with_spacings(obs_resolve(obs, data, start, call), data, start, call)
  if (!is.null(obs$columns) && is.null(obs$blocks)) obs$columns <- data$column_names
  obs
}

# The model with the spacings of rounded values: those that were given, else those of an earlier fit, else
# those that the values show. Logarithms are never taken as rounded.
with_spacings <- function(obs, data, start, call) {
  if (!is.null(obs$rounding)) {
    obs$rounding <- expand_vector(obs$rounding, data$d, "rounding", call)
  } else if (isTRUE(data$rounded) && !is.null(obs_facts(obs)$parameters$rounding) && is.null(obs$logs)) {
    before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == data$d)) start$model$obs
    obs$rounding <- before$rounding %||% column_spacings(data$x, data$weights)
  }
  obs
}

# For each class of fits, classes of observation models whose prior is learned unless the user gave one (by
# `learn`, or by a prior of proportions). For these, learned priors predict held-out rows better on most data
# and much worse on none (inst/design/decisions.md).
learned_by_default <- list(
  bnp_mixture = c(
    "obs_gaussian_full", "obs_gaussian_diagonal", "obs_gaussian_spherical", "obs_gaussian_zero_mean",
    "obs_regression", "obs_multinomial", "obs_bernoulli", "obs_categorical"
  ),
  bnp_topics = "obs_multinomial", bnp_hmm = "obs_multinomial"
)

# The observation model with `learn = TRUE`, if its prior is learned by default in fits of this class with
# this control. By default the prior is not learned for models that drift, have heavy tails or random effects,
# for draws that do not begin from a fit (see with_given_priors()), and with algorithms that do not store sums
# over the whole data.
with_default_learning <- function(obs, class, control) {
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, with_default_learning, class, control)
  learns <- inherits(obs, as.character(learned_by_default[[class]])) && !has_drift(obs) && !has_tails(obs) &&
    is.null(obs$random) && control$algorithm %in% c("memoized", "full") && !isTRUE(attr(control, "given_priors"))
  if (learns && is.null(obs$learn) && !gives_proportions(obs)) obs$learn <- TRUE
  obs
}

# Whether the user gave a prior of proportions. Such a prior is complete, while priors of Gaussian clusters
# may be given in part.
gives_proportions <- function(obs) {
  !all(vapply(unclass(obs)[c("term_prior", "prior", "a", "b")], is.null, NA))
}

with_given_priors <- function(control) structure(control, given_priors = TRUE)

# Whether the user gave any argument of the model in addition to the family and `learn`.
has_parameters <- function(obs) !all(vapply(obs[!names(obs) %in% c("family", "learn")], is.null, NA))

resolve_fields <- function(obs, fields, d, call) {
  obs[fields] <- lapply(fields, function(f) expand_vector(obs[[f]], d, f, call))
  obs
}

# Copies the values of these fields from an earlier fit with as many columns, so that learning continues where
# the fit ended.
learned_before <- function(obs, start, d, fields) {
  before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == d)) start$model$obs
  if (!is.null(before$learn) && identical(before$family, obs$family)) obs[fields] <- before[fields]
  obs
}

column_totals <- function(data) {
  if (!is_sparse_data(data)) {
    return(colSums(times_weights(data$x, data$weights), na.rm = TRUE))
  }
  totals <- double(data$d)
  of_entries <- if (!is.null(data$weights)) rep(data$weights, diff(data$row_start))
  by_column <- rowsum(times_weights(data$value, of_entries), data$column + 1L)
  totals[as.integer(rownames(by_column))] <- by_column
  totals
}

# The share of the data's variance that a cluster is expected to have. n observations (or individuals) hardly
# distinguish more than sqrt(n) clusters, and sqrt(n) clusters of equal size fill d dimensions if each has
# n^(-1/d) of the variance. The share is at least 1e-3, because of rounded data.
spread_within <- function(n, d) max(max(n, 1)^(-1 / d), 1e-3)

column_medians <- function(x, w = NULL) {
  if (!is.null(w)) {
    return(apply(x, 2L, weighted_quantile, w, 0.5))
  }
  if (nrow(x) == 0L) {
    return(rep(0, ncol(x)))
  }
  vapply(seq_len(ncol(x)), function(j) {
    x <- x[!is.na(x[, j]), j]
    middle <- unique(c((length(x) + 1L) %/% 2L, length(x) %/% 2L + 1L))
    ends <- range(sort(x, partial = middle)[middle])
    ends[1L] + (ends[2L] - ends[1L]) / 2
  }, 1)
}

# The unit of each column: a power of two near its spread about `centre`. C++ then works with numbers near 1,
# and the scaling loses no bit.
column_units <- function(x, centre, names, call, w = NULL) {
  if (!is.null(w)) x <- x[w > 0, , drop = FALSE]
  w <- w[w > 0]
  vapply(seq_len(ncol(x)), function(j) {
    seen <- !is.na(x[, j])
    distance <- abs(x[seen, j] - centre[j])
    largest <- max(distance)
    if (largest <= 1e-14 * max(abs(x[, j]), na.rm = TRUE)) {
      return(1)
    }
    if (largest > 1e153 || largest < 1e-153) {
      column <- names[j] %||% j
      abort("range", c(
        "The spread of column {.val {column}} of {.arg x} ({format(largest, digits = 2)}) is outside the range in which
         variances can be computed.",
        i = "Change its unit so that values lie within 1e-150 to 1e150."
      ), call = call)
    }
    spread <- 1.5 * (if (is.null(w)) stats::median(distance) else weighted_quantile(distance, w[seen], 0.5))
    if (spread < 1e-8 * largest) {
      spread <- largest * sqrt(column_means(cbind((distance / largest)^2), w[seen]))
    }
    2^round(log2(spread))
  }, 1)
}

standardise <- function(x, obs) {
  (x - rep(obs$centre, each = nrow(x))) / rep(obs$unit, each = nrow(x))
}

# The variance of each column of z, in working units; 1 where the data do not determine a variance (constant
# columns, fewer than two rows). w: weights of rows.
column_variances <- function(z, w = NULL) {
  if (!is.null(w)) {
    w <- at_least_once(w)
    square <- colSums((z - rep(column_means(z, w), each = nrow(z)))^2 * w, na.rm = TRUE)
    count <- counts_of_columns(z, w)
    v <- ifelse(count < 2, 0, square / (count - 1))
    return(ifelse(v < 1e-28, 1, v))
  }
  vapply(seq_len(ncol(z)), function(j) {
    seen <- z[!is.na(z[, j]), j]
    v <- if (length(seen) < 2L) 0 else stats::var(seen)
    if (v < 1e-28) 1 else v
  }, 1)
}

# The variance of each column in working units or, if smaller, the variance of a normal distribution with the
# same central 95 %, so that a few outliers cannot inflate it. Computed column by column, so that the data are
# not copied.
robust_variances <- function(x, centre = rep(0, ncol(x)), unit = rep(1, ncol(x)), w = NULL) {
  vapply(seq_len(ncol(x)), function(j) {
    z <- (x[, j, drop = FALSE] - centre[j]) / unit[j]
    v <- column_variances(z, w)
    ends <- c(0.025, 0.975)
    ends <- if (is.null(w)) stats::quantile(z, ends, na.rm = TRUE, names = FALSE) else weighted_quantile(z, w, ends)
    middle <- (diff(ends) / 3.92)^2
    if (middle > 1e-28) min(v, middle) else v
  }, 1)
}

# The spacing to which the values of each column are rounded; 0 where there is none. A column has a spacing if
# its different values occur five times or more on average (rows count by their weights) and nearly all lie on
# one grid; a few values off the grid are allowed.
column_spacings <- function(x, weights = NULL) {
  weights <- weights %||% rep(1, nrow(x))
  spacing_of <- function(values, weights) {
    seldom <- function(distinct) sum(weights) <= 5 * length(distinct)
    # A quarter of the rows is examined first: if values hardly repeat, it already has enough different values
    # to show this, which saves time.
    first <- seq_len(min(length(values), ceiling(sum(weights) / 4)))
    if (seldom(unique(values[first])) || seldom(distinct <- sort(unique(values))) || length(distinct) < 2L) {
      return(0)
    }
    steps <- diff(distinct)
    steps <- steps[steps > 1e-9 * (distinct[length(distinct)] - distinct[1L])]
    if (!length(steps)) {
      return(0)
    }
    # The spacing is the most common step between values; of equally common steps, the smallest. Steps of one
    # grid differ by rounding only.
    rounded <- signif(steps, 6)
    found <- sort(unique(rounded))
    spacing <- mean(steps[rounded == found[which.max(tabulate(match(rounded, found)))]])
    origin <- distinct[which.max(rowsum(weights, match(values, distinct)))]
    off <- abs((values - origin) / spacing - round((values - origin) / spacing))
    if (sum(weights[off < 1e-3]) >= 0.95 * sum(weights)) spacing else 0
  }
  vapply(seq_len(ncol(x)), function(j) {
    there <- !is.na(x[, j]) & weights > 0
    spacing_of(x[there, j], weights[there])
  }, 1)
}

expand_vector <- function(x, d, arg, call) {
  if (is.matrix(x) || !length(x) %in% c(1L, d)) {
    abort("argument", c(
      "{.arg {arg}} must have one value or one per column ({d}), not {describe(x)}."
    ), call = call)
  }
  rep_len(as.double(x), d)
}

expand_matrix <- function(x, d, arg, call) {
  if (!is.matrix(x)) {
    return(diag(expand_vector(x, d, arg, call), d))
  }
  if (nrow(x) != d) {
    abort("argument", c(
      "{.arg {arg}} must be a {d} x {d} matrix, its diagonal, or one number, not {describe(x)}."
    ), call = call)
  }
  unname(matrix(as.double(x), d, d))
}

check_df <- function(df, d, call) {
  if (df <= d - 1) {
    abort("df", c(
      "{.arg df} must be above {d - 1} for {d} column{?s}, not {df}.",
      i = "The default is {d + 2}."
    ), call = call)
  }
  as.double(df)
}

# The observation model for data if the user gives none. For data frames with a column of levels it depends on
# the columns. Text that is no column of a data frame is levels if a value is repeated, and documents otherwise,
# which no model of rows takes.
default_obs <- function(x, call) {
  if (inherits(x, track_classes) && all(c("step", "angle") %in% names(x))) {
    return(obs_of_track(x, call))
  }
  measured <- function(v) is.double(v) && is.null(attributes(v)) && !is_two_valued(v)
  if (is.data.frame(x) && all(vapply(x, measured, NA))) {
    return(obs_gaussian())
  }
  need_model_of_times(x, NULL, "x", call)
  if (is.data.frame(x)) {
    return(obs_of_columns(x, call))
  }
  levels <- column_kind(x) == "level" && (!is.character(x) || anyDuplicated(as.vector(x)))
  if (levels) obs_categorical() else obs_gaussian()
}

obs_of_columns <- function(x, call) {
  x <- plain_columns(x)
  kinds <- vapply(x, column_kind, "")
  two <- kinds == "number"
  two[two] <- vapply(unclass(x)[two], is_two_valued, NA)
  kinds[two] <- "level"
  tell_of_two_values(union(names(x)[two], names(x)[vapply(x, stands_for_numbers, NA)]), call)
  say_numbers_as_text(x, "x", call)
  if (!any(kinds == "level")) {
    return(obs_gaussian())
  }
  if (!any(kinds == "number")) {
    return(obs_categorical())
  }
  tell_of_frequencies(x[kinds == "number"])
  many <- sum(kinds == "number") > most_full_columns
  if (many) {
    cli::cli_inform(
      c("{sum(kinds == 'number')} columns of numbers are taken as independent within a cluster.",
        i = "For covariances say so by {.arg obs}: a product of a full Gaussian block and a categorical one."),
      class = c("bnpvi_message_diagonal", "bnpvi_message"), call = call
    )
  }
  obs_product(
    if (many) obs_gaussian("diagonal") else obs_gaussian(),
    obs_categorical(columns = if (any(two)) names(kinds)[kinds == "level"])
  )
}

# Whether v has exactly two different values, both whole numbers, of which at least one is repeated; for
# example yes and no coded as 0 and 1, or as 1 and 2. A density of such a column could become arbitrarily
# high.
is_two_valued <- function(v) length(few_values(v)) == 2L && sum(!is.na(v)) > 2L

# The different values of a column of whole numbers, at most the first three; NULL if they are not whole
# numbers.
few_values <- function(v) {
  for (n in c(100L, length(v))) { # most columns show three at once
    first <- utils::head(v, n)
    values <- utils::head(unique(first[!is.na(first)]), 3L)
    if (length(values) == 3L) break
  }
  if (all(is.finite(values) & values == round(values))) values
}

tell_of_two_values <- function(columns, call) {
  if (length(columns)) {
    cli::cli_inform(
      c("Column{?s} {.field {columns}} of two whole numbers {?is/are} taken as levels.",
        i = "A model that is given as {.arg obs} takes them as it says, numbers as numbers."),
      class = c("bnpvi_message_levels", "bnpvi_message"), call = NULL
    )
  }
}

# If the only column of numbers looks like the frequencies of rows, as in the data frame of a contingency table, a
# message says how to use it as weights.
tell_of_frequencies <- function(numbers) {
  name <- names(numbers)
  frequencies <- length(name) == 1L && grepl("^(freq|frequency|n|counts?|weights?|wt)$", name, ignore.case = TRUE) &&
    all_counts(numbers[[1L]])
  if (frequencies) {
    cli::cli_inform(
      c("Column {.field {name}} is modelled like any other.",
        i = "If it counts how often each row occurs, give it to {.fn bnp_mixture} as {.code weights = {name}}."),
      class = c("bnpvi_message_frequencies", "bnpvi_message"), call = NULL
    )
  }
}

# Whether a factor that was made while a source was read stands for numbers.
stands_for_numbers <- function(v) isTRUE(attr(v, "was") %in% c("integer", "double"))

# The largest number of columns for which a full covariance is the default. With more columns it has more
# parameters than most data can determine; the number is a guess.
most_full_columns <- 50L
