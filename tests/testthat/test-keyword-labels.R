# predict(type = "label") where names come from keywords: all topics that use the keywords count.

# Three subjects of two topics each. The topics of a subject share its keywords and have other words of their own.
planted_subjects <- function(seed = 1, n = 240, length = 80) {
  withr::with_seed(seed, {
    phi <- matrix(.02, 6, 63)
    for (k in 1:6) {
      phi[k, 3 + (k - 1) * 10 + 1:10] <- 1
      phi[k, (k + 1) %/% 2] <- .6
    }
    phi <- phi / rowSums(phi)
    topic <- sample(6L, n, TRUE)
    theta <- matrix(.03, n, 6)
    theta[cbind(seq_len(n), topic)] <- .85
    x <- t(vapply(seq_len(n), function(d) drop(stats::rmultinom(1, length, theta[d, ] %*% phi)), double(63)))
    dimnames(x) <- list(paste0("d", seq_len(n)), c("apple", "boat", "coin", paste0("w", 1:60)))
    list(x = x, subject = c("food", "sea", "money")[(topic + 1L) %/% 2L])
  })
}
subjects <- list(food = "apple", sea = "boat", money = "coin")

test_that("the label of a document is the list whose keywords its topics lead to expect most, as plain R has it", {
  data <- planted_subjects()
  control <- bnp_control(seed = 1, max_laps = 30)
  fit <- suppressWarnings(bnp_topics(data$x, obs_multinomial(keywords = subjects[1:2]), control = control))
  counts <- fit$state$obs[fit$numbering, -1L]
  prob <- fitted(fit)
  shares <- predict(fit, type = "label_prob")
  label <- predict(fit, type = "label")
  for (d in c(1, 17, 99, 240)) {
    lift <- vapply(1:2, function(s) {
      average <- sum(counts[, s]) / sum(counts)
      sum(vapply(seq_len(nrow(counts)), function(k) {
        prob[d, k] * (counts[k, s] + 1) / (sum(counts[k, ]) * average + 1)
      }, 0))
    }, 0)
    expect_equal(unname(shares[d, ]), c(lift, 1) / (1 + sum(lift)), tolerance = 1e-10)
    expect_identical(as.character(label[d]), if (max(lift) > 1) names(subjects)[which.max(lift)] else NA_character_)
  }
  expect_identical(dimnames(shares), list(rownames(data$x), c("food", "sea", "(none)")))
  expect_identical(is.na(unname(label)), unname(max.col(shares, "first") == 3L))
  expect_equal(predict(fit, data$x[5:9, ], type = "label_prob"), list_probabilities(fit, predict(fit, data$x[5:9, ])))
})

test_that("documents about a part of a subject that has an open topic get the name of the subject", {
  for (seed in some_of(1:3, by = 3)) {
    data <- planted_subjects(seed)
    fit <- bnp_topics(data$x, obs_multinomial(keywords = subjects), control = bnp_control(seed = seed))
    expect_gte(n_clusters(fit), 6L)
    label <- as.character(predict(fit, type = "label"))
    expect_gt(mean(label == data$subject), .97)
    # The topics with names alone have one half of the documents.
    expect_lt(mean(apply(fitted(fit)[, names(subjects)], 1L, max) > .5), .7)
    new <- planted_subjects(seed + 10, n = 60)
    expect_gt(mean(as.character(predict(fit, new$x, type = "label")) == new$subject), .97)
  }
})

test_that("dividing a topic leaves the labels, and the order of lists is that of columns only", {
  data <- planted_subjects(4)
  control <- bnp_control(seed = 1, max_laps = 30)
  fit <- suppressWarnings(bnp_topics(data$x, obs_multinomial(keywords = subjects), control = control))
  halved <- fit
  k <- fit$state$k
  halved$state$obs <- rbind(fit$state$obs, fit$state$obs[fit$numbering[1L], ] / 2)
  halved$state$obs[fit$numbering[1L], ] <- halved$state$obs[k + 1L, ]
  halved$numbering <- c(fit$numbering, k + 1L)
  prob <- fitted(fit)
  divided <- cbind(prob, prob[, 1L] * .3)
  divided[, 1L] <- prob[, 1L] * .7
  expect_equal(list_probabilities(halved, divided), list_probabilities(fit, prob), tolerance = .01)
  # Without moves, whose random numbers belong to numbers of topics.
  plain <- function(lists) {
    control <- bnp_control(seed = 1, moves = FALSE, restarts = 1, tol = 1e-10, max_laps = 100)
    predict(bnp_topics(data$x, obs_multinomial(keywords = lists), control = control), type = "label_prob")
  }
  expect_equal(plain(rev(subjects))[, names(subjects)], plain(subjects)[, names(subjects)], tolerance = 1e-8)
})

