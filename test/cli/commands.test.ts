import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DuckDBInstance } from '@duckdb/node-api';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { folder, ktx, ktxJson, shopDatabase, shopProject } from './run-cli.ts';

const script = `
  CREATE TABLE customers (id INTEGER, name VARCHAR(20), region VARCHAR(20));
  CREATE TABLE orders (id INTEGER, customer_id INTEGER, amount INTEGER, status VARCHAR(10));
  INSERT INTO customers VALUES (11, 'Ada', 'North'), (12, 'Grace', 'South'), (13, 'Edsger', NULL);
  INSERT INTO orders SELECT 1000 + i, 11 + i % 3, i * 10, CASE i % 4 WHEN 0 THEN 'open' ELSE 'paid' END FROM generate_series(1, 60) AS s(i);`;

const engines: readonly { engine: string; prepare: (cwd: string) => Promise<readonly string[]> }[] =
  [
    {
      engine: 'sqlite',
      async prepare(cwd) {
        shopDatabase(join(cwd, 'shop.db'));
        return ['--driver', 'sqlite', '--path', 'shop.db'];
      },
    },
    {
      engine: 'duckdb',
      async prepare(cwd) {
        const instance = await DuckDBInstance.create(join(cwd, 'shop.duckdb'));
        const connection = await instance.connect();
        await connection.run(script);
        connection.closeSync();
        instance.closeSync();
        return ['--driver', 'duckdb', '--path', 'shop.duckdb'];
      },
    },
    {
      engine: 'postgres',
      async prepare() {
        const url = await createDatabase('cli');
        await runPostgres(url, script);
        vi.stubEnv('KTX_TEST_URL', url);
        return ['--driver', 'postgres', '--url', 'env:KTX_TEST_URL'];
      },
    },
  ];

describe.each(engines)('on $engine', ({ prepare }) => {
  test('from nothing to an answer, every step as JSON', async () => {
    const cwd = folder();
    const flags = await prepare(cwd);
    const answer = async (...argv: string[]) => {
      const { code, envelope, stderr } = await ktxJson(argv, { cwd });
      expect({ argv, code, error: envelope.error, stderr }).toEqual({
        argv,
        code: 0,
        error: undefined,
        stderr: '',
      });
      expect(envelope.meta.command).toBe(
        `ktx ${argv.slice(0, envelope.meta.command.split(' ').length - 1).join(' ')}`,
      );
      return envelope.data as Record<string, unknown>;
    };
    await answer('setup', ...flags);
    expect(await answer('scan')).toMatchObject({
      links: [
        {
          from: { table: 'orders', columns: ['customer_id'] },
          to: { table: 'customers', columns: ['id'] },
          status: 'accepted',
        },
      ],
    });
    expect(await answer('ingest', '--dry-run')).toMatchObject({
      dry_run: true,
      connections: [{ tables: 2 }],
    });
    expect(await answer('ingest')).toMatchObject({
      connections: [{ connection: 'warehouse', tables: 2 }],
      commit: { id: expect.any(String) },
    });
    expect(await answer('ingest')).toMatchObject({
      files: { added: [], changed: [], removed: [] },
      commit: { none: expect.any(String) },
    });
    expect(await answer('status')).toMatchObject({
      connections: [
        { reachable: true, drift: 0, datasets: 2, metrics: 3, relationships: 1, invalid: [] },
      ],
    });
    expect(await answer('sl', 'list')).toMatchObject({
      rows: [
        ['customers', 'count', ''],
        ['orders', 'count, total_amount', 'customers'],
      ],
    });
    expect(await answer('sl', 'read', 'orders')).toMatchObject({
      file: 'semantic-layer/warehouse/orders.yaml',
      definition: { dataset: 'orders' },
    });
    expect(await answer('sl', 'validate')).toEqual({ datasets: 2, saved_queries: 0, problems: [] });
    const rows = [
      ['North', 20],
      ['South', 20],
      [null, 20],
    ];
    const asked = [
      'sl',
      'query',
      '-m',
      'orders.count',
      '-d',
      'orders.customers.region',
      '--order-by',
      'orders.customers.region',
    ];
    expect(await answer(...asked)).toMatchObject({
      rows,
      truncated: false,
      receipt: { commit: expect.any(String), uncommitted: [] },
    });
    const reversed = [...asked.slice(0, -1), '-orders.customers.region'];
    expect(await answer(...reversed)).toMatchObject({ rows: [rows[1], rows[0], rows[2]] });
    expect(await answer(...asked, '--plan')).toMatchObject({
      plan: { blocks: [{ rows_of: 'orders', joins: [{ path: 'orders.customers' }] }] },
      sql: expect.stringContaining('LEFT JOIN'),
      receipt: { files: expect.any(Array) },
    });
    expect(await answer('sql', 'SELECT count(*) AS n FROM orders')).toMatchObject({
      columns: [{ name: 'n', type: 'integer' }],
      rows: [[60]],
    });
    expect(await answer('search', 'order')).toMatchObject({
      hits: expect.arrayContaining([
        expect.objectContaining({ subject: 'dataset:warehouse.orders' }),
      ]),
    });
    expect(await answer('explain', 'orders(customer_id)')).toMatchObject({
      explanations: [{ subject: 'relationship:warehouse.orders(customer_id)' }],
    });
    expect(await answer('connection', 'list')).toMatchObject({
      rows: [['warehouse', expect.any(String), expect.any(String)]],
    });
    expect(await answer('connection', 'test')).toMatchObject({ probe: { tables: 2 } });
    expect(await answer('doctor')).toMatchObject({ findings: expect.any(Array) });
    expect(await answer('schema', 'ktx')).toMatchObject({ type: 'object' });
    vi.unstubAllEnvs();
  });
});

