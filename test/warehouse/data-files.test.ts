import { DuckDBInstance } from '@duckdb/node-api';
import { zipSync } from 'fflate';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import writeWorkbook from 'write-excel-file/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Cell, Warehouse } from '../../src/warehouse/warehouse.ts';
import { generous, never } from '../support/warehouses.ts';

type FilesSetting = Extract<WarehouseConfig, { driver: 'duckdb' }>['files'];

let folder: string;
let opened: Warehouse[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ktx-test-data-files-'));
  opened = [];
});
afterEach(async () => {
  for (const warehouse of opened) await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});

const open = async (files?: FilesSetting): Promise<Warehouse> => {
  const config: WarehouseConfig = { driver: 'duckdb', path: 'data', files };
  const place = { projectDir: folder, cacheDir: join(folder, '.cache'), secrets: () => '' };
  const warehouse = await openWarehouse({ connection: 'wh', config, ...place }, never);
  opened.push(warehouse);
  return warehouse;
};
const put = async (name: string, content: string | Uint8Array): Promise<void> => {
  const path = join(folder, 'data', name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
};
const rowsOf = async (warehouse: Warehouse, table: string): Promise<readonly (readonly Cell[])[]> =>
  (await warehouse.query(`SELECT * FROM "${table}" ORDER BY 1`, generous, never)).rows;
const schemaOf = (warehouse: Warehouse) => warehouse.introspect({}, never);
const tablesOf = async (warehouse: Warehouse): Promise<string[]> =>
  (await schemaOf(warehouse)).tables.map(({ table }) => table);
const assumptionsOf = async (warehouse: Warehouse): Promise<string> =>
  ((await schemaOf(warehouse)).assumptions ?? []).join('\n');
const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('a file that cannot be read', () => {
  test('is set aside by name, and the rest works', async () => {
    await put('good.csv', 'id,total\n1,2.5\n');
    await put('empty.csv', '');
    await put('broken.parquet', 'no parquet');
    const warehouse = await open();
    expect(await rowsOf(warehouse, 'good')).toEqual([[1, 2.5]]);
    const { tables, unreadFiles = [] } = await schemaOf(warehouse);
    expect(tables.map(({ table }) => table)).toEqual(['good']);
    expect(unreadFiles).toEqual([
      {
        table: 'broken',
        reason: expect.stringMatching(/broken\.parquet could not be loaded: /),
      },
      {
        table: 'empty',
        reason: expect.stringMatching(/empty\.csv could not be loaded: it has 0 bytes/),
      },
    ]);
  });

  test('is one whose first line would make names of columns that nobody can read', async () => {
    await put('good.csv', 'id\n1\n');
    await put('letter.csv', `${'lorem ipsum '.repeat(9000)},b\n1,2\n`);
    const { tables, unreadFiles } = await schemaOf(await open());
    expect(tables.map(({ table }) => table)).toEqual(['good']);
    const reason = expect.stringMatching(
      /letter\.csv could not be loaded: .*no header.*107999 letters/,
    );
    expect(unreadFiles).toEqual([{ table: 'letter', reason }]);
  });

  test('keeps the columns of its table, says so when it is queried, and comes back', async () => {
    await put('good.csv', 'id\n1\n');
    await put('orders.csv', 'id,day\n1,2024-01-02\n');
    const before = await schemaOf(await open());
    await put('orders.csv', '');
    const broken = await open();
    const { tables, unreadFiles } = await schemaOf(broken);
    const columnsOf = (list: typeof tables) =>
      list.map(({ table, kind, columns }) => [table, kind, columns.map(({ type }) => type)]);
    expect(columnsOf(tables)).toEqual(columnsOf(before.tables));
    expect(unreadFiles).toHaveLength(1);
    await expect(
      broken.query('SELECT count(*) FROM orders', generous, never),
    ).rejects.toMatchObject({ code: 'query_failed' });
    await expect(rowsOf(broken, 'orders')).rejects.toMatchObject({
      code: 'query_failed',
      message: expect.stringMatching(/cannot be read now.*orders\.csv.*0 bytes/),
    });
    await put('orders.csv', 'id,day\n7,2024-01-03\n');
    expect(await rowsOf(await open(), 'orders')).toEqual([[7, '2024-01-03']]);
  });

  test('is an error where there is no other file', async () => {
    await put('empty.csv', '');
    await expect(open()).rejects.toMatchObject({ code: 'not_a_database', exitCode: 2 });
  });

  test('leaves out no part of a table without a word', async () => {
    await put('sales/1.csv', 'id\n1\n');
    await put('sales/2.csv', '');
    await put('parts/1.parquet', 'no parquet');
    await put('parts/2.parquet', 'no parquet');
    const warehouse = await open();
    expect(await rowsOf(warehouse, 'sales')).toEqual([[1]]);
    expect(await assumptionsOf(warehouse)).toContain('sales has empty parts: 2.csv');
    expect(await tablesOf(warehouse)).toEqual(['sales']);
  });
});

describe('what a text file does not say', () => {
  test('is its encoding: UTF-16 and Windows-1252 are recognized, and said', async () => {
    await put('cities.csv', latin('id;city\n1;K\xf6ln\n2;M\xfcnchen\n'));
    await put('wide.csv', Buffer.from('\ufeffid,city\n1,Łódź\n', 'utf16le'));
    await put('packed.csv.gz', gzipSync(latin('id,city\n1,Orl\xe9ans\n')));
    const warehouse = await open();
    expect(await rowsOf(warehouse, 'cities')).toEqual([
      [1, 'Köln'],
      [2, 'München'],
    ]);
    expect(await rowsOf(warehouse, 'wide')).toEqual([[1, 'Łódź']]);
    expect(await rowsOf(warehouse, 'packed')).toEqual([[1, 'Orléans']]);
    const assumptions = await assumptionsOf(warehouse);
    expect(assumptions).toContain('cities.csv is no UTF-8 and was read as windows-1252');
    expect(assumptions).toContain('cities.csv is separated by ";"');
    expect(assumptions).toContain('wide.csv is no UTF-8 and was read as utf-16le');
  });

  test('is its decimal comma: where every value has that form, it is a number', async () => {
    await put(
      'prices.csv',
      'id;price;note;code\n1;"1.234,50";a,b;1,234\n2;40,1;c;5,678\n3;7;d;9\n',
    );
    const warehouse = await open();
    expect(await rowsOf(warehouse, 'prices')).toEqual([
      [1, 1234.5, 'a,b', '1,234'],
      [2, 40.1, 'c', '5,678'],
      [3, 7, 'd', '9'],
    ]);
    const assumptions = await assumptionsOf(warehouse);
    expect(assumptions).toContain('price has decimal commas and was read as numbers');
    expect(assumptions).toContain('code stays text: its commas may separate');
    expect(assumptions).not.toContain('note');
  });

  test('is which comes first, day or month: said, and whether a row tells', async () => {
    await put('clear.csv', 'id,at\n1,03/04/2024\n2,25/04/2024\n');
    await put('unclear.csv', 'id,at\n1,03/04/2024\n2,05/06/2024\n');
    await put('times.csv', 'id,at\n1,03/04/2024 10:00:00\n2,05/06/2024 11:30:00\n');
    const assumptions = await assumptionsOf(await open());
    expect(assumptions).toMatch(
      /^times\.csv at was read with the day first .*also fits the other order: set timestamp_format/m,
    );
    expect(assumptions).toMatch(/^clear\.csv at was read with the day first \(%d\/%m\/%Y\)$/m);
    expect(assumptions).toMatch(/^unclear\.csv at was read .*also fits the other order/m);
  });

  test('is which comes first, also in a folder of parts: one that tells counts for all', async () => {
    await put('clear/a.csv', 'id,day\n1,04/13/2025\n2,05/20/2025\n');
    await put('clear/b.csv', 'id,day\n3,03/04/2025\n');
    await put('mixed/a.csv', 'id,day\n1,04/13/2025\n');
    await put('mixed/b.csv', 'id,day\n2,13/04/2025\n');
    await put('mixed/c.csv', 'id,day\n3,03/04/2025\n');
    const warehouse = await open();
    expect(await rowsOf(warehouse, 'clear')).toEqual([
      [1, '2025-04-13'],
      [2, '2025-05-20'],
      [3, '2025-03-04'],
    ]);
    const assumptions = await assumptionsOf(warehouse);
    expect(assumptions).toContain(
      'clear day was read with the month first (%m/%d/%Y), as a.csv shows',
    );
    expect(assumptions).toContain(
      'mixed day has both orders of day and month (day first in b.csv, month first in a.csv)',
    );
  });

  test('is which comes first, also in JSON, and a format for it can be set', async () => {
    await put('unclear.json', '{"day": "03-04-2025", "iso": "2025-04-03"}\n');
    await put('clear.json', '{"day": "04-13-2025"}\n{"day": "03-04-2025"}\n');
    await put('set.json', '{"day": "03-04-2025"}\n');
    const warehouse = await open({ 'set.json': { date_format: '%m-%d-%Y' } });
    expect(await rowsOf(warehouse, 'unclear')).toEqual([['2025-04-03', '2025-04-03']]);
    expect(await rowsOf(warehouse, 'clear')).toEqual([['2025-03-04'], ['2025-04-13']]);
    expect(await rowsOf(warehouse, 'set')).toEqual([['2025-03-04']]);
    const assumptions = await assumptionsOf(warehouse);
    expect(assumptions).toMatch(
      /^unclear\.json day was read with the day first .*also fits the other order/m,
    );
    expect(assumptions).toMatch(/^clear\.json day was read with the month first \(\S+\)$/m);
    expect(assumptions).not.toMatch(/iso|set\.json/);
  });

  test('is no zone where times of JSON have none, and instants where they have an offset', async () => {
    await put('log.jsonl', '{"at": "2025-10-26T00:30:00+02:00", "local": "2025-10-26T00:30:00"}\n');
    await put('mixed/a.json', '{"at": "2025-10-26T00:30:00Z"}\n');
    await put('mixed/b.json', '{"at": "2025-10-26T00:30:00"}\n');
    const warehouse = await open();
    const { tables } = await schemaOf(warehouse);
    const types = tables.map(({ table, columns }) => [table, ...columns.map(({ type }) => type)]);
    expect(types).toEqual([
      ['log', 'datetime_tz', 'datetime'],
      ['mixed', 'datetime'],
    ]);
    const inBerlin = `SELECT timezone('Europe/Berlin', "at")::VARCHAR FROM log`;
    const { rows } = await warehouse.query(inBerlin, generous, never);
    expect(rows).toEqual([['2025-10-26 00:30:00']]);
  });

  test('is said in each answer that uses a column whose order no row tells', async () => {
    await put('unclear.csv', 'id,day,amount\n1,03/04/2024,5\n2,05/06/2024,7\n');
    await put('clear.csv', 'id,day\n1,25/04/2024\n');
    const warehouse = await open();
    const warned = async (sql: string) => (await warehouse.query(sql, generous, never)).warnings;
    const note = expect.stringMatching(/^unclear\.csv day was read with the day first/);
    expect(await warned('SELECT month("day"), sum(amount) FROM unclear GROUP BY 1')).toEqual([
      note,
    ]);
    expect(await warned('SELECT u.* FROM unclear u')).toEqual([note]);
    expect(await warned('FROM unclear')).toEqual([note]);
    expect(await warned('SELECT count(*), sum(amount * id) FROM unclear')).toEqual([]);
    expect(await warned('SELECT day FROM clear')).toEqual([]);
    const again = await open();
    const kept = await again.query('SELECT max(day) FROM unclear', generous, never);
    expect(kept.warnings).toEqual([note]);
  });

  test('is a title above its table, which is no line of names', async () => {
    await put('titled.csv', 'Sales report 2025,,\nof May,,\nregion,month,amount\nN,2025-01,10\n');
    await put('semicolons.csv', 'Sales 2025;\nregion;amount\nN;10\n');
    await put('plain.csv', 'region,,\nN,5,6\nS,7,8\n');
    await put('kept.csv', 'Sales report 2025,,\nregion,month,amount\nN,2025-01,10\n');
    const warehouse = await open({ 'kept.csv': { skip_lines: 0 } });
    const columnsOf = async (name: string) =>
      (await schemaOf(warehouse)).tables
        .filter(({ table }) => table === name)
        .flatMap(({ columns }) => columns.map((column) => `${column.name} ${column.type}`));
    expect(await columnsOf('titled')).toEqual(['region string', 'month string', 'amount integer']);
    expect(await columnsOf('semicolons')).toEqual(['region string', 'amount integer']);
    expect(await columnsOf('plain')).toHaveLength(3);
    expect((await columnsOf('kept'))[0]).toBe('Sales report 2025 string');
    const assumptions = await assumptionsOf(warehouse);
    expect(assumptions).toContain('titled.csv has 2 lines of title above its table, left out');
    expect(assumptions).not.toMatch(/plain\.csv.*title|kept\.csv.*title/);
  });

  test('is its header, and what stands above its table', async () => {
    await put('bare.csv', '1,2\n3,4\n');
    await put('ragged.csv', 'id,a\n1,2\n2,3,4,5\n3\n');
    await put('titled.csv', 'Report of May\n\nid,total\n1,5\n2,6\n');
    const assumptions = await assumptionsOf(await open());
    expect(assumptions).toContain(
      'bare.csv has no line of names: its columns are column0, column1',
    );
    expect(assumptions).toContain('ragged.csv was read as one column: no separator fits');
    expect(assumptions).not.toContain('ragged.csv is separated');
    expect(assumptions).toMatch(/titled\.csv has \d lines? before its table/);
  });
});

describe('options of files', () => {
  test('overrule what would be assumed, for the first pattern that matches', async () => {
    await put('german.csv', latin('plz#preis#tag\n01067#1.234,5#03/04/2024\n'));
    await put('bare.csv', '1,x\n2,NA\n');
    const warehouse = await open({
      'ger*.csv': {
        encoding: 'windows-1252',
        delimiter: '#',
        decimal: ',',
        thousands: '.',
        date_format: '%m/%d/%Y',
        types: { plz: 'VARCHAR' },
      },
      '*.csv': { header: false, null_texts: ['NA'] },
    });
    expect(await rowsOf(warehouse, 'german')).toEqual([['01067', 1234.5, '2024-03-04']]);
    expect(await rowsOf(warehouse, 'bare')).toEqual([
      [1, 'x'],
      [2, null],
    ]);
    expect(await assumptionsOf(warehouse)).toBe('');
  });

  test('load the files again when they change', async () => {
    await put('a.csv', 'x,y\n1,2\n');
    expect(await rowsOf(await open(), 'a')).toEqual([[1, 2]]);
    expect(await rowsOf(await open({ 'a.csv': { types: { y: 'VARCHAR' } } }), 'a')).toEqual([
      [1, '2'],
    ]);
  });

  test('that cannot be followed set the file aside', async () => {
    await put('a.csv', 'x\n1\n');
    await put('b.csv', 'x\n1\n');
    const { unreadFiles } = await schemaOf(await open({ 'a.csv': { encoding: 'klingon' } }));
    expect(unreadFiles).toEqual([
      { table: 'a', reason: expect.stringContaining('"klingon" is no encoding') },
    ]);
  });
});

describe('containers and partitions', () => {
  test('a workbook has a table for each sheet, with the types of its cells', async () => {
    const header = (...names: string[]) => names.map((value) => ({ value }));
    const day = new Date('2024-02-29T00:00:00Z');
    const sheets = [
      [
        [{ value: 'Sales of the year' }],
        [],
        header('zip', 'amount', 'count', 'day', ''),
        [
          { value: '01067' },
          { value: 2.5 },
          { value: 3 },
          { value: day, type: Date, format: 'yyyy-mm-dd' },
          { value: true },
        ],
      ],
      [header('id', 'id'), [{ value: 1 }, { value: 2 }]],
    ];
    const book = await writeWorkbook(
      sheets.map((data, at) => ({ data, sheet: ['North', 'South'][at] ?? '' })),
    ).toBuffer();
    await put('sales.xlsx', book);
    const warehouse = await open();
    expect(await tablesOf(warehouse)).toEqual(['sales_North', 'sales_South']);
    expect(await rowsOf(warehouse, 'sales_North')).toEqual([['01067', 2.5, 3, '2024-02-29', true]]);
    expect(await rowsOf(warehouse, 'sales_South')).toEqual([[1, 2]]);
    expect(await assumptionsOf(warehouse)).toContain('(sheet North) has 1 row above its table');
    const chosen = await open({ 'sales.xlsx': { sheet: 'south' } });
    expect(await tablesOf(chosen)).toEqual(['sales']);
  });

  test('a title above a narrow table of a sheet is left out, unless the sheet is set', async () => {
    const header = (...names: string[]) => names.map((value) => ({ value }));
    const data = [header('Sales 2025'), header('region', 'amount'), [{ value: 'N' }, { value: 5 }]];
    await put('two.xlsx', await writeWorkbook([{ data, sheet: 'A' }]).toBuffer());
    const few = [header('name'), [{ value: 'N' }, { value: 5 }]];
    await put('few.xlsx', await writeWorkbook([{ data: few, sheet: 'A' }]).toBuffer());
    const warehouse = await open();
    const { columns, rows } = await warehouse.query('SELECT * FROM two', generous, never);
    expect([columns.map(({ name }) => name), rows]).toEqual([['region', 'amount'], [['N', 5]]]);
    expect(await rowsOf(warehouse, 'few')).toEqual([['N', 5]]);
    expect(await assumptionsOf(warehouse)).toContain(
      'two.xlsx (sheet A) has 1 row above its table',
    );
    const kept = await open({ 'two.xlsx': { skip_lines: 0 } });
    expect((await kept.query('SELECT * FROM two', generous, never)).columns[0]?.name).toBe(
      'Sales 2025',
    );
  });

  test('an archive has a table for each file in it, and no path of it is followed', async () => {
    const text = (content: string) => new TextEncoder().encode(content);
    await put('one.csv.zip', zipSync({ 'anything.csv': text('x\n1\n') }));
    const files = { 'a.csv': text('x\n3\n'), 'in/b.jsonl': text('{"x": 2}\n') };
    const others = { 'readme.txt': text('no data'), '../../evil.csv': text('x\n4\n') };
    await put('two.zip', zipSync({ ...files, ...others }));
    await put('none.zip', zipSync({ 'readme.txt': text('no data') }));
    const warehouse = await open();
    expect(await tablesOf(warehouse)).toEqual(['one', 'two_a', 'two_b']);
    expect(await rowsOf(warehouse, 'two_b')).toEqual([[2]]);
    expect(await assumptionsOf(warehouse)).toContain('none.zip has no data file');
  });

  test('partitions of Parquet are columns, also at the top of the folder', async () => {
    for (const place of ['year=2023', 'year=2024'])
      await mkdir(join(folder, 'data', place), { recursive: true });
    const writer = await DuckDBInstance.create(':memory:');
    const connection = await writer.connect();
    for (const year of [2023, 2024]) {
      const path = join(folder, `data/year=${year}/part.parquet`);
      await connection.run(`COPY (SELECT ${year - 2000} AS id) TO '${path}'`);
    }
    connection.closeSync();
    writer.closeSync();
    expect(await rowsOf(await open(), 'data')).toEqual([
      [23, 2023],
      [24, 2024],
    ]);
  });
});
