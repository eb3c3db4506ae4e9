# Planted communities come out, their number with them.

quiet <- function(seed, ...) bnp_control(seed = seed, verbose = FALSE, ...)

long_test("blockmodels find three planted groups in 9 of 10 networks", {
  group <- rep(1:3, each = 20)
  found <- vapply(1:10, function(seed) {
    net <- withr::with_seed(seed, planted_network(group, matrix(0.05, 3, 3) + diag(0.35, 3)))
    fit <- bnp_network(data.frame(net[c("from", "to")]), nodes = 60, prior = prior_dp(), control = quiet(seed))
    n_clusters(fit) == 3 && adjusted_rand_index(fitted(fit), group) >= 0.94
  }, NA)
  expect_gte(sum(found), 9)
})

test_that("groups that avoid each other within are found as well", {
  group <- rep(1:2, each = 15)
  net <- withr::with_seed(1, planted_network(group, rbind(c(0.05, 0.5), c(0.5, 0.05))))
  fit <- bnp_network(data.frame(net[c("from", "to")]), nodes = 30, prior = prior_dp(), control = quiet(1))
  expect_equal(adjusted_rand_index(fitted(fit), group), 1)
})

long_test("a network without communities has one", {
  one <- vapply(some_of(1:5, by = 4), function(seed) {
    net <- withr::with_seed(seed, planted_network(rep(1, 50), matrix(0.15)))
    edges <- data.frame(net[c("from", "to")])
    c(
      n_clusters(bnp_network(edges, nodes = 50, prior = prior_dp(), control = quiet(seed))),
      n_clusters(suppressWarnings(bnp_network(edges, nodes = 50, control = quiet(seed))))
    )
  }, c(1, 1))
  expect_gte(sum(one == 1), length(one) - 1)
})

long_test("both models of overlapping communities find mixed memberships", {
  drawn <- withr::with_seed(7, {
    n <- 200
    weight <- matrix(rgamma(n * 4, 0.1), n)
    weight <- weight / rowSums(weight)
    at <- t(utils::combn(n, 2))
    s <- apply(weight[at[, 1], ], 1, function(p) sample.int(4, 1, prob = p))
    r <- apply(weight[at[, 2], ], 1, function(p) sample.int(4, 1, prob = p))
    y <- runif(nrow(at)) < ifelse(s == r, 0.4, 0.02)
    list(weight = weight, edges = data.frame(from = at[y, 1], to = at[y, 2]))
  })
  for (degree in c(FALSE, TRUE)) {
    fit <- suppressWarnings(bnp_network(drawn$edges, obs_links(degree = degree), nodes = 200, control = quiet(1)))
    expect_equal(n_clusters(fit), 4)
    prob <- memberships(fit)
    match <- apply(crossprod(drawn$weight, prob), 1, which.max)
    expect_setequal(match, 1:4)
    expect_lt(mean(abs(prob[, match] - drawn$weight)), 0.08)
  }
})

test_that("memberships and bounds do not depend on the names and order of nodes", {
  group <- rep(1:3, each = 12)
  net <- withr::with_seed(2, planted_network(group, matrix(0.05, 3, 3) + diag(0.6, 3)))
  edges <- data.frame(from = net$from, to = net$to)
  order <- withr::with_seed(1, sample(36))
  names <- paste0("v", order)
  renamed <- data.frame(from = names[edges$from], to = names[edges$to])
  one <- bnp_network(edges, nodes = 36, prior = prior_dp(), control = quiet(1))
  two <- bnp_network(renamed, nodes = sort(names), prior = prior_dp(), control = quiet(1))
  expect_equal(log_joint(one), log_joint(two), tolerance = 1e-8)
  expect_equal(adjusted_rand_index(fitted(one), unname(fitted(two)[names])), 1)
})

test_that("of two models, one that is out of reach after a short search is not searched further", {
  expect_identical(in_reach(c(-240, -262)), c(TRUE, FALSE))
  expect_identical(in_reach(c(-240, -250)), c(TRUE, TRUE))
  expect_identical(in_reach(c(NaN, -250)), c(TRUE, TRUE))
  withr::local_options(bnpvi.restarts = "auto")
  group <- rep(1:2, c(25, 15))
  x <- withr::with_seed(3, 1 * (matrix(runif(1600), 40) < ifelse(outer(group, group, "=="), 0.6, 0.03)))
  x[lower.tri(x, diag = TRUE)] <- 0
  fit <- bnp_network(x, control = bnp_control(seed = 1))
  other <- !fit$model$obs$degree
  expect_identical(nrow(fit$compared), 2L)
  alone <- bnp_network(x, obs_links(degree = !other), control = bnp_control(seed = 1))
  for (field in c("elbo", "prob", "sizes", "restarts")) expect_identical(fit[[field]], alone[[field]])
  longer <- bnp_network(x, obs_links(degree = other), control = bnp_control(seed = 1))
  expect_false(in_reach(c(elbo(fit), elbo(longer)))[2])
  short <- fit$compared$elbo[fit$compared$degree == other]
  expect_lte(short, elbo(longer))
})
