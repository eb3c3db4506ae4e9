# Entries of the engine that only tests call. A build for users has none (src/testing is left out of it), and tests
# that call one are skipped there. `make test` builds with BNPVI_TESTING=1, where there are all.
testing_entries <- c(
  "engine_anchor_topics", "engine_anchor_topics_by_batch", "engine_best_assignment", "engine_capabilities",
  "engine_contract",
  "engine_dirichlet_rows", "engine_document_visit", "engine_driver", "engine_elbo_of", "engine_failed_groups",
  "engine_feature_prior", "engine_features_without", "engine_first_success", "engine_hyper_shares",
  "engine_hyperparameters",
  "engine_join_alike", "engine_kernel", "engine_lds_chain",
  "engine_learned", "engine_learned_with_names", "engine_link_blocks", "engine_link_summary", "engine_log_predictives",
  "engine_messages",
  "engine_merge_forecasts",
  "engine_mixture_weights", "engine_moved_search", "engine_named", "engine_named_draws", "engine_near_order",
  "engine_network_changes",
  "engine_network_joint", "engine_network_laps",
  "engine_network_local", "engine_network_soft", "engine_network_soft_steps", "engine_network_steps",
  "engine_network_together", "engine_parameter_draws", "engine_re_express", "engine_scalable_kmeans",
  "engine_select_particles", "engine_sequence_pieces", "engine_source", "engine_sparse_visit", "engine_special",
  "engine_spool_cut", "engine_shape_integral",
  "engine_sticks", "engine_tangent_visit", "engine_top_draws", "engine_topic_part", "engine_topic_sums",
  "engine_tree_cut", "engine_tree_messages",
  "engine_urn", "engine_variates", "engine_window_visit", "engine_windows", "engine_with_sums"
)

skip_without_testing_entries <- function() {
  skip_if(length(engine_testing_entries()) == 0L, "a build without the entries for tests (BNPVI_TESTING=1 has them)")
}

# An entry as a function of its arguments.
testing_entry <- function(name) {
  arguments <- engine_testing_entries()[[name]]
  if (is.null(arguments)) {
    return(function(...) skip_without_testing_entries())
  }
  values <- stats::setNames(lapply(arguments, as.name), NULL)
  call <- as.call(list(quote(engine_testing), name, as.call(c(quote(list), values))))
  rlang::new_function(rlang::rep_named(arguments, list(rlang::missing_arg())), call, asNamespace("bnpvi"))
}
for (name in testing_entries) assign(name, testing_entry(name))
