# Regressions in clusters and states in one table: growth mixtures (random effects of individuals), logistic regressions
# and counts, each figure beside that of its peer and beside what it should be.
#
#   Rscript inst/bench/regressions.R [seeds] [part ...]
#
# Parts, all of which run by default: growth, laps, large, files, lcmm, flexmix, lme4, coverage, logistic, states,
# counts, logistic-laps. Peers that are not installed are named as not run. The whole table took 26 minutes on two busy
# processors.
#
# Growth: 200 individuals with 3 to 8 visits at times in [0, 5], intercepts with a standard deviation of 1, noise .5.
# Without random effects these sets have 7 to 16 clusters. shared = TRUE is the default: it finds kinds that overlap
# ("three"), where the price of a covariance for each cluster is more than a kind brings.
suppressMessages(library(bnpvi))
args <- commandArgs(TRUE)
counts <- grepl("^[0-9]+$", args)
seeds <- seq_len(as.integer(c(args[counts], 10L)[1L]))
parts <- args[!counts]
quiet <- function(...) bnp_control(verbose = FALSE, ...)

found <- NULL
show_row <- function(row) {
  cat(sprintf("%-13s %-23s %-62s %-32s %-30s %s", row[1L], row[2L], row[3L], row[4L], row[5L], row[6L]), sep = "\n")
}
tell <- function(part, data, what, here, peer = "", should = "") {
  found <<- rbind(found, c(part, data, what, here, peer, should))
  show_row(found[nrow(found), ])
}
there <- function(part, package) {
  out <- requireNamespace(package, quietly = TRUE)
  if (!out) tell(part, "", package, "", "not installed: not run")
  out
}
cpu <- function(expr) {
  time <- system.time(value <- suppressMessages(expr))
  list(value = value, seconds = sum(time[c("user.self", "sys.self", "user.child", "sys.child")]))
}
listed <- function(format, x) paste(sprintf(format, x), collapse = ", ")
k_and_ari <- function(k, ari, loglik, seconds) sprintf("%d (%.2f), %.1f, %.2f s", k, ari, loglik, seconds)

# ---- Growth mixtures
truths <- list( # share, intercept and slope of each kind, standard deviation of slopes
  wide = list(c(1, 1, 1) / 3, c(0, 0, 3), c(0, 1.3, -.9), .15),
  three = list(c(1, 1, 1) / 3, c(0, 0, 3), c(0, .8, -.6), .15),
  one = list(1, 0, .5, .4), level = list(1, 0, .5, 0),
  apart = list(c(.5, .5), c(0, 0), c(.2, .9), 0), skew = list(c(.9, .1), c(0, 0), c(.2, 1), 0),
  two = list(c(.5, .5), c(0, 0), c(0, 1), 0)
)
planted <- function(truth, seed, n = 200L) {
  set.seed(seed)
  kind <- sample.int(length(truth[[1L]]), n, TRUE, truth[[1L]])
  id <- rep(seq_len(n), sample(3:8, n, TRUE))
  a <- truth[[2L]][kind] + rnorm(n)
  b <- truth[[3L]][kind] + truth[[4L]] * rnorm(n)
  t <- runif(length(id), 0, 5)
  data.frame(id = factor(id), t = t, y = a[id] + b[id] * t + .5 * rnorm(length(id)), kind = kind[id])
}
growth <- function(data, random = ~ 1 + t, shared = TRUE, ..., seed = 1) {
  bnp_mixture(y ~ t, data, obs_regression(random = random, shared = shared), id = ~ id, ...,
    control = quiet(seed = seed))
}
loglik <- function(fit, data) sum(predict(fit, data, "logdensity"))

