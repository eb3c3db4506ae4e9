# The table of abilities: which verb, argument and option works with which kind of fit; if one does not, why
# not, and what to use instead. Every refusal of this sort asks this table, and the help page ?abilities is
# printed from it, so that each cell of the table has one text and one class of error.

# Makes an entry of the list of kinds of fits. A kind is a family, a special case of a family, or a way of
# learning. what: its name in a sentence, plural; class: the class of its objects; maker: the function that
# makes these (families only); of: the family of which it is a case; error: an additional class for its
# refusals.
kind <- function(what, class = NULL, of = NULL, error = NULL, maker = class) {
  list(what = what, class = class, of = of, error = error, maker = maker)
}

kinds <- list(
  mixture = kind("mixtures ({.fn bnp_mixture})", "bnp_mixture"),
  series = kind("mixtures of series ({.fn obs_ar})", of = "mixture"),
  regressions = kind("mixtures of regressions", of = "mixture"),
  random_effects = kind("mixtures with random effects", of = "mixture", error = "formula"),
  drift = kind("drifting clusters", of = "mixture", error = "drift"),
  mixture_by_time = kind("mixtures with weights by time", "bnp_mixture_by_time", of = "mixture"),
  mixture_by_covariates = kind(
    "mixtures with weights by covariates ({.fn prior_covariates})", "bnp_mixture_by_covariates", of = "mixture",
    error = "covariates"
  ),
  scaled_rows = kind("mixtures of rows with scales ({.fn obs_student}, {.arg tails})", of = "mixture"),
  glm_rows = kind(
    "logistic and negative binomial regressions in clusters ({.fn obs_regression} with {.arg family})", of = "mixture"
  ),
  named_clusters = kind("mixtures with {.arg keywords}", of = "mixture", error = "keywords"),
  clusters_of_texts = kind("mixtures of counts of terms ({.fn obs_multinomial})", of = "mixture"),
  topics = kind("topics ({.fn bnp_topics})", "bnp_topics"),
  topics_by_covariates = kind(
    "topics with proportions by covariates ({.fn prior_covariates})", "bnp_topics_by_covariates", of = "topics",
    error = "covariates"
  ),
  documents_of_rows = kind("topics of documents of rows", of = "topics"),
  scaled_documents = kind("topics of rows with scales ({.fn obs_student}, {.arg tails})", of = "topics"),
  response = kind("topics with a {.arg response}", of = "topics", error = "response"),
  labelled_topics = kind("topics of documents with {.arg labels}", of = "topics", error = "labels"),
  named_topics = kind("topics with {.arg keywords}", of = "topics", error = "keywords"),
  sequences = kind("sequences ({.fn bnp_hmm})", "bnp_hmm"),
  trees = kind("trees ({.fn bnp_hmm} with {.arg parent})", of = "sequences", error = "trees"),
  hidden = kind("linear systems ({.fn bnp_hmm} with {.fn obs_lds})", "bnp_lds", of = "sequences", error = "hidden"),
  switched = kind("linear systems with {.arg inputs} or with an emission by mode", of = "sequences", error = "hidden"),
  lagged = kind("sequences with {.fn obs_ar}", of = "sequences"),
  placed = kind(
    "chains whose states have places ({.arg transitions} or {.arg fixed} of {.fn prior_hmm}, or weights as
     {.arg start})",
    of = "sequences"
  ),
  sequences_by_covariates = kind(
    "sequences with transitions by covariates ({.fn prior_covariates})", "bnp_hmm_by_covariates", of = "sequences",
    error = "covariates"
  ),
  recurrent = kind("transitions by {.fn previous} rows", of = "sequences", error = "covariates"),
  scaled_sequences = kind("sequences of rows with scales ({.fn obs_student}, {.arg tails})", of = "sequences"),
  glm_sequences = kind(
    "logistic and negative binomial regressions in states ({.fn obs_regression} with {.arg family})", of = "sequences"
  ),
  features = kind("features ({.fn bnp_features})", "bnp_features"),
  network = kind("networks ({.fn bnp_network})", "bnp_network"),
  blocks = kind("blockmodels", "bnp_blocks", of = "network"),
  communities = kind("networks of overlapping communities", "bnp_communities", of = "network"),
  corrected_network = kind("degree-corrected blockmodels ({.fn bnp_network})"),
  sampled_network = kind("networks by stochastic steps ({.fn bnp_network})"),
  update = kind("{.fn update} with new rows"),
  features_update = kind("{.fn update} of features with new rows"),
  stochastic = kind("fits by stochastic steps", error = "update"),
  truncation_free = kind("truncation-free learning", error = "stream"),
  rows_one_by_one = kind("mixtures by truncation-free learning", error = "stream"),
  stream = kind("streams", error = "stream"),
  source = kind("data in a source"),
  rows_of_source = kind("mixtures of data in a source"),
  documents_in_pieces = kind("topics of data in a source or a stream", error = "gaps"),
  draws = kind("draws ({.fn bnp_sample})", "bnp_draws", maker = "bnp_sample"),
  topic_draws = kind("draws of topic models", of = "draws"),
  state_draws = kind("draws of sequences", of = "draws"),
  filter = kind("filters ({.fn bnp_filter})", "bnp_filter"),
  dynamic_means = kind("Dynamic Means ({.fn bnp_dynamic_means})", "bnp_dynamic_means")
)
family_kinds <- names(Filter(function(kind) !is.null(kind$class) && is.null(kind$of), kinds))
classes_of_kinds <- unlist(lapply(kinds, function(kind) kind$class))

