import { columnId, comparable, type ColumnFacts, type TableFacts } from './facts.ts';
import { nameEvidence, type Candidate, type NameEvidence, type ValueEvidence } from './features.ts';
import { homeMatch, type ParentKey } from './keys.ts';
import { isMeasure } from './names.ts';
import { inclusion } from './sketch.ts';

/** Below this share of contained values a pair is no candidate. */
const leastContainment = 0.5;

/** Every column beside every key that could hold its values. */
export function findCandidates(tables: readonly TableFacts[], parents: readonly ParentKey[]): Candidate[] {
  const sets = new Map(parents.map((parent) => [parent, new Set(parent.column.profile.sketch)]));
  const names = nameMemo();
  const ownKeys = new Map(parents.map((parent) => [columnId(parent.column), parent.primary ? parent.prior : 0]));
  return tables.flatMap((table) =>
    table.columns.flatMap((child) => {
      if (!mayRefer(child)) return [];
      const found = parents.flatMap((parent) => {
        if (parent.column === child || !comparable(child, parent.column)) return [];
        const values = estimate(child, parent, sets.get(parent) ?? new Set());
        return values === undefined ? [] : [{ parent, values, names: names(child, parent) }];
      });
      return withRivals(found, { child, childRows: child.present / table.profile.fraction, ownKey: ownKeys.get(columnId(child)) ?? 0, childHome: child.parts.entity.length === 0 ? 1 : homeMatch(child, table) });
    }),
  );
}

/** Prose and constants of no key-like name refer to nothing. */
function mayRefer({ family, profile, parts, position, present }: ColumnFacts): boolean {
  if (family === undefined || profile.kind === 'text' || profile.kind === 'email') return false;
  if (family === 'date' || profile.kind === 'name') return parts.keyed;
  return present > 0 || parts.keyed || position === 0;
}

function estimate(child: ColumnFacts, parent: ParentKey, set: ReadonlySet<string>): ValueEvidence | undefined {
  const { profile } = parent.column;
  if (child.present === 0 || parent.table.rows === 0) return { containment: 1, coverage: 0, exact: false };
  if (outside(child, parent.column)) return undefined;
  const { share, compared } = inclusion(child.profile.sketch, set, profile.sketch.at(-1));
  const containment = Math.min(1, share / parent.table.profile.fraction);
  if (compared >= 3 && containment < leastContainment) return undefined;
  const coverage = Math.min(1, (child.profile.distinct * containment) / Math.max(1, profile.distinct / parent.table.profile.fraction));
  return { containment: compared === 0 ? 1 : containment, coverage, exact: false };
}

/** Numbers of which none can be in the other's range. */
function outside({ profile: child }: ColumnFacts, { profile: parent }: ColumnFacts): boolean {
  if (child.min === undefined || child.max === undefined || parent.min === undefined || parent.max === undefined) return false;
  return child.min > parent.max || child.max < parent.min;
}

type Found = Pick<Candidate, 'parent' | 'values' | 'names'>;

export function withRivals(found: readonly Found[], own: Pick<Candidate, 'child' | 'childRows' | 'ownKey' | 'childHome'>): Candidate[] {
  const serious = found.filter(({ values, parent }) => values.containment > 0.9 && parent.primary);
  return found.map((entry) => {
    const others = serious.filter(({ parent }) => parent !== entry.parent);
    const rivalName = Math.max(0, ...others.map(({ names }) => names.best));
    return { ...own, ...entry, rivalName, rivals: others.length };
  });
}

/** Names repeat across tables, pairs of them even more. */
function nameMemo(): (child: ColumnFacts, parent: ParentKey) => NameEvidence {
  const memo = new Map<string, NameEvidence>();
  return (child, parent) => {
    const self = child.table === parent.table.schema;
    const key = JSON.stringify([child.parts.words, parent.table.parts.entity, parent.column.parts.words, self]);
    const known = memo.get(key) ?? nameEvidence(child, parent);
    memo.set(key, known);
    return known;
  };
}

/** `commentable_id` beside `commentable_type`: the type column tells which table is meant. */
export function isPolymorphic(child: ColumnFacts, table: TableFacts, tables: readonly TableFacts[]): boolean {
  if (isMeasure(child.parts) || child.parts.entity.length === 0) return false;
  const stem = child.parts.entity.join(' ');
  const discriminator = table.columns.find(({ parts, profile }) => {
    const last = parts.words.at(-1) ?? '';
    const named = /^(type|kind|class|table|model|entity|object|typ|tipo)$/.test(last) && parts.words.slice(0, -1).join(' ') === stem;
    return named && profile.kind !== 'integer' && profile.distinct < 50;
  });
  if (!discriminator) return false;
  const home = tables.some(({ parts }) => parts.entity.join(' ') === stem);
  return !home || discriminator.profile.top.filter(([value]) => namesTable(value, tables)).length >= 2;
}

function namesTable(value: string, tables: readonly TableFacts[]): boolean {
  const word = value.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return tables.some(({ schema, parts }) => schema.table.toLowerCase().replaceAll(/[^a-z0-9]/g, '') === word || parts.entity.join('') === word);
}
