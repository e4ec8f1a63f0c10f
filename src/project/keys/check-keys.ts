import { UserError } from '../../lib/error.ts';
import { assumeKey, noKeys, type KeyAssumption } from '../../semantic/keys/key-assumption.ts';
import { keyOfJoin } from '../../semantic/keys/key-of-join.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { Project } from '../open/open.ts';
import { type KeyProof, proveKeys } from './key-proofs.ts';

/** A check may take longer than the keys of a query. */
const timeoutMs = 60_000;

export interface KeyReport {
  /** The keys of all connections that their rows contradict, with the file that declares them. */
  readonly contradicted: readonly (KeyProof & { readonly file: string })[];
  /** Connections whose rows were not counted, and why. What was counted before still holds. */
  readonly uncounted: readonly { readonly connection: string; readonly reason: string }[];
}

/**
 * Counts in each warehouse whether the keys hold that joins rely on. A warehouse on a server is
 * asked only if `isAskingServers`; a database file is read in any case. A warehouse that cannot be
 * opened, or that nobody has approved here, is named in the report.
 */
export async function checkKeys(
  project: Project,
  { isAskingServers }: { readonly isAskingServers: boolean },
  signal: AbortSignal,
): Promise<KeyReport> {
  const contradicted: KeyReport['contradicted'][number][] = [];
  const uncounted: KeyReport['uncounted'][number][] = [];
  for (const connection of project.warehouses) {
    const { model } = await project.model(connection);
    const keys = joinedKeys(model);
    if (keys.length === 0) continue;
    const isFile = 'path' in project.connection(connection).config;
    const opened =
      isFile || isAskingServers
        ? await tryToOpen(project, connection, signal)
        : { reason: 'it is on a server; --data asks it' };
    if ('reason' in opened) uncounted.push({ connection, reason: opened.reason });
    const counting = 'warehouse' in opened ? { ...opened, signal, timeoutMs } : undefined;
    const proofs = await proveKeys(project, { connection, model, keys, counting });
    const fileOf = (key: string) =>
      model.datasets.get(keys.find(({ name }) => name === key)?.dataset ?? '')?.file ?? '';
    const found = proofs.filter(({ state }) => state === 'contradicted');
    contradicted.push(...found.map((proof) => ({ ...proof, file: fileOf(proof.key) })));
  }
  return { contradicted, uncounted };
}

async function tryToOpen(
  project: Project,
  connection: string,
  signal: AbortSignal,
): Promise<{ readonly warehouse: Warehouse } | { readonly reason: string }> {
  try {
    return { warehouse: await project.warehouse(connection, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError) return { reason: error.message };
    throw error;
  }
}

/** The keys of all joins to one row that the model declares. */
function joinedKeys(model: SemanticModel): readonly KeyAssumption[] {
  const keys = noKeys();
  const legs = [...model.datasets.values()]
    .flatMap(({ toOne, toMany }) => [...toOne, ...toMany])
    .flatMap((step) => step.legs.filter(({ isToMany }) => !isToMany));
  for (const leg of legs) {
    const target = model.datasets.get(leg.to);
    // A role that may read no row of the target asks nothing about it.
    if (target === undefined || target.rows.kind === 'denied') continue;
    const key = keyOfJoin(leg, target.partition);
    if (key.columns.length > 0 || key.range !== undefined) assumeKey(keys, key);
  }
  return [...keys.assumed.values()];
}
