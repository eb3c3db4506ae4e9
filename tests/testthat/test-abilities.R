# Cells of the table of abilities are tried (all in the long suite): what it says yes to works, what it says no to is
# refused with the text and the class of the table. Options of bnp_control() are in test-options.R.

few <- function(...) bnp_control(seed = 1, max_laps = 3, ...)
net <- local({
  x <- kronecker(diag(2), matrix(1, 5, 5))
  diag(x) <- 0
  x
})
level <- c(0, 5)[rep(c(1, 2, 1, 2), each = 10)]
series <- withr::with_seed(1, level + rnorm(40, sd = 0.3))
nodes <- withr::with_seed(1, c(0, 5)[c(1, 1, 2, 1, 1, 2, 2)[pmin(7, 1:31)]] + rnorm(31, sd = 0.3))
counts <- bars$counts[1:30, ]
words <- `colnames<-`(counts, paste0("w", seq_len(ncol(counts))))
rows <- faithful[1:60, ]
lines <- withr::with_seed(1, data.frame(x = rep(1:10, 6), y = rep(1:10, 6) * rep(c(-3, 3), each = 30) + rnorm(60)))
weeks <- rep(1:6, 10)
# The same data a second time, as they come piece by piece.
piece_by_piece <- function(x) source_function(function(i) if (i == 1L) x)
one_batch <- function(x) bnp_stream(function(i) if (i == 1L) x)
quietly <- function(expr) suppressWarnings(suppressMessages(expr))
as_pairs <- data.frame(from = rep(1, 9), to = 2:10, link = rep(1:0, c(4, 5)))

# What fits, by kind, with its data and rows to come: list(kinds, fit, data, new). fit(...): with other arguments.
cases <- list(
  mixture = list("mixture", function(x = rows, ..., control = few()) bnp_mixture(x, ..., control = control), rows),
  series = list(
    c("series", "mixture"), function(x = series, ...) bnp_mixture(x, obs_ar(), ..., control = few()), series
  ),
  regressions = list(
    c("regressions", "mixture"),
    function(x = y ~ x, data = lines, ...) bnp_mixture(x, data, ..., control = few()), lines
  ),
  glm_rows = list(
    c("glm_rows", "regressions", "mixture"),
    function(x = y > 0 ~ x, data = lines, ...) {
      bnp_mixture(x, data, prior = prior_dirichlet(2), start = rep(1:2, each = 30), ..., control = few())
    }, lines
  ),
  drift = list(c("drift", "mixture"), function(x = rows, ..., time = weeks) {
    bnp_mixture(x, obs_gaussian(drift = 0.1), prior_dp(), time = time, ..., control = few())
  }, rows),
  mixture_by_time = list(c("mixture_by_time", "drift", "mixture"), function(x = rows, ..., time = weeks) {
    bnp_mixture(x, obs_gaussian(drift = 0.1), time = time, ..., control = few())
  }, rows),
  mixture_by_covariates = list(c("mixture_by_covariates", "mixture"), function(x = rows, ...) {
    bnp_mixture(x, prior = prior_covariates(~ old), covariates = data.frame(old = rep(1:5, each = 12) > 2), ...,
      control = few())
  }, rows),
  topics = list("topics", function(x = counts, ...) bnp_topics(x, ..., control = few()), counts),
  topics_by_covariates = list(c("topics_by_covariates", "topics"), function(x = counts, ...) {
    bnp_topics(x, prior = prior_covariates(~ w), covariates = data.frame(w = rep(1:2, 15)), ..., control = few())
  }, counts),
  documents_of_rows = list(c("documents_of_rows", "topics"), function(x = rows, ..., id = rep(1:6, each = 10)) {
    bnp_topics(x, obs_gaussian(), id = id, ..., control = few())
  }, rows),
  scaled_documents = list(
    c("documents_of_rows", "scaled_documents", "topics"),
    function(x = rows, ..., id = rep(1:6, each = 10)) bnp_topics(x, obs_student(), id = id, ..., control = few()), rows
  ),
  response = list(c("response", "topics"), function(..., response = seq_len(30)) {
    bnp_topics(counts, response = response, ..., control = few())
  }, counts),
  named_topics = list(c("named_topics", "topics"), function(x = words, ...) {
    bnp_topics(x, obs_multinomial(keywords = list(first = "w1")), ..., control = few())
  }, words),
  labelled_topics = list(c("labelled_topics", "topics"), function(x = counts, ..., labels = rep_len(c("a", NA), 30)) {
    bnp_topics(x, labels = labels, ..., control = few())
  }, counts),
  clusters_of_texts = list(c("clusters_of_texts", "mixture"), function(x = counts, ...) {
    bnp_mixture(x, obs_multinomial(), ..., control = few())
  }, counts),
  named_clusters = list(c("named_clusters", "clusters_of_texts", "mixture"), function(x = words, ...) {
    bnp_mixture(x, obs_multinomial(keywords = list(first = "w1")), ..., control = few())
  }, words),
  sequences = list("sequences", function(x = series, ...) bnp_hmm(x, ..., control = few()), series),
  lagged = list(
    c("lagged", "sequences"), function(x = series, ...) bnp_hmm(x, obs = obs_ar(), ..., control = few()), series
  ),
  sequences_by_covariates = list(c("sequences_by_covariates", "sequences"), function(x = series, ...) {
    bnp_hmm(x, prior = prior_covariates(~ w), covariates = data.frame(w = rep(1:4, 10)), ..., control = few())
  }, series),
  trees = list(c("trees", "sequences"), function(x = nodes, ..., parent = c(0, 2:31 %/% 2)) {
    bnp_hmm(x, parent = parent, ..., control = few())
  }, nodes),
  hidden = list(
    c("hidden", "sequences"), function(x = series, ...) bnp_hmm(x, obs = obs_lds(), ..., control = few()), series
  ),
  switched = list(c("switched", "hidden", "sequences"), function(x = series, ...) {
    bnp_hmm(x, obs = obs_lds(emission = "by_mode"), ..., control = few())
  }, series),
  features = list("features", function(x = attitude, ...) bnp_features(x, ..., control = few()), attitude),
  network = list(
    c("blocks", "network"), function(x = net, ...) bnp_network(x, prior = prior_dp(), ..., control = few()), net
  ),
  communities = list(c("communities", "network"), function(x = net, ...) bnp_network(x, ..., control = few()), net),
  stochastic = list(c("stochastic", "mixture"), function(x = rows, ...) {
    bnp_mixture(x, ..., control = bnp_control("stochastic", seed = 1, max_laps = 3))
  }, rows),
  truncation_free = list(c("truncation_free", "mixture"), function(x = rows, ...) {
    bnp_mixture(x, ..., control = bnp_control("truncation_free", seed = 1))
  }, rows),
  stream = list(c("stream", "truncation_free", "mixture"), function(...) bnp_mixture(one_batch(rows), ...), rows),
  source = list(c("source", "rows_of_source", "mixture"), function(...) bnp_mixture(piece_by_piece(rows), ...), rows),
  dynamic_means = list("dynamic_means", function(x = rows, ..., time = weeks) {
    bnp_dynamic_means(x, time, lambda = 400, ...)
  }, rows)
)

