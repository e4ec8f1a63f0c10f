import type { QueryReceipt } from '../project/query.ts';
import { querySchema, type SemanticQuery } from '../semantic/query.ts';
import { UserError } from '../lib/error.ts';
import { check } from '../lib/schema-check.ts';
import { defineCommand, type CommandContext } from './command.ts';
import { saidBy, schemaFlags, withFlags, type Settings } from './schema-flags.ts';
import { positive, readInput, rowsOutcome } from './sql.ts';

const queryFlags = schemaFlags(querySchema, { metrics: '-m', dimensions: '-d', where: '-w' });

export const query = defineCommand({
  description:
    'Answers metrics by dimensions from the semantic layer. A metric is one of its own, an aggregate like sum(orders.amount), or ' +
    'name=aggregate. An order is a field, or field:desc.',
  examples: [
    ['ktx sl query -m orders.count -d orders.status', 'one metric by one dimension'],
    ['ktx sl query -m orders.revenue -d orders.created_at.month --where "orders.status = \'paid\'"', 'filtered, by month'],
    ['ktx sl query -m "total=sum(orders.amount)" --order-by total:desc --limit 10', 'an aggregate of your own'],
    ['ktx sl query --query-file question.yaml --plan', 'from a file; SQL and receipt, nothing run'],
  ],
  rows: true,
  define: (command) =>
    withFlags(command, queryFlags)
      .option('--query-file <path>', 'the query as YAML or JSON; - reads standard input. Flags win over it')
      .option('--connection <name>', 'which warehouse, where there are several')
      .option('--timeout <seconds>', 'when to cancel (query.timeout_seconds in ktx.yaml)', positive)
      .option('--plan', 'show SQL and receipt, run nothing'),
  async run({ options }, context) {
    const { connection: name, queryFile: path, plan, timeout } = options;
    const fromFile = path === undefined ? {} : await readQuery(path, context);
    const asked = { connection: name, query: parseQuery({ ...fromFile, ...fromFlags(options) }, path ?? 'the flags') };
    const project = await context.project();
    const { planQuery, runQuery } = await import('../project/query.ts');
    if (plan === true) {
      const planned = await planQuery(project, asked);
      return { data: planned, text: planned.sql, notes: receiptLines(planned.receipt) };
    }
    context.progress.update('running the query');
    const limits = { maxRows: asked.query.limit, timeoutSeconds: timeout };
    const { sql, receipt, connection, ...result } = await runQuery(project, { ...asked, ...limits }, context.signal);
    const outcome = rowsOutcome(result, { connection, sql, receipt });
    return { ...outcome, notes: [...(outcome.notes ?? []), ...receiptLines(receipt)] };
  },
});

function receiptLines({ metrics, notes, commit, uncommitted = [] }: QueryReceipt): string[] {
  const lines = metrics.map(({ name, owners, paths, filters, having, additive, curated }) => {
    const parts = [
      `rows of ${owners.join(', ')}`,
      paths.length === 0 ? '' : `by ${paths.join(', ')}`,
      filters.length === 0 ? '' : `where ${filters.join(' and ')}`,
      having.length === 0 ? '' : `having ${having.join(' and ')}`,
      additive ? 'additive' : 'not additive',
      curated ? 'curated' : 'ad hoc',
    ];
    return `${name}: ${parts.filter((part) => part !== '').join('; ')}`;
  });
  const edits = uncommitted.length === 0 ? '' : `, with uncommitted edits in ${uncommitted.join(', ')}`;
  return [...lines, ...notes, ...(commit === undefined ? [] : [`model at commit ${commit.slice(0, 10)}${edits}`])];
}

/** `name=aggregate` is a metric of the query's own, `field:desc` an order. */
function fromFlags(options: Settings): Settings {
  const said = saidBy(queryFlags, options);
  const mapped = (key: string, map: (text: string) => unknown) =>
    Array.isArray(said[key]) ? { [key]: said[key].map(String).map(map) } : {};
  return { ...said, ...mapped('metrics', metric), ...mapped('order_by', order) };
}

function metric(text: string): string | { name: string; expr: string } {
  const [, name, expr] = /^([A-Za-z_]\w*)\s*=\s*([^=].*)$/s.exec(text) ?? [];
  return name === undefined || expr === undefined ? text : { name, expr };
}

function order(text: string): { field: string; dir?: string } {
  const [, field, dir] = /^(.+?)(?::|\s+)(asc|desc)$/i.exec(text) ?? [];
  return field === undefined || dir === undefined ? { field: text } : { field, dir: dir.toLowerCase() };
}

async function readQuery(path: string, context: CommandContext): Promise<object> {
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

function parseQuery(input: object, path: string): SemanticQuery {
  const { data, problems } = check(querySchema, input);
  if (data !== undefined) return data;
  throw invalid(`The query from ${path} is not valid: ${problems.map((each) => `${each.path.join('.')} ${each.message}`).join('; ')}`);
}

function invalid(message: string): UserError {
  return new UserError('query_invalid', message, { hint: 'ktx schema query prints what a query may contain', exitCode: 2 });
}
