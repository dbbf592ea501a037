// Keys, and news of changes. Everything on the pages works without this.

/** What a key, or two after each other, stands for is marked in the page. */
let first = "";
document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  const isTyping = target instanceof Element && target.closest("input, textarea, select") !== null;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping) {
    if (key === "Escape") target.blur();
    return;
  }
  if (key === "/") {
    event.preventDefault();
    document.getElementById("find")?.focus();
    return;
  }
  const marked = document.querySelector(`[data-key="${CSS.escape(first + key)}"]`);
  first = key === "g" && first === "" ? "g" : "";
  if (!marked) return;
  event.preventDefault();
  marked.click();
});

/** After a decision the reader of a screen goes on in the middle, not at the top. */
if (new URLSearchParams(location.search).has("notice")) {
  document.querySelector(".notice:not([hidden])")?.setAttribute("tabindex", "-1");
  const clean = new URL(location.href);
  clean.searchParams.delete("notice");
  history.replaceState(null, "", clean);
}
document.querySelector(".list [aria-current]")?.scrollIntoView({ block: "nearest" });
// In a narrow window the pages are a row that scrolls.
document.querySelector(".side nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

/** A place that the address names is shown, though it is folded away. */
const showNamed = () => {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!named) return;
  (named.matches("details") ? named : named.querySelector("details"))?.setAttribute("open", "");
  named.scrollIntoView({ block: named.matches("details") ? "start" : "center" });
};
showNamed();
addEventListener("hashchange", showNamed);

/** A form is sent once, however often its button is pressed. */
document.addEventListener("submit", ({ target }) => {
  for (const button of target.querySelectorAll("button")) button.disabled = true;
});

/** Parts that take long come after the page. */
for (const part of document.querySelectorAll("[data-load]"))
  fetch(part.dataset.load)
    .then((answer) => answer.text())
    .then((text) => {
      const loaded = new DOMParser().parseFromString(text, "text/html");
      part.replaceChildren(...(loaded.querySelector("main [data-part]") ?? loaded.body).childNodes);
      part.removeAttribute("aria-busy");
    });

const news = new EventSource("/live");
const show = (id, isShown) => {
  const line = document.getElementById(id);
  if (line) line.hidden = !isShown;
};
news.addEventListener("changed", async () => {
  const live = document.querySelectorAll("[data-live]");
  if (live.length === 0) return show("news", true);
  const text = await (await fetch(location.href)).text();
  const anew = new DOMParser().parseFromString(text, "text/html");
  for (const part of live) {
    const next = anew.querySelector(`[data-live="${part.dataset.live}"]`);
    if (next) part.replaceWith(next);
  }
});
news.addEventListener("open", () => show("lost", false));
news.addEventListener("error", () => show("lost", true));
// Browsers keep only a few connections to one server; a page that nobody sees needs none.
addEventListener("pagehide", () => news.close());
