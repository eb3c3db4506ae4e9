# Valid calls of every verb, ways to spoil an argument of one, and what may come of it: an ordinary result whose numbers
# are numbers, or an error of the package that names the argument. Never a crash, a NaN, a hang or an error from inside.

# ---- valid calls ----------------------------------------------------------------------------------------------------

# One valid call: of the function `verb`, with arguments of which those named in `spoil` are spoiled in turn (`data`
# among them are tables); `holds(result, arguments)` is a string for what is wrong with a result, NULL if nothing is.
valid_call <- function(name, verb, arguments, spoil = names(arguments), data = character(), holds = NULL) {
  list(name = name, verb = verb, arguments = arguments, spoil = spoil, data = intersect(data, spoil), holds = holds)
}

# Arguments that say how much work is to be done, which a large number asks for.
amounts <- c(
  "nsim", "n", "m", "lengths", "restarts", "rounds", "max_laps", "laps", "chains", "draws", "warmup", "thin",
  "split_merge", "starts", "particles", "h"
)
too_much <- c("largest", "beyond", "far_beyond", "hundred_thousand", "huge", "one_thousand")

few_laps <- function(...) bnp_control(seed = 1, max_laps = 3, verbose = FALSE, ...)

small_tables <- function() {
  withr::with_seed(8, {
    names <- list(paste0("row", 1:14), c("a", "b", "c"))
    points <- matrix(rnorm(42) + 4 * rep(0:1, each = 7), 14, dimnames = names)
    counts <- matrix(as.double(rpois(14 * 5, 1.5)), 14, dimnames = list(names[[1]], paste0("w", 1:5)))
    counts[, 1] <- counts[, 1] + 1
    frame <- as.data.frame(points)
    labels <- data.frame(
      colour = factor(rep(c("red", "blue"), 7)), word = rep(c("u", "v", "w"), length.out = 14), yes = counts[, 1] > 2,
      row.names = names[[1]]
    )
    list(
      points = points, counts = counts, binary = 1 * (counts > 1), frame = frame, labels = labels,
      mixed = cbind(frame, labels),
      paired = cbind(
        frame["a"], hit = counts[, 2], miss = counts[, 3], time = exp(points[, 1]), event = counts[, 2] > 1
      ),
      times = exp(points),
      tries = cbind(hit = counts[, 2], miss = counts[, 3], far = counts[, 4], wide = counts[, 5]),
      followed = cbind(time = exp(points[, 1]), status = 1 * (counts[, 2] > 1))
    )
  })
}

blocks_with_pairs <- list(
  obs_gaussian(), obs_binomial(columns = c("hit", "miss")), obs_survival(columns = c("time", "event"))
)

small_fits <- function(tables) {
  id <- rep(c("u", "v"), c(8, 6))
  learn <- gamma_prior(2, 1)
  hmm <- function(x, obs, prior = prior_hdp_hmm(sticky = 2)) {
    do.call("bnp_hmm", list(x = x, id = id, obs = obs, prior = prior, control = few_laps()))
  }
  with(tables, list(
    full = bnp_mixture(points, control = few_laps()),
    diagonal = bnp_mixture(points, obs_gaussian("diagonal"), prior_dirichlet(2), control = few_laps()),
    formula = bnp_mixture(~ a + b, frame, control = few_laps()),
    tied = bnp_mixture(points, obs_gaussian("tied"), control = few_laps()),
    spherical = bnp_mixture(points, obs_gaussian("spherical"), control = few_laps()),
    zero_mean = bnp_mixture(points, obs_gaussian("zero_mean"), control = few_laps()),
    ar = bnp_mixture(points, obs_ar(), control = few_laps()),
    multinomial = bnp_mixture(counts, obs_multinomial(), control = few_laps()),
    sparse = bnp_mixture(Matrix::Matrix(counts, sparse = TRUE), obs_multinomial(), control = few_laps()),
    bernoulli = bnp_mixture(binary, obs_bernoulli(), control = few_laps()),
    poisson = bnp_mixture(counts, obs_poisson(), control = few_laps()),
    gamma = bnp_mixture(times, obs_gamma(), control = few_laps()),
    regression = bnp_mixture(points, obs_regression(), control = few_laps()),
    binomial = bnp_mixture(tries, obs_binomial(), control = few_laps()),
    survival = bnp_mixture(followed, obs_survival(), control = few_laps()),
    paired = bnp_mixture(paired, do.call(obs_product, blocks_with_pairs), control = few_laps()),
    categorical = bnp_mixture(labels, control = few_laps()), mixed = bnp_mixture(mixed, control = few_laps()),
    hmm_mixed = hmm(mixed, NULL),
    topics = bnp_topics(counts, control = few_laps(k_init = 2)),
    lda = bnp_topics(Matrix::Matrix(counts, sparse = TRUE), prior = prior_lda(2, learn), control = few_laps()),
    topics_rows = bnp_topics(points, obs_gaussian(), id = id, control = few_laps()),
    hmm = hmm(points, obs_gaussian()), hmm_ar = hmm(points, obs_ar()), hmm_bernoulli = hmm(binary, obs_bernoulli()),
    hmm_poisson = hmm(counts, obs_poisson(), prior_hdp_hmm(learn, learn, learn, learn)),
    hmm_multinomial = hmm(counts, obs_multinomial()), hmm_gamma = hmm(times, obs_gamma(2))
  ))
}

# The table that a fit was made of.
table_of <- function(name, tables) {
  kind <- c(
    multinomial = "counts", sparse = "counts", poisson = "counts", hmm_poisson = "counts", hmm_multinomial = "counts",
    topics = "counts", lda = "counts", bernoulli = "binary", hmm_bernoulli = "binary", formula = "frame",
    gamma = "times", hmm_gamma = "times", survival = "followed", binomial = "tries",
    categorical = "labels", mixed = "mixed", hmm_mixed = "mixed", paired = "paired"
  )
  tables[[if (name %in% names(kind)) kind[[name]] else "points"]]
}

# Counts as tidytext has them, with a term that no topic knows.
term_frame <- function(counts) {
  at <- which(counts > 0, arr.ind = TRUE)
  known <- data.frame(document = rownames(counts)[at[, 1]], term = colnames(counts)[at[, 2]], n = counts[at])
  rbind(known, data.frame(document = "row1", term = "unknown", n = 1))
}

fitting_calls <- function(tables, fits) {
  id <- rep(c("u", "v"), c(8, 6))
  unlist(lapply(names(fits), function(name) {
    fit <- fits[[name]]
    of_blocks <- if (grepl("mixed", name)) list(obs_gaussian(), obs_categorical()) else
      if (name == "paired") blocks_with_pairs else list()
    obs <- do.call(obs_facts(fit$model$obs)$constructor, of_blocks)
    if (name == "diagonal") obs <- obs_gaussian("diagonal")
    if (name %in% c("zero_mean", "tied", "spherical")) obs <- obs_gaussian(name)
    arguments <- list(
      x = table_of(name, tables), obs = obs, prior = fit$model$prior, control = few_laps(), start = NULL
    )
    if (name == "formula") arguments <- c(list(x = ~ a + b, data = arguments$x), arguments[-1L])
    if (verb_of(fit) == "bnp_hmm" || name == "topics_rows") arguments$id <- id
    call <- valid_call(
      name, verb_of(fit), arguments, data = c(if (name != "formula") "x", "data"), holds = is_sound_fit
    )
    c(rep(list(call), 3L), list(counted_call(call, name))) # tables have more ways to be spoiled than other arguments
  }), recursive = FALSE)
}

