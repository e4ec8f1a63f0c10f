import { openClaimCollector } from '../claim-collector.ts';
import type { ExtractContext, Extraction, Item, Source } from '../source.ts';
import { bindTables } from './bind-tables.ts';
import { claimCards } from './claim-cards.ts';
import { claimTables } from './claim-tables.ts';
import type { MetabaseConfig } from './config.ts';
import { fetchMetabase } from './fetch.ts';
import { lookAtMetabase } from './look/look.ts';
import { settingsKey } from './items.ts';
import { readMetabaseItems } from './read-items.ts';

const metabaseExtractor = 'metabase@1';

/** Questions, models, metrics and field descriptions of a Metabase server. */
export const metabase: Source<MetabaseConfig> = {
  extractor: metabaseExtractor,
  fetch: fetchMetabase,
  look: lookAtMetabase,
  address: (key, { base_url: base }) => {
    const [, kind, id] = /^(cards|dashboards)\/(\d+)\.jsonl$/.exec(key) ?? [];
    const page = kind === 'cards' ? 'question' : 'dashboard';
    return id === undefined ? undefined : new URL(`${page}/${id}`, `${base}/`).href;
  },
  isConfiguration: (key) => key.startsWith('databases/') || key === settingsKey,
  parsesSql: true,
  extract: extractMetabase,
};

/** Reads all items as one. Runs inside `withAnalyzer`. */
function extractMetabase(
  items: readonly Item[],
  context: ExtractContext<MetabaseConfig>,
): readonly Extraction[] {
  const { connection, config, catalogs } = context;
  const collector = openClaimCollector(items, { connection, extractor: metabaseExtractor });
  const stored = readMetabaseItems(items);
  for (const key of stored.unreadable)
    collector.addProblem({ key, line: 1 }, 'not read: the file has changed since ktx wrote it');
  const bound = bindTables(stored, context);
  const [example = '<warehouse>', ...others] = [...catalogs.keys()].sort();
  const warehouses = [example, ...others].join(' or ');
  for (const { id, key, name, engine } of stored.databases) {
    const warehouse = config.databases?.[id];
    const at = `database ${id}, ${name} (${engine})`;
    if (warehouse === undefined)
      collector.addProblem(
        { key, line: 1 },
        `${at}: its questions lead to no tables: if it is ${warehouses}, set databases: {"${id}": ${example}} in ktx.yaml`,
      );
    else if (catalogs.get(warehouse) === undefined)
      collector.addProblem({ key, line: 1 }, `${at}: ${warehouse} is not a scanned warehouse`);
  }
  for (const { id, key, database_id: database } of stored.tables) {
    if (bound.databases.has(database) && !bound.tables.has(id))
      collector.leaveOut({ key, line: 1 }, 'table that the warehouse does not have');
  }
  claimTables(bound, collector);
  claimCards({ stored, bound, collector, catalogs });
  return collector.extractions();
}
