# Models with learned shapes beside other packages' in one run:
# Rscript inst/bench/shapes-peers.R [file with shapes_data() [seeds]]
# MASS (glm.nb), and moveHMM, momentuHMM, flexmix, teigen where they are installed. Seconds are of user time; those of
# elks are medians of five fits, with the range.
suppressMessages(library(bnpvi))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "record.R"))
args <- commandArgs(TRUE)
there <- function(package) requireNamespace(package, quietly = TRUE)
quiet <- bnp_control(seed = 1, threads = 1, verbose = FALSE)
seconds <- function(code) {
  time <- system.time(value <- suppressWarnings(code))
  list(value = value, seconds = unname(time[1]))
}
say <- function(what, ...) cat(sprintf("%-44s", what), paste(names(c(...)), signif(c(...), 5), collapse = "  "), "\n")

# One negative binomial sample, as glm.nb() fits it.
y <- with(list(), {
  set.seed(1)
  rnbinom(1000, 2, mu = 10)
})
own <- seconds(bnp_mixture(y, obs_negbinomial(), prior_dirichlet(1), quiet))
say("counts, one cluster: bnpvi", size = coef(own$value)$size, mean = coef(own$value)$mean, seconds = own$seconds)
of_counts <- function(size, mean, took) toString(signif(c(size, mean, took), 3))
record("1,000 counts of size 2, mean 10", "size, mean, user s", of_counts(
  coef(own$value)$size, coef(own$value)$mean, own$seconds
))
if (there("MASS")) {
  theirs <- seconds(MASS::glm.nb(y ~ 1))
  say("counts, one cluster: MASS::glm.nb", size = theirs$value$theta, mean = exp(coef(theirs$value)[[1]]),
    seconds = theirs$seconds)
  record("1,000 counts of size 2, mean 10", "size, mean, user s", of_counts(
    theirs$value$theta, exp(coef(theirs$value)[[1]]), theirs$seconds
  ), peer = "MASS::glm.nb")
}

# Elks: steps (km) and angles.
if (there("moveHMM")) {
  elk <- moveHMM::elk_data
  elk <- moveHMM::prepData(data.frame(ID = elk$ID, x = elk$Easting / 1000, y = elk$Northing / 1000), type = "UTM")
  walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
  often <- function(code) {
    code <- substitute(code)
    at <- parent.frame()
    runs <- lapply(1:5, function(i) seconds(eval(code, at)))
    took <- vapply(runs, `[[`, 1, "seconds")
    list(value = runs[[1]]$value, seconds = c(median = median(took), least = min(took), most = max(took)))
  }
  own <- often(bnp_hmm(elk, id = "ID", obs = walk, na_action = "model", prior = prior_hmm(2), control = quiet))
  open <- often(bnp_hmm(elk, id = "ID", obs = walk, na_action = "model", control = quiet))
  theirs <- often(moveHMM::fitHMM(
    elk, nbStates = 2, stepPar0 = c(0.4, 3, 0.4, 4, 0.003, 0.002), anglePar0 = c(pi, 0, 0.5, 0.2), verbose = 0
  ))
  path <- moveHMM::viterbi(theirs$value)
  agree <- mean(fitted(own$value) == path)
  say("elks, two states: bnpvi", shape = coef(own$value)$gamma$shape[, 1], mean = coef(own$value)$gamma$mean[, 1],
    kappa = coef(own$value)$vonmises$concentration[, 1], agree = max(agree, 1 - agree), seconds = own$seconds)
  step <- theirs$value$mle$stepPar
  say("elks, two states: moveHMM", shape = (step["mean", ] / step["sd", ])^2, mean = step["mean", ],
    kappa = theirs$value$mle$anglePar["concentration", ], seconds = theirs$seconds)
  say("elks, states found: bnpvi", states = n_clusters(open$value), elbo = elbo(open$value), two = elbo(own$value),
    seconds = open$seconds)
  seconds_of <- "a fit of two states, user s: median and range of five"
  said <- function(x) {
    paste0(signif(x[["median"]], 2), " (", signif(x[["least"]], 2), " to ", signif(x[["most"]], 2), ")")
  }
  parts <- "shapes, means, concentrations of two states"
  of_states <- function(...) toString(signif(c(...), 3))
  record("elk_data (moveHMM)", parts, of_states(coef(own$value)$gamma$shape, coef(own$value)$gamma$mean,
    coef(own$value)$vonmises$concentration))
  record("elk_data (moveHMM)", parts, of_states((step["mean", ] / step["sd", ])^2, step["mean", ],
    theirs$value$mle$anglePar["concentration", ]), peer = "moveHMM")
  record("elk_data (moveHMM)", "rows whose state is moveHMM's", signif(max(agree, 1 - agree), 3))
  record("elk_data (moveHMM)", seconds_of, said(own$seconds))
  record("elk_data (moveHMM)", seconds_of, said(theirs$seconds), peer = "moveHMM")
  record("elk_data (moveHMM)", "states and a fit that finds them, user s: median and range of five",
    paste0(n_clusters(open$value), ", ", said(open$seconds)))
  if (there("momentuHMM")) {
    steps <- structure(as.data.frame(elk), class = c("momentuHMMData", "data.frame"))
    other <- often(momentuHMM::fitHMM(
      steps, nbStates = 2, dist = list(step = "gamma", angle = "vm"), estAngleMean = list(angle = TRUE),
      Par0 = list(step = c(0.4, 3, 0.4, 4, 0.003, 0.002), angle = c(pi, 0, 0.5, 0.2))
    ))
    step <- other$value$mle$step
    say("elks, two states: momentuHMM", shape = (step["mean", ] / step["sd", ])^2, mean = step["mean", ],
      kappa = other$value$mle$angle["concentration", ], seconds = other$seconds)
    record("elk_data (moveHMM)", seconds_of, said(other$seconds), peer = "momentuHMM")
  }
}

