import { z } from 'zod';
import type { Pin } from '../../context/claims/pins.ts';
import { ingestProject } from '../../project/learn/ingest.ts';
import type { Project } from '../../project/open/open.ts';
import { checkDefinition } from '../../project/review/decide/check-definition.ts';
import { requireUnchanged } from '../../project/review/decide/changed-question.ts';
import { createDeferral } from '../../project/review/decide/deferred.ts';
import { findQuestion } from '../../project/review/decide/find-question.ts';
import { createOwnDefinition } from '../../project/review/decide/own-definition.ts';
import { createUndo } from '../../project/review/decide/undo.ts';
import { createPin } from '../../project/review/review.ts';
import { carriesNone, type ToolDefinition } from '../tool.ts';

const decided = { subject: z.string().min(1), kind: z.string().min(1) };
/** The ids of what was on the screen. */
const seen = z.array(z.string().min(1)).min(1).max(500);
const why = z.string().max(10_000).optional();

const decisionSchema = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.literal('choose'), ...decided, version: z.string(), why, seen }),
  z.strictObject({ verb: z.literal('edit'), ...decided, definition: z.string().min(1), why, seen }),
  z.strictObject({ verb: z.literal('defer'), ...decided, until: z.string().optional(), why, seen }),
  z.strictObject({ verb: z.literal('undo'), ...decided, seen }),
]);
type Decision = z.infer<typeof decisionSchema>;

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
  async run({ decision }, { project, signal }) {
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

/** An undo compares what is taken back itself. */
async function requireSeen(project: Project, decision: Decision): Promise<void> {
  const { verb, subject, kind, seen: ids } = decision;
  if (verb === 'undo') await createUndo(project, { named: subject, kind, seen: ids });
  else await requireUnchanged(project, { named: [subject], kind, seen: ids });
}

async function createDecision(project: Project, decision: Decision): Promise<Pin> {
  const { subject, kind } = decision;
  if (decision.verb === 'choose')
    return createPin(project, { subject, kind, choose: decision.version, why: decision.why });
  if (decision.verb === 'undo')
    return createUndo(project, { named: subject, kind, seen: decision.seen });
  const question = await findQuestion(project, { named: subject, kind });
  const { why: reason } = decision;
  if (decision.verb === 'defer')
    return createDeferral(project, { question, until: decision.until, why: reason });
  const pin = await createOwnDefinition(project, {
    question,
    text: decision.definition,
    why: reason,
  });
  await checkDefinition(project, pin);
  return pin;
}
