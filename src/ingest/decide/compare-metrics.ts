import type { Conflict } from '../../context/compile/conflicts.ts';
import { bodySchemas } from '../../context/claims/claim.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import type { Json } from '../../lib/json.ts';
import { modelForRole } from '../../semantic/resolve/row-rules.ts';
import { emit } from '../../semantic/emit/emit.ts';
import type { ParameterValue } from '../../semantic/model/dataset.ts';
import { loadModel } from '../../semantic/load/load.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import { createPlan } from '../../semantic/plan/plan.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import type { State } from '../../store/state.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { FileTree } from '../publish/project-files.ts';
import { replaceEntry } from '../render/replace-entry.ts';

/** What a version of a metric gives over everything; a failure where it does not run. */
export interface ComparedNumber {
  readonly value?: Json;
  /** The values of parameters that it was computed with, by `dataset.name`. */
  readonly with?: Readonly<Record<string, Json>>;
  readonly failure?: string;
}

/** Raise it where the same files may give another number. */
const computing = 'compare@3';

interface Comparison {
  /** The files as they stand. */
  readonly files: FileTree;
  readonly state: State;
  readonly open: (connection: string) => Promise<Warehouse>;
  readonly signal: AbortSignal;
}

/** Runs every version of each contested metric over everything, one after the other, and keeps the numbers in `.ktx`. */
export async function compareMetrics(
  conflicts: readonly Conflict[],
  comparison: Comparison,
): Promise<void> {
  for (const conflict of conflicts) await compareVersions(conflict, comparison);
}

/**
 * The number of each version of a contested metric, by the id of the version; none of what is no metric, or where its warehouse does
 * not open. A version that ran on the same files before is not run again.
 */
export async function compareVersions(
  { subject, kind, variants }: Conflict,
  comparison: Comparison,
) {
  const { files, state, open, signal } = comparison;
  const about = parseSubject(subject);
  const numbers = new Map<string, ComparedNumber>();
  if (kind !== 'metric' || !about) return numbers;
  const own = [...files].filter(([path]) => path.startsWith(`semantic-layer/${about.connection}/`));
  const mark = shortHash(JSON.stringify([computing, own]), 16);
  const standing = keptNumbers(state, subject);
  for (const { id, says } of variants) {
    signal.throwIfAborted();
    const known = standing.get(id);
    const path = artifactPath(about.connection, about.dataset);
    const definition = bodySchemas.metric.safeParse(says).data;
    const stands = files.get(path) ?? '';
    const text =
      definition === undefined
        ? stands
        : replaceEntry(stands, 'metrics', { ...definition, name: about.name });
    const model = own.map(([at, other]) => ({ path: at, text: at === path ? text : other }));
    const asked = {
      files: model,
      metric: `${about.dataset}.${about.name}`,
      open: () => open(about.connection),
      signal,
    };
    const number = known?.mark === mark ? known.number : await numberOf(asked);
    if (number) numbers.set(id, number);
    if (number && known?.mark !== mark) keepNumber(state, { subject, id, mark, number });
  }
  return numbers;
}

/** Of one subject, by the id of the version. */
export function comparedNumbers(
  state: State,
  subject: string,
): ReadonlyMap<string, ComparedNumber> {
  return new Map([...keptNumbers(state, subject)].map(([id, { number }]) => [id, number]));
}

interface Asked {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** `dataset.metric` */
  readonly metric: string;
  readonly open: () => Promise<Warehouse>;
  readonly signal: AbortSignal;
}

/** Undefined where the warehouse does not open: another run may know. */
async function numberOf({
  files,
  metric,
  open,
  signal,
}: Asked): Promise<ComparedNumber | undefined> {
  try {
    const warehouse = await open();
    // Whoever looks at a conflict sees its number, whatever their role: a dataset with row rules gives none.
    const model = modelForRole(
      (await loadModel({ dialect: warehouse.dialect, files })).model,
      undefined,
    );
    const planned = await withAnalyzer(() =>
      createPlan(model, querySchema.parse({ metrics: [metric], parameters: firstValues(model) })),
    );
    const { parameters } = planned.receipt;
    const { rows } = await warehouse.query(
      emit(planned, model.dialect),
      { maxRows: 1, timeoutMs: 60_000 },
      signal,
    );
    return {
      value: rows[0]?.at(-1) ?? null,
      ...(Object.keys(parameters).length > 0 && { with: parameters }),
    };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    if (error.code === 'no_access')
      return {
        failure: 'not computed: row rules hold, and the number would show rows that they hide',
      };
    if (error.code === 'missing_parameter')
      return {
        failure: `${error.message}; with a default, or values to take the first of, it would`,
      };
    return error.retryable ? undefined : { failure: error.message };
  }
}

/** Of parameters without a default those that have only some values; any other value would be made up. */
function firstValues({ datasets }: SemanticModel): Readonly<Record<string, ParameterValue>> {
  const chosen = [...datasets.values()].flatMap((dataset) =>
    dataset.parameters.flatMap(
      ({ name, default: value, values: [first] = [] }): [string, ParameterValue][] =>
        value === undefined && first !== undefined ? [[`${dataset.name}.${name}`, first]] : [],
    ),
  );
  return Object.fromEntries(chosen);
}

function keptNumbers({ db }: State, subject: string) {
  ensureTable(db);
  const rows = db
    .prepare('SELECT id, mark, number FROM compared_numbers WHERE subject = ?')
    .all(subject);
  return new Map(
    rows.map(({ id, mark, number }) => [
      String(id),
      { mark: String(mark), number: JSON.parse(String(number)) as ComparedNumber },
    ]),
  );
}

function keepNumber(
  { db }: State,
  {
    subject,
    id,
    mark,
    number,
  }: { subject: string; id: string; mark: string; number: ComparedNumber },
) {
  ensureTable(db);
  db.prepare('INSERT OR REPLACE INTO compared_numbers VALUES (?, ?, ?, ?)').run(
    subject,
    id,
    mark,
    JSON.stringify(number),
  );
}

function ensureTable(db: State['db']): void {
  db.exec(
    'CREATE TABLE IF NOT EXISTS compared_numbers (subject TEXT, id TEXT, mark TEXT, number TEXT, PRIMARY KEY (subject, id))',
  );
}
