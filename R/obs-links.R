# The observation model of networks. Its properties are kept apart from the table of observation models
# (R/obs.R), which are all models of rows.

#' Links as observations
#'
#' What a pair of nodes of a network produces: whether there is a link, or a count. To be given to [bnp_network()] as
#' `obs`.
#'
#' @param assortative Do all pairs of nodes in different communities have the same probability of a link, the
#'   background? Default: `TRUE` with [prior_hdp()], where each community has its own probability of links within;
#'   `FALSE` with [prior_dp()], where every pair of communities has its own. `FALSE` with [prior_hdp()] is the
#'   relational model with general blocks, for few communities, as its time grows with the square of their number.
#'   `TRUE` with [prior_dp()] is not available.
#' @param degree Does every node have an activity of its own, by which nodes may have more or fewer links? With
#'   [prior_hdp()] `TRUE` is the gamma network and `FALSE` the relational model. `NULL`: both are fitted, and the one
#'   with the higher bound is returned; from 2,000 nodes on, or with known `labels`, only the gamma network is fitted.
#'   With general blocks (`assortative = FALSE`) only `FALSE` is available. With [prior_dp()] `TRUE` is the
#'   degree-corrected blockmodel of undirected networks, `FALSE` or `NULL` the blockmodel without degrees.
#' @param family `"bernoulli"`: a link or none; `"poisson"`: counts. `"auto"`: counts if any value is above 1, otherwise
#'   a link or none.
#' @param a,b Prior of the probability of a link within a community (without a background: in any block), Beta(`a`,
#'   `b`), or of the rate of links, Gamma with shape `a` and rate `b`. `b = NULL`: 1 for probabilities. For rates of
#'   blocks of all pairs of communities it is `a` divided by the density of links; for communities with a background,
#'   which are denser than the whole network, a tenth of that.
#' @param background The same two numbers for the background of assortative models. `NULL`: Beta(1, 10), or a Gamma
#'   distribution with shape 1 and mean equal to the density of links.
#' @param ... Must be empty.
#' @return An object of class `bnp_obs`.
#' @details The degree-corrected blockmodel is always a model of Poisson counts, also if there is at most one link
#'   between nodes. Its bound is that of counts and cannot be compared with bounds of the other models, except where
#'   links are rare. With `family = "bernoulli"`, or if no value is above 1, [predict()][predict.bnp_network()] gives
#'   the probability of at least one link.
#' @seealso [bnp_network()]
#' @examples
#' obs_links()
#' obs_links(degree = TRUE)
#' obs_links(family = "poisson", a = 2)
#' @export
obs_links <- function(assortative = NULL, degree = NULL, family = c("auto", "bernoulli", "poisson"), a = 1, b = NULL,
                      background = NULL, ...) {
  check_no_dots(...)
  if (!is.null(background)) {
    background <- check_positive(background, "background")
    if (length(background) != 2L) {
      abort("argument", "{.arg background} must be two positive numbers or {.code NULL}, not {describe(background)}.")
    }
    check_range(background, "background", parameter_ranges$b, rlang::current_env())
  }
  new_obs(
    "links",
    assortative = if (!is.null(assortative)) check_flag(assortative, "assortative"),
    degree = if (!is.null(degree)) check_flag(degree, "degree"),
    links = switch(check_choice(family, c("auto", "bernoulli", "poisson"), "family"),
      auto = "auto", bernoulli = "binary", poisson = "counts"
    ),
    a = check_number(a, "a"), b = if (!is.null(b)) check_number(b, "b"), background = background
  )
}

model_links <- list(
  title = "links", constructor = "obs_links", values = "links of nodes", verbs = "bnp_network", arrays = list()
)

obs_measure.obs_links <- function(obs) {
  if (is_corrected(obs)) {
    return("Poisson probabilities of links, of a node with itself among them")
  }
  paste("probabilities of", if (obs$links == "counts") "counts of links" else "links")
}

