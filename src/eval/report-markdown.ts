import type { Comparison } from './compare.ts';
import type { EvalRun } from './run-file.ts';
import { columnsBeside, figureRows, passRate, whyNot } from './summary.ts';

/** For a comment on a pull request: the figures, what is no pass, and what changed since the baseline. */
export function markdownReport(run: EvalRun, comparison: Comparison | undefined): string {
  const [titles = [], ...rows] = figureRows(columnsBeside(comparison?.summaries[0], run));
  const bad = run.cases.filter(({ outcome, flaky }) => outcome !== 'pass' || flaky);
  const listed = bad.map((one) => {
    const rate = one.flaky ? `${one.outcome}, flaky ${passRate(one)}` : one.outcome;
    return [code(one.id), rate, whyNot(one).map(plain).join('<br>')];
  });
  const { commit = 'no commit', agents } = run.context;
  const asked = agents.map(({ name, backend, model }) => `${name}: ${model} on ${backend}`).join('; ');
  return [
    '## ktx eval',
    table(titles, rows),
    ...(listed.length === 0 ? [] : ['### Not passed', table(['case', 'outcome', 'why'], listed)]),
    ...(comparison === undefined ? [] : changed(comparison)),
    plain(`${asked}. Context at ${commit.slice(0, 12)}, semantic layer ${run.context.semantic_layer}. Run ${run.id}.`),
    '',
  ].join('\n\n');
}

function changed({ before, changes, differs }: Comparison): readonly string[] {
  const lines = changes.filter(({ kind }) => kind !== 'sql');
  const why = differs.length === 0 ? 'Nothing of the context differs.' : `Other than then: ${differs.join(', ')}.`;
  const blocks = lines.filter(({ sql }) => sql.length > 0).map(({ id, sql }) => {
    // A fence is longer than any that the statement could hold.
    const text = sql.map(({ mark, text: line }) => `${mark}${line}`).join('\n');
    return `<details><summary>SQL of ${plain(id)}</summary>\n\n\`\`\`\`\`\`diff\n${text.replaceAll('``````', '`')}\n\`\`\`\`\`\`\n\n</details>`;
  }); // prettier-ignore
  const rows = lines.map(({ id, kind, before: old = '', after: now = '' }) => [code(id), kind, `${old} → ${now}`]);
  return [`### Against ${plain(before)}`, why, lines.length === 0 ? 'No outcome changed.' : table(['case', 'change', 'outcome'], rows), ...blocks]; // prettier-ignore
}

const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

/** Text of models and servers: no markup of its own, and one line. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>@#!]/g, (mark) => `&#${mark.charCodeAt(0)};`).slice(0, 600); // prettier-ignore
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}
