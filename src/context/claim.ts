import { z } from 'zod';
import { sha256 } from '../lib/hash.ts';
import { canonicalJson, type Json } from '../lib/json.ts';

/**
 * What can be claimed, and about what. Bodies by kind:
 * - `dataset` about `dataset:c.d`: `{source: {catalog?, schema, table}, kind}`: it exists
 * - `field` about `field:c.d.f`: `{column, position}`: it exists; `column` is the physical name
 * - `type` about a field: a field type · `values` about a field: declared values, in declared order
 * - `primary_key`, `unique_key` about a dataset: ordered field names
 * - `default_time` about a dataset: a field name
 * - `description` about anything: text · `synonyms`, `tags`: lists of text
 * - `metric` about `metric:c.d.m`: the metric as in the dataset YAML, without its name
 * - `relationship` about `relationship:c.d(columns)`: `{to, on: {own field: target field}, role?, cardinality}`
 * - `edit` about anything: what a person changed or removed in an artifact; body null means removed
 */
export const claimKinds = [
  'dataset', 'field', 'type', 'values', 'primary_key', 'unique_key', 'default_time', 'description', 'synonyms', 'tags', 'metric', 'relationship', 'edit',
] as const; // prettier-ignore
export type ClaimKind = (typeof claimKinds)[number];

export const evidenceSchema = z.strictObject({
  connection: z.string(),
  origin: z.enum(['person', 'catalog', 'code', 'model']),
  /** name@version of what made the claim, e.g. `relationships@1`. */
  extractor: z.string(),
  /** Path of the item in the project, e.g. `sources/warehouse/main.jsonl`. */
  item: z.string().optional(),
  /** Where in the item: a line, a key, a heading. */
  location: z.string().optional(),
  quote: z.string().optional(),
  /** Measurement, rounded so that a day's new rows change nothing. */
  measured: z.json().optional(),
  /** 0..1 in tenths. */
  confidence: z.number().min(0).max(1),
});
export type Evidence = Readonly<z.infer<typeof evidenceSchema>>;

export interface Claim {
  readonly subject: string;
  readonly kind: ClaimKind;
  readonly body: Json;
  readonly evidence: readonly Evidence[];
}

/** SHA-256 of the canonical JSON of (subject, kind, body). */
export function claimId(claim: Pick<Claim, 'subject' | 'kind' | 'body'>): string {
  return sha256(canonicalJson([claim.subject, claim.kind, claim.body]));
}

export const subjects = {
  dataset: (connection: string, dataset: string) => `dataset:${connection}.${dataset}`,
  field: (connection: string, dataset: string, field: string) => `field:${connection}.${dataset}.${field}`,
  metric: (connection: string, dataset: string, metric: string) => `metric:${connection}.${dataset}.${metric}`,
  relationship: (connection: string, dataset: string, columns: readonly string[]) =>
    `relationship:${connection}.${dataset}(${columns.join(',')})`,
};
