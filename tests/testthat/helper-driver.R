# Fits whose laps do what a script says (src/testing/scripted_fit.h).

kinds <- c(moves = 0L, still = 1L, breaks = 2L, stopped = 3L, partial = 4L)

# laps(moves = 1, still = 2): what happens in each lap, and the objective after it.
laps <- function(...) list(kind = kinds[...names()], value = unname(c(...)))
script <- function(..., value = 0, whole = TRUE, slack = 0, work = 1, k = 1) {
  list(phases = list(...), value = value, whole = whole, slack = slack, work = work, k = k)
}
driven <- function(..., scripts = list(script(...)), control = list()) {
  usual <- list(max_laps = 10L, tol = 0.5, seed = 1, restarts = length(scripts), keep_interrupted = TRUE)
  engine_driver(scripts, utils::modifyList(usual, control))
}

columns_of_restarts <- c("restart", "seed", "init", "k_init", "elbo", "k", "laps", "work", "given_up", "agrees")
