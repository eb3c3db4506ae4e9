# Keywords: lists of words by which topics of documents, or clusters of texts, are named before they are
# learned.

has_keywords <- function(obs) !is.null(obs$keywords)

# The fields of an observation model that hold its keywords; list() without any.
keyword_fields <- function(keywords, share, call = rlang::caller_env()) {
  if (is.null(keywords)) {
    return(list())
  }
  if (is.null(share)) {
    return(list(keywords = as_keywords(keywords, call)))
  }
  if (!is.numeric(share) || length(share) != 1L || is.na(share) || share >= 1 || share <= 0 ||
        is.infinite(1 / share)) {
    abort("keywords", c(
      "{.arg keyword_share} must be one number between 0 and 1, or NULL, not {describe(share)}.",
      i = "It is the share of a topic's tokens that its keywords are expected to be."
    ), call = call)
  }
  list(keywords = as_keywords(keywords, call), keyword_share = as.double(share))
}

# The keywords as a named list of character vectors. The names of nested lists and dictionaries are joined by
# ".".
as_keywords <- function(keywords, call) {
  if (!is.list(keywords) || is.data.frame(keywords)) {
    abort("keywords", c(
      "{.arg keywords} must be a list of character vectors with names, or a dictionary of {.pkg quanteda}, not
       {describe(keywords)}.",
      i = "As in {.code keywords = list(sport = c(\"game\", \"player*\"))}."
    ), call = call)
  }
  need_list_names(names(keywords), length(keywords), call)
  words <- flat_keywords(keywords, call)
  twice <- unique(names(words)[duplicated(names(words))])
  if (length(twice)) {
    abort("keywords", "{.arg keywords} has the name{?s} {places(twice)} twice.", call = call)
  }
  numbers <- grep("^[0-9]+$", names(words), value = TRUE)
  if (length(numbers)) {
    abort("keywords", c(
      "Names of {.arg keywords} must not be numbers, which are the names of other topics: {places(numbers)}."
    ), call = call)
  }
  words
}

need_list_names <- function(names, n, call) {
  nameless <- if (is.null(names)) seq_len(n) else which(is.na(names) | !nzchar(names))
  if (n == 0L || length(nameless)) {
    abort("keywords", c(
      if (n) "Each list of {.arg keywords} must have a name: {places(nameless)} {?has/have} none." else
        "{.arg keywords} has no lists.",
      i = "As in {.code keywords = list(sport = c(\"game\", \"player*\"))}."
    ), call = call)
  }
}

# Flattens a nested list of words. Words without a name that stand beside named lists, as in dictionaries,
# belong to the list that contains both.
flat_keywords <- function(x, call, prefix = NULL) {
  out <- list()
  for (i in seq_along(x)) {
    name <- paste(c(prefix, names(x)[i]), collapse = ".")
    one <- x[[i]]
    if (is.list(one)) {
      inner <- unclass(one)
      nested <- if (is.null(names(inner))) rep(FALSE, length(inner)) else nzchar(names(inner))
      own <- unlist(inner[!nested], use.names = FALSE)
      if (length(own) || !any(nested)) out <- c(out, named_list(name, words_of_list(own, name, call)))
      out <- c(out, flat_keywords(inner[nested], call, name))
    } else {
      out <- c(out, named_list(name, words_of_list(one, name, call)))
    }
  }
  out
}

named_list <- function(name, value) stats::setNames(list(value), name)

words_of_list <- function(words, name, call) {
  if (is.factor(words)) words <- as.character(words)
  if (!is.character(words) || !length(words) || anyNA(words) || any(!nzchar(words))) {
    abort("keywords", c(
      "List {.val {name}} of {.arg keywords} must be words, not {if (is.character(words) && length(words)) 'missing or
       empty ones' else describe(words)}."
    ), call = call)
  }
  unique(enc2utf8(as.vector(words)))
}

