import { z } from 'zod';
import { fieldTypes } from '../../sql/field-type.ts';
import { canonicalJson } from '../../lib/json.ts';
import { isMapping } from '../merge/yaml-text.ts';
import { subjects, type Claim, type Evidence } from './claim.ts';
import { parseSubject } from './subject.ts';

/**
 * That a column exists, where it stands and of what type it is only repeats the catalog, so a
 * claims file has one short line for it instead of two claims with the same long evidence.
 */
interface ColumnLine {
  readonly connection: string;
  readonly dataset: string;
  readonly field: string;
  readonly column: string;
  readonly position: number;
  readonly type: (typeof fieldTypes)[number];
  /** The file of the catalog, and the table in it. */
  readonly item: string;
  readonly location: string;
}

const columnLineSchema = z.strictObject({
  column: z.tuple([z.string(), z.string(), z.string()]),
  name: z.string().optional(),
  at: z.number(),
  type: z.enum(fieldTypes),
  in: z.tuple([z.string(), z.string()]),
});

const structureExtractor = 'structure@1';

/** The columns that the catalog alone tells of, and all other claims; of both, each evidence. */
export function splitColumns(claims: readonly Claim[]): {
  readonly columns: readonly ColumnLine[];
  readonly others: readonly Claim[];
} {
  const single = claims.flatMap(({ evidence, ...claim }) =>
    evidence.map((item) => ({ ...claim, evidence: [item] })),
  );
  const structural = single.filter(isStructure);
  const bySubject = Map.groupBy(structural, ({ subject, evidence: [own] }) =>
    JSON.stringify([subject, own]),
  );
  const columns: ColumnLine[] = [];
  const written = new Set<Claim>();
  for (const group of bySubject.values()) {
    const [field, type] = [group.filter(isField), group.filter(isType)];
    const line =
      field.length === 1 && type.length === 1 ? columnLine(field[0], type[0]) : undefined;
    // Only what is read back as it was.
    if (line === undefined || !isSame(claimsOf(line), group)) continue;
    columns.push(line);
    for (const claim of group) written.add(claim);
  }
  return { columns, others: single.filter((claim) => !written.has(claim)) };
}

export function renderColumn(line: ColumnLine): string {
  const { connection, dataset, field, column, position, type, item, location } = line;
  return JSON.stringify({
    column: [connection, dataset, field],
    ...(column === field ? {} : { name: column }),
    at: position,
    type,
    in: [item, location],
  });
}

/** The claims of a line; undefined if it is no such line. Throws if it is a damaged one. */
export function readColumn(value: unknown): readonly Claim[] | undefined {
  if (!isMapping(value) || !('column' in value)) return undefined;
  const { column, name, at, type, in: place } = columnLineSchema.parse(value);
  const [connection, dataset, field] = column;
  const [item, location] = place;
  return claimsOf({
    connection,
    dataset,
    field,
    column: name ?? field,
    position: at,
    type,
    item,
    location,
  });
}

function claimsOf(line: ColumnLine): readonly Claim[] {
  const { connection, dataset, field, column, position, type, item, location } = line;
  const subject = subjects.field(connection, dataset, field);
  const evidence: Evidence = {
    connection,
    item,
    location,
    origin: 'catalog',
    extractor: structureExtractor,
    confidence: 1,
  };
  return [
    { subject, kind: 'field', body: { column, position }, evidence: [evidence] },
    { subject, kind: 'type', body: type, evidence: [evidence] },
  ];
}

function isStructure(claim: Claim): boolean {
  const isOfCatalog = claim.evidence.every(({ extractor }) => extractor === structureExtractor);
  return isOfCatalog && (isField(claim) || isType(claim));
}

const isField = ({ kind }: Claim): boolean => kind === 'field';
const isType = ({ kind }: Claim): boolean => kind === 'type';

const fieldBodySchema = z.strictObject({ column: z.string(), position: z.number() });

function columnLine(field: Claim | undefined, type: Claim | undefined): ColumnLine | undefined {
  const owner = parseSubject(field?.subject ?? '');
  const body = fieldBodySchema.safeParse(field?.body).data;
  const typeName = z.enum(fieldTypes).safeParse(type?.body).data;
  const [{ item = '', location = '' } = {}] = field?.evidence ?? [];
  if (owner?.type !== 'field' || !body || typeName === undefined) return undefined;
  const { connection, dataset, name } = owner;
  return { connection, dataset, field: name, ...body, type: typeName, item, location };
}

function isSame(a: readonly Claim[], b: readonly Claim[]): boolean {
  const texts = (claims: readonly Claim[]) =>
    claims.map(({ subject, kind, body, evidence: [own] }) =>
      canonicalJson([subject, kind, body, { ...own }]),
    );
  return texts(a).toSorted().join('\n') === texts(b).toSorted().join('\n');
}
