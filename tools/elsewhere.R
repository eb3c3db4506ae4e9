# Compiles the engine for machines that are not this one, and runs its inner loops there (tools/kernels-elsewhere.cpp):
# Windows by mingw-w64 and wine, 64-bit ARM by qemu-user (Debian: g++-mingw-w64-x86-64, wine, g++-aarch64-linux-gnu,
# qemu-user). What is missing is named and left out. Of the two compilers for Windows that Debian has, the one with the
# threads of POSIX is taken: R's tools for Windows have them, and the other lacks std::mutex.
#
#   Rscript tools/elsewhere.R [windows] [arm64]          from the root of the package; both by default
machines <- list(
  windows = list(compiler = "x86_64-w64-mingw32-g++-posix", runner = "wine", flags = "-DBNPVI_ANY_STACK"),
  arm64 = list(compiler = "aarch64-linux-gnu-g++", runner = "qemu-aarch64", flags = character())
)
eigen <- system.file("include", package = "RcppEigen")
folder <- tempfile("elsewhere")
dir.create(folder)

# Runs a program; an error shows what it says if it fails. Returns what it says.
run <- function(program, arguments, env = character()) {
  said <- suppressWarnings(system2(program, shQuote(arguments), stdout = TRUE, stderr = TRUE, env = env))
  if (!is.null(attr(said, "status"))) {
    writeLines(utils::tail(said, 30))
    stop(program, " ", paste(arguments, collapse = " "), call. = FALSE)
  }
  said
}

# Files of the engine, which know nothing of R: all but those of the interface and of tests.
engine_files <- function() {
  objects <- unlist(regmatches(lines <- readLines("src/Makevars"), gregexpr("[[:alnum:]_/]+[.]o\\b", lines)))
  file.path("src", sub("o$", "cpp", objects[!grepl("^(r_|testing/|RcppExports)", objects)]))
}

compile_all <- function(machine, options) {
  files <- engine_files()
  results <- parallel::mclapply(files, function(file) {
    try(run(machine$compiler, c(options, "-fsyntax-only", file)), silent = TRUE)
  }, mc.cores = parallel::detectCores())
  failed <- vapply(results, inherits, NA, "try-error")
  if (any(failed)) stop("Not compiled: ", paste(files[failed], collapse = ", "), call. = FALSE)
  length(files)
}

# Other builds of GCC for Windows move vectors to the stack by instructions that need aligned addresses. The assembly
# is changed to theirs, and assembled as src/Makevars.ucrt does; without that option the program crashes.
with_aligned_moves <- function(assembly) {
  lines <- readLines(assembly)
  stack <- grepl("%r(sp|bp)", lines) & grepl("%[yz]mm", lines)
  lines[stack] <- sub("vmovu(p[sd])", "vmova\\1", lines[stack])
  writeLines(lines, assembly)
  sum(stack)
}

kernels_program <- function(name, machine, options) {
  in_folder <- function(file) file.path(folder, paste0(name, "-", file))
  versions <- c("kernels_avx2", "kernels_avx512")
  for (file in c("kernels", "kernels_base", versions)) {
    assembly <- in_folder(paste0(file, ".s"))
    run(machine$compiler, c(options, "-S", file.path("src/kernels", paste0(file, ".cpp")), "-o", assembly))
    changed <- if (name == "windows" && file %in% versions) with_aligned_moves(assembly) else 0L
    run(machine$compiler, c(
      if (changed) "-Wa,-muse-unaligned-vector-move", "-c", assembly, "-o", in_folder(paste0(file, ".o"))
    ))
  }
  program <- in_folder("program.exe")
  objects <- in_folder(paste0(c("kernels", "kernels_base", versions), ".o"))
  run(machine$compiler, c(options, "-static", "tools/kernels-elsewhere.cpp", objects, "-o", program))
  program
}

asked <- commandArgs(TRUE)
for (name in if (length(asked)) asked else names(machines)) {
  machine <- machines[[name]]
  if (!nzchar(Sys.which(machine$compiler))) {
    message(name, ": left out, as ", machine$compiler, " is not installed.")
    next
  }
  options <- c("-std=gnu++17", "-O2", "-w", "-DNDEBUG", "-Isrc", paste0("-I", eigen), machine$flags)
  program <- kernels_program(name, machine, options)
  if (nzchar(Sys.which(machine$runner))) {
    prefix <- c(paste0("WINEPREFIX=", file.path(folder, "wine")), "WINEDEBUG=-all")
    said <- run(machine$runner, program, if (name == "windows") prefix else character())
    writeLines(paste0(name, ": ", grep("^kernels", said, value = TRUE)))
  } else {
    message(name, ": the inner loops are not run, as ", machine$runner, " is not installed.")
  }
  message(name, ": ", compile_all(machine, options), " files of the engine compile")
}
