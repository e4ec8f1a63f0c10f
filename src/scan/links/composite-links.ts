import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { sameTable } from '../../sql/dialect.ts';
import { type ColumnPairing, containmentQuery, measureAll } from '../facts/measure.ts';
import {
  areComparable,
  type ColumnFacts,
  haveSameWords,
  mayReferTo,
  type TableFacts,
} from '../facts/table-facts.ts';
import type { KeyFindings } from '../keys/find-keys.ts';
import { createNameIndex, matchNames } from '../names/name-match.ts';
import { matchOtherName } from '../names/other-names.ts';
import type { NameParts } from '../names/parse-name.ts';
import type { ScanContext } from '../scan-context.ts';
import { inferredLink } from './inferred-link.ts';

/**
 * If more tables than this have a composite key with the same column names (`tenant_id, id`), the
 * names say nothing.
 */
const maxKeysWithSameNames = 10;
/** Composite links are guessed from names, so a lower probability is never accepted. */
const minAccepted = 0.8;

interface KnownLinks {
  readonly keys: KeyFindings;
  readonly declared: readonly LinkFinding[];
  /** Links of one column. */
  readonly inferred: readonly LinkFinding[];
}

/**
 * Finds sets of columns that refer to a composite key, between tables without a declared composite
 * link.
 */
export async function findCompositeLinks(
  tables: readonly TableFacts[],
  { keys, declared, inferred }: KnownLinks,
  context: ScanContext,
): Promise<LinkFinding[]> {
  const declaredComposites = declared.filter(({ from }) => from.columns.length > 1);
  const isDeclared = ({ from: [child], to: [parent] }: ColumnPairing): boolean =>
    declaredComposites.some(
      ({ from, to }) =>
        sameTable(from.table, child.table.ref) && sameTable(to.table, parent.table.ref),
    );
  // Views repeat the composite keys of tables.
  const stored = tables.filter(({ schema }) => schema.kind !== 'view');
  const pairings = findPairings(stored, keys).filter((pairing) => !isDeclared(pairing));
  const queries = pairings.map((pairing) => containmentQuery(pairing, context.warehouse.dialect));
  const results = await measureAll(queries, context);
  const found = pairings.flatMap((pairing, index): LinkFinding[] => {
    // Rows of the child, those with a parent, and the same for its distinct values.
    const [rows = 0, matched = 0, distinct = 0, distinctMatched = 0] = results[index] ?? [];
    const containment = distinctMatched / Math.max(1, distinct);
    const isDetail = isDetailTable(pairing);
    const isWhole = isWholeOfMember(pairing, inferred);
    const surprise = containmentSurprise(pairing.to, distinct);
    const weight = isDetail || isWhole ? 1 : Math.max(surprise, Number(isOfTable(pairing)) * 0.9);
    const doubt = isDetail || isWhole || !hasTime(pairing) ? 1 : timeDiscount;
    const probability = 0.95 * containment * weight * doubt;
    if (probability < context.config.review) return [];
    const isAccepted = probability >= Math.max(minAccepted, context.config.accept);
    const evidence = { measured: true, containment, orphans: rows - matched, rows };
    const status = isAccepted ? 'accepted' : 'review';
    return [inferredLink(pairing, { status, probability, evidence })];
  });
  return found.filter((link) => !isImplied(link, found));
}

/**
 * True for the district of an order that has the customer of the order, whose key begins with that
 * of the district: the columns refer there by way of the customer.
 */
function isImplied(link: LinkFinding, links: readonly LinkFinding[]): boolean {
  const isWithin = ({ from }: LinkFinding): boolean =>
    sameTable(from.table, link.from.table) &&
    from.columns.length > link.from.columns.length &&
    link.from.columns.every((column) => from.columns.includes(column));
  return links.some(
    (larger) =>
      isWithin(larger) &&
      links.some(
        ({ from, to }) =>
          sameTable(from.table, larger.to.table) && sameTable(to.table, link.to.table),
      ),
  );
}

