# Was Gaussian the right choice for each column?
# A fit for which no observation model was given takes its numbers as Gaussian. If a column departs from that
# shape within the clusters that were found, models that could have produced its values are tried on the
# column, with the clusters left as they are. print() names the best of them.

# The least gain of the bound, in nats, for which another model is mentioned: odds of 20,000 to 1.
least_gain <- 10

# The largest number of rows on which the shapes of columns are compared with the normal one. Models are tried
# on fewer rows if there are many columns, and only for the columns that depart most from a normal shape, so
# that the cost does not grow with the data. Rows are drawn evenly from all, so that the same data give the
# same answer.
most_rows <- 2^16
rows_to_try <- function(n_columns) min(2^13, max(2^11, 2^14 %/% n_columns))
most_columns_to_try <- 8L
evenly <- function(n, most) if (n <= most) seq_len(n) else as.integer(seq(1, n, length.out = most))

# The fit with `better`, a data frame of column, model (its constructor) and gain, if columns have a better
# model; else the fit as it is. If models were tried on some of the rows only, the gain is extrapolated to all
# rows.
#
# A column that gets a model of its own is independent of the others within a cluster. The gain is therefore
# computed twice, for the column alone and for all columns together (a product), and the smaller one counts:
# so what independence loses is subtracted, and what it wins by fewer covariances is not counted.
with_better_models <- function(fit, data) {
  if (!is.null(fit$model$obs$levels)) { # all columns are levels
    return(fit)
  }
  some <- evenly(data$n, if (has_individuals(data)) data$n else most_rows)
  looked_at <- if (length(some) < data$n) data[some] else data
  columns <- columns_that_depart(columns_of_gaussian(fit, looked_at), fit$labels[some], data$weights[some])
  if (!length(columns)) {
    return(fit)
  }
  gaussian <- gaussian_part(fit)
  x <- columns_of_gaussian(fit, data)
  rest <- colnames(x)
  spacing <- stats::setNames(gaussian$rounding %||% rep(0, length(rest)), rest)
  counts <- vapply(seq_along(rest), function(j) all_counts(x[, j]), NA)
  whole <- stats::setNames(spacing %in% c(0, 1) & counts, rest)
  makers_of <- lapply(stats::setNames(columns, columns), function(column) {
    models_of_values(x[, column], whole[[column]], spacing[[column]])
  })
  rows <- evenly(data$n, if (has_individuals(data)) data$n else rows_to_try(length(columns)))
  times <- data$n / length(rows)
  if (times > 1) {
    data <- data[rows]
    x <- x[rows, , drop = FALSE]
  }
  # Widths of the cells to which values are rounded. A density of whole numbers can be compared with the
  # probabilities of counts if each number stands for a cell of width 1.
  cells <- replace(spacing, whole, 1)
  bound <- bounds_within(responsibilities(fit, data), fit, data, x)
  covariance <- covariance_of(gaussian)
  normal <- function(own, learn = TRUE) {
    model <- function() obs_gaussian(covariance, learn = learn, rounding = unname(cells[own]))
    if (length(own)) bound(own, model()) else 0
  }
  better <- NULL
  together <- NULL # the bound of all columns that are still Gaussian, once it was computed
  for (column in columns) {
    makers <- makers_of[[column]]
    bounds <- vapply(makers, function(maker) {
      bound(column, do.call(maker, if (takes(maker, "rounding")) list(rounding = cells[[column]]) else list()))
    }, 1)
    # The gain of the best model over a Gaussian one for this column alone, both with priors that are not
    # learned, so that they are comparable. Below it is also compared with the model that the fit has, whose
    # prior is learned from all columns.
    gain <- max(bounds) - normal(column, learn = FALSE)
    if (isTRUE(gain >= least_gain)) {
      others <- normal(setdiff(rest, column))
      together <- together %||% normal(rest)
      gain <- min(gain, max(bounds) + others - together)
    }
    if (isTRUE(gain >= least_gain)) {
      together <- others
      better <- rbind(better, data.frame(column = column, model = makers[which.max(bounds)], gain = times * gain))
      rest <- setdiff(rest, column)
    }
  }
  if (is.null(better)) {
    return(fit)
  }
  fit$better <- better
  sealed(fit)
}

# Names of the columns whose shape within clusters departs most from a normal one, in the order of the data:
# by about `least_gain` nats or more in addition to what chance makes of normal values (1 nat per cluster).
# Only skewness to the right and heavy tails count, since the models to be tried (of values above 0, or with
# heavy tails) have no other departures.
columns_that_depart <- function(x, labels, weights) {
  cluster <- match(labels, unique(labels))
  weight <- (1 - is.na(x)) * (weights %||% 1)
  size <- rowsum(weight, cluster)
  moment <- function(z) rowsum(z * weight, cluster, na.rm = TRUE) / size
  z <- x - moment(x)[cluster, , drop = FALSE]
  z <- z / sqrt(moment(z^2))[cluster, , drop = FALSE]
  far <- size * (pmax(moment(z^3), 0)^2 / 12 + pmax(moment(z^4) - 3, 0)^2 / 48) - 1
  far <- colSums(far, na.rm = TRUE)
  most <- utils::head(order(-far), most_columns_to_try)
  colnames(x)[sort(most[far[most] >= least_gain])]
}

