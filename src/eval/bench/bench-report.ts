import { readFileSync } from 'node:fs';
import { describePairs } from '../report/compare-pairs.ts';
import { html, Markup } from '../report/html-template.ts';
import { figureRows } from '../report/summary.ts';
import type { Interval } from '../report/statistics.ts';
import type { RetrievalResult } from './retrieval/measure-retrieval.ts';
import type { BenchResult, ConditionResult } from './run-bench.ts';

/** What one page shows. Either part may be left out. */
export interface BenchReport {
  readonly started: string;
  readonly bench: BenchResult | undefined;
  readonly retrieval: RetrievalResult | undefined;
}

interface ReportSection {
  readonly title: string;
  readonly notes: readonly string[];
  /** The first row has the titles of the columns. */
  readonly rows: readonly (readonly string[])[];
}

/** The same sections in every format. */
export function reportSections({ bench, retrieval }: BenchReport): readonly ReportSection[] {
  return [
    ...(bench === undefined ? [] : benchSections(bench)),
    ...(retrieval === undefined ? [] : retrievalSections(retrieval)),
  ];
}

function benchSections({ conditions, differences, context }: BenchResult): ReportSection[] {
  const columns = conditions.map(({ name, summary }) => ({ title: name, summary }));
  const agents = (context?.agents ?? []).map(
    ({ name, backend, model }) => `${name}: ${model} on ${backend}`,
  );
  return [
    {
      title: 'Conditions',
      notes: [...agents, 'Each condition adds to the one before it. Intervals are 95 %, by case.'],
      rows: [...figureRows(columns), ...extraRows(conditions)],
    },
    {
      title: 'Differences',
      notes: ['The same cases, answered under both conditions; exact sign test.'],
      rows: [
        ['', 'accuracy'],
        ...differences.map(({ before, after, pairs }) => [
          `${before} → ${after}`,
          pairs === undefined ? 'no case was decided in both' : describePairs(pairs),
        ]),
      ],
    },
    {
      title: 'What a condition has',
      notes: [],
      rows: [['', 'the agent has'], ...conditions.map(({ name, what }) => [name, what])],
    },
  ];
}

function extraRows(conditions: readonly ConditionResult[]): readonly (readonly string[])[] {
  const row = (name: string, textOf: (condition: ConditionResult) => string) => [
    name,
    ...conditions.map(textOf),
  ];
  return [
    row('refused, has an answer', ({ refusals }) => countText(refusals.answerable)),
    row('refused, has none', ({ refusals }) => countText(refusals.unanswerable)),
    row('tokens', ({ total }) => total.tokens.toLocaleString('en-US')),
    row('dollars', ({ total: { cost_usd: cost } }) =>
      cost === undefined ? 'unknown' : `$${cost.toFixed(4)}`,
    ),
    row('seconds', ({ total }) => total.seconds.toFixed(1)),
  ];
}

function countText({ refused, of }: { readonly refused: number; readonly of: number }): string {
  return `${refused} of ${of}`;
}

function retrievalSections({ figures, misses, questions }: RetrievalResult): ReportSection[] {
  return [
    {
      title: 'Retrieval without a model',
      notes: [
        `${questions} questions. Recall: the share of what a question needs, mean over questions.`,
      ],
      rows: [
        ['', 'recall', 'questions'],
        ...figures.map(({ name, recall, questions: count }) => [
          name,
          shareText(recall),
          String(count),
        ]),
      ],
    },
    {
      title: 'Not found',
      notes: [],
      rows: [
        ['question', 'looked at', 'missing'],
        ...misses.map(({ question, name, missing }) => [question, name, missing.join(', ')]),
      ],
    },
  ];
}

/** `91 % (85 to 96)` */
function shareText({ value, low, high }: Interval): string {
  const percent = (share: number) => String(Math.round(Math.min(1, Math.max(0, share)) * 100));
  const range =
    low === undefined || high === undefined ? '' : ` (${percent(low)} to ${percent(high)})`;
  return `${percent(value)} %${range}`;
}

export function renderBenchMarkdown(report: BenchReport): string {
  const sections = reportSections(report).map(({ title, notes, rows: [titles = [], ...rows] }) =>
    [`## ${title}`, ...notes.map(escapeCell), markdownTable(titles, rows)].join('\n\n'),
  );
  return [`# ktx bench, ${report.started.slice(0, 10)}`, ...sections, ''].join('\n\n');
}

function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(titles), `|${' --- |'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

/** Names of questions are text of people: no markup, no second row. */
function escapeCell(text: string): string {
  return text
    .replaceAll(/[\\`*_{}[\]()#!|~]/g, String.raw`\$&`)
    .replaceAll('<', '&lt;')
    .replaceAll(/\s+/g, ' ');
}

/** One self-contained page: no script, and a policy that lets a browser fetch nothing. */
export function renderBenchHtml(report: BenchReport): string {
  const css = new Markup(readFileSync(new URL('../report/report.css', import.meta.url), 'utf8'));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <meta name="viewport" content="width=device-width" />
        <title>ktx bench ${report.started.slice(0, 10)}</title>
        <style>
          ${css}
        </style>
      </head>
      <body>
        <h1>ktx bench</h1>
        <p class="dim">${report.started.slice(0, 16).replace('T', ' ')} UTC</p>
        ${reportSections(report).map(renderSection)}
      </body>
    </html> `.text;
}

function renderSection({ title, notes, rows: [titles = [], ...rows] }: ReportSection): Markup {
  return html`<h2>${title}</h2>
    ${notes.map((note) => html`<p class="dim">${note}</p>`)}
    <div style="overflow-x: auto">
      <table>
        <tr>
          ${titles.map((cell) => html`<th>${cell}</th>`)}
        </tr>
        ${rows.map(
          ([name = '', ...cells]) =>
            html`<tr>
              <th>${name}</th>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </table>
    </div>`;
}
