# Covariates of a formula as columns of numbers, and the same columns for new data. Shared by all families
# whose prior is prior_covariates().
#
# A design is list(terms, levels, variable_of, names, centre, scale, indicator, of_all_rows): the terms with what
# splines and polynomials learned from the data; of each factor its levels, and the columns of the model matrix
# in which it is; the columns that are kept, by name, their centre and scale, and which of them are indicators of
# levels alone; and the variables that cannot be computed for other rows. learn_patterns() adds `values`.

most_covariate_columns <- 200L
no_level <- " (no level)"

# The data frame in which a formula of covariates is evaluated. x: the covariates as the user gave them; n,
# names: number and names of the rows (documents, sequences) that were given; arg: what messages call x.
covariate_frame <- function(x, n, names, arg, word, call) {
  x <- plain_columns(plain_values(as_vector(x)))
  if (is.atomic(x) && is.null(dim(x))) {
    abort("covariates", c(
      "{.arg {arg}} must be a data frame or a matrix with named columns, not {describe(x)}.",
      i = "Its columns must have the names in the formula of {.fn prior_covariates}: {.code data.frame(age = age)}."
    ), call = call)
  }
  if (is.matrix(x)) {
    if (is.null(colnames(x))) {
      abort("covariates", "The columns of {.arg {arg}} must have names.", call = call)
    }
    x <- as.data.frame(x)
  }
  if (!is.data.frame(x)) {
    abort("covariates", "{.arg {arg}} must be a data frame, not {describe(x)}.", call = call)
  }
  if (nrow(x) != n) {
    abort("covariates", c(
      "{.arg {arg}} must have one row for each {word} ({n}), not {nrow(x)}."
    ), call = call)
  }
  # names of the covariates' rows; row numbers are ignored, as other rows may have been left out
  own <- if (is.character(attr(x, "row.names"))) row_names_of(x)
  if (!is.null(own) && !is.null(names)) {
    at <- in_order_of_names(stats::setNames(seq_len(n), own), names, n, arg, word, call)
    x <- x[at, , drop = FALSE]
  }
  `row.names<-`(as.data.frame(x), NULL)
}

# Learns the design of covariates from training data and weights of the rows: list(design, value). `value` is
# a matrix with the design's columns.
learn_design <- function(formula, frame, weights, arg, call) {
  terms <- formula_terms(formula, frame, arg, call)
  attr(terms, "intercept") <- 1L # kept in any case, since the weights of a pattern sum to 1
  require_columns_of_formula(terms, frame, arg, call)
  evaluated <- evaluated_covariates(terms, frame, arg, call)
  variables <- with_levels(evaluated, NULL)
  design <- list(
    terms = attr(variables, "terms"), levels = lapply(Filter(is.factor, as.list(variables)), levels),
    of_all_rows = variables_of_all_rows(evaluated, frame, arg, call)
  )
  # the fit would otherwise store the environment in which the formula was made
  environment(design$terms) <- single_values_of(terms, frame)
  matrix <- design_columns(variables)
  design$variable_of <- matrix$variable_of
  if (ncol(matrix$value) > most_covariate_columns) {
    abort("covariates", c(
      "The covariates are {ncol(matrix$value)} columns; at most {most_covariate_columns} can be taken.",
      i = "Combine levels of factors, or choose fewer knots."
    ), call = call)
  }
  value <- matrix$value
  size <- apply(abs(value), 2L, max)
  size[size == 0] <- 1
  share <- weights / sum(weights)
  centre <- colSums(share * value / rep(size, each = nrow(value))) * size
  away <- value - rep(centre, each = nrow(value))
  scale <- sqrt(colSums(share * (away / rep(size, each = nrow(value)))^2)) * size
  varies <- scale > 1e-10 * size
  counted <- weights > 0
  varies[matrix$indicator] <- apply(value[counted, matrix$indicator, drop = FALSE], 2L, function(v) {
    length(unique(v)) > 1L
  })
  if (!all(varies) && ncol(value)) {
    names <- grep(no_level, colnames(value)[!varies], fixed = TRUE, value = TRUE, invert = TRUE)
    cli::cli_inform(
      c("Covariates that are constant are left out: {.field {places(names)}}."),
      class = c("bnpvi_message_constant", "bnpvi_message")
    )
  }
  centre[matrix$indicator] <- 0
  scale[matrix$indicator] <- 1
  design[c("names", "centre", "scale", "indicator")] <- list(
    colnames(value)[varies], unname(centre[varies]), unname(scale[varies]), unname(matrix$indicator[varies])
  )
  list(design = design, value = standardised(value[, varies, drop = FALSE], design))
}

