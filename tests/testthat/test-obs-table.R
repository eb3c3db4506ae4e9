# Every observation model keeps the promises that its facts and its methods make, in every function that takes it; and
# no other code asks for a model by its name.

cases <- Filter(function(case) case$name %in% names(obs_models), planted_cases())
names(cases) <- vapply(cases, function(case) case$name, "")
control <- bnp_control(seed = 1, k_init = 3, max_laps = 4, moves = FALSE, verbose = FALSE)
documents <- 10L

named <- function(case) {
  x <- case$x
  dimnames(x) <- list(NULL, paste0("col", seq_len(ncol(x))))
  x
}

# Arguments that make sense of x beside the fit: the document of each row where documents are no rows.
grouping <- function(verb, obs, x) {
  if (verb == "bnp_topics" && !obs_facts(obs)$counts_tokens) list(id = rep(seq_len(documents), length.out = nrow(x)))
}

fit_by <- function(verb, case) {
  x <- named(case)
  do.call(verb, c(list(x, obs = case$obs, control = control), grouping(verb, case$obs, x)))
}

# The columns of the data in what simulate() returns.
simulated_values <- function(sim, x) {
  if (is.data.frame(sim)) expect_equal(names(sim)[seq_len(ncol(x))], colnames(x))
  expect_equal(colnames(sim)[seq_len(ncol(x))], colnames(x))
  as.matrix(sim[, seq_len(ncol(x)), drop = FALSE])
}

# The arrays of a fit have the dimensions that its facts say.
expect_axes <- function(fit) {
  obs <- fit$model$obs
  facts <- obs_facts(obs)
  arrays <- c(posterior_arrays(fit), mean_arrays(fit))
  expect_true(all(names(facts$arrays) %in% names(arrays)))
  expect_true(all(facts$location %in% names(mean_arrays(fit))))
  expect_true(all(names(obs_quantiles(obs)) %in% names(facts$arrays)))
  for (name in names(facts$arrays)) {
    axes <- facts$arrays[[name]]
    size <- dim(arrays[[name]]) %||% length(arrays[[name]])
    expect_equal(size[axes == "clusters"], fit$state$k, label = name)
    expect_true(all(size[axes == "columns"] == fit$input$d), label = name)
    labels <- dimnames(arrays[[name]]) %||% list(names(arrays[[name]]))
    named <- !grepl("nodes$", axes) # which are as many as the posterior of a shape needs
    expect_equal(lengths(labels)[named], size[named], label = name)
  }
}

expect_fits <- function(verb, case) {
  x <- named(case)
  fit <- fit_by(verb, case)
  obs <- fit$model$obs
  facts <- obs_facts(obs)
  extra <- grouping(verb, obs, x)
  expect_s3_class(fit, verb)
  expect_output(print(fit), facts$title, fixed = TRUE)
  expect_output(print(summary(fit)), "Observed: ")

  expect_axes(fit)
  for (cluster in posterior_clusters(fit)) {
    along_nodes <- names(Filter(function(axes) any(grepl("nodes$", axes)), facts$arrays))
    for (name in setdiff(intersect(names(cluster), names(obs)), along_nodes)) {
      expect_equal(dim(cluster[[name]]), dim(obs[[name]]), label = name)
      expect_equal(length(cluster[[name]]), length(obs[[name]]), label = name)
    }
  }

  values <- simulated_values(simulate(fit, seed = 1)$sim_1, x)
  expect_true(all(is.finite(values)))
  expect_true(all(obs_supports(obs, values)))
  asked <- setdiff(c("initial", "total"), names(obs_given(obs)))
  if (verb != "bnp_topics" && length(asked)) {
    expect_bad(do.call(simulate, c(list(fit), stats::setNames(list(1), asked[1]))), "argument", asked[1])
  }

  prob <- do.call(predict, c(list(fit, x, type = "prob"), extra))
  expect_equal(unname(rowSums(prob)), rep(1, nrow(prob)))
  expect_equal(ncol(prob), fit$state$k)
  expect_length(predict(fit, type = "class"), nrow(prob))
  expect_equal(nrow(as.data.frame(fit)), fit$state$k)
  expect_gte(nrow(tidy(fit)), fit$state$k)
  if (verb == "bnp_topics" && facts$counts_tokens) {
    expect_false(anyNA(augment(fit, data.frame(document = 1:3, term = colnames(x)[1]))$.topic))
  } else {
    augmented <- do.call(augment, c(list(fit, x), extra))
    expect_equal(as.matrix(augmented[colnames(x)]), x, ignore_attr = TRUE)
    expect_true(all(augmented$.uncertainty >= 0 & augmented$.uncertainty <= 1))
  }

  withr::local_pdf(NULL)
  if (verb == "bnp_mixture" && !obs_can(obs, "picture")) {
    expect_bad(plot(fit), "argument", facts$constructor)
  } else {
    expect_silent(plot(fit))
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  }
  expect_silent(plot(fit, "elbo"))
  if (verb == "bnp_hmm") {
    expect_silent(suppressMessages(plot(fit, data = x)))
    if (!obs_can(obs, "predictive_cdf")) {
      expect_bad(residuals(fit, x), "argument", facts$constructor)
    } else {
      expect_equal(dim(residuals(fit, x)), c(nrow(x), obs$responses %||% ncol(x)))
    }
  }
  fit
}

