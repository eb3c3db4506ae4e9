# A merge walked through the compiled sources: the rooms (folders of src) that a reader passes through who follows its
# calls from the entries of the move to the accepted state.
#
#   Rscript tools/walk.R [folder of sources with objects] [calls]
#
# The reader reads the functions of a file that the merge needs, notes which files these call, and opens the files noted
# either in the order of the calls or staying in a room while there is one to open in it. Calls through contracts end
# there, as a contract says what there is to know, and so do calls into `foundation` and `kernels`. What is inlined was
# read with its caller. A stay is a run of files in one room, a return a stay in a room that was left before.
arguments <- commandArgs(TRUE)
src <- if (length(arguments)) arguments[1L] else "src"
merges <- list(
  mixtures = c("mixtures/merge.o", "MixtureMerge"), topics = c("topics/moves/merge.o", "TopicMerge"),
  chains = c("chains/moves/merge.o", "HmmMerge")
)
entries <- c("prepare", "watch", "after_batch", "after_lap")
known <- c("foundation", "kernels")

run <- function(...) suppressWarnings(system2(..., stdout = TRUE, stderr = FALSE))
objects <- list.files(src, "[.]o$", recursive = TRUE)
objects <- objects[grepl("/", objects) & !grepl("^testing/", objects)]
home <- unlist(lapply(objects, function(object) {
  lines <- grep(" T ", run("nm", c("--defined-only", file.path(src, object))), value = TRUE)
  stats::setNames(rep(object, length(lines)), sub(".* T ", "", lines))
}))

# For each function of an object what it calls or refers to, in order.
calls_of <- local({
  read <- list()
  function(object) {
    if (is.null(read[[object]])) {
      lines <- run("objdump", c("-dr", "--no-show-raw-insn", file.path(src, object)))
      head <- grepl("^[0-9a-f]+ <.*>:$", lines)
      within <- sub("^[0-9a-f]+ <(.*)>:$", "\\1", lines[head])[cumsum(head)[cumsum(head) > 0L]]
      body <- lines[cumsum(head) > 0L]
      to <- ifelse(
        grepl("R_X86_64_", body), sub(".*R_X86_64_[A-Z0-9]+\t([^+-]+).*", "\\1", body),
        ifelse(grepl("(call|jmp) .*<[^+>]+>", body), sub(".*<([^+>]+)>.*", "\\1", body), NA)
      )
      read[[object]] <<- lapply(split(to, factor(within, unique(within))), function(x) unique(x[!is.na(x)]))
    }
    read[[object]]
  }
})

# Functions that are read, by object, objects in the order in which they are opened.
walk <- function(object, class, rooms_first) {
  names <- names(calls_of(object))
  first <- unlist(lapply(entries, function(e) {
    grep(paste0(nchar(class), class, nchar(e), e, "E"), names, value = TRUE, fixed = TRUE)
  }))
  read <- list()
  stays <- room <- character()
  waiting <- stats::setNames(list(first), object)
  while (length(waiting)) {
    at <- c(if (rooms_first) names(waiting)[dirname(names(waiting)) == room], names(waiting))[1L]
    room <- dirname(at)
    new <- setdiff(waiting[[at]], read[[at]])
    waiting[[at]] <- NULL
    stays <- c(stays, room)
    while (length(new)) {
      name <- new[1L]
      new <- new[-1L]
      read[[at]] <- c(read[[at]], name)
      for (to in calls_of(at)[[name]]) {
        here <- to %in% names(calls_of(at))
        file <- if (here) at else unname(home[to])
        if (is.na(file) || dirname(file) %in% known || to %in% c(read[[file]], waiting[[file]])) next
        if (here) new <- union(new, to) else waiting[[file]] <- c(waiting[[file]], to)
      }
    }
  }
  list(read = read, stays = rle(stays)$values)
}

for (family in names(merges)) {
  for (rooms_first in c(TRUE, FALSE)) {
    walked <- walk(merges[[family]][1L], merges[[family]][2L], rooms_first)
    stays <- walked$stays
    cat(family, if (rooms_first) ", room by room: " else ", in the order of the calls: ", length(walked$read),
        " files; ", length(stays), " stays in ", length(unique(stays)), " rooms, ",
        length(stays) - length(unique(stays)), " returns\n  ", paste(stays, collapse = " > "), "\n", sep = "")
  }
  if ("calls" %in% arguments) {
    for (object in names(walked$read)) {
      cat(object, paste0("    ", run("c++filt", walked$read[[object]])), sep = "\n")
    }
  }
}
