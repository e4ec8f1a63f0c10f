import { describe, expect, it } from 'vitest';
import { connect, serveRegions } from './http-shop.ts';

const city = { metrics: ['cities.city_count'] };

async function readMetrics(url: string, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url.replace('/mcp', '/metrics'), { headers });
  return { status: response.status, text: await response.text() };
}

describe('the metrics of the server', () => {
  it('count calls by tool and outcome, queries, requests and what limits refuse', async () => {
    await using served = await serveRegions({
      limits: { requestsPerMinute: 10_000, concurrentQueries: 1, queriesPerDay: 3 },
    });
    await using session = await connect(served.url);
    await session.call('query_metrics', city);
    await session.call('query_metrics', { metrics: ['cities.missing'] });
    await session.call('run_sql', { sql: "SELECT 'secret-in-sql' FROM cities LIMIT 1" });
    await session.call('run_sql', { sql: 'SELECT name FROM cities' });
    const { status, text } = await readMetrics(served.url);
    expect(status).toBe(200);
    const lines = text.split('\n');
    for (const line of [
      'ktx_calls_total{tool="query_metrics",outcome="ok"} 1',
      'ktx_calls_total{tool="query_metrics",outcome="unknown_name"} 1',
      'ktx_calls_total{tool="run_sql",outcome="ok"} 1',
      'ktx_calls_total{tool="run_sql",outcome="day_used_up"} 1',
      'ktx_call_duration_seconds_count{tool="query_metrics"} 2',
      'ktx_calls_in_flight 0',
      'ktx_queries_total{connection="shop"} 2',
      'ktx_refusals_total{limit="day_used_up"} 1',
    ])
      expect(lines).toContain(line);
    expect(text).toMatch(/ktx_answer_bytes_total\{tool="run_sql"\} \d+/);
    expect(text).toMatch(/ktx_http_requests_total\{status="200"\} \d+/);
    expect(text).not.toMatch(/secret-in-sql|city_count/);
  });

  it('are for tokens with their scope, as soon as the server asks for tokens', async () => {
    await using served = await serveRegions();
    const make = async (name: string, scopes: ('read' | 'query' | 'metrics')[]) =>
      (await served.tokens.create({ name, role: 'us', scopes })).text;
    const [reader, scraper] = [
      await make('ann-example', ['read', 'query']),
      await make('scraper', ['metrics']),
    ];
    await using session = await connect(served.url, reader);
    await session.call('query_metrics', city);
    expect((await readMetrics(served.url)).status).toBe(401);
    expect((await readMetrics(served.url, reader)).status).toBe(403);
    const { status, text } = await readMetrics(served.url, scraper);
    expect(status).toBe(200);
    expect(text).toContain('ktx_calls_total{tool="query_metrics",outcome="ok"} 1');
    expect(text).not.toContain('ann-example');
    await using other = await connect(served.url, scraper);
    expect((await other.client.listTools()).tools).toEqual([]);
  });
});
