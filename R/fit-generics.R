# Questions about a fit whose answers differ by family of models. Each is a generic, declared here with a
# description of its value; its methods are in the files of the families. methods(class = "bnp_lds"), for
# example, lists what linear systems answer differently. fit: a fit; data: the internal form of data that were
# read for this fit.

# The probabilities behind state_probabilities() and responsibilities(): rows (or individuals) x clusters;
# data has at least one row. For sequences, predictive ones are given all rows, at the posterior means of the
# transitions; for linear systems both are q(z) (see `type` of predict.bnp_hmm()).
predictive_states <- function(fit, data) UseMethod("predictive_states")
local_step <- function(fit, data) UseMethod("local_step")

# Mean weights of the clusters in their order and, last, of a cluster that is not seen yet, which is 0 if the
# prior allows none. A matrix of one row; if weights depend on time, of one row for each time; if they depend
# on covariates, of one row for each pattern of the data, or of the average if data is NULL.
weights_with_new <- function(fit, data = NULL) UseMethod("weights_with_new")

# Checks the shape of a fit that may have been changed by hand: a named logical vector, TRUE for each part
# that is right.
shape_of <- function(fit) UseMethod("shape_of")

# Stops with an error if the engine cannot use the state of a fit, whose shape has passed shape_of().
try_state <- function(fit, call) UseMethod("try_state")

# The parameters of a fit that posterior_params() returns.
all_parameters <- function(fit) UseMethod("all_parameters")

# Columns that a family adds to glance() of a fit, as a list.
glance_columns <- function(fit) UseMethod("glance_columns")
glance_columns.default <- function(fit) list()

# ---- Sequences ------------------------------------------------------------------------------------------------------

# The state of each row on the most probable path of its sequence, as a number.
viterbi_path <- function(fit, data) UseMethod("viterbi_path")

# The probability of each row's state on the path fit$labels. most: how many rows times states are held in
# memory at once.
path_probabilities <- function(fit, data, most = 5e6) UseMethod("path_probabilities")

# The posterior q(x) of the hidden states of linear systems, list(mean, var), for the rows of data, by default
# the training data; NULL for models without such states.
latent_rows <- function(fit, data = NULL) UseMethod("latent_rows")
latent_rows.default <- function(fit, data = NULL) NULL

# The log density of each row given the rows before it. plugin: whether it is computed at point estimates of
# the parameters.
log_densities_ahead <- function(fit, data, plugin = FALSE, call = rlang::caller_env()) UseMethod("log_densities_ahead")

# Probabilities of the state of the row after each sequence, p(z_{T+1} | x_1, ..., x_T): sequences x states.
first_state_ahead <- function(fit, data) UseMethod("first_state_ahead")

# Forecasts of rows after each sequence: list(mean, var), each a list with a matrix (sequences x columns) for
# each step. states: the probabilities of the states at each step (sequences x states).
moments_ahead <- function(fit, data, states, transition, call) UseMethod("moments_ahead")

# The number of rows at the beginning of a sequence that have no state of their own. In results they get the
# state of the first row after them.
rows_without_state <- function(fit) UseMethod("rows_without_state")

# Parameters of the clusters from which simulated rows are drawn. With `new`, the last one is a cluster that
# is not seen yet.
clusters_to_draw <- function(fit, params, new) UseMethod("clusters_to_draw")

# The table that tidy() returns: one row for each state, or for each coefficient of each state.
tidy_states <- function(fit) UseMethod("tidy_states")

# Columns that a family adds to augment() of a fit, as a list. data$expected: latent_rows() of the data.
augment_columns <- function(fit, data) UseMethod("augment_columns")
augment_columns.default <- function(fit, data) list()

# ---- Rows and what they belong to ----------------------------------------------------------------------------------

# What predict() has a value for: "row" or "document".
row_word <- function(fit) UseMethod("row_word")
row_word.default <- function(fit) "row"

# The unit to which rows belong and of which batches are made: "sequence", "document", ...; NULL if each row
# is its own unit.
unit_word <- function(fit) UseMethod("unit_word")
unit_word.default <- function(fit) NULL

# Whether each document, sequence or time has weights of clusters of its own, so that the top-level weights
# are not shares of the data.
is_grouped <- function(fit) UseMethod("is_grouped")
is_grouped.default <- function(fit) TRUE