# The design's columns for other data: list(value, extra). `extra` has, for each row, the number of its levels
# that the fit has not seen. Such a level has no column; its effect has the distribution of the prior, with
# the variance of an indicator.
apply_design <- function(design, frame, arg, call) {
  if (length(design$of_all_rows)) {
    abort("covariates", c(
      "The covariate{?s} {.code {design$of_all_rows}} cannot be computed for other rows than those of the fit.",
      x = "{cli::qty(design$of_all_rows)}{?It depends/They depend} on all rows that are given.",
      i = "Add {cli::qty(design$of_all_rows)}{?it/them} to the data before the fit, or use {.fn scale}, {.fn poly} or
           {.fn cut} with given breaks."
    ), call = call)
  }
  for (name in intersect(names(frame), names(design$values))) {
    frame[[name]] <- in_form_of_fit(frame[[name]], plain_values(design$values[[name]]), name, arg, call)
  }
  unseen <- unseen_levels(design, frame, call)
  for (name in names(unseen)) frame[[name]][unseen[[name]]] <- design$levels[[name]][1L]
  variables <- evaluated_covariates(design$terms, frame, arg, call)
  refuse_new_levels(variables, design$levels, arg, call)
  value <- design_columns(with_levels(variables, design$levels))$value
  for (name in names(unseen)) {
    value[unseen[[name]], design$variable_of[[name]]] <- 0
  }
  value <- standardised(value[, design$names, drop = FALSE], design)
  if (any(abs(value) > most_deviations)) {
    abort("covariates", c(
      "Covariates of {.arg {arg}} are more than a million standard deviations away from those of the fit.",
      x = "In {.field {design$names[colSums(abs(value) > most_deviations) > 0]}}.",
      i = "Effects say nothing there."
    ), call = call)
  }
  list(
    value = value,
    extra = rowSums(matrix(as.double(unlist(unseen)), nrow(value), length(unseen)))
  )
}

most_deviations <- 1e6

# Numbers, dates, times and durations: covariates with a scale.
is_scale <- function(v) (is.numeric(v) || inherits(v, c("Date", "POSIXct", "difftime"))) && length(dim(v)) < 2L

# Numbers with the class and unit of v, such as dates.
on_scale_of <- function(number, v) {
  structure(number, class = oldClass(v), units = attr(v, "units"), tzone = attr(v, "tzone"))
}

# A covariate v of new data in the form that it had in the fit, `known`: factors with their levels there, since a
# formula may have as.numeric(grade); yes and no; text; and numbers, dates and so on, in the same unit.
in_form_of_fit <- function(v, known, name, arg, call) {
  v <- plain_values(v)
  if (is.factor(known) || is.character(known) || is.logical(known)) {
    text <- label_text(v, name, call)
    if (is.factor(known)) {
      return(factor(text, union(levels(known), text[!is.na(text)]), ordered = is.ordered(known)))
    }
    return(if (is.logical(known) && all(text %in% c("TRUE", "FALSE", NA))) text == "TRUE" else text)
  }
  if (!is_scale(known)) {
    return(v)
  }
  kind <- intersect(c("Date", "POSIXct", "difftime"), class(known))
  if (!is_scale(v) || !identical(kind, intersect(c("Date", "POSIXct", "difftime"), class(v)))) {
    words <- c("numbers", Date = "dates", POSIXct = "times (POSIXct)", difftime = "durations (difftime)")
    abort("covariates", c(
      "The covariate {.field {name}} of {.arg {arg}} must be {words[[if (length(kind)) kind else 1L]]}, as in the fit,
       not {describe(v)}."
    ), call = call)
  }
  if (identical(kind, "difftime")) units(v) <- units(known)
  v
}