describe('for a person', () => {
  test('scan, ingest, query and explain', async () => {
    const cwd = await shopProject();
    const said = async (...argv: string[]) => {
      const { code, stdout, stderr } = await ktx(argv, { cwd });
      expect({ argv, code }).toEqual({ argv, code: 0 });
      const stable = (text: string) =>
        text
          .replaceAll(/^(?:…|took) .*\n/gm, '')
          .replaceAll(/\d+ (?=ms|statements)/g, 'N ')
          .replaceAll(/q_\w+/g, 'q_N')
          .replaceAll(/commit [0-9a-f]{10}/g, 'commit N')
          .replaceAll(/ +0\.\d{2,3}(?= |$)/gm, '  0.N');
      return `${stable(stdout)}--\n${stable(stderr)}`;
    };
    expect(await said('scan')).toMatchInlineSnapshot(`
      "from                 to             status    prob.  found    orphans
      orders(customer_id)  customers(id)  accepted  0.N  100.0 %        0
      --
      2 tables, 2 keys, 0 candidates rejected, N statements sent; nothing was written to the project

      next  ktx ingest       writes the semantic layer
            ktx scan --json  shows the evidence of each join
      "
    `);
    expect(await said('ingest')).toMatchInlineSnapshot(`
      "warehouse: 2 tables (0 profiled, 2 unchanged), joins: 1 accepted, 0 to review, N statements sent
        added    semantic-layer/warehouse/customers.yaml
        added    semantic-layer/warehouse/orders.yaml
        and 5 files of claims and structure
      commit N
      --

      next  ktx sl list              lists datasets and metrics
            ktx sl query --help      explains how to query them
            ktx explain "<subject>"  shows where a fact comes from
      "
    `);
    expect(await said('sl', 'query', '-m', 'orders.count', '-d', 'orders.customers.region'))
      .toMatchInlineSnapshot(`
        "orders.customers.region  orders.count
        North                              20
        South                              20
        NULL                               20
        --
        3 rows in N ms, query q_N
        orders.count: rows of orders; by orders.customers → customers; additive; built-in count
        keys: customers (id) is proven by its rows
        model at commit N: semantic-layer/warehouse/customers.yaml, semantic-layer/warehouse/orders.yaml
        "
      `);
    expect(await said('explain', 'orders(customer_id)')).toMatchInlineSnapshot(`
      "relationship:warehouse.orders(customer_id)
        to: customers  (ktx, semantic-layer/warehouse/orders.yaml:14)
        on: {customer_id: id}  (ktx, semantic-layer/warehouse/orders.yaml:14)
        claim relationship {cardinality: many_to_one, on: {customer_id: id}, to: customers}
          from code (relationships@1), confidence 0.9: sources/warehouse/main.jsonl orders, all values match, names match
      --

      next  ktx explain "orders(customer_id)" --measure  shows exact numbers and rejected candidates
      "
    `);
    expect(await said('status', '--fast')).toContain('2 datasets, 3 metrics, 1 relationship\n');
    const groupings = await said('sl', 'dimensions', 'orders.total_amount');
    expect(groupings).toMatch(/^orders\.status +string/m);
    expect(groupings).toMatch(/^customers\.region +string/m);
    expect(groupings).toContain('sl query -m orders.total_amount -d ');
    const metrics = await said('sl', 'metrics', '--by', 'customers.region');
    expect(metrics).toMatch(/^orders\.total_amount$/m);
    for (const [argv, meant] of [
      [['sl', 'metrics', '--by', 'customers.regio'], 'customers.region'],
      [['sl', 'dimensions', 'orders.totl_amount'], 'orders.total_amount'],
    ] as const) {
      const { code, stderr } = await ktx([...argv], { cwd });
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(meant) });
    }
  });

  test('of an empty table no share of found values is claimed', async () => {
    const cwd = await shopProject();
    const db = new DatabaseSync(join(cwd, 'shop.db'));
    db.exec('CREATE TABLE notes (id INTEGER, customer_id INTEGER)');
    db.close();
    const { envelope } = await ktxJson(['scan'], { cwd });
    const { links } = envelope.data as {
      links: readonly { from: { table: string }; evidence: object }[];
    };
    expect(
      links
        .filter(({ from }) => from.table === 'notes')
        .map(({ evidence }) => 'containment' in evidence),
    ).toContain(false);
    expect(
      links
        .filter(({ from }) => from.table === 'orders')
        .map(({ evidence }) => 'containment' in evidence),
    ).toContain(true);
  });

  test('an edit of the YAML is used at once, marked as uncommitted, and survives the next ingest', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const path = join(cwd, 'semantic-layer/warehouse/orders.yaml');
    const revenue = "  - {name: revenue, agg: sum, of: amount, where: status = 'paid'}\n";
    writeFileSync(path, readFileSync(path, 'utf8').replace('metrics:\n', `metrics:\n${revenue}`));
    const asked = ['sl', 'query', '-m', 'orders.revenue'];
    const uncommitted = ['semantic-layer/warehouse/orders.yaml'];
    expect((await ktxJson(asked, { cwd })).envelope).toMatchObject({
      data: { rows: [[13500]], receipt: { uncommitted } },
    });
    expect((await ktxJson(['status'], { cwd })).envelope).toMatchObject({
      data: { uncommitted: expect.arrayContaining(uncommitted) },
    });
    expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'utf8')).toContain(revenue);
  });

  test('a repository that git distrusts costs the commit in the receipt, not the answer', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { envelope } = await ktxJson(['sl', 'query', '-m', 'orders.count'], { cwd });
    expect(envelope).toMatchObject({
      ok: true,
      data: { rows: [[60]], receipt: { git: expect.stringContaining('dubious ownership') } },
    });
    expect(await ktx(['status'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('dubious ownership'),
    });
    const { code, envelope: checked } = await ktxJson(['doctor'], { cwd });
    expect({ code, error: checked.error?.message }).toEqual({
      code: 1,
      error: 'Broken: repository.',
    });
  });

  test('a broken dataset is left out and named with its line; the rest answers', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const path = join(cwd, 'semantic-layer/warehouse/customers.yaml');
    writeFileSync(path, `${readFileSync(path, 'utf8')}colour: red\n`);
    const line = readFileSync(path, 'utf8').split('\n').length - 1;
    const { code, envelope } = await ktxJson(['sl', 'validate'], { cwd });
    expect({ code, error: envelope.error?.code }).toEqual({ code: 1, error: 'model_invalid' });
    expect(envelope.data).toMatchObject({
      datasets: 1,
      problems: expect.arrayContaining([
        expect.objectContaining({ file: 'semantic-layer/warehouse/customers.yaml', line }),
      ]),
    });
    expect((await ktxJson(['sl', 'query', '-m', 'orders.count'], { cwd })).envelope).toMatchObject({
      data: { rows: [[60]] },
    });
    expect((await ktx(['sl', 'read', 'customers'], { cwd })).stderr).toContain('ktx sl validate');
    expect((await ktxJson(['sl', 'read', 'customer'], { cwd })).envelope.error).toMatchObject({
      code: 'dataset_unknown',
      hint: 'did you mean customers?',
    });
  });
});

