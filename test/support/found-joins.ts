import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDatabase } from '../../bench/relationships/schema-builder.ts';
import { readSchemaText } from '../../bench/relationships/schema-text.ts';
import { scanFile } from '../../bench/relationships/score.ts';
import { writeDatabase } from '../../bench/relationships/write-database.ts';

/**
 * The joins that a scan finds in a database that declares nothing, or nothing but primary keys, by
 * their status: `orders.buyer_id -> buyer.id`.
 */
export async function foundJoins(text: string, declares: 'nothing' | 'keys' = 'nothing') {
  const { links } = await scanned(text, declares);
  const shown = (wanted: string): string[] =>
    links
      .filter(({ status }) => status === wanted)
      .map(({ from, to }) => {
        const [own, other] = [from, to].map(
          ({ table, columns }) => `${table.table}.${columns.join()}`,
        );
        return `${own} -> ${other}`;
      })
      .sort();
  return { accepted: shown('accepted'), review: shown('review'), links };
}

/** The columns of the primary keys that a scan accepts in such a database, by their tables. */
export async function foundKeys(text: string): Promise<Readonly<Record<string, string>>> {
  const { primaryKeys } = await scanned(text, 'nothing');
  return Object.fromEntries(
    primaryKeys
      .filter(({ status }) => status === 'accepted')
      .map(({ table, columns }) => [table.table, columns.join()]),
  );
}

async function scanned(text: string, declares: 'nothing' | 'keys') {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-joins-'));
  try {
    const path = join(dir, 'rules.sqlite');
    writeDatabase(path, buildDatabase('rules', readSchemaText(text)), declares);
    return await scanFile(path, undefined);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
