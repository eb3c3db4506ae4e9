# Networks in all their forms, and what is said of what the model has no room for.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
edges <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
adjacency <- function(directed = FALSE) {
  x <- matrix(0, 6, 6)
  x[as.matrix(edges)] <- 1
  if (directed) x else x + t(x)
}
same_network <- function(a, b) {
  fields <- c("n", "directed", "from", "to", "value", "hidden_from", "hidden_to", "ids")
  expect_equal(a[fields], b[fields])
}

test_that("all forms give the same network", {
  from_edges <- as_network(edges)
  expect_identical(from_edges$ids, as.character(1:6))
  same_network(as_network(as.matrix(edges)), from_edges)
  same_network(as_network(adjacency()), from_edges)
  same_network(as_network(Matrix::Matrix(adjacency(), sparse = TRUE)), from_edges)
  same_network(as_network(as(Matrix::Matrix(adjacency(), sparse = TRUE), "generalMatrix")), from_edges)
  same_network(as_network(adjacency() > 0), from_edges)
  same_network(as_network(edges[7:1, 2:1]), from_edges)
  directed <- as_network(edges, directed = TRUE)
  same_network(as_network(adjacency(TRUE), directed = TRUE), directed)
  same_network(as_network(Matrix::Matrix(adjacency(TRUE), sparse = TRUE), directed = TRUE), directed)
  skip_if_not_installed("igraph")
  same_network(as_network(igraph::graph_from_edgelist(as.matrix(edges), FALSE)), from_edges)
  same_network(as_network(igraph::graph_from_edgelist(as.matrix(edges), TRUE)), directed)
})

test_that("an object of the package network is read by its parts", {
  one <- function(from, to) list(inl = to, outl = from, atl = list(na = FALSE))
  x <- structure(list(
    mel = Map(one, edges$from, edges$to), gal = list(n = 6, directed = FALSE),
    val = lapply(letters[1:6], function(name) list(vertex.names = name))
  ), class = "network")
  named <- as_network(x)
  expect_identical(named$ids, letters[1:6])
  named$ids <- as.character(1:6)
  same_network(named, as_network(edges))
})

test_that("names, isolated nodes and pairs that are not known", {
  words <- data.frame(from = letters[edges$from], to = letters[edges$to])
  named <- as_network(words, nodes = letters[1:8])
  expect_identical(named$n, 8L)
  fit <- bnp_network(words, nodes = letters[1:8], prior = prior_dp(), control = quiet())
  expect_named(fitted(fit), letters[1:8])
  expect_output(print(fit), "8 nodes, 7 links, 2 nodes without any")
  expect_identical(as_network(edges, nodes = 9)$n, 9L)
  x <- adjacency()
  x[1, 4] <- x[4, 1] <- NA
  x[1, 2] <- x[2, 1] <- NA
  by_na <- as_network(x)
  by_missing <- as_network(edges, missing = rbind(c(4, 1), c(1, 2)))
  order_of <- function(net) order(net$hidden_from, net$hidden_to)
  expect_equal(by_na[c("from", "to", "value")], by_missing[c("from", "to", "value")])
  expect_setequal(paste(by_na$hidden_from, by_na$hidden_to), c("1 2", "1 4"))
  expect_setequal(paste(by_missing$hidden_from, by_missing$hidden_to), c("1 2", "1 4"))
  expect_equal(
    elbo(bnp_network(x, prior = prior_dp(), control = quiet())),
    elbo(bnp_network(edges, missing = data.frame(a = c(4, 1), b = c(1, 2)), prior = prior_dp(), control = quiet()))
  )
  two_parts <- bnp_network(edges[-7, ], prior = prior_dp(), control = quiet())
  expect_output(print(two_parts), "2 connected parts")
})

test_that("numbers of nodes are read in full, whole or as real numbers", {
  far <- data.frame(from = c(1, 1e5), to = c(2e5, 3))
  expect_identical(as_network(far)$ids, c("1", "3", "100000", "200000"))
  many <- as_network(data.frame(from = c(1, 99999), to = c(1e5, 3)), nodes = 1e5)
  expect_identical(c(many$from, many$to), c(1L, 3L, 100000L, 99999L))
  expect_identical(as_network(far, missing = cbind(1, 1e5))$hidden_to, 3L)
})

test_that("loops and several links are said and handled", {
  expect_message(with_loop <- as_network(rbind(edges, c(2, 2))), class = "bnpvi_message_network")
  same_network(with_loop, as_network(edges))
  expect_message(twice <- as_network(rbind(edges, c(2, 1))), "several links")
  expect_equal(twice$value[1], 2)
  expect_message(listed <- as_network(rbind(edges, setNames(edges[2:1], names(edges)))), "both directions")
  same_network(listed, as_network(edges))
  suppressMessages({
    counts <- bnp_network(rbind(edges, c(2, 1)), prior = prior_dp(), control = quiet())
    expect_identical(counts$model$obs$links, "counts")
    expect_output(print(counts), "7 links that count 8")
    expect_error(
      bnp_network(rbind(edges, c(2, 1)), obs_links(family = "bernoulli"), control = quiet()),
      class = "bnpvi_error_not_binary"
    )
  })
  expect_message(weighted <- as_network(cbind(edges, weight = 1:7)), "weight, a column", fixed = TRUE)
  expect_equal(sort(weighted$value), 1:7)
  other_names <- setNames(cbind(edges, when = letters[1:7]), c("a", "b", "when"))
  expect_message(as_network(other_names), "a and b, the first two columns of `x`", fixed = TRUE)
  expect_no_message(as_network(setNames(edges, c("a", "b"))))
})

