# Methods of tidy() and augment() for mixtures: tables of clusters and of rows.

#' @rdname tidiers
#' @param covariates For fits with [prior_covariates()]: the covariates of the rows, as in [predict.bnp_mixture()].
#' @export
tidy.bnp_mixture <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  check_no_dots(...)
  check_flag(conf.int, "conf.int")
  if (obs_can(check_format(x)$model$obs, "read")) {
    return(tidy_frame(x, conf.int, conf.level))
  }
  if (conf.int) tidy_intervals(x, conf.level) else tidy_clusters(x, "component")
}

#' @rdname tidiers
#' @export
augment.bnp_mixture <- function(x, data, ..., na_action = NULL, id = NULL, time = NULL, covariates = NULL) {
  check_no_dots(...)
  data <- data_or_kept(if (!missing(data)) data, check_format(x), "data")
  read_arguments(rlang::enquos(id = id, time = time), data, "data")
  if (!is.null(covariates)) only_with_covariates(x, rlang::current_env())
  internal <- as_newdata(
    x, data, arg = "data", na_action = action_of_fit(x, na_action), id = id, time = time, covariates = covariates
  )
  prob <- for_all_rows(internal, state_responsibilities(x, with_known(internal, x)))
  class <- unname(most_probable(prob))
  if (is_internal(data)) data <- table_of_kept(x, data)
  sequences <- is.list(data) && !inherits(data, "simple_triplet_matrix") # of an autoregression
  one_row <- length(dim(data)) < 2L && x$input$d > 1L && NROW(data) != rows_given(internal)
  out <- as.data.frame(
    if (is.data.frame(data)) data else if (sequences || one_row) data_matrix(internal) else data_matrix_of(data)
  )
  out$.class <- factor(class, levels = seq_len(ncol(prob)))
  out$.uncertainty <- uncertainty(prob, class)
  scales <- row_scales(x, internal, prob)
  out[names(scales)] <- scales
  if (!is.null(x$state$owner)) out$.label <- unname(most_probable_class(x, prob))
  like_input(out, data)
}

# The terms of clusters of texts, as of topics; else the terms of the formula.
#' @export
#' @noRd
terms.bnp_mixture <- function(x, ...) {
  of_texts <- obs_facts(x$model$obs)$counts_tokens && is.null(x$input$terms)
  if (of_texts) terms.bnp_topics(x, ...) else NextMethod()
}
