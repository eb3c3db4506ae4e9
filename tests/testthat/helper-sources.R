# Fits to sources, and the same rows in memory in the same batches.

how_source <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
in_pieces <- function(x, size) {
  n <- NROW(x)
  source_function(function(b) if (size * (b - 1) < n) x[seq(size * (b - 1) + 1, min(n, size * b)), , drop = FALSE])
}
dealt <- function(n, batches) engine_deal(as.integer(n), as.integer(batches))

# All of a fit but what differs by design: the call, seconds, names of rows.
comparable_fit <- function(fit) {
  fit$call <- fit$trace$seconds <- fit$input$row_names <- NULL
  fit$input <- fit$input[order(names(fit$input))]
  class <- attr(fit$input$terms, "dataClasses")
  if (!is.null(class)) attr(fit$input$terms, "dataClasses") <- replace(class, class == "factor", "character")
  fit
}

expect_fit_of_source <- function(from_source, in_memory, what) {
  a <- comparable_fit(from_source)
  b <- comparable_fit(in_memory)
  for (field in union(names(a), names(b))) expect_identical(a[[field]], b[[field]], label = paste(field, "of", what))
}

csv_of <- function(x, env = parent.frame()) {
  path <- withr::local_tempfile(fileext = ".csv", .local_envir = env)
  utils::write.csv(x, path, row.names = FALSE)
  path
}
