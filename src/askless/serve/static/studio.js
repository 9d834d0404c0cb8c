// The studio: reads a table and prices, shows what is wrong cell by cell, and lets the
// service solve it while sliders move. A new search ends the one before it.
"use strict";

const sheet = document.getElementById("sheet");
const texts = JSON.parse(sheet.dataset.texts);
const find = (id) => document.getElementById(id);
const say = (name, gaps = {}) =>
  Object.entries(gaps).reduce((t, [k, v]) => t.replace(`{${k}}`, v), texts[name]);
const format = new Intl.NumberFormat(sheet.dataset.lang, { maximumSignificantDigits: 5 });
const oneDigit = new Intl.NumberFormat(sheet.dataset.lang, { maximumFractionDigits: 1 });

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
  find("read").replaceChildren(...about.lines.map(({ number, cells }, i) => {
    const whole = wrong.get(`${number} 0`);
    return make("tr", whole ? { class: "bad" } : {}, ...cells.map((cell, j) => {
      const problem = wrong.get(`${number} ${j + 1}`) || (j === 0 ? whole : null);
      const made = make(i ? "td" : "th", i ? {} : { scope: "col" }, cell);
      if (problem) {
        made.className = "bad";
        made.append(make("small", {}, say(problem.what)));
      }
      return made;
    }));
  }));
  if (wrong.size) find("as-read").open = true;
};

const showTargets = (about) => {
  const options = about.names.filter((name) => name !== "prior").map((name) => {
    const option = make("option", { value: name }, name);
    option.selected = name === about.target;
    return option;
  });
  sheet.elements.target.replaceChildren(...options);
};

const slider = (name, value, top, changed) => {
  const shown = make("output", {}, "");
  const input = make("input", { type: "range", min: 0, max: top, step: top / 100 });
  input.value = value;
  input.dataset.name = name;
  input.addEventListener("input", () => {
    changed(Number(input.value));
    later();
  });
  const label = make("label", {}, make("span", { dir: "auto" }, name), input, shown);
  return { label, input, shown };
};

const priceSlider = (test, top) => {
  const made = slider(test.name, test.cost, top, (price) => {
    moved.prices[test.name] = price;
    made.shown.textContent = format.format(price);
  });
  made.shown.textContent = format.format(test.cost);
  return made.label;
};

// A class is as frequent as its slider is far to the right, among all of them.
const classSliders = (about) => {
  // Not read from the sliders, which move in steps.
  const weights = [...about.class_shares];
  const top = Math.max(...weights) * 2;
  const made = about.classes.slice(0, 60).map((name, i) => {
    const share = weights[i];
    const own = slider(name, share, top, (value) => {
      weights[i] = value;
      moved.weights[name] = value / share;
      showShares();
    });
    own.input.disabled = share === 0;
    return own;
  });
  const showShares = () => {
    const total = weights.reduce((a, b) => a + b, 0) || 1;
    made.forEach((own, i) => {
      own.shown.textContent = `${oneDigit.format(100 * weights[i] / total)} %`;
    });
  };
  showShares();
  return made.map((own) => own.label);
};

const showSliders = (about) => {
  const top = Math.max(1, ...about.tests.map((test) => test.cost)) * 2;
  const legends = ["prices", "weights"].map((id) => find(id).firstElementChild);
  find("prices").replaceChildren(legends[0],
    ...about.tests.slice(0, 60).map((test) => priceSlider(test, top)));
  find("weights").replaceChildren(legends[1], ...classSliders(about));
};

// The search, while it runs.

const points = [];

const drawOverTime = () => {
  const box = find("over-time");
  box.dataset.points = points.length;
  find("chart").hidden = points.length < 2;
  if (points.length < 2) return box.replaceChildren();
  const [width, height] = [600, 120];
  const last = Math.max(points.at(-1).seconds, 1e-9);
  const top = Math.max(...points.map((p) => p.best ?? 0), 1e-9) * 1.05;
  const low = Math.min(...points.map((p) => p.bound)) * 0.9;
  const svg = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, v);
    return made;
  };
  const place = (p, value) =>
    `${(p.seconds / last * width).toFixed(1)},${(height - (value - low) / (top - low) * height).toFixed(1)}`;
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

// What can be saved now; nothing, while there is no policy.
const offer = (content) => {
  policy = content;
  find("save").querySelector("button").disabled = policy === null;
  const link = find("download");
  link.hidden = policy === null;
  if (policy === null) return find("saved").replaceChildren();
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([policy], { type: "application/json" }));
  link.download = "policy.json";
};

const handlers = {
  first(told) {
    points.push({ seconds: 0, best: told.best, bound: told.bound });
    showFigures(told);
    showPicture(told);
    offer(told.policy);
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
    offer(told.policy);
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
  offer(null);
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
  // What was found for another table is not shown beside this one.
  for (const id of ["sliders", "result"]) find(id).hidden = about.problems.length > 0;
  if (about.problems.length) return;
  const now = JSON.stringify([about.tests, about.classes, about.class_shares]);
  if (now !== known) {
    known = now;
    moved.prices = {};
    moved.weights = {};
    showSliders(about);
  }
  solve();
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
