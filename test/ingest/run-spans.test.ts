import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { OtlpSpan } from '../../src/llm/telemetry/otlp.ts';
import { describing, tablesAsked } from '../support/describing-model.ts';
import { fail, say, type Script } from '../support/model-script.ts';
import {
  documentedShop,
  ingestCommand,
  openMachine,
  backendsOfRun,
  type ModelMachine,
} from './llm-project.ts';

let machine: ModelMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine?.close());

/** A collector on loopback that speaks OTLP over HTTP. */
async function openCollector() {
  const spans: OtlpSpan[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { resourceSpans } = body as {
        resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[];
      };
      for (const { scopeSpans } of resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

const attributesOf = ({ attributes }: OtlpSpan): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));

async function tracedIngest(backend: string, script: Script) {
  const { url, spans } = await openCollector();
  const dir = documentedShop(machine, backend, {});
  appendFileSync(join(dir, 'ktx.yaml'), `telemetry: {exporter: otlp, endpoint: "${url}"}\n`);
  machine.endpoint.fallback = script;
  onTestFinished(() => void (machine.endpoint.fallback = undefined));
  const end = await ingestCommand(machine, dir);
  return { spans, end };
}

describe('the spans of an ingest', () => {
  test.each(backendsOfRun)(
    'on %s are one tree: the run, its stages, and each request to the model',
    async (backend) => {
      const { spans, end } = await tracedIngest(backend, describing);
      expect(end.code).toBe(3);
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      const runs = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
      expect(runs.map(({ name }) => name)).toEqual(['ktx ingest']);
      const calls = spans.filter(({ name }) => name.startsWith('chat '));
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) {
        const about = attributesOf(call);
        expect(about).toMatchObject({
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'anthropic',
          'ktx.backend': backend,
          'ktx.role': 'candidateExtraction',
          'ktx.stage': 'describe',
          'ktx.attempts': '1',
        });
        expect(Number(about['gen_ai.usage.input_tokens'])).toBeGreaterThan(0);
        expect(Number(call.endTimeUnixNano)).toBeGreaterThanOrEqual(Number(call.startTimeUnixNano));
        expect(call.status.code).toBe(0);
      }
      const stages = spans.filter(({ parentSpanId }) => parentSpanId === runs[0]?.spanId);
      expect(stages.map(({ name }) => name)).toEqual(['stage describe']);
      const [stage] = stages;
      expect(calls.every(({ parentSpanId }) => parentSpanId === stage?.spanId)).toBe(true);
      const sum = calls.reduce(
        (total, call) => total + Number(attributesOf(call)['gen_ai.usage.output_tokens']),
        0,
      );
      const usage = end.events.findLast(({ type }) => type === 'llm_usage');
      expect(sum).toBe(usage?.['output']);
      // No prompt, no answer, no name of the warehouse.
      expect(JSON.stringify(spans)).not.toMatch(/One row is one of|customers|untrusted|orders/);
    },
  );

  test.each(backendsOfRun)('on %s name the kind of a failure', async (backend) => {
    const { spans, end } = await tracedIngest(backend, (call) =>
      // The run tries the model first, and would end there.
      tablesAsked(call).length === 0 ? say('ready') : fail('no-model'),
    );
    expect(end.code).not.toBe(0);
    const failed = spans.filter(({ status }) => status.code === 2);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.map((span) => attributesOf(span)['error.type'])).toContain('model_unavailable');
    expect(JSON.stringify(failed)).not.toContain('does not exist');
  });
});
