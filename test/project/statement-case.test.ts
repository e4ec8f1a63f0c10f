import { expect, test } from 'vitest';
import { checkRowRules } from '../../src/project/answer/statement.ts';
import { engineWith } from '../conformance/engines.ts';
import { load } from '../semantic/shop.ts';
import { hasMariadb } from '../support/mariadb.ts';

const files = {
  orders: `
dataset: orders
source: orders
fields: [{name: id, type: integer}]
access: [{role: admin, where: 'true'}]
`,
  customers: `
dataset: customers
source: customers
fields: [{name: id, type: integer}]
`,
};
const tables = 'CREATE TABLE orders (id integer); CREATE TABLE customers (id integer);';

test.for(['postgres', 'mysql'] as const)(
  'on %s, a view whose name differs from a table in case alone is not that table',
  async (name, { skip }) => {
    skip(name === 'mysql' && !hasMariadb, 'MariaDB is not installed');
    const quote = name === 'mysql' ? '`' : '"';
    const engine = await engineWith(
      name,
      `${tables} CREATE VIEW ${quote}Customers${quote} AS SELECT * FROM orders; CREATE TABLE ${quote}Orders${quote} (id integer);`,
    );
    try {
      const { warehouse } = engine;
      const { model } = await load(files, warehouse.dialect);
      const outcome = async (table: string): Promise<string> => {
        const project = { model: async () => Promise.resolve({ model, diagnostics: [] }) };
        const sql = `SELECT id FROM ${quote}${table}${quote}`;
        return checkRowRules({ project, role: 'clerk' }, warehouse, sql).then(
          () => 'passes',
          (error: unknown) => (error as { code: string }).code,
        );
      };
      expect(await outcome('Customers')).toBe('row_rules');
      expect(await outcome('Orders')).toBe('row_rules');
      expect(await outcome('orders')).toBe('row_rules');
      // MySQL may take one name for the other.
      expect(await outcome('customers')).toBe(name === 'mysql' ? 'row_rules' : 'passes');
    } finally {
      await engine.close();
    }
  },
);
