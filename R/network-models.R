# The models of links that are fitted to one network and compared, and the work for each.

# Selects, from the models that `obs` allows, those that are fitted to this network and compared.
models_to_fit <- function(models, prior, data, call) {
  entry <- prior_entry(prior)
  if (has_blocks(prior)) {
    return(models)
  }
  too_wide <- prior$alpha > 1
  if (too_wide && length(models) == 1L && models[[1L]]$degree) {
    abort("argument", c(
      "{.arg alpha} of {.fn {entry$constructor}} must be at most 1 with {.code degree = TRUE}, not {prior$alpha}.",
      i = "The bound of the gamma network needs it."
    ), call = call)
  }
  keep <- vapply(models, function(model) !(model$degree && too_wide), NA)
  # With known labels the bounds of the two models are bounds of different events, and cannot be compared.
  of_degrees_alone <- data$n > 2000L || !is.null(data$classes)
  if (length(models) > 1L && !too_wide && of_degrees_alone) keep <- vapply(models, function(m) m$degree, NA)
  models[keep]
}

# For small networks: the search ends when changing memberships at random has gained nothing in this many
# rounds in a row.
network_disturbances <- 1L

# Options of a search with one start that ends before the first disturbance: a tenth of the work of a start, or less.
short_search <- function(asked) {
  asked[c("most_work", "disturbances", "keep_interrupted")] <- list(0, 0L, FALSE)
  asked
}

# Whether each model may still have the highest bound after longer searches, given the bounds of short ones: seeds of
# UKfaculty end within 1 % of each other. Ten nats and 2 % of the bound are a guess.
in_reach <- function(bounds) {
  best <- max(bounds)
  !is.finite(bounds) | !is.finite(best) | bounds >= best - (10 + 0.02 * abs(best))
}

# From this number of links and nodes on, moves of the gamma network (overlapping communities with degrees)
# visit only nodes that they change. 40 planted groups of 15 nodes with as much noise (4,955 links) then took
# 8 s instead of more than 150 s (limit 30,000), and 20 such groups ended 30 nats higher
# (inst/bench/networks.R); football and the political books, which are smaller, end higher with moves that
# visit all nodes.
network_large <- 1e3

# The value of an expression; NULL if the user interrupts it. Interrupts are caught only if else_there_is,
# that is, if there is another result to return.
unless_stopped <- function(expr, else_there_is) {
  if (!else_there_is || !rlang::is_interactive()) {
    return(expr)
  }
  tryCatch(expr, interrupt = function(e) NULL)
}

# The fields of a network that the engine reads.
links_of_data <- function(data) data[setdiff(names(data), c("ids", "class_names"))]

# The engine's result for one model of a network, in the form of fields of a fit.
network_run <- function(out, model, prior) {
  if (is.finite(out$elbo)) out$elbo <- sum(out$terms)
  if (!has_blocks(prior) && !model$assortative && is.finite(out$elbo)) {
    out[c("pairs", "sum")] <- out$params[c("pairs", "sum")]
    out$params <- out$params[c("theta", "rho")]
    out["rates"] <- list(NULL)
  }
  out$score <- if (is.null(out$log_joint)) out$elbo else out$log_joint
  out$obs <- model
  out
}
