# How far two clusterings agree: adjusted_rand_index() and agreement().

items <- withr::with_seed(1, data.frame(a = sample(4, 60, TRUE), b = sample(letters[1:6], 60, TRUE)))

# Every one-to-one matching of the clusters of `a` with those of `b`, by permutations.
least_error_by_enumeration <- function(a, b) {
  joint <- as.matrix(table(a, b))
  if (nrow(joint) > ncol(joint)) joint <- t(joint)
  most <- function(row, free) {
    if (row > nrow(joint)) {
      return(0)
    }
    max(vapply(free, function(j) joint[row, j] + most(row + 1L, setdiff(free, j)), 1))
  }
  1 - most(1L, seq_len(ncol(joint))) / sum(joint)
}

test_that("numbers are those of their definitions", {
  got <- agreement(items$a, items$b)
  expect_s3_class(got, "data.frame", exact = TRUE)
  expect_named(got, c("n", "k_a", "k_b", "ari", "nmi", "vi", "error_one_to_one", "error_many_to_one"))
  expect_identical(c(got$n, got$k_a, got$k_b), c(60L, 4L, 6L))
  p <- table(items$a, items$b) / 60
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  own <- c(entropy(rowSums(p)), entropy(colSums(p)))
  shared <- sum(own) - entropy(p)
  expect_equal(got$ari, adjusted_rand_index(items$a, items$b))
  expect_equal(got$nmi, 2 * shared / sum(own))
  expect_equal(got$vi, sum(own) - 2 * shared)
  expect_equal(got$error_one_to_one, least_error_by_enumeration(items$a, items$b))
  expect_equal(got$error_many_to_one, 1 - sum(apply(p, 1, max)))
})

test_that("the best one-to-one matching is that of enumeration", {
  withr::local_seed(2)
  for (i in seq_len(if (long_tests()) 60 else 20)) {
    n <- sample(30, 1)
    a <- sample(sample(6, 1), n, TRUE)
    b <- ifelse(runif(n) < 0.6, a, sample(6, n, TRUE))
    expect_equal(agreement(a, b)$error_one_to_one, least_error_by_enumeration(a, b))
    expect_equal(agreement(b, a)$error_one_to_one, least_error_by_enumeration(a, b))
  }
  # 200 clusters under other names.
  a <- rep(1:200, 5)
  expect_identical(agreement(a, sample(200)[a])$error_one_to_one, 0)
})

test_that("only the many-to-one error depends on the order of the two, and none on the names", {
  one <- agreement(items$a, items$b)
  other <- agreement(items$b, items$a)
  both <- c("n", "ari", "nmi", "vi", "error_one_to_one")
  expect_equal(other[both], one[both])
  expect_false(other$error_many_to_one == one$error_many_to_one)
  expect_equal(agreement(c(7, 3, 9, 1)[items$a], items$b), one)
  expect_equal(agreement(factor(items$a), items$b), one)
  order <- rev(seq_len(60))
  expect_equal(agreement(items$a[order], items$b[order]), one)
})

test_that("clusterings that are the same, or of one cluster, or of as many clusters as items", {
  same <- agreement(items$a, items$a)
  expect_equal(unlist(same[-(1:3)]), c(1, 1, 0, 0, 0), ignore_attr = TRUE)
  ones <- agreement(rep(1, 5), rep("z", 5))
  expect_equal(unlist(ones[-(1:3)]), c(1, 1, 0, 0, 0), ignore_attr = TRUE)
  apart <- agreement(1:5, rep(1, 5))
  expect_equal(unlist(apart[-(1:3)]), c(0, 0, log(5), 0.8, 0), ignore_attr = TRUE)
  expect_equal(agreement(rep(1, 5), 1:5)$error_many_to_one, 0.8)
  expect_equal(agreement(1, 2)$ari, 1)
})

test_that("fits, clusterings of other packages and sequences have labels", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, verbose = FALSE))
  groups <- withr::with_seed(1, stats::kmeans(faithful, 3))
  expect_equal(agreement(fit, groups), agreement(fitted(fit), groups$cluster))
  expect_equal(agreement(groups, fit), agreement(groups$cluster, fitted(fit)))
  # A label for each row of sequences that are the elements of a list.
  expect_equal(agreement(list(items$a[1:20], items$a[21:60]), items$b), agreement(items$a, items$b))
  counts <- as.matrix(whales$counts[1:20, 1:40])
  topics <- bnp_topics(counts, control = bnp_control(seed = 1, verbose = FALSE))
  expect_identical(agreement(topics, rep(1:2, 10))$n, 20L)
})

test_that("items go by their names, and those without a label are left out, which is said", {
  a <- stats::setNames(items$a, seq_len(60))
  expect_equal(agreement(a, rev(stats::setNames(items$b, seq_len(60)))), agreement(items$a, items$b))
  holes <- replace(items$b, c(2, 5, 9), NA)
  expect_message(
    got <- agreement(items$a, holes), "3 items without a label are left out", class = "bnpvi_message_left_out"
  )
  expect_equal(got, agreement(items$a[-c(2, 5, 9)], items$b[-c(2, 5, 9)]))
  expect_message(adjusted_rand_index(items$a, holes), "3 items", class = "bnpvi_message_left_out")
})

test_that("what has no labels is refused", {
  expect_bad(agreement(1:3, 1:4), "argument", "must have the same length")
  expect_bad(agreement(integer(), integer()), "argument", "at least 1")
  expect_bad(agreement(c(1, NA), c(NA, 2)), "argument", "No item")
  expect_bad(agreement(matrix(1:4, 2), 1:4), "a")
  expect_bad(agreement(1:4, iris), "b", "not 5 columns")
  expect_bad(agreement(1, quote(x)), "b")
})

test_that("other packages give the same numbers", {
  skip_if_not_installed("aricode")
  got <- agreement(items$a, items$b)
  b <- as.integer(factor(items$b)) # text is not taken by all its versions
  expect_equal(got$ari, aricode::ARI(items$a, b))
  expect_equal(got$nmi, aricode::NMI(items$a, b, variant = "sum"))
})

test_that("shares of agreement of two partitions are those that the package clue finds", {
  skip_if_not_installed("clue")
  partition <- function(x) clue::as.cl_hard_partition(as.integer(factor(x)))
  found <- clue::cl_agreement(partition(items$a), partition(items$b), method = "diag")
  expect_equal(1 - agreement(items$a, items$b)$error_one_to_one, as.double(found))
})
