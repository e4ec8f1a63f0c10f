import { BigQuery } from '@google-cloud/bigquery';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type BigqueryServer, project, startBigquery } from '../engines/bigquery/server.ts';

/**
 * Google's own client against the server that stands for BigQuery in these tests: if the server
 * spoke a protocol of its own, the client would notice.
 */
let server: BigqueryServer;
let client: BigQuery;
beforeAll(async () => {
  server = await startBigquery({
    script: `
      CREATE TABLE t (i BIGINT, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, s VARCHAR, moment TIMESTAMPTZ,
        local TIMESTAMP, day DATE, tags VARCHAR[], place STRUCT(city VARCHAR, zip INTEGER), raw BLOB);
      INSERT INTO t VALUES (1, 1.50, 0.5, true, 'x', '2024-02-29 10:00:00.123456+00', '2024-02-29 10:00:00',
        '2024-02-29', ['a', 'b'], {'city': 'Ulm', 'zip': 89073}, '\\xAB'::BLOB);
      CREATE TABLE many AS SELECT range AS n FROM range(250);`,
    pageRows: 100,
  });
  // The client takes this for a server without a login, so the token is added to its requests.
  vi.stubEnv('METADATA_SERVER_DETECTION', 'none');
  vi.stubEnv('BIGQUERY_EMULATOR_HOST', `${server.origin}/bigquery/v2`);
  client = new BigQuery({ projectId: project });
  const authorization = `Bearer ${server.logins.issue()}`;
  client.interceptors.push({
    request: (options) => ({
      ...options,
      uri: 'uri' in options ? options.uri : options.url,
      headers: { ...options.headers, authorization },
    }),
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server?.close();
});

test('reads datasets, tables and their columns', async () => {
  const [datasets] = await client.getDatasets();
  expect(datasets.map(({ id }) => id)).toEqual(['main']);
  const [tables] = await client.dataset('main').getTables();
  expect(tables.map(({ id }) => id)).toEqual(['many', 't']);
  const [metadata] = await client.dataset('main').table('many').getMetadata();
  expect(metadata).toMatchObject({
    type: 'TABLE',
    numRows: '250',
    schema: { fields: [{ name: 'n', type: 'INTEGER' }] },
  });
});

test('runs a job and reads its rows in pages, with every type', async () => {
  const [job] = await client.createQueryJob({ query: 'SELECT n FROM main.many ORDER BY n' });
  const [rows] = await job.getQueryResults();
  expect(rows.map(({ n }: { n: number }) => n)).toEqual(Array.from({ length: 250 }, (_, n) => n));
  expect(server.calls.filter(({ path }) => path.includes('/queries/')).length).toBeGreaterThan(2);
  const [[row]] = await client.query({ query: 'SELECT * FROM main.t' });
  expect(JSON.parse(JSON.stringify(row))).toMatchObject({
    i: 1,
    d: '1.5',
    f: 0.5,
    b: true,
    s: 'x',
    moment: { value: '2024-02-29T10:00:00.123456000Z' },
    local: { value: '2024-02-29T10:00:00' },
    day: { value: '2024-02-29' },
    tags: ['a', 'b'],
    place: { city: 'Ulm', zip: 89073 },
  });
});

test('plans, cancels and explains', async () => {
  const [plan] = await client.createQueryJob({ query: 'SELECT n FROM main.many', dryRun: true });
  expect(plan.metadata.statistics.query).toMatchObject({
    statementType: 'SELECT',
    totalBytesProcessed: '2000',
    referencedTables: [{ projectId: project, datasetId: 'main', tableId: 'many' }],
  });
  const names = 'abcdefghij'.split('');
  const [job] = await client.createQueryJob({
    query: `SELECT SUM(${names.map((name) => `${name}.n`).join(' * ')}) AS s FROM ${names.map((name) => `main.many ${name}`).join(', ')}`,
  });
  const [cancelled] = await job.cancel();
  expect(cancelled).toMatchObject({ job: { jobReference: { jobId: job.id } } });
  await expect(job.getQueryResults()).rejects.toThrow('Job execution was cancelled');
  await expect(client.query({ query: 'SELECT nothing FROM main.many' })).rejects.toMatchObject({
    code: 400,
    errors: [{ reason: 'invalidQuery', message: 'Unrecognized name: nothing at [1:8]' }],
  });
  await expect(client.dataset('main').table('no').getMetadata()).rejects.toMatchObject({
    code: 404,
    errors: [{ reason: 'notFound' }],
  });
});

test('lets nobody in without a token', async () => {
  const answer = await fetch(`${server.origin}/bigquery/v2/projects/${project}/datasets`);
  expect([answer.status, await answer.json()]).toMatchObject([
    401,
    { error: { code: 401, errors: [{ reason: 'authError' }] } },
  ]);
});
