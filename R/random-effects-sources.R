# Random effects of individuals whose rows are in a source. All rows of an individual follow each other, so that
# its sums can be formed while the source is read. The spool (file of batches) has these sums, one row for each
# individual, and the engine learns from them as it does from data in memory.

# The model, the formula and the column of identifiers of a fit to a source: list(obs, formula, id). A term with a
# bar in the formula goes to the model and to `id`.
random_of_source <- function(formula, obs, id, call) {
  found <- split_random(formula, call)
  obs <- obs_with_random(obs, found$random, found$independent, call)
  split <- split_bar(found$formula, id_of_random(found$id, id, formula, call), call)
  check_bars(split$formula, call)
  list(obs = obs, formula = split$formula, id = id_column(split$id, call))
}

# The internal form of rows of a mixture that are in a piece of a source, with their individuals, if it has any.
piece_of_mixture <- function(x, obs, piece, arg, call, na_action) {
  data <- as_mixture_data(x, obs, arg, FALSE, call, na_action)
  with_individuals(data, piece$id, obs, arg, call, piece$id_column)
}

# Takes note of the individuals of a part of a source: their names, and whose each given row is.
add_individuals <- function(all, part) {
  all$individuals <- c(all$individuals, list(all$n_individuals + part$individuals$all))
  all$n_individuals <- all$n_individuals + length(part$individuals$all_names)
  all$individual_names <- c(all$individual_names, list(part$individuals$all_names))
}

# Sets the model by which sums are formed: the units of the covariates are those that the fit will find in the
# sample, too.
begin_sums <- function(all, obs, sample, call) {
  all$obs <- suppressMessages(resolve_obs(obs, sample, NULL, call), "bnpvi_message_few_rows")
  all$engine_d <- ncol(individual_sums(all$obs, sample[1L]))
}

# The rows that the engine has in place of those of a part: sums over the rows of each individual.
sums_of_part <- function(part, obs) {
  sums <- engine_individual_sums(part, obs)
  list(n = nrow(sums), d = ncol(sums), x = sums, starts = c(0L, nrow(sums)))
}

# The batch of each individual that has rows left, from one number for each individual of the source.
batches_of_individuals <- function(control, all, call) {
  of_given <- unlist(all$individuals)
  batch <- check_batch_numbers(control, all$n_individuals, "individuals", call)
  if (length(all$kept)) batch[sort(unique(of_given[unlist(all$kept)]))] else batch
}

# The sums that are in a spool (file of batches), individuals x numbers, as individual_sums() has them.
sums_in_spool <- function(data) {
  out <- matrix(0, data$n_individuals, data$engine_d, dimnames = list(data$individuals$names, NULL))
  for_batches(data, function(part, rows) out[rows, ] <<- part$x)
  out
}

# Whether what a description of a spool says of individuals belongs together.
are_individuals <- function(data) {
  if (is.null(data[["individual"]])) {
    return(is.null(data[["n_individuals"]]) && is.null(data[["individuals"]]))
  }
  number <- data$individual
  of <- data[["individuals"]]
  is.integer(number) && length(number) == data$n && identical(sort(unique(number)), seq_len(data$n_individuals)) &&
    is.character(of[["names"]]) && length(of$names) == data$n_individuals && is.character(of[["all_names"]]) &&
    is.integer(of[["all"]]) && is.integer(of[["of_given"]]) && length(of$all) == length(of$of_given)
}
