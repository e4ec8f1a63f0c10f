import type { Item } from '../../source.ts';
import { type Known, readCall, render } from './jinja.ts';
import { type Reading, resolved } from './yaml-reader.ts';

/** What `{{ config(…) }}` in a model's own file sets, where it is written out. */
export function configIn(body: string): Readonly<Record<string, Known>> {
  const calls = [...body.matchAll(/\{\{-?\s*(config\s*\(.*?\))\s*-?\}\}/gs)].flatMap(
    ([, text = '']) => readCall(text) ?? [],
  );
  return Object.fromEntries(calls.flatMap(({ named }) => [...named]));
}

/** The names of the snapshots in a file. */
export function snapshotsIn(body: string): string[] {
  return [...body.matchAll(/\{%-?\s*snapshot\s+(\w+)\s*-?%\}/g)].map(([, name = '']) => name);
}

/** SQL with the tables in place of `ref` and `source`. */
export interface ModelSql {
  readonly text: string;
  /** `ref` and `source` of what the project does not have. */
  readonly unknown: readonly string[];
}

/** Resolves what code can; the rest (macros, conditions) stays in the text as it is written. */
export function modelSql(
  { body }: Item,
  reading: Reading,
  tableOf: (written: string) => string | undefined,
): ModelSql {
  const unknown: string[] = [];
  const isReference = (text: string) => /^(ref|source)\s*\(/.test(text);
  const { text } = render(resolved(reading, body).text, ({ name, positional, named }) => {
    if (name === 'config') return '';
    if (name !== 'ref' && name !== 'source') return undefined;
    const version = named.get('v') ?? named.get('version');
    const names = positional.map((one) => `'${String(one)}'`);
    return tableOf(
      `${name}(${[...names, ...(version === undefined ? [] : [`v=${String(version)}`])].join(', ')})`,
    );
  });
  for (const [, left = ''] of text.matchAll(/\{\{-?\s*(.*?)\s*-?\}\}/gs))
    if (isReference(left)) unknown.push(left);
  return { text: text.trim(), unknown };
}

/** Whether a query decides something: it leaves rows out, sums up, or names cases. Plain selections need no reading. */
export function hasMeaning(sql: string): boolean {
  return /\b(where|having|case|group\s+by|qualify|distinct|over\s*\()/i.test(
    sql.replaceAll(/--.*$/gm, ''),
  );
}
