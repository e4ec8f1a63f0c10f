import { toSystemError, UserError } from '../../../lib/error.ts';
import { canonicalJson } from '../../../lib/json.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Project } from '../../../project/open/open.ts';
import type { AskedQuery } from '../../../project/saved/saved-request.ts';
import { querySchema, type SemanticQuery } from '../../../semantic/query/query.ts';
import { changeQuery } from '../../../semantic/query/saved-query.ts';
import { appendToLog } from '../../../store/log.ts';
import { chooseChart, type ChartedRows } from '../../chart/choose-chart.ts';
import { renderTextChart } from '../../chart/text-chart.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { parseBytes, parsePositiveInteger } from '../../flags/parse-number.ts';
import { readInput } from '../../flags/read-input.ts';
import {
  addFlags,
  schemaFlags,
  settingsFromFlags,
  type FlagSettings,
  type SchemaFlag,
} from '../../flags/schema-flags.ts';
import type { Screen } from '../../terminal/screen.ts';
import { rowsResult } from '../query/sql.ts';
import { planLines } from './plan-text.ts';
import { linksTo, receiptLines, verifiedLines } from './receipt-text.ts';

const schemaHint = 'ktx schema query prints the schema of a query';

/**
 * The schema's own descriptions are as short as a tool list needs them. Help has room for a
 * sentence.
 */
const flagDescriptions: Readonly<Record<Exclude<keyof SemanticQuery, 'parameters'>, string>> = {
  metrics: 'metrics to compute; without any, the distinct values of the dimensions',
  dimensions:
    'fields to group by: dataset.field, or a path of roles like orders.buyer.regions.name. ' +
    'Add .month or another grain to a time field. metric_time is the default time of each metric',
  where: 'conditions on rows; a row must meet all of them',
  having: 'conditions on metrics; a group must meet all of them',
  segments: 'named filters, as dataset.segment',
  order_by: 'order of the rows; equal rows are ordered by the dimensions',
  limit: 'maximum number of rows',
  share_of:
    'add the share of each metric: total, or the dimensions whose groups are the whole ' +
    '(adds metric.share)',
  compare_to:
    'a period before, like "1 year": adds metric.previous, metric.difference and metric.growth',
  over_rows:
    'compute over the rows of the result: "rank of orders.revenue per orders.status"; ' +
    'also previous, next, running, average, to_average. ' +
    'name=rank of … names the column',
  top:
    'only the groups with the greatest values: 3, or "3 of orders.revenue per orders.status"; ' +
    'asc behind the metric: the smallest',
  others: 'add a row for the groups below the top',
  qualify: 'conditions on columns of the result, also computed ones: "orders.revenue.growth < 0"',
  rollup: 'add totals over the last dimension, the last two, and so on',
  timezone: 'IANA time zone for the periods of datetime_tz fields (default: UTC)',
  week_start: 'first day of a week (default: monday)',
  include_empty: 'also show dimension values that have no rows',
  skip_empty: 'leave out groups in which no metric has a row that meets its own filter',
  fill_time: 'also show periods that have no rows',
  allow_unproven:
    'answer although the data contradict a declared key; one row per key is joined, ' +
    'so that no row multiplies',
};
export const queryCommand = defineCommand({
  description:
    'Queries metrics by dimensions. A metric is a name from the semantic layer, an aggregate ' +
    'like sum(orders.amount), or name=aggregate. ' +
    'To sort, give a field, or field:desc.',
  examples: [
    ['ktx sl query -m orders.count -d orders.status', 'one metric by one dimension'],
    [
      'ktx sl query -m orders.revenue -d orders.created_at.month ' +
        '--where "orders.status = \'paid\'"',
      'by month, with a filter',
    ],
    [
      'ktx sl query -m "total=sum(orders.amount)" --order-by total:desc --limit 10',
      'your own aggregate',
    ],
    [
      'ktx sl query -m orders.revenue -d orders.status --top 3 --others --share-of total',
      'the greatest three, the rest as one row, and the share of each',
    ],
    ['ktx sl query -m orders.revenue -d orders.created_at.month --chart', 'the rows as a chart'],
    ['ktx sl query --saved monthly_revenue --where "orders.channel = \'web\'"', 'a saved query'],
    [
      'ktx sl query --query-file question.yaml --plan',
      'from a file; shows plan, SQL and receipt without running it',
    ],
  ],
  hasRows: true,
  define: (command) =>
    addFlags(command.argument('[metrics...]', 'metrics to compute, as with -m'), queryFlags())
      .option('--parameter <assignments...>', 'value for a parameter of the model: name=value')
      .option(
        '--query-file <path>',
        'the query as YAML or JSON; - reads standard input. Flags override it',
      )
      .option(
        '--saved <name>',
        'a query of the semantic layer, or a verified question; flags add conditions and replace the rest',
      )
      .option('--connection <name>', 'the warehouse, if there are several')
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
      .option('--chart', 'draw the rows: a line for periods, bars for categories')
      .option('--plan', 'show plan, SQL and receipt; do not run the query'),
  async run({ args: [named], options: typed }, context) {
    const { lists, isVertical } = readMark(named, typed);
    const options = { ...typed, ...lists };
    const { plan: isPlanOnly, timeout, maxBytes } = options;
    const project = await context.project();
    const saved = await readSaved(project, options);
    if (saved?.kind === 'sql') return runVerifiedSql(project, { ...saved, isPlanOnly }, context);
    const base = saved?.request;
    const query = await parseQuery(options, context, base?.query);
    const isUnchanged = base !== undefined && canonicalJson(query) === canonicalJson(base.query);
    const verified = isUnchanged ? base.verified : undefined;
    const request = { connection: options.connection, ...base, query, verified };
    const { planQuery, runQuery } = await import('../../../project/answer/query.ts');
    if (isPlanOnly === true) {
      const planned = await planQuery(project, request);
      const comments = planLines(planned.plan).map((line) => `-- ${line}`);
      return {
        data: planned,
        text: [...comments, planned.sql].join('\n'),
        notes: receiptLines(planned.receipt, linksTo(project.dir, context.screen)),
      };
    }
    context.progress.update('running the query');
    const limits = { maxRows: query.limit, timeoutSeconds: timeout, maxBytes };
    const {
      sql,
      receipt: known,
      connection,
      unscanned,
      ...rows
    } = await runQuery(project, { ...request, ...limits }, context.signal);
    const receipt = { ...known, notes: [...known.notes, ...(await unscanned())] };
    const result = rowsResult(rows, { connection, sql, receipt });
    const input = { ...query, connection };
    const warnings = logAnswer(project, { queryId: rows.queryId, input });
    const chart = options.chart === true ? chartOf(rows, context.screen) : undefined;
    return {
      ...result,
      asRecords: isVertical,
      ...chart?.shown,
      notes: [
        ...(result.notes ?? []),
        ...limitNotes(query, rows.rows),
        ...receiptLines(receipt, linksTo(project.dir, context.screen)),
        ...warnings,
        ...(chart?.why ?? []),
      ],
    };
  },
});

