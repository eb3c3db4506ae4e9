# Draws, filters and what else the package returns beside fits, changed by hand: one classed error, or an answer.

drawn <- function(f) function(x) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  f(x)
}
in_print <- function(x) utils::capture.output(print(x))

# list(object, verbs) by name.
object_cases <- function() {
  x <- as.matrix(faithful)[1:60, ]
  how <- how_source(max_laps = 4)
  walk <- withr::with_seed(2, cbind(a = rnorm(60, rep(c(0, 4), each = 30)), b = rnorm(60)))
  times <- rep(1:6, each = 10)
  texts <- bars$counts[1:12, ]
  few <- function(fit, data) bnp_sample(fit, data, draws = 4, chains = 2, warmup = 2, seed = 1)
  mixture <- bnp_mixture(x, control = how)
  topics <- bnp_topics(texts, control = how)
  states <- bnp_hmm(walk, control = how)
  reading <- list(
    print = in_print, summary = function(d) in_print(summary(d)), glance = glance, tidy = tidy, confint = confint,
    n_clusters = n_clusters, some = function(d) n_clusters(d, min_size = 2), frame = as.data.frame, nobs = nobs,
    best = function(d) point_partition(d, starts = 2, threads = 1), together = coclustering,
    pairs = function(d) coclustering(d, threshold = 0.5),
    trace = drawn(plot), k = drawn(function(d) plot(d, "k")),
    picture = drawn(function(d) plot(d, "coclustering")), partition = drawn(function(d) plot(d, "partition"))
  )
  draws <- function(fit, data) {
    object <- suppressWarnings(few(fit, data))
    more <- list(update = function(d) update(d, data, draws = 2))
    if (inherits(fit, "bnp_mixture")) more$predict <- function(d) predict(d, data[1:5, ], data, type = "prob")
    if (inherits(fit, "bnp_topics")) reading$pairs <- NULL
    list(object, c(reading, more))
  }
  of_filter <- function(f, rows) list(f, c(list(
    print = in_print, summary = function(f) in_print(summary(f)), glance = glance, tidy = tidy, logLik = logLik,
    nobs = nobs, frame = as.data.frame, augment = function(f) augment(f, rows), plot = drawn(plot),
    update = function(f) update(f, rows),
    predict = function(g) predict(g, h = 2, type = if (f$kind == "particles") "latent" else "response")
  ), if (f$kind != "particles") list(
    probs = filter_probs, smoothed = function(f) filter_probs(f, "smoothed")
  )))
  system <- small_system()
  functions <- particle_model(
    initial = function(n) rnorm(n), move = function(x) 0.9 * x + rnorm(length(x)),
    log_density = function(y, x) dnorm(y, x, 1, log = TRUE)
  )
  tree <- cluster_tree(bnp_mixture(x, prior = prior_dirichlet(4), control = how), x)
  tree_fit <- bnp_mixture(x, prior = prior_dirichlet(4), control = how)
  stream <- bnp_stream(function(i) if (i < 3) x[1:30 + 30 * (i - 1), ])
  source <- source_function(function(b) x[1:30 + 30 * (b - 1), ], batches = 2)
  file <- tempfile(fileext = ".csv")
  utils::write.csv(x, file, row.names = FALSE)
  by_source <- function(source) list(source, list(
    print = in_print, fit = function(s) bnp_mixture(s, control = how), predict = function(s) predict(mixture, s),
    heldout = function(s) heldout_loglik(mixture, s)
  ))
  list(
    draws = draws(mixture, x), tokens = draws(topics, texts), paths = draws(states, walk),
    states = of_filter(bnp_filter(states, walk[1:9, ]), walk[1:9, ]),
    switching = of_filter(bnp_filter(system, small_rows, particles = 5, seed = 1), small_rows),
    particles = of_filter(bnp_filter(functions, small_rows, particles = 5, seed = 1), small_rows),
    dynamic_means = list(bnp_dynamic_means(x, time = times, lambda = 400), list(
      print = in_print, fitted = fitted, tidy = tidy, glance = glance, nobs = nobs, plot = drawn(plot),
      augment = function(d) augment(d, x), frame = as.data.frame
    )),
    tree = list(tree, list(
      print = in_print, plot = drawn(plot), cut = function(t) cut_fit(tree_fit, x, k = 2, tree = t),
      height = function(t) cut_fit(tree_fit, x, h = 1, tree = t)
    )),
    check = list(suppressWarnings(check_fit(mixture, x, draws = 4, chains = 2, warmup = 2, seed = 1)), list(
      print = in_print, plot = drawn(plot)
    )),
    stream = list(stream, list(
      print = in_print, fit = function(s) bnp_mixture(s, control = bnp_control("truncation_free", seed = 1))
    )),
    source = by_source(source), files = by_source(source_files(file)),
    system = list(system, list(print = in_print, filter = function(s) bnp_filter(s, small_rows, particles = 5))),
    functions = list(functions, list(print = in_print, filter = function(s) bnp_filter(s, small_rows, particles = 5)))
  ) |> suppressWarnings() |> suppressMessages()
}

