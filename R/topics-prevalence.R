#' How common topics or clusters are by a covariate
#'
#' Compares the fitted proportions of documents with something else that is known of them, such as a category or a date.
#' The comparison describes the training documents: if documents of one kind have more of a topic, this does not mean
#' that the kind is the cause.
#'
#' For a fit with [prior_covariates()] it gives the weights of clusters, or the expected proportions of topics, as
#' functions of one of the covariates of the model. For sequences with such a prior it gives the long-run shares of
#' states, [long_run()], if the covariate stayed at each value.
#'
#' @param fit A fit of [bnp_topics()], or of [bnp_mixture()] or [bnp_hmm()] with [prior_covariates()].
#' @param by With [prior_covariates()]: the name of one of the covariates; not needed if there is one. Otherwise a
#'   variable of the training documents: a column of `data`, by its name or as `~ column`; or a vector with one value
#'   per document, in the order of the documents or matched by names. Numbers, dates and times are taken as a scale, a
#'   factor, text or logical values as groups; `factor(year)` makes groups of numbers.
#' @param data A data frame with one row per document. If it has a column `document` or row names, and documents have
#'   names, rows are matched by these; otherwise they are in the order of the documents.
#' @param level Probability of the intervals, between 0 and 1.
#' @param degree Degree of a polynomial in a numeric `by`: `1` is a straight line.
#' @param at With [prior_covariates()]: values at which other covariates are held, such as `list(sex = "f")`.
#' @param contrast With [prior_covariates()]: return differences from the first value of `by` instead of weights?
#' @param average With [prior_covariates()]: `TRUE`: average over the other covariates of the training data; `FALSE`:
#'   hold them at their means and most frequent levels.
#' @return A data frame of class `bnp_prevalence` with a row for each topic and group, or for each topic and 50 values
#'   of a numeric covariate:
#'   * `topic`; `group` or `at`, the value of the covariate;
#'   * `documents`: the number of documents in the group (for a numeric covariate: of all);
#'   * `proportion`: the mean proportion of the documents of the group, in which each document counts the same whatever
#'     its length, or for a numeric covariate the regression by least squares;
#'   * `conf.low`, `conf.high`: intervals of this mean by Student's t distribution. They take into account that
#'     documents differ, but neither the uncertainty about the proportions of each document nor that about the topics,
#'     and are therefore too narrow. A group of one document has no interval (`NA`). What leaves the range from 0 to 1
#'     is cut off, as a mean proportion cannot lie there; intervals contain the true mean as often as without the cut.
#'     Regression lines, which know no such limits, are cut as well: where this happens, choose another `degree` or
#'     groups, or fit the topics with [prior_covariates()].
#'
#'   Documents without a value are left out with a warning.
#'
#'   With [prior_covariates()] `proportion` is the weight in the model, at values of the covariate from the smallest to
#'   the largest (of whole numbers with at most seven values, at these); dates and times are numbers, too. Mixtures
#'   have `cluster` (sequences `state`) and `rows` in place of `topic` and `documents`. The
#'   intervals are quantiles of draws from the variational posterior of weights and effects, which treats these as
#'   independent of everything else that is uncertain. They are therefore too narrow if clusters overlap.
#'
#'   For topics the draws are from a normal distribution of weights and effects in which the proportions of documents
#'   are integrated out, given how often each document uses each topic. Which words have which topic counts as known, so
#'   that these intervals are too narrow, too, and proportions are somewhat more extreme than they should be. In
#'   simulations with four topics whose terms hardly overlap, 400 documents of 100 words and `alpha` as in the
#'   simulation, intervals of nominal 90 % contained the expected proportion in 71 to 81 % of cases (two runs; those of
#'   the variational posterior in 64 %); where documents were three times less variable than `alpha` says, in 61 %
#'   (48 %). Read them as a lower limit of what is uncertain.
#'
#'   If `x`, the documents of topics, is given, proportions and intervals come from a Markov chain that starts at the
#'   fit and keeps its number of topics. A sweep of it draws which words have which topic, the terms of topics, the
#'   proportions of documents, and weights and effects, these by Metropolis-adjusted Langevin steps, of which about six
#'   in ten are accepted (650 sweeps; the last 500 count; the same draws each time). In the simulations above such
#'   intervals contained the expected proportion in 92 % and the difference of two groups in 98 % of cases (12 corpora,
#'   four seconds each), in 89 % and 85 % where documents were less variable than `alpha` says, and in 84 % and 94 %
#'   where a quarter of the words of a topic were those of others. Draws are not independent: for the least certain
#'   weight or effect they were worth about 40 to 60 independent ones on average (10 in the worst corpus), for half of
#'   them 250 and more. `weights`, `labels`, keywords and documents of rows are refused.
#'
#'   If `x`, the data of a mixture, is given, the intervals are computed by linear response (Giordano and others, 2018):
#'   each weight and effect in turn is pushed a little, and all means adapt to it. This takes two short fits for each
#'   weight and effect; if this will take long, a message says so beforehand. In simulations with three clusters, a
#'   number as covariate and 1,000 rows, intervals of nominal 90 % from draws contained the true value in 63 % of cases
#'   with means three standard deviations apart, those by linear response in 89 % (180 cases).
#' @references
#' Roberts, M. E. and others (2014). Structural topic models for open-ended survey responses.
#' *American Journal of Political Science* 58(4), 1064-1082; whose topics depend on covariates from the beginning.
#'
#' Roberts, G. O. and Tweedie, R. L. (1996). Exponential convergence of Langevin distributions and their discrete
#' approximations. *Bernoulli* 2(4), 341-363.
#'
#' Giordano, R., Broderick, T. and Jordan, M. I. (2018). Covariances, robustness, and variational Bayes. *Journal of
#' Machine Learning Research* 19(51), 1-49.
#' @seealso [plot.bnp_prevalence()], [top_documents()], [fitted.bnp_topics()]; `vignette("topics")`.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' head(prevalence(fit, by = whales$category))
#' plot(prevalence(fit, by = whales$category), topics = 1:4)
#' @export
prevalence <- function(fit, by, data = NULL, level = 0.95, degree = 1L, at = list(), contrast = FALSE,
                       average = TRUE, x = NULL) {
  check_able(fit, "prevalence")
  if (!is.null(x)) require_ability(fit, "linear_response")
  said <- names(match.call())
  modelled <- has_covariates(fit$model$prior)
  idle <- intersect(said, if (modelled) c("data", "degree") else c("at", "contrast", "average"))
  if (length(idle)) {
    abort("argument", c(
      "{.arg {idle}} {?is/are} for fits {if (modelled) 'without' else 'with'} {.fn prior_covariates}.",
      i = if (modelled) "The formula of the prior has the form of effects, such as {.code ~ splines::ns(day, 4)}." else
        "Without it, {.arg by} and {.arg degree} alone say what is compared."
    ))
  }
  if (modelled) {
    if (missing(by)) by <- only_covariate(fit$model$prior$design)
    if (identical(fit$model$prior$family, "hmm_covariates")) {
      return(prevalence_of_states(
        fit, by, check_level(level, "level"), at, check_flag(contrast, "contrast"), check_flag(average, "average"),
        rlang::current_env()
      ))
    }
    return(prevalence_by_model(
      fit, by, check_level(level, "level"), at, check_flag(contrast, "contrast"), check_flag(average, "average"),
      response_to_data(fit, x, rlang::current_env()), rlang::current_env()
    ))
  }
  theta <- document_proportions(fit)
  if (missing(by)) {
    abort("by", c("{.arg by} is needed.", i = "Give a value for each document, such as its year or its author."))
  }
  level <- check_level(level, "level")
  degree <- check_count(degree, "degree")
  label <- substitute(by)
  covariate <- document_covariate(fit, by, data)
  value <- covariate$value
  timed <- inherits(value, c("Date", "POSIXct"))
  known <- !is.na(value) & (if (is.numeric(value) || timed) is.finite(as.double(value)) else TRUE)
  if (!any(known)) abort("by", "{.arg by} has no value for any document.")
  if (!all(known)) {
    cli::cli_warn(
      c("{sum(!known)} document{?s} without a value of {.arg by} {?is/are} left out.",
        i = "At {places(which(!known))}."),
      class = c("bnpvi_warning_missing", "bnpvi_warning")
    )
  }
  theta <- theta[known, , drop = FALSE]
  value <- value[known]
  out <- if (is.numeric(value) || timed) {
    if (length(unique(value)) <= degree) {
      abort("by", "{.arg by} must have more than {degree} different value{?s} for a regression of degree {degree}.")
    }
    regression_prevalence(theta, as.numeric(value), level, degree)
  } else {
    group_prevalence(theta, label_factor(value, "by", sorted = TRUE), level)
  }
  if (timed) out$at <- value[1] + (out$at - as.numeric(value[1]))
  structure(
    as.data.frame(out), class = c("bnp_prevalence", "data.frame"), by = covariate$label %||% short_expression(label)
  )
}

