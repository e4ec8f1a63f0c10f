import { UserError } from '../lib/error.ts';
import type { Dialect } from './dialect.ts';
import { duckdb } from './dialects/duckdb.ts';
import { postgres } from './dialects/postgres.ts';
import { sqlite } from './dialects/sqlite.ts';

/** The visible list: a new dialect is one file and one entry here. */
const dialects: readonly Dialect[] = [duckdb, postgres, sqlite];

export function dialectNamed(name: string): Dialect {
  const dialect = dialects.find((candidate) => candidate.name === name);
  if (dialect !== undefined) return dialect;
  const known = dialects.map((candidate) => candidate.name).join(', ');
  throw new UserError('unknown_dialect', `There is no SQL dialect named ${name}`, { hint: `Known: ${known}`, exitCode: 2 });
}
