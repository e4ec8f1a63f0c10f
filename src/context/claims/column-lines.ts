import { z } from 'zod';
import { canonicalJson } from '../../lib/json.ts';
import { fieldTypes } from '../../sql/field-type.ts';
import type { MergeBase } from '../merge/merge-base.ts';
import { isMapping } from '../merge/yaml-text.ts';
import { hashValue } from '../merge/yaml-values.ts';
import {
  anyJsonSchema,
  bodySchemas,
  subjects,
  type Claim,
  type ClaimKind,
  type Evidence,
} from './claim.ts';
import { isOnly } from './left-lines.ts';
import {
  claimEvidence,
  shortEvidence,
  structureExtractor,
  type TablePlace,
} from './table-place.ts';

/**
 * A column as the catalog has it. Beside its name stand its type and position, and what else of the
 * catalog is in the dataset's file. A claims file has one short line for it, which is also the
 * merge base of these values: ktx left in the dataset's file what the line says.
 */
interface ColumnLine {
  readonly field: string;
  readonly type: (typeof fieldTypes)[number];
  readonly position: number;
  readonly rest: {
    /** The physical name, where it is not the field's. */
    readonly column?: string | undefined;
    readonly values?: readonly (string | number | boolean)[] | undefined;
    readonly description?: string | undefined;
  };
}

const restSchema = z.strictObject({
  column: z.string().optional(),
  values: bodySchemas.values.optional(),
  description: z.string().optional(),
});
const columnSchema = z.union([
  z.tuple([z.string(), z.enum(fieldTypes), z.number()]),
  z.tuple([z.string(), z.enum(fieldTypes), z.number(), restSchema]),
]);
/** As versions before wrote it: the evidence of each column, and its base on other lines. */
const formerLineSchema = z.strictObject({
  column: z.tuple([z.string(), z.string(), z.string()]),
  name: z.string().optional(),
  at: z.number(),
  type: z.enum(fieldTypes),
  in: z.tuple([z.string(), z.string()]),
});

interface SplitClaims {
  readonly lines: readonly string[];
  /** All other claims, each with one piece of evidence. */
  readonly others: readonly Claim[];
  /** The base without what the lines say. */
  readonly base: MergeBase;
}

/** The lines of the columns of a table that the catalog tells of, and what they do not say. */
export function splitColumns(
  claims: readonly Claim[],
  base: MergeBase,
  place: TablePlace | undefined,
): SplitClaims {
  const single = claims.flatMap(({ evidence, ...claim }) =>
    evidence.length === 1
      ? [{ ...claim, evidence }]
      : evidence.map((item) => ({ ...claim, evidence: [item] })),
  );
  if (place === undefined) return { lines: [], others: single, base };
  const prefix = subjects.field(place.connection, place.dataset, '');
  // Claims of one table share the object of their evidence.
  const isOfTable = memoize((item) => shortEvidence(item, place) === structureExtractor);
  const structural = single.filter(
    ({ subject, kind, evidence: [first] }) =>
      columnKinds.has(kind) && subject.startsWith(prefix) && first && isOfTable(first),
  );
  const rest = new Map(base);
  const lines: string[] = [];
  const written = new Set<Claim>();
  for (const [subject, group] of Map.groupBy(structural, (claim) => claim.subject)) {
    const column = toColumn(subject.slice(prefix.length), group, base);
    if (column === undefined) continue;
    const left = valuesLeft(column.line);
    const isLeft = left.every(([path, hash]) => isOnly(base.get(path), hash));
    if (isLeft) for (const [path] of left) rest.delete(path);
    lines.push(renderColumn(column.line, isLeft));
    for (const claim of group) if (column.kinds.has(claim.kind)) written.add(claim);
  }
  return { lines, others: single.filter((claim) => !written.has(claim)), base: rest };
}

interface ReadColumn {
  readonly base: MergeBase;
  /** The claims, given the table; none if nobody says which it is. */
  readonly claims: (place: TablePlace | undefined) => readonly Claim[];
}

