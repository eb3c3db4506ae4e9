# Held-out density a row (nats), states, agreement with labels and seconds: given priors of obs_gaussian() and learned
# ones in sequences, planted ones and ones that come with R, MASS, nlme, ggplot2 (where they are installed) and this
# package. Of several sequences one is left out, of one a third in the order of its rows; means of up to three of these.
#
#   Rscript learned-sequences.R [first words of names of sets]
suppressPackageStartupMessages(library(bnpvi))

# Three sequences of n rows in all; states last 20 rows on average.
planted <- function(seed, n, k, d, spread) {
  withr::with_seed(seed, {
    shape <- lapply(seq_len(k), function(j) {
      sqrt(stats::rgamma(d, 4, 4)) * qr.Q(qr(matrix(stats::rnorm(d^2), d)))
    })
    centre <- matrix(stats::rnorm(k * d, sd = spread), k)
    chains <- lapply(1:3, function(i) {
      z <- rep(sample(k, n, TRUE), stats::rgeom(n, 1 / 20) + 1)[seq_len(n / 3)]
      x <- t(vapply(z, function(j) centre[j, ] + drop(stats::rnorm(d) %*% shape[[j]]), double(d)))
      list(x = matrix(x, length(z)), z = z)
    })
    list(x = lapply(chains, `[[`, "x"), z = lapply(chains, `[[`, "z"), k = k)
  })
}
sequences <- function(x, z = NULL) list(x = lapply(x, as.matrix), z = z)
in_thirds <- function(x) {
  x <- as.matrix(x)
  sequences(split.data.frame(x, ceiling(3 * seq_len(nrow(x)) / nrow(x))))
}
returns <- function(x) 100 * diff(log(as.matrix(x)))

capture <- split(mocap6[-(1:3)], mocap6$sequence)
actions <- split(as.integer(mocap6$action), mocap6$sequence)
sets <- list(
  "planted, 1 column, 3" = planted(1, 600, 3, 1, 4), "planted, 1 column, 10" = planted(2, 1800, 10, 1, 8),
  "planted, 2 columns, 5" = planted(3, 900, 5, 2, 3), "planted, 5 columns, 8" = planted(4, 1500, 8, 5, 1.5),
  "planted, 8 columns, 3" = planted(5, 300, 3, 8, 1.5), "planted, 12 columns, 4" = planted(6, 600, 4, 12, 1),
  "planted, 12 columns, 10" = planted(7, 1800, 10, 12, 1),
  beavers = sequences(list(beaver1["temp"], beaver2["temp"]), list(beaver1$activ, beaver2$activ)),
  "stock returns" = in_thirds(returns(EuStockMarkets)), lynx = in_thirds(log(lynx)),
  sunspots = in_thirds(sqrt(sunspot.year)), Nile = in_thirds(Nile), seatbelts = in_thirds(log(Seatbelts[, 1:4])),
  "air quality, cells missing" = in_thirds(airquality[1:4]), nottem = in_thirds(nottem), treering = in_thirds(treering)
)
if (requireNamespace("MASS", quietly = TRUE)) {
  sets <- c(sets, list(geyser = in_thirds(MASS::geyser), "S&P returns" = in_thirds(MASS::SP500)))
}
if (requireNamespace("nlme", quietly = TRUE)) {
  sets$ovary <- sequences(split(nlme::Ovary["follicles"], as.character(nlme::Ovary$Mare)))
}
if (requireNamespace("ggplot2", quietly = TRUE)) {
  sets$economics <- in_thirds(returns(ggplot2::economics[c("pce", "psavert", "uempmed", "unemploy")]))
}

measured <- function(set, out, learn) {
  control <- bnp_control(seed = out, verbose = FALSE)
  began <- proc.time()[["user.self"]]
  fit <- bnp_hmm(set$x[-out], obs = obs_gaussian(learn = learn), control = control, na_action = "model")
  seconds <- proc.time()[["user.self"]] - began
  z <- unname(unlist(set$z[-out]))
  known <- !is.na(z)
  ari <- if (is.null(z)) NA else adjusted_rand_index(unname(unlist(fitted(fit)))[known], z[known])
  c(heldout = heldout_loglik(fit, set$x[out]), k = n_clusters(fit), ari = ari, seconds = seconds)
}

sets <- c(sets, list(
  "motion capture, 4 columns" = sequences(lapply(capture, function(x) x[1:4]), actions),
  "motion capture" = sequences(capture, actions)
))

asked <- commandArgs(TRUE)
if (length(asked)) sets <- sets[Reduce(`|`, lapply(asked, startsWith, x = names(sets)))]
for (name in names(sets)) {
  set <- sets[[name]]
  mean <- vapply(c(given = FALSE, learned = TRUE), function(learn) {
    rowMeans(suppressWarnings(vapply(seq_len(min(3, length(set$x))), measured, double(4), set = set, learn = learn)))
  }, double(4))
  cat(sprintf(
    paste(
      "%-26s %5d %3d | held out %9.3f %9.3f %+7.3f | states %s %.1f %.1f | agreement %.2f %.2f |",
      "seconds %.3f %.3f\n"
    ), name, sum(vapply(set$x, nrow, 1L)), ncol(set$x[[1]]), mean[1, 1], mean[1, 2], mean[1, 2] - mean[1, 1],
    if (is.null(set$k)) "" else set$k, mean[2, 1], mean[2, 2], mean[3, 1], mean[3, 2], mean[4, 1], mean[4, 2]
  ))
  flush(stdout())
}
