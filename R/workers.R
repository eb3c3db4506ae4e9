# Sends work on batches to other processes, the daemons of package mirai (inst/design/data.md).

# How often a task is sent to other processes before this process does the work itself.
most_tries <- 3L

# How many messages each daemon gets at a time. What many tasks have in common is in each message once, so that few
# messages are short ones; with two, a daemon that is done early takes work from another. A guess.
messages_of_daemon <- 2L

# Work is sent to daemons if it takes at least so many products of numbers for each number that is sent. To send a
# number took as long as some 15 products, and a tenth of the work is to be enough for that: a guess.
least_products <- 100

# The number of seconds that a task may take in another process.
worker_timeout <- function(call = rlang::caller_env()) {
  limit <- getOption("bnpvi.worker_timeout", 600)
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit) || limit <= 0) {
    abort("argument", "The option {.code bnpvi.worker_timeout} must be a number of seconds above 0.", call = call)
  }
  limit
}

check_workers <- function(workers, call = rlang::caller_env()) {
  ok <- rlang::is_bool(workers) || rlang::is_string(workers) && nzchar(workers)
  if (!ok) {
    abort("argument", c(
      "{.arg workers} must be {.code TRUE}, {.code FALSE}, or the name of a compute profile of {.pkg mirai}, not
       {describe(workers)}."
    ), call = call)
  }
  workers
}

# The processes (daemons of mirai) that work for a fit: list(with, threads, finish, traffic). with(model): adds to the
# model what the engine needs to send them work on batches. threads: of this process, as many as there are daemons on
# this machine, since these wait while it works itself.
hire_workers <- function(control, data, obs, class, call) {
  tell_one_batch(control)
  need_package("mirai", "workers", call)
  require_ability(kinds_to_fit(class, obs), "workers", call)
  profile <- if (isTRUE(control$workers)) NULL else control$workers
  limit <- worker_timeout(call)
  folder <- tempfile("workers")
  dir.create(folder)
  folder <- enc2utf8(normalizePath(folder))
  setup <- list(
    version = package_version_here(), kernels = kernels_here(), sparsity = as.integer(control$sparsity),
    candidates = as.integer(control$candidates), threads = as.integer(control$threads)
  )
  shared <- if (is_spooled(data)) dirname(data$spool) else folder
  done <- FALSE
  on.exit(if (!done) unlink(folder, recursive = TRUE))
  beside <- check_daemons(profile, setup, shared, limit, call)
  traffic <- new.env(parent = emptyenv())
  traffic$down <- traffic$up <- 0
  number <- 0L
  files <- character()
  done <- TRUE
  list(
    with = function(model) {
      number <<- number + 1L
      file <- file.path(shared, paste0("setup-", basename(folder), "-", number, ".rds"))
      saveRDS(c(setup, list(model = model)), file)
      files <<- c(files, file)
      run <- function(tasks) work_of_daemons(tasks, file, profile, limit, traffic, control, call)
      messages <- function() messages_of_daemon * connected(profile)
      list(run = run, messages = messages, least_products = least_products, folder = folder)
    },
    threads = max(control$threads, beside),
    finish = function() unlink(c(folder, files), recursive = TRUE),
    traffic = traffic
  )
}

kernels_here <- function() attr(engine_kernel_versions(), "chosen")

connected <- function(profile) {
  n <- tryCatch(mirai::status(.compute = profile)$connections, error = function(e) 0L)
  if (is.numeric(n) && length(n) == 1L && !is.na(n)) n else 0L
}

# Sends each daemon (worker process) the paths of packages, and lets it describe itself. Returns how many daemons are on
# this machine.
check_daemons <- function(profile, setup, folder, limit, call) {
  if (!connected(profile)) {
    start <- if (is.null(profile)) "mirai::daemons(4)" else paste0("mirai::daemons(4, .compute = \"", profile, "\")")
    abort("workers", c(
      paste0("There are no daemons", if (!is.null(profile)) " of the compute profile {.val {profile}}", "."),
      i = "Start some: {.code {start}}; {.code mirai::status()} says how many are connected."
    ), call = call)
  }
  paths <- .libPaths()
  probes <- mirai::everywhere(
    {
      .libPaths(unique(c(paths, .libPaths())))
      if (requireNamespace("bnpvi", quietly = TRUE)) {
        asNamespace("bnpvi")$describe_worker(folder)
      } else {
        list(version = NA_character_)
      }
    },
    .args = list(paths = paths, folder = folder), .compute = profile
  )
  until <- Sys.time() + limit
  here <- 0L
  while (any(vapply(probes, mirai::unresolved, NA)) && Sys.time() < until) Sys.sleep(0.01)
  for (probe in probes) {
    told <- if (mirai::unresolved(probe)) NULL else probe$data
    if (!is.list(told)) {
      abort("workers", c(
        "A daemon does not answer.", x = if (!is.null(told)) as.character(told),
        i = "Start the daemons anew: {.code mirai::daemons(0)}, then as before."
      ), call = call)
    }
    refuse_worker(setup, told, call)
    if (!isTRUE(told$sees)) {
      abort("workers", c(
        "The daemon on {.val {told$machine}} does not see the folder {.file {folder}}.",
        i = "Give data in a source, with a folder that all machines share as {.arg spool}."
      ), call = call)
    }
    here <- here + identical(told$machine, Sys.info()[["nodename"]])
  }
  here
}

