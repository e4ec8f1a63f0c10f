import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { LlmError } from '../../port/error.ts';

const reportSchema = z.looseObject({
  sources: z.array(
    z.looseObject({ source: z.string(), settings: z.record(z.string(), z.unknown()) }),
  ),
});

/**
 * The managed settings that a running child has, wherever they come from: also those that a server
 * delivered to it. The SDK has the request without declaring it; releases without it report none.
 */
export async function readPolicySettings(query: Query): Promise<Readonly<Record<string, unknown>>> {
  const getSettings: unknown = Reflect.get(query, 'getSettings');
  if (typeof getSettings !== 'function') return {};
  const { data } = reportSchema.safeParse(await Reflect.apply(getSettings, query, []));
  if (data === undefined)
    throw new LlmError('isolation', 'Claude Code did not report its settings.');
  const policies = data.sources.filter(({ source }) => source === 'policySettings');
  return Object.assign({}, ...policies.map(({ settings }) => settings)) as Record<string, unknown>;
}
