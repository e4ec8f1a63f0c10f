import { Option } from '@commander-js/extra-typings';
import { counted } from '../lib/counted.ts';
import { UserError } from '../lib/error.ts';
import type { ScanProgress } from '../scan/scan.ts';
import { defineCommand } from './command.ts';

export const scan = defineCommand({
  description:
    'Reads the structure, profiles what changed, and finds keys and joins with their evidence. Needs no git and publishes ' +
    'nothing: ktx ingest does. Profiles stay in .ktx, so the next scan only looks at what changed.',
  examples: [
    ['ktx scan', 'the joins of the only warehouse'],
    ['ktx scan warehouse --ignore-declared all --json', 'as if the database declared no keys'],
  ],
  rows: true,
  define: (command) =>
    command
      .argument('[connection]', 'the only one where it is left out')
      .addOption(new Option('--ignore-declared <what>', 'pretend that the database declares none').choices(['keys', 'links', 'all'])),
  async run({ args: [connection], options }, context) {
    const project = await context.project();
    const name = project.connection(connection).name;
    const { scanProject } = await import('../project/scan.ts');
    const { scanReport } = await import('../scan/report.ts');
    const onProgress = ({ phase, ...counts }: ScanProgress) => context.progress.update(`${name}: ${phase}`, counts);
    const asked = { connection: name, ignoreDeclared: options.ignoreDeclared };
    const report = scanReport(await scanProject(project, asked, { signal: context.signal, onProgress }));
    const place = ({ table, columns }: { table: string; columns: readonly string[] }) => `${table}(${columns.join(', ')})`;
    const rejected = report.links.filter(({ status }) => status === 'rejected').length;
    const shown = report.links.filter(({ status }) => status !== 'rejected');
    const rows = shown.map((link) => [place(link.from), place(link.to), link.status, link.probability]);
    const keys = report.primary_keys.filter(({ status }) => status === 'accepted').length;
    return {
      data: report,
      table: { columns: ['from', 'to', 'status', 'probability'].map((column) => ({ name: column })), rows },
      notes: [
        `${counted(report.tables, 'table')}, ${counted(keys, 'key')}, ${counted(rejected, 'candidate')} rejected, ${counted(report.queries, 'statement')} sent; nothing was written to the project`,
        ...report.notes,
      ],
      failure: report.tables === 0 ? noTables(name) : undefined,
      next: ['ktx ingest  write this as a semantic layer', 'ktx scan --json  with the evidence of each'],
    };
  },
});

function noTables(connection: string): UserError {
  return new UserError('no_tables', `${connection} shows no table.`, {
    hint: 'check the schemas of the connection, and what its login may see',
  });
}
