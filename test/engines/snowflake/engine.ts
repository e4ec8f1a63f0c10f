import {
  type DuckdbRows,
  type EngineRows,
  attachedDatabases,
  openDuckdbRows,
} from '../duckdb-rows.ts';
import { catalogScript, showGrants, showKeys, type WireGrant } from './catalog.ts';

export interface EngineSettings {
  /** In DuckDB's dialect. Names without quotes become upper case, as Snowflake keeps them. */
  readonly script: string;
  readonly database: string;
  readonly grants: Readonly<Record<string, readonly WireGrant[]>>;
  readonly secondaryRoles?: readonly string[];
  /** The most rows that SHOW answers with. */
  readonly mostShown: number;
}

/** An error as the API writes it. */
export class SnowflakeFailure extends Error {
  readonly code: string;
  readonly sqlState: string;
  constructor(code: string, sqlState: string, message: string) {
    super(message);
    [this.code, this.sqlState] = [code, sqlState];
  }
}

interface StatementContext {
  readonly role: string;
  readonly schema: string;
  readonly signal: AbortSignal;
}

/** Runs statements of Snowflake's SQL on DuckDB. */
export interface SnowflakeEngine {
  run(sql: string, context: StatementContext): Promise<EngineRows>;
  /** Statements of DuckDB itself. */
  execute(script: string): Promise<void>;
  close(): void;
}

export async function openEngine(settings: EngineSettings): Promise<SnowflakeEngine> {
  const { database, script } = settings;
  const folded = foldNames(script);
  const duckdb = await openDuckdbRows(
    `ATTACH ':memory:' AS "${database}"; CREATE SCHEMA "${database}"."PUBLIC"; USE "${database}"."PUBLIC";
     ${catalogScript(database)} ${folded}; ${attachedDatabases(folded).map(catalogScript).join('')}`,
  );
  return {
    run: async (sql, context) => {
      try {
        return await runStatement(withoutComments(sql), { ...context, settings, duckdb });
      } catch (error) {
        throw context.signal.aborted ? cancelled() : failureOf(error);
      }
    },
    execute: (text) => duckdb.execute(foldNames(text)),
    close: () => duckdb.close(),
  };
}

interface EngineCall extends StatementContext {
  readonly settings: EngineSettings;
  readonly duckdb: DuckdbRows;
}

const result = (name: string, value: string): EngineRows => ({
  columns: [{ name, type: 'VARCHAR' }],
  rows: [[value]],
});

async function runStatement(sql: string, call: EngineCall): Promise<EngineRows> {
  const { settings, duckdb } = call;
  const { grants, mostShown: most } = settings;
  const grantsOf = /^SHOW GRANTS TO (?:DATABASE )?ROLE (.*)$/i.exec(sql)?.[1];
  if (grantsOf !== undefined) {
    const role = grantsOf.replaceAll('"', '');
    const found = grants[role];
    if (found === undefined)
      throw new SnowflakeFailure(
        '002003',
        '02000',
        `SQL compilation error:\nRole '${role}' does not exist or not authorized.`,
      );
    return showGrants(found, role);
  }
  const [, what, place, schema] =
    /^SHOW (PRIMARY KEYS|UNIQUE KEYS|IMPORTED KEYS) IN (?:DATABASE|SCHEMA) "([^"]*)"(?:\."([^"]*)")?$/i.exec(
      sql,
    ) ?? [];
  if (what !== undefined && place !== undefined)
    return showKeys(duckdb, { what: what as 'PRIMARY KEYS', database: place, schema, most });
  const explained = /^EXPLAIN USING JSON ([^]*)$/i.exec(sql)?.[1];
  if (explained !== undefined) return result('content', await explain(explained, call));
  if (/^(?:USE|PUT|GET|BEGIN|COMMIT|ROLLBACK|ALTER SESSION)\b/i.test(sql))
    throw new SnowflakeFailure('391911', '0A000', 'Unsupported statement type.');
  return query(sql, call);
}

