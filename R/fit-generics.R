# Questions about a fit whose answers differ by family. Each is a generic, declared here with its contract; its methods
# are in the files of the families, and methods(class = "bnp_lds"), for example, lists what linear systems answer
# differently. fit: a fit; data: the internal form of data that were read for this fit.

# The probabilities behind state_probabilities() and responsibilities(): rows (or individuals) x clusters; data has at
# least one row. For sequences the predictive ones are given all rows, at the posterior means of the transitions; for
# linear systems both are q(z) (see `type` of predict.bnp_hmm()).
predictive_states <- function(fit, data) UseMethod("predictive_states")
local_step <- function(fit, data) UseMethod("local_step")

# Mean weights of the clusters in their order and, last, of a cluster that is not seen yet, which is 0 where the prior
# allows none. One row; with weights by time, one row for each time; with weights by covariates, one for each pattern of
# the data, or their average if data is NULL.
weights_with_new <- function(fit, data = NULL) UseMethod("weights_with_new")

# Checks the shape of a fit that may have been changed by hand: a named logical vector, TRUE for each part that is as it
# should be.
shape_of <- function(fit) UseMethod("shape_of")

# Refuses a state that the engine cannot hold, in a fit whose shape has passed shape_of().
try_state <- function(fit, call) UseMethod("try_state")

# The parameters that posterior_params() returns.
all_parameters <- function(fit) UseMethod("all_parameters")

# Additional columns of glance(), as a list.
glance_columns <- function(fit) UseMethod("glance_columns")
glance_columns.default <- function(fit) list()

# ---- Sequences ------------------------------------------------------------------------------------------------------

# The number of each row's state on the most probable path.
viterbi_path <- function(fit, data) UseMethod("viterbi_path")

# The probability of each row's state on the path fit$labels. most: rows times states that are held in memory at once.
path_probabilities <- function(fit, data, most = 5e6) UseMethod("path_probabilities")

# q(x) of the hidden states of linear systems, list(mean, var), for the rows of data, by default the training data; NULL
# for models without such states.
latent_rows <- function(fit, data = NULL) UseMethod("latent_rows")
latent_rows.default <- function(fit, data = NULL) NULL

# The log density of each row given the rows before it. plugin: at point estimates of the parameters.
log_densities_ahead <- function(fit, data, plugin = FALSE, call = rlang::caller_env()) UseMethod("log_densities_ahead")

# p(z_{T+1} | x_1, ..., x_T): sequences x states.
first_state_ahead <- function(fit, data) UseMethod("first_state_ahead")

# Forecasts of rows: list(mean, var), each a list with a matrix (sequences x columns) for each step. states: the
# probabilities of the states at each step (sequences x states).
moments_ahead <- function(fit, data, states, transition, call) UseMethod("moments_ahead")

# The number of rows at the beginning of a sequence that have no state of their own, and get that of the first row after
# them.
rows_without_state <- function(fit) UseMethod("rows_without_state")

# Parameters of the clusters from which simulated rows are drawn; with `new` also, last, of a cluster that is not seen
# yet.
clusters_to_draw <- function(fit, params, new) UseMethod("clusters_to_draw")

# tidy(): one row for each state, or for each coefficient of each state.
tidy_states <- function(fit) UseMethod("tidy_states")

# Additional columns of augment(), as a list; data$expected: latent_rows() of the data.
augment_columns <- function(fit, data) UseMethod("augment_columns")
augment_columns.default <- function(fit, data) list()

# ---- Rows and what they belong to ----------------------------------------------------------------------------------

# The unit for which predict() has a value: "row" or "document".
row_word <- function(fit) UseMethod("row_word")
row_word.default <- function(fit) "row"

# The unit to which rows belong and of which batches are made: "sequence", "document", ...; NULL where each row is its
# own unit.
unit_word <- function(fit) UseMethod("unit_word")
unit_word.default <- function(fit) NULL

# Whether documents, sequences or times have weights of clusters of their own, so that the top-level weights are not
# shares of the data.
is_grouped <- function(fit) UseMethod("is_grouped")
is_grouped.default <- function(fit) TRUE

