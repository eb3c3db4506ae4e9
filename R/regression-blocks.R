# Regressions as blocks of a product (obs_product(), which combines observation models of several columns). A
# formula names the columns of the data frame that are responses, and those from which the covariates are
# made. In the internal form a block has its responses, then the columns of its model matrix, which are named
# "<responses> ~ <column>".

# Checks `formula` of obs_regression() and returns list(formula, responses, intercept), or NULL if no formula
# is given.
check_block_formula <- function(formula, call = rlang::caller_env()) {
  if (is.null(formula)) {
    return(NULL)
  }
  refuse <- function(why, remedy) abort("formula", c(paste("{.arg formula}", why), i = remedy), call = call)
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    refuse("must have a response, like {.code y ~ a + b}.", "It names columns of the data frame.")
  }
  formula <- stats::formula(formula)
  check_bars(formula, call)
  left <- formula[[2L]]
  each <- if (is.call(left) && identical(left[[1L]], quote(cbind))) as.list(left)[-1L] else list(left)
  responses <- vapply(each, function(part) if (is.name(part)) as.character(part) else NA_character_, "")
  if (anyNA(responses) || anyDuplicated(responses)) {
    refuse("must have a column as its response, or several: {.code cbind(y1, y2) ~ a}.", "Compute the column first.")
  }
  if ("." %in% all.vars(formula[[3L]])) {
    refuse("must name the covariates: {.code .} is not known here.", "Write {.code y ~ a + b}.")
  }
  if (any(responses %in% all.vars(formula[[3L]]))) {
    refuse("must not have a response among its covariates.", "Leave it out on the right-hand side.")
  }
  terms <- evaluate_formula(stats::terms(formula), "formula", call)
  if (!is.null(attr(terms, "offset"))) refuse("must not have an {.fn offset}.", "Subtract it from the response.")
  list(formula = formula, responses = length(responses), intercept = attr(terms, "intercept") == 1L)
}

# Names of the columns of a data frame that a block (one of the models of a product) describes, and
# (covariates_of) of its covariates; NULL where the block does not name them.
named_columns_of <- function(block) {
  if (is.null(block$formula)) block$columns else all.vars(block$formula[[2L]])
}
covariates_of <- function(block) if (!is.null(block$formula)) all.vars(block$formula[[3L]])

# Names of the blocks of a product, in an order in which covariates are drawn before the responses that depend
# on them. modelled: names of the columns that each block describes.
order_of_blocks <- function(blocks, modelled, call = rlang::caller_env()) {
  left <- names(blocks)
  out <- character()
  while (length(left)) {
    open <- unlist(modelled[left])
    ready <- left[!vapply(left, function(name) any(covariates_of(blocks[[name]]) %in% open), NA)]
    if (!length(ready)) {
      abort("formula", c(
        "Blocks {.field {left}} explain each other's columns: together they are no distribution.",
        i = "Each column may be a covariate only where its own block does not depend on the response."
      ), call = call)
    }
    out <- c(out, ready)
    left <- setdiff(left, ready)
  }
  out
}

# The internal columns of a regression, from the columns of a data frame that it needs. obs: the model as its
# constructor made it, or as a fit keeps it, with what scale(), poly() and factors have learned from the
# training data.
obs_read.obs_regression <- function(obs, x, arg, call, na_action = NULL) {
  y <- data_frame_to_matrix(x[named_columns_of(obs)], arg, call)
  design <- obs$design %||% list(terms = evaluate_formula(stats::delete.response(stats::terms(obs$formula)), arg, call))
  frame <- evaluate_formula(formula_variables(design$terms, x, design$levels, arg, call), arg, call)
  z <- covariate_matrix(attr(frame, "terms"), frame, design$contrasts, arg, call)
  if (is.null(obs$design)) {
    design <- list(terms = attr(frame, "terms"), levels = stats::.getXlevels(attr(frame, "terms"), frame),
      contrasts = attr(z, "contrasts"))
    environment(design$terms) <- globalenv() # or a fit would carry along where it was made
  }
  columns <- colnames(z)
  z <- matrix(z, nrow(x), length(columns), dimnames = list(NULL, rep("", length(columns))))
  colnames(z) <- if (length(columns)) paste(paste(colnames(y), collapse = ", "), "~", columns)
  structure(cbind(y, z), frame = list(design = design, regressors = columns))
}

