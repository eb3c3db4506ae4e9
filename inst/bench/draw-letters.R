# What experiments.R measures with: n images of letters, drawn.
# Seven rows of five pixels, each row a binary number.
font <- list(
  A = c(14, 17, 17, 31, 17, 17, 17), B = c(30, 17, 17, 30, 17, 17, 30), C = c(14, 17, 16, 16, 16, 17, 14),
  D = c(30, 17, 17, 17, 17, 17, 30), E = c(31, 16, 16, 30, 16, 16, 31), F = c(31, 16, 16, 30, 16, 16, 16),
  G = c(14, 17, 16, 23, 17, 17, 14), H = c(17, 17, 17, 31, 17, 17, 17), I = c(14, 4, 4, 4, 4, 4, 14),
  J = c(7, 2, 2, 2, 2, 18, 12), K = c(17, 18, 20, 24, 20, 18, 17), L = c(16, 16, 16, 16, 16, 16, 31),
  M = c(17, 27, 21, 21, 17, 17, 17), N = c(17, 25, 21, 19, 17, 17, 17), O = c(14, 17, 17, 17, 17, 17, 14),
  P = c(30, 17, 17, 30, 16, 16, 16), Q = c(14, 17, 17, 17, 21, 18, 13), R = c(30, 17, 17, 30, 20, 18, 17),
  S = c(15, 16, 16, 14, 1, 1, 30), T = c(31, 4, 4, 4, 4, 4, 4), U = c(17, 17, 17, 17, 17, 17, 14),
  V = c(17, 17, 17, 17, 17, 10, 4), W = c(17, 17, 17, 21, 21, 27, 17), X = c(17, 17, 10, 4, 10, 17, 17),
  Y = c(17, 17, 10, 4, 4, 4, 4), Z = c(31, 1, 2, 4, 8, 16, 31)
)
image_of <- function(rows) {
  pixels <- matrix(0, 8, 8)
  pixels[1:7, 2:6] <- t(vapply(rows, function(r) bitwAnd(r, 2^(4:0)) > 0, logical(5)))
  as.vector(pixels)
}
strokes <- t(vapply(font, image_of, double(64)))

# Strokes and paper have a brightness of their own.
draw_letters <- function(n) {
  letter <- sample(26, n, TRUE, prob = 0.95^(0:25))
  stroke <- strokes[letter, ]
  x <- stats::rnorm(n) * stroke + stats::rnorm(n) * (1 - stroke) + 0.2 * stats::rnorm(n * 64)
  list(x = x, letter = letter)
}
