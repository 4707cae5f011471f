// What has been done so far, while an answer is waited for; without it the form asks by itself.
"use strict";

{
  const form = $(".ask");
  const shown = $("#stages");
  let source = null;

  function show(line) {
    const item = document.createElement("li");
    item.textContent = line;
    shown.append(item);
    shown.hidden = false;
    say(line);
  }

  function ask(query) {
    source = new EventSource(`/stages?${query}`);
    // Found or not, the page of the question says it all; what was found is not asked for again.
    const load = () => {
      source.close();
      location.assign(`/?${query}`);
    };
    source.addEventListener("stage", ({ data }) => show(JSON.parse(data).line));
    source.addEventListener("found", load);
    source.addEventListener("failed", load);
    source.onerror = load;
  }

  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    source?.close();
    shown.replaceChildren();
    ask(new URLSearchParams(new FormData(form)));
  });

  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", () => {
    shown?.replaceChildren();
    if (shown) shown.hidden = true;
  });
}
