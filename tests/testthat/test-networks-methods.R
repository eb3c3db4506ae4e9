# What is read from fits of networks.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
group <- rep(1:3, each = 12)
net <- withr::with_seed(2, planted_network(group, matrix(0.05, 3, 3) + diag(0.6, 3)))
links <- data.frame(from = net$from, to = net$to)
many <- withr::with_seed(2, planted_network(group, matrix(0.1, 3, 3) + diag(1.5, 3), counts = TRUE))
counted <- data.frame(from = many$from, to = many$to, weight = many$value)
fit_of <- function(x, ...) suppressWarnings(bnp_network(x, ..., nodes = 36, control = quiet(max_laps = 40)))
fits <- list(
  blocks = fit_of(links, prior = prior_dp()), relational = fit_of(links, obs_links(degree = FALSE)),
  gamma = fit_of(links, obs_links(degree = TRUE)), general = fit_of(links, obs_links(assortative = FALSE)),
  rates = fit_of(counted, prior = prior_dp()), general_rates = fit_of(counted, obs_links(assortative = FALSE)),
  relational_rates = fit_of(counted, obs_links(degree = FALSE)), gamma_rates = fit_of(counted, obs_links(degree = TRUE))
)
pairs <- data.frame(from = c(1, 1, 20), to = c(2, 30, 21), link = c(1, 0, 1))

test_that("planted groups are found by all models, links and counts", {
  for (name in names(fits)) expect_gt(adjusted_rand_index(fitted(fits[[name]]), group), 0.9)
})

test_that("every verb answers with the right shape", {
  for (name in names(fits)) {
    fit <- fits[[name]]
    expect_output(print(fit), "3 communities in use, 36 nodes")
    expect_output(print(summary(fit)), "Largest communities")
    expect_identical(dim(memberships(fit)), c(36L, fit$state$k))
    expect_identical(memberships(fit), predict(fit, type = "prob"))
    expect_identical(lengths(communities(fit)), c(table(factor(fitted(fit), seq_len(fit$state$k)))))
    expect_setequal(unlist(communities(fit, threshold = 0.01)), as.character(1:36))
    expect_s3_class(tidy(fit), "tbl_df")
    expect_identical(nrow(augment(fit)), 36L)
    expect_identical(augment(fit, data.frame(group = group))$group, group)
    expect_identical(dim(coef(fit)$block), rep(fit$state$k, 2))
    expect_true(all(diff(cluster_sizes(fit)) <= 0))
    expect_identical(glance(fit)$nobs, 36L)
    expect_true(length(posterior_params(fit)) > 2)
  }
  expect_error(log_joint(fits$gamma), class = "bnpvi_error_argument")
  twin <- list(counts = FALSE, a = 1, b = 1, gamma = 1)
  expect_equal(log_joint(fits$blocks), twin_joint(net, fitted(fits$blocks), twin), tolerance = 1e-10)
})

test_that("probabilities of links are means under the posterior", {
  for (name in c("blocks", "relational", "general", "gamma")) {
    fit <- fits[[name]]
    p <- predict(fit, pairs)
    expect_true(all(p > 0 & p < 1))
    expect_equal(predict(fit, pairs, "log"), ifelse(pairs$link == 1, log(p), log1p(-p)), tolerance = 1e-8)
    expect_equal(predict(fit, pairs[, c(2, 1, 3)]), p)
    expect_gt(p[1], p[2])
  }
  # All parameters but memberships at their mean: simulated networks have the links that are expected.
  everyone <- t(utils::combn(36, 2))
  for (name in names(fits)) {
    fit <- fits[[name]]
    drawn <- simulate(fit, nsim = 100, seed = 1)
    number <- vapply(drawn, function(x) sum(x$link), 1)
    expected <- sum(predict(fit, everyone))
    expect_lt(abs(mean(number) - expected), 5 * sd(number) / sqrt(100) + 0.03 * expected, label = name)
  }
})

test_that("probabilities of counts sum to 1 and have the mean that is predicted", {
  for (name in c("rates", "relational_rates", "general_rates", "gamma_rates")) {
    fit <- fits[[name]]
    table <- data.frame(from = 1, to = 2, link = 0:400)
    p <- exp(predict(fit, table, "log"))
    expect_equal(sum(p), 1, tolerance = 1e-6)
    expect_equal(sum(p * 0:400), predict(fit, table[1, ]), tolerance = 1e-5)
  }
})

test_that("the block probabilities of hard labels are counts over counts", {
  fit <- fits$blocks
  z <- fitted(fit)
  y <- matrix(0, 36, 36)
  y[cbind(net$from, net$to)] <- y[cbind(net$to, net$from)] <- 1
  one <- 1 * outer(z, 1:3, "==")
  links_of <- crossprod(one, y %*% one)
  pairs_of <- outer(colSums(one), colSums(one)) - diag(colSums(one))
  expect_equal(unname(coef(fit)$block), unname((1 + links_of / (1 + diag(3))) / (2 + pairs_of / (1 + diag(3)))),
               tolerance = 1e-3)
})

