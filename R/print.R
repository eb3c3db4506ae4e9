#' @export
print.bnp_fit <- function(x, ...) {
  check_format(x)
  cat(format_head(x), described_clusters(x), sep = "\n")
  for (line in described_keywords(x)) cat(strwrap(line, exdent = 2), sep = "\n")
  if (!is.null(x$cut)) cat(format_cut(x), sep = "\n")
  for (line in c(described_advice(x), described_better(x), described_kept(x))) {
    cat(strwrap(line, exdent = 2), sep = "\n")
  }
  invisible(x)
}

#' @rdname read_fit
#' @export
summary.bnp_fit <- function(object, data = NULL, id = NULL, ...) {
  check_no_dots(...)
  check_format(object)
  read_arguments(rlang::enquos(id = id), data, "data")
  diagonal <- if (!is.null(data)) diagonal_instead(object, data, id, rlang::current_env())
  structure(c(list(fit = object), if (!is.null(data)) list(diagonal = diagonal)), class = "summary.bnp_fit")
}

#' @export
print.summary.bnp_fit <- function(x, ...) {
  fit <- x$fit
  cat(format_head(fit), if (!is.null(fit$cut)) format_cut(fit), sep = "\n")
  wrap <- function(...) {
    lines <- strwrap(paste0(...), exdent = 2)
    if (length(lines) > 3L) lines <- c(lines[1:2], paste0(substr(lines[3], 1, 72), " ..."))
    cat(lines, sep = "\n")
  }
  if (!is_stream_fit(fit)) wrap("ELBO terms: ", described_terms(fit))
  wrap("Observed: ", format(fit$model$obs))
  wrap("Prior: ", format(fit$model$prior))
  for (line in described_learning(fit)) wrap(line)
  for (line in described_keywords(fit)) wrap(line)
  if (!is.null(x$diagonal)) wrap(described_diagonal(x$diagonal))
  if (!is.null(fit$compared)) wrap("Fitted: ", described_comparison(fit$compared))
  if (!is.null(fit$restarts)) {
    ends <- fit$restarts[order(-fit$restarts$elbo), ]
    wrap(
      "Restarts (ELBO, ", plural_of(cluster_word(fit)), "): ",
      paste0(format(ends$elbo, digits = 8, trim = TRUE), " (", ends$k, ")", ifelse(ends$given_up, " given up", ""),
        collapse = ", ")
    )
  }
  if (obs_can(fit$model$obs, "read") && n_clusters(fit) > 1L) {
    wrap("Columns by what they tell (nats): ", described_information(fit))
  }
  avoiding <- avoiding_communities(fit)
  if (length(avoiding)) wrap("Fewer links within than between communities: ", places(avoiding))
  shown <- seq_len(min(6L, fit$state$k))
  cat("Largest ", plural_of(cluster_word(fit)), ":\n", sep = "")
  print(format(as.data.frame(fit)[shown, seq_len(min(6L, ncol(as.data.frame(fit))))], digits = 4), row.names = FALSE)
  invisible(x)
}

# The line of print() with the sizes of clusters: "Sizes: 155 123 63 1".
described_clusters.default <- function(fit) {
  used <- in_use(fit)
  sizes <- round(cluster_sizes(fit)[utils::head(used, 12L)])
  more <- if (length(used) > 12L) paste0(" ... (", length(used), " in all)")
  strwrap(paste0("Sizes: ", paste(sizes, collapse = " "), more), exdent = 2)
}

# Advice that print() gives where the number of clusters may surprise the user.
described_advice <- function(fit) {
  k <- n_clusters(fit)
  joins <- is.null(refusal(kinds_of(fit), "cluster_tree"))
  c(
    if (k == 1L && is.null(fit$model$prior$k) && is_searched(fit)) paste0(
      "One ", cluster_word(fit), ": no division raised the ELBO; what to look at: vignette(\"how-many-clusters\")"
    ),
    if (k > 20L && joins) {
      paste0("Fewer ", plural_of(cluster_word(fit)), ": coarsen(fit, k), vignette(\"how-many-clusters\")")
    }
  )
}

# Whether the fit proposed new clusters (births).
is_searched <- function(fit) isTRUE(fit$control$moves$birth) && fit$control$algorithm != "stochastic" && nobs(fit) > 1L

