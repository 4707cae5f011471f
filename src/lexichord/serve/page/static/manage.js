// Bringing files: dropped, or whole folders, sent in parts that the server takes, and watched.
// Without it the form sends files itself, and the page of an ingest loads itself again.
"use strict";

{
  const POLL_MS = 700;
  const PART_FILES = 100;
  const HEAD_BYTES = 2000; // of a file's part in a form, and to spare
  const bring = $("#bring");
  const maxBytes = Number(bring?.getAttribute("data-max-bytes")); // its field `dataset` hides that of all elements
  const chosen = new Map(); // files by their paths
  const leftOut = new Map(); // reasons by paths

  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const amount = (number) => `${number.toLocaleString("en")} file${number === 1 ? "" : "s"}`;

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

  // An ingest: its part of the page is asked for again until it is done.

  async function follow(section, address) {
    while ("running" in section.dataset) {
      await wait(POLL_MS);
      let page;
      try {
        page = await load(address);
      } catch {
        say("The server does not answer; it is asked again");
        continue;
      }
      const next = $(".run", page);
      if (!next) return location.assign(address); // signed out, say
      if ($("h2", next).textContent !== $("h2", section).textContent) say($("h2", next).textContent);
      section.replaceWith(next);
      section = next;
    }
  }

  const own = $(".run");
  if (own) follow(own, location.href);

  // What is chosen.

  function add(path, file) {
    if (path.split("/").some((part) => part.startsWith("."))) leftOut.set(path, "hidden");
    else if (file.size + 2 * HEAD_BYTES > maxBytes) leftOut.set(path, "too large for this server");
    else chosen.set(path, file);
  }

  async function walk(entry, above = "") {
    const path = above + entry.name;
    if (entry.isFile) return add(path, await new Promise((done, fail) => entry.file(done, fail)));
    if (entry.name.startsWith(".")) return leftOut.set(path, "hidden");
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
    line.textContent = `${amount(chosen.size)} to store${leftOut.size ? `, ${leftOut.size.toLocaleString("en")} left out` : ""}`;
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
    bar.setAttribute("aria-label", "Sent");
    section.append(element("h2", `Sending ${amount(files.length)}`), bar);
    $("#runs").append(section);
    try {
      const answer = await post(files, ({ loaded, total }) => ((bar.max = total), (bar.value = loaded)));
      const run = answer.responseXML && $(".run", answer.responseXML);
      if (run) {
        section.replaceWith(run);
        return await follow(run, answer.responseURL);
      }
      const notice = answer.responseXML && $(".notice", answer.responseXML);
      refuse(section, files, notice?.textContent ?? `the server answered ${answer.status}`);
    } catch {
      refuse(section, files, "they could not be sent: the server did not answer, or they were changed meanwhile");
    }
  }

  function refuse(section, files, reason) {
    const list = element("ul", "", "outcomes");
    list.append(...files.map(([path]) => element("li", path)));
    section.replaceChildren(element("h2", `${amount(files.length)} not stored`), element("p", reason, "notice"), list);
    say(`${amount(files.length)} not stored: ${reason}`);
  }

  function showLeftOut() {
    if (!leftOut.size) return;
    const section = element("section", "", "run"), list = element("ul", "", "outcomes");
    for (const [path, reason] of leftOut) {
      const item = element("li", "");
      item.append(element("b", "left out", "unread"), " ", element("bdi", path), " ", element("span", reason, "dim"));
      list.append(item);
    }
    section.append(element("h2", `${amount(leftOut.size)} left out`), list);
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
    const holdings = $("#holdings", await load(location.href));
    if (holdings) $("#holdings").replaceWith(holdings);
  }

  if (bring) {
    $(".scripted", bring).hidden = false;
    $("#files").required = false;
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
      $("#chosen").textContent = "Choose a file first.";
      say("Choose a file first");
    });
  }
}