test_that("every model of the table is planted, so that what follows looks at all", {
  expect_setequal(names(cases), models_of_rows())
})

for (family in models_of_rows()) {
  case <- cases[[family]]
  facts <- obs_facts(case$obs)

  test_that(paste0(family, ": its facts are complete, and its constructor makes it"), {
    for (fact in c("title", "constructor", "values")) expect_type(facts[[fact]], "character")
    expect_true(is.function(getExportedValue("bnpvi", facts$constructor)))
    expect_identical(case$obs$family, family)
    expect_s3_class(case$obs, c(paste0("obs_", family), facts$constructor), exact = FALSE)
    expect_true(is_obs(case$obs))
    expect_identical(names(facts), names(formals(new_obs_facts)))
    given <- setdiff(names(obs_given(case$obs)), "blocks") # which simulate() completes by itself
    expect_true(all(given %in% names(formals(simulate.bnp_mixture))))
    expect_true(all(given %in% names(formals(simulate.bnp_hmm))))
  })

  test_that(paste0(family, ": resolving leaves no NULL, and print() shows no working field"), {
    obs <- resolve_obs(case$obs, as_mixture_data(case$x, case$obs))
    expect_false(any(vapply(obs, is.null, NA)))
    expect_true(all(is.finite(unlist(obs[vapply(obs, is.numeric, NA)]))))
    expect_setequal(names(obs), union(names(case$obs), intersect(facts$working, names(obs))))
    shown <- format(obs)
    for (field in facts$working) expect_false(grepl(paste0(field, " ="), shown, fixed = TRUE))
    # Of the models that come by default only a covariance that all clusters share is learned.
    expect_length(obs_learned(obs)$by, 1 * grepl("tied", family))
  })

  test_that(paste0(family, ": values outside its support and sparse matrices are refused, or taken as they are"), {
    x <- case$x
    expect_true(all(obs_supports(case$obs, x)))
    x[2, 1] <- -50.5
    if (is.null(facts$refusal)) {
      expect_true(all(obs_supports(case$obs, x)))
      data <- as_mixture_data(x, case$obs)
      at <- if (is.null(colnames(x))) seq_len(ncol(x)) else match(colnames(x), data$column_names)
      expect_equal(data$x[, at], x, ignore_attr = TRUE)
    } else {
      expect_false(all(obs_supports(case$obs, x)))
      if (all(case$x == round(case$x))) expect_false(obs_supports(case$obs, 0.5))
      expect_bad(as_mixture_data(x, case$obs), sub("bnpvi_error_", "", facts$refusal[["class"]]), "\\(2, x?1\\)")
    }
    sparse <- Matrix::Matrix(case$x, sparse = TRUE)
    if (facts$takes_sparse) {
      expect_equal(as.matrix(data_matrix(as_mixture_data(sparse, case$obs))), case$x, ignore_attr = TRUE)
    } else {
      expect_bad(as_mixture_data(sparse, case$obs), "input", facts$constructor)
    }
  })

  for (verb in setdiff(eval(formals(new_obs_facts)$verbs), "bregman_kmeans")) {
    # In the short suite a mixture of each model, and topics or sequences of every seventh.
    if (verb != "bnp_mixture" && !family %in% some_of(models_of_rows(), by = 7)) next
    if (verb %in% facts$verbs) {
      test_that(paste0(family, ": ", verb, "() fits it, and all that reads the fit works"), {
        fit <- expect_fits(verb, case)
        # What the facts do not list is the prior's: the same for every model.
        others <- setdiff(names(posterior_arrays(fit)), names(obs_facts(fit$model$obs)$arrays))
        expect_setequal(others, list(
          bnp_mixture = c("sticks", "position"), bnp_topics = c("sticks", "position"),
          bnp_hmm = c("start", "transition", "u", "omega", "position")
        )[[verb]])
      })
    } else {
      test_that(paste0(family, ": ", verb, "() refuses it and says what takes it"), {
        error <- expect_bad(fit_by(verb, case), "argument", facts$constructor)
        for (other in c(facts$verbs, verb_makers(verb))) expect_match(conditionMessage(error), other, fixed = TRUE)
      })
    }
  }

  if (identical(facts$gaps, "cells") && "bnp_mixture" %in% facts$verbs) {
    test_that(paste0(family, ": with missing cells its arrays are still those of its facts"), {
      x <- named(case)
      x[c(4, 9, 14), 1L] <- NA
      fit <- suppressMessages(bnp_mixture(x, obs = case$obs, control = control, na_action = "model"))
      expect_identical(isTRUE(fit$model$obs$gaps), is.null(case$obs$responses)) # no row has two responses
      expect_axes(fit)
    })
  }

  test_that(paste0(family, ": bregman_kmeans() takes it, or says what does"), {
    if ("bregman_kmeans" %in% facts$verbs) {
      expect_length(bregman_kmeans(case$x, 2, case$obs, seed = 1)$cluster, nrow(case$x))
    } else {
      expect_bad(bregman_kmeans(case$x, 2, case$obs, seed = 1), "argument", facts$verbs[1])
    }
  })
}

