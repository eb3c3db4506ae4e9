# One fit of each family to real data that come with the package, the answer beside a truth that
# the model never saw, one picture each: Rscript main.R <folder for pictures>
suppressPackageStartupMessages(library(bnpvi))

folder <- c(commandArgs(TRUE), "demo-output")[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

picture <- function(name, width, height, draw) {
  file <- file.path(folder, name)
  grDevices::png(file, width, height, res = 110)
  on.exit(grDevices::dev.off())
  draw()
  cat("Picture:", file, "\n")
}

heading <- function(...) cat("\n", strrep("-", 78), "\n", ..., "\n", sep = "")
how_found <- function(fit) {
  trace <- elbo_trace(fit)
  cat(sprintf(
    "The best of the starts took %d births, %d merges and %d deletes, in %.1f seconds.\n",
    sum(trace$births), sum(trace$merges), sum(trace$deletes), max(trace$seconds)
  ))
}

# Mixture: which clusters do body measurements fall into?
heading("Mixture: four measurements of 342 penguins of three species")
measures <- penguins_measurements[c("bill_length", "bill_depth", "flipper_length", "body_mass")]
species <- penguins_measurements$species
birds <- bnp_mixture(measures, control = bnp_control(seed = 1))
print(birds)
how_found(birds)
print(table(species, cluster = fitted(birds)))
cat(sprintf("Adjusted Rand index with the species: %.2f\n", adjusted_rand_index(fitted(birds), species)))

picture("mixture.png", 1100, 520, function() {
  par(mfrow = c(1, 2), las = 1)
  plot(birds, data = measures, main = "Found: clusters")
  par(mai = c(0.85, 0.85, 0.4, 0.2)) # as those of the picture beside it
  axes <- stats::prcomp(measures, scale. = TRUE)$rotation[, 1:2]
  axes <- sweep(axes, 2, sign(colSums(axes)), "*")
  colour <- grDevices::palette.colors(9, "Okabe-Ito")[c(6, 4, 7)]
  plot(
    scale(measures) %*% axes, pch = 19, cex = 0.6, col = colour[species], main = "Truth: species",
    xlab = "Principal component 1", ylab = "Principal component 2"
  )
  legend("topleft", levels(species), pch = 19, col = colour, bty = "n")
})

# Topics: what are articles about?
heading("Topics: 153 articles of Wikipedia in six categories")
topics <- bnp_topics(whales$counts, control = bnp_control(seed = 1))
print(topics)
how_found(topics)
words <- top_terms(topics, 3, by = "frex")
label <- vapply(split(words$term, words$topic), paste, "", collapse = ", ")
average <- rowsum(fitted(topics), whales$category) / as.vector(table(whales$category))
cat("The three largest topics of each category, and their shares:\n")
for (category in rownames(average)) {
  most <- order(average[category, ], decreasing = TRUE)[1:3]
  cat(sprintf(
    "  %-17s%s\n", category, paste0(label[most], " (", round(100 * average[category, most]), " %)", collapse = "; ")
  ))
}

picture("topics.png", 1100, 620, function() {
  shown <- order(max.col(t(average)), -apply(average, 2, max))
  par(mar = c(1, 9, 11, 1), las = 1)
  image(
    seq_along(shown), seq_len(nrow(average)), sqrt(t(average[rev(rownames(average)), shown])),
    axes = FALSE, xlab = "", ylab = "", col = hcl.colors(40, "Blues", rev = TRUE)
  )
  axis(2, seq_len(nrow(average)), rev(rownames(average)), tick = FALSE)
  axis(3, seq_along(shown), label[shown], las = 2, tick = FALSE, cex.axis = 0.75, line = -0.8)
  abline(v = seq_along(shown) + 0.5, h = seq_len(nrow(average)) + 0.5, col = "white")
  mtext("Found: topics (columns, by their words). Truth: categories (rows). Colour: share", side = 1, cex = 0.9)
})

# Sequences: when does a movement become another one?
heading("Sequences: motion capture of six recordings of exercises, 12 joint angles")
angles <- mocap6[-(1:3)]
action <- mocap6$action
moves <- bnp_hmm(
  angles, id = mocap6$sequence, obs = obs_ar(), prior = prior_hdp_hmm(sticky = 100), control = bnp_control(seed = 2)
)
print(moves)
how_found(moves)
counts <- table(exercise = action, state = fitted(moves))
exercise_of <- rownames(counts)[max.col(t(counts))]
cat("Frames by exercise (labelled by hand) and state:\n")
print(counts)
cat(sprintf(
  "%d states for %d exercises; %.0f %% of the frames are of the exercise that their state mostly belongs to.\n",
  n_clusters(moves), nlevels(action), 100 * sum(apply(counts, 2, max)) / sum(counts)
))

picture("sequences.png", 1100, 620, function() {
  layout(matrix(c(1:6, rep(7, 6)), 6), widths = c(5, 1.2))
  par(mar = c(1.2, 7.5, 1.6, 0.5), oma = c(1.5, 0, 0, 0), las = 1)
  colour <- stats::setNames(grDevices::palette.colors(nlevels(action), "Paired"), levels(action))
  for (name in unique(mocap6$sequence)) {
    at <- which(mocap6$sequence == name)
    plot(c(0, max(table(mocap6$sequence)) / 10), c(0, 2), type = "n", axes = FALSE, xlab = "", ylab = "", main = "")
    mtext(paste("Recording", name), side = 3, adj = 0.04, cex = 0.65)
    axis(2, c(1.5, 0.5), c("labels by hand", "states found"), tick = FALSE, line = -1)
    if (name == "14_20") axis(1, tick = FALSE, line = -1.2)
    path <- fitted(moves)[at]
    stripe <- function(what, low) {
      runs <- rle(what)
      end <- cumsum(runs$lengths) / 10
      rect(end - runs$lengths / 10, low, end, low + 0.9, col = colour[runs$values], border = NA)
    }
    stripe(as.character(action[at]), 1.05)
    stripe(exercise_of[path], 0.05)
    graphics::segments(which(diff(path) != 0) / 10, 0.05, y1 = 0.95, col = "black")
  }
  mtext("seconds", side = 1, outer = TRUE, cex = 0.7, line = 0.3, at = 0.47)
  par(mar = c(0, 0, 0, 0))
  plot.new()
  legend(-0.05, 0.95, levels(action), fill = colour, border = NA, bty = "n", cex = 1.15)
  text(
    0, 0.3, "A state has the colour\nof the exercise that it\nmostly belongs to;\nlines: next state",
    adj = c(0, 0.5), cex = 1.1
  )
})
