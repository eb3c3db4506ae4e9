# Models in which each cluster has a shape in each column, which is integrated out. Posterior parameters are a
# mixture: `shape_node` and `shape_prob` (clusters x columns x nodes) are points of the posterior of each
# shape and their probabilities; two further parameters, given the shape, have the same dimensions. Clusters
# that have fewer points than others repeat the last one with probability 0.

shaped_axes <- c("clusters", "columns", "nodes")

# Reads the argument `arg` of a constructor, which is NULL (the default), a gamma_prior(), or a known number
# for each column.
shape_argument <- function(shape, arg, default, range, call = rlang::caller_env()) {
  if (is.null(shape)) {
    return(default)
  }
  if (inherits(shape, "bnp_gamma_prior")) {
    return(sound_gamma_prior(shape, arg, call))
  }
  shape <- check_positive(shape, arg, call)
  check_range(shape, arg, range, call)
  shape
}

# The properties of the model (new_obs_facts()). A shape with a gamma_prior() is no parameter by column, since
# its prior is the same for all columns.
obs_facts.obs_shaped <- function(obs) {
  facts <- NextMethod()
  facts$parameters <- facts$parameters[!vapply(names(facts$parameters), function(name) is.object(obs[[name]]), NA)]
  facts
}

obs_axes.obs_shaped <- function(obs, columns) {
  list(columns = columns, nodes = character())
}

# Splits the posterior of a cluster by column: list(shape_node, shape_prob, and the parameters given the
# shape), vectors along the points of the shape.
shapes_of_columns <- function(q) {
  of_nodes <- q[vapply(q, function(v) identical(dim(v), dim(q$shape_node)), NA)]
  lapply(seq_len(nrow(q$shape_node)), function(j) {
    used <- q$shape_prob[j, ] > 0
    lapply(of_nodes, function(v) v[j, used])
  })
}

# Interpolates the posterior of a shape between its points, which are equally spaced in a smooth function of
# the shape. Returns functions of a point's number, whole or not: the logs of the shape, of the density there,
# and of the parameters.
between_points <- function(column) {
  at <- seq_along(column$shape_node)
  lapply(column, function(v) stats::splinefun(at, log(v), "natural"))
}

# Draws the shape of a column and the parameters given it. The points are shifted at random, so that draws
# have a density and do not all lie on the points.
draw_shape <- function(column) {
  if (length(column$shape_node) == 1L) {
    return(column[names(column) != "shape_prob"])
  }
  curves <- between_points(column)
  at <- seq_along(column$shape_node) + stats::runif(1L) - 0.5
  height <- curves$shape_prob(at)
  drawn <- at[sample.int(length(at), 1L, prob = exp(height - max(height)))]
  lapply(curves[names(curves) != "shape_prob"], function(curve) exp(curve(drawn)))
}

# The quantile of a shape at the probability p; NA for a known shape.
shape_quantile <- function(column, p) {
  if (length(column$shape_node) == 1L) {
    return(NA_real_)
  }
  curves <- between_points(column[c("shape_node", "shape_prob")]) # directions may be negative
  at <- seq(0.5, length(column$shape_node) + 0.5, by = 0.01)
  density <- exp(curves$shape_prob(at))
  below <- cumsum(c(0, (density[-1L] + density[-length(density)]) / 2))
  exp(curves$shape_node(where_reached(p * below[length(below)], below, at)))
}

# Where a function reaches a value for the last time. below: its values at the points `at`, from low to high;
# lines connect them.
where_reached <- function(value, below, at) {
  i <- min(findInterval(value, below), length(at) - 1L)
  at[i] + (at[i + 1L] - at[i]) * (value - below[i]) / (below[i + 1L] - below[i])
}

# The quantile of a mixture over the points of a shape: the value at which the average of below(value,
# column), the probability given each point, equals p. near: a value not far from it.
mixture_quantile <- function(column, p, near, below) {
  off <- function(log_value) sum(column$shape_prob * below(exp(log_value), column)) - p
  exp(stats::uniroot(off, log(near) + c(-1, 1), extendInt = "upX", tol = 1e-10)$root)
}

# Quantiles of the shape, under its name, and of `location`, the mean of each column. mean_near: a function
# that returns roughly the mean given each point; below(mean, column): the probability, given each point, that
# the mean is at most this large.
shaped_quantiles <- function(shape, mean_near, below, location = "mean") {
  mean <- function(q, p) {
    vapply(shapes_of_columns(q), function(column) {
      mixture_quantile(column, p, mean_near(column)[which.max(column$shape_prob)], below)
    }, 1)
  }
  of_shape <- function(q, p) vapply(shapes_of_columns(q), shape_quantile, 1, p)
  stats::setNames(list(of_shape, mean), c(shape, location))
}

# The expectation of f(column) over the points of each column's shape.
over_shapes <- function(q, f) vapply(shapes_of_columns(q), function(column) sum(column$shape_prob * f(column)), 1)

# The expectation of a predictive moment over the points of each column's shape. The moment is infinite for
# some shapes near 0: these are left out where they have hardly any probability, as with enough data;
# otherwise the result is Inf.
moment_over_shapes <- function(q, moment) {
  vapply(shapes_of_columns(q), function(column) {
    value <- moment(column)
    known <- is.finite(value) & value >= 0
    if (sum(column$shape_prob[!known]) > 1e-6) Inf else sum((column$shape_prob * value)[known])
  }, 1)
}
