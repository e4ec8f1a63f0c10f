import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bigqueryCell, fieldSchema } from '../../src/warehouse/drivers/bigquery/values.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { ApiError } from '../engines/bigquery/api-error.ts';
import { type BigqueryServer, type Fault, startBigquery } from '../engines/bigquery/server.ts';
import { openBigquery, withBigquery } from '../support/bigquery.ts';
import { generous, never } from '../support/warehouses.ts';

const script = `
  CREATE TABLE many (n INTEGER);
  INSERT INTO many SELECT range FROM range(25);
  CREATE TABLE types (i BIGINT, d DECIMAL(30, 9), f DOUBLE, b BOOLEAN, day DATE, local TIMESTAMP,
    moment TIMESTAMPTZ, clock TIME, raw BLOB, tags VARCHAR[], place STRUCT(city VARCHAR, zip INTEGER));
  INSERT INTO types VALUES
    (9007199254740993, 12345678901234567890.123456789, 0.1, true, '2024-02-29', '2024-02-29 10:00:00.5',
      '1969-12-31 23:59:59.999999+00', '10:00:00', '\\xAB\\x01'::BLOB, ['a', 'b'], {'city': 'Ulm', 'zip': 1}),
    (NULL, NULL, 'nan', NULL, NULL, NULL, '2024-02-29 10:00:00+00', NULL, NULL, NULL, NULL);
`;
/** Never ends by itself within any limit here. */
const names = 'abcdefghijkl'.split('');
const endless = `SELECT SUM(${names.map((name) => `${name}.n`).join(' * ')}) AS s FROM ${names.map((name) => `many ${name}`).join(', ')}`;

let server: BigqueryServer;
let warehouse: Warehouse;
beforeAll(async () => {
  server = await startBigquery({ script, pageRows: 10, longestWait: 100 });
  warehouse = await openBigquery(server);
  // The first name of a table reads the catalog.
  await query('SELECT n FROM many LIMIT 1');
});
beforeEach(() => {
  server.fault = () => undefined;
});
afterAll(async () => {
  await warehouse?.close();
  await server?.close();
});

const query = (sql: string, limits = generous) => warehouse.query(sql, limits, never);
/** The requests of one statement, by method and path. */
async function callsOf(work: () => Promise<unknown>) {
  const before = server.calls.length;
  await work();
  return server.calls.slice(before);
}
/** The fault for the first `times` requests of jobs or rows that `matches`. */
function failFirst(times: number, matches: RegExp, fault: Fault): () => number {
  let failed = 0;
  server.fault = ({ method, path }) => {
    if (failed >= times || !matches.test(`${method} ${path}`)) return undefined;
    failed += 1;
    return fault;
  };
  return () => failed;
}

