import { z } from 'zod';
import type { ReconciliationSession } from '../../ingest/decide/reconcile/reconciliation-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { defineLoopTool } from '../loop-tool.ts';

const subject = z
  .string()
  .describe('Subject from list_contested, like metric:shop.orders.revenue.');
const kind = z.string().optional().describe('Needed if a subject has several conflicts.');
const why = z
  .string()
  .min(1)
  .describe('One short sentence for the person who decides: what differs, or why nothing differs.');
interface ReconcileContext {
  readonly session: ReconciliationSession;
}

/** Examine conflicts between sources. */
export const reconcileTools = [
  defineLoopTool({
    name: 'list_contested',
    description:
      'Lists the open conflicts: each subject with its versions, their ids, and who says each.',
    inputSchema: z.object({}),
    carries: 'nothing',
    run(_, { session }: ReconcileContext) {
      const contested = session.list();
      if (contested.length === 0) return 'Everything is decided. You are done.';
      return `${contested.length} to decide.\n${untrustedBlock('contested', JSON.stringify(contested, null, 1))}`;
    },
  }),
  defineLoopTool({
    name: 'read_evidence',
    description:
      'Shows the evidence for one version: each place that says it, with the lines around it.',
    inputSchema: z.object({ version: z.string().describe('Id of the version.') }),
    carries: 'nothing',
    run: ({ version }, { session }: ReconcileContext) =>
      untrustedBlock(`evidence of ${version}`, JSON.stringify(session.read(version), null, 1)),
  }),
  defineLoopTool({
    name: 'compare_definitions',
    description:
      'Runs every version of a metric over all data and shows the numbers side by side, rounded. Numbers that could show single rows are left out.',
    inputSchema: z.object({ subject }),
    carries: 'values',
    async run({ subject: name }, { session }: ReconcileContext) {
      const { versions, values } = await session.compare(name);
      const json = JSON.stringify(versions, null, 1);
      return { markdown: untrustedBlock(`numbers of ${name}`, json), values };
    },
  }),
  defineLoopTool({
    name: 'mark_same',
    description:
      'Marks versions as the same in other words. Refused if figures or numbers show that they differ.',
    inputSchema: z.object({
      subject,
      kind,
      versions: z.array(z.string()).describe('Two or more ids.'),
      why,
    }),
    carries: 'nothing',
    run: ({ subject: name, ...decision }, { session }: ReconcileContext) =>
      session.markSame(name, decision),
  }),
  defineLoopTool({
    name: 'mark_contradiction',
    description: 'Marks the versions as really different. All of them stay, and a person decides.',
    inputSchema: z.object({ subject, kind, why }),
    carries: 'nothing',
    run: ({ subject: name, ...decision }, { session }: ReconcileContext) =>
      session.markContradiction(name, decision),
  }),
] as const;
