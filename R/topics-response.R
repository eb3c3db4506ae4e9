# Responses of documents. Turns the arguments of bnp_topics() into a model for the engine and a column of numbers for
# each document, data$group_values: one response for each equation, NA where unknown, then the covariates.

response_families <- c("gaussian", "binomial", "classes", "hinge", "eps_hinge")
normal_response <- "gaussian"
numeric_responses <- c(normal_response, "eps_hinge")
default_families <- list(numbers = normal_response, two = "binomial", several = "classes")
# The engine's names of families of responses (others: "logistic"); families whose objective bounds a likelihood.
engine_responses_of <- c(gaussian = "gaussian", hinge = "hinge", eps_hinge = "tube")
likelihood_responses <- c("gaussian", "logistic")

# Reads the response of documents: list(model, values, input), NULL without a response. `input` is what a fit stores:
# family, levels (classes in the order of the equations), centre and scale of numbers, covariates, and the number of
# documents with a known response.
read_response <- function(response, x, data, family, covariates, weight, cost, epsilon, precision, call) {
  weight <- check_number(weight, "response_weight", call = call)
  cost <- check_number(cost, "response_cost", call = call)
  epsilon <- check_number(epsilon, "response_epsilon", strict = FALSE, call = call)
  if (!is.null(precision)) precision <- check_number(precision, "response_precision", call = call)
  if (is.null(response)) {
    unused <- c("family", "covariates")[!c(is.null(family), is.null(covariates))]
    if (length(unused)) {
      abort("response", c(
        "{.arg {unused}} {?has/have} no meaning without {.arg response}.", i = "Give the {.arg response} of documents."
      ), call = call)
    }
    return(NULL)
  }
  named <- response_and_covariates(response, covariates, x, call)
  y <- of_documents(named$y, data, "response", call)
  x <- read_covariates(named$x, data, call)
  known <- !is.na(y)
  if (!any(known)) {
    cli::cli_warn(
      c("All values of {.arg response} are missing.", i = "The fit is that without a response."),
      class = c("bnpvi_warning_response", "bnpvi_warning"), call = call
    )
    return(NULL)
  }
  empty <- known & empty_documents(data)
  if (any(empty)) {
    cli::cli_warn(
      "The response of {sum(empty)} document{?s} without tokens is not used: {places(which(empty))}.",
      class = c("bnpvi_warning_response", "bnpvi_warning"), call = call
    )
    known <- known & !empty
    y[empty] <- NA
    if (!any(known)) abort("response", "No document with a response has a token.", call = call)
  }
  family <- response_family(family, y, call)
  coded <- if (family %in% numeric_responses) code_numbers(y, family, call) else code_classes(y, family, call)
  values <- rbind(coded$values, t(covariate_values(x, known, call)))
  model <- list(
    family = unname(engine_responses_of[family]),
    equations = nrow(coded$values), covariates = if (is.null(x)) 0L else ncol(x$value),
    precision = precision %||% if (family == normal_response) 1 else 0.1, df = 3, scale = 1,
    variance = if (weight == 1) 0 else 1, cost = cost, epsilon = epsilon, weight = weight
  )
  if (is.na(model$family)) model$family <- "logistic"
  dimnames(values) <- NULL
  storage.mode(values) <- "double"
  list(model = model, values = values, input = c(
    list(family = family, n = sum(known), values = values), coded[setdiff(names(coded), "values")],
    if (!is.null(x)) list(covariates = x[setdiff(names(x), "value")])
  ))
}

empty_documents <- function(data) {
  by_row <- is_sparse_data(data) && data$n == length(data$starts) - 1L
  diff(if (by_row) data$row_start else data$starts) == 0L
}

