# What the package asks a fit where families differ. Each question is a generic, declared here with its contract; its
# methods stand in the files of the families, and methods(class = "bnp_lds") lists what linear systems answer otherwise.
# fit: a fit; data: internal form of data that were read for it.

# What state_probabilities() and responsibilities() are made of, rows (or individuals) x clusters; data has at least one
# row. Of sequences predictive ones are given all rows, by the posterior means of the transitions; linear systems have
# q(z) for both (see `type` of predict.bnp_hmm()).
predictive_states <- function(fit, data) UseMethod("predictive_states")
local_step <- function(fit, data) UseMethod("local_step")

# Mean weights of the clusters in their order and, last, of the one that is not seen yet, which is 0 where the prior has
# none: a row, or where weights are by time one for each; where they are by covariates one for each pattern of the data,
# or their average without data.
weights_with_new <- function(fit, data = NULL) UseMethod("weights_with_new")

# The shape of a fit that may have been changed by hand: which of its parts, by name, are as they should be.
shape_of <- function(fit) UseMethod("shape_of")

# Refuses a state that the engine cannot have, in a fit of that shape.
try_state <- function(fit, call) UseMethod("try_state")

# What posterior_params() shows.
all_parameters <- function(fit) UseMethod("all_parameters")

# Columns of glance() beside those of all fits: a list.
glance_columns <- function(fit) UseMethod("glance_columns")
glance_columns.default <- function(fit) list()

# ---- Sequences ------------------------------------------------------------------------------------------------------

# Numbers of the states of rows on the most probable path.
viterbi_path <- function(fit, data) UseMethod("viterbi_path")

# Probability of each row's state on the path, fit$labels. most: rows times states that are held at once.
path_probabilities <- function(fit, data, most = 5e6) UseMethod("path_probabilities")

# q(x) of hidden states that rows come from, list(mean, var): of the rows of data, by default the training data; NULL of
# models without such states.
latent_rows <- function(fit, data = NULL) UseMethod("latent_rows")
latent_rows.default <- function(fit, data = NULL) NULL

# Log density of each row given those before it. plugin: at point estimates of the parameters.
log_densities_ahead <- function(fit, data, plugin = FALSE, call = rlang::caller_env()) UseMethod("log_densities_ahead")

# Sequences x states: p(z_{T+1} | x_1, ..., x_T).
first_state_ahead <- function(fit, data) UseMethod("first_state_ahead")

# Of the rows to come, list(mean, var), each a list by step of matrices, sequences x columns. states: by step,
# probabilities of the states (sequences x states).
moments_ahead <- function(fit, data, states, transition, call) UseMethod("moments_ahead")

# How many first rows of a sequence have the state of the row after them.
rows_without_state <- function(fit) UseMethod("rows_without_state")

# Parameters of the clusters that simulated rows may come from; new: of one that is not seen yet, too, last.
clusters_to_draw <- function(fit, params, new) UseMethod("clusters_to_draw")

# tidy(): a row for each state, or for each coefficient of each.
tidy_states <- function(fit) UseMethod("tidy_states")

# Columns of augment() beside those of all fits, a list; data$expected: latent_rows() of the data.
augment_columns <- function(fit, data) UseMethod("augment_columns")
augment_columns.default <- function(fit, data) list()

# ---- Rows and what they belong to ----------------------------------------------------------------------------------

# What predict() has an answer for: "row", or "document".
row_word <- function(fit) UseMethod("row_word")
row_word.default <- function(fit) "row"

# What rows belong to and batches are made of: "sequence", "document", ...; NULL: rows stand for themselves.
unit_word <- function(fit) UseMethod("unit_word")
unit_word.default <- function(fit) NULL

# Have documents, sequences or times weights of clusters of their own, so that weights of the top level are not shares
# of the data?
is_grouped <- function(fit) UseMethod("is_grouped")
is_grouped.default <- function(fit) TRUE

# Are tokens what belongs to clusters?
is_of_tokens <- function(fit) UseMethod("is_of_tokens")
is_of_tokens.default <- function(fit) FALSE

# New data, which the user gave as `arg`, in internal form with the columns of the training data.
read_rows <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL) UseMethod("read_rows")

# Refuses an `na_action` that there is not for such a fit, NULL for any, and returns it.
known_action <- function(fit, na_action, call) UseMethod("known_action")
known_action.default <- function(fit, na_action, call) check_na_action(na_action, call)

# The only label of each row, or of each document of counts, in the user's order.
hard_labels <- function(fit) UseMethod("hard_labels")
hard_labels.default <- function(fit) in_user_order(fit, fit$labels)

# "272 rows of 2 columns": the data that a fit was made of.
described_data <- function(fit) UseMethod("described_data")

# The lines of print() that say what the clusters are.
described_clusters <- function(fit) UseMethod("described_clusters")

# Rows x clusters, for clue: probabilities where the fit keeps them, else 0 and 1.
membership_of <- function(fit) UseMethod("membership_of")

# Clusters of rows given what is there: list(prob, draw), rows x clusters of the fit, and a function that draws one for
# each row, with `new` also the one that is not seen yet, whose number is the last.
clusters_given <- function(fit, data, new = TRUE) UseMethod("clusters_given")

# Communities of an assortative model that links avoid: it allows them, but cannot say where their links go.
avoiding_communities <- function(fit) UseMethod("avoiding_communities")
avoiding_communities.default <- function(fit) integer()

# ---- Draws from the posterior (R/sample.R) ---------------------------------------------------------------------------

# Labels drawn from the fit's probabilities, of sequences whole paths, for the chains with these numbers: n x chains.
# model: that of the draws.
labels_from_fit <- function(fit, data, model, numbers, seed) UseMethod("labels_from_fit")

# What draws keep of the data's observations: a list of their fields.
observations_of <- function(fit, data) UseMethod("observations_of")
observations_of.default <- function(fit, data) list()

# ---- Truncation-free learning (R/truncation-free.R) ------------------------------------------------------------------

# A further batch in internal form. new_terms: what to do about terms that the fit does not know.
read_batch <- function(fit, batch, id, call, arg, na_action, new_terms) UseMethod("read_batch")
read_batch.default <- function(fit, batch, id, call, arg, na_action, new_terms) {
  read_rows(fit, batch, id, call, arg, na_action)
}

# The clusters of a fit that was learned otherwise, as what a stream goes on from (fit$stream).
stream_of_fit <- function(fit) UseMethod("stream_of_fit")

# The entry of the engine that learns from a batch.
stream_engine <- function(fit) UseMethod("stream_engine")
stream_engine.default <- function(fit) engine_stream

# ---- Updates (R/update.R) --------------------------------------------------------------------------------------------

# A fit that has taken in newdata: read_arguments() and check_no_dots() are its affair. new_terms: as update() has it.
take_in <- function(fit, newdata, olddata, new_terms, ..., error_call = rlang::caller_env()) UseMethod("take_in")

# newdata as read_rows() has them, of mixtures with all that rows of a fit need; refuses a `time` that the fit has not.
read_more <- function(fit, newdata, id, na_action, time, call) UseMethod("read_more")

# Such data with the weights that were given for rows, sequences or documents, and what else is read of these.
with_more_weights <- function(fit, data, weights, call) UseMethod("with_more_weights")

# How many rows, of counts tokens, of the clusters of `before` (rows) are now in each of `out`, whose first rows are
# those of before.
shared_rows <- function(out, before) UseMethod("shared_rows")

# How many of the last rows of a fit, those of these data, belong to each cluster; of topics, how many tokens.
clusters_of_last <- function(fit, data) UseMethod("clusters_of_last")