# Whether single tokens belong to clusters.
is_of_tokens <- function(fit) UseMethod("is_of_tokens")
is_of_tokens.default <- function(fit) FALSE

# Reads new data, which the user gave as `arg`, into the internal form with the columns of the training data.
read_rows <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL) UseMethod("read_rows")

# Refuses an `na_action` that such a fit does not support (NULL: none was given), and returns it.
known_action <- function(fit, na_action, call) UseMethod("known_action")
known_action.default <- function(fit, na_action, call) check_na_action(na_action, call)

# The hard label of each row, or of each document of counts, in the user's order.
hard_labels <- function(fit) UseMethod("hard_labels")
hard_labels.default <- function(fit) in_user_order(fit, fit$labels)

# The data of which a fit was made, in words: "272 rows of 2 columns".
described_data <- function(fit) UseMethod("described_data")

# The lines of print() that describe the clusters.
described_clusters <- function(fit) UseMethod("described_clusters")

# Memberships for package clue, rows x clusters: probabilities where the fit keeps them, else 0 and 1.
membership_of <- function(fit) UseMethod("membership_of")

# Clusters given the observed cells of rows: list(prob, draw). prob: rows x clusters; draw: a function that draws a
# cluster for each row. With `new` both include, last, a cluster that is not seen yet.
clusters_given <- function(fit, data, new = TRUE) UseMethod("clusters_given")

# Communities of an assortative model whose links within are less probable than links between communities. The model
# allows them, but cannot say where their links go.
avoiding_communities <- function(fit) UseMethod("avoiding_communities")
avoiding_communities.default <- function(fit) integer()

# ---- Draws from the posterior (R/sample.R) ---------------------------------------------------------------------------

# Labels drawn from the fit's probabilities (for sequences, whole paths), one set for each chain number: n x chains.
# model: the model of the draws.
labels_from_fit <- function(fit, data, model, numbers, seed) UseMethod("labels_from_fit")

# What draws keep of the observations of the data: a list of their fields.
observations_of <- function(fit, data) UseMethod("observations_of")
observations_of.default <- function(fit, data) list()

# ---- Truncation-free learning (R/truncation-free.R) ------------------------------------------------------------------

# A further batch in the internal form. new_terms: what to do with terms that the fit does not know.
read_batch <- function(fit, batch, id, call, arg, na_action, new_terms) UseMethod("read_batch")
read_batch.default <- function(fit, batch, id, call, arg, na_action, new_terms) {
  read_rows(fit, batch, id, call, arg, na_action)
}

# A fit made by another algorithm, in the form (fit$stream) from which truncation-free learning goes on.
stream_of_fit <- function(fit) UseMethod("stream_of_fit")

# The function of the engine that learns from a batch.
stream_engine <- function(fit) UseMethod("stream_engine")
stream_engine.default <- function(fit) engine_stream

# ---- Updates (R/update.R) --------------------------------------------------------------------------------------------

# A fit after learning from newdata. Methods call read_arguments() and check_no_dots() themselves. new_terms: as in
# update().
take_in <- function(fit, newdata, olddata, new_terms, ..., error_call = rlang::caller_env()) UseMethod("take_in")

# Reads newdata as read_rows() does and, for mixtures, with everything that training rows have; refuses a `time` that
# the fit does not have.
read_more <- function(fit, newdata, id, na_action, time, call) UseMethod("read_more")

# Such data with the weights of rows, sequences or documents that were given, and whatever is computed from weights.
with_more_weights <- function(fit, data, weights, call) UseMethod("with_more_weights")

# Such data with labels of their rows or documents, which must be classes of the fit.
with_more_labels <- function(fit, data, labels, newdata, call) UseMethod("with_more_labels")

# How many rows (tokens of counts) of each cluster of `before` (rows of the result) are now in each cluster of `out`
# (columns), whose first rows are the rows of `before`.
shared_rows <- function(out, before) UseMethod("shared_rows")

# How many of the last rows (of topics, tokens) of a fit, those of these data, belong to each cluster.
clusters_of_last <- function(fit, data) UseMethod("clusters_of_last")
