import assert from 'node:assert/strict';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pinsPath, setPin } from '../../../src/context/claims/pins.ts';
import type { IngestEvent } from '../../../src/ingest/event.ts';
import { ingestProject } from '../../../src/project/learn/ingest.ts';
import { remember } from '../../../src/project/learn/remember.ts';
import { openProject, type Project } from '../../../src/project/open/open.ts';
import { readConflicts } from '../../../src/project/review/conflicts.ts';
import { createPin } from '../../../src/project/review/review.ts';
import { read, run, write } from '../../store/git-project.ts';
import { loopTools } from '../../../src/tools/loop-tools.ts';
import { approve } from '../../support/approve.ts';
import { copyOf, shopProject, sql } from '../ingest-project.ts';
import { columns, tables, terms, type Change } from './history.ts';

const signal = AbortSignal.timeout(3_600_000);
export const page = 'wiki/glossary.md';
const termFile = 'docs/terms.md';
const contested = terms[2];

const newTable = `CREATE TABLE IF NOT EXISTS visits (id INTEGER PRIMARY KEY, page TEXT, customer_id INTEGER);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
    INSERT OR REPLACE INTO visits SELECT i, 'page ' || (i % 5), (1 + i * 11 % 60) * 7 FROM n;`;

let template: Promise<string> | undefined;

/** A project of a shop and its documents after the first ingest, at the tag `start`. */
export async function startProject(): Promise<string> {
  template ??= makeProject();
  return copyOf(await template);
}

async function makeProject(): Promise<string> {
  const dir = shopProject();
  write(
    dir,
    'ktx.yaml',
    'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n  handbook: {driver: docs, path: docs}\n',
  );
  for (const table of ['customers', 'orders']) {
    const rows = columns
      .filter(([own]) => own === table)
      .map(([, column]) => `| ${column} | the ${column} |\n`);
    const head = `## ${table}\n\n| Column | Description |\n|---|---|\n`;
    write(dir, `docs/${table}.md`, head + rows.join(''));
  }
  const rows = terms.map((term) => `| ${term} | what ${term} is |\n`);
  const head = '# Terms\n\n| Term | Definition |\n|---|---|\n';
  write(dir, termFile, head + rows.join(''));
  // Two documents disagree about one of them.
  write(dir, 'docs/old-terms.md', `${head}| ${contested} | what ${contested} was |\n`);
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'documents');
  await ingest(dir);
  run(dir, 'tag', 'start');
  return dir;
}

async function withProject<T>(dir: string, use: (project: Project) => Promise<T>): Promise<T> {
  await approve(dir);
  const project = await openProject(dir);
  try {
    return await use(project);
  } finally {
    await project.close();
  }
}

class Killed extends Error {}

/** An ingest that ends at a step of publishing, and a commit of what is there then. */
async function ingestUntil(dir: string, step: number): Promise<void> {
  let steps = 0;
  const onEvent = ({ type }: IngestEvent) => {
    steps += type === 'publish_step' ? 1 : 0;
    if (steps === step) throw new Killed();
  };
  await withProject(dir, (project) =>
    ingestProject(project, { connections: [], signal, onEvent }),
  ).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'all that is there', '--allow-empty');
}

/** An ingest that ends with one of the exit codes. Returns whether it made a commit. */
export function ingest(dir: string, codes: readonly number[] = [0]): Promise<boolean> {
  return withProject(dir, async (project) => {
    const report = await ingestProject(project, { connections: [], signal });
    const { exitCode, quarantined, leftAlone } = report;
    const why = JSON.stringify({ exitCode, codes, quarantined, leftAlone });
    // What people moved is theirs: it may name what they took out elsewhere.
    const areTheirs =
      quarantined.length > 0 && quarantined.every(({ subject }) => subject.includes('/person_'));
    assert.ok(codes.includes(exitCode) || (exitCode === 3 && areTheirs), why);
    return report.commit.id !== undefined;
  });
}

/** Makes the changes on a new branch of that name, each a commit. */
export async function workOnBranch(
  dir: string,
  branch: string,
  changes: readonly Change[],
): Promise<void> {
  run(dir, 'checkout', '-q', '-b', branch, 'start');
  for (const [index, change] of changes.entries()) {
    await makeChange(dir, change, `${branch} ${index}`);
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', `${branch} ${index}`, '--allow-empty');
    if (!change.isIngested) continue;
    await (change.diesAt === undefined ? ingest(dir) : ingestUntil(dir, change.diesAt));
  }
}

/** Makes a change; a person's words begin with `person`. */
export async function makeChange(dir: string, change: Change, name: string): Promise<void> {
  const words = `person ${name}`;
  const { kind, at } = change;
  if (kind === 'table') return sql(dir, newTable);
  if (kind === 'decision') return decide(dir, at);
  if (kind === 'note')
    return withProject(dir, async (project) => {
      await remember(project, `${words} says so`, { signal, tools: loopTools(project) });
    });
  if (isFileKind(kind)) return changeFile(dir, { kind, at }, words.replaceAll(' ', '_'));
  edit(dir, ...editOf({ kind, at }, name));
}

type FileKind = Extract<Change['kind'], `${string} dataset` | `${string} page`>;
const isFileKind = (kind: Change['kind']): kind is FileKind => / (?:dataset|page)$/.test(kind);
type EditKind = Exclude<Change['kind'], FileKind | 'table' | 'decision' | 'note'>;

