# Fits of tests keep no data, so that no verb reads them where it should have asked; test-kept-data.R is about those
# that do.
withr::local_options(bnpvi.keep_data = FALSE, .local_envir = teardown_env())
