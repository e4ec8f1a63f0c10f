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

/** A statement that did not arrive. */
export interface CoverageLine {
  /** Its kind, like `unit test`; or what is wrong with it. */
  readonly reason: string;
  /** Its name, or what it is about. */
  readonly name?: string | undefined;
  /** `sources/dbt/models/orders.yml line 12` */
  readonly place: string;
}

/** What became of the statements of a source, one by one: one line can say several things. */
export function listCoverage(
  connection: string,
  { items, extractions }: Pick<SourceFindings, 'items' | 'extractions'>,
): { statements: number; arrived: number; missing: readonly CoverageLine[] } {
  const paths = new Map(items.map(({ key, path }) => [key, itemPath(connection, path)]));
  const missing = extractions.flatMap(({ key, leftOut = [], problems = [] }) =>
    [...leftOut.map(({ what, ...statement }) => ({ ...statement, reason: what })), ...problems].map(
      ({ location, ...statement }) => ({
        ...statement,
        place: `${paths.get(key) ?? key} ${location}`,
      }),
    ),
  );
  const arrived = extractions.reduce((sum, { statements = 0 }) => sum + statements, 0);
  const sorted = missing.toSorted((a, b) => comparePlaces(a.place, b.place));
  return { statements: arrived + missing.length, arrived, missing: sorted };
}

/** By file, then by line. */
function comparePlaces(a: string, b: string): number {
  const padded = (place: string) => place.replace(/\d+$/, (line) => line.padStart(9, '0'));
  if (padded(a) === padded(b)) return 0;
  return padded(a) < padded(b) ? -1 : 1;
}

/** Counts statements by their lines: one line can say several things, and counts once. */
function reportCoverage(
  connection: string,
  { items, extractions }: Pick<SourceFindings, 'items' | 'extractions'>,
): CoverageReport {
  const { statements, arrived, missing } = listCoverage(connection, { items, extractions });
  const kinds = new Set(extractions.flatMap(({ leftOut = [] }) => leftOut.map(({ what }) => what)));
  const leftOut = missing.filter(({ reason }) => kinds.has(reason));
  const byKind = [...Map.groupBy(leftOut, ({ reason }) => reason)].map(([what, found]) => ({
    what,
    places: found.map(({ place, name }) =>
      [place, ...(name === undefined ? [] : [name])].join(': '),
    ),
  }));
  return {
    statements,
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
