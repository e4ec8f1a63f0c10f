import { Option } from '@commander-js/extra-typings';
import { formatByteSize } from '../../../lib/byte-size.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { Project } from '../../../project/open/open.ts';
import { isForReview } from '../../../scan/links/polymorphic.ts';
import type { scanReport } from '../../../scan/report.ts';
import type { PlannedReads } from '../../../scan/profile/budget.ts';
import type { ScanProgress } from '../../../scan/scan.ts';
import {
  type CommandContext,
  type CommandResult,
  defineCommand,
  type NextStep,
} from '../../command.ts';
import { parseBytes, parsePositiveInteger } from '../../flags/parse-number.ts';
import type { Table } from '../../terminal/table.ts';
import { plannedReadsText, readsSuffix } from './planned-reads-text.ts';

type ScanReport = ReturnType<typeof scanReport>;
type ReportedLink = ScanReport['links'][number];

const maxDoubts = 20;

export const scanCommand = defineCommand({
  description:
    'Reads the structure of a warehouse, profiles its columns, and finds keys and joins with their evidence. Writes nothing to the ' +
    'project and needs no git; ktx ingest does that. Profiles are cached in .ktx, so the next scan reads only what changed.',
  examples: [
    ['ktx scan', 'lists the joins of the only warehouse'],
    ['ktx scan --max-seconds 300', 'profiles for five minutes; the next scan resumes it'],
    ['ktx scan --dry-run', 'what it would read, and what that costs; reads no row'],
    ['ktx scan warehouse --ignore-declared all --json', 'as if the database declared no keys'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .argument('[connection]', 'the warehouse, if there are several')
      .addOption(
        new Option('--ignore-declared <what>', 'ignore what the database declares').choices([
          'keys',
          'links',
          'all',
        ]),
      )
      .option(
        '--max-seconds <n>',
        'time limit for profiling in this scan (default: scan.max_seconds); the next scan resumes it',
        parsePositiveInteger,
      )
      .option(
        '--max-bytes <size>',
        'bytes of tables to profile in this scan, such as 10GB (default: scan.max_bytes); the next scan resumes it',
        parseBytes,
      )
      .option('--dry-run', 'only list what it would read, table by table'),
  async run({ args: [connection], options }, context) {
    const project = await context.project({ workload: 'scan' });
    const name = project.connection(connection).name;
    const [{ scanProject }, { scanReport: createReport }] = await Promise.all([
      import('../../../project/learn/scan.ts'),
      import('../../../scan/report.ts'),
    ]);
    const { ignoreDeclared, maxSeconds, maxBytes } = options;
    if (options.dryRun === true) return showPlan(project, { name, maxBytes }, context);
    const onProgress = ({ phase, ...counts }: ScanProgress) =>
      context.progress.update(`${name}: ${phase}`, phase === 'profile' ? counts : undefined);
    const onPlan = (plan: PlannedReads) => context.printNote(`${name}: ${plannedReadsText(plan)}`);
    const budget = {
      ...(maxSeconds && { seconds: maxSeconds }),
      ...(maxBytes && { bytes: maxBytes }),
    };
    const request = { connection: name, ignoreDeclared, budget };
    const report = createReport(
      await scanProject(project, { ...request, signal: context.signal, onPlan, onProgress }),
    );
    const candidates = report.links.filter(({ status }) => status !== 'rejected');
    return {
      data: report,
      table: linkTable(candidates),
      notes: [
        summaryText(report, report.links.length - candidates.length),
        ...doubtLines(candidates).slice(0, maxDoubts),
        ...report.notes,
      ],
      exitCode: report.left > 0 || report.unread_files.length > 0 ? 3 : 0,
      failure: report.tables === 0 ? noTablesError(name) : undefined,
      next: nextSteps(report, connection === undefined ? '' : ` ${name}`),
    };
  },
});

async function showPlan(
  project: Project,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number | undefined },
  { signal, progress }: CommandContext,
): Promise<CommandResult> {
  progress.update(`${name}: reading the structure`);
  const { planProjectScan } = await import('../../../project/learn/scan.ts');
  const budget = maxBytes === undefined ? {} : { bytes: maxBytes };
  const plan = await planProjectScan(project, { connection: name, budget, signal });
  const size = (bytes: number | undefined) => bytes && formatByteSize(bytes);
  const rows = plan.tables.map(({ schema, table, kind, rowEstimate, bytes, reads, outcome }) => [
    `${schema}.${table}`,
    kind,
    rowEstimate,
    size(bytes),
    outcome,
    size(reads),
  ]);
  const columns = ['table', 'kind', 'rows', 'size', 'this scan', 'reads'];
  const left = plan.tables.filter(({ outcome }) => outcome === 'left').length;
  return {
    data: { connection: name, ...plan },
    table: { columns: columns.map((column) => ({ name: column })), rows },
    notes: [
      plan.tables.every(({ outcome }) => outcome === 'reused')
        ? 'A scan would read nothing: each profile of an earlier one still counts.'
        : `A scan would read about ${formatByteSize(plan.reads)}${readsSuffix({ usd: plan.usd, left })}. Counting joins reads some columns again. Nothing was read.`,
    ],
    next: [[`ktx scan ${name}`, 'reads it']],
  };
}

function linkTable(links: readonly ReportedLink[]): Table {
  const columns = ['from', 'to', 'status', 'prob.', 'found', 'orphans'];
  const rows = links.map(({ from, to, status, probability, evidence }) => {
    const { containment, orphans } = evidence;
    const found =
      typeof containment === 'number' ? `${(containment * 100).toFixed(1)} %` : undefined;
    const orphanCount = typeof orphans === 'number' ? orphans : undefined;
    return [columnsText(from), columnsText(to), status, probability, found, orphanCount];
  });
  return { columns: columns.map((name) => ({ name })), rows };
}

function summaryText(report: ScanReport, rejected: number): string {
  const keys = report.primary_keys.filter(({ status }) => status === 'accepted').length;
  const counts = [
    formatCount(report.tables, 'table'),
    formatCount(keys, 'key'),
    `${formatCount(rejected, 'candidate')} rejected`,
    `${formatCount(report.queries, 'statement')} sent`,
  ];
  return `${counts.join(', ')}; nothing was written to the project`;
}

/** Why a join needs a review. The notes of the report cover polymorphic references. */
function doubtLines(links: readonly ReportedLink[]): readonly string[] {
  return links.filter(isForReview).flatMap(({ from, to, evidence: { why } }) => {
    const hasReason = typeof why === 'string';
    return hasReason ? [`review: ${columnsText(from)} to ${columnsText(to)}: ${why}`] : [];
  });
}

function columnsText({ table, columns }: ReportedLink['from']): string {
  return `${table}(${columns.join(', ')})`;
}

function nextSteps({ left }: ScanReport, argument: string): readonly NextStep[] {
  const resume: readonly NextStep[] =
    left > 0 ? [[`ktx scan${argument}`, 'continues with the remaining tables']] : [];
  return [
    ...resume,
    [`ktx ingest${argument}`, 'writes the semantic layer'],
    [`ktx scan${argument} --json`, 'shows the evidence of each join'],
  ];
}

function noTablesError(connection: string): UserError {
  return new UserError('no_tables', `No tables are visible in ${connection}.`, {
    hint: 'check the schemas of the connection, and the privileges of its login',
  });
}