test_that("held-out pairs are hidden, drawn from both kinds, and predicted", {
  split <- split_links(links, 0.2, seed = 3, nodes = 36)
  n <- round(0.2 * nrow(links))
  expect_identical(sum(split$link == 1), as.integer(n))
  expect_identical(sum(split$link == 0), as.integer(n))
  key <- paste(pmin(as.integer(split$from), as.integer(split$to)), pmax(as.integer(split$from), as.integer(split$to)))
  expect_false(anyDuplicated(key) > 0)
  expect_identical(key %in% paste(links$from, links$to), split$link == 1)
  expect_identical(split, split_links(links, 0.2, seed = 3, nodes = 36))
  for (start in list(NULL, group)) {
    fit <- fit_of(links, prior = prior_dp(), missing = split, start = start)
    expect_equal(fit$input$n_links, nrow(links) - n)
    expect_equal(fit$input$hidden, 2 * n)
    expect_gt(link_auc(fit, split), 0.75)
    expect_equal(heldout_loglik(fit, split), mean(predict(fit, split, "log")))
  }
  score <- predict(fit, split)
  wins <- outer(score[split$link == 1], score[split$link == 0], function(a, b) (a > b) + (a == b) / 2)
  expect_equal(link_auc(fit, split), mean(wins))
  full <- split_links(1 - diag(5), 0.3, seed = 1)
  expect_true(all(full$link == 1))
  directed <- split_links(links, 0.2, seed = 3, nodes = 36, directed = TRUE)
  expect_identical(paste(directed$from, directed$to) %in% paste(links$from, links$to), directed$link == 1)
})

test_that("pairs that cannot be predicted are refused", {
  fit <- fits$blocks
  refused <- function(code, class) expect_error(code, class = paste0("bnpvi_error_", class))
  refused(predict(fit, cbind(1, 1)), "loops")
  refused(predict(fit, cbind(1, 99)), "nodes")
  refused(predict(fit, 3), "argument")
  refused(predict(fit), "newdata")
  refused(predict(fit, cbind(1, 2), type = "log"), "argument")
  refused(predict(fit, cbind(1, 2, 0.5), type = "log"), "not_counts")
  refused(predict(fit, cbind(1, 2, 3), type = "log"), "not_counts")
  refused(link_auc(fit, cbind(1, 2, 1)), "argument")
  refused(split_links(links, 1.5), "argument")
  refused(plot(fit, "graph"), "argument")
  refused(communities(fit, 2), "argument")
  refused(communities(1), "argument")
  refused(bnp_sample(fit), "not_defined")
  refused(confint(fit), "not_defined")
  refused(update(fit, newdata = links), "not_defined")
})

test_that("starts that are given are used, restarts are recorded, and the seed decides", {
  from_labels <- fit_of(links, prior = prior_dp(), start = group)
  expect_equal(elbo(from_labels), elbo(fits$blocks), tolerance = 1e-6)
  again <- fit_of(links, obs_links(degree = TRUE), start = fits$gamma)
  expect_gt(elbo(again), elbo(fits$gamma) - 2)
  shares <- fit_of(links, obs_links(degree = FALSE), start = 0.8 * diag(3)[group, ] + 0.2 / 3)
  expect_gt(adjusted_rand_index(fitted(shares), group), 0.9)
  same <- c("prob", "elbo", "labels", "state")
  expect_identical(fit_of(links, obs_links(degree = TRUE))[same], fits$gamma[same])
  restarted <- bnp_network(links, prior = prior_dp(), nodes = 36, control = quiet(restarts = 2))
  expect_gte(log_joint(restarted), log_joint(fits$blocks))
  expect_null(restarted$compared)
  ends <- restarted$restarts
  expect_identical(ends$seed, vapply(0:1, function(r) engine_restart_seed(1, r), 1))
  expect_lt(min(abs(ends$elbo - elbo(restarted))), 1e-9)
  # A fit with the seed of a restart is that restart.
  second <- bnp_control(seed = ends$seed[2L], verbose = FALSE)
  second <- bnp_network(links, prior = prior_dp(), nodes = 36, control = second)
  expect_identical(second$restarts, NULL)
  expect_equal(elbo(second), ends$elbo[2L], tolerance = 1e-12)
  fixed <- suppressWarnings(bnp_network(
    links, prior = prior_dp(), nodes = 36, control = quiet(k_init = 4, moves = FALSE)
  ))
  expect_equal(fixed$state$k, 4)
  both <- fit_of(links)
  expect_equal(elbo(both), max(elbo(fits$relational), elbo(fits$gamma)))
})