run <- list()
run$growth <- function() for (shared in c(TRUE, FALSE)) for (set in c(names(truths), "level, ~ 1")) {
  truth <- truths[[sub(",.*", "", set)]]
  each <- vapply(seeds, function(seed) {
    data <- planted(truth, seed)
    fit <- cpu(growth(data, if (grepl("~ 1", set)) ~ 1 else ~ 1 + t, shared, seed = seed))
    c(n_clusters(fit$value), adjusted_rand_index(fitted(fit$value), data$kind), fit$seconds)
  }, double(3L))
  k <- length(truth[[1L]])
  here <- sprintf("%d of %d (%.2f); %.2f s", sum(each[1L, ] == k), ncol(each), median(each[2L, ]), max(each[3L, ]))
  tell("growth", set, paste0("K = ", k, " in so many seeds (ARI), longest fit",
    if (!shared) "; covariances of their own"), here, "", if (shared || set != "three") "9 of 10, .5 s" else "")
}

run$laps <- function() { # three clusters, 20,000 individuals with 5 visits, one thread; the quickest lap
  set.seed(1)
  n <- 20000L
  kind <- sample.int(3L, n, TRUE)
  id <- rep(seq_len(n), each = 5L)
  for (times in c("any times", "the same times")) {
    t <- if (times == "any times") runif(5L * n, 0, 5) else rep(0:4, n)
    y <- c(0, 0, 3)[kind][id] + rnorm(n)[id] + (c(0, 1.3, -.9)[kind] + .15 * rnorm(n))[id] * t + .5 * rnorm(5L * n)
    lap <- vapply(list(
      obs_regression(), obs_regression(random = ~ 1), obs_regression(random = ~ 1 + t),
      obs_regression(random = ~ 1 + t, shared = FALSE)
    ), function(obs) {
      fit <- suppressWarnings(bnp_mixture(y ~ t, data.frame(id, t, y), obs, prior_dirichlet(3), start = kind, id = ~ id,
        control = quiet(seed = 1, threads = 1L, max_laps = 20L, moves = FALSE, restarts = 1L, tol = 0)))
      min(diff(elbo_trace(fit)$seconds))
    }, 1)
    tell("laps", times, "effects of 1; of 1 and t; own covariances, over y ~ t | id",
      listed("%.2f", lap[-1L] / lap[1L]), "", "4")
  }
}

run$large <- function() for (set in c("wide", "level")) {
  data <- planted(truths[[set]], 1, 100000L)
  high_water <- function() {
    as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
  }
  before <- high_water()
  fit <- cpu(growth(data))
  tell("large", paste0(set, ", ", nrow(data), " rows"), "100,000 individuals: K (ARI), s; laps; MB, before",
    sprintf("%d (%.2f), %.0f s; %d; %.0f, %.0f", n_clusters(fit$value),
      adjusted_rand_index(fitted(fit$value), data$kind), fit$seconds, nrow(elbo_trace(fit$value)), high_water(),
      before), "", "minutes")
}

run$files <- function() for (size in list(c(20000L, 5L), c(20000L, 25L), c(100000L, 5L))) {
  set.seed(5)
  kind <- sample.int(3L, size[1L], TRUE)
  id <- rep(seq_len(size[1L]), each = size[2L])
  a <- truths$wide[[2L]][kind] + rnorm(size[1L])
  b <- truths$wide[[3L]][kind] + .15 * rnorm(size[1L])
  t <- runif(length(id), 0, 5)
  file <- tempfile(fileext = ".csv")
  utils::write.csv(data.frame(id, t, y = a[id] + b[id] * t + .5 * rnorm(length(id))), file, row.names = FALSE)
  fresh <- c( # a process for each size, for its high-water mark
    "library(bnpvi)",
    "mark <- function() gsub('[^0-9]', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))",
    "before <- mark()",
    sprintf("fit <- bnp_mixture(y ~ t + (1 + t | id), source_files('%s'), seed = 1, threads = 1)", file),
    "cat(n_clusters(fit), sum(proc.time()[1:2]), before, mark())"
  )
  script <- tempfile(fileext = ".R")
  writeLines(fresh, script)
  out <- system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE)
  out <- as.numeric(strsplit(out[length(out)], " ")[[1L]])
  tell("files", sprintf("%d individuals, %d visits", size[1L], size[2L]), "from a file: K, s; MB, before",
    sprintf("%d, %.0f s; %.0f, %.0f", out[1L], out[2L], out[4L] / 1024, out[3L] / 1024), "", "rows cost nothing")
}

