import { z } from 'zod';
import type { LimitReport } from '../../port/backend.ts';

const status = z.enum(['allowed', 'allowed_warning', 'rejected']).catch('allowed');
const window = z.looseObject({
  status: status.optional(),
  utilization: z.number().optional(),
  resetsAt: z.number().optional(),
});
const limitInfo = window.extend({
  rateLimitType: z.string().optional(),
  unifiedWindows: z.record(z.string(), window).optional().catch(undefined),
});

const states = { allowed: 'open', allowed_warning: 'near', rejected: 'closed' } as const;

/** What a `rate_limit_event` says, a report for each window; newer releases name them all. */
export function limitsOf(info: unknown): LimitReport[] {
  const { data } = limitInfo.safeParse(info);
  if (data === undefined) return [];
  const { rateLimitType: name = 'requests', unifiedWindows = {}, ...whole } = data;
  const known = unifiedWindows[name];
  const windows =
    known !== undefined && whole.status !== 'rejected'
      ? unifiedWindows
      : { ...unifiedWindows, [name]: { ...known, ...whole } };
  return Object.entries(windows).map(
    ([key, { status: is = 'allowed', utilization, resetsAt }]) => ({
      window: key,
      state: states[is],
      utilization,
      resetsAt: resetsAt === undefined ? undefined : new Date(resetsAt * 1000),
    }),
  );
}

/** The window that refused the call; without a time where none was said. */
export function refusedLimit(
  reports: readonly LimitReport[],
): { window: string; resetsAt?: Date | undefined } | undefined {
  const refused = reports.find(({ state }) => state === 'closed');
  return refused && { window: refused.window, resetsAt: refused.resetsAt };
}
