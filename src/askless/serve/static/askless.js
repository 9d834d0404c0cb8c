// Pages work without this. With it: number keys choose an answer, a print button, and a
// message to the page around an embedded interview about how high it is.
"use strict";

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const choices = document.querySelectorAll(".choice");
  const number = Number(event.key);
  if (number >= 1 && number <= choices.length) choices[number - 1].click();
});

// One click, one answer: a form is sent once.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

const links = document.querySelector(".links");
if (links) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = links.dataset.print;
  button.addEventListener("click", () => print());
  links.append(button);
}

if (parent !== window) {
  document.documentElement.classList.add("embedded");
  const tell = () => parent.postMessage(
    { askless: "height", height: document.documentElement.scrollHeight }, "*");
  new ResizeObserver(tell).observe(document.body);
  tell();
}