describe('with several connections', () => {
  test('what is listed, read, asked and explained finds its connection by itself', async () => {
    const cwd = await shopProject();
    const db = new DatabaseSync(join(cwd, 'desk.db'));
    db.exec(
      "CREATE TABLE tickets (id INTEGER, topic TEXT); INSERT INTO tickets VALUES (1, 'a'), (2, 'b')",
    );
    db.exec(
      "CREATE TABLE customers (id INTEGER, name TEXT); INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace')",
    );
    db.close();
    await ktx(['connection', 'add', 'desk', '--driver', 'sqlite', '--path', 'desk.db'], { cwd });
    await ktx(['ingest'], { cwd });
    const listed = await ktx(['sl', 'list', '--format', 'csv'], { cwd });
    expect(listed.stdout).toContain(
      'connection,dataset,metrics,joins\nwarehouse,customers,count,""\nwarehouse,orders,"count, total_amount",customers\ndesk,',
    );
    expect(listed.stderr).toContain('ktx sl read customers --connection warehouse');
    expect((await ktx(['sl', 'read', 'tickets'], { cwd })).stdout).toContain('dataset: tickets');
    expect((await ktxJson(['sl', 'query', '-m', 'tickets.count'], { cwd })).envelope).toMatchObject(
      {
        data: { connection: 'desk', rows: [[2]] },
      },
    );
    expect((await ktx(['explain', 'tickets'], { cwd })).stdout).toMatch(/^dataset:desk\.tickets/);
    expect((await ktx(['explain', 'desk.customers'], { cwd })).stdout).toMatch(
      /^dataset:desk\.customers/,
    );
    expect((await ktx(['explain', 'customers'], { cwd })).stdout).toMatch(
      /dataset:warehouse\.customers[^]*dataset:desk\.customers/,
    );
    expect((await ktx(['scan', 'desk'], { cwd })).stderr).toContain('ktx scan desk --json');
    const found = await ktxJson(['search', 'count', '--limit', '20'], { cwd });
    const { hits } = found.envelope.data as { hits: { subject: string; kind: string }[] };
    const metrics = hits.filter(({ kind }) => kind === 'metric').map(({ subject }) => subject);
    expect(metrics).toContain('metric:desk.customers.count');
    expect(metrics.length).toBeGreaterThan(3);
    for (const metric of metrics) {
      const { code, envelope } = await ktxJson(['sl', 'query', '-m', metric], { cwd });
      expect([code, envelope.data], metric).toMatchObject([
        0,
        { connection: metric.split(/[:.]/)[1] },
      ]);
    }
    expect((await ktx(['sl', 'read', 'dataset:desk.customers'], { cwd })).code).toBe(0);
    const refused = async (...argv: string[]) => (await ktxJson(argv, { cwd })).envelope.error;
    expect(await refused('sl', 'query', '-m', 'customers.count')).toMatchObject({
      code: 'connection_required',
      hint: 'one of warehouse, desk: --connection <name>',
    });
    const [tickets, orders] = ['metric:desk.tickets.count', 'metric:warehouse.orders.count'];
    expect(await refused('sl', 'query', '-m', tickets, '-m', orders)).toMatchObject({
      code: 'connection_conflict',
    });
    expect(await refused('sl', 'query', '-m', 'tickets.cuont')).toMatchObject({
      code: 'unknown_name',
      hint: 'Did you mean tickets.count?',
    });
    expect(await refused('explain', 'tickts')).toMatchObject({
      code: 'subject_unknown',
      hint: expect.stringContaining('tickets'),
    });
  });
});

