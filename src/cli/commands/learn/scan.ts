import { Option } from '@commander-js/extra-typings';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { ScanProgress } from '../../../scan/scan.ts';
import { defineCommand } from '../../command.ts';
import { positive } from '../query/sql.ts';

export const scan = defineCommand({
  description:
    'Reads the structure, profiles what changed, and finds keys and joins with their evidence. Needs no git and publishes ' +
    'nothing: ktx ingest does. Profiles stay in .ktx, so the next scan only looks at what changed.',
  examples: [
    ['ktx scan', 'the joins of the only warehouse'],
    ['ktx scan --max-seconds 300', 'five minutes of profiling; the next scan goes on there'],
    ['ktx scan warehouse --ignore-declared all --json', 'as if the database declared no keys'],
  ],
  rows: true,
  define: (command) =>
    command
      .argument('[connection]', 'the only one where it is left out')
      .addOption(
        new Option('--ignore-declared <what>', 'pretend that the database declares none').choices([
          'keys',
          'links',
          'all',
        ]),
      )
      .option(
        '--max-seconds <n>',
        'time for profiles in this scan, in place of scan.max_seconds; the next one goes on there',
        positive,
      )
      .option(
        '--max-bytes <n>',
        'bytes of tables that this scan may profile, in place of scan.max_bytes',
        positive,
      ),
  async run({ args: [connection], options }, context) {
    const project = await context.project();
    const name = project.connection(connection).name;
    const { scanProject } = await import('../../../project/learn/scan.ts');
    const { scanReport } = await import('../../../scan/report.ts');
    const onProgress = ({ phase, ...counts }: ScanProgress) =>
      context.progress.update(`${name}: ${phase}`, phase === 'profile' ? counts : undefined);
    const { ignoreDeclared, maxSeconds, maxBytes } = options;
    const budget = {
      ...(maxSeconds && { seconds: maxSeconds }),
      ...(maxBytes && { bytes: maxBytes }),
    };
    const asked = { connection: name, ignoreDeclared, budget };
    const report = scanReport(
      await scanProject(project, { ...asked, signal: context.signal, onProgress }),
    );
    const place = ({ table, columns }: { table: string; columns: readonly string[] }) =>
      `${table}(${columns.join(', ')})`;
    const rejected = report.links.filter(({ status }) => status === 'rejected').length;
    const shown = report.links.filter(({ status }) => status !== 'rejected');
    const rows = shown.map(
      ({ from, to, status, probability, evidence: { containment, orphans } }) => {
        const found =
          typeof containment === 'number' ? `${(containment * 100).toFixed(1)} %` : undefined;
        return [
          place(from),
          place(to),
          status,
          probability,
          found,
          typeof orphans === 'number' ? orphans : undefined,
        ];
      },
    );
    const columns = ['from', 'to', 'status', 'prob.', 'found', 'orphans'].map((column) => ({
      name: column,
    }));
    // Of polymorphic references the report has notes of its own.
    const doubts = shown.flatMap(({ from, to, status, evidence: { why } }) => {
      const isTold =
        status === 'review' && typeof why === 'string' && !why.startsWith('polymorphic');
      return isTold ? [`review: ${place(from)} to ${place(to)}: ${why}`] : [];
    });
    const keys = report.primary_keys.filter(({ status }) => status === 'accepted').length;
    return {
      data: report,
      table: { columns, rows },
      notes: [
        `${formatCount(report.tables, 'table')}, ${formatCount(keys, 'key')}, ${formatCount(rejected, 'candidate')} rejected, ${formatCount(report.queries, 'statement')} sent; nothing was written to the project`,
        ...doubts.slice(0, 20),
        ...report.notes,
      ],
      exitCode: report.left > 0 ? 3 : 0,
      failure: report.tables === 0 ? noTables(name) : undefined,
      next: [
        ...(report.left > 0
          ? [
              `ktx scan${connection === undefined ? '' : ` ${name}`}  go on with the tables that are left`,
            ]
          : []),
        `ktx ingest${connection === undefined ? '' : ` ${name}`}  write this as a semantic layer`,
        `ktx scan${connection === undefined ? '' : ` ${name}`} --json  with the evidence of each`,
      ],
    };
  },
});

function noTables(connection: string): UserError {
  return new UserError('no_tables', `${connection} shows no table.`, {
    hint: 'check the schemas of the connection, and what its login may see',
  });
}
