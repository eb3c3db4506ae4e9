# The search of the sticks: L_top plus what documents say of their weights, from engine_sticks().

twin_objective <- function(case, q) {
  k <- length(q$u)
  pi <- stick_weights(q$u)
  c0 <- case$groups * (k + 1 - seq_len(k)) + case$gamma
  c(
    stick_terms(q$u, q$omega, case$groups + 1, c0, case$gamma), case$alpha * pi * case$slope,
    case$others * lgamma(case$alpha * pi)
  )
}

# Groups that use a topic have tangents with the slope of psi(count), the others log Gamma of the prior.
random_case <- function(seed, k, groups, alpha, gamma) {
  withr::with_seed(seed, {
    users <- c(pmax(1, floor(groups * rbeta(k, 0.5, 1))), 0)
    count <- rgamma(k + 1, 1, 0.01)
    list(
      groups = groups, gamma = gamma, alpha = alpha,
      slope = users * digamma(count + alpha / k), others = groups - users
    )
  })
}

visit <- function(case, q = list(u = numeric(), omega = numeric()), search = TRUE) {
  with(case, engine_sticks(groups, gamma, alpha, slope, others, q$u, q$omega, search))
}

closed_form <- function(case) {
  k <- length(case$slope) - 1
  omega <- case$groups * (k + 2 - seq_len(k)) + 1 + case$gamma
  list(u = (case$groups + 1) / omega, omega = omega)
}

cases <- local({
  grid <- expand.grid(
    k = c(1, 6, 40), groups = c(3, 120, 1e5), alpha = c(0.01, 0.5, 10, 50, 200, 1e4), gamma = c(0.1, 1, 10, 1e4, 1e6)
  )
  lapply(seq_len(nrow(grid)), function(i) do.call(random_case, c(list(i), grid[i, ])))
})

test_that("the value is the sum of its terms, at any sticks", {
  for (i in seq(1, length(cases), by = 3)) {
    case <- cases[[i]]
    k <- length(case$slope) - 1
    for (spread in c(1, 8)) {
      q <- withr::with_seed(i, list(u = plogis(rnorm(k, sd = spread)), omega = 10^runif(k, 0, 3 * spread)))
      found <- visit(case, q, search = FALSE)
      expect_same_sum(found$value, twin_objective(case, q), 1e-11)
    }
  }
})

test_that("the search ends no lower than it began, nor than the closed form, within the bounds of omega", {
  for (case in some_of(cases, by = 3)) {
    k <- length(case$slope) - 1
    closed <- visit(case, closed_form(case), search = FALSE)
    cold <- visit(case)
    expect_same_sum(cold$value, twin_objective(case, cold), 1e-11)
    expect_gte(cold$value, closed$value - closed$rounding)
    starts <- list(
      cold[c("u", "omega")], list(u = rep(1e-12, k), omega = rep(1e47, k)),
      list(u = rep(1 - 1e-12, k), omega = rep(1e-70, k)), list(u = rep(0.3, k), omega = rep(20, k))
    )
    for (from in starts) {
      warm <- visit(case, from)
      began <- visit(case, from, search = FALSE)
      expect_gte(warm$value, closed$value - closed$rounding)
      if (is.finite(began$value)) expect_gte(warm$value, began$value - began$rounding)
      ends <- cbind(case$groups + 1, case$groups * (k + 1 - seq_len(k)) + case$gamma) / cbind(warm$u, 1 - warm$u)
      expect_true(all(warm$omega >= 0.999 * apply(ends, 1, min) & warm$omega <= 1.001 * apply(ends, 1, max)))
    }
  }
})

test_that("no small change of one stick is better than what the search finds", {
  for (case in some_of(cases, by = 3, from = 2)) {
    best <- visit(case, visit(case))
    expect_lte(best$visits, 12) # a search that has nothing left to find sees it at once
    k <- length(best$u)
    for (j in unique(c(1, k))) {
      for (step in c(-0.05, 0.05)) {
        by_u <- by_omega <- best[c("u", "omega")]
        by_u$u[j] <- plogis(qlogis(by_u$u[j]) + step)
        by_omega$omega[j] <- by_omega$omega[j] * exp(step)
        allowed <- 1e-7 * sum(abs(twin_objective(case, best)))
        expect_lt(visit(case, by_u, search = FALSE)$value, best$value + allowed)
        expect_lt(visit(case, by_omega, search = FALSE)$value, best$value + allowed)
      }
    }
  }
})

test_that("sticks that are best already stay, bit for bit", {
  for (case in cases[seq(1, length(cases), by = 7)]) {
    best <- visit(case)
    for (i in 1:20) best <- visit(case, best)
    expect_identical(visit(case, best)[c("u", "omega")], best[c("u", "omega")])
  }
})

test_that("sticks far from any sensible prior are searched, too", {
  for (gamma in c(1e-100, 1e-12, 1e12, 1e60)) {
    for (alpha in c(1e-30, 1e-6, 1e6)) {
      case <- random_case(1, 5, 200, alpha, gamma)
      closed <- visit(case, closed_form(case), search = FALSE)
      found <- visit(case)
      expect_gte(found$value, closed$value - closed$rounding)
      expect_true(all(found$u > 0 & found$u < 1 & is.finite(found$omega)))
    }
  }
})
