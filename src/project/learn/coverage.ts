import type { Catalog } from '../../context/catalog/catalog.ts';
import { readStoredItems } from '../../ingest/fetch/item-files.ts';
import { listCoverage, type CoverageLine } from '../../ingest/fetch/source-report.ts';
import { readProjectFiles } from '../../ingest/publish/project-files.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { extractInThread } from '../../sources/parser.ts';
import { openSource } from '../../sources/registry.ts';
import { listSources } from '../open/config.ts';
import type { Project } from '../open/open.ts';

export interface SourceCoverage {
  readonly connection: string;
  readonly statements: number;
  readonly arrived: number;
  /** The statements that did not arrive, with the reason, in the order of their places. */
  readonly missing: readonly CoverageLine[];
}

/**
 * What became of the statements that code reads in the sources, or in one of them: read again in
 * the items that the project has, so that a clone and a source out of reach tell it too.
 */
export async function readCoverage(
  project: Project,
  requested: string | undefined,
  signal: AbortSignal,
): Promise<readonly SourceCoverage[]> {
  const sources = listSources(project.config);
  const names = sources.map(([name]) => name);
  if (requested !== undefined && !names.includes(requested))
    throw new UserError('source_unknown', `There is no source ${requested} in ktx.yaml.`, {
      hint: didYouMean(requested, names) ?? 'ktx connection list lists them',
      exitCode: 2,
    });
  const loaded = await Promise.all(project.warehouses.map((name) => project.catalog(name)));
  const catalogs = new Map(
    loaded.flatMap((catalog): [string, Catalog][] =>
      catalog === undefined ? [] : [[catalog.connection, catalog]],
    ),
  );
  const wanted = sources.filter(([name]) => requested === undefined || name === requested);
  const found: SourceCoverage[] = [];
  for (const [connection, config] of wanted) {
    const source = await openSource(config);
    const tree = await readProjectFiles(project.dir, [`sources/${connection}`], { tidy: false });
    const items = readStoredItems(tree, connection);
    const context = { connection, catalogs };
    const extractions = await extractInThread(source, items, { context, signal });
    found.push({ connection, ...listCoverage(connection, { items, extractions }) });
  }
  return found;
}
