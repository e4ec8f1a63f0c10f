import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');
const files = globSync('**/*.ts', { cwd: source }).map((file) => file.replaceAll('\\', '/'));
const texts = files.map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }));

/** Type names that may be declared more than once, each with its reason. At most eight. */
const exceptions: ReadonlySet<string> = new Set([]);

/** Names that say that something is done, and not what. */
const emptyNames = new Set(
  'asked at context found here it note place plain said that told wanted'.split(' '),
);

/** The places of what a pattern names, by name: [name, files]. */
function declared(pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  const names = texts.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([, name = '']) => ({ name, file })),
  );
  return new Map(
    [...Map.groupBy(names, ({ name }) => name)].map(([name, places]) => [
      name,
      places.map(({ file }) => file),
    ]),
  );
}

const types = declared(/^(?:export )?(?:declare )?(?:interface|type|class|enum) (\w+)/gm);
const functions = declared(/^(?:export )?(?:async )?function\*? (\w+)/gm);

describe('names in src/', () => {
  test('a type name is declared once', () => {
    expect(types.size).toBeGreaterThan(400);
    expect(exceptions.size).toBeLessThanOrEqual(8);
    const repeated = [...types].filter(
      ([name, places]) => places.length > 1 && !exceptions.has(name),
    );
    expect(repeated, 'give the new type a name of its own, exported or not').toEqual([]);
  });

  test('no type or function has a name that says nothing', () => {
    const names = [...types, ...functions].filter(([name]) => emptyNames.has(name.toLowerCase()));
    expect(names).toEqual([]);
  });

  test('a lambda names what it is given', () => {
    const nameless = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/\((?:one|it|that|other)\) =>|\b(?:one|it|that) =>/g)].map(
        ([found]) => `${file}: ${found}`,
      ),
    );
    expect(nameless).toEqual([]);
  });
});
