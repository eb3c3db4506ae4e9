# Hints for unknown arguments: what they are called in this package, or which function has them.

# Names of arguments of other packages, by the argument of this package that the hint names.
foreign_arguments <- list(
  k = c("G", "K", "k", "nclust", "ncomp", "n_components", "n_clusters", "centers", "num_topics", "n_topics", "nstates",
        "n_states", "nstate", "nbStates", "clusters", "nclusters", "M"),
  max_laps = c("iter", "iter.max", "max_iter", "maxit", "n_iter", "niter", "maxiter", "em.max.its"),
  restarts = c("nstart", "n_init", "nrep", "runs"),
  threads = c("cores", "n_jobs", "ncores", "mc.cores", "parallel", "num_threads"),
  newdata = c("data", "new_data", "x"), seed = c("random_state", "random.seed"), verbose = c("trace", "progress"),
  covariance = c("modelNames", "covariance_type"), na_action = c("na.action", "na.rm", "na_rm", "missing")
)

# The arguments of the functions (such as constructors of priors) whose results a fitting function takes, in
# the order in which they are searched for an unknown argument. prior_covariates() is left out, since its
# arguments are also found in other priors.
argument_owners <- function(verb) {
  makers <- c(setdiff(prior_makers(verb), "prior_covariates"), verb_makers(verb), "bnp_control", "bnp_moves")
  lapply(stats::setNames(makers, makers), function(maker) names(formals(maker)))
}

# Names of arguments in other packages that give covariates or their formula.
covariate_arguments <- list(
  covariates = c("covariates", "covariate", "transition", "formula_transition", "xreg", "Z", "prevalence",
                 "effect_scale"),
  content = "content"
)
covariate_notes <- c(
  covariates = paste(
    "Write {.code prior = prior_covariates(~ w)}: weights of clusters, proportions of topics and transitions",
    "then depend on {.field w}."
  ),
  content = "Words of topics do not depend on covariates; proportions do, with {.code prior = prior_covariates(~ w)}."
)

fitting_verbs <- c("bnp_mixture", "bnp_topics", "bnp_hmm", "bnp_features")
verbs_of_fits <- c(fitting_verbs, "bnp_network")

# One hint for each unknown argument that can be explained. own: the names of the arguments of the function
# `verb`.
unused_hints <- function(unused, verb, own) {
  hints <- vapply(unused, function(name) unused_hint(name, verb, own), "")
  stats::setNames(hints[nzchar(hints)], rep("i", sum(nzchar(hints))))
}

# What a concentration is called here or elsewhere.
concentration_names <- c("concentration", "gamma", "alpha", "conc", "strength", "alpha0", "theta")

# A hint for an unknown argument of a constructor of a prior or an observation model, whose own arguments are
# `own`; NULL for other functions.
constructor_hint <- function(name, verb, own) {
  if (!grepl("^(obs|prior)_", verb)) {
    return(NULL)
  }
  known <- names(foreign_arguments)[vapply(foreign_arguments, function(alias) name %in% alias, NA)]
  known <- intersect(own, c(known, if (name %in% concentration_names) c("concentration", "gamma", "alpha")))
  if (length(known)) {
    return(paste0("It is called ", paste0("{.arg ", known, "}", collapse = " or "), " here."))
  }
  paste0("Arguments of {.fn ", verb, "}: ", paste0("{.arg ", own, "}", collapse = ", "), ".")
}

