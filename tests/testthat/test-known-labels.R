# Known labels: a row belongs to clusters of its classes only, and classes keep their clusters.

labelled_case <- function(share = 0.3, classes = NULL, seed = 1, case = planted_cases()[[1]]) {
  known <- withr::with_seed(seed, runif(case$data$n) < share)
  class <- if (is.null(classes)) case$cluster else classes[case$cluster]
  set <- ifelse(known & !is.na(class), class, 0L)
  case$data$classes <- as.integer(set)
  case$data$class_sets <- diag(max(set)) == 1
  case
}

# Each labelled row in the cluster of its class, the others in one more.
start_of_labels <- function(data) {
  classes <- ncol(data$class_sets)
  list(
    labels = as.integer(ifelse(data$classes == 0, classes + 1L, data$classes)), k = classes + 1L,
    owner = c(seq_len(classes), 0L)
  )
}

# No row has any responsibility for a cluster that it may not belong to, and every class has a cluster.
expect_labels_kept <- function(fit, data, label = NULL) {
  owner <- fit$state$owner
  expect_length(owner, fit$state$k)
  allowed <- allowed_clusters(data, owner)
  expect_identical(max(fit$responsibilities[!allowed], 0), 0, label = label)
  expect_equal(rowSums(fit$responsibilities), rep(1, data$n), tolerance = 1e-8)
  expect_true(all(seq_len(ncol(data$class_sets)) %in% owner), label = label)
}

for (case in some_of(planted_cases(), by = 9, from = 5)) {
  if (case$model$obs$family == "ar") next
  test_that(paste0(case$name, ": no move takes a row out of its class"), {
    for (classes in list(NULL, c(1L, 1L, 2L, NA))) {
      labelled <- labelled_case(classes = classes, case = case)
      start <- start_of_labels(labelled$data)
      for (batches in if (long_tests()) c(1, 3) else 3) {
        for (sparsity in some_of(list(NULL, 2), by = 2, from = if (is.null(classes)) 1 else 2)) {
          fit <- engine_run(labelled, start = start, batches = batches, sparsity = sparsity, seed = 2, audit = TRUE)
          expect_audited(fit)
          expect_labels_kept(fit, labelled$data, paste(batches, sparsity))
        }
      }
    }
  })
}

test_that("every prior and kind of move keeps the labels, from too many clusters of each class", {
  case <- labelled_case(0.5, c(1L, 2L, 2L, NA))
  data <- case$data
  for (prior in mixture_priors) {
    owner <- rep(c(1L, 2L, 0L), if (is.null(prior$k)) 5 else 2)
    if (!is.null(prior$k)) prior$k <- length(owner)
    resp <- withr::with_seed(4, matrix(stats::rgamma(data$n * length(owner), 0.5) + 1e-9, data$n))
    resp <- resp * allowed_clusters(data, owner)
    start <- list(resp = resp / rowSums(resp), owner = owner)
    for (batches in c(1, 4)) {
      fit <- engine_run(case, prior = prior, start = start, batches = batches, seed = 3, audit = TRUE)
      expect_audited(fit)
      expect_labels_kept(fit, data, prior$family)
      if (is.null(prior$k)) expect_gt(sum(fit$trace[c("merges", "deletes")]), 0)
    }
  }
})

test_that("clusters of different classes are not joined, however near", {
  x <- withr::with_seed(1, matrix(rnorm(400), 200))
  obs <- obs_gaussian()
  data <- as_mixture_data(x, obs)
  case <- list(model = list(obs = resolve_obs(obs, data), prior = prior_dp()), data = as_engine_data(data))
  case$data$classes <- rep(0:2, c(100L, 50L, 50L))
  case$data$class_sets <- diag(2) == 1
  fit <- engine_run(case, start = start_of_labels(case$data), seed = 1, audit = TRUE)
  expect_labels_kept(fit, case$data)
  expect_identical(sort(fit$state$owner), 1:2) # the one of no class joined one of them
  case$data$classes <- case$data$class_sets <- NULL
  expect_identical(engine_run(case, seed = 1)$state$k, 1L)
})

test_that("with many clusters, candidates of a labelled row are of its class", {
  case <- labelled_case(0.5, c(1L, 2L, 2L, NA))
  owner <- rep(c(1L, 2L, 0L), 8)
  resp <- withr::with_seed(4, matrix(stats::rgamma(case$data$n * 24, 0.1) + 1e-9, case$data$n))
  resp <- resp * allowed_clusters(case$data, owner)
  fit <- engine_run(
    case, start = list(resp = resp / rowSums(resp), owner = owner), sparsity = 2, candidates = 3, audit = TRUE,
    moves = bnp_moves(birth = FALSE), seed = 1
  )
  expect_audited(fit)
  expect_labels_kept(fit, case$data)
})

