# Updates in which a fit drops some of its information before it learns from new rows: its earliest times, or
# a part of the weight of its earlier rows.

# A fit of drifting clusters reduced to its last `keep` times, at least one. What the earlier times say about
# the future is summarised in an additional time at the beginning, which exists in the engine only
# (GaussianDrift::condensed); `obs$past` is TRUE if there is one.
with_times_kept <- function(fit, keep, call) {
  if (is.null(keep)) {
    return(fit)
  }
  require_ability(fit, "keep_times", call)
  keep <- check_count(keep, "keep_times", call = call)
  obs <- fit$model$obs
  gone <- length(obs$times) - keep
  if (gone < 1L) {
    return(fit)
  }
  slots <- gone + has_past(obs)
  out <- engine_condense_times(fit$model, fit$state, slots)
  fit$state$obs <- out$obs
  fit$state$log_base <- fit$state$log_base + out$constant
  obs$times <- obs$times[-seq_len(gone)]
  obs$gap <- obs$gap[slots:length(obs$gap)]
  obs$mean_strength <- out$mean_strength
  obs$past <- TRUE
  fit$model$obs <- obs
  fit$input$slot <- ifelse(fit$input$slot > gone, fit$input$slot - gone, NA_integer_)
  fit
}

# Whether the engine has an additional first time that stands for earlier times that were dropped.
has_past <- function(obs) isTRUE(obs$past)

# Gaps between successive times of a fit, without the gap before the first of them.
steps_of <- function(obs) utils::tail(obs$gap, length(obs$times) - 1L)

refuse_past <- function(fit, arg, call) {
  if (has_past(fit$model$obs)) {
    abort("time", c(
      "{.arg {arg}} cannot have rows of times that the fit has given up.",
      i = "Its {.arg keep_times} was {length(fit$model$obs$times)} at the end: fit anew to all rows."
    ), call = call)
  }
}

# A fit whose earlier rows count `discount` times as much. The prior for new rows is the fit's prior times the
# likelihood of the earlier rows to the power `discount`.
with_discount <- function(fit, discount, call) {
  discount <- check_number(discount, "discount", call = call)
  if (discount <= 0 || discount > 1) {
    abort("argument", "{.arg discount} must be above 0 and at most 1, not {discount}.", call = call)
  }
  if (discount == 1) {
    return(fit)
  }
  require_ability(fit, "discount", call)
  for (name in c("obs", "extra", "scalar", "log_base")) fit$state[[name]] <- discount * fit$state[[name]]
  fit$discounted <- TRUE
  fit
}

# Sets the bound of a fit that was updated with a discount to that of the new rows given what was kept of the
# earlier ones: the bound of both minus the bound of the earlier ones.
with_conditional_bound <- function(out, before, n) {
  if (!isTRUE(before$discounted)) {
    return(out)
  }
  known <- engine_bound_of_state(before$model, before$state)
  out$elbo <- out$elbo - known
  out$elbo_terms <- c(unlist(out$elbo_terms), earlier = -known)
  out$trace$elbo <- out$trace$elbo - known
  out$discounted <- TRUE
  out$bound_rows <- n
  out
}

described_forgetting <- function(fit) {
  c(
    if (!is.null(fit$bound_rows)) {
      paste0("Bound of the last ", count_of(fit$bound_rows, "row"), ", given what is kept of those before")
    },
    if (has_past(fit$model$obs)) {
      paste0(
        "Times before ", as.character(fit$model$obs$times[1L]), " are given up, but for what they say of later ones"
      )
    }
  )
}