with_cdf <- Filter(function(family) obs_can(new_obs(family), "predictive_cdf"), models_of_rows())
for (family in some_of(with_cdf, by = 5)) {
  test_that(paste0(family, ": the slope of obs_predictive_cdf() is the engine's density, without the other column"), {
    obs <- cases[[family]]$obs
    x <- cases[[family]]$x[, 1:2]
    fit <- bnp_mixture(x, obs, prior = prior_dirichlet(1), control = bnp_control(seed = 1, verbose = FALSE))
    # Pairs of a row of the data and one with these values in the columns.
    pairs <- function(first, second) {
      both <- array(t(x[55, ]), c(2, 2, length(second)))
      both[, 2, ] <- rbind(first, second)
      new_bnp_data(t(matrix(both, 2)), if (obs_lag(obs) > 0) seq(0, 2 * length(second), 2))
    }
    cdf <- function(first) {
      obs_predictive_cdf(fit$model$obs, posterior_clusters(fit)[[1]], pairs(first, x[56, 2]))[2, 1]
    }
    h <- 1e-4 * sd(x[, 1])
    positive <- !obs_supports(obs, -1)
    is_angle <- !positive && !obs_supports(obs, 7)
    second <- if (is_angle) seq(-pi, pi, length.out = 801)[-1L] else
      if (positive) exp(seq(-30, 10, length.out = 801)) else seq(-30, 30, length.out = 801) * sd(x[, 2])
    width <- if (positive) second * log(second[2] / second[1]) else diff(second[1:2])
    if (!is.null(obs$responses)) { # a covariate is known
      second <- x[56, 2]
      width <- 1
    }
    for (first in c(x[56, 1], x[56, 1] + 2 * sd(x[, 1]))) {
      slope <- (cdf(first + h) - cdf(first - h)) / (2 * h)
      density <- exp(log_predictive(fit, pairs(first, second)))[seq(2, 2 * length(second), 2)]
      expect_equal(slope, sum(density * width), tolerance = 1e-5)
    }
  })
}

test_that("facts that lack one, or have one that does not fit, are none", {
  expect_error(do.call(new_obs_facts, model_bernoulli[names(model_bernoulli) != "values"]), "values")
  expect_error(do.call(new_obs_facts, utils::modifyList(model_bernoulli, list(location = "mean"))), "location")
  expect_error(do.call(new_obs_facts, c(model_bernoulli, list(sparse = TRUE))), "unused argument")
})

