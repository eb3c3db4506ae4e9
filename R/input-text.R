# Refuses objects that are not data yet (sources, file names, corpora, uncounted texts), and names the function that
# reads each.

# Refuses objects that are not data yet, such as sources and file names, and names the function that reads
# them. x: the object that was given as data.
refuse_files <- function(x, arg, call) {
  if (inherits(x, c("bnp_source", "bnp_stream"))) {
    abort("argument", c(
      "{.arg {arg}} must be data here, not a source.", i = "Read it into memory, or give one piece after the other."
    ), call = call)
  }
  endings <- unique(c(names(file_readers), "csv", "tsv", "txt", "rds", "xlsx", "gz"))
  kinds <- paste0("[.](", paste(endings, collapse = "|"), ")$")
  text <- if (is.character(x) && is.null(dim(x)) && length(x)) unclass(x)
  if (is.null(text) || anyNA(text) || !all(grepl(kinds, text, ignore.case = TRUE) | file.exists(text))) {
    return(invisible())
  }
  abort("file", c(
    "{.arg {arg}} must be data, not the name of {cli::qty(length(text))}{?a file/files}.",
    i = "{.code source_files({dQuote(text[1L], FALSE)})} reads it piece by piece; smaller tables are read into memory
         first, as by {.fn read.csv}."
  ), call = call)
}

# Refuses a data frame of one column that looks like a file that was read with the wrong separator.
refuse_unseparated <- function(x, arg, call) {
  if (!is.data.frame(x) || ncol(x) != 1L) {
    return(invisible())
  }
  v <- x[[1L]]
  text <- c(names(x), utils::head(if (is.factor(v)) levels(v) else if (is.character(v)) v[!is.na(v)], 100L))
  readers <- c(`;` = "read.csv2", "\t" = "read.delim")
  for (separator in names(readers)) {
    with <- grepl(separator, text, fixed = TRUE)
    if (with[1L] || length(with) > 1L && all(with[-1L])) {
      reader <- readers[[separator]]
      shown <- if (separator == ";") ";" else "\\t"
      abort("separator", c(
        "{.arg {arg}} has one column, {.val {names(x)}}, with {.code {shown}} in its name or values: is that what
         separates the columns of a file?",
        i = "Read the file by {.fn {reader}}; a source by {.code source_files(paths, read = {reader})}."
      ), call = call)
    }
  }
}

# Refuses texts that have not been counted yet, such as corpora and tokens, and names the function that counts
# them.
refuse_corpora <- function(x, arg, call) {
  say <- function(what, remedy) {
    abort("not_numeric", c(
      paste0("{.arg {arg}} must hold counts of terms, not ", what, "."), i = paste("Count the words first:", remedy)
    ), call = call)
  }
  if (inherits(x, c("tokens", "tokens_xptr"))) say("tokens", "{.code quanteda::dfm({arg})}.")
  if (inherits(x, "corpus")) say("a corpus", "{.code quanteda::dfm(quanteda::tokens({arg}))}.")
  if (inherits(x, "Corpus")) say("a corpus", "{.code tm::DocumentTermMatrix({arg})}.")
  if (inherits(x, "TextDocument")) say("a text", "{.code tm::DocumentTermMatrix()} of its corpus.")
  if (is.list(x) && !is.data.frame(x) && length(x) && all(vapply(x, is.character, NA))) {
    say("a list of texts or words", paste(
      "{.code quanteda::dfm(quanteda::as.tokens({arg}))} of words;",
      "{.code tm::DocumentTermMatrix(tm::VCorpus(tm::VectorSource(unlist({arg}))))} of texts."
    ))
  }
}

refuse_uncounted <- function(x, arg, call) {
  refuse_files(x, arg, call)
  refuse_corpora(x, arg, call)
  if (is.character(x) || is.factor(x)) {
    abort("not_numeric", c(
      "{.arg {arg}} must hold counts of terms, not text.",
      i = "Count the words of each document first: {.code dplyr::count(tidytext::unnest_tokens(...), document, word)},
           {.code tm::DocumentTermMatrix()} or {.code quanteda::dfm()}."
    ), call = call)
  }
  if (!is.data.frame(x)) {
    return(invisible())
  }
  words <- function(name) is.character(x[[name]]) || is.factor(x[[name]])
  document <- intersect(c("document", "doc_id", "doc", "id"), names(x))
  term <- intersect(c(term_names, "token", "lemma"), names(x))
  if ("text" %in% names(x) && words("text")) {
    id <- c(document, "document")[1L]
    abort("not_numeric", c(
      "{.arg {arg}} must hold counts of terms, not texts: its column {.field text} is text.",
      i = "Count the words first:
           {.code dplyr::count(tidytext::unnest_tokens({arg}, word, text), document = {id}, word)}, or
           {.code tm::DocumentTermMatrix(tm::VCorpus(tm::DataframeSource({arg})))}, which wants {.field doc_id} and
           {.field text}."
    ), call = call)
  }
  if (!length(document) || !length(term) || !(words(term[1L]) || ncol(x) == 2L) || is_term_frame(x)) {
    return(invisible())
  }
  counted <- intersect(count_names, names(x))
  call_it <- paste(c(
    if (document[1L] != "document") paste("document =", document[1L]) else if (!length(counted)) "document",
    if (!term[1L] %in% term_names) paste("word =", term[1L]) else if (!length(counted)) term[1L],
    if (length(counted) && counted[1L] != "n") paste("n =", counted[1L])
  ), collapse = ", ")
  abort("not_numeric", c(
    "{.arg {arg}} has a row for each word, and must have one for each document and term, with how often it is there.",
    i = if (length(counted) && nzchar(call_it)) {
      "Call its columns {.field document}, {.field term} and {.field n}: {.code dplyr::rename({arg}, {call_it})}."
    } else if (!length(counted)) {
      "Count the words first: {.code dplyr::count({arg}, {call_it})}."
    }
  ), call = call)
}
