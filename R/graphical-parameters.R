# Checks the arguments that plot() methods pass on to base graphics by `...`. Base graphics would warn about unknown
# names once for each part of a picture, and draw it without them.

# Names of arguments of plot.default(), barplot(), image() and matplot() that change the look of a picture,
# and of par().
graphical_parameters <- c(
  "xlim", "ylim", "log", "main", "sub", "xlab", "ylab", "ann", "axes", "frame.plot", "panel.first", "panel.last",
  "asp", "xgap.axis", "ygap.axis", "adj", "bg", "border", "bty", "cex", "cex.axis", "cex.lab", "cex.main",
  "cex.names", "cex.sub", "col", "col.axis", "col.lab", "col.main", "col.sub", "density", "angle", "family", "fg",
  "font", "font.axis", "font.lab", "font.main", "font.sub", "lab", "las", "legend.text", "lend", "lheight", "ljoin",
  "lmitre", "lty", "lwd", "mgp", "pch", "pty", "space", "srt", "tck", "tcl", "useRaster", "width", "xaxp", "xaxs",
  "xaxt", "xpd", "yaxp", "yaxs", "yaxt", "zlim"
)

# Refuses arguments that are no graphical parameters. .also: a regular expression for further names that this
# picture accepts.
check_drawing <- function(..., .also = "^$", .call = rlang::caller_env()) {
  extra <- names(substitute(list(...)))[-1L] %||% rep("", ...length())
  extra <- extra[!nzchar(extra) | !extra %in% graphical_parameters & !grepl(.also, extra)]
  if (length(extra)) refuse_unused(extra, sys.call(-1L), sys.function(-1L), .call)
}
