# Growth mixtures: how many clusters are found on planted sets; the time of laps; peers; whether intervals hold.
#
#   Rscript inst/bench/growth-mixtures.R [seeds] [part ...]      parts: planted, laps, large, peers, coverage; all
#
# Planted: 200 individuals with 3 to 8 visits at times in [0, 5], intercepts with a standard deviation of 1, noise .5.
# Without random effects these sets have 7 to 16 clusters. shared = TRUE is the default: it finds kinds that overlap
# ("three"), where the price of a covariance for each cluster is more than a kind brings: shared = FALSE finds them in 2
# of 10 seeds.
suppressMessages(library(bnpvi))
args <- commandArgs(TRUE)
counts <- grepl("^[0-9]+$", args)
seeds <- seq_len(as.integer(c(args[counts], 10L)[1L]))
parts <- args[!counts]
asked <- function(part) !length(parts) || part %in% parts
there <- function(package) {
  found <- requireNamespace(package, quietly = TRUE)
  if (!found) cat(package, "is not installed: not run\n")
  found
}

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
    control = bnp_control(seed = seed))
}
one_cpu <- function(expr) {
  time <- system.time(value <- expr)
  list(value = value, seconds = sum(time[c("user.self", "sys.self")]))
}

# ---- How many clusters are found, with one covariance for all and with their own; "level" with (1 | id), too.
if (asked("planted")) for (shared in c(TRUE, FALSE)) for (set in c(names(truths), "level, ~ 1")) {
  random <- if (grepl("~ 1", set)) ~ 1 else ~ 1 + t
  found <- vapply(seeds, function(seed) {
    data <- planted(truths[[sub(",.*", "", set)]], seed)
    fit <- one_cpu(growth(data, random, shared, seed = seed))
    c(n_clusters(fit$value), adjusted_rand_index(fitted(fit$value), data$kind), fit$seconds)
  }, double(3L))
  cat(sprintf(
    "shared %-5s %-10s K %s  ARI %.2f  CPU seconds %.2f, at most %.2f\n", shared, set,
    paste(found[1L, ], collapse = " "), median(found[2L, ]), median(found[3L, ]), max(found[3L, ])
  ))
}

# ---- A lap beside one of y ~ t | id: three clusters, 20,000 individuals with 5 visits, one thread; the quickest lap.
if (asked("laps")) {
  set.seed(1)
  n <- 20000L
  kind <- sample.int(3L, n, TRUE)
  for (times in c("random", "the same")) {
    id <- rep(seq_len(n), each = 5L)
    t <- if (times == "random") runif(5L * n, 0, 5) else rep(0:4, n)
    y <- c(0, 0, 3)[kind][id] + rnorm(n)[id] + (c(0, 1.3, -.9)[kind] + .15 * rnorm(n))[id] * t + .5 * rnorm(5L * n)
    data <- data.frame(id = id, t = t, y = y)
    control <- bnp_control(seed = 1, threads = 1L, max_laps = 20L, moves = FALSE, restarts = 1L, tol = 0)
    lap <- vapply(list(
      plain = obs_regression(), one = obs_regression(random = ~ 1), two = obs_regression(random = ~ 1 + t),
      own = obs_regression(random = ~ 1 + t, shared = FALSE)
    ), function(obs) {
      fit <- suppressWarnings(
        bnp_mixture(y ~ t, data, obs, prior_dirichlet(3), control, start = kind, id = ~ id)
      )
      min(diff(elbo_trace(fit)$seconds))
    }, 1)
    cat(
      sprintf("times %s: lap without effects %.2f ms; effects of 1, of 1 and t, of both with their own covariance: ",
        times, 1e3 * lap[1L]),
      sprintf("%.2f ", lap[-1L] / lap[1L]), "times as long\n", sep = ""
    )
  }
}