test_that("directed blocks know their direction", {
  flow <- withr::with_seed(4, planted_network(group, rbind(c(0.1, 0.7, 0.1), c(0.1, 0.1, 0.7), c(0.1, 0.1, 0.1)), TRUE))
  flowing <- data.frame(flow[c("from", "to")])
  fit <- bnp_network(flowing, directed = TRUE, nodes = 36, prior = prior_dp(), control = quiet())
  expect_gt(adjusted_rand_index(fitted(fit), group), 0.9)
  expect_gt(predict(fit, cbind(1, 13)), 0.5)
  expect_lt(predict(fit, cbind(13, 1)), 0.3)
  expect_equal(sum(predict(fit, as.matrix(subset(expand.grid(1:36, 1:36), Var1 != Var2)))), length(flow$from),
               tolerance = 0.1)
})

test_that("pictures are drawn", {
  withr::local_pdf(NULL)
  for (fit in some_of(fits[c("blocks", "gamma", "general")], by = 2)) {
    for (type in c("blocks", "matrix", "membership", "elbo")) {
      expect_identical(plot(fit, type, network = links), fit)
    }
    expect_identical(plot(fit, network = links), fit)
    skip_if_not_installed("igraph")
    expect_identical(plot(fit, "graph", network = links), fit)
  }
  expect_error(plot(fits$blocks, network = data.frame(from = 1, to = 99)), class = "bnpvi_error_nodes")
})

test_that("a tidygraph is read as the igraph it is, and made of augment()", {
  skip_if_not_installed("tidygraph")
  of_tidygraph <- function(name) getExportedValue("tidygraph", name)
  graph <- of_tidygraph("as_tbl_graph")(igraph::graph_from_data_frame(links, FALSE, data.frame(name = 1:36)))
  fit <- bnp_network(graph, prior = prior_dp(), control = quiet())
  expect_identical(fitted(fit), fitted(fits$blocks))
  again <- of_tidygraph("tbl_graph")(nodes = augment(fit), edges = links, directed = FALSE)
  expect_equal(igraph::vertex_attr(again, ".community"), augment(fit)$.community)
})

test_that("labels make igraph's communities", {
  skip_if_not_installed("igraph")
  graph <- igraph::graph_from_data_frame(links, FALSE, data.frame(name = 1:36))
  made <- igraph::make_clusters(graph, fitted(fits$gamma))
  expect_identical(lengths(igraph::communities(made)), lengths(communities(fits$gamma)), ignore_attr = TRUE)
})

test_that("fits are igraph's communities, which communities() takes as igraph's own does", {
  skip_if_not_installed("igraph")
  graph <- igraph::graph_from_data_frame(links, FALSE, data.frame(name = 1:36))
  for (fit in fits[c("blocks", "gamma")]) {
    made <- as_communities(fit, graph)
    expect_s3_class(made, "communities")
    of_nodes <- unclass(igraph::membership(made))
    expect_equal(c(of_nodes), fitted(fit))
    expect_equal(igraph::modularity(made), igraph::modularity(graph, fitted(fit)))
    expect_equal(length(made), n_clusters(fit))
    expect_equal(igraph::compare(made, igraph::make_clusters(graph, fitted(fit)), "vi"), 0)
    expect_identical(lapply(igraph::communities(made), c), communities(fit), ignore_attr = TRUE)
    expect_identical(communities(made), igraph::communities(made))
    expect_identical(igraph::groups(fit), communities(fit))
    expect_identical(igraph::membership(fit), igraph::membership(as_communities(fit)))
    expect_equal(igraph::modularity(graph, igraph::membership(fit)), igraph::modularity(made))
    expect_null(as_communities(fit)$modularity)
    expect_output(print(made), "bnp_network")
  }
  # Vertices without names have none in igraph's object, or plot() looks for a name of each.
  karate <- igraph::make_graph("Zachary")
  fit <- bnp_network(karate, prior = prior_dp(), control = bnp_control(seed = 1, max_laps = 3))
  expect_null(names(igraph::membership(as_communities(fit))))
  expect_identical(c(igraph::membership(fit)), as.double(fit$labels))
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_no_error(plot(as_communities(fit), karate))
  expect_no_error(plot(as_communities(fit, karate), karate))
  expect_bad(as_communities(fits$blocks, igraph::make_ring(35)), "argument", "graph")
  expect_bad(as_communities(fits$blocks, links), "argument", "graph")
  expect_bad(as_communities(1), "argument", "fit")
})

