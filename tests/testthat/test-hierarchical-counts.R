# Hierarchical priors of counts: formulas against plain R, a table of figures, and exact cases.

topics_by_hand <- rbind(c(9, 3, 1, 0, 0, 2), c(0, 7, 4, 1, 0, 1), c(5, 5, 0, 0, 6, 0), c(1, 0, 0, 8, 2, 3))

# even, common; bound to its digits, and sampled evidence with three standard errors; prices left out.
golden_terms <- list(
  c(0, 1, -94.9678, -94.6122 + 3 * 0.0006), c(0.05, 2, -92.0438, -90.843 + 3 * 0.0011),
  c(0, 20, -98.2089, -97.520 + 3 * 0.002), c(2^-12, 4, -92.3723, -91.647 + 3 * 0.002),
  c(0, 0.25, -104.8840, -104.7735 + 3 * 0.0002)
)

engine_rounds <- function(H, counts, rounds) {
  engine_hyper_shares(ncol(counts), H$even, H$common, H$omega, counts, rounds)
}

test_that("q(beta) is refreshed as in plain R, never lowers the bound, and ends at the figures of the design", {
  for (row in golden_terms) {
    H <- share_start(topics_by_hand, row[1], row[2])
    engine <- engine_rounds(H, topics_by_hand, 60)
    expect_equal(engine$weight, share_weights(H), tolerance = 1e-13)
    expect_equal(engine$mean, share_means(H), tolerance = 1e-13)
    expect_equal(engine$log_density, share_log_density(H), tolerance = 1e-12)
    expect_equal(engine$bound[1], share_bound(H, topics_by_hand), tolerance = 1e-13)
    twice <- share_refreshed(share_refreshed(H, topics_by_hand), topics_by_hand)
    expect_equal(engine$bound[3], share_bound(twice, topics_by_hand), tolerance = 1e-13)
    expect_gt(min(diff(engine$bound)), -1e-11)
    expect_lt(abs(engine$bound[61] - row[3]), 5.1e-5, label = toString(row[1:2]))
    expect_equal(engine$bound[61], share_bound(share_settled(H, topics_by_hand), topics_by_hand), tolerance = 1e-12)
    expect_lt(engine$bound[61], row[4], label = toString(row[1:2]))
  }
})

test_that("where nothing is in common the bound is the evidence, and q(beta) its prior", {
  H <- share_start(topics_by_hand, 0.1, 0)
  engine <- engine_rounds(H, topics_by_hand, 2)
  exact <- twin_data_term(topics_by_hand, rep(0.1, 6))
  expect_lt(abs(exact - -92.8878), 5.1e-5)
  expect_equal(engine$bound[2:3], c(exact, exact), tolerance = 1e-13)
  expect_equal(engine$omega, rep(0.5, 6))
})

# One term of two, one topic: an integral over one number.
test_that("the bound is below the evidence by quadrature", {
  for (counts in list(rbind(c(3, 1)), rbind(c(3, 1), c(0, 6)), rbind(c(30, 12), c(25, 14), c(1, 0)))) {
    for (grid in list(c(0.01, 0.25), c(0.5, 8), c(2, 256))) {
      H <- share_settled(share_start(counts, grid[1], grid[2]), counts)
      given <- function(b) vapply(b, function(x) twin_data_term(counts, grid[1] + grid[2] * c(x, 1 - x)), 1)
      top <- max(given(seq(0.001, 0.999, by = 0.001)))
      # x = sin(t)^2 makes Beta(1/2, 1/2) uniform
      exact <- top + log(stats::integrate(function(t) exp(given(sin(t)^2) - top) * 2 / pi, 0, pi / 2)$value)
      bound <- engine_rounds(H, counts, 0)$bound
      expect_lt(bound, exact + 1e-6)
      expect_gt(bound, exact - 1.5)
    }
  }
})

test_that("fractional tables: a round does not lower the bound, and an empty cluster changes nothing", {
  withr::local_seed(1)
  for (i in 1:200) {
    counts <- matrix(rgamma(24, sample(c(0.05, 0.5, 5), 1)), 4)
    H <- share_start(counts, 2^sample(-12:3, 1), 2^sample(-2:13, 1))
    engine <- engine_rounds(H, counts, 15)
    expect_gt(min(diff(engine$bound)), -1e-10)
    expect_identical(engine_rounds(H, rbind(counts, 0), 15), engine)
  }
})

long_test("what is in common is found on the grid, from clusters and from one alone", {
  counts <- withr::with_seed(2, {
    share <- prop.table(rexp(200)^2)
    t(replicate(30, rmultinom(1, 500, prop.table(rgamma(200, 0.0625 + 32 * share)))[, 1]))
  })
  obs <- resolve_obs(learned_terms(), count_data(counts))
  for (rows in list(1:30, 1:2, 1)) {
    own <- counts[rows, , drop = FALSE]
    learned <- engine_learned(obs, cbind(1, own), 60)
    expect_gte(min(diff(learned$objective)), -1e-9)
    end <- obs
    end[names(learned$fields)] <- learned$fields
    reached <- utils::tail(learned$objective, 1L)
    expect_equal(reached, share_bound(share_of_obs(end), own) - 2 * log(16), tolerance = 1e-11)
    expect_equal(end$term_prior, share_means(share_of_obs(end)), tolerance = 1e-12)
    H <- share_of_obs(end)
    for (step in list(c(2, 1), c(0.5, 1), c(1, 2), c(1, 0.5))) {
      even <- H$even * step[1]
      common <- H$common * step[2]
      if (even < 2^-12 || even > 2^3 || common < 2^-2 || common > 2^13) next
      other <- share_settled(list(even = even, common = common, omega = H$omega), own)
      expect_lt(share_bound(other, own) - 2 * log(16), reached + 1e-6, label = toString(step))
    }
  }
})

test_that("of many terms, most without counts, evidence and rounds are those of all, in plain R", {
  many <- 2500
  for (used in c(40, 400, 1500)) {
    counts <- withr::with_seed(used, t(replicate(3, {
      x <- numeric(many)
      x[sample(many, used)] <- stats::rexp(used, 0.2)
      x
    })))
    H <- share_start(counts, 2^-6, 32)
    engine <- engine_rounds(H, counts, 2)
    expect_equal(engine$bound[1], share_bound(H, counts), tolerance = 1e-12)
    twice <- share_refreshed(share_refreshed(H, counts), counts)
    expect_equal(engine$bound[3], share_bound(twice, counts), tolerance = 1e-12)
    x <- round(counts)
    model <- topic_model(many)
    r <- diag(3)
    data_term <- engine_elbo_of(count_data(x), model, r)[["data"]]
    expect_equal(data_term, twin_data_term(x, rep(0.1, many)), tolerance = 1e-12)
  }
})
