# Fits and other objects that are changed by hand, and what the verbs that read them say.

# Every way in which one value is spoiled.
spoiled_values <- function(x) {
  empty <- if (!is.environment(x) && !is.function(x)) x[0]
  out <- list(
    gone = NULL, text = "a", list = list(1, "b"), none = empty,
    na = if (is.atomic(x)) replace(x, seq_along(x), NA), one = 1, huge = 1e9, negative = -1, closure = mean
  )
  if (is.numeric(x) && length(x)) {
    out <- c(out, list(
      longer = c(x, x, 1), shorter = utils::head(as.vector(x), -1), text_of = as.character(x),
      index = replace(x, 1, 1e6),
      below = replace(x, length(x), -5), infinite = replace(as.double(x), 1, Inf), rows = cbind(as.vector(x), 1)
    ))
  }
  if (is.matrix(x)) out <- c(out, list(turned = t(x), thin = x[, 0, drop = FALSE], short = x[-1, , drop = FALSE]))
  if (is.data.frame(x)) out <- c(out, list(short = x[-1, ], thin = x[-1], numbers = as.list(x)))
  out
}

# The places of a fit that are spoiled: all fields, and those of some of them.
places_in_fit <- function(fit) {
  lists <- c("state", "input", "model", "control", "latent", "emission")
  below <- lapply(intersect(lists, names(fit)), function(field) {
    lapply(names(fit[[field]]), function(name) c(field, name))
  })
  c(as.list(setdiff(names(fit), "call")), unlist(below, FALSE), if (!is.null(fit$model$obs)) {
    lapply(names(fit$model$obs), function(name) c("model", "obs", name))
  })
}

# Those of another object: its fields, what lists have within them, and so on, but for what is a fit.
places_in_object <- function(x, depth = 4L) {
  unlist(lapply(setdiff(names(x), "call"), function(name) {
    part <- x[[name]]
    goes_on <- depth > 1L && is.list(part) && !inherits(part, c("bnp_fit", "data.frame")) && length(names(part))
    c(list(name), if (goes_on) lapply(places_in_object(part, depth - 1L), function(place) c(name, place)))
  }), FALSE)
}

put_in <- function(x, place, value) {
  if (length(place) > 1L) value <- put_in(x[[place[1L]]], place[-1L], value)
  x[place[1L]] <- list(value)
  if (is.null(value)) x[[place[1L]]] <- NULL
  x
}

edits_of <- function(x, places) {
  unlist(lapply(places, function(place) {
    all <- spoiled_values(Reduce(function(x, name) x[[name]], place, x))
    lapply(names(all), function(how) {
      list(name = paste(paste(place, collapse = "$"), how), place = place, value = all[how])
    })
  }), FALSE)
}

# Every verb says of every edit that the object is damaged, or gives an answer. `most` edits, chosen at random.
expect_edits_known <- function(x, verbs, most, places = places_in_fit(x), seed = 46) {
  edits <- edits_of(x, places)
  if (length(edits) > most) edits <- withr::with_seed(seed, edits[sample.int(length(edits), most)])
  for (verb in names(verbs)) { # of the object as it is, without a seal
    whole <- outcome_of(function() verbs[[verb]](put_in(x, names(x)[1L], x[[1L]])), NULL)
    expect_true(whole %in% c("right", "another answer") || verb == "confint", label = paste(verb, whole))
  }
  log <- withr::local_tempfile()
  out <- in_child(function() {
    grDevices::pdf(NULL)
    unlist(lapply(edits, function(edit) {
      changed <- put_in(x, edit$place, edit$value[[1L]])
      vapply(names(verbs), function(verb) {
        cat(verb, "of", edit$name, "\n", file = log)
        said <- outcome_of(function() verbs[[verb]](changed), NULL)
        if (said %in% c("refused", "right", "another answer")) "" else paste(verb, "of", edit$name, "-", said)
      }, "")
    }))
  })
  expect_type(out, "character")
  if (!is.character(out)) return(cat("ended at", readLines(log), "\n"))
  wrong <- unname(out[nzchar(out)])
  expect_identical(utils::head(wrong, 20), character(), label = paste(length(wrong), "unclear errors"))
}

reading_verbs <- list(
  print = function(f) utils::capture.output(print(f)), summary = function(f) utils::capture.output(print(summary(f))),
  elbo = elbo, trace = elbo_trace, nobs = nobs, coef = coef, fitted = fitted, tidy = tidy, glance = glance
)
how_many_edits <- function(short) if (longest_tests()) Inf else short
