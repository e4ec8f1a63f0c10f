import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { exportEvidence, parseExport } from '../../src/cli/chat/export-command.ts';
import { renderExport } from '../../src/cli/export/render-export.ts';
import type { QueryEvidence } from '../../src/llm/port/tool-call.ts';
import { folder } from './run-cli.ts';

const evidence: QueryEvidence = {
  id: 'q1',
  call: 'c1',
  tool: 'query_metrics',
  columns: [
    { name: 'name', type: 'string' },
    { name: 'day', type: 'date' },
    { name: 'amount', type: 'decimal' },
    { name: 'big', type: 'integer' },
    { name: 'paid', type: 'boolean' },
  ],
  rows: [
    ['=cmd|" /C calc"!A0', '2024-07-01', 1.5, '9007199254740993', true],
    ['a,"b"\n|c', '2024-08-01', '12345678901234567890.25', 2, false],
    ['<b>日本</b>', null, -3, null, null],
  ],
  truncated: true,
  ms: 1,
};
const write = (argument: string, cwd: string) =>
  exportEvidence(evidence, parseExport(argument), cwd);

/** The rows of a Parquet file as DuckDB reads them, with the types of the columns. */
async function readParquet(path: string) {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const result = await connection.runAndReadAll(`SELECT * FROM read_parquet('${path}')`);
  const read = { types: result.columnTypes().map(String), rows: result.getRowsJson() };
  connection.closeSync();
  instance.closeSync();
  return read;
}

/** The text of one file of a ZIP archive, found through the directory at its end. */
function unzip(archive: Buffer, name: string): string {
  const end = archive.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    ) as [number, number, number];
    const packed = archive.readUInt32LE(at + 20);
    const header = archive.readUInt32LE(at + 42);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const start =
        header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      const data = archive.subarray(start, start + packed);
      return (archive.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data)).toString('utf8');
    }
    at += 46 + nameLength + extra + comment;
  }
  throw new Error(`no ${name}`);
}

describe('/export', () => {
  test('writes CSV with every digit, and says that there are more rows', async () => {
    const cwd = folder();
    const told = await write('rows.csv', cwd);
    expect(told).toMatch(/^wrote 3 rows of q1 to .*rows\.csv\. The query has more.*max_rows/);
    expect(readFileSync(join(cwd, 'rows.csv'), 'utf8')).toBe(
      'name,day,amount,big,paid\n"=cmd|"" /C calc""!A0",2024-07-01,1.5,9007199254740993,true\n' +
        '"a,""b""\n|c",2024-08-01,12345678901234567890.25,2,false\n<b>日本</b>,,-3,,\n',
    );
  });

  test('writes CSV without formulas if asked to; numbers stay', async () => {
    const cwd = folder();
    await write('rows.csv --escape-formulas', cwd);
    const text = readFileSync(join(cwd, 'rows.csv'), 'utf8');
    expect(text).toContain(`"'=cmd|`);
    expect(text).toContain(',-3,');
  });

  test('writes Parquet with types that keep every value', async () => {
    const cwd = folder();
    await write('q1 rows.parquet', cwd);
    expect(await readParquet(join(cwd, 'rows.parquet'))).toEqual({
      types: ['VARCHAR', 'DATE', 'DECIMAL(38,2)', 'BIGINT', 'BOOLEAN'],
      rows: [
        ['=cmd|" /C calc"!A0', '2024-07-01', '1.50', '9007199254740993', true],
        ['a,"b"\n|c', '2024-08-01', '12345678901234567890.25', '2', false],
        ['<b>日本</b>', null, '-3.00', null, null],
      ],
    });
  });

  test('a column in Parquet with a value that is not of its type is text', async () => {
    const path = join(folder(), 'odd.parquet');
    const columns = [
      { name: 'd', type: 'date' },
      { name: 'd', type: 'decimal' },
    ];
    const rows = [
      ['0000-00-00', 1 / 3],
      ['2024-01-01', 'Infinity'],
    ];
    const content = await renderExport(
      { columns, rows },
      { format: 'parquet', escapesFormulas: false },
    );
    writeFileSync(path, content);
    expect(await readParquet(path)).toEqual({
      types: ['VARCHAR', 'DOUBLE'],
      rows: [
        ['0000-00-00', 1 / 3],
        ['2024-01-01', 'Infinity'],
      ],
    });
  });

  test('writes a workbook in which text is text, also if it begins like a formula', async () => {
    const cwd = folder();
    await write('rows.xlsx', cwd);
    const part = (name: string): string => unzip(readFileSync(join(cwd, 'rows.xlsx')), name);
    const sheet = part('xl/worksheets/sheet1.xml');
    expect(sheet).not.toMatch(/<f\b/);
    expect(sheet).toMatch(/<c r="A2"[^>]* t="s">/);
    expect(sheet).toMatch(/<c r="C2"[^>]*><v>1\.5<\/v>/);
    expect(sheet).toMatch(/<c r="B2"[^>]*><v>45474<\/v>/);
    expect(part('xl/sharedStrings.xml')).toContain('9007199254740993');
    expect(part('xl/sharedStrings.xml')).toContain('&lt;b&gt;日本&lt;/b&gt;');
  });

  test('writes Markdown in which no cell breaks the table', async () => {
    const cwd = folder();
    await write('rows --format md', cwd);
    const lines = readFileSync(join(cwd, 'rows'), 'utf8').split('\n');
    expect(lines.slice(0, 2)).toEqual([
      '| name | day | amount | big | paid |',
      '| --- | --- | ---: | ---: | --- |',
    ]);
    expect(lines[3]).toContain('a,"b"\\\\n\\|c');
    expect(lines[4]).toContain('&lt;b>日本&lt;/b>');
    expect(lines).toHaveLength(6);
  });

  test('replaces no file without a word', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'rows.csv'), 'mine');
    await expect(write('rows.csv', cwd)).rejects.toMatchObject({
      code: 'file_exists',
      hint: expect.stringContaining('/export q1 rows.csv --overwrite'),
    });
    expect(readFileSync(join(cwd, 'rows.csv'), 'utf8')).toBe('mine');
    await write('rows.csv --overwrite', cwd);
    expect(readFileSync(join(cwd, 'rows.csv'), 'utf8')).toMatch(/^name,/);
  });

  test('follows no link out of the folder, and writes where a person says', async () => {
    const [cwd, other] = [folder(), folder()];
    mkdirSync(join(other, 'far'));
    symlinkSync(join(other, 'far'), join(cwd, 'out'));
    symlinkSync(join(other, 'rows.csv'), join(cwd, 'link.csv'));
    await expect(write('out/rows.csv', cwd)).rejects.toMatchObject({
      code: 'path_outside_project',
    });
    await expect(write('link.csv --overwrite', cwd)).rejects.toMatchObject({
      code: 'path_is_link',
    });
    expect([existsSync(join(other, 'far/rows.csv')), existsSync(join(other, 'rows.csv'))]).toEqual([
      false,
      false,
    ]);
    await write(`"${join(other, 'my rows.csv')}"`, cwd);
    expect(existsSync(join(other, 'my rows.csv'))).toBe(true);
    await expect(write(join(other, 'none/rows.csv'), cwd)).rejects.toMatchObject({
      code: 'folder_missing',
    });
  });

  test.each([
    ['rows.doc', 'format_unknown'],
    ['rows.csv --format doc', 'usage'],
    ['rows.csv --force', 'usage'],
    ['rows.csv more.csv', 'usage'],
  ])('does not guess: %s', async (argument, code) => {
    const cwd = folder();
    await expect((async () => write(argument, cwd))()).rejects.toMatchObject({ code });
  });
});
