#' An asterisk of Gaussian clusters
#'
#' 5,000 points in the plane from eight elongated Gaussian clusters arranged
#' around a centre; a test of whether a method finds eight from a poor start.
#' @format A data frame with columns `x`, `y` and `cluster` (the truth, 1 to 8).
#' @source The data set AsteriskK8 of the Python package bnpy, BSD 3-clause
#'   licence.
#' @seealso [bnp_mixture()]; `vignette("how-many-clusters")`.
#' @examples
#' plot(asterisk$x, asterisk$y, col = asterisk$cluster, cex = 0.4)
#' fit <- bnp_mixture(asterisk[c("x", "y")], control = bnp_control(seed = 1))
#' adjusted_rand_index(fitted(fit), asterisk$cluster)
"asterisk"

#' Measurements of penguins
#'
#' Four body measurements of 342 penguins of three species at Palmer Station,
#' Antarctica; birds with missing measurements are left out.
#' @format A data frame with columns `species`, `bill_length`, `bill_depth`,
#'   `flipper_length` (mm) and `body_mass` (g).
#' @source K. B. Gorman, T. D. Williams, W. R. Fraser (2014), PLoS ONE 9(3),
#'   e90081; as in the R package palmerpenguins, CC0.
#' @seealso [bnp_mixture()]; `vignette("getting-started")`.
#' @examples
#' fit <- bnp_mixture(penguins_measurements[, -1], control = bnp_control(seed = 1, restarts = 5))
#' table(penguins_measurements$species, fitted(fit))
"penguins_measurements"

#' Images of bars
#'
#' 2,000 images of 12 x 12 pixels, each 100 counts from one of six bars, three
#' horizontal and three vertical.
#' @format A list: `counts`, a sparse matrix (images x pixels), and `cluster`,
#'   the bar of each image.
#' @source The data set of bars with one topic per document of the Python
#'   package bnpy, BSD 3-clause licence.
#' @seealso [bnp_mixture()], [obs_multinomial()]; `vignette("getting-started")`.
#' @examples
#' image(matrix(bars$counts[1, ], 12), axes = FALSE)
#' fit <- bnp_mixture(bars$counts, obs_multinomial(), control = bnp_control(seed = 1))
#' adjusted_rand_index(fitted(fit), bars$cluster)
"bars"

#' Animals and their attributes
#'
#' Which of 85 attributes (colours, habits, habitats) each of 50 mammals has.
#' @format A matrix of zeros and ones (animals x attributes) with names.
#' @source Animals with Attributes, from D. N. Osherson and others (1991),
#'   Cognitive Science 15(2), and C. Kemp and others (2006), AAAI; as
#'   distributed with the Python package bnpy, BSD 3-clause licence.
#' @seealso [bnp_mixture()], [obs_bernoulli()]; `vignette("getting-started")`.
#' @examples
#' animals[1:4, c("black", "stripes", "flippers", "swims")]
#' fit <- bnp_mixture(animals, obs_bernoulli(), control = bnp_control(seed = 1, restarts = 1))
#' split(rownames(animals), fitted(fit))
"animals"

#' Wikipedia articles on birds of prey and on whales
#'
#' Word counts of articles in eight categories of birds of prey (304 articles,
#' 1,369 words) and in six categories of whales and dolphins (153 articles,
#' 712 words).
#' @format A list: `counts`, a sparse matrix (articles x words), named by title
#'   and word; `category`, a factor, the category of each article.
#' @source Collected by C. P. George and H. Doss, MIT licence; the text is
#'   Wikipedia's, CC BY-SA.
#' @seealso [bnp_topics()]; `vignette("topics")`.
#' @examples
#' table(whales$category)
#' counts <- whales$counts["Killer whale", ]
#' head(sort(counts, decreasing = TRUE))
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' head(top_terms(fit, 5), 10)
#' @name wiki_articles
"birds"

#' @rdname wiki_articles
"whales"

#' Motion capture of exercises
#'
#' Six recordings of two people doing exercises, 12 joint angles in degrees at
#' 10 frames a second, every frame labelled with one of 12 actions by hand.
#' @format A data frame: `sequence`, `frame`, `action` (a factor; `NA` in the
#'   first frame of each sequence, which only precedes the labelled ones) and
#'   twelve columns of angles, centred.
#' @source CMU Graphics Lab motion capture database, subjects 13 and 14, free
#'   for all uses; prepared by E. Fox, M. Hughes, E. Sudderth and M. Jordan
#'   (2014), Annals of Applied Statistics 8(3), BSD 2-clause licence.
#' @seealso [bnp_hmm()], [obs_ar()]; `vignette("segmenting-sequences")`.
#' @examples
#' table(mocap6$sequence)
#' one <- mocap6[mocap6$sequence == "13_30", ]
#' fit <- bnp_hmm(one[-(1:3)], obs = obs_ar(), prior = prior_hdp_hmm(sticky = 100), seed = 1)
#' table(one$action, fitted(fit))
"mocap6"
