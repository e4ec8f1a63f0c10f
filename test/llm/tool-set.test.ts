import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callTool } from '../../src/llm/port/tool-set.ts';
import type { KtxRuntimeToolDescriptor } from '../../src/llm/port/runtime.ts';

function tool(execute: (input: { readonly n: number }) => unknown): KtxRuntimeToolDescriptor {
  const inputSchema = z.object({ n: z.number() });
  return {
    name: 'count',
    description: 'counts',
    inputSchema,
    execute: async (input) => execute(inputSchema.parse(input)) as never,
  };
}

/** What the model sees of this output. */
async function told(output: unknown): Promise<string> {
  return (
    await callTool(
      tool(() => output),
      { n: 1 },
    )
  ).markdown;
}

describe('what a model sees of a tool', () => {
  test('is its markdown; the structure stays with the caller [V1 V2 V6]', async () => {
    const kept: unknown[] = [];
    const counting = tool(({ n }) => ({
      markdown: `There are ${n}.`,
      structured: { n, secret: 'of the caller' },
    }));
    const recorded = {
      ...counting,
      execute: async (input: unknown) => {
        const output = await counting.execute(input);
        kept.push(output.structured);
        return output;
      },
    };
    expect(await callTool(recorded, { n: 3 })).toEqual({
      markdown: 'There are 3.',
      isError: false,
    });
    expect(kept).toEqual([{ n: 3, secret: 'of the caller' }]);
  });

  test('of plain text is the text [V3]', async () => {
    expect(
      await callTool(
        tool(() => 'plain'),
        { n: 1 },
      ),
    ).toEqual({ markdown: 'plain', isError: false });
  });

  test('of a plain object is a list, of a skill its header and body, the same each time [V4]', async () => {
    expect(await told({ rows: 3, done: true, note: null })).toBe(
      '- done: true\n- note: null\n- rows: 3',
    );
    expect(await told({ note: null, done: true, rows: 3 })).toBe(
      await told({ rows: 3, done: true, note: null }),
    );
    expect(
      await told({
        name: 'joins',
        content: 'Look at keys first.',
        skillDirectory: '/skills/joins',
      }),
    ).toBe('# joins\n\nLook at keys first.');
  });

  test('of any other object is fenced JSON, the same each time [V5]', async () => {
    const fenced =
      '```json\n{\n  "a": [\n    {\n      "c": 2,\n      "d": 1\n    }\n  ],\n  "b": {}\n}\n```';
    expect(await told({ b: {}, a: [{ d: 1, c: 2 }] })).toBe(fenced);
    expect(await told(undefined)).toBe('```json\nnull\n```');
  });

  test('of invalid input, or of a handler that throws, is the reason', async () => {
    expect(
      await callTool(
        tool(() => 'never'),
        { n: 'x' },
      ),
    ).toEqual({ markdown: expect.stringMatching(/^Invalid input for count:\nn: /), isError: true });
    const failing = tool(() => {
      throw new Error('no such table');
    });
    expect(await callTool(failing, { n: 1 })).toEqual({
      markdown: 'count failed: no such table',
      isError: true,
    });
  });
});
