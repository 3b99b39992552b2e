"use strict";
(() => {
  const page = document.documentElement;
  page.classList.add("js");
  // On a narrow screen the changes come first.
  if (window.matchMedia("(max-width: 48rem)").matches) document.getElementById("filters").open = false;
  const blocks = Array.from(document.querySelectorAll("article"));
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const facets = document.getElementById("facets");
  const names = { status: "What", kind: "Kind", root: "Directory", cause: "Cause", path: "Field", severity: "Severity" };
  const values = (block, facet) => (block.dataset[facet] || "").split("\n").filter(Boolean);
  const grouped = (count) => count.toLocaleString("en");
  const texts = new Map();
  const text = (block) => {
    if (!texts.has(block)) texts.set(block, block.textContent.toLowerCase());
    return texts.get(block);
  };
  const chosen = {};
  for (const [facet, title] of Object.entries(names)) {
    const counts = new Map();
    for (const block of blocks) for (const value of values(block, facet)) counts.set(value, (counts.get(value) || 0) + 1);
    if (counts.size < 2) continue;
    chosen[facet] = new Set();
    const fieldset = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = title;
    fieldset.append(legend);
    const sorted = Array.from(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    for (const [value, count] of sorted.slice(0, 40)) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      const number = document.createElement("span");
      box.type = "checkbox";
      box.dataset.facet = facet;
      box.value = value;
      number.textContent = grouped(count);
      label.append(box, " ", value, number);
      fieldset.append(label);
    }
    facets.append(fieldset);
  }
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const block of blocks) {
      const fits = Object.entries(chosen).every(([facet, set]) => !set.size || values(block, facet).some((value) => set.has(value)));
      block.hidden = !(fits && words.every((word) => text(block).includes(word)));
      if (!block.hidden) count += 1;
    }
    shown.textContent = count === blocks.length ? `${grouped(count)} blocks` : `${grouped(count)} of ${grouped(blocks.length)} blocks`;
  };
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 80);
  });
  facets.addEventListener("change", (event) => {
    const box = event.target;
    chosen[box.dataset.facet][box.checked ? "add" : "delete"](box.value);
    filter();
  });
  const clear = () => {
    search.value = "";
    for (const box of facets.querySelectorAll("input:checked")) box.checked = false;
    for (const set of Object.values(chosen)) set.clear();
    filter();
  };
  const go = (block) => {
    if (!block) return;
    const details = block.querySelector("details");
    if (details) details.open = true;
    block.focus({ preventScroll: true });
    block.scrollIntoView({ block: "start" });
  };
  const follow = () => {
    const block = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!block || !blocks.includes(block)) return;
    if (block.hidden) clear();
    go(block);
  };
  const step = (by) => {
    const visible = blocks.filter((block) => !block.hidden);
    const at = visible.indexOf(document.activeElement.closest ? document.activeElement.closest("article") : null);
    go(visible[at < 0 ? (by > 0 ? 0 : visible.length - 1) : Math.min(Math.max(at + by, 0), visible.length - 1)]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { clear(); search.blur(); }
      return;
    }
    if (event.key === "/") { event.preventDefault(); search.focus(); }
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "Escape") clear();
    else if (event.key === "x") {
      const all = blocks.map((block) => block.querySelector("details")).filter(Boolean);
      const open = !all.every((details) => details.open);
      for (const details of all) details.open = open;
    }
  });
  window.addEventListener("hashchange", follow);
  filter();
  follow();
})();
