# Labels of the rows, sequences or documents that a fit with labels takes in (R/update-newdata.R).

# The new data with the classes that their labels allow; labels: NULL where none is known. The sets of classes of the
# fit come first, and then those that only new labels allow, so that both parts can be joined.
with_labels_taken_in <- function(fit, data, labels, newdata, call) {
  if (is.null(fit$input$classes)) {
    if (is.null(labels)) {
      return(data)
    }
    abort("labels", c(
      "{.arg labels} of new data are for fits with {.arg labels}, and this one has none.",
      i = "Leave {.arg labels} out, or fit anew to all data and their labels."
    ), call = call)
  }
  own <- fit$input$class_sets
  data$class_names <- fit$input$class_names
  if (is.null(labels)) {
    data$classes <- integer(data$n)
    data$class_sets <- own
    return(data)
  }
  data <- with_more_labels(fit, data, labels, newdata, call)
  sets <- unname(rbind(own, data$class_sets))
  key <- apply(1L * sets, 1L, paste, collapse = "")
  kept <- !duplicated(key)
  number <- match(key, key[kept])[nrow(own) + seq_len(nrow(data$class_sets))]
  data$classes <- c(0L, number)[data$classes + 1L]
  data$class_sets <- sets[kept, , drop = FALSE]
  data
}

with_more_labels.default <- function(fit, data, labels, newdata, call) with_new_labels(data, labels, fit, call)