# The observation model with its keywords matched with columns of the data: `keyword`, the numbers of the
# columns, `keyword_list`, for each the number of its list, `expected_share`, for each list the expected share of its
# keywords among the tokens of its topic, and `keyword_class`, for each list the number of the label that is called
# the same, 0 for none. A list and a label that are called the same are about one topic.
with_matched_keywords <- function(obs, data, call) {
  terms <- data$column_names
  if (is.null(terms)) {
    abort("keywords", c(
      "{.arg keywords} need terms with names, the columns of {.arg x}.", i = "Set {.code colnames(x)}."
    ), call = call)
  }
  found <- lapply(obs$keywords, function(words) lapply(words, matched_terms, enc2utf8(terms)))
  strange <- Map(function(words, at) words[lengths(at) == 0L], obs$keywords, found)
  phrases <- unique(grep("[[:space:]]", unlist(strange), value = TRUE))
  if (length(phrases)) {
    abort("keywords", c(
      "{.arg keywords} must be single terms of {.arg x}, not {.val {phrases}}.",
      i = "Make terms of several words when words are counted, as {.code quanteda::tokens_compound()} does."
    ), call = call)
  }
  columns <- lapply(found, function(at) sort(unique(unlist(at))))
  none <- names(columns)[lengths(columns) == 0L]
  if (length(none)) {
    abort("keywords", c(
      "None of the {.arg keywords} for {.val {none}} is a term of {.arg x}.",
      x = "The keywords are {places(obs$keywords[[none[1L]]])}.", i = "Look for typing errors, or leave the list out."
    ), call = call)
  }
  all <- names(columns)[lengths(columns) == length(terms)]
  if (length(all)) {
    abort("keywords", "The {.arg keywords} for {.val {all}} are all the terms of {.arg x}; some terms must remain.",
      call = call)
  }
  tell_of_keywords(unlist(strange), columns, terms)
  obs$keyword <- unlist(columns, use.names = FALSE)
  obs$keyword_list <- rep(seq_along(columns), lengths(columns))
  obs$expected_share <- if (is.null(obs$keyword_share)) expected_shares(columns, data) else
    rep(obs$keyword_share, length(columns))
  obs$keyword_class <- if (!is.null(data$class_names)) match(enc2utf8(names(columns)), data$class_names, 0L)
  obs
}

# For each list the expected share of its keywords in its topic: 0.02 or, if that is more, twice their share in the
# data. A topic is about its keywords only if it uses them more than the data do on average. On vocabularies of a few
# dozen terms, keywords are often a tenth of a topic's tokens; a prior that expects 0.02 would rather give the name to
# a topic without them.
expected_shares <- function(columns, data) {
  tokens <- data$totals %||% column_totals(data) # of all documents of a source
  share <- vapply(columns, function(at) sum(tokens[at]), 0) / max(sum(tokens), 1e-300)
  unname(pmin(pmax(usual_keyword_share, 2 * share), 0.5))
}

usual_keyword_share <- 0.02

# For each row the place in `lists`, numbers of lists, of the list whose keywords occur most often in it; 0 without any.
main_list <- function(data, obs, lists) {
  x <- data_matrix(data)
  counts <- vapply(lists, function(list) {
    as.double(Matrix::rowSums(x[, obs$keyword[obs$keyword_list == list], drop = FALSE], na.rm = TRUE))
  }, double(data$n))
  counts <- matrix(counts, data$n)
  ifelse(rowSums(counts) > 0, max.col(counts, "first"), 0L)
}

# The numbers of the terms that match a word or pattern as written or, if there is none, with both in lower
# case.
matched_terms <- function(word, terms) {
  match_in <- function(word, terms) {
    if (grepl("[*?]", word)) grep(utils::glob2rx(word, trim.head = FALSE), terms) else which(terms == word)
  }
  at <- match_in(word, terms)
  if (length(at)) at else match_in(tolower(word), tolower(terms))
}

tell_of_keywords <- function(strange, columns, terms) {
  at <- unlist(columns, use.names = FALSE)
  shared <- terms[unique(at[duplicated(at)])]
  strange <- unique(strange)
  if (length(strange)) {
    cli::cli_inform(
      "{cli::qty(length(strange))}Keyword{?s} that {?is no term/are no terms} of the data: {places(strange, 12L)}.",
      class = c("bnpvi_message_keywords", "bnpvi_message"), call = NULL
    )
  }
  if (length(shared)) {
    cli::cli_inform(
      "{cli::qty(length(shared))}Keyword{?s} in more than one list: {places(shared, 12L)}.",
      class = c("bnpvi_message_keywords", "bnpvi_message"), call = NULL
    )
  }
}