# The expression that was given as an argument, as text; NULL where it is a value, or too long for the label
# of an axis.
short_expression <- function(x) {
  text <- if (is.language(x)) deparse(x)
  if (length(text) == 1L && nchar(text) <= 40L) text
}

# The covariate of a fit's documents: list(value, label) with one value for each document and, if the values
# come from a column, its name.
document_covariate <- function(fit, by, data, call = rlang::caller_env()) {
  names <- fit$input$group_names
  left_out <- fit$input$left_out_documents
  n <- if (is.null(left_out)) nrow(fit$documents) else left_out$n
  label <- NULL
  given <- NULL
  if (!is.null(data)) {
    if (!is.data.frame(data)) {
      abort("argument", "{.arg data} must be a data frame, not {describe(data)}.", call = call)
    }
    column <- id_column_of(by, data, call)
    label <- column
    by <- data[[column]]
    if (!is.null(names) && "document" %in% names(data)) {
      given <- label_text(data$document, "document", call)
    } else if (is.character(attr(data, "row.names"))) {
      names(by) <- rownames(data)
    }
  } else if (inherits(by, "formula")) {
    abort("argument", c(
      "{.arg by} names a column, so {.arg data} is needed.", i = "{.code prevalence(fit, by = ~ year, data = articles)}"
    ), call = call)
  }
  by <- as_vector(by)
  if (is.null(given)) {
    if (!is.null(names)) given <- names(by) else by <- in_order_of_names(by, NULL, n, "by", "document", call)
  }
  by <- plain_values(by)
  if (!is.atomic(by) || is.null(by) || !is.null(dim(by))) {
    abort("by", "{.arg by} must have one value per document, not be {describe(by)}.", call = call)
  }
  if (!is.null(given)) {
    at <- match(names, given)
    if (anyNA(at) || anyDuplicated(given)) {
      abort("by", c(
        "{.arg by} must have one value for each document, matched by name.",
        x = if (anyNA(at)) "None for {places(dQuote(names[is.na(at)], FALSE))}.",
        x = if (anyDuplicated(given)) "Repeated: {places(dQuote(unique(given[duplicated(given)]), FALSE))}."
      ), call = call)
    }
    by <- by[at]
  } else if (length(by) != n) {
    abort("by", c(
      "{.arg by} must have one value per document: {n}, not {length(by)}.",
      i = "Documents are in the order of {.code rownames(fitted(fit))}."
    ), call = call)
  } else if (!is.null(left_out)) {
    by <- by[left_out$kept]
  }
  if (inherits(by, "difftime")) by <- as.numeric(by)
  if (inherits(by, "integer64")) by <- as.double(label_text(by, "by", call))
  list(value = if (is.factor(by)) by else unname(by), label = label)
}

