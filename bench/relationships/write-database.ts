import { DatabaseSync } from 'node:sqlite';
import type { GeneratedDatabase } from './generated-database.ts';

/**
 * Writes the database to a SQLite file. It declares no links, and primary keys only if `declares`
 * says so.
 */
export function writeDatabase(
  path: string,
  { tables, truth }: GeneratedDatabase,
  declares: 'nothing' | 'keys' = 'nothing',
): void {
  const db = new DatabaseSync(path);
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  for (const { name, columns } of tables) {
    const key = declares === 'keys' ? truth.primary_keys[name] : undefined;
    const declared = key === undefined ? [] : [`PRIMARY KEY (${key.map(quote).join(', ')})`];
    db.exec(
      `CREATE TABLE ${quote(name)} (${[...columns.map((column) => `${quote(column.name)} ${column.type}`), ...declared].join(', ')})`,
    );
    const insert = db.prepare(
      `INSERT INTO ${quote(name)} VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (let row = 0; row < (columns[0]?.values.length ?? 0); row += 1)
      insert.run(...columns.map(({ values }) => values[row] ?? null));
  }
  db.exec('COMMIT');
  db.close();
}
