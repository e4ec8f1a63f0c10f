import { bodySchemas } from '../../context/claims/claim.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import type { Json } from '../../lib/json.ts';
import { emit } from '../../semantic/emit/emit.ts';
import { loadModel } from '../../semantic/load/load.ts';
import type { ParameterValue } from '../../semantic/model/dataset.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import { createPlan } from '../../semantic/plan/plan.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { modelForRole } from '../../semantic/resolve/row-rules.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { State } from '../../store/state.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { FileTree } from '../publish/project-files.ts';
import { replaceEntry } from '../render/replace-entry.ts';

/** The value of one version of a metric over all rows, or why it could not be computed. */
export interface ComparedNumber {
  readonly value?: Json;
  /** The last months by the default time of the dataset, oldest first: the month and its value. */
  readonly over?: readonly (readonly [month: string, value: Json])[];
  /** The values of parameters that it was computed with, by `dataset.name`. */
  readonly with?: Readonly<Record<string, Json>>;
  readonly failure?: string;
}

interface ComparisonContext {
  readonly files: FileTree;
  readonly state: State;
  /** Opens a warehouse by its connection. */
  readonly open: (connection: string) => Promise<Warehouse>;
  readonly signal: AbortSignal;
}

/**
 * Computes every version of each contested metric, one after the other, and stores the numbers in
 * `.ktx`.
 */
export async function compareMetrics(
  conflicts: readonly Conflict[],
  context: ComparisonContext,
): Promise<void> {
  for (const conflict of conflicts) await compareVersions(conflict, context);
}

/** Raise it if the same files may give another number. */
const comparisonVersion = 'compare@4';

/**
 * The number of each version of a contested metric, by the id of the version. Empty for other
 * conflicts, and if the warehouse does not open. A version that was computed from the same files
 * before is not computed again.
 */
export async function compareVersions(
  { subject, kind, variants }: Conflict,
  context: ComparisonContext,
): Promise<ReadonlyMap<string, ComparedNumber>> {
  const { files, state, open, signal } = context;
  const metric = parseSubject(subject);
  const numbers = new Map<string, ComparedNumber>();
  if (kind !== 'metric' || metric === undefined) return numbers;
  const { connection, dataset, name } = metric;
  const modelFiles = [...files].filter(([path]) =>
    path.startsWith(`semantic-layer/${connection}/`),
  );
  const filesHash = shortHash(JSON.stringify([comparisonVersion, modelFiles]), 16);
  const stored = readNumbers(state, subject);
  const changedPath = artifactPath(connection, dataset);
  for (const { id, says } of variants) {
    signal.throwIfAborted();
    const known = stored.get(id);
    if (known?.filesHash === filesHash) {
      numbers.set(id, known.number);
      continue;
    }
    const definition = bodySchemas.metric.safeParse(says).data;
    // What somebody chose and nobody says any more may not be on record.
    if (definition === undefined) continue;
    const version = modelFiles.map(([path, text]) => ({
      path,
      text: path === changedPath ? replaceEntry(text, 'metrics', { ...definition, name }) : text,
    }));
    const number = await computeNumber({
      files: version,
      metric: `${dataset}.${name}`,
      open: () => open(connection),
      signal,
    });
    if (number === undefined) continue;
    numbers.set(id, number);
    storeNumber(state, { subject, id, filesHash, number });
  }
  return numbers;
}

interface NumberRequest {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** As `dataset.metric`. */
  readonly metric: string;
  readonly open: () => Promise<Warehouse>;
  readonly signal: AbortSignal;
}

/**
 * Undefined if the warehouse does not open, or fails in a way that may pass: then another run tries
 * again.
 */
async function computeNumber({
  files,
  metric,
  open,
  signal,
}: NumberRequest): Promise<ComparedNumber | undefined> {
  try {
    const warehouse = await open();
    const loaded = await loadModel({ dialect: warehouse.dialect, files });
    // Anyone who looks at a conflict sees its number, so a dataset with row rules gives none.
    const model = modelForRole(loaded.model, undefined);
    const query = querySchema.parse({ metrics: [metric], parameters: firstParameterValues(model) });
    const plan = await withAnalyzer(() => createPlan(model, query));
    const { parameters } = plan.receipt;
    const sql = emit(plan, model.dialect);
    const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs: 60_000 }, signal);
    const over = await computeMonths({ model, metric, warehouse, signal });
    return {
      value: rows[0]?.at(-1) ?? null,
      ...(over !== undefined && { over }),
      ...(Object.keys(parameters).length > 0 && { with: parameters }),
    };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return failedNumber(error);
  }
}

