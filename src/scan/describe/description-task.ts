import { z } from 'zod';
import {
  type Catalog,
  catalogTableSchema,
  type CatalogTable,
  type DatasetNames,
  tableLocation,
} from '../../context/catalog/catalog.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { subjects, type Claim, type Evidence } from '../../context/claims/claim.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { Journal } from '../../store/journal.ts';

/** Raise it when earlier answers no longer do: every table is then described again. */
const extractor = 'descriptions@1';

/** The descriptions that one table lacks. */
export interface DescriptionTask {
  readonly table: CatalogTable;
  /** Names of columns; undefined stands for the table itself. */
  readonly missing: readonly (string | undefined)[];
  readonly subjectOf: (column: string | undefined) => string;
  readonly evidence: Evidence;
  /** The key of the answer in the journal. */
  readonly key: string;
  /** Descriptions that a model gave earlier, perhaps for another structure. */
  readonly earlier: readonly Claim[];
  /** Descriptions for the current structure; undefined if the model has to be asked. */
  readonly current: readonly Claim[] | undefined;
}

export type DescriptionJournal = Pick<Journal, 'result'>;

interface DescriptionContext {
  readonly names: DatasetNames;
  /** Earlier descriptions by a model, by dataset. */
  readonly earlierByDataset: ReadonlyMap<string | undefined, readonly Claim[]>;
  readonly connection: string;
  readonly journal: DescriptionJournal | undefined;
}

/** One task for each table that lacks descriptions. */
export function planDescriptions(
  catalog: Catalog,
  { known, journal }: { known: readonly Claim[]; journal: DescriptionJournal | undefined },
): DescriptionTask[] {
  const context: DescriptionContext = {
    names: datasetNames(catalog),
    earlierByDataset: Map.groupBy(
      known.filter(isDescribedByModel),
      ({ subject }) => parseSubject(subject)?.dataset,
    ),
    connection: catalog.connection,
    journal,
  };
  return catalog.tables
    .map((table) => planTask(table, context))
    .filter(({ missing }) => missing.length > 0);
}

function planTask(
  table: CatalogTable,
  { names, earlierByDataset, connection, journal }: DescriptionContext,
): DescriptionTask {
  const dataset = names.dataset(table);
  const columns = table.columns.filter(({ comment }) => !comment).map(({ name }) => name);
  const missing = [...(table.comment ? [] : [undefined]), ...columns];
  const subjectOf = (column: string | undefined) =>
    column === undefined
      ? subjects.dataset(connection, dataset)
      : subjects.field(connection, dataset, names.field(table, column));
  const structure = structureHash(table);
  const evidence: Evidence = {
    connection,
    origin: 'model',
    extractor,
    item: `sources/${connection}/${table.schema}.jsonl`,
    location: tableLocation(table),
    measured: { structure },
    confidence: 0.5,
  };
  const missingSubjects = new Set(missing.map(subjectOf));
  const earlier = (earlierByDataset.get(dataset) ?? []).filter(({ subject }) =>
    missingSubjects.has(subject),
  );
  const key = `${extractor} ${shortHash(canonicalJson([connection, structure]), 32)}`;
  const task = { table, missing, subjectOf, evidence, earlier, key };
  const sameStructure = earlier.filter((claim) => describesStructure(claim, structure));
  if (sameStructure.length > 0) return { ...task, current: sameStructure };
  const stored = descriptionAnswerSchema.safeParse(journal?.result(key)).data;
  return { ...task, current: stored && claimsFromAnswer(task, stored) };
}

/** Changes with the structure of the table: a description is about one structure. */
export function structureHash(table: CatalogTable): string {
  return shortHash(canonicalJson([extractor, catalogTableSchema.parse(table)]), 16);
}

function describesStructure({ evidence }: Claim, structure: string): boolean {
  const expected = canonicalJson({ structure });
  return evidence.some(({ measured }) => canonicalJson(measured ?? null) === expected);
}

const isDescribedByModel = ({ kind, evidence }: Claim): boolean =>
  kind === 'description' && evidence.some(({ origin }) => origin === 'model');

const descriptionSchema = z
  .string()
  .trim()
  .max(600)
  .refine((text) => singleLine(text) !== '', 'says nothing');
export const descriptionAnswerSchema = z.object({
  description: descriptionSchema.describe('What one row is, and what the table is used for.'),
  columns: z.array(
    z.object({ name: z.string().describe('Exactly as listed.'), description: descriptionSchema }),
  ),
});
export type DescriptionAnswer = z.infer<typeof descriptionAnswerSchema>;

/** Claims for the missing descriptions; other parts of the answer are ignored. */
export function claimsFromAnswer(
  { missing, subjectOf, evidence }: Pick<DescriptionTask, 'missing' | 'subjectOf' | 'evidence'>,
  { description, columns }: DescriptionAnswer,
): Claim[] {
  const byColumn = new Map(columns.map((column) => [column.name, column.description]));
  return missing.flatMap((column): Claim[] => {
    const text = column === undefined ? description : byColumn.get(column);
    if (text === undefined) return [];
    const subject = subjectOf(column);
    return [{ subject, kind: 'description', body: singleLine(text), evidence: [evidence] }];
  });
}

function singleLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').trim();
}
