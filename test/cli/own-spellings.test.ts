import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { subjects } from '../../src/context/claims/claim.ts';
import { transliterate } from '../../src/lib/patterns/transliterate.ts';
import { buildWikiDocument } from '../../src/project/answer/wiki.ts';
import { folder, ktx, ktxJson } from './run-cli.ts';

async function projectInThreeAlphabets(): Promise<string> {
  const cwd = folder();
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`
    CREATE TABLE "Πελάτες" (id INTEGER PRIMARY KEY, "Πόλη" TEXT);
    CREATE TABLE "Заказы" (id INTEGER PRIMARY KEY, "клиент_id" INTEGER REFERENCES "Πελάτες"(id),
      "Сумма" DECIMAL(10,2), "статус" TEXT);
    CREATE TABLE "订单" (id INTEGER PRIMARY KEY, "金额" DECIMAL(10,2));
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO "Πελάτες" SELECT i, CASE i % 2 WHEN 0 THEN 'Αθήνα' ELSE 'Πάτρα' END FROM n;
    INSERT INTO "Заказы" SELECT id, id, id * 10.5, 'Заказы.новый' FROM "Πελάτες";
    INSERT INTO "订单" SELECT id, id * 2.25 FROM "Πελάτες";`);
  db.close();
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  return cwd;
}

test('names in other alphabets are found and answer as they are spelled, and in Latin letters', async () => {
  const cwd = await projectInThreeAlphabets();
  const found = async (words: string) => (await ktx(['search', words], { cwd })).stdout;
  for (const words of ['Заказы', 'zakazy'])
    expect(await found(words)).toMatch(/^dataset:\S+ +main\.Заказы/m);
  for (const words of ['Πόλη', 'poli'])
    expect(await found(words)).toMatch(/^field:\S+ +Πόλη, string/m);
  expect(await found('金额')).toMatch(/^field:\S+ +金额, decimal/m);

  const rows = async (...argv: readonly string[]) => {
    const { envelope } = await ktxJson(['sl', 'query', ...argv], { cwd });
    expect(envelope.error).toBeUndefined();
    return (envelope.data as { rows: unknown }).rows;
  };
  const byCity = [
    ['Αθήνα', 4410],
    ['Πάτρα', 4200],
  ];
  // A text in quotes stays as it is.
  const where = ['-w', "Заказы.статус = 'Заказы.новый'"];
  expect(await rows('Заказы.total_Сумма', '-d', 'Заказы.Πελάτες.Πόλη', ...where)).toEqual(byCity);
  expect(await rows('sum(zakazy.summa)', '-d', 'pelates.poli')).toEqual(byCity);
  expect(await rows('sum(订单.金额)')).toEqual([[1845]]);
  expect(await rows('订单.count')).toEqual([[40]]);
  const listed = await ktx(['sl', 'list'], { cwd });
  expect(listed.stdout).toMatch(/^zakazy +count, total_summa/m);
  expect(listed.stdout).toMatch(/^dingdan +count/m);

  const explained = await ktx(['explain', 'заказы.Сумма'], { cwd });
  expect(explained.stdout).toContain('expr: "Сумма"');
  expect((await ktx(['sl', 'read', 'Pelates'], { cwd })).stdout).toContain('source: main.Πελάτες');
});

test('a term in another script is found with its title', () => {
  const section = { path: 'wiki/glossary.md', text: '## x\nSum.', line: 1, by: 'ktx' } as const;
  const marks = { isContested: false, stale: undefined, alsoNamed: [] };
  const documentOf = (title: string) =>
    buildWikiDocument({ ...section, ...marks, title, subject: subjects.term(title) });
  expect(documentOf('Выручка')).toMatchObject({ detail: 'Выручка', description: 'Sum.' });
  expect(documentOf('Revenue')).not.toHaveProperty('detail');
});

test('every script becomes Latin letters, whatever its form of Unicode', () => {
  const words = ['Όνομα', 'Заказы', 'Щётка', 'Объект', 'й'.normalize('NFD'), '订单_2', 'データ'];
  const latin = ['onoma', 'zakazy', 'shchetka', 'obekt', 'y', 'dingdan_2', 'deta'];
  expect(words.map(transliterate)).toEqual(latin);
});
