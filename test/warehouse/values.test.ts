import { describe, expect, test } from 'vitest';
import { renderCsv } from '../../src/cli/terminal/csv.ts';
import { renderTable } from '../../src/cli/terminal/table.ts';
import type { Screen } from '../../src/cli/terminal/screen.ts';
import { snowflakeCell } from '../../src/warehouse/drivers/snowflake/values.ts';
import {
  type EngineName,
  engines,
  generous,
  isThere,
  makeDatabase,
  never,
} from '../support/warehouses.ts';

const plainScreen: Screen = {
  format: 'table',
  interactive: false,
  live: false,
  unicode: true,
  width: undefined,
  noteWidth: undefined,
  style: (_, text) => text,
  link: (_, text) => text,
};

/** Expressions, each with its type and with the cell that every output shows. */
type Values = Readonly<Record<string, readonly [type: string, cell: unknown]>>;

const values: Readonly<Record<EngineName, Values>> = {
  duckdb: {
    "date 'infinity'": ['date', 'infinity'],
    "date '-infinity'": ['date', '-infinity'],
    "date '0044-03-15 (BC)'": ['date', '0044-03-15 (BC)'],
    "date '10000-01-01'": ['date', '10000-01-01'],
    "timestamp '-infinity'": ['datetime', '-infinity'],
    "'infinity'::timestamp_s": ['datetime', 'infinity'],
    "'-infinity'::timestamp_ms": ['datetime', '-infinity'],
    "'infinity'::timestamp_ns": ['datetime', 'infinity'],
    "timestamp_ns '2024-01-01 01:02:03.123456789'": ['datetime', '2024-01-01 01:02:03.123456789'],
    "timestamptz 'infinity'": ['datetime_tz', 'infinity'],
    "timestamptz '2024-01-01 00:00:00.5+02'": ['datetime_tz', '2023-12-31T22:00:00.5Z'],
    "timestamptz '0044-03-15 (BC) 01:02:03+00'": ['datetime_tz', '0044-03-15 (BC) 01:02:03+00'],
    "'12:34:56.789+02:30'::timetz": ['string', '12:34:56.789+02:30'],
    "time '24:00:00'": ['string', '24:00:00'],
    "'12:34:56.123456789'::time_ns": ['string', '12:34:56.123456789'],
    '0.1::FLOAT': ['decimal', 0.1],
    '123456792::FLOAT': ['decimal', 123456790],
    '16777216::FLOAT': ['decimal', 16777216],
    '3.4028235e38::FLOAT': ['decimal', 3.4028235e38],
    '1e-45::FLOAT': ['decimal', 1e-45],
    "'nan'::FLOAT": ['decimal', 'NaN'],
    "'-inf'::DOUBLE": ['decimal', '-Infinity'],
    '-(0.0::DOUBLE)': ['decimal', 0],
    '0.1::DOUBLE + 0.2::DOUBLE': ['decimal', 0.30000000000000004],
    '9007199254740991': ['integer', 9007199254740991],
    '9007199254740993': ['integer', '9007199254740993'],
    '340282366920938463463374607431768211455::UHUGEINT': [
      'integer',
      '340282366920938463463374607431768211455',
    ],
    '0.00000000000000000000000000000000000001::DECIMAL(38,38)': [
      'decimal',
      '0.00000000000000000000000000000000000001',
    ],
    "INTERVAL '1 year 2 months 3 days 04:05:06.789'": [
      'unknown',
      '1 year 2 months 3 days 04:05:06.789',
    ],
    "'101'::BIT": ['unknown', '101'],
    "'\\xAA\\x00'::BLOB": ['unknown', '\\xaa00'],
    "'POINT(1 2)'::GEOMETRY": ['unknown', '\\x0101000000000000000000f03f0000000000000040'],
    "{'a': 0.1::FLOAT, 'b': date 'infinity', 'c': 9007199254740993}": [
      'unknown',
      '{"a":0.1,"b":"infinity","c":"9007199254740993"}',
    ],
    "[0.1::FLOAT, 'nan'::FLOAT, NULL]": ['unknown', '[0.1,"NaN",null]'],
    "[date '-infinity']::DATE[1]": ['unknown', '["-infinity"]'],
    "MAP {0.1::FLOAT: [date 'infinity']}": ['unknown', '{"0.1":["infinity"]}'],
    "MAP {2: 'b', 1: 'a'}": ['unknown', '{"2":"b","1":"a"}'],
    "union_value(k := {'v': 0.1::FLOAT})": ['unknown', '{"v":0.1}'],
    "row(1, 'x')": ['unknown', '[1,"x"]'],
    '[row(1, row(2, 3))]': ['unknown', '[[1,[2,3]]]'],
    "{'__proto__': 1, 'toString': 2}": ['unknown', '{"__proto__":1,"toString":2}'],
  },
  postgres: {
    "'infinity'::date": ['date', 'infinity'],
    "'0044-03-15 BC'::date": ['date', '0044-03-15 BC'],
    "'-infinity'::timestamptz": ['datetime_tz', '-infinity'],
    "'0044-03-15 01:02:03 BC'::timestamptz": ['datetime_tz', '0044-03-15 01:02:03+00 BC'],
    "'2024-01-01 00:00:00.5+02'::timestamptz": ['datetime_tz', '2023-12-31T22:00:00.5Z'],
    "'NaN'::numeric": ['decimal', 'NaN'],
    "'-Infinity'::float8": ['decimal', '-Infinity'],
    "'-0'::float8": ['decimal', 0],
    '0.1::float4': ['decimal', 0.1],
    '0.1::float8 + 0.2::float8': ['decimal', 0.30000000000000004],
    '12345678901234567890.12::numeric': ['decimal', '12345678901234567890.12'],
    '9223372036854775807::int8': ['integer', '9223372036854775807'],
    "'1234.56'::money": ['unknown', '$1,234.56'],
    "'1 year 2 mons 3 days 04:05:06.789'::interval": ['unknown', 'P1Y2M3DT4H5M6.789S'],
    "tstzrange('2024-01-01', 'infinity')": ['unknown', '["2024-01-01 00:00:00+00",infinity)'],
    "ARRAY[0.1::float4, 'NaN']": ['unknown', '{0.1,NaN}'],
    "'\\x00ff'::bytea": ['unknown', '\\x00ff'],
    "'10:00:00+02:30'::timetz": ['unknown', '10:00:00+02:30'],
  },
  mysql: {
    'big.u': ['integer', '18446744073709551615'],
    'big.d': ['decimal', '12345678901234567890123456789012345.123456789012345678901234567890'],
    'big.b': ['unknown', '18446744073709551615'],
    'big.day': ['date', '0000-00-00'],
    'big.at': ['datetime', '0000-00-00 00:00:00'],
    'big.stamp': ['datetime_tz', '0000-00-00 00:00:00'],
    'big.y': ['integer', 0],
    'big.t': ['string', '-838:59:59'],
    'big.part': ['date', '2024-00-00'],
    'big.f': ['decimal', 0.1],
    '-(0e0)': ['decimal', 0],
    '0.1e0 + 0.2e0': ['decimal', 0.30000000000000004],
    '1e22': ['decimal', 1e22],
  },
  sqlite: {
    '9007199254740993': ['integer', '9007199254740993'],
    '-9223372036854775808': ['integer', '-9223372036854775808'],
    '1e22': ['decimal', 1e22],
    '2.0': ['decimal', 2],
    '9e999': ['decimal', 'Infinity'],
    '-0.0': ['decimal', 0],
    '0.1 + 0.2': ['decimal', 0.30000000000000004],
    "x'00ff'": ['string', '\\x00ff'],
  },
};

