import { outcomes } from '../run/outcome.ts';
import type { EvalRun } from '../run/run-schema.ts';
import { html, type Markup } from './html-template.ts';
import { outcomeMarks } from './outcome-mark.ts';

/** Of more tags, a list is no help; the search finds them. */
const maxTags = 200;

/** Search, outcomes and tags. Hidden until the script of the page runs, which applies them. */
export function renderCaseFilter({ cases }: EvalRun): Markup {
  const counts = outcomes
    .map((outcome) => ({
      outcome,
      count: cases.filter((result) => result.outcome === outcome).length,
    }))
    .filter(({ count }) => count > 0);
  const tags = [...new Set(cases.flatMap((result) => result.tags))].toSorted().slice(0, maxTags);
  return html`<div id="filter" role="search" aria-label="cases" hidden>
    <input
      id="search"
      type="search"
      placeholder="Search ids, questions, answers, SQL"
      aria-label="search"
      aria-keyshortcuts="/"
      autocomplete="off"
      spellcheck="false"
    />
    <span class="choices" role="group" aria-label="outcomes">
      ${counts.map(
        ({ outcome, count }) =>
          html`<label
            ><input type="checkbox" value="${outcome}" /><span class="mark ${outcome}"
              >${outcomeMarks[outcome]}</span
            >
            ${count} ${outcome}</label
          >`,
      )}
    </span>
    <select id="tag" aria-label="tag" ${tags.length === 0 ? 'hidden' : ''}>
      <option value="">all tags</option>
      ${tags.map((tag) => html`<option>${tag}</option>`)}
    </select>
    <output id="shown" aria-live="polite"></output>
    <span class="dim keys">/ search · j k next, previous · Enter open</span>
  </div>`;
}