/** Months that a person looks at beside each other. */
const mostMonths = 24;

interface MonthsRequest extends Pick<NumberRequest, 'metric' | 'signal'> {
  readonly model: SemanticModel;
  readonly warehouse: Warehouse;
}

/** Undefined without a default time, and if the metric cannot be cut into months. */
async function computeMonths({
  model,
  metric,
  warehouse,
  signal,
}: MonthsRequest): Promise<ComparedNumber['over']> {
  const [dataset = ''] = metric.split('.');
  const time = model.datasets.get(dataset)?.defaultTime;
  if (time === undefined) return undefined;
  try {
    const query = querySchema.parse({
      metrics: [metric],
      dimensions: [`${dataset}.${time}.month`],
      parameters: firstParameterValues(model),
    });
    const plan = await withAnalyzer(() => createPlan(model, query));
    const sql = emit(plan, model.dialect);
    const { rows } = await warehouse.query(sql, { maxRows: 10_000, timeoutMs: 60_000 }, signal);
    const months = rows.flatMap(([month, value]): [string, Json][] =>
      typeof month === 'string' ? [[month.slice(0, 7), value ?? null]] : [],
    );
    return months.toSorted(([first], [second]) => (first < second ? -1 : 1)).slice(-mostMonths);
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return undefined;
  }
}

function failedNumber({ code, message, retryable }: UserError): ComparedNumber | undefined {
  if (code === 'no_access')
    return {
      failure: 'not computed: its dataset has row rules, and the number would reveal hidden rows',
    };
  if (code === 'missing_parameter')
    return { failure: `${message}; give the parameter a default, or values to take the first of` };
  return retryable ? undefined : { failure: message };
}

/**
 * For parameters without a default, the first of their listed values. Any other value would be made
 * up.
 */
function firstParameterValues({
  datasets,
}: SemanticModel): Readonly<Record<string, ParameterValue>> {
  const values = [...datasets.values()].flatMap(({ name: dataset, parameters }) =>
    parameters.flatMap((parameter): [string, ParameterValue][] => {
      const [first] = parameter.values ?? [];
      if (parameter.default !== undefined || first === undefined) return [];
      return [[`${dataset}.${parameter.name}`, first]];
    }),
  );
  return Object.fromEntries(values);
}

/** The stored numbers of the versions of a metric, by the id of the version. */
export function readComparedNumbers(
  state: State,
  subject: string,
): ReadonlyMap<string, ComparedNumber> {
  return new Map([...readNumbers(state, subject)].map(([id, { number }]) => [id, number]));
}

interface StoredNumber {
  /** The hash of the files that the number was computed from. */
  readonly filesHash: string;
  readonly number: ComparedNumber;
}

function readNumbers({ db }: State, subject: string): Map<string, StoredNumber> {
  ensureNumbersTable(db);
  const rows = db
    .prepare('SELECT id, mark, number FROM compared_numbers WHERE subject = ?')
    .all(subject);
  return new Map(
    rows.map(({ id, mark, number }) => [
      String(id),
      { filesHash: String(mark), number: JSON.parse(String(number)) as ComparedNumber },
    ]),
  );
}

function storeNumber(
  { db }: State,
  { subject, id, filesHash, number }: StoredNumber & { subject: string; id: string },
): void {
  ensureNumbersTable(db);
  db.prepare('INSERT OR REPLACE INTO compared_numbers VALUES (?, ?, ?, ?)').run(
    subject,
    id,
    filesHash,
    JSON.stringify(number),
  );
}

function ensureNumbersTable(db: State['db']): void {
  db.exec(
    'CREATE TABLE IF NOT EXISTS compared_numbers (subject TEXT, id TEXT, mark TEXT, number TEXT, PRIMARY KEY (subject, id))',
  );
}
