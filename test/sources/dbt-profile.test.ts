import { expect, test } from 'vitest';
import { readProfile } from '../../src/sources/dbt/profile/read-profile.ts';

const env = { PGHOST: 'db.example.org', PORT: '5433', MY_SECRET_HOST: 'x', EMPTY: '' };

function read(text: string, more: Partial<Parameters<typeof readProfile>[0]> = {}) {
  return readProfile({
    text,
    profile: 'shop',
    target: undefined,
    env,
    folder: 'dbt',
    passwordVariable: 'WAREHOUSE_PASSWORD',
    ...more,
  });
}

const profileOf = (output: string, target = 'target: dev') =>
  `shop:\n  ${target}\n  outputs:\n    dev: ${output}\n    prod: {type: duckdb, path: prod.duckdb, schema: prod}\n`;

test.each([
  [
    '{type: duckdb, path: wh.duckdb, token: x, secrets: [{type: s3}]}',
    { driver: 'duckdb', path: 'dbt/wh.duckdb' },
    'main',
  ],
  ['{type: duckdb, path: /data/wh.duckdb}', { driver: 'duckdb', path: '/data/wh.duckdb' }, 'main'],
  [
    "{type: sqlite, schema: main, schemas_and_paths: {main: 'etl.db'}}",
    { driver: 'sqlite', path: 'dbt/etl.db' },
    'main',
  ],
  [
    `{type: postgres, host: "{{ env_var('PGHOST') }}", port: "{{ env_var('PORT') | int }}", user: ana, pass: "{{ env_var('DB_PASS') }}", dbname: shop, schema: analytics, sslmode: require, threads: 4}`,
    {
      driver: 'postgres',
      host: 'db.example.org',
      port: 5433,
      user: 'ana',
      database: 'shop',
      ssl: 'no-verify',
      password: 'env:DB_PASS',
    },
    'analytics',
  ],
  [
    '{type: redshift, host: rs, port: 5439, user: ana, password: x, dbname: shop, schema: sales, ra3_node: true}',
    {
      driver: 'redshift',
      host: 'rs',
      port: 5439,
      user: 'ana',
      database: 'shop',
      password: 'env:WAREHOUSE_PASSWORD',
    },
    'sales',
  ],
  [
    `{type: mariadb, server: "{{ env_var('NO_HOST', 'localhost') }}", port: 3306, username: ana, schema: shop, ssl_disabled: true}`,
    { driver: 'mysql', host: 'localhost', port: 3306, user: 'ana', database: 'shop', ssl: 'off' },
    'shop',
  ],
  [
    '{type: clickhouse, host: ch, port: 9000, user: ana, schema: shop, secure: true, verify: false}',
    { driver: 'clickhouse', host: 'ch', user: 'ana', database: 'shop', ssl: 'no-verify' },
    'shop',
  ],
])('%s is a connection', (output, settings, schema) => {
  expect(read(profileOf(output))).toMatchObject({ settings, schema });
  const found = read(profileOf(output));
  expect('settings' in found && Object.keys(found.settings).toSorted()).toEqual(
    Object.keys(settings).toSorted(),
  );
});

test('a password in the file is in no setting and no note', () => {
  const found = read(profileOf('{type: postgres, host: h, dbname: d, password: hunter2}'));
  expect(JSON.stringify(found)).not.toContain('hunter2');
  expect(found).toMatchObject({
    settings: { password: 'env:WAREHOUSE_PASSWORD' },
    notes: [],
  });
  expect('password' in found && found.password?.()).toBe('hunter2');
});

test.each([
  ['{type: snowflake, account: a}', /is of type snowflake, which ktx does not connect to/],
  ['{type: redshift, method: iam, host: h, dbname: d}', /logs in to Redshift by iam/],
  ["{type: duckdb, path: ':memory:'}", /in memory/],
  ["{type: duckdb, path: 'md:shop'}", /not a file/],
  [`{type: postgres, host: "{{ env_var('NOPE') }}", dbname: d}`, /NOPE, which is not set/],
  [`{type: postgres, host: "{{ env_var('MY_SECRET_HOST') }}", dbname: d}`, /looks like a secret/],
  [`{type: postgres, host: "{{ my_macro() }}", dbname: d}`, /does not resolve: my_macro/],
])('%s is refused with the reason', (output, reason) => {
  const found = read(profileOf(output));
  expect('fault' in found && found.fault).toMatch(reason);
});

test('the profile and the target are those that are asked for, and otherwise the defaults', () => {
  const text = profileOf(
    '{type: duckdb, path: dev.duckdb}',
    `target: "{{ env_var('T', 'prod') }}"`,
  );
  expect(read(text)).toMatchObject({ settings: { path: 'dbt/prod.duckdb' }, schema: 'prod' });
  expect(read(text, { target: 'dev' })).toMatchObject({ settings: { path: 'dbt/dev.duckdb' } });
  expect(read(text, { target: 'test' })).toMatchObject({
    fault: 'profile shop has no target test',
    hint: 'name one with --dbt-target: dev, prod',
  });
  expect(read(text, { profile: 'other' })).toMatchObject({ hint: 'it has shop' });
  expect(read(text, { profile: undefined })).toMatchObject({ schema: 'prod' });
  expect(read('a: [')).toMatchObject({ fault: expect.stringContaining('not YAML') as unknown });
});
