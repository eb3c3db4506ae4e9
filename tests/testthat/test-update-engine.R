# Updates (Summary::settled): the bound is that of all data when the responsibilities of the earlier rows are what they
# were.

# Rows of two clusters first, then rows of all.
halves <- function(case) {
  n <- case$data$n
  first <- which(case$cluster <= 2 & seq_len(n) %% 2 == 0)
  list(first = first, later = setdiff(seq_len(n), first))
}

# The ELBO of these responsibilities of all rows.
elbo_of <- function(case, rows, resp, prior) {
  engine_fit(
    engine_rows(case$data, rows), list(obs = case$model$obs, prior = prior),
    engine_control(ncol(resp), max_laps = 0L), list(resp = resp), NULL
  )$elbo
}

# Rows of a series depend on those before them, so that halves of one are not its rows in another order.
# Scales of rows are those of their last visit, which responsibilities alone do not say.
independent <- Filter(function(case) case$model$obs$family != "ar", without_scales(planted_cases()))

for (case in some_of(independent, by = 11)) {
  test_that(paste0(case$name, ": an update has the bound of all rows, those before as they were"), {
    part <- halves(case)
    births <- 0
    for (prior in list(prior_dp(), prior_dirichlet(5))) {
      for (sparsity in list(NULL, 2)) {
        for (batches in if (long_tests()) c(1, 3) else 3) {
          run <- function(verb, rows, ...) {
            verb(
              part_of(case, rows), ..., prior = prior, batches = batches, seed = 4, sparsity = sparsity, audit = TRUE
            )
          }
          before <- run(engine_run, part$first)
          after <- run(engine_update, part$later, before = before)
          expect_audited(after)
          earlier <- earlier_clusters(after, before)
          expect_setequal(stats::na.omit(earlier)[before$sizes[stats::na.omit(earlier)] > 0], which(before$sizes > 0))
          expect_equal(anyDuplicated(stats::na.omit(earlier)), 0)
          resp <- rbind(carried_on(before$responsibilities, earlier), after$responsibilities)
          expect_equal(colSums(resp), after$sizes, tolerance = 1e-8)
          learned <- replace(case, "model", list(list(obs = with_learned_fields(case$model$obs, after$learned))))
          exact <- elbo_of(learned, c(part$first, part$later), resp, prior)
          expect_lte(after$elbo - exact, 1e-8 * (1 + abs(exact)))
          # Rows of before keep the scales that they were visited with.
          expect_gte(after$elbo - exact, if (any_tails(case$model$obs)) -1 else -1e-8 * (1 + abs(exact)))
          births <- births + sum(after$trace$births)
        }
      }
    }
    # One Weibull distribution is nearly as good as these three exponential ones.
    if (case$name != "censored_weibull") expect_gt(births, 0)
  })
}

plain <- c("gaussian_full", "gaussian_diagonal", "multinomial", "bernoulli", "poisson", "categorical")
for (case in Filter(function(case) case$name %in% plain, model_cases())) {
  test_that(paste0(case$name, ": the bound of an update is that of plain R"), {
    case$model$prior <- list(family = "dp", concentration = 1)
    before <- engine_run(part_of(case, 1:25), k_init = 3, batches = 2, seed = 2, audit = TRUE)
    after <- engine_update(part_of(case, 26:40), before, batches = 2, seed = 2, audit = TRUE)
    resp <- rbind(
      carried_on(before$responsibilities, earlier_clusters(after, before)), after$responsibilities
    )
    terms <- elbo_twin(case, case$rows(case$data), resp, case$model$prior)
    expect_equal(after$elbo, sum(terms), tolerance = 1e-9)
    expect_equal(unname(after$terms), unname(terms), tolerance = 1e-9)
  })
}

# The ELBO when nothing is new: of rows that do not count.
elbo_of_nothing <- function(fit, data) {
  data <- as_engine_data(data)
  data$weights <- rep(0, data$n)
  control <- replace(fit$control, "max_laps", list(2L))
  engine_fit(data, fit$model, control, list(state = fit$state, settled = TRUE), NULL)$elbo
}

