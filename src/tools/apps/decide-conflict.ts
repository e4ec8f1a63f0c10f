import { z } from 'zod';
import { decisionSchema } from '../../project/review/decide/decision.ts';
import { carriesNone, type ToolDefinition } from '../tool.ts';

const inputSchema = z.strictObject({ decision: decisionSchema });

/**
 * What a person presses in the app: the commit that `ktx review` makes. It is refused without the
 * ids of what the person saw, and if something else is open by then.
 */
export const decideConflict: ToolDefinition<typeof inputSchema> = {
  name: 'decide_conflict',
  description: 'The decision of a person about a conflict that the app shows. Not for models.',
  effect: 'write',
  inputSchema,
  itemsName: 'hits',
  isShort: true,
  async run({ decision }, { project, signal, loops }) {
    if (project.proposes === true) {
      const { proposeChange } = await import('../../project/propose/propose-change.ts');
      const { changeDetails, summarizeChange } = await import('../answers/describe-change.ts');
      const proposal = { kind: 'decision' as const, decision };
      const { runId } = project;
      const options = { signal, tools: await loops(), runId };
      const change = await proposeChange(project, proposal, options);
      return {
        summary: summarizeChange(change),
        trust: { status: 'ad_hoc' },
        details: changeDetails(change),
        items: [],
        values: carriesNone,
      };
    }
    const { createDecision, requireSeen } = await import('../../project/review/decide/decide.ts');
    const { ingestProject } = await import('../../project/learn/ingest.ts');
    const check = () => requireSeen(project, decision);
    await check();
    const pin = await createDecision(project, decision);
    const report = await ingestProject(project, {
      connections: [],
      pins: [pin],
      beforeDecision: check,
      signal,
    });
    const commit = report.commit.id;
    const says = commit === undefined ? 'the files are written, nothing is committed' : commit;
    return {
      summary: `Decided: ${says}.`,
      trust: { status: 'curated' },
      details: { pins: [pin], commit },
      items: [],
      values: carriesNone,
    };
  },
};
