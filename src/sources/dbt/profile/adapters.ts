import { isAbsolute, join } from 'node:path';
import { isRecord } from '../../../lib/json.ts';

/** A target of a profile, as it is written. */
export type Output = Readonly<Record<string, unknown>>;

interface AdapterInput {
  /** Values without templates, by their keys in the target. */
  readonly values: ReadonlyMap<string, string | number | boolean>;
  readonly output: Output;
  /** Paths of files start there. */
  readonly folder: string;
}

type AdapterResult =
  | {
      readonly settings: Readonly<Record<string, unknown>>;
      readonly schema: string | undefined;
      readonly notes: readonly string[];
    }
  | { readonly fault: string; readonly hint: string };

/** How the target of one type of dbt becomes a connection of ktx. */
interface Adapter {
  /** Of ktx. */
  readonly driver: string;
  /** Keys that the connection needs: what cannot be read of them is an error. */
  readonly keys: readonly string[];
  /** Keys that may have the password. */
  readonly secrets: readonly string[];
  readonly read: (input: AdapterInput) => AdapterResult;
}

const duckdb: Adapter = {
  driver: 'duckdb',
  keys: ['path', 'schema'],
  secrets: [],
  read: ({ values, output, folder }) => {
    const path = textOf(values, 'path') ?? ':memory:';
    if (path === ':memory:')
      return {
        fault: 'the database is in memory and ends with dbt',
        hint: 'give `path` a file in profiles.yml',
      };
    if (/^(?:md|motherduck):/i.test(path) || /^\w+:\/\//.test(path))
      return {
        fault: `${path} is not a file`,
        hint: 'ktx opens DuckDB files: copy the database to one',
      };
    const attached = Array.isArray(output['attach']) ? output['attach'].length : 0;
    return {
      settings: { path: fileIn(folder, path) },
      schema: textOf(values, 'schema') ?? 'main',
      notes:
        attached === 0
          ? []
          : [`dbt attaches ${attached} more databases: ktx reads the first file only.`],
    };
  },
};

const sqlite: Adapter = {
  driver: 'sqlite',
  keys: ['schema'],
  secrets: [],
  read: ({ values, output, folder }) => {
    const paths = isRecord(output['schemas_and_paths']) ? output['schemas_and_paths'] : {};
    const schema = textOf(values, 'schema') ?? 'main';
    const path = paths[schema] ?? paths['main'];
    if (typeof path !== 'string' || path.includes('{{'))
      return {
        fault: `schemas_and_paths has no file for ${schema}`,
        hint: 'give --driver sqlite --path <file>',
      };
    const others = Object.keys(paths).length - 1;
    return {
      settings: { path: fileIn(folder, path) },
      schema,
      notes: others === 0 ? [] : [`dbt attaches ${others} more files: add a connection for each.`],
    };
  },
};

const postgresModes: Readonly<Record<string, string>> = {
  disable: 'off',
  allow: 'no-verify',
  prefer: 'no-verify',
  require: 'no-verify',
  'verify-ca': 'verify',
  'verify-full': 'verify',
};

const postgres: Adapter = {
  driver: 'postgres',
  keys: ['host', 'port', 'user', 'dbname', 'database', 'schema', 'sslmode'],
  secrets: ['password', 'pass'],
  read: ({ values }) => ({
    settings: withoutEmpty({
      host: textOf(values, 'host'),
      port: values.get('port'),
      user: textOf(values, 'user'),
      database: textOf(values, 'dbname') ?? textOf(values, 'database'),
      ssl: postgresModes[textOf(values, 'sslmode') ?? ''],
    }),
    schema: textOf(values, 'schema'),
    notes: [],
  }),
};

const redshift: Adapter = {
  driver: 'redshift',
  keys: [...postgres.keys, 'method'],
  secrets: postgres.secrets,
  read: (input) => {
    const method = textOf(input.values, 'method') ?? 'database';
    if (method === 'database') return postgres.read(input);
    return {
      fault: `dbt logs in to Redshift by ${method}, which ktx cannot yet`,
      hint: 'give --driver redshift --url env:NAME, with a user and a password of the database',
    };
  },
};

const mysql: Adapter = {
  driver: 'mysql',
  keys: ['server', 'host', 'port', 'username', 'user', 'schema', 'database'],
  secrets: ['password', 'pass'],
  read: ({ values }) => {
    // In MySQL, a schema is a database.
    const database = textOf(values, 'schema') ?? textOf(values, 'database');
    return {
      settings: withoutEmpty({
        host: textOf(values, 'server') ?? textOf(values, 'host') ?? textOf(values, 'unix_socket'),
        port: values.get('port'),
        user: textOf(values, 'username') ?? textOf(values, 'user'),
        database,
        ssl: values.get('ssl_disabled') === true ? 'off' : undefined,
      }),
      schema: database,
      notes: [],
    };
  },
};

/** Ports of the protocol that ktx does not speak. */
const nativePorts: readonly unknown[] = [9000, 9440];

const clickhouse: Adapter = {
  driver: 'clickhouse',
  keys: ['host', 'port', 'user', 'schema', 'secure', 'verify'],
  secrets: ['password', 'pass'],
  read: ({ values }) => {
    const port = values.get('port');
    const isNative = values.get('driver') === 'native' || nativePorts.includes(port);
    const isSecure = values.get('secure') === true;
    const checks = values.get('verify') === false ? 'no-verify' : 'verify';
    const database = textOf(values, 'schema') ?? 'default';
    return {
      settings: withoutEmpty({
        host: textOf(values, 'host') ?? 'localhost',
        port: isNative ? undefined : port,
        user: textOf(values, 'user'),
        database,
        ssl: isSecure ? checks : 'off',
      }),
      schema: database,
      notes: isNative
        ? [
            'dbt uses the native protocol; ktx uses HTTP, on its usual port: set port if it is another.',
          ]
        : [],
    };
  },
};

/** By the `type` of a target. */
export const adapters: ReadonlyMap<string, Adapter> = new Map([
  ['duckdb', duckdb],
  ['sqlite', sqlite],
  ['postgres', postgres],
  ['redshift', redshift],
  ['mysql', mysql],
  ['mysql5', mysql],
  ['mariadb', mysql],
  ['clickhouse', clickhouse],
]);

function textOf(values: AdapterInput['values'], key: string): string | undefined {
  const value = values.get(key);
  return value === undefined || value === '' ? undefined : String(value);
}

function fileIn(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path).replaceAll('\\', '/');
}

function withoutEmpty(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
