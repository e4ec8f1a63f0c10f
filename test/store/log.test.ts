import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureStateDirectory } from '../../src/store/directories.ts';
import { appendToLog } from '../../src/store/log.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ktx-log-'));
});
afterEach(() => rmSync(dir, { recursive: true }));
const linesOf = (file: string) =>
  readFileSync(join(dir, '.ktx/logs', file), 'utf8')
    .split('\n')
    .slice(0, -1);

test('a line is added with its time, for the owner alone; one older file is kept', () => {
  appendToLog(dir, 'tools', { tool: 'a' });
  appendToLog(dir, 'tools', { tool: 'b\nc' });
  appendToLog(dir, 'llm', { role: 'x' });
  expect(linesOf('tools.jsonl').map((line) => JSON.parse(line) as unknown)).toEqual([
    { at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown, tool: 'a' },
    { at: expect.any(String) as unknown, tool: 'b\nc' },
  ]);
  expect(statSync(join(dir, '.ktx/logs/llm.jsonl')).mode & 0o077).toBe(0);

  writeFileSync(join(dir, '.ktx/logs/tools.jsonl'), 'x'.repeat(10_000_001));
  appendToLog(dir, 'tools', { tool: 'd' });
  expect(linesOf('tools.jsonl')).toHaveLength(1);
  expect(statSync(join(dir, '.ktx/logs/tools.1.jsonl')).size).toBe(10_000_001);
  expect(linesOf('llm.jsonl')).toHaveLength(1);
});

test('what cannot be written says so', () => {
  ensureStateDirectory(dir);
  mkdirSync(join(dir, '.ktx/logs/tools.jsonl'), { recursive: true });
  expect(() => appendToLog(dir, 'tools', {})).toThrow(
    expect.objectContaining({ code: 'file_not_accessible' }),
  );
});
