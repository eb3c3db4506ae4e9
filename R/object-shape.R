# Checks the shape of objects other than fits: draws, filters and other results that the package reads again.
# A user who has changed one by hand gets an error that says what is wrong, as with fits (R/fit-shape.R):
# every function that reads one calls check_object() first, and one table has the requirements of all classes.
# Values of the right shape that make no sense are not detected.

check_object <- function(x, call = rlang::caller_env()) {
  class <- intersect(class(x), names(object_shapes))[1L]
  what <- object_shapes[[class]]
  if (!is.null(attr(x, "seal"))) {
    check_seal(x, call, what$called)
    return(invisible(x))
  }
  part <- if (!is.null(what$within)) x[[what$within]]
  if (inherits(part, "bnp_fit")) check_format(part, call) else if (inherits(part, names(object_shapes))) {
    check_object(part, call)
  }
  wrong <- tryCatch(wrong_parts(what$shape(x)), error = function(e) "everything")
  if (!is.null(wrong)) {
    refuse_damaged(cli::format_inline("It is not as it was made: {.field {wrong}}."), call, what$called)
  }
  invisible(x)
}

is_text <- function(x) is.character(x) && !anyNA(x)
are_whole <- function(x, from, to) {
  is.numeric(x) && !anyNA(x) && (!length(x) || min(x) >= from && max(x) <= to && all(x == round(x)))
}
are_finite <- function(x, length) is.numeric(x) && length(x) == length && all(is.finite(x))
is_array_of <- function(x, size) is.numeric(x) && identical(as.double(dim(x)), as.double(size)) && all(is.finite(x))
are_columns <- function(x, names, rows = nrow(x)) {
  is.data.frame(x) && all(names %in% names(x)) && nrow(x) == rows && !anyNA(x[names])
}

shape_of_draws <- function(x) {
  options <- x$options
  fit <- x$fit
  size <- dim(x$trace)
  n <- length(x$chains[[1L]]$labels)
  c(which_hold(
    "fit" = inherits(fit, sampled_verbs),
    "model$prior" = identical(x$model$prior, without_learned_values(fit$model$prior)),
    "model$obs" = identical(without_gaps(x$model$obs, list()), sampled_obs(fit$model$obs, list())),
    "options$chains" = is_whole(options$chains, 1), "options$draws" = is_whole(options$draws, 1),
    "options$warmup" = is_whole(options$warmup), "options$thin" = is_whole(options$thin, 1),
    "options$keep" = are_whole(options$keep, 0, Inf) && length(options$keep) == 1L,
    "options$split_merge" = is_whole(options$split_merge), "options$seed" = are_finite(options$seed, 1L),
    "options$threads" = is_whole(options$threads, 1),
    "options$verbose" = is.null(options$verbose) || rlang::is_bool(options$verbose),
    "made" = are_finite(x$made, 1L) && size[1L] == x$made %/% options$thin,
    "every" = are_finite(x$every, 1L) && x$every %% options$thin == 0 && (x$every > 0) == (options$keep > 0),
    "trace" = is.numeric(x$trace) && length(size) == 3L && size[2L] == options$chains && !anyNA(x$trace) &&
      setequal(dimnames(x$trace)[[3L]], c(
        "n_clusters", "log_joint", "largest", "entropy", names(sampled_concentrations(x$model$prior))
      )) && are_whole(x$trace[, , c("n_clusters", "largest")], 0, n),
    "labels" = is.null(x$labels) && is.null(x$kept) || is.matrix(x$labels) && nrow(x$labels) == n &&
      are_whole(x$labels, 1, most_states(x, n)),
    "scales" = if (any_tails(fit$model$obs) && !is.null(x$labels)) is.matrix(x$scales) &&
      ncol(x$scales) == ncol(x$labels) && are_scales(x$scales, n, fit$model$obs) else is.null(x$scales),
    "kept" = is.null(x$kept) && is.null(x$labels) || identical(names(x$kept), c("chain", "draw")) &&
      are_columns(x$kept, c("chain", "draw"), ncol(x$labels)) && are_whole(x$kept$chain, 1, size[2L]) &&
      are_whole(x$kept$draw, 1, size[1L])
  ), shape_of_chains(x, n), which_hold(
    "of_fit" = if (row_word(fit) == "document") are_whole(x$of_fit, 1, Inf) && length(x$of_fit) == n else
      is.null(x$of_fit) && length(labels_of_fit(x)) == n,
    "tokens" = if (!is_of_tokens(fit)) is.null(x$tokens) else length(x$tokens$document) == n &&
      are_whole(x$tokens$document, 1, length(fit$input$starts) - 1L) && length(x$tokens$term) == n &&
      are_whole(x$tokens$term, 1, fit$input$d)
  ))
}