# Questions to an observation model: generics on `obs`, with their methods by class.
code <- asNamespace("bnpvi")
questions <- Filter(function(name) {
  is.function(code[[name]]) && identical(names(formals(code[[name]]))[1L], "obs") &&
    rlang::is_call(body(code[[name]]), "UseMethod")
}, ls(code))
answers <- function(obs) {
  Filter(function(question) {
    any(rlang::env_has(code, paste0(question, ".", class(obs))))
  }, questions)
}
# Of these there is a default, or not every model can answer.
has_default <- function(question) rlang::env_has(code, paste0(question, ".default"))[[1L]]
optional <- c(
  "obs_keep", "obs_begin_again", "obs_read", "obs_draw_rows", "obs_predictive_cdf", "obs_moments", "obs_conditional",
  "obs_draw_conditional", "obs_log_cells", "obs_divergence", "obs_overlap", "obs_as_frame", "obs_marginals",
  "obs_picture", "obs_densities", "obs_row_scales", "obs_expected_response", "obs_average_response"
)

test_that("each model answers what all must answer, and pairs of questions together", {
  of_all <- c(
    lapply(cases, `[[`, "obs"), list(drifting = obs_gaussian("diagonal", drift = 1), lds = obs_lds())
  )
  required <- Filter(function(question) !has_default(question) && !question %in% optional, questions)
  expect_setequal(required, c("obs_resolve", "obs_quantiles"))
  expect_true(all(optional %in% questions))
  for (name in names(of_all)) {
    own <- answers(of_all[[name]])
    expect_true(all(required %in% own), label = name)
    expect_identical("obs_divergence" %in% own, "obs_overlap" %in% own, label = name)
    expect_true(any(c("obs_draw", "obs_draw_rows") %in% own), label = name)
    expect_identical("obs_conditional" %in% own, "obs_draw_conditional" %in% own, label = name)
    expect_identical("obs_supports" %in% own, !is.null(obs_facts(of_all[[name]])$refusal), label = name)
  }
})

test_that("every method is of a question that is asked and of a class that there is, and is found by it", {
  registered <- getNamespaceInfo("bnpvi", "S3methods")
  named <- grep("^obs_[a-z_]+[.]", ls(code), value = TRUE)
  expect_setequal(named, registered[registered[, 1L] %in% questions & grepl("^obs_", registered[, 1L]), 3L])
  families <- c(names(obs_models), names(hidden_models), names(network_models))
  known <- unique(unlist(lapply(families, function(family) class(new_obs(family)))))
  known <- setdiff(known, c("bnp_obs", "list"))
  known <- c(known, class(obs_gaussian(drift = 1))[1L], class(obs_gamma(zeros = TRUE))[1L], "default")
  expect_identical(setdiff(sub("^[^.]*[.]", "", named), known), character())
  expect_identical(setdiff(sub("[.].*", "", named), questions), character())
})

test_that("methods() lists what a model has", {
  # It looks at generics on the search path only, where pkgload::load_all() puts those of the package.
  listed <- function(class) {
    withr::with_environment(code, attr(utils::methods(class = class), "info")$generic, warn.conflicts = FALSE)
  }
  expect_setequal(listed("obs_poisson"), answers(structure(list(), class = "obs_poisson")))
  expect_true(all(c("obs_resolve", "obs_draw_rows", "obs_moments", "obs_divergence") %in% listed("obs_poisson")))
  expect_false("obs_predictive_cdf" %in% listed("obs_poisson"))
  expect_true(all(c("obs_learned", "obs_picture") %in% listed("obs_gaussian")))
})

test_that("an observation model whose class and fields do not go together is refused", {
  expect_true(is_obs(obs_product(obs_gaussian(), obs_categorical())))
  changed <- list(
    family = `[[<-`(obs_poisson(), "family", "bernoulli"), drift = `[[<-`(obs_gaussian(), "drift", 0.5),
    class = `class<-`(obs_poisson(), c("obs_bernoulli", "bnp_obs", "list")),
    old = `class<-`(obs_poisson(), c("bnp_obs", "list")), unknown = `[[<-`(obs_poisson(), "family", "cauchy")
  )
  fit <- bnp_mixture(cases$poisson$x, obs_poisson(), control = control)
  frame <- data.frame(n = cases$poisson$x[, 1L], f = gl(2, 1, nrow(cases$poisson$x)))
  of_blocks <- bnp_mixture(frame, control = control)
  for (obs in changed) {
    expect_false(is_obs(obs))
    expect_bad(bnp_mixture(cases$poisson$x, obs, control = control), "argument", "obs.*not as its constructor made it")
    expect_bad(obs_product(obs), "argument", "\\.\\.1.*not as its constructor made it")
    damaged <- fit
    damaged$model$obs$family <- obs$family
    class(damaged$model$obs) <- class(obs)
    if (!is_obs(damaged$model$obs)) expect_bad(coef(damaged), "format", "model\\$obs")
  }
  class(of_blocks$model$obs$blocks[[1L]]) <- c("bnp_obs", "list")
  expect_bad(coef(of_blocks), "format", "model\\$obs")
})

