# Data frames of several kinds of columns that others have fitted: clusters, agreement with the known groups and bound,
# from ten seeds; what is not installed (palmerpenguins, mlbench, poLCA, clustMixType, cluster) is left out.
#   Rscript inst/bench/mixed-data.R

suppressPackageStartupMessages(library(bnpvi))

there <- function(package) requireNamespace(package, quietly = TRUE)
from <- function(package, name) {
  where <- new.env()
  utils::data(list = name, package = package, envir = where)
  where[[name]]
}

show <- function(name, x, truth, obs = NULL) {
  ends <- vapply(1:10, function(seed) {
    seconds <- system.time(fit <- suppressWarnings(suppressMessages(
      bnp_mixture(x, obs, control = bnp_control(seed = seed, verbose = FALSE, max_laps = 1000), na_action = "model")
    )))[[1]]
    ari <- if (is.null(truth)) NA else adjusted_rand_index(fitted(fit), truth)
    c(k = n_clusters(fit), ari = ari, elbo = elbo(fit), seconds = seconds)
  }, numeric(4))
  k <- table(ends["k", ])
  cat(sprintf(
    "%-36s K %s, ARI %.3f, ELBO %.3f to %.3f, %.2f s\n", name, paste0(names(k), " (", k, ")", collapse = " "),
    stats::median(ends["ari", ]), min(ends["elbo", ]), max(ends["elbo", ]), stats::median(ends["seconds", ])
  ))
}

if (there("palmerpenguins")) {
  birds <- stats::na.omit(as.data.frame(palmerpenguins::penguins))
  x <- cbind(as.data.frame(scale(birds[3:6])), birds[c("sex", "island")])
  kind <- paste(birds$species, birds$sex)
  quarter <- 333^(-1 / 4) # the default share of the variances, without what makes it robust
  show("penguins, numbers", x[1:4], birds$species, obs_gaussian())
  show("penguins, numbers, scale n^(-1/4)", x[1:4], birds$species, obs_gaussian(scale = quarter))
  show("penguins, numbers, diagonal", x[1:4], birds$species, obs_gaussian("diagonal"))
  show("penguins, + sex + island", x, kind)
  show("penguins, + sex + island, n^(-1/4)", x, kind, obs_product(obs_gaussian(scale = quarter), obs_categorical()))
  show("penguins, + sex + island, diagonal", x, kind, obs_product(obs_gaussian("diagonal"), obs_categorical()))
  if (there("clustMixType")) {
    set.seed(1)
    ari <- vapply(1:10, function(i) {
      adjusted_rand_index(clustMixType::kproto(x, 6, verbose = FALSE)$cluster, kind)
    }, 1)
    cat(sprintf("penguins, k-prototypes told 6: ARI %.3f (median of 10), best %.3f\n", stats::median(ari), max(ari)))
  }
}
if (there("mlbench")) {
  zoo <- from("mlbench", "Zoo")
  show("zoo", zoo[1:16], zoo$type, obs_categorical())
  show("zoo, weights 1/2", zoo[1:16], zoo$type, obs_categorical(0.5))
  show("zoo, weights 1", zoo[1:16], zoo$type, obs_categorical(1))
  show("zoo, weights learned", zoo[1:16], zoo$type, obs_categorical(NULL))
}
if (there("mlbench")) {
  plants <- from("mlbench", "Soybean") # 35 factors, 2,337 cells missing, 19 diseases
  plants[] <- lapply(plants, factor, ordered = FALSE)
  show("Soybean", plants[-1], plants$Class, obs_categorical())
  women <- from("mlbench", "PimaIndiansDiabetes2") # 8 numbers, 652 cells missing
  show("Pima", scale(women[1:8]), women$diabetes, obs_gaussian())
}
if (there("cluster")) {
  flower <- from("cluster", "flower") # 18 rows
  flower[] <- lapply(flower, function(v) if (is.ordered(v)) as.integer(v) else v)
  show("flower", flower, NULL)
  if (there("clustMixType")) {
    set.seed(1)
    width <- vapply(2:6, function(k) {
      fit <- clustMixType::kproto(flower, k, nstart = 10, verbose = FALSE)
      clustMixType::validation_kproto(method = "silhouette", object = fit)
    }, 1)
    cat("flower, k-prototypes: silhouettes of 2 to 6 clusters", round(width, 3), "\n")
  }
}
if (there("poLCA")) {
  show("carcinoma", from("poLCA", "carcinoma"), NULL, obs_categorical())
  show("cheating", from("poLCA", "cheating")[1:4], NULL, obs_categorical())
}
