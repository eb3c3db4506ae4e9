# Data frames of columns of several kinds: blocks of columns, each with an observation model of its own.

#' @rdname observation_models
#' @order 9
#' @param ... Observation models, the blocks of a product, which may be named. One without
#'   `columns` takes all columns of its kind that no other block names; `obs_binomial()` and
#'   `obs_survival()` must name theirs.
#' @details
#' `obs_product()` is for data frames: columns of different blocks are independent given the
#' cluster, with independent priors. [bnp_mixture()] and [bnp_hmm()] make one themselves of a data
#' frame with columns that are not numeric, see there. A regression is a block by its formula,
#' `obs_regression(formula = y ~ a + b)`. Its covariates are no columns of other blocks unless these name them: in
#' `obs_product(obs_regression(formula = y ~ x), obs_gaussian(columns = "x"))`, a cluster-weighted regression, `x` has a
#' part in the choice of the cluster; without the second block it is known and not modelled. Where a response is not
#' known, `predict(type = "impute")` says what is expected of it. Blocks may follow on each other (`y ~ x`, `z ~ y`),
#' but not in a circle.
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
  makers <- obs_makers(function(entry) !is.null(entry$kind))
  check_class(block, "bnp_obs", arg, makers, call)
  entry <- obs_entry(block)
  if (has_drift(block)) {
    abort("argument", c(
      "{.arg {arg}} cannot be {.fn {entry$constructor}} with {.arg drift}, which is no block of a product.",
      i = "Leave {.arg drift} out."
    ), call = call)
  }
  if (is.null(entry$kind)) {
    abort("argument", c(
      "{.arg {arg}} cannot be {.fn {entry$constructor}}, which is no block of a product.",
      i = "{.or {.fn {makers}}} can."
    ), call = call)
  }
  if (identical(entry$kind, "formula") && is.null(block$formula)) {
    abort("formula", c(
      "The block {.arg {arg}} must have a formula, which says what is a response and what its covariates are.",
      i = "Give it as {.code {entry$constructor}(formula = y ~ a + b)}."
    ), call = call)
  }
  if (identical(entry$kind, "pair") && is.null(block$columns)) {
    abort("columns", c(
      "The block {.arg {arg}} must name its columns: which go together as pairs cannot be told from the data.",
      i = "Name them by {.arg columns} of {.fn {entry$constructor}}, both of each pair beside each other."
    ), call = call)
  }
  exposure <- entry$exposure(block)
  if (!is.null(exposure) && !is.character(exposure)) {
    abort("exposure", c(
      "{.arg exposure} of the block {.arg {arg}} must be the name of a column, not {describe(exposure)}."
    ), call = call)
  }
}