described_terms <- function(fit) {
  terms <- elbo(fit, terms = TRUE)
  paste(names(terms), "=", format(terms, digits = 6, trim = TRUE), collapse = ", ")
}

described_learning <- function(fit) {
  control <- fit$control
  seed <- paste(", seed", format(control$seed, digits = 16))
  if (is_stream_fit(fit)) {
    return(paste0(
      "Learning: truncation free, ", count_of(control$sweeps, "sweep"), " a batch, at most ",
      count_of(control$k_max, "cluster"), seed
    ))
  }
  trace <- elbo_trace(fit)
  c(
    if (!is.null(fit$input$sampled)) {
      paste0("Defaults of priors: from a random sample of ", count_of(fit$input$sampled, "row, document or sequence"))
    },
    paste0(
      "Learning: ", control$algorithm, ", ", count_of(control$batches, "batch", "es"),
      if (isTRUE(control$wave > 1L)) paste(" in waves of", control$wave), ", started with ",
      control$k_init, seed, "; moves: ", format(control$moves)
    ),
    paste0(
      "Accepted: ", count_of(sum(trace$births), "birth"), ", ", count_of(sum(trace$merges), "merge"), ", ",
      count_of(sum(trace$deletes), "delete")
    )
  )
}

# A number with its noun: "1 birth", "2 births", "3 communities".
count_of <- function(n, word, plural = "s") {
  number <- format(n, digits = 15, scientific = FALSE)
  paste(number, if (n == 1) word else if (plural == "s") plural_of(word) else paste0(word, plural))
}

plural_of <- function(word) paste0(sub("y$", "ie", word), "s")

reasons <- c(
  elbo = "as the ELBO rises no more", counts = "as no cluster's size changes any more",
  max_laps = "as max_laps was reached", numerical = "as numbers broke down", interrupted = "as it was stopped",
  joined = "as clusters were joined and not polished"
)
fit_titles <- c(
  bnp_mixture = "mixture", bnp_topics = "topic model", bnp_hmm = "hidden Markov model", bnp_network = "network"
)
cluster_words <- c(
  bnp_mixture = "cluster", bnp_topics = "topic", bnp_hmm = "state", bnp_network = "community",
  bnp_features = "feature"
)

cluster_word <- function(fit) cluster_words[[verb_of(fit)]]

format_head <- function(fit) {
  k <- n_clusters(fit)
  empty <- fit$state$k - k
  learned <- learned_prior(fit)
  c(
    paste0(
      prior_entry(fit$model$prior)$title, " ", fit_titles[[verb_of(fit)]], " (", obs_facts(fit$model$obs)$title,
      if (is_corrected(fit$model$obs)) ", degree-corrected", ")"
    ),
    paste0(
      count_of(k, cluster_word(fit)), " in use", if (empty > 0) paste0(" (and ", empty, " empty)"), ", ",
      described_data(fit)
    ),
    if (is_stream_fit(fit)) described_stream(fit) else described_bound(fit),
    described_starts(fit),
    described_concentrations(learned_concentrations(fit)),
    if (length(learned)) paste("Learned prior:", format_fields(learned, names(learned))),
    described_blocks(fit$model$obs),
    described_rounding(fit),
    described_choice(fit),
    described_labels(fit),
    described_covariates(fit),
    described_response(fit),
    described_fractions(fit),
    described_changes(fit),
    described_forgetting(fit)
  )
}

described_bound <- function(fit) {
  bound <- paste("ELBO", format(fit$elbo, digits = 8))
  if (fit$reason == "joined") {
    return(paste0(bound, ", ", reasons[["joined"]]))
  }
  paste0(
    bound, " after ", count_of(fit$laps, "lap"), if (fit$reason == "max_laps" && !is.null(fit$cut)) {
      ", the most that laps allows"
    } else paste0(": ", if (fit$converged) "converged, " else "not converged, ", reasons[[fit$reason]])
  )
}

# The parameters of the observation model's prior that were learned and are single numbers, by name; none
# where the prior was given.
learned_prior <- function(fit) {
  of_model <- function(obs) {
    unclass(obs)[intersect(obs_learned(obs)$numbers, names(obs))]
  }
  blocks <- fit$model$obs$blocks
  if (is.null(blocks)) {
    return(of_model(fit$model$obs))
  }
  do.call(c, unname(Map(function(block, name) {
    own <- of_model(block)
    stats::setNames(own, in_block(name, names(own)))
  }, blocks, names(blocks))))
}