# The same of rows, sequences or documents with weights; of rows with labels, and of data that may have holes.
counted_call <- function(call, name) {
  arguments <- call$arguments
  if (name != "ar") arguments$weights <- if (call$verb == "bnp_mixture" || is.null(arguments$id)) rep(1:2, 7) else 1:2
  if (call$verb == "bnp_mixture" && name != "ar") arguments$labels <- rep(c("p", NA), 7)
  arguments$na_action <- if (call$verb == "bnp_topics") "omit" else "model"
  call$spoil <- c(setdiff(names(arguments), names(call$arguments)), call$data)
  call$arguments <- arguments
  call
}

reading_calls <- function(tables, fits) {
  unlist(lapply(names(fits), function(name) {
    fit <- fits[[name]]
    x <- table_of(name, tables)
    family <- verb_of(fit)
    grouped <- family == "bnp_hmm" || name == "topics_rows"
    id <- if (grouped) list(id = rep(c("u", "v"), c(8, 6)))
    call <- function(verb, ..., spoil = NULL, tables = NULL, holds = NULL) {
      given <- list(...)
      valid_call(name, verb, given, spoil %||% setdiff(names(given), c("object", "x", "fit")), tables, holds)
    }
    types <- switch(family,
      bnp_mixture = c("class", "prob", "logdensity", "id"), bnp_topics = c("prob", "class", "cluster", "id"),
      bnp_hmm = c("class", "marginal", "prob", "logdensity", "cluster", "id")
    )
    predictions <- lapply(types, function(type) {
      holds <- if (type == "prob") sums_to_one
      do.call(
        call, c(list("predict", object = fit, newdata = x, type = type), id, list(tables = "newdata", holds = holds))
      )
    })
    counts <- obs_facts(fit$model$obs)$counts_tokens
    completes <- family == "bnp_topics" && counts
    out <- c(predictions, list(
      if (family != "bnp_topics" || completes) {
        do.call(call, c(
          list("heldout_loglik", fit = fit, newdata = x), id,
          if (completes) list(seed = 3, seen = 0.5, split = "token") else list(type = "plugin"),
          list(tables = "newdata")
        ))
      },
      if (completes) {
        call(
          "heldout_loglik", fit = fit, newdata = x, type = "sequential", draws = 2, seed = 3, per_document = FALSE,
          tables = "newdata"
        )
      },
      do.call(call, c(
        list("augment", x = fit, data = if (completes) term_frame(x) else x), id,
        list(spoil = c("data", if (grouped) "id"), tables = "data")
      )),
      call("tidy", x = fit), call("glance", x = fit), call("elbo", fit = fit, terms = TRUE),
      call("tidy", x = fit, conf.int = TRUE, conf.level = 0.9), call("plot", x = fit, type = "elbo", spoil = "type"),
      if (family == "bnp_hmm" || !name %in% c("ar", "regression", "topics", "lda", "topics_rows")) {
        do.call(call, c(
          list("plot", x = fit, type = if (family == "bnp_hmm") "segments" else "clusters", data = x),
          if (family == "bnp_hmm") id, list(spoil = c("type", "data"), tables = "data")
        ))
      },
      call("simulate", object = fit, nsim = 2, seed = 1),
      do.call(call, c(
        list("update", object = fit, prior = fit$model$prior, control = few_laps()),
        stats::setNames(list(x), if (name == "formula") "data" else "x"), id,
        list(spoil = c("prior", "control"), holds = is_sound_fit)
      )),
      do.call(call, c(
        list("update", object = fit, newdata = x), if (name != "topics_rows") NULL else id,
        if (completes) list(new_terms = "drop"), if (name == "hmm") id, list(tables = "newdata", holds = is_sound_fit)
      )),
      call("coef", object = fit), call("summary", object = fit), call("fitted", object = fit)
    ))
    if (family != "bnp_topics") {
      filled <- c(list("impute", fit = fit, newdata = x, m = 2, seed = 1, new = TRUE), id, tables = "newdata")
      out <- c(out, list(do.call(call, filled)))
    }
    if (family == "bnp_mixture") {
      out <- c(out, list(call("simulate", object = fit, nsim = 2, n = 5, seed = 1, new = TRUE)))
    }
    out <- c(out, calls_on_draws(fit, x, id, family, call))
    if (name == "regression") {
      out <- c(out, list(call("residuals", object = fit, newdata = x, type = "cluster", tables = "newdata")))
    }
    if (family == "bnp_hmm") {
      out <- c(out, list(
        call("segments", x0 = fit, newdata = x, id = id$id, tables = "newdata", spoil = c("newdata", "id")),
        call("transition_matrix", fit = fit, new = TRUE, spoil = c("fit", "new"), holds = sums_to_one),
        call("state_durations", fit = fit, spoil = "fit"),
        call("long_run", fit = fit, level = 0.9, spoil = c("fit", "level")),
        call("simulate", object = fit, lengths = c(4, 5), seed = 1, new = FALSE),
        call("predict", object = fit, newdata = x, n.ahead = 2, id = id$id, tables = "newdata"),
        call(
          "plot", x = predict(fit, x, n.ahead = 2, id = id$id), type = "values", columns = column_labels(fit)[1],
          spoil = c("type", "columns")
        )
      ), if (obs_can(fit$model$obs, "predictive_cdf")) {
        list(call("residuals", object = fit, newdata = x, id = id$id, tables = "newdata"))
      })
    }
    if (fit$state$k > 1L) {
      join <- function(verb, ...) {
        do.call(call, c(list(verb, fit = fit, data = x), id, list(...), list(tables = "data")))
      }
      arguments <- c("data", names(id))
      tree <- do.call(cluster_tree, c(list(fit, x), id))
      out <- c(out, list(
        join("cluster_tree", spoil = c("fit", arguments)),
        join(
          "cut_fit",
          k = 1L, tree = tree, laps = 2L, spoil = c("fit", arguments, "k", "tree", "laps"), holds = is_sound_fit
        ),
        join("coarsen", k = 1L, laps = 0L, spoil = c("fit", arguments, "k", "laps"), holds = is_sound_fit)
      ))
    }
    if (completes) {
      out <- c(out, list(
        call("top_terms", fit = fit, n = 2, by = "prob", weight = 0.5, spoil = c("fit", "n", "by", "weight")),
        call("topic_labels", fit = fit, n = 2, weight = 0.5, sep = " ", spoil = c("fit", "n", "weight", "sep")),
        call(
          "coherence", fit = fit, x = x, n = 2, measure = "npmi", spoil = c("fit", "x", "n", "measure"), tables = "x"
        ),
        call("ldavis_data", fit = fit, x = x, spoil = c("fit", "x"), tables = "x"),
        call("tidy", x = fit, matrix = "gamma", conf.int = TRUE, conf.level = 0.9),
        call("exclusivity", fit = fit, n = 2, weight = 0.5, spoil = c("fit", "n", "weight")),
        call("plot", x = fit, type = "terms", topics = 1, n = 2, spoil = c("type", "topics", "n")),
        call("simulate", object = fit, lengths = c(4, 5), seed = 1)
      ))
    }
    if (family == "bnp_topics" && !is.null(fit$documents)) {
      out <- c(out, list(
        call("top_documents", fit = fit, n = 2, spoil = c("fit", "n")),
        call("prevalence", fit = fit, by = rep(c("p", "q"), length.out = nrow(fit$documents)), level = 0.9, degree = 1)
      ))
    }
    if (obs_can(fit$model$obs, "divergence") && family != "bnp_topics") {
      out <- c(out, list(
        call("cluster_divergence", fit = fit, symmetric = TRUE, spoil = c("fit", "symmetric")),
        do.call(call, c(list("coclustering", fit = fit, data = x), id, list(tables = "data")))
      ))
    }
    parm <- names(interval_sources(fit))[1L]
    c(Filter(Negate(is.null), out), list(call("confint", object = fit, parm = parm, level = 0.9)))
  }), recursive = FALSE)
}