hlme_of <- function(data, ng, starts = 5L) { # best of `starts` random starts from the fit with one class
  rows <<- data # where gridsearch() looks for them
  one <<- lcmm::hlme(y ~ t, random = ~ t, subject = "id", ng = 1, data = rows, verbose = FALSE)
  if (ng == 1L) {
    return(one)
  }
  utils::capture.output(fit <- eval(bquote(gridsearch( # which wants the bare name of hlme()
    hlme(y ~ t, mixture = ~ t, random = ~ t, subject = "id", ng = .(ng), data = rows, verbose = FALSE),
    rep = .(starts), maxiter = 15, minit = one
  ))))
  fit
}
run$lcmm <- function() {
  sets <- lapply(stats::setNames(nm = c("wide", "three", "skew")), function(set) planted(truths[[set]], 1))
  peer <- there("lcmm", "lcmm")
  if (peer) {
    suppressMessages(library(lcmm))
    sets$data_hlme <- stats::setNames(lcmm::data_hlme[c("ID", "Time", "Y")], c("id", "t", "y"))
    asked <- lcmm::paquid[!is.na(lcmm::paquid$MMSE), ]
    sets$paquid <- data.frame(id = asked$ID, t = (asked$age - 65) / 10, y = asked$MMSE)
  }
  for (name in names(sets)) {
    data <- sets[[name]]
    data$id <- as.integer(factor(data$id))
    first <- match(unique(data$id), data$id)
    ari <- function(labels) if (is.null(data$kind)) NA else adjusted_rand_index(labels, data$kind[first])
    ours <- cpu(growth(data))
    k <- n_clusters(ours$value)
    here <- k_and_ari(k, ari(fitted(ours$value)[first]), loglik(ours$value, data), ours$seconds)
    theirs <- if (peer) lapply(1:3, function(k) cpu(hlme_of(data, k)))
    best <- if (peer) which.min(vapply(theirs, function(fit) fit$value$BIC, 1))
    for (ng in unique(c(best, if (k <= 3L) k))) {
      fit <- theirs[[ng]]$value
      seconds <- if (ng == best) sum(vapply(theirs, `[[`, 1, "seconds")) else theirs[[ng]]$seconds
      tell("lcmm", name, paste("K (ARI), log lik., s; hlme()", if (ng == best) "by BIC of 1 to 3" else "told K"), here,
        k_and_ari(ng, ari(fit$pprob$class), fit$loglik, seconds))
    }
    if (!peer) tell("lcmm", name, "K (ARI), log lik., s", here)
  }
}

run$flexmix <- function() {
  if (!there("flexmix", "flexmix")) {
    return()
  }
  suppressMessages(library(flexmix))
  set.seed(1)
  id <- rep(1:50, each = 10) # the example of FLXMRlmm()
  x <- rep(1:10, 50)
  example <- data.frame(id = factor(id), t = x, y = rep(rnorm(25, 0, c(5, 2)), each = 10) +
    rnorm(length(id), rep(c(3, 8), each = 10)) + rep(c(0, 3), each = 10) * x, kind = rep(rep(1:2, each = 10), 25))
  sets <- list(example = list(example, ~ 1), wide = list(planted(truths$wide, 1), ~ 1 + t))
  for (name in names(sets)) {
    data <- sets[[name]][[1L]]
    random <- sets[[name]][[2L]]
    ours <- cpu(growth(data, random))
    theirs <- lapply(1:3, function(k) cpu(tryCatch(
      flexmix(. ~ . | id, data, k = k, model = FLXMRlmm(y ~ t, random = random),
        control = list(iter.max = 30, minprior = 0)),
      error = function(e) NULL
    )))
    bic <- vapply(theirs, function(fit) if (is.null(fit$value)) Inf else BIC(fit$value), 1)
    for (k in unique(c(which.min(bic), n_clusters(ours$value)))) if (k <= 3L && is.finite(bic[k])) {
      fit <- theirs[[k]]$value
      tell("flexmix", name, paste("K (ARI), log lik., s; FLXMRlmm()", if (k == which.min(bic)) "by BIC" else "told K"),
        k_and_ari(n_clusters(ours$value), adjusted_rand_index(fitted(ours$value), data$kind), loglik(ours$value, data),
          ours$seconds),
        k_and_ari(k, adjusted_rand_index(clusters(fit), data$kind), as.numeric(logLik(fit)), theirs[[k]]$seconds))
    }
  }
}

