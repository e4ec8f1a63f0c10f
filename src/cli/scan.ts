import { Option } from '@commander-js/extra-typings';
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
  async run({ args: [asked], options }, context) {
    const project = await context.project();
    const name = project.warehouseName(asked);
    const { scanProject } = await import('../project/scan.ts');
    const { scanReport } = await import('../scan/report.ts');
    const result = await scanProject(
      project,
      { connection: name, ignoreDeclared: options.ignoreDeclared },
      {
        signal: context.signal,
        onProgress: ({ phase, done, total }) => context.progress.update(`${name}: ${phase}`, { done, total }),
      },
    );
    const report = scanReport(result);
    const place = ({ table, columns }: { table: string; columns: readonly string[] }) => `${table}(${columns.join(', ')})`;
    const rejected = report.links.filter(({ status }) => status === 'rejected').length;
    const shown = report.links.filter(({ status }) => status !== 'rejected');
    const rows = shown.map((link) => [place(link.from), place(link.to), link.status, link.probability]);
    const keys = report.primary_keys.filter(({ status }) => status === 'accepted').length;
    return {
      data: report,
      table: { columns: [{ name: 'from' }, { name: 'to' }, { name: 'status' }, { name: 'probability' }], rows },
      notes: [
        `${result.tables.length} tables, ${keys} keys, ${rejected} candidates rejected, ${report.queries} statements sent; nothing was written to the project`,
        ...report.notes,
      ],
      next: ['ktx ingest          write this as a semantic layer', 'ktx scan --json     with the evidence of each'],
    };
  },
});
