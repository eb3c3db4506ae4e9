# Held-out density a row (nats), clusters, agreement with labels, seconds and bound: given priors of obs_ar() in
# sequences and of obs_regression() in mixtures, and learned ones. Of several sequences one is left out, of one a third
# in the order of its rows; of other rows a random third. Means of up to three of these.
#
#   Rscript learned-coefficients.R [directory]     one with slds_rotations.csv and npreg.csv adds these
suppressPackageStartupMessages(library(bnpvi))
folder <- c(commandArgs(TRUE), ".")[1]
found <- function(file) list.files(folder, file, recursive = TRUE, full.names = TRUE)[1]

report <- function(name, measure) {
  mean <- vapply(c(given = FALSE, learned = TRUE), function(learn) {
    rowMeans(suppressWarnings(measure(learn)))
  }, double(5))
  cat(sprintf(
    paste(
      "%-26s | held out %9.3f %9.3f %+7.3f | clusters %.1f %.1f | agreement %.2f %.2f | seconds %.3f %.3f |",
      "bound %.1f %.1f\n"
    ), name, mean[1, 1], mean[1, 2], mean[1, 2] - mean[1, 1], mean[2, 1], mean[2, 2], mean[3, 1], mean[3, 2],
    mean[4, 1], mean[4, 2], mean[5, 1], mean[5, 2]
  ))
}
measured <- function(make, heldout, z) {
  began <- proc.time()[["user.self"]]
  fit <- make()
  seconds <- proc.time()[["user.self"]] - began
  known <- !is.na(z)
  ari <- if (is.null(z)) NA else adjusted_rand_index(unname(unlist(fitted(fit)))[known], unname(z)[known])
  c(heldout_loglik(fit, heldout), n_clusters(fit), ari, seconds, elbo(fit))
}

# Sequences ----------------------------------------------------------------------------------------------------------

rotating <- function(seed, n, d, k) {
  withr::with_seed(seed, {
    move <- lapply(seq_len(k), function(j) {
      turn <- qr.Q(qr(matrix(stats::rnorm(d^2), d)))
      turn * stats::runif(1, 0.6, 0.98)
    })
    spread <- stats::rexp(k) + 0.3
    lapply(1:3, function(i) {
      z <- rep(sample(k, n, TRUE), stats::rgeom(n, 1 / 30) + 1)[seq_len(n / 3)]
      x <- matrix(0, n / 3, d)
      for (t in 2:(n / 3)) x[t, ] <- move[[z[t]]] %*% x[t - 1, ] + spread[z[t]] * stats::rnorm(d)
      list(x = x, z = z)
    })
  })
}
in_thirds <- function(x) {
  x <- as.matrix(x)
  lapply(split.data.frame(x, ceiling(3 * seq_len(nrow(x)) / nrow(x))), function(part) list(x = part))
}
series <- list(
  "planted, 1 column, 3" = rotating(1, 600, 1, 3), "planted, 2 columns, 4" = rotating(2, 900, 2, 4),
  "planted, 4 columns, 5" = rotating(3, 1200, 4, 5), "planted, 8 columns, 3" = rotating(4, 600, 8, 3),
  lynx = in_thirds(log(lynx)), sunspots = in_thirds(sqrt(sunspot.year)), Nile = in_thirds(Nile),
  nottem = in_thirds(nottem), seatbelts = in_thirds(log(Seatbelts[, 1:4])),
  "stock prices" = in_thirds(log(EuStockMarkets)),
  beavers = list(list(x = as.matrix(beaver1["temp"])), list(x = as.matrix(beaver2["temp"])))
)
if (requireNamespace("ggplot2", quietly = TRUE)) {
  series$economics <- in_thirds(log(ggplot2::economics[c("pce", "psavert", "uempmed", "unemploy")]))
}
if (!is.na(found("slds_rotations.csv"))) {
  rotations <- utils::read.csv(found("slds_rotations.csv"))
  for (noise in unique(rotations$noise)) {
    some <- rotations[rotations$noise == noise, ]
    series[[paste("rotations, noise", noise)]] <- lapply(split(some, some$seed), function(one) {
      list(x = as.matrix(one[c("y1", "y2")]), z = one$mode)
    })
  }
}
for (name in names(series)) {
  set <- series[[name]]
  intercept <- is.null(set[[1]]$z)
  report(name, function(learn) {
    vapply(seq_len(min(3, length(set))), function(out) {
      x <- lapply(set[-out], `[[`, "x")
      z <- unlist(lapply(set[-out], function(one) if (!is.null(one$z)) c(NA, one$z[-1]))) # the first row has no lag
      measured(function() {
        control <- bnp_control(seed = out, verbose = FALSE)
        bnp_hmm(x, obs = obs_ar(intercept = intercept, learn = learn), control = control)
      }, list(set[[out]]$x), z)
    }, double(5))
  })
}

