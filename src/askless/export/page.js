"use strict";
// Draws the trees of a policy, folds and unfolds them, finds and walks them.
const DATA = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const FEW = 60; // boxes shown at first
const HEIGHT = 54, GAP = 10, EDGE = 34, LEFT = 24;
const stage = $("stage"), edges = $("edges"), wrap = $("wrap");
const narrow = matchMedia("(max-width: 720px)");
const brush = document.createElement("canvas").getContext("2d");

let nodes = []; // of the tree that is shown
let cards = []; // made when first shown
let isOpen = new Set();
let shown = [];
let focused = 0;
let chosen = -1; // a decision picked out in the legend
let matches = [], matchAt = -1;
let isMatch = new Set();
let mode = "auto";
let scale = 1;
let isPrinting = false;
let treeAt = 0;
let drawn = ""; // what stands on the stage

function load(index) {
  treeAt = index;
  nodes = DATA.trees[index].nodes.map((row, id) => ({
    id, parent: row[0], seen: row[1], title: row[2], price: row[3], sure: row[4],
    spent: row[5], share: row[6], mix: row[7], decision: row[8], isLeaf: row[9],
    isOver: row[10], note: row[11], children: [], depth: 0, below: 0,
  }));
  for (const node of nodes.slice(1)) {
    nodes[node.parent].children.push(node.id);
    node.depth = nodes[node.parent].depth + 1;
  }
  for (let id = nodes.length - 1; id > 0; id--) {
    nodes[nodes[id].parent].below += nodes[id].below + 1;
  }
  cards = [];
  focused = 0;
  matches = [];
  isMatch = new Set();
  matchAt = -1;
  measureAll();
  openFew();
  writeFacts(DATA.trees[index].facts);
}

// Opens what most cases come through, as long as there are few boxes.
function openFew() {
  isOpen = new Set();
  const waiting = [0];
  let count = 1;
  while (waiting.length) {
    let best = 0;
    waiting.forEach((id, i) => {
      if (nodes[id].share > nodes[waiting[best]].share) best = i;
    });
    const [id] = waiting.splice(best, 1);
    const { children } = nodes[id];
    if (!children.length) continue;
    if (id !== 0 && count + children.length > FEW && nodes.length > 1.3 * FEW) continue;
    isOpen.add(id);
    count += children.length;
    waiting.push(...children);
  }
}

const percent = (share) => `${Number((100 * share).toPrecision(3))} %`;

function element(tag, style, text) {
  const made = document.createElement(tag);
  if (style) made.className = style;
  if (text !== undefined) made.textContent = text;
  return made;
}

function makeCard(node) {
  const card = element("div", `node ${node.isLeaf ? "leaf" : "inner"}`);
  card.id = `n${node.id}`;
  card.dataset.id = node.id;
  card.setAttribute("role", "treeitem");
  card.setAttribute("aria-level", node.depth + 1);
  card.tabIndex = -1;
  card.style.setProperty("--depth", node.depth);
  if (node.isLeaf) card.style.setProperty("--c", DATA.colours[node.decision]);
  if (node.seen) card.append(element("span", "seen", node.seen));
  const top = element("div", "top");
  top.append(element("span", "name", node.title + (node.isLeaf ? "" : "?")));
  if (node.price) top.append(element("span", "chip", node.price));
  if (node.sure) top.append(element("span", "sure", node.sure));
  const facts = element("div", "facts");
  const spent = `spent ${node.spent} · ${percent(node.share)}`;
  facts.append(element("span", node.isOver ? "over" : "", spent));
  const mix = element("div", "mix");
  for (const [label, share] of node.mix) {
    const part = element("span");
    part.style.flex = `${share} 0 0`;
    part.style.background = label < 0 ? DATA.rest : DATA.colours[label];
    mix.append(part);
  }
  card.append(top, facts, mix);
  card.title = describe(node);
  return card;
}

function describe(node) {
  const mix = [...node.mix].sort((a, b) => b[1] - a[1]).map(([label, share]) =>
    `${percent(share)} ${label < 0 ? "others" : DATA.classes[label]}`);
  const first = node.isLeaf ? node.title : `${node.title}? costs ${node.price}`;
  return [first, node.note, `spent ${node.spent}, ${percent(node.share)} of the cases`,
    ...mix].filter(Boolean).join("\n");
}

function isOutline() {
  return isPrinting || mode === "outline" || (mode === "auto" && narrow.matches);
}

function visible() {
  const listed = [], stack = [0];
  while (stack.length) {
    const id = stack.pop();
    listed.push(id);
    if (isOpen.has(id)) stack.push(...[...nodes[id].children].reverse());
  }
  return listed;
}