describe('what is asked badly', () => {
  test('a column that a file gets wrong is told with its place, by query, validate and ingest', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const path = join(cwd, 'semantic-layer/warehouse/orders.yaml');
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(
        'metrics:\n',
        'metrics:\n  - {name: revenue, agg: sum, of: amout}\n',
      ),
    );
    const place = /semantic-layer\/warehouse\/orders\.yaml:\d+:\d+: /;
    const { envelope } = await ktxJson(['sl', 'query', '-m', 'orders.revenue'], { cwd });
    expect(envelope.error).toMatchObject({
      code: 'missing_object',
      message: expect.stringMatching(place),
    });
    expect(envelope.error?.hint).toBe(
      'Did you mean amount? Correct the file; ktx sl validate checks it.',
    );
    const validated = await ktx(['sl', 'validate'], { cwd });
    expect(validated.stdout).toMatch(/orders\.yaml:\d+:\d+: error: .*\n1 of 2 datasets valid\n$/);
    expect(validated.stderr).toContain('1 problem');
    const customers = join(cwd, 'semantic-layer/warehouse/customers.yaml');
    writeFileSync(customers, `${readFileSync(customers, 'utf8')}broken: [\n`);
    const ingested = await ktx(['ingest'], { cwd });
    expect(ingested.stdout).toMatch(
      /left out semantic-layer\/warehouse\/orders\.yaml:\d+: metric:warehouse\.orders\.revenue: .*Did you mean amount\?/,
    );
    expect(ingested.stdout.match(/customers\.yaml/g)).toHaveLength(1);
    expect(ingested.stderr).toContain('next  ktx sl validate');
  });

  test('queries, statements and files: exit code 2 and what to type instead', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    writeFileSync(join(cwd, 'bad.yaml'), 'metrics: [orders.count\n');
    writeFileSync(join(cwd, 'typo.yaml'), 'metric: [orders.count]\n');
    writeFileSync(join(cwd, 'binary.sql'), Uint8Array.from([0xff, 0xfe]));
    const cases: readonly (readonly [string, readonly string[], string])[] = [
      ['unknown_name', ['sl', 'query', '-m', 'orders.cuont'], 'orders.count'],
      ['query_invalid', ['sl', 'query', '--query-file', 'typo.yaml'], 'ktx schema query'],
      ['query_invalid', ['sl', 'query', '--query-file', 'bad.yaml'], 'ktx schema query'],
      [
        'query_invalid',
        ['sl', 'query', '-m', 'orders.count', '--timezone', 'Mars/Base'],
        'ktx schema query',
      ],
      ['file_not_found', ['sl', 'query', '--query-file', 'none.yaml'], 'path'],
      ['file_not_found', ['sql', '--file', 'none.sql'], 'path'],
      ['not_utf8', ['sql', '--file', join(cwd, 'binary.sql')], 'UTF-8'],
      ['usage', ['sql'], 'ktx sql'],
      ['usage', ['sql', 'SELECT 1', '--file', 'x.sql'], '--file'],
      ['usage', ['sql', 'SELECT 1', '--limit', 'many'], 'a positive whole number'],
      ['usage', ['sl', 'query', '-m', 'orders.count', '--limit', '0'], 'a positive whole number'],
      ['usage', ['schema', 'nope'], 'one of ktx, dataset, query'],
      ['connection_unknown', ['sql', 'SELECT 1', '--connection', 'warehous'], 'warehouse'],
      ['subject_unknown', ['explain', 'ordrs'], 'orders'],
    ];
    for (const [code, argv, hint] of cases) {
      const located = argv.map((word) =>
        /^(?:bad|typo|none)\./.test(word) ? join(cwd, word) : word,
      );
      const { envelope, ...result } = await ktxJson(located, { cwd });
      expect({ argv, code: envelope.error?.code, exit: result.code > 0 }).toEqual({
        argv,
        code,
        exit: true,
      });
      expect({ argv, hint: envelope.error?.hint ?? envelope.error?.message }).toEqual({
        argv,
        hint: expect.stringContaining(hint),
      });
    }
  });

  test('what is wrong in a query file is told with its place', async () => {
    const cwd = await shopProject();
    const path = join(cwd, 'question.yaml');
    const cases = [
      ['metric: [orders.count]\n', '1:1: metric: unknown key; did you mean metrics?'],
      ['metrics: 5\n', '1:10: metrics: must be a list, not 5'],
      ['metrics: [orders.count]\nlimit: ten\n', '2:8: limit: must be a number, not "ten"'],
      ['order_by:\n  - {feld: x}\n', '2:5: order_by.0.field: is missing (a text)'],
      [
        'order_by: [orders.revenue desc]\n',
        '1:12: order_by.0: must be a map like {field: "orders.revenue", dir: desc}, not a text',
      ],
      [
        'order_by: [-orders.revenue]\n',
        '1:12: order_by.0: must be a map like {field: "orders.revenue", dir: desc}, not a text',
      ],
      ['metrics: [orders.count\n', '2:1: this is not YAML'],
      ['- orders.count\n', '1:1: must be a map, not a list'],
      ['', '1:1: '],
    ] as const;
    for (const [text, expected] of cases) {
      writeFileSync(path, text);
      const { code, envelope } = await ktxJson(['sl', 'query', '--query-file', path], { cwd });
      expect({ text, code, error: envelope.error?.code }).toEqual({
        text,
        code: 2,
        error: 'query_invalid',
      });
      expect(envelope.error?.message).toContain(`${path}:${expected}`);
    }
    const { envelope } = await ktxJson(
      ['sl', 'query', '-m', 'orders.count', '--week-start', 'friday'],
      { cwd },
    );
    expect(envelope.error?.message).toContain(
      'week_start: cannot be "friday"; one of monday, sunday',
    );
  });

  test('a statement from standard input, and a result that is cut off says so', async () => {
    const cwd = await shopProject();
    for (const argv of [['sql', '-'], ['sql']])
      expect(
        await ktx([...argv, '--format', 'csv'], {
          cwd,
          stdin: 'SELECT id FROM customers ORDER BY id',
        }),
      ).toMatchObject({
        code: 0,
        stdout: 'id\n11\n12\n13\n',
      });
    expect(await ktx(['sql'], { cwd, stdin: ' \n' })).toMatchObject({ code: 2, stdout: '' });
    const cutOff = await ktx(['sql', 'SELECT id FROM orders ORDER BY id', '--limit', '2'], { cwd });
    expect(cutOff.stdout).toBe('  id\n1001\n1002\n');
    expect(cutOff.stderr).toContain('There are more rows');
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    expect((await ktx(['search', 'order', '--limit', '1'], { cwd })).stderr).toContain(
      'Only the first 1 hit',
    );
  });

  test('an interrupt exits 130', () => {
    const cwd = folder();
    shopDatabase(join(cwd, 'shop.db'));
    const main = join(import.meta.dirname, '../../src/cli/main.ts');
    const slow =
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    const line = `"${process.execPath}" "${main}" setup --quiet --driver sqlite --path shop.db && { "${process.execPath}" "${main}" sql --json "${slow}" & pid=$!; sleep 2; kill -INT $pid; wait $pid; }`;
    const { status, stdout } = spawnSync('bash', ['-m', '-c', line], { cwd, encoding: 'utf8' });
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      ok: false,
      error: { code: 'interrupted' },
    });
    expect(status).toBe(130);
  });
});
