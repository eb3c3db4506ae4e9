# Fits that were changed by hand: one classed error, or an answer; never an error from inside, never a crash.

# Every way in which one value is spoiled.
spoiled <- function(x) {
  out <- list(
    gone = NULL, text = "a", list = list(1, "b"), none = x[0], na = if (is.atomic(x)) replace(x, seq_along(x), NA),
    one = 1, huge = 1e9, negative = -1, closure = mean
  )
  if (is.numeric(x)) {
    out <- c(out, list(
      longer = c(x, x, 1), shorter = utils::head(as.vector(x), -1), text_of = as.character(x),
      index = replace(x, 1, 1e6),
      below = replace(x, length(x), -5), infinite = replace(as.double(x), 1, Inf), rows = cbind(as.vector(x), 1)
    ))
  }
  if (is.matrix(x)) out <- c(out, list(turned = t(x), thin = x[, 0, drop = FALSE], short = x[-1, , drop = FALSE]))
  out
}

# The places of a fit that are spoiled: all fields, and those of some of them.
places_in <- function(fit) {
  below <- lapply(intersect(c("state", "input", "model", "control"), names(fit)), function(field) {
    lapply(names(fit[[field]]), function(name) c(field, name))
  })
  c(as.list(setdiff(names(fit), "call")), unlist(below, FALSE), if (!is.null(fit$model$obs)) {
    lapply(names(fit$model$obs), function(name) c("model", "obs", name))
  })
}

put_in <- function(x, place, value) {
  if (length(place) > 1L) value <- put_in(x[[place[1L]]], place[-1L], value)
  x[place[1L]] <- list(value)
  if (is.null(value)) x[[place[1L]]] <- NULL
  x
}

expect_edits_known <- function(fit, verbs, most, seed = 46) {
  edits <- list()
  for (place in places_in(fit)) {
    value <- Reduce(function(x, name) x[[name]], place, fit)
    all <- spoiled(value)
    for (how in names(all)) {
      name <- paste(paste(place, collapse = "$"), how)
      edits[[length(edits) + 1L]] <- list(name = name, place = place, value = all[how])
    }
  }
  if (length(edits) > most) edits <- withr::with_seed(seed, edits[sample.int(length(edits), most)])
  for (verb in names(verbs)) { # of the fit as it is
    whole <- outcome_of(function() verbs[[verb]](put_in(fit, "elbo", fit$elbo)), NULL)
    expect_true(whole %in% c("right", "another answer") || verb == "confint", label = paste(verb, whole))
  }
  log <- withr::local_tempfile()
  out <- in_child(function() {
    unlist(lapply(edits, function(edit) {
      changed <- put_in(fit, edit$place, edit$value[[1L]])
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

test_that("edited fits: what reads a fit says that it is damaged", {
  skip_on_os("windows") # no fork
  most <- if (Sys.getenv("BNPVI_LONG_TESTS") == "true") Inf else 20
  links <- withr::with_seed(3, matrix(stats::rbinom(400, 1, 0.3), 20))
  x <- as.matrix(attitude)
  walk <- withr::with_seed(2, cbind(rnorm(60, rep(c(0, 4), each = 30)), rnorm(60)))
  how <- how_source(max_laps = 4)
  cases <- list(
    features = list(bnp_features(x, control = how, scale = TRUE), list(
      probs = feature_probs, predict = function(f) predict(f, x), augment = function(f) augment(f, x),
      update = function(f) update(f, newdata = x[1:3, ], control = how)
    )),
    mixture = list(bnp_mixture(faithful, control = how), list(
      predict = function(f) predict(f, faithful[1:9, ], type = "prob"), confint = confint,
      logdensity = function(f) predict(f, faithful[1:9, ], type = "logdensity"),
      simulate = function(f) simulate(f, seed = 1), update = function(f) update(f, newdata = faithful[1:5, ]),
      sizes = cluster_sizes, params = posterior_params, clusters = n_clusters
    )),
    topics = list(bnp_topics(bars$counts[1:20, ], control = how), list(
      predict = function(f) predict(f, bars$counts[1:3, ]), terms = function(f) top_terms(f)
    )),
    sequences = list(bnp_hmm(walk, control = how), list(
      predict = function(f) predict(f, walk), segments = segments, transitions = transition_matrix
    )),
    network = list(bnp_network(links, control = how), list(
      predict = function(f) predict(f, cbind(1:3, 2:4)), members = memberships, communities = communities
    ))
  ) |> suppressWarnings() |> suppressMessages()
  for (name in names(cases)) {
    expect_edits_known(cases[[name]][[1]], c(reading_verbs, cases[[name]][[2]]), most)
  }
})

test_that("the message names the field", {
  fit <- suppressWarnings(bnp_features(as.matrix(attitude), control = how_source(max_laps = 3)))
  fit$state$pair <- fit$state$pair[-1]
  expect_bad(coef(fit), "format", "state\\$pair")
  fit <- bnp_mixture(faithful, control = how_source())
  expect_bad(coef(put_in(fit, c("state", "obs"), fit$state$obs[1, ])), "format", "state")
  expect_bad(elbo(put_in(fit, "numbering", 2:3)), "format", "numbering")
})

test_that("a fit that was changed in R is one without a seal; one that was changed elsewhere is refused", {
  fit <- bnp_mixture(faithful, control = how_source())
  expect_type(attr(fit, "seal"), "character")
  own <- fit
  own$note <- "mine"
  own[["more"]] <- 1
  expect_identical(coef(own), coef(fit))
  own <- structure(fit, class = c("mine", class(fit)))
  expect_identical(coef(own), coef(fit))
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  expect_identical(readRDS(file), fit)
  expect_identical(coef(readRDS(file)), coef(fit))
  other <- unclass(fit)
  other$state$obs[1] <- other$state$obs[1] + 1e-9
  expect_bad(coef(structure(other, class = class(fit))), "format", "damaged")
  other <- unclass(fit)
  other$labels[3] <- 3L - other$labels[3]
  expect_bad(elbo(structure(other, class = class(fit))), "format", "damaged")
  same <- update(fit, newdata = faithful[1:20, ])
  expect_type(attr(same, "seal"), "character")
})
