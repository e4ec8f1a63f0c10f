import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { sameTable } from '../../sql/dialect.ts';
import { comparable, sameWords, type ColumnFacts, type TableFacts } from '../facts/table-facts.ts';
import type { KeyFindings } from '../keys/find-keys.ts';
import { containmentQuery, measureAll, type ColumnPairing } from '../facts/measure.ts';
import type { ScanContext } from '../profile/profile-table.ts';
import { matchNames, createNameIndex } from '../names/name-match.ts';

/** Composite keys of more tables than this whose columns are named alike (`tenant_id, id`) tell nothing. */
const namesakes = 10;
/** Composite links are guesses from names that values happen to allow: only the sure ones are accepted. */
const leastAccepted = 0.8;

/** Tuples of columns that refer to a composite key and are not in `declared`. */
export async function compositeLinks(
  tables: readonly TableFacts[],
  { keys, declared }: { readonly keys: KeyFindings; readonly declared: readonly LinkFinding[] },
  context: ScanContext,
): Promise<LinkFinding[]> {
  const known = declared.filter(({ from }) => from.columns.length > 1);
  const pairs = pairings(tables, keys).filter(({ from: [child], to: [parent] }) =>
    known.every(
      ({ from, to }) =>
        !sameTable(from.table, child.table.ref) || !sameTable(to.table, parent.table.ref),
    ),
  );
  const statements = pairs.map((pair) => containmentQuery(pair, context.warehouse.dialect));
  const measured = await measureAll(statements, context);
  return pairs.flatMap((pair, index): LinkFinding[] => {
    const [rows = 0, matched = 0, distinct = 0, found = 0] = measured[index] ?? [];
    const containment = found / Math.max(1, distinct);
    const probability = 0.95 * containment * (isDetail(pair) ? 1 : surprise(pair.to, distinct));
    if (probability < context.config.review) return [];
    const status =
      probability >= Math.max(leastAccepted, context.config.accept) ? 'accepted' : 'review';
    return [
      inferredLink(pair, {
        status,
        probability,
        evidence: { measured: true, containment, orphans: rows - matched, rows },
      }),
    ];
  });
}

/** Columns that each name a member of another table's composite key. */
function pairings(tables: readonly TableFacts[], { primaryKeys }: KeyFindings): ColumnPairing[] {
  const byRef = new Map(tables.map((table) => [table.ref, table]));
  const keys = primaryKeys.flatMap(({ table, columns, status }) => {
    const parent = byRef.get(table);
    if (!parent || columns.length < 2 || status !== 'accepted' || parent.rows === 0) return [];
    return [columns.flatMap((name) => parent.columns.filter((column) => column.name === name))];
  });
  const alike = Map.groupBy(keys, (members) =>
    members.map(({ parts }) => parts.words.join()).join(' '),
  ).values();
  const telling = [...alike].flatMap((group) => (group.length > namesakes ? [] : group));
  const columns = tables.flatMap((table) => (table.rows === 0 ? [] : table.columns));
  const named = createNameIndex(columns.map((column) => [column.parts.entity, column.table]));
  return telling.flatMap((members) => {
    const { parts, table } = members.find((member) => member.parts.entity.length > 0) ?? {};
    const children = new Set(named(parts?.entity ?? []).map(({ thing }) => thing));
    return [...children]
      .filter((child) => child !== table)
      .flatMap((child) => pairing(child, members));
  });
}

function pairing(child: TableFacts, members: readonly ColumnFacts[]): ColumnPairing[] {
  const used = new Set<ColumnFacts>();
  for (const member of members) {
    const match = child.columns.find(
      (column) => !used.has(column) && comparable(column, member) && isNamed(column, member),
    );
    if (match) used.add(match);
  }
  const [first, ...rest] = used;
  const [to, ...others] = members;
  return first && to && used.size === members.length
    ? [{ from: [first, ...rest], to: [to, ...others] }]
    : [];
}

function isNamed({ parts }: ColumnFacts, member: ColumnFacts): boolean {
  return (
    sameWords(parts, member.parts) ||
    (parts.keyed && matchNames(parts.entity, member.parts.entity).full >= 0.9)
  );
}

/** `settlement_line` beside `settlement(member_no, period)`: named after the parent, with the words of its key. */
function isDetail({ from, to }: ColumnPairing): boolean {
  const [child, parent] = [from[0].table.parts.entity, to[0].table.parts.entity];
  const isAfter =
    child.length > parent.length && parent.every((word, index) => word === child[index]);
  const words = ({ parts }: ColumnFacts): string => parts.words.join();
  const isTelling =
    to.every(({ parts }) => parts.entity.length > 0) && to.some(({ parts }) => parts.keyed);
  return isAfter && isTelling && from.map(words).join(' ') === to.map(words).join(' ');
}

/** 0..1; little where the key fills the whole product of its columns, so that any tuple would be found. */
function surprise(to: ColumnPairing['to'], distinct: number): number {
  const combinations = to.reduce(
    (product, { profile }) => product * Math.max(1, profile.distinct),
    1,
  );
  const chance = Math.min(0.999, to[0].table.profile.rows / combinations);
  return Math.min(1, (-Math.log2(chance) * distinct) / 20);
}

type Found = Pick<LinkFinding, 'status' | 'probability'> & {
  readonly evidence: Readonly<Record<string, string | number | boolean | undefined>>;
};

export function inferredLink(
  { from, to }: ColumnPairing,
  { evidence, ...found }: Found,
): LinkFinding {
  const end = (columns: ColumnPairing['to']) => ({
    table: columns[0].table.ref,
    columns: columns.map(({ name }) => name),
  });
  const round = (value: number): number => Math.round(value * 10_000) / 10_000;
  const rounded = Object.entries(evidence).flatMap(([name, value]) => {
    return value === undefined
      ? []
      : [[name, typeof value === 'number' ? round(value) : value] as const];
  });
  return {
    from: end(from),
    to: end(to),
    origin: 'inferred',
    cardinality: 'many_to_one',
    ...found,
    evidence: Object.fromEntries(rounded),
  };
}
