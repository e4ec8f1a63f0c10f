import { z } from 'zod';
import {
  type Catalog,
  catalogTableSchema,
  type CatalogTable,
  type DatasetNames,
  type LinkFinding,
} from '../../context/catalog/catalog.ts';
import { subjects, type Claim, type Evidence } from '../../context/claims/claim.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { isFatalToRun, LlmError } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { KtxLlmRuntimePort } from '../../llm/port/runtime.ts';
import { sameTable } from '../../sql/dialect.ts';
import type { Journal } from '../../store/journal.ts';
import { isPersonalName, looksPersonal } from '../profile/value-kinds.ts';
import type { ScanResult } from '../scan.ts';

/** What a scan needs of a model. */
export interface ScanModel {
  readonly runtime: KtxLlmRuntimePort;
  readonly concurrency: number;
  /** Keeps what was paid for as it arrives. */
  readonly journal: Pick<Journal, 'result' | 'keep'>;
  /** Whether frequent values may leave the machine; those of personal kinds never do. */
  readonly samples: boolean;
}

export interface DescribeInput {
  readonly found: ScanResult;
  /** The claims of the connection as they stand in git. */
  readonly known: readonly Claim[];
  /** Undefined where none is configured: then what is known stays, and nothing is added. */
  readonly model: ScanModel | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

export interface Descriptions {
  readonly claims: readonly Claim[];
  /** Tables that the database itself leaves undescribed, in part or in whole. */
  readonly total: number;
  /** Those of them that are described as they are now. */
  readonly done: number;
  readonly calls: number;
  /** The first failure; with it, `done` is less than `total`. */
  readonly failure?: UserError | undefined;
}

/** Raise it when the prompt or the form of the answer changes: then every table is described anew. */
const extractor = 'descriptions@1';

/** Descriptions of what the database does not describe itself: one call a table, kept until the table's structure changes. */
export async function describeTables(input: DescribeInput): Promise<Descriptions> {
  const { found, known, model, signal } = input;
  const names = datasetNames(found.catalog);
  const ours = Map.groupBy(known.filter(isOurs), ({ subject }) => parseSubject(subject)?.dataset);
  const all = found.catalog.tables.map((table) =>
    taskOf(table, { names, ours, catalog: found.catalog, journal: model?.journal }),
  );
  const tasks = all.filter(({ missing }) => missing.length > 0);
  const standing = tasks.flatMap(({ current }) => current ?? []);
  const pending = tasks.filter(({ current }) => current === undefined);
  const outcome: Answers =
    model === undefined ? { answered: new Map(), calls: 0 } : await askAll(pending, model, input);
  signal.throwIfAborted();
  // What no answer came for keeps its description of before.
  const answered = pending.flatMap((task) => outcome.answered.get(task) ?? task.before);
  const done = tasks.length - pending.length + outcome.answered.size;
  const { calls, failure } = outcome;
  return { claims: [...standing, ...answered], total: tasks.length, done, calls, failure };
}

/** The tables that a model would be asked to describe: of each, how many columns. */
export function undescribed(
  catalog: Catalog,
  {
    known,
    journal,
  }: { readonly known: readonly Claim[]; readonly journal: Pick<Journal, 'result'> | undefined },
): number[] {
  const names = datasetNames(catalog);
  const ours = Map.groupBy(known.filter(isOurs), ({ subject }) => parseSubject(subject)?.dataset);
  const tasks = catalog.tables.map((table) => taskOf(table, { names, ours, catalog, journal }));
  return tasks
    .filter(({ missing, current }) => missing.length > 0 && current === undefined)
    .map(({ missing }) => missing.length);
}

interface Answers {
  readonly answered: ReadonlyMap<Task, Claim[]>;
  readonly calls: number;
  readonly failure?: UserError | undefined;
}

async function askAll(
  pending: readonly Task[],
  model: ScanModel,
  { found, signal, onProgress }: DescribeInput,
): Promise<Answers> {
  const queue = [...pending];
  const answered = new Map<Task, Claim[]>();
  let calls = 0;
  let failure: UserError | undefined;
  const askNext = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      try {
        calls += 1;
        const answer = await describe(task, model, { found, signal });
        // Paid for: it counts, also where the journal does not take it; then nothing more is asked.
        answered.set(task, claimsFrom(task, answer));
        model.journal.keep(task.key, answer);
        onProgress(answered.size, pending.length);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        failure ??= error;
        if (isFatalToRun(error)) queue.length = 0;
      }
    }
  };
  if (pending.length > 0) onProgress(0, pending.length);
  await Promise.all(Array.from({ length: Math.min(model.concurrency, pending.length) }, askNext));
  return { answered, calls, failure };
}

interface Task {
  readonly table: CatalogTable;
  /** Undefined is the table itself; the others are column names. */
  readonly missing: readonly (string | undefined)[];
  readonly subjectOf: (column: string | undefined) => string;
  readonly evidence: Evidence;
  /** Content key of the answer. */
  readonly key: string;
  /** What was said of it when its structure was another. */
  readonly before: readonly Claim[];
  /** What is known for the table as it is; undefined where it has to be asked for. */
  readonly current: readonly Claim[] | undefined;
}