# Draws from a fit's posterior and what reads them. New rows are predicted by draws of mixtures only; pairs of topics
# are pairs of documents.
calls_on_draws <- function(fit, x, id, family, call) {
  few_draws <- list(chains = 2, draws = 4, seed = 1, verbose = FALSE)
  drawn <- do.call(bnp_sample, c(list(fit, x), id, few_draws))
  more <- c(list(warmup = 2, thin = 2, keep = 6), if (family != "bnp_topics") list(split_merge = 1))
  with_id <- function(verb, ..., spoil, tables = NULL) {
    do.call(call, c(list(verb, ...), id, list(spoil = c(spoil, names(id)), tables = tables)))
  }
  list(
    do.call(with_id, c(
      list("bnp_sample", x = fit, data = x), few_draws, more,
      list(spoil = c("x", "data", names(few_draws), names(more)), tables = "data")
    )),
    do.call(with_id, c(
      list("check_fit", fit = fit, data = x), few_draws, list(spoil = c("fit", "data"), tables = "data")
    )),
    with_id("update", object = drawn, data = x, draws = 2, spoil = "draws"),
    call("point_partition", draws = drawn, loss = "binder", k_max = 3, starts = 2, seed = 1, threads = 1),
    call("n_clusters", fit = drawn, min_size = 2, spoil = "min_size"), call("glance", x = drawn),
    call("confint", object = drawn, parm = "n_clusters", level = 0.9), call("tidy", x = drawn, conf.level = 0.9),
    if (family == "bnp_topics") {
      call("coclustering", fit = drawn, rows = 1:2, spoil = "rows")
    } else {
      call("coclustering", fit = drawn, rows = 1:3, threshold = 0.5, spoil = c("rows", "threshold"))
    },
    if (family == "bnp_mixture") {
      call("predict", object = drawn, newdata = x, data = x, type = "prob", tables = "newdata", holds = sums_to_one)
    }
  )
}

# Of clusters that drift, whose rows have times.
drift_calls <- function(tables) {
  x <- tables$points
  time <- rep(c(1, 2, 4, 5), length.out = 14)
  obs <- obs_gaussian(drift = 0.5)
  fit_with <- function(prior) suppressWarnings(bnp_mixture(x, obs, prior, few_laps(), time = time))
  call <- function(name, verb, ..., spoil = NULL, tables = NULL, holds = NULL) {
    given <- list(...)
    valid_call(name, verb, given, spoil %||% setdiff(names(given), c("object", "fit")), tables, holds)
  }
  unlist(lapply(list(drift_hdp = prior_hdp(), drift_dp = prior_dp()), function(prior) {
    fit <- fit_with(prior)
    name <- paste0("drift_", prior$family)
    list(
      call(
        name, "bnp_mixture", x = x, obs = obs, prior = prior, control = few_laps(), start = NULL, time = time,
        gaps = "time", tables = "x", holds = is_sound_fit
      ),
      call(
        name, "predict", object = fit, newdata = x, type = "prob", time = time, tables = "newdata", holds = sums_to_one
      ),
      call(name, "predict", object = fit, newdata = x, type = "logdensity", time = time, tables = "newdata"),
      call(name, "augment", x = fit, data = x, time = time, tables = "data", spoil = c("data", "time")),
      call(name, "heldout_loglik", fit = fit, newdata = x, time = time, tables = "newdata"),
      call(name, "update", object = fit, newdata = x, time = time + 5, tables = "newdata", holds = is_sound_fit),
      call(
        name, "update", object = fit, newdata = x, time = time + 5, keep_times = 2, discount = 1,
        spoil = c("newdata", "keep_times", "discount"), holds = is_sound_fit
      ),
      call(name, "simulate", object = fit, nsim = 2, seed = 1, time = time),
      call(name, "trajectories", fit = fit, spoil = "fit"),
      call(name, "plot", x = fit, type = "trajectories", data = x, spoil = c("type", "data"), tables = "data"),
      call(name, "confint", object = fit, parm = "mean", level = 0.9), call(name, "coef", object = fit)
    )
  }), recursive = FALSE)
}

# Of networks, which are no tables of rows.
network_calls <- function() {
  x <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
  pairs <- data.frame(from = c(1, 1), to = c(2, 6), link = c(1, 0))
  fit_with <- function(prior, obs = obs_links()) suppressWarnings(bnp_network(x, obs, prior, control = few_laps()))
  new <- data.frame(from = c("a", "a"), to = c(2, 6), link = c(1, 0))
  fits <- list(
    blocks = fit_with(prior_dp()), relational = fit_with(prior_hdp(), obs_links(degree = FALSE)),
    gamma = fit_with(prior_hdp(), obs_links(degree = TRUE)), general = fit_with(prior_hdp(), obs_links(FALSE)),
    corrected = fit_with(prior_dp(), obs_links(degree = TRUE))
  )
  c(list(
    valid_call("network", "bnp_network", list(
      x = x, obs = obs_links(), prior = prior_hdp(), control = few_laps(), start = NULL, nodes = 6, directed = FALSE,
      missing = cbind(1, 6)
    ), holds = is_sound_fit),
    valid_call("track", "track_steps", list(
      x = c(1, 2, 3, 3), y = c(0, 1, 1, 0), id = c(1, 1, 2, 2), time = 1:4, lonlat = FALSE
    )),
    valid_call("split", "split_links", list(x = x, fraction = 0.3, zeros = 1, seed = 1, nodes = 6, directed = FALSE)),
    valid_call("joint", "log_joint", list(fit = fits$blocks))
  ), unlist(lapply(names(fits), function(name) {
    fit <- fits[[name]]
    call <- function(verb, ..., spoil = NULL) {
      given <- list(...)
      valid_call(name, verb, given, spoil %||% setdiff(names(given), c("object", "x")))
    }
    list(
      call("predict", object = fit, newdata = pairs, type = "log"), call("link_auc", fit = fit, pairs = pairs),
      call("predict", object = fit, newdata = new, type = "prob"),
      call("heldout_loglik", fit = fit, newdata = pairs, spoil = "newdata"),
      call("communities", fit = fit, threshold = 0.5), call("memberships", fit = fit),
      call("augment", x = fit, data = data.frame(v = 1:6)), call("simulate", object = fit, nsim = 2, seed = 1),
      call("plot", x = fit, type = "matrix", network = x)
    )
  }), recursive = FALSE))
}

# Of latent features, which have no clusters.
feature_calls <- function(tables) {
  points <- tables$points
  fit <- suppressWarnings(bnp_features(points, control = few_laps()))
  call <- function(verb, ..., data = character(), spoil = NULL) {
    given <- list(...)
    valid_call("features", verb, given, spoil %||% setdiff(names(given), c("object", "x", "fit")), data)
  }
  list(
    call("bnp_features", x = points, prior = prior_ibp(), control = few_laps(), centre = TRUE, scale = FALSE,
      start = NULL, na_action = "model", data = "x", spoil = c("x", "prior", "control", "centre", "scale", "start")),
    call("predict", object = fit, newdata = points, type = "prob", data = "newdata"),
    call("predict", object = fit, newdata = points, type = "impute", draws = 5, data = "newdata"),
    call("heldout_loglik", fit = fit, newdata = points, cells = col(points) == 1, draws = 5, data = "newdata"),
    call("impute", fit = fit, newdata = points, m = 2, seed = 1, data = "newdata"),
    call("simulate", object = fit, nsim = 2, seed = 1, n = 5),
    valid_call("features", "augment", list(x = fit, data = points), "data", "data"),
    call("update", object = fit, newdata = points, data = "newdata"),
    call("plot", x = fit, type = "elbo"), call("n_features", fit = fit, spoil = "fit"),
    call("feature_probs", fit = fit, spoil = "fit"), call("prior_ibp", alpha = 1),
    call("prior_beta_bernoulli", k = 3, alpha = 1)
  )
}

