import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { formatCount } from '../../lib/format-count.ts';
import type { CaseResult, EvalRun, GradedTurn } from '../run/run-schema.ts';
import { renderCaseFilter } from './case-filter.ts';
import { renderCaseMatrix } from './case-matrix.ts';
import { contextChangeText, type CaseChange, type RunComparison } from './compare-runs.ts';
import { figureGroups, groupRows } from './figure-groups.ts';
import { html, Markup } from './html-template.ts';
import type { DiffLine } from './line-diff.ts';
import { outcomeMarks } from './outcome-mark.ts';
import { columnsWithBaseline, figureRows, passRate, type FigureColumn } from './summary.ts';
import { renderTrend } from './trend-chart.ts';

interface HtmlReport {
  readonly run: EvalRun;
  /** Earlier runs, oldest first. */
  readonly history: readonly EvalRun[];
  readonly comparison: RunComparison | undefined;
}

const maxRuns = 16;

const readOwn = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

/**
 * One self-contained page: no font or image, and a policy that lets a browser fetch nothing and run
 * only the script of the filter, which it names by its hash.
 */
export function renderHtmlReport({ run, history, comparison }: HtmlReport): string {
  const runs = [...history.filter(({ id }) => id !== run.id), run].slice(-maxRuns);
  const css = new Markup(readOwn('report.css'));
  const script = readOwn('report-page.js');
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        ${new Markup(`<meta http-equiv="Content-Security-Policy" content="${policy}" />`)}
        <meta name="viewport" content="width=device-width" />
        <title>ktx eval ${run.started.slice(0, 10)}</title>
        <style>
          ${css}
        </style>
      </head>
      <body>
        <h1>ktx eval</h1>
        ${renderAbout(run)} ${renderFigures(columnsWithBaseline(comparison?.summaries[0], run))}
        ${renderGroups(run)}
        <h2>Trend</h2>
        ${renderTrend(runs)}
        <h2>Cases</h2>
        ${renderCaseFilter(run)} ${renderCaseMatrix(runs)}
        ${comparison === undefined ? html`` : renderChanges(comparison)}
        <h2>Answers</h2>
        ${run.cases.map(renderCase)} ${new Markup(`<script>${script}</script>`)}
      </body>
    </html> `.text;
}

function renderAbout({ id, started, context }: EvalRun): Markup {
  const { commit = 'no commit', semantic_layer: layer, agents, uncommitted } = context;
  const agentNames = agents
    .map(({ name, backend, model }) => `${name}: ${model} on ${backend}`)
    .join('; ');
  const edits = uncommitted.length === 0 ? '' : ` with ${uncommitted.length} uncommitted`;
  return html`<p class="dim">
    ${started.slice(0, 16).replace('T', ' ')} UTC · ${agentNames} · commit
    ${commit.slice(0, 10)}${edits} · semantic layer ${layer} · ${id}
  </p>`;
}

function renderFigures(columns: readonly FigureColumn[]): Markup {
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

function renderGroups(run: EvalRun): Markup {
  const groups = figureGroups(run);
  if (groups.length === 0) return html``;
  const [titles = [], ...rows] = groupRows(groups);
  return html`<h2>By group</h2>
    <div class="wide">
      <table class="groups">
        <tr>
          ${titles.map((title) => html`<th>${title}</th>`)}
        </tr>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, index) => html`<td data-title="${titles[index] ?? ''}">${cell}</td>`)}
            </tr>`,
        )}
      </table>
    </div>`;
}

function renderChanges(comparison: RunComparison): Markup {
  const changes = comparison.changes.filter(({ kind }) => kind !== 'sql');
  return html`<h2>Against ${comparison.before}</h2>
    <p class="dim">
      ${contextChangeText(comparison)}${changes.length === 0 ? ' No outcome changed.' : ''}
    </p>
    ${changes.map(renderChange)}`;
}

function renderChange({ id, kind, before, after, sql }: CaseChange): Markup {
  return html`<details open>
    <summary><b>${kind}</b> ${id}: ${before ?? 'not there'} → ${after ?? 'not there'}</summary>
    ${sql.length === 0 ? html`` : html`<pre>${sql.map(renderDiffLine)}</pre>`}
  </details>`;
}

function renderDiffLine({ mark, text }: DiffLine): Markup {
  if (mark === '+') return html`<ins>+ ${text}</ins>`;
  if (mark === '-') return html`<del>- ${text}</del>`;
  return html` ${text}`;
}

/** The first attempt with the outcome of the case. */
function renderCase(result: CaseResult, index: number): Markup {
  const { id, outcome, attempts, tags } = result;
  const shown = attempts.find((attempt) => attempt.outcome === outcome) ?? attempts[0];
  const turns = shown?.turns ?? [];
  const question = turns[0]?.question ?? '';
  const reason = result.reason === undefined ? html`` : html`<p class="dim">${result.reason}</p>`;
  return html`<details
    id="case-${index}"
    data-case="${index}"
    data-outcome="${outcome}"
    data-tags="${tags.join(' ')}"
  >
    <summary>
      <span class="mark ${outcome}" title="${outcome}">${outcomeMarks[outcome]}</span> ${id}
      <span class="dim">${question} ${passRate(result)}</span>
    </summary>
    ${reason}${tags.length === 0 ? html`` : html`<p class="dim">${tags.join(', ')}</p>`}
    ${turns.map(renderTurn)}
  </details>`;
}

function renderTurn({
  question,
  answer,
  findings,
  queries,
  golden_sql: golden,
}: GradedTurn): Markup {
  const goldenSql =
    golden === undefined
      ? html``
      : html`<p class="dim">golden SQL</p>
          <pre>${golden}</pre>`;
  return html`<p><b>${question}</b></p>
    <pre>${answer}</pre>
    <table>
      ${findings.map(renderFinding)}
    </table>
    ${queries.map(renderQuery)}${goldenSql}`;
}

function renderFinding({ grader, outcome, found }: GradedTurn['findings'][number]): Markup {
  return html`<tr>
    <td><span class="mark ${outcome}">${outcomeMarks[outcome]}</span></td>
    <td>${grader}</td>
    <td>${found}</td>
  </tr>`;
}

function renderQuery({ id, sql = '', rows, metrics }: GradedTurn['queries'][number]): Markup {
  const metricNames = metrics.length > 0 ? `, ${metrics.join(', ')}` : '';
  return html`<p class="dim">${id}: ${formatCount(rows, 'row')}${metricNames}</p>
    <pre>${sql}</pre>`;
}
