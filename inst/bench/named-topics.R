# Topics named by keywords on the articles about whales: names, how well the data fit them, and the bound beside a fit
# without keywords that goes on from the same place; with a given and a learned prior of terms. Rscript named-topics.R
library(bnpvi)

lists <- list(
  whaling = c("whaling", "whaler", "oil", "catch"), orcas = c("killer", "orca"),
  captivity = c("park", "captiv*", "show"), porpoises = "porpoise*"
)
x <- whales$counts
for (term_prior in list(0.1, NULL)) {
  for (seed in 1:2) {
    control <- bnp_control(seed = seed, restarts = 1L)
    seconds <- system.time(
      named <- bnp_topics(x, obs_multinomial(term_prior, keywords = lists), control = control)
    )[[3L]]
    open <- bnp_topics(x, obs_multinomial(term_prior), control = control, start = named)
    cat(sprintf(
      "term_prior %s, seed %d: %d topics, bound %.1f in %.0f s; without keywords from there %.1f\n",
      if (is.null(term_prior)) "learned" else format(term_prior), seed, n_clusters(named), elbo(named), seconds,
      elbo(open)
    ))
    cat(paste0("  ", bnpvi:::described_keywords(named), "\n"), sep = "")
  }
}

# The same lists in other programs, where they are installed: the terms that they find for each.
if (requireNamespace("seededlda", quietly = TRUE)) {
  model <- seededlda::textmodel_seededlda(quanteda::as.dfm(x), quanteda::dictionary(lists), residual = 8L)
  print(seededlda::terms(model, 8L))
} else {
  cat("seededlda is not installed: not run\n")
}
