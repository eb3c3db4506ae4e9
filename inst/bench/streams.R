# Truncation-free learning: mean held-out log density a row, clusters and CPU seconds of single runs, by seed.
# Rscript streams.R clusters          asterisk and 20 overlapping clusters, batches of 10, 100 and 1,000, moves on, off
# Rscript streams.R drift             a cluster that moves, and one that is replaced, with and without forgetting
# Rscript streams.R million           seconds for a stream of a million rows, and the size of the fit on the way
# Rscript streams.R grouped           documents of rows, planted topics: beside memoized learning
# Rscript streams.R compare [train_pca50.csv] [picture.pdf]   beside stochastic learning and memoized births: score
#                                     against seconds, a picture for each set (picture-overlapping.pdf, ...)
suppressPackageStartupMessages(library(bnpvi))
here <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(here), "score-picture.R"))

what <- commandArgs(TRUE)
if (!length(what)) {
  stop("Usage: Rscript streams.R clusters|drift|million|grouped|compare [train_pca50.csv] [picture.pdf]")
}
alone <- bnp_moves(birth = FALSE, merge = FALSE)
moves <- list("no moves" = alone, merges = bnp_moves(birth = FALSE), "merges and splits" = bnp_moves())
free <- function(seed, ...) bnp_control("truncation_free", seed = seed, verbose = FALSE, ...)
timed <- function(expr) {
  start <- sum(proc.time()[1:2])
  fit <- expr
  list(fit = fit, seconds = sum(proc.time()[1:2]) - start)
}
line <- function(..., values, digits = 3) {
  cat(..., ": ", paste(format(round(values, digits)), collapse = " "), "\n", sep = "")
}
split_rows <- function(x, test) {
  out <- sample(nrow(x), test)
  list(train = x[-out, , drop = FALSE], test = x[out, , drop = FALSE])
}
overlapping <- function(n = 10000) {
  set.seed(11)
  centres <- matrix(runif(40, -10, 10), 20)
  centres[sample(20, n, replace = TRUE), ] + matrix(rnorm(2 * n, 0, 0.6), n)
}

if (what[1] == "clusters") {
  set.seed(1)
  sets <- list(asterisk = split_rows(as.matrix(asterisk[1:2]), 1000), overlapping = split_rows(overlapping(), 1000))
  for (name in names(sets)) {
    x <- sets[[name]]
    obs <- obs_gaussian(
      mean = colMeans(x$train), mean_strength = 0.01, df = 4, scale = diag(0.05 * apply(x$train, 2, var))
    )
    for (size in c(10, 100, 1000)) {
      for (kind in names(moves)) {
        runs <- lapply(1:5, function(seed) timed(bnp_mixture(x$train, obs, control = free(
          seed, batches = nrow(x$train) %/% size, moves = moves[[kind]]
        ))))
        fits <- lapply(runs, `[[`, "fit")
        line(name, ", batches of ", size, ", ", kind, ", K", values = vapply(fits, n_clusters, 1L))
        line("  held out", values = vapply(fits, heldout_loglik, 1, newdata = x$test))
        line("  seconds", values = vapply(runs, `[[`, 1, "seconds"), digits = 2)
      }
    }
    memoized <- timed(bnp_mixture(x$train, obs, control = bnp_control(seed = 1, verbose = FALSE)))
    line(name, ", memoized, K, held out, seconds",
      values = c(n_clusters(memoized$fit), heldout_loglik(memoized$fit, x$test), memoized$seconds)
    )
  }
}

# Rows from..to of three clusters of sd 0.5, of which `centre(t)` has one at time t.
rows_at <- function(t, centre) {
  fixed <- rbind(c(0, 0), c(6, 6))
  means <- t(vapply(t, function(s) rbind(fixed, centre(s))[sample(3, 1), ], numeric(2)))
  means + matrix(rnorm(2 * length(t), 0, 0.5), ncol = 2)
}

if (what[1] == "drift") {
  cases <- list(
    "moves 6 units" = function(t) c(6 * t / 20000, -6),
    "replaced at 10,000" = function(t) if (t <= 10000) c(0, -6) else c(-6, 0)
  )
  for (name in names(cases)) {
    for (half_life in c(Inf, 2000, 1000, 500)) {
      scores <- vapply(1:3, function(seed) {
        set.seed(seed)
        x <- rows_at(1:20000, cases[[name]])
        stream <- bnp_stream(function(i) if (i <= 190) x[100 * i - 99:0, ])
        obs <- obs_gaussian(mean = c(2, 0), mean_strength = 0.01, df = 4, scale = diag(2))
        fit <- bnp_mixture(stream, obs, control = free(seed, half_life = half_life))
        c(heldout_loglik(fit, x[19001:20000, ]), n_clusters(fit))
      }, numeric(2))
      line(name, ", half-life ", half_life, ", next 1,000 rows and K", values = scores)
    }
  }
}

