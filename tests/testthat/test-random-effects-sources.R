# Random effects of individuals whose rows are in a source: sums of rows are formed while it is read.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
growth <- local({
  data <- growth_data("apart", 3, 60L)
  data$id <- paste0("p", data$id)
  data$g <- rep_len(c("u", "v", "w"), nrow(data))
  data[c("id", "t", "y", "g")]
})
n_rows <- nrow(growth)
n_people <- length(unique(growth$id))

expect_growth_of_source <- function(what, data = growth, formula = y ~ t + (1 + t | id), size = 17, ..., batches = 3L,
                                    kept = NULL, max_laps = if (long_tests()) 6 else 3) {
  n <- length(kept %||% unique(data$id))
  same <- dealt(n, batches)
  if (!is.null(kept)) same <- replace(rep(1L, length(unique(data$id))), unique(data$id) %in% kept, same)
  one <- function(data, batches, ...) {
    quiet(bnp_mixture(formula, data, ..., control = how_source(batches = batches, max_laps = max_laps)))
  }
  from_source <- one(in_pieces(data, size), batches, ...)
  in_memory <- one(transform(data, id = factor(id, unique(id))), same, ...)
  in_memory$input$left_out["row_names"] <- list(NULL)
  if (is.null(from_source$input$left_out)) in_memory$input$left_out <- NULL
  expect_fit_of_source(from_source, in_memory, what)
  expect_identical(unname(fitted(from_source)), unname(fitted(in_memory)))
  invisible(from_source)
}

test_that("a fit from pieces of any size has the bits of memory in the same batches", {
  fit <- expect_growth_of_source("both effects")
  expect_identical(nobs(fit), n_rows)
  expect_identical(sum(cluster_sizes(fit)), n_people + 0)
  of <- expect_growth_of_source
  calls <- rlang::exprs(
    of("own covariances", growth, y ~ t, id = ~ id, obs = obs_regression(random = ~ t, shared = FALSE)),
    of("a row at a time", size = 1, max_laps = 2),
    of("one batch", batches = 1L),
    of("all columns", growth[c("id", "t", "y")], y ~ . + (1 | id)),
    of("a factor with the same effect everywhere", formula = y ~ t + g + (1 + t | id)),
    of("intercepts", formula = y ~ t + (1 | id)),
    of("no intercept", formula = y ~ 0 + t + (0 + t | id)),
    of("id after the bar", formula = y ~ t | id, obs = obs_regression(random = ~ 1)),
    of("independent effects", formula = y ~ t + (1 + t || id)),
    of("times as years", transform(growth, t = 2000 + t))
  )
  here <- environment()
  for (call in some_of(calls, by = 3)) eval(call, here)
})

test_that("rows without a response, and individuals without any, are left out as in memory", {
  gaps <- withr::with_seed(1, transform(growth, y = replace(y, sample(n_rows, 40), NA)))
  gaps$y[gaps$id == "p7"] <- NA
  left <- unique(gaps$id[!is.na(gaps$y)])
  expect_lt(length(left), n_people)
  for (na_action in c("model", "omit")) {
    fit <- expect_growth_of_source(na_action, gaps, na_action = na_action, kept = left)
    expect_identical(fit$input$individuals$names, left)
    expect_identical(unname(is.na(fitted(fit))), gaps$id == "p7")
  }
  control <- how_source(batches = rep_len(1:3, n_people), max_laps = 3)
  of_given <- function(data) quiet(bnp_mixture(y ~ t + (1 | id), data, control = control, na_action = "omit"))
  memory <- of_given(transform(gaps, id = factor(id, unique(id))))
  expect_identical(of_given(in_pieces(gaps, 17))$state, memory$state)
})

test_that("restarts, starts, finite priors, full learning and checkpoints", {
  other <- quiet(bnp_mixture(y ~ t + (1 + t | id), growth, control = how_source(max_laps = 3)))
  of <- expect_growth_of_source
  calls <- rlang::exprs(
    of("three clusters", prior = prior_dirichlet(3)),
    of("labels of rows", start = as.integer(growth$y > 2)[match(growth$id, growth$id)] + 1L),
    of("a fit", start = other),
    of("labels of individuals", start = rep(1:2, length.out = n_people)),
    of("restarts", restarts = 3)
  )
  here <- environment()
  for (call in some_of(calls, by = 2)) eval(call, here)
  full <- function(data) quiet(bnp_mixture(y ~ t + (1 | id), data, control = how_source(algorithm = "full")))
  expect_fit_of_source(full(in_pieces(growth, 17)), full(transform(growth, id = factor(id, unique(id)))), "full")
  file <- withr::local_tempfile()
  source <- in_pieces(growth, 17)
  run <- function(file, ...) {
    control <- bnp_control(
      seed = 1, batches = 3L, max_laps = 4, checkpoint = file, checkpoint_every = 0, verbose = TRUE
    )
    suppressWarnings(bnp_mixture(y ~ t + (1 | id), source, control = control))
  }
  whole <- stopped_after(Inf, run(withr::local_tempfile()))
  stopped_after(2, run(file))
  resumed <- stopped_after(Inf, suppressWarnings(bnp_resume(file, source)))
  expect_lt(attr(resumed, "reported"), attr(whole, "reported"))
  resumed$control$checkpoint <- whole$control$checkpoint
  resumed$call <- whole$call
  expect_identical(bits_of_fit(resumed)[names(whole)[-1L]], bits_of_fit(whole)[names(whole)[-1L]])
  expect_bad(bnp_resume(file, in_pieces(transform(growth, y = y + 1), 17)), "checkpoint", "other data")
})

