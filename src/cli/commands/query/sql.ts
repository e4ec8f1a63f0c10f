import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { readText } from '../../../store/files.ts';
import { UserError } from '../../../lib/error.ts';
import type { Project } from '../../../project/open/open.ts';
import type { QueryResult } from '../../../warehouse/warehouse.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { defineCommand, type CommandContext, type Outcome } from '../../command.ts';
import { usage } from '../../terminal/failure.ts';

export const sql = defineCommand({
  description:
    'Runs one SELECT, read-only: by the engine, by a parser, by the driver. Everything else is refused.',
  examples: [
    ['ktx sql "SELECT count(*) FROM orders"', 'one statement'],
    ['ktx sql --file report.sql --format csv > report.csv', 'from a file, as CSV'],
    ['echo "SELECT 1" | ktx sql -', 'from standard input'],
    [
      'ktx sql --lint --file report.sql',
      'joins that repeat rows, filters that the metrics have; fails where it finds one',
    ],
  ],
  rows: true,
  define: (command) =>
    command
      .argument('[statement]', 'the SELECT; - reads standard input')
      .option('--file <path>', 'read the statement from a file')
      .option('--connection <name>', 'which warehouse, where there are several')
      .option('--limit <rows>', 'rows at most (query.max_rows in ktx.yaml)', positive)
      .option('--timeout <seconds>', 'when to cancel (query.timeout_seconds in ktx.yaml)', positive)
      .option('--lint', 'run nothing: say what the semantic layer knows better'),
  async run({ args: [statement], options }, context) {
    const select = await statementText(statement, options.file, context);
    const project = await context.project();
    const connection = project.connection(options.connection).name;
    if (options.lint === true) return lintOutcome(project, connection, select);
    const { runStatement } = await import('../../../project/answer/statement.ts');
    context.progress.update('running the statement');
    const asked = {
      connection,
      sql: select,
      maxRows: options.limit,
      timeoutSeconds: options.timeout,
    };
    return rowsOutcome(await runStatement(project, asked, context.signal), { connection });
  },
});

async function lintOutcome(project: Project, connection: string, select: string): Promise<Outcome> {
  const { lintStatement } = await import('../../../project/answer/lint.ts');
  const { findings, proposal } = await lintStatement(project, connection, select);
  const flags = proposal && [
    ...proposal.metrics.map((name) => `-m ${name}`),
    ...proposal.dimensions.map((name) => `-d ${name}`),
  ];
  const lines = findings.map(({ rule, message, hint }) => `${rule}: ${message}\n  ${hint}`);
  const hint = 'correct the statement, or ask the semantic layer';
  return {
    data: { connection, findings, proposal },
    text: lines.length === 0 ? 'Nothing found.' : lines.join('\n'),
    next: flags === undefined ? [] : [`ktx sl query ${flags.join(' ')}`],
    failure:
      findings.length === 0
        ? undefined
        : new UserError(
            'sql_lint',
            `${formatCount(findings.length, 'finding')} in this statement.`,
            {
              hint,
            },
          ),
  };
}

/** Rows with what was cut off said aloud. */
export function rowsOutcome({ columns, rows, ...about }: QueryResult, extra: object): Outcome {
  const { truncated, ms, queryId } = about;
  const count = `${formatCount(rows.length, 'row')} in ${Math.round(ms)} ms, query ${queryId}`;
  const cutOff = truncated
    ? ['There are more rows: this answer is cut off. Raise --limit, or ask for less.']
    : [];
  return {
    data: { ...extra, query_id: queryId, columns, rows, truncated, ms: Math.round(ms) },
    table: { columns, rows },
    notes: [count, ...cutOff],
  };
}

/** A flag's number. */
export function positive(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('a positive whole number');
}

/** From the file, or standard input for `-`. */
export async function readInput(path: string, { surroundings }: CommandContext): Promise<string> {
  if (path !== '-') {
    const content = await readText(path);
    if (content !== undefined) return content;
    const hint = 'check the path; - reads standard input';
    throw new UserError('file_not_found', `There is no file ${path}.`, { hint, exitCode: 2 });
  }
  if (surroundings.stdin.isTTY === true)
    throw usage('Nothing comes from standard input.', 'pipe something into it');
  return text(surroundings.stdin);
}

async function statementText(
  statement: string | undefined,
  file: string | undefined,
  context: CommandContext,
): Promise<string> {
  if (statement !== undefined && file !== undefined)
    throw usage('The statement is given twice.', 'either "SELECT …" or --file');
  if (file !== undefined || statement === '-') return readInput(file ?? '-', context);
  if (statement !== undefined && statement.trim() !== '') return statement;
  throw usage('There is no statement.', 'ktx sql "SELECT 1", or --file <path>');
}
