import type { State } from '../../store/state.ts';
import type { KeptEdit } from '../report.ts';

const wiki = 'wiki';

/** Of all edits in these warehouses and the wiki, those that the last run did not meet. Where its memory is lost, all are new once more. */
export function findNewEdits(
  { db }: State,
  connections: readonly string[],
  edits: readonly KeptEdit[],
): KeptEdit[] {
  db.exec(
    'CREATE TABLE IF NOT EXISTS met_edits (connection TEXT PRIMARY KEY, marks TEXT NOT NULL)',
  );
  return [...connections, wiki].flatMap((connection) => {
    const own = edits.filter(({ at }) =>
      at.startsWith(connection === wiki ? 'wiki/' : `semantic-layer/${connection}/`),
    );
    const met = db.prepare('SELECT marks FROM met_edits WHERE connection = ?').get(connection)?.[
      'marks'
    ];
    const known = new Set(typeof met === 'string' ? met.split(' ') : []);
    db.prepare('INSERT OR REPLACE INTO met_edits VALUES (?, ?)').run(
      connection,
      own.map(({ mark }) => mark).join(' '),
    );
    return own.filter(({ mark }) => !known.has(mark));
  });
}
