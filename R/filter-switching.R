# Rao-Blackwellised particle filters of switching linear systems.

#' @rdname bnp_filter
#' @export
bnp_filter.bnp_lds_model <- function(object, newdata = NULL, id = NULL, particles = 100L,
                                     collapse = c("none", "gpb2"), seed = NULL, ..., inputs = NULL, keep = Inf,
                                     threads = default_threads()) {
  check_no_dots(...)
  check_object(object)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  filter_systems(list(object), newdata, id, inputs, particles, collapse, seed, keep, threads)
}

#' @rdname bnp_filter
#' @export
bnp_filter.list <- function(object, newdata = NULL, id = NULL, particles = 100L, collapse = c("none", "gpb2"),
                            seed = NULL, ..., inputs = NULL, keep = Inf, threads = default_threads()) {
  check_no_dots(...)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  if (!length(object) || !all(vapply(object, inherits, NA, "bnp_lds_model"))) {
    abort("argument", c(
      "{.arg object} is a list that does not hold what {.fn lds_model} makes.",
      i = "Give one system, or a list of systems of the same sizes."
    ))
  }
  for (system in object) check_object(system)
  sizes <- vapply(object, size_of_system, "")
  if (length(unique(sizes)) > 1L) {
    other <- which(sizes != sizes[1L])[1L]
    abort("argument", c(
      "The systems of {.arg object} must have the same numbers of state variables, modes, columns and inputs, and all
       or none of them {.arg C}, {.arg R} or {.arg G} by mode.",
      x = "System {other} differs from the first."
    ))
  }
  filter_systems(unname(object), newdata, id, inputs, particles, collapse, seed, keep, threads)
}

# The sizes that several linear systems must have in common, as one text to compare.
size_of_system <- function(x) paste(c(dim(x$A), nrow(x$C), n_inputs(x), x$by_mode), collapse = " ")

# Makes a filter of linear systems. systems: a list of systems, or a function that draws one for each particle
# from a seed; columns: the columns of the data that hold the known inputs.
filter_systems <- function(systems, newdata, id, inputs, particles, collapse, seed, keep, threads,
                           call = rlang::caller_env(), columns = NULL) {
  particles <- check_count(particles, "particles", call = call)
  seed <- check_seed(seed, call) %||% draw_seed()
  if (is.function(systems)) systems <- systems(particles, seed)
  collapse <- check_choice(collapse, c("none", "gpb2"), "collapse", call)
  if (collapse == "none" && particles < length(systems)) {
    abort("argument", c(
      "{.arg particles} must be at least the number of systems in {.arg object}, {length(systems)}, not {particles}.",
      i = "Each system needs a particle of its own at the start."
    ), call = call)
  }
  options <- list(
    particles = particles, collapse = collapse, seed = seed, keep = check_keep(keep, call),
    threads = check_count(threads, "threads", call = call)
  )
  input <- list(d = nrow(systems[[1L]]$C), column_names = systems[[1L]]$columns, id_column = NULL)
  if (!is.null(columns)) input$input_columns <- columns
  new_filter("switching", systems, options, input, newdata, id, inputs, call)
}

# Reads new rows of data as numeric columns.
read_numbers <- function(f, newdata, id, call, arg = "newdata") {
  obs <- obs_gaussian("diagonal")
  obs$inputs <- f$input$input_columns
  if (is.null(f$input$d)) {
    return(as_sequence_data(newdata, obs, id, arg, call, "model", "filter"))
  }
  reader <- list(model = list(obs = obs), input = f$input[c("d", "column_names")])
  rows_of_sequences(reader, newdata, id, call, arg, "model", NULL, "filter")
}

# Runs the engine's filter over rows x. inputs: a matrix of known inputs with a row for each row of x.
run_systems <- function(f, x, inputs, starts, sequences, collapse, call, what = "newdata") {
  no_room <- function(e) {
    abort("memory", c(
      "There is not enough memory for so many {.arg particles}.", i = "Choose fewer, or {.code collapse = \"gpb2\"}."
    ), call = call)
  }
  out <- tryCatch(engine_filter_switching(
    lapply(f$model, as_engine_system), t(x), t(inputs), as.integer(starts), vapply(sequences, function(s) s$number, 1),
    vapply(sequences, function(s) s$n, 1), lapply(sequences, function(s) s$state), f$options$particles, collapse,
    f$options$seed, f$options$threads
  ), `std::bad_alloc` = no_room, `std::length_error` = no_room)
  for (g in seq_along(out)) refuse_trouble(out[[g]], names(sequences)[g], sequences[[g]]$n, what, call)
  out
}

refuse_trouble <- function(out, name, n, what, call) {
  if (is.null(out$trouble) || out$trouble == "") {
    return(invisible())
  }
  row <- n + (out$row %||% NA)
  where <- if (is.na(row)) "" else cli::format_inline(" (row {row} of sequence {.val {name}})")
  where <- gsub("([{}])", "\\1\\1", where)
  switch(out$trouble,
    no_density = abort("no_density", c(
      paste0("{.arg {what}} has a row whose density is 0 for every particle", where, "."),
      i = "It is too far from what the system predicts: check the units of the columns, or give larger noise {.arg R}."
    ), call = call),
    without_noise = abort("without_noise", c(
      paste0("{.arg {what}} has a cell without noise that is known from the others", where, ": it has no density."),
      i = "Give {.arg R}, {.arg Q} or {.arg start_var} of {.fn lds_model} larger variances."
    ), call = call),
    overflow = abort("overflow", c(
      paste0("The states that {.arg {what}} leads to are too large for numbers", where, "."),
      i = "The system is unstable: look at the eigenvalues of {.arg A} of {.fn lds_model}."
    ), call = call)
  )
}