# An animal in two states, as the set "states" of shapes_data() but of any seed, and the states that are likeliest at
# each row to one who knows the model.
stay <- rbind(c(0.9, 0.1), c(0.15, 0.85))
steps_and_angles <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
walk_of <- function(seed, n = 1500L) {
  set.seed(seed)
  z <- integer(n)
  z[1] <- 1L
  for (t in 2:n) z[t] <- sample(2, 1, prob = stay[z[t - 1], ])
  angle <- numeric(n)
  for (i in 1:n) {
    repeat {
      turn <- runif(1, -pi, pi)
      if (runif(1) < exp(c(0.4, 6)[z[i]] * (cos(turn) - 1))) break
    }
    turn <- turn + c(pi, 0)[z[i]]
    angle[i] <- atan2(sin(turn), cos(turn))
  }
  step <- rgamma(n, c(0.9, 3)[z], c(0.9, 3)[z] / c(0.3, 1.2)[z])
  step[runif(n) < c(0.05, 0.002)[z]] <- 0
  angle[sample(n, 40)] <- NA
  step[sample(n, 20)] <- NA
  list(x = data.frame(step, angle), z = z)
}
rule_of_walk <- function(x) {
  density <- vapply(1:2, function(k) {
    concentration <- c(0.4, 6)[k]
    zero <- c(0.05, 0.002)[k]
    of_step <- ifelse(x$step == 0, zero, (1 - zero) * dgamma(x$step, c(0.9, 3)[k], c(0.9, 3)[k] / c(0.3, 1.2)[k]))
    of_angle <- exp(concentration * cos(x$angle - c(pi, 0)[k])) / besselI(concentration, 0)
    ifelse(is.na(of_step), 1, of_step) * ifelse(is.na(of_angle), 1, of_angle)
  }, double(nrow(x)))
  forward <- backward <- density
  forward[1, ] <- c(1, 0) * density[1, ]
  for (t in 2:nrow(x)) {
    forward[t, ] <- (forward[t - 1, ] %*% stay) * density[t, ]
    forward[t, ] <- forward[t, ] / sum(forward[t, ])
  }
  backward[nrow(x), ] <- 1
  for (t in (nrow(x) - 1):1) {
    backward[t, ] <- stay %*% (density[t + 1, ] * backward[t + 1, ])
    backward[t, ] <- backward[t, ] / sum(backward[t, ])
  }
  max.col(forward * backward)
}

