import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { tableKey } from '../../sql/dialect.ts';
import { stepOfTable, thingOf } from '../../sql/names/table-layer.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { matchNames } from '../names/name-match.ts';

/**
 * If several accepted links lead from one table to another, or to copies of one thing in several
 * layers, each gets a role, named after its column.
 */
export function assignRoles(
  links: readonly LinkFinding[],
  tables: readonly TableFacts[],
): LinkFinding[] {
  const pairOfTables = ({ from, to, status }: LinkFinding): string =>
    JSON.stringify([from.table, thingOf(to.table.table), status]);
  const linksByPair = Map.groupBy(links, pairOfTables);
  const isNamesake = (link: LinkFinding, other: LinkFinding): boolean =>
    tableKey(link.to.table) === tableKey(other.to.table) ||
    (stepOf(link) !== stepOf(other) && link.from.columns.join() !== other.from.columns.join());
  const tablesByKey = new Map(tables.map((table) => [tableKey(table.ref), table]));
  const firstColumn = ({ table, columns }: LinkFinding['from']): ColumnFacts | undefined =>
    tablesByKey.get(tableKey(table))?.columns.find(({ name }) => name === columns[0]);
  return links.map((link) => {
    const rivals = linksByPair.get(pairOfTables(link)) ?? [];
    const isOnly = rivals.every((rival) => rival === link || !isNamesake(link, rival));
    if (link.status !== 'accepted' || isOnly) return link;
    const role = roleName(firstColumn(link.from), firstColumn(link.to));
    return { ...link, role: role || link.from.columns.join('_') };
  });
}

function stepOf({ to: { table } }: LinkFinding): string {
  return stepOfTable([table.table, table.schema]);
}

/**
 * The words of the child's name without the parent's name at the end: `billing` of
 * `billing_address_id`.
 */
function roleName(child: ColumnFacts | undefined, parent: ColumnFacts | undefined): string {
  const words = child?.parts.entity ?? [];
  const parentNames = [parent?.table.parts.entity ?? [], parent?.parts.entity ?? []];
  const parentWords = Math.max(
    0,
    ...parentNames.map((entity) => (matchNames(words, entity).tail > 0 ? entity.length : 0)),
  );
  return words.slice(0, words.length - parentWords).join('_') || words.join('_');
}