test_that("edited objects: what reads them says that they are damaged", {
  skip_on_os("windows") # no fork
  cases <- object_cases()
  only <- Sys.getenv("BNPVI_EDITED", paste(names(cases), collapse = ","))
  for (name in some_of(strsplit(only, ",")[[1L]], by = 10)) {
    case <- cases[[name]]
    expect_edits_known(case[[1L]], case[[2L]], how_many_edits(2), places_in_object(case[[1L]]))
  }
})

test_that("the message says what it is that is damaged, and which field", {
  draws <- suppressWarnings(bnp_sample(faithful[1:40, ], draws = 4, chains = 2, warmup = 2, seed = 1))
  for (verb in list(print, summary, glance, tidy, plot, point_partition, n_clusters, nobs, as.data.frame)) {
    expect_bad(verb(put_in(draws, "trace", NULL)), "format", "These draws are damaged.*trace")
    expect_bad(verb(put_in(draws, "fit", NULL)), "format", "These draws are damaged.*fit")
  }
  moving <- bnp_dynamic_means(faithful[1:40, ], rep(1:4, each = 10), lambda = 400)
  for (verb in list(print, glance, tidy, plot, fitted)) {
    expect_bad(verb(put_in(moving, "clusters", NULL)), "format", "This clustering is damaged.*clusters")
    expect_bad(verb(put_in(moving, "trajectories", mtcars)), "format", "This clustering is damaged.*trajectories")
  }
})

test_that("draws, filters, clusterings and trees that were changed in a file are refused by their seals", {
  cases <- object_cases()[c("draws", "states", "dynamic_means", "tree", "check")]
  for (name in names(cases)) {
    object <- cases[[name]][[1L]]
    expect_type(attr(object, "seal"), "character")
    changed <- unclass(object)
    field <- c(draws = "made", states = "format", dynamic_means = "q", tree = "fitted_elbo", check = "point")[[name]]
    changed[[field]] <- changed[[field]] + 1e-9
    expect_bad(print(structure(changed, class = class(object))), "format", "damaged", info = name)
    own <- put_in(object, "note", "mine")
    expect_null(attr(own, "seal"))
    expect_identical(utils::capture.output(print(own)), utils::capture.output(print(object)))
  }
})

test_that("an edit that would have no end is refused", {
  draws <- suppressWarnings(bnp_sample(faithful[1:40, ], draws = 4, chains = 2, warmup = 2, seed = 1))
  expect_bad(update(put_in(draws, c("options", "keep"), -1), faithful[1:40, ]), "format", "keep")
  expect_bad(update(put_in(draws, "every", 0), faithful[1:40, ]), "format", "every")
})

test_that("assignments that are registered when the package loads are so by name, which R CMD check asks for", {
  methods <- .getNamespaceInfo(asNamespace("bnpvi"), "S3methods")
  mine <- endsWith(as.character(methods[, 1L]), "<-") & methods[, 2L] != "bnp_data" # those are of the tests
  expect_gte(sum(mine), 18L)
  expect_true(all(vapply(methods[mine, 3L], is.character, NA)))
})