const scripts: Readonly<Record<EngineName, string>> = {
  duckdb: '',
  sqlite: 'CREATE TABLE t (a);',
  postgres: `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET extra_float_digits = -5', current_database());
    EXECUTE format('ALTER DATABASE %I SET DateStyle = ''German''', current_database()); END $$;`,
  mysql: `SET sql_mode = 'ANSI_QUOTES,ALLOW_INVALID_DATES'; CREATE TABLE big (u bigint unsigned, d decimal(65,30), b bit(64), day date, at datetime, stamp timestamp(0) NULL, y year, t time, part date, f float);
    INSERT INTO big VALUES (18446744073709551615, 12345678901234567890123456789012345.123456789012345678901234567890, ~0, '0000-00-00', '0000-00-00', 0, 0, '-838:59:59', '2024-00-00', 0.1);`,
};

describe.each(engines)('special values on %s', (engine) => {
  test.skipIf(!isThere(engine))('are exact and read the same in every output', async () => {
    const database = await makeDatabase(engine, scripts[engine]);
    const warehouse = await database.open();
    const expressions = Object.keys(values[engine]);
    const list = expressions.map((expression, index) => `${expression} AS v${index}`).join(', ');
    const from = engine === 'mysql' ? ' FROM big' : '';
    const result = await warehouse.query(`SELECT ${list}${from}`, generous, never);
    const read = expressions.map((expression, index) => [
      expression,
      [result.columns[index]?.type, result.rows[0]?.[index]],
    ]);
    expect(Object.fromEntries(read)).toEqual(values[engine]);
    // JSON keeps no minus zero, so a cell must be none either.
    expect(JSON.parse(JSON.stringify(result.rows))).toStrictEqual(result.rows);
    for (const [index, cell] of (result.rows[0] ?? []).entries()) {
      const one = { columns: [{ name: 'v' }], rows: [[cell]] };
      const csv = renderCsv(one)
        .split('\n')[1]
        ?.replaceAll('""', '"')
        .replace(/^"(.*)"$/, '$1');
      expect(csv, expressions[index]).toBe(String(cell));
      if (!String(cell).includes('00000000004'))
        expect(renderTable(one, plainScreen).split('\n')[1]?.trim()).toBe(String(cell));
    }
    await warehouse.close();
    await database.remove();
  });
});

test('a DECFLOAT of Snowflake keeps what a double cannot hold', () => {
  const cell = (text: string) => snowflakeCell(text, { name: 'D', type: 'decfloat' });
  const kept = ['1.2345678901234567890123456789e30', '1E-400', '1e400', '-4.5E-16000'];
  expect(kept.map(cell)).toEqual(kept);
  expect(['1.5', '1.25e3', '0e-400', '-0E5', '1e22'].map(cell)).toEqual([1.5, 1250, 0, 0, 1e22]);
});
