# Known labels of rows: the classes to which each row may belong. Each class has clusters that belong to it
# alone; its first one is made here.

# Reads labels: list(classes, set, sets) has the names of the classes; for each row the number of its set of
# classes, 0 where it may belong to any cluster; and the sets (sets x classes, logical). kept: the numbers of
# the rows that are used, NULL for all; weights: the weights of these. Labels of rows of weight 0 count as
# unknown.
known_labels <- function(labels, n, call, kept = NULL, weights = NULL) {
  absent <- which(weights == 0)
  if (is.matrix(labels)) {
    return(known_sets(labels, n, call, kept, absent))
  }
  if (!is.atomic(labels)) {
    abort("labels", c(
      "{.arg labels} must be a factor, a vector with one label per row, or a logical matrix (rows x classes), not
       {describe(labels)}."
    ), call = call)
  }
  check_labelled_rows(length(labels), n, "label", call)
  if (!is.null(kept)) labels <- labels[kept]
  labels[absent] <- NA
  factor <- label_factor(labels, "labels", call, sorted = TRUE)
  refuse_no_labels(is.na(factor), call)
  set <- as.integer(factor)
  list(classes = levels(factor), set = replace(set, is.na(set), 0L), sets = diag(nlevels(factor)) == 1)
}

known_sets <- function(allowed, n, call, kept, absent) {
  if (!is.logical(allowed)) {
    abort("labels", c(
      "A matrix of {.arg labels} must be logical (rows x classes), not {typeof(allowed)}.",
      i = "It says which classes a row may belong to."
    ), call = call)
  }
  check_labelled_rows(nrow(allowed), n, "row", call)
  if (!is.null(kept)) allowed <- allowed[kept, , drop = FALSE]
  allowed[absent, ] <- NA
  open <- rowSums(is.na(allowed)) == ncol(allowed)
  refuse_no_labels(open, call)
  bad <- which(!open & rowSums(is.na(allowed)) > 0)
  if (length(bad)) {
    abort("labels", c(
      "Rows of a matrix of {.arg labels} must be {.code TRUE} and {.code FALSE}, or all {.code NA}.",
      x = "Not so: row {places(bad)}."
    ), call = call)
  }
  none <- which(!open & rowSums(allowed) == 0)
  if (length(none)) {
    abort("labels", c(
      "Each row must be allowed at least one class.",
      x = "None in row {places(none)} of {.arg labels}.",
      i = "A row of {.code NA} may belong to any cluster."
    ), call = call)
  }
  classes <- colnames(allowed) %||% as.character(seq_len(ncol(allowed)))
  used <- colSums(allowed[!open, , drop = FALSE]) > 0
  allowed <- unname(allowed[, used, drop = FALSE])
  key <- apply(1L * allowed, 1L, paste, collapse = "")
  keys <- unique(key[!open])
  set <- match(key, keys)
  list(
    classes = classes[used], set = replace(set, open, 0L), sets = allowed[match(keys, key), , drop = FALSE]
  )
}

check_labelled_rows <- function(given, n, what, call) {
  if (given != n) {
    abort("labels", "{.arg labels} must have one {what} per row of {.arg x} ({n}), not {given}.", call = call)
  }
}

refuse_no_labels <- function(missing, call) {
  if (all(missing)) {
    abort("labels", c("All {.arg labels} are missing.", i = "Leave {.arg labels} out."), call = call)
  }
}

# Adds the labels that users give for rows to the data, in the form that C++ reads.
with_labels <- function(data, labels, call) {
  labels <- values_of_rows(labels, data, "labels", call, known = TRUE)
  known <- known_labels(labels, rows_given(data), call, data$left_out$kept, data$weights)
  data$classes <- known$set
  data$class_sets <- known$sets
  data$class_names <- known$classes
  data
}