test_that("births inside a class are of that class, those of no class of none", {
  case <- labelled_case(1, c(1L, 1L, 1L, 2L))
  fit <- engine_run(case, start = start_of_labels(case$data), seed = 1, audit = TRUE)
  expect_labels_kept(fit, case$data)
  expect_identical(sort(fit$state$owner[fit$sizes > 1]), c(1L, 1L, 1L, 2L))
  case <- labelled_case(1, c(1L, NA, NA, NA))
  fit <- engine_run(case, start = start_of_labels(case$data), seed = 1, audit = TRUE)
  expect_labels_kept(fit, case$data)
  expect_identical(sort(fit$state$owner[fit$sizes > 1]), c(0L, 0L, 0L, 1L))
})

test_that("labels of one class for all rows change nothing, in any kind of move", {
  places <- unname(as.matrix(quakes[1:2]))
  cases <- c(planted_cases()[c(1, 5, 20)], list(
    planted_case("overlapping", obs_gaussian(learn = FALSE), places, rep(1L, nrow(places)))
  ))
  idle <- 0
  for (case in cases) {
    for (batches in c(1, 3)) {
      for (sparsity in some_of(list(NULL, 2), by = 2, from = min(batches, 2))) {
        run <- function(case, start) engine_run(case, start = start, batches = batches, sparsity = sparsity, seed = 7)
        start <- list(labels = rep(1L, case$data$n), k = 1L)
        free <- run(case, start)
        labelled <- case
        labelled$data[c("classes", "class_sets")] <- list(start$labels, matrix(TRUE))
        one <- run(labelled, c(start, list(owner = 1L)))
        expect_identical(unique(one$state$owner), 1L)
        expect_identical(one$labels, free$labels)
        expect_identical(one$elbo, free$elbo)
        expect_identical(one$trace$births, free$trace$births)
        idle <- idle + sum(one$trace$births[-(1:3)])
      }
    }
  }
  expect_gt(idle, 0) # refits, which come when births have nothing to try
})

test_that("the bound of the design's table with two known labels", {
  x <- cbind(c(0.1, -0.4, 2.2, 1.9, 2.4), c(1.2, 0.3, 0.8, -0.5, 0.1))
  obs <- list(
    family = "gaussian_full", mean = c(0, 0), mean_strength = 0.1, df = 4, scale = diag(2) / 2, centre = c(0, 0),
    unit = c(1, 1)
  )
  data <- c(engine_data(x), list(classes = c(2L, 0L, 0L, 1L, 0L), class_sets = diag(2) == 1))
  bound <- vapply(0:7, function(free) {
    z <- c(2L, 1L + bitwAnd(free, 1L), 1L + bitwAnd(free %/% 2L, 1L), 1L, 1L + bitwAnd(free %/% 4L, 1L))
    control <- engine_control(2, max_laps = 2000L, tol = 1e-14)
    start <- list(labels = as.integer(z), k = 2L, owner = 1:2)
    engine_fit(data, list(obs = obs, prior = list(family = "dp", concentration = 1)), control, start, NULL)$elbo
  }, 1)
  expect_equal(max(bound), -19.27153211, tolerance = 1e-9)
})

test_that("all rows labelled and no births: responsibilities are the labels", {
  fit <- bnp_mixture(
    iris[1:4], labels = iris$Species, control = bnp_control(moves = FALSE, seed = 1, keep = "probabilities")
  )
  expect_identical(n_clusters(fit), 3L)
  expect_identical(max(abs(predict(fit, type = "responsibility") - diag(3)[fitted(fit), ])), 0)
  expect_identical(as.character(predict(fit, type = "label")), as.character(iris$Species))
  given <- bnp_mixture(
    iris[1:4], obs_gaussian(learn = FALSE), labels = iris$Species, control = bnp_control(moves = FALSE, seed = 1)
  )
  expect_identical(given$laps, 1L)
  one_lap <- bnp_control(moves = FALSE, max_laps = 1)
  free <- suppressWarnings(bnp_mixture(iris[1:4], start = as.integer(iris$Species), control = one_lap))
  expect_lt(elbo(fit), elbo(free)) # whose rows one lap has let go where they like
})