id_column_of <- function(by, data, call) {
  by <- id_column(by, call)
  if (!is.character(by) || length(by) != 1L || !by %in% names(data)) {
    abort("by", c(
      "{.arg by} must name a column of {.arg data}, not {describe(by)}.",
      i = "Its columns: {places(dQuote(names(data), FALSE))}."
    ), call = call)
  }
  by
}

group_prevalence <- function(theta, group, level) {
  rows <- lapply(levels(group), function(name) {
    part <- theta[group == name, , drop = FALSE]
    n <- nrow(part)
    mean <- colMeans(part)
    variance <- colSums((part - rep(mean, each = n))^2) / (n - 1)
    half <- if (n > 1L) stats::qt(0.5 + level / 2, n - 1L) * sqrt(variance / n) else NA_real_
    data.frame(
      topic = seq_len(ncol(theta)), group = name, documents = n, proportion = unname(mean),
      conf.low = unname(mean - half), conf.high = unname(mean + half)
    )
  })
  out <- without_noise(within_range(do.call(rbind, rows)))
  out$group <- factor(out$group, levels = levels(group))
  out[order(out$topic, out$group), ] |> `rownames<-`(NULL)
}

# The prevalence of topics along a covariate x: least squares of every topic's proportions on powers of x up
# to `degree`.
regression_prevalence <- function(theta, x, level, degree) {
  at <- seq(min(x), max(x), length.out = 50L)
  basis <- stats::poly(x, degree)
  design <- cbind(1, basis)
  new <- cbind(1, stats::predict(basis, at))
  # The columns of the design matrix are orthogonal, and all but the first have length 1, so that the inverse
  # is diagonal.
  inverse <- c(1 / length(x), rep(1, degree))
  beta <- inverse * crossprod(design, theta)
  df <- length(x) - degree - 1L
  sigma2 <- if (df > 0L) colSums((theta - design %*% beta)^2) / df else rep(NA_real_, ncol(theta))
  half <- stats::qt(0.5 + level / 2, max(df, 1L)) * sqrt(outer(drop(new^2 %*% inverse), sigma2))
  line <- new %*% beta
  without_noise(within_range(data.frame(
    topic = rep(seq_len(ncol(theta)), each = length(at)), at = at, documents = length(x), proportion = as.double(line),
    conf.low = as.double(line - half), conf.high = as.double(line + half)
  )))
}

# Cuts means of proportions and their intervals at 0 and 1. What is cut off cannot be true, so that intervals
# contain the true value as often as before.
within_range <- function(table) {
  shares <- c("proportion", "conf.low", "conf.high")
  table[shares] <- lapply(table[shares], function(share) pmin(pmax(share, 0), 1))
  table
}

# Rounds proportions to 12 digits, so that numbers which differ by rounding errors are equal: a picture would
# show the errors as a trend.
without_noise <- function(table) {
  shares <- c("proportion", "conf.low", "conf.high")
  table[shares] <- lapply(table[shares], round, 12L)
  table
}