run$lme4 <- function() {
  if (!there("lme4", "lme4") || !there("lme4", "nlme")) {
    return()
  }
  for (set in c("sleepstudy", "Orthodont")) {
    data <- if (set == "sleepstudy") stats::setNames(lme4::sleepstudy, c("y", "t", "id")) else
      stats::setNames(as.data.frame(nlme::Orthodont)[1:3], c("y", "t", "id"))
    data$id <- factor(as.character(data$id))
    theirs <- lme4::lmer(y ~ t + (1 + t | id), data)
    fit <- growth(data, prior = prior_dirichlet(1))
    own <- predict(fit, type = "effects")
    others <- as.matrix(stats::coef(theirs)$id)[rownames(own), ]
    away <- abs(coef(fit)$coef[1L, , 1L] - lme4::fixef(theirs)) / sqrt(diag(as.matrix(vcov(theirs))))
    tell("lme4", set, "fixed effects differ by so many standard errors", listed("%.3f", away), "", ".1")
    tell("lme4", set, "covariance of effects", listed("%.3g", coef(fit)$random_cov[c(1, 2, 4)]),
      listed("%.3g", as.matrix(lme4::VarCorr(theirs)$id)[c(1, 2, 4)]))
    tell("lme4", set, "individuals' coefficients: correlation, difference in sd",
      paste0(listed("%.4f", diag(cor(own, others))), "; ",
        listed("%.3f", sqrt(colMeans((own - others)^2)) / apply(others, 2L, sd))))
  }
}

run$coverage <- function() {
  for (set in setdiff(names(truths), "level")) for (shared in c(TRUE, FALSE)) {
    truth <- truths[[set]]
    k <- length(truth[[1L]])
    held <- vapply(seq_len(10L * length(seeds)), function(seed) {
      data <- planted(truth, seed)
      last <- !duplicated(data$id, fromLast = TRUE)
      fit <- growth(data[!last, ], shared = shared, seed = seed)
      inside <- function(p, y) mean(y > p[, "lower"] & y < p[, "upper"])
      new <- planted(truth, 1000L + seed)
      new <- new[!duplicated(new$id), ]
      first <- predict(fit, data.frame(id = paste("new", new$id), t = new$t), "individual", interval = .9)
      out <- c(
        inside(predict(fit, data[last, c("id", "t")], "individual", interval = .9), data$y[last]),
        inside(first, new$y), NA
      )
      if (n_clusters(fit) != k) {
        return(out)
      }
      ends <- confint(fit, level = .9)
      ends <- ends[grep("^coef", rownames(ends)), , drop = FALSE]
      by_slope <- rbind(truth[[2L]], truth[[3L]])[, order(truth[[3L]]), drop = FALSE]
      values <- by_slope[, rank(coef(fit)$coef[1L, "t", ])]
      out[3L] <- mean(values > ends[, 1L] & values < ends[, 2L])
      out
    }, double(3L))
    tell("coverage", set, paste0("next visit; first of a new one; coefficients (fits)",
      if (!shared) ", own covariances"), sprintf("%s (%d)", listed("%.3f", rowMeans(held, na.rm = TRUE)),
      sum(!is.na(held[3L, ]))), "", ".87 to .93")
  }
}

# ---- Logistic regressions
logistic <- obs_regression(family = "binomial")

