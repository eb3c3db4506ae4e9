# Statistics by pairs of clusters (SummaryShape::pairs) through sources, summaries, learning and writing, by the
# smallest model that has them: src/testing/link_blocks.h, here once more in plain R.

terms_of_links <- 9L
link_obs <- list(family = "multinomial", term_prior = seq(0.3, 1.1, length.out = terms_of_links))

# n links among three blocks of three terms each: links within a block are heavy, links from block 1 to 2 light.
planted_links <- function(n, seed) {
  withr::with_seed(seed, {
    pairs <- rbind(c(1, 1), c(2, 2), c(3, 3), c(1, 2))[sample(4, n, TRUE, c(4, 3, 2, 3)), , drop = FALSE]
    y <- 1 + rpois(n, ifelse(pairs[, 1] == pairs[, 2], 5, 1))
    tokens <- function(block, y) c(rmultinom(1, y, ifelse((seq_len(terms_of_links) + 2) %/% 3 == block, 5, 0.1)))
    ends <- lapply(seq_len(n), function(g) rbind(tokens(pairs[g, 1], y[g]), tokens(pairs[g, 2], y[g])))
    data <- engine_data(do.call(rbind, ends) + 0)
    data$starts <- as.integer(2 * (0:n))
    data
  })
}

random_resp <- function(rows, k, seed) {
  withr::with_seed(seed, {
    r <- matrix(rgamma(rows * k, 0.5) + 1e-9, rows)
    r / rowSums(r)
  })
}
links_of <- function(data) data$n / 2
end_rows <- function(data, end) seq.int(end, data$n, by = 2L)
strengths <- function(data) rowSums(data$x)[end_rows(data, 1L)]

# q: links × K × K. What of it the objective needs.
link_summary <- function(data, q) {
  k <- dim(q)[2]
  ends <- list(apply(q, c(1, 2), sum), apply(q, c(1, 3), sum))
  list(
    m = apply(q, c(2, 3), sum), s = apply(q * strengths(data), c(2, 3), sum),
    t = t(ends[[1]]) %*% data$x[end_rows(data, 1L), ] + t(ends[[2]]) %*% data$x[end_rows(data, 2L), ],
    h = -sum(q[q > 0] * log(q[q > 0])), base = -sum(lfactorial(strengths(data)))
  )
}
independent <- function(data, resp) {
  first <- resp[end_rows(data, 1L), , drop = FALSE]
  second <- resp[end_rows(data, 2L), , drop = FALSE]
  array(first[, rep(seq_len(ncol(resp)), ncol(resp))] * second[, rep(seq_len(ncol(resp)), each = ncol(resp))],
    dim = c(nrow(first), ncol(resp), ncol(resp))
  )
}
terms_evidence <- function(counts) {
  a <- link_obs$term_prior
  lgamma(sum(a)) - lgamma(sum(a) + sum(counts)) + sum(lgamma(a + counts) - lgamma(a))
}
link_elbo <- function(s) {
  pairs <- length(s$m)
  sum(apply(s$t, 1, terms_evidence)) + lgamma(pairs) - lgamma(pairs + sum(s$m)) + sum(lgamma(1 + s$m)) +
    sum(lgamma(1 + s$s) - (1 + s$s) * log(1 + s$m)) + s$base + s$h
}
# The optimal q at the posterior given a summary.
link_visit <- function(data, s) {
  k <- nrow(s$m)
  log_term <- t(apply(s$t, 1, function(n) digamma(link_obs$term_prior + n) - digamma(sum(link_obs$term_prior + n))))
  score <- matrix(data$x %*% (if (k == 1L) c(log_term) else t(log_term)), ncol = k)
  constant <- digamma(1 + s$m) - digamma(k^2 + sum(s$m)) - (1 + s$s) / (1 + s$m)
  slope <- digamma(1 + s$s) - log(1 + s$m)
  q <- array(0, c(links_of(data), k, k))
  for (g in seq_len(links_of(data))) {
    w <- constant + slope * strengths(data)[g] + outer(score[2 * g - 1, ], score[2 * g, ], "+")
    q[g, , ] <- exp(w - max(w)) / sum(exp(w - max(w)))
  }
  q
}

one_batch <- function(data) list(seq_len(links_of(data)))
dealt <- function(data, n) unname(split(seq_len(links_of(data)), rep_len(seq_len(n), links_of(data))))
fit_links <- function(data, resp = NULL, ..., batches = one_batch(data)) {
  control <- utils::modifyList(
    list(source = "memory", max_laps = 30L, tol = 1e-9, seed = 1, merge = FALSE, k = 5L), list(...)
  )
  engine_link_blocks(data, link_obs, c(control, list(batches = batches)), resp)
}

# The engine's numbers under the names of link_summary().
read_state <- function(state) {
  columns <- 2L * seq_len(state$k)
  list(
    m = state$pair[, columns - 1L, drop = FALSE], s = state$pair[, columns, drop = FALSE],
    t = state$obs[, -1L, drop = FALSE], h = state$scalar[1], base = state$scalar[2]
  )
}
expect_rising <- function(fit, label) {
  expect_true(all(diff(fit$trace) >= -1e-10 * abs(fit$elbo)), label = paste(label, "rises"))
}