# Completes an observation model that obs_links() has made, for this network and prior.
resolve_links <- function(obs, data, prior, call) {
  single <- has_blocks(prior)
  check_link_choices(obs, data, prior, call)
  most <- max(data$value, data$loops, 0)
  if (obs$links == "binary" && most > 1) {
    abort("not_binary", c(
      "{.arg x} must have values 0 and 1 with {.code family = \"bernoulli\"}, not {most}.",
      i = "Choose {.code family = \"poisson\"} for counts, or give {.code 1 * (x > 0)}."
    ), call = call)
  }
  if (obs$links == "auto") obs$links <- if (most > 1) "counts" else "binary"
  obs$assortative <- !single && !isFALSE(obs$assortative)
  counts <- obs$links == "counts"
  if (!obs$assortative) obs$degree <- isTRUE(obs$degree)
  obs$b_given <- !is.null(obs$b)
  obs$background_given <- !is.null(obs$background)
  pairs <- max(n_pairs(data), 1)
  density <- max(sum(data$value), 0.5) / pairs
  of <- function(degree) {
    obs$degree <- degree
    rates <- counts || degree
    if (!obs$b_given) obs$b <- if (!rates) 1 else if (obs$assortative) obs$a / density / 10 else obs$a / density
    if (obs$assortative && !obs$background_given) obs$background <- if (rates) c(1, 1 / density) else c(1, 10)
    obs[c("b_given", "background_given")] <- NULL
    check_ranges(obs, call)
  }
  lapply(if (is.null(obs$degree)) list(TRUE, FALSE) else list(obs$degree), of)
}

# Refuses choices of the model that this prior or this network does not allow.
check_link_choices <- function(obs, data, prior, call) {
  refuse <- function(...) abort("argument", c(...), call = call, .envir = rlang::caller_env())
  given <- prior_entry(prior)$constructor
  other <- network_prior_makers(if (has_blocks(prior)) "overlapping" else "blocks")
  if (has_blocks(prior) && isTRUE(obs$assortative)) {
    refuse(
      "Assortative blocks with {.fn {given}} are not available yet.",
      i = "Choose {.fn {other}}, or leave {.arg assortative} out."
    )
  }
  if (has_blocks(prior) && isTRUE(obs$degree) && data$directed) {
    refuse(
      "Degrees of nodes ({.code degree = TRUE}) with {.fn {given}} are there for undirected links only.",
      i = "Choose {.fn {other}}, give {.code directed = FALSE}, or leave {.arg degree} out."
    )
  }
  general <- !has_blocks(prior) && isFALSE(obs$assortative)
  if (general && isTRUE(obs$degree)) {
    refuse(
      "{.code degree = TRUE} is not available with general blocks ({.code assortative = FALSE}) yet.",
      i = "Leave one of the two out, or choose {.fn {other}}."
    )
  }
  if ((has_blocks(prior) || general) && !is.null(obs$background)) {
    refuse(
      "{.arg background} has no meaning where every pair of communities has a block.", i = "Leave it out."
    )
  }
}

# TRUE for a degree-corrected blockmodel (one in which every pair of communities has a block and every node a
# degree).
is_corrected <- function(obs) isTRUE(obs$degree) && isFALSE(obs$assortative)

n_pairs <- function(data) {
  data$n * (data$n - 1) / (if (data$directed) 1 else 2) - length(data$hidden_from)
}

# The largest number of nodes times communities for which nodes of the gamma network have a separate posterior
# in every community. It includes the 115 nodes of `football`. 40 planted groups of 15 nodes took 30 times as
# long with a limit of 100,000, and ended 1 nat higher.
network_dense <- 5e3

# The observation model and the prior of a network, in the form that the engine reads.
network_model <- function(obs, prior, labelled = FALSE) {
  c(
    list(
      counts = obs$links == "counts" || is_corrected(obs), a = obs$a, b = obs$b, degree = obs$degree,
      assortative = obs$assortative
    ),
    if (has_blocks(prior)) list(gamma = prior$concentration) else {
      # A model without a background does not use the background's prior.
      background <- obs$background %||% c(1, 1)
      list(
        gamma = prior$gamma, alpha = prior$alpha, a_background = background[1L], b_background = background[2L],
        dense = if (labelled) Inf else network_dense
      )
    }
  )
}