# The kinds (names in `kinds`) to which an object belongs, the most special one first and its family last;
# NULL for objects that are not of this package.
kinds_of <- function(x) {
  family <- family_of(x)
  if (!inherits(x, "bnp_fit")) {
    of_fit <- if (identical(family, "draws")) family_of(x$fit) else ""
    return(c(switch(of_fit, topics = "topic_draws", sequences = "state_draws"), family))
  }
  obs <- x$model$obs
  c(
    if (is_stream_fit(x)) c(if (!length(x$labels) && is.null(x$documents)) "stream", "truncation_free"),
    if (identical(x$control$algorithm, "stochastic")) "stochastic",
    switch(family,
      topics = c(
        if (!is.null(x$state$owner)) "labelled_topics", if (!is.null(x$model$response)) "response",
        if (!obs_facts(obs)$counts_tokens) "documents_of_rows"
      ),
      sequences = if (has_trees(x$input)) "trees"
    ),
    kinds_to_fit(kinds[[family]]$class, obs, x$model$prior)
  )
}

family_of <- function(x) Find(function(family) inherits(x, kinds[[family]]$class), family_kinds)

# The kinds (names in `kinds`) of the fit that this verb would make with these models, the most special one
# first and the family last.
kinds_to_fit <- function(verb, obs, prior = NULL) {
  of_classes <- names(classes_of_kinds)[match(fit_classes(verb, obs, prior), classes_of_kinds, 0L)]
  c(
    if (!is.null(obs$keywords)) list(bnp_mixture = "named_clusters", bnp_topics = "named_topics")[[verb]],
    if (!is.null(obs$offset)) c(bnp_mixture = "glm_rows", bnp_hmm = "glm_sequences")[[verb]],
    if (any_tails(obs)) {
      c(bnp_mixture = "scaled_rows", bnp_topics = "scaled_documents", bnp_hmm = "scaled_sequences")[[verb]]
    },
    if (!is.null(obs$inputs) || isTRUE(obs$by_mode)) "switched",
    of_classes[-length(of_classes)],
    switch(verb,
      bnp_mixture = c(
        if (has_effects(obs)) "random_effects", if (obs_facts(obs)$counts_tokens) "clusters_of_texts",
        if (has_drift(obs)) "drift", if (obs_lag(obs) > 0L) "series", if (!is.null(obs$responses)) "regressions"
      ),
      bnp_hmm = c(
        if (length(prior$previous)) "recurrent", if (!is.null(prior$cell_fixed)) "placed",
        if (obs_lag(obs) > 0L) "lagged"
      )
    ),
    of_classes[length(of_classes)]
  )
}

# The verb that made a fit, such as bnp_mixture.
verb_of <- function(fit) intersect(class(fit), verbs_of_fits)

# Looks up why these kinds of fit (the most special first) lack an ability: list(kind, why, instead), or NULL
# if they have it. The first kind that the table mentions decides.
refusal <- function(of, ability) {
  row <- ability_table[[ability]]
  for (one in of) {
    given <- row$no[[one]]
    if (!is.null(given)) {
      return(list(kind = one, why = given[1L], instead = given[-1L]))
    }
    if (one %in% row$has) {
      return(NULL)
    }
  }
  list(kind = of[length(of)], why = row$why, instead = row$instead)
}

