# Products: models of data frames with columns of several kinds, divided into blocks of columns, each with an
# observation model of its own.

#' Data frames of several kinds of columns
#'
#' A product of observation models, each for a block of columns: blocks are independent given the cluster, with
#' independent priors. [bnp_mixture()] and [bnp_hmm()] make such a product themselves for a data frame with columns that
#' are not numeric, see *Data frames* of [bnp_mixture()].
#'
#' @param ... Observation models, the blocks of a product, which may be named. One without
#'   `columns` takes all columns of its kind that no other block names; `obs_binomial()` and
#'   `obs_survival()` must name theirs. Elsewhere it must be empty.
#' @details
#' A regression becomes a block by its formula,
#' `obs_regression(formula = y ~ a + b)`. Its covariates are modelled only if another block names them: in the
#' cluster-weighted regression `obs_product(obs_regression(formula = y ~ x), obs_gaussian(columns = "x"))` the
#' distribution of `x` differs between clusters; without the second block `x` is known and not modelled. If a response
#' is not known, `predict(type = "impute")` gives its expectation. A response of one block may be a covariate of another
#' (`y ~ x`, `z ~ y`), but not in a circle.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; `vignette("mixed-data-frames")`.
#' @examples
#' blocks <- obs_product(sizes = obs_gaussian("diagonal"), kinds = obs_categorical())
#' cars <- transform(mtcars[c("mpg", "wt", "cyl")], cyl = factor(cyl))
#' fit <- bnp_mixture(cars, blocks, control = bnp_control(seed = 1))
#' coef(fit)$kinds
#' @export
obs_product <- function(...) {
  blocks <- list(...)
  if (!length(blocks)) {
    abort("argument", "{.fn obs_product} needs observation models, the blocks of the product.")
  }
  given <- rlang::names2(blocks)
  args <- ifelse(nzchar(given), given, paste0("..", seq_along(blocks)))
  for (i in seq_along(blocks)) check_block(blocks[[i]], args[i], rlang::current_env())
  new_obs("product", blocks = stats::setNames(blocks, block_names(blocks, rlang::current_env())))
}

check_block <- function(block, arg, call) {
  makers <- obs_makers(function(facts) !is.null(facts$kind))
  check_class(block, "bnp_obs", arg, makers, call)
  if (!is_obs(block)) refuse_changed(arg, call)
  facts <- obs_facts(block)
  if (has_drift(block)) {
    abort("argument", c(
      "{.arg {arg}} cannot be {.fn {facts$constructor}} with {.arg drift}, which is no block of a product.",
      i = "Leave {.arg drift} out."
    ), call = call)
  }
  if (is_choice(block)) {
    abort("argument", c(
      "{.arg {arg}} cannot be {.fn {facts$constructor}} with {.code covariance = \"auto\"}, which is no block of a
       product.",
      i = choose_covariance
    ), call = call)
  }
  if (has_keywords(block)) {
    abort("keywords", c(
      "{.arg {arg}} cannot be {.fn {facts$constructor}} with {.arg keywords}: clusters of several
       blocks have no names.",
      i = "Leave {.arg keywords} out, or fit the texts alone."
    ), call = call)
  }
  if (is.null(facts$kind)) {
    abort("argument", c(
      "{.arg {arg}} cannot be {.fn {facts$constructor}}, which is no block of a product.",
      i = "{.or {.fn {makers}}} can."
    ), call = call)
  }
  if (identical(facts$kind, "formula") && is.null(block$formula)) {
    abort("formula", c(
      "The block {.arg {arg}} must have a formula, which says what is a response and what its covariates are.",
      i = "Give it as {.code {facts$constructor}(formula = y ~ a + b)}."
    ), call = call)
  }
  if (identical(facts$kind, "pair") && is.null(block$columns)) {
    abort("columns", c(
      "The block {.arg {arg}} must name its columns: the data do not say which columns are pairs.",
      i = "Name them by {.arg columns} of {.fn {facts$constructor}}, both of each pair beside each other."
    ), call = call)
  }
  if (!is.null(block$exposure) && !is.character(block$exposure)) {
    abort("exposure", c(
      "{.arg exposure} of the block {.arg {arg}} must be the name of a column, not {describe(block$exposure)}."
    ), call = call)
  }
}

