# What is known beforehand, in other processes, in files of fits that were stopped, and with rows that come later: zeros
# stay exact, and bits are those of a fit that was made at once.

walks <- withr::with_seed(4, lapply(c(90, 60, 75, 60), function(n) {
  state <- rep(rep(1:3, length.out = 12), each = 15)[seq_len(n)]
  list(state = state, x = cbind(rnorm(n, 2 * state), rnorm(n, -2 * state)))
}))
states <- unlist(lapply(walks, `[[`, "state"))
walks <- stats::setNames(lapply(walks, `[[`, "x"), letters[1:4])
rows <- lengths(walks) / 2
seen <- replace(c("p", "q", NA)[states], seq_along(states) %% 7 != 0, NA)
sequence_class <- c("one", "two", NA, "two")
documents <- as.matrix(whales$counts[1:60, Matrix::colSums(whales$counts[1:60, ]) > 40])
documents <- documents[rowSums(documents) > 0, ]
topic_of <- replace(as.character(whales$category[match(rownames(documents), rownames(whales$counts))]), 1:20 * 2, NA)
stages <- prior_hmm(3, transitions = left_to_right(3, return = TRUE))

# name = list(data, fit(data, control), control), as of worker_cases() and checkpoint_cases().
cases <- list(
  keywords = list(documents, function(x, control) {
    lists <- list(first = colnames(x)[1:2], second = colnames(x)[5])
    bnp_topics(x, obs_multinomial(keywords = lists), control = control)
  }, list(batches = 3L, max_laps = 8L)),
  documents = list(
    documents, function(x, control) bnp_topics(x, control = control, labels = topic_of),
    list(batches = 3L, max_laps = 8L)
  ),
  states = list(walks, function(x, control) bnp_hmm(x, labels = seen, control = control), list(
    batches = 2L, max_laps = 8L
  )),
  classes = list(
    walks, function(x, control) bnp_hmm(x, sequence_labels = sequence_class, control = control),
    list(batches = 2L, max_laps = 8L)
  ),
  stages = list(walks, function(x, control) bnp_hmm(x, prior = stages, control = control), list(
    batches = 2L, max_laps = 8L
  ))
)

# Nothing is where it must not be.
expect_zeros <- function(fit, name) {
  owner <- fit$state$owner[fit$numbering]
  if (name == "documents") {
    known <- !is.na(topic_of)
    other <- outer(match(topic_of, fit$input$class_names), owner, function(a, b) b > 0 & a != b)
    expect_identical(max(0, as.matrix(fit$documents)[seq_along(topic_of), ][known, ][other[known, ]]), 0)
  } else if (name == "states") {
    own <- which(!is.na(seen))
    expect_identical(fit$input$class_names[owner[fitted(fit)[own]]], seen[own])
  } else if (name == "classes") {
    class <- rep(sequence_class, rows)
    of_state <- c(NA, "one", "two", NA)[owner[fitted(fit)[seq_along(class)]] + 1L]
    expect_true(all(is.na(of_state) | is.na(class) | of_state == class))
  } else if (name == "stages") {
    expect_identical(fit$state$pair[!left_to_right(3, return = TRUE)], rep(0, 3))
    expect_identical(unname(fit$state$extra[2:3]), c(0, 0))
  } else {
    expect_setequal(fit$state$named, 0:2)
  }
}

test_that("workers have the bits of work here", {
  here <- lapply(cases, fit_of_case, wave = 2L)
  for (name in names(cases)) expect_zeros(here[[name]], name)
  local_desk()
  for (name in names(cases)) {
    expect_identical(
      bits_of_work(fit_of_case(cases[[name]], wave = 2L, workers = TRUE)), bits_of_work(here[[name]]), info = name
    )
  }
})

test_that("daemons have the bits of work here", {
  profile <- "bnpvi tests of what is known"
  local_daemons(2L, profile)
  for (name in c("documents", "states", "stages")) {
    expect_identical(
      bits_of_work(fit_of_case(cases[[name]], workers = profile)), bits_of_work(fit_of_case(cases[[name]], wave = 8L)),
      info = name
    )
  }
})

test_that("a fit that was stopped goes on from its file to the same bits", {
  for (name in some_of(names(cases), by = 2)) {
    file <- withr::local_tempfile()
    case <- cases[[name]]
    whole <- stopped_after(Inf, checkpointed(case, file))
    unlink(file)
    stopped <- stopped_after(1, checkpointed(case, file))
    expect_identical(c(stopped), "stopped", ignore_attr = TRUE)
    again <- stopped_after(Inf, bnp_resume(file, case[[1]]))
    expect_identical(bits_of_fit(again), bits_of_fit(whole), info = name)
    expect_zeros(again, name)
  }
})

test_that("new rows take part, and what is known of the old ones stays", {
  for (name in names(cases)) {
    fit <- fit_of_case(cases[[name]])
    new <- if (is.matrix(cases[[name]][[1]])) `rownames<-`(documents[1:5, ], paste0("new", 1:5)) else
      stats::setNames(walks[2:3], c("e", "f"))
    more <- suppressWarnings(update(fit, new))
    expect_zeros(more, name)
    classes <- function(owner) sort(unique(owner[owner > 0]))
    expect_identical(classes(more$state$owner), classes(fit$state$owner), info = name)
  }
})

test_that("states of different classes are not joined", {
  fit <- bnp_hmm(walks, labels = seen, prior = prior_hmm(6), control = bnp_control(seed = 2, max_laps = 15)) |>
    suppressWarnings()
  joined <- cut_fit(fit, walks, k = 2)
  own <- which(!is.na(seen))
  expect_identical(cluster_classes(joined)[fitted(joined)[own]], seen[own])
  expect_error(cut_fit(fit, walks, k = 1))
})