/** In the clients of MySQL and Postgres it stands at the end of a statement. */
const recordsMark = '\\G';

/** The lists without `\G`, the metrics without a flag among the others; whether it stood there. */
function readMark(
  named: readonly string[],
  options: QueryOptions,
): { readonly lists: FlagSettings; readonly isVertical: boolean } {
  const metrics = [...named, ...(options.metric ?? [])];
  const all = Object.entries({ ...options, ...(metrics.length === 0 ? {} : { metric: metrics }) });
  const given = all.flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, value.map(String)] as const] : [],
  );
  const kept = given.map(([name, texts]) => [name, texts.filter((text) => text !== recordsMark)]);
  const isVertical = given.some(([, texts]) => texts.includes(recordsMark));
  return { lists: Object.fromEntries(kept), isVertical };
}

function limitNotes({ limit }: SemanticQuery, rows: readonly unknown[]): readonly string[] {
  return rows.length === limit ? ['As many rows as --limit allows; there may be more.'] : [];
}

/** The chart in place of the table, or why there is none. With `--format csv` or JSON: the rows. */
function chartOf(rows: ChartedRows, screen: Screen) {
  if (screen.format !== 'table') return undefined;
  const choice = chooseChart(rows);
  if (choice.kind === 'none') return { why: [`No chart: ${choice.reason}.`] };
  const text = choice.charts.map((chart) => renderTextChart(chart, screen)).join('\n\n');
  return { shown: { text, table: undefined } };
}

let madeFlags: readonly SchemaFlag[] | undefined;

/** Made when the command is called: other programs load this file for what it imports. */
function queryFlags(): readonly SchemaFlag[] {
  if (madeFlags !== undefined) return madeFlags;
  madeFlags = schemaFlags(querySchema, { metrics: '-m', dimensions: '-d', where: '-w' });
  const descriptions = new Map<string, string>(Object.entries(flagDescriptions));
  for (const { key, option } of madeFlags) option.description = descriptions.get(key) ?? '';
  return madeFlags;
}

type QueryOptions = FlagSettings & {
  readonly metric?: readonly string[] | undefined;
  readonly queryFile?: string | undefined;
  readonly parameter?: readonly string[] | undefined;
  readonly saved?: string | undefined;
  readonly connection?: string | undefined;
};

async function readSaved(
  project: Project,
  { saved, queryFile, connection }: QueryOptions,
): Promise<AskedQuery | undefined> {
  if (saved === undefined) return undefined;
  if (queryFile !== undefined)
    throw new UserError('query_invalid', '--saved and --query-file are two queries.', {
      hint: 'Give one of them.',
      exitCode: 2,
    });
  const { resolveQueryCall } = await import('../../../project/saved/saved-request.ts');
  return resolveQueryCall(project, { connection, saved, query: {} });
}

