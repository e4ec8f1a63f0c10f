import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findProject } from '../../project/open/find-project.ts';

export type LiveKind =
  | 'connection'
  | 'dataset'
  | 'metric'
  | 'field'
  | 'segment'
  | 'subject'
  | 'set'
  | 'case'
  | 'agent';

interface Place {
  readonly cwd: string;
  readonly projectDir: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What is typed of it. */
  readonly word: string;
}

/** Offered at most: more is no choice. */
const most = 500;
/** Others would have to be quoted, or could do something to a terminal. */
const plain = /^[\p{L}\p{N}_.:@-]+$/u;

/** Names in the project that begin with the word, from its files as they are; none where there is no project. Nothing is checked or written. */
export function liveNames(kind: LiveKind, { cwd, projectDir, env, word }: Place): string[] {
  try {
    const dir = findProject(cwd, projectDir, env);
    const all = kind === 'connection' ? connections(dir) : named(kind, dir, word);
    return [...new Set(all)]
      .filter((name) => plain.test(name) && name.startsWith(word))
      .sort()
      .slice(0, most);
  } catch {
    // Whatever is wrong with the project: completing is not the place to say so.
    return [];
  }
}

function named(
  kind: Exclude<LiveKind, 'connection'>,
  dir: string,
  word: string,
): readonly string[] {
  if (kind === 'set') return filesIn(join(dir, 'evals'));
  if (kind === 'agent') return filesIn(join(dir, 'agents'));
  if (kind === 'case')
    return filesIn(join(dir, 'evals')).flatMap((name) => casesOf(join(dir, 'evals', name)));
  if (kind === 'dataset')
    return connections(dir).flatMap((connection) =>
      filesIn(join(dir, 'semantic-layer', connection)),
    );
  if (kind === 'subject') return word.startsWith('q_') ? queries(dir) : indexed(dir, word);
  return indexed(dir, word, kind).map((subject) => subject.slice(subject.indexOf('.') + 1));
}

/** Keys under `connections:`, also while the file is being edited. */
function connections(dir: string): readonly string[] {
  const [, section = ''] =
    /^connections:[^\n]*\n((?:[ \t]+[^\n]*\n?|#[^\n]*\n?|\n)*)/m.exec(
      readFileSync(join(dir, 'ktx.yaml'), 'utf8'),
    ) ?? [];
  const depth = /^([ \t]+)[^\s#]/m.exec(section)?.[1] ?? '  ';
  return [...section.matchAll(/^([ \t]+)["']?([\w-]+)["']?:/gm)].flatMap(([, indent, name = '']) =>
    indent === depth ? [name] : [],
  );
}

/** Without their ending. */
function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((file) =>
    /\.ya?ml$/.test(file) ? [basename(file).replace(/\.ya?ml$/, '')] : [],
  );
}

function casesOf(file: string): readonly string[] {
  const path = [`${file}.yaml`, `${file}.yml`].find((one) => existsSync(one));
  if (path === undefined) return [];
  return [...readFileSync(path, 'utf8').matchAll(/^\s*(?:-\s+\{?\s*)?id:\s*["']?([\w.-]+)/gm)].map(
    ([, id = '']) => id,
  );
}

/** Of the agents' log, the newest last. */
function queries(dir: string): readonly string[] {
  const path = join(dir, '.ktx/logs/tools.jsonl');
  return existsSync(path)
    ? [...readFileSync(path, 'utf8').matchAll(/"(q_[0-9a-z]{8,})"/g)].map(([, id = '']) => id)
    : [];
}

/** Subjects of the search index, as it was when something was last looked for or ingested; of one kind by what comes after the connection. */
function indexed(dir: string, word: string, kind?: string): readonly string[] {
  const path = join(dir, '.ktx/state.db');
  if (!existsSync(path)) return [];
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const own = "kind = :kind AND substr(subject, instr(subject, '.') + 1, length(:word)) = :word";
    const any =
      ":kind IS NULL AND kind <> 'relationship' AND substr(subject, 1, length(:word)) = :word";
    const sql = `SELECT subject FROM search_documents_2 WHERE (${own}) OR (${any}) ORDER BY subject LIMIT ${most}`;
    return db
      .prepare(sql)
      .all({ word, kind: kind ?? null })
      .map(({ subject }) => String(subject));
  } finally {
    db.close();
  }
}