# Of prior_covariates(), which asks for a formula (test-covariates-input.R).
by_covariates <- c("covariates", "topic_covariates", "hmm_covariates")

test_that("every prior is taken by the function that its entry names, and refused by the others", {
  control <- bnp_control(seed = 1, max_laps = 2, verbose = FALSE)
  for (name in setdiff(names(prior_models), by_covariates)) {
    entry <- prior_models[[name]]
    needs_k <- "k" %in% names(formals(entry$constructor))
    prior <- do.call(entry$constructor, if (needs_k) list(k = 2) else list())
    expect_identical(prior_entry(prior), entry)
    expect_output(print(prior), entry$title, fixed = TRUE)
    for (verb in unique(vapply(prior_models, function(entry) entry$verb, ""))) {
      x <- if (verb == "bnp_topics") cases$multinomial$x else cases$gaussian_full$x
      if (verb == entry$verb) {
        expect_output(print(do.call(verb, list(x, prior = prior, control = control))), entry$title, fixed = TRUE)
      } else {
        expect_bad(do.call(verb, list(x, prior = prior, control = control)), "argument", entry$verb)
      }
    }
  }
})

# Constants of an expression, with the names of the branches of its switches.
constants_of <- function(x) {
  if (is.character(x)) {
    return(x)
  }
  if (!is.call(x) && !is.pairlist(x)) {
    return(character())
  }
  parts <- Filter(function(part) !identical(part, quote(expr = )), as.list(x))
  c(if (is.call(x) && identical(x[[1]], quote(switch))) names(x), unlist(lapply(parts, constants_of)))
}

test_that("no function asks for a model or a prior by its name, or lists constructors; only constructors say them", {
  makers <- unlist(lapply(c(obs_models, prior_models), function(entry) entry$constructor))
  # What one constructor alone offers is the affair of functions that name it: covariates, keywords, random effects.
  families <- setdiff(c(models_of_rows(), names(prior_models)), by_covariates)
  stems <- unique(sub("_.*", "", models_of_rows()))
  of_one <- "prior_covariates|[{](arg|code) (covariates|keywords|random)|andom effects|random_effects"
  maker <- paste0("\\b(", paste(makers, collapse = "|"), ")\\b")
  suspect <- function(constants) {
    names_family <- constants %in% c(families, stems, paste0(stems, "_"))
    (names_family | grepl(maker, constants, perl = TRUE)) & !grepl(of_one, constants, perl = TRUE)
  }
  constants_in <- function(f) as.character(c(constants_of(body(f)), constants_of(formals(f))))
  asked <- function(f) Filter(suspect, constants_in(f))
  expect_length(asked(function(x) if (x$family == "ar") 1), 1)
  expect_length(asked(function(x) switch(x$family, multinomial = 1, 2)), 1)
  expect_length(asked(function(fit) startsWith(fit, "gaussian")), 1)
  expect_length(asked(function() abort("argument", "Not by {.fn obs_ar}.")), 1)
  code <- asNamespace("bnpvi")
  # The first names distributions of links, the last two write calls; the others are about what one constructor offers.
  without <- c(
    "obs_links", "labels_of_places", "need_taker_of_keywords", "obs_with_random", "with_effects", "obs_of_response",
    "regression_family", "with_family", "obs_of_track", "call_of_better"
  )
  functions <- Filter(is.function, mget(setdiff(ls(code, all.names = TRUE), c(makers, without)), envir = code))
  constants <- lapply(functions, constants_in)
  said <- suspect(unlist(constants))
  found <- paste0(rep(names(constants), lengths(constants)), "(): ", unlist(constants))[said]
  expect_identical(found, character())
})
