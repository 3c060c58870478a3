// Keeps a page as Git has it: when the server says that something moved, the page is fetched again
// and what differs is put in its place, so that focus, scrolling and selections stay. Without this
// script every page works, and is as old as it was loaded.
"use strict";
(() => {
  const live = document.getElementById("live");
  const say = (text) => { if (live && live.textContent !== text) live.textContent = text; };
  const main = () => document.getElementById("content");
  let key = document.body.dataset.key;
  let busy = false, again = false;

  // ours is the part of a key that this page shows: what Git says, or previews.
  const ours = (k) => k.split(".")[document.body.dataset.here === "previews" ? 1 : 0];

  // reportOf names the report that a page has, which a script of its own draws: another one is drawn anew.
  const reportOf = (page) => page.querySelector("[data-report]")?.dataset.report;

  // adapt makes a node as another one is.
  function adapt(now, next) {
    if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName) { now.replaceWith(next.cloneNode(true)); return; }
    if (now.nodeType !== Node.ELEMENT_NODE) { if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue; return; }
    if (now.isEqualNode(next) || now.dataset.loaded || now.dataset.report) return;
    for (const a of [...now.attributes]) if (!next.hasAttribute(a.name) && a.name !== "open") now.removeAttribute(a.name);
    for (const a of next.attributes) if (now.getAttribute(a.name) !== a.value) now.setAttribute(a.name, a.value);
    children(now, next);
  }

  // children does so with what is in a node. Rows with an id are found by it, wherever they moved.
  function children(now, next) {
    const byID = new Map();
    for (const c of now.children) if (c.id) byID.set(c.id, c);
    let at = now.firstChild;
    for (const want of [...next.childNodes]) {
      const known = want.id && byID.get(want.id);
      if (known) {
        byID.delete(want.id);
        if (known !== at) now.insertBefore(known, at); else at = at.nextSibling;
        adapt(known, want);
      } else if (at && !(at.id && byID.has(at.id))) {
        const after = at.nextSibling;
        adapt(at, want);
        at = after;
      } else now.insertBefore(want.cloneNode(true), at);
    }
    while (at) { const after = at.nextSibling; at.remove(); at = after; }
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      do {
        again = false;
        const r = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
        const page = new DOMParser().parseFromString(await r.text(), "text/html");
        const next = page.getElementById("content");
        if (reportOf(page) !== reportOf(document)) { location.reload(); return; }
        if (next) { adapt(main(), next); key = page.body.dataset.key || key; load(); }
        say("live");
      } while (again);
    } catch { say("not live: reload the page"); } finally { busy = false; }
  }

  // load fetches the parts that a page leaves for later.
  function load() {
    for (const part of document.querySelectorAll("[data-load]:not([data-loaded])")) {
      part.dataset.loaded = "yes";
      part.setAttribute("aria-busy", "true");
      fetch(part.dataset.load, { headers: { "X-Fragment": "yes" }, redirect: "error" }).then(async (r) => {
        const text = new DOMParser().parseFromString(await r.text(), "text/html");
        part.replaceChildren(...text.body.childNodes);
      }).catch(() => { delete part.dataset.loaded; }).finally(() => part.removeAttribute("aria-busy"));
    }
  }

  load();
  addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [contenteditable]")) return;
    e.preventDefault();
    document.getElementById("find")?.focus();
  });
  if (document.body.dataset.key === "") return; // nothing here changes
  let stream, wait;
  function listen() {
    stream = new EventSource("/events");
    stream.addEventListener("facts", (e) => { if (ours(e.data) !== ours(key)) refresh(); else say("live"); });
    stream.addEventListener("end", () => { stream.close(); say("not live: reload the page"); });
    stream.onerror = () => {
      say("not live");
      if (stream.readyState === EventSource.CLOSED) { clearTimeout(wait); wait = setTimeout(listen, 15000); }
    };
  }
  listen();
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", (e) => { if (e.persisted) { listen(); refresh(); } });
})();