# A formula y ~ a + b names a response and covariates, which are document variables of `x` or variables of the
# environment in which the formula was made; a single string names a document variable.
response_and_covariates <- function(response, covariates, x, call) {
  variables <- if (is(x, "dfm")) methods::slot(x, "docvars")
  if (inherits(response, "formula")) {
    if (length(response) != 3L) {
      abort("response", "{.arg response} must have a left side, as in {.code rating ~ 1}.", call = call)
    }
    response <- stats::formula(response)
    check_bars(response, call)
    if (!is.null(covariates)) {
      abort("response", c(
        "{.arg covariates} are given twice.", i = "With a formula as {.arg response} they are its right side."
      ), call = call)
    }
    frame <- tryCatch(
      {
        terms <- stats::terms(response, data = variables) # `.` is all variables but the response
        list(
          y = eval(response[[2L]], variables, environment(response)), terms = terms,
          x = stats::model.frame(stats::delete.response(terms), variables, na.action = stats::na.pass)
        )
      },
      error = function(e) {
        abort("response", c(
          "The formula {.arg response} cannot be evaluated.", x = "{conditionMessage(e)}",
          i = "Its variables are document variables of a {.cls dfm}, or vectors with a value for each document."
        ), call = call)
      }
    )
    if (explains_itself(frame$terms)) {
      abort("response", "The left side of {.arg response} must not be a covariate, too.", call = call)
    }
    if (has_interactions(frame$terms) || !is.null(attr(frame$terms, "offset"))) {
      abort("response", c(
        "{.arg response} must have neither interactions nor an {.fn offset}.",
        i = "Write a product of covariates as {.code I(a * b)}, and subtract an offset from the response."
      ), call = call)
    }
    frame$x <- variables_of_terms(frame$x, stats::delete.response(frame$terms))
    return(list(y = frame$y, x = if (ncol(frame$x)) frame$x))
  }
  one <- function(v) is.character(v) && length(v) == 1L && v %in% names(variables)
  list(
    y = if (one(response)) variables[[response]] else response,
    x = if (is.character(covariates) && all(covariates %in% names(variables))) {
      variables[covariates]
    } else {
      covariates
    }
  )
}

# The values v, given for all documents, of the documents that are used: one value for each.
of_documents <- function(v, data, arg, call) {
  v <- as_vector(v)
  if (is.list(v) || !is.atomic(v) || !is.null(dim(v))) {
    abort("response", c(
      "{.arg {arg}} must be a vector with one value for each document, not {describe(v)}.",
      i = if (is(v, "function")) "If it is the name of a variable, that variable was not found."
    ), call = call)
  }
  documents <- given_groups(data)
  v <- plain_values(v)
  if (length(v) != documents$n) {
    abort("response", c(
      "{.arg {arg}} must have one value for each document ({documents$n}), not {length(v)}.",
      i = "Documents whose value is not known have {.code NA}."
    ), call = call)
  }
  v <- values_of_groups(v, data, arg, "document", call)
  if (is.null(documents$kept)) v else v[documents$kept]
}

# ---- the kind of response --------------------------------------------------------------------------------------------