test_that("without the network the blocks are drawn: each as dense as coef() says, as long as it has nodes", {
  for (fit in some_of(fits[c("blocks", "gamma", "general")], by = 2)) {
    picture <- blocks_picture(fit)
    expect_equal(matrix(picture$table$value, n_clusters(fit)), unname(coef(fit)$block))
    expect_equal(sum(with(picture$table, (right - left) * (bottom - top))), 36^2)
    expect_equal(diff(c(0, picture$end)), fit$sizes)
    file <- withr::local_tempfile(fileext = ".pdf")
    withr::with_pdf(file, expect_identical(plot(fit), fit), compress = FALSE)
    expect_gte(sum(grepl(" re ?$", readLines(file, warn = FALSE))), n_clusters(fit)^2)
  }
})

test_that("communities that links avoid are said", {
  # Two groups of which one has links within and the other only to the first.
  odd <- withr::with_seed(1, planted_network(rep(1:2, each = 18), rbind(c(0.9, 0.4), c(0.4, 0.01))))
  fit <- fit_of(
    data.frame(odd[c("from", "to")]), obs_links(degree = FALSE, background = c(400, 600)), start = rep(1:2, each = 18)
  )
  avoided <- which(diag(coef(fit)$block) < coef(fit)$background)
  expect_length(avoided, 1)
  expect_output(print(summary(fit)), paste("Fewer links within than between communities:", avoided))
  expect_false(any(grepl("Fewer links", utils::capture.output(print(summary(fits$relational))))))
  expect_false(any(grepl("Fewer links", utils::capture.output(print(summary(fits$general))))))
})

test_that("autoplot() draws the pictures of networks that plot() draws", {
  skip_if_not_installed("ggplot2")
  withr::local_pdf(NULL)
  for (fit in some_of(fits[c("blocks", "gamma", "general")], by = 2)) {
    for (type in some_of(c("blocks", "matrix", "membership", "elbo"), by = 2)) {
      picture <- ggplot2::autoplot(fit, type, network = links)
      expect_s3_class(picture, "ggplot")
      expect_silent(print(picture))
    }
    bars <- ggplot2::ggplot_build(ggplot2::autoplot(fit, "membership"))$data[[1L]]
    expect_equal(sort(bars$ymax - bars$ymin), sort(as.vector(fit$prob)), tolerance = 1e-8)
  }
  expect_bad(ggplot2::autoplot(fits$blocks, "matrix"), "argument", "network")
  expect_bad(ggplot2::autoplot(fits$blocks, "graph", network = links), "argument", "type")
})

test_that("fits can be compared, stored and updated", {
  both <- compare_fits(fits$blocks, fits$gamma)
  expect_equal(both$elbo, unname(c(elbo(fits$blocks), elbo(fits$gamma))))
  expect_error(compare_fits(fits$blocks, fits$rates), class = "bnpvi_error_not_comparable")
  file <- withr::local_tempfile()
  saveRDS(fits$gamma, file)
  expect_equal(predict(readRDS(file), pairs), predict(fits$gamma, pairs))
})

test_that("no number of a fit is NaN: where there is nothing to say it is NA", {
  x <- kronecker(diag(2), matrix(1, 5, 5))
  diag(x) <- 0
  quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
  fits <- list(
    searched = bnp_network(x, prior = prior_dp(), control = quiet()),
    corrected = bnp_network(x, obs_links(degree = TRUE), prior_dp(), control = quiet()),
    sampled = bnp_network(x, control = quiet(algorithm = "stochastic", max_laps = 5)),
    single = bnp_network(matrix(0, 4, 4), control = quiet()),
    one = bnp_network(1 - diag(4), prior = prior_dp(), control = quiet())
  )
  for (name in names(fits)) {
    fit <- fits[[name]]
    for (table in list(elbo_trace(fit), tidy(fit), glance(fit), augment(fit)[-1L], coef(fit))) {
      expect_false(any(is.nan(unlist(table))), info = name)
    }
  }
  expect_true(anyNA(elbo_trace(fits$searched)$elbo))
  expect_identical(tidy(fits$single)$between, NA_real_)
  # All others may be empty where communities are not dropped.
  emptied <- fits$sampled
  emptied$sizes <- replace(emptied$sizes * 0, 1, 10)
  expect_true(is.na(tidy(emptied)$between[1]) && !is.nan(tidy(emptied)$between[1]))
})

test_that("update() with other links says what is right", {
  x <- kronecker(diag(2), matrix(1, 5, 5))
  diag(x) <- 0
  fit <- bnp_network(x, prior = prior_dp(), control = bnp_control(seed = 1))
  for (call in list(
    quote(update(fit, x)), quote(update(fit, newdata = x)), quote(update(fit, data.frame(from = 1, to = 99)))
  )) expect_bad(eval(call), "not_defined", "update(fit, x = network)", fixed = TRUE)
  more <- replace(x, c(6, 51), 1)
  anew <- bnp_network(more, prior = prior_dp(), control = bnp_control(seed = 1))
  expect_identical(elbo(update(fit, x = more)), elbo(anew))
  expect_identical(fitted(update(fit, start = fit)), fitted(fit))
})
