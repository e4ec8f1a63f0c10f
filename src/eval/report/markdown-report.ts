import type { RunComparison } from './compare-runs.ts';
import type { EvalRun } from '../run/run-schema.ts';
import { columnsWithBaseline, figureRows, passRate, failureReasons } from './summary.ts';

/** Bytes: GitHub takes no comment of more characters. */
const longestComment = 65_536;
/** For the headings and the lines that say what is left out. */
const reserved = 1500;

/** For a comment on a pull request: the figures, what is no pass, and what changed since the baseline; never too long for one. */
export function renderMarkdownReport(run: EvalRun, comparison: RunComparison | undefined): string {
  const [titles = [], ...rows] = figureRows(columnsWithBaseline(comparison?.summaries[0], run));
  const { commit = 'no commit', agents } = run.context;
  const asked = agents
    .map(({ name, backend, model }) => `${name}: ${model} on ${backend}`)
    .join('; ');
  const figures = table(titles, rows);
  const about = plain(
    `${asked}. Context at ${commit.slice(0, 12)}, semantic layer ${run.context.semantic_layer}. Run ${run.id}.`,
  );
  const room = longestComment - reserved - bytesOf(figures) - bytesOf(about);
  const bad = notPassed(run, comparison === undefined ? room : room / 2);
  const against =
    comparison === undefined ? [] : changed(comparison, room - bytesOf(bad.join('\n\n')));
  return ['## ktx eval', figures, ...bad, ...against, about, ''].join('\n\n');
}

function notPassed({ cases }: EvalRun, room: number): readonly string[] {
  const rows = cases
    .filter(({ outcome, flaky }) => outcome !== 'pass' || flaky)
    .map((one) => {
      const rate = one.flaky ? `${one.outcome}, flaky ${passRate(one)}` : one.outcome;
      return [code(one.id), rate, failureReasons(one).map(plain).join('<br>')];
    });
  if (rows.length === 0) return [];
  const [kept, left] = fitting(rows, room, line);
  return ['### Not passed', table(['case', 'outcome', 'why'], kept), ...more(left, 'case')];
}

function changed({ before, changes, differs }: RunComparison, room: number): readonly string[] {
  const listed = changes.filter(({ kind }) => kind !== 'sql');
  const why =
    differs.length === 0
      ? 'Nothing of the context differs.'
      : `Other than then: ${differs.join(', ')}.`;
  const rows = listed.map(({ id, kind, before: old = '', after: now = '' }) => [
    code(id),
    kind,
    `${old} → ${now}`,
  ]);
  const blocks = listed
    .filter(({ sql }) => sql.length > 0)
    .map(({ id, sql }) => {
      // A fence is longer than any that the statement could hold.
      const text = sql.map(({ mark, text: statement }) => `${mark}${statement}`).join('\n');
      return `<details><summary>SQL of ${plain(id)}</summary>\n\n\`\`\`\`\`\`diff\n${text.replaceAll('``````', '`')}\n\`\`\`\`\`\`\n\n</details>`;
    });
  const [kept, left] = fitting(rows, room / 2, line);
  const [shown, hidden] = fitting(
    blocks,
    room - bytesOf(kept.map(line).join('\n')),
    (block) => block,
  );
  return [
    `### Against ${plain(before)}`,
    why,
    ...(listed.length === 0
      ? ['No outcome changed.']
      : [table(['case', 'change', 'outcome'], kept), ...more(left, 'case')]),
    ...shown,
    ...more(hidden, 'difference of SQL'),
  ];
}

/** As many of the first as there is room for, and how many are left out. */
function fitting<T>(
  all: readonly T[],
  room: number,
  text: (one: T) => string,
): readonly [kept: readonly T[], left: number] {
  let used = 0;
  const end = all.findIndex((one) => (used += bytesOf(text(one)) + 2) > room);
  return end === -1 ? [all, 0] : [all.slice(0, end), all.length - end];
}

function more(left: number, what: string): readonly string[] {
  return left === 0
    ? []
    : [
        `${left} more, which a comment has no room for (${what}): the HTML page of the run has all.`,
      ];
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

/** Text of models and servers: no markup of its own, and one line. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400)
    .toWellFormed()
    .replaceAll(/[\\`*_[\]<>@#!&]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}
