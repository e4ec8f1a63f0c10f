import type { LinkFinding } from '../../../context/catalog/catalog.ts';
import { tableKey, type TableRef } from '../../../sql/dialect.ts';
import { stepOfTable, thingOf } from '../../../sql/names/table-layer.ts';
import type { TableFacts } from '../../facts/table-facts.ts';
import type { JudgedCandidate } from './choose-links.ts';
import { isSameLayer } from './prefer-layer.ts';
import { lacksValues } from './reasons-to-doubt.ts';

/** Of a copy that was filtered or is older, at least this share of the values is in it. */
const mostValues = 0.9;

/**
 * The columns of one table that refer to the same things refer to the same table, not one to
 * `raw_customers` and another to `dim_customers`: a question by customer could mean either, and
 * would be answered by the only one that has the name. They move to the copy that has most of the
 * values; of equal ones to that of their own layer, and then to what people ask. A declared
 * reference stays, and the others move to where it ends. Where one copy does not have the values of
 * all, they stay as they are: then a query has to name the role.
 */
export function endOnOneCopy(
  groups: readonly (readonly JudgedCandidate[])[],
  declared: readonly LinkFinding[],
): JudgedCandidate[][] {
  const things = Map.groupBy(groups.filter(isReference), (group) => {
    const link = acceptedOf(group);
    return link && thingKey(link.child.table.ref, link.parent.column.table.ref);
  });
  const moves = new Map<readonly JudgedCandidate[], JudgedCandidate>();
  for (const [thing, columns] of things) {
    const fixed = declared.filter(({ from, to }) => thingKey(from.table, to.table) === thing);
    for (const [group, candidate] of chooseEnd(columns, fixed)) moves.set(group, candidate);
  }
  return groups.map((group) => {
    const chosen = moves.get(group);
    return chosen === undefined ? [...group] : moveTo(group, chosen);
  });
}

const acceptedOf = (group: readonly JudgedCandidate[]): JudgedCandidate | undefined =>
  group.find(({ status }) => status === 'accepted');

/** True for a column that refers to another thing, not to copies of its own row. */
function isReference(group: readonly JudgedCandidate[]): boolean {
  const link = acceptedOf(group);
  if (link === undefined || link.isOwnKey || link.typeColumn !== undefined) return false;
  const [own, other] = [link.child, link.parent.column].map(({ table }) =>
    thingOf(table.ref.table),
  );
  return link.parent.primary && own !== other;
}

function thingKey(from: TableRef, to: TableRef): string {
  return `${tableKey(from)} ${thingOf(to.table)}`;
}

/** For each column that has to move, the candidate that it moves to. */
function chooseEnd(
  columns: readonly (readonly JudgedCandidate[])[],
  fixed: readonly LinkFinding[],
): ReadonlyMap<readonly JudgedCandidate[], JudgedCandidate> {
  const links = columns.flatMap((group) => acceptedOf(group) ?? []);
  const found = new Map(
    links.map(({ parent }) => [tableKey(parent.column.table.ref), parent.column.table.ref]),
  );
  const ends = new Map(fixed.map(({ to }) => [tableKey(to.table), to.table]));
  const steps = new Set(
    [...found, ...ends].map(([, { schema, table }]) => stepOfTable([table, schema])),
  );
  if (new Set([...found.keys(), ...ends.keys()]).size < 2 || steps.size < 2) return new Map();
  const choices = [...(ends.size > 0 ? ends : found).keys()].flatMap((end) => {
    const moved = columns.map((group) => group.find((candidate) => isFitting(candidate, end)));
    const fitting = moved.filter((candidate) => candidate !== undefined);
    return fitting.length < columns.length ? [] : [fitting];
  });
  const [best = []] = choices.toSorted(compareEnds);
  return new Map(
    columns.flatMap((group, index) => {
      const candidate = best[index];
      return candidate === undefined || candidate.status === 'accepted' ? [] : [[group, candidate]];
    }),
  );
}

function isFitting(candidate: JudgedCandidate, end: string): boolean {
  const { parent, values, typeColumn } = candidate;
  const isMeasured = values.orphans !== undefined && values.containment >= mostValues;
  const isEnd = tableKey(parent.column.table.ref) === end && parent.primary;
  return isEnd && isMeasured && typeColumn === undefined && !lacksValues(candidate);
}

function compareEnds(one: readonly JudgedCandidate[], another: readonly JudgedCandidate[]): number {
  const least = (links: readonly JudgedCandidate[]): number =>
    Math.min(...links.map(({ values }) => values.containment));
  const own = (links: readonly JudgedCandidate[]): number => links.filter(isSameLayer).length;
  const order =
    least(another) - least(one) || own(another) - own(one) || stepRank(one) - stepRank(another);
  return order || (endId(one) < endId(another) ? -1 : 1);
}

const endOf = ([link]: readonly JudgedCandidate[]): TableFacts | undefined =>
  link?.parent.column.table;

const endId = (links: readonly JudgedCandidate[]): string => links[0]?.parent.column.id ?? '';

/** What people ask comes before the steps on the way. */
function stepRank(links: readonly JudgedCandidate[]): number {
  const { table = '', schema = '' } = endOf(links)?.ref ?? {};
  return ['mart', ''].indexOf(stepOfTable([table, schema])) + 1 || 3;
}

function moveTo(group: readonly JudgedCandidate[], chosen: JudgedCandidate): JudgedCandidate[] {
  const accepted = acceptedOf(group);
  return group.map((judged) => {
    if (judged === chosen) {
      const probability = Math.max(judged.probability, accepted?.probability ?? 0);
      return { ...judged, probability, status: 'accepted', why: undefined };
    }
    if (judged !== accepted) return judged;
    const why = 'the other columns of the table refer to a copy in another layer';
    return { ...judged, probability: copyProbability, status: 'rejected', why };
  });
}

const copyProbability = 0.05;