# The error of an expression, NULL if there is none.
error_of <- function(expr) tryCatch({
  quietly(utils::capture.output(force(expr)))
  NULL
}, error = identity)

# of: kinds; try: a function that asks for the ability.
expect_cell <- function(of, ability, try) {
  cell <- paste(c(of, ability), collapse = " ")
  wanted <- error_of(require_ability(of, ability))
  found <- error_of(try())
  if (is.null(wanted)) {
    expect_null(if (!is.null(found)) conditionMessage(found), info = cell)
  } else {
    expect_s3_class(found, "bnpvi_error_not_defined")
    if (!inherits(found, "bnpvi_error_not_defined")) expect_identical(conditionMessage(found), cell)
    # As they were formatted once: conditionMessage() would format every text again, for half of this file's time.
    expect_identical(unclass(found)[c("message", "body")], unclass(wanted)[c("message", "body")], info = cell)
    expect_identical(class(found), class(wanted), info = cell)
  }
}

# ---- verbs ---------------------------------------------------------------------------------------------------------

# How a verb is called of an object of a kind; `x` alone where nothing is said. Documents of rows are told by `id`.
sixths <- rep(1:6, each = 10)
has_rows <- function(kind) kind %in% c("documents_of_rows", "scaled_documents")
given_id <- function(kind, f) if (has_rows(kind)) function(...) f(..., id = sixths) else f
is_network <- function(x) inherits(x, "bnp_network")
with_data <- function(verb, ...) function(x, data, kind) given_id(kind, match.fun(verb))(x, data, ...)
prevalence_of <- function(fit, x = NULL) {
  by <- if (inherits(fit, "bnp_mixture_by_covariates")) "old" else if (has_covariates(fit$model$prior)) "w" else
    rep(1:2, length.out = if (inherits(fit, "bnp_topics")) nrow(fitted(fit)))
  prevalence(fit, by, x = x)
}
calls <- list(
  residuals = function(x, data) if (inherits(x, "bnp_fit")) residuals(x, data) else residuals(x),
  augment = function(x, data, kind) {
    of_tokens <- c("topics", "topics_by_covariates", "response", "named_topics", "labelled_topics")
    if (kind %in% of_tokens) data <- tidied(data)
    given_id(kind, augment)(x, if (is_network(x)) data.frame(node = 1:10) else data)
  },
  predict = function(x, data, kind) {
    if (is_network(x)) predict(x, type = "prob") else if (kind == "filter") predict(x, h = 2) else
      if (inherits(x, "bnp_draws")) predict(x, data, newdata = data) else given_id(kind, predict)(x, data)
  },
  expected_response = function(x, data) predict(x, data, type = "response"),
  heldout_loglik = function(x, data, kind) given_id(kind, heldout_loglik)(x, if (is_network(x)) as_pairs else data),
  link_auc = function(x, data) link_auc(x, as_pairs),
  simulated_lengths = function(x, data) simulate(x, lengths = 5),
  forecast = function(x, data) if (inherits(x, "bnp_fit")) forecast(x, data, h = 2) else forecast(x, h = 2),
  impute = with_data("impute", m = 2),
  update_newdata = function(x, data, kind) {
    if (inherits(x, "bnp_mixture_by_covariates")) {
      return(update(x, data, covariates = data.frame(old = rep(TRUE, nrow(data)))))
    }
    if (!is.null(x$model$obs$times)) update(x, data[1:3, ], time = 7:9) else given_id(kind, update)(x, newdata = data)
  },
  update = function(x, data) {
    if (inherits(x, "bnp_fit")) update(x, evaluate = FALSE) else
      if (inherits(x, "bnp_draws")) update(x, data, draws = 2) else update(x, data)
  },
  keep_times = function(x, data) {
    time <- if (!is.null(x$model$obs$times)) 7:9
    update(x, utils::head(data, 3), time = time, keep_times = 2)
  },
  discount = function(x, data) {
    if (inherits(x, "bnp_mixture_by_covariates")) {
      return(update(x, utils::head(data, 3), covariates = data.frame(old = c(TRUE, TRUE, FALSE)), discount = 0.5))
    }
    time <- if (!is.null(x$model$obs$times)) 7:9
    update(x, utils::head(data, 3), time = time, discount = 0.5)
  },
  summary_data = with_data("summary"), cluster_tree = with_data("cluster_tree"), cut_fit = with_data("cut_fit", k = 1),
  coarsen = function(x, data, kind) given_id(kind, coarsen)(x, 1, data), strip_data = function(x, data) strip_data(x),
  top_documents = function(x, data) if (inherits(x, "bnp_mixture")) top_documents(x, 2, data) else top_documents(x),
  coclustering = function(x, data) if (inherits(x, "bnp_fit")) coclustering(x, data) else coclustering(x),
  bnp_sample = with_data("bnp_sample", draws = 2, chains = 1, warmup = 1, seed = 1),
  check_fit = with_data("check_fit", draws = 2, chains = 1, warmup = 1, seed = 1),
  coherence = function(x, data) coherence(x, data), ldavis_data = function(x, data) ldavis_data(x, data),
  predict_weights = function(x, data) predict(x, type = "weights"),
  prevalence = function(x, data) prevalence_of(x), linear_response = function(x, data) prevalence_of(x, data),
  clue = function(x, data) cl_class_ids.bnp_fit(x),
  bnp_filter = with_data("bnp_filter")
)
# Whether a cell of the table is asked here: a formula is the affair of each fit, and so is a response; clue need not be
# installed; times are kept in updates, which streams have of their own.
is_asked <- function(verb, of) {
  family <- of$kinds[length(of$kinds)]
  able <- is.null(refusal(of$kinds, verb))
  family %in% ability_table[[verb]]$applies && switch(verb,
    "formula()" = , terms = !able || "regressions" %in% of$kinds,
    expected_response = !able || "regressions" %in% of$kinds,
    clue = inherits(of$x, "bnp_fit") && (!able || requireNamespace("clue", quietly = TRUE)),
    simulated_lengths = is.null(refusal(of$kinds, "simulate")),
    linear_response = is.null(refusal(of$kinds, "prevalence")),
    discount = , keep_times = is.null(refusal(of$kinds, "update_newdata")) && !"truncation_free" %in% of$kinds,
    TRUE
  )
}
tidied <- function(data) {
  names <- colnames(data) %||% paste0("x", seq_len(ncol(data)))
  long <- Matrix::summary(as(as(as.matrix(data), "dMatrix"), "TsparseMatrix"))
  data.frame(document = rownames(data)[long$i] %||% as.character(long$i), term = names[long$j], n = long$x)
}

