import { DatabaseSync } from 'node:sqlite';
import type { GeneratedDatabase } from './generated-database.ts';

/**
 * Writes the database to a SQLite file. It declares no links, and primary keys only if `declares`
 * says so.
 */
export function writeDatabase(
  path: string,
  { tables, copies = [], truth }: GeneratedDatabase,
  declares: 'nothing' | 'keys' = 'nothing',
): void {
  const db = new DatabaseSync(path);
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  const create = (name: string, columns: GeneratedDatabase['tables'][number]['columns']): void => {
    const key = declares === 'keys' ? truth.primary_keys[name] : undefined;
    const declared = key === undefined ? [] : [`PRIMARY KEY (${key.map(quote).join(', ')})`];
    db.exec(
      `CREATE TABLE ${quote(name)} (${[...columns.map((column) => `${quote(column.name)} ${column.type}`), ...declared].join(', ')})`,
    );
  };
  for (const { name, columns } of tables) {
    create(name, columns);
    const insert = db.prepare(
      `INSERT INTO ${quote(name)} VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (let row = 0; row < (columns[0]?.values.length ?? 0); row += 1)
      insert.run(...columns.map(({ values }) => values[row] ?? null));
  }
  for (const copy of copies) {
    if ('view' in copy) {
      db.exec(`CREATE VIEW ${quote(copy.name)} AS ${copy.view}`);
      continue;
    }
    create(copy.name, tables.find(({ name }) => name === copy.partOf)?.columns ?? []);
    const rows = `SELECT * FROM ${quote(copy.partOf)} WHERE ${copy.where}`;
    db.exec(`INSERT INTO ${quote(copy.name)} ${rows}`);
  }
  db.exec('COMMIT');
  db.close();
}
