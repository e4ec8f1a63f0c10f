import type { Project } from '../../../project/open/open.ts';
import type { QueryReceipt } from '../../../project/answer/query.ts';
import { querySchema, type SemanticQuery } from '../../../semantic/query/query.ts';
import { UserError } from '../../../lib/error.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import { appendToLog } from '../../../store/log.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { saidBy, schemaFlags, withFlags, type Settings } from '../../flags/schema-flags.ts';
import { planLines } from './plan-text.ts';
import { positive, readInput, rowsOutcome } from '../query/sql.ts';

const hint = 'ktx schema query prints what a query may contain';
const queryFlags = schemaFlags(querySchema, { metrics: '-m', dimensions: '-d', where: '-w' });

export const query = defineCommand({
  description:
    'Answers metrics by dimensions from the semantic layer. A metric is one of its own, an aggregate like sum(orders.amount), or ' +
    'name=aggregate. An order is a field, or field:desc.',
  examples: [
    ['ktx sl query -m orders.count -d orders.status', 'one metric by one dimension'],
    [
      'ktx sl query -m orders.revenue -d orders.created_at.month --where "orders.status = \'paid\'"',
      'filtered, by month',
    ],
    [
      'ktx sl query -m "total=sum(orders.amount)" --order-by total:desc --limit 10',
      'an aggregate of your own',
    ],
    [
      'ktx sl query --query-file question.yaml --plan',
      'from a file; plan, SQL and receipt, nothing run',
    ],
  ],
  rows: true,
  define: (command) =>
    withFlags(command, queryFlags)
      .option('--parameter <assignments...>', 'a value for a parameter of the model, as name=value')
      .option(
        '--query-file <path>',
        'the query as YAML or JSON; - reads standard input. Flags win over it',
      )
      .option('--connection <name>', 'which warehouse, where there are several')
      .option('--timeout <seconds>', 'when to cancel (query.timeout_seconds in ktx.yaml)', positive)
      .option('--plan', 'show plan, SQL and receipt, run nothing'),
  async run({ options }, context) {
    const { connection: name, queryFile: path, plan, timeout } = options;
    const file = path === undefined ? undefined : await fromFile(path, context);
    const parameters = { ...file?.parameters, ...parametersOf(options.parameter) };
    const { data, problems } = checkSchema(querySchema, {
      ...file,
      ...fromFlags(options),
      parameters,
    });
    if (problems !== undefined) {
      throw new UserError(
        'query_invalid',
        `The flags say what no query can: ${problems.map(problemText).join('; ')}`,
        { hint, exitCode: 2 },
      );
    }
    const asked = { connection: name, query: data };
    const project = await context.project();
    const { planQuery, runQuery } = await import('../../../project/answer/query.ts');
    if (plan === true) {
      const planned = await planQuery(project, asked);
      const lines = planLines(planned.plan).map((line) => `-- ${line}`);
      return {
        data: planned,
        text: [...lines, planned.sql].join('\n'),
        notes: receiptLines(planned.receipt),
      };
    }
    context.progress.update('running the query');
    const limits = { maxRows: asked.query.limit, timeoutSeconds: timeout };
    const { sql, receipt, connection, ...result } = await runQuery(
      project,
      { ...asked, ...limits },
      context.signal,
    );
    const outcome = rowsOutcome(result, { connection, sql, receipt });
    const unrecorded = recordAnswer(project, {
      queryId: result.queryId,
      input: { ...data, connection },
    });
    return {
      ...outcome,
      notes: [...(outcome.notes ?? []), ...receiptLines(receipt), ...unrecorded],
    };
  },
});

/** So that `ktx explain <query id>` leads from the numbers back to what justifies them; gives why it does not, where it does not. */
function recordAnswer(
  { dir, runId }: Project,
  { queryId, input }: { queryId: string; input: object },
): readonly string[] {
  try {
    appendToLog(dir, 'tools', {
      run: runId,
      call: queryId,
      tool: 'query_metrics',
      input,
      query: queryId,
    });
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [`ktx explain will not know this answer: ${error.message}`];
  }
}

/** A line for each metric, and where its definition stands. */
export function receiptLines({
  metrics,
  notes,
  parameters,
  files,
  commit,
  contested,
  stale,
  uncommitted = [],
}: QueryReceipt): string[] {
  const lines = metrics.map(({ name, owners, paths, filters, having, access, sums, curated }) => {
    const [and, list] = [' and ', ', '];
    const parts = {
      'rows of': owners.join(list),
      by: paths.join(list),
      where: filters.join(and),
      having: having.join(and),
      'row rules': access.join(list),
    };
    const additivity =
      sums === undefined
        ? 'additive'
        : [
            sums.only_over.length === 0
              ? 'not additive'
              : `additive only over ${sums.only_over.join(list)}`,
            sums.because,
          ].join(': ');
    const said = Object.entries(parts).flatMap(([word, text]) =>
      text === '' ? [] : [`${word} ${text}`],
    );
    return `${name}: ${[...said, additivity, curated ? 'curated' : 'ad hoc'].join('; ')}`;
  });
  const model = files
    .map((file) => (uncommitted.includes(file) ? `${file} (with uncommitted edits)` : file))
    .join(', ');
  return [
    ...lines,
    ...Object.entries(parameters).map(
      ([name, value]) => `parameter ${name} = ${JSON.stringify(value)}`,
    ),
    ...notes,
    ...contested.map((subject) => `contested: ${subject}; ktx review decides`),
    ...stale.map((subject) => `stale: ${subject}; ktx ingest brings it up to date`),
    ...(model === ''
      ? []
      : [
          `model at ${commit === undefined ? 'no commit' : `commit ${commit.slice(0, 10)}`}: ${model}`,
        ]),
  ];
}

function parametersOf(assignments: readonly string[] = []): Record<string, string> {
  const pairs = assignments.map((text) => /^([\w.]+)=(.*)$/s.exec(text));
  const wrong = assignments.find((_, index) => pairs[index] === null);
  if (wrong !== undefined)
    throw new UserError('query_invalid', `${wrong} is not name=value`, {
      hint: 'Write --parameter currency=EUR.',
      exitCode: 2,
    });
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
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
  return field === undefined || dir === undefined
    ? { field: text }
    : { field, dir: dir.toLowerCase() };
}

/** Of a file with line and column, before the flags are laid over it. */
async function fromFile(path: string, context: CommandContext): Promise<SemanticQuery> {
  const { parseYaml: checkedYaml } = await import('../../../lib/parse-yaml.ts');
  return checkedYaml(querySchema, {
    file: path,
    text: await readInput(path, context),
    code: 'query_invalid',
    hint,
  });
}