test_that("fits are those of plain R, lap by lap", {
  data <- planted_links(40, 1)
  for (k in c(1L, 2L, 4L)) {
    resp <- random_resp(data$n, k, k)
    fit <- fit_links(data, resp, max_laps = 6L, tol = 0)
    q <- independent(data, resp)
    for (lap in seq_along(fit$trace)) {
      q <- link_visit(data, link_summary(data, q))
      expect_equal(fit$trace[lap], link_elbo(link_summary(data, q)), tolerance = 1e-11, info = paste(k, lap))
    }
    expect_equal(read_state(fit$state), link_summary(data, q), tolerance = 1e-9, info = k)
  }
})

test_that("a start from seeds knows pairs before any link was visited", {
  data <- planted_links(40, 1)
  fit <- fit_links(data, k = 4L, max_laps = 1L)
  start <- read_state(fit$start)
  share <- fit$start$obs[, 1] / sum(fit$start$obs[, 1])
  expect_gt(length(share), 1L)
  expect_equal(start$m, 40 * outer(share, share), tolerance = 1e-12)
  expect_identical(start$s, start$m)
  expect_equal(fit$elbo, link_elbo(link_summary(data, link_visit(data, start))), tolerance = 1e-11)
})

test_that("the ELBO never falls, in any batches and from any start, and is that of its summary", {
  data <- planted_links(60, 2)
  for (n in c(1, 3, 7)) {
    for (resp in list(NULL, random_resp(data$n, 4, 5))) {
      fit <- fit_links(data, resp, batches = dealt(data, n))
      expect_rising(fit, n)
      expect_equal(fit$elbo, link_elbo(read_state(fit$state)), tolerance = 1e-11)
      expect_equal(sum(fit$terms), fit$elbo, tolerance = 1e-13)
    }
  }
})

test_that("the ELBO is between the best labelling and the exact evidence", {
  for (seed in 1:3) {
    data <- planted_links(3, seed)
    labelled <- function(z, k) independent(data, diag(k)[z, , drop = FALSE])
    expect_equal(fit_links(data, matrix(1, data$n))$elbo, link_elbo(link_summary(data, labelled(rep(1, 6), 1))))
    all <- as.matrix(expand.grid(rep(list(1:2), data$n)))
    joint <- apply(all, 1, function(z) link_elbo(link_summary(data, labelled(z, 2))))
    evidence <- max(joint) + log(sum(exp(joint - max(joint))))
    fit <- fit_links(data, diag(2)[all[which.max(joint), ], ])
    expect_lte(fit$elbo, evidence)
    expect_gte(fit$elbo, max(joint) - 1e-9)
    for (start in 1:5) expect_lte(fit_links(data, random_resp(data$n, 2, start))$elbo, evidence)
  }
})

test_that("merge, drop, append and permute change pairs as they change responsibilities", {
  data <- planted_links(30, 4)
  resp <- random_resp(data$n, 4, 6)
  summary_of <- function(resp, changes = list()) read_state(engine_link_summary(data, link_obs, resp, changes))
  expect_equal(summary_of(resp), link_summary(data, independent(data, resp)), tolerance = 1e-12)
  after <- list(
    list(list(merge = c(2L, 4L)), cbind(resp[, 1], resp[, 2] + resp[, 4], resp[, 3])),
    list(list(merge = c(1L, 2L)), cbind(resp[, 1] + resp[, 2], resp[, 3:4])),
    list(list(drop = 3L), resp[, -3]), list(list(drop = 1L), resp[, -1]), list(list(append = 2L), cbind(resp, 0, 0)),
    list(list(permute = c(3L, 1L, 4L, 2L)), resp[, c(3, 1, 4, 2)]),
    list(list(append = 1L, permute = c(5L, 2L, 4L, 1L, 3L), drop = 3L, merge = c(1L, 3L)), resp[, c(1, 2, 3)])
  )
  for (case in after) {
    out <- summary_of(resp, case[[1]])
    expected <- link_summary(data, independent(data, case[[2]]))
    expected$t <- crossprod(case[[2]], data$x) # the other end of a link may have lost its cluster
    for (what in c("m", "s", "t", "base")) {
      expect_equal(out[[what]], expected[[what]], tolerance = 1e-12, info = toString(names(case[[1]])))
    }
  }
})

test_that("merges find the planted blocks, raise the ELBO and keep the sums", {
  data <- planted_links(150, 7)
  for (n in c(1, 4)) {
    fit <- fit_links(data, random_resp(data$n, 6, 8), batches = dealt(data, n), merge = TRUE, max_laps = 60L)
    expect_rising(fit, n)
    expect_identical(fit$k[length(fit$k)], 3)
    state <- read_state(fit$state)
    expect_equal(sum(state$m), 150, tolerance = 1e-12)
    expect_equal(sum(state$s), sum(strengths(data)), tolerance = 1e-12)
    expect_equal(colSums(state$t), colSums(data$x), tolerance = 1e-12)
    expect_equal(sum(round(state$m) > 0), 4L)
  }
})

test_that("fits have the same bits from a source whose batches vanish, and after they were written and read", {
  data <- planted_links(80, 9)
  numbers <- c("state", "elbo", "trace", "k", "reason")
  for (resp in list(NULL, random_resp(data$n, 5, 3))) {
    run <- function(...) fit_links(data, resp, batches = dealt(data, 3), merge = TRUE, ...)
    whole <- run()
    expect_gt(length(whole$trace), 5)
    expect_identical(run(source = "transient")[numbers], whole[numbers])
    for (lap in c(1L, 4L)) {
      rest <- run(resume = run(keep_lap = lap)$progress)
      expect_identical(rest[numbers], whole[numbers], info = lap)
    }
  }
})