# The largest possible number of states. It is the number of rows, unless known transitions distinguish the
# states; then the prior has their number.
most_states <- function(x, n) if (has_places(x$model$prior)) x$model$prior$k else n

# Scales of n rows: each row has one for each block of Student-t rows.
are_scales <- function(scales, n, obs) {
  each <- sum(vapply(blocks_or_self(obs), has_tails, NA))
  is.numeric(scales) && NROW(scales) == n * each && all(is.finite(scales)) && all(scales > 0)
}

shape_of_chains <- function(x, n) {
  concentrations <- length(sampled_concentrations(x$model$prior))
  most <- most_states(x, n)
  which_hold("chains" = is.list(x$chains) && length(x$chains) == x$options$chains &&
    all(vapply(seq_along(x$chains), function(number) {
      chain <- x$chains[[number]]
      length(chain$labels) == n && are_whole(chain$labels, 1, most) && is.numeric(chain$weights) &&
        length(chain$weights) %in% c(0, max(chain$labels, 0) + 1) && all(is.finite(chain$weights)) &&
        all(chain$weights >= 0) && (is.null(chain$scales) || are_scales(chain$scales, n, x$fit$model$obs)) &&
        are_finite(chain$concentration, concentrations) && all(chain$concentration >= 0) &&
        identical(as.double(chain$sweeps), as.double(x$options$warmup + x$made)) &&
        identical(as.double(chain$number), as.double(number))
    }, NA)))
}

shape_of_dynamic_means <- function(x) {
  paths <- x$trajectories
  all <- x$clusters
  which_hold(
    "columns" = is_text(x$columns) && length(x$columns) > 0L,
    "times" = is.atomic(x$times) && length(x$times) > 0L && !anyNA(x$times),
    "clusters" = are_columns(all, c("cluster", "born", "last", "size")) && are_whole(all$cluster, 1, Inf) &&
      !anyDuplicated(all$cluster) && is.numeric(all$size) && all(all$born %in% x$times & all$last %in% x$times),
    "cluster" = are_whole(x$cluster, 1, Inf) && all(x$cluster %in% all$cluster),
    "trajectories" = are_columns(paths, c("cluster", "time", "size", paste0("mean.", x$columns))) &&
      all(paths$cluster %in% all$cluster) && all(paths$time %in% x$times) && is.numeric(paths$size) &&
      all(paths$size > 0) && all(vapply(paths[paste0("mean.", x$columns)], is.numeric, NA)),
    "objective" = are_finite(x$objective, length(x$times)), "trace" = is.numeric(unlist(x$trace)),
    "lambda" = are_finite(x$lambda, 1L), "q" = are_finite(x$q, 1L), "tau" = are_finite(x$tau, 1L)
  )
}

shape_of_tree <- function(x) {
  k <- length(x$labels)
  joins <- length(x$loss)
  which_hold(
    "labels" = is_text(x$labels) && k > 1L, "loss" = are_finite(x$loss, min(joins, k - 1L)) && joins > 0L,
    "elbo" = are_finite(x$elbo, joins + 1L), "height" = are_finite(x$height, k - 1L),
    "merge" = is.matrix(x$merge) && identical(dim(x$merge), c(k - 1L, 2L)) &&
      setequal(x$merge, c(-seq_len(k), seq_len(k - 2L))) && all(x$merge < row(x$merge)) && !anyDuplicated(c(x$merge)),
    "order" = is_permutation(x$order, k),
    "joins" = is.matrix(x$joins) && identical(dim(x$joins), c(joins, 2L)) && are_whole(x$joins, 1, k) &&
      !anyDuplicated(x$joins[, 2L]) && all(x$joins[, 1L] != x$joins[, 2L]),
    "sizes" = are_finite(x$sizes, k), "word" = rlang::is_string(x$word), "method" = rlang::is_string(x$method),
    "dist.method" = rlang::is_string(x$dist.method), "fitted_elbo" = are_finite(x$fitted_elbo, 1L)
  )
}

