#' @rdname tidiers
#' @export
tidy.bnp_hmm <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  check_no_dots(...)
  if (check_flag(conf.int, "conf.int")) {
    return(tidy_intervals(x, conf.level))
  }
  tidy_states(check_format(x))
}

tidy_states.bnp_hmm <- function(fit) {
  means <- mean_arrays(fit)
  size <- unname(cluster_sizes(fit))
  out <- data.frame(
    component = seq_along(size), size = size, proportion = unname(proportion(fit, means)),
    duration = as.double(state_durations(fit))
  )
  wide <- wide_moments(fit, means)
  as_tidy(if (is.null(wide)) out else cbind(out, wide))
}

#' @rdname tidiers
#' @export
augment.bnp_hmm <- function(x, data, id = NULL, ..., na_action = NULL, parent = NULL,
                            position = NULL, covariates = NULL) {
  check_no_dots(...)
  data <- data_or_kept(if (!missing(data)) data, check_format(x), "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  parent <- with_position(parent, position)
  if (!is.null(covariates)) only_with_covariates(x, rlang::current_env())
  internal <- as_new_sequences(
    x, data, id, arg = "data", na_action = action_of_fit(x, na_action), parent = parent, covariates = covariates
  )
  internal$expected <- latent_rows(x, internal)
  path <- for_all_rows(internal, viterbi_path(x, internal))
  prob <- for_all_rows(internal, state_responsibilities(x, internal))
  scales <- row_scales(x, internal, prob)
  out <- as.data.frame(if (is.data.frame(data)) data else if (is_internal(data)) table_of_kept(x, internal) else {
    as_given <- rows_of_sequences(x, data, id, rlang::current_env(), "data", "keep", parent, "predict", alone = TRUE)
    if (has_trees(internal)) for_all_rows(as_given, rows_as_given(x, as_given)) else rows_as_given(x, as_given)
  })
  if (has_trees(internal)) {
    at <- internal$tree$at %||% seq_len(internal$n)
    if (nrow(out) > length(at)) out <- out[at, , drop = FALSE]
    path <- path[at]
    prob <- prob[at, , drop = FALSE]
    scales <- lapply(scales, `[`, at)
  }
  out$.class <- factor(path, levels = seq_len(x$state$k))
  out$.uncertainty <- uncertainty(prob, path)
  more <- augment_columns(x, internal)
  out[names(more)] <- more
  out[names(scales)] <- scales
  like_input(out, data)
}
