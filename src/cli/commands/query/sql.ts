import { UserError } from '../../../lib/error.ts';
import { formatByteSize } from '../../../lib/byte-size.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import type { QueryResult } from '../../../warehouse/warehouse.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { parseBytes, parsePositiveInteger } from '../../flags/parse-number.ts';
import { readInput, readStandardInput } from '../../flags/read-input.ts';
import { usageError } from '../../terminal/failure.ts';

export const sqlCommand = defineCommand({
  description:
    'Runs one SELECT. Anything else is an error: the engine, a parser and the driver each make sure that nothing is written.',
  examples: [
    ['ktx sql "SELECT count(*) FROM orders"', 'one statement'],
    ['ktx sql --file report.sql --format csv > report.csv', 'from a file, as CSV'],
    ['echo "SELECT 1" | ktx sql', 'from standard input'],
    ["ktx sql 'SELECT * FROM orders LIMIT 3 \\G'", 'a line for each column, as --vertical'],
    [
      'ktx sql --lint --file report.sql',
      'fails if a join repeats rows, or if a filter is missing that the metrics have',
    ],
  ],
  hasRows: true,
  define: (command) =>
    command
      .argument('[statement]', 'the SELECT; without it, or with -, standard input is read')
      .option('--file <path>', 'read the statement from a file')
      .option('--connection <name>', 'the warehouse, if there are several')
      .option(
        '--limit <rows>',
        'maximum number of rows (default: query.max_rows)',
        parsePositiveInteger,
      )
      .option(
        '--timeout <seconds>',
        'time limit (default: query.timeout_seconds)',
        parsePositiveInteger,
      )
      .option(
        '--max-bytes <size>',
        'the most that it may read, such as 10GB, on engines that can tell; others run it and warn (default: query.max_bytes)',
        parseBytes,
      )
      .option('--lint', 'check the statement against the semantic layer; do not run it'),
  async run({ args: [statement], options }, context) {
    const typed = await readStatement(statement, options.file, context);
    // As in the clients of MySQL and Postgres.
    const select = typed.replace(recordsMark, '');
    const project = await context.project();
    const connection = project.connection(options.connection).name;
    if (options.lint === true) return lintResult(project, connection, select);
    const { runStatement } = await import('../../../project/answer/statement.ts');
    context.progress.update('running the statement');
    const request = {
      connection,
      sql: select,
      maxRows: options.limit,
      timeoutSeconds: options.timeout,
      maxBytes: options.maxBytes,
    };
    const rows = await runStatement(project, request, context.signal);
    return { ...rowsResult(rows, { connection }), asRecords: select !== typed };
  },
});

/** At the end of a statement, in place of the semicolon or behind it. */
const recordsMark = /;?[\t\n\r ]*\\G[\t\n\r ;]*$/;

async function lintResult(
  project: Project,
  connection: string,
  select: string,
): Promise<CommandResult> {
  const { lintStatement } = await import('../../../project/answer/lint.ts');
  const { findings, proposal } = await lintStatement(project, connection, select);
  const flags = proposal && [
    ...proposal.metrics.map((name) => `-m ${name}`),
    ...proposal.dimensions.map((name) => `-d ${name}`),
    ...proposal.where.map((condition) => `--where '${condition.replaceAll("'", "'\\''")}'`),
  ];
  const lines = findings.map(({ rule, message, hint }) => `${rule}: ${message}\n  ${hint}`);
  const failure = new UserError('sql_lint', `${formatCount(findings.length, 'finding')}.`, {
    hint: 'correct the statement, or use ktx sl query',
  });
  return {
    data: { connection, findings, proposal },
    text: lines.length === 0 ? 'No findings.' : lines.join('\n'),
    next: flags === undefined ? [] : [[`ktx sl query ${flags.join(' ')}`]],
    failure: findings.length === 0 ? undefined : failure,
  };
}

/** The rows of a query as a result. `extra` goes into the envelope. */
export function rowsResult(result: QueryResult, extra: object): CommandResult {
  const { columns, rows, truncated, warnings, queryId, cost } = result;
  const ms = Math.round(result.ms);
  const read = cost?.bytesRead === undefined ? '' : `, read ${formatByteSize(cost.bytesRead)}`;
  const summary = `${formatCount(rows.length, 'row')} in ${ms} ms${read}, query ${queryId}`;
  const truncationNotes = truncated
    ? ['There are more rows. Raise --limit, or narrow the query.']
    : [];
  return {
    data: { ...extra, query_id: queryId, columns, rows, truncated, warnings, ms, cost },
    table: { columns, rows },
    notes: [summary, ...truncationNotes, ...warnings.map((text) => `warning: ${text}`)],
  };
}

async function readStatement(
  statement: string | undefined,
  file: string | undefined,
  context: CommandContext,
): Promise<string> {
  if (statement !== undefined && file !== undefined)
    throw usageError('The statement is given twice.', 'pass either "SELECT …" or --file');
  const isPiped = statement === undefined && context.host.stdin.isTTY !== true;
  if (file !== undefined || statement === '-') return readInput(file ?? '-', context);
  const piped = isPiped ? await readStandardInput(context) : '';
  if (piped.trim() !== '') return piped;
  if (statement !== undefined && statement.trim() !== '') return statement;
  throw usageError('The statement is missing.', 'ktx sql "SELECT 1", or --file <path>');
}