# Stops with an error if the table says that `of` (an object, or names of kinds) lacks the ability.
require_ability <- function(of, ability, call = rlang::caller_env()) {
  found <- refusal(if (is.character(of)) of else kinds_of(of), ability)
  if (is.null(found)) {
    return(invisible(of))
  }
  row <- ability_table[[ability]]
  abort(
    unique(c("not_defined", kinds[[found$kind]]$error, row$error, "argument")), refusal_text(ability, found),
    call = call
  )
}

refusal_text <- function(ability, found) {
  hints <- c(found$why, found$instead)
  c(
    paste0(ability_label(ability), " is not available for ", kinds[[found$kind]]$what, "."),
    stats::setNames(hints, rep("i", length(hints)))
  )
}

# Stops with an error if the table of abilities refuses one of the arguments that were given. values: named
# list of arguments, NULL for those that were not given.
require_abilities <- function(of, values, call) {
  for (name in names(values)[!vapply(values, is.null, NA)]) require_ability(of, name, call)
}

# The form of data that only some families take: "formula", "source" or "stream". None (length 0) for other
# data in memory.
form_of <- function(x) {
  forms <- c(formula = "formula", bnp_source = "source", bnp_stream = "stream")
  unname(forms[intersect(names(forms), class(x))])
}

check_form <- function(x, of, call) for (form in form_of(x)) require_ability(of, form, call)

# The kinds of fit to which a family's fits to data of this form belong, the most special one first.
kinds_of_form <- function(form, family) {
  c(
    form, if (family == "mixture") c(source = "rows_of_source", stream = "rows_one_by_one")[form],
    if (identical(form, "stream")) "truncation_free", family
  )
}

# Refuses arguments that other fitting verbs have and this one lacks. named: names of the arguments; x: the
# data.
refuse_arguments_of_others <- function(named, verb, x, call) {
  family <- Find(function(family) kinds[[family]]$class == verb, family_kinds)
  if (is.null(family)) {
    return(invisible())
  }
  # `covariates` have no row of their own: they come with the prior that takes them.
  for (name in replace(named, named == "covariates", "prior_covariates")) {
    if (identical(ability_table[[name]]$area, "data")) require_ability(kinds_of_form(form_of(x), family), name, call)
  }
}

# The first check of every verb that reads an object: the object must have the verb, and must be as its constructor made
# it.
check_able <- function(x, verb, arg = "fit", call = rlang::caller_env()) {
  if (is.null(family_of(x))) {
    able <- Filter(function(family) is.null(refusal(family, verb)), family_kinds)
    check_class(x, character(), arg, vapply(kinds[able], function(kind) kind$maker, ""), call)
  }
  if (inherits(x, "bnp_fit")) check_format(x, call) else if (inherits(x, "bnp_filter")) check_filter(x, arg, call) else
    check_object(x, call)
  require_ability(x, verb, call)
}

# Makes S3 methods that refuse: one for each generic in the table of abilities and each family that lacks it.
# Without them a default method of base R would return something by accident.
refusing_methods <- function() {
  for (verb in names(ability_table)) {
    generic <- sub("()", "", verb, fixed = TRUE)
    if (ability_table[[verb]]$area != "verbs" || !exists(generic, mode = "function")) next
    of <- get(generic, mode = "function")
    if (!"UseMethod" %in% all.names(body(of))) next
    for (family in family_kinds) {
      class <- kinds[[family]]$class
      if (is.null(refusal(family, verb)) || exists(paste0(generic, ".", class))) next
      registerS3method(generic, class, refusing_method(verb, names(formals(of))[1L]), environment(of))
    }
  }
}

# Makes an S3 method that stops with the error of the table of abilities. x: the name of the generic's first
# argument.
refusing_method <- function(verb, x) {
  rlang::new_function(
    c(stats::setNames(list(quote(expr = )), x), alist(... = )),
    bquote(check_able(.(as.name(x)), .(verb), .(x), environment())), topenv()
  )
}

.onLoad <- function(libname, pkgname) {
  refusing_methods()
  unsealing_methods()
}
