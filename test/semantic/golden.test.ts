import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as readYaml, loadAll } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { loadAnalyzer, parseSql } from '../../src/sql/analyzer.ts';
import { type Dialect, timeGrains } from '../../src/sql/dialect.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { type EngineName, engineWith, rowsOf } from '../conformance/engines.ts';
import { dialectNames } from '../support/dialect-names.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { differences } from './golden/differences.ts';
import { compile, load } from './shop.ts';

/**
 * What each dialect makes of fixed queries: `duckdb.sql` has them in full, a file of each other
 * dialect has the lines that differ, but for the quotes of names. `npx vitest run
 * test/semantic/golden.test.ts -u` writes them anew.
 */
const folder = join(import.meta.dirname, 'golden');
const files = Object.fromEntries(
  loadAll(readFileSync(join(folder, 'model.yaml'), 'utf8')).map((one) => {
    const { dataset } = z.looseObject({ dataset: z.string() }).parse(one);
    return [dataset, JSON.stringify(one)];
  }),
);
const topics = z
  .record(z.string(), z.record(z.string(), z.unknown()))
  .parse(readYaml(readFileSync(join(folder, 'queries.yaml'), 'utf8')));
const queries = Object.entries(topics).flatMap(([topic, named]) =>
  Object.entries(named).map(([name, query]) => ({ topic, name, query: querySchema.parse(query) })),
);

interface Compiled {
  readonly topic: string;
  readonly name: string;
  readonly sql: string | UserError;
}

async function compiled(dialect: Dialect): Promise<readonly Compiled[]> {
  const { model, diagnostics } = await load(files, dialect);
  expect(diagnostics).toEqual([]);
  return queries.map(({ query, ...named }) => {
    try {
      return { ...named, sql: compile(model, query).sql };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { ...named, sql: error };
    }
  });
}

interface Golden {
  readonly title: string;
  readonly lines: readonly string[];
}

const base = findDialect('duckdb');

async function goldens(dialect: Dialect): Promise<readonly Golden[]> {
  const asked = (await compiled(dialect)).map(({ topic, name, sql }) => {
    return {
      title: `${topic}: ${name}`,
      text: typeof sql === 'string' ? sql : `-- ${sql.code}: ${sql.message}`,
    };
  });
  return [...asked, ...zones(dialect)].map(({ title, text }) => ({
    title,
    lines: text.split('\n'),
  }));
}

/** Periods of instants, which a query cuts in its time zone. */
function zones(dialect: Dialect) {
  return ['UTC', 'Europe/Paris'].flatMap((timezone) =>
    timeGrains.map((grain) => {
      const title = `${grain} in ${timezone}`;
      try {
        const text = `SELECT ${dialect.truncate(grain, dialect.quote('at'), { type: 'datetime_tz', weekStart: 'sunday', timezone })}`;
        expect(parseSql(text, dialect)).toHaveLength(1);
        return { title, text };
      } catch (error) {
        expect(error).toMatchObject({ code: 'not_supported' });
        return { title, text: `-- ${String(error)}` };
      }
    }),
  );
}

/**
 * With the quotes of the base; a line that has some of those already stays as it is, so that none
 * is taken for another.
 */
function plainlyQuoted(line: string, dialect: Dialect): string {
  const [open = '', close = ''] = dialect.quote('|').split('|');
  if (line.includes('"')) return line;
  return line.replaceAll(open, '"').replaceAll(close, '"');
}

test(`the SQL of ${base.name} is as it was`, async () => {
  await loadAnalyzer();
  const text = (await goldens(base)).map(
    ({ title, lines }) => `-- ${title}\n${lines.join('\n')};\n`,
  );
  await expect(text.join('\n')).toMatchFileSnapshot(join(folder, `${base.name}.sql`));
});

describe.each(dialectNames)('the SQL of %s', (name) => {
  const dialect = findDialect(name);

  test.skipIf(name === base.name)('differs from the base as it did', async () => {
    await loadAnalyzer();
    const full = new Map((await goldens(base)).map(({ title, lines }) => [title, lines]));
    const changes = (await goldens(dialect)).flatMap(({ title, lines }) => {
      const own = differences(
        full.get(title) ?? [],
        lines.map((line) => plainlyQuoted(line, dialect)),
      );
      return own.length === 0 ? [] : [`@ ${title}\n${own.join('\n')}\n`];
    });
    const head = `Names are quoted as ${dialect.quote('name')}. What differs from ${base.name}.sql:\n\n`;
    await expect(head + changes.join('\n')).toMatchFileSnapshot(join(folder, `${name}.diff`));
  });

  test('parses by the grammar of the engine, and is refused only where the engine cannot', async () => {
    await loadAnalyzer();
    const all = await compiled(dialect);
    for (const { sql } of all)
      if (typeof sql === 'string') expect(parseSql(sql, dialect)).toHaveLength(1);
    const refused = all.filter(({ sql }) => typeof sql !== 'string').map((one) => one.name);
    const lacking: Readonly<Record<string, readonly string[]>> = {
      clickhouse: ['top and others'],
    };
    expect(refused).toEqual(lacking[name] ?? []);
  });
});

/** Numbers as numbers, times without what is zero, so that engines can be compared. */
function plain(cell: unknown): unknown {
  if (cell === null) return null;
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  if (/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text)) return Number(Number(text).toPrecision(9));
  return text.replace('T', ' ').replace(/\.0+$/, '');
}

type Rows = readonly (readonly unknown[])[];

async function rowsWith(
  dialect: Dialect,
  rows: (sql: string) => Promise<Rows>,
): Promise<Record<string, Rows>> {
  const answers: Record<string, Rows> = {};
  for (const { name, sql } of await compiled(dialect)) {
    if (typeof sql === 'string') answers[name] = (await rows(sql)).map((row) => row.map(plain));
  }
  return answers;
}

describe('the fixed queries', () => {
  const script = readFileSync(join(folder, 'data.sql'), 'utf8');
  let first: Record<string, Rows>;

  const onEngine = async (name: EngineName) => {
    const engine = await engineWith(name, script);
    try {
      return await rowsWith(engine.warehouse.dialect, (sql) => rowsOf(engine, sql));
    } finally {
      await engine.close();
    }
  };

  beforeAll(async () => {
    first = await onEngine('duckdb');
  });

  test('have rows, as pinned', async () => {
    expect(Object.values(first).filter((rows) => rows.length === 0)).toEqual([]);
    const lines = Object.entries(first).map(
      ([name, rows]) => `${name}:\n${rows.map((row) => `  ${JSON.stringify(row)}\n`).join('')}`,
    );
    await expect(lines.join('')).toMatchFileSnapshot(join(folder, 'rows.txt'));
  });

  test.each(['sqlite', 'postgres'] as const)('have the same rows on %s', async (name) => {
    expect(await onEngine(name)).toEqual(first);
  });

  test.skipIf(!hasMariadb)('have the same rows on MariaDB', async () => {
    expect(await onEngine('mysql')).toEqual(first);
  });
});
