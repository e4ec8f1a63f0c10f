import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { likelyEngine } from '../../src/cli/likely-engine.ts';

let dir: string;
const guess = (config: string, words: readonly string[] = []) => {
  writeFileSync(join(dir, 'ktx.yaml'), config);
  return likelyEngine(words, { cwd: dir, env: {} });
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ktx-engine-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('the engine beside ktx is guessed from the text of the configuration, in any style', () => {
  expect(guess('connections:\n  shop:\n    driver: sqlite\n    path: a.db\n')).toBe('sqlite');
  expect(guess('{"connections": {"shop": {"driver": "duckdb", "path": "a"}}}')).toBe('duckdb');
  expect(guess("connections: {shop: {driver: 'duckdb'}, docs: {driver: dbt, path: x}}")).toBe(
    'duckdb',
  );
});

test('no engine is started where none or two could be meant', () => {
  expect(guess('connections:\n  shop:\n    driver: postgres\n')).toBeUndefined();
  expect(guess('a: {driver: sqlite}\nb: {driver: duckdb}\n')).toBeUndefined();
  expect(guess('connections: {driver: duckdbx}\n')).toBeUndefined();
});

test('the project is the one that the command will use, and what is no file names none', () => {
  const inside = join(dir, 'inside');
  mkdirSync(inside);
  writeFileSync(join(inside, 'ktx.yaml'), 'c: {driver: duckdb}\n');
  const outer = 'c: {driver: sqlite}\n';
  expect(guess(outer, ['sl', 'query', '--project-dir', 'inside'])).toBe('duckdb');
  expect(guess(outer, ['sl', 'query', '--project-dir=inside', '-m', 'x'])).toBe('duckdb');
  expect(guess(outer, ['sl', 'query', '--project-dir', 'nowhere'])).toBeUndefined();
  expect(guess(outer, ['sl', 'query', '--project-dir'])).toBe('sqlite');
  rmSync(join(inside, 'ktx.yaml'));
  execFileSync('mkfifo', [join(inside, 'ktx.yaml')]);
  expect(guess(outer, ['sl', 'query', '--project-dir', 'inside'])).toBeUndefined();
});
