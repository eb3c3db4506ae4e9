# The layout of pictures: margins that always leave room for the plot, labels that do not overlap, a legend
# for any number of clusters, and a note on what is not shown.

# Sets the margins (inches: bottom, left, top, right) of a figure and returns the previous graphics
# parameters. In a small figure margins and letters are smaller: at least 55 % of the width and of the height
# remain for the plot (chosen by eye at 300 x 250 pixels).
set_margins <- function(mai, ...) {
  old <- graphics::par("mai", "mgp", "cex.axis", "cex.lab", "xpd")
  graphics::par(...)
  size <- graphics::par("fin")
  small <- min(size) < 4
  if (small) graphics::par(mgp = c(1.7, 0.5, 0), cex.axis = 0.8, cex.lab = 0.9)
  if (small) mai <- mai * c(0.75, 0.8, 0.5, 1)
  shrink <- function(side, size) mai[side] * min(1, 0.45 * size / sum(mai[side]))
  mai[c(2, 4)] <- shrink(c(2, 4), size[1])
  mai[c(1, 3)] <- shrink(c(1, 3), size[2])
  graphics::par(mai = mai)
  invisible(old)
}

# Sets up a grid of panels, with margins and outer margins (inches) that leave at least 0.3 inches of each
# panel. Returns a function that restores the graphics parameters.
set_panels <- function(mfrow, mai, omi) {
  old <- graphics::par("mfrow", "cex", "mai", "omi", "mgp", "tcl", "xpd", "cex.axis")
  size <- graphics::par("din")
  graphics::par(omi = pmin(omi, 0.4 * rep(rev(size), 2L)))
  graphics::par(mfrow = mfrow)
  graphics::par(cex = 1, mgp = c(1.4, 0.3, 0), tcl = -0.2, cex.axis = 0.75, xpd = FALSE)
  panel <- graphics::par("fin")
  shrink <- function(side, room) mai[side] * min(1, max(0.2, room - 0.3) / sum(mai[side]))
  mai[c(2, 4)] <- shrink(c(2, 4), panel[1])
  mai[c(1, 3)] <- shrink(c(1, 3), panel[2])
  graphics::par(mai = pmin(mai, 0.4 * rep(rev(panel), 2L)))
  old
}

# Draws a grid of as many panels as there is room for, each at least as wide and high as `least` (inches,
# chosen by eye). draw(title): draws one panel; below: the label of all horizontal axes; side: the room in
# inches to the left of each panel; legend: list(plan, colour) of states; beside: the label of all vertical axes,
# or NULL.
draw_grid <- function(titles, n_all, word, below, draw, side = 0.45, least = c(1.6, 1), titled = TRUE,
                      legend = NULL, beside = NULL) {
  right <- if (is.null(legend)) 0.05 else legend$plan$width
  left <- if (is.null(beside)) 0 else 0.2
  size <- graphics::par("din")
  grid <- panel_grid(length(titles), size - c(left + right, 0.3), least)
  note <- shown_of(grid$shown, n_all, word)
  old <- set_panels(
    c(grid$down, grid$across), c(0.28, min(side, 0.5 * (size[1] - left - right) / grid$across), 0.22, 0.1),
    c(0.2, left, if (is.null(note)) 0.05 else 0.2, right)
  )
  on.exit(graphics::par(old))
  for (title in utils::head(titles, grid$shown)) {
    draw(title)
    if (titled) graphics::mtext(title, side = 3L, line = 0.1, cex = 0.75, font = 2)
  }
  graphics::mtext(below, side = 1L, outer = TRUE, cex = 0.75)
  if (!is.null(beside)) graphics::mtext(beside, side = 2L, outer = TRUE, cex = 0.75)
  if (!is.null(note)) graphics::mtext(note, side = 3L, outer = TRUE, adj = 1, cex = 0.7, col = "grey30")
  if (!is.null(legend)) state_legend(legend$plan, legend$colour, size[1], 0.95 * size[2])
}

