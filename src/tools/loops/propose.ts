import type { z } from 'zod';
import type { ProposalsSession } from '../../ingest/extract/proposals/proposals-session.ts';
import {
  proposedDatasetSchema,
  proposedFieldSchema,
  proposedMetricSchema,
  proposedRelationshipSchema,
  proposedRuleSchema,
  proposedTermSchema,
  reportedUnmappedSchema,
} from '../../ingest/extract/proposals/proposal-schemas.ts';
import {
  proposeDataset,
  proposeField,
  proposeMetric,
  proposeRelationship,
  proposeRule,
  proposeTerm,
  reportUnmapped,
} from '../../ingest/extract/proposals/propose-claims.ts';
import { UserError } from '../../lib/error.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';

/** The facts that a work unit can propose, each with a quote. Every proposal is checked at once. */
export const proposeTools: readonly LoopTool<ProposalsSession>[] = [
  proposeTool(
    'propose_term',
    'Proposes a business term and its definition.',
    proposedTermSchema,
    proposeTerm,
  ),
  proposeTool(
    'propose_rule',
    'Proposes a rule: something that is true of the data, or that must be followed when using it.',
    proposedRuleSchema,
    proposeRule,
  ),
  proposeTool(
    'propose_dataset',
    'Proposes a description of a dataset: what one row is, and what it is for.',
    proposedDatasetSchema,
    proposeDataset,
  ),
  proposeTool(
    'propose_field',
    'Proposes the meaning of a field, or a new field that is computed from one row.',
    proposedFieldSchema,
    proposeField,
  ),
  proposeTool(
    'propose_metric',
    'Proposes a metric: a number computed over the rows of a dataset. It is checked without reading rows.',
    proposedMetricSchema,
    proposeMetric,
  ),
  proposeTool(
    'propose_relationship',
    'Proposes a join from many rows of one dataset to one row of another.',
    proposedRelationshipSchema,
    proposeRelationship,
  ),
  proposeTool(
    'report_unmapped',
    'Reports a statement about data that no other tool can express, and why.',
    reportedUnmappedSchema,
    reportUnmapped,
  ),
];

// oxlint-disable-next-line max-params -- the four columns of the table above
function proposeTool<Schema extends z.ZodObject<{ item: z.ZodString }>>(
  name: string,
  description: string,
  inputSchema: Schema,
  propose: (session: ProposalsSession, proposal: z.infer<Schema>) => string | Promise<string>,
): LoopTool<ProposalsSession> {
  return defineLoopTool({
    name,
    description,
    inputSchema,
    carries: 'nothing',
    async run(proposal, { session }) {
      const { item } = proposal as { readonly item: string };
      try {
        const reply = await propose(session, proposal);
        session.noteAccepted(name, item);
        return reply;
      } catch (error) {
        if (error instanceof UserError) session.noteRefused(name, item, error.message);
        throw error;
      }
    },
  });
}
