"use strict";
// The report reads without this script. It adds the filter, the copy buttons and the choice of theme.
const $ = (id) => document.getElementById(id);
const fields = ["q", "verdict", "kind", "scenario"];
const items = Array.from(document.querySelectorAll(".item"), (element) => ({
  element,
  verdict: element.dataset.verdict,
  kinds: element.dataset.kind.split(" "),
  scenario: element.dataset.scenario,
  finding: element.classList.contains("finding"),
}));

// Text is collected by the first search, not when the page opens.
function text(item) {
  item.text ??= item.element.textContent.toLowerCase();
  return item.text;
}

function matches(item, want) {
  return (want.verdict === "" || item.verdict === want.verdict) &&
    (want.kind === "" || item.kinds.includes(want.kind)) &&
    (want.scenario === "" || item.scenario === want.scenario) &&
    (want.q === "" || text(item).includes(want.q.toLowerCase()));
}

function filter() {
  const want = Object.fromEntries(fields.map((id) => [id, $(id).value.trim()]));
  const shown = { true: 0, false: 0 }, all = { true: 0, false: 0 };
  for (const item of items) {
    item.element.hidden = !matches(item, want);
    all[item.finding]++;
    shown[item.finding] += item.element.hidden ? 0 : 1;
  }
  for (const group of document.querySelectorAll(".group")) group.hidden = !group.querySelector(".item:not([hidden])");
  $("shown").textContent = `${shown.true} of ${all.true} listed findings and ${shown.false} of ${all.false} scenarios shown`;
  return want;
}

// The fragment holds the filter, so that a filtered report can be passed on as a link.
function remember(want) {
  const set = new URLSearchParams(Object.entries(want).filter((entry) => entry[1] !== ""));
  history.replaceState(null, "", "#" + set);
}

function follow() {
  const fragment = location.hash.slice(1), target = $(fragment);
  if (fragment === "" || target) {
    if (target?.hidden) {
      for (const id of fields) $(id).value = "";
      filter();
    }
    if (target instanceof HTMLDetailsElement) target.open = true;
    target?.scrollIntoView();
    return;
  }
  const set = new URLSearchParams(fragment);
  for (const id of fields) $(id).value = set.get(id) ?? "";
  filter();
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    $("said").textContent = "The command was copied.";
  } catch {
    getSelection().selectAllChildren(code);
    $("said").textContent = "The command is selected.";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

function theme(dark) {
  $("dark").media = dark ? "screen" : "not all";
  $("theme").setAttribute("aria-pressed", dark);
}

// Browsers that cannot unfold by style sheet alone print what is open.
function unfold() {
  const folded = document.querySelectorAll(".detailed:not([open]), .scenario:not(.v-pass, .v-known, .v-not-applicable, [open])");
  for (const element of folded) element.open = true;
  addEventListener("afterprint", () => { for (const element of folded) element.open = false; }, { once: true });
}

const preference = matchMedia("(prefers-color-scheme: dark)");
$("theme").setAttribute("aria-pressed", preference.matches);
$("theme").addEventListener("click", () => theme($("theme").getAttribute("aria-pressed") !== "true"));
for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copy(button));
$("filters").addEventListener("input", () => remember(filter()));
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").addEventListener("reset", () => setTimeout(() => remember(filter())));
addEventListener("hashchange", follow);
addEventListener("beforeprint", unfold);
for (const element of document.querySelectorAll("#filters, #theme, .copy")) element.hidden = false;
filter();
follow();
