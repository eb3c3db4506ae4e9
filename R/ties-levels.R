# Warns of clusters that one column of levels cannot tell apart.

# Warns if a mixture has several clusters of rows with one column of levels, or of zeros and ones. Whatever the
# clusters are, the rows of one such column are draws from one distribution of levels. Repeated measures, known labels
# and weights that depend on covariates say more of them.
warn_of_levels_alone <- function(fit, data) {
  says_more <- has_individuals(data) || !is.null(data$class_sets) || has_covariates(fit$model$prior)
  levels_alone <- data$d == 1L && identical(obs_facts(fit$model$obs)$kind, "level")
  if (says_more || !levels_alone || n_clusters(fit) < 2L) {
    return(invisible())
  }
  cli::cli_warn(
    c(
      "One column of levels cannot tell clusters apart: any number of them fits it equally well.",
      i = "Add columns, or repeated measures ({.arg id})."
    ),
    class = c("bnpvi_warning_levels", "bnpvi_warning")
  )
}
