import { UserError } from '../../lib/error.ts';
import { openSealedText, sealText } from '../../store/ownership/sealed-text.ts';
import { openState, type State } from '../../store/state.ts';

/** The result of a check of a key. */
export interface StoredCount {
  /** Undefined if the check failed. */
  readonly found?: number | undefined;
  /** The state of the table at that time; undefined if the warehouse cannot tell. */
  readonly marker?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type ProofStore = ReturnType<typeof openProofStore>;

/**
 * The results of key checks in `.ktx/state.db`, by the hash of their statement. Sealed, so that
 * nobody else can declare a key proven. In a folder that cannot be written, nothing is stored and
 * nothing is known.
 */
export function openProofStore(dir: string, connection: string) {
  const state = tryOpenState(dir);
  state?.db.exec(
    'CREATE TABLE IF NOT EXISTS key_proofs (connection TEXT, id TEXT, value TEXT, PRIMARY KEY (connection, id))',
  );
  return {
    load(id: string): StoredCount | undefined {
      const row = state?.db
        .prepare('SELECT value FROM key_proofs WHERE connection = ? AND id = ?')
        .get(connection, id);
      const text = row && state && openSealedText(state.db, row['value']);
      return text === undefined ? undefined : JSON.parse(text);
    },
    save(id: string, value: StoredCount): void {
      if (state === undefined) return;
      state.db
        .prepare('INSERT OR REPLACE INTO key_proofs VALUES (?, ?, ?)')
        .run(connection, id, sealText(state.db, JSON.stringify(value)));
    },
    close: () => state?.close(),
  };
}

function tryOpenState(dir: string): State | undefined {
  try {
    return openState(dir);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
