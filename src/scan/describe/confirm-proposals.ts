import type { LinkFinding } from '../../context/catalog/catalog.ts';
import {
  type ColumnPairing,
  containmentQuery,
  measureAll,
  uniquenessQuery,
} from '../facts/measure.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { inferredLink } from '../links/inferred-link.ts';
import type { ScanContext } from '../scan-context.ts';
import { type LinkProposal, qualifiedName } from './ask-link-judge.ts';

/** The measured containment that a proposal needs. */
const minProposalContainment = 0.98;

/**
 * The proposals whose columns exist, whose target is a key, and whose values the target has. The
 * others are dropped.
 */
export async function confirmProposals(
  proposals: readonly LinkProposal[],
  facts: () => readonly TableFacts[],
  context: ScanContext,
): Promise<LinkFinding[]> {
  if (proposals.length === 0) return [];
  const { dialect } = context.warehouse;
  const tables = new Map(facts().map((table) => [qualifiedName(table.ref), table]));
  const pairings = proposals.flatMap((proposal) => proposedPairing(proposal, tables) ?? []);
  const duplicates = await measureAll(
    pairings.map(({ to }) => uniquenessQuery(to, dialect)),
    context,
  );
  // A join to columns that are no key would count rows more than once.
  const toKeys = pairings.filter((_, index) => (duplicates[index]?.[0] ?? 2) <= 1);
  const results = await measureAll(
    toKeys.map((pairing) => containmentQuery(pairing, dialect)),
    context,
  );
  return toKeys.flatMap((pairing, index): LinkFinding[] => {
    const [rows = 0, matched = 0, distinct = 0, found = 0] = results[index] ?? [];
    const containment = distinct === 0 ? 0 : found / distinct;
    if (containment < minProposalContainment) return [];
    const why = 'a model proposed it, and the values confirm it';
    const evidence = { measured: true, containment, orphans: rows - matched, rows, why };
    const link = inferredLink(pairing, { status: 'accepted', probability: 0.7, evidence });
    return [{ ...link, origin: 'judged' }];
  });
}

function proposedPairing(
  proposal: LinkProposal,
  tables: ReadonlyMap<string, TableFacts>,
): ColumnPairing | undefined {
  const from = namedColumns(tables.get(proposal.from_table), proposal.from_columns);
  const to = namedColumns(tables.get(proposal.to_table), proposal.to_columns);
  const [firstFrom, ...restFrom] = from;
  const [firstTo, ...restTo] = to;
  const isToItself = from.every((column, index) => column === to[index]);
  return firstFrom && firstTo && restFrom.length === restTo.length && !isToItself
    ? { from: [firstFrom, ...restFrom], to: [firstTo, ...restTo] }
    : undefined;
}

/** Empty unless the table has all of the columns. */
function namedColumns(table: TableFacts | undefined, names: readonly string[]): ColumnFacts[] {
  const columns = names.flatMap(
    (name) => table?.columns.filter((column) => column.name === name) ?? [],
  );
  return columns.length === names.length ? columns : [];
}