test_that("lists without tokens, documents left out and texts of mixtures", {
  data <- planted_subjects(5, n = 120)
  control <- bnp_control(seed = 1, max_laps = 20)
  lists <- c(subjects, list(nothing = "unused"))
  fit <- suppressWarnings(bnp_topics(cbind(data$x, unused = 0), obs_multinomial(keywords = lists), control = control))
  expect_identical(unique(unname(predict(fit, type = "label_prob")[, "nothing"])), 0)
  holes <- data$x
  holes[3, 2] <- NA
  fit <- suppressWarnings(
    bnp_topics(holes, obs_multinomial(keywords = subjects), control = control, na_action = "omit")
  )
  expect_true(is.na(predict(fit, type = "label")[3]))
  expect_identical(unname(is.na(predict(fit, type = "label_prob")[, 1])), seq_len(120) == 3)
  texts <- bnp_mixture(data$x, obs_multinomial(keywords = subjects), control = bnp_control(seed = 1))
  expect_gt(mean(as.character(predict(texts, type = "label")) == data$subject), .97)
  expect_identical(unname(predict(texts, data$x, type = "label")), unname(predict(texts, type = "label")))
  expect_identical(colnames(predict(texts, data$x, type = "label_prob")), c(names(subjects), "(none)"))
})

test_that("a line for each list says how often its keywords occur where they do not fit their topic", {
  x <- matrix(c(60, 20, 15, 5), 40, 4, byrow = TRUE, dimnames = list(NULL, paste0("w", 1:4)))
  line <- function(share, keywords = c("w1", "w2")) {
    obs <- obs_multinomial(.1, keywords = list(one = keywords), keyword_share = share)
    described_keywords(bnp_mixture(x, obs, prior_dirichlet(1), bnp_control(seed = 1, verbose = FALSE)))
  }
  expect_match(line(.001), "does not fit its keywords (-1250 nats): they are 80 % of its tokens", fixed = TRUE)
  expect_match(line(.5), "4,000 tokens, fits its keywords by 2.26 nats", fixed = TRUE)
  expect_match(line(.99, "w4"), "the data do not use them together")
})

test_that("shares for which the prior has no finite weight are refused", {
  # 1 / 1e-320 is infinite: the prior of the other words would be, too.
  for (share in c(0, 1e-320)) {
    expect_bad(obs_multinomial(keywords = list(a = "b"), keyword_share = share), "keywords", "between 0 and 1")
  }
  x <- planted_subjects(n = 20)$x
  few <- bnp_control(seed = 1, max_laps = 3, verbose = FALSE)
  fit <- suppressWarnings(bnp_topics(x, obs_multinomial(keywords = subjects, keyword_share = 1e-300), control = few))
  expect_true(is.finite(elbo(fit)))
  expect_setequal(setdiff(fit$state$named, 0), 1:3)
  fit$model$obs$expected_share[2] <- 1e-320
  expect_error(engine_gains_of_names(fit$model, fit$state), "expected_share")
})

test_that("clusters are joined down to one for each name, and no further", {
  x <- planted_subjects(n = 40)$x
  few <- bnp_control(seed = 1, max_laps = 5, verbose = FALSE)
  obs <- obs_multinomial(keywords = subjects)
  fit <- suppressWarnings(bnp_topics(x, obs, prior_lda(5), control = few))
  three <- suppressWarnings(cut_fit(fit, x, k = 3))
  expect_setequal(names_of_clusters(three), names(subjects))
  expect_bad(cut_fit(fit, x, k = 2), "keywords", "at least 3")
  expect_bad(cluster_tree(three, x), "one_cluster", "keywords")
  expect_bad(bnp_topics(x, obs, prior_lda(3), labels = rep(c("a", NA), 20)), "labels", "and `keywords` need 4 topics")
})

test_that("samplers refuse keywords before anything is fitted", {
  expect_bad(bnp_sample(whales$counts, obs_multinomial(keywords = list(a = "whaling"))), "keywords", "samplers")
})
