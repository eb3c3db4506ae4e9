# Models with learned shapes beside other packages' in one run:
# Rscript inst/bench/shapes-peers.R [file with shapes_data()]
# MASS (glm.nb), and moveHMM, flexmix where they are installed. Seconds are of user time.
suppressMessages(library(bnpvi))
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
if (there("MASS")) {
  theirs <- seconds(MASS::glm.nb(y ~ 1))
  say("counts, one cluster: MASS::glm.nb", size = theirs$value$theta, mean = exp(coef(theirs$value)[[1]]),
    seconds = theirs$seconds)
}

# Elks: steps (km) and angles.
if (there("moveHMM")) {
  elk <- moveHMM::elk_data
  elk <- moveHMM::prepData(data.frame(ID = elk$ID, x = elk$Easting / 1000, y = elk$Northing / 1000), type = "UTM")
  walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
  own <- seconds(bnp_hmm(elk, id = "ID", obs = walk, na_action = "model", prior = prior_hmm(2), control = quiet))
  open <- seconds(bnp_hmm(elk, id = "ID", obs = walk, na_action = "model", control = quiet))
  theirs <- seconds(moveHMM::fitHMM(
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
}

# Planted groups from one cluster: groups, agreement, seconds.
if (length(args)) {
  source(args[1])
  models <- list(gamma = obs_gamma(), nb = obs_negbinomial(), weibull = obs_weibull(), decades = obs_gamma())
  for (name in names(models)) {
    for (seed in 1:3) {
      data <- shapes_data(name, seed)
      fit <- seconds(bnp_mixture(data$x, models[[name]], control = quiet))
      say(paste0(name, ", seed ", seed, ": bnpvi"), groups = n_clusters(fit$value),
        agreement = adjusted_rand_index(fitted(fit$value), data$z), seconds = fit$seconds)
      if (name == "nb") {
        poisson <- seconds(bnp_mixture(data$x, obs_poisson(), control = quiet))
        say(paste0(name, ", seed ", seed, ": obs_poisson()"), groups = n_clusters(poisson$value),
          agreement = adjusted_rand_index(fitted(poisson$value), data$z), seconds = poisson$seconds)
      }
      if (name == "gamma" && there("flexmix")) {
        one <- data.frame(x = data$x[1:1000, 1])
        theirs <- seconds(flexmix::stepFlexmix(x ~ 1, data = one, k = 3, nrep = 3, verbose = FALSE,
          model = flexmix::FLXMRglm(family = "Gamma")
        ))
        mine <- seconds(bnp_mixture(one$x, obs_gamma(), control = quiet))
        say(paste0("gamma, one column, seed ", seed, ": flexmix told 3"), agreement = adjusted_rand_index(
          flexmix::clusters(theirs$value), data$z[1:1000]
        ), seconds = theirs$seconds)
        say(paste0("gamma, one column, seed ", seed, ": bnpvi"), groups = n_clusters(mine$value),
          agreement = adjusted_rand_index(fitted(mine$value), data$z[1:1000]), seconds = mine$seconds)
      }
    }
  }
  states <- shapes_data("states", 5)
  walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
  fit <- seconds(bnp_hmm(states$x, obs = walk, na_action = "model", control = quiet))
  say("steps and angles, two states: bnpvi", states = n_clusters(fit$value),
    agreement = adjusted_rand_index(fitted(fit$value), states$z), elbo = elbo(fit$value), seconds = fit$seconds)
}
