import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim, Evidence } from '../../context/claims/claim.ts';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { itemPath } from '../../sources/source.ts';
import type { ItemReading, SourceFindings } from './findings.ts';
import {
  hashItem,
  readingVersion,
  lastReadState,
  createTablesHasher,
  type ItemIndexLine,
} from './item-files.ts';
import { readProjectFiles } from '../publish/project-files.ts';

/** Whether an item's model wrote this. */
export function isReadingEvidence({ origin, extractor }: Evidence): boolean {
  return origin === 'model' && extractor.startsWith('reading@');
}

/** What models read in items, as the claims files have it: by the path of the item. Each claim with its evidence of that item alone. */
export async function loadReadingClaims(
  dir: string,
  catalogs: readonly Catalog[],
): Promise<ReadonlyMap<string, Claim[]>> {
  const folders = [wikiClaimsPath, ...catalogs.map(({ connection }) => `claims/${connection}`)];
  const files = await readProjectFiles(dir, folders, { tidy: false });
  const claims = [...files].flatMap(([path, text]) => {
    const lines = text.includes('"extractor":"reading@')
      ? text.split('\n').filter((line) => line.includes('"extractor":"reading@'))
      : [];
    return parseClaims(path, lines.join('\n')).claims;
  });
  const single = claims.flatMap((claim) =>
    claim.evidence
      .filter(isReadingEvidence)
      .map((evidence) => ({ ...claim, evidence: [evidence] })),
  );
  return Map.groupBy(single, ({ evidence: [evidence] }) => evidence?.item ?? '');
}

interface Standing {
  readonly catalogs: readonly Catalog[];
  /** Of `loadReadingClaims`. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** The source's index as the last run left it. */
  readonly recorded: readonly ItemIndexLine[];
}

/** What stands of earlier readings, for the items that have something which only a model can read. */
export function restoreReadings(
  source: Omit<SourceFindings, 'readings'>,
  { catalogs, claims, recorded }: Standing,
): Map<string, ItemReading> {
  const lines = new Map(recorded.map((line) => [line.key, line]));
  const code = new Map(source.extractions.map((extraction) => [extraction.key, extraction]));
  const sliceOf = createTablesHasher(catalogs);
  const unread = source.items.filter(({ key }) => (code.get(key)?.unread ?? []).length > 0);
  return new Map(
    unread.map((item) => {
      const line = lines.get(item.key);
      const read = line && lastReadState(line);
      const own = claims.get(itemPath(source.connection, item.path)) ?? [];
      const isOurs = read?.extractor === `${source.extractor}+${readingVersion}`;
      const isCurrent =
        isOurs && read.hash === hashItem(item) && read.slice === sliceOf(code.get(item.key), own);
      return [
        item.key,
        { claims: own, read, isCurrent, unmapped: (isCurrent ? line?.unmapped : undefined) ?? [] },
      ];
    }),
  );
}
