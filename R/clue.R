# Methods for the generics of the package clue (cluster ensembles), which need not be installed. Memberships
# of the training data are probabilities if the fit keeps them, else 0 and 1.

#' @exportS3Method clue::is.cl_partition
is.cl_partition.bnp_fit <- function(x) TRUE

#' @exportS3Method clue::is.cl_hard_partition
is.cl_hard_partition.bnp_fit <- function(x) is.null(x$probabilities)

#' @exportS3Method clue::cl_class_ids
cl_class_ids.bnp_fit <- function(x) {
  check_able(x, "clue", "x")
  clue::as.cl_class_ids(hard_labels(x))
}

#' @exportS3Method clue::n_of_objects
n_of_objects.bnp_fit <- function(x) as.integer(x$input$n)

#' @exportS3Method clue::n_of_classes
n_of_classes.bnp_fit <- function(x) sum(colSums(membership_of(x)) > 0)

# Memberships of the training data, one column for each of k classes; clue itself would leave out classes
# without members, which get columns of 0 here.
#' @exportS3Method clue::cl_membership
cl_membership.bnp_fit <- function(x, k = n_of_classes.bnp_fit(x)) {
  check_able(x, "clue", "x")
  out <- clue::as.cl_membership(membership_of(x))
  padded <- cbind(matrix(out, nrow(out)), matrix(0, nrow(out), k - ncol(out)))
  attributes(padded) <- replace(attributes(out), "dim", list(dim(padded)))
  padded
}

membership_of.default <- function(fit) {
  kept <- if (!is.null(fit$probabilities)) of_rows(fit$input, fit$probabilities)
  unname(kept %||% diag(fit$state$k)[hard_labels(fit), , drop = FALSE])
}

#' @exportS3Method clue::cl_predict
cl_predict.bnp_fit <- function(object, newdata = NULL, type = c("class_ids", "memberships"), ...) {
  type <- check_choice(type, c("class_ids", "memberships"), "type")
  check_able(object, "clue", "object")
  if (type == "class_ids") {
    clue::as.cl_class_ids(predict(object, newdata, type = "class", ...))
  } else if (is.null(newdata)) {
    clue::cl_membership(object)
  } else {
    clue::as.cl_membership(unname(predict(object, newdata, type = "prob", ...)))
  }
}
