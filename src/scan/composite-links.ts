import type { LinkFinding } from '../context/catalog.ts';
import { sameTable } from '../sql/dialect.ts';
import { comparable, type ColumnFacts, type TableFacts } from './facts.ts';
import { refOf, type KeyFindings } from './keys.ts';
import { cardinality, round, type LinkContext } from './links.ts';
import { inclusionOf, measureAll, type Side } from './measure.ts';
import { matchNames } from './names.ts';

interface Pairing {
  readonly from: Side;
  readonly to: Side;
}

/** Tuples of columns that refer to a composite key: each names a member of the key, and nearly all tuples exist there. */
export async function compositeLinks(tables: readonly TableFacts[], known: { readonly keys: KeyFindings; readonly declared: readonly LinkFinding[] }, context: LinkContext): Promise<LinkFinding[]> {
  const pairings = known.keys.primaryKeys.flatMap(({ table, columns, status }) => {
    const parent = tables.find(({ schema }) => sameTable(schema, table));
    if (!parent || columns.length < 2 || status !== 'accepted' || parent.rows === 0) return [];
    const members = columns.flatMap((name) => parent.columns.filter(({ schema }) => schema.name === name));
    return tables.flatMap((child) => pairing(child, { table: parent, columns: members }));
  });
  const fresh = pairings.filter(({ from, to }) => !known.declared.some((link) => sameTable(link.from.table, from.table.schema) && sameTable(link.to.table, to.table.schema) && link.from.columns.length > 1));
  const measured = await measureAll(fresh.map(({ from, to }) => inclusionOf(from, to, context.warehouse.dialect)), context);
  return fresh.flatMap(({ from, to }, index) => {
    const [rows, matched, distinct, found] = measured[index] ?? [0, 0, 0, 0];
    const containment = distinct === 0 ? 0 : found / distinct;
    const probability = 0.95 * containment * surprise(to, distinct);
    if (probability < context.config.review) return [];
    const ends = { from: { table: refOf(from.table), columns: from.columns.map(({ schema }) => schema.name) }, to: { table: refOf(to.table), columns: to.columns.map(({ schema }) => schema.name) } };
    const evidence = { measured: true, containment: round(containment), coverage: round(found / Math.max(1, to.table.rows)), orphans: rows - matched, rows };
    const status = probability >= Math.max(0.8, context.config.accept) ? 'accepted' : 'review';
    return [{ ...ends, status, origin: 'inferred', cardinality: cardinality(ends.from, from.table.schema.uniqueKeys, known.keys), probability, evidence } satisfies LinkFinding];
  });
}

function pairing(child: TableFacts, to: Side): Pairing[] {
  if (child === to.table || child.rows === 0) return [];
  const used = new Set<ColumnFacts>();
  for (const member of to.columns) {
    const match = child.columns.find((column) => !used.has(column) && comparable(column, member) && names(column, member));
    if (match) used.add(match);
  }
  return used.size === to.columns.length ? [{ from: { table: child, columns: [...used] }, to }] : [];
}

function names(column: ColumnFacts, member: ColumnFacts): boolean {
  const same = column.parts.words.join() === member.parts.words.join();
  return same || (column.parts.keyed && matchNames(column.parts.entity, member.parts.entity).full >= 0.9);
}

/** 0..1: small where the key fills the whole product of its columns, so that any tuple would be found. */
function surprise({ table, columns }: Side, distinct: number): number {
  const combinations = columns.reduce((product, { profile }) => product * Math.max(1, profile.distinct), 1);
  const chance = Math.min(0.999, table.profile.rows / combinations);
  return Math.min(1, (-Math.log2(chance) * distinct) / 20);
}
