import type { ColumnFacts } from '../../facts/table-facts.ts';
import { isMeasure, isPersonRole } from '../../names/parse-name.ts';
import type { JudgedCandidate } from './choose-links.ts';

/** So many columns of one name that refer to one key tell what the others of that name mean. */
const enoughColumns = 3;
/** How likely a join is that columns of the same name tell, if all values fit. */
const agreed = 0.85;
/** Of fewer likely pairs nobody can tell what the name means. */
const leastProbability = 0.05;

/**
 * Columns of one name in several tables (`last_edited_by`, `movie_id`) refer to the same key. A
 * table of few rows fits other keys as well, and takes the one that the other columns refer to.
 * Only ever adds joins, and moves them from one key to another.
 */
export function agreeWithNamesakes(
  groups: readonly (readonly JudgedCandidate[])[],
): JudgedCandidate[][] {
  const byName = Map.groupBy(groups, ([first]) => first && nameOf(first.child));
  const references = new Map([...byName].map(([name, namesakes]) => [name, countKeys(namesakes)]));
  return groups.map((group) => {
    const [first] = group;
    const name = first && nameOf(first.child);
    const found = references.get(name);
    if (first === undefined || name === undefined || found === undefined) return [...group];
    const meant = meantBy(found, first.child);
    return meant === undefined ? [...group] : movedTo(group, meant);
  });
}

/** The columns of one name that are accepted to refer to a key, by their tables. */
interface NamesakeLinks {
  readonly byTable: ReadonlyMap<unknown, number>;
  readonly total: number;
  /** Most of them first. */
  readonly keys: readonly (readonly [
    key: ColumnFacts,
    { readonly byTable: ReadonlyMap<unknown, number>; readonly count: number },
  ])[];
}

function countKeys(groups: readonly (readonly JudgedCandidate[])[]): NamesakeLinks {
  const accepted = groups.flatMap(
    (group) => group.find(({ status }) => status === 'accepted') ?? [],
  );
  const keys = [...Map.groupBy(accepted, ({ parent }) => parent.column)].map(
    ([key, links]) => [key, { byTable: countByTable(links), count: links.length }] as const,
  );
  return {
    byTable: countByTable(accepted),
    total: accepted.length,
    keys: keys.toSorted(([, a], [, b]) => b.count - a.count),
  };
}

function countByTable(links: readonly JudgedCandidate[]): ReadonlyMap<unknown, number> {
  const tables = Map.groupBy(links, ({ child }) => child.table);
  return new Map([...tables].map(([table, { length }]) => [table, length]));
}

/** Undefined for names that mean something else in each table: `id`, `type`, `parent_id`. */
function nameOf({ parts, table, home }: ColumnFacts): string | undefined {
  const isGeneric = parts.entity.join('').length < 3 || isMeasure(parts) || home >= 0.8;
  if (isGeneric || table.rows === 0) return undefined;
  const saysEnough = parts.keyed || parts.words.length > 1 || isPersonRole(parts);
  return saysEnough ? parts.words.join(' ') : undefined;
}

/** The key that the columns of other tables refer to, if nearly all refer to the same one. */
function meantBy(
  { byTable, total, keys }: NamesakeLinks,
  child: ColumnFacts,
): ColumnFacts | undefined {
  const least = Math.max(enoughColumns, (total - (byTable.get(child.table) ?? 0)) * 0.75);
  for (const [key, { byTable: own, count }] of keys) {
    if (count < least) break;
    if (count - (own.get(child.table) ?? 0) >= least) return key;
  }
  return undefined;
}

function movedTo(group: readonly JudgedCandidate[], meant: ColumnFacts): JudgedCandidate[] {
  const accepted = group.find(({ status }) => status === 'accepted');
  const candidate = group.find(({ parent }) => parent.column === meant);
  if (candidate === undefined || candidate === accepted) return [...group];
  const { child, values, probability, typeColumn, isOwnKey } = candidate;
  const fits = values.containment === 1 && values.orphans === 0 && child.present > 0;
  // A key that is clearly named stays.
  const isClear = accepted !== undefined && accepted.names.best > candidate.names.best + 0.2;
  if (!fits || isClear || isOwnKey || typeColumn !== undefined) return [...group];
  if (probability < leastProbability && candidate.names.best === 0) return [...group];
  return group.map((judged) => {
    if (judged === candidate) {
      const likely = Math.max(agreed, probability);
      return { ...judged, probability: likely, status: 'accepted', why: undefined };
    }
    if (judged !== accepted) return judged;
    const why = 'columns of the same name refer to another key';
    return { ...judged, probability: judged.probability * (1 - agreed), status: 'rejected', why };
  });
}
