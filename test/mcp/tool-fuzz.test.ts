import { constantFrom, dictionary, jsonValue, oneof, sample, string, tuple } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openProject, type Project } from '../../src/project/open/open.ts';
import { connectRawClient, type Answer } from './raw-client.ts';
import { openShop, type Shop } from './shop.ts';

let shop: Shop;
let project: Project;

beforeAll(async () => {
  shop = await openShop('sqlite');
  project = await openProject(shop.dir);
});

afterAll(async () => {
  await project.close();
  shop.remove();
});

/** Values that no tool asks for, and some that one may. */
const oddValues = oneof(
  jsonValue({ maxDepth: 4 }),
  string({ maxLength: 40, unit: 'binary' }),
  constantFrom<unknown>(
    null,
    -1,
    1e308,
    2 ** 53,
    '',
    '\u0000',
    'x'.repeat(20_000),
    '('.repeat(2000),
    '🙂'.repeat(500),
    '../../../etc/passwd',
    "'; DROP TABLE canary; --",
    JSON.parse('{"__proto__": {"polluted": true}}'),
    { constructor: { prototype: { polluted: true } } },
    [[[[[]]]]],
    Array.from({ length: 200 }, (_, index) => index),
  ),
);

/** Input that each tool takes; the fuzzer replaces one or two of its values. */
const goodInputs: Readonly<Record<string, object>> = {
  search_context: { text: 'revenue' },
  find_values: { text: 'paid' },
  read_context: { name: 'orders' },
  query_metrics: { metrics: ['orders.revenue'], dimensions: ['orders.buyer.region'], limit: 2 },
  run_sql: { sql: 'SELECT count(*) FROM orders' },
};

function isDefect({ result, error }: Answer): boolean {
  return /Error internal|Internal error|bug in ktx|\\n\s+at /.test(JSON.stringify(result ?? error));
}

it('5,000 random calls of the real tools get one answer each, none of them a defect', async () => {
  const client = await connectRawClient(project, '2025-06-18');
  try {
    client.send(client.request('list', 'tools/list'));
    const tools = (await client.next()).result?.['tools'] as {
      name: string;
      inputSchema: { properties?: object };
      annotations: { readOnlyHint: boolean };
    }[];
    const seed = Number(process.env['KTX_FUZZ_SEED'] ?? 1);
    const calls = tools.flatMap(({ name, inputSchema, annotations }) => {
      const keys = [
        ...Object.keys(inputSchema.properties ?? {}),
        '__proto__',
        'constructor',
        'other',
      ];
      const inputs = tuple(
        dictionary(constantFrom(...keys), oddValues, { minKeys: 1, maxKeys: 2 }),
        oddValues,
      );
      // A call that writes would start an ingest: an unknown key refuses it.
      const refused = annotations.readOnlyHint ? {} : { no_such_key: 1 };
      return sample(inputs, { seed, numRuns: 625 }).map(([object, other], index) => ({
        name,
        arguments: index % 20 === 0 ? other : { ...goodInputs[name], ...object, ...refused },
      }));
    });
    expect(calls).toHaveLength(5000);
    const defects: unknown[] = [];
    for (let start = 0; start < calls.length; start += 500) {
      const lot = calls.slice(start, start + 500);
      lot.forEach((params, index) =>
        client.send(client.request(start + index, 'tools/call', params)),
      );
      const answers = await Promise.all(lot.map(() => client.next()));
      expect(new Set(answers.map(({ id }) => id)).size).toBe(lot.length);
      defects.push(...answers.filter(isDefect).map(({ id }) => calls[Number(id)]));
    }
    expect(defects).toEqual([]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(await client.exchange([], 0)).toEqual([]);
    expect(await shop.canary()).toContain('alive');
  } finally {
    await client.close();
  }
});
