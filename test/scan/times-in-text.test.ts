import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';

let cwd: string;
const update = (sql: string): void => {
  const db = new DatabaseSync(join(cwd, 'hire.db'));
  db.exec(sql);
  db.close();
};
const file = () => readFileSync(join(cwd, 'semantic-layer/warehouse/hires.yaml'), 'utf8');
const types = () =>
  Object.fromEntries(
    [...file().matchAll(/name: (\w+),.*? type: (\w+)/g)].map(([, name = '', type]) => [name, type]),
  );

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-times-in-text-'));
  update(`CREATE TABLE hires (id INTEGER PRIMARY KEY, "Tag der Ausleihe" TEXT, back_at TEXT, seen TEXT, mixed TEXT, german TEXT, empty TEXT, price REAL, "paid?" TEXT);
    INSERT INTO hires VALUES
      (1, '2024-01-15', '2024-01-16 10:00', '2024-01-15T10:00:00Z', '2024-01-15 10:00', '15.01.2024', NULL, 5, 'settled'),
      (2, '2024-02-01', '2024-02-03', '2024-02-01T10:00:00.123+02:00', '2024-02-01T08:00:00Z', '01.02.2024', '', 7, 'open'),
      (3, '', NULL, '', NULL, NULL, NULL, 9, 'open');`);
  await ktx(['setup', '--driver', 'sqlite', '--path', 'hire.db'], { cwd });
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  return () => rmSync(cwd, { recursive: true, force: true });
});

test('texts that are all times in SQLite have the type of a time, and can be asked by month', async () => {
  expect(types()).toEqual({
    id: 'integer',
    tag_der_ausleihe: 'date',
    back_at: 'datetime',
    seen: 'datetime_tz',
    // With and without a zone, or not as SQLite reads them: nobody knows what they are.
    mixed: 'string',
    german: 'string',
    empty: 'string',
    price: 'decimal',
    paid: 'string',
  });
  const query = ['sl', 'query', '-m', 'hires.count', '-d', 'hires.tag_der_ausleihe.month'];
  const { envelope } = await ktxJson(query, { cwd });
  expect(envelope.data).toMatchObject({
    rows: expect.arrayContaining([
      ['2024-01-01', 1],
      ['2024-02-01', 1],
    ]),
  });
  const asked = await ktx(['sl', 'query', '-m', 'hires.count', '-d', 'hires.german.month'], {
    cwd,
  });
  expect(asked.stderr).toContain('give it type: date');
  expect(asked.stderr).not.toContain('CAST');
});

test('one text that is no time takes the type away at the next ingest', async () => {
  update(`UPDATE hires SET "Tag der Ausleihe" = 'soon' WHERE id = 3`);
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  expect(types()).toMatchObject({ tag_der_ausleihe: 'string', back_at: 'datetime' });
});

test('a search finds the values of a column whose name needs quotes', async () => {
  const { stdout } = await ktx(['search', 'settled'], { cwd });
  expect(stdout).toMatch(/field:warehouse\.hires\.paid +has "settled"/);
});
