import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ktx } from '../cli/run-cli.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const base = mkdtempSync(join(tmpdir(), 'ktx-tasks-'));
const dir = join(base, 'demo');
let client: Client;
let database: DuckDBInstance;

beforeAll(async () => {
  const { code, stderr } = await ktx(['demo', '--dir', dir], { cwd: base });
  if (code !== 0) throw new Error(stderr);
  client = new Client({ name: 'analyst', version: '1' });
  const args = [main, 'mcp', 'serve', '--project-dir', dir];
  const env = process.env as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  database = await DuckDBInstance.create(join(dir, 'warehouse.duckdb'), {
    access_mode: 'READ_ONLY',
  });
});
afterAll(async () => {
  database?.closeSync();
  await client?.close();
  rmSync(base, { recursive: true, force: true });
});

/**
 * A task of an analyst who knows no name: what they look for, the ends of the fields that they
 * group by, what else they ask, and the same by hand.
 */
interface Task {
  readonly find: string;
  readonly by?: readonly string[];
  /** The query, of the metric that the search found. */
  readonly ask?: (metric: string, fields: readonly string[]) => Readonly<Record<string, unknown>>;
  /** The same rows in any order; numbers are compared to six digits. */
  readonly sql: string;
}

const paid = `FROM orders o WHERE o.status = 'paid'`;
const buyers = 'FROM orders o LEFT JOIN customers c ON o.buyer_id = c.id';
const months = `SELECT date_trunc('month', placed_at) m, sum(amount) r ${paid} GROUP BY 1`;

const tasks: Readonly<Record<string, Task>> = {
  'what was our revenue': { find: 'revenue', sql: `SELECT sum(amount) ${paid}` },
  'revenue by channel': {
    find: 'revenue',
    by: ['orders.channel'],
    sql: `SELECT channel, sum(amount) ${paid} GROUP BY 1`,
  },
  'revenue by month': {
    find: 'revenue by month',
    by: ['placed_at'],
    ask: (metric, [time]) => ({ metrics: [metric], dimensions: [`${time}.month`] }),
    sql: `SELECT strftime(m, '%Y-%m-%d'), r FROM (${months})`,
  },
  'revenue by region of the buyer': {
    find: 'what customers paid',
    by: ['buyer.regions.rgn_nm'],
    sql: `SELECT r.rgn_nm, sum(amount) ${buyers} LEFT JOIN regions r ON c.cust_rgn = r.rgn_cd
      WHERE o.status = 'paid' GROUP BY 1`,
  },
  'share of each channel in revenue': {
    find: 'revenue',
    by: ['orders.channel'],
    ask: (metric, dimensions) => ({ metrics: [metric], dimensions, share_of: 'total' }),
    sql: `SELECT channel, sum(amount), sum(amount) / sum(sum(amount)) OVER () ${paid} GROUP BY 1`,
  },
  'growth of revenue over the year before': {
    find: 'revenue',
    by: ['placed_at'],
    ask: (metric, [time]) => ({
      metrics: [metric],
      dimensions: [`${time}.year`],
      compare_to: '1 year',
    }),
    // A year without rows counts as zero in the difference, also the one after the last.
    sql: `WITH y AS (SELECT year(placed_at) y, sum(amount) r ${paid} GROUP BY 1)
      SELECT coalesce(a.y, b.y + 1) || '-01-01', a.r, b.r, coalesce(a.r, 0) - coalesce(b.r, 0),
        (coalesce(a.r, 0) - coalesce(b.r, 0)) / b.r FROM y a FULL JOIN y b ON a.y = b.y + 1`,
  },
  'the three best months': {
    find: 'revenue',
    by: ['placed_at'],
    ask: (metric, [time]) => ({
      metrics: [metric],
      dimensions: [`${time}.month`],
      order_by: [{ field: metric, dir: 'desc' }],
      limit: 3,
    }),
    sql: `SELECT strftime(m, '%Y-%m-%d'), r FROM (${months}) ORDER BY r DESC LIMIT 3`,
  },
  'how many orders were placed': {
    find: 'all orders whatever became of them',
    sql: 'SELECT count(id) FROM orders',
  },
  'orders by status': {
    find: 'orders placed',
    by: ['orders.status'],
    sql: 'SELECT status, count(id) FROM orders GROUP BY 1',
  },
  'average order value by channel': {
    find: 'average order value',
    by: ['orders.channel'],
    sql: `SELECT channel, sum(amount) FILTER (WHERE status = 'paid') / count(id) FROM orders
      GROUP BY 1`,
  },
  'satisfaction by priority': {
    find: 'customer satisfaction per priority',
    by: ['tickets.priority'],
    sql: 'SELECT priority, avg(csat) FROM tickets GROUP BY 1',
  },
  'satisfaction by month of opening': {
    find: 'satisfaction',
    by: ['opened_at'],
    ask: (metric, [time]) => ({ metrics: [metric], dimensions: [`${time}.month`] }),
    sql: `SELECT strftime(date_trunc('month', opened_at), '%Y-%m-%d'), avg(csat) FROM tickets
      GROUP BY 1`,
  },
  'revenue of the web only': {
    find: 'revenue',
    by: ['orders.channel'],
    ask: (metric, [channel]) => ({ metrics: [metric], where: [`${channel} = 'web'`] }),
    sql: `SELECT sum(amount) ${paid} AND channel = 'web'`,
  },
  'channels with more than a tenth of the revenue': {
    find: 'revenue',
    by: ['orders.channel'],
    ask: (metric, dimensions) => ({
      metrics: [metric],
      dimensions,
      share_of: 'total',
      qualify: [`${metric}.share > 0.1`],
    }),
    sql: `SELECT * FROM (SELECT channel, sum(amount), sum(amount) / sum(sum(amount)) OVER () s
      ${paid} GROUP BY 1) WHERE s > 0.1`,
  },
  'the best region, and the rest': {
    find: 'revenue',
    by: ['buyer.regions.rgn_nm'],
    ask: (metric, dimensions) => ({
      metrics: [metric],
      dimensions,
      top: `1 of ${metric}`,
      others: true,
    }),
    sql: `WITH r AS (SELECT r.rgn_nm, sum(amount) v ${buyers} LEFT JOIN regions r
        ON c.cust_rgn = r.rgn_cd WHERE o.status = 'paid' GROUP BY 1)
      SELECT CASE WHEN v = (SELECT max(v) FROM r) THEN rgn_nm END k, if(v = (SELECT max(v) FROM r), 'group', 'others'), sum(v) FROM r
      GROUP BY ALL`,
  },
  'revenue so far this year, by month': {
    find: 'revenue since the first of the year',
    by: ['placed_at'],
    ask: (metric, [time]) => ({ metrics: [metric], dimensions: [`${time}.month`] }),
    sql: `SELECT strftime(m, '%Y-%m-%d'), sum(r) OVER (PARTITION BY year(m) ORDER BY m)
      FROM (${months})`,
  },
  'a running sum of orders by month': {
    find: 'orders placed',
    by: ['placed_at'],
    ask: (metric, [time]) => ({
      metrics: [metric],
      dimensions: [`${time}.month`],
      over_rows: [`running of ${metric}`],
    }),
    sql: `SELECT strftime(m, '%Y-%m-%d'), n, sum(n) OVER (ORDER BY m) FROM
      (SELECT date_trunc('month', placed_at) m, count(id) n FROM orders GROUP BY 1)`,
  },
  'revenue and orders in one table': {
    find: 'revenue',
    by: ['orders.channel'],
    ask: (metric, dimensions) => ({ metrics: [metric, 'orders.count'], dimensions }),
    sql: `SELECT channel, sum(amount) FILTER (WHERE status = 'paid'), count(*) FROM orders
      GROUP BY 1`,
  },
  'refunds as a part of all orders': {
    find: 'orders placed',
    by: ['orders.status'],
    ask: (metric) => ({
      metrics: [
        {
          name: 'refunded',
          expr: `count(case when orders.status = 'refunded' then orders.id end) / ${metric}`,
        },
      ],
    }),
    sql: `SELECT count(*) FILTER (WHERE status = 'refunded') / count(*) FROM orders`,
  },
  'totals below the channels': {
    find: 'revenue',
    by: ['orders.channel'],
    ask: (metric, dimensions) => ({ metrics: [metric], dimensions, rollup: true }),
    sql: `SELECT channel, if(grouping(channel) = 1, 'total', 'group'), sum(amount) ${paid}
      GROUP BY ROLLUP (channel)`,
  },
};

