import type { Catalog } from '../../context/catalog/catalog.ts';
import type { LookmlPlace } from '../../semantic/formats/lookml/parse.ts';
import { readLookml } from '../../semantic/formats/lookml/read.ts';
import { findDialect } from '../../sql/dialects.ts';
import { openClaimCollector } from '../claim-collector.ts';
import type { ExtractContext, Extraction, Item, Source } from '../source.ts';
import { tableFinder } from '../table-finder.ts';
import { checkIncludes } from './check-includes.ts';
import { claimAccessFilters } from './claim-access-filters.ts';
import { claimDashboards } from './claim-dashboards.ts';
import { claimExploreFilters } from './claim-explore-filters.ts';
import { claimLookml } from './claim-lookml.ts';
import type { LookmlConfig } from './config.ts';
import { fetchLookml, isDashboard } from './fetch.ts';
import { quoteLines } from './quote-lines.ts';
import { reportMisfits } from './report-misfits.ts';

const lookmlExtractor = 'lookml@1';

/** A folder of LookML: views, explores and the manifest of a Looker project. */
export const lookml: Source<LookmlConfig> = {
  extractor: lookmlExtractor,
  fetch: fetchLookml,
  isConfiguration: (key) => /(?:^|\/)manifest\.lkml$/.test(key),
  parsesSql: true,
  extract: extractLookml,
};

/** Reads all files as one project. Runs inside `withAnalyzer`. */
function extractLookml(
  items: readonly Item[],
  { connection, config, catalogs }: ExtractContext<LookmlConfig>,
): readonly Extraction[] {
  const collector = openClaimCollector(items, { connection, extractor: lookmlExtractor });
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const dialect = dialectOf(catalogs, config);
  const [first] = sorted;
  if (first === undefined) return [];
  if (dialect === undefined) {
    collector.addProblem({ key: first.key, line: 1 }, noDialect);
    return collector.extractions();
  }
  const files = sorted.filter(({ key }) => !isDashboard(key));
  const model = readLookml(
    files.map(({ key, body }) => ({ file: key, text: body })),
    { dialect, constants: config.constants },
  );
  reportMisfits(model.misfits, collector);
  checkIncludes(sorted, collector);
  const quotes = new Map(files.map(({ key, body }) => [key, body.split('\n')]));
  const quoteAt = (place: LookmlPlace) => quoteLines(quotes.get(place.file) ?? [], place);
  const views = claimLookml(model, {
    collector,
    dialect,
    findTable: tableFinder(catalogs, config.warehouse),
    catalogs,
    quoteAt,
  });
  const known = { explores: model.project.explores, joins: model.joins, views };
  claimAccessFilters(known, { collector, quoteAt });
  claimExploreFilters(known, { collector, quoteAt });
  const dashboards = sorted.filter(({ key }) => isDashboard(key));
  claimDashboards(dashboards, known, collector);
  return collector.extractions();
}

export const noDialect =
  'the tables could be in several warehouses of different engines: set warehouse in ktx.yaml';

/** The SQL of a project is of one engine. Undefined if the warehouses have several. */
export function dialectOf(
  catalogs: ReadonlyMap<string, Catalog>,
  { warehouse }: Pick<LookmlConfig, 'warehouse'>,
) {
  const candidates = [...catalogs.values()].filter(
    ({ connection }) => warehouse === undefined || connection === warehouse,
  );
  const [name, ...others] = new Set(candidates.map(({ dialect }) => dialect));
  return name === undefined || others.length > 0 ? undefined : findDialect(name);
}