# For each column that is a factor by itself, marks the rows with a level that the fit has not seen.
unseen_levels <- function(design, frame, call) {
  names <- intersect(names(design$levels), names(frame))
  unseen <- sapply(names, function(name) {
    text <- label_text(plain_values(frame[[name]]), name, call)
    !is.na(text) & !text %in% design$levels[[name]]
  }, simplify = FALSE)
  unseen <- Filter(any, unseen)
  if (length(unseen)) {
    cli::cli_warn(
      c("{.field {names(unseen)}} {?has/have} levels that the fit has not seen; their effects are those of the prior."),
      class = c("bnpvi_warning_new_levels", "bnpvi_warning")
    )
  }
  unseen
}

standardised <- function(value, design) {
  n <- nrow(value)
  unname((value - rep(design$centre, each = n)) / rep(design$scale, each = n))
}

# Checks that every variable of a formula is a column of the frame that is no list, or a single value (such as
# the number of knots of a spline) from where the formula was written.
require_columns_of_formula <- function(terms, frame, arg, call) {
  lacking <- Filter(
    function(name) !name %in% names(frame) && !rlang::is_scalar_atomic(get0(name, environment(terms))), all.vars(terms)
  )
  if (length(lacking)) {
    parts <- Filter(function(name) startsWith(name, paste0(lacking[1L], ".")), names(frame))
    abort("covariates", c(
      "The formula of {.fn prior_covariates} names {.field {lacking}}, which {.arg {arg}} does not have.",
      x = if (length(parts)) "A matrix gives a covariate for each of its columns: {.field {places(parts)}}.",
      i = "Give a data frame with {cli::qty(length(lacking))}{?this column/these columns} as {.arg covariates}."
    ), call = call)
  }
  lists <- names(Filter(is.list, frame[intersect(all.vars(terms), names(frame))]))
  if (length(lists)) {
    abort("covariates", c(
      "{cli::qty(length(lists))}The covariate{?s} {.field {lists}} of {.arg {arg}} {?is a list/are lists}.",
      i = "Covariates are numbers, text, levels, dates or yes and no, one value in each row."
    ), call = call)
  }
}

# The variables of a formula of covariates, as the formula makes them.
evaluated_covariates <- function(terms, frame, arg, call) {
  frame[] <- lapply(frame, plain_values)
  variables <- evaluate_formula(tryCatch(formula_variables(terms, frame, NULL, arg, call), error = function(e) {
    # what a function cannot do is often due to missing values
    require_known_covariates(frame[intersect(all.vars(terms), names(frame))], arg, call)
    stop(e)
  }), arg, call)
  require_known_covariates(variables, arg, call)
  variables
}

# Variables of which text, yes and no, and ordered levels have become factors. levels: of each factor in the
# training data; NULL: those that occur.
with_levels <- function(variables, levels) {
  learned <- attr(variables, "terms")
  variables[] <- Map(function(v, name) {
    if (!is.character(v) && !is.logical(v) && !is.factor(v)) {
      return(v)
    }
    v <- label_factor(v, "covariates")
    if (is.null(levels)) v else factor(v, levels[[name]])
  }, variables, names(variables))
  structure(variables, terms = learned)
}

