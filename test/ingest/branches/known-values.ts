import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

/**
 * What the files of a project say, by place: each value of a dataset file, each section of a page.
 */
export function valuesOf(dir: string): Map<string, string> {
  const values = new Map<string, string>();
  const walk = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) values.set(path, String(value));
    else
      for (const [key, inner] of Object.entries(value)) {
        const name = (inner as { name?: unknown } | null)?.name;
        walk(`${path}.${typeof name === 'string' ? name : key}`, inner);
      }
  };
  for (const [path, text] of filesIn(dir, ['semantic-layer', 'wiki']))
    if (path.endsWith('.yaml')) walk(path, load(text));
    else for (const section of text.split(/^## /m).slice(1)) addSection(values, path, section);
  return values;
}

function addSection(values: Map<string, string>, path: string, section: string): void {
  const [title = '', ...lines] = section.split('\n');
  values.set(`${path} ${title}`, lines.join('\n').trim());
}

/** The words of people in each file: `path: person ours 0`. */
export function personsWords(dir: string): Set<string> {
  const words = new Set<string>();
  for (const [path, text] of filesIn(dir, ['semantic-layer', 'wiki', 'docs', 'sources/notes']))
    for (const [match] of text.matchAll(/person[ _]\w+?[ _]\d/g)) words.add(`${path}: ${match}`);
  return words;
}

function filesIn(dir: string, folders: readonly string[]): [path: string, text: string][] {
  return folders
    .filter((folder) => existsSync(join(dir, folder)))
    .flatMap((folder) =>
      readdirSync(join(dir, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name}`)
        .filter((path) => statSync(join(dir, path)).isFile())
        .sort()
        .map((path): [string, string] => [path, readLines(join(dir, path))]),
    );
}

/** The text of a file, whatever ends its lines. */
function readLines(file: string): string {
  return readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
}