# Names given, or what constructors are called, numbered where they repeat.
block_names <- function(blocks, call) {
  made <- vapply(blocks, function(block) sub("^obs_", "", obs_entry(block)$constructor), "")
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

# What coef() and posterior_params() hold beside the observation model's arrays.
names_of_priors <- c(
  "weights", "weights_concentration", "proportion", "concentration", "concentration_nodes", "gamma", "alpha", "start",
  "sticky", "sticks", "position", "transition", "u", "omega"
)

resolve_product <- function(obs, data, start, call) {
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

# "gaussian", "mean" -> "gaussian.mean". Names of arrays have no dots, so that the name can be taken apart again.
in_block <- function(block, name) if (length(name)) paste(block, name, sep = ".") else character()
split_block <- function(name) list(block = sub("[.][^.]*$", "", name), name = sub(".*[.]", "", name))

# The part of a list of a product's arrays that is one block's, by its own names.
arrays_of_block <- function(arrays, block, entry) {
  own <- intersect(names(entry$arrays), sub(paste0(block, "."), "", names(arrays), fixed = TRUE))
  own <- own[in_block(block, own) %in% names(arrays)]
  stats::setNames(arrays[in_block(block, own)], own)
}

# Fields of an observation model that the engine learned.
with_learned_fields <- function(obs, learned) {
  if (is.null(obs$blocks)) {
    obs[names(learned)] <- learned
    return(obs)
  }
  at <- split_block(names(learned))
  for (i in seq_along(learned)) obs$blocks[[at$block[i]]][[at$name[i]]] <- learned[[i]]
  obs
}

# The entry of a product, put together from those of its blocks.
entry_of_product <- function(obs) {
  blocks <- obs$blocks
  entries <- lapply(blocks, obs_entry)
  names <- names(blocks)
  all_have <- function(field) !any(vapply(entries, function(entry) is.null(entry[[field]]), NA))
  profiled <- which(!vapply(entries, function(entry) is.null(entry$marginals), NA))
  # Fields that are lists by array, with names of the product.
  gather <- function(make) do.call(c, unname(Map(function(block, entry, name) {
    own <- make(block, entry, name)
    stats::setNames(own, in_block(name, names(own)))
  }, blocks, entries, names)))
  part <- function(arrays, name) arrays_of_block(arrays, name, entries[[name]])
  sum_of <- function(field, combine) if (all_have(field)) function(a, b) {
    Reduce(combine, lapply(names, function(name) entries[[name]][[field]](part(a, name), part(b, name))))
  }
  list(
    title = paste(unique(vapply(entries, function(entry) entry$title, "")), collapse = " + "),
    verbs = Reduce(intersect, lapply(entries, function(entry) entry$verbs)),
    arrays = gather(function(block, entry, name) {
      lapply(entry$arrays, function(axes) ifelse(axes == "clusters", axes, in_block(name, axes)))
    }),
    axes = function(obs, columns) {
      do.call(c, unname(Map(function(block, entry, name) {
        axes <- c(list(columns = block$columns), entry$axes(block, block$columns))
        stats::setNames(axes, in_block(name, names(axes)))
      }, obs$blocks, entries, names)))
    },
    location = unlist(Map(function(entry, name) in_block(name, entry$location), entries, names), use.names = FALSE),
    terms = function(obs, columns) {
      do.call(rbind, unname(Map(function(block, entry, name) {
        if (!is.null(entry$location)) cbind(block = name, entry$terms(block, block$columns))
      }, obs$blocks, entries, names)))
    },
    shown = function(obs, arrays) {
      own <- unlist(lapply(names, function(name) in_block(name, names(part(arrays, name)))))
      shown <- lapply(stats::setNames(nm = names), function(name) {
        entries[[name]]$shown(blocks[[name]], part(arrays, name))
      })
      c(shown, arrays[setdiff(names(arrays), own)])
    },
    layout = function(obs) {
      Map(
        function(block, entry) list(block$family, block$columns, exposure_column(block), entry$layout(block)),
        obs$blocks, entries
      )
    },
    keep = function(data) {
      list(blocks = Map(function(block, entry) entry$keep(data_of_block(data, block)), blocks, entries))
    },
    learned = function(obs) {
      unlist(Map(function(block, entry) entry$learned(block), blocks, entries), use.names = FALSE)
    },
    begin_again = function(obs, k) {
      again <- Map(function(block, entry) entry$begin_again(block, k), obs$blocks, entries)
      if (all(vapply(again, is.null, NA))) {
        return(NULL)
      }
      obs$blocks <- Map(function(block, changed) changed %||% block, obs$blocks, again)
      obs
    },
    measure = function(obs) measure_of_blocks(obs$blocks),
    quantiles = gather(function(block, entry, name) {
      lapply(entry$quantiles, function(quantile) function(q, p) quantile(part(q, name), p))
    }),
    given = c(list(blocks = function(value, fit, call) {
      lapply(stats::setNames(nm = names), function(name) {
        own <- fit_of_block(fit, name)
        Map(function(complete) complete(NULL, own, call), entries[[name]]$given)
      })
    }, exposure = exposures_of_blocks), if (length(unlist(lapply(blocks, covariates_of)))) {
      list(covariates = covariates_of_blocks)
    }, if (length(blocks_with_totals(blocks))) {
      list(total = totals_of_blocks)
    }),
    draw = function(obs, clusters, path, lengths, given) draw_blocks(obs, entries, clusters, path, given),
    as_frame = function(obs, x) frame_of_product(blocks, entries, obs, x),
    moments = if (all_have("moments")) function(q, given) {
      each <- lapply(names, function(name) entries[[name]]$moments(part(q, name), given$blocks[[name]]))
      both <- function(what) {
        unlist(Map(function(m, block) stats::setNames(m[[what]], names(m[[what]]) %||% block$columns), each, blocks))
      }
      list(mean = both("mean"), var = both("var"))
    },
    divergence = sum_of("divergence", `+`),
    overlap = sum_of("overlap", `*`),
    marginals = if (length(profiled)) function(means) {
      do.call(c, unname(Map(function(block, entry, name) {
        own <- entry$marginals(part(means, name))
        stats::setNames(own, names(own) %||% entry$terms(block, block$columns)$variable)
      }, blocks[profiled], entries[profiled], names[profiled])))
    }
  )
}

blocks_with_totals <- function(blocks) {
  names(Filter(function(block) "total" %in% names(obs_entry(block)$given), blocks))
}

# simulate(total = ), completed: a list by block, of the blocks that have totals. `total`: what one such block takes, a
# number for all, or a list by the names of blocks.
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
    obs_entry(own$model$obs)$given$total(total[[name]], own, call)
  })
}

# Bounds compare where the same columns have densities, and the same ones are sequences of tokens.
measure_of_blocks <- function(blocks) {
  modelled <- unlist(lapply(blocks, named_columns_of))
  kinds <- vapply(blocks, function(block) {
    if (is.null(block$formula)) {
      return(measure_of(block))
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
  title = "Product",
  constructor = "obs_product",
  values = "data frames, a block of columns each",
  read = read_product,
  resolve = resolve_product,
  working = c("columns", "types", "beside"),
  arrays = list(),
  draw = function(obs, clusters, path, lengths, given) NULL,
  of_obs = entry_of_product,
  picture = function(fit, data) profile_picture(fit)
)
