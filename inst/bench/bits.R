# Bits of fits: their ELBO to the last digit, K, laps, labels and sizes, over families, priors, observation
# models and algorithms. Moving code must not change any of them.
#
#   Rscript bits.R record table.tsv      writes the table
#   Rscript bits.R compare table.tsv     says which fits differ from it, and by how much
#
# Bits depend on the instruction set: the table names the kernels it was made with.
library(bnpvi)

control <- function(..., restarts = 1) {
  bnp_control(seed = 7, max_laps = 40, verbose = FALSE, restarts = restarts, ...)
}
no_moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE)
set.seed(20)
groups <- matrix(rnorm(20, sd = 6), 10)
planted <- groups[sample(10, 3000, TRUE), ] + rnorm(6000)
counts <- matrix(rpois(300 * 30, 30 * prop.table(rep(1:3, 10))), 300, byrow = TRUE)
binary <- as.matrix(animals)
storage.mode(binary) <- "double"
birds_part <- birds$counts[1:150, ]
steps <- list(cbind(beaver1$temp), cbind(beaver2$temp))
capture <- lapply(split(mocap6[-(1:3)], mocap6$sequence), as.matrix)
sums <- matrix(rbinom(300 * 6, 1, 0.4), 300) %*% matrix(rnorm(6 * 12, sd = 2), 6) + rnorm(3600)
gaps <- replace(sums, sample(3600, 200), NA)
turns <- lapply(1:3, function(i) apply(matrix(rnorm(240), 120), 2, cumsum) + rnorm(240))
blocks <- sample(6, 120, TRUE)
linked <- matrix(rbinom(14400, 1, ifelse(outer(blocks, blocks, "=="), 0.4, 0.03)), 120)
linked[lower.tri(linked, TRUE)] <- 0
linked <- linked + t(linked)

fits <- list(
  dp_full = quote(bnp_mixture(faithful, control = control())),
  dp_planted_batches = quote(bnp_mixture(planted, control = control(batches = 7))),
  dp_planted_algorithm_full = quote(bnp_mixture(planted, control = control(algorithm = "full"))),
  dp_planted_stochastic = quote(bnp_mixture(planted, control = control(algorithm = "stochastic", k_init = 20))),
  dp_planted_sparse = quote(bnp_mixture(planted, control = control(sparsity = 2, batches = 3))),
  dp_planted_candidates =
    quote(bnp_mixture(planted, control = control(sparsity = 2, candidates = 6, k_init = 30, batches = 4))),
  dp_planted_threads = quote(bnp_mixture(planted, control = control(batches = 7, threads = 2))),
  dp_planted_adopt = quote(bnp_mixture(planted, control = control(moves = bnp_moves(adopt = TRUE)))),
  dp_planted_many = quote(bnp_mixture(planted, control = control(k_init = 40, moves = bnp_moves(birth = FALSE)))),
  dp_diagonal = quote(bnp_mixture(planted, obs_gaussian("diagonal"), control = control(batches = 2))),
  dp_zero_mean = quote(bnp_mixture(asterisk[, 1:2], obs_gaussian("zero_mean"), control = control(batches = 2))),
  dp_ar = quote(bnp_mixture(capture[[1]], obs_ar(), control = control())),
  dp_multinomial = quote(bnp_mixture(counts, obs_multinomial(), control = control(batches = 2))),
  dp_multinomial_learned = quote(bnp_mixture(counts, obs_multinomial(NULL), control = control())),
  dp_bernoulli = quote(bnp_mixture(binary, obs_bernoulli(), control = control())),
  dirichlet_full = quote(bnp_mixture(planted, prior = prior_dirichlet(10), control = control(restarts = 2))),
  dirichlet_stochastic =
    quote(bnp_mixture(planted, prior = prior_dirichlet(10), control = control(algorithm = "stochastic"))),
  dirichlet_random = quote(bnp_mixture(planted, prior = prior_dirichlet(10), control = control(init = "random"))),
  hdp_whales = quote(bnp_topics(whales$counts, control = control(batches = 2))),
  hdp_whales_full = quote(bnp_topics(whales$counts, control = control(algorithm = "full", k_init = 20))),
  hdp_whales_stochastic = quote(bnp_topics(whales$counts, control = control(algorithm = "stochastic", k_init = 20))),
  hdp_whales_learned = quote(bnp_topics(whales$counts, obs_multinomial(NULL), control = control(k_init = 10))),
  hdp_birds_sparse = quote(bnp_topics(birds_part, control = control(sparsity = 2, k_init = 20))),
  hdp_bars = quote(bnp_topics(bars$counts, control = control(batches = 3))),
  hdp_rows = quote(bnp_topics(planted[1:600, ], obs_gaussian(), id = rep(1:30, each = 20), control = control())),
  lda_whales = quote(bnp_topics(whales$counts, prior = prior_lda(8), control = control())),
  lda_stochastic = quote(bnp_topics(whales$counts, prior = prior_lda(8), control = control(algorithm = "stochastic"))),
  hdp_hmm_beavers = quote(bnp_hmm(steps, prior = prior_hdp_hmm(sticky = 50), control = control())),
  hdp_hmm_mocap = quote(bnp_hmm(capture, obs = obs_ar(), prior = prior_hdp_hmm(sticky = 50), control = control())),
  hdp_hmm_mocap_batches =
    quote(bnp_hmm(capture, prior = prior_hdp_hmm(), control = control(batches = 3, k_init = 15))),
  hdp_hmm_mocap_sparse = quote(bnp_hmm(capture, prior = prior_hdp_hmm(), control = control(sparsity = 3, k_init = 12))),
  hdp_hmm_full = quote(bnp_hmm(capture, control = control(algorithm = "full", k_init = 8, moves = no_moves))),
  hdp_hmm_stochastic = quote(bnp_hmm(capture, control = control(algorithm = "stochastic", k_init = 8))),
  hmm_mocap = quote(bnp_hmm(capture, prior = prior_hmm(6), control = control())),
  hmm_blocks = quote(bnp_hmm(capture, prior = prior_hmm(6, sticky = 20), control = control(init = "blocks"))),
  hmm_stochastic = quote(bnp_hmm(capture, prior = prior_hmm(6), control = control(algorithm = "stochastic"))),
  features_full = quote(bnp_features(sums, control = control(restarts = 2))),
  features_batches = quote(bnp_features(gaps, na_action = "model", control = control(batches = 3))),
  features_sparse = quote(bnp_features(sums, prior = prior_beta_bernoulli(10), control = control(sparsity = 3))),
  lds_walks = quote(bnp_hmm(turns, obs = obs_lds(), control = control(restarts = 2))),
  lds_mocap = quote(bnp_hmm(capture[1:2], obs = obs_lds(loadings = 2), prior = prior_hmm(3), control = control())),
  lds_learned =
    quote(bnp_hmm(turns, obs = obs_lds(), prior = prior_hdp_hmm(alpha = gamma_prior(2, 1)), control = control())),
  network_blocks = quote(bnp_network(linked, prior = prior_dp(), control = control(restarts = 2))),
  network_degrees = quote(bnp_network(linked, obs_links(degree = TRUE), prior_dp(), control = control())),
  network_fixed = quote(bnp_network(linked, prior = prior_dp(), control = control(k_init = 5, moves = FALSE))),
  network_gamma = quote(bnp_network(linked, obs_links(degree = TRUE), control = control(threads = 2))),
  network_plain = quote(bnp_network(linked, obs_links(degree = FALSE), control = control(restarts = 2))),
  network_general = quote(bnp_network(linked[1:60, 1:60], obs_links(assortative = FALSE), control = control())),
  network_stochastic = quote(bnp_network(linked, control = control(algorithm = "stochastic", k_init = 6))),
  network_blocks_stochastic =
    quote(bnp_network(linked, prior = prior_dp(), control = control(algorithm = "stochastic", k_init = 6)))
)