test_that("a verb works where the table says so, and is refused elsewhere by its text", {
  objects <- lapply(cases[setdiff(names(cases), "source")], function(case) {
    list(x = quietly(case[[2L]]()), data = case[[3L]], kinds = case[[1L]])
  })
  for (of in c("mixture", "topics", "sequences")) {
    kinds <- c(topics = "topic_draws", sequences = "state_draws")[setdiff(of, "mixture")]
    objects[[paste("draws of", of)]] <- list(
      x = quietly(bnp_sample(objects[[of]]$x, objects[[of]]$data, draws = 2, chains = 1, warmup = 1, seed = 1)),
      data = objects[[of]]$data, kinds = c(unname(kinds), "draws")
    )
  }
  objects$filter <- list(x = bnp_filter(objects$sequences$x, series), data = series, kinds = "filter")
  verbs <- names(Filter(function(row) row$area == "verbs", ability_table))
  for (kind in names(objects)) {
    of <- objects[[kind]]
    expect_identical(kinds_of(of$x), of$kinds)
    for (verb in verbs) {
      if (!is_tried(match(kind, names(objects)), match(verb, verbs), by = 20L) || !is_asked(verb, of)) next
      call <- calls[[verb]] %||% function(x) match.fun(sub("()", "", verb, fixed = TRUE))(x)
      given <- list(of$x, of$data, kind)[seq_along(formals(call))]
      expect_cell(of$kinds, verb, function() do.call(call, given))
    }
  }
})