# Filters of fits, systems and functions, and Dynamic Means.
filter_calls <- function(tables, fits) {
  points <- replace(tables$points, cbind(4, 1:3), NA)
  id <- rep(1:2, c(8, 6)) # numbers in paths of results do not count, and first rows have no mode
  system <- list(
    A = array(c(diag(3), -0.5 * diag(3)), c(3, 3, 2)), Q = 0.5 * diag(3), C = diag(3), R = c(1, 2, 3),
    start_mean = c(0, 1, 2), start_var = diag(3), start = c(0.6, 0.4), transition = rbind(c(0.9, 0.1), c(0.2, 0.8))
  )
  lds <- do.call(lds_model, system)
  with_inputs <- c(utils::modifyList(system, list(C = array(c(diag(3), 0 * diag(3)), c(3, 3, 2)))), list(
    F = array(c(1, 0, -1), c(3, 1, 2)), G = matrix(c(0, 1, 2))
  ))
  wind <- rep(c(1, -1), 7)
  walk <- particle_model(
    function(n) rnorm(n), function(x) x + 1, function(y, x) dnorm(x, log = TRUE), function(x) cbind(x, x, x)
  )
  filters <- list(
    states = bnp_filter(fits$hmm, points, id), series = bnp_filter(fits$hmm_ar, points, id),
    switching = bnp_filter(lds, points, id, particles = 4, seed = 1),
    functions = bnp_filter(walk, points, id, particles = 4, seed = 1)
  )
  time <- rep(1:7, 2)
  moving <- bnp_dynamic_means(tables$points, time, 4)
  on_filter <- function(name) {
    f <- filters[[name]]
    call <- function(verb, ..., spoil = NULL, tables = character()) {
      given <- list(...)
      valid_call(name, verb, given, spoil %||% setdiff(names(given), c("object", "x", "f")), tables)
    }
    type <- if (name == "functions") "latent" else "response"
    c(list(
      # An autoregression keeps its last rows, which then may be missing.
      call(
        "update",
        object = f, newdata = points, id = id, spoil = if (name != "series") "newdata" else character(),
        tables = "newdata"
      ),
      call("predict", object = f, h = 2, type = type, interval = 0.8), call("forecast", object = f, h = 2, type = type),
      call("augment", x = f, data = points, id = id, tables = "data"), call("tidy", x = f), call("glance", x = f),
      call("plot", x = f, type = "filter", id = "1"), call("summary", object = f), call("as.data.frame", x = f)
    ), if (name != "functions") list(call("filter_probs", f = f, type = "smoothed", spoil = c("f", "type"))))
  }
  c(list(
    valid_call(
      "states", "bnp_filter", list(object = fits$hmm, newdata = points, id = id, keep = 9),
      c("object", "newdata", "keep"), "newdata"
    ),
    valid_call("switching", "bnp_filter", list(
      object = lds, newdata = points, id = id, particles = 4, collapse = "none", seed = 1, keep = 9, threads = 1
    ), c("object", "newdata", "particles", "collapse", "seed", "keep", "threads"), "newdata"),
    valid_call("inputs", "bnp_filter", list(
      object = do.call(lds_model, with_inputs), newdata = points, id = id, inputs = wind, particles = 4, seed = 1
    ), c("newdata", "inputs"), c("newdata", "inputs")),
    valid_call("functions", "bnp_filter", list(
      object = walk, newdata = points, id = id, particles = 4, seed = 1, keep = 9
    ), c("object", "newdata", "particles", "seed", "keep"), "newdata"),
    valid_call("system", "lds_model", with_inputs),
    valid_call("used system", function(...) {
      model <- lds_model(...)
      bnp_filter(model, points, particles = 4, seed = 1, inputs = if (!is.null(model$F)) wind)
    }, c(system, with_inputs[c("F", "G")])),
    valid_call("functions", "particle_model", unclass(walk)),
    valid_call("used functions", function(...) {
      bnp_filter(particle_model(...), points, particles = 4, seed = 1)
    }, unclass(walk)),
    valid_call(
      "moving", "bnp_dynamic_means", list(x = tables$points, time = time, lambda = 4, q = 1, tau = 0.5), data = "x"
    ),
    valid_call("moving", "augment", list(x = moving, data = tables$points), "data", "data"),
    valid_call("moving", "tidy", list(x = moving), character()),
    valid_call("moving", "plot", list(x = moving), character())
  ), unlist(lapply(names(filters), on_filter), recursive = FALSE))
}

# Of hidden states.
hidden_calls <- function(tables) {
  points <- tables$points
  fit <- suppressWarnings(bnp_hmm(points, obs = obs_lds(), prior = prior_hdp_hmm(sticky = 2), control = few_laps()))
  switched <- suppressWarnings(bnp_hmm(
    points, obs = obs_lds(inputs = "c", emission = "by_mode"), prior = prior_hdp_hmm(sticky = 2), control = few_laps()
  ))
  call <- function(verb, ..., data = character(), spoil = NULL) {
    given <- list(...)
    valid_call("hidden", verb, given, spoil %||% setdiff(names(given), c("object", "x", "fit")), data)
  }
  list(
    call("latent_path", fit = fit, newdata = points, data = "newdata"),
    call("predict", object = fit, newdata = points, type = "prob", data = "newdata"),
    call("predict", object = fit, newdata = points, n.ahead = 2, data = "newdata", spoil = "newdata"),
    call("predict", object = fit, newdata = points, type = "logdensity", data = "newdata"),
    call("forecast", object = fit, newdata = points, h = 2, data = "newdata"),
    call("heldout_loglik", fit = fit, newdata = points, data = "newdata"),
    call("residuals", object = fit, newdata = points, data = "newdata"),
    valid_call("hidden", "bnp_filter", list(
      object = fit, newdata = points, particles = 4, parameters = "draw", collapse = "none", seed = 1, keep = 14
    ), c("newdata", "particles", "parameters", "collapse", "seed", "keep"), "newdata"),
    call("simulate", object = fit, nsim = 2, seed = 1, lengths = c(4, 5), initial = c(1, 2, 3)),
    valid_call("switched", "bnp_filter", list(object = switched, newdata = points, particles = 4, seed = 1),
      c("newdata", "particles"), "newdata"),
    valid_call("switched", "predict", list(
      object = bnp_filter(switched, points, particles = 4, seed = 1), h = 2, inputs = c(1, -1)
    ), c("h", "inputs")),
    valid_call("switched", "latent_path", list(fit = switched, newdata = points), "newdata", "newdata"),
    valid_call("hidden", "plot", list(x = fit, type = "segments", data = points), c("type", "data"), "data"),
    valid_call("hidden", "augment", list(x = fit, data = points), "data", "data"),
    valid_call("hidden", "bnp_hmm", list(
      x = points, obs = obs_lds(), prior = prior_hdp_hmm(sticky = 2), control = few_laps(), start = rep(1:2, 7)
    ), c("x", "start"), "x", is_sound_fit),
    valid_call("hidden", "obs_lds", list(
      loadings = 2, intercept = TRUE, df = 5, scale = diag(2), coef_mean = cbind(diag(2), 0), coef_precision = diag(3),
      noise_df = 4, noise_scale = c(1, 2, 3), start_mean = c(0, 1), start_var = diag(2), inputs = "u",
      emission = "by_mode"
    ))
  )
}

