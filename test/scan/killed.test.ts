import { expect, inject, onTestFinished, test } from 'vitest';
import { killedAndResumed, openScanKilling } from './killed-scan.ts';

test('a scan that is killed, again and again, repeats no table that it had finished, and one changed table costs its own queries only', async () => {
  const killing = await openScanKilling(inject('postgresUrl'), 150);
  onTestFinished(() => killing.close());
  const shares = [
    0.05 + Math.random() * 0.3,
    0.4 + Math.random() * 0.3,
    0.75 + Math.random() * 0.25,
  ];
  const found = await killedAndResumed(killing, shares);
  expect(found.kills.length).toBeGreaterThan(1);
  expect(found.repeated).toEqual([]);
  // Each kill may have cut one that was under way.
  expect(found.profiles).toBeLessThanOrEqual(150 + found.kills.length);
  expect(found.resumed.profiled + found.resumed.reused).toBe(150);
  expect(found.resumed.profiled).toBe(150 - (found.kills.at(-1) ?? 0));
  expect(found.again).toMatchObject({
    profiled: 0,
    reused: 150,
    queries: 4,
    links: found.resumed.links,
  });
  expect(found.changed).toMatchObject({ profiled: 1, reused: 149, links: found.resumed.links });
  expect(found.strangers).toEqual([]);
  expect(found.touching.length).toBeLessThanOrEqual(5);
});
