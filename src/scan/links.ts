import type { LinkFinding, Status } from '../context/catalog.ts';
import { sameTable, tableKey } from '../sql/dialect.ts';
import { findCandidates } from './candidates.ts';
import { compositeLinks, inferredLink } from './composite-links.ts';
import type { ScanConfig } from './config.ts';
import { byChild, confirm, ranked } from './confirm.ts';
import type { ColumnFacts, TableFacts } from './facts.ts';
import type { Candidate } from './features.ts';
import type { KeyFindings } from './keys.ts';
import type { MeasureContext } from './measure.ts';
import { matchNames } from './name-match.ts';

interface Judged {
  readonly candidate: Candidate;
  readonly probability: number;
  readonly status: Status;
  /** Why it is not accepted. */
  readonly why?: string | undefined;
}

/** Declared links, and those that values and names prove; at most one accepted inferred link leads from a column. */
export async function findLinks(
  tables: readonly TableFacts[],
  keys: KeyFindings,
  context: MeasureContext & { readonly ignoreDeclared: boolean },
): Promise<LinkFinding[]> {
  const declared = context.ignoreDeclared ? [] : tables.flatMap(declaredLinks);
  const known = new Set(declared.flatMap(({ from }) => (from.columns.length === 1 ? [tableKey(from.table) + from.columns[0]] : [])));
  const candidates = findCandidates(tables, keys.parents).filter(({ child }) => !known.has(child.id));
  const judged = byChild(await confirm(candidates, context)).flatMap((group) => choose(group, context.config));
  const composite = await compositeLinks(tables, { keys, declared }, context);
  const links = [...declared, ...withoutCycles(judged).map(finding), ...composite];
  return withRoles(links, tables)
    .map((link) => ({ ...link, cardinality: cardinality(link, tables, keys) }))
    .sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

const place = ({ from, to }: LinkFinding): string => JSON.stringify([tableKey(from.table), from.columns, tableKey(to.table), to.columns]);

function declaredLinks({ schema, ref }: TableFacts): LinkFinding[] {
  const accepted = { status: 'accepted', origin: 'declared', cardinality: 'many_to_one', probability: 1, evidence: {} } as const;
  return schema.foreignKeys.map(({ columns, to }) => ({ from: { table: ref, columns }, to, ...accepted }));
}

function choose(group: readonly Candidate[], config: ScanConfig): Judged[] {
  return ranked(group).map(({ candidate, probability }, index) => {
    const judge = (status: Status, why?: string): Judged => ({ candidate, probability, status, why });
    const { typeColumn } = candidate;
    if (typeColumn !== undefined) {
      return judge(probability < config.review ? 'rejected' : 'review', `polymorphic: ${typeColumn} tells which table is meant`);
    }
    if (index > 0) return judge('rejected', 'another parent fits better');
    if (probability < config.review) return judge('rejected');
    const doubt = doubtOf(candidate);
    return judge(probability >= config.accept && doubt === undefined ? 'accepted' : 'review', doubt);
  });
}

/** Why a likely link still is a person's to accept. */
function doubtOf({ child, parent: { column, prior, primary }, names, values, isOwnKey, isOpen }: Candidate): string | undefined {
  if (child.table.schema.kind === 'view' || column.table.schema.kind === 'view') return 'a view';
  if (isOpen) return 'many keys fit equally well';
  if (child.present > 0 && column.table.rows > 0) return values.orphans === undefined ? 'not confirmed' : undefined;
  const isNamed = names.best >= 0.9 && child.parts.words.at(-1) === column.parts.words.at(-1);
  const isKey = primary && prior > 0.55 && !column.away && child.schema.type === column.schema.type;
  return isNamed && isKey && !isOwnKey ? undefined : 'no rows to judge by';
}

/** Of two columns that refer to each other, the likelier direction stays. */
function withoutCycles(judged: readonly Judged[]): Judged[] {
  const id = (child: ColumnFacts, parent: ColumnFacts): string => `${child.id}>${parent.id}`;
  const likely = judged.filter(({ status }) => status !== 'rejected');
  const live = new Map(likely.map((entry) => [id(entry.candidate.child, entry.candidate.parent.column), entry]));
  return judged.map((entry) => {
    const { child, parent } = entry.candidate;
    const reverse = live.get(id(parent.column, child));
    if (entry.status === 'rejected' || !reverse) return entry;
    const ahead = entry.probability - reverse.probability || (child.id < parent.column.id ? 1 : -1);
    return ahead < 0 ? { ...entry, status: 'rejected', why: 'the other direction fits better' } : entry;
  });
}

function finding({ candidate, probability, status, why }: Judged): LinkFinding {
  const { child, parent, names, values } = candidate;
  const evidence = {
    measured: values.orphans !== undefined,
    containment: values.containment,
    coverage: values.coverage,
    ...(values.orphans === undefined ? {} : { orphans: values.orphans }),
    rows: Math.round(child.present / child.table.profile.fraction),
    name_similarity: names.best,
    key_probability: parent.prior,
    ...(why === undefined ? {} : { why }),
  };
  return inferredLink({ from: [child], to: [parent.column] }, { status, probability, evidence });
}

/** One to one where the child's columns are a key of their own table. */
function cardinality({ from }: LinkFinding, tables: readonly TableFacts[], { primaryKeys }: KeyFindings): LinkFinding['cardinality'] {
  const unique = tables.find(({ ref }) => sameTable(ref, from.table))?.schema.uniqueKeys ?? [];
  const primary = primaryKeys.filter(({ table, status }) => status === 'accepted' && sameTable(table, from.table));
  const sorted = (columns: readonly string[]): string => JSON.stringify([...columns].sort());
  const isKey = [...unique, ...primary.map(({ columns }) => columns)].some((key) => sorted(key) === sorted(from.columns));
  return isKey ? 'one_to_one' : 'many_to_one';
}

/** Where several accepted links lead from one table to another, each gets the words of its columns that the target does not explain. */
function withRoles(links: readonly LinkFinding[], tables: readonly TableFacts[]): LinkFinding[] {
  const pair = ({ from, to, status }: LinkFinding): string => JSON.stringify([from.table, to.table, status]);
  const groups = Map.groupBy(links, pair);
  const columnOf = ({ table, columns }: LinkFinding['from']): ColumnFacts | undefined =>
    tables.find(({ ref }) => sameTable(ref, table))?.columns.find(({ name }) => name === columns[0]);
  return links.map((link) => {
    if (link.status !== 'accepted' || (groups.get(pair(link))?.length ?? 0) < 2) return link;
    const [words, parent] = [columnOf(link.from)?.parts.entity ?? [], columnOf(link.to)];
    const targets = [parent?.table.parts.entity ?? [], parent?.parts.entity ?? []];
    const explained = Math.max(0, ...targets.map((entity) => (matchNames(words, entity).tail > 0 ? entity.length : 0)));
    return { ...link, role: words.slice(0, words.length - explained).join('_') || words.join('_') || link.from.columns.join('_') };
  });
}
