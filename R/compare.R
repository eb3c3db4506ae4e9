#' Compare fits to the same data
#'
#' A table with one row for each fit: the bound, the number of clusters, how well new data are predicted, and how far
#' the clustering agrees with that of the first fit.
#'
#' @param ... Fits of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()] to the same
#'   data, with or without names.
#' @param newdata New data for [heldout_loglik()]. For documents of counts some tokens are predicted from the others,
#'   with the same split for all fits.
#' @param id The `id` of `newdata`, as in [bnp_hmm()], [bnp_topics()] or [predict.bnp_mixture()].
#' @return A data frame of class `bnp_comparison`: `fit`, its name; `elbo`, `k`, `laps`, `converged`; `heldout`, if
#'   `newdata` is given; and the agreement of its clusters with those of the first fit: `ari`, `nmi` and `vi` of
#'   [agreement()]. For topic models of counts the largest topics of documents are compared. `plugged_in` names the
#'   parameters of a fit that are point estimates from the data, see *Details*; `""`: there are none.
#' @details The difference of two bounds is an approximate log Bayes factor if the fits are to the same data, have the
#'   same kind of probability, and have equally tight bounds. Other fits are refused:
#'
#'   * fits to other data, or to the same rows or columns in another order;
#'   * densities together with probabilities of counts ([obs_gaussian()] and [obs_poisson()]), or either of them
#'     together with tokens ([obs_multinomial()], whose bound leaves out the multinomial coefficient);
#'   * regressions ([obs_regression()]) together with models of all columns, or with other covariates;
#'   * data frames that have densities for different columns (a count that one fit models as a number and another as a
#'     count);
#'   * autoregressions with different lags or sequences, as they condition on different rows;
#'   * degree-corrected blockmodels of networks, whose links are counts, together with other models of links;
#'   * fits with different `bnp_control(bound =)`, since one bound is higher than the other for the same posterior.
#'
#'   Priors may differ. Some learned priors have bounds that account for the learning: those of Gaussian clusters or of
#'   their logarithms (`learn = TRUE`) and of proportions (`obs_multinomial(term_prior = NULL)`,
#'   `obs_bernoulli(learn = TRUE)`, `obs_categorical("learned")`). Their models are hierarchical, and the term
#'   `hyperprior` is the price of what is learned. Such bounds can be compared with those of given priors, of all
#'   covariances, and of the choice among these, `obs_gaussian("auto")`. The same holds for concentrations with a
#'   [gamma_prior()] that are integrated out.
#'
#'   Point estimates from the data have no such price: `variance = NULL` of tied covariances, `drift = "learn"`, and
#'   `alpha` and other concentrations that are learned as numbers. The bound of a fit that has some is too high by the
#'   price that they would have, the more so the more there are. `print()` says which fits have any.
#'
#'   `print()` also warns of two other cases. Under a learned prior of counts with weights that are not whole numbers
#'   the objective is not a bound. If some fits treat rounded values as cells and others as they are
#'   (`obs_gaussian(rounding = )`), bounds can be compared only if cells are small relative to clusters, since the
#'   density at a value may be higher than the average over its cell, the more so the narrower clusters are.
#'
#'   Defaults of priors are read from the same data to which the bound refers. A comparison by held-out data does not
#'   have this advantage of default priors.
#' @references
#' Hubert, L. and Arabie, P. (1985). Comparing partitions. *Journal of Classification* 2, 193-218.
#'
#' Kass, R. E. and Raftery, A. E. (1995). Bayes factors. *Journal of the American Statistical
#' Association* 90, 773-795.
#' @seealso [adjusted_rand_index()], [heldout_loglik()], [cluster_divergence()].
#' @examples
#' odd <- seq(1, nrow(faithful), by = 2)
#' full <- bnp_mixture(faithful[odd, ], control = bnp_control(seed = 1))
#' diagonal <- bnp_mixture(faithful[odd, ], obs_gaussian("diagonal"), control = bnp_control(seed = 1))
#' compare_fits(full, diagonal, newdata = faithful[-odd, ])
#' @export
compare_fits <- function(..., newdata = NULL, id = NULL) {
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  fits <- list(...)
  if (!...length()) abort("argument", "{.fn compare_fits} needs fits, at least one.")
  names <- vapply(as.list(substitute(list(...)))[-1L], function(x) deparse(x, nlines = 1L)[1L], "")
  given <- names(fits) %||% rep("", length(fits))
  names <- make.unique(ifelse(nzchar(given), given, names))
  for (i in seq_along(fits)) {
    check_able(fits[[i]], "compare_fits", paste("Argument", i))
    check_comparable(fits[[1L]], fits[[i]], names[c(1L, i)])
  }
  out <- data.frame(
    fit = names, elbo = vapply(fits, function(f) f$elbo, 1), k = vapply(fits, n_clusters, 1L),
    laps = vapply(fits, function(f) as.integer(f$laps), 1L),
    converged = vapply(fits, function(f) f$converged, NA)
  )
  if (!is.null(newdata)) out$heldout <- heldout_of(fits, newdata, id)
  labels <- lapply(fits, hard_labels)
  out <- cbind(out, agreement_with_first(labels), plugged_in = vapply(fits, plugged_in_numbers, ""))
  structure(
    out, class = c("bnp_comparison", "data.frame"),
    no_bound = names[!vapply(lapply(fits, described_fractions), is.null, NA)],
    cells = names[vapply(fits, function(fit) is_rounded(fit$model$obs), NA)]
  )
}

