import { z } from 'zod';

/** The address of a server, for people who run their own. */
export function baseUrlSchema(login: string) {
  return z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => !/^\w+:\/\/[^/]*@/.test(url),
      `a login is never written into an address: use ${login}`,
    );
}

/** The keys that every source behind an API has. */
export const apiConfigKeys = {
  allow_private: z
    .boolean()
    .optional()
    .describe('True if the server has an address in your own network.'),
  concurrency: z
    .int()
    .min(1)
    .max(8)
    .optional()
    .describe('Maximum number of requests at the same time. Default: 4.'),
  max_items: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('With more items, reading the source fails; the list is never cut. Default: 20000.'),
};

/** For a source that need not read every body in every run. */
export const fullEverySchema = z
  .string()
  .regex(/^\d{1,3}d$/, 'a number of days, like 7d')
  .optional()
  .describe(
    'After how many days every page is read again, also if it seems unchanged, like 7d. Default: 7d.',
  );

interface ApiConfig {
  readonly allow_private?: boolean | undefined;
  readonly concurrency?: number | undefined;
  readonly full_every?: string | undefined;
  readonly max_items?: number | undefined;
}

const day = 24 * 3_600_000;

/** The limits of a source behind an API, with their defaults. */
export function apiLimits(config: ApiConfig) {
  return {
    allowPrivate: config.allow_private === true,
    concurrency: config.concurrency ?? 4,
    /** In milliseconds: how old a body may be that is not read again. */
    maxAge: Number.parseInt(config.full_every ?? '7', 10) * day,
    mostItems: config.max_items ?? 20_000,
  };
}
