import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callTool, markdownOf } from '../../src/llm/tool-set.ts';
import type { KtxRuntimeToolDescriptor } from '../../src/llm/runtime.ts';

function tool(execute: (input: { readonly n: number }) => unknown): KtxRuntimeToolDescriptor {
  const inputSchema = z.object({ n: z.number() });
  return { name: 'count', description: 'counts', inputSchema, execute: async (input) => execute(inputSchema.parse(input)) as never };
}

describe('what a model sees of a tool', () => {
  test('is its markdown; the structure stays with the caller [V1 V2 V6]', async () => {
    const kept: unknown[] = [];
    const counting = tool(({ n }) => ({ markdown: `There are ${n}.`, structured: { n, secret: 'of the caller' } }));
    const recorded = {
      ...counting,
      execute: async (input: unknown) => {
        const output = await counting.execute(input);
        kept.push(output.structured);
        return output;
      },
    };
    expect(await callTool(recorded, { n: 3 })).toEqual({ markdown: 'There are 3.', isError: false });
    expect(kept).toEqual([{ n: 3, secret: 'of the caller' }]);
  });

  test('of a bare text is the text [V3]', async () => {
    expect(
      await callTool(
        tool(() => 'plain'),
        { n: 1 },
      ),
    ).toEqual({ markdown: 'plain', isError: false });
  });

  test('of a plain object is a list, of a skill its header and body, the same each time [V4]', () => {
    expect(markdownOf({ rows: 3, done: true, note: null })).toBe('- done: true\n- note: null\n- rows: 3');
    expect(markdownOf({ note: null, done: true, rows: 3 })).toBe(markdownOf({ rows: 3, done: true, note: null }));
    expect(markdownOf({ name: 'joins', content: 'Look at keys first.', skillDirectory: '/skills/joins' })).toBe(
      '# joins\n\nLook at keys first.',
    );
  });

  test('of any other object is fenced JSON, the same each time [V5]', () => {
    const fenced = '```json\n{\n  "a": [\n    {\n      "c": 2,\n      "d": 1\n    }\n  ],\n  "b": {}\n}\n```';
    expect(markdownOf({ b: {}, a: [{ d: 1, c: 2 }] })).toBe(fenced);
    expect(markdownOf(undefined)).toBe('```json\nnull\n```');
  });

  test('of input that the schema refuses, and of a handler that throws, is what went wrong', async () => {
    expect(
      await callTool(
        tool(() => 'never'),
        { n: 'x' },
      ),
    ).toEqual({ markdown: expect.stringMatching(/^Invalid input for count:\nn: /), isError: true });
    const failing = tool(() => {
      throw new Error('no such table');
    });
    expect(await callTool(failing, { n: 1 })).toEqual({ markdown: 'count failed: no such table', isError: true });
  });
});
