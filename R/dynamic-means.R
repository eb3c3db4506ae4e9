#' Clusters that are born, move and die: Dynamic Means
#'
#' Hard clustering of rows that come in batches. From batch to batch a cluster may move, stay away, come back, or die,
#' and keeps its number. The method is fast, but its result depends on `lambda`: use it for a start or a first look.
#'
#' @param x For `bnp_dynamic_means()`, rows: a numeric matrix, a data frame of numbers, or a vector. For methods: the
#'   clustering.
#' @param time When each row was seen: one number, date or time for each row, or the name of a column of `x`. Rows with
#'   the same time are one batch; batches follow each other in the order of their times, however far they are apart.
#' @param lambda The cost of a new cluster, as a squared distance: rows that are farther than its square root from every
#'   cluster begin a new one.
#' @param q The cost of bringing a cluster back, per batch since it was last seen. A cluster for which this cost exceeds
#'   `lambda` is forgotten.
#' @param tau How much clusters move: the larger, the less the earlier position of a cluster counts.
#' @param ... Must be empty.
#' @param object The clustering.
#' @param data The rows that were clustered.
#' @return An object of class `bnp_dynamic_means`, a list with `cluster`, the cluster of each row (numbered in the order
#'   of birth); `trajectories`, one row for each cluster and time at which it has rows (`cluster`, `time`, `size` and
#'   `mean.<column>`); `clusters` (`cluster`, `born`, `last`, `size`); `objective` by batch; `trace` by sweep; and the
#'   arguments. `fitted()` gives the clusters of the rows, `tidy()` the trajectories, `glance()` one row, `augment()`
#'   the data with `.class`. `plot()` draws the means over time, as lines whose width shows the sizes of clusters.
#' @details For each batch, assignments and means are found by turns that minimise the cost of Campbell and others
#'   (2013), equation 8. It is the sum of `lambda` for each new cluster, `q` times its absence for each old one that
#'   comes back, and the squared distances of rows to the mean and of the mean to the earlier position of the cluster.
#'   The last distance is weighted by 1 / (1 / w + tau times the absence), where w is the weight that earlier batches
#'   gave the cluster. Rows are taken in the order in which they come, on which the local optimum may depend. Measure
#'   columns in comparable units: distances are Euclidean.
#' @references
#' Campbell, T., Liu, M., Kulis, B., How, J. P. and Carin, L. (2013). Dynamic clustering via asymptotics of the
#' dependent
#' Dirichlet process mixture. *Advances in Neural Information Processing Systems* 26.
#'
#' Kulis, B. and Jordan, M. I. (2012). Revisiting k-means: new algorithms via Bayesian nonparametrics. *International
#' Conference on Machine Learning*; one batch.
#' @seealso [bnp_mixture()], [bnp_filter()].
#' @examples
#' set.seed(1)
#' time <- rep(1:6, each = 40)
#' centre <- cbind(ifelse(rep(1:2, 120) == 1, time / 2, 6 - time / 2), rep(c(0, 3), 120))
#' x <- centre + rnorm(480, sd = 0.4)
#' moving <- bnp_dynamic_means(x, time, lambda = 4)
#' moving
#' plot(moving)
#' @order 1
#' @export
bnp_dynamic_means <- function(x, time, lambda, q = lambda / 4, tau = 0.5, ...) {
  call <- rlang::current_env()
  check_no_dots(...)
  check_form(x, "dynamic_means", call)
  if (missing(time) || missing(lambda)) {
    lacking <- c("time", "lambda")[c(missing(time), missing(lambda))]
    abort("argument", c("{.arg {lacking}} {?is/are} needed.", i = "See {.help bnp_dynamic_means}."))
  }
  read_arguments(rlang::enquos(time = time), x, "x")
  lambda <- check_number(lambda, "lambda")
  q <- check_number(q, "q", strict = FALSE)
  tau <- check_number(tau, "tau", strict = FALSE)
  split <- split_row_times(x, time, "x", call)
  data <- table_of_numbers(split$x, call)
  time <- check_row_times(split$time, nrow(data), "x", call, names = rownames(data))
  order <- order(time)
  times <- unique(time[order])
  batch <- match(time[order], times)
  sorted <- data[order, , drop = FALSE]
  centre <- colMeans(sorted) # differences of large numbers would lose digits
  out <- engine_dynamic_means(
    sorted - rep(centre, each = nrow(sorted)), c(0L, cumsum(tabulate(batch, length(times)))), lambda, q, tau
  )
  names <- colnames(data) %||% default_names(ncol(data))
  trajectories <- data.frame(cluster = out$cluster, time = times[out$time], size = out$size)
  trajectories[paste0("mean.", names)] <- as.data.frame(t(out$mean + centre))
  trajectories <- trajectories[order(trajectories$cluster, out$time), ]
  rownames(trajectories) <- NULL
  first <- !duplicated(trajectories$cluster)
  last <- !duplicated(trajectories$cluster, fromLast = TRUE)
  sealed(structure(list(
    cluster = stats::setNames(out$label[order(order)], rownames(data)), trajectories = trajectories,
    clusters = data.frame(
      cluster = trajectories$cluster[first], born = trajectories$time[first], last = trajectories$time[last],
      size = as.vector(rowsum(trajectories$size, trajectories$cluster))
    ),
    objective = out$objective, trace = out$trace, times = times, columns = names, lambda = lambda, q = q, tau = tau
  ), class = "bnp_dynamic_means"))
}

