import { expect } from 'vitest';
import { ingestProject } from '../../../src/project/learn/ingest.ts';
import { remember } from '../../../src/project/learn/remember.ts';
import { openProject, type Project } from '../../../src/project/open/open.ts';
import { read, run, write } from '../../store/git-project.ts';
import { loopTools } from '../../../src/tools/loop-tools.ts';
import { approve } from '../../support/approve.ts';
import { copyOf, shopProject } from '../ingest-project.ts';
import { columns, terms, type Change } from './history.ts';

const signal = AbortSignal.timeout(3_600_000);
const page = 'wiki/glossary.md';
const termFile = 'docs/terms.md';

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
  write(dir, termFile, `# Terms\n\n| Term | Definition |\n|---|---|\n${rows.join('')}`);
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
    if (change.isIngested) await ingest(dir);
  }
}

/** Makes a change; a person's words begin with `person`. */
export async function makeChange(dir: string, { kind, at }: Change, name: string): Promise<void> {
  const [table, column] = columns[at % columns.length] ?? columns[0];
  const term = terms[at % terms.length] ?? terms[0];
  const dataset = `semantic-layer/shop/${table}.yaml`;
  const words = `person ${name}`;
  switch (kind) {
    case 'document':
      return edit(dir, `docs/${table}.md`, rowOf(column, `changed by ${name}`));
    case 'term':
      return edit(dir, termFile, rowOf(term, `changed by ${name}`));
    case 'description':
      return edit(dir, dataset, describe(column, words));
    case 'removal':
      return edit(dir, dataset, describe(column, undefined));
    case 'metric':
      return edit(dir, dataset, (text) =>
        text.replace(
          'metrics:\n',
          `metrics:\n  - {name: person_${name.replace(' ', '_')}, expr: count(${column})}\n`,
        ),
      );
    case 'comment':
      return edit(dir, dataset, (text) => text.replace('fields:\n', `# ${words}\nfields:\n`));
    case 'words':
      return edit(dir, page, (text) =>
        text.replace(new RegExp(`(?<=^## ${term}\\n\\n).*`, 'm'), words),
      );
    case 'section':
      return edit(dir, page, (text) => `${text.trimEnd()}\n\n## ${words}\n\nAs ${words} says.\n`);
    case 'note':
      await withProject(dir, (project) =>
        remember(project, `${words} says so`, { signal, tools: loopTools(project) }),
      );
  }
}

function edit(dir: string, path: string, change: (text: string) => string): void {
  write(dir, path, change(read(dir, path)));
}

const rowOf = (name: string, words: string) => (text: string) =>
  text.replace(new RegExp(`(?<=^\\| ${name} \\| ).*(?= \\|$)`, 'm'), words);

/** Writes the description of a field, or takes it out. */
const describe = (column: string, words: string | undefined) => (text: string) =>
  text.replace(new RegExp(`^  - \\{name: ${column}, .*\\}$`, 'm'), (line) => {
    const bare = line.replace(/, description: [^,}]*/, '');
    return words === undefined ? bare : bare.replace(/\}$/, `, description: ${words}}`);
  });
