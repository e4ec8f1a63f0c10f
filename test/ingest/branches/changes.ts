import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
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
import { copyOf, shopProject } from '../ingest-project.ts';
import { columns, terms, type Change } from './history.ts';

const signal = AbortSignal.timeout(3_600_000);
export const page = 'wiki/glossary.md';
const termFile = 'docs/terms.md';
const contested = terms[2];

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
    expect(codes).toContain(report.exitCode);
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
  const { kind, at } = change;
  const [table, column] = columnOf(change);
  const words = `person ${name}`;
  switch (kind) {
    case 'document':
      return edit(dir, `docs/${table}.md`, rowOf(column, `changed by ${name}`));
    case 'term':
      return edit(dir, termFile, rowOf(termOf(change), `changed by ${name}`));
    case 'new term':
      return edit(dir, termFile, (text) => `${text}| Seat of ${name} | one of ${at} |\n`);
    case 'no page':
      return rmSync(join(dir, page), { force: true });
    case 'line ends':
      return edit(dir, fileOf(change), (text) =>
        text.replaceAll('\r', '').replaceAll('\n', '\r\n'),
      );
    case 'decision':
      return decide(dir, at);
    case 'note':
      await withProject(dir, (project) =>
        remember(project, `${words} says so`, { signal, tools: loopTools(project) }),
      );
      return;
    case 'words':
    case 'section':
    case 'no section':
      return edit(dir, page, pageEdits(termOf(change), words)[kind]);
    case 'description':
    case 'removal':
    case 'metric':
    case 'comment':
      return edit(dir, datasetFile(change), datasetEdits(column, words)[kind]);
  }
}

/** The table and the column that a change is about. */
export const columnOf = ({ at }: Pick<Change, 'at'>) => columns[at % columns.length] ?? columns[0];
export const termOf = ({ at }: Pick<Change, 'at'>) => terms[at % terms.length] ?? terms[0];
const datasetFile = (change: Change) => `semantic-layer/shop/${columnOf(change)[0]}.yaml`;

/** The dataset's file or the page. */
const fileOf = (change: Change) => (change.at % 2 === 0 ? datasetFile(change) : page);

type Edit = (text: string) => string;

const pageEdits = (
  term: string,
  words: string,
): Record<'words' | 'section' | 'no section', Edit> => ({
  words: (text) => text.replace(new RegExp(`(?<=^## ${term}\\r?\\n\\r?\\n).*`, 'm'), words),
  section: (text) => `${text.trimEnd()}\n\n## ${words}\n\nAs ${words} says.\n`,
  'no section': (text) =>
    text.replace(new RegExp(`^## ${term}\\r?\\n[^]*?(?=^## |(?![^]))`, 'm'), ''),
});

const datasetEdits = (
  column: string,
  words: string,
): Record<'description' | 'removal' | 'metric' | 'comment', Edit> => ({
  description: describe(column, words),
  removal: describe(column, undefined),
  metric: (text) =>
    text.replace(
      /^metrics:\r?\n/m,
      (line) => `${line}  - {name: ${words.replaceAll(' ', '_')}, expr: count(${column})}\n`,
    ),
  comment: (text) => text.replace(/^fields:\r?\n/m, (line) => `# ${words}\n${line}`),
});

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