source_calls <- function(tables) {
  made <- function(verb, ...) valid_call(verb, verb, list(...))
  source <- source_function(function(b) tables$points, 1)
  list(
    made("source_function", read = function(b) tables$points, batches = 3, spool = tempfile()),
    made("source_files", paths = system.file("DESCRIPTION", package = "bnpvi"), read = readLines, rows = 10,
      terms = c("a", "b"), spool = tempfile()),
    made("source_dbi", con = function() NULL, query = "SELECT a FROM rows", rows = 10, spool = tempfile()),
    made("source_arrow", dataset = tables$frame, spool = tempfile()),
    valid_call("source", "bnp_mixture", list(
      x = source, control = few_laps(batches = rep(1:2, 7)), obs = obs_gaussian(), prior = prior_dp(),
      start = rep(1:2, 7), na_action = "fail"
    ), spoil = c("control", "obs", "prior", "start", "na_action"))
  )
}

# Of topics that predict what is known of documents.
response_calls <- function(tables) {
  x <- tables$counts
  y <- as.double(x[, 2]) + seq_len(14) / 10
  two <- factor(rep(c("u", "v"), 7))
  covariates <- data.frame(year = (14:1)^1.5)
  fit <- function(response, ...) {
    suppressWarnings(bnp_topics(x, response = response, ..., control = few_laps(k_init = 2)))
  }
  numbers <- fit(y, covariates = covariates)
  classes <- fit(two)
  list(
    valid_call("response", "bnp_topics", list(
      x = x, response = y, family = "gaussian", covariates = covariates, response_weight = 2, response_cost = 1,
      response_epsilon = 0.1, response_precision = 1, control = few_laps(k_init = 2)
    ), c(
      "response", "family", "covariates", "response_weight", "response_cost", "response_epsilon", "response_precision"
    ), holds = is_sound_fit),
    valid_call("response", "bnp_topics", list(
      x = x, response = two, family = "hinge", control = few_laps(k_init = 2)
    ), c("x", "response"), "x", is_sound_fit),
    valid_call("response", "predict", list(
      object = numbers, newdata = x, type = "response", covariates = covariates, interval = 0.9
    ), c("newdata", "type", "covariates", "interval"), "newdata"),
    valid_call("response", "predict", list(object = classes, newdata = x, type = "label"), "newdata", "newdata"),
    valid_call("response", "plot", list(x = classes, type = "response", topics = 1), c("type", "topics"))
  )
}

other_calls <- function(tables, fits) {
  checkpoint <- tempfile("checkpoint")
  bnp_mixture(tables$points, control = few_laps(checkpoint = checkpoint))
  made <- function(verb, ...) valid_call(verb, verb, list(...))
  c(network_calls(), feature_calls(tables), tree_calls(tables), drift_calls(tables), filter_calls(tables, fits),
    hidden_calls(tables), source_calls(tables), response_calls(tables), list(
    made("bnp_control", algorithm = "memoized", batches = 2, max_laps = 5, tol = 1e-6, restarts = 2, k_init = 2,
      init = "random", moves = TRUE, sparsity = 2, threads = 1, seed = 1, verbose = FALSE,
      learning_rate = c(delay = 1, power = 0.6), candidates = 4),
    made("bnp_control", algorithm = "truncation_free", batches = 2, max_laps = 2, k_max = 5, sweeps = 2, half_life = 10,
      moves = TRUE, threads = 1, seed = 1, verbose = FALSE),
    made("bnp_stream", next_batch = function(i) if (i < 3) tables$points, n = 100),
    valid_call("resumed", "bnp_resume", list(file = checkpoint, x = tables$points, max_laps = 5), data = "x"),
    valid_call("stream", "bnp_mixture", list(
      x = tables$points, control = bnp_control("truncation_free", seed = 1, verbose = FALSE)
    ), data = "x"),
    made("bnp_moves", birth = TRUE, merge = TRUE, delete = TRUE, reorder = TRUE, adopt = TRUE, max_births = 3,
      birth_size = 2, max_deletes = 3, max_merges = 3),
    made("obs_gaussian", covariance = "full", mean = c(1, 2), mean_strength = 1, df = 4, scale = diag(2),
      learn = TRUE),
    made("obs_gaussian", covariance = "tied", mean = c(1, 2), mean_strength = 1, variance = diag(2)),
    made("obs_ar", lag = 1, intercept = TRUE, df = 4, scale = diag(2), coef_mean = cbind(diag(2), 0),
      coef_precision = diag(3)),
    made("obs_multinomial", term_prior = c(0.1, 0.2)), made("obs_bernoulli", a = 0.1, b = c(0.2, 0.3), learn = FALSE),
    made("obs_regression", df = 3, scale = 2, coef_mean = c(1, 2), coef_precision = diag(2)),
    made("obs_survival", a = 1, b = 2, columns = c("a", "b")),
    made("obs_binomial", a = 1, b = 2, columns = c("a", "b")),
    made("obs_poisson", a = 1, b = 2, exposure = c(1, 2)),
    made("obs_gamma", shape = c(1, 2), a = 1, b = 2), made("obs_gamma", shape = gamma_prior(1, 0.1), a = 1),
    made("obs_vonmises", concentration = 2, columns = c("a", "b")),
    made("obs_weibull", shape = c(1, 2), a = 1, b = 2), made("obs_weibull", shape = gamma_prior(1, 0.1), a = 1),
    made("obs_negbinomial", size = 2, a = 1, mean = 3, exposure = c(1, 2), columns = c("a", "b")),
    made("obs_lognormal", covariance = "full", mean = c(1, 2), mean_strength = 1, df = 4, scale = diag(2)),
    made("obs_student", covariance = "full", tails = 4, mean = c(1, 2), mean_strength = 1, df = 4, scale = diag(2)),
    made("obs_regression", df = 3, tails = 4), made("obs_ar", lag = 1, tails = gamma_prior(2, 0.1)),
    made("obs_categorical", prior = 2, columns = "a"),
    made("obs_links", assortative = TRUE, degree = FALSE, family = "poisson", a = 2, b = 1, background = c(1, 4)),
    made("obs_product", one = obs_gaussian(columns = "a"), two = obs_categorical(0.5)),
    made("prior_dp", concentration = 1),
    made("prior_py", concentration = 1, discount = 0.3), made("gamma_prior", shape = 2, rate = 1),
    made("prior_dirichlet", k = 3, concentration = 1), made("prior_hdp", gamma = 10, alpha = 0.5),
    made("prior_lda", k = 3, alpha = 0.5), made("prior_hdp_hmm", gamma = 10, alpha = 0.5, start = 10, sticky = 1),
    made("prior_hmm", k = 3, alpha = 0.5, start = 10, sticky = 1),
    made("prior_hmm", k = 3, start = c(1, 1, 0), transitions = left_to_right(3), fixed = matrix(NA_real_, 3, 3)),
    made("left_to_right", k = 3, skip = TRUE, return = FALSE),
    made("adjusted_rand_index", a = c(1, 1, 2, 2), b = c(1, 2, 2, 2)),
    made("agreement", a = c(1, 1, 2, 2), b = c(1, 2, 2, 2)),
    valid_call("kmeans", "bregman_kmeans", list(
      x = tables$points, k = 2, obs = obs_gaussian(), rounds = 5, spread = TRUE, seed = 1
    ), data = "x")
  ), lapply(c("elbo", "elbo_trace", "n_clusters", "cluster_sizes", "posterior_params", "heldout_loglik", "top_terms",
    "cluster_ids", "cluster_history", "strip_data"),
    function(verb) {
      given <- list(fit = fits[[if (verb == "top_terms") "topics" else "full"]])
      if (verb == "heldout_loglik") given$newdata <- tables$points
      valid_call(verb, verb, given, "fit")
    }
  ), list(
    valid_call("overlap", "cluster_overlap", list(fit = fits$full)),
    valid_call("correlation", "topic_correlation", list(fit = fits$topics)),
    valid_call(
      "compare", "compare_fits", list(one = fits$full, two = fits$diagonal, newdata = tables$points),
      "newdata", "newdata"
    )
  ))
}

