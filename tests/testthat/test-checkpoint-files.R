# Checkpoints touch no file that is not theirs.

in_folder <- function(env = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = env)
  withr::local_dir(folder, .local_envir = env)
}
with_checkpoint <- function(file, ...) {
  suppressWarnings(bnp_mixture(faithful, control = bnp_control(seed = 1, verbose = FALSE, checkpoint = file, ...)))
}
left_beside <- function() list.files(pattern = "[.]bnpvi-")

test_that("files beside a checkpoint stay as they are, whatever their names", {
  in_folder()
  writeLines("precious", "ck.new")
  with_checkpoint("ck", checkpoint_every = 0)
  expect_identical(readLines("ck.new"), "precious")
  expect_setequal(list.files(), c("ck", "ck.new"))
  skip_on_os("windows")
  expect_identical(format(file.mode("ck")), "600")
  writeLines("precious victim", "victim")
  file.symlink("victim", "c2.new")
  with_checkpoint("c2")
  expect_identical(readLines("victim"), "precious victim")
})

test_that("what is no checkpoint is refused before the fit begins, and stays as it is", {
  in_folder()
  laps <- 0
  count <- function(m) if (grepl("^Lap", conditionMessage(m))) laps <<- laps + 1
  refused <- function(file, pattern) {
    withCallingHandlers(
      expect_bad(
        bnp_mixture(faithful, control = bnp_control(seed = 1, verbose = TRUE, checkpoint = file)), "checkpoint", pattern
      ),
      message = count
    )
  }
  for (text in c("my thesis", "", "bnpvi", strrep("x", 1000))) {
    writeLines(text, "thesis.txt")
    before <- bytes_of("thesis.txt")
    refused("thesis.txt", "none of this package's")
    expect_identical(bytes_of("thesis.txt"), before)
  }
  file.create("empty")
  refused("empty", "none of this package's")
  dir.create("folder")
  refused("folder", "no regular file")
  expect_identical(laps, 0)
  skip_on_os("windows")
  with_checkpoint("own")
  before <- bytes_of("own")
  file.symlink("own", "link")
  refused("link", "no regular file")
  file.symlink("nowhere", "dangling")
  refused("dangling", "no regular file")
  expect_identical(bytes_of("own"), before)
  expect_false(file.exists("nowhere"))
  system("mkfifo fifo")
  refused("fifo", "no regular file")
  expect_bad(bnp_resume("fifo", faithful), "checkpoint", "no regular file")
  refused("/dev/null", "no regular file")
  expect_setequal(left_beside(), character())
  expect_s3_class(with_checkpoint("own"), "bnp_mixture") # a checkpoint of before is replaced
})

test_that("a resume removes what was left beside its file, and nothing else", {
  skip_on_os("windows")
  in_folder()
  fit <- with_checkpoint("ck")
  mark <- bytes_of("ck")[1:40]
  writeBin(mark, "ck.bnpvi-0123456789abcdef")
  others <- c(
    "ck.bnpvi-0123456789abcde", "ck.bnpvi-0123456789abcdeg", "ck.bnpvi-0123456789ABCDEF", "ck2.bnpvi-0123456789abcdef",
    "ck.bnpvi-0123456789abcdef0"
  )
  for (name in others) writeBin(mark, name)
  writeLines("a letter", "ck.bnpvi-00000000000000aa")
  file.symlink("ck", "ck.bnpvi-00000000000000bb")
  dir.create("ck.bnpvi-00000000000000cc")
  expect_identical(elbo(bnp_resume("ck", faithful)), elbo(fit))
  expect_setequal(left_beside(), c(others, paste0("ck.bnpvi-00000000000000", c("aa", "bb", "cc"))))
})

test_that("names of temporary files come from the system, and R's generator is left alone", {
  in_folder()
  x <- withr::with_seed(1, runif(1))
  withr::with_seed(1, {
    engine_write_bytes("a", as.raw(1:10))
    expect_identical(runif(1), x)
  })
  expect_identical(list.files(), "a")
})

test_that("a checkpoint that says other things than a fit does calls nothing and ends no session", {
  in_folder()
  with_checkpoint("ck")
  write_header <- function(change) {
    header <- change(engine_checkpoint_header("ck"))
    files <- list(file = "crafted", every = 0, header = serialize(header, NULL), first = TRUE, resume = FALSE)
    unlink("crafted")
    x <- as.matrix(faithful)
    obs <- resolve_obs(obs_gaussian(), as_mixture_data(x, obs_gaussian()), NULL)
    suppressWarnings(engine_fit(
      as_engine_data(as_mixture_data(x, obs_gaussian())), list(obs = obs, prior = prior_dp()),
      engine_control(2, 1, max_laps = 2L, checkpoints = files), NULL, NULL
    ))
  }
  crafted <- list(
    verb = function(h) replace(h, "verb", "system"), two = function(h) replace(h, "verb", list(c("bnp_mixture", "q"))),
    none = function(h) h[setdiff(names(h), "verb")],
    arguments = function(h) replace(h, "arguments", list(list(command = "touch evil"))),
    twice = function(h) replace(h, "arguments", list(c(h$arguments, h$arguments))),
    nameless = function(h) replace(h, "arguments", list(list(1, 2))),
    control = function(h) utils::modifyList(h, list(arguments = list(control = 3))),
    done = function(h) replace(h, "done", list("x")), call = function(h) replace(h, "call", list(1)),
    seed = function(h) replace(h, "seed", list("x")), version = function(h) replace(h, "version", list(1))
  )
  for (name in names(crafted)) {
    write_header(crafted[[name]])
    expect_bad(bnp_resume("crafted", faithful), "checkpoint")
  }
  pointer <- engine_spool_begin("spool", 2L, FALSE, FALSE, cbind(1, 0, 0))
  write_header(function(h) replace(h, "done", list(list(pointer))))
  expect_bad(bnp_resume("crafted", faithful), "checkpoint", "no plain list")
  engine_spool_end(pointer, FALSE)
})

test_that("a path that is too long is refused, without warnings of R", {
  for (path in c(strrep("a", 5000), strrep("a/", 4000), file.path(tempdir(), strrep("a", 4090)))) {
    expect_no_warning(expect_bad(bnp_control(checkpoint = path), "argument", "checkpoint.* longer"))
    expect_no_warning(expect_bad(bnp_resume(path, faithful), "argument", "file.* longer"))
    fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 5, verbose = FALSE))
    file <- withr::local_tempfile(fileext = ".csv")
    utils::write.csv(faithful, file, row.names = FALSE)
    expect_no_warning(expect_bad(predict(fit, source_files(file), write = path), "argument", "write.* longer"))
  }
})
