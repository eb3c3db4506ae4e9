# Priors of zeros and ones and of levels, given and learned: held-out log density a row, clusters, agreement with labels
# and user seconds, means of three splits (two thirds to fit) with the same seeds.
#
#   Rscript inst/bench/learned-levels.R [set ...]      mlbench's sets where mlbench is installed
suppressMessages(library(bnpvi))

latent_classes <- function(n, k, columns, levels, sharpness) {
  z <- sample.int(k, n, TRUE)
  x <- lapply(seq_len(columns), function(j) {
    prob <- t(replicate(k, prop.table(rgamma(levels, sharpness) + 1e-9)))
    factor(vapply(z, function(class) sample.int(levels, 1L, prob = prob[class, ]), 1L), seq_len(levels))
  })
  list(x = stats::setNames(as.data.frame(x), paste0("c", seq_len(columns))), label = z)
}
as_factors <- function(x) data.frame(lapply(x, function(v) factor(as.character(v))))
as_ones <- function(x) matrix(1 * (as.matrix(x) == 2), nrow(x))

sets <- list(
  "animals" = function() list(x = animals),
  "planted ones, 10 columns, 3" = function() within(latent_classes(300, 3, 10, 2, 0.5), x <- as_ones(x)),
  "planted ones, 30 columns, 6" = function() within(latent_classes(500, 6, 30, 2, 0.3), x <- as_ones(x)),
  "planted ones, 100 columns, 4" = function() within(latent_classes(200, 4, 100, 2, 1), x <- as_ones(x)),
  "planted levels, 6 columns of 4, 3" = function() latent_classes(500, 3, 6, 4, 0.5),
  "planted levels, 12 columns of 3, 5" = function() latent_classes(600, 5, 12, 3, 1),
  "planted levels, 8 columns of 10, 4" = function() latent_classes(800, 4, 8, 10, 0.3),
  "Titanic" = function() {
    people <- as.data.frame(Titanic)
    list(x = people[rep(seq_len(nrow(people)), people$Freq), 1:4])
  },
  "hair and eyes" = function() {
    people <- as.data.frame(HairEyeColor)
    list(x = people[rep(seq_len(nrow(people)), people$Freq), 1:3])
  }
)
if (requireNamespace("mlbench", quietly = TRUE)) {
  of_mlbench <- function(name) {
    utils::data(list = name, package = "mlbench", envir = environment())
    get(name)
  }
  sets <- c(sets, list(
    "votes, complete rows" = function() {
      votes <- stats::na.omit(of_mlbench("HouseVotes84"))
      list(x = matrix(1 * (as.matrix(votes[-1]) == "y"), nrow(votes)), label = votes$Class)
    },
    "votes, levels, with gaps" = function() {
      votes <- of_mlbench("HouseVotes84")
      list(x = votes[-1], label = votes$Class, na_action = "model")
    },
    "zoo, 15 columns" = function() {
      zoo <- of_mlbench("Zoo")
      list(x = 1 * as.matrix(zoo[vapply(zoo, is.logical, NA)]), label = zoo$type)
    },
    "zoo, levels" = function() {
      zoo <- of_mlbench("Zoo")
      list(x = data.frame(lapply(zoo[-17], factor)), label = zoo$type)
    },
    "breast cancer, 9 columns" = function() {
      cells <- stats::na.omit(of_mlbench("BreastCancer"))
      list(x = as_factors(cells[2:10]), label = cells$Class)
    },
    "soybeans, 35 columns" = function() {
      beans <- of_mlbench("Soybean")
      list(x = as_factors(beans[-1]), label = beans$Class, na_action = "model")
    },
    "splices, 180 columns, 600 rows" = function() {
      dna <- of_mlbench("DNA")[seq(1, 3186, length.out = 600), ]
      list(x = matrix(1 * (as.matrix(dna[-181]) == "1"), nrow(dna)), label = dna$Class)
    }
  ))
}

measured <- function(set, split, learned) {
  x <- set$x
  ones <- is.matrix(x)
  row <- sample.int(nrow(x))
  out <- row %% 3 == split %% 3
  obs <- if (ones) obs_bernoulli(learn = learned) else obs_categorical(if (learned) "learned" else "perks")
  na_action <- if (is.null(set$na_action)) "fail" else set$na_action
  seconds <- system.time(fit <- suppressWarnings(suppressMessages(bnp_mixture(
    x[!out, , drop = FALSE], obs, control = bnp_control(seed = split, threads = 1, verbose = FALSE),
    na_action = na_action
  ))))[["user.self"]]
  c(
    heldout = suppressWarnings(heldout_loglik(fit, x[out, , drop = FALSE])), clusters = n_clusters(fit),
    agreement = if (is.null(set$label)) NA else adjusted_rand_index(set$label[!out], unname(fitted(fit))),
    seconds = seconds, bound = elbo(fit)
  )
}

asked <- commandArgs(TRUE)
for (name in if (length(asked)) asked else names(sets)) {
  set.seed(1)
  set <- sets[[name]]()
  splits <- lapply(1:3, function(split) {
    lapply(c(given = FALSE, learned = TRUE), function(learned) {
      set.seed(split)
      measured(set, split, learned)
    })
  })
  mean_of <- function(kind) Reduce(`+`, lapply(splits, `[[`, kind)) / 3
  given <- mean_of("given")
  learned <- mean_of("learned")
  both <- function(what, digits) {
    paste(formatC(c(given[[what]], learned[[what]]), digits, format = "f"), collapse = ", ")
  }
  cat("|", paste(c(
    name, paste(dim(set$x), collapse = ", "), both("heldout", 3), both("clusters", 1), both("agreement", 2),
    both("seconds", 3), both("bound", 1)
  ), collapse = " | "), "|\n")
}