# Fits whose priors, observation models and controls were spoiled when they were made: what the constructors let through
# must also fit.
constructed_calls <- function(tables) {
  fit_with <- function(slot, maker, ...) {
    arguments <- list(...)
    x <- if (maker %in% c("obs_multinomial", "obs_poisson")) tables$counts else
      switch(
        maker, obs_bernoulli = tables$binary, obs_gamma = , obs_weibull = , obs_lognormal = tables$times,
        obs_survival = tables$followed, obs_binomial = tables$tries, obs_categorical = tables$labels, tables$points
      )
    verb <- function(...) {
      made <- do.call(maker, list(...))
      given <- list(x = if (maker %in% c("prior_hdp", "prior_lda")) tables$counts else x, control = few_laps())
      given[[slot]] <- made
      if (maker == "bnp_control") given[[slot]]$max_laps <- min(made$max_laps, 3L)
      family <- if (maker %in% c("prior_hdp", "prior_lda")) "bnp_topics" else
        if (maker %in% c("prior_hdp_hmm", "prior_hmm", "obs_lds")) "bnp_hmm" else "bnp_mixture"
      do.call(family, given)
    }
    valid_call(paste("fit with", maker), verb, arguments, holds = is_sound_fit)
  }
  list(
    fit_with("obs", "obs_gaussian", covariance = "full", mean = c(1, 2, 3), mean_strength = 1, df = 5, scale = diag(3)),
    fit_with("obs", "obs_gaussian", covariance = "diagonal", mean = c(1, 2, 3), mean_strength = 1, df = 5,
      scale = c(1, 2, 3), learn = TRUE),
    fit_with("obs", "obs_gaussian", covariance = "tied_diagonal", mean = c(1, 2, 3), mean_strength = 1,
      variance = c(1, 2, 3)),
    fit_with("obs", "obs_ar", lag = 1, intercept = FALSE, df = 5, scale = diag(3), coef_mean = diag(3),
      coef_precision = diag(3)),
    fit_with("obs", "obs_lds", loadings = 2, intercept = TRUE, df = 5, scale = diag(2), coef_mean = cbind(diag(2), 0),
      coef_precision = diag(3), noise_df = 4, noise_scale = c(1, 2, 3), start_mean = c(0, 1), start_var = diag(2)),
    fit_with("obs", "obs_lds", loadings = "identity", noise = c(1, 2, 3)),
    fit_with("obs", "obs_lds", inputs = "c", emission = "by_mode"),
    fit_with("obs", "obs_multinomial", term_prior = 1:5 / 10),
    fit_with("obs", "obs_bernoulli", a = 0.1, b = 0.3, learn = FALSE),
    fit_with("obs", "obs_poisson", a = 1, b = 2, exposure = rep(2, 14)),
    fit_with("obs", "obs_survival", a = 1, b = 2, columns = c("time", "status")),
    fit_with("obs", "obs_regression", df = 3, scale = 2, coef_mean = c(1, 2, 3), coef_precision = diag(3)),
    fit_with("obs", "obs_binomial", a = 0.1, b = c(1, 2), columns = c("hit", "miss", "far", "wide")),
    fit_with("obs", "obs_gamma", shape = c(1, 2, 3), a = 1, b = 2), fit_with("obs", "obs_gamma", a = 1, b = 2),
    fit_with("obs", "obs_weibull", shape = c(1, 2, 3), a = 1, b = 2), fit_with("obs", "obs_weibull", a = 1, b = 2),
    fit_with("obs", "obs_lognormal", mean = c(1, 2, 3), mean_strength = 1, df = 5, scale = diag(3)),
    fit_with("obs", "obs_categorical", prior = c(1, 2, 3), columns = c("colour", "word", "yes")),
    fit_with("prior", "prior_dp", concentration = 1),
    fit_with("prior", "prior_py", concentration = 1, discount = 0.3),
    fit_with("prior", "prior_py", concentration = gamma_prior(2, 1), discount = 0.3),
    fit_with("prior", "prior_dirichlet", k = 3, concentration = 1),
    fit_with("prior", "prior_hdp", gamma = 10, alpha = 0.5),
    fit_with("prior", "prior_lda", k = 3, alpha = 0.5),
    fit_with("prior", "prior_hdp_hmm", gamma = 10, alpha = 0.5, start = 10, sticky = 1),
    fit_with("prior", "prior_hmm", k = 3, alpha = 0.5, start = 10, sticky = 1),
    fit_with("control", "bnp_control", algorithm = "memoized", batches = 2, tol = 1e-6, restarts = 2, k_init = 2,
      init = "random", moves = TRUE, sparsity = 2, seed = 1, verbose = FALSE, candidates = 4,
      learning_rate = c(delay = 1, power = 0.6))
  )
}

# ---- what results must be -------------------------------------------------------------------------------------------

# "path kind" of every number that is none: c("elbo NaN", ...); digits of paths do not count.
broken_numbers <- function(x, path = "") {
  if (is.environment(x) || is.function(x) || is.language(x)) {
    return(character())
  }
  if (isS4(x)) x <- if (methods::is(x, "Matrix") && methods::.hasSlot(x, "x")) x@x else NULL
  if (is.list(x)) {
    names <- names(x) %||% rep("", length(x))
    x <- unclass(x)[!names %in% c("call", "terms")]
    names <- names[!names %in% c("call", "terms")]
    return(unique(unlist(Map(function(v, name) {
      broken_numbers(v, paste0(path, "$", gsub("[0-9]+", "", name)))
    }, x, names))))
  }
  if (is.numeric(x) || is.complex(x)) {
    found <- c(
      if (any(is.nan(x))) "NaN", if (any(is.infinite(x))) "Inf", if (anyNA(x) && any(is.na(x) & !is.nan(x))) "NA"
    )
    return(if (length(found)) paste(path, found))
  }
  character()
}

sums_to_one <- function(result, arguments) {
  p <- unclass(result)
  if (length(p) && (any(p < 0) || max(abs(rowSums(p) - 1)) > 1e-8)) "probabilities do not sum to 1"
}

# A fit's own numbers, and that verbs can work with it.
is_sound_fit <- function(fit, arguments) {
  if (!is.finite(elbo(fit))) {
    return("the ELBO is not finite")
  }
  if (any(cluster_sizes(fit) < 0)) {
    return("sizes are negative")
  }
  labels <- fitted(fit)
  if (is.matrix(labels)) {
    wrong <- sums_to_one(labels)
    if (!is.null(wrong)) {
      return(wrong)
    }
  } else if (anyNA(labels) || any(labels < 1 | labels > length(cluster_sizes(fit)))) {
    return("labels are no clusters")
  }
  broken <- unlist(lapply(list(coef = coef(fit), tidy = tidy(fit), glance = glance(fit)), broken_numbers))
  broken <- grep("NaN", broken, value = TRUE)
  if (length(broken)) paste("of the fit:", paste(broken, collapse = ", "))
}

# ---- spoiling -------------------------------------------------------------------------------------------------------

odd_values <- list(
  text = "a", empty_text = "", no_text = NA_character_, texts = c("a", "b", "c"), factor = factor(c("u", "v", "u")),
  list = list(1, "a"), empty_list = list(), null = NULL, function_ = function(x) x, complex = 1i, raw = as.raw(1:3),
  date = as.Date("2020-01-01"), difftime = as.difftime(3, units = "hours"), time = as.POSIXct(0, origin = "1970-01-01"),
  na = NA, nan = NaN, inf = Inf, minus_inf = -Inf, minus_one = -1, zero = 0, half = 0.5, fraction = 2.5, huge = 1e300,
  tiny = 1e-300, denormal = 5e-324, minus_tiny = -1e-300, no_numbers = numeric(), two = c(1, 2), three = 1:3,
  matrix = matrix(1), wide = matrix(1:6, 2), array = array(1:8, c(2, 2, 2)), true = TRUE, symbol = quote(x),
  call = quote(x + 1), environment = globalenv(), largest = .Machine$integer.max, beyond = 2^31, far_beyond = 2^53,
  formula = ~a,
  frame = data.frame(), frame_of_text = data.frame(a = "b"), number_as_text = "1", integer_na = NA_integer_,
  named = c(a = 1, b = 2), sparse = Matrix::Matrix(diag(3), sparse = TRUE), negative = c(-1, -2, -3),
  mixed = c(1, NA, 3),
  huge_and_tiny = c(1e300, 1e-300, 1),
  one_thousand = 1000, hundred_thousand = 1e5, ten = 10
)