/** The file that a change is made in, and how. */
function editOf(
  change: { readonly kind: EditKind; readonly at: number },
  name: string,
): [path: string, edit: Edit] {
  const [table, column] = columnOf(change);
  const term = termOf(change);
  const [dataset, document] = [fileOfTable(table), `docs/${table}.md`];
  const edits = editsOf({ column, term, metric: metricOf(change) }, `person ${name}`);
  const edited: Readonly<Record<EditKind, readonly [string, Edit]>> = {
    document: [document, rowOf(column, `changed by ${name}`)],
    term: [termFile, rowOf(term, `changed by ${name}`)],
    'new term': [termFile, (text) => `${text}| Seat of ${name} | one of ${change.at} |\n`],
    'line ends': [change.at % 2 === 0 ? dataset : page, withTwoCharacters],
    words: [page, edits.words],
    section: [page, edits.section],
    'no section': [page, edits['no section']],
    description: [dataset, edits.description],
    removal: [dataset, edits.removal],
    'no column': [dataset, edits['no column']],
    'no metric': [dataset, edits['no metric']],
    metric: [dataset, edits.metric],
    comment: [dataset, edits.comment],
  };
  return [...edited[change.kind]];
}

/** The table and the column that a change is about. */
export const columnOf = ({ at }: Pick<Change, 'at'>) => columns[at % columns.length] ?? columns[0];
export const termOf = ({ at }: Pick<Change, 'at'>) => terms[at % terms.length] ?? terms[0];
export const tableOf = ({ at }: Pick<Change, 'at'>) => tables[at % tables.length] ?? tables[0];
/** A metric that ktx writes into the file of the table of that column. */
export const metricOf = ({ at }: Pick<Change, 'at'>) => (at === 3 ? 'total_amount' : 'count');
export const fileOfTable = (table: string) => `semantic-layer/shop/${table}.yaml`;

type Edit = (text: string) => string;

const withTwoCharacters = (text: string) => text.replaceAll('\r', '').replaceAll('\n', '\r\n');

/** What people change in the files of ktx. */
const editsOf = (
  { column, term, metric }: Readonly<Record<'column' | 'term' | 'metric', string>>,
  words: string,
) => ({
  words: (text: string) => text.replace(new RegExp(`(?<=^## ${term}\\r?\\n\\r?\\n).*`, 'm'), words),
  section: (text: string) => `${text.trimEnd()}\n\n## ${words}\n\nAs ${words} says.\n`,
  'no section': (text: string) =>
    text.replace(new RegExp(`^## ${term}\\r?\\n[^]*?(?=^## |(?![^]))`, 'm'), ''),
  description: describe(column, words),
  removal: describe(column, undefined),
  'no column': withoutEntry(column),
  'no metric': withoutEntry(metric),
  metric: (text: string) =>
    text.replace(
      /^metrics:\r?\n/m,
      (line) => `${line}  - {name: ${words.replaceAll(' ', '_')}, expr: count(${column})}\n`,
    ),
  comment: (text: string) => text.replace(/^fields:\r?\n/m, (line) => `# ${words}\n${line}`),
});

/** Takes the entry out of its list, and a list that is empty then. */
const withoutEntry = (name: string) => (text: string) =>
  text
    .replace(new RegExp(`^  - \\{name: ${name}, .*\\}\\r?\\n`, 'm'), '')
    .replace(/^(?:fields|metrics):\r?\n(?!  - )/m, '');

/** Takes a file of ktx out, or puts it under another name, in its folder. */
function changeFile(
  dir: string,
  { kind, at }: { readonly kind: FileKind; readonly at: number },
  name: string,
): void {
  const file = kind.endsWith(' page') ? page : fileOfTable(tableOf({ at }));
  if (!existsSync(join(dir, file))) return;
  if (kind.startsWith('no ')) return rmSync(join(dir, file));
  const target = join(dirname(file), `${name}${extname(file)}`);
  renameSync(join(dir, file), join(dir, target));
  if (kind === 'renamed dataset')
    edit(dir, target, (text) => text.replace(/(?<=^dataset: )\w+/m, name));
}

/** Changes a file, unless somebody has taken it out. */
function edit(dir: string, path: string, change: Edit): void {
  if (existsSync(join(dir, path))) write(dir, path, change(read(dir, path)));
}

/** Chooses a version of what is contested, if something is. */
async function decide(dir: string, at: number): Promise<void> {
  const [conflict] = await readConflicts(dir);
  const choose = conflict?.variants[at % conflict.variants.length]?.id;
  if (conflict === undefined || choose === undefined) return;
  const { subject } = conflict;
  const pin = await withProject(dir, (project) => createPin(project, { subject, choose }));
  const file = join(dir, pinsPath);
  write(dir, pinsPath, setPin(existsSync(file) ? read(dir, pinsPath) : undefined, pin));
}

const rowOf = (name: string, words: string) => (text: string) =>
  text.replace(new RegExp(`(?<=^\\| ${name} \\| ).*(?= \\|$)`, 'm'), words);

/** Writes the description of a field, or takes it out. */
const describe = (column: string, words: string | undefined) => (text: string) =>
  text.replace(new RegExp(`^  - \\{name: ${column}, .*\\}$`, 'm'), (line) => {
    const bare = line.replace(/, description: [^,}]*/, '');
    return words === undefined ? bare : bare.replace(/\}$/, `, description: ${words}}`);
  });
