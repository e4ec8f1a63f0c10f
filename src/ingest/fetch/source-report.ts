import { itemPath } from '../../sources/source.ts';
import type { ItemReport, SourceReport, UnusedFact } from '../report.ts';
import type { SourceFindings } from './findings.ts';
import type { UnmappedFact } from './item-files.ts';
import type { FetchedSource, ReadSource } from './read-sources.ts';

/** The reports of the sources; `findings` are theirs after models have read them. */
export function reportSources(
  sources: readonly ReadSource[],
  findings: readonly SourceFindings[],
): SourceReport[] {
  const latest = new Map(findings.map((source) => [source.connection, source]));
  return sources.map((source) =>
    reportSource(source.fetched, latest.get(source.findings.connection) ?? source.findings),
  );
}

function reportSource(
  { report, input }: FetchedSource,
  { items, extractions, readings }: SourceFindings,
): SourceReport {
  const pending = [...readings].flatMap(([key, { isCurrent }]) => (isCurrent ? [] : [key]));
  const claims = [...extractions, ...readings.values()].reduce(
    (sum, extraction) => sum + extraction.claims.length,
    0,
  );
  return {
    connection: input.name,
    ...report,
    total: items.length,
    claims,
    pending: pending.sort(),
  };
}

/**
 * What code read in the items and ktx has no place for, and what a model read there and could not
 * turn into a claim.
 */
export function listUnusedFacts({
  connection,
  items,
  extractions,
  readings,
}: SourceFindings): UnusedFact[] {
  const paths = new Map(items.map(({ key, path }) => [key, itemPath(connection, path)]));
  const fromCode = extractions.flatMap(({ key, problems = [] }) =>
    problems.map((problem) => ({ item: paths.get(key) ?? key, ...problem })),
  );
  const fromModels = [...readings].flatMap(([key, { unmapped }]) =>
    describeUnmapped(paths.get(key) ?? key, unmapped),
  );
  return [...fromCode, ...fromModels];
}

/** The facts of an item that a model could not turn into claims, as a person sees them. */
export function describeUnmapped(item: string, unmapped: readonly UnmappedFact[]): UnusedFact[] {
  return unmapped.map(({ reason, what }) => ({
    item,
    location: 'as a model reads it',
    reason: `${what} (${reason.replaceAll('_', ' ')})`,
  }));
}

/** True if a part of the source could not be read. */
export function isPartial({ listing, failed }: ItemReport): boolean {
  return !listing.complete || failed.length > 0;
}
