import type { DatabaseSync } from 'node:sqlite';

/** How lines are merged, step by step: each step leaves out more of a line. Sums stay exact. */
const folds: readonly Readonly<Record<string, string>>[] = [
  { at: 'substr(at, 1, 10)', call: "''" },
  { at: 'substr(at, 1, 7)', call: "''", run: "''" },
  { at: 'substr(at, 1, 4)', call: "''", run: "''", tool: "''" },
  { at: 'substr(at, 1, 4)', call: "''", run: "''", tool: "''", source: "'*'", col: "'*'" },
];

const keptColumns = 'at run call stage tool connection source col kind backend host model'.split(
  ' ',
);

/**
 * If there are more than `maxLines`, merges all but the newest half as many, step by step until
 * they fit.
 */
export function foldOldLines(db: DatabaseSync, maxLines: number): void {
  for (const replaced of folds) {
    const lines = countLines(db);
    if (lines <= maxLines) return;
    foldOldest(db, lines - Math.floor(maxLines / 2), replaced);
  }
}

/** Merged lines get the id of their oldest one, so that the order of ids stays that of time. */
function foldOldest(
  db: DatabaseSync,
  count: number,
  replaced: Readonly<Record<string, string>>,
): void {
  const folded = keptColumns.map((column) => `${replaced[column] ?? column} AS ${column}`);
  const positions = keptColumns.map((_, index) => index + 1);
  const older = `id IN (SELECT id FROM sent ORDER BY id LIMIT ${count})`;
  const columns = [...keptColumns, 'calls', 'vals', 'id'].join(', ');
  db.exec(
    `CREATE TEMP TABLE folded AS
       SELECT ${folded.join(', ')}, sum(calls) AS calls, sum(vals) AS vals, min(id) AS id
       FROM sent WHERE ${older} GROUP BY ${positions.join(', ')};
     DELETE FROM sent WHERE ${older};
     INSERT INTO sent (${columns}) SELECT ${columns} FROM temp.folded;
     DROP TABLE temp.folded;`,
  );
}

function countLines(db: DatabaseSync): number {
  return Number(db.prepare('SELECT count(*) AS n FROM sent').get()?.['n']);
}
