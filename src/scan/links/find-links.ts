import type { LinkFinding } from '../../context/catalog/catalog.ts';
import { tableKey, type TableRef } from '../../sql/dialect.ts';
import { haveSameWords, type TableFacts } from '../facts/table-facts.ts';
import type { KeyFindings } from '../keys/find-keys.ts';
import type { ScanContext } from '../scan-context.ts';
import type { NameMeanings } from '../names/name-meanings.ts';
import { assignRoles } from './assign-roles.ts';
import { agreeWithNamesakes } from './choose/agree-with-namesakes.ts';
import { agreeWithTwins } from './choose/agree-with-twins.ts';
import { chooseLinks, type JudgedCandidate, removeCycles } from './choose/choose-links.ts';
import { endOnOneCopy } from './choose/end-on-one-copy.ts';
import { endOnRoot } from './choose/end-on-root.ts';
import { findCompositeLinks, withoutMembers } from './composite-links.ts';
import { confirmCandidates } from './confirm-candidates.ts';
import { findCandidates } from './find-candidates.ts';
import { inferredLink } from './inferred-link.ts';
import type { ObservedJoins } from './observed-joins.ts';
import { groupByChild } from './rank-candidates.ts';

interface LinksContext extends ScanContext {
  /** What the query logs join. */
  readonly observedJoins: ObservedJoins;
  /** Undefined without embeddings. */
  readonly meanings?: NameMeanings | undefined;
}

/**
 * Returns the declared links, and the links that names and values prove. At most one inferred link
 * of a column is accepted. Sorted by the columns that they connect.
 */
export async function findLinks(
  tables: readonly TableFacts[],
  keys: KeyFindings,
  context: LinksContext,
): Promise<LinkFinding[]> {
  const declared = tables.flatMap(declaredLinks);
  const columnsWithLink = new Set(
    declared.flatMap(({ from }) =>
      from.columns.length === 1 ? [tableKey(from.table) + from.columns[0]] : [],
    ),
  );
  const candidates = findCandidates(tables, keys, context).filter(
    ({ child }) => !columnsWithLink.has(child.id),
  );
  const confirmed = await confirmCandidates(candidates, context);
  const chosen = groupByChild(confirmed).map((group) => chooseLinks(group, context.config));
  const judged = endOnOneCopy(
    endOnRoot(agreeWithTwins(agreeWithNamesakes(chosen))),
    declared,
  ).flat();
  const inferred = removeRepeated(removeCycles(judged), declared).map(linkFinding);
  const known = { keys, declared, inferred };
  const composite = await findCompositeLinks(tables, known, context);
  const single = withoutMembers(inferred, composite);
  const links = assignRoles([...declared, ...single, ...composite], tables);
  return sortByColumns(withCardinality(links, uniqueColumnSets(tables, keys)));
}

/**
 * A table that refers to another one by its key has no second reference by an attribute: the
 * attribute is a copy. So is an attribute that the other table has under the same name.
 */
function removeRepeated(
  candidates: readonly JudgedCandidate[],
  declared: readonly LinkFinding[],
): JudgedCandidate[] {
  const pair = (from: TableRef, to: TableRef): string => `${tableKey(from)}>${tableKey(to)}`;
  const pairOf = ({ child, parent }: JudgedCandidate): string =>
    pair(child.table.ref, parent.column.table.ref);
  const byKey = new Set([
    ...declared.map(({ from, to }) => pair(from.table, to.table)),
    ...candidates
      .filter(({ status, parent }) => status === 'accepted' && parent.primary)
      .map(pairOf),
  ]);
  return candidates.map((candidate) => {
    const { child, parent } = candidate;
    const isShared = !parent.primary && haveSameWords(child.parts, parent.column.parts);
    const reversed = pair(parent.column.table.ref, child.table.ref);
    const isCopy =
      (parent.isAttribute === true && byKey.has(pairOf(candidate))) ||
      (isShared && (byKey.has(pairOf(candidate)) || byKey.has(reversed)));
    if (!isCopy || candidate.status === 'rejected') return candidate;
    const why = 'an attribute that is copied beside its key';
    return { ...candidate, status: 'rejected', probability: copyProbability, why };
  });
}

const copyProbability = 0.05;

function declaredLinks({ schema, ref }: TableFacts): LinkFinding[] {
  const accepted = {
    status: 'accepted',
    origin: 'declared',
    cardinality: 'many_to_one',
    probability: 1,
    evidence: {},
  } as const;
  return schema.foreignKeys.map(({ columns, to }) => ({
    from: { table: ref, columns },
    to,
    ...accepted,
  }));
}

function linkFinding(candidate: JudgedCandidate): LinkFinding {
  const { child, parent, names, values, seen, probability, status, why } = candidate;
  const evidence = {
    measured: values.orphans !== undefined,
    ...values,
    rows: Math.round(child.present / child.table.profile.fraction),
    name_similarity: names.best,
    key_probability: parent.prior,
    queries_joining: seen > 0 ? seen : undefined,
    why,
  };
  return inferredLink({ from: [child], to: [parent.column] }, { status, probability, evidence });
}

const columnsKey = ({ table, columns }: LinkFinding['from']): string =>
  JSON.stringify([tableKey(table), columns]);

const unorderedKey = ({ table, columns }: LinkFinding['from']): string =>
  columnsKey({ table, columns: columns.toSorted() });

/** The columns of all primary and unique keys, whatever their order. */
function uniqueColumnSets(
  tables: readonly TableFacts[],
  { primaryKeys }: KeyFindings,
): ReadonlySet<string> {
  const primary = primaryKeys.filter(({ status }) => status === 'accepted');
  const unique = tables.flatMap(({ ref, schema }) =>
    schema.uniqueKeys.map((columns) => ({ table: ref, columns })),
  );
  return new Set([...primary, ...unique].map(unorderedKey));
}

/** A link from unique columns is one to one. */
function withCardinality(
  links: readonly LinkFinding[],
  uniqueSets: ReadonlySet<string>,
): LinkFinding[] {
  return links.map((link) => {
    const isUnique = uniqueSets.has(unorderedKey(link.from));
    return { ...link, cardinality: isUnique ? 'one_to_one' : 'many_to_one' };
  });
}

function sortByColumns(links: readonly LinkFinding[]): LinkFinding[] {
  const keyed = links.map((link) => ({ link, key: columnsKey(link.from) + columnsKey(link.to) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ link }) => link);
}