response_family <- function(family, y, call) {
  if (inherits(family, "family")) {
    links <- c(gaussian = "identity", binomial = "logit")
    if (!identical(family$link, unname(links[family$family]))) {
      abort("response", c(
        "{.arg family} must be {.code gaussian()} or {.code binomial()} with its canonical link, not
         {.code {family$family}(\"{family$link}\")}.",
        i = "Or one of the strings {.or {.val {response_families}}}."
      ), call = call)
    }
    family <- family$family
  }
  if (inherits(y, c("Date", "POSIXt", "difftime"))) {
    abort("response", c(
      "{.arg response} must be numbers or classes, not {describe(y)}.",
      i = "{.code as.numeric(response)} makes numbers of it."
    ), call = call)
  }
  numbers <- is.numeric(y) && !is.factor(y)
  if (is.null(family)) {
    several <- length(unique(y[!is.na(y)])) > 2L
    family <- default_families[[if (numbers) "numbers" else if (several) "several" else "two"]]
  }
  family <- check_choice(family, response_families, "family", call)
  if (!numbers && family %in% numeric_responses) {
    abort("response", c(
      "{.arg response} must be numbers for {.code family = \"{family}\"}, not {describe(y)}.",
      i = "Levels are classes: {.val binomial}, {.val classes} or {.val hinge}."
    ), call = call)
  }
  family
}

# Codes a numeric response with mean 0 and sd 1. Numbers are scaled twice, since the square of 1e150 overflows.
code_numbers <- function(y, family, call) {
  known <- y[!is.na(y)]
  if (any(!is.finite(known))) {
    abort("response", c(
      "{.arg response} must be finite.", x = "Not so: document {places(which(!is.na(y) & !is.finite(y)))}.",
      i = "Unknown values are {.code NA}."
    ), call = call)
  }
  size <- max(abs(known))
  centre <- if (size > 0) mean(known / size) * size else 0
  spread <- max(abs(known - centre))
  if (length(known) < 2L || spread <= 1e-12 * size) {
    abort("response", c(
      "{.arg response} must have at least two different values; {if (length(known) < 2L) 'one is known' else
       'all are equal'}.",
      i = "There is nothing to learn from it: leave it out."
    ), call = call)
  }
  scale <- spread * sqrt(sum(((known - centre) / spread)^2) / (length(known) - 1))
  list(values = matrix((as.double(y) - centre) / scale, 1L), centre = centre, scale = scale)
}

# Codes a response with classes in order of frequency: each class but the last has an equation, in which it is compared
# with the classes after it.
code_classes <- function(y, family, call) {
  if (is.factor(y) && any(tabulate(y, nlevels(y)) == 0L)) {
    unseen <- levels(y)[tabulate(y, nlevels(y)) == 0L]
    cli::cli_warn(
      c(
        "No document of {.arg response} is in class {.val {unseen}}.",
        i = "{cli::qty(length(unseen))}{?This class is/These classes are} never predicted."
      ),
      class = c("bnpvi_warning_response", "bnpvi_warning"), call = call
    )
  }
  y <- label_factor(y, "response", call, sorted = TRUE)
  if (nlevels(y) < 2L) {
    abort("response", c(
      "{.arg response} must have at least two classes; all that are known are in {.val {levels(y)}}.",
      i = "There is nothing to learn from it: leave it out."
    ), call = call)
  }
  if (nlevels(y) > 2L && family != "classes") {
    abort("response", c(
      "{.arg response} must have two classes for {.code family = \"{family}\"}; it has {nlevels(y)}.",
      i = "{.code family = \"classes\"} takes more."
    ), call = call)
  }
  if (nlevels(y) > 100L) {
    abort("response", c(
      "{.arg response} has {nlevels(y)} classes; at most 100 can be told apart.",
      i = "Are these names, or numbers that were read as text?"
    ), call = call)
  }
  if (family == "classes") {
    count <- tabulate(y, nlevels(y))
    levels <- levels(y)[order(-count)]
    place <- match(as.character(y), levels)
    values <- outer(seq_len(length(levels) - 1L), place, function(e, c) ifelse(c < e, NA, 1 * (c == e)))
    return(list(values = values, levels = levels(y), order = levels))
  }
  second <- as.integer(y) - 1L
  values <- matrix(if (family == "hinge") 2 * second - 1 else second, 1L)
  list(values = values, levels = levels(y), order = rev(levels(y)))
}

# ---- covariates -----------------------------------------------------------------------------------------------------

# Covariates of documents: list(value, names, centre, scale, terms, levels). Columns of `value` have mean 0 and sd 1.
read_covariates <- function(x, data, call, known = NULL) {
  if (is.null(x)) {
    return(NULL)
  }
  made <- documents_by_covariates(x, known, data, call)
  value <- made$value
  if (is.null(known)) {
    size <- apply(abs(value), 2L, max, na.rm = TRUE)
    if (any(!is.finite(size))) {
      abort(
        "response", "{.arg covariates} must be finite; column {places(which(!is.finite(size)))} is not.", call = call
      )
    }
    size[size == 0] <- 1
    centre <- colMeans(value / rep(size, each = nrow(value)), na.rm = TRUE) * size
    spread <- apply(abs(value - rep(centre, each = nrow(value))), 2L, max, na.rm = TRUE)
    scale <- apply((value - rep(centre, each = nrow(value))) / rep(spread, each = nrow(value)), 2L, function(v) {
      sqrt(mean(v^2, na.rm = TRUE))
    }) * spread
    constant <- !(spread > 1e-12 * size)
    if (any(constant)) {
      abort("response", c(
        "{.arg covariates} must vary: {.field {colnames(value)[constant]}} {?does/do} not.",
        i = "The shares of topics sum to 1 and have the intercept: leave out what is constant."
      ), call = call)
    }
    made[c("names", "centre", "scale")] <- list(colnames(value), centre, scale)
  } else {
    made[c("names", "centre", "scale")] <- known[c("names", "centre", "scale")]
  }
  made$value <- (value - rep(made$centre, each = nrow(value))) / rep(made$scale, each = nrow(value))
  made
}

# Puts single values that have names (in variables of a formula or columns of a tibble) into the order of the documents,
# to which the names refer.
columns_by_names <- function(x, data, call) {
  if (is.data.frame(x) && !is.character(attr(x, "row.names"))) {
    named <- vapply(x, function(v) length(dim(v)) < 2L && !is.null(names(v)), NA)
    x[named] <- lapply(x[named], function(v) {
      values_of_groups(plain_values(v), data, "covariates", "document", call)
    })
  }
  x
}

documents_by_covariates <- function(x, known, data, call) {
  x <- columns_by_names(x, data, call)
  x <- plain_columns(plain_values(x))
  if (is.atomic(x)) x <- values_of_groups(x, data, "covariates", "document", call)
  if (is.atomic(x) && is.null(dim(x))) x <- data.frame(covariate = x)
  if (is.matrix(x)) x <- as.data.frame(x)
  if (!is.data.frame(x) || !ncol(x)) {
    abort("response", "{.arg covariates} must be a vector, a matrix or a data frame, not {describe(x)}.", call = call)
  }
  documents <- given_groups(data)
  if (nrow(x) != documents$n) {
    of <- if (is.null(known)) "x" else "newdata"
    abort("response", c(
      "{.arg covariates} must have one row for each document of {.arg {of}} ({documents$n}), not {nrow(x)}."
    ), call = call)
  }
  if (is.character(attr(x, "row.names"))) {
    at <- stats::setNames(seq_len(nrow(x)), rownames(x))
    x <- x[values_of_groups(at, data, "covariates", "document", call), , drop = FALSE]
  }
  if (!is.null(documents$kept)) x <- x[documents$kept, , drop = FALSE]
  absent <- setdiff(all.vars(known$terms), names(x))
  if (length(absent)) {
    abort("response", "{.arg covariates} lack {.field {absent}}, which the fit has.", call = call)
  }
  terms <- known$terms %||% stats::terms(formula_of_names(names(x)))
  frame <- tryCatch(
    formula_variables(terms, x, known$levels, "covariates", call),
    error = function(e) {
      if (inherits(e, "bnpvi_error")) rlang::cnd_signal(e)
      abort("response", c("{.arg covariates} cannot be read.", x = "{conditionMessage(e)}"), call = call)
    }
  )
  terms <- attr(frame, "terms")
  value <- stats::model.matrix(terms, frame, na.action = stats::na.pass)
  value <- value[, colnames(value) != "(Intercept)", drop = FALSE]
  rownames(value) <- NULL
  environment(terms) <- globalenv()
  list(value = value, terms = terms, levels = stats::.getXlevels(terms, frame))
}

# Makes the formula ~ a + b + ... from names, which need not be valid names of R.
formula_of_names <- function(names) {
  stats::as.formula(call("~", Reduce(function(a, b) call("+", a, b), lapply(names, as.name))), baseenv())
}

# Covariates as numbers for the engine. needed: whether a document has a response, and so needs its covariates.
covariate_values <- function(x, needed, call) {
  if (is.null(x)) {
    return(matrix(0, length(needed), 0L))
  }
  bad <- which(rowSums(!is.finite(x$value)) > 0L & needed)
  if (length(bad)) {
    abort("response", c(
      "{.arg covariates} of documents with a response must be known and finite.", x = "Not so: document {places(bad)}.",
      i = "Impute them, or let the response of these documents be {.code NA}."
    ), call = call)
  }
  value <- x$value
  value[!is.finite(value)] <- 0
  value
}

# The state of an earlier fit as the start of a fit with this response: the statistics of the earlier response if it is
# the same, else empty ones.
state_for_response <- function(state, fit, data) {
  new <- data$response$model
  old <- fit$model$response
  same <- identical(old, new) && identical(fit$input$document_response$values, data$group_values)
  if (same || is.null(old) && is.null(new)) {
    return(state)
  }
  state["pair"] <- list(NULL)
  state$scalar <- state$scalar[1:3]
  if (!is.null(new)) {
    m <- new$covariates
    state$pair <- matrix(0, state$k, state$k * new$equations * (2 + m))
    state$scalar <- c(state$scalar, numeric(new$equations * (2 + m + m * (m + 1) / 2)))
  }
  state
}

described_response <- function(fit) {
  response <- fit$input$document_response
  if (is.null(response)) {
    return(NULL)
  }
  model <- fit$model$response
  strwrap(paste0(
    "Response: ", response$family, " of ", count_of(response$n, "document"),
    if (!is.null(response$order)) paste0(", classes ", places(response$levels, 8L)),
    if (!is.null(response$covariates)) paste0(", ", count_of(model$covariates, "covariate")),
    if (model$weight != 1) paste0(", weight ", signif(model$weight, 4)),
    if (!is_bound(fit)) "; the objective is no bound of a log evidence"
  ), exdent = 2)
}

# Whether the objective is a bound of a log likelihood, which it is not with a loss function or a weight other than 1.
is_bound <- function(fit) {
  response <- fit$model$response
  is.null(response) || response$weight == 1 && response$family %in% likelihood_responses
}
