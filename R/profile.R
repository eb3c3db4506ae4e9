profile_picture <- function(fit) NULL
