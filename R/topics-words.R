# Describes topics by a few words that distinguish them from other topics.

#' Short names of topics
#'
#' For each topic a short name for tables and pictures, made of the terms that distinguish it from the others.
#'
#' @param fit As in [top_terms()].
#' @param n Number of terms in a name.
#' @param weight The weight of a term's exclusivity relative to its frequency in the topic, between 0 and 1; see
#'   `"frex"` of [top_terms()].
#' @param sep Text between the terms of a name.
#' @return A character vector with a name for each topic in use; its names are the numbers of the topics
#'   ([cluster_ids()]). A topic that already has a name (`keywords` of [obs_multinomial()]) keeps it.
#' @seealso [top_terms()]; the printed fit shows the same words.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' topic_labels(fit)[1:3]
#' @export
topic_labels <- function(fit, n = 3L, weight = 0.3, sep = ", ") {
  check_able(fit, "topic_labels")
  if (!is.character(sep) || length(sep) != 1L || is.na(sep)) {
    abort("argument", "{.arg sep} must be one text, not {describe(sep)}.")
  }
  words <- distinctive_terms(fit, n, weight, sep)
  own <- names_of_clusters(fit)[in_use(fit)]
  words[!is.na(own)] <- own[!is.na(own)]
  words
}

# A short text for each topic in use, of terms that are both frequent in the topic and exclusive to it.
distinctive_terms <- function(fit, n, weight = 0.3, sep = ", ") {
  terms <- top_terms(fit, n, "frex", weight)
  used <- in_use(fit)
  words <- vapply(split(terms$term, factor(terms$topic, used)), paste, "", collapse = sep)
  stats::setNames(words, cluster_ids(fit)[used])
}

described_clusters.bnp_topics <- function(fit) {
  if (obs_facts(fit$model$obs)$counts_tokens) {
    return(c(described_by_words(fit, "tokens"), advice_for_one_topic(fit)))
  }
  NextMethod()
}

# What to do where the number of topics was learned, and only one was found.
advice_for_one_topic <- function(fit) {
  lengths <- fit$input$lengths
  if (length(in_use(fit)) == 1L && is.null(fit$model$prior$k) && length(lengths) > 1L) c(
    paste0(
      "More topics do not raise the ELBO; half of the documents have at most ", label_text(stats::median(lengths)),
      " tokens."
    ),
    "A few topics can still be of use: see the section on short documents in ?bnp_topics."
  )
}

# One line for each of the largest topics: its share of the tokens (or rows), and the words that distinguish
# it.
described_by_words <- function(fit, units, most = 12L) {
  used <- in_use(fit)
  shown <- utils::head(used, most)
  size <- cluster_sizes(fit)
  share <- 100 * size[shown] / sum(size)
  words <- utils::head(distinctive_terms(fit, 5L), most)
  own <- names_of_clusters(fit)[shown]
  ids <- names(words)
  words[!is.na(own)] <- paste0(own, ": ", words)[!is.na(own)]
  share <- paste(ifelse(share < 0.5, "<1", sprintf("%.0f", share)), "%")
  lines <- paste0("  ", format(ids, justify = "right"), "  ", format(share, justify = "right"), "  ", words)
  more <- length(used) - length(shown)
  c(
    paste0("Share of the ", units, ", and words that tell each ", cluster_word(fit), " apart:"), one_line(lines),
    if (more) paste0("  ... ", more, " more: see topic_labels(fit)")
  )
}

# Texts cut off at the width of the screen.
one_line <- function(text, width = getOption("width")) {
  ifelse(nchar(text, "width") <= width, text, paste0(strtrim(text, width - 3L), "..."))
}
