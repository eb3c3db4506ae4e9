# Mixtures whose weights depend on covariates beside flexmix (FLXPmultinom) on the same rows: effects as weights at five
# ages, labels, time. flexmix is given the number of clusters, bnpvi finds it. Then flexmix's own example, NregFix.
#
# Then, where the peers are installed, each on its own data, with the same numbers of clusters: transitions beside
# depmixS4 (`speed` by Pacc) and moveHMM (`elk_data` by distance to water), latent classes beside poLCA (`election` by
# party, `cheating` by grades), topics of open answers beside stm (`gadarian` by treatment and party identification).
#
#   Rscript covariates-peers.R [sets]
library(bnpvi)
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "record.R"))
sets <- as.integer(c(commandArgs(TRUE), 5)[1])

planted <- function(n, seed, separation) {
  set.seed(seed)
  age <- runif(n, 20, 80)
  w <- (age - 50) / 15
  logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
  prob <- exp(logit) / rowSums(exp(logit))
  z <- 1 + rowSums(t(apply(prob, 1, cumsum)) < runif(n))
  x <- cbind(rnorm(n) + c(-separation, 0, separation)[z], rnorm(n))
  list(x = x, age = data.frame(age = age), z = z)
}
at <- data.frame(age = seq(25, 75, by = 12.5))
truth <- local({
  w <- (at$age - 50) / 15
  logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
  exp(logit) / rowSums(exp(logit))
})
# Clusters in the order of the planted ones.
in_order <- function(weights, labels, z) {
  order <- apply(table(labels, z), 1, which.max)
  out <- matrix(NA, nrow(weights), 3)
  out[, order] <- weights[, seq_along(order)]
  out
}
rmse <- function(a) sqrt(mean((a - truth)^2))
for (separation in c(6, 3)) for (n in c(1000, 10000)) for (set in seq_len(sets)) {
  data <- planted(n, set, separation)
  ours <- system.time(fit <- bnp_mixture(
    data$x, prior = prior_covariates(~ age), covariates = data$age, control = bnp_control(seed = set, verbose = FALSE)
  ))[["elapsed"]]
  weights <- in_order(predict(fit, at, type = "weights"), fitted(fit), data$z)
  line <- sprintf(
    "separation %g, n %5d, set %d: bnpvi K %d, rmse %.4f, ari %.3f, %.2f s", separation, n, set, n_clusters(fit),
    rmse(weights), adjusted_rand_index(fitted(fit), data$z), ours
  )
  if (requireNamespace("flexmix", quietly = TRUE)) {
    frame <- data.frame(a = data$x[, 1], b = data$x[, 2], data$age)
    theirs <- system.time(other <- flexmix::stepFlexmix(
      cbind(a, b) ~ 1, data = frame, k = 3, nrep = 5, verbose = FALSE, model = flexmix::FLXMCmvnorm(diagonal = FALSE),
      concomitant = flexmix::FLXPmultinom(~ age)
    ))[["elapsed"]]
    coef <- flexmix::parameters(other, which = "concomitant")
    logit <- cbind(1, at$age) %*% coef
    share <- exp(logit) / rowSums(exp(logit))
    labels <- flexmix::clusters(other)
    line <- paste0(line, sprintf(
      "; flexmix rmse %.4f, ari %.3f, %.2f s", rmse(in_order(share, labels, data$z)),
      adjusted_rand_index(labels, data$z), theirs
    ))
  }
  cat(line, "\n")
}

