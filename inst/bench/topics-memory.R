# Peak memory of a topic model of news articles, made ones: 2,000 documents of 10,473 terms whose frequencies follow
# Zipf's law, about 200 tokens each from a few of 40 topics. In units of the K x V table at the K of the fit, beyond
# what the process has before the fit. Linux only (VmHWM of a fresh process for each fit).
#   Rscript topics-memory.R
one <- function(control, prior = "prior_hdp()") {
  code <- sprintf("
    suppressPackageStartupMessages(library(bnpvi))
    high <- function() {
      as.numeric(gsub('[^0-9]', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1024
    }
    set.seed(1)
    terms <- 10473
    topics <- 40
    common <- 1 / (seq_len(terms) + 20)
    phi <- matrix(rgamma(topics * terms, 0.02), topics) * rep(common, each = topics)
    phi <- phi / rowSums(phi)
    x <- do.call(rbind, lapply(1:2000, function(d) {
      theta <- rgamma(topics, 0.05) + 1e-9
      share <- drop((theta / sum(theta)) %%*%% phi)
      at <- sample.int(terms, 100 + rpois(1, 150), TRUE, 0.7 * share + 0.3 * common / sum(common))
      Matrix::sparseVector(tabulate(at, terms)[sort(unique(at))], sort(unique(at)), terms) |>
        as('sparseMatrix') |> Matrix::t()
    }))
    dimnames(x) <- list(seq_len(2000), paste0('w', seq_len(terms)))
    tiny <- bnp_topics(x[1:20, ], control = bnp_control(seed = 1, verbose = FALSE, max_laps = 2)) # loads the code
    invisible(gc())
    writeLines('5', '/proc/self/clear_refs') # VmHWM begins anew
    before <- high()
    fit <- bnp_topics(x, prior = %s, control = bnp_control(seed = 1, verbose = FALSE, %s))
    table <- 8 * fit$state$k * terms / 2^20
    cat(fit$state$k, fit$laps, before, high(), table, fit$elbo)", prior, control)
  as.numeric(strsplit(system2("Rscript", c("-e", shQuote(code)), stdout = TRUE), " ")[[1]])
}
controls <- c("threads = 1", "threads = 2", "threads = 2, batches = 4", "threads = 1, k_init = 100, max_laps = 12")
for (control in controls) {
  x <- one(control)
  cat(sprintf("%-42s K = %3.0f, %3.0f laps, ELBO %.1f: peak %4.0f MB beyond loading = %4.1f tables of %.1f MB\n",
    control, x[1], x[2], x[6], x[4] - x[3], (x[4] - x[3]) / x[5], x[5]))
}
