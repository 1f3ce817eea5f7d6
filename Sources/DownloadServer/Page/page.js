// Keeps a page up to date and adds shortcuts. Every page works without it.
// It writes text nodes and attributes only; new rows come from the server, which escapes all texts.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// Numbers, in the forms of PageText.swift.

const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${count} B`;
  const tenths = Math.round(value * 10);
  return tenths < 1000
    ? `${Math.floor(tenths / 10)}.${tenths % 10} ${units[unit]}` : `${Math.floor(tenths / 10)} ${units[unit]}`;
}

function speed(perSecond) {
  if (perSecond === null || perSecond === undefined) return "";
  if (perSecond < 1024) return `${perSecond} B/s`;
  const [divisor, unit] = perSecond < 1 << 20 ? [1024, "KiB/s"] : [1 << 20, "MiB/s"];
  return `${(Math.floor((perSecond / divisor) * 100) / 100).toFixed(2)} ${unit}`;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const s = Math.ceil(seconds);
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m ${s % 60}s`;
  if (s < 86400) return `${Math.floor(s / 3600)}h ${Math.floor((s % 3600) / 60)}m`;
  return `${Math.floor(s / 86400)}d ${Math.floor((s % 86400) / 3600)}h`;
}

const percent = (fraction) =>
  fraction === null ? "" : `${fraction >= 1 ? 100 : Math.min(99, Math.floor(fraction * 100))}%`;

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

function localTimes(root) {
  for (const time of $$("time[datetime]", root)) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    time.title = time.dateTime;
    setText(time, date.toLocaleString());
  }
}

// Live updates.

const list = $("#list");
const detail = $("#detail");
const store = $("#store");
let reader = new AbortController();
let events = null;
// What the page shows is at least as new as this position in the history of the store.
let position = $("#main").dataset.after;
let refreshing = false;
let wanted = false;

function showProgress(root, record) {
  setText($('[data-field="received"]', root), bytes(record.progress.received));
  if (record.progress.expected !== null) {
    const of = root.tagName === "TR" ? "of " : "";
    setText($('[data-field="expected"]', root), of + bytes(record.progress.expected));
  }
  setText($('[data-field="percent"]', root), percent(record.progress.fraction));
  const running = record.state === "running";
  setText($('[data-field="speed"]', root), running ? speed(record.bytesPerSecond) : "");
  setText($('[data-field="left"]', root), running ? duration(record.secondsLeft) : "");
  const bar = $("progress", root);
  if (bar) bar.value = Math.floor((record.progress.fraction ?? 0) * 1000);
}

const stateOf = (record) => `${record.state} ${record.intent}`;

function showSummary({ counts, bytesPerSecond, engine }) {
  let total = 0;
  for (const [word, count] of Object.entries(counts)) {
    total += count;
    showCount(word, count);
  }
  showCount("all", total);
  const part = (word) => (counts[word] > 0 ? `${number(counts[word])} ${word}` : null);
  const running = part("running");
  const parts = [
    running && bytesPerSecond > 0 ? `${running} at ${speed(bytesPerSecond)}` : running,
    part("retrying"), part("failed"), part("waiting"), part("paused"),
  ].filter(Boolean);
  say(
    parts.length > 0 ? parts.join(", ")
      : counts.completed > 0 ? "Nothing to do: all downloads are done" : "No downloads",
  );
  document.title = document.title.replace(/^(\(\d+%?\) )?/, counts.running > 0 && list ? `(${counts.running}) ` : "");
  if ($("#engine")?.dataset.engine !== String(engine)) refresh();
}

function showCount(word, count) {
  const element = $(`[data-count="${word}"]`);
  setText(element, number(count));
  element?.parentElement.classList.toggle("zero", count === 0);
}

// A screen reader hears the summary: it changes at most every ten seconds, unless a count changes.
let said = 0;
let saidCounts = "";
function say(sentence) {
  const summary = $("#summary");
  if (!summary) return;
  const counts = sentence.replace(/ at [^,]*/, "");
  if (counts === saidCounts && Date.now() - said < 10_000) {
    summary.setAttribute("aria-live", "off");
  } else {
    summary.setAttribute("aria-live", "polite");
    said = Date.now();
    saidCounts = counts;
  }
  setText(summary, sentence);
}

function show(change) {
  if (list) {
    for (const record of change.records) {
      const row = $(`tr[data-id="${record.id}"]`, list);
      if (row && row.dataset.state === stateOf(record)) showProgress(row, record);
      else refresh();
    }
    if (change.removed.some((id) => $(`tr[data-id="${id}"]`, list))) refresh();
  }
  if (detail) {
    for (const record of change.records.filter((record) => record.id === detail.dataset.id)) {
      showProgress(detail, record);
      if (record.state === "running") draw(record.bytesPerSecond);
      refresh();
    }
    if (change.removed.includes(detail.dataset.id)) setText($("h1"), "This download was removed");
  }
  if (store) refresh();
  showSummary(change.summary);
}

