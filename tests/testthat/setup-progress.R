# Tests say when they want to hear of fits that take long; a busy machine must not make others speak.

withr::local_options(bnpvi.progress_after = Inf, .local_envir = teardown_env())