test_that("files, and a kept spool, which is of one model and one column of identifiers", {
  csv <- csv_of(transform(growth, id = sub("p", "0", id)))
  folder <- withr::local_tempdir()
  control <- how_source(batches = 3L, max_laps = 4)
  formula <- y ~ t + (1 + t | id)
  first <- quiet(bnp_mixture(formula, source_files(csv, rows = 40L, spool = folder), control = control))
  again <- quiet(bnp_mixture(formula, source_files(csv, rows = 40L, spool = folder), control = control))
  expect_identical(again$individual_sums, first$individual_sums)
  expect_identical(elbo(again), elbo(first))
  expect_identical(head(rownames(first$individual_sums), 2L), c("01", "02"))
  memory <- quiet(bnp_mixture(formula, growth, control = how_source(batches = dealt(n_people, 3), max_laps = 4)))
  expect_equal(elbo(first), elbo(memory), tolerance = 1e-12)
  expect_bad(bnp_mixture(y ~ t + (1 | id), source_files(csv, rows = 40L, spool = folder), control = control), "spool")
  file <- file.path(folder, "description.rds")
  note <- engine_read_bytes(file)
  change <- function(...) utils::modifyList(note, list(read = list(data = list(...))))
  of_rows <- note$read$data$individual
  for (other in list(
    change(n_individuals = 5L), change(individual = rev(of_rows)[-1L]), change(individual = of_rows + 1L),
    change(individual = NULL, n_individuals = NULL, individuals = NULL), change(individuals = list(names = "a")),
    change(sample = list(n_individuals = 3L))
  )) {
    engine_write_bytes(file, serialize(sealed_note(other), NULL))
    ask <- function() bnp_mixture(formula, source_files(csv, rows = 40L, spool = folder), control = control)
    expect_bad(ask(), "spool", "damaged")
  }
})

test_that("all that is asked of a fit from memory is answered, from new sources, too", {
  source <- in_pieces(growth, 17)
  fit <- quiet(bnp_mixture(y ~ t + (1 + t | id), source, control = how_source(batches = 3L, max_laps = 4)))
  types <- c("prob", "individual", "logdensity", "class", "effects", "response", "responsibility")
  for (type in some_of(types, by = 2)) {
    expect_equal(unname(predict(fit, source, type)), unname(predict(fit, growth, type)), info = type)
  }
  expect_equal(unname(predict(fit, source, "individual", interval = 0.9)),
    unname(predict(fit, growth, "individual", interval = 0.9)))
  expect_equal(heldout_loglik(fit, source), heldout_loglik(fit, growth))
  expect_equal(predict(fit, type = "effects"), predict(fit, growth, "effects"))
  new <- transform(growth, id = paste0("q", id))
  last <- new$id == new$id[n_rows] # more of its rows might have come
  expect_equal(
    elbo(quiet(update(fit, newdata = in_pieces(new, n_rows)))),
    elbo(quiet(update(update(fit, newdata = new[!last, ]), newdata = new[last, ])))
  )
  expect_silent(plot(fit, type = "trajectories")) # means and bands
  expect_silent(plot(fit, type = "trajectories", data = growth))
})

test_that("what cannot be read is refused with its place", {
  bad <- function(data, class, text, ..., formula = y ~ t + (1 | id)) {
    expect_bad(bnp_mixture(formula, in_pieces(data, 17), ...), class, text)
  }
  bad(growth[c(1:30, 60:90, 31:59), ], "source", "starts again in row")
  bad(transform(growth, id = replace(id, 20, NA)), "source", "In row 3")
  bad(growth[-1L], "source", "does not exist")
  bad(growth[!duplicated(growth$id), ], "source", "one row")
  bad(growth, "formula", "says something else", id = ~ t)
  bad(growth, "not_defined", "random effects only", id = "id", formula = y ~ t)
  bad(growth, "not_defined", "random effects only", formula = y ~ t | id)
  bad(growth, "not_defined", "weights", weights = "t")
  bad(growth, "not_defined", "labels", labels = "g")
  bad(growth, "source", "need `id`", formula = y ~ t, obs = obs_regression(random = ~ t))
  expect_message(
    bnp_mixture(y ~ t + (1 + t | id), in_pieces(growth[ave(growth$t, growth$id, FUN = seq_along) < 3, ], 17),
      control = how_source()), "60 of 60 individuals have", class = "bnpvi_message_few_rows"
  )
})

test_that("defaults are read from whole individuals of a sample, units from the same sample", {
  replace_in_package("most_sampled", 100L, environment())
  source <- in_pieces(growth, 17)
  fit <- quiet(bnp_mixture(y ~ t + (1 + t | id), source, control = how_source(batches = 3L, max_laps = 3)))
  expect_lte(fit$input$sampled, 100L)
  expect_gt(fit$input$sampled, 80L)
  # The sums of all rows, in the units of the sample.
  obs <- fit$model$obs
  individual <- match(growth$id, unique(growth$id))
  rows <- numbered_individuals(new_bnp_data(cbind(growth$y, growth$t)), individual, unique(growth$id))
  expect_identical(fit$individual_sums, individual_sums(obs, rows))
  memory <- quiet(bnp_mixture(y ~ t + (1 + t | id), growth, control = how_source(max_laps = 1)))
  expect_false(identical(obs$centre, memory$model$obs$centre))
  few <- growth[ave(growth$t, growth$id, FUN = seq_along) < 3, ]
  expect_message(
    bnp_mixture(y ~ t + (1 + t | id), in_pieces(few, 17), control = how_source()), "in a random sample",
    class = "bnpvi_message_few_rows"
  )
})
