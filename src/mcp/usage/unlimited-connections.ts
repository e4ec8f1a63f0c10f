import type { Project } from '../../project/open/open.ts';
import { driverNamed } from '../../warehouse/config.ts';
import { usdPerTibOf } from '../../warehouse/spending.ts';
import type { DaySpendingLimits } from './day-spending.ts';

/** A sentence for each limit of a day that does not hold for connections of the project. */
export function describeUnlimited(
  project: Pick<Project, 'warehouses' | 'connection'>,
  { bytesReadPerDay, usdPerDay }: DaySpendingLimits,
): readonly string[] {
  const configs = project.warehouses.map((name) => project.connection(name));
  const silent = configs.filter(({ config }) => driverNamed(config.driver).tellsBytesRead !== true);
  const unpriced = configs.filter(({ config }) => usdPerTibOf(config) === undefined);
  const sentence = (flag: string, found: typeof configs, why: string): readonly string[] =>
    found.length === 0
      ? []
      : [`${flag} does not hold for ${found.map(({ name }) => name).join(', ')}: ${why}.`];
  return [
    ...(bytesReadPerDay === undefined
      ? []
      : sentence('--bytes-read-per-day', silent, 'the engine does not say what it reads')),
    ...(usdPerDay === undefined
      ? []
      : sentence('--usd-per-day', unpriced, 'no price of bytes is known')),
  ];
}
