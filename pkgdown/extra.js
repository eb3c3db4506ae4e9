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

// A search that needs no server: bnpvi_pages (search.js, made by tools/site.R) has the title, address, names and
// headings of each page. A page is found if these have all words of the query; matches in names come first.
document.addEventListener("DOMContentLoaded", function() {
  var script = document.querySelector('script[src$="extra.js"]');
  var bar = document.querySelector(".navbar .container");
  if (!script || !bar) return;
  var root = script.getAttribute("src").replace("extra.js", "");
  var holder = document.createElement("div");
  holder.className = "position-relative";
  var field = document.createElement("input");
  field.type = "search";
  field.id = "search";
  field.className = "form-control";
  field.placeholder = "Search";
  field.setAttribute("aria-label", "Search");
  var found = document.createElement("div");
  found.id = "found";
  found.className = "list-group position-absolute end-0 shadow";
  found.style.cssText = "z-index: 1050; width: 22rem; max-width: 90vw";
  holder.append(field, found);
  bar.append(holder);

  function show() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var hits = !words.length ? [] : window.bnpvi_pages.map(function(page) {
      var name = page.names.toLowerCase(), all = name + " " + page.title.toLowerCase() + " " + page.text.toLowerCase();
      var every = words.every(function(word) { return all.includes(word); });
      var named = words.filter(function(word) { return name.split(" ").includes(word); }).length;
      var near = words.filter(function(word) { return name.includes(word); }).length;
      return {page: page, rank: every ? 1 + 2 * named + near : 0};
    }).filter(function(hit) { return hit.rank > 0; });
    hits.sort(function(a, b) { return b.rank - a.rank; });
    found.replaceChildren.apply(found, hits.slice(0, 10).map(function(hit) {
      var link = document.createElement("a");
      link.className = "list-group-item list-group-item-action py-1";
      link.href = root + hit.page.address;
      link.textContent = hit.page.title;
      return link;
    }));
  }
  field.addEventListener("input", function() {
    if (window.bnpvi_pages) return show();
    if (document.querySelector('script[src$="search.js"]')) return;
    var pages = document.createElement("script");
    pages.src = root + "search.js";
    pages.onload = show;
    document.head.appendChild(pages);
  });
});