# The names of a product's blocks: the given names or, for others, the names of their constructors, numbered
# where they repeat.
block_names <- function(blocks, call) {
  made <- vapply(blocks, function(block) sub("^obs_", "", obs_facts(block)$constructor), "")
  given <- rlang::names2(blocks)
  if (anyDuplicated(given[nzchar(given)])) {
    abort("argument", "Blocks of a product must have different names.", call = call)
  }
  taken <- intersect(given, names_of_priors)
  if (length(taken)) {
    abort("argument", c(
      "A block of a product must not be called {.val {taken[1]}}, which {.fn coef} has already.",
      i = "Choose another name."
    ), call = call)
  }
  make.unique(ifelse(nzchar(given), given, made), sep = "_")
}

# Names in coef() and posterior_params() that belong to priors of weights; blocks of a product must not have
# them.
names_of_priors <- c(
  "weights", "weights_concentration", "proportion", "concentration", "concentration_nodes", "gamma", "alpha", "start",
  "sticky", "sticks", "position", "transition", "u", "omega"
)

obs_resolve.obs_product <- function(obs, data, start, call) {
  before <- if (inherits(start, "bnp_fit")) start
  obs$blocks <- Map(function(block, name) {
    block$columns <- data$frame$blocks[[name]]
    own <- data_of_block(data, block)
    own$frame <- data$frame$parts[[name]]
    block$design <- own$frame$design
    block$regressors <- own$frame$regressors
    of_start <- if (!is.null(before$model$obs$blocks[[name]])) fit_of_block(before, name)
    resolve_obs(block, own, of_start, call)
  }, obs$blocks, names(obs$blocks))
  if (!is.null(data$covariates)) obs$beside <- obs$beside %||% kept_covariates(data$covariates)
  obs$columns <- data$frame$columns
  obs$types <- data$frame$types[obs$columns]
  obs
}

# The name of a block's array in the product: "gaussian", "mean" -> "gaussian.mean". Names of arrays have no
# dots, so that split_block() can split the name again.
in_block <- function(block, name) if (length(name)) paste(block, name, sep = ".") else character()
split_block <- function(name) list(block = sub("[.][^.]*$", "", name), name = sub(".*[.]", "", name))

# The arrays of one block, with the block's own names, from a list of a product's arrays.
arrays_of_block <- function(arrays, name, block) {
  own <- names(obs_facts(block)$arrays)
  own <- own[in_block(name, own) %in% names(arrays)]
  stats::setNames(arrays[in_block(name, own)], own)
}

# An observation model with the fields that the engine learned, in the right block if it is a product.
with_learned_fields <- function(obs, learned) {
  if (is.null(obs$blocks)) {
    obs[names(learned)] <- learned
    return(obs)
  }
  at <- split_block(names(learned))
  for (i in seq_along(learned)) obs$blocks[[at$block[i]]][[at$name[i]]] <- learned[[i]]
  obs
}

# --- Results of a product, combined from the results of its blocks ---

# of_blocks() returns the results of f(block, name) for each block of a product, as a list. The next function,
# gathered(), joins results that are lists into one list, with names as in the product.
of_blocks <- function(obs, f) Map(f, obs$blocks, names(obs$blocks))
gathered <- function(obs, f) {
  do.call(c, unname(of_blocks(obs, function(block, name) {
    own <- f(block, name)
    stats::setNames(own, in_block(name, names(own)))
  })))
}

obs_can.obs_product <- function(obs, what) {
  each <- vapply(obs$blocks, obs_can, NA, what)
  switch(what,
    moments = , divergence = , overlap = , predictive_cdf = length(each) > 0L && all(each),
    marginals = , densities = any(each), NextMethod()
  )
}

