import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { removeFolder } from './page.ts';

const schema = z.object({
  conflicts: z.array(
    z.object({
      subject: z.string(),
      variants: z.array(
        z.object({
          number: z.object({
            value: z.coerce.number(),
            over: z.array(z.tuple([z.string(), z.coerce.number()])),
          }),
        }),
      ),
    }),
  ),
});

test('each version of a contested metric has its months, which add up to its number', async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-over-')));
  try {
    const made = await ktx(['demo', '--dir', 'demo', '--json'], { cwd });
    expect(made.code).toBe(0);
    // The demo ends by offering the page, whose first screen has both numbers.
    expect(made.stdout).toContain('web --open');
    const { envelope } = await ktxJson(['review', 'list'], { cwd: join(cwd, 'demo') });
    const conflicts = z.object({ conflicts: z.array(z.looseObject({ subject: z.string() })) });
    const revenue = conflicts
      .parse(envelope.data)
      .conflicts.filter(({ subject }) => subject === 'metric:shop.orders.revenue');
    const [conflict] = schema.parse({ conflicts: revenue }).conflicts;
    const numbers = conflict?.variants.map(({ number }) => number) ?? [];
    expect(numbers.map(({ value }) => Math.round(value))).toEqual([1_767_173, 1_891_712]);
    for (const { value, over } of numbers) {
      expect(over.length).toBeGreaterThanOrEqual(2);
      expect(over.length).toBeLessThanOrEqual(24);
      const months = over.map(([month]) => month);
      expect(months).toEqual(months.toSorted());
      expect(months.every((month) => /^\d{4}-\d{2}$/.test(month))).toBe(true);
      const sum = over.reduce((total, [, part]) => total + part, 0);
      expect(sum).toBeCloseTo(value, 0);
    }
  } finally {
    removeFolder(cwd);
  }
});
