import { readFileSync } from 'node:fs';
import { formatCount } from '../../lib/format-count.ts';
import type { RunComparison } from './compare-runs.ts';
import { html, Markup } from './html-template.ts';
import type { EvalOutcome } from '../run/outcome.ts';
import type { CaseResult, EvalRun, GradedTurn } from '../run/run-schema.ts';
import {
  columnsWithBaseline,
  figureRows,
  passRate,
  summarizeCases,
  failureReasons,
  type FigureColumn,
} from './summary.ts';

interface HtmlReport {
  readonly run: EvalRun;
  /** Runs before it, oldest first. */
  readonly history: readonly EvalRun[];
  readonly comparison: RunComparison | undefined;
}

const letters: Readonly<Record<EvalOutcome, string>> = {
  pass: '✓',
  fail: '✗',
  timeout: 'T',
  error: '!',
  inconclusive: '?',
  skipped: '–',
};
const shownRuns = 16;
/** What fits beside a case on a telephone. */
const shownWhereNarrow = 5;

/** One file that needs nothing else: no script, no font, no image, and a policy that lets nothing be fetched. */
export function renderHtmlReport({ run, history, comparison }: HtmlReport): string {
  const runs = [...history.filter(({ id }) => id !== run.id), run].slice(-shownRuns);
  const css = new Markup(readFileSync(new URL('report.css', import.meta.url), 'utf8'));
  const { commit = 'no commit', semantic_layer: layer, agents, uncommitted } = run.context;
  const asked = agents
    .map(({ name, backend, model }) => `${name}: ${model} on ${backend}`)
    .join('; ');
  const open = uncommitted.length === 0 ? '' : ` with ${uncommitted.length} uncommitted`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <meta name="viewport" content="width=device-width" />
        <title>ktx eval ${run.started.slice(0, 10)}</title>
        <style>
          ${css}
        </style>
      </head>
      <body>
        <h1>ktx eval</h1>
        <p class="dim">
          ${run.started.slice(0, 16).replace('T', ' ')} UTC · ${asked} · commit
          ${commit.slice(0, 10)}${open} · semantic layer ${layer} · ${run.id}
        </p>
        ${figuresTable(columnsWithBaseline(comparison?.summaries[0], run))}
        <h2>Trend</h2>
        ${trend(runs)}
        <h2>Cases</h2>
        ${matrix(runs)} ${comparison === undefined ? html`` : changes(comparison)}
        <h2>Answers</h2>
        ${run.cases.map(caseDetails)}
      </body>
    </html> `.text;
}

function figuresTable(columns: readonly FigureColumn[]): Markup {
  const [titles = [], ...rows] = figureRows(columns);
  const head =
    columns.length === 1
      ? html``
      : html`<tr>
          ${titles.map((title) => html`<th>${title}</th>`)}
        </tr>`;
  return html`<table>
    ${head}${rows.map(
      ([name = '', ...texts]) =>
        html`<tr>
          <th>${name}</th>
          ${texts.map((text) => html`<td>${text}</td>`)}
        </tr>`,
    )}
  </table>`;
}

/** Accuracy of each run, with its interval as a band. */
function trend(runs: readonly EvalRun[]): Markup {
  const points = runs.flatMap((run) => {
    const { accuracy } = summarizeCases(run.cases);
    return accuracy === undefined ? [] : [{ accuracy, day: run.started.slice(5, 10) }];
  });
  if (points.length < 2)
    return html`<p class="dim">One run so far: the next one begins a line.</p>`;
  const [width, height, left, top] = [760, 150, 64, 12];
  const x = (at: number): string =>
    (left + (at * (width - left - 20)) / (points.length - 1)).toFixed(1);
  const y = (value: number): string => (top + (1 - value) * (height - top - 28)).toFixed(1);
  const line = points.map(({ accuracy }, at) => `${x(at)},${y(accuracy.value)}`).join(' ');
  const above = points.map(({ accuracy }, at) => `${x(at)},${y(accuracy.high)}`);
  const below = points.map(({ accuracy }, at) => `${x(at)},${y(accuracy.low)}`).toReversed();
  const grid = [0, 0.5, 1].map(
    (value) =>
      html`<line
          class="axis"
          x1="${left}"
          x2="${width - 12}"
          y1="${y(value)}"
          y2="${y(value)}"
        /><text x="${left - 8}" y="${Number(y(value)) + 5}" text-anchor="end"
          >${value * 100} %</text
        >`,
  );
  const dots = points.map(
    ({ accuracy, day }, at) =>
      html`<circle class="dot" cx="${x(at)}" cy="${y(accuracy.value)}" r="3.5"
          ><title>${Math.round(accuracy.value * 100)} %</title></circle
        >${at === 0 || at === points.length - 1 ? html`<text x="${x(at)}" y="${height - 6}" text-anchor="middle">${day}</text>` : html``}`,
  );
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    role="img"
    aria-label="accuracy of the last ${points.length} runs"
  >
    ${grid}
    <polygon class="band" points="${[...above, ...below].join(' ')}" />
    <polyline class="trend" points="${line}" />
    ${dots}
  </svg>`;
}