need_taker_of_keywords <- function(verb, obs, call) {
  of <- kinds_to_fit(verb, obs)
  if (!length(of)) {
    abort("keywords", c(
      "{.arg keywords} of {.fn obs_multinomial} are not for {.fn {verb}}.", i = "Leave {.arg keywords} out."
    ), call = call)
  }
  require_ability(of, "keywords", call)
}

# Refuses a finite prior with fewer clusters than there are lists of keywords.
need_room_for_names <- function(obs, prior, call) {
  if (isTRUE(prior$k < length(obs$keywords))) {
    abort("keywords", c(
      "There are {length(obs$keywords)} lists of {.arg keywords}, and the prior has {prior$k} cluster{?s}.",
      i = "Raise {.arg k}, or choose a prior with any number of clusters."
    ), call = call)
  }
}

# The state of an earlier fit, without the names of its clusters if this model has other keywords, and without
# their classes if the data have no labels.
with_known_of_start <- function(state, before, obs, data) {
  same <- identical(before[c("keywords", "keyword")], obs[c("keywords", "keyword")])
  if (!has_keywords(obs) || !same) state$named <- NULL
  if (is.null(data$classes)) state$owner <- NULL
  state
}

# The name of each cluster (that of its list of keywords) in the user's numbering, NA for clusters without
# one; NULL where no cluster has a name.
names_of_clusters <- function(fit) {
  named <- fit$state$named
  if (!is.null(named)) c(NA, names(fit$model$obs$keywords))[named[fit$numbering] + 1L]
}

# What clusters are called: by their names (topics with keywords, states of chains with known transitions),
# otherwise by their numbers.
cluster_labels <- function(fit) {
  numbers <- fit$model$prior$states %||% as.character(seq_len(fit$state$k))
  names <- names_of_clusters(fit)
  if (is.null(names)) numbers else ifelse(is.na(names), numbers, names)
}

# What topics are called in pictures and tables of terms: by their names, otherwise by their identities, which follow
# `word` if it is given.
topic_captions <- function(fit, topics, word = NULL) {
  ids <- if (is.null(word)) as.character(cluster_ids(fit)[topics]) else paste(word, cluster_ids(fit)[topics])
  names <- names_of_clusters(fit)[topics]
  if (is.null(names)) ids else ifelse(is.na(names), ids, names)
}

# TRUE where a term is a keyword of a topic: topics x terms.
is_keyword <- function(fit) {
  obs <- fit$model$obs
  list <- c(NA, seq_along(obs$keywords))[fit$state$named[fit$numbering] + 1L]
  out <- matrix(FALSE, fit$state$k, fit$input$d)
  for (k in which(!is.na(list))) out[k, obs$keyword[obs$keyword_list == list[k]]] <- TRUE
  out
}

# One line of print() for each list: "sport: 4 of 5 keywords in the data, 1,204 tokens, fits its keywords by
# 12.1 nats". The nats are the log evidence of the topic with keywords minus that without. Where they are
# negative the line says why: the keywords are a larger share of the topic's tokens than expected, or
# else the data do not use these words together.
described_keywords <- function(fit) {
  if (!has_keywords(fit$model$obs)) {
    return(character())
  }
  obs <- fit$model$obs
  gain <- engine_gains_of_names(fit$model, fit$state)
  counts <- fit$state$obs[match(seq_along(gain), fit$state$named), -1L, drop = FALSE]
  tokens <- rowSums(counts)
  terms <- enc2utf8(fit$input$column_names)
  vapply(seq_along(gain), function(s) {
    words <- obs$keywords[[s]]
    there <- sum(vapply(words, function(word) length(matched_terms(word, terms)) > 0L, NA))
    share <- sum(counts[s, obs$keyword[obs$keyword_list == s]]) / max(tokens[s], 1e-300)
    paste0(
      names(obs$keywords)[s], ": ", there, " of ", count_of(length(words), "keyword"), " in the data, ",
      format(round(tokens[s]), big.mark = ","), " tokens, ",
      if (gain[s] >= 0) paste0("fits its keywords by ", format(signif(gain[s], 3)), " nats") else paste0(
        "does not fit its keywords (", format(signif(gain[s], 3)), " nats): ",
        if (share > obs$expected_share[s]) paste0("they are ", format(100 * share, digits = 2), " % of its tokens") else
          "the data do not use them together"
      )
    )
  }, "")
}
