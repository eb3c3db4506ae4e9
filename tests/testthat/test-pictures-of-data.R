# Pictures show what they were asked for, and say what they leave out.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
drawn <- function(expr) {
  pdf(NULL)
  withr::defer(dev.off())
  force(expr)
}

test_that("rows that lack a value are counted, not left out in silence", {
  x <- as.matrix(faithful)
  x[c(1, 5, 9), 1] <- NA
  both <- bnp_mixture(x, na_action = "model", control = quiet())
  three <- bnp_mixture(cbind(x, noise = cos(1:272)), na_action = "model", control = quiet())
  line <- bnp_mixture(eruptions ~ waiting, as.data.frame(x), na_action = "model", control = quiet())
  one <- suppressMessages(bnp_mixture(x[, 1], na_action = "omit", control = quiet()))
  told <- function(expr) expect_message(drawn(expr), "3 of 272 rows are not drawn", class = "bnpvi_message_picture")
  for (type in c("clusters", "density", "uncertainty")) told(plot(both, type, data = x))
  told(plot(three, data = cbind(x, noise = cos(1:272))))
  told(plot(line, data = as.data.frame(x)))
  expect_message(drawn(plot(one, data = x[, 1])), "3 rows of `data`")
  expect_silent(drawn(plot(both, data = faithful)))
  expect_silent(drawn(plot(both)))
  skip_if_not_installed("ggplot2")
  told(ggplot2::autoplot(both, data = x))
  told(ggplot2::autoplot(both, "uncertainty", data = x))
})

test_that("sequences are not drawn end to end", {
  two <- rbind(cbind(beaver1["temp"], id = 1), cbind(beaver2["temp"], id = 2))
  fit <- bnp_hmm(two["temp"], id = two$id, control = quiet())
  expect_bad(drawn(plot(fit, data = two["temp"])), "id", "it has 2, `data` have 1")
  for (given in list(two["temp"], as.matrix(two["temp"]))) expect_bad(drawn(plot(fit, data = given)), "id")
  expect_silent(drawn(plot(fit, data = two["temp"], id = two$id)))
  expect_silent(drawn(plot(fit, data = split(two["temp"], two$id))))
  expect_silent(drawn(plot(fit, data = beaver1["temp"]))) # another sequence
  named <- bnp_hmm(two, "id", control = quiet())
  expect_silent(drawn(plot(named, data = two)))
  expect_bad(drawn(plot(named, data = two["temp"])), "id")
  skip_if_not_installed("ggplot2")
  expect_bad(ggplot2::autoplot(fit, data = two["temp"]), "id")
})

test_that("shares that are all the same are no trend", {
  fit <- bnp_topics(whales$counts, prior = prior_lda(1), control = quiet())
  n <- nrow(whales$counts)
  for (table in list(prevalence(fit, by = seq_len(n)), prevalence(fit, by = whales$category))) {
    expect_true(all(table$proportion == 1))
    expect_true(all(table$conf.low %in% c(1, NA)))
    expect_silent(drawn(plot(table)))
  }
})

test_that("arguments that are no graphical parameters are refused by every plot()", {
  edges <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
  hmm <- bnp_hmm(beaver1["temp"], control = quiet())
  mixture <- bnp_mixture(faithful, control = quiet())
  topics <- bnp_topics(whales$counts, control = quiet(max_laps = 3)) |> suppressWarnings()
  draws <- bnp_sample(faithful, draws = 10, chains = 1, seed = 1, verbose = FALSE)
  objects <- list(
    mixture, topics, hmm, draws, bnp_features(attitude, control = quiet()),
    bnp_network(edges, control = quiet()), bnp_filter(hmm, beaver1["temp"]), forecast(hmm, beaver1["temp"], h = 3),
    cluster_tree(mixture, faithful), prevalence(topics, by = whales$category), state_durations(hmm),
    check_fit(mixture, faithful, draws = 10, warmup = 5, seed = 1, verbose = FALSE),
    bnp_dynamic_means(as.matrix(faithful), rep(1:8, 34), lambda = 10)
  )
  # One of each class with a method.
  methods <- sub("S3method\\(plot,(.*)\\)", "\\1", grep("^S3method\\(plot,", readLines(
    if (file.exists("../../NAMESPACE")) "../../NAMESPACE" else system.file("NAMESPACE", package = "bnpvi")
  ), value = TRUE))
  expect_setequal(vapply(objects, function(x) intersect(class(x), methods)[1L], ""), methods)
  for (x in objects) {
    expect_bad(suppressMessages(drawn(plot(x, what = "density"))), "argument", "what")
    expect_bad(suppressMessages(drawn(plot(x, colour = 2))), "argument", "colour")
  }
  expect_bad(drawn(plot(mixture, "clusters", faithful, 3)), "argument", "unnamed")
  expect_bad(drawn(plot(mixture, dta = faithful)), "argument", "Did you mean `data`")
  expect_silent(drawn(plot(mixture, main = "Geyser", cex.lab = 2, xlim = c(0, 6), las = 1)))
  expect_silent(drawn(plot(mixture, "elbo", main = "Bound", log = "x")))
  skip_if_not_installed("igraph")
  network <- objects[[6]]
  expect_silent(drawn(plot(network, "graph", network = edges, vertex.size = 3, main = "Graph")))
  expect_silent(drawn(plot(network, edges)))
  expect_bad(drawn(plot(network, network = edges, vertex.size = 3)), "argument", "vertex.size")
})

long_test("no rows are drawn as no data, or refused; one row and equal rows are rows", {
  time <- rep(1:4, each = 68)
  drift <- bnp_mixture(faithful, obs_gaussian(drift = 0.3), time = time, control = quiet())
  one <- bnp_mixture(faithful["eruptions"], control = quiet())
  two <- bnp_mixture(faithful, control = quiet())
  path <- bnp_hmm(faithful, control = quiet())
  system <- bnp_hmm(faithful, obs = obs_lds(), control = quiet(max_laps = 3)) |> suppressWarnings()
  levels <- bnp_mixture(mtcars[c("cyl", "mpg")] |> transform(cyl = factor(cyl)), control = quiet())
  none <- function(x) x[0L, , drop = FALSE]
  autoplot <- if (rlang::is_installed("ggplot2")) function(...) print(ggplot2::autoplot(...))
  for (draw in c(plot, autoplot)) {
    for (type in c("clusters", "trajectories")) expect_silent(drawn(draw(drift, type, data = none(faithful))))
    for (type in c("clusters", "density")) {
      expect_silent(drawn(draw(one, type, data = none(faithful["eruptions"]))))
      expect_silent(drawn(draw(two, type, data = none(faithful))))
      for (rows in some_of(list(1L, c(2L, 2L, 2L)), by = 2, from = 2)) {
        expect_silent(drawn(draw(one, type, data = faithful[rows, "eruptions", drop = FALSE])))
        expect_silent(drawn(draw(two, type, data = faithful[rows, ])))
      }
    }
    expect_silent(drawn(draw(levels, data = none(transform(mtcars[c("cyl", "mpg")], cyl = factor(cyl))))))
    for (fit in list(one, two, drift, levels)) {
      x <- if (fit$input$d == 1L) faithful["eruptions"] else if (identical(fit, levels)) NULL else faithful
      if (!is.null(x)) expect_bad(drawn(draw(fit, "uncertainty", data = none(x))), "no_rows", "data")
    }
    for (fit in list(path, system)) expect_bad(drawn(draw(fit, data = none(faithful))), "no_rows", "data")
  }
})
