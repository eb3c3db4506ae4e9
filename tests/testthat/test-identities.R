# Identities of clusters: the history that updates and streams keep.

of <- function(...) data.frame(...)

test_that("a history tells who was born, seen, merged and removed", {
  first <- next_history(NULL, c(1L, 2L, 3L, 4L), c(40, 30, 20, 10), 100)
  expect_equal(first, of(
    id = 1:4, born_at = 100, last_seen = 100, size = c(40, 30, 20, 10), fate = "alive", into = NA_integer_
  ))
  # 3 is born again as 5, 4 joins 2, 1 meets nobody
  second <- next_history(
    first, c(2L, 1L, 5L), c(60, 40, 30), 130, c(TRUE, FALSE, TRUE), of(id = 4L, into = 2L)
  )
  expect_equal(second, of(
    id = 1:5, born_at = c(100, 100, 100, 100, 130), last_seen = c(100, 130, 100, 100, 130), 
    size = c(40, 60, 20, 10, 30), fate = c("alive", "alive", "removed", "merged", "alive"), into = c(NA, NA, NA, 2L, NA)
  ))
  changes <- history_changes(first, second)
  expect_identical(changes$born, 5L)
  expect_identical(changes$removed, 3L)
  expect_equal(changes$merged, of(id = 4L, into = 2L), ignore_attr = TRUE)
  # what is gone stays as it was
  third <- next_history(second, c(2L, 5L), c(100, 31), 131)
  expect_equal(third[3:4, ], second[3:4, ])
  expect_identical(history_changes(second, third)$removed, 1L)
  expect_equal(nrow(history_changes(third, third)$merged), 0)
})

test_that("merges into clusters that came and went lead on to the one that stayed", {
  first <- next_history(NULL, 1:3, c(3, 2, 1), 6)
  # 4 and 5 come; 2 joins 4, which joins 1; 3 joins 5, which goes
  second <- next_history(first, 1L, 9, 9, merged = of(id = c(2L, 4L, 3L), into = c(4L, 1L, 5L)))
  expect_identical(second$id, 1:3)
  expect_identical(second$fate, c("alive", "merged", "removed"))
  expect_identical(second$into, c(NA, 1L, NA))
  # into one that is gone itself: 3 joins 2, then 2 joins 1
  second <- next_history(first, 1L, 9, 9, merged = of(id = c(3L, 2L), into = c(2L, 1L)))
  expect_identical(second$into, c(NA, 1L, 2L))
})

test_that("identities of a fit that was never updated are its numbers", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  k <- fit$state$k
  expect_identical(cluster_ids(fit), seq_len(k))
  history <- cluster_history(fit)
  expect_identical(history$id, seq_len(k))
  expect_equal(history$size, unname(cluster_sizes(fit)))
  expect_true(all(history$born_at == 272 & history$fate == "alive"))
  expect_identical(predict(fit, faithful, type = "id"), predict(fit, faithful))
  expect_identical(predict(fit, type = "id"), fitted(fit))
})

test_that("identities follow numbers in all families", {
  renamed <- function(fit) {
    fit$ids <- rev(seq_len(fit$state$k)) + 10L
    fit
  }
  fit <- renamed(bnp_mixture(faithful, control = bnp_control(seed = 1)))
  expect_identical(predict(fit, faithful, type = "id"), with_ids(fit, predict(fit, faithful)))
  expect_gt(min(predict(fit, faithful[1:3, ], type = "id")), 10L)
  states <- renamed(bnp_hmm(faithful, control = bnp_control(seed = 1, max_laps = 3, verbose = FALSE)) |>
    suppressWarnings())
  expect_equal(unname(predict(states, faithful, type = "id")), cluster_ids(states)[predict(states, faithful)])
  corpus <- whales$counts[1:40, ]
  topics <- renamed(suppressWarnings(bnp_topics(corpus, control = bnp_control(seed = 1, max_laps = 3))))
  expect_equal(
    predict(topics, corpus, type = "id"), with_ids(topics, predict(topics, corpus, type = "class"))
  )
})

test_that("pictures show identities", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_setequal(cluster_picture(fit)$centres$cluster, seq_len(fit$state$k))
  fit$ids <- 10L + seq_len(fit$state$k)
  picture <- cluster_picture(fit, faithful)
  expect_setequal(picture$centres$cluster, fit$ids)
  expect_identical(picture$points$cluster, unname(predict(fit, faithful, type = "id")))
  withr::local_pdf(NULL)
  expect_no_error(plot(fit, data = faithful))
  expect_no_error(print(ggplot2::autoplot(fit, data = faithful)))
  one <- bnp_mixture(faithful["waiting"], control = bnp_control(seed = 1))
  one$ids <- 5L + seq_len(one$state$k)
  expect_setequal(cluster_picture(one)$parts$cluster, one$ids)
  expect_no_error(plot(one))
  expect_true(all(uncertainty_picture(fit, faithful)$points$cluster %in% fit$ids))
  expect_no_error(plot(fit, "uncertainty", data = faithful))
  expect_setequal(profile_picture(fit)$cluster, fit$ids)
  expect_no_error(plot(fit, "profile"))
  expect_no_error(print(ggplot2::autoplot(fit, "profile")))
  corpus <- whales$counts[1:60, ]
  topics <- suppressWarnings(bnp_topics(corpus, control = bnp_control(seed = 1, max_laps = 3)))
  topics$ids <- 20L + seq_len(topics$state$k)
  expect_match(terms_picture(topics, NULL, 3, "prob")$terms$title[1], "Topic 21 ")
  for (type in some_of(c("terms", "clusters", "correlation"), by = 3)) {
    expect_no_error(plot(topics, type))
    expect_no_error(print(ggplot2::autoplot(topics, type)))
  }
  steps <- mocap6[1:100, c("root.ty", "lowerback.rx")]
  states <- suppressWarnings(bnp_hmm(steps, control = bnp_control(seed = 1, max_laps = 3, verbose = FALSE)))
  states$ids <- 30L + seq_len(states$state$k)
  expect_true(all(segment_picture(states, NULL, NULL, 5)$runs$state %in% states$ids))
  expect_no_error(plot(states))
  expect_no_error(print(ggplot2::autoplot(states)))
})

test_that("print says what the last update changed", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_false(any(grepl("Last update", format_head(fit))))
  fit$changes <- list(born = c(9L, 10L), merged = of(id = 4L, into = 2L), removed = 7L)
  expect_identical(described_changes(fit), c(
    "Last update: 2 clusters born (9, 10), 1 merged (4 into 2), 1 removed", "  (7)"
  ))
  fit$changes <- list(born = integer(), merged = of(id = integer(), into = integer()), removed = integer())
  expect_identical(described_changes(fit), "Last update: no cluster born, merged or removed")
  expect_output(print(fit), "Last update")
  expect_output(print(summary(fit)), "Last update")
})
