# Fits that are stopped and gone on with.

checkpoint_cases <- function() {
  planted <- withr::with_seed(3, {
    centres <- matrix(rnorm(12, sd = 5), 6)
    centres[sample(6, 600, TRUE), ] + rnorm(1200)
  })
  overlapping <- withr::with_seed(2, matrix(rnorm(24, sd = 2), 12)[sample(12, 400, TRUE), ] + rnorm(800))
  walks <- withr::with_seed(4, lapply(c(150, 90, 120), function(n) {
    state <- rep(rep(1:3, length.out = 12), each = 15)[seq_len(n)]
    cbind(rnorm(n, 4 * state), rnorm(n, -3 * state))
  }))
  documents <- whales$counts[1:80, ]
  frame <- data.frame(a = planted[, 1], b = planted[, 2])
  known <- replace(rep(1:2, length.out = 600), -(1:12), NA)
  sums <- planted_features(5, 240, 8, 9)
  in_groups <- function(size, groups, directed) {
    p <- matrix(0.06, groups, groups) + diag(0.64, groups)
    x <- adjacency_of(withr::with_seed(7, planted_network(rep(seq_len(groups), each = size), p, directed)))
    hidden <- cbind(1:4, nrow(x) - 0:3)
    replace(x, if (directed) hidden else rbind(hidden, hidden[, 2:1]), NA)
  }
  few <- in_groups(9, 2, FALSE)
  directed <- in_groups(9, 2, TRUE)
  on_network <- function(...) function(x, control) bnp_network(x, control = control, ...)
  list(
    mixture = list(planted, function(x, control) bnp_mixture(x, control = control), list(batches = 3L)),
    restarts = list(
      overlapping, function(x, control) bnp_mixture(x, control = control),
      list(restarts = 3L, k_init = 10L, batches = 2L, max_laps = 12L, moves = bnp_moves(birth = FALSE))
    ),
    chosen = list(
      overlapping, function(x, control) bnp_mixture(x, control = control),
      list(restarts = "auto", effort = "low", max_laps = 12L)
    ),
    chosen_blocks = list(
      directed, on_network(obs_links(degree = FALSE), prior_dp()), list(restarts = "auto", effort = "low")
    ),
    restarts_learned = list(
      planted, function(x, control) bnp_mixture(x, obs_gaussian(learn = TRUE), prior_dp(gamma_prior(2, 1)), control),
      list(restarts = 3L, max_laps = 6L)
    ),
    formula = list(frame, function(x, control) bnp_mixture(~ log(a^2) + b, x, control = control), list(max_laps = 8L)),
    labels = list(
      planted, function(x, control) bnp_mixture(x, labels = known, weights = rep(1:2, 300), control = control),
      list(max_laps = 8L)
    ),
    stochastic = list(
      planted, function(x, control) bnp_mixture(x, control = control),
      list(algorithm = "stochastic", max_laps = 6L, k_init = 5L, batches = 4L, restarts = 2L)
    ),
    topics = list(documents, function(x, control) bnp_topics(x, control = control), list(batches = 3L, max_laps = 12L)),
    terms = list(
      documents, function(x, control) bnp_topics(x, obs_multinomial(NULL), control = control),
      list(batches = 2L, max_laps = 8L)
    ),
    race = list(
      documents, function(x, control) bnp_topics(x, prior = prior_lda(4), control = control),
      list(restarts = 4L, max_laps = 5L, batches = 3L)
    ),
    sequences = list(
      walks,
      function(x, control) bnp_hmm(x, prior = prior_hdp_hmm(sticky = 5, alpha = gamma_prior(2, 1)), control = control),
      list(batches = 2L, max_laps = 10L)
    ),
    states = list(walks, function(x, control) bnp_hmm(x, prior = prior_hmm(3), control = control), list()),
    lds = list(
      walks, function(x, control) bnp_hmm(x, obs = obs_lds(), control = control), list(max_laps = 8L, restarts = 2L)
    ),
    lds_learned = list(
      walks,
      function(x, control) bnp_hmm(x, obs = obs_lds(1), prior = prior_hmm(2, gamma_prior(2, 1)), control = control),
      list(max_laps = 6L)
    ),
    lds_switched = list(
      lapply(walks, `colnames<-`, c("y", "u")),
      function(x, control) bnp_hmm(x, obs = obs_lds(inputs = ~u, emission = "by_mode"), control = control),
      list(max_laps = 6L)
    ),
    features = list(sums$x, function(x, control) bnp_features(x, control = control), list(batches = 3L)),
    features_restarts = list(
      withr::with_seed(6, replace(sums$x, sample(1920, 150), NA)),
      function(x, control) {
        bnp_features(x, prior_ibp(gamma_prior(1, 1)), control, scale = TRUE, na_action = "model")
      },
      list(restarts = 3L, max_laps = 7L, batches = 2L)
    ),
    network = list(few, on_network(), list(tol = 1e-4)), # two models, one after the other
    network_large = list(in_groups(23, 3, TRUE), on_network(obs_links(degree = TRUE)), list(tol = 1e-4)),
    network_plain = list(directed, on_network(obs_links(degree = FALSE)), list(restarts = 2L, max_laps = 9L)),
    network_general = list(few, on_network(obs_links(assortative = FALSE)), list(tol = 1e-4, k_init = 3L)),
    network_blocks = list(directed, on_network(prior = prior_dp()), list(restarts = 2L)),
    network_degrees = list(few, on_network(obs_links(degree = TRUE), prior_dp()), list(restarts = 2L)),
    network_stochastic = list(
      few, on_network(), list(algorithm = "stochastic", max_laps = 6L, k_init = 4L, batches = 3L, restarts = 2L)
    ),
    network_blocks_stochastic = list(
      directed, on_network(prior = prior_dp()),
      list(algorithm = "stochastic", max_laps = 6L, k_init = 4L, batches = 3L, restarts = 2L)
    )
  )
}

# The fit of a case, with a checkpoint after every lap.
checkpointed <- function(case, file, ..., x = case[[1]]) {
  control <- bnp_control(seed = 5, verbose = TRUE, checkpoint = file, checkpoint_every = 0)
  given <- utils::modifyList(case[[3]], list(...))
  control[names(given)] <- given
  suppressWarnings(case[[2]](x, control))
}

# The value of `code`, or "stopped" where `after` laps were reported before it ended.
stopped_after <- function(after, code) {
  laps <- 0
  stopper <- function(m) {
    if (!grepl("^Lap", conditionMessage(m))) return()
    laps <<- laps + 1
    if (laps > after) rlang::abort("stopped", "stopped")
    invokeRestart("muffleMessage")
  }
  out <- tryCatch(withCallingHandlers(code, message = stopper), stopped = function(e) "stopped")
  attr(out, "reported") <- laps
  out
}

# Everything of a fit but the time it took.
bits_of_fit <- function(fit) {
  attr(fit, "reported") <- NULL
  fit$trace$seconds <- NULL
  fit$control$threads <- NULL
  unclass(fit)
}
