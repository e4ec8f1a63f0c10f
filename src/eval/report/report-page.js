// Filters the cases of the page. It reads text and hides elements; it never writes markup.
'use strict';
const bar = document.getElementById('filter');
const search = document.getElementById('search');
const tag = document.getElementById('tag');
const shown = document.getElementById('shown');
const outcomes = [...bar.querySelectorAll('input[type=checkbox]')];
const answers = [...document.querySelectorAll('details[data-case]')];
const rows = new Map(
  [...document.querySelectorAll('tr[data-case]')].map((row) => [row.dataset.case, row]),
);
let texts;

// Whole answers are searched; their text is read once, when it is needed first.
function textOf(index) {
  texts ??= answers.map((answer) => answer.textContent.toLowerCase());
  return texts[index];
}

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = new Set(outcomes.filter((box) => box.checked).map((box) => box.value));
  let count = 0;
  answers.forEach((answer, index) => {
    const { case: id, outcome, tags } = answer.dataset;
    const isShown =
      (chosen.size === 0 || chosen.has(outcome)) &&
      (tag.value === '' || tags.split(' ').includes(tag.value)) &&
      words.every((word) => textOf(index).includes(word));
    count += isShown ? 1 : 0;
    answer.hidden = !isShown;
    const row = rows.get(id);
    if (row !== undefined) row.hidden = !isShown;
  });
  shown.textContent = `${count} of ${answers.length}`;
}

// A long page takes a moment: it follows once the person pauses.
let waiting;
search.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(apply, 120);
});
bar.addEventListener('change', apply);

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.hidden = false;
    target.querySelector('summary').focus();
  }
}
addEventListener('hashchange', openTarget);

const moves = { j: 1, k: -1 };
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'search';
  if (event.key === 'Escape' && isTyping) {
    search.value = '';
    apply();
  }
  if (isTyping || event.target instanceof HTMLSelectElement) return;
  if (event.key === '/') {
    event.preventDefault();
    search.focus();
  }
  if (event.key in moves) {
    const open = answers.filter((answer) => !answer.hidden);
    const now = open.indexOf(document.activeElement.closest('details[data-case]'));
    const next = open[Math.min(open.length - 1, Math.max(0, now + moves[event.key]))];
    next?.querySelector('summary').focus();
  }
});

bar.hidden = false;
apply();
openTarget();
