import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import { datasetLayers, datasetSchema } from '../../semantic/model/dataset.ts';
import { fieldTypes } from '../../sql/field-type.ts';
import { savedQueryBodySchema } from '../../semantic/query/saved-query.ts';
import { slug } from '../catalog/slug.ts';

/** Any JSON, returned unchanged. */
export const anyJsonSchema = z.custom<Json>((value) => value !== undefined);
const text = z.string();
const texts = z.array(text);

/** An address that a page can link to: no spaces, no brackets, no password. */
const webAddress = /^https?:\/\/[^\s<>"'`\\(){}[\]@|^]+$/;

/** The kinds of claims, each with the schema of its body. */
export const bodySchemas = {
  /** About `dataset:c.d`: it exists, as a table or as a query that a source has. */
  dataset: z.union([
    z.object({
      source: z.object({ catalog: text.optional(), schema: text, table: text }),
      kind: text,
    }),
    z.object({ sql: text.min(1) }),
  ]),
  /**
   * About `field:c.d.f`: it exists. `column` is the physical name; a field that is not a column has
   * an expression over the row.
   */
  field: z.union([z.object({ column: text, position: z.number() }), z.object({ expr: text })]),
  type: z.enum(fieldTypes),
  /** About a field: its declared values, in declared order. */
  values: z.array(z.union([text, z.number(), z.boolean()])),
  /** About a dataset: field names in order. */
  primary_key: texts.min(1),
  unique_key: texts.min(1),
  /** About a dataset: a field name. */
  default_time: text,
  /** About a dataset: it has one row for each period. */
  time_spine: datasetSchema.shape.time_spine.unwrap(),
  /** About a dataset: a condition that its rows meet, as a source tests it. */
  constraint: text.min(1),
  /** About a dataset: where in a transformation it stands. */
  layer: z.enum(datasetLayers),
  /** Who answers for a dataset, a metric, a term or a rule. */
  owner: text.min(1),
  /** About a term: where it is shown, such as the address of a dashboard. */
  url: z.string().regex(webAddress),
  /** This one and the next two are about any subject. */
  description: text,
  synonyms: texts,
  tags: texts,
  /** About a metric: the unit of its values, like EUR. */
  unit: text.min(1),
  /** About `metric:c.d.m`: the metric as in the YAML of a dataset, without its name. */
  metric: datasetSchema.shape.metrics.unwrap().element.omit({ name: true }),
  /**
   * About `metric:c.d.m`: a metric that people type again and again and nobody has defined. It is
   * in no artifact until a person accepts it.
   */
  possible_metric: datasetSchema.shape.metrics.unwrap().element.omit({ name: true }),
  /**
   * About a dataset: another tool lets each user see only the rows whose field, such as
   * `orders.buyer.region`, is an attribute of the user. It restricts nobody until a person writes
   * row rules.
   */
  possible_access: z.object({ field: text, attribute: text }),
  /** About `relationship:c.d(columns)`; `on`: own field names to those of the dataset `to`. */
  relationship: z.object({
    to: text,
    on: z.record(text, text).refine((on) => Object.keys(on).length > 0, 'needs a column'),
    role: text.optional(),
    cardinality: z.enum(['many_to_one', 'one_to_one']).optional(),
    /** It leads to a query over tables, so joins of the same columns to tables hold as well. */
    beside: z.literal(true).optional(),
  }),
  /**
   * About `relationship:c.d(columns)`: a join that may well be right, but not surely enough to be
   * used. It is in no artifact until a person accepts it.
   */
  possible_relationship: z.object({ to: text, on: z.record(text, text) }),
  /** About `query:c.q`: the saved query as in its file, without its name. */
  saved_query: savedQueryBodySchema,
  /** About `term:slug` or `rule:slug`: its name as people write it. */
  title: text.min(1),
  /** About a term. */
  definition: text.min(1),
  /** About a rule. */
  rule: text.min(1),
  /** About a term or a rule: the subjects that it stands for or governs. */
  refs: texts,
  /** About a term or a rule: its wiki page. */
  page: text.regex(/^[a-z0-9_-]+$/),
  /** By a model, about a term or a rule: the subject that this one is another name of. */
  same_as: text,
  /**
   * By a model, about any contested subject: short ids of claims of that kind that mean the same.
   */
  same_meaning: z.object({ kind: text, claims: texts.min(2), why: text }),
  /**
   * By a model, about any contested subject: claims of that kind contradict each other. A person
   * decides; no model is asked again.
   */
  contradiction: z.object({ kind: text, claims: texts.min(2), why: text }),
  /**
   * By a model, about a term or a rule: claims of models that are useless. They are kept but not
   * shown.
   */
  rejected: z.object({ claims: texts.min(1), why: text }),
  /**
   * By a model, about any subject: the body that repairs a faulty claim; null if the model found
   * none.
   */
  repaired: z.object({ claim: text, kind: text, fault: text, body: anyJsonSchema.nullable() }),
  /**
   * About any subject: a person decided a conflict by an edit in an artifact. `value` is the hash
   * of what they left there, `seen` the claims that were there.
   */
  settled: z.object({ kind: text, value: text, seen: texts }),
  /**
   * About any subject: a person took it out of an artifact, as a whole (null) or the keys that are
   * null.
   */
  edit: z.union([z.null(), z.record(text, z.null())]),
};
export type ClaimKind = keyof typeof bodySchemas;
export type ClaimBodies = { readonly [Kind in ClaimKind]: z.infer<(typeof bodySchemas)[Kind]> };
export const claimKinds = Object.keys(bodySchemas) as ClaimKind[];

export const evidenceSchema = z.strictObject({
  connection: z.string(),
  origin: z.enum(['person', 'catalog', 'code', 'model']),
  /** Name and version of the code that made the claim, e.g. `relationships@1`. */
  extractor: z.string(),
  /** Path of the item in the project, e.g. `sources/warehouse/main.jsonl`. */
  item: z.string().optional(),
  /** Where in the item: a line, a key, a heading. */
  location: z.string().optional(),
  quote: z.string().optional(),
  /** Who answers for it, as the source says. */
  owner: z.string().optional(),
  /** From when it is, as the item says: `2025-11-25`. */
  dated: z.string().optional(),
  /** The last day on which it holds, as the item says. */
  expires: z.string().optional(),
  /** A measurement, rounded so that a day's new rows do not change it. */
  measured: anyJsonSchema.optional(),
  /** 0..1 in tenths. */
  confidence: z.number().min(0).max(1),
});
export type Evidence = Readonly<z.infer<typeof evidenceSchema>>;

/**
 * The evidence for an edit that a person made in an artifact. `connection` is the one that the
 * claim belongs to.
 */
export function editEvidence(
  connection: string,
  place: Pick<Evidence, 'item' | 'location'>,
): Evidence {
  return { connection, origin: 'person', extractor: 'edit@1', ...place, confidence: 1 };
}

/** One typed fact about one subject, with its evidence. */
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

/** The first characters of the id, as files and people write it. */
export function shortId(claim: Pick<Claim, 'subject' | 'kind' | 'body'>): string {
  return claimId(claim).slice(0, 12);
}

/** Makes claims that only names and types suggest. */
export const proposalExtractor = 'measures@1';
/** Reads formulas of several aggregates in tables of documents. */
export const formulaExtractor = 'formula@1';

/**
 * True if only a model, the names of columns, or a formula of several aggregates in a document says
 * so: what is claimed answers only with the mark `unreviewed` until a person accepts it.
 */
export function isUnreviewed({ evidence }: Pick<Claim, 'evidence'>): boolean {
  return evidence.every(
    ({ origin, extractor }) =>
      origin === 'model' || extractor === proposalExtractor || extractor === formulaExtractor,
  );
}

/** True if only the names and types of columns suggest it. */
export function isProposal({ evidence }: Pick<Claim, 'evidence'>): boolean {
  return evidence.every(({ extractor }) => extractor === proposalExtractor);
}

/** True for claims that only record a person's edit of a file and state no fact. */
export function isEditRecord({ kind }: Pick<Claim, 'kind'>): boolean {
  return kind === 'edit' || kind === 'settled';
}

/** Builds subjects from their parts. */
export const subjects = {
  dataset: (connection: string, dataset: string) => `dataset:${connection}.${dataset}`,
  field: (connection: string, dataset: string, field: string) =>
    `field:${connection}.${dataset}.${field}`,
  metric: (connection: string, dataset: string, metric: string) =>
    `metric:${connection}.${dataset}.${metric}`,
  relationship: (connection: string, dataset: string, columns: readonly string[]) =>
    `relationship:${connection}.${dataset}(${columns.join(',')})`,
  term: (title: string) => `term:${slug(title)}`,
  rule: (title: string) => `rule:${slug(title)}`,
};
