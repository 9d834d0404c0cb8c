// The studio: reads a table and prices, shows what is wrong cell by cell, and lets the
// service solve it while sliders move. A new search ends the one before it.
"use strict";

const sheet = document.getElementById("sheet");
const texts = JSON.parse(sheet.dataset.texts);
const find = (id) => document.getElementById(id);
const say = (name, gaps = {}) =>
  Object.entries(gaps).reduce((t, [k, v]) => t.replace(`{${k}}`, v), texts[name]);
const format = new Intl.NumberFormat(sheet.dataset.lang, { maximumSignificantDigits: 5 });

const make = (tag, attributes = {}, ...content) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
};

// What the sliders say; empty until one is moved.
const moved = { prices: {}, weights: {} };
let policy = null;
let search = null;
let known = "";

const send = (path, body, signal) => fetch(path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
  signal,
});

const typed = () => ({
  table: sheet.elements.table.value,
  costs: sheet.elements.costs.value,
  target: sheet.elements.target.value || null,
});

// The table as it was read, and what is wrong with it.

const showProblems = (problems) => {
  find("wrong").hidden = problems.length === 0;
  find("problems").replaceChildren(...problems.map((p) => {
    const where = p.column ? say("where", p) : p.line ? say("where line", p) : "";
    const got = p.got ? ` (${p.got})` : "";
    const place = [say(`sheet ${p.sheet}`), where].filter(Boolean).join(", ");
    return make("li", {}, `${place}: ${say(p.what)}${got}`);
  }));
};

const showTable = (about) => {
  const wrong = new Map(about.problems.filter((p) => p.sheet === "table")
    .map((p) => [`${p.line} ${p.column}`, p]));
  const lines = sheet.elements.table.value.split(/\r?\n/).slice(0, 200);
  find("read").replaceChildren(...lines.filter((l) => l.trim()).map((line, i) => {
    const cells = line.split(",").map((cell, j) => {
      const problem = wrong.get(`${i + 1} ${j + 1}`) || wrong.get(`${i + 1} 0`);
      const made = make(i ? "td" : "th", i ? {} : { scope: "col" }, cell);
      if (problem) {
        made.className = "bad";
        made.append(make("small", {}, say(problem.what)));
      }
      return made;
    });
    return make("tr", {}, ...cells);
  }));
};

const showTargets = (about) => {
  const options = about.names.filter((name) => name !== "prior").map((name) => {
    const option = make("option", { value: name }, name);
    option.selected = name === about.target;
    return option;
  });
  sheet.elements.target.replaceChildren(...options);
};

const slider = (kind, name, value, top) => {
  const shown = make("output", {}, format.format(value));
  const input = make("input", { type: "range", min: 0, max: top, step: top / 100 });
  input.value = value;
  input.dataset.name = name;
  input.addEventListener("input", () => {
    moved[kind][name] = Number(input.value);
    shown.textContent = format.format(Number(input.value));
    later();
  });
  return make("label", {}, make("span", { dir: "auto" }, name), input, shown);
};

const showSliders = (about) => {
  const top = Math.max(1, ...about.tests.map((test) => test.cost)) * 2;
  const legends = ["prices", "weights"].map((id) => find(id).firstElementChild);
  find("prices").replaceChildren(legends[0],
    ...about.tests.slice(0, 60).map((t) => slider("prices", t.name, t.cost, top)));
  find("weights").replaceChildren(legends[1],
    ...about.classes.slice(0, 60).map((name) => slider("weights", name, 1, 5)));
};

// The search, while it runs.

const points = [];

const drawOverTime = () => {
  const box = find("over-time");
  box.dataset.points = points.length;
  if (points.length < 1) return box.replaceChildren();
  const [width, height] = [600, 120];
  const last = Math.max(points.at(-1).seconds, 1e-9);
  const top = Math.max(...points.map((p) => p.best ?? 0), 1e-9) * 1.1;
  const svg = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, v);
    return made;
  };
  const place = (p, value) =>
    `${(p.seconds / last * width).toFixed(1)},${(height - value / top * height).toFixed(1)}`;
  const line = (name) => svg("polyline", {
    class: name,
    points: points.filter((p) => p[name] !== null).map((p) => place(p, p[name])).join(" "),
  });
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
  picture.append(line("bound"), line("best"));
  box.replaceChildren(picture);
  box.dataset.bounds = points.map((p) => p.bound).join(" ");
};

