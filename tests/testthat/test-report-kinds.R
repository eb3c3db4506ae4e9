# The report is made of every kind of fit, with missing values, two covariates, one cluster. BNPVI_LONG_TESTS=true
# renders every kind by pandoc; else the chunks of a few are run.

report_cases <- function() {
  withr::local_seed(2)
  control <- bnp_control(seed = 1, max_laps = 10, verbose = FALSE)
  stream <- bnp_control("truncation_free", seed = 1, verbose = FALSE)
  z <- rep(0:1, each = 30)
  x <- data.frame(
    a = rnorm(60) + 6 * z, b = rnorm(60) + 6 * z, f = factor(ifelse(z == 1, "u", "v")), n = rpois(60, 2 + 9 * z)
  )
  holes <- x
  holes$a[3] <- holes$f[9] <- holes$n[7] <- NA
  id <- rep(1:2, each = 30)
  two <- data.frame(y = rnorm(60) + id, u = rnorm(60), v = rnorm(60))
  counts <- as.matrix(bars$counts[1:40, ])
  series <- cbind(cumsum(rnorm(60)), cumsum(rnorm(60)))
  links <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
  batches <- function(x) bnp_stream(function(i) if (i < 3) x[nrow(x) / 2 * (i - 1) + seq_len(nrow(x) / 2), ])
  mixture <- function(x, ..., control = NULL) list(
    bnp_mixture(x, ..., control = control %||% bnp_control(seed = 1, max_laps = 10)),
    if (!inherits(x, c("formula", "bnp_stream"))) x
  )
  topics <- function(x, ...) list(bnp_topics(x, ..., control = control), x)
  hmm <- function(x, ...) list(bnp_hmm(x, ..., control = control), x)
  # In the order of importance: the first ones are those of the short tests.
  expressions <- rlang::exprs(
    mixed = mixture(holes[1:3], na_action = "model"),
    covariates = list(bnp_mixture(y ~ u + v, two, control = control), two),
    one = mixture(x[31:60, 1:2], prior = prior_dirichlet(1)),
    stream = list(mixture(batches(x[1:2]), control = stream)[[1]], x[1:2]),
    topics = topics(replace(counts, 5, NA), na_action = "omit"),
    stream_of_topics = list(bnp_topics(batches(counts), control = stream), counts),
    tree = hmm(x[1:2], parent = c(NA, (2:60) %/% 2)),
    features = list(bnp_features(replace(series, 5, NA), control = control, na_action = "model"), series),
    network = list(bnp_network(links, control = control), links),
    draws = list(bnp_sample(x[1:2], draws = 10, chains = 2, seed = 1, verbose = FALSE), x[1:2]),
    moving = list(bnp_dynamic_means(as.matrix(x[1:2]), rep(1:4, 15), 4), x[1:2]),
    full = mixture(holes[1:2], na_action = "model"), omitted = mixture(holes[1:2], na_action = "omit"),
    vector = mixture(x$a), tied = mixture(x[1:2], obs_gaussian("tied")),
    zero_mean = mixture(x[1:2], obs_gaussian("zero_mean")),
    levels = mixture(holes["f"], obs_categorical(), na_action = "model"),
    poisson = mixture(holes["n"], obs_poisson(), na_action = "model"), gamma = mixture(exp(x[1:2]), obs_gamma()),
    binary = mixture(1 * (as.matrix(x[1:2]) > 3), obs_bernoulli()), counts = mixture(counts, obs_multinomial()),
    regression = list(bnp_mixture(y ~ u, two, control = control), two),
    covariates_of_block = mixture(x, obs_product(obs_regression(formula = a ~ b + n), obs_categorical())),
    formula = list(bnp_mixture(~ a + f, x, control = control), x), autoregression = mixture(series, obs_ar()),
    survival = mixture(data.frame(time = rexp(60), status = rbinom(60, 1, 0.7)), obs_survival()),
    binomial = mixture(cbind(rpois(60, 3), rpois(60, 3)), obs_binomial()),
    labels = mixture(x[1:2], labels = c("p", "q", rep(NA, 58))), individuals = mixture(x[1:2], id = rep(1:20, 3)),
    drift = mixture(x[1:2], obs_gaussian(drift = 0.5), time = rep(1:4, 15)),
    drift_by_time = mixture(x[1:2], obs_gaussian(drift = 0.5), prior_hdp(), time = rep(1:4, 15)),
    weights = mixture(x[1:2], weights = rep(1:2, 30)), one_topic = topics(counts, prior = prior_lda(1)),
    rows = topics(holes[1:2], obs = obs_gaussian(), id = rep(1:6, 10), na_action = "omit"),
    responses = topics(counts, response = rnorm(40), covariates = data.frame(u = rnorm(40), v = rnorm(40))),
    hmm = hmm(holes[1:3], id = id, na_action = "model"), hmm_omitted = hmm(holes[1:2], id = id, na_action = "omit"),
    one_state = hmm(x[1:30, 1:2], prior = prior_hmm(1)), hmm_covariates = list(bnp_hmm(
      y ~ u + v, two, id = id, control = control
    ), two), hmm_series = hmm(series, obs = obs_ar()), hidden = hmm(replace(series, 5, NA), obs = obs_lds()),
    loadings = hmm(series, obs = obs_lds(loadings = 1)),
    no_feature = list(bnp_features(matrix(1, 10, 2), control = control), NULL),
    network_by_node = list(bnp_network(links, obs_links(), prior_hdp(), control = control), links),
    one_community = list(bnp_network(links, obs_links(), prior_dp(1e-9), control = control), links),
    in_memory_stream = mixture(x[1:2], control = stream),
    cut = list(cut_fit(mixture(x[1:2])[[1]], x[1:2], k = 1), x[1:2]),
    filter = list(bnp_filter(hmm(x[1:2], id = id)[[1]], x[1:2], id), NULL)
  )
  if (!longest_tests()) expressions <- some_of(expressions[1:11], by = 2)
  here <- environment()
  suppressMessages(suppressWarnings(lapply(expressions, eval, here)))
}

test_that("reports of every kind of fit have no error, warning or NaN, with and without their data", {
  skip_if_not_installed("knitr")
  template <- system.file("rmarkdown", "templates", "report", "skeleton", "skeleton.Rmd", package = "bnpvi")
  skip_if(template == "", "the template is not installed")
  renders <- longest_tests() && requireNamespace("rmarkdown", quietly = TRUE) &&
    rmarkdown::pandoc_available("1.14")
  withr::local_dir(withr::local_tempdir())
  withr::local_pdf(NULL)
  cases <- report_cases()
  for (i in seq_along(cases)) for (data in some_of(list(cases[[i]][[2L]], NULL), by = 2, from = i %% 2 + 1)) {
    name <- names(cases)[i]
    params <- list(fit = cases[[name]][[1L]], data = data)
    page <- if (renders) {
      file.copy(template, "report.Rmd", overwrite = TRUE)
      file <- rmarkdown::render("report.Rmd", params = params, quiet = TRUE, envir = new.env())
      # The characters of pictures may happen to say NaN.
      gsub("base64,[^\"]*", "", sub(".*<body", "", paste(readLines(file, warn = FALSE), collapse = "\n")))
    } else {
      here <- list2env(list(params = params), parent = globalenv())
      suppressMessages(knitr::knit(text = readLines(template), envir = here, quiet = TRUE))
    }
    for (trouble in c("Error in", "Error:", "Warning", "NaN")) expect_no_match(page, trouble, fixed = TRUE, info = name)
    expect_match(page, "bnpvi", fixed = TRUE, info = name)
  }
})
