corpus <- toy_corpus(documents = 60)
fit <- bnp_topics(corpus, control = bnp_control(seed = 1))

test_that("documents of a topic are those with the largest proportions", {
  top <- top_documents(fit, 3)
  expect_named(top, c("topic", "rank", "document", "proportion"))
  expect_equal(nrow(top), 3 * fit$state$k)
  theta <- fitted(fit)
  second <- top[top$topic == 2, ]
  expect_equal(second$proportion, unname(sort(theta[, 2], decreasing = TRUE)[1:3]))
  expect_equal(theta[cbind(second$document, "2")], second$proportion)
  expect_equal(nrow(top_documents(fit, 1e6)), 60 * fit$state$k)
  unnamed <- bnp_topics(unname(corpus), control = bnp_control(seed = 1))
  expect_type(top_documents(unnamed)$document, "integer")
  expect_bad(top_documents(fit, 0), "argument", "n")
  expect_bad(top_documents(1), "argument", "bnp_topics")
})

test_that("correlations of topics are those computed by hand", {
  theta <- cbind(a = c(0.8, 0.2, 0.5), b = c(0.1, 0.7, 0.4), c = 0.1)
  found <- column_correlation(theta)
  expect_equal(found[1, 2], -1)
  expect_true(all(is.na(found[3, ])))
  expect_true(all(is.na(column_correlation(theta[1, , drop = FALSE]))))
  expect_equal(topic_correlation(fit), cor(fitted(fit)))
})

test_that("exclusivity is the mean FREX of the most probable terms", {
  phi <- coef(fit)$prob
  exclusive <- rank(phi[1, ] / colSums(phi)) / 12
  frequent <- rank(phi[1, ]) / 12
  top <- order(-phi[1, ])[1:4]
  expect_equal(exclusivity(fit, 4)[["1"]], mean(1 / (0.5 / exclusive[top] + 0.5 / frequent[top])))
  expect_equal(exclusivity(fit, 4, weight = 0)[["1"]], mean(c(12, 11, 10, 9) / 12))
  expect_bad(exclusivity(fit, weight = 2), "argument", "weight")
})

test_that("prevalence by group is a mean with an interval of Student's t", {
  group <- rep(c("x", "y"), c(20, 40))
  table <- prevalence(fit, by = group)
  expect_equal(nrow(table), 2 * fit$state$k)
  y <- t.test(fitted(fit)[21:60, 1], conf.level = 0.95)
  row <- as.list(table[table$topic == 1 & table$group == "y", ])
  expect_equal(c(row$proportion, row$conf.low, row$conf.high), c(y$estimate, y$conf.int), ignore_attr = TRUE)
  expect_equal(row$documents, 40)
  sums <- tapply(table$proportion, table$group, sum)
  expect_equal(as.double(sums), c(1, 1))
  one <- prevalence(fit, by = c("x", rep("y", 59)))
  expect_true(is.na(one$conf.low[one$group == "x"][1]))
})

test_that("means of proportions and their intervals stay between 0 and 1", {
  theta <- rbind(c(0.98, 0.02), c(0.999, 0.001), c(0.5, 0.5), c(1, 0))
  table <- group_prevalence(theta, factor(c("a", "a", "b", "b")), 0.95)
  halves <- vapply(1:2, function(k) stats::t.test(theta[1:2, k])$conf.int, numeric(2))
  of_a <- table[table$group == "a", ]
  expect_equal(of_a$conf.low, pmax(halves[1L, ], 0))
  expect_equal(of_a$conf.high, pmin(halves[2L, ], 1))
  line <- regression_prevalence(cbind(c(0, 0, 0, 1), c(1, 1, 1, 0)), 1:4, 0.95, 1L)
  shares <- c("proportion", "conf.low", "conf.high")
  expect_identical(range(line[shares]), c(0, 1))
  expect_true(all(line$conf.low <= line$proportion & line$proportion <= line$conf.high))
})

test_that("prevalence by a number is least squares with its interval", {
  year <- seq(2000, 2059)
  for (degree in 1:2) {
    table <- prevalence(fit, by = year, degree = degree)
    part <- table[table$topic == 2, ]
    line <- lm(y ~ poly(year, degree), data.frame(y = fitted(fit)[, 2], year = year))
    expected <- predict(line, data.frame(year = part$at), interval = "confidence")
    expect_equal(unname(as.matrix(part[c("proportion", "conf.low", "conf.high")])), unname(expected))
  }
})

