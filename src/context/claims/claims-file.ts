import { z } from 'zod';
import { errorMessage } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { claimKinds, evidenceSchema, jsonSchema, type Claim, type Evidence } from './claim.ts';
import { uniteHashes, type ContentHash, type MergeBase } from '../merge/merge-base.ts';
import { isMapping } from '../merge/yaml-text.ts';

export interface ClaimsFile {
  readonly base: MergeBase;
  readonly claims: readonly Claim[];
  /** Lines that could not be read. They are written back as they are, at the end. */
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
    z.union([z.string().transform((state) => [state]), z.array(z.string().nullable())]),
  ),
});
const lineSchema = z.strictObject({
  subject: z.string(),
  kind: z.enum(claimKinds),
  body: jsonSchema,
  evidence: evidenceSchema,
});
const conflictMarker = /^(<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>)( |$)/;

/** The path of a dataset's claims, relative to the project. */
export function claimsPath(connection: string, dataset: string): string {
  return `claims/${connection}/${dataset}.jsonl`;
}

/**
 * Reads any text without failing. What a merge of two branches leaves is read too: two base lines are united, the markers
 * of a conflict are reported and not kept.
 */
export function parseClaims(path: string, text: string): ClaimsFile {
  const base = new Map<string, readonly ContentHash[]>();
  const claims: Claim[] = [];
  const damaged: DamagedLine[] = [];
  for (const [position, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    const read = readLine(line);
    if ('claim' in read) claims.push(read.claim);
    else if ('base' in read)
      for (const [key, states] of read.base)
        base.set(key, uniteHashes(base.get(key) ?? [], states));
    else damaged.push({ path, line: position + 1, text: line, reason: read.reason });
  }
  return { base, claims: uniteClaims(claims), damaged };
}

/** The file's text; undefined where nothing needs a file. Equal content gives equal bytes, whatever the order it came in. */
export function renderClaims({ base, claims, damaged }: ClaimsFile): string | undefined {
  const entries = [...base]
    .sort(byKey)
    .map(([path, states]) => [
      path,
      states.length === 1 && states[0] !== null ? states[0] : states,
    ]);
  const lines = claims
    .flatMap(({ evidence, ...claim }) => evidence.map((one) => lineOf(claim, one)))
    .sort();
  const kept = damaged.map(({ text }) => text).filter((line) => !conflictMarker.test(line));
  if (entries.length + lines.length + kept.length === 0) return undefined;
  return [
    JSON.stringify({ base: Object.fromEntries(entries) }),
    ...new Set([...lines, ...kept]),
    '',
  ].join('\n');
}

/** Claims with the same subject, kind and body become one with all their evidence; sorted by subject, kind and body. */
export function uniteClaims(claims: Iterable<Claim>): Claim[] {
  const groups = Map.groupBy(
    claims,
    ({ subject, kind, body }) => `${subject}\n${kind}\n${canonicalJson(body)}`,
  );
  return [...groups].sort(byKey).flatMap(([, [first, ...others]]) => {
    if (!first || (others.length === 0 && first.evidence.length === 1)) return first ?? [];
    const evidence = [first, ...others]
      .flatMap((claim) => claim.evidence)
      .map((one) => [canonicalJson(one), one] as const);
    return { ...first, evidence: [...new Map(evidence)].sort(byKey).map(([, one]) => one) };
  });
}

type ReadLine =
  | { claim: Claim }
  | { base: [string, readonly ContentHash[]][] }
  | { reason: string };

function readLine(line: string): ReadLine {
  if (conflictMarker.test(line)) return { reason: 'marker of a merge conflict' };
  try {
    const value: unknown = JSON.parse(line);
    if (isMapping(value) && 'base' in value)
      return { base: Object.entries(baseSchema.parse(value).base) };
    const { evidence, ...claim } = lineSchema.parse(value);
    return { claim: { ...claim, evidence: [evidence] } };
  } catch (error) {
    return { reason: error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error) };
  }
}

function lineOf({ subject, kind, body }: Omit<Claim, 'evidence'>, evidence: Evidence): string {
  const about = `"subject":${JSON.stringify(subject)},"kind":"${kind}"`;
  return `{${about},"body":${canonicalJson(body)},"evidence":${canonicalJson(evidence)}}`;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
