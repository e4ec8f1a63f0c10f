import { z } from 'zod';
import type { ReconciliationSession } from '../../ingest/decide/reconcile/reconciliation-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { loopTool } from '../loop-tool.ts';

const subject = z.string().describe('As list_contested has it, like metric:shop.orders.revenue.');
const kind = z
  .string()
  .optional()
  .describe('Needed where two things of one subject are contested.');
const why = z
  .string()
  .min(1)
  .describe('One short sentence for the person who decides: what differs, or why nothing does.');
interface Context {
  readonly session: ReconciliationSession;
}

/** What sources say differently. */
export const reconcileTools = [
  loopTool({
    name: 'list_contested',
    description:
      'Lists what is not decided yet: each subject with its versions, their ids, and who says so.',
    inputSchema: z.object({}),
    run(_, { session }: Context) {
      const contested = session.list();
      if (contested.length === 0) return 'Everything is decided. You are done.';
      return `${contested.length} to decide.\n${untrustedBlock('contested', JSON.stringify(contested, null, 1))}`;
    },
  }),
  loopTool({
    name: 'read_evidence',
    description: 'What one version rests on: each place that says so, with the lines around it.',
    inputSchema: z.object({ version: z.string().describe('Its id.') }),
    run: ({ version }, { session }: Context) =>
      untrustedBlock(`evidence of ${version}`, JSON.stringify(session.read(version), null, 1)),
  }),
  loopTool({
    name: 'compare_definitions',
    description:
      'Runs every version of a metric over everything, and gives the numbers side by side.',
    inputSchema: z.object({ subject }),
    run: async ({ subject: name }, { session }: Context) =>
      untrustedBlock(`numbers of ${name}`, JSON.stringify(await session.compare(name), null, 1)),
  }),
  loopTool({
    name: 'mark_same',
    description:
      'Says that versions mean the same in other words. Refused where figures or numbers show that they do not.',
    inputSchema: z.object({
      subject,
      kind,
      versions: z.array(z.string()).describe('Ids of two or more.'),
      why,
    }),
    run: ({ subject: name, ...said }, { session }: Context) => session.markSame(name, said),
  }),
  loopTool({
    name: 'mark_contradiction',
    description: 'Says that the versions really differ. They all stay, and a person decides.',
    inputSchema: z.object({ subject, kind, why }),
    run: ({ subject: name, ...said }, { session }: Context) =>
      session.markContradiction(name, said),
  }),
] as const;
