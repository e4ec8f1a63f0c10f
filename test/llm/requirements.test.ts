import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import requirements from './requirements.json' with { type: 'json' };

interface Requirement {
  readonly text: string;
  /** The capability that brings it; `optional` may stay undone. */
  readonly due: string;
  /** The capability that brings the rest of it. */
  readonly partly?: string;
}

const rows: Readonly<Record<string, Requirement>> = requirements.rows;
/** Capabilities that the product has. */
const present = new Set(['now', 'chat', 'ingest']);
const root = join(import.meta.dirname, '..');
/** A title cites rows in brackets at its end. */
const citation = /\[([A-Z]\d+d?(?: [A-Z]\d+d?)*)\]['"`]/g;

/** Row to the files whose test titles cite it. */
async function citations(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const path of await readdir(root, { recursive: true })) {
    if (!path.endsWith('.test.ts')) continue;
    const text = await readFile(join(root, path), 'utf8');
    for (const id of [...text.matchAll(citation)].flatMap(([, ids = '']) => ids.split(' '))) {
      found.set(id, [...new Set([...(found.get(id) ?? []), path])]);
    }
  }
  return found;
}

describe('the requirements of the LLM runtime', () => {
  test('are cited by tests, each that is due', async () => {
    const cited = await citations();
    const due = Object.keys(rows).filter((id) => present.has(rows[id]?.due ?? ''));
    const uncited = due.filter(
      (id) => !cited.has(id) && !requirements.pending.includes(id as never),
    );
    expect(uncited.map((id) => `${id}: ${rows[id]?.text}`)).toEqual([]);
    // The list of what is still to be proven only ever shrinks.
    expect(requirements.pending.filter((id) => cited.has(id) || rows[id] === undefined)).toEqual(
      [],
    );
  });

  test('are the only ones cited', async () => {
    const unknown = [...(await citations())]
      .filter(([id]) => rows[id] === undefined)
      .map(([id, files]) => `${id} in ${files.join(', ')}`);
    expect(unknown).toEqual([]);
  });

  test('are all there', () => {
    const counts: Record<string, number> = {};
    for (const id of Object.keys(rows)) counts[id.charAt(0)] = (counts[id.charAt(0)] ?? 0) + 1;
    expect(counts).toEqual({
      C: 15,
      P: 17,
      T: 8,
      O: 8,
      A: 7,
      I: 23,
      E: 17,
      D: 8,
      V: 7,
      R: 11,
      G: 8,
      K: 8,
      U: 10,
      X: 5,
      M: 8,
      Q: 10,
    });
    for (const { due, partly = 'chat' } of Object.values(rows)) {
      expect(['now', 'ingest', 'chat', 'query-history', 'optional']).toContain(due);
      expect(['ingest', 'chat', 'query-history']).toContain(partly);
    }
  });
});