obs_facts.obs_product <- function(obs) {
  facts <- NextMethod()
  each <- lapply(obs$blocks, obs_facts)
  facts$title <- paste(unique(vapply(each, function(block) block$title, "")), collapse = " + ")
  facts$verbs <- Reduce(intersect, lapply(each, function(block) block$verbs))
  facts$location <- unlist(Map(function(block, name) in_block(name, block$location), each, names(each)),
    use.names = FALSE
  )
  facts$arrays <- gathered(obs, function(block, name) {
    lapply(each[[name]]$arrays, function(axes) ifelse(axes == "clusters", axes, in_block(name, axes)))
  })
  facts
}

obs_axes.obs_product <- function(obs, columns) {
  c(list(columns = columns), gathered(obs, function(block, name) obs_axes(block, block$columns)))
}

obs_terms.obs_product <- function(obs, columns) {
  do.call(rbind, unname(of_blocks(obs, function(block, name) {
    if (!is.null(obs_facts(block)$location)) cbind(block = name, obs_terms(block, block$columns))
  })))
}

obs_shown.obs_product <- function(obs, arrays) {
  parts <- of_blocks(obs, function(block, name) arrays_of_block(arrays, name, block))
  own <- unlist(Map(function(part, name) in_block(name, names(part)), parts, names(parts)))
  c(Map(obs_shown, obs$blocks, parts), arrays[setdiff(names(arrays), own)])
}

obs_layout.obs_product <- function(obs) {
  lapply(obs$blocks, function(block) list(block$family, block$columns, exposure_column(block), obs_layout(block)))
}

obs_keep.obs_product <- function(obs, data) {
  list(blocks = lapply(obs$blocks, function(block) {
    if (obs_can(block, "keep")) obs_keep(block, data_of_block(data, block)) else list()
  }))
}

# What is learned in any block (model of some columns) of a product; the learned numbers themselves are those
# of the blocks (learned_prior()).
obs_learned.obs_product <- function(obs) {
  by <- unlist(lapply(obs$blocks, function(block) obs_learned(block)$by), use.names = FALSE)
  if (length(by)) list(by = by)
}

obs_begin_again.obs_product <- function(obs, k) {
  again <- lapply(obs$blocks, function(block) if (obs_can(block, "begin_again")) obs_begin_again(block, k))
  if (all(vapply(again, is.null, NA))) {
    return(NULL)
  }
  obs$blocks <- Map(function(block, changed) changed %||% block, obs$blocks, again)
  obs
}

obs_quantiles.obs_product <- function(obs) {
  gathered(obs, function(block, name) {
    lapply(obs_quantiles(block), function(quantile) function(q, p) quantile(arrays_of_block(q, name, block), p))
  })
}

obs_given.obs_product <- function(obs) {
  own <- function(value, fit, call) {
    of_blocks(obs, function(block, name) {
      part <- fit_of_block(fit, name)
      lapply(obs_given(block), function(complete) complete(NULL, part, call))
    })
  }
  c(
    list(blocks = own, exposure = exposures_of_blocks),
    if (length(unlist(lapply(obs$blocks, covariates_of)))) list(covariates = covariates_of_blocks),
    if (length(blocks_with_totals(obs$blocks))) list(total = totals_of_blocks)
  )
}

obs_moments.obs_product <- function(obs, q, given) {
  each <- of_blocks(obs, function(block, name) {
    obs_moments(block, arrays_of_block(q, name, block), given$blocks[[name]])
  })
  both <- function(what) {
    unlist(Map(function(m, block) {
      stats::setNames(m[[what]], names(m[[what]]) %||% block$columns)
    }, unname(each), unname(obs$blocks)))
  }
  list(mean = both("mean"), var = both("var"))
}

