import { z } from 'zod';
import { errorMessage } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { claimKinds, evidenceSchema, anyJsonSchema, type Claim, type Evidence } from './claim.ts';
import { readColumn, splitColumns } from './column-lines.ts';
import {
  collectItemLines,
  evidenceInItem,
  evidencePlaceSchema,
  readItemLine,
  type SharedEvidence,
  type EvidencePlace,
} from './item-lines.ts';
import { basePath, claimOfLeft, readLeftLine, renderLeftLine, toLeftLine } from './left-lines.ts';
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
import { hashValue } from '../merge/yaml-values.ts';

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
  /** The extractor alone, or the place in an item, if other lines say the rest. */
  evidence: z.union([evidenceSchema, evidencePlaceSchema, z.string()]),
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
  const items = new Map<string, SharedEvidence | undefined>();
  const damaged: DamagedLine[] = [];
  for (const [position, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    const parsed = parseLine(line);
    if (parsed.reason !== undefined)
      damaged.push({ path, line: position + 1, text: line, reason: parsed.reason });
    if (parsed.place) places.push(parsed.place);
    if (parsed.item) addItem(items, parsed.item);
    parts.push(parsed);
    for (const [key, hashes] of parsed.base ?? [])
      base.set(key, uniteHashes(base.get(key) ?? [], hashes));
  }
  // A merge of two branches can leave several; the next ingest writes the right one.
  const [place] = places;
  const claims = parts.flatMap((parsed) => parsed.claims?.({ place, items }) ?? []);
  return { base, claims: uniteClaims(claims), damaged };
}

/** Of two items with one id, which two branches can have, neither is known to be meant. */
function addItem(items: Map<string, SharedEvidence | undefined>, item: SharedEvidence): void {
  const same = items.get(item.id);
  const isOther = items.has(item.id) && canonicalJson(same?.common) !== canonicalJson(item.common);
  items.set(item.id, isOther ? undefined : item);
}

/**
 * The file's text; undefined if there is nothing to write. Equal content gives equal bytes,
 * whatever its order.
 */
export function renderClaims(file: ClaimsFile): string | undefined {
  const lines = renderClaimLines(file);
  return lines.length === 0 ? undefined : [...lines, ''].join('\n');
}

/** The lines of the file's text. */
export function renderClaimLines({ base, claims, damaged }: ClaimsFile): readonly string[] {
  const place = findPlace(claims);
  const columns = splitColumns(claims, base, place);
  const written =
    place === undefined
      ? { lines: columns.others.map((claim) => renderLine(claim, claim.evidence[0])), base }
      : writeTable(columns.others, { place, base: columns.base });
  const baseLines = renderBase(written.base);
  const lines = [...columns.lines, ...written.lines].sort();
  const kept = damaged.map(({ text }) => text).filter((line) => !conflictMarker.test(line));
  return [...baseLines, ...new Set([...lines, ...kept])];
}

/** The lines of the claims about a table, and the base without what these say. */
function writeTable(
  claims: readonly Claim[],
  { place, base }: { readonly place: TablePlace; readonly base: MergeBase },
): { readonly lines: readonly string[]; readonly base: MergeBase } {
  const items = collectItemLines();
  const rest = new Map(base);
  const lines = claims.map((claim) => {
    const [evidence] = claim.evidence;
    const short = evidence && (shortEvidence(evidence, place) ?? items.shorten(evidence, claim));
    const left = short === undefined ? undefined : toLeftLine(claim, short, { place, base });
    if (left === undefined) return renderLine(claim, short ?? evidence);
    rest.delete(basePath(left));
    return renderLeftLine(left);
  });
  return { lines: [renderPlace(place), ...items.lines(), ...lines], base: rest };
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
  const all = [...claims];
  const keys = all.map(contentKey);
  // Claims that were united before, as most are, need no sorting.
  const areInOrder = keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key);
  if (areInOrder) return all.map((claim) => withUnitedEvidence(claim, []));
  const groups = Map.groupBy(all, (_, index) => keys[index] ?? '');
  return [...groups]
    .sort(compareKeys)
    .flatMap(([, [first, ...others]]) => (first ? withUnitedEvidence(first, others) : []));
}

const unitedClaims = new WeakSet<Claim>();

/** The claim with the evidence of equal ones. */
function withUnitedEvidence(claim: Claim, others: readonly Claim[]): Claim {
  const isUnited = claim.evidence.length === 1 || unitedClaims.has(claim);
  if (others.length === 0 && isUnited) return claim;
  const evidence = [claim, ...others]
    .flatMap((equal) => equal.evidence)
    .map((item) => [canonicalJson(item), item] as const);
  const sorted = [...new Map(evidence)].sort(compareKeys).map(([, item]) => item);
  const united = { ...claim, evidence: sorted };
  unitedClaims.add(united);
  return united;
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

/** What other lines of a file say. */
interface FileContext {
  /** The table that it is about. */
  readonly place: TablePlace | undefined;
  readonly items: ReadonlyMap<string, SharedEvidence | undefined>;
}

interface ParsedLine {
  readonly place?: TablePlace | undefined;
  readonly item?: SharedEvidence | undefined;
  readonly base?: Iterable<readonly [string, readonly ContentHash[]]>;
  readonly claims?: (context: FileContext) => readonly Claim[];
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
    const item = readItemLine(value);
    if (item !== undefined) return { item };
    const left = readLeftLine(value);
    if (left !== undefined) return parseLeftLine(left);
    const column = readColumn(value);
    if (column !== undefined)
      return { base: column.base, claims: ({ place: table }) => column.claims(table) };
    const { evidence, ...claim } = claimLineSchema.parse(value);
    return { claims: (context) => withEvidence(claim, evidence, context) };
  } catch (error) {
    return { reason: error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error) };
  }
}

function parseLeftLine(left: NonNullable<ReturnType<typeof readLeftLine>>): ParsedLine {
  return {
    base: new Map([[basePath(left), [hashValue(left.body)]]]),
    claims: (context) =>
      context.place === undefined
        ? []
        : withEvidence(claimOfLeft(left, context.place), left.evidence, context),
  };
}

/**
 * No claim if a merge left out the line of the item: what code found there, the next ingest finds
 * again.
 */
function withEvidence(
  claim: Omit<Claim, 'evidence'>,
  written: Evidence | EvidencePlace | string,
  { place, items }: FileContext,
): readonly Claim[] {
  if (typeof written === 'string') {
    const { connection = '' } = parseSubject(claim.subject) ?? {};
    return [{ ...claim, evidence: [claimEvidence(written, place ?? { connection })] }];
  }
  if (!isEvidencePlace(written)) return [{ ...claim, evidence: [written] }];
  const item = items.get(written[0]);
  return item ? [{ ...claim, evidence: [evidenceInItem(written, item, claim)] }] : [];
}

function isEvidencePlace(written: Evidence | EvidencePlace): written is EvidencePlace {
  return Array.isArray(written);
}

function renderLine(
  { subject, kind, body }: Claim,
  evidence: Evidence | EvidencePlace | string | undefined,
): string {
  const about = `"subject":${JSON.stringify(subject)},"kind":"${kind}"`;
  return `{${about},"body":${canonicalJson(body)},"evidence":${canonicalJson(evidence)}}`;
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
