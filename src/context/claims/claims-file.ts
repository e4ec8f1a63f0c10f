import { z } from 'zod';
import { errorMessage } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { claimKinds, evidenceSchema, anyJsonSchema, type Claim, type Evidence } from './claim.ts';
import { readColumn, splitColumns } from './column-lines.ts';
import {
  claimEvidence,
  findPlace,
  readPlace,
  renderPlace,
  shortEvidence,
  type TablePlace,
} from './table-place.ts';
import { parseSubject } from './subject.ts';
import { uniteHashes, type ContentHash, type MergeBase } from '../merge/merge-base.ts';
import { isMapping } from '../merge/yaml-text.ts';

export interface ClaimsFile {
  readonly base: MergeBase;
  readonly claims: readonly Claim[];
  /** Lines that could not be parsed. They are written back unchanged, at the end. */
  readonly damaged: readonly DamagedLine[];
}

interface DamagedLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

const baseSchema = z.strictObject({
  base: z.record(
    z.string(),
    z.union([z.string().transform((hash) => [hash]), z.array(z.string().nullable())]),
  ),
});
const claimLineSchema = z.strictObject({
  subject: z.string(),
  kind: z.enum(claimKinds),
  body: anyJsonSchema,
  /** The extractor alone, if the line about the table says the rest. */
  evidence: z.union([evidenceSchema, z.string()]),
});
const conflictMarker = /^(<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>)( |$)/;

/** The path of a dataset's claims, relative to the project. */
export function claimsPath(connection: string, dataset: string): string {
  return `claims/${connection}/${dataset}.jsonl`;
}

/**
 * Parses any text without failing. It accepts what a git merge leaves: two base lines are united;
 * conflict markers are reported and dropped.
 */
export function parseClaims(path: string, text: string): ClaimsFile {
  const base = new Map<string, readonly ContentHash[]>();
  const parts: ParsedLine[] = [];
  const places: TablePlace[] = [];
  const damaged: DamagedLine[] = [];
  for (const [position, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    const parsed = parseLine(line);
    if (parsed.reason !== undefined)
      damaged.push({ path, line: position + 1, text: line, reason: parsed.reason });
    if (parsed.place) places.push(parsed.place);
    parts.push(parsed);
    for (const [key, hashes] of parsed.base ?? [])
      base.set(key, uniteHashes(base.get(key) ?? [], hashes));
  }
  // A merge of two branches can leave several; the next ingest writes the right one.
  const [place] = places;
  const claims = parts.flatMap((parsed) => parsed.claims?.(place) ?? []);
  return { base, claims: uniteClaims(claims), damaged };
}

/**
 * The file's text; undefined if there is nothing to write. Equal content gives equal bytes,
 * whatever its order.
 */
export function renderClaims({ base, claims, damaged }: ClaimsFile): string | undefined {
  const place = findPlace(claims);
  const columns = splitColumns(claims, base, place);
  const baseLines = renderBase(columns.base);
  const lines = [
    ...(place === undefined ? [] : [renderPlace(place)]),
    ...columns.lines,
    ...columns.others.flatMap(({ evidence, ...claim }) =>
      evidence.map((item) => renderLine(claim, item, place)),
    ),
  ].sort();
  const kept = damaged.map(({ text }) => text).filter((line) => !conflictMarker.test(line));
  if (baseLines.length + lines.length + kept.length === 0) return undefined;
  return [...baseLines, ...new Set([...lines, ...kept]), ''].join('\n');
}

/**
 * A line for each entry of the artifact, such as a field, so that two changes meet in one line only
 * where they meet in the artifact.
 */
function renderBase(base: MergeBase): string[] {
  const entries = [...base]
    .sort(compareKeys)
    .map(
      ([path, hashes]) =>
        [path, hashes.length === 1 && hashes[0] !== null ? hashes[0] : hashes] as const,
    );
  const entryOf = (path: string) => path.split('.', 2).join('.');
  const byEntry = Map.groupBy(entries, ([path]) => entryOf(path));
  return [...byEntry.values()].map((values) =>
    JSON.stringify({ base: Object.fromEntries(values) }),
  );
}

/** What several files say together. */
export function uniteFiles(files: readonly ClaimsFile[]): ClaimsFile {
  const base = new Map<string, readonly ContentHash[]>();
  for (const file of files)
    for (const [key, hashes] of file.base) base.set(key, uniteHashes(base.get(key) ?? [], hashes));
  return {
    base,
    claims: uniteClaims(files.flatMap(({ claims }) => claims)),
    damaged: files.flatMap(({ damaged }) => damaged),
  };
}

/**
 * Unites claims with equal subject, kind and body into one with all their evidence; sorted by
 * subject, kind and body.
 */
export function uniteClaims(claims: Iterable<Claim>): Claim[] {
  const groups = Map.groupBy(claims, contentKey);
  return [...groups].sort(compareKeys).flatMap(([, [first, ...others]]) => {
    if (!first || (others.length === 0 && first.evidence.length === 1)) return first ?? [];
    const evidence = [first, ...others]
      .flatMap((claim) => claim.evidence)
      .map((item) => [canonicalJson(item), item] as const);
    return { ...first, evidence: [...new Map(evidence)].sort(compareKeys).map(([, item]) => item) };
  });
}

/** An ingest unites the same claims several times. */
const contentKeys = new WeakMap<Claim, string>();

/** Equal for claims of equal subject, kind and body. */
function contentKey(claim: Claim): string {
  const known = contentKeys.get(claim);
  if (known !== undefined) return known;
  const key = `${claim.subject}\n${claim.kind}\n${canonicalJson(claim.body)}`;
  contentKeys.set(claim, key);
  return key;
}

interface ParsedLine {
  readonly place?: TablePlace | undefined;
  readonly base?: Iterable<readonly [string, readonly ContentHash[]]>;
  /** Given the table that the file is about. */
  readonly claims?: (place?: TablePlace) => readonly Claim[];
  /** Why it cannot be read. */
  readonly reason?: string;
}

function parseLine(line: string): ParsedLine {
  if (conflictMarker.test(line)) return { reason: 'it is a merge conflict marker' };
  try {
    const value: unknown = JSON.parse(line);
    if (isMapping(value) && 'base' in value)
      return { base: Object.entries(baseSchema.parse(value).base) };
    const place = readPlace(value);
    if (place !== undefined) return { place };
    const column = readColumn(value);
    if (column !== undefined) return column;
    const { evidence, ...claim } = claimLineSchema.parse(value);
    if (typeof evidence !== 'string') return { claims: () => [{ ...claim, evidence: [evidence] }] };
    const { connection = '' } = parseSubject(claim.subject) ?? {};
    return {
      claims: (table) => [
        { ...claim, evidence: [claimEvidence(evidence, table ?? { connection })] },
      ],
    };
  } catch (error) {
    return { reason: error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error) };
  }
}

function renderLine(
  { subject, kind, body }: Omit<Claim, 'evidence'>,
  evidence: Evidence,
  place: TablePlace | undefined,
): string {
  const about = `"subject":${JSON.stringify(subject)},"kind":"${kind}"`;
  const own = canonicalJson(shortEvidence(evidence, place) ?? evidence);
  return `{${about},"body":${canonicalJson(body)},"evidence":${own}}`;
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
