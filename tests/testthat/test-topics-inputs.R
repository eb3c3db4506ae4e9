# Documents as the packages for text make them, with those packages where they are installed.

texts <- c(
  a = "the whale and the ship and the whale", b = "a hawk hunts the mouse", c = "the ship hunts the whale",
  d = "a mouse and a hawk"
)
words <- strsplit(texts, " ")
vocabulary <- sort(unique(unlist(words)))
counts <- t(vapply(words, function(w) as.double(table(factor(w, vocabulary))), numeric(length(vocabulary))))
colnames(counts) <- vocabulary
control <- bnp_control(seed = 1, max_laps = 5)

# The same fit, names included, however documents and terms are ordered.
expect_same_fit <- function(x) {
  data <- data_matrix(as_document_data(x, obs_multinomial()))
  expect_equal(as.matrix(data)[names(texts), vocabulary], counts)
  reference <- bnp_topics(counts[rownames(data), colnames(data)], control = control)
  fit <- bnp_topics(x, control = control)
  expect_identical(fit$state, reference$state)
  expect_setequal(rownames(fitted(fit)), names(texts))
  expect_setequal(colnames(coef(fit)$prob), vocabulary)
  expect_equal(predict(fit, x)[names(texts), ], predict(fit, counts))
}

test_that("counts in a triplet matrix of the package slam are those of the plain matrix", {
  skip_if_not_installed("slam")
  expect_same_fit(slam::as.simple_triplet_matrix(counts))
})

test_that("counts in a DocumentTermMatrix of the package tm are those of the plain matrix", {
  skip_if_not_installed("tm")
  corpus <- tm::VCorpus(tm::VectorSource(texts))
  dtm <- tm::DocumentTermMatrix(corpus, control = list(wordLengths = c(1, Inf)))
  dtm$dimnames$Docs <- names(texts)
  expect_s3_class(dtm, "DocumentTermMatrix")
  expect_same_fit(dtm)
})

# Packages that Debian does not have are used when they are there, but are not asked for in DESCRIPTION.
from <- function(package, name) getExportedValue(package, name)

test_that("counts in a dfm of the package quanteda are those of the plain matrix", {
  skip_if_not_installed("quanteda")
  dfm <- from("quanteda", "dfm")(from("quanteda", "tokens")(texts))
  expect_s4_class(dfm, "dfm")
  expect_same_fit(dfm)
})

test_that("counts in a table of the package tidytext are those of the plain matrix", {
  skip_if_not_installed("tidytext")
  long <- tidytext::unnest_tokens(data.frame(document = names(texts), text = unname(texts)), "term", "text")
  long <- stats::aggregate(n ~ document + term, cbind(long, n = 1L), sum)
  expect_same_fit(long)
})

test_that("LDAvis draws what ldavis_data() returns", {
  skip_if_not_installed("LDAvis")
  fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 4))
  given <- ldavis_data(fit, whales$counts)
  json <- do.call(from("LDAvis", "createJSON"), given)
  expect_match(json, "\"mdsDat\"")
  expect_match(json, given$vocab[which.max(given$term.frequency)], fixed = TRUE)
})