// The parts of a page that a change of states can alter, read again from the server.
const parts = ["#engine", "#failures", "#list", "#detail", "#actions", "#store"];

function refresh() {
  wanted = true;
  if (!refreshing) refreshSoon();
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
let retry = 0;

async function refreshSoon() {
  refreshing = true;
  let isRead = true;
  while (wanted && isRead) {
    await pause(400);
    wanted = false;
    isRead = await readPage();
    if (!isRead) wanted = true;
    // At most once a second.
    await pause(600);
  }
  refreshing = false;
  clearTimeout(retry);
  // A tab that is shown again reads its page anyway.
  if (wanted && !document.hidden) retry = setTimeout(refreshWanted, 2000);
}

function refreshWanted() {
  if (wanted) refresh();
}

// Merges the parts of the page as they are now; false if that must be tried again.
async function readPage() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, signal: reader.signal });
    if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    // A page that is gone, or that needs another token, is not there later either.
    return answer.status < 500;
  } catch {
    return false;
  }
}

function replace(page) {
  for (const selector of parts) {
    const [now, next] = [$(selector), $(selector, page)];
    if (now && next) merge(now, next);
  }
  prepare(document);
}

// Makes an element equal to another one. Elements that stay keep their focus, their text and their marks.
function merge(now, next) {
  if (now.tagName !== next.tagName) return now.replaceWith(document.adoptNode(next));
  for (const { name } of [...now.attributes]) {
    if (!next.hasAttribute(name) && !(name === "open" || name === "checked")) now.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (now.getAttribute(name) !== value && name !== "open") now.setAttribute(name, value);
  }
  if (now.tagName === "INPUT" || now.tagName === "TEXTAREA" || now.tagName === "SELECT") return;
  const rows = new Map($$(":scope > tr[data-id]", now).map((row) => [row.dataset.id, row]));
  const used = [...next.childNodes];
  let place = now.firstChild;
  for (const child of used) {
    const row = child.dataset?.id ? rows.get(child.dataset.id) : null;
    if (row) {
      // Moved only if it is in another place, because moving takes the focus away.
      if (row !== place) now.insertBefore(row, place);
      else place = place.nextSibling;
      merge(row, child);
    } else if (child.dataset?.id || !place || place.dataset?.id) {
      now.insertBefore(document.adoptNode(child), place);
    } else if (place.nodeType === child.nodeType && child.nodeType === Node.TEXT_NODE) {
      if (place.data !== child.data) place.data = child.data;
      place = place.nextSibling;
    } else if (place.nodeType === child.nodeType && isSame(place, child)) {
      const current = place;
      place = place.nextSibling;
      merge(current, child);
    } else {
      now.insertBefore(document.adoptNode(child), place);
    }
  }
  while (place) {
    const rest = place.nextSibling;
    place.remove();
    place = rest;
  }
}

const isSame = (one, other) =>
  one.tagName === other.tagName && one.dataset?.key === other.dataset?.key && one.id === other.id;

// Browsers open six connections for all tabs of a server, so a tab that is hidden has none.

function listen() {
  if (events || document.hidden) return;
  events = new EventSource(`/events?after=${position}`);
  const live = $("[data-live]");
  const take = (event) => {
    setText(live, "Live");
    position = event.lastEventId;
    const change = JSON.parse(event.data);
    if (event.type === "reset") refresh();
    show(change);
  };
  for (const name of ["change", "message", "reset"]) events.addEventListener(name, take);
  events.addEventListener("open", () => {
    setText(live, "Live");
    refreshWanted();
  });
  events.addEventListener("error", () => setText(live, "Connecting again…"));
}

function stop() {
  events?.close();
  events = null;
  reader.abort();
  reader = new AbortController();
}

function follow() {
  listen();
  addEventListener("pagehide", stop);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return stop();
    listen();
    refresh();
  });
}

// Speed over time, of one download.

const samples = [];
function draw(perSecond) {
  const chart = $("#chart");
  if (!chart || perSecond === null) return;
  samples.push(perSecond);
  if (samples.length > 300) samples.shift();
  const peak = Math.max(...samples, 1);
  const y = (value) => (99 - (value / peak) * 95).toFixed(1);
  const step = 300 / Math.max(60, samples.length - 1);
  const x = (index) => (300 - (samples.length - 1 - index) * step).toFixed(1);
  const curve = samples.map((value, index) => `${index ? "L" : "M"}${x(index)} ${y(value)}`).join("");
  $(".curve", chart).setAttribute("d", curve);
  $(".area", chart).setAttribute("d", `${curve}L300 100L${x(0)} 100Z`);
  setText($('[data-field="peak"]'), `at most ${speed(peak)}`);
}