const isMemberOf = ({ from, to }: ColumnPairing, link: LinkFinding): boolean =>
  from.some(
    (column, index) =>
      link.status === 'accepted' &&
      sameTable(link.from.table, column.table.ref) &&
      link.from.columns.join() === column.name &&
      sameTable(link.to.table, to[0].table.ref) &&
      link.to.columns.join() === to[index]?.name,
  );

/**
 * True for `item(client, order_no)` and `orders(client, order_no)` if there is only one client yet,
 * so that `order_no` alone refers to the same rows.
 */
const isWholeOfMember = (pairing: ColumnPairing, inferred: readonly LinkFinding[]): boolean =>
  pairing.from.every((column, index) => {
    const member = pairing.to[index];
    return member !== undefined && haveSameWords(column.parts, member.parts);
  }) && inferred.some((link) => isMemberOf(pairing, link));

/**
 * True for `c_d_id, c_w_id` and `district(d_id, d_w_id)`: one column names the table, and the
 * others are called like the other columns of its key.
 */
function isOfTable({ from, to }: ColumnPairing): boolean {
  const isNaming = from.map(
    ({ parts }, index) =>
      parts.keyed && to[index]?.parts.entity.length === 0 && namesTable(parts, to[0].table),
  );
  const isAlike = from.map(({ parts }, index) => {
    const member = to[index];
    return member !== undefined && member.parts.keyed && haveSameWords(parts, member.parts);
  });
  return isNaming.some(Boolean) && isAlike.every((alike, index) => alike || isNaming[index]);
}

/** The links of one column, without those that are a part of an accepted composite link. */
export function withoutMembers(
  inferred: readonly LinkFinding[],
  composite: readonly LinkFinding[],
): LinkFinding[] {
  const accepted = composite.filter(({ status }) => status === 'accepted');
  return inferred.filter(
    (link) =>
      !accepted.some(
        ({ from, to }) =>
          sameTable(link.from.table, from.table) &&
          sameTable(link.to.table, to.table) &&
          from.columns.some(
            (column, index) =>
              column === link.from.columns.join() && to.columns[index] === link.to.columns.join(),
          ),
      ),
  );
}

/**
 * Two histories of one thing have steps on the same days: `dept_emp(emp_no, from_date)` refers to
 * no row of `salaries(emp_no, from_date)`.
 */
const timeDiscount = 0.4;

const hasTime = ({ to }: ColumnPairing): boolean =>
  to.some(({ schema: { type } }) => type.startsWith('date'));

/**
 * Pairs composite keys with columns of other tables that are named after the members of the key.
 */
function findPairings(
  tables: readonly TableFacts[],
  { primaryKeys }: KeyFindings,
): ColumnPairing[] {
  const columns = tables.flatMap((table) => (table.rows === 0 ? [] : table.columns));
  const byName = Map.groupBy(columns, ({ parts }) => parts.entity.join(' ')).values();
  const searchColumns = createNameIndex(
    byName.map((named) => [named[0]?.parts.entity ?? [], named] as const),
  );
  return distinctiveKeys(tables, primaryKeys).flatMap((members) => {
    const named = members.find(({ parts }) => parts.entity.length > 0);
    const found = searchColumns(named?.parts.entity ?? []).flatMap(({ item }) => item);
    const children = new Set(found.map(({ table }) => table));
    return [...children]
      .filter((child) => isOtherTable(child, members[0]?.table))
      .flatMap((child) => pairColumns(child, members) ?? []);
  });
}

const isOtherTable = (child: TableFacts, parent: TableFacts | undefined): boolean =>
  parent !== undefined && child !== parent && mayReferTo(child, parent);