# The part of a default observation model that takes numbers, which is Gaussian.
gaussian_part <- function(fit) {
  if (is.null(fit$model$obs$blocks)) fit$model$obs else fit$model$obs$blocks$gaussian
}

# The columns of the data that are modelled as Gaussian, as a matrix with column names, NA in missing cells.
columns_of_gaussian <- function(fit, data) {
  all <- data$column_names %||% default_names(data$d)
  x <- `colnames<-`(data$x, all)
  if (length(data$missing)) x[data$missing] <- NA
  x[, if (is.null(fit$model$obs$blocks)) all else gaussian_part(fit)$columns, drop = FALSE]
}

# Most columns of other values show it at once.
all_counts <- function(v) {
  for (n in c(100L, length(v))) {
    if (!all((some <- utils::head(v, n)) >= 0 & some == round(some), na.rm = TRUE)) {
      return(FALSE)
    }
  }
  TRUE
}
covariance_of <- function(gaussian) if (inherits(gaussian, "obs_gaussian_diagonal")) "diagonal" else "full"
takes <- function(maker, argument) argument %in% names(formals(maker))

# Constructors of the observation models that could have produced these values. A density that takes no
# account of rounding is left out if values repeat. whole: whether the values are counts; spacing: the spacing
# of rounded values.
models_of_values <- function(values, whole, spacing) {
  positive <- all(values > 0, na.rm = TRUE)
  obs_makers(function(facts) {
    maker <- facts$constructor
    "number" %in% facts$kind && "bnp_mixture" %in% facts$verbs && !facts$counts_tokens &&
      switch(facts$refusal[["class"]] %||% "none",
        not_counts = whole, not_positive = positive && (spacing == 0 || takes(maker, "rounding")),
        none = takes(maker, "tails"), FALSE
      )
  })
}

# Makes a function bound(columns, obs): the bound of a model of these columns of x given q(z), whose
# probabilities are in `share`; -Inf if it cannot be computed. Clusters are held fixed by known labels. A row
# that several clusters share becomes a row of each, weighted by its probability. The bound, without its part
# for the labels, is then the sum over clusters of the log evidence of expected statistics.
bounds_within <- function(share, fit, data, x) {
  if (!is.null(data$weights)) share <- share * data$weights
  at <- which(share > 1e-3 * (data$weights %||% 1), arr.ind = TRUE)
  control <- bnp_control(
    seed = 1, threads = fit$control$threads, moves = FALSE, max_laps = 20, verbose = FALSE, keep_data = FALSE
  )
  function(columns, obs) {
    own <- x[at[, 1L], columns, drop = FALSE]
    seen <- rowSums(!is.na(own)) > 0
    call <- rlang::current_env()
    tryCatch(
      withCallingHandlers({
        rows <- as_mixture_data(own[seen, , drop = FALSE], obs, call = call, na_action = if (anyNA(own)) "model")
        rows$weights <- share[at[seen, , drop = FALSE]]
        rows <- with_labels(rows, unname(at[seen, 2L]), call)
        tried <- fit_model("bnp_mixture", fit$call, rows, obs, prior_dp(1), control, NULL, rows$n, list(), call)
        tried$elbo - tried$elbo_terms[["allocation"]]
      }, bnpvi_warning_max_laps = function(w) invokeRestart("muffleWarning")),
      bnpvi_error = function(e) -Inf
    )
  }
}

# The line that print() shows of better models: "Better within these clusters: obs_poisson() for `visits`, by
# 57 nats. Try obs = obs_product(...)" or, if the models were tried on joined clusters, "Better with 2
# clusters: ...".
described_better <- function(fit) {
  better <- fit$better
  if (is.null(better)) {
    return(NULL)
  }
  gain <- format(better$gain, digits = 2, trim = TRUE)
  left <- better$clusters[1L]
  each <- paste0(better$model, "() for `", better$column, "`", if (is.null(left)) paste0(" by ", gain, " nats"))
  within <- if (is.null(left)) "within these clusters" else {
    paste0("by ", gain[1L], " nats with ", left, " cluster", if (left > 1L) "s")
  }
  paste0(
    "Better ", within, ": ", paste(each, collapse = ", "), ". Try obs = ",
    paste(trimws(deparse(call_of_better(fit), 500L)), collapse = " ")
  )
}

# The call of obs_product() in which these columns have their better models, and all others the model that
# they have now.
call_of_better <- function(fit) {
  chosen <- fit$model$obs
  better <- fit$better
  gaussian <- gaussian_part(fit)
  own <- Map(function(model, column) rlang::call2(model, columns = column), better$model, better$column)
  n_numbers <- if (is.null(chosen$blocks)) fit$input$d else length(gaussian$columns)
  if (is.null(chosen$blocks) && n_numbers == 1L) {
    return(rlang::call2(better$model))
  }
  levels <- chosen$blocks$categorical$columns
  rlang::call2("obs_product", !!!unname(c(own,
    if (n_numbers > nrow(better)) {
      if (covariance_of(gaussian) == "full") quote(obs_gaussian()) else quote(obs_gaussian("diagonal"))
    },
    if (length(levels)) rlang::call2("obs_categorical", columns = levels)
  )))
}
