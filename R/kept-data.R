# Small fits keep their data, so that functions that read the data again work without being given them.

# The data that a fit keeps, in the internal form of new data; NULL where a fit keeps none. A fit whose
# clusters drift has its rows in the order of times; here they are in the user's order again, like new data.
kept_data <- function(fit) {
  if (is.null(fit$data)) {
    return(NULL)
  }
  data <- as_bnp_data(c(fit$data, fit$input[intersect(kept_fields, names(fit$input))]))
  if (is.null(data$slot) || is.null(data$order)) {
    return(data)
  }
  out <- data_rows(data, order(data$order), data$n)
  out$order <- NULL
  out$left_out <- data$left_out
  out
}

# The data as a user gave them, or, for NULL, the data that the fit keeps; an error if it keeps none.
data_or_kept <- function(data, fit, arg, call = rlang::caller_env()) {
  data <- data %||% kept_data(fit)
  need_data(is.null(data), arg, call, "The fit keeps no data: give them.")
  data
}

is_internal <- function(data) inherits(data, "bnp_data")

# The data that a fit keeps as a table of all rows that were given, with the columns in the form that the
# model takes.
table_of_kept <- function(fit, data) {
  blocks <- fit$model$obs$blocks %||% list(fit$model$obs)
  levels <- do.call(c, unname(lapply(blocks, function(block) block$levels)))
  types <- do.call(c, unname(lapply(blocks, function(block) block$types)))
  x <- as.matrix(data_matrix(data))
  x[data$missing] <- NA
  x <- for_all_rows(list(left_out = data$left_out), x)
  out <- as.data.frame(`colnames<-`(x, column_labels(fit)))
  for (name in names(levels)) out[[name]] <- as_column(out[[name]], types[[name]] %||% "text", levels[[name]])
  out
}

described_kept <- function(fit) {
  if (!is.null(fit$data)) {
    paste0("Data kept (", ceiling(utils::object.size(fit$data) / 1000), " kB); strip_data(fit) removes them")
  }
}

#' The data that a fit keeps
#'
#' A fit of few data (less than 1 MB) keeps them, as the numbers that were fitted, and only the columns that the model
#' uses; of a table of [track_steps()] also the locations. Functions that read the training data again, such as
#' [plot()][plot.bnp_mixture()], [augment()], [residuals()] and [cluster_tree()], then work without a data argument.
#' `strip_data()` removes the data, for instance before a fit is given to others. Fits of more data keep none, unless
#' `bnp_control(keep_data = TRUE)` is set. `bnp_control(keep_data = FALSE)`, or `options(bnpvi.keep_data = FALSE)` for
#' all fits, keeps none. Only fits of [bnp_mixture()], [bnp_topics()], [bnp_hmm()] and [bnp_features()] keep data, and
#' not those from sources and streams or those of [update()] with new data.
#'
#' @param fit A fit.
#' @return The fit without its data. Labels, and names of rows and columns, remain.
#' @seealso [bnp_control()].
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' plot(fit)
#' small <- strip_data(fit)
#' object.size(fit) - object.size(small)
#' @export
strip_data <- function(fit) {
  check_able(fit, "strip_data")
  as_made <- !is.null(attr(fit, "seal"))
  fit$data <- NULL
  if (as_made) sealed(fit) else fit
}

# TRUE if the argument `type` of plot() is data (a table, a list, or a vector of several numbers) and not a
# type.
is_table <- function(type) length(dim(type)) == 2L || is.numeric(type) && length(type) > 1L || is.list(type)