take_switching <- function(f, sequences, data, call) {
  out <- run_systems(f, data$x, data$inputs, data$starts, sequences, f$options$collapse == "gpb2", call)
  first <- f$model[[1L]]
  lapply(out, function(one) {
    colnames(one$prob) <- seq_len(ncol(one$prob))
    colnames(one$mean) <- colnames(one$sd) <- first$states
    columns <- f$input$column_names %||% data$column_names %||% default_names(ncol(one$ahead_mean))
    colnames(one$ahead_mean) <- colnames(one$ahead_sd) <- colnames(one$below) <- columns
    list(
      rows = one[c(
        "log_density", "size", "prob", "mean", "sd", "ahead_mean", "ahead_sd", "below", "kept", "origin"
      )],
      state = one$particles
    )
  })
}

# Probabilities P(z_t | all rows) of the modes in each row of a sequence, from the histories of the particles
# that remain.
smooth_switching <- function(f, sequence, call) {
  if (f$options$collapse == "gpb2") {
    abort("argument", c(
      "{.code type = \"smoothed\"} needs histories, which {.code collapse = \"gpb2\"} does not keep.",
      i = "Filter with {.code collapse = \"none\"}."
    ), call = call)
  }
  rows <- sequence$rows
  prob <- rows$prob
  k <- ncol(prob)
  end <- cumsum(rows$kept)
  at <- seq_along(sequence$state$weight)
  for (t in rev(which(rows$kept > 0L))) {
    origin <- rows$origin[end[t] - rows$kept[t] + at]
    prob[t, ] <- vapply(seq_len(k) - 1L, function(j) sum(sequence$state$weight[origin %% k == j]), 1)
    at <- origin %/% k + 1L
  }
  prob
}

# Forecasts of switching linear systems. Means, variances and probabilities of modes are exact given the
# particles: the filter processes rows without data, and particles with the same mode are joined. Intervals
# are quantiles over particles. inputs: for each sequence a matrix h x q of known inputs.
switching_ahead <- function(f, h, type, interval, inputs, call) {
  d <- f$input$d
  n <- length(f$sequences)
  missing <- matrix(NA_real_, h * n, d)
  starts <- seq(0L, by = h, length.out = n + 1L)
  out <- run_systems(f, missing, do.call(rbind, inputs), starts, f$sequences, TRUE, call, "object")
  gather <- function(name, step) do.call(rbind, lapply(out, function(one) one[[name]][step, ]))
  if (type == "class") {
    k <- dim(f$model[[1L]]$A)[3L]
    return(lapply(seq_len(h), function(step) list(prob = `colnames<-`(gather("prob", step), seq_len(k)))))
  }
  fields <- if (type == "latent") c("mean", "sd") else c("ahead_mean", "ahead_sd")
  names <- if (type == "latent") f$model[[1L]]$states else f$input$column_names %||% default_names(d)
  quantiles <- Map(function(s, inputs) {
    quantiles_ahead(f$model, s$state, inputs, s$number, s$n, f$options$seed, interval, type, call)
  }, f$sequences, inputs)
  lapply(seq_len(h), function(step) {
    ends <- function(end) do.call(rbind, lapply(quantiles, function(q) q[[step]][[end]]))
    list(
      mean = `colnames<-`(gather(fields[1L], step), names), sd = gather(fields[2L], step), lower = ends("lower"),
      upper = ends("upper")
    )
  })
}

# Quantiles of the Gaussian mixture over particles after each of h rows without data: a list of `lower` and
# `upper`. inputs: known inputs of these rows, h x q.
quantiles_ahead <- function(systems, particles, inputs, number, clock, seed, interval, type, call, most = 1000) {
  steps <- engine_particles_ahead(lapply(systems, as_engine_system), particles, t(inputs), number, clock, most, seed)
  refuse_trouble(steps, "", 0, "object", call)
  Map(function(p, step) {
    m <- nrow(p$mean)
    variance <- p$cov[(seq_len(m) - 1L) * m + seq_len(m), , drop = FALSE]
    mean <- p$mean
    if (type == "response") {
      seen <- lapply(seq_along(p$weight), function(i) {
        s <- lapply(systems[[p$system[i] + 1L]][c("C", "R", "G")], of_one_mode, p$mode[i] + 1L)
        c <- s$C[, seq_len(m), drop = FALSE]
        shift <- if (is.null(s$G)) 0 else drop(s$G %*% inputs[step, ])
        cbind(
          drop(c %*% p$mean[, i]) + s$C[, m + 1L] + shift, rowSums(c %*% matrix(p$cov[, i], m) * c) + diag(s$R)
        )
      })
      mean <- vapply(seen, function(x) x[, 1L], numeric(nrow(systems[[1L]]$C)))
      variance <- vapply(seen, function(x) x[, 2L], numeric(nrow(systems[[1L]]$C)))
      dim(mean) <- dim(variance) <- c(nrow(systems[[1L]]$C), length(p$weight))
    }
    ends <- vapply(seq_len(nrow(mean)), function(j) {
      quantile_of_mixture(interval_ends(interval), p$weight, mean[j, ], sqrt(pmax(0, variance[j, ])))
    }, numeric(2L))
    list(lower = ends[1L, ], upper = ends[2L, ])
  }, steps, seq_along(steps))
}

# Quantiles of a mixture of Gaussians at probabilities p, by bisection.
quantile_of_mixture <- function(p, weight, mean, sd) {
  vapply(p, function(p) {
    each <- mean + sd * stats::qnorm(p)
    low <- min(each)
    high <- max(each)
    for (i in seq_len(60L)) {
      middle <- low + (high - low) / 2
      if (middle <= low || middle >= high) break
      if (sum(weight * stats::pnorm(middle, mean, sd)) < p) low <- middle else high <- middle
    }
    high
  }, 1)
}