# Mixture log likelihood at given weights and coefficients (a column a cluster) of groups of rows.
loglik_of <- function(y, m, x, group, weights, coef) {
  each <- vapply(seq_along(weights), function(k) {
    rowsum(stats::dbinom(y, m, stats::plogis(x %*% coef[, k]), log = TRUE), group)[, 1L] + log(weights[k])
  }, double(length(unique(group))))
  each <- matrix(each, ncol = length(weights))
  top <- apply(each, 1L, max)
  sum(top + log(rowSums(exp(each - top))))
}
beside_flexmix <- function(name, y, m, frame, formula, group) {
  x <- stats::model.matrix(formula, frame)
  frame$y <- y
  frame$n <- m - y
  frame$g <- group
  both <- stats::update(formula, cbind(y, n) ~ .)
  ours <- suppressMessages(bnp_mixture(both, frame, logistic, id = frame$g, control = quiet(seed = 1)))
  set.seed(1)
  theirs <- suppressMessages(flexmix::stepFlexmix(cbind(y, n) ~ 1 | g, data = frame, k = 1:4, nrep = 5, verbose = FALSE,
    model = flexmix::FLXMRglm(both, family = "binomial"), control = list(minprior = .03)))
  used <- coef(ours)$weights[seq_len(n_clusters(ours))]
  here <- sprintf("%d, %.2f", n_clusters(ours),
    loglik_of(y, m, x, group, used / sum(used), matrix(coef(ours)$coef[1L, , ], ncol(x))))
  for (which in c("BIC", as.character(min(n_clusters(ours), 4L)))) {
    fit <- flexmix::getModel(theirs, which)
    tell("logistic", name, paste("K, log lik. at estimates; flexmix", if (which == "BIC") "by BIC" else "told K"), here,
      sprintf("%d, %.2f", fit@k, as.numeric(logLik(fit))))
  }
}
run$logistic <- function() {
  if (there("logistic", "flexmix")) {
    suppressMessages(library(flexmix))
    data(betablocker, Mehta, package = "flexmix", envir = environment())
    beside_flexmix("betablocker", betablocker$Deaths, betablocker$Total, betablocker, ~ Treatment, betablocker$Center)
    beside_flexmix("Mehta", Mehta$Response, Mehta$Total, Mehta, ~ Drug, Mehta$Site)
    one <- bnp_mixture(cbind(Deaths, Total - Deaths) ~ Treatment, betablocker, logistic, prior = prior_dirichlet(1),
      control = quiet(seed = 1))
    other <- stats::glm(cbind(Deaths, Total - Deaths) ~ Treatment, stats::binomial(), betablocker)
    se <- summary(other)$coefficients[, 2L]
    half <- drop(diff(t(confint(one, "coef", level = .9)))) / 2 / stats::qnorm(.95) / se
    tell("logistic", "betablocker", "one cluster and glm(): s.e. apart; half widths over its",
      paste0(listed("%.4f", abs(coef(one)$coef[1L, , 1L] - coef(other)) / se), "; ", listed("%.3f", half)), "", ".1; 1")
  }
  apart <- suppressMessages(bnp_mixture(y ~ x, data.frame(x = -10:10, y = -10:10 > 0), control = quiet(seed = 1)))
  tell("logistic", "separated", "coefficients, bound", paste(listed("%.2f", coef(apart)$coef[1L, , ]),
    sprintf("%.2f", elbo(apart)), sep = "; "), "", "finite")
  truth <- rbind(c(0, 3), c(2, -1), c(-2, .5))
  covered <- vapply(seq_len(10L * length(seeds)), function(seed) { # 100 individuals with 20 trials
    set.seed(1000 + seed)
    id <- rep(1:100, each = 20)
    kind <- rep(1:3, length.out = 100)[id]
    d <- data.frame(id, x = rnorm(2000))
    d$y <- rbinom(2000, 1, plogis(truth[kind, 1] + truth[kind, 2] * d$x))
    fit <- bnp_mixture(y ~ x | id, d, logistic, control = quiet(seed = seed))
    if (n_clusters(fit) != 3L) {
      return(rep(NA, 6L))
    }
    cluster <- vapply(1:3, function(k) which.max(tabulate(fitted(fit)[kind == k], 3L)), 1L)
    ends <- array(confint(fit, "coef", level = .9), c(2L, 3L, 2L))[, cluster, ]
    as.double(t(truth) >= ends[, , 1L] & t(truth) <= ends[, , 2L])
  }, double(6L))
  tell("logistic", "planted, three clusters", "coverage of 90 % of coefficients; fits with another K",
    sprintf("%.3f; %d", mean(covered, na.rm = TRUE), sum(is.na(covered[1L, ]))), "", ".87 to .93")
}

