# Known labels of documents restrict the topics that each document may use: a label owns topics, and only its
# documents may use these. The first topic of each label is made by the engine.

# Data with the labels of their documents in the form that C++ reads. known: all labels that are possible
# (those of a fit); NULL for those that occur. open: whether documents may also use topics without a label.
with_document_labels <- function(data, labels, x, open, call, known = NULL) {
  allowed <- document_label_sets(labels, x, data, call, known)
  empty <- empty_documents(data)
  allowed[empty, ] <- NA
  some <- rowSums(is.na(allowed)) == 0
  if (!any(some) || !ncol(allowed)) {
    abort("labels", c("All {.arg labels} are missing.", i = "Leave {.arg labels} out."), call = call)
  }
  bare <- which(some & rowSums(allowed) == 0)
  if (length(bare) && !open) {
    abort("labels", c(
      "Each document must be allowed at least one label with {.code open = FALSE}.",
      x = "None: document {places(bare)}.", i = "A document of {.code NA} may use all topics."
    ), call = call)
  }
  unused <- colSums(allowed[some, , drop = FALSE]) == 0
  if (is.null(known) && any(unused)) {
    cli::cli_inform(
      "{cli::qty(sum(unused))}Label{?s} of no document {?is/are} left out: {places(colnames(allowed)[unused])}.",
      class = c("bnpvi_message_labels", "bnpvi_message"), call = NULL
    )
    allowed <- allowed[, !unused, drop = FALSE]
  }
  if (!ncol(allowed)) {
    abort("labels", c("No document has a label.", i = "Leave {.arg labels} out."), call = call)
  }
  key <- apply(1L * allowed, 1L, paste, collapse = "")
  keys <- unique(key[some])
  set <- replace(match(key, keys), !some, 0L)
  data$classes <- set[group_of_rows(data)]
  data$class_sets <- unname(allowed[match(keys, key), , drop = FALSE])
  data$classes_open <- open
  data$class_names <- colnames(allowed)
  data
}

# Converts labels in any form that users give to a logical matrix, documents x labels, with a row of NA for
# documents without known labels.
document_label_sets <- function(labels, x, data, call, known = NULL) {
  variables <- if (is(x, "dfm")) methods::slot(x, "docvars")
  if (is.character(labels) && length(labels) == 1L && labels %in% names(variables)) labels <- variables[[labels]]
  documents <- given_groups(data)
  n <- if (is.matrix(labels)) nrow(labels) else length(labels)
  if (!is.matrix(labels) && !is.atomic(labels) && !is.list(labels) || is.data.frame(labels) || is.null(labels)) {
    abort("labels", c(
      "{.arg labels} must be a factor or text (one label for each document), a list of character vectors, a logical
       matrix (documents x labels) or the name of a document variable, not {describe(labels)}."
    ), call = call)
  }
  if (n != documents$n) {
    abort("labels", c(
      "{.arg labels} must have one {if (is.matrix(labels)) 'row' else 'entry'} for each document ({documents$n}), not
       {n}.",
      i = "Documents whose labels are not known have {.code NA}."
    ), call = call)
  }
  out <- if (is.matrix(labels)) sets_of_matrix(labels, call) else sets_of_list(labels, call, known)
  out <- in_order_of_names(out, documents$names, documents$n, "labels", "document", call)
  if (!is.null(data$left_out_documents$kept)) out <- out[data$left_out_documents$kept, , drop = FALSE]
  if (is.null(known)) {
    return(out)
  }
  strange <- setdiff(colnames(out), known)
  strange <- strange[vapply(strange, function(label) any(out[, label], na.rm = TRUE), NA)]
  if (length(strange)) {
    abort("labels", "{.arg labels} has label{?s} that the fit does not know: {places(strange)}.", call = call)
  }
  all <- matrix(FALSE, nrow(out), length(known), dimnames = list(NULL, known))
  all[rowSums(is.na(out)) > 0, ] <- NA
  shared <- intersect(known, colnames(out))
  all[, shared] <- out[, shared]
  all
}

sets_of_matrix <- function(labels, call) {
  if (!is.logical(labels)) {
    abort("labels", c(
      "A matrix of {.arg labels} must be logical (documents x labels), not {typeof(labels)}.",
      i = "It says which labels a document has."
    ), call = call)
  }
  missing <- rowSums(is.na(labels))
  bad <- which(missing > 0 & missing < ncol(labels))
  if (length(bad)) {
    abort("labels", c(
      "Rows of a matrix of {.arg labels} must be {.code TRUE} and {.code FALSE}, or all {.code NA}.",
      x = "Not so: row {places(bad)}."
    ), call = call)
  }
  colnames(labels) <- colnames(labels) %||% as.character(seq_len(ncol(labels)))
  labels
}