table_of_numbers <- function(x, call) {
  data <- as_table(x, "x", FALSE, call, obs_gaussian("diagonal"))
  if (!is.matrix(data)) data <- as.matrix(data)
  far <- max(abs(data))
  if (far > 1e150) {
    abort("range", "{.arg x} has values above 1e150 or below -1e150: their squares are too large for a number.",
      call = call
    )
  }
  data
}

#' @export
print.bnp_dynamic_means <- function(x, ...) {
  check_object(x)
  alive <- sum(x$clusters$last == x$times[length(x$times)])
  cat(
    "Dynamic Means: ", count_of(length(x$cluster), "row"), " at ", count_of(length(x$times), "time"), ", ",
    count_of(nrow(x$clusters), "cluster"), ", ", alive, " of them at the last time\n", sep = ""
  )
  cat("lambda ", format(x$lambda), ", q ", format(x$q), ", tau ", format(x$tau), ", cost ",
    format(sum(x$objective), digits = 7), "\n", sep = "")
  shown <- utils::head(x$clusters, 12L)
  print(shown, row.names = FALSE)
  if (nrow(x$clusters) > 12L) cat("... and ", nrow(x$clusters) - 12L, " more\n", sep = "")
  invisible(x)
}

#' @rdname bnp_dynamic_means
#' @export
fitted.bnp_dynamic_means <- function(object, ...) {
  check_no_dots(...)
  check_object(object)$cluster
}

#' @rdname bnp_dynamic_means
#' @export
tidy.bnp_dynamic_means <- function(x, ...) {
  check_no_dots(...)
  as_tidy(check_object(x)$trajectories)
}

#' @rdname bnp_dynamic_means
#' @export
glance.bnp_dynamic_means <- function(x, ...) {
  check_no_dots(...)
  check_object(x)
  as_tidy(data.frame(
    k = nrow(x$clusters), times = length(x$times), objective = sum(x$objective), nobs = length(x$cluster)
  ))
}

#' @rdname bnp_dynamic_means
#' @export
augment.bnp_dynamic_means <- function(x, data, ...) {
  check_no_dots(...)
  check_object(x)
  need_data(missing(data), "data")
  out <- data_frame_of(data)
  if (nrow(out) != length(x$cluster)) {
    abort("data", "{.arg data} must have the {length(x$cluster)} rows that were clustered, not {nrow(out)}.")
  }
  out$.class <- factor(unname(x$cluster), levels = x$clusters$cluster)
  like_input(out, data)
}

#' @rdname bnp_dynamic_means
#' @export
plot.bnp_dynamic_means <- function(x, ...) {
  check_no_dots(...)
  check_object(x)
  paths <- x$trajectories
  ids <- x$clusters$cluster
  colour <- cluster_colours(length(ids))
  shown <- utils::head(x$columns, most_panels)
  width <- 1 + 7 * sqrt(paths$size / max(paths$size))
  draw_grid(shown, length(x$columns), "column", "Time", function(name) {
    value <- paths[[paste0("mean.", name)]]
    graphics::plot(range(x$times), range(value), type = "n", xlab = "", ylab = "")
    for (i in seq_along(ids)) {
      at <- which(paths$cluster == ids[i])
      graphics::points(paths$time[at], value[at], pch = 16, cex = width[at] / 4, col = colour[i])
      if (length(at) > 1L) {
        from <- at[-length(at)]
        graphics::segments(
          as.numeric(paths$time[from]), value[from], as.numeric(paths$time[from + 1L]), value[from + 1L],
          lwd = (width[from] + width[from + 1L]) / 2, col = colour[i]
        )
      }
    }
  })
  invisible(x)
}

#' @export
nobs.bnp_dynamic_means <- function(object, ...) length(check_object(object)$cluster)

#' @export
as.data.frame.bnp_dynamic_means <- function(x, row.names = NULL, optional = FALSE, ...) {
  plain_frame(check_object(x)$trajectories)
}
