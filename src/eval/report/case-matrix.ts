import type { EvalOutcome } from '../run/outcome.ts';
import type { CaseResult, EvalRun } from '../run/run-schema.ts';
import { html, type Markup } from './html-template.ts';
import { outcomeMarks } from './outcome-mark.ts';
import { failureReasons, passRate } from './summary.ts';

/** How many runs a phone has room for; older ones are hidden there. */
const runsOnNarrowScreens = 5;

/** A table of the last run's cases by run, the newest on the right. */
export function renderCaseMatrix(runs: readonly EvalRun[]): Markup {
  const newest = runs.at(-1);
  const bareCases = newest?.without_context;
  const heads = runs.map((run, index) => renderRunHead(run, index, runs.length));
  const bareHead =
    bareCases === undefined ? html`` : html`<th class="cell" title="without context">w/o</th>`;
  const resultsByRun = runs.map(({ cases }) => new Map(cases.map((result) => [result.id, result])));
  const bareById = new Map(bareCases?.map((result) => [result.id, result]));
  const rows = (newest?.cases ?? []).map((result, index) => {
    const outcomes = resultsByRun.map((results) => results.get(result.id)?.outcome);
    const bare = bareById.get(result.id);
    const bareCell =
      bareCases === undefined ? html`` : renderCell(bare?.outcome, { ageClass: '', markClass: '' });
    return renderCaseRow({ result, index }, outcomes, bareCell);
  });
  const bareCount = bareCases === undefined ? 0 : 1;
  const cellCount = Math.min(runs.length, runsOnNarrowScreens) + bareCount;
  return html`<table
    class="matrix"
    style="--cells: ${cellCount}; --runs: ${runs.length + bareCount}"
  >
    <tr>
      <th class="id">case</th>
      ${heads}${bareHead}
      <th class="why"></th>
    </tr>
    ${rows}
  </table>`;
}

function renderRunHead({ id, started }: EvalRun, index: number, count: number): Markup {
  const isNewest = index === count - 1;
  return html`<th
    class="cell${ageClass(index, count)}"
    title="${started.slice(0, 16).replace('T', ' ')} UTC, ${id}"
  >
    ${isNewest ? 'now' : started.slice(8, 10)}
  </th>`;
}

function ageClass(index: number, count: number): string {
  return index < count - runsOnNarrowScreens ? ' old' : '';
}

function renderCaseRow(
  { result, index }: { readonly result: CaseResult; readonly index: number },
  outcomes: readonly (EvalOutcome | undefined)[],
  bareCell: Markup,
): Markup {
  const cells = outcomes.map((outcome, run) =>
    renderCell(outcome, {
      ageClass: ageClass(run, outcomes.length),
      markClass: run === outcomes.length - 1 ? ' now' : '',
    }),
  );
  const rate = `${result.flaky ? 'flaky ' : ''}${passRate(result)}`;
  const remarks = [...failureReasons(result), rate].filter((text) => text !== '').join(' · ');
  return html`<tr data-case="${index}">
    <td class="id"><a href="#case-${index}" title="${result.id}">${result.id}</a></td>
    ${cells}${bareCell}
    <td class="why">${remarks.length > 200 ? `${remarks.slice(0, 200)}…` : remarks}</td>
  </tr>`;
}

function renderCell(
  outcome: EvalOutcome | undefined,
  classes: { readonly ageClass: string; readonly markClass: string },
): Markup {
  const mark = outcome === undefined ? '' : outcomeMarks[outcome];
  return html`<td class="cell${classes.ageClass}">
    <span class="mark ${outcome ?? 'absent'}${classes.markClass}" title="${outcome ?? 'not asked'}"
      >${mark}</span
    >
  </td>`;
}
