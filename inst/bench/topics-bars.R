# Are the ten bars found, from any start? Prints one line a fit.
# Rscript inst/bench/topics-bars.R [seeds]

library(bnpvi)

# 30 x 30 pixels, 5 horizontal and 5 vertical bars 6 pixels wide; documents of
# `tokens` pixels from 1 to 3 bars.
bars_corpus <- function(seed, documents = 1000, tokens = 200, side = 30, noise = 0.02) {
  set.seed(seed)
  width <- side / 5
  bar <- function(b, vertical) {
    grid <- matrix(0, side, side)
    at <- (b - 1) * width + seq_len(width)
    if (vertical) grid[, at] <- 1 else grid[at, ] <- 1
    as.double(grid)
  }
  topics <- rbind(t(sapply(1:5, bar, FALSE)), t(sapply(1:5, bar, TRUE)))
  topics <- (1 - noise) * topics / rowSums(topics) + noise / side^2
  counts <- t(vapply(seq_len(documents), function(d) {
    used <- sample(10, sample(3, 1))
    share <- rgamma(length(used), 1)
    drop(rmultinom(1, tokens, drop(share %*% topics[used, , drop = FALSE])))
  }, numeric(side^2)))
  list(counts = counts, topics = topics)
}

# Mean total variation distance between the bars and the topics nearest to them; sampling alone gives 0.05.
wrong_mass <- function(prob, topics) {
  distance <- apply(topics, 1, function(t) apply(prob, 1, function(p) sum(abs(p - t)) / 2))
  mean(apply(distance, 2, min))
}

seeds <- as.integer(c(commandArgs(TRUE), 10)[1])
results <- do.call(rbind, lapply(seq_len(seeds), function(seed) {
  corpus <- bars_corpus(seed)
  do.call(rbind, lapply(c(1, 50, 100), function(k_init) {
    seconds <- system.time(fit <- bnp_topics(corpus$counts, control = bnp_control(seed = seed, k_init = k_init)))[[3]]
    line <- data.frame(
      seed, k_init, k = n_clusters(fit), elbo = elbo(fit), wrong = wrong_mass(coef(fit)$prob, corpus$topics),
      laps = fit$laps, seconds = round(seconds, 1)
    )
    print(line, row.names = FALSE, digits = 8)
    line
  }))
}))
print(aggregate(cbind(exact = k == 10 & wrong < 0.1, seconds) ~ k_init, results, mean))