# The model matrix of the covariates for rows of a data frame, as numbers without names.
regression_design <- function(obs, x) {
  y <- stats::setNames(rep(list(rep(0, nrow(x))), obs$responses), named_columns_of(obs))
  table <- obs_read(obs, as.data.frame(c(y, x), optional = TRUE), "covariates", NULL)
  unname(table[, -response_columns(obs), drop = FALSE])
}

# Names of the internal columns of covariates that are made, at least in part, from columns that no block of
# the product models.
given_designs <- function(blocks, parts, modelled) {
  open <- vapply(blocks, function(block) !all(covariates_of(block) %in% modelled), NA)
  own <- Map(function(part, block) part$columns[-response_columns(block)], parts[open], blocks[open])
  unlist(own, use.names = FALSE)
}

# The columns of x that are covariates but that no block of the product models; NULL where there are none.
covariates_beside <- function(x, blocks, modelled) {
  own <- setdiff(unlist(lapply(blocks, covariates_of)), modelled)
  if (length(own)) `row.names<-`(x[own], NULL)
}

# The covariates of up to 1,000 rows of the training data, which a fit stores for simulate().
kept_covariates <- function(own) {
  own <- own[stats::complete.cases(own), , drop = FALSE]
  own <- own[unique(round(seq(1, nrow(own), length.out = min(nrow(own), 1000L)))), , drop = FALSE]
  `row.names<-`(own, NULL)
}

# Completes the covariates that a user gave to simulate() to the form of kept_covariates().
covariates_of_blocks <- function(covariates, fit, call) {
  known <- fit$model$obs$beside
  if (is.null(covariates)) {
    return(known)
  }
  if (!is.data.frame(covariates)) {
    abort("newdata", "{.arg covariates} must be a data frame, not {describe(covariates)}.", call = call)
  }
  missing <- setdiff(names(known), names(covariates))
  if (length(missing)) {
    abort("newdata_columns", "{.arg covariates} lacks columns: {places(missing)}.", call = call)
  }
  covariates <- as.data.frame(covariates)[names(known)]
  if (!nrow(covariates)) abort("no_rows", "{.arg covariates} has no rows.", call = call)
  if (anyNA(covariates)) abort("not_finite", "{.arg covariates} must not have missing values.", call = call)
  covariates
}

# Draws rows of a product, block by block, in an order in which covariates come before the responses that
# depend on them. The attribute `beside` holds the columns that no block models.
obs_draw.obs_product <- function(obs, clusters, path, lengths, given) {
  blocks <- obs$blocks
  names <- names(blocks)
  n <- length(path)
  beside <- given$covariates
  if (!is.null(beside)) beside <- beside[rep_len(seq_len(nrow(beside)), n), , drop = FALSE]
  known <- as.list(beside)
  drawn <- list()
  for (name in order_of_blocks(blocks, lapply(blocks, named_columns_of))) {
    block <- blocks[[name]]
    own <- given$blocks[[name]]
    own$total <- given$total[[name]]
    own$exposure <- given$exposure[[name]] %||% exposure_by_row(own$exposure, n)
    if (!is.null(block$formula)) {
      variables <- structure(known[covariates_of(block)], class = "data.frame", row.names = seq_len(n))
      own$covariates <- regression_design(block, variables)
    }
    part <- lapply(clusters, arrays_of_block, name, block)
    x <- obs_draw(block, part, path, n, own)
    if (!is.null(exposure_column(block))) x <- cbind(x, own$exposure, deparse.level = 0)
    colnames(x) <- c(block$columns, exposure_column(block))
    drawn[[name]] <- x
    known <- c(known, columns_of_block(block, x, obs$types))
  }
  structure(do.call(cbind, unname(drawn[names])), beside = beside)
}
