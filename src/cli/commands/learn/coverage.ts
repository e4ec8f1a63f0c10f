import type { SourceCoverage } from '../../../project/learn/coverage.ts';
import { defineCommand } from '../../command.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls, wrapText } from '../../terminal/text-width.ts';

export const coverageCommand = defineCommand({
  description:
    'Lists what the sources say and ktx did not take, each with its place and the reason. Reads the items of the last ingest; ' +
    'asks no source and no model.',
  examples: [
    ['ktx coverage', 'all sources'],
    ['ktx coverage dbt --json', 'one source, for a program'],
  ],
  hasRows: true,
  define: (command) => command.argument('[source]', 'the source (default: all)'),
  async run({ args: [requested] }, context) {
    const project = await context.project();
    const { readCoverage } = await import('../../../project/learn/coverage.ts');
    const sources = await readCoverage(project, requested, context.signal);
    const columns = ['reason', 'about', 'place'].map((name) => ({ name }));
    const rows = sources.flatMap(({ missing }) =>
      missing.map(({ reason, name, place }) => [reason, name ?? '', place]),
    );
    const data = { sources, columns, rows };
    const { screen } = context;
    if (screen.format === 'csv') return { data, table: { columns, rows } };
    return { data, text: sources.map((source) => coverageText(source, screen)).join('\n\n') };
  },
});

/** Each reason once, and below it what it keeps out: nothing is cut, long reasons are wrapped. */
function coverageText(
  { connection, statements, arrived, missing }: SourceCoverage,
  { style, width }: Screen,
): string {
  const total = style('bold', `${connection}: ${arrived} of ${statements} statements arrived`);
  const groups = [...Map.groupBy(missing, ({ reason }) => reason)];
  const lines = groups.flatMap(([reason, ofReason]) => [
    ...indent(wrapText(`${reason} (${ofReason.length})`, width === undefined ? width : width - 2)),
    ...ofReason.map(({ name, place }) => `    ${name === undefined ? '' : `${name}  `}${place}`),
  ]);
  return [total, ...lines.map(escapeControls)].join('\n');
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