# How many of n panels fit into a region of size `size` if each has at least size `least` (both width and
# height in inches), and in how many columns and rows.
panel_grid <- function(n, size, least) {
  room <- pmax(1L, floor(size / least))
  shown <- min(n, prod(room))
  across <- min(room[1], max(ceiling(sqrt(shown)), ceiling(shown / room[2])))
  list(shown = shown, across = across, down = ceiling(shown / across))
}

# The usual margins of a figure, in inches: bottom, left, top, right.
usual <- c(0.85, 0.85, 0.4, 0.2)

# Numbers of the labels that can be written without overlap: labels at (x, y), in order of importance, that
# have no more important label within dx and dy.
apart <- function(x, y, dx, dy) {
  kept <- integer()
  for (i in seq_along(x)) {
    if (!any(abs(x[kept] - x[i]) < dx & abs(y[kept] - y[i]) < dy)) kept <- c(kept, i)
  }
  seq_along(x) %in% kept
}

# Shortens labels of more than four letters that are wider than a width in inches.
shorten <- function(labels, width, cex) {
  wide <- function(label) graphics::strwidth(label, units = "inches", cex = cex) > width
  vapply(labels, function(label) {
    n <- nchar(label) - 1L
    if (n < 4L || !wide(label)) return(label)
    while (n > 1L && wide(paste0(substr(label, 1L, n), "..."))) n <- n - 1L
    paste0(substr(label, 1L, n), "...")
  }, "", USE.NAMES = FALSE)
}

# Width and height of a text in the units of the axes.
text_size <- function(text, cex) {
  c(max(graphics::strwidth(text, cex = cex)), max(graphics::strheight(text, cex = cex)))
}

# Plans a legend of clusters in as many columns as its height requires, at most three; a last line says how
# many clusters are left out. Returns list(labels, rows, columns, width in inches).
legend_plan <- function(labels, height, cex = 0.75, title = "State") {
  labels <- as.character(labels)
  line <- 1.5 * graphics::strheight("0", units = "inches", cex = cex)
  rows <- max(2L, floor(height / line) - 2L)
  shown <- utils::head(labels, 3L * rows)
  columns <- ceiling(length(shown) / rows)
  width <- max(graphics::strwidth(shown, units = "inches", cex = cex)) + 2 * line
  heading <- graphics::strwidth(paste0(title, " "), units = "inches", cex = cex)
  list(
    labels = shown, more = length(labels) - length(shown), rows = min(rows, length(shown)), columns = columns,
    line = line, column = width, width = max(columns * width, heading) + line, cex = cex,
    title = title
  )
}

# Draws a legend as planned by legend_plan(), to the left of `right` and down from `top`, in inches from the
# lower left corner of the device.
draw_legend <- function(plan, colour, right, top) {
  x <- right - plan$width + plan$line * 0.5 + plan$column * ((seq_along(plan$labels) - 1L) %/% plan$rows)
  y <- top - plan$line * (1.5 + (seq_along(plan$labels) - 1L) %% plan$rows)
  at_x <- function(v) graphics::grconvertX(v, "inches", "user")
  at_y <- function(v) graphics::grconvertY(v, "inches", "user")
  side <- 0.65 * plan$line
  graphics::rect(at_x(x), at_y(y - side / 2), at_x(x + side), at_y(y + side / 2), col = colour, border = NA, xpd = NA)
  write <- function(x, y, text) {
    graphics::text(at_x(x), at_y(y), text, adj = c(0, 0.5), cex = plan$cex / graphics::par("cex"), xpd = NA)
  }
  write(x + 1.4 * side, y, plan$labels)
  write(min(x), top - 0.4 * plan$line, plan$title)
  if (plan$more > 0L) write(min(x), top - plan$line * (plan$rows + 1.5), paste("+", plan$more))
}

# A note such as "12 of 22 topics"; nothing where all are shown.
shown_of <- function(shown, all, word) if (shown < all) paste(shown, "of", all, paste0(word, "s"))

# Writes a short text above the right end of a figure.
say_above <- function(text, line = 0.2) {
  if (!is.null(text)) graphics::mtext(text, side = 3L, line = line, adj = 1, cex = 0.75, col = "grey30")
}