long_test("labels of a few rows find the classes, and rows of several classes keep to these", {
  few <- withr::with_seed(1, sample(150, 30))
  labels <- replace(iris$Species, -few, NA)
  control <- bnp_control(seed = 1)
  fit <- bnp_mixture(iris[1:4], labels = labels, control = control)
  expect_gt(mean(predict(fit, type = "label") == iris$Species, na.rm = TRUE), 0.9)
  prob <- predict(fit, iris, type = "label_prob")
  expect_identical(colnames(prob)[1:3], levels(iris$Species))
  expect_equal(unname(rowSums(prob)), rep(1, 150))
  expect_identical(unname(predict(fit, iris, type = "label")[5]), factor("setosa", levels(iris$Species)))

  allowed <- matrix(NA, 150, 3, dimnames = list(NULL, levels(iris$Species)))
  allowed[few, ] <- outer(iris$Species[few], levels(iris$Species), `==`)
  same <- bnp_mixture(iris[1:4], labels = allowed, control = control)
  expect_identical(elbo(same), elbo(fit))
  allowed[101:150, ] <- rep(c(FALSE, TRUE, TRUE), each = 50)
  wide <- bnp_mixture(iris[1:4], labels = allowed, control = bnp_control(seed = 1, keep = "probabilities"))
  expect_identical(max(predict(wide, type = "label_prob")[101:150, "setosa"]), 0)

  finite <- bnp_mixture(iris[1:4], labels = labels, prior = prior_dirichlet(3), control = control)
  expect_identical(sort(finite$state$owner), 1:3)
  for (k in c(4, 6)) {
    finite <- bnp_mixture(iris[1:4], labels = labels, prior = prior_dirichlet(k), control = control)
    expect_true(all(1:3 %in% finite$state$owner))
  }
})

test_that("borders between classes and a class that nobody has labelled are found from a fifth of the labels", {
  labels <- replace(iris$Species, -seq(1, 150, by = 5), NA)
  fit <- bnp_mixture(iris[1:4], labels = labels, control = bnp_control(seed = 1))
  expect_gt(mean(predict(fit, type = "label") == iris$Species), 0.95)
  truth <- bnp_mixture(iris[1:4], labels = iris$Species, control = bnp_control(seed = 1))
  expect_gt(elbo(fit), elbo(truth))
  two <- replace(labels, labels == "setosa", NA)
  fit <- bnp_mixture(iris[1:4], labels = two, control = bnp_control(seed = 1))
  expect_identical(unname(is.na(predict(fit, type = "label"))), iris$Species == "setosa")
  expect_identical(colnames(predict(fit, iris, type = "label_prob")), c("versicolor", "virginica", "(none)"))
  finite <- bnp_mixture(iris[1:4], labels = two, prior = prior_dirichlet(4), control = bnp_control(seed = 1))
  expect_identical(finite$state$k, 4L)
  expect_true(all(1:2 %in% finite$state$owner))
})

test_that("weights and labels go together, and labels of rows that do not count are not known", {
  labels <- replace(iris$Species, -seq(1, 150, by = 5), NA)
  w <- withr::with_seed(1, sample(0:3, 150, TRUE))
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 5)
  run <- function(x, ...) suppressWarnings(bnp_mixture(x, control = control, ...))
  a <- run(iris[1:4], labels = labels, weights = w)
  b <- run(iris[rep(1:150, w), 1:4], labels = rep(labels, w))
  expect_equal(elbo(a), elbo(b), tolerance = 1e-9)
  expect_identical(as.character(rep(predict(a, type = "label"), w)), as.character(predict(b, type = "label")))
  only <- replace(rep(1, 150), iris$Species == "setosa", 0)
  expect_identical(run(iris[1:4], labels = labels, weights = only)$input$class_names, c("versicolor", "virginica"))
  sets <- outer(labels, levels(iris$Species), `==`)
  expect_identical(elbo(run(iris[1:4], labels = sets, weights = w)), elbo(a))
  expect_bad(run(iris[1:4], labels = labels, weights = 1 * is.na(labels)), "labels", "All `labels` are missing")
})

test_that("forms of the same labels are the same labels", {
  labels <- replace(rep(c("b", "a"), 136), 5:272, NA)
  control <- bnp_control(seed = 1, max_laps = 3)
  forms <- list(labels, factor(labels), factor(labels, c("a", "b", "unused")))
  fits <- suppressWarnings(lapply(forms, function(labels) {
    bnp_mixture(faithful, labels = labels, control = control)
  }))
  for (fit in fits[-1]) expect_identical(fit[c("elbo", "labels", "input")], fits[[1]][c("elbo", "labels", "input")])
  numbers <- suppressWarnings(bnp_mixture(faithful, labels = match(labels, c("a", "b")), control = control))
  expect_identical(elbo(numbers), elbo(fits[[1]]))
  by_formula <- suppressWarnings(bnp_mixture(~ eruptions + waiting, faithful, labels = labels, control = control))
  expect_identical(elbo(by_formula), elbo(fits[[1]]))
})

