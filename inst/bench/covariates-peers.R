# Mixtures whose weights depend on covariates beside flexmix (FLXPmultinom) on the same rows: effects as weights at five
# ages, labels, time. flexmix is given the number of clusters, bnpvi finds it.
#
# Then latent classes of a survey beside poLCA (`election`, by party), and topics of open answers beside stm
# (`gadarian`, by treatment and party identification), where these packages are installed: the same numbers of clusters.
#
#   Rscript covariates-peers.R [sets]
library(bnpvi)
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

seconds <- function(expr) system.time(expr)[["elapsed"]]

# Weights of classes against party, classes matched by the rows that they share.
if (requireNamespace("poLCA", quietly = TRUE)) {
  data(election, package = "poLCA")
  items <- names(election)[1:12]
  survey <- election[complete.cases(election[c(items, "PARTY")]), c(items, "PARTY")]
  for (k in 2:3) {
    theirs <- seconds(other <- poLCA::poLCA(
      stats::as.formula(paste0("cbind(", paste(items, collapse = ","), ") ~ PARTY")), survey,
      nclass = k, nrep = 5, verbose = FALSE
    ))
    ours <- seconds(fit <- bnp_mixture(
      survey[items], obs_categorical(), prior_covariates(~ PARTY, k = k), covariates = survey["PARTY"],
      control = bnp_control(seed = 1, verbose = FALSE)
    ))
    logit <- cbind(0, cbind(1, 1:7) %*% other$coeff)
    share <- exp(logit) / rowSums(exp(logit))
    order <- apply(table(fitted(fit), other$predclass), 1, which.max)
    weights <- predict(fit, data.frame(PARTY = 1:7), type = "weights")[, seq_len(k)]
    cat(sprintf(
      "election, %d rows, K %d: weights by party differ by at most %.3f, ari of labels %.3f; %.2f s, poLCA %.2f s\n",
      nrow(survey), k, max(abs(weights - share[, order])), adjusted_rand_index(fitted(fit), other$predclass),
      ours, theirs
    ))
  }
  open <- seconds(fit <- bnp_mixture(
    survey[items], obs_categorical(), prior_covariates(~ PARTY), covariates = survey["PARTY"],
    control = bnp_control(seed = 1, verbose = FALSE)
  ))
  cat(sprintf("election, K found: %d, %.2f s\n", n_clusters(fit), open))
}

# Differences of mean proportions between treatment and control, of topics matched by their words.
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
  for (k in 3:4) {
    ours <- seconds(fit <- bnp_topics(
      counts, prior = prior_covariates(~ treatment + pid_rep), covariates = about,
      control = bnp_control(seed = 1, k_init = k, moves = FALSE, verbose = FALSE)
    ))
    theirs <- seconds(other <- stm::stm(
      documents, colnames(counts), K = k, prevalence = ~ treatment + pid_rep, data = about, init.type = "Spectral",
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