shape_of_check <- function(x) {
  which_hold(
    "draws" = inherits(x$draws, "bnp_draws"),
    "n_clusters" = is.table(x$n_clusters) && is.numeric(x$n_clusters) && length(dim(x$n_clusters)) == 1L &&
      !anyNA(x$n_clusters),
    "agreement" = are_finite(x$agreement, 1L), "point" = are_finite(x$point, 1L),
    "evidence" = is.null(x$evidence) || are_finite(x$evidence[c("estimate", "se")], 2L)
  )
}

shape_of_stream <- function(x) {
  which_hold(
    "next_batch" = is.function(x$next_batch) || inherits(x$next_batch, "bnp_source"),
    "n" = identical(x$n, Inf) || is_whole(x$n, 1)
  )
}

shape_of_source <- function(x) {
  are_types <- function(types) !length(types) || all(types %in% text_types) && rlang::is_named(types)
  which_hold(
    "kind" = rlang::is_string(x$kind, c("function", "files", "dbi", "arrow")), "kept" = is.environment(x$kept),
    "spool" = is.null(x$spool) || rlang::is_string(x$spool), "types" = are_types(x$types),
    "declared" = are_types(x$declared),
    "read" = is.function(x$read) || x$kind != "function" && is.null(x$read),
    "batches" = x$kind != "function" || identical(x$batches, Inf) || is_whole(x$batches, 1),
    "rows" = !x$kind %in% c("files", "dbi") || is_whole(x$rows, 1),
    "paths" = x$kind != "files" || is_text(x$paths) && length(x$paths) > 0L,
    "terms" = is.null(x$terms) || is_text(x$terms),
    "query" = x$kind != "dbi" || rlang::is_string(x$query)
  )
}

shape_of_system <- function(x) {
  m <- length(x$states)
  d <- NROW(x$C)
  k <- length(x$start)
  q <- dim(x$F)[2L]
  holds <- function(x, rows, cols) is_array_of(x, c(rows, cols)) || is_array_of(x, c(rows, cols, k))
  which_hold(
    "states" = is_text(x$states) && m > 0L, "start" = are_finite(x$start, k) && k > 0L,
    "A" = is_array_of(x$A, c(m, m + 1L, k)), "Q" = is_array_of(x$Q, c(m, m, k)), "C" = holds(x$C, d, m + 1L),
    "R" = holds(x$R, d, d), "F" = is.null(q) || is_array_of(x$F, c(m, q, k)) && q > 0L,
    "G" = if (is.null(q)) is.null(x$G) else holds(x$G, d, q),
    "inputs" = is.null(x$inputs) || is_text(x$inputs) && identical(length(x$inputs), q),
    "by_mode" = rlang::is_bool(x$by_mode) && (x$by_mode || !any(lengths(lapply(x[c("C", "R", "G")], dim)) == 3L)),
    "start_mean" = are_finite(x$start_mean, m),
    "start_var" = is_array_of(x$start_var, c(m, m)), "transition" = is_array_of(x$transition, c(k, k)),
    "columns" = is.null(x$columns) || is_text(x$columns) && length(x$columns) == d
  )
}

shape_of_functions <- function(x) {
  which_hold(
    "initial" = is.function(x$initial), "move" = is.function(x$move), "log_density" = is.function(x$log_density),
    "observe" = is.null(x$observe) || is.function(x$observe)
  )
}

shape_of_durations <- function(x) which_hold("its numbers" = is.numeric(unclass(x)) && all(is.na(x) | x >= 1))

# For each class: its name in messages (called); a function that checks its fields (shape); and the field that
# is a fit or another object of this table (within).
object_shapes <- list(
  bnp_draws = list(called = "These draws are", within = "fit", shape = shape_of_draws),
  bnp_filter = list(called = "This filter is", shape = function(x) shape_of_filter(x)),
  bnp_dynamic_means = list(called = "This clustering is", shape = shape_of_dynamic_means),
  bnp_tree = list(called = "This tree is", shape = shape_of_tree),
  bnp_check = list(called = "This check of a fit is", within = "draws", shape = shape_of_check),
  bnp_stream = list(called = "This stream is", within = "next_batch", shape = shape_of_stream),
  bnp_source = list(called = "This source is", shape = shape_of_source),
  bnp_lds_model = list(called = "This linear system is", shape = shape_of_system),
  bnp_particle_model = list(called = "This model of functions is", shape = shape_of_functions),
  bnp_durations = list(called = "These durations are", shape = shape_of_durations)
)