unused_hint <- function(name, verb, own) {
  known <- names(foreign_arguments)[vapply(foreign_arguments, function(alias) name %in% alias, NA)]
  covariate <- names(covariate_arguments)[vapply(covariate_arguments, function(alias) name %in% alias, NA)]
  if ("prior_covariates" %in% prior_makers(verb) && length(covariate)) {
    return(covariate_notes[[covariate]])
  }
  if (name == "data" && "covariates" %in% own && !"newdata" %in% own) {
    return(paste(
      "Data are {.arg x}, the first argument; what {.fn prior_covariates} names is {.arg covariates}, a data frame."
    ))
  }
  candidates <- c(own, if ("control" %in% own) options_beside)
  near <- candidates[is_nearly(name, candidates)]
  if (nchar(name) <= 2L) near <- own[tolower(own) == tolower(name)]
  if (!length(known) && length(near)) {
    return(sprintf("Did you mean {.arg %s}?", near[1L]))
  }
  if ("na_action" %in% intersect(known, own)) {
    return("It is called {.arg na_action} here, as in {.code na_action = \"omit\"}.")
  }
  if (length(intersect(known, own))) {
    return(sprintf("It is called {.arg %s} here.", intersect(known, own)[1L]))
  }
  own_hint <- constructor_hint(name, verb, own)
  if (!is.null(own_hint)) {
    return(own_hint)
  }
  wanted <- if (length(known)) known else name
  if (verb == "bnp_network" && wanted == "k") {
    return("The number of communities is found, and cannot be given.")
  }
  owners <- owners_of(wanted, intersect(verb, fitting_verbs))
  if (!length(owners)) owners <- owners_of(wanted, fitting_verbs)
  if (!grepl("^(source_|bnp_control$|bnp_moves$)", verb)) owners <- owners[vapply(owners, place_of, "") %in% own]
  if (!length(owners)) {
    return("")
  }
  said <- if (wanted == name) "It is an argument" else sprintf("It is called {.arg %s} here, an argument", wanted)
  by <- paste(sprintf("{.fn %s}", utils::head(owners, 3L)), collapse = " or ")
  hint <- sprintf("%s of %s: {.code %s}.", said, by, owned(owners[1L], wanted, verb))
  usual <- utils::head(prior_makers(intersect(verb, fitting_verbs)), 1L)
  if (!length(usual) || !name %in% concentration_names || usual %in% owners || is.null(formals(usual)$concentration)) {
    return(hint)
  }
  paste(sprintf("The concentration is {.code prior = %s(concentration = )}.", usual), hint)
}

# Names of the functions that have an argument of this name, among those whose results the functions `verbs`
# take.
owners_of <- function(argument, verbs) {
  unique(unlist(lapply(verbs, function(verb) {
    own <- argument_owners(verb)
    names(own)[vapply(own, function(arguments) argument %in% arguments, NA)]
  })))
}

# The argument of a fitting function that takes what the constructor `owner` makes.
place_of <- function(owner) switch(sub("_.*", "", owner), obs = "obs", prior = "prior", bnp = "control")

# How a user gives an argument of `owner` to the function `verb`: "control = bnp_control(seed = )".
owned <- function(owner, argument, verb) {
  made <- paste0(owner, "(", argument, " = )")
  if (owner == "bnp_moves") {
    made <- paste("moves =", made)
    return(if (verb == "bnp_control") made else paste0("control = bnp_control(", made, ")"))
  }
  paste(place_of(owner), "=", made)
}

# A hint for a wrong value x of an argument: what to write instead, or to which argument the value belongs.
misplaced_hint <- function(x, arg, makers) {
  name <- if (inherits(x, "family")) x$family else if (is.character(x) && length(x) == 1L) x else ""
  maker <- makers[tolower(name) == sub("^[a-z]+_", "", makers) | name == makers]
  if (length(maker)) {
    return(c(i = sprintf("Write {.code %s()}, which makes it.", maker[1L])))
  }
  if (is.list(x) && !is.object(x) && length(makers) == 1L) {
    return(c(i = sprintf("What belongs there are arguments of {.fn %s}: {.code %s = %s(...)}.", makers, arg, makers)))
  }
  if (!arg %in% c("obs", "prior", "control", "moves", "id")) {
    return(NULL)
  }
  slots <- c(bnp_obs = "obs", bnp_prior = "prior", bnp_control = "control", bnp_moves = "moves", bnp_fit = "start")
  slot <- slots[inherits(x, names(slots), which = TRUE) > 0]
  if (length(slot) && slot[1L] != arg) {
    return(c(i = sprintf("Give it by name: {.code %s = }.", slot[1L])))
  }
  if (arg == "prior" && is.matrix(x)) {
    makers <- sprintf("{.code %s(k, transitions = )}", prior_makers("bnp_hmm", is_finite_prior))
    return(c(i = paste("A matrix of transitions is an argument:", paste(makers, collapse = ", "))))
  }
  if (is.function(x)) {
    return(c(i = "Call it: {.code name()}, with brackets."))
  }
  if (arg %in% c("obs", "prior") && is.numeric(x) && length(x) == 1L) {
    makers <- sprintf("{.code %s(k)}", prior_makers(fitting_verbs, is_finite_prior))
    return(c(i = paste0("A number of clusters is given by {.arg prior}: ", paste(makers, collapse = ", "), ".")))
  }
}