describe('a job of BigQuery', () => {
  test('is planned first, sent once with an id of ours, read in pages, and asked what it cost', async () => {
    const calls = await callsOf(async () => {
      const result = await query('SELECT n FROM many ORDER BY n');
      expect(result.rows.map(([n]) => n)).toEqual(Array.from({ length: 25 }, (_, n) => n));
      expect(result.cost).toEqual({ bytesRead: 200, bytesBilled: 10_485_760, slotMs: 42 });
    });
    const [plan, job, ...rest] = calls;
    expect(JSON.parse(plan?.body ?? '')).toMatchObject({ configuration: { dryRun: true } });
    const { jobReference, configuration } = JSON.parse(job?.body ?? '');
    expect(configuration).toEqual({
      jobTimeoutMs: '20000',
      labels: { tool: 'ktx' },
      query: {
        query: 'SELECT n FROM many ORDER BY n\n/* ktx */',
        useLegacySql: false,
        useQueryCache: true,
        createSession: false,
        priority: 'INTERACTIVE',
        defaultDataset: { projectId: 'shop-1', datasetId: 'main' },
      },
    });
    expect(jobReference.jobId).toMatch(/^ktx_[0-9a-f]{32}$/);
    const pages = rest.filter(({ path }) => path.includes('/queries/'));
    expect(pages.map(({ query: asked }) => asked.get('pageToken'))).toEqual([
      null,
      'after-10',
      'after-20',
    ]);
    // The answer to the job says where it runs.
    expect(pages.map(({ query: asked }) => asked.get('location'))).toEqual(['EU', 'EU', 'EU']);
    expect(rest.at(-1)?.path).toBe(`projects/shop-1/jobs/${jobReference.jobId}`);
  });

  test.each([
    [{ totalRows: '3' }, 'BigQuery announced 3 rows and sent 1.'],
    [{ rows: [{ f: [] }] }, 'BigQuery sent a row of other columns.'],
  ])('does not take part of a result for all of it: %j', async (part, message) => {
    const answer = {
      jobComplete: true,
      schema: { fields: [{ name: 'n', type: 'INTEGER' }] },
      rows: [{ f: [{ v: '1' }] }],
      totalRows: '1',
      ...part,
    };
    server.fault = ({ path }) => (path.includes('/queries/') ? { answer } : undefined);
    try {
      await expect(query('SELECT n FROM many')).rejects.toMatchObject({
        code: 'query_failed',
        message,
      });
    } finally {
      server.fault = () => undefined;
    }
  });

  test('reads no page beyond the limit of rows', async () => {
    const calls = await callsOf(async () => {
      const { rows, truncated } = await query('SELECT n FROM many ORDER BY n', {
        ...generous,
        maxRows: 3,
      });
      expect([rows, truncated]).toEqual([[[0], [1], [2]], true]);
    });
    const pages = calls.filter(({ path }) => path.includes('/queries/'));
    expect(pages.map(({ query: asked }) => asked.get('maxResults'))).toEqual(['4']);
  });

  test('has the labels, the location and the time limit of the connection', async () => {
    const other = await openBigquery(server, {
      config: { labels: { team: 'data' }, location: 'EU' },
    });
    try {
      const calls = await callsOf(() =>
        other.query('SELECT 1', { ...generous, timeoutMs: 7000 }, never),
      );
      const bodies = calls.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body)]));
      expect(bodies.map(({ configuration }) => configuration.labels)).toEqual([
        { team: 'data', tool: 'ktx' },
        { team: 'data', tool: 'ktx' },
      ]);
      expect(bodies.map(({ jobReference }) => jobReference.location)).toEqual(['EU', 'EU']);
      expect(bodies[1].configuration.jobTimeoutMs).toBe('7000');
    } finally {
      await other.close();
    }
  });

  test('that was sent twice, because its answer was lost, runs once', async () => {
    const before = server.jobs.size;
    let isLost = false;
    server.fault = ({ method, path, body }) => {
      const isJob = method === 'POST' && path.endsWith('jobs') && !body.includes('dryRun');
      if (isLost || !isJob) return undefined;
      isLost = true;
      return 'lost';
    };
    const calls = await callsOf(async () => {
      expect((await query('SELECT 7 AS n')).rows).toEqual([[7]]);
    });
    const sent = calls.filter(({ body }) => body.includes('jobTimeoutMs'));
    expect(new Set(sent.map(({ body }) => JSON.parse(body).jobReference.jobId)).size).toBe(1);
    expect([sent.length, server.jobs.size - before]).toEqual([2, 1]);
  });

  test('that takes long is asked for until it ends', async () => {
    const calls = await callsOf(async () => {
      const running = query(endless, { maxRows: 1, timeoutMs: 900 });
      await expect(running).rejects.toMatchObject({ code: 'query_timeout', retryable: true });
    });
    const asked = calls.filter(({ path }) => path.includes('/queries/')).length;
    expect(asked).toBeGreaterThan(2);
    // Pauses grow, though the server answers at once.
    expect(asked).toBeLessThan(9);
    expect(calls.some(({ path }) => path.endsWith('/cancel'))).toBe(true);
    await expect.poll(() => [...server.jobs.values()].at(-1)?.error?.reason).toBe('stopped');
  });

  test('says that it may still run if the cancellation does not arrive', async () => {
    server.fault = ({ path }) => (path.endsWith('/cancel') ? 'silent' : undefined);
    await expect(query(endless, { maxRows: 1, timeoutMs: 1500 })).rejects.toMatchObject({
      code: 'query_timeout',
      retryable: false,
      message: expect.stringContaining('may still be running'),
      hint: expect.stringMatching(/The job is ktx_[0-9a-f]{32} of project shop-1/),
    });
    for (const job of server.jobs.values()) job.cancel('test');
  });

  test('that somebody else cancels is no time limit', async () => {
    const running = query(endless, generous);
    const ended = running.catch((error: unknown) => error);
    await expect.poll(() => [...server.jobs.values()].at(-1)?.state).toBe('RUNNING');
    [...server.jobs.values()].at(-1)?.cancel('User requested cancellation');
    expect(await ended).toMatchObject({ code: 'query_cancelled' });
  });
});