test_that("what cannot be a network is refused by name", {
  refused <- function(x, class, ...) {
    expect_error(bnp_network(x, ..., control = quiet()), class = paste0("bnpvi_error_", class))
  }
  refused("a", "network")
  refused(1:3, "network")
  refused(matrix(0, 3, 5), "network")
  refused(matrix(0, 0, 0), "network")
  refused(data.frame(from = 1), "network")
  refused(data.frame(from = c(1, NA), to = 1:2), "missing")
  refused(cbind(edges, weight = -1), "not_counts")
  refused(cbind(edges, weight = 0.5), "not_counts")
  refused(edges, "nodes", nodes = 1:5)
  refused(edges, "nodes", nodes = c(1:6, 6))
  refused(edges, "nodes", nodes = globalenv())
  refused(edges, "nodes", nodes = list(1, 2))
  refused(edges, "nodes", missing = cbind(1, 77))
  refused(edges, "argument", missing = 3)
  refused(adjacency(TRUE)[c(3, 1, 2, 6, 4, 5), c(3, 1, 2, 6, 4, 5)], "not_symmetric", directed = FALSE)
  refused(adjacency(), "argument", nodes = 1:6)
  refused(matrix("a", 3, 3), "not_numeric")
  twice <- c("p", "q", "q", "r", "s", "t")
  expect_bad(bnp_network(`rownames<-`(adjacency(), twice), control = quiet()), "nodes", "have the name .q.")
  expect_bad(bnp_network(`dimnames<-`(adjacency(), list(NULL, twice)), control = quiet()), "nodes", "have the name .q.")
  refused(edges, "argument", obs = obs_poisson())
  refused(edges, "argument", prior = prior_dirichlet(2))
  refused(edges, "argument", prior = prior_dp(gamma_prior()))
  refused(edges, "argument", prior = prior_dp(), obs = obs_links(assortative = TRUE))
  refused(edges, "argument", obs = obs_links(assortative = FALSE, degree = TRUE))
  refused(edges, "argument", obs = obs_links(assortative = FALSE, background = c(1, 1)))
  refused(edges, "argument", prior = prior_dp(), obs = obs_links(background = c(1, 1)))
  refused(edges, "argument", prior = prior_hdp(alpha = 2), obs = obs_links(degree = TRUE))
  refused(edges, "start", start = 1:5)
  refused(edges, "start", start = c(1:5, NA))
  expect_error(bnp_network(edges, control = bnp_control("truncation_free")), class = "bnpvi_error_argument")
  expect_error(bnp_network(edges, control = bnp_control(bound = "tight")), class = "bnpvi_error_argument")
  expect_error(bnp_network(edges, control = quiet(k_init = 7)), class = "bnpvi_error_k_init")
  expect_error(bnp_mixture(faithful, obs_links()), class = "bnpvi_error_argument")
  expect_error(obs_links(background = 1), class = "bnpvi_error_argument")
})

every_model <- list(
  list(prior = prior_dp(), obs = obs_links()), list(prior = prior_dp(), obs = obs_links(degree = TRUE)),
  list(prior = prior_hdp(), obs = obs_links(degree = FALSE)),
  list(prior = prior_hdp(), obs = obs_links(degree = TRUE)),
  list(prior = prior_hdp(), obs = obs_links(assortative = FALSE))
)
sound <- function(fit) {
  expect_true(is.finite(elbo(fit)))
  expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-8)
  expect_equal(unname(rowSums(memberships(fit))), rep(1, fit$input$n), tolerance = 1e-8)
  expect_false(anyNA(unlist(coef(fit))))
  expect_true(all(fitted(fit) %in% seq_len(fit$state$k)))
}

test_that("networks at the limits are fitted", {
  star <- data.frame(from = 1, to = 2:12)
  two <- data.frame(from = "a", to = "b", weight = 1e6)
  clique <- 1 - diag(8)
  cases <- list(
    one = matrix(0, 1, 1), two = matrix(0, 2, 2), linked = 1 - diag(2), empty = matrix(0, 5, 5), full = clique,
    star = star, heavy = two, unknown = matrix(NA_real_, 4, 4), spread = data.frame(from = 1, to = 2)
  )
  for (name in names(cases)) {
    for (model in some_of(every_model, by = 2, from = match(name, names(cases)) %% 2 + 1)) {
      fit <- suppressWarnings(bnp_network(
        cases[[name]], obs = model$obs, prior = model$prior, nodes = if (name == "spread") 30, control = quiet()
      ))
      sound(fit)
      if (name %in% c("one", "empty", "unknown")) expect_equal(n_clusters(fit), 1, info = name)
      p <- if (fit$input$n > 1) predict(fit, cbind(fit$input$ids[1], fit$input$ids[2]))
      expect_true(all(is.finite(p)))
    }
  }
})

test_that("priors at the ends of their ranges give finite bounds", {
  for (model in every_model) {
    for (size in c(1e-8, 1e8)) {
      obs <- utils::modifyList(model$obs, list(a = size, b = size))
      prior <- if (model$prior$family == "dp") prior_dp(size) else prior_hdp(size, if (size > 1) 1 else 1e-6)
      sound(suppressWarnings(bnp_network(edges, obs, prior, control = quiet())))
    }
  }
})

test_that("laps that rounding alone lowers are no breakdown", {
  extreme <- utils::modifyList(obs_links(), list(a = 1e8, b = 1e8))
  for (seed in 1:10) {
    x <- withr::with_seed(seed, adjacency_of(planted_network(rep(1:2, each = 2), matrix(0.3, 2, 2))))
    control <- bnp_control(seed = 1, verbose = FALSE, tol = 1e-12, k_init = 4, max_laps = 40)
    fit <- suppressWarnings(bnp_network(x, extreme, prior_dp(10), control))
    expect_false(fit$reason == "numerical", info = seed)
  }
})
