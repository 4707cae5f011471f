// Bringing files: dropped, or whole folders, sent in parts that the server takes, and watched.
// Without it the form sends files itself, and the page of an ingest loads itself again.
// What failed is on no server, but this page still has it while it is open.
"use strict";

{
  const PART_FILES = 100;
  const HEAD_BYTES = 2000; // of a file's part in a form, and to spare
  const bring = $("#bring");
  const maxBytes = Number(bring?.getAttribute("data-max-bytes")); // its field `dataset` hides that of all elements
  const chosen = new Map(); // files by their paths
  const leftOut = new Map(); // reasons by paths

  const language = document.documentElement.lang;
  const texts = JSON.parse($("[data-texts]").dataset.texts);
  const plural = new Intl.PluralRules(language);
  const written = new Intl.NumberFormat(language, { numberingSystem: "latn" });

  // A text of the server's with values put in; of its plural forms that of `count`.
  function word(name, values = {}) {
    const forms = texts[name];
    const form = forms["count" in values ? plural.select(values.count) : "other"] ?? forms.other;
    const shown = (value) => (typeof value === "number" ? written.format(value) : value);
    return form.replace(/\{(\w+)\}/g, (_, key) => shown(values[key]));
  }

  const amount = (count) => word("files", { count });

  function element(name, text, ...names) {
    const made = document.createElement(name);
    made.textContent = text;
    made.classList.add(...names);
    return made;
  }

  async function load(address) {
    const answer = await fetch(address);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  // An ingest: the server sends its part of the page whenever it changes, until it is done.

  function follow(section, address) {
    return new Promise((done) => {
      if (!section.dataset.events) return done(section);
      const source = new EventSource(section.dataset.events);
      let answers = true;
      source.onopen = () => (answers = true);
      source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) return location.assign(address); // signed out, say
        if (!answers) say(word("no_answer"));
        answers = false; // each stream ends now and then, and is opened again
      };
      source.addEventListener("run", ({ data }) => {
        section = shown(section, JSON.parse(data).section);
        if (section.dataset.events) return;
        source.close();
        done(section);
      });
      addEventListener("pagehide", () => source.close(), { once: true });
    });
  }

  function shown(section, html) {
    const next = $(".run", new DOMParser().parseFromString(html, "text/html"));
    const line = $("h2", next).textContent;
    if (line !== $("h2", section).textContent) say(line);
    section.replaceWith(next);
    return next;
  }

  const own = $(".run");
  if (own) follow(own, location.href);

  // What is chosen.

  function add(path, file) {
    if (path.split("/").some((part) => part.startsWith("."))) leftOut.set(path, word("hidden"));
    else if (file.size + 2 * HEAD_BYTES > maxBytes) leftOut.set(path, word("too_large"));
    else chosen.set(path, file);
  }

  async function walk(entry, above = "") {
    const path = above + entry.name;
    if (entry.isFile) return add(path, await new Promise((done, fail) => entry.file(done, fail)));
    if (entry.name.startsWith(".")) return leftOut.set(path, word("hidden"));
    const reader = entry.createReader();
    for (;;) {
      const entries = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!entries.length) return;
      for (const each of entries) await walk(each, `${path}/`);
    }
  }

  function tell() {
    const line = $("#chosen");
    line.hidden = !chosen.size && !leftOut.size;
    const stored = word("to_store", { files: amount(chosen.size) });
    line.textContent = leftOut.size ? word("and_left_out", { chosen: stored, count: leftOut.size }) : stored;
    say(line.textContent);
  }

  function take(input) {
    for (const file of input.files) add(file.webkitRelativePath || file.name, file);
    input.value = "";
    tell();
  }

  // What is sent: a part after the other, each an ingest of its own.

  function parts() {
    const made = [];
    let bytes = Infinity;
    for (const [path, file] of chosen) {
      bytes += file.size + HEAD_BYTES;
      if (bytes > maxBytes - HEAD_BYTES || made.at(-1).length >= PART_FILES) {
        made.push([]);
        bytes = file.size + HEAD_BYTES;
      }
      made.at(-1).push([path, file]);
    }
    return made;
  }

  function post(files, onProgress) {
    const data = new FormData(bring);
    data.delete("files");
    files.forEach(([path, file]) => data.append("files", file, path));
    return new Promise((done, fail) => {
      const request = new XMLHttpRequest();
      request.open("POST", bring.action);
      request.responseType = "document";
      request.upload.onprogress = onProgress;
      request.onload = () => done(request);
      request.onerror = fail;
      request.send(data);
    });
  }

  async function send(files) {
    let section = element("section", "", "run");
    const bar = element("progress", "");
    bar.setAttribute("aria-label", word("sent"));
    section.append(element("h2", word("sending", { files: amount(files.length) })), bar);
    $("#runs").append(section);
    try {
      const answer = await post(files, ({ loaded, total }) => ((bar.max = total), (bar.value = loaded)));
      const run = answer.responseXML && $(".run", answer.responseXML);
      if (run) {
        section.replaceWith(run);
        return offerAgain(await follow(run, answer.responseURL), files);
      }
      const notice = answer.responseXML && $(".notice", answer.responseXML);
      refuse(section, files, notice?.textContent ?? word("answered", { status: String(answer.status) }));
    } catch {
      refuse(section, files, word("not_sent"));
    }
  }

  function refuse(section, files, reason) {
    const list = element("ul", "", "outcomes");
    list.append(...files.map(([path]) => element("li", path)));
    const line = { files: amount(files.length), reason };
    section.replaceChildren(element("h2", word("not_stored", line)), element("p", reason, "notice"), list);
    section.append(again(files));
    say(word("not_stored_why", line));
  }

  // Those of the files that failed, in whole or in a part, as archives do; all, if it was cut off.

  function offerAgain(section, files) {
    const names = all(".failed + bdi", section).map((name) => name.textContent);
    const isFailed = ([path]) => names.some((name) => name === path || name.startsWith(`${path}/`));
    const failed = "cut" in section.dataset ? files : files.filter(isFailed);
    $(".again", section)?.remove();
    if (failed.length) section.append(again(failed));
  }

  function again(files) {
    const button = element("button", word("try_again"));
    button.type = "button";
    button.addEventListener("click", async () => {
      button.remove();
      await send(files);
      await showHoldings();
    });
    return button;
  }

  async function showHoldings() {
    const holdings = $("#holdings", await load(location.href));
    if (holdings) $("#holdings").replaceWith(holdings);
  }

  function showLeftOut() {
    if (!leftOut.size) return;
    const section = element("section", "", "run"), list = element("ul", "", "outcomes");
    for (const [path, reason] of leftOut) {
      const item = element("li", "");
      item.append(element("b", word("left_out"), "unread"), " ", element("bdi", path), " ", element("span", reason, "dim"));
      list.append(item);
    }
    section.append(element("h2", word("files_left_out", { files: amount(leftOut.size) })), list);
    $("#runs").append(section);
  }

  async function sendAll() {
    const button = $("button.main", bring);
    button.disabled = true;
    $("#runs").replaceChildren();
    const todo = parts();
    showLeftOut();
    chosen.clear();
    leftOut.clear();
    $("#chosen").hidden = true;
    for (const files of todo) await send(files);
    button.disabled = false;
    await showHoldings();
  }

  if (bring) {
    $(".scripted", bring).hidden = false;
    $("#files").required = false;
    all(".plain", bring).forEach((one) => (one.hidden = true)); // it would say "no file" beside those dropped
    $("#pick-files").addEventListener("click", () => $("#files").click());
    $("#pick-folder").addEventListener("click", () => $("#folder").click());
    for (const id of ["#files", "#folder"]) $(id).addEventListener("change", ({ target }) => take(target));
    for (const name of ["dragenter", "dragover"])
      bring.addEventListener(name, (event) => {
        event.preventDefault();
        bring.classList.add("over");
      });
    bring.addEventListener("dragleave", (event) => {
      if (!bring.contains(event.relatedTarget)) bring.classList.remove("over");
    });
    bring.addEventListener("drop", async (event) => {
      event.preventDefault();
      bring.classList.remove("over");
      const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
      for (const entry of items.map((item) => item.webkitGetAsEntry())) await walk(entry);
      tell();
    });
    bring.addEventListener("submit", (event) => {
      event.preventDefault();
      if (chosen.size || leftOut.size) return sendAll();
      $("#chosen").hidden = false;
      $("#chosen").textContent = word("choose_first");
      say($("#chosen").textContent);
    });
  }
}