if (what[1] == "million") {
  set.seed(1)
  centres <- matrix(rnorm(160, 0, 4), 20)
  batch <- function(i) if (i <= 1000) centres[sample(20, 1000, replace = TRUE), ] + matrix(rnorm(8000), 1000)
  making <- timed(for (i in 1:1000) batch(i))$seconds
  sizes <- numeric()
  watched <- function(i) {
    if (i %% 250 == 1) sizes <<- c(sizes, sum(gc()[, 2]))
    batch(i)
  }
  run <- timed(bnp_mixture(bnp_stream(watched), control = free(1)))
  line("a million rows of 8 columns, 20 clusters: K, seconds",
    values = c(n_clusters(run$fit), run$seconds - making), digits = 1
  )
  line("MB in use at rows 0, 250,000, 500,000, 750,000", values = sizes, digits = 0)
}

# Documents of 20 rows with proportions of their own of topics whose centres are given.
grouped_rows <- function(documents, centres, sd = 0.6) {
  share <- matrix(stats::rgamma(documents * nrow(centres), 0.2), documents)
  doc <- rep(seq_len(documents), each = 20)
  topic <- vapply(doc, function(d) sample.int(nrow(centres), 1, prob = share[d, ] + 1e-9), 1L)
  x <- centres[topic, ] + matrix(rnorm(2 * length(doc), 0, sd), ncol = 2)
  data.frame(x = x[, 1], y = x[, 2], doc = doc)
}

if (what[1] == "grouped") {
  set.seed(11)
  centres <- matrix(runif(40, -10, 10), 20)
  train <- grouped_rows(500, centres)
  test <- grouped_rows(100, centres)
  obs <- obs_gaussian(
    mean = colMeans(train[1:2]), mean_strength = 0.01, df = 4, scale = diag(0.05 * apply(train[1:2], 2, var))
  )
  # The density of a held-out row in its document, a batch of a stream that goes on from the fit; ten sequences each.
  score <- function(fit) {
    elbo_trace(bnp_topics(bnp_stream(function(i) if (i == 1) test), obs, id = "doc", start = fit, control = free(1)))
  }
  show <- function(label, control) {
    runs <- lapply(1:3, function(seed) {
      timed(suppressWarnings(bnp_topics(train, obs, id = "doc", control = control(seed))))
    })
    fits <- lapply(runs, `[[`, "fit")
    line(label, ", K", values = vapply(fits, n_clusters, 1L))
    line("  held out", values = vapply(fits, function(fit) utils::tail(score(fit)$score, 1), 1))
    line("  seconds", values = vapply(runs, `[[`, 1, "seconds"), digits = 2)
  }
  for (size in c(1, 10, 100)) {
    for (passes in c(1, 3)) {
      show(paste0("truncation free, batches of ", size, ", passes ", passes), function(seed) {
        free(seed, batches = 500 %/% size, max_laps = passes)
      })
    }
  }
  show("memoized", function(seed) bnp_control(seed = seed, verbose = FALSE))
}

if (what[1] == "compare") {
  sets <- list(overlapping = overlapping())
  picture <- grep("[.]pdf$", what, value = TRUE)
  table <- grep("[.]csv$", what, value = TRUE)
  if (length(table)) {
    table <- utils::read.csv(table)
    sets$fashion <- as.matrix(table[setdiff(names(table), "label")])[, 1:20]
  }
  for (name in names(sets)) {
    set.seed(2)
    x <- split_rows(sets[[name]], nrow(sets[[name]]) %/% 10)
    n <- nrow(x$train)
    runs <- data.frame()
    show <- function(kind, label, control) {
      run <- timed(suppressWarnings(bnp_mixture(x$train, control = control)))
      score <- heldout_loglik(run$fit, x$test)
      line(name, ", ", kind, label, ": seconds, K, held out", values = c(run$seconds, n_clusters(run$fit), score))
      runs <<- rbind(runs, data.frame(kind, seconds = run$seconds, score))
    }
    for (size in c(1, 10, 100, 500, 1000)) {
      if (size < 100 && n > 20000) next
      for (passes in c(1, 3)) {
        show(
          "truncation free", paste0(", batches of ", size, ", passes ", passes),
          free(1, batches = n %/% size, max_laps = passes)
        )
      }
    }
    good <- if (name == "overlapping") 20 else 60
    for (k in c(5, good, 200)) {
      for (laps in c(3, 20)) {
        show(paste("stochastic,", k, "clusters"), paste(", laps", laps), bnp_control("stochastic",
          seed = 1, k_init = k, batches = max(10, n %/% 500), max_laps = laps, verbose = FALSE
        ))
      }
    }
    for (laps in c(3, 10, 100)) {
      show("memoized with births", paste(", laps", laps), bnp_control(
        seed = 1, max_laps = laps, verbose = FALSE
      ))
    }
    if (length(picture)) {
      file <- sub("[.]pdf$", paste0("-", name, ".pdf"), picture)
      draw_scores(runs, file, name, "Log density of a held-out row", if (name == "overlapping") 0.8 else 9)
    }
  }
}
