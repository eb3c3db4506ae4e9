# Most tests are about one fit: where they do not say otherwise it has one start, not those of restarts = "auto", the
# default, which has tests of its own (test-restarts.R).
withr::local_options(bnpvi.restarts = 1L, .local_envir = teardown_env())
