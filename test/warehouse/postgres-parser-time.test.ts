import { describe, expect, test } from 'vitest';
import { emptyPostgresPolicy } from '../support/empty-postgres.ts';

const policy = emptyPostgresPolicy();

describe('the parser of Postgres', () => {
  test.for([
    ['comments in comments', `select 1 ${'/*'.repeat(45_000)}`],
    ['comments in comments that end', `select 1 ${'/*'.repeat(24_000)}${'*/'.repeat(24_000)}`],
    ['runs of operators just below the limit', `select 1 ${`${'/*'.repeat(499)} `.repeat(98)}`],
  ] as const)('reads %s no longer than ten times an ordinary text', async ([, sql]) => {
    const time = async (text: string): Promise<number> => {
      const start = process.cpuUsage();
      await policy.inspect(text).catch((error: unknown) => {
        expect(error).toMatchObject({ name: 'UserError' });
      });
      const { user: own, system: kernel } = process.cpuUsage(start);
      return (own + kernel) / 1000;
    };
    const usual = Math.max(400, await time(`select 1${' + 1 '.repeat(20_000)}`));
    expect((await time(sql)) / usual).toBeLessThan(10);
  });

  test('reads rulers in comments', async () => {
    const ruler = `/${'*'.repeat(200)}/ select 1 --${'-'.repeat(900)}`;
    expect((await policy.inspect(ruler)).tables).toEqual([]);
  });
});
