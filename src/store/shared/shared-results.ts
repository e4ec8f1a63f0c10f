import type { Json } from '../../lib/json.ts';
import type { StateDatabase } from './state-database.ts';

/** Results that were paid for, and that every worker and every ingest of the project finds. */
export type SharedResults = ReturnType<typeof openSharedResults>;

export const resultTables = [
  'CREATE TABLE IF NOT EXISTS ktx_results (key TEXT PRIMARY KEY, body TEXT NOT NULL, at BIGINT NOT NULL)',
];

/** Milliseconds after which a result that nobody asked for is removed. */
const longestUnused = 400 * 86_400_000;
/** Milliseconds between two notes that a result was asked for. */
const noteEvery = 86_400_000;

/** Keys of one statement. */
const keysAtOnce = 500;

const put = `INSERT INTO ktx_results (key, body, at) VALUES ($1, $2, $3)
  ON CONFLICT (key) DO UPDATE SET body = excluded.body, at = excluded.at`;

export function openSharedResults(db: StateDatabase, now: () => number = () => Date.now()) {
  return {
    /** Removes what nobody has asked for in more than a year. */
    tidy: async (): Promise<void> =>
      void (await db.run('DELETE FROM ktx_results WHERE at < $1', [now() - longestUnused])),
    /** Those of the keys that have a result. */
    async find(keys: readonly string[]): Promise<ReadonlyMap<string, Json>> {
      const found = new Map<string, Json>();
      for (let start = 0; start < keys.length; start += keysAtOnce) {
        const some = keys.slice(start, start + keysAtOnce);
        const places = some.map((_, index) => `$${index + 1}`).join(', ');
        const sql = `SELECT key, body FROM ktx_results WHERE key IN (${places})`;
        const [at, noted] = [some.length + 1, some.length + 2];
        const note = `UPDATE ktx_results SET at = $${at} WHERE key IN (${places}) AND at < $${noted}`;
        await db.run(note, [...some, now(), now() - noteEvery]);
        for (const { key, body } of await db.run(sql, some))
          found.set(String(key), JSON.parse(String(body)) as Json);
      }
      return found;
    },
    /** All whose key begins so. */
    async list(prefix: string): Promise<ReadonlyMap<string, Json>> {
      const having = [prefix, prefix.length] as const;
      const note = `UPDATE ktx_results SET at = $3 WHERE substr(key, 1, $2) = $1 AND at < $4`;
      await db.run(note, [...having, now(), now() - noteEvery]);
      const sql = 'SELECT key, body FROM ktx_results WHERE substr(key, 1, $2) = $1';
      const rows = await db.run(sql, having);
      return new Map(
        rows.map(({ key, body }) => [String(key), JSON.parse(String(body)) as Json] as const),
      );
    },
    keep: async (key: string, result: Json): Promise<void> =>
      void (await db.run(put, [key, JSON.stringify(result), now()])),
    /** Removes the results whose key begins so, and returns them. */
    async take(prefix: string): Promise<readonly Json[]> {
      const sql = 'DELETE FROM ktx_results WHERE substr(key, 1, $2) = $1 RETURNING body';
      const rows = await db.run(sql, [prefix, prefix.length]);
      return rows.map(({ body }) => JSON.parse(String(body)) as Json);
    },
  };
}