describe('values', () => {
  test('are exact, and nested ones are JSON', async () => {
    const { rows, columns } = await query('SELECT * FROM types ORDER BY i IS NULL');
    expect(columns.map(({ type }) => type).join(' ')).toBe(
      'integer decimal decimal boolean date datetime datetime_tz string unknown unknown unknown',
    );
    expect(rows[0]).toEqual([
      '9007199254740993',
      '12345678901234567890.123456789',
      0.1,
      true,
      '2024-02-29',
      '2024-02-29 10:00:00.5',
      '1969-12-31T23:59:59.999999Z',
      '10:00:00',
      String.raw`\xab01`,
      '["a","b"]',
      '{"city":"Ulm","zip":1}',
    ]);
    const empty = [null, null, 'NaN', null, null, null, '2024-02-29T10:00:00Z', null, null];
    expect(rows[1]).toEqual([...empty, '[]', null]);
  });

  const payloads = new URL(
    '../../../shared/data/sources/warehouse/bigquery/bigrquery/',
    import.meta.url,
  );
  const read = (name: string) =>
    readFile(new URL(`${name}.json`, payloads), 'utf8').then(
      (text) => JSON.parse(text),
      () => undefined,
    );
  test.each([
    ['array', '[1,2,3]'],
    ['struct', '{"a":1,"b":"abc"}'],
  ])('of a true answer with a %s are read', async (kind, expected) => {
    const [schema, values] = [
      await read(`parse-schema-${kind}`),
      await read(`parse-values-${kind}`),
    ];
    if (schema === undefined || values === undefined) return;
    const field = fieldSchema.parse(schema.schema.fields[0]);
    expect(bigqueryCell(values.rows[0].f[0].v, field)).toBe(expected);
  });

  test.each([
    ['FLOAT', '-Infinity', '-Infinity'],
    ['FLOAT64', '1E10', 1e10],
    ['NUMERIC', '1.10', 1.1],
    ['BIGNUMERIC', '0.12345678901234567890', '0.12345678901234567890'],
    ['INTEGER', '-9223372036854775808', '-9223372036854775808'],
    ['TIMESTAMP', '0', '1970-01-01T00:00:00Z'],
    ['TIMESTAMP', '-62135596800000000', '0001-01-01T00:00:00Z'],
    ['DATETIME', '2024-01-01T00:00:00', '2024-01-01 00:00:00'],
    ['JSON', '{"a":1}', '{"a":1}'],
    ['GEOGRAPHY', 'POINT(1 2)', 'POINT(1 2)'],
  ])('of %s: %s', (type, value, expected) => {
    expect(bigqueryCell(value, { name: 'x', type })).toBe(expected);
  });
});

describe('what a statement costs', () => {
  test('is known before it runs', async () => {
    const limited = { ...generous, maxBytes: 100 };
    const calls = await callsOf(() =>
      expect(query('SELECT n FROM many', limited)).rejects.toMatchObject({
        code: 'too_expensive',
        details: { bytes: 200, limit: 100, kind: 'exact' },
      }),
    );
    expect(calls).toHaveLength(1);
  });

  test('in dollars by the list price', async () => {
    const other = await openBigquery(server, { spending: { maxCostUsd: 1e-10 } });
    try {
      await expect(other.query('SELECT n FROM many', generous, never)).rejects.toMatchObject({
        code: 'too_expensive',
      });
      expect((await other.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
    } finally {
      await other.close();
    }
  });

  test('is limited on the server too, with room for what a table costs at least', async () => {
    const calls = await callsOf(() => query('SELECT n FROM many', { ...generous, maxBytes: 1000 }));
    const bodies = calls.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body)]));
    expect(bodies).toHaveLength(2);
    expect(bodies[1].configuration.query.maximumBytesBilled).toBe(String(1000 + 10 * 2 ** 20));
  });

  test('is refused by the server as too expensive', async () => {
    failFirst(
      1,
      /^POST .*jobs$/,
      new ApiError(400, 'bytesBilledLimitExceeded', 'Query exceeded limit for bytes billed: 1.'),
    );
    await expect(query('SELECT n FROM many')).rejects.toMatchObject({ code: 'too_expensive' });
  });
});