const showFigures = (told) => {
  if ("expected" in told) {
    find("expected").textContent = format.format(told.expected);
    find("worst").textContent = format.format(told.worst);
  }
  find("bound").textContent = format.format(told.bound);
};

const showPicture = (told) => {
  if (told.picture === null) {
    find("picture").textContent = say("too large");
    return;
  }
  const image = make("img", { alt: say("flowchart") });
  image.src = `data:image/svg+xml,${encodeURIComponent(told.picture)}`;
  find("picture").replaceChildren(image);
  find("text").textContent = told.text;
};

const handlers = {
  first(told) {
    points.push({ seconds: 0, best: told.best, bound: told.bound });
    showFigures(told);
    showPicture(told);
  },
  progress(told) {
    points.push(told);
    find("bound").textContent = format.format(told.bound);
    drawOverTime();
  },
  done(told) {
    const seconds = (points.at(-1)?.seconds ?? 0) + 1e-3;
    points.push({ seconds, best: told.best, bound: told.bound });
    showFigures(told);
    showPicture(told);
    drawOverTime();
    const said = say(told.status === "optimal" ? "proved" : "not proved");
    find("state").textContent = [said, ...told.notes].join(" ");
    policy = told.policy;
    const link = find("download");
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([policy], { type: "application/json" }));
    link.download = "policy.json";
    link.hidden = false;
  },
  problem(told) {
    find("state").textContent = `${told.error} ${told.hint}`;
  },
};

const readEvents = async (body) => {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const [event, data] = part.split("\n").map((line) => line.slice(line.indexOf(" ") + 1));
      handlers[event](JSON.parse(data));
    }
  }
};

const solve = async () => {
  search?.abort();
  const own = search = new AbortController();
  policy = null;
  points.length = 0;
  drawOverTime();
  find("state").textContent = say("searching");
  find("stop").hidden = false;
  try {
    const body = { ...typed(), ...moved, objective: sheet.elements.objective.value };
    const answer = await send("/studio/solve", body, own.signal);
    if (answer.ok) await readEvents(answer.body);
    else handlers.problem(await answer.json());
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  if (own === search) find("stop").hidden = true;
};

const check = async () => {
  search?.abort();
  const answer = await send("/studio/check", typed());
  const about = await answer.json();
  if (!answer.ok) return handlers.problem(about);
  showProblems(about.problems);
  showTargets(about);
  showTable(about);
  const now = JSON.stringify([about.tests, about.classes]);
  if (now !== known) {
    known = now;
    moved.prices = {};
    moved.weights = {};
    showSliders(about);
  }
  if (about.problems.length === 0) solve();
  else find("state").textContent = "";
};

// One search when the hand rests, not one for each step of a slider.
let timer = 0;
const wait = (act) => {
  clearTimeout(timer);
  timer = setTimeout(act, 200);
};
const later = () => wait(solve);

sheet.addEventListener("submit", (event) => event.preventDefault());
sheet.addEventListener("input", (event) => {
  if (event.target.name === "objective") later();
  else if (event.target.type !== "file") wait(check);
});
find("stop").addEventListener("click", () => {
  search?.abort();
  find("stop").hidden = true;
  find("state").textContent = say("stopped");
});

const readFile = async (file, name) => {
  sheet.elements[name].value = await file.text();
  check();
};
for (const input of sheet.querySelectorAll("input[type=file]")) {
  input.addEventListener("change", () => readFile(input.files[0], input.dataset.for));
}
for (const zone of sheet.querySelectorAll(".drop")) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    // Two files at once: the one about costs says so.
    for (const file of event.dataTransfer.files) {
      const both = event.dataTransfer.files.length > 1;
      const name = both ? (/cost/i.test(file.name) ? "costs" : "table") : zone.dataset.for;
      readFile(file, name);
    }
  });
}

find("save").addEventListener("submit", async (event) => {
  event.preventDefault();
  delete event.target.dataset.sent;
  if (policy === null) return;
  const name = event.target.elements.name.value;
  const answer = await send("/studio/save", { name, policy });
  const told = await answer.json();
  find("saved").replaceChildren(answer.ok
    ? make("a", { href: `${told.ask}?lang=${sheet.dataset.lang}` }, say("saved as"))
    : `${told.error} ${told.hint}`);
});

check();
