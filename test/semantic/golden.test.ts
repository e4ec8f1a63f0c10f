import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as readYaml, loadAll } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import { querySchema } from '../../src/semantic/query.ts';
import { loadAnalyzer, parseSql } from '../../src/sql/analyzer.ts';
import { type Dialect, timeGrains } from '../../src/sql/dialect.ts';
import { dialectNamed } from '../../src/sql/dialects.ts';
import { type EngineName, engineWith, rowsOf } from '../conformance/engines.ts';
import { dialectNames } from '../support/dialect-names.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { compile, load } from './shop.ts';

/** What each dialect makes of fixed queries, one file a topic: `npx vitest run test/semantic/golden.test.ts -u` writes them anew. */
const folder = join(import.meta.dirname, 'golden');
const files = Object.fromEntries(
  loadAll(readFileSync(join(folder, 'model.yaml'), 'utf8')).map((one) => {
    const { dataset } = z.looseObject({ dataset: z.string() }).parse(one);
    return [dataset, JSON.stringify(one)];
  }),
);
const topics = z.record(z.string(), z.record(z.string(), z.unknown())).parse(readYaml(readFileSync(join(folder, 'queries.yaml'), 'utf8')));
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

describe.each(dialectNames)('the SQL of %s', (name) => {
  const dialect = dialectNamed(name);

  test.each(Object.keys(topics))('for %s is as it was', async (topic) => {
    const all = (await compiled(dialect)).filter((one) => one.topic === topic);
    const text = all.map(
      ({ name: title, sql }) => `-- ${title}\n${typeof sql === 'string' ? `${sql};` : `-- ${sql.code}: ${sql.message}`}\n`,
    );
    await expect(text.join('\n')).toMatchFileSnapshot(join(folder, name, `${topic}.sql`));
  });

  test('for instants in a time zone is as it was, and parses', async () => {
    await loadAnalyzer();
    const lines = ['UTC', 'Europe/Paris'].flatMap((timezone) =>
      timeGrains.map((grain) => {
        const title = `-- ${grain} in ${timezone}`;
        try {
          const sql = `SELECT ${dialect.truncate(grain, dialect.quote('at'), { type: 'datetime_tz', weekStart: 'sunday', timezone })}`;
          expect(parseSql(sql, dialect)).toHaveLength(1);
          return `${title}\n${sql};\n`;
        } catch (error) {
          expect(error).toMatchObject({ code: 'not_supported' });
          return `${title}\n-- ${String(error)}\n`;
        }
      }),
    );
    await expect(lines.join('')).toMatchFileSnapshot(join(folder, name, 'zones.sql'));
  });

  test('parses by the grammar of the engine, and is refused only where the engine cannot', async () => {
    await loadAnalyzer();
    const all = await compiled(dialect);
    for (const { sql } of all) if (typeof sql === 'string') expect(parseSql(sql, dialect)).toHaveLength(1);
    const refused = all.filter(({ sql }) => typeof sql !== 'string').map((one) => one.name);
    expect(refused).toEqual([
      ...(['mysql', 'sqlserver'].includes(name) ? ['median', 'percentile'] : []),
      ...(['duckdb', 'sqlite', 'postgres'].includes(name) ? [] : ['filled']),
    ]);
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

async function rowsWith(dialect: Dialect, rows: (sql: string) => Promise<Rows>): Promise<Record<string, Rows>> {
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
    const lines = Object.entries(first).map(([name, rows]) => `${name}:\n${rows.map((row) => `  ${JSON.stringify(row)}\n`).join('')}`);
    await expect(lines.join('')).toMatchFileSnapshot(join(folder, 'rows.txt'));
  });

  test.each(['sqlite', 'postgres'] as const)('have the same rows on %s', async (name) => {
    expect(await onEngine(name)).toEqual(first);
  });

  test.skipIf(!hasMariadb)('have the same rows on MariaDB', async () => {
    const answers = await onEngine('mysql');
    const { median, percentile, filled, ...wanted } = first;
    expect([median, percentile, filled]).not.toContain(undefined);
    expect(answers).toEqual(wanted);
  });
});