function draw() {
  shown = visible();
  for (const id of shown) {
    if (!cards[id]) cards[id] = makeCard(nodes[id]);
    dress(nodes[id], cards[id]);
  }
  stage.classList.toggle("dimmed", chosen >= 0);
  // Thousands of boxes are moved only if some came, went, or change places.
  const state = `${isOutline()} ${scale} ${treeAt} ${shown.join()}`;
  if (state !== drawn) {
    drawn = state;
    arrange();
  }
  tell();
}

function arrange() {
  stage.classList.toggle("outline", isOutline());
  stage.classList.toggle("chart", !isOutline());
  stage.replaceChildren(edges, ...shown.map((id) => cards[id]));
  if (!isOutline()) {
    place();
    return;
  }
  stage.removeAttribute("style");
  wrap.style.height = "";
  for (const id of shown) {
    cards[id].style.left = cards[id].style.top = cards[id].style.width = "";
  }
}

function dress(node, card) {
  const facts = card.querySelector(".facts");
  const old = facts.querySelector(".more");
  if (old) old.remove();
  if (!node.isLeaf) {
    card.setAttribute("aria-expanded", isOpen.has(node.id));
    if (!isOpen.has(node.id)) {
      facts.append(element("span", "more", `+ ${node.below.toLocaleString("en")}`));
    }
  }
  card.tabIndex = node.id === focused ? 0 : -1;
  card.classList.toggle("match", isMatch.has(node.id));
  card.classList.toggle("chosen", node.isLeaf && node.decision === chosen);
  card.setAttribute("aria-selected", node.id === focused);
}

// Measures all texts once, one font after the other: changing it takes long.
function measureAll() {
  const family = getComputedStyle(document.body).fontFamily;
  const width = (text) => (text ? brush.measureText(text).width : 0);
  brush.font = `600 13px ${family}`;
  for (const node of nodes) node.first = width(node.title);
  brush.font = `12px ${family}`;
  for (const node of nodes) {
    node.first += (node.price ? width(node.price) + 24 : 0) +
      (node.sure ? width(node.sure) + 10 : 0) + 10;
    node.second = width(`spent ${node.spent} · ${percent(node.share)}`);
    node.label = Math.min(width(node.seen), 160);
  }
}

// Columns from left to right; subtrees are pushed together as far as outlines allow.
function place() {
  const widths = [], labels = [];
  for (const id of shown) {
    const node = nodes[id];
    const more = node.isLeaf || isOpen.has(id) ? 0 : 52;
    const width = Math.min(Math.max(node.first, node.second + more, 96) + 24, 270);
    widths[node.depth] = Math.max(widths[node.depth] || 0, width);
    labels[node.depth] = Math.max(labels[node.depth] || 0, node.label);
  }
  const left = [LEFT];
  for (let d = 1; d < widths.length; d++) {
    left[d] = left[d - 1] + widths[d - 1] + labels[d] + EDGE + 14;
  }
  const { at, height } = tidy();
  for (const id of shown) {
    const { style } = cards[id];
    style.left = `${left[nodes[id].depth]}px`;
    style.top = `${at.get(id) - HEIGHT / 2}px`;
    style.width = `${widths[nodes[id].depth]}px`;
  }
  const width = left[left.length - 1] + widths[widths.length - 1] + LEFT;
  drawEdges(left, widths, at);
  stage.style.cssText =
    `width:${width}px;height:${height}px;transform:scale(${scale})`;
  wrap.style.height = scale === 1 ? "" : `${height * scale + 110}px`;
}

function tidy() {
  const offset = new Map(), outlines = new Map();
  for (let i = shown.length - 1; i >= 0; i--) {
    const id = shown[i];
    const children = isOpen.has(id) ? nodes[id].children : [];
    let below = []; // from the deepest column up
    for (const child of children) {
      offset.set(child, push(below, outlines.get(child)));
      outlines.delete(child);
    }
    if (children.length) {
      const last = children[children.length - 1];
      const middle = (offset.get(children[0]) + offset.get(last)) / 2;
      for (const child of children) offset.set(child, offset.get(child) - middle);
      below = below.map(([top, bottom]) => [top - middle, bottom - middle]);
    }
    below.push([-HEIGHT / 2, HEIGHT / 2]);
    outlines.set(id, below);
  }
  const whole = outlines.get(0);
  const highest = Math.min(...whole.map((part) => part[0]));
  const at = new Map([[0, 6 - highest]]);
  for (const id of shown.slice(1)) {
    at.set(id, at.get(nodes[id].parent) + offset.get(id));
  }
  return { at, height: Math.max(...whole.map((part) => part[1])) - highest + 12 };
}