# The results of f(block, a, b) for each block (model of some columns) of a product, where a and b are the
# block's parts of two clusters.
of_block_pairs <- function(obs, a, b, f) {
  of_blocks(obs, function(block, name) f(block, arrays_of_block(a, name, block), arrays_of_block(b, name, block)))
}
obs_divergence.obs_product <- function(obs, a, b) Reduce(`+`, of_block_pairs(obs, a, b, obs_divergence))
obs_overlap.obs_product <- function(obs, a, b) Reduce(`*`, of_block_pairs(obs, a, b, obs_overlap))

obs_marginals.obs_product <- function(obs, means) {
  do.call(c, unname(of_blocks(obs, function(block, name) {
    if (obs_can(block, "marginals")) {
      own <- obs_marginals(block, arrays_of_block(means, name, block))
      stats::setNames(own, names(own) %||% obs_terms(block, block$columns)$variable)
    }
  })))
}

obs_predictive_cdf.obs_product <- function(obs, q, data) {
  do.call(cbind, unname(of_blocks(obs, function(block, name) {
    obs_predictive_cdf(block, arrays_of_block(q, name, block), data_of_block(data, block))
  })))
}

obs_densities.obs_product <- function(obs, means) {
  do.call(c, unname(of_blocks(obs, function(block, name) {
    if (!lacks_density(block)) {
      own <- obs_densities(block, arrays_of_block(means, name, block))
      stats::setNames(own, obs_terms(block, block$columns)$variable)
    }
  })))
}

obs_picture.obs_product <- function(obs, fit, data) profile_picture(fit)

blocks_with_totals <- function(blocks) {
  names(Filter(function(block) "total" %in% names(obs_given(block)), blocks))
}

# Completes the argument `total` of simulate() for products: a list by block, for the blocks whose rows have
# totals. total: the value for the only such block, one number for all, or a list named by blocks.
totals_of_blocks <- function(total, fit, call) {
  takers <- blocks_with_totals(fit$model$obs$blocks)
  if (!is.null(total) && !is.list(total)) {
    if (length(takers) > 1L && length(total) != 1L) {
      abort("argument", c(
        "{.arg total} must be one number, or a list that names the blocks it is for, not {describe(total)}.",
        i = "They are {.field {takers}}."
      ), call = call)
    }
    total <- stats::setNames(rep(list(total), length(takers)), takers)
  }
  foreign <- setdiff(rlang::names2(total), takers)
  if (length(foreign) || anyDuplicated(names(total))) {
    abort("argument", c(
      "{.arg total} must have the names of blocks with totals, each once, not {places(dQuote(foreign, FALSE))}.",
      i = "They are {.field {takers}}."
    ), call = call)
  }
  lapply(stats::setNames(nm = takers), function(name) {
    own <- fit_of_block(fit, name)
    obs_given(own$model$obs)$total(total[[name]], own, call)
  })
}

# Says for which columns the bound of a product has densities, and which are sequences of tokens. Bounds can
# be compared only if this is the same.
obs_measure.obs_product <- function(obs) {
  blocks <- obs$blocks
  modelled <- unlist(lapply(blocks, named_columns_of))
  kinds <- vapply(blocks, function(block) {
    if (is.null(block$formula)) {
      return(obs_measure(block))
    }
    given <- setdiff(covariates_of(block), modelled) # none: the product has the density of responses and covariates
    if (length(given)) paste("densities given", paste(sort(given), collapse = ", ")) else "densities"
  }, "")
  if (length(unique(kinds)) == 1L) {
    return(kinds[[1L]])
  }
  columns <- lapply(unique(kinds), function(kind) sort(unlist(lapply(blocks[kinds == kind], named_columns_of))))
  by_kind <- paste0(unique(kinds), " of ", vapply(columns, paste, "", collapse = ", "))
  paste(sort(by_kind), collapse = " and ")
}

model_product <- list(
  title = "Product", constructor = "obs_product", values = "data frames, a block of columns each",
  working = c("columns", "types", "beside"), arrays = list()
)
