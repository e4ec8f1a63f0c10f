import { itemPath } from '../../sources/source.ts';
import type { CoverageReport, ItemReport, SourceReport, UnusedFact } from '../report.ts';
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
    coverage: reportCoverage(input.name, { items, extractions }),
  };
}

/** Counts statements by their lines: one line can say several things, and counts once. */
function reportCoverage(
  connection: string,
  { items, extractions }: Pick<SourceFindings, 'items' | 'extractions'>,
): CoverageReport {
  const paths = new Map(items.map(({ key, path }) => [key, itemPath(connection, path)]));
  const leftOut = extractions.flatMap(({ key, leftOut: statements = [] }) =>
    statements.map(({ what, location }) => ({
      what,
      place: `${paths.get(key) ?? key} ${location}`,
    })),
  );
  const count = (of: (extraction: SourceFindings['extractions'][number]) => number) =>
    extractions.reduce((sum, extraction) => sum + of(extraction), 0);
  const arrived = count(({ statements = 0 }) => statements);
  const faults = count(({ problems = [] }) => problems.length);
  const byKind = [...Map.groupBy(leftOut, ({ what }) => what)].map(([what, found]) => ({
    what,
    places: found.map(({ place }) => place),
  }));
  return {
    statements: arrived + faults + leftOut.length,
    arrived,
    leftOut: byKind.toSorted(
      (a, b) => b.places.length - a.places.length || (a.what < b.what ? -1 : 1),
    ),
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
