import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findProject } from '../../project/open/find-project.ts';
import { projectPaths } from '../../store/directories.ts';
import { readTextOrNothing } from '../../store/files.ts';

export type NameKind =
  | 'connection'
  | 'dataset'
  | 'metric'
  | 'field'
  | 'segment'
  | 'query'
  | 'subject'
  | 'set'
  | 'case'
  | 'agent';

interface CompletionPlace {
  readonly cwd: string;
  readonly projectDir: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The word as typed so far. */
  readonly word: string;
}

const maxNames = 500;
/** Other names would need quotes, or could contain control characters. */
const safeName = /^[\p{L}\p{N}_.:@-]+$/u;

/**
 * Names in the project that start with the word, sorted. Reads the files as they are, without
 * checks; empty if there is no project.
 */
export function listProjectNames(
  kind: NameKind,
  { cwd, projectDir, env, word }: CompletionPlace,
): string[] {
  try {
    const dir = findProject(cwd, projectDir, env);
    return [...new Set(readNames(kind, dir, word))]
      .filter((name) => safeName.test(name) && name.startsWith(word))
      .sort()
      .slice(0, maxNames);
  } catch {
    // A broken project gives no names: completion cannot print an error.
    return [];
  }
}

function readNames(kind: NameKind, dir: string, word: string): readonly string[] {
  const evals = join(dir, 'evals');
  switch (kind) {
    case 'connection':
      return connectionNames(dir);
    case 'set':
      return yamlFileNames(evals);
    case 'agent':
      return yamlFileNames(join(dir, 'agents'));
    case 'case':
      return yamlFileNames(evals).flatMap((name) => caseIds(dir, join(evals, name)));
    case 'dataset':
      return connectionNames(dir).flatMap((connection) =>
        yamlFileNames(join(dir, 'semantic-layer', connection)),
      );
    case 'query':
      return connectionNames(dir).flatMap((connection) =>
        yamlFileNames(join(dir, 'semantic-layer', connection, 'queries')),
      );
    case 'subject':
      return word.startsWith('q_') ? queryIds(dir) : searchIndex(dir, word);
    case 'field':
    case 'metric':
    case 'segment':
      return searchIndex(dir, word, kind).map((subject) => subject.slice(subject.indexOf('.') + 1));
  }
  return kind satisfies never;
}

/**
 * The keys under `connections:`. A regular expression, so that it works while the file is being
 * edited.
 */
function connectionNames(dir: string): readonly string[] {
  const [, section = ''] =
    /^connections:[^\n]*\n((?:[ \t]+[^\n]*\n?|#[^\n]*\n?|\n)*)/m.exec(
      readTextOrNothing(join(dir, 'ktx.yaml'), dir),
    ) ?? [];
  const depth = /^([ \t]+)[^\s#]/m.exec(section)?.[1] ?? '  ';
  return [...section.matchAll(/^([ \t]+)["']?([\w-]+)["']?:/gm)].flatMap(([, indent, name = '']) =>
    indent === depth ? [name] : [],
  );
}

/** Names of the YAML files in the folder, without extension. */
function yamlFileNames(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((file) =>
    /\.ya?ml$/.test(file) ? [basename(file).replace(/\.ya?ml$/, '')] : [],
  );
}

/** `file` is a path without extension. */
function caseIds(dir: string, file: string): readonly string[] {
  const path = [`${file}.yaml`, `${file}.yml`].find((candidate) => existsSync(candidate));
  if (path === undefined) return [];
  return [
    ...readTextOrNothing(path, dir).matchAll(/^\s*(?:-\s+\{?\s*)?id:\s*["']?([\w.-]+)/gm),
  ].map(([, id = '']) => id);
}

/** Ids of queries in the log of tool calls, the newest last. */
function queryIds(dir: string): readonly string[] {
  const path = join(projectPaths(dir).logs, 'tools.jsonl');
  return [...readTextOrNothing(path, dir).matchAll(/"(q_[0-9a-z]{8,})"/g)].map(([, id = '']) => id);
}

/**
 * Subjects in the search index of the last search or ingest. With a kind, those whose part after
 * the connection starts with the word.
 */
function searchIndex(dir: string, word: string, kind?: string): readonly string[] {
  const path = projectPaths(dir).stateDb;
  // Opening a pipe would wait for a writer.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return [];
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const ofKind =
      "kind = :kind AND substr(subject, instr(subject, '.') + 1, length(:word)) = :word";
    const ofAnyKind =
      ":kind IS NULL AND kind <> 'relationship' AND substr(subject, 1, length(:word)) = :word";
    const sql = `SELECT subject FROM search_documents_4 WHERE (${ofKind}) OR (${ofAnyKind}) ORDER BY subject LIMIT ${maxNames}`;
    return db
      .prepare(sql)
      .all({ word, kind: kind ?? null })
      .map(({ subject }) => String(subject));
  } finally {
    db.close();
  }
}
