import { appendFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { inTurn, say, type Script, use } from '../support/model-script.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code: number };
}

/** A collector on loopback; one that hangs takes requests and never answers. */
async function collector({ hangs = false } = {}) {
  const spans: Span[] = [];
  const authorizations: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
      };
      spans.push(
        ...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
      );
      if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    authorizations,
  };
}

const script: Script = inTurn(
  use('run_sql', { sql: "SELECT 'ada@example.com' AS mail" }),
  use('run_sql', { sql: 'nonsense' }),
  say('Ask ada@example.com [q1].'),
);

async function asked(telemetry: string): Promise<string> {
  project.playing(script);
  appendFileSync(join(project.dir, 'ktx.yaml'), `telemetry: ${telemetry}\n`);
  const { code, stdout } = await ktx(['ask', 'Whom to ask?'], { cwd: project.dir });
  expect(code).toBe(0);
  return stdout;
}

const attributesOf = (span: Span | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  );

describe('telemetry', () => {
  test('exports one tree per turn: the agent and below it each tool, without content', async () => {
    process.env['OTLP_TEST_TOKEN'] = 'Bearer collector';
    const { url, spans, authorizations } = await collector();
    await asked(
      `{exporter: otlp, endpoint: "${url}", headers: {Authorization: env:OTLP_TEST_TOKEN}}`,
    );
    delete process.env['OTLP_TEST_TOKEN'];
    expect(spans.map(({ name }) => name.replace(/claude-ask-.*/, 'model'))).toEqual([
      'invoke_agent ktx',
      'chat model',
      'chat model',
      'chat model',
      'execute_tool run_sql',
      'execute_tool run_sql',
    ]);
    const [root, , , answer, first, second] = spans;
    expect(attributesOf(answer)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': '100',
      'ktx.role': 'default',
      'ktx.stage': 'chat',
      'ktx.attempts': '1',
      'ktx.backend': 'anthropic',
    });
    expect(answer?.parentSpanId).toBe(root?.spanId);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect([root?.parentSpanId, first?.parentSpanId, second?.parentSpanId]).toEqual([
      undefined,
      root?.spanId,
      root?.spanId,
    ]);
    expect(attributesOf(root)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.usage.input_tokens': '300',
      'ktx.stop_reason': 'completed',
    });
    expect(attributesOf(first)).toMatchObject({
      'gen_ai.tool.name': 'run_sql',
      'ktx.evidence.id': 'q1',
    });
    expect(spans.map(({ status }) => status.code)).toEqual([0, 0, 0, 0, 0, 2]);
    expect(JSON.stringify(spans)).not.toMatch(/\bada\b|nonsense|Whom/);
    expect(authorizations).toEqual(['Bearer collector']);
  });

  test('exports content on request, redacted', async () => {
    const { url, spans } = await collector();
    await asked(
      `{exporter: otlp, endpoint: "${url}", content: true, redaction_patterns: ['[a-z]+@[a-z.]+']}`,
    );
    expect(JSON.stringify(spans)).toMatch(/Whom to ask\?.*Ask \[redacted\] \[q1\]/);
    expect(JSON.stringify(spans)).not.toContain('ada@');
  });

  test('exports nothing by default, and nothing of a conversation outside the sample', async () => {
    const { url, spans } = await collector();
    await asked(`{endpoint: "${url}"}`);
    await asked(`{exporter: otlp, endpoint: "${url}", sample_rate: 0}`);
    expect(spans).toEqual([]);
  });

  test('a collector that is down, or never answers, changes nothing', async () => {
    const { url } = await collector({ hangs: true });
    expect(await asked(`{exporter: otlp, endpoint: "${url}"}`)).toBe('Ask ada@example.com [q1].\n');
    expect(await asked('{exporter: otlp, endpoint: "http://127.0.0.1:9"}')).toBe(
      'Ask ada@example.com [q1].\n',
    );
  });

  test('an invalid pattern is a configuration error', async () => {
    project.playing(script);
    appendFileSync(join(project.dir, 'ktx.yaml'), "telemetry: {redaction_patterns: ['(']}\n");
    expect((await ktxJson(['ask', 'Hm?'], { cwd: project.dir })).envelope.error?.message).toMatch(
      /redaction_patterns.*not a regular expression/,
    );
  });
});
