# Covariate patterns: the distinct rows of the columns made from covariates (R/covariate-design.R). Counts of
# rows are kept by pattern. The internal form of data has the number of each row's pattern, from 0, as
# `position`.

most_patterns <- 4096L
# The number of covariate patterns of transitions above which numeric covariates are rounded. Each pattern has
# its own K x K transitions, and global steps (updates of the parameters) go through all of them.
most_transition_patterns <- 1024L
rounded_transition_patterns <- 256L

# Finds the distinct rows of `value`, the covariate patterns: list(position, patterns) with the pattern of
# each row, from 0, and the patterns.
patterns_of <- function(value) {
  n <- nrow(value)
  number <- rep(1L, n)
  for (j in seq_len(ncol(value))) {
    own <- match(value[, j], unique(value[, j]))
    both <- number * (max(own, 1L) + 1) + own
    number <- match(both, unique(both))
  }
  first <- !duplicated(number)
  list(position = number - 1L, patterns = value[first, , drop = FALSE])
}

# The data frame of covariates with its numeric columns rounded: in a column with more than `groups` values
# they are replaced by means within groups of equal weight. Equal values stay together.
rounded_frame <- function(frame, variables, weights, groups) {
  for (name in intersect(variables, names(frame))) {
    v <- frame[[name]]
    if (!is_scale(v) || length(unique(v)) <= groups) next
    values <- as.double(v)
    at <- sort(unique(values))
    weight <- as.double(rowsum(weights, match(values, at)))
    middle <- cumsum(weight) - weight / 2
    group <- pmin(groups, floor(middle / sum(weight) * groups) + 1)
    mean <- as.double(rowsum(weight * at, group)) / pmax(as.double(rowsum(weight, group)), .Machine$double.xmin)
    empty <- as.double(rowsum(weight, group)) == 0
    mean[empty] <- as.double(tapply(at, group, mean))[empty]
    frame[[name]] <- on_scale_of(mean[match(group, sort(unique(group)))][match(values, at)], v)
  }
  frame
}

# Learns the covariate patterns of training data: list(design, position, patterns) with the design, to which
# `values` adds the variables of each pattern, and `shown` the values at which numbers are shown; the number of
# each row's pattern; and the columns of each pattern. weights: of the rows, NULL if each counts once. exact: the
# number of patterns up to which numbers are not rounded.
learn_patterns <- function(formula, frame, weights, arg, call, most = most_patterns, exact = most) {
  learned <- learn_design(formula, frame, weights, arg, call)
  found <- patterns_of(learned$value)
  used <- intersect(all.vars(learned$design$terms), names(frame))
  learned$design$values <- frame[used]
  variables <- used[vapply(frame[used], is_scale, NA)]
  learned$design$shown <- lapply(frame[variables], values_to_show)
  groups <- switch(min(length(variables), 3L) + 1L, 64L, 64L, 32L, 16L)
  rounded <- NULL
  while (nrow(found$patterns) > (if (is.null(rounded)) exact else most) && length(variables) && groups >= 2L) {
    coarse <- rounded_frame(frame, variables, weights, groups)
    found <- patterns_of(apply_design(learned$design, coarse, arg, call)$value)
    rounded <- groups
    groups <- groups %/% 2L
  }
  if (nrow(found$patterns) > most) {
    abort("covariates", c(
      "The covariates have {nrow(found$patterns)} different patterns; at most {most} can be taken.",
      i = "Combine levels of factors."
    ), call = call)
  }
  if (!is.null(rounded)) {
    cli::cli_inform(
      c(
        "For the fit each numeric covariate is rounded to at most {rounded} values, the means of groups of equal
         weight.",
        i = "There would be more than {exact} covariate patterns. Predictions use covariates as they are."
      ),
      class = c("bnpvi_message_rounded_covariates", "bnpvi_message")
    )
  }
  learned$design$rounded <- rounded
  rows <- if (is.null(rounded)) frame else coarse
  learned$design$values <- values_at(as.data.frame(rows)[used], !duplicated(found$position))
  c(list(design = learned$design), found)
}