# ---- arguments that come with the data -----------------------------------------------------------------------------

n_rows <- c(
  topics = 30, topics_by_covariates = 30, response = 30, named_topics = 30, labelled_topics = 30,
  named_clusters = 30, clusters_of_texts = 30,
  series = 40, sequences = 40, sequences_by_covariates = 40, lagged = 40, hidden = 40, switched = 40, trees = 31,
  features = 30,
  network = 10, communities = 10
)
# A value of the argument for the data of a kind, and what it asks for beside.
data_argument <- function(argument, kind) {
  n <- if (kind %in% names(n_rows)) n_rows[[kind]] else 60
  documents <- has_rows(kind)
  one <- c("sequences", "sequences_by_covariates", "lagged", "hidden", "switched", "trees")
  units <- if (documents) 6 else if (kind %in% one) 1 else n
  chain <- c(0, seq_len(n - 1))
  switch(argument,
    weights = list(weights = rep_len(c(1, 2), units)),
    labels = list(labels = rep_len(c("a", NA, NA), if (documents) units else n)),
    id = list(id = if (kind == "trees") rep(1, n) else sort(rep_len(1:5, n))), time = list(time = seq_len(n)),
    parent = list(parent = chain), response = list(response = seq_len(units)), na_action = list(na_action = "model"),
    position = if (kind == "sequences") list(position = rep(1, n), parent = chain) else list(position = rep(1, n))
  )
}
# Not asked: weights of a matrix of links are its values; documents that `id` joins need responses of their own; a
# position without a parent, and a response of rows learned one by one, are refused for another reason; times are those
# of Dynamic Means themselves.
not_asked <- list(
  weights = c("network", "communities"), id = c("response", "labelled_topics", "topics_by_covariates", "glm_rows"),
  position = c("lagged", "hidden", "switched", "sequences_by_covariates"),
  response = "truncation_free", time = "dynamic_means"
)

arguments <- c("weights", "labels", "id", "time", "parent", "position", "response", "na_action")

test_that("an argument that comes with the data works where the table says so, and is refused elsewhere", {
  for (kind in names(cases)) {
    of <- c(if (kind == "truncation_free") "rows_one_by_one", cases[[kind]][[1L]])
    of <- switch(kind, stream = c("stream", "rows_one_by_one", of[-1L]), of)
    for (argument in arguments) {
      if (!is_tried(match(kind, names(cases)), match(argument, arguments), by = 6L)) next
      if (kind %in% not_asked[[argument]]) next
      expect_cell(of, argument, function() do.call(cases[[kind]][[2L]], data_argument(argument, kind)))
    }
  }
})

test_that("a source is read where the table says so, and refused elsewhere by its text", {
  plain <- c("mixture", "series", "topics", "sequences", "lagged", "hidden", "features", "network", "communities")
  for (kind in plain) {
    fit <- cases[[kind]][[2L]]
    x <- eval(formals(fit)$x, environment(fit))
    expect_cell(cases[[kind]][[1L]], "source", function() fit(piece_by_piece(x)))
  }
})

test_that("the help page is that of the table", {
  page <- file.path("..", "..", "man", "abilities.Rd")
  skip_if_not(file.exists(page), "no sources beside these tests (not a checkout)")
  text <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
  for (section in abilities_rd()) expect_true(grepl(section, text, fixed = TRUE))
})