# Reads labels given as a list: one or several labels for each document. For a fit, the result has labels in
# the fit's order.
sets_of_list <- function(labels, call, known) {
  names <- names(labels)
  each <- if (is.list(labels)) labels else as.list(label_text(labels, "labels", call))
  if (is.factor(labels)) known <- known %||% levels(labels)
  text <- lapply(each, function(one) {
    one <- if (is.null(one)) character() else label_text(one, "labels", call)
    one[!is.na(one)]
  })
  found <- unique(unlist(text))
  all <- union(known, if (is.list(labels)) sort(found) else levels(label_factor(labels, "labels", call, sorted = TRUE)))
  out <- matrix(FALSE, length(text), length(all), dimnames = list(names, all))
  at <- cbind(rep(seq_along(text), lengths(text)), match(unlist(text), all))
  out[at] <- TRUE
  out[lengths(text) == 0L, ] <- NA
  out
}

# Refuses a prior with a fixed number of topics (clusters) that is smaller than the number of labels and lists of
# keywords; a list and a label that are called the same need one topic.
need_room_for_labels <- function(data, obs, prior, call, word = "topic") {
  needed <- length(union(data$class_names, enc2utf8(as.character(names(obs$keywords)))))
  if (!is.null(data$classes) && isTRUE(prior$k < needed)) {
    abort("labels", c(
      paste(
        "{.arg labels}", if (has_keywords(obs)) "and {.arg keywords}", "need", count_of(needed, word),
        "and the prior has {prior$k}."
      ),
      i = "Raise {.arg k} of the prior."
    ), call = call)
  }
}

# Refuses a start that does not say which topics each label owns; only a fit to documents with the same labels
# says so.
need_labelled_start <- function(start, data, call) {
  if (is.null(start) || is.null(data$classes)) {
    return(invisible())
  }
  if (!inherits(start, "bnp_fit") || is.null(start$state$owner) ||
        !identical(start$input$class_names, data$class_names)) {
    abort("start", c(
      "With {.arg labels} a {.arg start} must be a fit to documents with the same labels.",
      i = "Leave {.arg start} out: each label begins with the documents that have it."
    ), call = call)
  }
}

# Gives topics without a label (open topics) to a label where this makes the labels more probable.
#
# The subject of a label may have gone to an open topic, which the label's documents may use, too. The label's
# own topic then has hardly any tokens, and documents on this subject without labels do not get the label. The
# bound does not prevent this; it is even a little higher, since an open topic is available to all documents.
# Let n labelled documents be mostly about the open topic. If labels were independent of the topic, all n
# would have this label with probability p^n, where p is the label's share of the labelled documents. So a
# topic is given to the label even if the bound falls by up to n log(1 / p).
better_with_topics_of_labels <- function(result, data, run) {
  state <- result$state
  counts <- as.matrix(sparseMatrix(
    i = result$documents$document, j = result$documents$topic, x = result$documents$count,
    dims = c(length(data$starts) - 1L, state$k)
  ))
  set <- data$classes[match(seq_len(length(data$starts) - 1L), group_of_rows(data))]
  labelled <- which(set > 0L) # empty documents have no label
  has <- data$class_sets[set[labelled], , drop = FALSE]
  main <- max.col(counts[labelled, , drop = FALSE], "first")
  gain <- numeric(state$k)
  label <- integer(state$k)
  named <- (state$named %||% integer(state$k)) > 0L
  for (j in which(state$owner == 0L & !named & tabulate(main, state$k) > 0L)) {
    own <- main == j
    shared <- which(colSums(has[own, , drop = FALSE]) == sum(own))
    if (!length(shared)) next
    label[j] <- shared[which.min(colMeans(has)[shared])]
    gain[j] <- -sum(own) * log(mean(has[, label[j]]))
  }
  gets <- gain >= stats::qchisq(0.95, 1) / 2
  if (!any(gets)) {
    return(result)
  }
  idle <- state$owner %in% label[gets] & !named & colSums(counts) < 0.5
  given <- function(gets) replace(replace(state$owner, idle, 0L), gets, label[gets])
  if (all(given(gets) > 0L)) gets[which.min(ifelse(gets, gain, Inf))] <- FALSE # an open topic is left
  if (!any(gets)) {
    return(result)
  }
  state$owner <- given(gets)
  again <- run(start = list(state = state))
  if (isTRUE(again$elbo > result$elbo - sum(gain[gets]))) again else result
}