# flexmix's own example of concomitant variables, NregFix: regressions whose classes depend on w, known beforehand.
if (requireNamespace("flexmix", quietly = TRUE)) {
  data("NregFix", package = "flexmix", envir = environment())
  NregFix$y <- as.double(NregFix$y) # a matrix of one column
  at <- data.frame(w = sort(unique(NregFix$w)))
  theirs <- system.time(other <- local({
    set.seed(1)
    flexmix::stepFlexmix(
      y ~ x1 + x2, data = NregFix, k = 3, nrep = 5, verbose = FALSE, concomitant = flexmix::FLXPmultinom(~ w)
    )
  }))[["elapsed"]]
  logit <- stats::model.matrix(~ w, at) %*% flexmix::parameters(other, which = "concomitant")
  share <- exp(logit) / rowSums(exp(logit))
  for (open in c(FALSE, TRUE)) {
    ours <- system.time(fit <- bnp_mixture(
      y ~ x1 + x2, data = NregFix, prior = if (open) prior_covariates(~ w) else prior_covariates(~ w, k = 3),
      control = bnp_control(seed = 1, verbose = FALSE)
    ))[["elapsed"]]
    ari <- c(
      adjusted_rand_index(fitted(fit), NregFix$class), adjusted_rand_index(flexmix::clusters(other), NregFix$class)
    )
    cat(sprintf(
      "NregFix (%d rows): bnpvi K %d%s, %.2f s; flexmix %.2f s (5 starts); agreement with the classes %.3f, %.3f\n",
      nrow(NregFix), n_clusters(fit), if (open) " (found)" else "", ours, theirs, ari[1], ari[2]
    ))
    if (n_clusters(fit) == 3L) {
      order <- apply(table(fitted(fit), flexmix::clusters(other)), 1, which.max)
      apart <- max(abs(predict(fit, at, type = "weights")[, 1:3] - share[, order]))
      cat(sprintf("  weights by w differ by at most %.3f\n", apart))
      if (!open) record(
        "NregFix (200 rows), K 3", "largest difference of weights by w, agreement and seconds here and there",
        sprintf("%.3f, %.3f, %.3f, %.2f, %.2f", apart, ari[1], ari[2], ours, theirs), peer = "flexmix"
      )
    }
  }
}

# Sequences: transitions by the same formula, two states in both. depmixS4 takes the covariate of the row stepped from,
# so that ours is the column of the row before; moveHMM takes that of the row stepped into, as we do. Probabilities of
# staying at the quartiles of the covariate, log likelihood at point estimates, states, time.
row_before <- function(v, id) stats::ave(v, id, FUN = function(v) c(v[1], v[-length(v)]))
stay_at <- function(p, order) apply(p, 3, function(m) diag(m)[order])
shown <- function(x) paste(format(round(x, 3), nsmall = 3), collapse = " ")

if (requireNamespace("depmixS4", quietly = TRUE)) {
  log_lik <- methods::selectMethod("logLik", "depmix.fitted") # of S4
  data("speed", package = "depmixS4", envir = environment())
  lengths <- c(168, 134, 137)
  series <- rep(1:3, lengths)
  frame <- data.frame(rt = speed$rt, corr = speed$corr, pacc = row_before(speed$Pacc, series))
  at <- data.frame(pacc = stats::quantile(speed$Pacc, c(0.25, 0.5, 0.75)))
  theirs <- system.time(other <- local({
    model <- depmixS4::depmix(
      list(rt ~ 1, corr ~ 1), data = speed, nstates = 2,
      family = list(stats::gaussian(), depmixS4::multinomial("identity")),
      transition = ~ Pacc, ntimes = lengths
    )
    set.seed(1)
    tries <- lapply(1:3, function(i) {
      utils::capture.output(out <- depmixS4::fit(model, verbose = FALSE))
      out
    })
    tries[[which.max(vapply(tries, function(fit) as.double(log_lik(fit)), 1))]]
  }))[["elapsed"]]
  of_row <- lapply(1:2, function(j) depmixS4::getpars(other@transition[[j]]))
  # logits of state 2 against state 1, from each state
  to_second <- vapply(of_row, function(b) stats::plogis(b[2] + b[4] * at$pacc), numeric(3))
  their_stay <- rbind(1 - to_second[, 1], to_second[, 2])
  for (open in c(FALSE, TRUE)) {
    ours <- system.time(fit <- bnp_hmm(
      frame[c("rt", "corr")], id = series, covariates = frame["pacc"],
      prior = if (open) prior_covariates(~ pacc) else prior_covariates(~ pacc, k = 2),
      control = bnp_control(seed = 1, verbose = FALSE)
    ))[["elapsed"]]
    density <- nrow(frame) * as.double(heldout_loglik(
      fit, frame[c("rt", "corr")], series, "plugin", covariates = frame["pacc"]
    ))
    cat(sprintf(
      "speed: bnpvi K %d%s, log density %.1f, %.2f s; depmixS4 %.1f, %.2f s (3 starts); labels alike %.3f\n",
      n_clusters(fit), if (open) " (found)" else "", density, ours, as.double(log_lik(other)), theirs,
      adjusted_rand_index(fitted(fit), depmixS4::posterior(other, type = "viterbi")$state)
    ))
    if (!open) {
      order <- apply(table(depmixS4::posterior(other, type = "viterbi")$state, fitted(fit)), 1, which.max)
      own_stay <- stay_at(transition_matrix(fit, at = at), order)
      record("speed (439 rows), K 2", "largest difference of P(stay) at quartiles of Pacc",
             sprintf("%.3f", max(abs(own_stay - their_stay))), peer = "depmixS4")
      record("speed (439 rows), K 2", "seconds: here, there with three starts",
             sprintf("%.2f, %.2f", ours, theirs), "s", "depmixS4")
      cat("  P(stay) at quartiles of Pacc: bnpvi", shown(t(own_stay)), "\n")
      cat("                                theirs", shown(t(their_stay)), "\n")
    }
  }
}

