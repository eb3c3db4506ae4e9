# Labels of eight groups in every class that users have them in, and the verbs that group rows by them.

# One value for each of 1, ..., 8, in another class each time. None of them can be told apart as a number of 15 digits.
label_classes <- function() {
  times <- as.POSIXct("2021-10-31 00:00:00", tz = "UTC") + 1800 * 0:7
  attr(times, "tzone") <- "Europe/Berlin" # the clock shows four of them twice
  out <- list(
    integer = 1:8, whole = 1e15 + 1:8, far = 2^53 + 2 * (1:8), close = 1 / 3 + 2^-54 * (0:7), text = letters[8:1],
    digits = paste0("134567890123456789", 1:8), zeros = c("1", "01", "001", "1.0", "", " 1", "1e0", "+1"),
    factor = factor(letters[8:1], letters[8:1]), Date = as.Date("2019-12-28") + 1:8,
    POSIXct = as.POSIXct("2020-01-01", tz = "UTC") + 43200 * (1:8), DST = times, POSIXlt = as.POSIXlt(times),
    seconds = as.POSIXct("2020-01-01", tz = "UTC") + (1:8) / 8, difftime = as.difftime(1:8 / 4, units = "hours"),
    complex = complex(real = 1, imaginary = 1:8), array = array(1e15 + 1:8, 8L), as_is = I(8:1)
  )
  has <- function(package) requireNamespace(package, quietly = TRUE)
  if (has("bit64")) {
    out$integer64 <- bit64::as.integer64("9007199254740992") + 1:8
    out$negative64 <- bit64::as.integer64(-3:4)
  }
  if (has("hms")) out$hms <- hms::hms(c(0, 59, 60, 3600, 86399, 86400, 0.5, 1e6))
  if (has("haven")) out$labelled <- haven::labelled(1e15 + 1:8, c(some = 1e15 + 1))
  if (has("units")) out$units <- units::set_units(1e15 + 1:8, "m")
  if (has("zoo")) out$yearmon <- zoo::as.yearmon("2020-01") + (0:7) / 12
  out
}

# data: eight groups of equal length, in order. Each verb: function(id), with one label a row -> what must not depend on
# what the labels are.
grouping_verbs <- function(x, of) {
  control <- bnp_control(seed = 1, max_laps = 4)
  counts <- cbind(a = of, b = 1, c = rev(of))
  fits <- list(
    mixture = bnp_mixture(x, id = of, control = control), hmm = bnp_hmm(x, id = of, control = control),
    topics = bnp_topics(x, obs_gaussian(), id = of, control = control)
  )
  in_column <- function(id) {
    out <- x
    out$key <- id
    out
  }
  halves <- function(id) {
    rows <- in_column(id)
    source_function(function(b) if (b <= 2) rows[if (b == 1) of <= 4 else of > 4, ])
  }
  list(
    mixture = function(id) elbo(bnp_mixture(x, id = id, control = control)),
    hmm = function(id) elbo(bnp_hmm(x, id = id, control = control)),
    topics = function(id) elbo(bnp_topics(x, obs_gaussian(), id = id, control = control)),
    counts = function(id) elbo(bnp_topics(counts, id = id, control = control)),
    column = function(id) elbo(bnp_hmm(in_column(id), "key", control = control)),
    formula = function(id) elbo(bnp_mixture(a ~ b, in_column(id), id = ~ key, control = control)),
    start = function(id) elbo(bnp_mixture(x, start = id, control = control)),
    labels = function(id) elbo(bnp_mixture(x, labels = id, control = control)),
    predict_hmm = function(id) unname(predict(fits$hmm, x, id = id, type = "prob")),
    predict_topics = function(id) unname(predict(fits$topics, x, id = id)),
    predict_mixture = function(id) unname(predict(fits$mixture, x, id = id, type = "prob")),
    logdensity = function(id) heldout_loglik(fits$hmm, x, id = id),
    segments = function(id) segments(fits$hmm, x, id = id)[-1L],
    forecast = function(id) forecast(fits$hmm, x, id = id, h = 2)$prob.1,
    filter = function(id) logLik(bnp_filter(fits$hmm, x, id = id)),
    filter_on = function(id) {
      begin <- seq_along(of) %% 2 == 0
      logLik(update(bnp_filter(fits$hmm, x[begin, ], id = id[begin]), x[!begin, ], id = id[!begin]))
    },
    update = function(id) {
      elbo(update(bnp_topics(x, obs_gaussian(), id = paste0("old", of), control = control), newdata = x, id = id))
    },
    impute = function(id) impute(fits$hmm, x, id = id, m = 1, seed = 1),
    term_table = function(id) {
      table <- data.frame(term = rep_len(c("u", "v", "w"), length(of)), n = of)
      table$document <- id
      elbo(bnp_topics(table, control = control))
    },
    stream = function(id) {
      batch <- function(b) if (b <= 2) in_column(id)[if (b == 1) of <= 4 else of > 4, ]
      once <- bnp_control("truncation_free", seed = 1)
      fit <- bnp_topics(bnp_stream(batch), obs_gaussian(), id = "key", control = once)
      unname(as.matrix(elbo_trace(fit)[c("rows", "score")]))
    },
    source_hmm = function(id) elbo(bnp_hmm(halves(id), "key", control = control)),
    source_topics = function(id) elbo(bnp_topics(halves(id), obs_gaussian(), id = "key", control = control)),
    tree = function(id) {
      parent <- ifelse(seq_along(of) %in% match(of, of), 0, seq_along(of) - 1)
      elbo(bnp_hmm(x, id = id, parent = parent, control = control))
    },
    sample = function(id) n_clusters(bnp_sample(x, id = id, draws = 5, chains = 1, seed = 1)),
    agreement = function(id) adjusted_rand_index(id, of)
  )
}