# The names of variables whose value in a row depends on other rows, as those of x - mean(x) and cut(x, 3). What
# scale() or splines learn from the data is in the terms of the variables and does not count. The rows in which a
# variable is least and largest are looked at alone.
variables_of_all_rows <- function(variables, frame, arg, call) {
  terms <- attr(variables, "terms")
  made <- which(!vapply(as.list(attr(terms, "variables"))[-1L], is.name, NA))
  if (nrow(frame) < 2L || !length(made)) {
    return(character())
  }
  made <- Filter(function(at) {
    v <- variables[[at]]
    order <- order(if (length(dim(v)) == 2L) v[, 1L] else if (is_scale(v)) as.double(v) else as.character(v))
    any(vapply(order[c(1L, length(order))], function(row) {
      alone <- tryCatch(
        suppressWarnings(formula_variables(terms, values_at(frame, row), NULL, arg, call)), error = function(e) NULL
      )
      !is.null(alone) && differs(alone[[at]], values_at(v, row))
    }, NA))
  }, made)
  names(variables)[made]
}

differs <- function(v, w) {
  if (is.numeric(v) && is.numeric(w)) !isTRUE(all(abs(v - w) <= 1e-8 * max(abs(w)))) else
    !identical(as.character(v), as.character(w))
}

# An environment with the single values that a formula takes from where it was written, such as a number of knots.
single_values_of <- function(terms, frame) {
  names <- setdiff(all.vars(terms), names(frame))
  if (!length(names)) {
    return(globalenv())
  }
  list2env(mget(names, envir = environment(terms), inherits = TRUE), parent = globalenv())
}

require_known_covariates <- function(variables, arg, call) {
  for (name in names(variables)) {
    v <- variables[[name]]
    if (is.list(v) && !is.data.frame(v)) {
      abort("covariates", "The covariate {.field {name}} is a list; it must have one value per row.", call = call)
    }
    missing <- rowSums(is.na(as.matrix(v))) > 0
    if (any(missing)) {
      abort("covariates", c(
        "The covariate {.field {name}} of {.arg {arg}} is missing in {sum(missing)} row{?s}.",
        x = "In {cli::qty(sum(missing))}row{?s} {places(which(missing))}.",
        i = "Covariates are not modelled, so they must be known: leave these rows out."
      ), call = call)
    }
    if (is.numeric(v) && any(!is.finite(v))) {
      bad <- which(rowSums(!is.finite(as.matrix(v))) > 0)
      abort("covariates", c(
        "The covariate {.field {name}} of {.arg {arg}} must be finite.",
        x = "In {cli::qty(length(bad))}row{?s} {places(bad)}."
      ), call = call)
    }
  }
}

# The model matrix of covariates without its intercept, in which factors have all their levels: list(value,
# indicator, variable_of). indicator: which columns are indicators of levels alone; variable_of: for each
# factor, the columns to which it contributes.
design_columns <- function(variables) {
  terms <- attr(variables, "terms")
  factors <- Filter(is.factor, as.list(variables))
  # model.matrix() needs at least two levels
  for (name in names(Filter(function(f) nlevels(f) == 1L, factors))) {
    variables[[name]] <- factors[[name]] <- factor(factors[[name]], c(levels(factors[[name]]), no_level))
  }
  contrasts <- lapply(factors, function(f) diag(nlevels(f)) |> `dimnames<-`(list(levels(f), levels(f))))
  value <- stats::model.matrix(terms, variables, contrasts.arg = if (length(contrasts)) contrasts)
  of_column <- attr(value, "assign")
  of_terms <- attr(terms, "factors")
  by_levels <- vapply(seq_along(attr(terms, "term.labels")), function(term) {
    all(rownames(of_terms)[of_terms[, term] > 0L] %in% names(factors))
  }, NA)
  keep <- of_column > 0L
  variable_of <- sapply(names(factors), function(name) {
    which(of_column[keep] %in% which(of_terms[name, ] > 0L))
  }, simplify = FALSE)
  list(
    value = matrix(value[, keep], nrow(value), sum(keep), dimnames = list(NULL, colnames(value)[keep])),
    indicator = by_levels[of_column[keep]], variable_of = variable_of
  )
}