if (requireNamespace("moveHMM", quietly = TRUE)) {
  elk <- moveHMM::elk_data
  names(elk)[names(elk) == "ID"] <- "id"
  elk[c("Easting", "Northing")] <- elk[c("Easting", "Northing")] / 1000
  prepared <- moveHMM::prepData(
    stats::setNames(elk, sub("^id$", "ID", names(elk))), type = "UTM", coordNames = c("Easting", "Northing")
  )
  prepared$dist_water <- prepared$dist_water / stats::sd(prepared$dist_water)
  zero <- mean(prepared$step == 0, na.rm = TRUE)
  theirs <- system.time(other <- moveHMM::fitHMM(
    prepared, nbStates = 2, stepPar0 = c(0.1, 1, 0.1, 1, if (zero > 0) c(0.05, 0.0005)), anglePar0 = c(pi, 0, 1, 1),
    formula = ~ dist_water
  ))[["elapsed"]]
  used <- prepared
  frame <- data.frame(step = used$step, angle = used$angle)
  walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
  water <- data.frame(water = used$dist_water)
  at <- data.frame(water = stats::quantile(used$dist_water, c(0.25, 0.5, 0.75)))
  beta <- other$mle$beta
  leave <- stats::plogis(cbind(1, at$water) %*% beta)
  for (open in c(FALSE, TRUE)) {
    ours <- system.time(fit <- bnp_hmm(
      frame, id = used$ID, covariates = water, na_action = "model",
      obs = walk,
      prior = if (open) prior_covariates(~ water) else prior_covariates(~ water, k = 2),
      control = bnp_control(seed = 1, verbose = FALSE)
    ))[["elapsed"]]
    cat(sprintf(
      "elk (%d rows): bnpvi K %d%s, %.2f s; moveHMM %.2f s (one start); labels alike %.3f\n", nrow(frame),
      n_clusters(fit), if (open) " (found)" else "", ours, theirs,
      adjusted_rand_index(fitted(fit), moveHMM::viterbi(other))
    ))
    if (!open) {
      order <- apply(table(moveHMM::viterbi(other), fitted(fit)), 1, which.max)
      own_stay <- t(stay_at(transition_matrix(fit, at = at), order))
      record("elk (735 rows), K 2", "P(stay) at quartiles of the distance to water: here; there",
             paste(shown(own_stay), shown(1 - leave), sep = "; "), peer = "moveHMM")
      record("elk (735 rows), K 2", "seconds: here, there with one start", sprintf("%.2f, %.2f", ours, theirs), "s",
             "moveHMM")
      cat("  P(stay) at quartiles of water: bnpvi", shown(own_stay), "\n")
      cat("                                 theirs", shown(1 - leave), "\n")
    }
  }
}

seconds <- function(expr) system.time(expr)[["elapsed"]]