# Prints and records what ten seeds of a planted set gave: `found` has a column for each seed.
planted <- function(name, found, right) {
  count <- function(k) {
    paste0(sum(k == right), if (any(k != right)) paste0(" (else ", toString(sort(k[k != right])), ")"))
  }
  below <- found["rule", ] - found["ari", ]
  values <- c(
    count(found["groups", ]), count(found["default", ]),
    sprintf("%.3f", c(mean(found["ari", ]), mean(found["rule", ]), max(below))), signif(median(found["seconds", ]), 2)
  )
  what <- paste(
    "seeds with the right number from one cluster, by the default search, agreement, that of the rule,",
    "most below the rule, user s"
  )
  cat(sprintf("%-36s", name), paste(values, collapse = "  "), "\n")
  record(paste0("planted groups, ", name, ", ", ncol(found), " seeds"), what, paste(values, collapse = "; "))
}

# Planted groups from one cluster: groups and agreement beside the rule that knows the groups' distributions, seconds.
if (length(args)) {
  source(args[1])
  seeds <- seq_len(if (length(args) > 1L) as.integer(args[2]) else 10L)
  centres <- cbind(c(0, 8, 16), c(0, 8, 0))
  of_groups <- function(x, density, k = 3L) max.col(vapply(seq_len(k), function(g) density(x, g), double(nrow(x))))
  gammas <- function(x, g) {
    dgamma(x[, 1], 4, 4 / c(1, 5, 30)[g], log = TRUE) +
      if (ncol(x) > 1L) dgamma(x[, 2], 4, 4 / c(20, 2, 6)[g], log = TRUE) else 0
  }
  sets <- list(
    gamma = list(obs = obs_gamma(), rule = function(x) of_groups(x, gammas)),
    one = list(obs = obs_gamma(), rule = function(x) of_groups(x, gammas)),
    decades = list(obs = obs_gamma(), rule = function(x) {
      of_groups(x, function(x, g) dgamma(x[, 1], 2.5, 2.5 / 10^(g - 1), log = TRUE), 5L)
    }),
    zeros = list(obs = obs_gamma(zeros = TRUE), rule = function(x) {
      of_groups(x, function(x, g) {
        zero <- c(0.3, 0.1, 0.02)[g]
        rowSums(vapply(1:2, function(j) {
          own <- gammas(cbind(pmax(x[, j], 1e-300), 1)[, 1, drop = FALSE], g)
          if (j == 2L) own <- dgamma(pmax(x[, 2], 1e-300), 4, 4 / c(20, 2, 6)[g], log = TRUE)
          ifelse(x[, j] == 0, log(zero), log1p(-zero) + own)
        }, double(nrow(x))))
      })
    }),
    nb = list(obs = obs_negbinomial(), rule = function(x) {
      of_groups(x, function(x, g) {
        dnbinom(x[, 1], mu = c(2, 10, 40)[g], size = 2, log = TRUE) +
          dnbinom(x[, 2], mu = c(30, 3, 15)[g], size = 2, log = TRUE)
      })
    }),
    weibull = list(obs = obs_weibull(), rule = function(x) {
      of_groups(x, function(x, g) {
        dweibull(x[, 1], 1.8, c(1, 6, 30)[g], log = TRUE) +
          dweibull(x[, 2], c(0.8, 1.8, 3)[g], c(20, 2, 6)[g], log = TRUE)
      })
    }),
    t4 = list(obs = obs_student(), rule = function(x) {
      of_groups(x, function(x, g) -rowSums(sweep(x, 2, centres[g, ])^2))
    })
  )
  sets$gaussian <- sets$t4
  names_of <- c(
    gamma = "gamma", one = "gamma, one column", decades = "gamma, five decades", zeros = "gamma, zeros",
    nb = "negative binomial", weibull = "Weibull", t4 = "t(4)", gaussian = "Gaussian data under obs_student()"
  )
  data_of <- function(name, seed) {
    data <- shapes_data(switch(name, one = "gamma", zeros = "gamma", name), seed)
    if (name == "one") data <- list(x = data$x[1:1000, 1, drop = FALSE], z = data$z[1:1000])
    if (name == "zeros") data$x[runif(length(data$x)) < c(0.3, 0.1, 0.02)[data$z]] <- 0
    data
  }
  # From one cluster by births alone, and by the default search.
  births <- bnp_control(seed = 1, threads = 1, verbose = FALSE, k_init = 1, restarts = 1)
  for (name in names(sets)) {
    found <- vapply(seeds, function(seed) {
      data <- data_of(name, seed)
      fit <- seconds(bnp_mixture(data$x, sets[[name]]$obs, control = births))
      default <- bnp_mixture(data$x, sets[[name]]$obs, control = quiet)
      c(
        groups = n_clusters(fit$value), ari = adjusted_rand_index(fitted(fit$value), data$z),
        rule = adjusted_rand_index(sets[[name]]$rule(data$x), data$z), seconds = fit$seconds,
        default = n_clusters(default)
      )
    }, double(5))
    planted(names_of[[name]], found, length(unique(data_of(name, 1)$z)))
  }
  found <- vapply(seeds, function(seed) {
    walk <- walk_of(seed)
    fit <- seconds(bnp_hmm(walk$x, obs = steps_and_angles, na_action = "model", control = births))
    default <- bnp_hmm(walk$x, obs = steps_and_angles, na_action = "model", control = quiet)
    c(
      groups = n_clusters(fit$value), ari = adjusted_rand_index(fitted(fit$value), walk$z),
      rule = adjusted_rand_index(rule_of_walk(walk$x), walk$z), seconds = fit$seconds, default = n_clusters(default)
    )
  }, double(5))
  planted("two states of steps and angles", found, 2L)
  data <- data_of("one", 1)
  if (there("flexmix")) {
    # Random starts of stepFlexmix() end with no agreement at all, so it starts from k-means of the logarithms.
    start <- kmeans(log(data$x), 3, nstart = 10)$cluster
    theirs <- seconds(flexmix::flexmix(x ~ 1, data = data.frame(x = data$x), k = 3, cluster = start,
      model = flexmix::FLXMRglm(family = "Gamma")
    ))
    ari <- adjusted_rand_index(flexmix::clusters(theirs$value), data$z)
    say("one: flexmix told 3", ari = ari, seconds = theirs$seconds)
    record("gamma, one column, seed 1", "groups, agreement, user s", toString(signif(c(3, ari, theirs$seconds), 3)),
      peer = "flexmix, told 3, from k-means of logarithms")
  }
  data <- data_of("t4", 1)
  if (there("teigen")) {
    theirs <- seconds(teigen::teigen(data$x, Gs = 1:5, models = "UUUU", verbose = FALSE))
    ari <- adjusted_rand_index(theirs$value$classification, data$z)
    say("t4: teigen UUUU", groups = theirs$value$G, seconds = theirs$seconds, ari = ari)
    record("t(4), seed 1", "groups, agreement, user s", toString(signif(c(theirs$value$G, ari, theirs$seconds), 3)),
      peer = "teigen UUUU, 1 to 5 groups")
  }
  # A lap of counts: negative binomial beside Poisson, the same clusters.
  data <- data_of("nb", 1)
  lap <- function(obs) {
    control <- bnp_control(seed = 1, threads = 1, verbose = FALSE, moves = FALSE, max_laps = 40, tol = 1e-300)
    min(replicate(3, min(diff(elbo_trace(suppressWarnings(bnp_mixture(
      data$x[rep(1:3000, 4), ], obs, start = rep(data$z, 4), control = control
    )))$seconds))))
  }
  say("a lap of counts, ms", negbinomial = 1e3 * lap(obs_negbinomial()), poisson = 1e3 * lap(obs_poisson()))
  states <- walk_of(5)
  fit <- seconds(bnp_hmm(states$x, obs = steps_and_angles, na_action = "model", control = quiet))
  ari <- adjusted_rand_index(fitted(fit$value), states$z)
  say("steps and angles, two states: bnpvi", states = n_clusters(fit$value), agreement = ari, elbo = elbo(fit$value),
    seconds = fit$seconds)
  found <- "states, agreement, user s"
  record("two states of steps and angles (seed 5)", found,
    toString(signif(c(n_clusters(fit$value), ari, fit$seconds), 3)))
  if (there("moveHMM")) {
    track <- structure(data.frame(ID = factor(1), states$x, x = 0, y = 0), class = c("moveData", "data.frame"))
    theirs <- seconds(moveHMM::fitHMM(
      track, nbStates = 2, stepPar0 = c(0.3, 1.2, 0.3, 0.7, 0.05, 0.01), anglePar0 = c(pi, 0, 0.4, 6), verbose = 0
    ))
    ari <- adjusted_rand_index(moveHMM::viterbi(theirs$value), states$z)
    say("steps and angles: moveHMM told 2", agreement = ari, seconds = theirs$seconds)
    record("two states of steps and angles (seed 5)", found, toString(signif(c(2, ari, theirs$seconds), 3)),
      peer = "moveHMM, told 2")
  }
}