# TRUE where a row may belong to a cluster: rows x clusters. owner: the class of each cluster, 0 for none.
allowed_clusters <- function(data, owner) {
  sets <- cbind(FALSE, data$class_sets)[, owner + 1L, drop = FALSE]
  rbind(TRUE, sets)[data$classes + 1L, , drop = FALSE]
}

# A start in which labelled rows are in the cluster of their class, one for each class, other rows with keywords of a
# list that is not called like a class in the cluster of the list, and all others in one more cluster if the prior has
# room; a row with several classes is split evenly among their clusters. If the user gave a start, it is used, and each
# of its clusters belongs to the class of its rows.
start_with_labels <- function(start, given, data, prior, control, call, obs = NULL) {
  if (is.null(data$classes)) {
    if (!is.null(start$state)) start$state$owner <- NULL
    return(start)
  }
  if (inherits(given, "bnp_fit")) {
    return(start_with_owners(start, given, data, call))
  }
  if (!is.null(start)) {
    return(own_start_clusters(start, data, call, most = prior$k %||% Inf))
  }
  if (!is.null(control$k_init) && is.null(prior$k)) {
    abort("k_init", c(
      "{.arg k_init} cannot be chosen with {.arg labels}: each class begins with one cluster, and unlabelled rows with
       one.",
      i = "Leave {.arg k_init} out, or give a {.arg start}."
    ), call = call)
  }
  classes <- length(data$class_names)
  if (!is.null(prior$k) && prior$k < classes) {
    arg <- if (is.null(data$sequence_classes)) "labels" else "sequence_labels"
    open <- if (no_class %in% data$class_names) ", one of them open"
    abort("labels", c(
      "{.arg {arg}} need {classes} clusters{open}, the finite prior has only {prior$k}.",
      i = "Raise {.arg k} of the prior."
    ), call = call)
  }
  if (has_keywords(obs)) need_room_for_labels(data, obs, prior, call, "cluster")
  lists <- which(obs$keyword_class == 0L)
  known <- classes + length(lists)
  k <- prior$k %||% (known + any(data$classes == 0L))
  owner <- c(seq_len(classes), integer(k - classes))
  first <- seq_len(min(known + 1L, k)) # where rows are to begin
  allowed <- allowed_clusters(data, owner[first])
  if (k > known) allowed[data$classes == 0L, -length(first)] <- FALSE
  if (length(lists)) {
    list <- main_list(data, obs, lists)
    of_list <- which(data$classes == 0L & list > 0L)
    allowed[of_list, ] <- FALSE
    allowed[cbind(of_list, classes + list[of_list])] <- TRUE
  }
  if (all(rowSums(allowed) == 1)) {
    return(list(labels = max.col(allowed, ties.method = "first"), k = as.integer(k), owner = owner))
  }
  resp <- allowed / rowSums(allowed)
  list(resp = cbind(resp, matrix(0, data$n, k - ncol(resp))), owner = owner)
}

# Tries another start and returns its fit if it ends clearly higher than `result`. The trial begins with one
# cluster for each class, made of its labelled rows alone, and with the clusters of no class at the end of
# `result`. Reason: `result` itself began with one cluster of no class for all other rows. Such a start finds
# classes without any label, but the cluster may take rows of two classes before the fit knows where these
# are: of 30 labelled irises `result` ended 8 nats lower. Differences of the bound below 0.1 (a guess) do not
# count, since they only show when the last pass over the data was.
better_with_classes_alone <- function(result, data, model, asked, run) {
  alone <- data
  alone$weights <- (data$weights %||% rep(1, data$n)) * (data$classes > 0L)
  once <- utils::modifyList(asked, list(algorithm = "memoized", batches = 1L, max_laps = 1L, restarts = 1L))
  once$batch_of <- NULL
  once$moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  classes <- run(model, once, data = alone, report = NULL)$state
  own <- classes$owner > 0L
  found <- result$state$owner == 0L & result$sizes >= 1
  state <- classes
  state$obs <- rbind(classes$obs[own, , drop = FALSE], result$state$obs[found, , drop = FALSE])
  state$extra <- matrix(0, nrow(state$obs), 0L)
  state$owner <- c(classes$owner[own], integer(sum(found)))
  state$named <- c(classes$named[own], result$state$named[found])
  if (has_covariates(model$prior)) state$u <- numeric() # found anew
  state$k <- nrow(state$obs)
  state <- with_each_name(state, length(model$obs$keywords))
  if (state$k > (model$prior$k %||% Inf)) {
    return(result)
  }
  state <- add_empty_clusters(state, model$prior$k %||% state$k)
  second <- run(model, start = list(state = state))
  if (isTRUE(second$elbo > result$elbo + 0.1)) second else result
}

