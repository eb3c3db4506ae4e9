# Many tests stop fits early on purpose, so that only with_lap_warnings() shows the warning that max_laps was reached.

package_warn_of_laps <- replace_in_package("warn_of_laps", function(...) {
  if (getOption("bnpvi.lap_warnings", FALSE)) package_warn_of_laps(...)
}, teardown_env())

with_lap_warnings <- function(code) withr::with_options(list(bnpvi.lap_warnings = TRUE), code)