function push(above, outline) {
  if (!above.length) {
    above.push(...outline);
    return 0;
  }
  const common = Math.min(above.length, outline.length);
  let shift = -Infinity;
  for (let i = 1; i <= common; i++) {
    const upper = above[above.length - i][1];
    shift = Math.max(shift, upper + GAP - outline[outline.length - i][0]);
  }
  for (let i = 1; i <= common; i++) {
    const row = above[above.length - i];
    above[above.length - i] = [row[0], outline[outline.length - i][1] + shift];
  }
  const deeper = outline.slice(0, outline.length - common);
  above.unshift(...deeper.map(([top, bottom]) => [top + shift, bottom + shift]));
  return shift;
}

function drawEdges(left, widths, at) {
  const onPath = new Set(pathTo(focused));
  const paths = shown.slice(1).map((id) => {
    const node = nodes[id], depth = node.depth - 1;
    const x0 = left[depth] + widths[depth], y0 = at.get(node.parent);
    const x1 = left[node.depth], y1 = at.get(id);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x0} ${y0}C${x0 + 20} ${y0} ${x0 + 14} ${y1} ` +
      `${x0 + EDGE} ${y1}L${x1} ${y1}`);
    path.setAttribute("stroke-width", (1 + 9 * node.share).toFixed(2));
    if (onPath.has(id)) path.setAttribute("class", "path");
    path.dataset.id = id;
    return path;
  });
  edges.replaceChildren(...paths);
}

function pathTo(id) {
  const path = [];
  for (let at = id; at >= 0; at = nodes[at].parent) path.unshift(at);
  return path;
}

// Says, below the tree, how to get to the box that is looked at.
function tell() {
  const path = pathTo(focused);
  const onPath = new Set(path);
  for (const id of shown) cards[id].classList.toggle("path", onPath.has(id));
  for (const line of edges.children) {
    line.setAttribute("class", onPath.has(Number(line.dataset.id)) ? "path" : "");
  }
  const parts = [];
  path.slice(1).forEach((id) => {
    const step = element("span", "step", nodes[nodes[id].parent].title + " ");
    step.append(element("b", "", nodes[id].seen));
    parts.push(step, " → ");
  });
  const node = nodes[focused];
  const end = node.isLeaf ? `decide ${node.title}` : `ask ${node.title}`;
  parts.push(element("b", "", end), ` (spent ${node.spent})`);
  $("trail").replaceChildren(...parts);
}

function look(id, { center = false } = {}) {
  if (cards[focused]) {
    cards[focused].tabIndex = -1;
    cards[focused].setAttribute("aria-selected", false);
  }
  focused = id;
  const card = cards[id];
  card.tabIndex = 0;
  card.setAttribute("aria-selected", true);
  card.focus({ preventScroll: true });
  card.scrollIntoView(center ? { block: "center", inline: "center" }
    : { block: "nearest", inline: "nearest" });
  tell();
}

function toggle(id, open = !isOpen.has(id)) {
  if (!nodes[id].children.length) return;
  if (open) isOpen.add(id); else isOpen.delete(id);
  const before = cards[id].getBoundingClientRect();
  draw();
  // The box stays under the pointer while everything around it moves.
  const after = cards[id].getBoundingClientRect();
  scrollBy(0, after.top - before.top);
  look(id);
}

function openAll() {
  for (const node of nodes) if (node.children.length) isOpen.add(node.id);
  draw();
}

function closeAll() {
  isOpen = new Set(nodes[0].children.length ? [0] : []);
  focused = 0;
  draw();
}

function reveal(id) {
  for (const at of pathTo(id).slice(0, -1)) isOpen.add(at);
}

function search() {
  const words = $("query").value.trim().toLowerCase();
  matches = words ? nodes.filter((node) =>
    `${node.seen} ${node.title}`.toLowerCase().includes(words)).map((n) => n.id) : [];
  isMatch = new Set(matches);
  matchAt = matches.length ? 0 : -1;
  showMatch(false);
}

function showMatch(moveFocus) {
  if (matchAt >= 0) {
    reveal(matches[matchAt]);
    focused = matches[matchAt];
  }
  draw();
  const found = $("query").value.trim() ? `${matchAt + 1} of ${matches.length}` : "";
  $("count").textContent = matches.length || !found ? found : "none";
  if (matchAt < 0) return;
  if (moveFocus) look(focused, { center: true });
  else cards[focused].scrollIntoView({ block: "center", inline: "center" });
}

function nextMatch(step, moveFocus = true) {
  if (!matches.length) return;
  matchAt = (matchAt + step + matches.length) % matches.length;
  showMatch(moveFocus);
}

function onTreeKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const node = nodes[focused], place = shown.indexOf(focused);
  const siblings = node.parent < 0 ? [0] : nodes[node.parent].children;
  const actions = {
    ArrowDown: () => place + 1 < shown.length && look(shown[place + 1]),
    ArrowUp: () => place > 0 && look(shown[place - 1]),
    ArrowRight: () => {
      if (!node.children.length) return;
      if (isOpen.has(focused)) look(node.children[0]); else toggle(focused, true);
    },
    ArrowLeft: () => {
      if (isOpen.has(focused)) toggle(focused, false);
      else if (node.parent >= 0) look(node.parent);
    },
    Home: () => look(0),
    End: () => look(shown[shown.length - 1]),
    Enter: () => toggle(focused),
    " ": () => toggle(focused),
    "*": () => {
      for (const id of siblings) if (nodes[id].children.length) isOpen.add(id);
      draw();
      look(focused);
    },
    n: () => nextMatch(1),
    N: () => nextMatch(-1),
  };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

function zoom(factor) {
  scale = factor === 0 ? 1 : Math.min(2, Math.max(0.15, scale * factor));
  draw();
}

function fit() {
  scale = 1;
  draw();
  if (isOutline()) return;
  scale = Math.min(1, (wrap.clientWidth - 8) / stage.offsetWidth);
  draw();
}

function writeFacts(facts) {
  $("facts").replaceChildren(...facts.map(([name, value]) => {
    const part = element("div");
    const style = value.endsWith(" over") ? "over" : "";
    part.append(element("dt", "", name), element("dd", style, value));
    return part;
  }));
}

function writeLegend() {
  $("legend").replaceChildren(...DATA.legend.map(([label, share]) => {
    const button = element("button");
    const mark = element("i");
    mark.style.setProperty("--c", DATA.colours[label]);
    button.append(mark, `${DATA.classes[label]}  ${percent(share)}`);
    button.type = "button";
    button.title = "Pick out this decision";
    button.setAttribute("aria-pressed", false);
    button.onclick = () => {
      chosen = chosen === label ? -1 : label;
      for (const other of $("legend").children) {
        other.setAttribute("aria-pressed", chosen === label && other === button);
      }
      if (chosen >= 0 && nodes.length <= 400) {
        nodes.filter((n) => n.isLeaf && n.decision === chosen).forEach((n) => reveal(n.id));
      }
      draw();
    };
    return button;
  }));
}

function chooseTree() {
  if (DATA.trees.length < 2) return;
  $("chooser").hidden = false;
  $("tree").replaceChildren(...DATA.trees.map((_, i) => {
    const option = element("option", "", `${i + 1} of ${DATA.trees.length}`);
    option.value = i;
    return option;
  }));
  $("tree").onchange = () => {
    load(Number($("tree").value));
    search();
  };
}

stage.addEventListener("click", (event) => {
  const card = event.target.closest(".node");
  if (!card) return;
  const id = Number(card.dataset.id);
  if (nodes[id].children.length) toggle(id); else look(id);
});
stage.addEventListener("keydown", onTreeKey);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === $("query")) return;
  event.preventDefault();
  $("query").focus();
});
$("query").addEventListener("input", search);
$("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    nextMatch(event.shiftKey ? -1 : 1, false);
  } else if (event.key === "Escape" || event.key === "ArrowDown") {
    event.preventDefault();
    if (event.key === "Escape") {
      $("query").value = "";
      search();
    }
    look(focused);
  }
});
$("next").onclick = () => nextMatch(1);
$("before").onclick = () => nextMatch(-1);
$("all").onclick = openAll;
$("none").onclick = closeAll;
$("larger").onclick = () => zoom(1.25);
$("smaller").onclick = () => zoom(0.8);
$("fit").onclick = fit;
$("print").onclick = () => print();
$("list").onclick = () => {
  mode = isOutline() ? "chart" : "outline";
  $("list").setAttribute("aria-pressed", mode === "outline");
  draw();
};
narrow.addEventListener("change", draw);
addEventListener("beforeprint", () => { isPrinting = true; draw(); });
addEventListener("afterprint", () => { isPrinting = false; draw(); });
load(0);
writeLegend();
chooseTree();
draw();