interface Surroundings {
  readonly names: DatasetNames;
  /** Earlier descriptions of a model, by dataset. */
  readonly ours: ReadonlyMap<string | undefined, readonly Claim[]>;
  readonly catalog: Catalog;
  readonly journal: Pick<Journal, 'result'> | undefined;
}

function taskOf(
  table: CatalogTable,
  { names, ours, catalog: { connection }, journal }: Surroundings,
): Task {
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
    location: table.table,
    measured: { structure },
    confidence: 0.5,
  };
  const subjectsHere = new Set(missing.map(subjectOf));
  const before = (ours.get(dataset) ?? []).filter(({ subject }) => subjectsHere.has(subject));
  const task = {
    table,
    missing,
    subjectOf,
    evidence,
    before,
    key: `${extractor} ${shortHash(canonicalJson([connection, structure]), 32)}`,
  };
  const standing = before.filter((claim) =>
    claim.evidence.some(
      ({ measured }) => canonicalJson(measured ?? null) === canonicalJson({ structure }),
    ),
  );
  if (standing.length > 0) return { ...task, current: standing };
  const paid = answerSchema.safeParse(journal?.result(task.key)).data;
  return { ...task, current: paid && claimsFrom(task, paid) };
}

/** What a description is about: another one where the table is another. */
export function structureHash(table: CatalogTable): string {
  return shortHash(canonicalJson([extractor, catalogTableSchema.parse(table)]), 16);
}

const isOurs = ({ kind, evidence }: Claim): boolean =>
  kind === 'description' && evidence.some(({ origin }) => origin === 'model');

const sentence = z
  .string()
  .trim()
  .max(600)
  .refine((text) => oneLine(text) !== '', 'says nothing');
const answerSchema = z.object({
  description: sentence.describe('What one row is, and what the table is used for.'),
  columns: z.array(
    z.object({ name: z.string().describe('Exactly as listed.'), description: sentence }),
  ),
});
type Answer = z.infer<typeof answerSchema>;

async function describe(
  task: Task,
  { runtime, samples }: ScanModel,
  { found, signal }: Pick<DescribeInput, 'found' | 'signal'>,
): Promise<Answer> {
  const answer = await runtime.generateObject({
    role: 'candidateExtraction',
    system: readPrompt('describe-table'),
    prompt: `The table to describe:\n${untrustedBlock('warehouse', JSON.stringify(pictureOf(task, found, samples), null, 1))}`,
    schema: answerSchema,
    signal,
  });
  const described = new Set(answer.columns.map(({ name }) => name));
  const left = task.missing.filter((column) => column !== undefined && !described.has(column));
  if (left.length === 0) return answer;
  throw new LlmError(
    'invalid_output',
    `The model left ${left.length} of ${task.missing.length} columns of ${task.table.table} undescribed.`,
  );
}

/** What leaves the machine about a table. */
function pictureOf({ table, missing }: Task, found: ScanResult, samples: boolean) {
  const profile = found.tables.find((scanned) => sameTable(scanned.table, table))?.profile;
  const rows = profile?.rows ?? 0;
  const refers = ({ from, status }: LinkFinding) =>
    status === 'accepted' && sameTable(from.table, table);
  return {
    schema: table.schema,
    table: table.table,
    kind: table.kind,
    comment: table.comment,
    rows: profile === undefined ? undefined : magnitude(rows / profile.fraction),
    primary_key:
      found.primaryKeys.find((key) => key.status === 'accepted' && sameTable(key.table, table))
        ?.columns ?? table.primaryKey,
    refers_to: found.links
      .filter(refers)
      .map(({ from, to, role }) => ({ columns: from.columns, table: to.table.table, role })),
    columns: table.columns.map(({ name, nativeType, comment, values }) => {
      const measured = profile?.columns.find((column) => column.name === name);
      const maySend = samples && !isPersonalName(name);
      return {
        name,
        type: nativeType,
        comment,
        values,
        nulls: measured && rows > 0 ? `${Math.round((100 * measured.nulls) / rows)}%` : undefined,
        distinct: measured?.distinct,
        min: maySend ? measured?.min : undefined,
        max: maySend ? measured?.max : undefined,
        frequent: maySend
          ? measured?.top.filter((value) => !looksPersonal(value)).slice(0, 5)
          : undefined,
      };
    }),
    describe: missing.filter((column) => column !== undefined),
  };
}

function magnitude(rows: number): string {
  return rows < 1 ? 'none' : `about 10^${Math.round(Math.log10(rows))}`;
}

/** The answer as claims: of what was asked for, nothing else. */
function claimsFrom(
  { missing, subjectOf, evidence }: Pick<Task, 'missing' | 'subjectOf' | 'evidence'>,
  { description, columns }: Answer,
): Claim[] {
  const byColumn = new Map(columns.map((column) => [column.name, column.description]));
  return missing.flatMap((column) => {
    const text = column === undefined ? description : byColumn.get(column);
    return text === undefined
      ? []
      : [
          {
            subject: subjectOf(column),
            kind: 'description' as const,
            body: oneLine(text),
            evidence: [evidence],
          },
        ];
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').trim();
}
