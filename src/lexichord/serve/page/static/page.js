// Comfort only: without it every form, link and fold still works.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const passages = () => all("[data-passage]").filter((one) => one.checkVisibility?.() ?? true);
let current = null;

function say(text) {
  $("#status").textContent = text;
}

// Passages: one is current, by key or by focus.

function go(to) {
  if (!to) return;
  current = to;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: to.matches("mark") ? "start" : "nearest" });
  if (to.matches("mark")) tint(to.dataset.quote);
}

// A quote is in several marks where paragraphs part it.
function tint(quote) {
  all("mark[data-quote]").forEach((one) => one.classList.toggle("current", one.dataset.quote === quote));
  all(".jumps a").forEach((link, number) => {
    if (String(number) === quote) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
}

function step(by) {
  const list = passages();
  const now = list.indexOf(current);
  const next = list[now < 0 ? (by > 0 ? 0 : list.length - 1) : now + by];
  if (next) go(next);
  else leave(by);
}

// Of a long document a part is shown: the next quote may be in another.
function leave(by) {
  const links = all(".jumps a");
  const now = links.findIndex((link) => link.hasAttribute("aria-current"));
  const next = now < 0 ? null : links[now + by];
  if (next && !next.getAttribute("href").startsWith("#")) next.click();
}

document.addEventListener("focusin", (event) => {
  current = event.target.closest("[data-passage]") ?? current;
});

// What is copied of a passage: its text, what it is cited by, and its address.
function found(passage) {
  const source = all("h3, .place", passage).map((one) => one.textContent);
  return { text: $(".text", passage).innerText, source, link: $("[data-act=open]", passage).href };
}

// Of a document's quote, which is in several marks where other elements part it.
function quoted(mark) {
  const marks = all(`mark[data-quote="${mark.dataset.quote}"]`);
  const range = document.createRange();
  range.setStartBefore(marks[0]);
  range.setEndAfter(marks.at(-1));
  const place = all(".jumps a")[mark.dataset.quote].dataset.place;
  const source = [$("#name").textContent, $("[data-file]").dataset.file, place];
  return { text: range.toString(), source, link: location.href };
}

const ACTS = {
  open: (passage) => $("[data-act=open]", passage)?.click(),
  expand(passage) {
    const button = $("[data-act=expand]", passage);
    if (!button || button.hidden) return;
    const folded = passage.classList.toggle("folded");
    button.dataset.more ??= button.textContent;
    button.textContent = folded ? button.dataset.more : button.dataset.less;
    button.setAttribute("aria-expanded", String(!folded));
  },
  async copy(passage) {
    if (!navigator.clipboard || !passage) return;
    const { text, source, link } = passage.matches("mark") ? quoted(passage) : found(passage);
    const cited = source.map((one) => one.trim().replace(/\s+/g, " ")).filter(Boolean).join(", ");
    await navigator.clipboard.writeText(`“${text.trim()}”\n\n— ${cited}\n${link}`);
    const button = $("[data-act=copy]", passage) ?? $(".outline [data-act=copy]");
    button.dataset.idle ??= button.textContent;
    button.textContent = button.dataset.done;
    say(button.dataset.done);
    setTimeout(() => (button.textContent = button.dataset.idle), 1500);
  },
};

function fold(passage) {
  const button = $("[data-act=expand]", passage);
  const text = $(".text", passage);
  if (!button || !text) return;
  passage.classList.add("folded");
  button.hidden = text.scrollHeight <= text.clientHeight + 4;
  button.setAttribute("aria-expanded", "false");
  passage.classList.toggle("folded", !button.hidden);
}

all("[data-act=copy]").forEach((button) => (button.hidden = !navigator.clipboard));
all(".passage").filter((one) => !one.closest("details:not([open])")).forEach(fold);
all("details.more").forEach((more) =>
  more.addEventListener("toggle", () => all(".passage", more).forEach(fold), { once: true }),
);

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (button) ACTS[button.dataset.act](button.closest("[data-passage]") ?? current ?? $("#quote"));
});

// Keys.

const KEYS = {
  "/": () => $("#q")?.select(),
  j: () => step(1),
  k: () => step(-1),
  o: () => current && ACTS.open(current),
  c: () => current && ACTS.copy(current),
  e: () => current && ACTS.expand(current),
  u: () => $("#back")?.click(),
  "?": () => $("#keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (event.key === "/" && event.target.id === "q" && !event.target.value) return event.preventDefault();
  const key = KEYS[event.key];
  if (!key || typing || $("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  key();
});

$("#show-keys").hidden = false;
$("#show-keys").addEventListener("click", KEYS["?"]);

// Forms: short addresses, and a word while it takes its time.

all("form").forEach((form) =>
  form.addEventListener("submit", () => {
    const button = $("[data-pending]", form);
    if (!button) return;
    button.dataset.idle = button.textContent;
    button.textContent = button.dataset.pending;
    $("main").setAttribute("aria-busy", "true");
    say(button.dataset.pending);
  }),
);
$(".ask")?.addEventListener("formdata", ({ formData }) => {
  const usual = { mode: "hybrid", k: "10", answer: "1" };
  for (const [name, value] of [...formData]) {
    if (value === "" || value === usual[name]) formData.delete(name);
  }
});
addEventListener("pageshow", () => {
  $("main").removeAttribute("aria-busy");
  all("[data-idle]").forEach((button) => (button.textContent = button.dataset.idle));
});

// The document: opened at the quote, and back to where it was found.

$("#back")?.addEventListener("click", (event) => {
  if (!document.referrer.startsWith(`${location.origin}/?`) || history.length < 2) return;
  event.preventDefault();
  history.back();
});

function arrive() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.matches("[data-passage]")) go(target);
}
addEventListener("hashchange", arrive);
addEventListener("load", arrive);
