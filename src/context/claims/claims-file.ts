import { z } from 'zod';
import { errorMessage } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { claimKinds, evidenceSchema, anyJsonSchema, type Claim, type Evidence } from './claim.ts';
import { readColumn, renderColumn, splitColumns } from './column-lines.ts';
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
  evidence: evidenceSchema,
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
  const claims: Claim[] = [];
  const damaged: DamagedLine[] = [];
  for (const [position, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    const parsed = parseLine(line);
    if ('claims' in parsed) claims.push(...parsed.claims);
    else if ('base' in parsed)
      for (const [key, hashes] of parsed.base)
        base.set(key, uniteHashes(base.get(key) ?? [], hashes));
    else damaged.push({ path, line: position + 1, text: line, reason: parsed.reason });
  }
  return { base, claims: uniteClaims(claims), damaged };
}

/**
 * The file's text; undefined if there is nothing to write. Equal content gives equal bytes,
 * whatever its order.
 */
export function renderClaims({ base, claims, damaged }: ClaimsFile): string | undefined {
  const baseLines = renderBase(base);
  const { columns, others } = splitColumns(claims);
  const lines = [
    ...columns.map(renderColumn),
    ...others.flatMap(({ evidence, ...claim }) => evidence.map((item) => renderLine(claim, item))),
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

/**
 * Unites claims with equal subject, kind and body into one with all their evidence; sorted by
 * subject, kind and body.
 */
export function uniteClaims(claims: Iterable<Claim>): Claim[] {
  const groups = Map.groupBy(
    claims,
    ({ subject, kind, body }) => `${subject}\n${kind}\n${canonicalJson(body)}`,
  );
  return [...groups].sort(compareKeys).flatMap(([, [first, ...others]]) => {
    if (!first || (others.length === 0 && first.evidence.length === 1)) return first ?? [];
    const evidence = [first, ...others]
      .flatMap((claim) => claim.evidence)
      .map((item) => [canonicalJson(item), item] as const);
    return { ...first, evidence: [...new Map(evidence)].sort(compareKeys).map(([, item]) => item) };
  });
}

type ParsedLine =
  | { claims: readonly Claim[] }
  | { base: [string, readonly ContentHash[]][] }
  | { reason: string };

function parseLine(line: string): ParsedLine {
  if (conflictMarker.test(line)) return { reason: 'it is a merge conflict marker' };
  try {
    const value: unknown = JSON.parse(line);
    if (isMapping(value) && 'base' in value)
      return { base: Object.entries(baseSchema.parse(value).base) };
    const column = readColumn(value);
    if (column !== undefined) return { claims: column };
    const { evidence, ...claim } = claimLineSchema.parse(value);
    return { claims: [{ ...claim, evidence: [evidence] }] };
  } catch (error) {
    return { reason: error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error) };
  }
}

function renderLine({ subject, kind, body }: Omit<Claim, 'evidence'>, evidence: Evidence): string {
  const about = `"subject":${JSON.stringify(subject)},"kind":"${kind}"`;
  return `{${about},"body":${canonicalJson(body)},"evidence":${canonicalJson(evidence)}}`;
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
