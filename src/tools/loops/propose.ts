import type { z } from 'zod';
import type { ProposalsSession } from '../../ingest/extract/proposals-session.ts';
import {
  proposedDatasetSchema,
  proposedFieldSchema,
  proposedMetricSchema,
  proposedRelationshipSchema,
  proposedRuleSchema,
  proposedTermSchema,
  reportedUnmappedSchema,
} from '../../ingest/extract/proposal-schemas.ts';
import {
  proposeDataset,
  proposeField,
  proposeMetric,
  proposeRelationship,
  proposeRule,
  proposeTerm,
  reportUnmapped,
} from '../../ingest/extract/propose-claims.ts';
import { type LoopTool, loopTool } from '../loop-tool.ts';

/** What a work unit can end in: typed facts with the words that say them, each checked at once. */
export const proposeTools: readonly LoopTool<ProposalsSession>[] = [
  proposing(
    'propose_term',
    'A word of the business, and what it means.',
    proposedTermSchema,
    proposeTerm,
  ),
  proposing(
    'propose_rule',
    'A sentence that holds for the data, or has to be followed with it.',
    proposedRuleSchema,
    proposeRule,
  ),
  proposing(
    'propose_dataset',
    'What a row of a dataset is, and what it is for.',
    proposedDatasetSchema,
    proposeDataset,
  ),
  proposing(
    'propose_field',
    'What a field means; or a new field that is computed from a row.',
    proposedFieldSchema,
    proposeField,
  ),
  proposing(
    'propose_metric',
    'A number that is computed over the rows of a dataset. It is run for no row.',
    proposedMetricSchema,
    proposeMetric,
  ),
  proposing(
    'propose_relationship',
    'A join from many rows of one dataset to one of another.',
    proposedRelationshipSchema,
    proposeRelationship,
  ),
  proposing(
    'report_unmapped',
    'Something about data that cannot be claimed, and why.',
    reportedUnmappedSchema,
    reportUnmapped,
  ),
];

// oxlint-disable-next-line max-params -- the four columns of the table above
function proposing<Schema extends z.ZodObject>(
  name: string,
  description: string,
  inputSchema: Schema,
  propose: (session: ProposalsSession, proposal: z.infer<Schema>) => string | Promise<string>,
): LoopTool<ProposalsSession> {
  return loopTool({
    name,
    description,
    inputSchema,
    async run(proposal, { session }) {
      const said = await propose(session, proposal);
      session.noteAccepted(name);
      return said;
    },
  });
}