describe('an analyst over MCP', () => {
  test.each(Object.entries(tasks))('%s: three calls', async (_, { find, by = [], ask, sql }) => {
    const found = await call('search_context', { text: find, kinds: ['metric'], limit: 5 });
    const [hit] = found.structured['hits'] as { name: string }[];
    const metric = hit?.name ?? 'none found';
    const about = by.length === 0 ? '' : (await call('read_context', { name: metric })).text;
    const listed = /can be grouped by[^:]*: (.*)/.exec(about)?.[1]?.split(', ') ?? [];
    const fields = by.map((end) => listed.find((field) => field.endsWith(end)) ?? `no ${end}`);
    const query = ask?.(metric, fields) ?? { metrics: [metric], dimensions: fields };
    const { structured } = await call('query_metrics', query);
    expect(sorted(structured['rows'] as unknown[][])).toEqual(sorted(await byHand(sql)));
  });
});

async function call(name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args });
  const [block] = result.content;
  const text = block?.type === 'text' ? block.text : '';
  expect(result.isError ?? false, text).toBe(false);
  const { untrusted = {} } = (result.structuredContent ?? {}) as {
    untrusted?: Readonly<Record<string, unknown>>;
  };
  return { text, structured: untrusted };
}

async function byHand(sql: string): Promise<unknown[][]> {
  const connection = await database.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
  }
}

function sorted(rows: readonly (readonly unknown[])[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row.map(plain))).toSorted();
}

/** Numbers to six digits; a time at midnight as its date. */
function plain(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const number = Number(text);
  if (text.trim() !== '' && !Number.isNaN(number)) return number.toPrecision(6);
  return text.replace(/[ T]00:00:00(\.0+)?$/, '');
}