test_that("dates stay dates, and pictures name the covariate", {
  day <- as.Date("2020-02-01") + 1:60
  table <- prevalence(fit, by = day)
  expect_equal(range(table$at), range(day))
  expect_equal(table$proportion, prevalence(fit, by = as.numeric(day))$proportion)
  time <- as.POSIXct("2020-02-01", tz = "UTC") + 3600 * 1:60
  expect_equal(range(prevalence(fit, by = time)$at), range(time))
  expect_equal(prevalence_label(table), "day")
  expect_equal(prevalence_label(prevalence(fit, by = ~day, data = data.frame(day))), "day")
  expect_equal(prevalence_label(do.call(prevalence, list(fit, as.numeric(day)))), "Covariate")
  skip_if_not_installed("ggplot2")
  expect_equal(ggplot2::autoplot(table)$labels$x, "day")
})

test_that("a small picture names every group", {
  names <- c("Baleen whales", "Dolphins", "Killer whales", "Whale products", "Whaling", "Other things")
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file, 300 / 72, 250 / 72, compress = FALSE)
  plot(prevalence(fit, by = rep(names, 10)))
  grDevices::dev.off()
  drawn <- readLines(file, warn = FALSE)
  times <- vapply(names, function(name) sum(grepl(name, drawn, fixed = TRUE, useBytes = TRUE)), 1)
  # In a PDF "T" is a piece of its own, for kerning.
  expect_equal(unname(times), rep(sum(grepl("(opic [0-9]+)", drawn, useBytes = TRUE)), 6))
  expect_gt(times[1], 1)
})

test_that("covariates are matched by name, and refused where they do not fit", {
  group <- rep(c("x", "y"), c(20, 40))
  named <- stats::setNames(group, rownames(corpus))
  articles <- data.frame(document = rownames(corpus), kind = group)[60:1, ]
  expected <- prevalence(fit, by = group)
  same <- function(found) expect_equal(found, expected, ignore_attr = "by")
  same(prevalence(fit, by = rev(named)))
  same(prevalence(fit, by = ~kind, data = articles))
  same(prevalence(fit, by = "kind", data = articles))
  expect_bad(prevalence(fit, by = "sort", data = articles), "by", "kind")
  expect_bad(prevalence(fit, by = ~kind), "argument", "data")
  expect_bad(prevalence(fit, by = group[-1]), "by", "60")
  expect_bad(prevalence(fit, by = "kind", data = articles[-1, ]), "by", "None for")
  expect_bad(prevalence(fit, by = rep(1, 60)), "by", "different")
  expect_bad(prevalence(fit, by = group, level = 1), "argument", "level")
  expect_bad(prevalence(fit), "by")
  expect_bad(prevalence(fit, by = rep(NA, 60)), "by")
  group[60] <- NA
  expect_warning(left <- prevalence(fit, by = group), class = "bnpvi_warning_missing")
  expect_equal(left$documents[left$group == "y"][1], 39)
})

test_that("a table of frequencies is counts of terms", {
  words <- data.frame(document = c("a", "a", "b", "b"), term = c("x", "x", "x", "y"))
  quick <- bnp_control(seed = 1, max_laps = 2, restarts = 1)
  frequencies <- as.data.frame(xtabs(~ document + term, words))
  counts <- cbind(x = 2:1, y = 0:1)
  expect_identical(elbo(bnp_topics(frequencies, control = quick)), elbo(bnp_topics(counts, control = quick)))
})

test_that("terms() and topics() answer as in packages for quanteda", {
  found <- terms(fit, n = 3)
  expect_equal(dim(found), c(3, fit$state$k))
  expect_equal(found[, 2], top_terms(fit, 3)$term[4:6])
  expect_equal(terms(fit, 2, by = "frex")[, 1], top_terms(fit, 2, "frex")$term[1:2])
  short <- bnp_mixture(corpus, obs_multinomial(), control = bnp_control(seed = 1, max_laps = 3, restarts = 1))
  expect_equal(terms(short, 2)[, 1], top_terms(short, 2)$term[1:2])
  main <- topics.bnp_topics(fit)
  expect_equal(as.integer(main), max.col(fitted(fit), "first"))
  expect_named(main, rownames(corpus))
})

test_that("a fit that found one topic says what else can be done", {
  set.seed(1)
  short <- t(rmultinom(30, 4, rep(1, 8)))
  one <- bnp_topics(short, control = bnp_control(seed = 1, restarts = 1))
  expect_equal(n_clusters(one), 1L)
  expect_match(paste(capture.output(print(one)), collapse = "\n"), "at most 4 tokens.\n.*short documents")
  for (given in list(bnp_topics(short, prior = prior_lda(1), control = bnp_control(seed = 1, max_laps = 2)), fit)) {
    expect_no_match(capture.output(print(given)), "short documents")
  }
})