# The learned concentrations of a prior in words: "Gamma 3.1 (90 % interval 1.2 to 5.5), alpha 0.7".
described_concentrations <- function(learned) {
  if (!length(learned)) {
    return(NULL)
  }
  each <- vapply(learned, function(x) {
    x <- signif(x, 3)
    if (length(x) == 1L) format(x) else paste0(x[["mean"]], " (90 % interval ", x[["lower"]], " to ", x[["upper"]], ")")
  }, "")
  line <- paste(names(learned), each, collapse = ", ")
  paste0(toupper(substr(line, 1L, 1L)), substring(line, 2L))
}

# For a product of observation models (obs_product()), which columns each of its blocks has, in words.
described_blocks <- function(obs) {
  columns <- vapply(obs$blocks, shown_columns, "", 8L)
  named <- paste0(names(columns), " (", columns, ")", collapse = ", ")
  if (length(columns)) strwrap(paste0("Blocks: ", named), exdent = 2)
}

# The spacing to which the values of each rounded column are rounded, in words.
described_rounding <- function(fit) {
  of_model <- function(obs, columns) {
    at <- which(obs$rounding > 0)
    if (length(at)) paste(columns[at], vapply(signif(obs$rounding[at], 3), format, ""))
  }
  obs <- fit$model$obs
  said <- if (is.null(obs$blocks)) of_model(obs, column_labels(fit)) else
    unlist(lapply(obs$blocks, function(block) of_model(block, block$columns)))
  if (length(said)) strwrap(paste0("Rounded values, one cell: ", places(said)), exdent = 2)
}

# In words, the columns of a block (one of the observation models of obs_product()), or the formula that names
# them.
shown_columns <- function(block, ...) {
  if (is.null(block$formula)) places(block$columns, ...) else paste(deparse(block$formula), collapse = " ")
}

# The number of columns of the data that the user gave; the internal form of products may have a different
# number.
n_columns <- function(fit) if (is.null(fit$model$obs$blocks)) fit$input$d else length(fit$model$obs$columns)

described_data.default <- function(fit) {
  gaps <- fit$input$n_missing
  paste0(
    described_rows(fit), " of ", count_of(n_columns(fit), "column"),
    if (!is.null(fit$input$slot)) paste0(" at ", count_of(length(fit$model$obs$times), "time")),
    if (has_trees(fit$input)) paste0(" in ", count_of(length(fit$input$starts) - 1L, "tree")),
    if (!is.null(positions_of(fit))) paste0(", transitions by ", count_of(length(positions_of(fit)), "position")),
    if (!is.null(gaps)) paste0(", ", count_of(gaps, "value"), " missing")
  )
}

#' @export
as.data.frame.bnp_fit <- function(x, row.names = NULL, optional = FALSE, ...) {
  means <- mean_arrays(x)
  k <- x$state$k
  out <- cluster_table(x, "cluster", means)
  locations <- cluster_locations(x, means)
  if (is.null(locations)) out else cbind(out, as.data.frame(locations, row.names = seq_len(k)))
}

# A table with number, size and weights of each cluster. Where they differ, the share of the data comes before
# the weight at the top level (which all groups share).
cluster_table <- function(fit, word, means = mean_arrays(fit)) {
  force(means)
  k <- fit$state$k
  out <- data.frame(cluster = seq_len(k), size = unname(cluster_sizes(fit)))
  if (!is.null(means$proportion)) out$proportion <- unname(means$proportion)
  out$weight <- unname(means$weights[seq_len(k)])
  out$class <- cluster_classes(fit)
  stats::setNames(out, c(word, names(out)[-1L]))
}

# Where each cluster is: an array of coef(), clusters x columns (or levels); NULL where the observation model
# has no such array.
cluster_locations <- function(fit, means = mean_arrays(fit)) {
  do.call(cbind, lapply(obs_facts(fit$model$obs)$location, function(name) {
    `colnames<-`(means[[name]], colnames(means[[name]]) %||% location_labels(fit, name))
  }))
}

# Labels for the second axis (columns, levels, ...) of the array that says where clusters are.
location_labels <- function(fit, location) {
  obs <- fit$model$obs
  columns <- column_labels(fit)
  obs_axes(obs, columns)[[obs_facts(obs)$arrays[[location]][2]]]
}

default_names <- function(d) if (d == 1L) "x" else paste0("x", seq_len(d))