# Weights of classes against a covariate, classes matched by the rows that they share.
beside_polca <- function(name, items, covariate, at, sizes) {
  data(list = name, package = "poLCA", envir = environment())
  survey <- get(name)
  survey <- survey[stats::complete.cases(survey[c(items, covariate)]), c(items, covariate)]
  for (k in sizes) {
    theirs <- seconds(other <- poLCA::poLCA(
      stats::as.formula(paste0("cbind(", paste(items, collapse = ","), ") ~ ", covariate)), survey,
      nclass = k, nrep = 5, verbose = FALSE
    ))
    prior <- function(...) prior_covariates(stats::as.formula(paste("~", covariate)), ...)
    ours <- seconds(fit <- bnp_mixture(
      survey[items], obs_categorical(), prior(k = k), covariates = survey[covariate],
      control = bnp_control(seed = 1, verbose = FALSE)
    ))
    logit <- cbind(0, cbind(1, at) %*% other$coeff)
    share <- exp(logit) / rowSums(exp(logit))
    order <- apply(table(fitted(fit), other$predclass), 1, which.max)
    weights <- predict(fit, stats::setNames(data.frame(at), covariate), type = "weights")[, seq_len(k)]
    apart <- max(abs(weights - share[, order]))
    alike <- adjusted_rand_index(fitted(fit), other$predclass)
    cat(sprintf(
      "%s, %d rows, K %d: weights by %s differ by at most %.3f, ari %.3f; %.2f s, poLCA %.2f s (5 starts)\n",
      name, nrow(survey), k, covariate, apart, alike, ours, theirs
    ))
    record(
      sprintf("%s (%d rows), K %d", name, nrow(survey), k),
      "largest difference of weights, ARI, seconds here and there",
      sprintf("%.3f, %.3f, %.2f, %.2f", apart, alike, ours, theirs), peer = "poLCA"
    )
  }
  open <- seconds(fit <- bnp_mixture(
    survey[items], obs_categorical(), prior(), covariates = survey[covariate],
    control = bnp_control(seed = 1, verbose = FALSE)
  ))
  cat(sprintf("%s, K found: %d, %.2f s\n", name, n_clusters(fit), open))
}
if (requireNamespace("poLCA", quietly = TRUE)) {
  election <- local({
    data("election", package = "poLCA", envir = environment())
    names(election)[1:12]
  })
  beside_polca("cheating", c("LIEEXAM", "LIEPAPER", "FRAUD", "COPYEXAM"), "GPA", 1:5, 2)
  beside_polca("election", election, "PARTY", 1:7, 2:3)
}

# Differences of mean proportions between treatment and control, of topics matched by their words. stm begins from
# LDA: from its spectral start it ends at far lower bounds of its own on so few words, with hardly any effect. Ours
# is the best of five starts, since effects differ between them, too.
if (requireNamespace("stm", quietly = TRUE)) {
  data(gadarian, package = "stm")
  words <- strsplit(gsub("[^a-z ]", " ", tolower(gadarian$open.ended.response)), " +")
  long <- data.frame(document = rep(seq_along(words), lengths(words)), term = unlist(words))
  answers <- table(unique(long)$term) # in how many answers each word is
  long <- long[nchar(long$term) > 3L & long$term %in% names(which(answers >= 3 & answers <= 70)), ]
  used <- sort(unique(long$document))
  counts <- unclass(table(factor(long$document, used), long$term))
  about <- gadarian[used, c("treatment", "pid_rep")]
  rownames(about) <- NULL
  documents <- lapply(seq_along(used), function(d) {
    at <- which(counts[d, ] > 0)
    rbind(at, counts[d, at])
  })
  counts <- Matrix::Matrix(counts, sparse = TRUE, dimnames = list(NULL, colnames(counts)))
  found <- seconds(open <- bnp_topics(
    counts, prior = prior_covariates(~ treatment + pid_rep), covariates = about,
    control = bnp_control(seed = 1, verbose = FALSE)
  ))
  cat(sprintf("gadarian, %d answers: number of topics found %d, %.2f s\n", nrow(counts), n_clusters(open), found))
  # One topic or three: log density of words of answers that were left out, five-fold, the others of an answer given.
  set.seed(1)
  fold <- sample(rep(1:5, length.out = nrow(counts)))
  left_out <- function(k, alpha, type) {
    out <- numeric(nrow(counts))
    for (part in 1:5) {
      fit <- bnp_topics(
        counts[fold != part, ], prior = prior_hdp(alpha = alpha),
        control = bnp_control(seed = 1, k_init = k, moves = FALSE, verbose = FALSE)
      )
      for (seed in 1:3) {
        each <- heldout_loglik(fit, counts[fold == part, ], type = type, seed = seed, per_document = TRUE)
        out[fold == part] <- out[fold == part] + each$loglik / 3
      }
    }
    out
  }
  for (type in c("completion", "sequential")) {
    one <- left_out(1, 0.5, type)
    for (alpha in c(0.5, 0.1)) {
      gain <- left_out(3, alpha, type) - one
      shown <- sprintf("%.1f (%.1f)", sum(gain), stats::sd(gain) * sqrt(length(gain)))
      cat(sprintf("gadarian, %s: three topics (alpha %g) over one: %s nats\n", type, alpha, shown))
      record(
        sprintf("gadarian (337 answers, %.0f words)", sum(counts)),
        sprintf("three topics over one, words left out, %s, alpha %g: nats (standard error)", type, alpha), shown,
        "nats"
      )
    }
  }
  for (k in 3:4) {
    ours <- seconds(fits <- lapply(1:5, function(seed) bnp_topics(
      counts, prior = prior_covariates(~ treatment + pid_rep), covariates = about,
      control = bnp_control(seed = seed, k_init = k, moves = FALSE, verbose = FALSE)
    )))
    fit <- fits[[which.max(vapply(fits, elbo, 1))]]
    theirs <- seconds(other <- stm::stm(
      documents, colnames(counts), K = k, prevalence = ~ treatment + pid_rep, data = about, init.type = "LDA",
      verbose = FALSE, seed = 1
    ))
    effect <- stm::estimateEffect(seq_len(k) ~ treatment + pid_rep, other, metadata = about, nsims = 100)
    of_theirs <- vapply(summary(effect)$tables, function(t) t["treatment", 1:2], numeric(2))
    phi <- posterior_params(fit)$concentration
    near <- apply(cor(t(phi / rowSums(phi)), t(exp(other$beta$logbeta[[1]]))), 1, which.max)
    cat(sprintf("K %d: %.2f s, stm %.2f s; effects of treatment:\n", k, ours, theirs))
    by <- prevalence(fit, by = "treatment", contrast = TRUE)
    own <- by[by$at == max(by$at), ]
    print(cbind(
      round(as.data.frame(own)[c("topic", "proportion", "conf.low", "conf.high")], 3), of_stm = near,
      stm = round(of_theirs[1, near], 3), se = round(of_theirs[2, near], 3)
    ))
  }
}

