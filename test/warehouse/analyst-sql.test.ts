import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { bigquery } from '../../src/sql/dialects/bigquery.ts';
import { databricks } from '../../src/sql/dialects/databricks.ts';
import { redshift } from '../../src/sql/dialects/redshift.ts';
import { snowflake } from '../../src/sql/dialects/snowflake.ts';
import { sqlserver } from '../../src/sql/dialects/sqlserver.ts';
import { trino } from '../../src/sql/dialects/trino.ts';
import { bigqueryPolicy } from '../../src/warehouse/drivers/bigquery/policy.ts';
import { databricksPolicy } from '../../src/warehouse/drivers/databricks/policy.ts';
import { redshiftPolicy } from '../../src/warehouse/drivers/redshift/policy.ts';
import { snowflakePolicy } from '../../src/warehouse/drivers/snowflake/policy.ts';
import { sqlserverPolicy } from '../../src/warehouse/drivers/sqlserver/policy.ts';
import { trinoPolicy } from '../../src/warehouse/drivers/trino/policy.ts';
import { createGate } from '../../src/warehouse/gate/gate.ts';
import type { GatePolicy } from '../../src/warehouse/gate/policy.ts';

/** Says yes to what it is asked, so that only the text counts. */
const agreeing = {
  project: 'p',
  dryRun: async () => ({
    query: { statementType: 'SELECT', referencedTables: [], referencedRoutines: [] },
  }),
  hasView: async () => false,
};

const policies: Readonly<Record<string, readonly [schema: string, policy: GatePolicy]>> = {
  snowflake: ['PUBLIC', snowflakePolicy({ ...snowflake, defaultSchema: 'PUBLIC' }, 'SHOP')],
  databricks: ['shop', databricksPolicy({ ...databricks, defaultSchema: 'shop' }, 'main')],
  trino: ['shop', trinoPolicy({ ...trino, defaultSchema: 'shop' }, 'main')],
  sqlserver: ['dbo', sqlserverPolicy({ ...sqlserver, defaultSchema: 'dbo' }, 'shop')],
  redshift: [
    'public',
    redshiftPolicy(redshift, {
      database: 'shop',
      searchPath: ['public'],
      systemNames: /^(?:pg|stl|stv|svv)_/i,
      serverFunctions: [],
      loadUserFunctions: async () => [],
    }),
  ],
  bigquery: ['shop', bigqueryPolicy({ ...bigquery, defaultSchema: 'shop' }, agreeing)],
};

interface CheckedStatements {
  readonly allow: readonly string[];
  readonly refuse: readonly string[];
}
const { checked } = JSON.parse(
  readFileSync(new URL('../conformance/analyst-sql.json', import.meta.url), 'utf8'),
) as { readonly checked: Readonly<Record<string, CheckedStatements>> };

test.each(Object.entries(policies))(
  'the gate of %s tells what analysts write from what does more',
  async (engine, [schema, policy]) => {
    const { allow = [], refuse = [] } = checked[engine] ?? {};
    const tables = ['orders', 'customers', 'events', 'items'].map((name) => ({
      schema,
      table: engine === 'snowflake' ? name.toUpperCase() : name,
    }));
    const dialect = findDialect(engine);
    const loadTables = async () => tables;
    const gate = createGate(policy, { dialect, allowedFunctions: [], loadTables });
    const refused: string[] = [];
    for (const sql of allow)
      await gate.check(sql).catch((error: unknown) => refused.push(`${sql} → ${String(error)}`));
    expect(refused).toEqual([]);
    const passed: string[] = [];
    for (const sql of refuse) {
      const outcome = await gate.check(sql).catch((error: unknown) => error);
      if (!(outcome instanceof UserError)) passed.push(sql);
    }
    expect(passed).toEqual([]);
    expect(Math.min(allow.length, refuse.length)).toBeGreaterThan(30);
  },
);