/** What a line says of a column; undefined if it is no such line. Throws if it is a damaged one. */
export function readColumn(value: unknown): ReadColumn | undefined {
  const isLeft = Array.isArray(value);
  if (isLeft || (isMapping(value) && 'field' in value)) {
    const [field, type, position, rest = {}] = columnSchema.parse(isLeft ? value : value['field']);
    const line = { field, type, position, rest };
    return {
      base: new Map(isLeft ? valuesLeft(line).map(([path, hash]) => [path, [hash]]) : []),
      claims: (place) => (place === undefined ? [] : claimsOf(line, place)),
    };
  }
  if (!isMapping(value) || !('column' in value)) return undefined;
  const { column, name, at, type, in: formerPlace } = formerLineSchema.parse(value);
  const [connection, dataset, field] = column;
  const [item, location] = formerPlace;
  const line = { field, type, position: at, rest: { column: name } };
  const claims = claimsOf(line, { connection, dataset, item, location });
  return { base: new Map(), claims: () => claims };
}

function renderColumn({ field, type, position, rest }: ColumnLine, isLeft: boolean): string {
  const isBare = Object.values(rest).every((value) => value === undefined);
  const parts = isBare ? [field, type, position] : [field, type, position, rest];
  return JSON.stringify(isLeft ? parts : { field: parts });
}

/** What the line says that ktx left in the dataset's file, by path. */
function valuesLeft({ field, type, rest }: ColumnLine): [path: string, hash: string][] {
  const path = `fields.${field}`;
  return [
    [`${path}.name`, hashValue(field)],
    [`${path}.type`, hashValue(type)],
    ...(['values', 'description'] as const).flatMap((key): [string, string][] => {
      const value = rest[key];
      return value === undefined ? [] : [[`${path}.${key}`, hashValue(value)]];
    }),
  ];
}

function claimsOf({ field, type, position, rest }: ColumnLine, place: TablePlace): Claim[] {
  const { column = field, values, description } = rest;
  const subject = subjects.field(place.connection, place.dataset, field);
  const evidence = [claimEvidence(structureExtractor, place)];
  return [
    { subject, kind: 'field', body: { column, position }, evidence },
    { subject, kind: 'type', body: type, evidence },
    ...(values === undefined ? [] : [{ subject, kind: 'values', body: values, evidence } as const]),
    ...(description === undefined
      ? []
      : [{ subject, kind: 'description', body: description, evidence } as const]),
  ];
}

const columnKinds: ReadonlySet<ClaimKind> = new Set(['field', 'type', 'values', 'description']);

const fieldBodySchema = z.strictObject({ column: z.string(), position: z.number() });
const typeSchema = z.enum(fieldTypes);

/**
 * The line of a column, and the kinds of claims that it stands for. Values and a description are in
 * it only if they are what ktx left in the dataset's file. Undefined if a line cannot say it all.
 */
function toColumn(
  name: string,
  group: readonly Claim[],
  base: MergeBase,
): { readonly line: ColumnLine; readonly kinds: ReadonlySet<ClaimKind> } | undefined {
  const only = (kind: ClaimKind) => {
    const [first, ...others] = group.filter((claim) => claim.kind === kind);
    if (others.length === 0) return first;
    const text = canonicalJson(first?.body ?? null);
    return others.every(({ body }) => canonicalJson(body) === text) ? first : undefined;
  };
  const [field, type] = [only('field'), only('type')];
  const body = fieldBodySchema.safeParse(field?.body).data;
  const typeName = typeSchema.safeParse(type?.body).data;
  if (!field || !type || !body || !typeName) return undefined;
  const left = (kind: 'values' | 'description') => {
    const claim = only(kind);
    const isLeft = isOnly(base.get(`fields.${name}.${kind}`), hashValue(claim?.body));
    return claim !== undefined && isLeft ? claim : undefined;
  };
  const [values, description] = [left('values'), left('description')];
  const rest = restSchema.safeParse({
    ...(body.column !== name && { column: body.column }),
    ...(values && { values: anyJsonSchema.parse(values.body) }),
    ...(description && { description: description.body }),
  }).data;
  if (rest === undefined) return undefined;
  const line = { field: name, type: typeName, position: body.position, rest };
  const claims = [field, type, values, description].filter((claim) => claim !== undefined);
  return { line, kinds: new Set(claims.map(({ kind }) => kind)) };
}

function memoize(decide: (evidence: Evidence) => boolean): (evidence: Evidence) => boolean {
  const known = new Map<Evidence, boolean>();
  return (evidence) => {
    const answer = known.get(evidence) ?? decide(evidence);
    known.set(evidence, answer);
    return answer;
  };
}