one <- function(name) {
  seconds <- system.time(fit <- suppressWarnings(eval(fits[[name]])))[["user.self"]]
  data.frame(
    fit = name, elbo = sprintf("%a", fit$elbo), k = fit$state$k, laps = fit$laps,
    labels = rlang::hash(as.integer(fit$labels)), sizes = rlang::hash(as.double(fit$sizes)),
    seconds = round(seconds, 2)
  )
}

arguments <- commandArgs(TRUE)
chosen <- if (length(arguments) > 2) grep(arguments[3], names(fits), value = TRUE) else names(fits)
table <- do.call(rbind, lapply(chosen, one))
table$kernels <- attr(bnpvi:::engine_kernel_versions(), "chosen")
if (arguments[1] == "record") {
  write.table(table, arguments[2], sep = "\t", row.names = FALSE, quote = FALSE)
  print(table[c("fit", "k", "laps", "seconds")])
} else {
  before <- read.delim(arguments[2], colClasses = "character")
  before <- before[match(table$fit, before$fit), ]
  same <- Reduce(
    `&`, lapply(c("elbo", "k", "laps", "labels", "sizes"), function(f) as.character(table[[f]]) == before[[f]])
  )
  cat(sum(same), "of", length(same), "fits have the same bits;", sum(table$seconds), "CPU seconds, before",
      sum(as.numeric(before$seconds)), "\n")
  number <- function(hex) as.numeric(hex)
  changed <- !same
  if (any(changed)) {
    print(data.frame(
      fit = table$fit, before = number(before$elbo), now = number(table$elbo),
      gain = number(table$elbo) - number(before$elbo), k_before = before$k, k = table$k,
      laps_before = before$laps, laps = table$laps
    )[changed, ], row.names = FALSE, digits = 9)
  }
  quit(status = as.integer(any(changed)))
}
