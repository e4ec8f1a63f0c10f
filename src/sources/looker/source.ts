import { z } from 'zod';
import type { LookmlPlace } from '../../semantic/formats/lookml/parse.ts';
import { readLookml } from '../../semantic/formats/lookml/read.ts';
import { parseJson } from '../../lib/json.ts';
import { type ClaimCollector, openClaimCollector } from '../claim-collector.ts';
import { claimExposure } from '../claim-exposure.ts';
import { claimAccessFilters } from '../lookml/claim-access-filters.ts';
import { claimExploreFilters } from '../lookml/claim-explore-filters.ts';
import { claimLookml } from '../lookml/claim-lookml.ts';
import { quoteLines } from '../lookml/quote-lines.ts';
import { reportMisfits } from '../lookml/report-misfits.ts';
import { dialectOf, noDialect } from '../lookml/source.ts';
import type { ExtractContext, Extraction, Item, Source } from '../source.ts';
import { tableFinder } from '../table-finder.ts';
import type { LookerConfig } from './config.ts';
import { fetchLooker, lookAtLooker } from './fetch.ts';
import { modelKey } from './items.ts';
import { type KnownExplores, tablesOfQuery, translateQuery } from './translate-query.ts';
import { leftOutOf } from './write-lookml.ts';

const lookerExtractor = 'looker@1';

/** Explores, looks and dashboards of a Looker server. */
export const looker: Source<LookerConfig> = {
  extractor: lookerExtractor,
  fetch: fetchLooker,
  look: lookAtLooker,
  address: (key, { base_url: base }) => {
    const [, kind, id] = /^(look|dashboard)s\/(\w+)\.jsonl$/.exec(key) ?? [];
    return id === undefined ? undefined : new URL(`${kind}s/${id}`, `${base}/`).href;
  },
  isConfiguration: (key) => key === 'usage.jsonl',
  parsesSql: true,
  extract: extractLooker,
};

/** Reads all items as one. Runs inside `withAnalyzer`. */
function extractLooker(
  items: readonly Item[],
  context: ExtractContext<LookerConfig>,
): readonly Extraction[] {
  const { connection } = context;
  const collector = openClaimCollector(items, { connection, extractor: lookerExtractor });
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const models = readModels(sorted, context, collector);
  if (models === undefined) return collector.extractions();
  for (const content of sorted.filter(({ key }) => /^(?:look|dashboard)s\//.test(key)))
    claimContent(content, models, collector);
  return collector.extractions();
}

/** What each model has, by the key of its item. Undefined if the engine is not known. */
function readModels(
  items: readonly Item[],
  { connection, config, catalogs }: ExtractContext<LookerConfig>,
  collector: ClaimCollector,
): ReadonlyMap<string, KnownExplores> | undefined {
  const files = items.filter(({ key }) => key.endsWith('.lkml'));
  const dialect = dialectOf(catalogs, config);
  const [first] = items;
  if (dialect === undefined) {
    if (first !== undefined) collector.addProblem({ key: first.key, line: 1 }, noDialect);
    return undefined;
  }
  // The repository says the same, and with more detail.
  const own =
    config.lookml === undefined
      ? collector
      : openClaimCollector([], { connection, extractor: lookerExtractor });
  // Each model is a project of its own: several may have a view or an explore of the same name.
  return new Map(
    files.map(({ key, body }) => {
      const model = readLookml([{ file: key, text: body }], { dialect });
      reportMisfits(model.misfits, own);
      const lines = body.split('\n');
      for (const [index, line] of lines.entries()) {
        const name = leftOutOf(line);
        if (name !== undefined)
          own.leaveOut({ key, line: index + 1 }, { what: 'field without SQL', name });
      }
      const findTable = tableFinder(catalogs, config.warehouse);
      const quoteAt = (place: LookmlPlace) => quoteLines(lines, place);
      const views = claimLookml(model, { collector: own, dialect, findTable, quoteAt, catalogs });
      const known = { explores: model.project.explores, joins: model.joins, views };
      claimAccessFilters(known, { collector: own, quoteAt });
      claimExploreFilters(known, { collector: own, quoteAt });
      return [key, known] as const;
    }),
  );
}

const nothingKnown: KnownExplores = { explores: [], joins: [], views: new Map() };

const headSchema = z.object({
  item: z.enum(['look', 'dashboard']),
  id: z.string(),
  title: z.string(),
  description: z.string().optional(),
  certified: z.boolean().optional(),
});
const lineSchema = z.object({
  title: z.string().optional(),
  text: z.string().optional(),
  query: z
    .looseObject({
      model: z.string(),
      view: z.string(),
      fields: z.array(z.string()).optional(),
      filters: z.record(z.string(), z.string().nullable()).optional(),
      sorts: z.array(z.string()).optional(),
    })
    .optional(),
});

/** A term for the look or the dashboard, with its queries as ktx asks them. */
function claimContent(
  { key, body }: Item,
  models: ReadonlyMap<string, KnownExplores>,
  collector: ClaimCollector,
): void {
  const [first, ...lines] = body.trimEnd().split('\n').map(parseJson);
  const head = headSchema.safeParse(first).data;
  if (head === undefined)
    return collector.addProblem({ key, line: 1 }, 'not read: it is not as ktx wrote it');
  const { item, id, title, description, certified } = head;
  const read = lines.map((line) => lineSchema.safeParse(line).data ?? {});
  const queries = read.flatMap(({ query }, index) =>
    query === undefined ? [] : [{ query, line: index + 2 }],
  );
  const knownFor = ({ model }: { readonly model: string }) =>
    models.get(modelKey(model)) ?? nothingKnown;
  const asked = queries.flatMap(({ query, line }) => {
    const translated = translateQuery(query, knownFor(query));
    collector.count({ key, line });
    if ('query' in translated) return [`Query: ${JSON.stringify(translated.query)}`];
    collector.leaveOut({ key, line }, `query that ktx cannot ask: ${translated.reason}`);
    return [];
  });
  for (const [index, { text }] of read.entries())
    if (text !== undefined) collector.addUnread({ key, line: index + 2 }, { what: 'prose', text });
  claimExposure(
    {
      name: `${title.trim()} (Looker ${item} ${id})`,
      description: [...(description?.trim() ? [description.trim()] : []), ...asked].join('\n\n'),
      tables: queries.flatMap(({ query }) => tablesOfQuery(query, knownFor(query))),
      tags: certified === true ? ['certified'] : [],
      confidence: certified === true ? 0.9 : 0.6,
    },
    { key, line: 1, quote: description ?? title },
    collector,
  );
}
