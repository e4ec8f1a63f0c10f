import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim, Evidence } from '../../context/claims/claim.ts';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { wikiClaimsFolder, wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { itemPath } from '../../sources/source.ts';
import { type FileTree, filesIn, readProjectFiles } from '../publish/project-files.ts';
import type { ItemReading, SourceFindings } from './findings.ts';
import {
  createTablesHasher,
  hashItem,
  lastReadState,
  readingVersion,
  type ItemIndexLine,
} from './item-files.ts';

/** True for the evidence of a model that read an item. */
export function isReadingEvidence({ origin, extractor }: Evidence): boolean {
  return origin === 'model' && extractor.startsWith('reading@');
}

/**
 * The claims that models read in items, from the claims files, by the path of the item. A claim
 * read in several items is there once for each of them, with the evidence of that item only.
 * `known` are files that were read already.
 */
export async function loadReadingClaims(
  dir: string,
  catalogs: readonly Catalog[],
  known?: FileTree,
): Promise<ReadonlyMap<string, Claim[]>> {
  const folders = [
    wikiClaimsPath,
    wikiClaimsFolder,
    ...catalogs.map(({ connection }) => `claims/${connection}`),
  ];
  const files = known
    ? filesIn(known, folders)
    : await readProjectFiles(dir, folders, { tidy: false });
  const marker = '"extractor":"reading@';
  const claims = [...files].flatMap(([path, text]) => {
    if (!text.includes(marker)) return [];
    const lines = text.split('\n').filter((line) => line.includes(marker));
    return parseClaims(path, lines.join('\n')).claims;
  });
  const claimsPerItem = claims.flatMap((claim) =>
    claim.evidence
      .filter(isReadingEvidence)
      .map((evidence) => ({ ...claim, evidence: [evidence] })),
  );
  return Map.groupBy(claimsPerItem, ({ evidence: [evidence] }) => evidence?.item ?? '');
}

interface RecordedReadings {
  readonly catalogs: readonly Catalog[];
  /** From `loadReadingClaims`. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** The source's index as the last run left it. */
  readonly recorded: readonly ItemIndexLine[];
}

/**
 * The readings of earlier runs, by the key of the item, for every item with content that only a
 * model can read.
 */
export function restoreReadings(
  source: Omit<SourceFindings, 'readings'>,
  { catalogs, claims, recorded }: RecordedReadings,
): Map<string, ItemReading> {
  const linesByKey = Map.groupBy(recorded, ({ key }) => key);
  const extractions = new Map(source.extractions.map((extraction) => [extraction.key, extraction]));
  const hashTables = createTablesHasher(catalogs);
  const itemsForModels = source.items.filter(
    ({ key }) => (extractions.get(key)?.unread ?? []).length > 0,
  );
  return new Map(
    itemsForModels.map((item) => {
      // A merge of two branches may leave two lines: the one of this content counts.
      const lines = linesByKey.get(item.key) ?? [];
      const hash = hashItem(item);
      const line = lines.find((own) => lastReadState(own)?.hash === hash) ?? lines.at(-1);
      const read = line && lastReadState(line);
      const itemClaims = claims.get(itemPath(source.connection, item.path)) ?? [];
      const isCurrent =
        read?.extractor === `${source.extractor}+${readingVersion}` &&
        read.hash === hash &&
        read.slice === hashTables(extractions.get(item.key), itemClaims);
      const unmapped = (isCurrent ? line?.unmapped : undefined) ?? [];
      return [item.key, { claims: itemClaims, read, isCurrent, unmapped }];
    }),
  );
}