test_that("with nothing new an update has the bound of the fit", {
  control <- bnp_control(seed = 3, batches = 2, max_laps = 30)
  learn <- gamma_prior(2, 1)
  corpus <- whales$counts[1:40, 1:300]
  frame <- data.frame(iris[1:4], kind = iris$Species)
  holes <- iris[1:4]
  holes[cbind(1:30, rep(1:4, length.out = 30))] <- NA
  given <- obs_gaussian(learn = FALSE)
  mixtures <- list(
    bnp_mixture(iris[1:4], given, control = control),
    bnp_mixture(frame, obs_product(given, obs_categorical()), control = control),
    bnp_mixture(iris[1:4], given, prior = prior_dp(learn), control = control),
    bnp_mixture(iris[1:4], given, prior = prior_dirichlet(4), control = control),
    bnp_mixture(iris[1:4], given, weights = rep(1:3, 50), control = control),
    bnp_mixture(iris[1:4], given, labels = replace(iris$Species, -c(1, 60, 120), NA), control = control),
    bnp_mixture(holes, given, na_action = "model", control = control),
    bnp_mixture(iris[1:4], given, control = bnp_control("full", seed = 1))
  )
  for (fit in mixtures) {
    expect_equal(elbo_of_nothing(fit, as_newdata(fit, if (fit$input$d > 4) frame else iris[1:4])), fit$elbo,
      tolerance = 1e-12
    )
  }
  # A prior that is learned goes on to be.
  learns <- bnp_mixture(iris[1:4], obs = obs_gaussian("diagonal", learn = TRUE), control = control)
  goes_on <- elbo_of_nothing(learns, as_newdata(learns, iris[1:4]))
  expect_gte(goes_on, learns$elbo)
  expect_equal(goes_on, learns$elbo, tolerance = 1e-7)
  for (prior in some_of(list(prior_hdp(), prior_hdp(learn, learn), prior_lda(4), prior_lda(4, learn)), by = 3)) {
    fit <- bnp_topics(corpus, obs_multinomial(0.1), prior, control)
    expect_equal(elbo_of_nothing(fit, new_documents(fit, corpus)), fit$elbo, tolerance = 1e-11) # its terms are 1e5
  }
  fit <- bnp_topics(iris[1:4], obs_gaussian(), id = rep(1:15, 10), control = control)
  expect_equal(elbo_of_nothing(fit, new_documents(fit, iris[1:4], rep(1:15, 10))), fit$elbo, tolerance = 1e-12)
  priors <- list(prior_hdp_hmm(sticky = 3), prior_hdp_hmm(learn, learn, learn, learn), prior_hmm(3))
  for (prior in some_of(priors, by = 2, from = 2)) {
    fit <- bnp_hmm(faithful, id = rep(1:4, each = 68), prior = prior, control = control)
    expect_equal(elbo_of_nothing(fit, as_new_sequences(fit, faithful, rep(1:4, each = 68))), fit$elbo,
      tolerance = 1e-12
    )
  }
})

for (case in some_of(planted_sequences(), by = 13, from = 2)) {
  test_that(paste0(case$name, ": sequences that come later leave the states of the earlier ones as they were"), {
    starts <- case$data$starts
    half <- starts[length(starts) %/% 2 + 1L]
    first <- starts[starts <= half]
    later <- starts[starts >= half] - half
    for (prior in some_of(list(prior_hdp_hmm(sticky = 5), prior_hdp_hmm(), prior_hmm(4, sticky = 5)), by = 2)) {
      before <- engine_run(
        part_of(case, seq_len(half), first), prior = prior, batches = 2, seed = 5, moves = FALSE,
        k_init = if (is.null(prior$k)) 12
      )
      after <- engine_update(
        part_of(case, (half + 1):starts[length(starts)], later), before, prior = prior, batches = 2, seed = 5,
        audit = TRUE
      )
      expect_audited(after)
      earlier <- earlier_clusters(after, before)
      old <- ifelse(is.na(earlier), 0, before$sizes[earlier])
      lag <- obs_lag(case$model$obs)
      own <- unlist(lapply(later[-length(later)], function(s) s + seq_len(lag)))
      new <- if (lag > 0) after$responsibilities[-own, ] else after$responsibilities
      expect_equal(after$sizes, old + colSums(new), tolerance = 1e-8)
      expect_equal(sum(old), sum(before$sizes))
      pairs <- after$state$pair
      known <- which(!is.na(earlier))
      # expected transitions of the earlier sequences are all there
      expect_true(all(pairs[known, known] >= before$state$pair[earlier[known], earlier[known]] - 1e-8))
      expect_equal(sum(pairs) + sum(after$state$extra), sum(after$sizes), tolerance = 1e-8)
    }
  })
}

test_that("documents that come later leave the topics of the earlier ones as they were", {
  corpus <- as_document_data(toy_corpus(documents = 90, topics = 5), obs_multinomial(), NULL)
  case <- list(
    data = as_engine_data(corpus), model = list(obs = resolve_obs(obs_multinomial(), corpus), prior = prior_hdp())
  )
  for (prior in list(prior_hdp(), prior_lda(6))) {
    for (k_init in c(2, 12)) {
      part <- function(rows) part_of(case, rows, 0:length(rows))
      run <- function(verb, rows, ...) {
        verb(part(rows), ..., prior = prior, batches = 2, seed = 6, audit = TRUE, k_init = if (is.null(prior$k)) k_init)
      }
      before <- run(engine_run, 1:30, moves = k_init < 12)
      after <- run(engine_update, 31:90, before = before)
      expect_audited(after)
      earlier <- earlier_clusters(after, before)
      old <- ifelse(is.na(earlier), 0, before$sizes[earlier])
      new <- vapply(seq_along(earlier), function(j) sum(after$documents$count[after$documents$topic == j]), 1)
      expect_equal(after$sizes, old + new, tolerance = 1e-8)
      expect_equal(sum(old), sum(before$sizes))
      expect_setequal(intersect(earlier, which(before$sizes > 0)), which(before$sizes > 0))
      expect_equal(sum(after$sizes), sum(case$data$value))
    }
  }
})

test_that("moves of updates of finite models and of many clusters keep what is settled", {
  case <- planted_cases()[[1]]
  part <- halves(case)
  for (k in c(1L, 2L, 12L)) {
    before <- engine_run(part_of(case, part$first), prior = prior_dirichlet(k), init = "random", seed = 5)
    after <- engine_update(part_of(case, part$later), before, prior = prior_dirichlet(k), seed = 5, audit = TRUE)
    expect_audited(after)
    expect_identical(after$state$k, k)
    expect_equal(sum(after$sizes), case$data$n)
  }
  many <- engine_run(part_of(case, part$first), k_init = 30, moves = FALSE, seed = 1)
  after <- engine_update(part_of(case, part$later), many, seed = 1, audit = TRUE, batches = 4)
  expect_audited(after)
  expect_equal(sum(is.na(earlier_clusters(after, many))), after$state$k - sum(many$sizes > 0))
})
