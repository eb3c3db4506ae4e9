# Pictures look as they did when somebody last looked at them. If one is changed on purpose: look at it, then
# testthat::snapshot_accept("snapshots").

test_that("pictures are those of the snapshots", {
  skip_on_cran()
  skip_if_not_installed("vdiffr")
  pictures <- snapshot_pictures()
  for (name in names(pictures)) vdiffr::expect_doppelganger(name, pictures[[name]])
})
