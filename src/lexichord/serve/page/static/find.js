// Comfort while finding: what was asked in this tab, and titles that complete what is typed.
"use strict";

{
  const KEPT = "lexichord-asked";
  const MOST = 10;

  // The browser may refuse to keep anything.
  const asked = () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEPT)) ?? [];
    } catch {
      return [];
    }
  };
  const keep = (list) => {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(list));
    } catch {}
  };

  function linked([question, address]) {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.textContent = question;
    link.dir = "auto";
    link.href = address;
    return item;
  }

  const here = location.pathname + location.search;
  const before = asked().filter(([, address]) => address !== here);
  if (document.querySelector(".results")) {
    keep([[document.querySelector("#q").value, here], ...before].slice(0, MOST));
  }

  const history = document.querySelector("#history");
  if (history && before.length) {
    history.hidden = false;
    history.querySelector("ul").append(...before.map(linked));
  }
  const forget = () => {
    try {
      sessionStorage.removeItem(KEPT);
    } catch {}
    if (history) history.hidden = true;
  };
  document.querySelector("#forget")?.addEventListener("click", () => {
    forget();
    document.querySelector("#q").focus();
  });
  // Where a key is asked for, nobody sees what another one asked.
  if (document.querySelector("form.key")) forget();

  // Examples are found while the page is there already; it asks a few times, ever less often.
  const awaited = document.querySelector("[data-awaited]");
  async function askForExamples(seconds) {
    const answer = await fetch("/examples").catch(() => null);
    if (!answer?.ok) return;
    const found = await answer.json().catch(() => []);
    if (!found && seconds <= 32) setTimeout(askForExamples, 1000 * seconds, 2 * seconds);
    if (!found?.length) return;
    awaited.querySelector("ul").append(...found.map(linked));
    awaited.hidden = false;
  }
  if (awaited) setTimeout(askForExamples, 2000, 4);

  const field = document.querySelector("#q");
  const list = document.querySelector("#suggestions");
  let timer, asking;
  async function suggest() {
    asking?.abort();
    asking = new AbortController();
    const address = `/suggest?${new URLSearchParams(new FormData(field.form))}`;
    const answer = await fetch(address, { signal: asking.signal }).catch(() => null);
    if (!answer?.ok) return;
    const texts = await answer.json().catch(() => []);
    list.replaceChildren(...texts.map((text) => new Option("", text)));
  }
  if (field && list) {
    field.setAttribute("list", "suggestions");
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(suggest, 150);
    });
  }
}
