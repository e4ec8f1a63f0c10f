import { describe, expect, test } from 'vitest';
import {
  type ColumnLabels,
  noLabels,
  readColumnLabels,
} from '../../src/context/catalog/column-labels.ts';
import { UserError } from '../../src/lib/error.ts';
import type { KtxLlmRuntimePort } from '../../src/llm/port/runtime.ts';
import { describeTables } from '../../src/scan/describe/descriptions.ts';
import type { ScanModel } from '../../src/scan/describe/scan-model.ts';
import { groupOfName } from '../../src/scan/personal/column-names.ts';
import type { ScanResult } from '../../src/scan/scan.ts';

const tables = ['a', 'b', 'c'].map((table) => ({
  schema: 'main',
  table,
  kind: 'table',
  columns: ['id', 'phone'].map((name) => ({
    name,
    nativeType: 'BIGINT',
    type: 'integer' as const,
    nullable: true,
  })),
  uniqueKeys: [],
  foreignKeys: [],
}));
const profiled = (name: string) => ({
  name,
  kind: 'integer',
  nulls: 0,
  distinct: 2,
  min: 4_917_012_345,
  max: 4_917_098_765,
  top: ['4917012345'],
  sketch: [],
});
const found = {
  catalog: { connection: 'shop', dialect: 'sqlite', firstSchema: 'main', tables },
  primaryKeys: [],
  links: [],
  tables: tables.map((table) => ({
    table,
    profile: { rows: 4, fraction: 1, columns: ['id', 'phone'].map(profiled) },
  })),
} as unknown as ScanResult;

const oneRequest = {
  durationMs: 1,
  steps: 1,
  apiCalls: 1,
  usage: {},
  costUsd: null,
  costReason: undefined,
};

/** Describes every table that is asked for with `text`, one call after the other. */
function scanModel(
  text: string,
  keep: ScanModel['journal']['keep'] = () => undefined,
  labels: ColumnLabels = noLabels,
) {
  const prompts: string[] = [];
  const columns = ['id', 'phone'].map((name) => ({ name, description: text }));
  const generateObject: KtxLlmRuntimePort['generateObject'] = async ({
    prompt,
    schema,
    onMetrics,
  }) => {
    prompts.push(prompt);
    onMetrics?.(oneRequest);
    const names = [...prompt.matchAll(/"table": "(\w)"/g)].map(([, name]) => name);
    const described = { description: text, columns };
    if (names.length === 1) return schema.parse(described);
    return schema.parse({
      tables: names.map((table, index) => ({ number: index + 1, table, ...described })),
    });
  };
  const runtime = { generateObject } as KtxLlmRuntimePort;
  const model: ScanModel = {
    runtime,
    concurrency: 1,
    send: { send_samples: true, no_values: [], not_personal: [] },
    journal: { result: () => undefined, keep },
  };
  const run = () =>
    describeTables({
      found: { ...found, labels },
      known: [],
      model,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  return { prompts, run };
}

describe('descriptions', () => {
  test('that were paid for count where the journal does not take them, and nothing more is asked', async () => {
    const { prompts, run } = scanModel('Telephones.', () => {
      throw new UserError('journal_unusable', 'No room.');
    });
    const outcome = await run();
    expect(outcome).toMatchObject({
      done: 3,
      total: 3,
      calls: 1,
      failure: { code: 'journal_unusable' },
    });
    expect(outcome.claims.map(({ body }) => body)).toEqual(Array(9).fill('Telephones.'));
    expect(prompts).toHaveLength(1);
  });

  test('send no values of a column whose name says that they are personal, though they are plain numbers', async () => {
    const { prompts, run } = scanModel('Telephones.');
    await run();
    const columns = /"name": "id"[^}]*\}|"name": "phone"[^}]*\}/g;
    const [id = '', phone = ''] = prompts[0]?.match(columns) ?? [];
    expect(id).toContain('"min": 4900000000');
    expect(phone).not.toContain('49');
    expect(
      ['phone', 'customerPhone', 'date_of_birth', 'tax_id'].filter(
        (name) => groupOfName(name) === undefined,
      ),
    ).toEqual([]);
    expect(['status', 'hotel', 'total', 'panel', 'description'].filter(groupOfName)).toEqual([]);
  });

  test('send what a person says: no values with pii: yes, those of a telephone with pii: no', async () => {
    const labels = readColumnLabels([
      [
        'semantic-layer/shop/a.yaml',
        'source: main.a\nfields: [{name: id, pii: yes}, {name: phone, pii: no}]',
      ],
    ]);
    const { prompts, run } = scanModel('Telephones.', undefined, labels);
    await run();
    const columns = /"name": "id"[^}]*\}|"name": "phone"[^}]*\}/g;
    const [id = '', phone = ''] = prompts[0]?.match(columns) ?? [];
    expect(id).not.toContain('49');
    expect(phone).toContain('"min": 4900000000');
  });

  test('of nothing but what cannot be seen are none', async () => {
    await expect(scanModel('\u200b\u0007').run()).rejects.toThrow('says nothing');
  });
});
