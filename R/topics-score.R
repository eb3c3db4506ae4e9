# The held-out likelihood of documents of counts, under a fit of topics.

#' @rdname predict.bnp_topics
#' @export
heldout_loglik.bnp_topics <- function(fit, newdata, type = c("completion", "sequential", "plugin"),
                                      split = c("token", "type"), seen = 0.5,
                                      inference = c("collapsed", "variational", "predictive"), draws = 100L,
                                      seed = NULL, per_document = FALSE, id = NULL, ...,
                                      na_action = NULL, covariates = NULL) {
  check_no_dots(...)
  check_format(fit)
  na_action <- action_of_fit(fit, na_action)
  need_data(missing(newdata), "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  check_flag(per_document, "per_document")
  type <- check_choice(type, c("completion", "sequential", "plugin"), "type")
  given <- c(split = !missing(split), seen = !missing(seen), inference = !missing(inference), draws = !missing(draws))
  check_of_type(type, names(given)[given])
  split <- check_choice(split, c("token", "type"), "split")
  inference <- check_choice(inference, c("collapsed", "variational", "predictive"), "inference")
  draws <- check_count(draws, "draws")
  check_memory(8 * draws, "{.arg draws}: their probabilities", "Some hundreds are enough.", rlang::current_env())
  seen <- check_number(seen, "seen")
  if (seen >= 1) {
    abort("argument", "{.arg seen} must be below 1, not {seen}.")
  }
  check_able(fit, "heldout_loglik")
  if (inference == "predictive" && !is.null(names_of_clusters(fit))) {
    abort("argument", c(
      "{.code inference = \"predictive\"} is not available for topics with {.arg keywords}.",
      x = no_named_posterior[1L], i = "{.code inference = \"collapsed\"} takes the terms of topics at their means."
    ))
  }
  if (!is.null(covariates)) only_with_covariates(fit, rlang::current_env())
  table <- if (inherits(newdata, "bnp_source")) {
    require_no_covariates(fit$model$prior, c("source", kinds_of(fit)), rlang::current_env())
    with_seed(seed, do.call(rbind, over_source(fit, newdata, id, function(x, id) {
      tokens_by_document(fit, x, id, na_action, type, split, seen, inference, draws, NULL, NULL)
    })))
  } else {
    tokens_by_document(fit, newdata, id, na_action, type, split, seen, inference, draws, seed, covariates)
  }
  if (per_document) {
    return(table)
  }
  if (!sum(table$tokens)) {
    abort("no_tokens", if (type == "completion") {
      c("No token of {.arg newdata} is held out.", i = "Give more or longer documents, or a smaller {.arg seen}.")
    } else {
      "{.arg newdata} has no tokens."
    })
  }
  sum(table$loglik) / sum(table$tokens)
}

tokens_by_document <- function(fit, newdata, id, na_action, type, split, seen, inference, draws, seed, covariates,
                               call = rlang::caller_env()) {
  data <- new_documents(fit, newdata, id, call, na_action = na_action, covariates = covariates)
  if (type == "completion") {
    return(completed_documents(fit, data, split, seen, inference, seed))
  }
  whole_documents(fit, data, type == "sequential", draws, seed, call)
}

# Refuses arguments that have no effect for this type of held-out likelihood.
check_of_type <- function(type, given, call = rlang::caller_env()) {
  unused <- intersect(given, if (type == "completion") "draws" else c("split", "seen", "inference"))
  if (length(unused)) {
    uses <- if (type == "completion") c("sequential", "plugin") else "completion"
    abort("argument", c(
      "{.arg {unused}} {?has/have} no meaning with {.code type = \"{type}\"}: leave
       {cli::qty(unused)}{?it/them} out.",
      i = "{cli::qty(unused)}{?It is/They are} for {.or {.val {uses}}}."
    ), call = call)
  }
}

numbered_documents <- function(data) data$group_names %||% seq_len(data$n)

by_document <- function(data, tokens, loglik) {
  data.frame(document = numbered_documents(data), tokens = as.double(tokens), loglik = as.double(loglik))
}

# Log probabilities of held-out tokens of documents, given the documents' other tokens.
completed_documents <- function(fit, data, split, seen, inference, seed) {
  halves <- with_seed(seed, complete_split(data, split, seen))
  entry <- halves$held
  prob <- numeric(length(entry$n))
  by_document_pattern(fit, data, function(fit, documents) {
    own <- entry$document %in% documents
    held <- lapply(entry, `[`, own)
    held$document <- match(held$document, documents)
    seen <- if (length(documents) < data$n) data_groups(halves$seen, documents) else halves$seen
    prob[own] <<- completion_probability(fit, list(seen = seen, held = held), inference)
  })
  loglik <- entry$n * log(prob)
  by <- factor(entry$document, seq_len(data$n))
  by_document(data, tapply(entry$n, by, sum, default = 0), tapply(loglik, by, sum, default = 0))
}

# The log probability of each document of `data`, estimated for all of its tokens together: no token is used
# to learn the document's proportions of topics.
whole_documents <- function(fit, data, rest, draws, seed, call = rlang::caller_env()) {
  seed <- check_seed(seed, call) %||% draw_seed()
  tokens <- document_lengths(data, fit$model$obs)
  long <- numbered_documents(data)[tokens > most_tokens]
  if (length(long)) {
    abort("range", c(
      "{.arg newdata} has documents of more than {most_tokens} tokens: {places(long)}.",
      i = "{.code type = \"completion\"} draws no tokens and takes documents of any length."
    ), call = call)
  }
  loglik <- numeric(data$n)
  by_document_pattern(fit, data, function(fit, documents) {
    known <- known_topics(fit, rest)
    phi <- known$concentration / rowSums(known$concentration)
    own <- if (length(documents) < data$n) data_groups(data, documents) else data
    if (own$n) {
      loglik[documents] <<- engine_sequential_estimates(
        as_engine_data(own), phi, known$weight, draws, seed, fit$control$threads
      )
    }
  })
  by_document(data, tokens, loglik)
}

# The topics of a fit for prediction: posterior Dirichlet parameters of each topic (topics x terms), and the
# topics' weights in every document. With `rest`, fits without a fixed number of topics (HDP) have one more
# topic, last, which stands for all topics not found yet and has the parameters of the prior.
known_topics <- function(fit, rest = TRUE) {
  concentration <- posterior_params(fit)$concentration
  weight <- document_weight(fit)
  topics <- seq_len(nrow(concentration))
  if (rest && weight[length(weight)] > 0) {
    return(list(concentration = rbind(concentration, fit$model$obs$term_prior), weight = weight))
  }
  list(concentration = concentration, weight = weight[topics])
}

# The expected probability E[p(term)] of the term of each held-out entry.
completion_probability <- function(fit, halves, inference) {
  known <- known_topics(fit)
  concentration <- known$concentration
  weight <- known$weight
  entry <- halves$held
  seen <- as_engine_data(halves$seen)
  if (!length(entry$n)) {
    return(numeric())
  }
  if (inference == "predictive") {
    held <- seen
    held$row_start <- c(0L, cumsum(tabulate(entry$document, seen$n)))
    held$column <- entry$term - 1L
    held$value <- entry$n
    return(engine_predictive_probabilities(seen, held, concentration, weight, fit$control$threads))
  }
  phi <- concentration / rowSums(concentration)
  theta <- if (inference == "collapsed") {
    engine_collapsed_proportions(seen, phi, weight, fit$control$threads)
  } else {
    counts <- document_counts(fit, halves$seen)
    theta <- cbind(counts, if (length(weight) > ncol(counts)) 0) + rep(weight, each = nrow(counts))
    theta / rowSums(theta)
  }
  prob <- numeric(length(entry$n))
  for (at in split_blocks(length(prob))) {
    prob[at] <- rowSums(theta[entry$document[at], , drop = FALSE] * t(phi[, entry$term[at], drop = FALSE]))
  }
  prob
}

split_blocks <- function(n, size = 20000L) {
  split(seq_len(n), (seq_len(n) - 1L) %/% size)
}

# Divides the tokens of documents: the seen ones, as documents, and the held-out ones, as (document, term, n).
complete_split <- function(data, split, seen) {
  document <- rep(seq_len(data$n), diff(data$row_start))
  n <- data$value
  kept <- if (split == "token") {
    expected <- seen * n
    floor(expected) + (stats::runif(length(n)) < expected - floor(expected))
  } else {
    order <- order(document, stats::runif(length(n)))
    rank <- integer(length(n))
    rank[order] <- seq_along(n) - data$row_start[document[order]]
    ifelse(rank <= round(seen * diff(data$row_start)[document]), n, 0)
  }
  part <- data
  used <- kept > 0
  part$row_start <- c(0L, cumsum(tabulate(document[used], data$n)))
  part$column <- data$column[used]
  part$value <- kept[used]
  held <- n > kept
  list(
    seen = part,
    held = list(document = document[held], term = data$column[held] + 1L, n = (n - kept)[held])
  )
}