# Gives each of n names (of lists of keywords) to one cluster, where clusters come from two fits: the first
# cluster that has a name keeps it, and a name that no cluster has goes to an empty cluster of no class.
with_each_name <- function(state, n) {
  if (n == 0L) {
    return(state)
  }
  state$named[duplicated(state$named)] <- 0L
  left <- setdiff(seq_len(n), state$named)
  state <- add_empty_clusters(state, state$k + length(left))
  state$named[state$k - length(left) + seq_along(left)] <- left
  state
}

start_with_owners <- function(start, fit, data, call) {
  if (!identical(fit$input$class_names, data$class_names)) {
    abort("start", c(
      "{.arg start} must be a fit with the same classes of {.arg labels}.",
      i = "Leave {.arg start} out, or use {.code start = fitted(fit)} to take only its clusters."
    ), call = call)
  }
  start
}

# The classes of the clusters of a start that the user gave: that of the rows of one class in it, and else one that all
# its labelled rows may have, preferably one that no cluster has yet; none without labelled rows. Sequences of classes
# with open states have one more state if no state of `start` is open.
own_start_clusters <- function(start, data, call, unit = "Row", most = Inf) {
  k <- start$k %||% ncol(start$resp)
  known <- which(data$classes > 0L)
  sets <- data$class_sets[data$classes[known], , drop = FALSE]
  single <- rowSums(sets) == 1
  within <- if (is.null(start$resp)) outer(start$labels, seq_len(k), `==`) else start$resp > 0
  begun <- within[known, , drop = FALSE]
  of_class <- crossprod(begun[single, , drop = FALSE], sets[single, , drop = FALSE]) > 0 # k x classes
  open <- match(no_class, data$class_names, 0L)
  owner <- ifelse(rowSums(of_class) > 0, max.col(1L * of_class, ties.method = "first"), open)
  may <- crossprod(begun, !sets) == 0
  for (j in which(rowSums(of_class) == 0 & colSums(begun) > 0)) {
    classes <- setdiff(which(may[j, ]), open)
    owner[j] <- c(setdiff(classes, owner), classes, intersect(which(may[j, ]), open), 0L)[1L]
  }
  if (open > 0L && k < most && !open %in% owner) {
    owner <- c(owner, open)
    within <- cbind(within, FALSE)
    if (is.null(start$resp)) start$k <- k + 1L else start$resp <- cbind(start$resp, 0)
  }
  wrong <- which(rowSums(within & !allowed_clusters(data, owner)) > 0)
  lacking <- setdiff(seq_along(data$class_names), owner)
  if (length(wrong) || length(lacking)) {
    abort("start", c(
      "{.arg start} contradicts {.arg labels}.",
      x = if (length(wrong)) "{unit} {places(wrong)} is in a cluster of another class.",
      x = if (!length(wrong)) "No cluster has rows of class {.val {data$class_names[lacking]}} alone.",
      i = "A cluster of {.arg start} may have rows of one class and unlabelled ones. Leave {.arg start} out to begin
           with the labels."
    ), call = call)
  }
  start$owner <- owner
  start
}

