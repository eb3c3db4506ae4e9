# Carnivores (carnivora of ape: 112 species; logarithms of body and brain weight) on the tree of their taxonomy, of
# which only the tips are observed. Tenths of the species in turn are held out; what is scored is the log density of
# their rows, given those of the other species and a fit to these, of a tree and of a mixture with the same Gaussians.
# Rscript trees-phylogeny.R
suppressPackageStartupMessages(library(bnpvi))

carnivora <- new.env()
utils::data("carnivora", package = "ape", envir = carnivora)
carnivora <- carnivora$carnivora
tree <- ape::as.phylo(~ SuperFamily / Family / Genus / Species, data = carnivora)
x <- log(as.matrix(carnivora[c("SW", "SB")]))
rownames(x) <- as.character(carnivora$Species)
x <- x[tree$tip.label, ]

quietly <- function(expr) suppressWarnings(expr, classes = "bnpvi_warning")
fold <- withr::with_seed(1, sample(rep_len(1:10, nrow(x))))
scores <- t(vapply(1:10, function(f) {
  held <- fold == f
  rest <- replace(x, cbind(rep(which(held), 2), rep(1:2, each = sum(held))), NA)
  control <- bnp_control(seed = f, verbose = FALSE)
  on_tree <- quietly(bnp_hmm(rest, parent = tree, na_action = "model", control = control))
  mixture <- quietly(bnp_mixture(x[!held, ], control = control))
  density <- function(x) sum(predict(on_tree, x, parent = tree, type = "logdensity", na_action = "model"))
  c(
    tree = (density(x) - density(rest)) / sum(held), mixture = heldout_loglik(mixture, x[held, ]),
    states = n_clusters(on_tree), clusters = n_clusters(mixture)
  )
}, numeric(4)))
gain <- scores[, "tree"] - scores[, "mixture"]
print(round(colMeans(scores), 3))
cat("gain of the tree, by species:", signif(mean(gain), 3), "+-", signif(sd(gain) / sqrt(10), 2), "\n")
