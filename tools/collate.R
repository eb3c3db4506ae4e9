# Writes the field Collate of DESCRIPTION: all files of R/, each after those that it needs while R reads it.
#
#   Rscript tools/collate.R          from the root of the package, after a file of R/ was added, renamed or removed
#
# In rounds: first come the files that can be read alone, then those that need these, and so on; files of one round need
# none of each other, and stand in the order of their names.
imports <- new.env()
for (one in parseNamespaceFile(basename(getwd()), dirname(getwd()))$imports) {
  for (name in if (is.list(one)) one[[2L]]) assign(name, getExportedValue(one[[1L]], name), imports)
}
code <- new.env(parent = imports)
read <- function(file, env) sys.source(file.path("R", file), env)
can_be_read <- function(file) {
  tryCatch(
    {
      read(file, new.env(parent = code))
      TRUE
    },
    error = function(e) FALSE
  )
}

left <- sort(list.files("R", "[.]R$"), method = "radix")
rounds <- list()
while (length(left)) {
  ready <- Filter(can_be_read, left)
  if (!length(ready)) stop("files that need what nobody has, or each other: ", toString(left))
  for (file in ready) read(file, code)
  rounds <- c(rounds, list(ready))
  left <- setdiff(left, ready)
}
message("Files by rounds: ", paste(lengths(rounds), collapse = ", "))

lines <- readLines("DESCRIPTION", encoding = "UTF-8")
fields <- grepl("^[^[:space:]]", lines)
lines <- lines[!startsWith(lines[fields], "Collate:")[cumsum(fields)]]
writeLines(c(lines, "Collate:", paste0("    '", unlist(rounds), "'")), "DESCRIPTION", useBytes = TRUE)