describe('a server in trouble', () => {
  test.each<[string, Fault, number]>([
    ['503', 'busy', 3],
    ['a broken connection', 'reset', 2],
    ['rateLimitExceeded', new ApiError(403, 'rateLimitExceeded', 'Exceeded rate limits'), 2],
    ['backendError', new ApiError(500, 'backendError', 'Error encountered during execution.'), 2],
  ])('is asked again after %s', async (_, fault, times) => {
    const failed = failFirst(times, /jobs|queries/, fault);
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
    expect(failed()).toBe(times);
  });

  test('that stays busy is an error in the end', async () => {
    const error = new ApiError(403, 'rateLimitExceeded', 'Exceeded rate limits: too many.');
    const failed = failFirst(100, /queries/, error);
    await expect(query('SELECT 1')).rejects.toMatchObject({
      code: 'query_failed',
      message: expect.stringContaining('Exceeded rate limits'),
    });
    expect(failed()).toBe(4);
  });

  test('logs in again when its token is over', async () => {
    const before = server.logins.issued;
    server.logins.expireAll();
    const answers = await Promise.all([1, 2, 3].map((n) => query(`SELECT ${n}`)));
    expect(answers.map(({ rows }) => rows)).toEqual([[[1]], [[2]], [[3]]]);
    expect(server.logins.issued - before).toBeLessThanOrEqual(3);
  });

  test.each<[Fault, string]>([
    ['garbage', 'query_failed'],
    ['html', 'query_failed'],
    ['cut', 'warehouse_unreachable'],
    ['echo', 'query_failed'],
  ])('answers %s', async (fault, code) => {
    failFirst(100, /queries/, fault);
    const error = await query('SELECT 1').then(
      () => new Error('it answered'),
      (thrown: unknown) => thrown as Error,
    );
    expect(error).toMatchObject({ code });
    const text = JSON.stringify([error.message, Object.entries(error)]);
    for (const secret of server.logins.secrets) expect(text).not.toContain(secret);
  });

  test('that never answers is given up at the time limit', async () => {
    failFirst(100, /queries|cancel/, 'silent');
    await expect(query('SELECT 1', { maxRows: 1, timeoutMs: 300 })).rejects.toMatchObject({
      code: 'query_timeout',
    });
  });

  test.each([
    [
      new ApiError(403, 'accessDenied', 'Access Denied: Table x'),
      'warehouse_privilege',
      /Data Viewer/,
    ],
    [new ApiError(403, 'quotaExceeded', 'Quota exceeded: bytes per day'), 'query_failed', /quota/],
    [new ApiError(400, 'resourcesExceeded', 'Resources exceeded'), 'out_of_memory', /Read less/],
    [
      new ApiError(400, 'invalidQuery', 'Syntax error: Unexpected ")" at [1:8]'),
      'sql_syntax',
      /SQL/,
    ],
    [
      new ApiError(
        400,
        'invalidQuery',
        "Cannot query over table 'd.t' without a filter over column(s) 'day'",
      ),
      'query_failed',
      /partitions/,
    ],
  ])('explains %s', async (fault, code, hint) => {
    failFirst(100, /queries/, fault);
    await expect(query('SELECT 1')).rejects.toMatchObject({
      code,
      hint: expect.stringMatching(hint),
    });
  });

  test('that sends pages without end is left', async () => {
    await withBigquery({ script, pageRows: 0 }, async (endlessPages) => {
      const open = await openBigquery(endlessPages);
      try {
        await expect(open.query('SELECT n FROM many', generous, never)).rejects.toMatchObject({
          code: 'query_failed',
          message: expect.stringContaining('no end'),
        });
      } finally {
        await open.close();
      }
    });
  });
});
