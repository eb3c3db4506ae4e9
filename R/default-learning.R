# Which priors of clusters are learned where the constructor of an observation model left it open (`learn = NULL`).

# Names of observation models (R/obs.R), by the class of fits: those whose prior is then learned, as they predict
# held-out rows better on most data and are badly hurt on none (inst/design/defaults.md).
learned_by_default <- list(
  bnp_mixture = c(
    "gaussian_full", "gaussian_diagonal", "gaussian_spherical", "gaussian_zero_mean", "lognormal_full",
    "lognormal_diagonal"
  )
)

# The model with `learn = TRUE` where it is to be learned in fits of this class by this algorithm. A model that drifts
# has a given prior.
with_default_learning <- function(obs, class, algorithm) {
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, with_default_learning, class, algorithm)
  learns <- obs$family %in% learned_by_default[[class]] && !has_drift(obs) && algorithm %in% c("memoized", "full")
  if (learns && is.null(obs$learn)) obs$learn <- TRUE
  obs
}