choices <- function(seed, n = 2500) {
  set.seed(seed)
  state <- integer(n)
  state[1] <- 1L
  for (t in 2:n) state[t] <- if (runif(1) < .97) state[t - 1] else sample(setdiff(1:3, state[t - 1]), 1)
  x <- rnorm(n)
  b <- rbind(c(0, 4), c(2, .8), c(-2, .8))
  data.frame(x, y = rbinom(n, 1, plogis(b[state, 1] + b[state, 2] * x)), state, session = rep(1:5, each = n / 5))
}
# log p(y) of sequences at the estimates, by the forward recursion.
forward <- function(fit, formula, d, id, yes) {
  x <- stats::model.matrix(stats::delete.response(stats::terms(formula)), d)
  log_emission <- stats::dbinom(yes, 1, stats::plogis(x %*% matrix(coef(fit)$coef[1L, , ], ncol(x))), log = TRUE)
  chain <- transition_matrix(fit)
  start <- attr(chain, "start") / sum(attr(chain, "start"))
  total <- 0
  for (rows in split(seq_len(nrow(x)), id)) {
    a <- start
    for (t in rows) {
      top <- max(log_emission[t, ])
      a <- (if (t == rows[1L]) a else drop(a %*% (chain / rowSums(chain)))) * exp(log_emission[t, ] - top)
      total <- total + log(sum(a)) + top
      a <- a / sum(a)
    }
  }
  total
}
run$states <- function() {
  each <- vapply(seeds, function(seed) {
    d <- choices(seed)
    fit <- cpu(bnp_hmm(y ~ x, d, id = ~ session, obs = logistic, control = quiet(seed = seed)))
    c(n_clusters(fit$value), adjusted_rand_index(fitted(fit$value), d$state), fit$seconds)
  }, double(3L))
  tell("states", "planted, 2,500 trials", "K = 3 from one, in so many seeds; ARI; s", sprintf(
    "%d of %d; %.2f to %.2f; %.2f", sum(each[1L, ] == 3), ncol(each), min(each[2L, ]), max(each[2L, ]),
    median(each[3L, ])
  ), "", "9 of 10")
  if (!there("states", "depmixS4")) {
    return()
  }
  suppressMessages(library(depmixS4))
  best_of <- function(model, starts = 20L) {
    max(vapply(seq_len(starts), function(seed) {
      set.seed(seed)
      utils::capture.output(fit <- tryCatch(depmixS4::fit(model, verbose = FALSE), error = function(e) NULL))
      if (is.null(fit)) -Inf else as.numeric(logLik(fit))
    }, 1))
  }
  beside <- function(name, formula, d, id, k, yes, model) {
    fit <- suppressMessages(bnp_hmm(formula, d, id = id, obs = logistic, prior = prior_hmm(k),
      control = quiet(seed = 1)))
    tell("states", name, "log lik. at estimates; depmixS4: best of 20 starts",
      sprintf("%.2f", forward(fit, formula, d, id, yes)), sprintf("%.2f", best_of(model)), "within 1")
  }
  data(speed, package = "depmixS4", envir = environment())
  times <- c(168L, 134L, 137L)
  beside("speed, corr ~ 1, K 2", corr ~ 1, speed, rep(1:3, times), 2L,
    as.integer(speed$corr == levels(speed$corr)[2L]), suppressMessages(depmix(corr ~ 1, data = speed, nstates = 2L,
      family = multinomial("identity"), ntimes = times)))
  d <- choices(1)
  beside("planted, K 3", y ~ x, d, d$session, 3L, d$y, depmix(cbind(y, 1 - y) ~ x, data = d, nstates = 3L,
    family = binomial(), ntimes = rep(500L, 5L)))
}