# Political blogs of 2008 by side and day, every tenth text: differences of liberal from conservative blogs in topics
# that are matched by their terms, those with a correlation above .7.
if (requireNamespace("stm", quietly = TRUE)) {
  library(stm) # for s() in its formula
  data(poliblog5k, package = "stm")
  some <- seq(1, 5000, by = 10)
  blogs <- prepDocuments(
    poliblog5k.docs[some], poliblog5k.voc, poliblog5k.meta[some, c("rating", "day")], lower.thresh = 9, verbose = FALSE
  )
  lengths <- vapply(blogs$documents, ncol, 1L)
  words <- do.call(cbind, blogs$documents)
  counts <- Matrix::sparseMatrix(
    rep(seq_along(lengths), lengths), words[1, ], x = words[2, ], dimnames = list(NULL, blogs$vocab)
  )
  cpu <- function(expr) sum(system.time(expr)[1:2])
  ours <- cpu(fit <- bnp_topics(
    counts, prior = prior_covariates(~ rating + splines::ns(day, 4)), covariates = blogs$meta,
    control = bnp_control(seed = 1, max_laps = 10, restarts = 1, verbose = FALSE)
  ))
  theirs <- cpu(other <- stm(
    blogs$documents, blogs$vocab, K = n_clusters(fit), prevalence = ~ rating + s(day), data = blogs$meta,
    init.type = "Spectral", seed = 1, verbose = FALSE, max.em.its = 30
  ))
  effects <- summary(estimateEffect(~ rating + s(day), other, metadata = blogs$meta))$tables
  phi <- posterior_params(fit)$concentration
  alike <- cor(t(phi / rowSums(phi)), t(exp(other$beta$logbeta[[1]])))
  of_theirs <- vapply(effects[max.col(alike, "first")], function(table) table["ratingLiberal", 1], 1)
  own <- as.data.frame(prevalence(fit, by = "rating", contrast = TRUE))
  used <- apply(alike, 1, max) > 0.7
  apart <- used & (own$conf.low > 0 | own$conf.high < 0)
  figures <- c(
    n_clusters(fit), sum(used), cor(own$proportion[used], of_theirs[used]),
    sqrt(mean((own$proportion - of_theirs)[used]^2)), mean((sign(own$proportion) == sign(of_theirs))[apart]), ours,
    theirs
  )
  cat("poliblog5k:", format(figures, digits = 3), "\n")
  record(
    "poliblog5k (every tenth: 500 texts)",
    paste("topics found; matched; correlation and distance (root of mean squares) of the sides' differences; same sign",
          "where ours is clear; CPU seconds here, there"),
    do.call(sprintf, c("%.0f; %.0f; %.3f, %.4f; %.2f; %.1f, %.1f", as.list(figures))),
    peer = "stm"
  )
}