check_comparable <- function(a, b, names, call = rlang::caller_env()) {
  refuse <- function(why, remedy) {
    abort(
      "not_comparable",
      c("The bounds of {.val {names[1]}} and {.val {names[2]}} cannot be compared.", x = why, i = remedy),
      call = call
    )
  }
  same <- function(field) identical(a$input[[field]], b$input[[field]])
  if (!same("weights")) {
    refuse("Their rows have other weights, and weights are part of the data.", "Fit both with the same {.arg weights}.")
  }
  if (is.null(a$input$fingerprint) || !all(same("n"), same("fingerprint"), same("document_response"))) {
    refuse("They were fitted to different data, or to rows or columns in another order.", "Fit both to the same data.")
  }
  if (!same("classes") || !same("class_sets")) {
    refuse(
      "Other labels were known to them, and the bound is that of data and labels.",
      "Fit both with the same {.arg labels}."
    )
  }
  held <- "Compare their clusters by {.fn adjusted_rand_index}."
  measures <- c(obs_measure(a$model$obs), obs_measure(b$model$obs))
  if (measures[1] != measures[2]) {
    refuse(paste0("One is of ", measures[1], ", the other of ", measures[2], "."), held)
  }
  bounds <- c(a$model$bound, b$model$bound)
  if (has_top_level(a) && has_top_level(b) && bounds[1] != bounds[2]) {
    refuse(
      paste0("One is a ", bounds[1], " bound, the other a ", bounds[2], " one."),
      "Fit both with the same {.code bnp_control(bound = )}."
    )
  }
  if (state_lag(a) != state_lag(b) || (state_lag(a) > 0L && !same("starts"))) {
    refuse("They are conditioned on different rows, the first of each sequence.", held)
  }
}

# Names the parameters that a fit learned as single numbers, without a posterior: the arguments that requested
# it, joined by commas.
plugged_in_numbers <- function(fit) {
  obs <- fit$model$obs
  of_clusters <- unlist(lapply(obs$blocks %||% list(obs), function(block) {
    learned <- obs_learned(block)
    if (isTRUE(learned$plug_in)) learned$by
  }), use.names = FALSE)
  paste(c(of_clusters, plugged_in_names(fit$model$prior)), collapse = ", ")
}

# Whether the ELBO of a fit has one of the two bounds of `bnp_control(bound =)`: its prior shares cluster weights
# among groups. Topics by covariates always have the tight one.
has_top_level <- function(fit) {
  isTRUE(prior_entry(fit$model$prior)$top_level) || identical(fit$model$bound, "tight")
}

heldout_of <- function(fits, newdata, id, call = rlang::caller_env()) {
  predicted <- vapply(fits, row_word, "")
  if (length(unique(predicted)) > 1L) {
    abort("not_comparable", c(
      "Topic models are scored by documents, other models by rows: they cannot be compared on {.arg newdata}.",
      i = "Leave out {.arg newdata}, or compare fits of one kind."
    ), call = call)
  }
  seed <- if ("document" %in% predicted) draw_seed()
  vapply(fits, function(fit) {
    grouped <- !is.null(unit_word(fit)) || has_individuals(fit$input)
    extra <- list(id = if (grouped) id, seed = seed)
    do.call(heldout_loglik, c(list(fit, newdata), extra[!vapply(extra, is.null, NA)]))
  }, 1)
}

agreement_with_first <- function(labels) {
  each <- do.call(rbind, lapply(labels, function(b) agreement(labels[[1L]], b)))
  data.frame(each[c("ari", "nmi", "vi")], row.names = NULL)
}

#' @export
print.bnp_comparison <- function(x, digits = 4L, ...) {
  plain <- as.data.frame(x)
  class(plain) <- "data.frame"
  plain$plugged_in <- NULL
  best <- if (nrow(plain)) which.max(plain$elbo)
  plain$elbo <- format(plain$elbo, digits = 8L)
  print(plain, digits = digits, row.names = FALSE, ...)
  if (sum(!is.na(x$elbo)) > 1L) {
    second <- sort(x$elbo, decreasing = TRUE)[2L]
    cat("Largest bound: ", x$fit[best], ", by ", format(x$elbo[best] - second, digits = 3L), "\n", sep = "")
  }
  for (remark in remarks_of_comparison(x)) cat(strwrap(remark, exdent = 2), sep = "\n")
  invisible(x)
}

# The reasons why the bounds of these fits cannot be compared without care, one line each.
remarks_of_comparison <- function(x) {
  some <- nzchar(x$plugged_in)
  cells <- intersect(attr(x, "cells"), x$fit)
  no_bound <- intersect(attr(x, "no_bound"), x$fit)
  c(
    if (any(some)) {
      paste0("Numbers that were fitted to the data, which a bound does not pay for: ", paste0(
        x$fit[some], " (", x$plugged_in[some], ")", collapse = ", "
      ))
    },
    if (length(no_bound)) paste0("Not a bound, as weights are no whole numbers: ", paste(no_bound, collapse = ", ")),
    if (length(cells) && length(cells) < nrow(x)) {
      paste0(
        "Of rounded values as cells: ", paste(cells, collapse = ", "), ". The others take values as they are, ",
        "and may be higher for that: compare where cells are small beside clusters"
      )
    }
  )
}

# The columns of a data frame in the user's order; columns of numbers or logical values that were read as
# levels become such values again.
values_of_frame <- function(data) {
  frame <- data$frame
  x <- data$x
  colnames(x) <- data$column_names
  for (name in names(frame$levels)) {
    value <- switch(frame$types[[name]],
      logical = 0:1,
      # new data may have levels that are not numbers; these become NA without a warning
      integer = , double = suppressWarnings(as.double(frame$levels[[name]])),
      seq_along(frame$levels[[name]])
    )
    x[, name] <- c(NA, value)[x[, name] + 1] # 0 stands for a cell without a known level
  }
  own <- c(intersect(frame$columns, colnames(x)), frame$designs)
  if (is.null(frame$columns)) unname(x) else unname(x[, own, drop = FALSE])
}
