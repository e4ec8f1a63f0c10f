import { z } from 'zod';
import { canonicalJson } from '../../lib/json.ts';
import type { ContentHash, MergeBase } from '../merge/merge-base.ts';
import { isMapping } from '../merge/yaml-text.ts';
import { hashValue } from '../merge/yaml-values.ts';
import { anyJsonSchema, subjects, type Claim } from './claim.ts';
import { evidencePlaceSchema, type EvidencePlace } from './item-lines.ts';
import type { TablePlace } from './table-place.ts';

/** The kinds whose body is, as it is, a value in the dataset's file. */
const kindsOfField = ['description', 'values'] as const;
const kindsOfDataset = ['description', 'layer', 'primary_key', 'default_time'] as const;

/**
 * A claim of code about a table or one of its fields, whose body is what ktx left in the dataset's
 * file. Its line is also the merge base of that value.
 */
interface LeftLine {
  /** Null: the claim is about the table. */
  readonly field: string | null;
  readonly kind: (typeof kindsOfField | typeof kindsOfDataset)[number];
  readonly body: Claim['body'];
  /** An extractor, or a place in an item. */
  readonly evidence: string | EvidencePlace;
}

const evidenceSchema = z.union([z.string(), evidencePlaceSchema]);
const leftSchema = z.strictObject({
  left: z.union([
    z.tuple([z.string(), z.enum(kindsOfField), anyJsonSchema, evidenceSchema]),
    z.tuple([z.null(), z.enum(kindsOfDataset), anyJsonSchema, evidenceSchema]),
  ]),
});

/** The line of the claim; undefined if it is no such claim, or not all that ktx left there. */
export function toLeftLine(
  { subject, kind, body }: Omit<Claim, 'evidence'>,
  evidence: LeftLine['evidence'],
  { place, base }: { readonly place: TablePlace; readonly base: MergeBase },
): LeftLine | undefined {
  const ofField = kindsOfField.find((candidate) => candidate === kind);
  const ofDataset = kindsOfDataset.find((candidate) => candidate === kind);
  const prefix = subjects.field(place.connection, place.dataset, '');
  let line: LeftLine | undefined;
  if (ofField !== undefined && subject.startsWith(prefix))
    line = { field: subject.slice(prefix.length), kind: ofField, body, evidence };
  else if (ofDataset !== undefined && subject === tableSubject(place))
    line = { field: null, kind: ofDataset, body, evidence };
  return line && isOnly(base.get(basePath(line)), hashValue(body)) ? line : undefined;
}

export function renderLeftLine({ field, kind, body, evidence }: LeftLine): string {
  return canonicalJson({ left: [field, kind, body, evidence] });
}

/** Undefined if it is no such line. Throws if it is a damaged one. */
export function readLeftLine(value: unknown): LeftLine | undefined {
  if (!isMapping(value) || !('left' in value)) return undefined;
  const [field, kind, body, evidence] = leftSchema.parse(value).left;
  return { field, kind, body, evidence };
}

export function basePath({ field, kind }: Pick<LeftLine, 'field' | 'kind'>): string {
  return field === null ? kind : `fields.${field}.${kind}`;
}

/** The claim of a line, without its evidence. */
export function claimOfLeft(
  { field, kind, body }: LeftLine,
  place: TablePlace,
): Omit<Claim, 'evidence'> {
  const subject =
    field === null ? tableSubject(place) : subjects.field(place.connection, place.dataset, field);
  return { subject, kind, body };
}

function tableSubject({ connection, dataset }: TablePlace): string {
  return subjects.dataset(connection, dataset);
}

/** True if ktx left nothing but a value of this hash. */
export function isOnly(hashes: readonly ContentHash[] | undefined, hash: ContentHash): boolean {
  return hashes?.length === 1 && hashes[0] === hash;
}
