# Ten updates of a tenth of the data each, in random order, beside one fit of all: bounds, numbers of
# clusters, agreement of the two and with the groups (adjusted Rand index; topics: of the main topics of
# documents), CPU seconds of all updates and of the one fit. `with_olddata`: the last update visits all rows
# again. The prior is that of the first tenth in all of them.
# Rscript updates.R [seeds] [cases, as a regular expression]
suppressPackageStartupMessages(library(bnpvi))
options(warn = -1)
args <- commandArgs(TRUE)
seeds <- seq_len(if (length(args)) as.integer(args[1]) else 5L)

set.seed(1)
z <- sample(20, 20000, TRUE)
centre <- matrix(rnorm(40, 0, 6), 20)
cases <- list(
  iris = list(x = iris[1:4], z = iris$Species), faithful = list(x = faithful),
  penguins = list(x = penguins_measurements[-1], z = penguins_measurements$species),
  asterisk = list(x = asterisk[1:2], z = asterisk$cluster),
  "20 planted, 20,000 rows" = list(x = centre[z, ] + matrix(rnorm(40000), 20000), z = z),
  whales = list(x = whales$counts, z = whales$category, verb = bnp_topics)
)
if (length(args) > 1) cases <- cases[grepl(args[2], names(cases))]

rows_of <- function(x, at) x[at, , drop = FALSE]
main <- function(fit) if (inherits(fit, "bnp_topics")) max.col(fitted(fit)) else fitted(fit)
seconds <- function(code) sum(system.time(code)[1:2])

for (name in names(cases)) {
  case <- cases[[name]]
  verb <- if (is.null(case$verb)) bnp_mixture else case$verb
  out <- do.call(rbind, lapply(seeds, function(seed) {
    set.seed(seed)
    n <- nrow(case$x)
    order <- sample(n)
    part <- split(order, rep(1:10, length.out = n, each = ceiling(n / 10)))
    control <- bnp_control(seed = seed, verbose = FALSE)
    fit <- verb(rows_of(case$x, part[[1]]), control = control)
    updating <- seconds({
      up <- fit
      for (i in 2:9) up <- update(up, rows_of(case$x, part[[i]]))
      last <- update(up, rows_of(case$x, part[[10]]))
    })
    again <- update(up, rows_of(case$x, part[[10]]), olddata = rows_of(case$x, unlist(part[1:9])))
    once <- seconds(all <- verb(rows_of(case$x, order), obs = fit$model$obs, control = control))
    groups <- if (is.null(case$z)) main(all) else case$z[order]
    agree <- function(a, b) adjusted_rand_index(as.integer(factor(a)), as.integer(factor(b)))
    data.frame(
      first_k = n_clusters(fit), updates = elbo(last), k = n_clusters(last), with_olddata = elbo(again),
      k_olddata = n_clusters(again), one_fit = elbo(all), k_one = n_clusters(all),
      ari_of_both = agree(main(last), main(all)), ari = agree(main(last), groups), ari_one = agree(main(all), groups),
      seconds = updating, seconds_one = once
    )
  }))
  cat("\n", name, "\n", sep = "")
  print(format(out, digits = 4, nsmall = 1), row.names = FALSE)
}