# Whether single tokens (words of a document), not rows, belong to clusters.
is_of_tokens <- function(fit) UseMethod("is_of_tokens")
is_of_tokens.default <- function(fit) FALSE

# Reads new data, which the user gave as `arg`, into the internal form with the columns of the training data.
read_rows <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL,
                      covariates = NULL) UseMethod("read_rows")

# Returns the `na_action` of a fit's new data, and refuses one that such a fit does not support (NULL: none
# was given).
known_action <- function(fit, na_action, call) UseMethod("known_action")
known_action.default <- function(fit, na_action, call) check_na_action(na_action, call)

# The most probable cluster of each row, or of each document of counts, in the user's order.
hard_labels <- function(fit) UseMethod("hard_labels")
hard_labels.default <- function(fit) in_user_order(fit, fit$labels)

# Describes the data to which a model was fitted: "272 rows of 2 columns".
described_data <- function(fit) UseMethod("described_data")

# The lines of print() that describe the clusters of a fit.
described_clusters <- function(fit) UseMethod("described_clusters")

# Memberships for package clue, rows x clusters: probabilities if the fit keeps them, else 0 and 1.
membership_of <- function(fit) UseMethod("membership_of")

# The clusters of rows given their observed cells: list(prob, draw). prob: rows x clusters; draw: a function
# that draws a cluster for each row. With `new` both include, last, a cluster that is not seen yet.
clusters_given <- function(fit, data, new = TRUE) UseMethod("clusters_given")

# Communities of an assortative network model whose links within are less probable than links between
# communities. The model allows such communities, but cannot say to which others their links go.
avoiding_communities <- function(fit) UseMethod("avoiding_communities")
avoiding_communities.default <- function(fit) integer()

# ---- Draws from the posterior (R/sample.R) ---------------------------------------------------------------------------

# Labels drawn from the fit's probabilities (for sequences, whole paths), one set for each chain of a sampler:
# n x chains. model: the model of the draws.
labels_from_fit <- function(fit, data, model, numbers, seed) UseMethod("labels_from_fit")

# The observations of the data that a sampler's result keeps: a list of their fields.
observations_of <- function(fit, data) UseMethod("observations_of")
observations_of.default <- function(fit, data) list()

# ---- Truncation-free learning (R/truncation-free.R) ------------------------------------------------------------------

# Reads the next batch of a stream into the internal form. new_terms: what to do with terms that the fit does
# not know.
read_batch <- function(fit, batch, id, call, arg, na_action, new_terms) UseMethod("read_batch")
read_batch.default <- function(fit, batch, id, call, arg, na_action, new_terms) {
  read_rows(fit, batch, id, call, arg, na_action)
}

# Turns a fit made by another algorithm into the form (fit$stream) from which truncation-free learning
# continues.
stream_of_fit <- function(fit) UseMethod("stream_of_fit")

# The function of the engine that learns from a batch.
stream_engine <- function(fit) UseMethod("stream_engine")
stream_engine.default <- function(fit) engine_stream

# ---- Updates (R/update.R) --------------------------------------------------------------------------------------------

# Updates a fit by newdata and returns the new fit. Methods call read_arguments() and check_no_dots()
# themselves. new_terms: as in update().
take_in <- function(fit, newdata, olddata, new_terms, ..., error_call = rlang::caller_env()) UseMethod("take_in")

# Reads newdata for an update as read_rows() does and, for mixtures, with everything that training rows have.
# Refuses a `time` that the fit does not have.
read_more <- function(fit, newdata, id, na_action, time, call) UseMethod("read_more")

# Adds to the data of an update the weights of rows, sequences or documents that were given, and whatever is
# computed from weights.
with_more_weights <- function(fit, data, weights, call) UseMethod("with_more_weights")

# Data in the internal form with labels of their rows or documents added; the labels must be classes of the fit.
with_more_labels <- function(fit, data, labels, newdata, call) UseMethod("with_more_labels")

# Counts how many rows (tokens of counts) of each cluster of `before` (rows of the result) are now in each
# cluster of `out` (columns). The first rows of `out` are the rows of `before`.
shared_rows <- function(out, before) UseMethod("shared_rows")

# Counts how many of the last rows (tokens, in topic models) of a fit belong to each cluster. The last rows
# are those of `data`.
clusters_of_last <- function(fit, data) UseMethod("clusters_of_last")