/** Every case of the last run by run; the newest is on the right. */
function matrix(runs: readonly EvalRun[]): Markup {
  const now = runs.at(-1);
  const isBare = now?.without_context !== undefined;
  const last = runs.length - 1;
  const byRun = runs.map((run) => new Map(run.cases.map((one) => [one.id, one])));
  const place = (at: number): string => (at <= last - shownWhereNarrow ? ' old' : '');
  const rows = (now?.cases ?? []).map((one) => {
    const cells = byRun.map((cases, at) =>
      cell(cases.get(one.id)?.outcome, at === last ? ' now' : '', place(at)),
    );
    const bare = isBare
      ? cell(now.without_context?.find(({ id }) => id === one.id)?.outcome, '', '')
      : html``;
    const why = [failureReasons(one).join(' · '), `${one.flaky ? 'flaky ' : ''}${passRate(one)}`]
      .filter((part) => part !== '')
      .join(' · ');
    return html`<tr>
      <td class="id">${one.id}</td>
      ${cells}${bare}
      <td class="why">${why.length > 200 ? `${why.slice(0, 200)}…` : why}</td>
    </tr>`;
  });
  const heads = runs.map(
    ({ id, started }, at) =>
      html`<th
        class="cell${place(at)}"
        title="${started.slice(0, 16).replace('T', ' ')} UTC, ${id}"
      >
        ${at === last ? 'now' : started.slice(8, 10)}
      </th>`,
  );
  const bare = isBare ? html`<th class="cell" title="without context">w/o</th>` : html``;
  const cells = Math.min(runs.length, shownWhereNarrow) + (isBare ? 1 : 0);
  return html`<table class="matrix" style="--cells: ${cells}">
    <tr>
      <th class="id">case</th>
      ${heads}${bare}
      <th class="why"></th>
    </tr>
    ${rows}
  </table>`;
}

function cell(outcome: EvalOutcome | undefined, now: string, place: string): Markup {
  const mark = outcome === undefined ? '' : letters[outcome];
  return html`<td class="cell${place}">
    <span class="mark ${outcome ?? 'absent'}${now}" title="${outcome ?? 'not asked'}">${mark}</span>
  </td>`;
}

function changes({ before, changes: all, differs }: RunComparison): Markup {
  const listed = all.filter(({ kind }) => kind !== 'sql');
  const why =
    differs.length === 0
      ? 'Nothing of the context differs.'
      : `Other than then: ${differs.join(', ')}.`;
  const blocks = listed.map(
    ({ id, kind, before: old = 'not there', after: now = 'not there', sql }) => {
      const lines = sql.map(({ mark, text }) =>
        mark === '+'
          ? html`<ins>+ ${text}</ins>`
          : mark === '-'
            ? html`<del>- ${text}</del>`
            : html` ${text}`,
      );
      return html`<details open>
        <summary><b>${kind}</b> ${id}: ${old} → ${now}</summary>
        ${lines.length === 0 ? html`` : html`<pre>${lines}</pre>`}
      </details>`;
    },
  );
  return html`<h2>Against ${before}</h2>
    <p class="dim">${why}${listed.length === 0 ? ' No outcome changed.' : ''}</p>
    ${blocks}`;
}

function caseDetails(one: CaseResult): Markup {
  const shown = one.attempts.find(({ outcome }) => outcome === one.outcome) ?? one.attempts[0];
  const turns = (shown?.turns ?? []).map(turnDetails);
  const asked = shown?.turns[0]?.question ?? '';
  const reason = one.reason === undefined ? html`` : html`<p class="dim">${one.reason}</p>`;
  return html`<details>
    <summary>
      <span class="mark ${one.outcome}">${letters[one.outcome]}</span> ${one.id}
      <span class="dim">${asked} ${passRate(one)}</span>
    </summary>
    ${reason}${turns}
  </details>`;
}

function turnDetails({
  question,
  answer,
  findings,
  queries,
  golden_sql: golden,
}: GradedTurn): Markup {
  const found = findings.map(
    ({ grader, outcome, found: text }) =>
      html`<tr>
        <td><span class="mark ${outcome}">${letters[outcome]}</span></td>
        <td>${grader}</td>
        <td>${text}</td>
      </tr>`,
  );
  const ran = queries.map(
    ({ id, sql = '', rows, metrics }) =>
      html`<p class="dim">
          ${id}: ${formatCount(rows, 'row')}${metrics.length > 0 ? `, ${metrics.join(', ')}` : ''}
        </p>
        <pre>${sql}</pre>`,
  );
  const right =
    golden === undefined
      ? html``
      : html`<p class="dim">golden SQL</p>
          <pre>${golden}</pre>`;
  return html`<p><b>${question}</b></p>
    <pre>${answer}</pre>
    <table>
      ${found}
    </table>
    ${ran}${right}`;
}
