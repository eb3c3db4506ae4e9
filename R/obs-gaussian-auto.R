# obs_gaussian(covariance = "auto") makes one fit with each of these covariances, and the bounds of the whole
# fits decide between them. Methods of fits see the model that was chosen, never this one.

chosen_from <- c(full = "gaussian_full", diagonal = "gaussian_diagonal")

# The negative log prior probability of each covariance, by which the bound of the model with the choice is
# lower: log p(x) >= log p(x | covariance) - log 2.
price_of_choice <- log(length(chosen_from))

model_gaussian_auto <- utils::modifyList(model_gaussian_full, list(
  title = "Gaussian, full or diagonal covariance", verbs = "bnp_mixture", kind = NULL
))

# The models to choose from, named by covariance.
models_of_choice <- function(obs) lapply(chosen_from, function(family) as_family(obs, family, NULL))

# Fits all these models by fit_by(obs, control) and returns the better fit. Its bound, terms, table of
# restarts and trace are reduced by the price of the choice, and so are the bounds in `covariances`.
fit_of_choice <- function(models, control, start, fit_by, call) {
  if (inherits(start, "bnp_fit")) {
    abort("start", c(
      "{.code covariance = \"auto\"} cannot start from a fit, which has one covariance already.",
      i = "{.code obs = fit$model$obs} goes on with it; labels, {.code start = fitted(fit)}, start both covariances."
    ), call = call)
  }
  check_class(control, "bnp_control", "control", "bnp_control", call)
  given <- intersect(asked_options(control), c("checkpoint", "workers"))
  if (length(given)) {
    abort(c("not_defined", "argument"), c(
      "{.arg {given}} of {.fn bnp_control} cannot be used with {.code covariance = \"auto\"}, which makes two fits.",
      i = choose_covariance
    ), call = call)
  }
  control["seed"] <- list(control$seed %||% draw_seed())
  stopped <- FALSE
  notice <- function(m) {
    stopped <<- TRUE
    if (length(fits)) invokeRestart("muffleMessage")
  }
  fits <- list()
  for (covariance in names(models)) {
    fit <- withCallingHandlers(fit_by(models[[covariance]], control), bnpvi_message_interrupted = notice)
    if (stopped && length(fits)) {
      tell_choice_was_stopped(names(fits), covariance)
      break
    }
    fits[[covariance]] <- fit
    if (stopped) break
  }
  bounds <- vapply(fits, function(fit) fit$elbo, 1)
  best <- which.max(bounds)
  out <- with_price(fits[[best]])
  out$covariances <- data.frame(
    covariance = names(fits), elbo = unname(bounds) - price_of_choice,
    k = vapply(fits, n_clusters, 1L, USE.NAMES = FALSE)
  )
  maker <- obs_facts(models[[best]])$constructor
  out$call$obs <- rlang::call2(maker, names(fits)[best], !!!given_fields(models[[best]]))
  sealed(out)
}

with_price <- function(fit) {
  fit$elbo <- fit$elbo - price_of_choice
  terms <- fit$elbo_terms
  hyperprior <- if ("hyperprior" %in% names(terms)) terms[["hyperprior"]] else 0
  fit$elbo_terms <- replace(terms, "hyperprior", hyperprior - price_of_choice)
  fit$trace$elbo <- fit$trace$elbo - price_of_choice
  if (!is.null(fit$restarts)) fit$restarts$elbo <- fit$restarts$elbo - price_of_choice
  fit
}

# The bound of a fit whose form of covariance (full or diagonal) was chosen, without what the choice costs: the bound
# that the fit would have if this form had been given.
elbo_of_covariance <- function(fit) fit$elbo + if (is.null(fit$covariances)) 0 else price_of_choice

# The arguments that the user gave to the constructor, without the covariance.
given_fields <- function(obs) Filter(Negate(is.null), unclass(obs)[setdiff(names(obs), "family")])

tell_choice_was_stopped <- function(done, stopped) {
  cli::cli_inform(
    c("Stopped: the fit has a {done} covariance; that of a {stopped} covariance was not finished."),
    class = c("bnpvi_message_interrupted", "bnpvi_message"), call = NULL
  )
}

described_choice <- function(fit) {
  ends <- fit$covariances
  if (is.null(ends)) {
    return(NULL)
  }
  best <- which.max(ends$elbo)
  other <- setdiff(names(chosen_from), ends$covariance[best])
  alone <- nrow(ends) == 1L
  paste0("Covariance: ", ends$covariance[best], if (alone) paste0("; that of ", other, " was not fitted") else
    paste0(
      ", whose bound is ", format(ends$elbo[best] - ends$elbo[-best], digits = 3), " above that of ", other, " (",
      count_of(ends$k[-best], "cluster"), ")"
    ))
}

# How much higher the bound of a mixture with full covariances would be if its clusters had diagonal
# covariances and a prior of the same kind: list(elbo, gain). Learning begins at the fit's labels and makes no
# moves.
diagonal_instead <- function(fit, data, id, call) {
  require_ability(fit, "summary_data", call)
  before <- fit$model$obs
  if (!inherits(before, "obs_gaussian_full") || !is.null(before$logs)) {
    abort(c("not_defined", "argument"), c(
      "{.arg data} of {.fn summary} is for Gaussian clusters with full covariances.",
      i = "Leave {.arg data} out."
    ), call = call)
  }
  data <- training_data(fit, data, id, call)
  obs <- obs_gaussian("diagonal", learn = isTRUE(before$learn), rounding = before$rounding)
  control <- bnp_control(
    seed = fit$control$seed, threads = fit$control$threads, moves = FALSE, max_laps = 20, verbose = FALSE
  )
  other <- withCallingHandlers(
    fit_model(
      "bnp_mixture", fit$call, data, obs, fit$model$prior, control, fitted(fit), units_that_count(data), list(), call
    ),
    bnpvi_warning_max_laps = function(w) invokeRestart("muffleWarning")
  )
  list(elbo = other$elbo, gain = other$elbo - elbo_of_covariance(fit))
}

described_diagonal <- function(diagonal) {
  paste0(
    "Diagonal covariances for these clusters: ELBO ", format(diagonal$elbo, digits = 8), ", ",
    format(abs(diagonal$gain), digits = 3), if (diagonal$gain > 0) " higher" else " lower"
  )
}
