# Options of bnp_control() that a fitting function also takes directly, because people change them from call
# to call.

options_beside <- c("seed", "restarts", "threads", "verbose")

# The control in which options that the user gave as `...` of a fitting function replace those of `control`.
# Other arguments in `...` are refused. Called only if `...` has arguments.
control_with <- function(control, ..., call = rlang::caller_env()) {
  given <- names(substitute(list(...)))[-1L] %||% rep("", ...length())
  unused <- given[!given %in% options_beside]
  if (length(unused)) refuse_unused(unused, sys.call(-1L), sys.function(-1L), call)
  check_class(control, "bnp_control", "control", "bnp_control", call)
  if (anyDuplicated(given)) abort("argument", "{.arg {given[duplicated(given)]}} is given twice.", call = call)
  check_algorithm_has(control$algorithm, given, call)
  values <- list(...)
  for (name in given) control[name] <- list(option_checks[[name]](values[[name]], name, call = call))
  check_values_are_used(control, given, call)
  control
}
