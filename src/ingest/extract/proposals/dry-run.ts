import { artifactPath } from '../../../context/merge/merge-dataset.ts';
import { UserError } from '../../../lib/error.ts';
import { emit } from '../../../semantic/emit/emit.ts';
import { loadModel } from '../../../semantic/load/load.ts';
import { findDialect } from '../../../sql/dialects.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import { replaceEntry } from '../../render/replace-entry.ts';
import { planProbe } from '../../render/probes.ts';
import { messageForModel } from './message-for-model.ts';
import { refusal } from './resolve-names.ts';

/** A metric or field to try, in its dataset. */
interface TriedEntry {
  readonly connection: string;
  readonly dataset: string;
  readonly list: 'metrics' | 'fields';
  /** As in the YAML of a dataset. */
  readonly entry: { readonly name: string };
}

/**
 * Plans a query over the metric or field as if the dataset had it, and runs the query for no rows.
 * Refuses an entry that does not work. If the warehouse cannot be reached, or the planner does not
 * support the metric yet, the validation of the run reports it.
 */
export async function dryRun(
  snapshot: Snapshot,
  tried: TriedEntry,
  signal: AbortSignal,
): Promise<void> {
  const { connection, dataset, list, entry } = tried;
  const catalog = snapshot.catalogs.find((own) => own.connection === connection);
  if (catalog === undefined) return;
  const { model, diagnostics } = await loadModel({
    dialect: findDialect(catalog.dialect),
    files: filesWith(snapshot, tried),
    tables: catalog.tables,
  });
  // Other hints tell a person what to type, which helps no model. Those about names do help.
  const relevant = diagnostics
    .filter(({ file }) => file === artifactPath(connection, dataset))
    .filter(({ severity, rule }) => severity === 'error' || rule === 'unknown_name')
    .map(({ message, hint }) => [message, hint].filter(Boolean).join('. '));
  const address = `${dataset}.${entry.name}`;
  try {
    const query = list === 'metrics' ? { metrics: [address] } : { dimensions: [address] };
    const plan = await planProbe(model, query);
    const sql = emit({ ...plan, limit: 0 }, model.dialect);
    const warehouse = await snapshot.warehouse(connection).catch(ignoreUnreachable);
    await warehouse?.query(sql, { maxRows: 1, timeoutMs: 30_000 }, signal);
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    if (error.code === 'not_supported' || error.retryable) return;
    const hints = relevant.length > 0 || error.hint === undefined ? relevant : [error.hint];
    const columns = catalog.tables.flatMap(({ table, columns: own }) => [
      table,
      ...own.map(({ name }) => name),
    ]);
    const known = JSON.stringify([entry, dataset, columns]) + Object.values(entry).join(' ');
    const why = messageForModel(error.message, known);
    throw refusal([`It does not run: ${why}`, ...new Set(hints)].join(' '));
  }
}

/** The dataset files of the connection, with the entry in its dataset. */
function filesWith({ files }: Snapshot, { connection, dataset, list, entry }: TriedEntry) {
  const changed = artifactPath(connection, dataset);
  return [...files]
    .filter(([path]) => path.startsWith(`semantic-layer/${connection}/`))
    .map(([path, text]) => ({
      path,
      text: path === changed ? replaceEntry(text, list, entry) : text,
    }));
}

function ignoreUnreachable(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
  return undefined;
}
