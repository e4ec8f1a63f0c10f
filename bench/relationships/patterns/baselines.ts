import { DatabaseSync } from 'node:sqlite';
import { noLabels } from '../../../src/context/catalog/column-labels.ts';
import { scanConfigSchema } from '../../../src/scan/config.ts';
import {
  areComparable,
  buildTableFacts,
  type ColumnFacts,
  haveSameWords,
} from '../../../src/scan/facts/table-facts.ts';
import { matchNames, nameSimilarity } from '../../../src/scan/names/name-match.ts';
import { profileTable } from '../../../src/scan/profile/profile-table.ts';
import {
  estimateContainment,
  largestHash,
  sketchHashes,
} from '../../../src/scan/profile/sketch.ts';
import { openScanStore } from '../../../src/scan/scan-store.ts';
import type { DatabaseTruth } from '../generated-database.ts';
import { withWarehouse } from '../score.ts';

/** What a simple matcher finds: the best key of each column, and how good it is. */
export interface BaselinePair {
  readonly score: number;
  readonly isTrue: boolean;
}

export interface BaselinePairs {
  /** By the words of names only, as the scan divides them. */
  readonly names: readonly BaselinePair[];
  /** By values only: the key that holds all values of a column, and is used most by it. */
  readonly containment: readonly BaselinePair[];
}

/**
 * Two simple matchers, which know the true primary keys. Each pairs a column with its best key; a
 * column that is the key of its own table refers to nothing unless another table's name fits.
 */
export async function baselinePairs(path: string, truth: DatabaseTruth): Promise<BaselinePairs> {
  const columns = await profiledColumns(path);
  const keyOf = (column: ColumnFacts): readonly string[] =>
    truth.primary_keys[column.table.ref.table] ?? [];
  const isKey = (column: ColumnFacts): boolean =>
    keyOf(column).length === 1 && keyOf(column)[0] === column.name;
  const keys = columns.filter(isKey);
  const arrows = (list: DatabaseTruth['links'] = []): ReadonlySet<string> =>
    new Set(
      list.map((link) =>
        arrow([link.from, link.from_columns.join()], [link.to, link.to_columns.join()]),
      ),
    );
  const [links, open] = [arrows(truth.links), arrows(truth.open)];
  const best = (score: (child: ColumnFacts, parent: ColumnFacts) => number): BaselinePair[] =>
    columns.flatMap((child): BaselinePair[] => {
      const scored = keys
        .filter((parent) => parent !== child && areComparable(child, parent))
        .map((parent) => ({ parent, score: score(child, parent) }))
        .filter((pair) => pair.score > 0)
        .toSorted((a, b) => b.score - a.score);
      const [first] = scored;
      if (first === undefined) return [];
      const ends = [child, first.parent].map(({ table, name }) => [table.ref.table, name] as const);
      const [from, to] = ends;
      if (from === undefined || to === undefined || open.has(arrow(from, to))) return [];
      return [{ score: first.score, isTrue: links.has(arrow(from, to)) }];
    });
  return {
    names: best((child, parent) =>
      isKey(child) && child.home >= 0.8 ? 0 : namesFit(child, parent),
    ),
    containment: best((child, parent) => (isKey(child) ? 0 : coverageOf(child, parent))),
  };
}

/** The words of the column are those of the table, or of its key. */
function namesFit(child: ColumnFacts, parent: ColumnFacts): number {
  const { entity } = child.parts;
  const isSame = entity.length > 0 && haveSameWords(child.parts, parent.parts);
  const matches = [parent.table.parts.entity, parent.parts.entity].map((words) =>
    nameSimilarity(matchNames(entity, words)),
  );
  return Math.max(Number(isSame), ...matches);
}

const arrow = (from: readonly [string, string], to: readonly [string, string]): string =>
  JSON.stringify([from, to]);

/** The share of the keys that the column refers to; 0 unless they hold all of its values. */
function coverageOf(child: ColumnFacts, parent: ColumnFacts): number {
  const hashes = sketchHashes(child.profile.sketch);
  const keys = new Set(sketchHashes(parent.profile.sketch));
  const { share, compared } = estimateContainment(hashes, keys, largestHash(parent.profile.sketch));
  if (compared === 0 || share < 1) return 0;
  return Math.min(1, child.profile.distinct / Math.max(1, parent.profile.distinct));
}

async function profiledColumns(path: string): Promise<readonly ColumnFacts[]> {
  const db = new DatabaseSync(':memory:');
  const signal = new AbortController().signal;
  try {
    return await withWarehouse(path, async (warehouse) => {
      const context = {
        warehouse,
        config: scanConfigSchema.parse({}),
        signal,
        onQuery: () => undefined,
        labels: noLabels,
        store: openScanStore(db, 'baseline'),
      };
      const { tables } = await warehouse.introspect({}, signal);
      const profiled = [];
      for (const schema of tables)
        profiled.push({ schema, profile: await profileTable(schema, context), version: '' });
      return buildTableFacts(profiled).flatMap((table) => table.columns);
    });
  } finally {
    db.close();
  }
}

/** The best F1 that any threshold reaches. */
export function bestF1(pairs: readonly BaselinePair[], links: number): number {
  const sorted = pairs.toSorted((a, b) => b.score - a.score);
  let [best, hits] = [0, 0];
  for (const [index, { isTrue, score }] of sorted.entries()) {
    hits += Number(isTrue);
    if (sorted[index + 1]?.score === score) continue;
    best = Math.max(best, (2 * hits) / (index + 1 + links));
  }
  return best;
}
