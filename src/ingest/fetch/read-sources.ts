import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { UserError } from '../../lib/error.ts';
import type { OpenSource } from '../../sources/registry.ts';
import { type Item, itemPath } from '../../sources/source.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { resolveSecret } from '../../store/secrets.ts';
import { type IngestEvent } from '../event.ts';
import { toFailure, type ItemReport, type SourceReport, type UnusedFact } from '../report.ts';
import { fetchItems } from './fetch.ts';
import type { SourceFindings } from './findings.ts';
import {
  readItemIndex,
  readStoredItems,
  type ItemIndexLine,
  type UnmappedFact,
} from './item-files.ts';
import { readProjectFiles } from '../publish/project-files.ts';
import { restoreReadings } from './readings.ts';

/** A source of the project. */
export interface SourceInput {
  readonly name: string;
  readonly open: () => Promise<OpenSource>;
  /** False where this run only needs what it already knows of it. */
  readonly isAsked: boolean;
}

interface Reading {
  readonly dir: string;
  readonly dryRun: boolean;
  readonly allowEmpty: boolean | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

/** The items of one source as they shall stand. */
export interface FetchedSource {
  readonly input: SourceInput;
  readonly source: OpenSource;
  readonly items: readonly Item[];
  /** The index as the last run left it. */
  readonly recorded: readonly ItemIndexLine[];
  readonly report: Pick<SourceReport, 'items' | 'failure'>;
}

/** Fetches what was asked for; of a source that fails, and of the others, the items stay as they are. */
export async function fetchSources(
  inputs: readonly SourceInput[],
  reading: Reading,
): Promise<FetchedSource[]> {
  const fetched: FetchedSource[] = [];
  for (const input of inputs) {
    reading.signal.throwIfAborted();
    const source = await input.open();
    const view = await readProjectFiles(reading.dir, [`sources/${input.name}`], {
      tidy: !reading.dryRun,
    });
    fetched.push({
      input,
      source,
      recorded: readItemIndex(view, input.name),
      ...(await fetchOne({ input, source, before: readStoredItems(view, input.name) }, reading)),
    });
  }
  return fetched;
}

type Standing = Pick<FetchedSource, 'input' | 'source'> & { readonly before: readonly Item[] };

async function fetchOne(
  { input, source, before }: Standing,
  { dir, signal, dryRun, allowEmpty, emit }: Reading,
) {
  if (!input.isAsked) return { items: before, report: {} };
  const { name: connection } = input;
  emit({ type: 'connection_started', connection });
  try {
    const { cache } = dryRun ? projectPaths(dir) : ensureStateDirectory(dir);
    const secrets = (reference: string) => resolveSecret(reference, dir);
    const fetching = {
      connection,
      source,
      before,
      projectDir: dir,
      cacheDir: cache,
      secrets,
      signal,
      allowEmpty,
    };
    const { items, report } = await fetchItems(fetching);
    const [added, changed, gone] = [report.added.length, report.changed.length, report.gone.length];
    emit({ type: 'items_fetched', connection, added, changed, gone });
    return { items, report: { items: report } };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return { items: before, report: { failure: toFailure(error) } };
  }
}

interface Surroundings {
  readonly catalogs: readonly Catalog[];
  /** What models read in earlier runs, by the path of the item. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

/** What code reads in the items, and what a model read in them before. */
export function extractSource(
  { input, source, items, recorded }: FetchedSource,
  { catalogs, claims }: Surroundings,
): SourceFindings {
  const known = new Map(catalogs.map((catalog) => [catalog.connection, catalog]));
  const extractions = source.extract(items, { connection: input.name, catalogs: known });
  const found = { connection: input.name, extractor: source.extractor, items, extractions };
  return { ...found, readings: restoreReadings(found, { catalogs, claims, recorded }) };
}

export function reportSource(
  { report, input }: FetchedSource,
  { items, extractions, readings }: SourceFindings,
): SourceReport {
  const pending = [...readings].flatMap(([key, { isCurrent }]) => (isCurrent ? [] : [key]));
  const claims = [...extractions, ...readings.values()].reduce(
    (sum, one) => sum + one.claims.length,
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

/** What code could read in the items and has no place for, and what a model could read there and not claim. */
export function listUnusedFacts({
  connection,
  items,
  extractions,
  readings,
}: SourceFindings): UnusedFact[] {
  const paths = new Map(items.map(({ key, path }) => [key, itemPath(connection, path)]));
  const unfit = extractions.flatMap(({ key, problems = [] }) =>
    problems.map((problem) => ({ item: paths.get(key) ?? key, ...problem })),
  );
  return [
    ...unfit,
    ...[...readings].flatMap(([key, { unmapped }]) =>
      describeUnmapped(paths.get(key) ?? key, unmapped),
    ),
  ];
}

/** As a person is told. */
export function describeUnmapped(item: string, unmapped: readonly UnmappedFact[]): UnusedFact[] {
  return unmapped.map(({ reason, what }) => ({
    item,
    location: 'as a model reads it',
    reason: `${what} (${reason.replaceAll('_', ' ')})`,
  }));
}

/** Whether something of it could not be read. */
export function isPartial({ listing, failed }: ItemReport): boolean {
  return !listing.complete || failed.length > 0;
}