# Runs in a daemon (worker process) and describes it: version of the package, kernels, machine, and whether it
# sees the folder.
describe_worker <- function(folder) {
  list(
    version = package_version_here(), kernels = kernels_here(), machine = Sys.info()[["nodename"]],
    sees = dir.exists(folder)
  )
}

# Refuses a daemon (worker process) whose results could differ in bits from those of this process.
refuse_worker <- function(here, there, call) {
  if (!identical(there$version, here$version)) {
    found <- if (is.na(there$version)) "no {.pkg bnpvi}" else "version {there$version} of {.pkg bnpvi}"
    abort("workers", c(
      paste0("A daemon has ", found, ", and this process version {here$version}."),
      i = "Install the same version where the daemons run, and start them anew."
    ), call = call)
  }
  if (!identical(there$kernels, here$kernels)) {
    abort("workers", c(
      "The daemon on {.val {there$machine}} computes with the instructions {.val {there$kernels}}, and this process with
       {.val {here$kernels}}, which round in another way.",
      i = "Set the environment variable {.envvar BNPVI_KERNELS} to {.val {there$kernels}} or {.val base}, whichever all
           machines have, before this process and the daemons start."
    ), call = call)
  }
}

# What a daemon (worker process) stores about the latest fit between tasks.
desk <- new.env(parent = emptyenv())

# Runs in a daemon (worker process): does a task and returns its result, or list(error).
work_on <- function(setup, task) {
  tryCatch(
    {
      if (!identical(desk$setup, setup)) {
        given <- readRDS(setup)
        refuse_worker(given, describe_worker(dirname(setup)), NULL)
        desk$engine <- engine_worker_open(given$model, given$sparsity, given$candidates, given$threads)
        desk$setup <- setup
      }
      engine_worker_run(desk$engine, task)
    },
    error = function(e) list(error = conditionMessage(e))
  )
}

give_out <- function(tasks, setup, profile, limit) {
  at_once <- max(1L, connected(profile))
  paths <- .libPaths()
  lapply(seq_along(tasks), function(i) {
    task <- tasks[[i]]
    mirai::mirai(
      {
        if (!isNamespaceLoaded("bnpvi")) .libPaths(unique(c(paths, .libPaths())))
        asNamespace("bnpvi")$work_on(setup, task)
      },
      .args = list(paths = paths, setup = setup, task = task),
      .timeout = min(1000 * limit * ceiling(i / at_once), .Machine$integer.max), .compute = profile
    )
  })
}

# Lets daemons (worker processes) do tasks. Returns their results, NULL for tasks that were not done; NULL as
# a whole when the user interrupts. Tasks that a daemon does not finish are sent again, which is possible
# since a task depends only on what is sent with it.
work_of_daemons <- function(tasks, setup, profile, limit, traffic, control, call) {
  results <- vector("list", length(tasks))
  left <- seq_along(tasks)
  given <- list()
  on.exit(for (task in given) if (mirai::unresolved(task)) mirai::stop_mirai(task))
  tryCatch(
    for (try in seq_len(most_tries)) {
      if (!connected(profile)) no_daemons_left(control, call)
      given <- give_out(tasks[left], setup, profile, limit)
      traffic$down <- traffic$down + sum(lengths(tasks[left]))
      for (i in seq_along(left)) {
        result <- mirai::call_mirai(given[[i]])$data
        if (is.list(result)) {
          abort("workers", c("A daemon failed in its work.", x = "{result$error}"), call = call)
        }
        if (mirai::is_mirai_error(result)) {
          abort("workers", c("A daemon failed in its work.", x = "{as.character(result)}"), call = call)
        }
        if (is.raw(result)) results[[left[i]]] <- result
      }
      left <- which(vapply(results, is.null, NA))
      if (!length(left)) break
    },
    interrupt = function(e) results <<- NULL
  )
  if (is.null(results)) {
    return(NULL)
  }
  traffic$up <- traffic$up + sum(lengths(results))
  results
}

no_daemons_left <- function(control, call) {
  abort("workers", c(
    "No daemon is connected any more.",
    i = "Start daemons again; {.code mirai::status()} says how many are connected.",
    i = if (is.null(control$checkpoint)) {
      "With {.code bnp_control(checkpoint = )} a fit can go on after such an end."
    } else {
      "Then {.code bnp_resume(\"{control$checkpoint}\", x)} goes on with this fit. With {.code workers = FALSE} it
       needs no daemons."
    }
  ), call = call)
}

# A function that returns the amount of data sent in a lap (a pass over all batches), "1.2 MB down, 340 kB
# up"; it remembers the totals before.
traffic_teller <- function(traffic) {
  if (is.null(traffic)) {
    return(function() "")
  }
  last <- c(0, 0)
  function() {
    now <- c(traffic$down, traffic$up)
    size <- format_bytes(now - last)
    last <<- now
    paste0(", ", size[1L], " down, ", size[2L], " up")
  }
}

format_bytes <- function(n) {
  power <- pmin(3, floor(log(pmax(n, 1), 1000)))
  paste(signif(n / 1000^power, 3), c("B", "kB", "MB", "GB")[power + 1])
}

tell_one_batch <- function(control) {
  if (identical(as.integer(control$batches), 1L)) {
    cli::cli_inform(
      c("There is only one batch, so that only one daemon works at a time.", i = "Give a number of {.arg batches}."),
      class = c("bnpvi_message_workers", "bnpvi_message"), call = NULL
    )
  }
}
