import type { State } from '../../store/state.ts';
import type { KeptEdit } from '../report.ts';

const wiki = 'wiki';

/**
 * The edits in these warehouses and the wiki that the last run did not meet; remembers all of them
 * for the next run. Without `state.db` all edits count as new.
 */
export function findNewEdits(
  { db }: State,
  connections: readonly string[],
  edits: readonly KeptEdit[],
): KeptEdit[] {
  db.exec(
    'CREATE TABLE IF NOT EXISTS met_edits (connection TEXT PRIMARY KEY, marks TEXT NOT NULL)',
  );
  const select = db.prepare('SELECT marks FROM met_edits WHERE connection = ?');
  const save = db.prepare('INSERT OR REPLACE INTO met_edits VALUES (?, ?)');
  return [...connections, wiki].flatMap((connection) => {
    const folder = connection === wiki ? 'wiki/' : `semantic-layer/${connection}/`;
    const editsInFolder = edits.filter(({ at }) => at.startsWith(folder));
    const marks = select.get(connection)?.['marks'];
    const known = new Set(typeof marks === 'string' ? marks.split(' ') : []);
    save.run(connection, editsInFolder.map(({ mark }) => mark).join(' '));
    return editsInFolder.filter(({ mark }) => !known.has(mark));
  });
}