/** The accepted composite keys whose column names are not those of many other keys. */
function distinctiveKeys(
  tables: readonly TableFacts[],
  primaryKeys: KeyFindings['primaryKeys'],
): ColumnFacts[][] {
  const tableByRef = new Map(tables.map((table) => [table.ref, table]));
  const compositeKeys = primaryKeys.flatMap(({ table: ref, columns, status }) => {
    const table = tableByRef.get(ref);
    if (!table || columns.length < 2 || status !== 'accepted' || table.rows === 0) return [];
    return [columns.flatMap((name) => table.columns.filter((column) => column.name === name))];
  });
  const keysWithSameNames = Map.groupBy(compositeKeys, (members) =>
    members.map(({ parts }) => parts.words.join()).join(' '),
  ).values();
  return [...keysWithSameNames].flatMap((keys) => (keys.length > maxKeysWithSameNames ? [] : keys));
}

/** Undefined if the child lacks a column for a member of the key. */
function pairColumns(
  child: TableFacts,
  members: readonly ColumnFacts[],
): ColumnPairing | undefined {
  const matches = new Set<ColumnFacts>();
  for (const member of members) {
    const match = child.columns.find(
      (column) =>
        !matches.has(column) && areComparable(column, member) && isNamedAfter(column, member),
    );
    if (match) matches.add(match);
  }
  const [first, ...rest] = matches;
  const [to, ...others] = members;
  return first && to && matches.size === members.length
    ? { from: [first, ...rest], to: [to, ...others] }
    : undefined;
}

function isNamedAfter({ parts }: ColumnFacts, member: ColumnFacts): boolean {
  return (
    haveSameWords(parts, member.parts) ||
    (parts.keyed && matchNames(parts.entity, member.parts.entity).full >= 0.9) ||
    (parts.keyed && member.parts.entity.length === 0 && namesTable(parts, member.table)) ||
    isPrefixedAlike(parts, member)
  );
}

/**
 * True for `c_w_id` and `d_w_id`, or `d_id`: the letters of the own table stand before the same
 * name.
 */
function isPrefixedAlike({ words, keyed }: NameParts, { parts }: ColumnFacts): boolean {
  const own = (words[0]?.length ?? 9) <= 2 && words.length > 2 ? words.slice(1) : words;
  const isPrefixed = (parts.words[0]?.length ?? 9) <= 2 && parts.words.length > 2;
  const other = isPrefixed ? parts.words.slice(1) : parts.words;
  return keyed && (own !== words || isPrefixed) && own.join(' ') === other.join(' ');
}

/** `c_id` of an order is the `id` of a customer whose columns begin with `c_`. */
const namesTable = ({ entity }: NameParts, { parts, otherNames }: TableFacts): boolean =>
  matchNames(entity, parts.entity).full >= 0.9 ||
  otherNames.some((name) => matchOtherName(entity, name).full >= 0.9);

/**
 * True for `settlement_line` and `settlement(member_no, period)`: the child's name begins with the
 * parent's name, and it has columns with the same names as the parent's key.
 */
function isDetailTable({ from, to }: ColumnPairing): boolean {
  const [child, parent] = [from[0].table.parts.entity, to[0].table.parts.entity];
  const beginsWithParent =
    child.length > parent.length && parent.every((word, index) => word === child[index]);
  const isNamedKey =
    to.every(({ parts }) => parts.entity.length > 0) && to.some(({ parts }) => parts.keyed);
  const namesOf = (columns: readonly ColumnFacts[]): string =>
    columns.map(({ parts }) => parts.words.join()).join(' ');
  return beginsWithParent && isNamedKey && namesOf(from) === namesOf(to);
}

/**
 * 0..1: low if the key has nearly every combination of its columns' values, so that any tuple would
 * be found.
 */
function containmentSurprise(to: ColumnPairing['to'], distinct: number): number {
  const combinations = to.reduce(
    (product, { profile }) => product * Math.max(1, profile.distinct),
    1,
  );
  const chance = Math.min(0.999, to[0].table.profile.rows / combinations);
  return Math.min(1, (-Math.log2(chance) * distinct) / 20);
}
