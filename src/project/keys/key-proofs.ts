import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import type { KeyAssumption } from '../../semantic/keys/key-assumption.ts';
import { keyCheckSql } from '../../semantic/keys/key-check.ts';
import { findTable } from '../../semantic/load/find-table.ts';
import type { ModelDataset, SemanticModel } from '../../semantic/model/model.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { Project } from '../open/open.ts';
import { openProofStore, type ProofStore, type StoredCount } from './proof-store.ts';

/** What is known about a key that a number relies on. */
export interface KeyProof {
  /** `customers (id)`, or `prices (product_id, valid_from to valid_to)`. */
  readonly key: string;
  readonly state: 'proven' | 'assumed' | 'contradicted';
  /**
   * `constraint`: the database enforces it. `rows`: they were counted. Undefined if it is only
   * assumed.
   */
  readonly by: 'constraint' | 'rows' | undefined;
  /** How many keys have several rows, or how many ranges overlap; only if it is contradicted. */
  readonly found: number | undefined;
}

/**
 * Where a warehouse cannot say without a statement whether its rows have changed, a count holds for
 * this long.
 */
const maxAgeMs = 600_000;

interface ProofRequest {
  readonly connection: string;
  readonly model: SemanticModel;
  readonly keys: readonly KeyAssumption[];
  /** Where to count what is not known. If undefined, that stays assumed. */
  readonly counting: Counting | undefined;
}

interface Counting {
  readonly warehouse: Warehouse;
  readonly signal: AbortSignal;
  /** For all keys together. Those that are not counted by then stay assumed. */
  readonly timeoutMs: number;
}

/**
 * Checks keys against the rows, at most once for each state of a table. A check that fails or takes
 * too long leaves its key assumed. Rejects only if the signal aborts.
 */
export async function proveKeys(
  project: Project,
  request: ProofRequest,
): Promise<readonly KeyProof[]> {
  const { connection, model, keys } = request;
  if (keys.length === 0) return [];
  const tables = (await project.catalog(connection))?.tables ?? [];
  const enforced = new Set(keys.filter((key) => isEnforced(key, model, tables)));
  const counted = keys.filter((key) => !enforced.has(key));
  const found = counted.length === 0 ? new Map() : await countKeys(project, request, counted);
  return keys.map((key) =>
    enforced.has(key) ? proofOf(key, 0, 'constraint') : proofOf(key, found.get(key), 'rows'),
  );
}

/** True if the database refuses a second row with equal values in these columns. */
function isEnforced(
  { dataset: name, columns, range }: KeyAssumption,
  model: SemanticModel,
  tables: readonly CatalogTable[],
): boolean {
  const dataset = model.datasets.get(name);
  if (dataset === undefined || range !== undefined || !model.dialect.enforcesKeys) return false;
  const table = findTable(model.dialect, dataset.relation, tables);
  if (table === undefined) return false;
  const declared = [...(table.primaryKey ? [table.primaryKey] : []), ...table.uniqueKeys];
  const physical = columns.flatMap((column) => physicalName(dataset, column) ?? []);
  return declared.some((key) => key.every((column) => physical.includes(column)));
}

/** What contradicts each key, as far as anybody knows or the time is enough to count it. */
async function countKeys(
  project: Project,
  { connection, model, counting }: ProofRequest,
  keys: readonly KeyAssumption[],
): Promise<ReadonlyMap<KeyAssumption, number | undefined>> {
  const store = openProofStore(project.dir, connection);
  const identity = project.warehouseIdentity(connection) ?? '';
  const deadline = performance.now() + (counting?.timeoutMs ?? 0);
  const found = new Map<KeyAssumption, number | undefined>();
  try {
    for (const key of keys) {
      const timeoutMs = Math.floor(deadline - performance.now());
      const inTime = counting && { ...counting, timeoutMs };
      found.set(key, await countOnce({ store, model, key, counting: inTime, identity }));
    }
    return found;
  } finally {
    store.close();
  }
}

function proofOf(
  { name: key }: KeyAssumption,
  found: number | undefined,
  by: 'constraint' | 'rows',
): KeyProof {
  if (found === undefined) return { key, state: 'assumed', by: undefined, found: undefined };
  return found === 0
    ? { key, state: 'proven', by, found: undefined }
    : { key, state: 'contradicted', by, found };
}

/** The column of a field that is nothing but one; undefined for other expressions. */
function physicalName({ fields }: ModelDataset, field: string): string | undefined {
  const text = fields.get(field)?.expr?.text.trim();
  if (text === undefined) return field;
  const [, quoted] = /^"((?:[^"]|"")+)"$/.exec(text) ?? [];
  return quoted?.replaceAll('""', '"') ?? (/^\w+$/.test(text) ? text : undefined);
}

interface CountRequest {
  readonly store: ProofStore;
  readonly model: SemanticModel;
  readonly key: KeyAssumption;
  readonly counting: Counting | undefined;
  /** Whose rows are counted; empty where everyone sees the same. */
  readonly identity: string;
}

/** What contradicts the key; undefined if nobody knows. */
async function countOnce({
  store,
  model,
  key,
  counting,
  identity,
}: CountRequest): Promise<number | undefined> {
  const sql = keyCheckSql(model, key);
  const id = shortHash(sql + identity, 16);
  const stored = store.load(id);
  if (counting === undefined) return stored?.found;
  const marker = markerOf(model, key, counting.warehouse);
  if (stored !== undefined && isCurrent(stored, marker)) return stored.found;
  if (counting.timeoutMs < 1) return undefined;
  const found = await count(counting, sql);
  store.save(id, { found, marker, at: Date.now() });
  return found;
}

/** A check that failed is tried again after a while, whatever the state of the table. */
function isCurrent({ found, marker, at }: StoredCount, currentMarker: string | undefined): boolean {
  const isRecent = Date.now() - at < maxAgeMs;
  return found === undefined || currentMarker === undefined ? isRecent : marker === currentMarker;
}

function markerOf(
  { datasets }: SemanticModel,
  { dataset }: KeyAssumption,
  warehouse: Warehouse,
): string | undefined {
  const relation = datasets.get(dataset)?.relation;
  return relation?.kind === 'table' ? warehouse.marker(relation.parts.at(-1) ?? '') : undefined;
}

async function count(
  { warehouse, signal, timeoutMs }: Counting,
  sql: string,
): Promise<number | undefined> {
  try {
    const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs }, signal);
    return Number(rows[0]?.[0]);
  } catch (error) {
    signal.throwIfAborted();
    // The query itself reports what is wrong with the warehouse.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
