import type { EvalRun } from '../run/run-schema.ts';
import { contextChangeText, type CaseChange, type RunComparison } from './compare-runs.ts';
import { figureGroups, groupRows } from './figure-groups.ts';
import { columnsWithBaseline, failureReasons, figureRows, passRate } from './summary.ts';

/** GitHub's limit for a comment is 65,536 characters; counted in bytes to be on the safe side. */
const maxCommentBytes = 65_536;
/** Room for headings and for the lines that say how much is left out. */
const reservedBytes = 1500;

/**
 * A comment for a pull request: the figures, the cases that did not pass, and the changes since the
 * baseline.
 */
export function renderMarkdownReport(run: EvalRun, comparison: RunComparison | undefined): string {
  const [titles = [], ...rows] = figureRows(columnsWithBaseline(comparison?.summaries[0], run));
  const figures = renderTable(titles, rows);
  const about = escapeMarkdown(describeRun(run));
  const groups = renderGroups(run);
  const taken = [figures, about, ...groups].map(countBytes).reduce((sum, bytes) => sum + bytes, 0);
  const room = maxCommentBytes - reservedBytes - taken;
  const failures = renderFailures(run, comparison === undefined ? room : room / 2);
  const changes =
    comparison === undefined
      ? []
      : renderChanges(comparison, room - countBytes(failures.join('\n\n')));
  return ['## ktx eval', figures, ...groups, ...failures, ...changes, about, ''].join('\n\n');
}

/** Of more groups, the HTML report has all. */
const maxGroups = 40;

function renderGroups(run: EvalRun): readonly string[] {
  const groups = figureGroups(run);
  if (groups.length === 0) return [];
  const [titles = [], ...rows] = groupRows(groups.slice(0, maxGroups));
  const cells = rows.map((row) => row.map((cell) => escapeMarkdown(cell)));
  return [renderTable(titles, cells), ...omittedLine(groups.length - cells.length, 'group')];
}

function describeRun({ id, context }: EvalRun): string {
  const { commit = 'no commit', agents, semantic_layer: layer } = context;
  const agentNames = agents
    .map(({ name, backend, model }) => `${name}: ${model} on ${backend}`)
    .join('; ');
  return `${agentNames}. Context at ${commit.slice(0, 12)}, semantic layer ${layer}. Run ${id}.`;
}

function renderFailures({ cases }: EvalRun, room: number): readonly string[] {
  const rows = cases
    .filter(({ outcome, flaky }) => outcome !== 'pass' || flaky)
    .map((result) => {
      const outcome = result.flaky
        ? `${result.outcome}, flaky ${passRate(result)}`
        : result.outcome;
      const reasons = failureReasons(result).map(escapeMarkdown).join('<br>');
      return [inlineCode(result.id), outcome, reasons];
    });
  if (rows.length === 0) return [];
  const { kept, omitted } = takeFitting(rows, room, renderRow);
  return [
    '### Not passed',
    renderTable(['case', 'outcome', 'why'], kept),
    ...omittedLine(omitted, 'case'),
  ];
}

function renderChanges(comparison: RunComparison, room: number): readonly string[] {
  const changes = comparison.changes.filter(({ kind }) => kind !== 'sql');
  const heading = [
    `### Against ${escapeMarkdown(comparison.before)}`,
    contextChangeText(comparison),
  ];
  if (changes.length === 0) return [...heading, 'No outcome changed.'];
  const rows = changes.map(({ id, kind, before = '', after = '' }) => [
    inlineCode(id),
    kind,
    `${before} → ${after}`,
  ]);
  const table = takeFitting(rows, room / 2, renderRow);
  const tableBytes = countBytes(table.kept.map(renderRow).join('\n'));
  const diffs = changes.filter(({ sql }) => sql.length > 0).map(renderSqlDiff);
  const blocks = takeFitting(diffs, room - tableBytes, (block) => block);
  return [
    ...heading,
    renderTable(['case', 'change', 'outcome'], table.kept),
    ...omittedLine(table.omitted, 'case'),
    ...blocks.kept,
    ...omittedLine(blocks.omitted, 'SQL diff'),
  ];
}

/** The fence is longer than any fence in the SQL: those are shortened. */
const fence = '``````';

function renderSqlDiff({ id, sql }: CaseChange): string {
  const diff = sql
    .map(({ mark, text }) => `${mark}${text}`)
    .join('\n')
    .replaceAll(fence, '`');
  const summary = `<summary>SQL of ${escapeMarkdown(id)}</summary>`;
  return `<details>${summary}\n\n${fence}diff\n${diff}\n${fence}\n\n</details>`;
}

/** The first items that fit into the room, in bytes, and how many do not. */
function takeFitting<T>(
  items: readonly T[],
  room: number,
  render: (item: T) => string,
): { readonly kept: readonly T[]; readonly omitted: number } {
  let used = 0;
  const end = items.findIndex((item) => (used += countBytes(render(item)) + 2) > room);
  return end === -1
    ? { kept: items, omitted: 0 }
    : { kept: items.slice(0, end), omitted: items.length - end };
}

function omittedLine(count: number, noun: string): readonly string[] {
  return count === 0
    ? []
    : [`${count} more did not fit into this comment (${noun}): the HTML report has all of them.`];
}

function countBytes(text: string): number {
  return Buffer.byteLength(text);
}

function inlineCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** Text of models and servers on one line, shortened, and without effect as Markdown or HTML. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400)
    .toWellFormed()
    .replaceAll(/[\\`*_[\]<>@#!&]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [renderRow(header), renderRow(header.map(() => '---')), ...rows.map(renderRow)].join('\n');
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
