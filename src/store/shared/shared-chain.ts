import type { StateDatabase, StateRow } from './state-database.ts';

/** A text of the chain, and its place from 1. */
export interface ChainLink {
  readonly seq: number;
  readonly text: string;
}

/** Texts in one order for all servers, of which each may name the one before. */
export type SharedChain = ReturnType<typeof openSharedChain>;

export const chainTables = [
  'CREATE TABLE IF NOT EXISTS ktx_audit (seq BIGINT PRIMARY KEY, text TEXT NOT NULL)',
];

/** Links that are read at once. */
const pageSize = 2_000;

/** Tries of one server whose place another one took. Each time some server gets on. */
const mostTries = 200;

export function openSharedChain(db: StateDatabase) {
  const last = async (): Promise<ChainLink | undefined> => {
    const sql = 'SELECT seq, text FROM ktx_audit ORDER BY seq DESC LIMIT 1';
    const [row] = await db.run(sql);
    return row && readLink(row);
  };
  return {
    last,
    /** The text at that place. */
    async find(seq: number): Promise<string | undefined> {
      const [row] = await db.run('SELECT seq, text FROM ktx_audit WHERE seq = $1', [seq]);
      return row && readLink(row).text;
    },
    /** The links after that one, as far as they are read at once. */
    read: async (after: number): Promise<readonly ChainLink[]> => {
      const sql = `SELECT seq, text FROM ktx_audit WHERE seq > $1 ORDER BY seq LIMIT ${pageSize}`;
      return (await db.run(sql, [after])).map(readLink);
    },
    /** Removes the first links, up to that one. */
    removeThrough: async (seq: number): Promise<void> =>
      void (await db.run('DELETE FROM ktx_audit WHERE seq <= $1', [seq])),
    /**
     * Appends what `make` makes for the link that is then the last one, all or nothing. It is asked
     * again if another server was faster. Returns the new last link.
     */
    async append(
      make: (last: ChainLink | undefined) => readonly ChainLink[],
    ): Promise<ChainLink | undefined> {
      for (let tries = 1; ; tries += 1) {
        const links = make(await last());
        if (links.length === 0) return undefined;
        const places = links.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`);
        const values = links.flatMap(({ seq, text }) => [seq, text]);
        try {
          await db.run(`INSERT INTO ktx_audit (seq, text) VALUES ${places.join(', ')}`, values);
          return links.at(-1);
        } catch (error) {
          if (!db.isConflict(error) || tries >= mostTries) throw error;
        }
      }
    },
  };
}

function readLink({ seq, text }: StateRow): ChainLink {
  return { seq: Number(seq), text: String(text) };
}
