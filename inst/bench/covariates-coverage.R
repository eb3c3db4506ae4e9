# Coverage of prevalence() of topics: how often intervals of nominal 90 % hold the planted expected proportions, and
# the planted difference of two groups. Corpora are drawn from the model, with four topics, a group and a day; `total`
# is the sum of the documents' Dirichlet parameters without covariates, which `alpha` of the prior supposes to be 0.5.
# `others` is the probability of a term of another topic over that of one of its own: topics are clear or blurred.
# With "words": intervals by draws given the words, prevalence(x = ), at one day, as each takes seconds.
#
#   Rscript covariates-coverage.R [corpora] [words] [settings, by number]
library(bnpvi)
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "record.R"))
corpora <- as.integer(c(commandArgs(TRUE), 30)[1])
by_draws <- "words" %in% commandArgs(TRUE)
wanted <- as.integer(commandArgs(TRUE)[-(1:2)])

topics <- 4
days <- if (by_draws) 3 else c(0, 3, 6, 9)
effect_of <- function(party, day) {
  outer(party == "b", c(1, -1, 0, 0)) + outer((day - 4.5) / 3, c(0, 0, 0.8, -0.8))
}
expected <- function(party, day) {
  e <- exp(effect_of(party, day))
  e / rowSums(e)
}
corpus <- function(seed, documents, tokens, total, others, terms = 40) {
  set.seed(seed)
  phi <- matrix(others, topics, terms)
  for (k in seq_len(topics)) phi[k, (k - 1) * 10 + 1:10] <- 1
  phi <- phi / rowSums(phi)
  about <- data.frame(party = sample(c("a", "b"), documents, TRUE), day = sample(0:9, documents, TRUE))
  prior <- total * exp(effect_of(about$party, about$day)) / topics
  theta <- matrix(rgamma(length(prior), prior), documents) + 1e-9
  theta <- theta / rowSums(theta)
  x <- t(vapply(seq_len(documents), function(d) drop(rmultinom(1, tokens, theta[d, ] %*% phi)), numeric(terms)))
  list(x = x, about = about, phi = phi)
}
# For each planted topic, the found topic that has most of its terms.
matched <- function(fit, phi) apply(phi %*% t(coef(fit)$prob), 1, which.max)

held <- function(documents, tokens, total, others) {
  counts <- c(weights = 0, contrast = 0, fits = 0, cases = 0)
  for (seed in seq_len(corpora)) {
    data <- corpus(seed, documents, tokens, total, others)
    fit <- bnp_topics(
      data$x, prior = prior_covariates(~ party + day, alpha = 0.5), covariates = data$about,
      control = bnp_control(seed = seed, restarts = 1, verbose = FALSE)
    )
    found <- matched(fit, data$phi)
    if (anyDuplicated(found)) next
    counts["fits"] <- counts["fits"] + 1
    inside <- function(table, truth) {
      sum(vapply(seq_len(topics), function(k) {
        rows <- table[table$topic == found[k], ]
        sum(rows$conf.low <= truth[, k] & truth[, k] <= rows$conf.high)
      }, 0))
    }
    for (day in days) {
      truth <- expected(c("a", "b"), rep(day, 2))
      words <- if (by_draws) data$x
      by <- prevalence(fit, by = "party", at = list(day = day), level = 0.9, x = words)
      difference <- prevalence(fit, by = "party", at = list(day = day), contrast = TRUE, level = 0.9, x = words)
      counts["weights"] <- counts["weights"] + inside(by, truth)
      counts["contrast"] <- counts["contrast"] + inside(difference, truth[2, , drop = FALSE] - truth[1, ])
      counts["cases"] <- counts["cases"] + topics
    }
  }
  counts
}
settings <- data.frame(
  documents = c(100, 400, 400, 400), tokens = c(100, 100, 100, 30), total = c(0.5, 0.5, 1.5, 0.5), others = 0.02
)
settings <- rbind(settings, transform(settings[2, ], others = 0.1))
for (i in if (length(wanted)) wanted else seq_len(nrow(settings))) {
  now <- settings[i, ]
  counts <- do.call(held, now)
  of <- c(counts[["weights"]] / 2, counts[["contrast"]]) / counts[["cases"]]
  name <- sprintf(
    "%d documents of %d tokens, total %.1f, others %.2f", now$documents, now$tokens, now$total, now$others
  )
  cat(sprintf(
    "%s: %d fits of %d; 90 %% intervals hold proportions %.3f, differences %.3f\n", name, counts[["fits"]], corpora,
    of[1], of[2]
  ))
  record(
    name, "coverage of 90 % intervals: proportions by group and day, differences of groups",
    sprintf("%.3f, %.3f", of[1], of[2])
  )
}