# ---- Many individuals.
if (asked("large")) for (set in c("wide", "level")) {
  data <- planted(truths[[set]], 1, 100000L)
  high_water <- function() {
    as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
  }
  before <- high_water()
  fit <- one_cpu(growth(data))
  cat(sprintf(
    "%s, 100,000 individuals, %d rows: K %d, ARI %.2f, %.0f CPU seconds, %d laps; %.0f MB at most, %.0f before\n", set,
    nrow(data), n_clusters(fit$value), adjusted_rand_index(fitted(fit$value), data$kind), fit$seconds,
    nrow(elbo_trace(fit$value)), high_water(), before))
}

# ---- Peers, told K and choosing it by BIC.
loglik <- function(fit, data) sum(predict(fit, data, "logdensity"))
report <- function(what, k, ari, loglik, seconds) {
  cat(sprintf("%-46s K %d  ARI %5.2f  log lik %10.1f  CPU seconds %6.2f\n", what, k, ari, loglik, seconds))
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

compare_hlme <- function(name, data, truth = NULL, ng = 1:3) {
  data$id <- as.integer(factor(data$id))
  ours <- one_cpu(growth(data))
  kind <- truth[match(unique(data$id), data$id)]
  ari <- function(labels) if (is.null(truth)) NA else adjusted_rand_index(labels, kind)
  by_individual <- function(fit) fitted(fit)[match(unique(data$id), data$id)]
  report(paste(name, "bnp_mixture"), n_clusters(ours$value), ari(by_individual(ours$value)), loglik(ours$value, data),
    ours$seconds)
  if (!there("lcmm")) {
    return(invisible())
  }
  fits <- lapply(ng, function(k) one_cpu(hlme_of(data, k)))
  best <- which.min(vapply(fits, function(fit) fit$value$BIC, 1))
  for (k in unique(c(best, n_clusters(ours$value)))) if (k <= max(ng)) {
    fit <- fits[[k]]$value
    report(paste(name, "hlme", if (k == best) "by BIC" else "told K"), k, ari(fit$pprob$class), fit$loglik,
      if (k == best) sum(vapply(fits, `[[`, 1, "seconds")) else fits[[k]]$seconds)
  }
}

if (asked("peers")) {
  if (there("flexmix")) {
    suppressMessages(library(flexmix))
    set.seed(1)
    id <- rep(1:50, each = 10) # the example of FLXMRlmm()
    x <- rep(1:10, 50)
    data <- data.frame(id = factor(id), t = x, y = rep(rnorm(25, 0, c(5, 2)), each = 10) +
      rnorm(length(id), rep(c(3, 8), each = 10)) + rep(c(0, 3), each = 10) * x)
    sets <- list(example = list(data, rep(rep(1:2, each = 10), 25), ~ 1))
    wide <- planted(truths$wide, 1)
    sets$wide <- list(wide, wide$kind, ~ 1 + t)
    for (name in names(sets)) {
      data <- sets[[name]][[1L]]
      truth <- sets[[name]][[2L]]
      ours <- one_cpu(growth(data, sets[[name]][[3L]]))
      report(paste("flexmix,", name, "bnp_mixture"), n_clusters(ours$value),
        adjusted_rand_index(fitted(ours$value), truth), loglik(ours$value, data), ours$seconds)
      random <- sets[[name]][[3L]]
      fits <- lapply(1:3, function(k) one_cpu(tryCatch(
        flexmix(. ~ . | id, data, k = k, model = FLXMRlmm(y ~ t, random = random),
          control = list(iter.max = 30, minprior = 0)),
        error = function(e) NULL
      )))
      bic <- vapply(fits, function(fit) if (is.null(fit$value)) Inf else BIC(fit$value), 1)
      for (k in unique(c(which.min(bic), n_clusters(ours$value)))) if (is.finite(bic[k])) {
        fit <- fits[[k]]$value
        report(paste("flexmix,", name, "FLXMRlmm", if (k == which.min(bic)) "by BIC" else "told K"), k,
          adjusted_rand_index(clusters(fit), truth), as.numeric(logLik(fit)), fits[[k]]$seconds)
      }
    }
  }
  if (there("lme4") && there("nlme")) for (set in c("sleepstudy", "Orthodont")) {
    data <- if (set == "sleepstudy") stats::setNames(lme4::sleepstudy, c("y", "t", "id")) else
      stats::setNames(as.data.frame(nlme::Orthodont)[1:3], c("y", "t", "id"))
    data$id <- factor(as.character(data$id))
    theirs <- lme4::lmer(y ~ t + (1 + t | id), data)
    fit <- growth(data, prior = prior_dirichlet(1))
    own <- predict(fit, type = "effects")
    others <- as.matrix(stats::coef(theirs)$id)[rownames(own), ]
    away <- abs(coef(fit)$coef[1L, , 1L] - lme4::fixef(theirs)) / sqrt(diag(as.matrix(vcov(theirs))))
    listed <- function(format, x) paste(sprintf(format, x), collapse = ", ")
    cat(sprintf(
      "%s, one cluster beside lmer(): fixed effects differ by %s standard errors; covariance of effects %s, lmer %s; ",
      set, listed("%.3f", away), listed("%.3g", coef(fit)$random_cov[c(1, 2, 4)]),
      listed("%.3g", as.matrix(lme4::VarCorr(theirs)$id)[c(1, 2, 4)])
    ), sprintf(
      "individuals' coefficients correlate %s, and differ by %s of their sd (root mean square)\n",
      listed("%.4f", diag(cor(own, others))),
      listed("%.3f", sqrt(colMeans((own - others)^2)) / apply(others, 2, sd))
    ), sep = "")
  }
  if (requireNamespace("lcmm", quietly = TRUE)) suppressMessages(library(lcmm))
  for (set in c("wide", "three", "skew")) {
    data <- planted(truths[[set]], 1)
    compare_hlme(set, data, data$kind)
  }
  if (there("lcmm")) {
    data <- lcmm::data_hlme
    compare_hlme("data_hlme", data.frame(id = data$ID, t = data$Time, y = data$Y))
    data <- lcmm::paquid[!is.na(lcmm::paquid$MMSE), ]
    compare_hlme("paquid, MMSE", data.frame(id = data$ID, t = (data$age - 65) / 10, y = data$MMSE))
  }
}

# ---- Intervals of 90 %: the last visit of known individuals, the first of new ones, coefficients and covariances.
if (asked("coverage")) for (set in c("wide", "three", "one", "apart", "skew", "two")) for (shared in c(TRUE, FALSE)) {
  truth <- truths[[set]]
  k <- length(truth[[1L]])
  held <- vapply(seq_len(10L * length(seeds)), function(seed) {
    data <- planted(truth, seed)
    last <- !duplicated(data$id, fromLast = TRUE)
    fit <- growth(data[!last, ], shared = shared, seed = seed)
    inside <- function(p, y) mean(y > p[, "lower"] & y < p[, "upper"])
    new <- planted(truth, 1000L + seed)
    new <- new[!duplicated(new$id), ]
    out <- c(
      inside(predict(fit, data[last, c("id", "t")], "individual", interval = .9), data$y[last]),
      inside(predict(fit, data.frame(id = paste("new", new$id), t = new$t), "individual", interval = .9), new$y), NA, NA
    )
    if (n_clusters(fit) != k) {
      return(out)
    }
    ends <- confint(fit, level = .9)
    right <- order(coef(fit)$coef[1L, "t", ]) # clusters by slope, as the truth
    covers <- function(values, pattern) {
      rows <- grep(pattern, rownames(ends))
      if (!length(rows)) NA else mean(values > ends[rows, 1L] & values < ends[rows, 2L])
    }
    by_cluster <- order(right)
    of_kinds <- rbind(truth[[2L]], truth[[3L]])[, order(truth[[3L]]), drop = FALSE]
    out[3L] <- covers(of_kinds[, by_cluster], "^coef")
    if (!shared) out[4L] <- covers(rep(c(1, truth[[4L]]^2), k), "random_cov.*(Intercept.*Intercept|t,t)")
    out
  }, double(4L))
  cat(sprintf(
    "%s, shared %s: next visit %.3f, first of a new one %.3f, coefficients %.3f, variances of effects %.3f\n", set,
    shared, mean(held[1L, ]), mean(held[2L, ]), mean(held[3L, ], na.rm = TRUE), mean(held[4L, ], na.rm = TRUE)))
}