function query(sql: string, { duckdb, settings, role, schema, signal }: EngineCall) {
  const { database, secondaryRoles = [] } = settings;
  const secondary = JSON.stringify({ roles: secondaryRoles.join(','), value: 'ALL' });
  const text = foldNames(sql)
    .replaceAll('CURRENT_ROLE()', `'${role}'`)
    .replaceAll('CURRENT_SECONDARY_ROLES()', `'${secondary}'`)
    .replaceAll('CURRENT_DATABASE()', `'${database}'`)
    .replaceAll(/("[^"]+")\.INFORMATION_SCHEMA\./g, '$1.META.');
  return duckdb.run(text, {
    dialect: 'snowflake',
    rewrite: (translated) =>
      `SET search_path = '${database}.${schema},${database}.PUBLIC'; ${mendForDuckdb(translated)}`,
    signal,
  });
}

const writing: Readonly<Record<string, string>> = {
  INSERT: 'Insert',
  UPDATE: 'Update',
  DELETE: 'Delete',
  MERGE: 'Merge',
  COPY: 'Unload',
  CREATE: 'CreateTableAsSelect',
};

/** Compiles the statement, runs nothing, and names what it would do. */
async function explain(sql: string, call: EngineCall): Promise<string> {
  const word = /^\w+/.exec(sql)?.[0].toUpperCase() ?? '';
  const tables = new Set<string>();
  const operation = writing[word];
  if (operation === undefined) {
    const { rows } = await query(
      `SELECT * FROM (${sql.replace(/;\s*$/, '')}\n) LIMIT 0`,
      call,
    ).then(() =>
      call.duckdb.run(
        `SELECT schema_name || '.' || table_name, estimated_size FROM duckdb_tables() WHERE database_name = '${call.settings.database}'`,
        { dialect: 'duckdb' },
      ),
    );
    const folded = foldNames(sql);
    for (const [name = ''] of rows)
      if (folded.includes(String(name).split('.')[1] ?? '')) tables.add(String(name));
  }
  const scans = [...tables].map((name, index) => ({
    id: index + 1,
    parentOperators: [0],
    operation: 'TableScan',
    objects: [`${call.settings.database}.${name}`],
    partitionsAssigned: 1,
    partitionsTotal: 1,
    bytesAssigned: 1024,
  }));
  return JSON.stringify({
    GlobalStats: {
      partitionsTotal: scans.length,
      partitionsAssigned: scans.length,
      bytesAssigned: 1024 * scans.length,
    },
    Operations: [[{ id: 0, operation: operation ?? 'Result', expressions: [] }, ...scans]],
  });
}

/** The analyzer writes intervals below zero, and a clock as a call, which DuckDB cannot read. */
function mendForDuckdb(written: string): string {
  const sql = written
    .replaceAll('CURRENT_TIMESTAMP()', 'CURRENT_TIMESTAMP')
    .replaceAll(/INTERVAL -(\d+) /g, 'INTERVAL (-$1) ');
  const start = sql.indexOf('INTERVAL -(');
  if (start < 0) return sql;
  let depth = 0;
  let end = start + 'INTERVAL -'.length;
  do {
    if (sql[end] === '(') depth += 1;
    if (sql[end] === ')') depth -= 1;
    end += 1;
  } while (depth > 0 && end < sql.length);
  const inner = sql.slice(start + 'INTERVAL -'.length, end);
  return `${sql.slice(0, start)}INTERVAL (-1 * ${inner})${mendForDuckdb(sql.slice(end))}`;
}

const tokens =
  /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"]|"")*"|\$\$[^]*?\$\$|--[^\n]*|\/\*[^]*?\*\/|[^'"$\-/]+|[^]/g;

/** Names and words without quotes in upper case. */
function foldNames(sql: string): string {
  return sql.replaceAll(tokens, (token) =>
    /^(?:['"$]|--|\/\*)/.test(token) ? token : token.toUpperCase(),
  );
}

function withoutComments(sql: string): string {
  return sql.replaceAll(tokens, (token) => (/^(?:--|\/\*)/.test(token) ? ' ' : token)).trim();
}

function cancelled(): SnowflakeFailure {
  return new SnowflakeFailure('000604', '57014', 'SQL execution canceled');
}

function failureOf(error: unknown): unknown {
  if (error instanceof SnowflakeFailure || !(error instanceof Error)) return error;
  const { message } = error;
  const compilation = 'SQL compilation error:';
  const column = /Referenced column "([^"]*)"/.exec(message)?.[1];
  if (column !== undefined)
    return new SnowflakeFailure(
      '000904',
      '42000',
      `${compilation} error line 1 at position 7\ninvalid identifier '${column}'`,
    );
  const table = /(?:Table with name|Catalog|Schema with name) "?([^\s"]+)"? does not exist/.exec(
    message,
  )?.[1];
  if (table !== undefined)
    return new SnowflakeFailure(
      '002003',
      '42S02',
      `${compilation}\nObject '${table}' does not exist or not authorized.`,
    );
  if (/^(?:Parser Error|cannot be translated)/.test(message))
    return new SnowflakeFailure(
      '001003',
      '42000',
      `${compilation}\nsyntax error line 1 at position 0 unexpected.`,
    );
  if (message.startsWith('Conversion Error'))
    return new SnowflakeFailure('100038', '22018', `Numeric value is not recognized: ${message}`);
  return new SnowflakeFailure('002104', '42601', `${compilation}\n${message}`);
}