# Mixtures of regressions --------------------------------------------------------------------------------------------

lines <- function(seed, n, k, covariates, responses = 1) {
  withr::with_seed(seed, {
    z <- sample(k, n, TRUE)
    x <- matrix(stats::rnorm(n * covariates), n)
    slope <- array(stats::rnorm(k * covariates * responses, sd = 2), c(k, covariates, responses))
    intercept <- matrix(stats::rnorm(k * responses, sd = 3), k)
    spread <- stats::runif(k, 0.2, 1)
    y <- vapply(seq_len(responses), function(j) {
      intercept[z, j] + rowSums(x * matrix(slope[z, , j], n)) + spread[z] * stats::rnorm(n)
    }, double(n))
    list(data = I(list(y = y, x = x)), formula = y ~ x, z = z)
  })
}
frame_of <- function(set) {
  set$data <- data.frame(y = set$data$y, x = set$data$x)
  y <- grep("^y", names(set$data), value = TRUE)
  left <- if (length(y) > 1) paste0("cbind(", toString(y), ")") else y
  set$formula <- stats::reformulate(setdiff(names(set$data), y), str2lang(left))
  set
}
of_data <- function(data, formula, z = NULL) list(data = data, formula = formula, z = z)
sets <- c(lapply(list(
  "planted, 1 covariate, 3" = lines(1, 300, 3, 1), "planted, 4 covariates, 5" = lines(2, 900, 5, 4),
  "planted, 8 covariates, 3" = lines(3, 300, 3, 8), "planted, 2 responses, 4" = lines(4, 600, 4, 2, 2),
  "planted, 10 covariates, 1" = lines(5, 80, 1, 10)
), frame_of), list(
  faithful = of_data(faithful, waiting ~ eruptions),
  iris = of_data(iris, Petal.Length ~ Sepal.Length + Sepal.Width, iris$Species),
  "iris, 2 responses" = of_data(iris, cbind(Petal.Length, Petal.Width) ~ Sepal.Length + Sepal.Width, iris$Species),
  crabs = of_data(MASS::crabs, FL ~ RW + CL + CW + BD, paste(MASS::crabs$sp, MASS::crabs$sex)),
  boston = of_data(MASS::Boston, medv ~ lstat + rm + dis + nox), quakes = of_data(quakes, mag ~ stations + depth),
  chicks = of_data(ChickWeight, weight ~ Time), mtcars = of_data(mtcars, mpg ~ wt + hp),
  swiss = of_data(swiss, Fertility ~ .), cars = of_data(MASS::Cars93, MPG.highway ~ Weight + Horsepower),
  whiteside = of_data(MASS::whiteside, Gas ~ Temp, MASS::whiteside$Insul), mcycle = of_data(MASS::mcycle, accel ~ times)
))
if (!is.na(found("npreg.csv"))) sets$npreg <- of_data(utils::read.csv(found("npreg.csv")), yn ~ x + I(x^2))
for (name in names(sets)) {
  set <- sets[[name]]
  n <- nrow(set$data)
  report(name, function(learn) {
    vapply(1:3, function(split) {
      some <- withr::with_seed(split, sample(n, round(2 * n / 3)))
      measured(function() {
        control <- bnp_control(seed = split, verbose = FALSE)
        bnp_mixture(set$formula, set$data[some, ], obs_regression(learn = learn), control = control)
      }, set$data[-some, ], set$z[some])
    }, double(5))
  })
}
