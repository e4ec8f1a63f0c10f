import { expect, test } from 'vitest';
import { clickhouseSettings } from '../../src/warehouse/drivers/clickhouse/settings.ts';
import { mysqlSettings } from '../../src/warehouse/drivers/mysql/settings.ts';
import { sqlserverSettings } from '../../src/warehouse/drivers/sqlserver/settings.ts';
import { trinoAddress } from '../../src/warehouse/drivers/trino/address.ts';

const url = 'env:WAREHOUSE_URL';
const contextOf = (text: string) => ({
  connection: 'wh',
  projectDir: '.',
  cacheDir: '.',
  secrets: () => text,
});
const readers = {
  mysql: (text: string) => mysqlSettings({ driver: 'mysql', url }, contextOf(`mysql://${text}`)),
  clickhouse: (text: string) =>
    clickhouseSettings({ driver: 'clickhouse', url }, contextOf(`https://${text}`)),
  sqlserver: (text: string) =>
    sqlserverSettings({ driver: 'sqlserver', url }, contextOf(`sqlserver://${text}`)),
  trino: (text: string) => trinoAddress({ driver: 'trino', url }, contextOf(`https://${text}`)),
};

// People paste a password into a URL as it is: a `%` that begins no escape is part of it.
test.for(Object.entries(readers))('the password in a URL of %s may have a %', ([, read]) => {
  expect(JSON.stringify(read('ann:100%@db.example.com/shop'))).toContain('"100%"');
  expect(JSON.stringify(read('ann:a%40b@db.example.com/shop'))).toContain('"a@b"');
});
