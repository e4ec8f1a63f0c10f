import type { QueryReceipt } from '../project/query.ts';
import type { SemanticQuery } from '../semantic/query.ts';
import { UserError } from '../lib/error.ts';
import { defineCommand, type CommandContext } from './command.ts';
import { positive, readInput, rowsOutcome } from './sql.ts';

export const query = defineCommand({
  description:
    'Answers metrics by dimensions from the semantic layer. A dimension is dataset.field, a path of roles ' +
    '(orders.buyer.regions.name), or a time field with a grain (orders.created_at.month).',
  examples: [
    ['ktx sl query -m orders.count -d orders.status', 'one metric by one dimension'],
    ['ktx sl query -m orders.revenue -d orders.created_at.month --where "orders.status = \'paid\'"', 'filtered, by month'],
    ['ktx sl query -m "total=sum(orders.amount)" --order-by total:desc --limit 10', 'an aggregate of your own'],
    ['ktx sl query --query-file question.yaml --plan', 'from a file; SQL and receipt, nothing run'],
  ],
  rows: true,
  define: (command) =>
    command
      .option('-m, --metric <metrics...>', 'metric, aggregate like sum(orders.amount), or name=aggregate')
      .option('-d, --dimension <dimensions...>', 'what to group by')
      .option('-w, --where <conditions...>', 'conditions on rows, all of which hold')
      .option('--having <conditions...>', 'conditions on metrics')
      .option('--segment <segments...>', 'named filters, dataset.segment')
      .option('--order-by <fields...>', 'field, or field:desc')
      .option('--limit <rows>', 'rows at most', positive)
      .option('--timezone <zone>', 'where days begin, like Europe/Paris')
      .option('--week-start <day>', 'monday or sunday')
      .option('--include-empty', 'also members of the dimensions without rows')
      .option('--query-file <path>', 'the query as YAML or JSON; - reads standard input')
      .option('--connection <name>', 'which warehouse, where there are several')
      .option('--timeout <seconds>', 'when to cancel (query.timeout_seconds in ktx.yaml)', positive)
      .option('--plan', 'show SQL and receipt, run nothing')
      .option('--dry-run', 'the same as --plan')
      .option('--sql', 'show the SQL after the rows'),
  async run({ options }, context) {
    const fromFile = options.queryFile === undefined ? {} : await queryFile(options.queryFile, context);
    const asked = {
      connection: options.connection,
      query: await parseQuery({ ...fromFile, ...fromFlags(options) }, options.queryFile),
    };
    const project = await context.project();
    const { planQuery, runQuery } = await import('../project/query.ts');
    if (options.plan === true || options.dryRun === true) {
      const planned = await planQuery(project, asked);
      return { data: planned, text: planned.sql, notes: receiptLines(planned.receipt) };
    }
    context.progress.update('running the query');
    const limits = { maxRows: options.limit, timeoutSeconds: options.timeout };
    const { sql, receipt, connection, ...result } = await runQuery(project, { ...asked, ...limits }, context.signal);
    const outcome = rowsOutcome(result, { connection, sql, receipt });
    const sqlLines = options.sql === true ? ['', sql] : [];
    return { ...outcome, notes: [...(outcome.notes ?? []), ...receiptLines(receipt), ...sqlLines] };
  },
});

function receiptLines({ metrics, notes, commit, uncommitted = [] }: QueryReceipt): string[] {
  const lines = metrics.map(({ name, owners, paths, filters, additive, curated }) => {
    const parts = [
      `rows of ${owners.join(', ')}`,
      ...(paths.length === 0 ? [] : [`by ${paths.join(', ')}`]),
      ...(filters.length === 0 ? [] : [`where ${filters.join(' and ')}`]),
      additive ? 'additive' : 'not additive',
      curated ? 'curated' : 'ad hoc',
    ];
    return `${name}: ${parts.join('; ')}`;
  });
  const edits = uncommitted.length === 0 ? '' : `, with uncommitted edits in ${uncommitted.join(', ')}`;
  return [...lines, ...notes, ...(commit === undefined ? [] : [`model at commit ${commit.slice(0, 10)}${edits}`])];
}

interface QueryFlags {
  readonly metric?: readonly string[];
  readonly dimension?: readonly string[];
  readonly where?: readonly string[];
  readonly having?: readonly string[];
  readonly segment?: readonly string[];
  readonly orderBy?: readonly string[];
  readonly limit?: number;
  readonly timezone?: string;
  readonly weekStart?: string;
  readonly includeEmpty?: true;
}

/** Only what was given: flags win over the file, key by key. */
function fromFlags(flags: QueryFlags): object {
  const given = {
    metrics: flags.metric?.map(metric),
    dimensions: flags.dimension,
    where: flags.where,
    having: flags.having,
    segments: flags.segment,
    order_by: flags.orderBy?.map(order),
    limit: flags.limit,
    timezone: flags.timezone,
    week_start: flags.weekStart,
    include_empty: flags.includeEmpty,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function metric(text: string): string | { name: string; expr: string } {
  const [, name, expr] = /^([A-Za-z_]\w*)\s*=\s*([^=].*)$/s.exec(text) ?? [];
  return name === undefined || expr === undefined ? text : { name, expr };
}

function order(text: string): { field: string; dir?: string } {
  const [, field, dir] = /^(.+?)(?::|\s+)(asc|desc)$/i.exec(text) ?? [];
  return field === undefined || dir === undefined ? { field: text } : { field, dir: dir.toLowerCase() };
}

async function queryFile(path: string, context: CommandContext): Promise<object> {
  const { load, YAMLException } = await import('js-yaml');
  try {
    const value = load(await readInput(path, context));
    if (value instanceof Object && !Array.isArray(value)) return value;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw invalid(`${path}: ${error.message}`);
  }
  throw invalid(`${path} holds no query.`);
}

async function parseQuery(input: object, path = 'the flags'): Promise<SemanticQuery> {
  const { querySchema } = await import('../semantic/query.ts');
  const parsed = querySchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { explainIssues } = await import('../project/config-issues.ts');
  const problems = explainIssues(parsed.error, querySchema, input).map(
    ({ path: at, message, suggestion }) => `${at.join('.')} ${message}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`,
  );
  throw invalid(`The query from ${path} is not valid: ${problems.join('; ')}`);
}

function invalid(message: string): UserError {
  return new UserError('query_invalid', message, {
    hint: 'ktx schema query prints what a query may contain',
    exitCode: 2,
  });
}