test_that("a fit with labels starts another, is saved and read, and goes through its methods", {
  few <- withr::with_seed(1, sample(150, 30))
  labels <- replace(iris$Species, -few, NA)
  fit <- bnp_mixture(iris[1:4], labels = labels, control = bnp_control(seed = 1))
  again <- bnp_mixture(iris[1:4], labels = labels, start = fit, control = bnp_control(seed = 2))
  expect_gte(elbo(again), elbo(fit) - 1e-6)
  expect_true(all(1:3 %in% again$state$owner))
  from_clusters <- bnp_mixture(iris[1:4], labels = labels, start = fitted(fit), control = bnp_control(seed = 2))
  expect_true(all(1:3 %in% from_clusters$state$owner))
  free <- bnp_mixture(iris[1:4], start = fit, control = bnp_control(seed = 2))
  expect_null(free$state$owner)
  expect_identical(update(fit, prior = prior_dp(2))$input$class_names, levels(iris$Species))
  expect_output(print(fit), "Labels: 30 rows of 3 classes; clusters of each: setosa 1")
  expect_identical(augment(fit, iris[1:4])$.class, factor(unname(fitted(fit)), seq_len(fit$state$k)))
  shown <- augment(fit, iris[1:4])
  expect_identical(as.character(shown$.label[few]), as.character(iris$Species[few]))
  expect_setequal(as.data.frame(fit)$class, c(levels(iris$Species), NA[anyNA(cluster_classes(fit))]))
  expect_bad(cut_fit(fit, iris[1:4], k = 2), "labels", "at least 3")
  expect_bad(compare_fits(fit, free), "not_comparable", "Other labels")
  expect_s3_class(simulate(fit, seed = 1)[[1]], "data.frame")
})

test_that("wrong labels are refused by name and place", {
  x <- faithful[1:10, ]
  fit <- function(labels, ...) bnp_mixture(x, labels = labels, ...)
  expect_bad(fit(list(1)), "labels", "`labels` must be a factor, a vector")
  expect_bad(fit(1:9), "labels", "one label per row of `x` \\(10\\), not 9")
  expect_bad(fit(rep(NA, 10)), "labels", "All `labels` are missing")
  expect_bad(fit(matrix(1, 10, 2)), "labels", "must be logical")
  expect_bad(fit(matrix(TRUE, 9, 2)), "labels", "one row per row of `x` \\(10\\), not 9")
  expect_bad(fit(matrix(NA, 10, 2)), "labels", "All `labels` are missing")
  sets <- matrix(TRUE, 10, 2)
  expect_bad(fit(replace(sets, cbind(3, 1), NA)), "labels", "row 3")
  expect_bad(fit(replace(sets, cbind(4, 1:2), FALSE)), "labels", "None in row 4")
  expect_bad(fit(c(1:3, rep(NA, 7)), prior = prior_dirichlet(2)), "labels", "need 3 clusters")
  expect_bad(fit(c(1:3, rep(NA, 7)), control = bnp_control(k_init = 4)), "k_init", "cannot be chosen with `labels`")
  expect_bad(fit(rep(1:2, 5), start = rep(1:2, each = 5)), "start", "Row 2, 4, 6, 8, 10 is in a cluster of another")
  expect_bad(fit(rep(1:2, 5), start = rep(1, 10)), "start", "contradicts `labels`")
  plain <- suppressWarnings(bnp_mixture(x, control = bnp_control(max_laps = 2)))
  expect_bad(fit(rep(1:2, 5), start = plain), "start", "same classes")
  expect_bad(predict(plain, type = "label"), "labels", "for fits with known `labels`")
  expect_bad(bnp_mixture(x, obs_ar(), labels = rep(1:2, 5)), "labels", "not available for mixtures of series")
})

test_that("the training data of individuals with weights and labels are known again without their id", {
  id <- rep(1:50, 3)
  labels <- as.character(iris$Species[id])
  labels[id %% 3 == 0] <- NA
  x <- as.matrix(iris[c(1:50, 51:100, 101:150), 1:4])
  both <- list(weights = rep(1:2, 25), labels = labels)
  for (given in list(both[1], both[2], both)) {
    fit <- do.call(bnp_mixture, c(list(x, id = id, control = bnp_control(seed = 1, verbose = FALSE)), given))
    expect_identical(predict(fit, x, type = "prob"), predict(fit, x, type = "prob", id = id))
    expect_identical(augment(fit, x), augment(fit, x, id = id))
  }
})