# The classes of the labels of a fit. The next function, owners_of_clusters(), returns for each cluster the
# number of the class to which it belongs, 0 for none.
classes_of_labels <- function(fit) setdiff(fit$input$class_names, no_class)
owners_of_clusters <- function(fit) {
  owner <- fit$state$owner[fit$numbering]
  replace(owner, owner > length(classes_of_labels(fit)), 0L)
}

# The class to which each cluster of a fit belongs, NA for none; NULL where no row had a label.
cluster_classes <- function(fit) {
  if (!is.null(fit$state$owner)) c(NA, classes_of_labels(fit))[owners_of_clusters(fit) + 1L]
}

# The classes of labels and the names by keywords of a fit, and which of them each cluster has: list(classes,
# of), with 0 for none in `of`, clusters in the user's numbering. NULL where there are none.
labelled_clusters <- function(fit) {
  owner <- if (!is.null(fit$state$owner)) owners_of_clusters(fit)
  names <- names_of_clusters(fit)
  if (is.null(owner) && is.null(names)) {
    return(NULL)
  }
  classes <- union(classes_of_labels(fit), names(fit$model$obs$keywords))
  by_name <- match(names %||% NA, classes, 0L)
  list(classes = classes, of = if (is.null(owner)) by_name else ifelse(owner > 0L, owner, by_name))
}

need_labels <- function(fit, type, call = rlang::caller_env()) {
  if (is.null(labelled_clusters(fit))) {
    abort("labels", c(
      "{.code type = {.str {type}}} is for fits with known {.arg labels} or with {.arg keywords}.",
      i = "{.code type = \"class\"} gives clusters."
    ), call = call)
  }
}

# Probabilities of classes, from probabilities of clusters; clusters of no class, if any, share the last
# column.
class_probabilities <- function(fit, prob) {
  if (labels_by_keywords(fit)) {
    return(list_probabilities(fit, prob))
  }
  clusters <- labelled_clusters(fit)
  classes <- clusters$classes
  owner <- clusters$of
  columns <- c(seq_along(classes), if (any(owner == 0L)) 0L)
  out <- vapply(columns, function(class) rowSums(prob[, owner == class, drop = FALSE]), double(nrow(prob)))
  matrix(out, nrow(prob), dimnames = list(rownames(prob), c(classes, no_class)[seq_along(columns)]))
}

# The most probable class of each row; NA where no class is more probable than the clusters without a class.
most_probable_class <- function(fit, prob) {
  classes <- labelled_clusters(fit)$classes
  class <- most_probable(class_probabilities(fit, prob))
  stats::setNames(factor(classes[class], classes), rownames(prob))
}

# Adds to training data the weights and labels with which they were fitted; other data are returned as they
# are.
with_known <- function(data, fit) {
  known <- if (identical(data$individual, fit$input$individual)) as_trained(data, fit)
  known %||% data
}

# Adds the weights and labels of the training data to data with the same rows and values; NULL for other data.
as_trained <- function(data, fit) {
  if (!identical(as.integer(data$n), as.integer(fit$input$n))) {
    return(NULL)
  }
  for (field in c("weights", "classes", "class_sets", "class_names")) data[[field]] <- fit$input[[field]]
  data$group_values <- fit$input$document_response$values
  if (identical(fingerprint_of(data), fit$input$fingerprint)) data
}

# The line of print() about labels: "Labels: 30 rows of 3 classes; clusters of each: setosa 1, versicolor 1, virginica
# 2; of no class 1"
described_labels <- function(fit) {
  owner <- cluster_classes(fit)
  if (is.null(owner)) {
    return(NULL)
  }
  each <- table(factor(owner, classes_of_labels(fit)))
  none <- sum(is.na(owner))
  strwrap(paste0(
    "Labels: ", count_of(sum(fit$input$classes > 0L), if (verb_of(fit) == "bnp_network") "node" else "row"), " of ",
    count_of(length(each), "class", "es"), "; ", plural_of(cluster_word(fit)), " of each: ",
    places(paste(names(each), each), 12L), if (none > 0) paste0("; of no class ", none)
  ), exdent = 2)
}
