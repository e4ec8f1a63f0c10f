import type { Catalog } from '../../context/catalog/catalog.ts';
import { sha256, shortHash } from '../../lib/hash.ts';
import { parseJson } from '../../lib/json.ts';
import { openSealedText, sealText } from '../../store/ownership/sealed-text.ts';
import type { State } from '../../store/state.ts';
import { readPackageStamp } from '../../store/package-stamp.ts';

/** Which statements the warehouse has answered already, so that they are not sent again. */
export interface PassedProbes {
  readonly has: (sql: string) => boolean;
  readonly add: (sql: string) => void;
}

export interface PassedCheck {
  readonly probes: PassedProbes;
  /** True if dataset files with this hash passed as a whole. */
  readonly hasPassed: (model: string) => boolean;
  /** Forgets what this run did not ask about. `model` is the hash of files that passed. */
  readonly save: (model: string | undefined) => void;
}

interface CheckRecord {
  /** The hash of the dataset files that passed as a whole; empty for none. */
  readonly model: string;
  /** The hashes of the statements that passed, each with everything that they depend on. */
  readonly probes: readonly string[];
}

const emptyRecord: CheckRecord = { model: '', probes: [] };

interface CheckInputs {
  readonly catalog: Catalog;
  /** The text of `ktx.yaml`. */
  readonly configuration: string;
}

/**
 * What passed the check of a warehouse last, in `state.db`. Each entry counts for one state of the
 * warehouse's structure, of `ktx.yaml` and of ktx itself. Sealed, so that a file that somebody else
 * made says nothing. Only what passed is kept: a fault is found again in every run.
 */
export function openPassedCheck(
  state: State,
  { catalog, configuration }: CheckInputs,
): PassedCheck {
  const { db } = state;
  db.exec(
    'CREATE TABLE IF NOT EXISTS passed_probes (connection TEXT PRIMARY KEY, record NOT NULL)',
  );
  const { connection } = catalog;
  const record = loadRecord(state, connection);
  const inputs = sha256(JSON.stringify([readPackageStamp(), configuration, catalog]));
  const keyOf = (text: string) => shortHash(`${inputs}\0${text}`, 32);
  const known = new Set(record.probes);
  const passed = new Set<string>();
  const isLasting = lastingFinder(catalog);
  return {
    probes: {
      has: (sql) => {
        const key = keyOf(sql);
        const isKnown = known.has(key);
        if (isKnown) passed.add(key);
        return isKnown;
      },
      add: (sql) => void (isLasting(sql) && passed.add(keyOf(sql))),
    },
    hasPassed: (model) => record.model === keyOf(model),
    save: (model) => {
      const next = { model: model === undefined ? '' : keyOf(model), probes: [...passed].sort() };
      const sealed = sealText(db, JSON.stringify(next));
      db.prepare('INSERT OR REPLACE INTO passed_probes VALUES (?, ?)').run(connection, sealed);
    },
  };
}

function loadRecord({ db }: State, connection: string): CheckRecord {
  const row = db.prepare('SELECT record FROM passed_probes WHERE connection = ?').get(connection);
  const text = row && openSealedText(db, row['record']);
  // Nobody without the key can have written it.
  const record = text === undefined ? undefined : (parseJson(text) as CheckRecord | undefined);
  return record ?? emptyRecord;
}

/**
 * A function that tells whether the answer to a statement depends on nothing but the catalog. That
 * of one that may read a view depends on what stands behind the view, which the catalog need not
 * have.
 */
function lastingFinder({ tables }: Catalog): (sql: string) => boolean {
  const others = tables.filter(({ kind }) => kind !== 'table').map(({ table }) => table);
  if (others.some((name) => !/^\w+$/.test(name))) return () => false;
  const names = new Set(others.map((name) => name.toLowerCase()));
  return (sql) => !(sql.toLowerCase().match(/\w+/g) ?? []).some((word) => names.has(word));
}
