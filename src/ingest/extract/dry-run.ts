import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { UserError } from '../../lib/error.ts';
import { emit } from '../../semantic/emit/emit.ts';
import { loadModel } from '../../semantic/load/load.ts';
import { findDialect } from '../../sql/dialects.ts';
import type { Snapshot } from '../project-snapshot.ts';
import { planProbe } from '../render/probes.ts';
import { replaceEntry } from '../render/replace-entry.ts';
import { refusal } from './resolve-names.ts';

interface Probe {
  readonly connection: string;
  readonly dataset: string;
  readonly list: 'metrics' | 'fields';
  /** As in the YAML of a dataset. */
  readonly entry: { readonly name: string };
}

/**
 * Plans a query over the metric or field as if it were there and runs it for no row; what does not work is refused. Where the
 * warehouse cannot be reached, or the planner cannot do such a metric yet, validation is left to say so.
 */
export async function dryRun(
  snapshot: Snapshot,
  { connection, dataset, list, entry }: Probe,
  signal: AbortSignal,
): Promise<void> {
  const catalog = snapshot.catalogs.find((one) => one.connection === connection);
  if (catalog === undefined) return;
  const path = artifactPath(connection, dataset);
  const own = [...snapshot.files].filter(([at]) => at.startsWith(`semantic-layer/${connection}/`));
  const files = own.map(([at, text]) => ({
    path: at,
    text: at === path ? replaceEntry(text, list, entry) : text,
  }));
  const { model, diagnostics } = await loadModel({
    dialect: findDialect(catalog.dialect),
    files,
    tables: catalog.tables,
  });
  const address = `${dataset}.${entry.name}`;
  // What a person is told to type helps no model; what the loader of the model makes of the names does.
  const isAbout = ({ file, severity, rule }: (typeof diagnostics)[number]) =>
    file === path && (severity === 'error' || rule === 'unknown_name');
  const about = diagnostics
    .filter(isAbout)
    .map(({ message, hint }) => [message, hint].filter(Boolean).join('. '));
  try {
    const planned = await planProbe(
      model,
      list === 'metrics' ? { metrics: [address] } : { dimensions: [address] },
    );
    const sql = emit({ ...planned, limit: 0 }, model.dialect);
    const warehouse = await snapshot.warehouse(connection).catch(unlessUnreachable);
    await warehouse?.query(sql, { maxRows: 1, timeoutMs: 30_000 }, signal);
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    if (error.code === 'not_supported' || error.retryable) return;
    const hint = about.length > 0 || error.hint === undefined ? about : [error.hint];
    throw refusal([`It does not run: ${error.message}`, ...new Set(hint)].join(' '));
  }
}

function unlessUnreachable(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
  return undefined;
}
