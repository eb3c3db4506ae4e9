# Errors of the short suite are written at once. cli and rlang take 14 milliseconds for one, of which most go into
# themes and a backtrace that no test looks at, and tests ask for some 10,000 errors. The long suite has the package's
# own abort(); test-errors.R shows that both say the same.

# What cli::format_inline() makes of a text whose marks are {.arg a}, {.code a} and {.fn a} and whose expressions are
# one string or number each ({name}, {.arg {name}}, {f(x)}); other texts, as those with plurals, are left to it.
inline_text <- function(text, envir) {
  simple <- text
  for (mark in unique(regmatches(text, gregexpr("\\{[[:alpha:]][^{}]*\\}", text))[[1L]])) {
    value <- tryCatch(eval(str2lang(substr(mark, 2L, nchar(mark) - 1L)), envir), error = function(e) NULL)
    if ((is.character(value) || is.numeric(value)) && length(value) == 1L && !is.object(value) && !is.na(value)) {
      simple <- gsub(mark, as.character(value), simple, fixed = TRUE)
    }
  }
  simple <- gsub("\\{[.](arg|code) ([^{} \n\\]|[^{} \n\\][^{}\n\\]*[^{} \n\\])\\}", "`\\2`", simple)
  simple <- gsub("\\{[.]fn ([[:alnum:]_.]+)\\}", "`\\1()`", simple)
  if (grepl("[{}\n\\]", simple)) cli::format_inline(text, .envir = envir) else simple
}

abort_at_once <- function(what, message, call = rlang::caller_env(), .envir = parent.frame()) {
  message[] <- trimws(gsub("[[:space:]]+", " ", vapply(message, inline_text, "", envir = .envir))) # as cli does
  stop(rlang::error_cnd(
    c(paste0("bnpvi_error_", what), "bnpvi_error"),
    message = rlang::format_error_bullets(stats::setNames(message, names(message) %||% rep("", length(message)))),
    call = rlang::error_call(call)
  ))
}
package_abort <- asNamespace("bnpvi")[["abort"]]
if (!long_tests()) replace_in_package("abort", abort_at_once, teardown_env())
