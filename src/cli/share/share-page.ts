import { readFileSync } from 'node:fs';
import type { GroundedClaim } from '../../chat/grounding/ground-answer.ts';
import { html, Markup } from '../../eval/report/html-template.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { chooseChart } from '../chart/choose-chart.ts';
import { renderSvgChart } from '../chart/svg-chart.ts';
import { describeReceipt, describeSources } from '../chat/evidence-text.ts';
import { groundingLines } from '../chat/grounding-text.ts';
import type { ShownExchange } from '../chat/shown-exchanges.ts';
import { numberForPeople } from '../terminal/table.ts';
import { renderMarkedAnswer, restsOn } from './marked-answer.ts';

const mostRows = 1000;
const styleFile = new URL('./share.css', import.meta.url);

interface ShareOptions {
  /** Who answered, about what. */
  readonly about: string;
  readonly at: Date;
}

/**
 * Questions and answers as one HTML file: each with what its numbers rest on, its chart, its rows,
 * its SQL and its receipt. Nothing in it runs or is loaded, and all text in it is text.
 */
export function renderSharePage(
  exchanges: readonly ShownExchange[],
  { about, at }: ShareOptions,
): string {
  const policy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  const title = exchanges.at(-1)?.message.split('\n')[0] ?? 'An answer';
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${new Markup(readFileSync(styleFile, 'utf8'))}
        </style>
      </head>
      <body>
        <main>${exchanges.map(renderExchange)}</main>
        <footer>${about}, ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC, by ktx</footer>
      </body>
    </html> `.text;
}

function renderExchange(exchange: ShownExchange): Markup {
  const { message, text, evidence, receipt, grounding } = exchange;
  const warnings = groundingLines(grounding).map((line) => html`<p class="warning">${line}</p>`);
  return html`<article>
    <h1>${message}</h1>
    <div class="answer">${renderMarkedAnswer(text, grounding)}</div>
    ${warnings} ${renderGrounding(grounding)} ${evidence.map(renderEvidence)}
    ${receipt === undefined ? html`` : html`<p class="receipt">${receipt}</p>`}
  </article>`;
}

const mostClaims = 1000;

/** Each number, date and name of the answer with its cells: hovering needs a mouse. */
function renderGrounding(claims: readonly GroundedClaim[] = []): Markup {
  if (claims.length === 0) return html``;
  const held = claims.filter(({ status }) => status !== 'ungrounded').length;
  const rows = claims.slice(0, mostClaims).map(
    (claim) =>
      html`<tr>
        <td>${claim.text}</td>
        <td class="${claim.status === 'ungrounded' ? 'warning' : ''}">${restsOn(claim)}</td>
      </tr>`,
  );
  return html`<details>
    <summary>${held} of ${claims.length} numbers, dates and names are grounded</summary>
    <div class="rows">
      <table>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}

function renderEvidence(evidence: QueryEvidence): Markup {
  const { id, sql = '', truncated, warnings = [] } = evidence;
  const choice = chooseChart(evidence);
  const charts = choice.kind === 'charts' ? choice.charts.map(renderSvgChart) : [];
  const shown = evidence.rows.length > mostRows ? `, the first ${mostRows} are here` : '';
  const count = `${evidence.rows.length} rows${truncated ? ', and there are more' : ''}${shown}`;
  return html`<section id="${id}">
    <h2>[${id}] ${count}</h2>
    ${charts} ${renderRows(evidence)}
    ${warnings.map((line) => html`<p class="warning">${line}</p>`)}
    <details open>
      <summary>SQL</summary>
      <pre>${sql}</pre>
    </details>
    <details open>
      <summary>Receipt</summary>
      <pre>
${describeReceipt({ ...evidence, sql: undefined })}
${describeSources(evidence)}</pre>
    </details>
  </section>`;
}

function renderRows({ columns, rows }: QueryEvidence): Markup {
  const classes = columns.map(({ type }, index) => {
    const isNumber = type === 'integer' || type === 'decimal';
    return isNumber || rows.some((row) => typeof row[index] === 'number') ? 'number' : 'text';
  });
  const body = rows.slice(0, mostRows).map(
    (row) =>
      html`<tr>
        ${columns.map((_, index) => html`<td class="${classes[index] ?? ''}">${cellText(row[index])}</td>`)}
      </tr>`,
  );
  return html`<div class="rows">
    <table>
      <thead>
        <tr>
          ${columns.map(({ name }, index) => html`<th class="${classes[index] ?? ''}">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}

function cellText(value: unknown): string {
  return value === null || value === undefined
    ? 'NULL'
    : typeof value === 'string'
      ? value
      : typeof value === 'number'
        ? numberForPeople(value)
        : JSON.stringify(value);
}
