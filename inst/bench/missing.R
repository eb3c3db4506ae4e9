# Missing values: small real tables of which a tenth of the cells was removed, and planted data frames.
#   Rscript missing.R tables      RMSE over removed cells, agreement, CPU seconds; peers that are installed
#   Rscript missing.R frames [n]  n frames of mixed-frames.R, complete and with a tenth of the cells removed
#   Rscript missing.R speed       a lap of 200,000 rows with and without 5 % of the cells

suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
what <- if (length(args)) args[1] else "tables"
control <- function(...) bnp_control(seed = 1, verbose = FALSE, max_laps = 1000, ...)

# Cells are removed at random; a row that lost everything gets its first cell back.
remove_cells <- function(x, seed, share = 0.1) {
  set.seed(seed)
  gone <- matrix(stats::runif(length(x)) < share, nrow(x))
  gone[rowSums(gone) == ncol(x), 1] <- FALSE
  list(x = replace(x, gone, NA), gone = gone)
}

with_medians <- function(x) apply(x, 2, function(v) replace(v, is.na(v), stats::median(v, na.rm = TRUE)))

cpu <- function(expr) system.time(expr)[["user.self"]]

tables <- function() {
  sets <- list(iris = list(x = iris[1:4], group = iris$Species))
  if (requireNamespace("mclust", quietly = TRUE)) {
    utils::data("diabetes", package = "mclust", envir = environment())
    sets$diabetes <- list(x = diabetes[2:4], group = diabetes$class)
  }
  for (name in names(sets)) {
    x <- scale(as.matrix(sets[[name]]$x))
    group <- sets[[name]]$group
    kmeans_labels <- function(x) {
      set.seed(1)
      stats::kmeans(with_medians(x), 3, nstart = 10)$cluster
    }
    rule <- function(x, how) switch(how,
      "from one cluster" = bnp_mixture(x, control = control(), na_action = "model"),
      "told 3" = bnp_mixture(x,
        prior = prior_dirichlet(3), control = control(), start = kmeans_labels(x), na_action = "model"
      ),
      "one Gaussian" = bnp_mixture(x, prior = prior_dirichlet(1), control = control(), na_action = "model")
    )
    for (seed in 1:2) {
      hidden <- remove_cells(x, seed)
      rmse <- function(filled) sqrt(mean((as.matrix(filled)[hidden$gone] - x[hidden$gone])^2))
      for (how in c("from one cluster", "told 3", "one Gaussian")) {
        complete <- rule(x, how)
        seconds <- cpu(fit <- rule(hidden$x, how))
        cat(sprintf(
          "%s, mask %d, %-16s: RMSE %.3f, K %d, ARI %.3f (complete data: K %d, %.3f), %.2f s\n", name, seed, how,
          rmse(predict(fit, hidden$x, type = "impute", na_action = "model")), n_clusters(fit),
          adjusted_rand_index(fitted(fit), group), n_clusters(complete), adjusted_rand_index(fitted(complete), group),
          seconds
        ))
      }
      cat(sprintf("%s, mask %d, medians: RMSE %.3f\n", name, seed, rmse(with_medians(hidden$x))))
      if (requireNamespace("mice", quietly = TRUE)) {
        seconds <- cpu(imputed <- mice::mice(hidden$x, m = 10, seed = 1, printFlag = FALSE))
        mean_of <- Reduce(`+`, lapply(1:10, function(i) as.matrix(mice::complete(imputed, i)))) / 10
        cat(sprintf("%s, mask %d, mice, mean of 10: RMSE %.3f, %.2f s\n", name, seed, rmse(mean_of), seconds))
      }
      if (requireNamespace("MGMM", quietly = TRUE)) {
        set.seed(1)
        seconds <- cpu(told <- tryCatch(suppressMessages(MGMM::FitGMM(hidden$x, k = 3)), error = function(e) NULL))
        if (!is.null(told)) {
          cat(sprintf("%s, mask %d, MGMM told 3: RMSE %.3f, ARI %.3f, %.2f s\n", name, seed, rmse(told@Completed),
            adjusted_rand_index(told@Assignments[, "Assignments"], group), seconds))
        }
      }
    }
  }
}

frames <- function(n) {
  own <- new.env()
  folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
  defines <- function(e) {
    is.call(e) && identical(e[[1]], as.name("<-")) && is.call(e[[3]]) && identical(e[[3]][[1]], as.name("function"))
  }
  for (e in Filter(defines, parse(file.path(folder, "mixed-frames.R")))) eval(e, own)
  ratios <- vapply(seq_len(n), function(seed) {
    frame <- own$make_frame(seed)
    obs <- obs_product(obs_poisson(columns = c("visits", "calls")), obs_gaussian(), obs_categorical())
    set.seed(100 + seed)
    gone <- matrix(stats::runif(prod(dim(frame$data))) < 0.1, nrow(frame$data))
    holes <- frame$data
    for (j in seq_along(holes)) holes[gone[, j], j] <- NA
    complete <- bnp_mixture(frame$data, obs, control = control())
    seconds <- cpu(fit <- bnp_mixture(holes, obs, control = control(), na_action = "model"))
    ari <- c(adjusted_rand_index(fitted(complete), frame$group), adjusted_rand_index(fitted(fit), frame$group))
    cat(sprintf(
      "frame %d: %d groups; complete K %d, ARI %.3f; with holes K %d, ARI %.3f, ratio %.3f, %.1f s\n", seed, frame$k,
      n_clusters(complete), ari[1], n_clusters(fit), ari[2], ari[2] / ari[1], seconds
    ))
    ari[2] / ari[1]
  }, 1)
  cat(sprintf("ratio of ARI: mean %.3f, range %.3f to %.3f\n", mean(ratios), min(ratios), max(ratios)))
}

speed <- function() {
  set.seed(1)
  n <- 2e5
  k <- 20
  group <- sample(k, n, TRUE)
  numbers <- matrix(stats::rnorm(8 * k, 0, 3), k)[group, ] + stats::rnorm(8 * n)
  colnames(numbers) <- paste0("x", 1:8)
  level <- matrix(sample(5, 8 * k, TRUE), k)
  factors <- lapply(1:8, function(j) factor(ifelse(stats::runif(n) < 0.6, level[group, j], sample(5, n, TRUE))))
  names(factors) <- paste0("f", 1:8)
  full <- data.frame(numbers, factors)
  holes <- full
  for (j in seq_along(holes)) holes[stats::runif(n) < 0.05, j] <- NA
  still <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  lap <- function(x) {
    fit <- bnp_mixture(x,
      control = control(moves = still, k_init = k, algorithm = "full", tol = 0), start = group, na_action = "model"
    )
    min(diff(fit$trace$seconds))
  }
  sets <- list(
    "numbers" = full[1:8], "numbers, holes" = holes[1:8], "factors" = full[9:16], "factors, holes" = holes[9:16],
    "both" = full, "both, holes" = holes
  )
  for (name in names(sets)) cat(sprintf("%-16s %.4f s a lap\n", name, lap(sets[[name]])))
}

switch(what,
  tables = tables(), frames = frames(if (length(args) > 1) as.integer(args[2]) else 10L), speed = speed(),
  stop("tables, frames or speed")
)
