import { z } from 'zod';
import type { LimitReport } from '../../port/backend.ts';

const statusSchema = z.enum(['allowed', 'allowed_warning', 'rejected']).catch('allowed');
const limitWindowSchema = z.looseObject({
  status: statusSchema.optional(),
  utilization: z.number().optional(),
  resetsAt: z.number().optional(),
});
const limitInfoSchema = limitWindowSchema.extend({
  rateLimitType: z.string().optional(),
  unifiedWindows: z.record(z.string(), limitWindowSchema).optional().catch(undefined),
});

const stateByStatus = { allowed: 'open', allowed_warning: 'near', rejected: 'closed' } as const;

/**
 * The limits in a `rate_limit_event`, one report for each window. Newer releases report all
 * windows.
 */
export function limitsFromEvent(info: unknown): LimitReport[] {
  const { data } = limitInfoSchema.safeParse(info);
  if (data === undefined) return [];
  const { rateLimitType: name = 'requests', unifiedWindows = {}, ...whole } = data;
  const known = unifiedWindows[name];
  const windows =
    known !== undefined && whole.status !== 'rejected'
      ? unifiedWindows
      : { ...unifiedWindows, [name]: { ...known, ...whole } };
  return Object.entries(windows).map(([key, { status = 'allowed', utilization, resetsAt }]) => ({
    window: key,
    state: stateByStatus[status],
    utilization,
    resetsAt: resetsAt === undefined ? undefined : new Date(resetsAt * 1000),
  }));
}

/** The limit that the call exceeded. Without `resetsAt` if the program reported no time. */
export function exceededWindow(
  reports: readonly LimitReport[],
): { window: string; resetsAt?: Date | undefined } | undefined {
  const refused = reports.find(({ state }) => state === 'closed');
  return refused && { window: refused.window, resetsAt: refused.resetsAt };
}
