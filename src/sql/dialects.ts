import { UserError } from '../lib/error.ts';
import { nearest } from '../lib/suggest.ts';
import type { Dialect } from './dialect.ts';
import { duckdb } from './dialects/duckdb.ts';
import { postgres } from './dialects/postgres.ts';
import { sqlite } from './dialects/sqlite.ts';

/** The visible list: a new dialect is one file and one entry here. */
export const dialects: readonly Dialect[] = [duckdb, postgres, sqlite];

export function dialectNamed(name: string): Dialect {
  const dialect = dialects.find((candidate) => candidate.name === name);
  if (dialect !== undefined) return dialect;
  const names = dialects.map((candidate) => candidate.name);
  throw new UserError('unknown_dialect', `There is no SQL dialect named ${name}`, {
    hint: `Known: ${nearest(name, names)[0] ?? names.join(', ')}`,
    exitCode: 2,
  });
}
