# Reads random effects from formulas such as y ~ t + (1 + t | id): coefficients that differ between
# individuals.

# Splits a formula with random effects. Returns list(formula, random, independent, id): the formula without
# its bracketed term with a bar; the part of this term before the bar, as a one-sided formula; whether the bar
# is `||`; and the name of the column after the bar. Only `formula` is returned if there is no such term, or
# one that check_bars() refuses.
split_random <- function(formula, call) {
  plain <- list(formula = formula)
  if (length(formula) != 3L) {
    return(plain)
  }
  found <- list()
  without <- function(term) {
    if (is.call(term) && identical(term[[1L]], quote(`(`)) && is_bar(term[[2L]])) {
      found <<- c(found, list(term[[2L]]))
      return(NULL)
    }
    if (!is.call(term) || !identical(term[[1L]], quote(`+`))) {
      return(term)
    }
    sides <- Filter(Negate(is.null), lapply(as.list(term)[-1L], without))
    switch(length(sides) + 1L, NULL, sides[[1L]], as.call(c(quote(`+`), sides)))
  }
  right <- without(formula[[3L]])
  if (!length(found)) {
    return(plain)
  }
  if (length(found) > 1L) {
    bad_random("The formula has {length(found)} terms with a bar; one is taken.",
      "Put them into one: {.code (1 + t | id)}.", call)
  }
  bar <- found[[1L]]
  if (!is.name(bar[[3L]])) {
    bad_random("After the bar stands {.code {paste(deparse(bar[[3L]]), collapse = ' ')}}, which is no column.",
      "Name the column that says whose a row is: {.code (1 + t | id)}.", call)
  }
  formula[[3L]] <- right %||% 1
  random <- stats::as.formula(call("~", bar[[2L]]), environment(formula))
  list(
    formula = formula, random = random, independent = identical(bar[[1L]], quote(`||`)), id = as.character(bar[[3L]])
  )
}

# Refuses random effects for data in a stream.
need_no_random <- function(formula, call) {
  if (!is.null(split_random(formula, call)$random)) {
    bad_random("Random effects are of individuals, whose rows a stream does not bring together.",
      "Fit data in memory or in a source: a fit works on sums over the rows of each individual.", call)
  }
}

# Reads obs_regression(random = ): a one-sided formula, in which `||` says that effects are independent, as in
# ~ (1 + t || id).
split_independent <- function(random) {
  term <- random[[2L]]
  if (is.call(term) && identical(term[[1L]], quote(`(`))) term <- term[[2L]]
  independent <- is_bar(term) && identical(term[[1L]], quote(`||`))
  if (independent) random[[2L]] <- term[[2L]]
  list(random = random, independent = independent)
}

is_bar <- function(term) is.call(term) && as.character(term[[1L]])[1L] %in% c("|", "||")

bad_random <- function(why, remedy, call, env = rlang::caller_env()) {
  abort("formula", c(why, i = remedy), call = call, .envir = env)
}

# The observation model with the random effects that the term with a bar in the user's formula describes.
obs_with_random <- function(obs, random, independent, call) {
  if (is.null(random)) {
    return(obs)
  }
  obs <- obs %||% obs_of_responses()
  if (is_obs(obs) && inherits(obs, "obs_random_effects")) {
    bad_random("Random effects are both in the formula and in {.arg random}.", "Give one of them.", call)
  }
  if (!is_obs(obs) || !inherits(obs, "obs_regression")) {
    check_obs_of_responses(obs, "bnp_mixture", call)
    bad_random("A formula with random effects needs {.fn obs_regression}.", "Leave the term in brackets out.", call)
  }
  with_effects(obs, random, NULL, NULL, TRUE, call, independent)
}

# The identifiers of individuals: `id` of the user's call, or the column after the bar in the formula.
id_of_random <- function(name, id, formula, call) {
  if (is.null(name)) {
    return(id)
  }
  of_call <- id_column(id, call)
  if (!is.null(id) && !identical(of_call, name)) {
    bad_random("The random effects are of {.field {name}}, and {.arg id} says something else.",
      "Leave {.arg id} out: each {.field {name}} then has one cluster.", call)
  }
  stats::as.formula(call("~", as.name(name)), environment(formula))
}

# Numbers (from 0, the intercept first) of the regressors that have random effects: those of the formula for
# random effects, matched by their names in the model matrix.
columns_of_effects <- function(random, names, data, call) {
  terms <- evaluate_formula(stats::terms(random, data = if (is.data.frame(data)) data), "data", call)
  variables <- evaluate_formula(stats::model.frame(terms, data, na.action = stats::na.pass), "data", call)
  own <- colnames(evaluate_formula(stats::model.matrix(terms, variables), "data", call))
  lacking <- setdiff(own, names)
  if (length(lacking)) {
    lacking <- ifelse(lacking == "(Intercept)", "1", lacking)
    bad_random(
      "Random effects of {.code {places(lacking)}}, which the fixed part of the formula does not have.",
      "Add {.code {places(lacking)}} there: clusters differ in the mean of such effects.", call
    )
  }
  if (!length(own) || length(own) > most_effects) {
    bad_random(
      "There must be from 1 to {most_effects} random effects, not {length(own)}.",
      "Factors of many levels have as many: take a coarser one, or a number.", call
    )
  }
  match(own, names) - 1L
}

most_effects <- 5L