# Of a table (matrix or data frame): table -> another. Those of `same_numbers` must not change what comes out.
put <- function(x, i, j, value) {
  x[i, j] <- value
  x
}
row_at <- function(x) sample.int(nrow(x), 1L)
column_at <- function(x) sample.int(ncol(x), 1L)
as_sparse <- function(class) function(x) methods::as(
  methods::as(Matrix::Matrix(as.matrix(x), sparse = TRUE), "generalMatrix"), class
)
as_kind <- function(kind) function(x) methods::as(Matrix::Matrix(as.matrix(x), sparse = TRUE), kind)

same_numbers <- list(
  plain = function(x) as.matrix(x), frame = function(x) as.data.frame(as.matrix(x)),
  columns_of_matrices = function(x) {
    x <- as.data.frame(as.matrix(x))
    x[] <- lapply(x, function(v) matrix(v))
    x
  },
  table = function(x) structure(as.matrix(x), class = "table"),
  sparse_columns = as_sparse("CsparseMatrix"), sparse_rows = as_sparse("RsparseMatrix"),
  triplets = as_sparse("TsparseMatrix"), dense_matrix = function(x) Matrix::Matrix(as.matrix(x), sparse = FALSE),
  no_row_names = function(x) `rownames<-`(x, NULL),
  doubled_triplets = function(x) {
    x <- as.matrix(x)
    at <- which(x != 0, arr.ind = TRUE)
    half <- rep(x[at] / 2, 2)
    methods::new(
      "dgTMatrix", i = rep(at[, 1] - 1L, 2), j = rep(at[, 2] - 1L, 2), x = half, Dim = dim(x), Dimnames = dimnames(x)
    )
  }
)

other_tables <- list(
  no_rows = function(x) x[0L, , drop = FALSE], no_columns = function(x) x[, 0L, drop = FALSE],
  one_row = function(x) x[1L, , drop = FALSE], two_rows = function(x) x[1:2, , drop = FALSE],
  one_column = function(x) x[, 1L, drop = FALSE], vector = function(x) x[, 1L],
  row_vector = function(x) unlist(x[1L, ]),
  transposed = function(x) t(x), cube = function(x) array(as.matrix(x), c(dim(x), 2L)),
  flat = function(x) array(as.matrix(x), length(as.matrix(x))),
  twice = function(x) rbind(x, x), columns_twice = function(x) cbind(x, x),
  nested = function(x) list(x, x), list_of_rows = function(x) split(as.data.frame(x), 1:2),
  bare_list = function(x) as.list(as.data.frame(x)),
  text = function(x) `storage.mode<-`(as.matrix(x), "character"), logical = function(x) as.matrix(x) > 1,
  complex = function(x) `storage.mode<-`(as.matrix(x), "complex"),
  integer = function(x) `storage.mode<-`(round(as.matrix(x)), "integer"),
  raw = function(x) matrix(as.raw(1), nrow(x), ncol(x)),
  factor_column = function(x) within(as.data.frame(x), rm <- factor("u")),
  one_factor = function(x) {
    x <- as.data.frame(x)
    x[[1L]] <- factor(x[[1L]])
    x
  },
  date_column = function(x) {
    x <- as.data.frame(x)
    x[[1L]] <- as.Date("2020-01-01") + seq_len(nrow(x))
    x
  },
  difftime_column = function(x) {
    x <- as.data.frame(x)
    x[[1L]] <- as.difftime(seq_len(nrow(x)), units = "mins")
    x
  },
  list_column = function(x) {
    x <- as.data.frame(x)
    x[[1L]] <- I(as.list(x[[1L]]))
    x
  },
  series = function(x) stats::ts(as.matrix(x)), pattern = as_kind("nMatrix"), logicals = as_kind("lMatrix"),
  symmetric = function(x) methods::as(
    Matrix::forceSymmetric(Matrix::Matrix(crossprod(as.matrix(x)), sparse = TRUE)), "CsparseMatrix"
  ),
  triangular = function(x) Matrix::triu(Matrix::Matrix(crossprod(as.matrix(x)), sparse = TRUE)),
  diagonal = function(x) Matrix::Diagonal(ncol(x)),
  sparse_vector = function(x) methods::as(as.matrix(x)[, 1L], "sparseVector"),
  empty_sparse = function(x) Matrix::sparseMatrix(i = integer(), j = integer(), x = numeric(), dims = dim(x)),
  na = function(x) put(x, row_at(x), column_at(x), NA), nan = function(x) put(x, row_at(x), column_at(x), NaN),
  inf = function(x) put(x, row_at(x), column_at(x), Inf), minus_inf = function(x) put(x, row_at(x), column_at(x), -Inf),
  all_na = function(x) put(x, TRUE, TRUE, NA), na_column = function(x) put(x, TRUE, 1L, NA_real_),
  sparse_na = function(x) methods::as(
    Matrix::Matrix(put(as.matrix(x), row_at(x), column_at(x), NA), sparse = TRUE), "generalMatrix"
  ),
  huge = function(x) put(x, row_at(x), column_at(x), 1e300),
  very_large = function(x) put(x, row_at(x), column_at(x), 1e150),
  large = function(x) put(x, row_at(x), column_at(x), 1e15), tiny = function(x) put(x, row_at(x), column_at(x), 1e-300),
  denormal = function(x) put(x, row_at(x), column_at(x), 5e-324),
  negative = function(x) put(x, row_at(x), column_at(x), -3),
  largest = function(x) put(x, row_at(x), column_at(x), .Machine$double.xmax),
  all_huge = function(x) x * 1e300, all_large = function(x) x * 1e100, all_tiny = function(x) x * 1e-300,
  all_small = function(x) x * 1e-100,
  shifted = function(x) x + 1e8, far = function(x) x + 1e16, zeros = function(x) x * 0,
  constant = function(x) put(x, TRUE, 1L, 7),
  equal_rows = function(x) x[rep(1L, nrow(x)), , drop = FALSE], fractions = function(x) x + 0.5,
  column_scales = function(x) as.matrix(x) * rep(10^seq(-150, 150, length.out = ncol(x)), each = nrow(x)),
  rows_reordered = function(x) x[sample.int(nrow(x)), , drop = FALSE],
  columns_reordered = function(x) x[, rev(seq_len(ncol(x))), drop = FALSE],
  no_names = function(x) unname(as.matrix(x)), other_names = function(x) `colnames<-`(x, paste0("z", seq_len(ncol(x)))),
  same_names = function(x) `colnames<-`(as.matrix(x), rep("a", ncol(x))),
  same_row_names = function(x) `rownames<-`(as.matrix(x), rep("r", nrow(x))),
  na_names = function(x) `colnames<-`(as.matrix(x), c(NA, rep("b", ncol(x) - 1L))),
  empty_names = function(x) `colnames<-`(as.matrix(x), rep("", ncol(x))),
  odd_names = function(x) `colnames<-`(as.matrix(x), paste0("{x}", seq_len(ncol(x)), "\u00e4<")),
  braces = function(x) put(`colnames<-`(as.matrix(x), c("{stop()}", letters[seq_len(ncol(x) - 1L)])), 1L, 1L, NA),
  dots = function(x) `colnames<-`(as.matrix(x), c(".class", rep("b", ncol(x) - 1L)))
)