// How a store has grown since its page was opened.

const opened = { ...store?.dataset };
function showGrowth() {
  const used = store.dataset.used - opened.used;
  const count = store.dataset.commit - opened.commit;
  setText(
    $("#growth"),
    `Since this page was opened: ${number(count)} commits, ${used < 0 ? "−" : "+"}${bytes(Math.abs(used))} in use`,
  );
}

// Selection.

const picks = () => $$(".pick input[name]");

function showSelection() {
  const count = picks().filter((pick) => pick.checked).length;
  setText($("#chosen-count"), number(count));
  const all = $("#pick-all");
  if (!all) return;
  all.checked = count > 0 && count === picks().length;
  all.indeterminate = count > 0 && !all.checked;
}

document.addEventListener("change", (event) => {
  if (event.target.id === "pick-all") for (const pick of picks()) pick.checked = event.target.checked;
  showSelection();
});

// Menus close by Escape, by a click elsewhere, and when another one opens.

document.addEventListener("click", (event) => {
  for (const menu of $$(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// Adding: links and files that are dropped anywhere on the page.

const add = $("#add");
const dropText = async (data) => {
  const texts = await Promise.all([...data.files].slice(0, 20).map((file) => file.text()));
  const links = data.getData("text/uri-list") || data.getData("text/plain");
  if (links) texts.push(links.split(/\r?\n/).filter((line) => !line.startsWith("#")).join("\n"));
  return texts.join("\n").trim();
};

if (add) {
  document.addEventListener("dragover", (event) => {
    if ($("dialog[open]")) return;
    event.preventDefault();
    add.open = true;
    add.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) add.classList.remove("dropping");
  });
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    add.classList.remove("dropping");
    const text = await dropText(event.dataTransfer);
    const area = $("textarea", add);
    area.value = [area.value.trim(), text].filter(Boolean).join("\n");
    area.focus();
  });
}

// Shortcuts.

const shortcuts = [
  ["j", "Next row", () => moveRow(1)],
  ["k", "Previous row", () => moveRow(-1)],
  ["x", "Select the row", () => press("pick")],
  ["Enter", "Open the download", null],
  ["p", "Pause, resume or retry the row", () => pressFirst()],
  ["m", "More actions of the row", () => press("more")],
  ["a", "Add downloads", () => open("#add")],
  ["/", "Search", () => $("#filter-text, #where")?.focus()],
  ["n", "Next page", () => $('[data-key="next"]')?.click()],
  ["d", "Go to the downloads", () => location.assign("/")],
  ["s", "Go to the store", () => location.assign("/store")],
  ["Escape", "Close a menu, or unselect all rows", null],
  ["?", "Show the shortcuts", () => showHelp()],
];

const row = () => document.activeElement?.closest("tr[data-id]");
const press = (key) => $(`[data-key="${key}"]`, row() ?? document.createElement("i"))?.click();
const pressFirst = () => $(".do button", row() ?? document.createElement("i"))?.click();

function moveRow(step) {
  const rows = $$("tr[data-id]");
  const index = rows.indexOf(row());
  const next = rows[index < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, index + step))];
  $('[data-key="name"]', next)?.focus();
}

function open(selector) {
  const box = $(selector);
  if (!box) return;
  box.open = true;
  $("textarea", box).focus();
}

function showHelp() {
  let dialog = $("#help");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.id = "help";
    dialog.setAttribute("aria-labelledby", "help-title");
    const title = document.createElement("h2");
    title.id = "help-title";
    title.textContent = "Keyboard shortcuts";
    const table = document.createElement("table");
    table.className = "facts";
    for (const [key, meaning] of shortcuts) {
      const line = table.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      const label = document.createElement("kbd");
      label.textContent = key;
      head.append(label);
      line.append(head);
      line.insertCell().textContent = meaning;
    }
    const form = document.createElement("form");
    form.method = "dialog";
    const button = document.createElement("button");
    button.textContent = "Close";
    form.append(button);
    dialog.append(title, table, form);
    document.body.append(dialog);
  }
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (event.key === "Escape") {
    const menus = $$(".menu[open]");
    for (const menu of menus) {
      menu.open = false;
      $("summary", menu).focus();
    }
    if (menus.length === 0) for (const pick of picks()) pick.checked = false;
    return showSelection();
  }
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const shortcut = shortcuts.find(([key]) => key === event.key);
  if (!shortcut?.[2]) return;
  event.preventDefault();
  shortcut[2]();
});

// The start.

function prepare(root) {
  localTimes(root);
  for (const element of $$('[data-only="script"]', root)) element.hidden = false;
  showSelection();
  if (store) showGrowth();
}

prepare(document);
const address = new URL(location.href);
if (address.searchParams.has("notice")) {
  address.searchParams.delete("notice");
  history.replaceState(null, "", address);
}
if (list || detail || store) follow();