/** Answers a verified question with its SQL. The limits of the role hold, as for all SQL. */
async function runVerifiedSql(
  project: Project,
  asked: Extract<AskedQuery, { kind: 'sql' }> & { readonly isPlanOnly: true | undefined },
  context: CommandContext,
): Promise<CommandResult> {
  const { sql, question, isPlanOnly } = asked;
  const { connection } = question;
  const [{ runStatement }, { verifiedMark }] = await Promise.all([
    import('../../../project/answer/statement.ts'),
    import('../../../project/verified/find-verified.ts'),
  ]);
  const receipt = { verified: verifiedMark(question), file: question.file };
  const notes = verifiedLines(receipt);
  if (isPlanOnly === true) return { data: { connection, sql, receipt }, text: sql, notes };
  const rows = await runStatement(project, { connection, sql }, context.signal);
  const result = rowsResult(rows, { connection, sql, receipt });
  return { ...result, notes: [...(result.notes ?? []), ...notes] };
}

/** The query of the file, overridden by the flags; or the saved query with them. */
async function parseQuery(
  options: QueryOptions,
  context: CommandContext,
  saved: SemanticQuery | undefined,
): Promise<SemanticQuery> {
  const path = options.queryFile;
  const file = path === undefined ? undefined : await readQueryFile(path, context);
  const parameters = { ...file?.parameters, ...parseParameters(options.parameter) };
  const flags = { ...parseQueryFlags(options), parameters };
  const changed = saved === undefined ? { ...file, ...flags } : changeQuery(saved, flags);
  const { data, problems } = checkSchema(querySchema, changed);
  if (data !== undefined) return data;
  throw new UserError(
    'query_invalid',
    `Invalid query flags: ${problems.map(problemText).join('; ')}`,
    { hint: schemaHint, exitCode: 2 },
  );
}

/** Checks the file by itself, so that a problem has its line and column. */
async function readQueryFile(path: string, context: CommandContext): Promise<SemanticQuery> {
  const { parseYaml } = await import('../../../lib/yaml/parse-yaml.ts');
  const text = await readInput(path, context);
  return parseYaml(querySchema, { file: path, text, code: 'query_invalid', hint: schemaHint });
}

function parseQueryFlags(options: FlagSettings): FlagSettings {
  const flags = withoutCommas(settingsFromFlags(queryFlags(), options));
  const parseList = (key: string, parse: (text: string) => unknown) =>
    Array.isArray(flags[key]) ? { [key]: flags[key].map(String).map(parse) } : {};
  return { ...flags, ...parseList('metrics', parseMetric), ...parseList('order_by', parseOrder) };
}

const nameLists = ['metrics', 'dimensions', 'segments', 'order_by', 'share_of', 'top_per'] as const;

/** Names may also stand in one value, with commas between them: `orders.count,orders.revenue`. */
function withoutCommas(flags: FlagSettings): FlagSettings {
  const isNameList = (text: string) =>
    /^[\p{L}_][\p{L}\p{N}_.:]*(\s*,\s*[\p{L}_][\p{L}\p{N}_.:]*)+$/u.test(text);
  const lists = nameLists.flatMap((key) => {
    const given = flags[key];
    if (!Array.isArray(given)) return [];
    const names = given
      .map(String)
      .flatMap((text) => (isNameList(text) ? text.split(',').map((name) => name.trim()) : [text]));
    return [[key, names] as const];
  });
  return { ...flags, ...Object.fromEntries(lists) };
}

/** `orders.count`, or `name=aggregate` for a metric that only this query has. */
function parseMetric(text: string): string | { name: string; expr: string } {
  const [, name, expr] = /^([A-Za-z_]\w*)\s*=\s*([^=].*)$/s.exec(text) ?? [];
  return name === undefined || expr === undefined ? text : { name, expr };
}

/** `field`, `field:desc` or `field desc`. */
/** `revenue:desc`, `revenue desc`, or `-revenue` as MetricFlow has it. */
function parseOrder(text: string): { field: string; dir?: string } {
  const [, reversed] = /^-\s*([\p{L}_].*)$/u.exec(text) ?? [];
  if (reversed !== undefined) return { field: reversed, dir: 'desc' };
  const [, field, dir] = /^(.+?)(?::|\s+)(asc|desc)$/i.exec(text) ?? [];
  return field === undefined || dir === undefined
    ? { field: text }
    : { field, dir: dir.toLowerCase() };
}

function parseParameters(assignments: readonly string[] = []): Record<string, string> {
  const pairs = assignments.map((text) => {
    const [, name, value] = /^([\w.]+)=(.*)$/s.exec(text) ?? [];
    if (name !== undefined && value !== undefined) return [name, value] as const;
    throw new UserError('query_invalid', `Not name=value: ${text}`, {
      hint: 'for example: --parameter currency=EUR',
      exitCode: 2,
    });
  });
  return Object.fromEntries(pairs);
}

/**
 * Logs the query, so that `ktx explain <query id>` finds it. Returns a warning if the log cannot be
 * written.
 */
function logAnswer(
  { dir, runId }: Project,
  { queryId, input }: { queryId: string; input: object },
): readonly string[] {
  const entry = { run: runId, call: queryId, tool: 'query_metrics', input, query: queryId };
  try {
    appendToLog(dir, 'tools', entry);
    return [];
  } catch (error) {
    const failure = error instanceof UserError ? error : toSystemError(error);
    if (failure === undefined) throw error;
    return [`ktx explain will not find this answer: ${failure.message}`];
  }
}