run$counts <- function() {
  counted <- obs_regression(family = "negbinomial")
  beside <- function(name, data, ...) {
    theirs <- MASS::glm.nb(y ~ x, data)
    ours <- bnp_mixture(y ~ x, data, counted, ..., control = quiet(seed = 1))
    shown <- function(coef, size) paste0(listed("%.3f", coef), "; ", sprintf("%.2f", size))
    tell("counts", name, sprintf("coefficients; size (K %d), beside glm.nb()", n_clusters(ours)),
      shown(coef(ours)$coef[1L, , 1L], coef(ours)$size[1L]), shown(coef(theirs), theirs$theta))
  }
  set.seed(1)
  d <- data.frame(x = rnorm(500))
  d$y <- rnbinom(500, size = 2, mu = exp(1 + .5 * d$x))
  if (there("counts", "MASS")) beside("planted, one cluster", d, prior_dirichlet(1))
  if (!there("counts", "flexmix")) {
    return()
  }
  data(salmonellaTA98, seizure, package = "flexmix", envir = environment())
  if (there("counts", "MASS")) beside("salmonellaTA98", transform(salmonellaTA98, x = log(x + 10)))
  ours <- bnp_mixture(Seizures ~ Treatment * log(Day) + offset(log(Hours)), seizure, counted, control = quiet(seed = 1))
  set.seed(1)
  theirs <- flexmix::stepFlexmix(Seizures ~ Treatment * log(Day), data = seizure, k = 1:3, nrep = 5, verbose = FALSE,
    model = flexmix::FLXMRglm(family = "poisson", offset = log(seizure$Hours)))
  best <- flexmix::getModel(theirs, "BIC")
  tell("counts", "seizure", "K; ARI of both; flexmix (Poisson) by BIC", sprintf("%d; %.2f", n_clusters(ours),
    adjusted_rand_index(fitted(ours), flexmix::clusters(best))), sprintf("%d", best@k))
}

run[["logistic-laps"]] <- function() for (p in c(1L, 4L, 8L)) {
  set.seed(p)
  x <- matrix(rnorm(1e5 * p), 1e5)
  d <- data.frame(y = rnorm(1e5) + x[, 1L], z = rbinom(1e5, 1, plogis(x[, 1L])), x)
  right <- paste(names(d)[-(1:2)], collapse = "+")
  for (k in c(2L, 5L, 20L)) {
    lap <- function(response, obs, laps = 40) {
      used <- function(laps) system.time(suppressWarnings(bnp_mixture(stats::as.formula(paste(response, "~", right)), d,
        obs, prior = prior_dirichlet(k), start = rep(seq_len(k), length.out = nrow(d)),
        control = quiet(moves = FALSE, max_laps = laps, tol = 0, restarts = 1, seed = 1, threads = 1L))))[["user.self"]]
      suppressMessages(1000 * (used(laps + 3) - used(3)) / laps)
    }
    times <- vapply(1:5, function(turn) c(lap("y", obs_regression(learn = FALSE)), lap("z", logistic)), double(2L))
    ratio <- times[2L, ] / times[1L, ]
    tell("logistic-laps", sprintf("%d covariates, K %d", p, k), "lap over a Gaussian one (ms): median of five, range",
      sprintf("%.2f (%.2f to %.2f)", median(ratio), min(ratio), max(ratio)),
      sprintf("%.1f, %.1f", median(times[2L, ]), median(times[1L, ])), "2")
  }
}

unknown <- setdiff(parts, names(run))
if (length(unknown)) stop("no part is called ", unknown[1L], ": ", paste(names(run), collapse = ", "))
show_row(c("part", "data", "what", "here", "peer", "should be"))
for (part in if (length(parts)) parts else names(run)) run[[part]]()
if (length(parts) != 1L) {
  cat("\n\n")
  show_row(c("part", "data", "what", "here", "peer", "should be"))
  for (i in seq_len(nrow(found))) show_row(found[i, ])
}