# Of a vector or matrix that is an argument.
other_vectors <- list(
  longer = function(x) c(x, x), shorter = function(x) x[-1L], reversed = function(x) rev(x),
  na = function(x) replace(x, 1L, NA),
  list = as.list, text = as.character, matrix = function(x) as.matrix(x),
  negative = function(x) if (is.numeric(x)) -x else rev(x),
  zero = function(x) if (is.numeric(x)) x * 0 else x[0L],
  huge = function(x) if (is.numeric(x)) x * 1e300 else rep(x, 3L),
  tiny = function(x) if (is.numeric(x)) x * 1e-300 else rep(x, 3L),
  named = function(x) stats::setNames(x, paste0("n", seq_along(x))),
  same_names = function(x) stats::setNames(x, rep("a", length(x))), factor = function(x) factor(x),
  infinite = function(x) replace(x, length(x), Inf),
  integer = function(x) if (is.numeric(x)) as.integer(x) else seq_along(x),
  thousand = function(x) if (is.numeric(x)) x * 1000 else x
)

# A fit that something was done to.
other_fits <- list(
  no_state = function(x) replace_in(x, "state", NULL), no_model = function(x) replace_in(x, "model", NULL),
  no_format = function(x) replace_in(x, "format", NULL), later_format = function(x) replace_in(x, "format", 999L),
  no_class = unclass, only_base_class = function(x) structure(x, class = "bnp_fit"), element = function(x) x$state,
  two = function(x) list(x, x)
)
replace_in <- function(x, name, value) {
  x[[name]] <- value
  x
}

pick <- function(from) sample(names(from), 1L)

# The spoiled value of one argument: list(what = its name, value =, same = may results change?).
spoiled <- function(value, argument, is_data) {
  done <- function(kind, name, value) list(what = name, value = value, same = kind == "same")
  if (is_data && stats::runif(1) < 0.85) {
    kind <- if (stats::runif(1) < 0.2) "same" else "other"
    from <- if (kind == "same") same_numbers else other_tables
    name <- pick(from)
    changed <- try(from[[name]](value), silent = TRUE) # not every table can be changed in every way
    if (!inherits(changed, "try-error")) {
      return(done(kind, name, changed))
    }
  }
  if (inherits(value, "bnp_fit") && stats::runif(1) < 0.5) {
    name <- pick(other_fits)
    return(done("other", name, other_fits[[name]](value)))
  }
  if (is.atomic(value) && length(value) > 1L && stats::runif(1) < 0.5) {
    name <- pick(other_vectors)
    return(done("other", name, other_vectors[[name]](value)))
  }
  name <- pick(if (argument %in% amounts) odd_values[setdiff(names(odd_values), too_much)] else odd_values)
  done("other", name, odd_values[[name]])
}

# ---- calling --------------------------------------------------------------------------------------------------------

# The call with its arguments as variables, as a user writes it; list(result | error, warnings, messages).
called <- function(call, arguments, seconds = 20) {
  frame <- list2env(arguments, parent = environment(called))
  symbols <- stats::setNames(lapply(names(arguments), as.name), names(arguments))
  verb <- call$verb
  expr <- as.call(c(if (is.function(verb)) verb else as.name(verb), symbols))
  said <- list()
  keep <- function(restart) {
    function(condition) {
      said[[length(said) + 1L]] <<- condition
      invokeRestart(restart)
    }
  }
  setTimeLimit(elapsed = seconds, transient = TRUE)
  on.exit(setTimeLimit())
  out <- tryCatch(
    withCallingHandlers({
      result <- eval(expr, frame)
      if (verb_draws(verb)) result <- NULL
      list(result = result)
    }, warning = keep("muffleWarning"), message = keep("muffleMessage")),
    error = function(e) list(error = e), interrupt = function(e) list(error = simpleError("reached elapsed time limit"))
  )
  c(out, list(said = said))
}

verb_draws <- function(verb) is.character(verb) && verb %in% c("plot", "autoplot")

# Other words that a message about an argument may use for it.
other_words <- list(
  x0 = "fit", data = "x", x = c("data", "fit"), # with a formula, or without one; draws of data, or of a fit
  control = c("k_init", "learning_rate"), id = c("id", "x", "newdata"), object = "fit", prior = "k"
)
names_argument <- function(message, argument) {
  words <- c(argument, other_words[[argument]])
  any(vapply(words, function(word) grepl(paste0("\\b", gsub(".", "[.]", word, fixed = TRUE), "\\b"), message), NA))
}

# What is wrong with what came of a call whose `argument` was spoiled; NULL if nothing is. `valid`: what the valid call
# gave.
complaint <- function(call, arguments, argument, out, valid, same = FALSE) {
  foreign <- Filter(function(condition) !inherits(condition, c("bnpvi_warning", "bnpvi_message")), out$said)
  if (length(foreign)) {
    return(paste("said from inside:", conditionMessage(foreign[[1L]])))
  }
  if (!is.null(out$error)) {
    message <- conditionMessage(out$error)
    if (!inherits(out$error, "bnpvi_error")) {
      return(paste("error from inside:", message))
    }
    if (!names_argument(message, argument)) {
      return(paste("does not name the argument:", message))
    }
    return(NULL)
  }
  broken <- setdiff(broken_numbers(out$result), broken_numbers(valid))
  if (identical(call$verb, "augment")) broken <- grep("$.", broken, fixed = TRUE, value = TRUE) # the rest is the data
  broken <- grep("$below NA", broken, fixed = TRUE, value = TRUE, invert = TRUE) # of missing cells
  if (length(broken)) {
    return(paste("not numbers:", paste(broken, collapse = ", ")))
  }
  if (!is.null(call$holds)) {
    wrong <- tryCatch(call$holds(out$result, arguments), error = function(e) paste("afterwards:", conditionMessage(e)))
    if (!is.null(wrong)) {
      return(wrong)
    }
  }
  if (same && !isTRUE(all.equal(essence(out$result), essence(valid), tolerance = 1e-6)))
    "not the result of the same numbers"
}

# What a result says, without names, classes and places.
essence <- function(x) {
  if (inherits(x, "bnp_fit")) {
    return(list(if (is.null(x$stream)) elbo(x), unname(as.matrix(fitted(x)))))
  }
  if (is.numeric(x)) as.vector(x)
}

# Mutation number i of the calls, which are taken in turn: the place and the complaint, NULL if there is none.
mutate <- function(i, calls, valid, seed) {
  withr::with_seed(seed + i, {
    at <- (i - 1L) %% length(calls) + 1L
    call <- calls[[at]]
    if (!length(call$spoil)) {
      return(NULL)
    }
    argument <- sample(c(call$spoil, rep(call$data, 3L)), 1L)
    spoil <- suppressWarnings(spoiled(call$arguments[[argument]], argument, argument %in% call$data))
    arguments <- call$arguments
    arguments[argument] <- list(spoil$value)
    set.seed(seed + i)
    out <- called(call, arguments)
  })
  wrong <- complaint(call, arguments, argument, out, valid[[at]], spoil$same)
  if (!is.null(wrong)) {
    verb <- if (is.character(call$verb)) call$verb else "(fit)"
    paste0(i, ": ", verb, "(", call$name, "), ", argument, " = ", spoil$what, ": ", wrong)
  }
}

# Newer verbs first, as their errors have been seen by fewer.
all_calls <- function() {
  tables <- small_tables()
  fits <- small_fits(tables)
  c(other_calls(tables, fits), reading_calls(tables, fits), constructed_calls(tables), fitting_calls(tables, fits))
}
