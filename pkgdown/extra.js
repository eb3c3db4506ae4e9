// The headings of the page, as a list beside it.
document.addEventListener("DOMContentLoaded", function() {
  var nav = document.getElementById("toc");
  if (!nav) return;
  var list = document.createElement("ul");
  list.className = "list-unstyled";
  document.querySelectorAll("main h2, main h3").forEach(function(heading) {
    var holder = heading.id ? heading : heading.closest("[id]");
    if (!holder) return;
    var item = document.createElement("li");
    var link = document.createElement("a");
    link.href = "#" + holder.id;
    link.textContent = heading.textContent.trim();
    link.className = "nav-link py-1" + (heading.tagName === "H3" ? " ps-4 small" : "");
    item.appendChild(link);
    list.appendChild(item);
  });
  nav.appendChild(list);
});
