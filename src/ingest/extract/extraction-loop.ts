import { UserError } from '../../lib/error.ts';
import { LlmError } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { RunLoopResult, StepFinished } from '../../llm/port/runtime.ts';
import { listSkills } from '../../llm/skills.ts';
import type { IngestModel } from '../model.ts';
import type { ProposalsSession } from './proposals-session.ts';
import { pictureOf } from './show-items.ts';
import type { WorkUnit } from './work-units.ts';

interface LoopOutcome {
  readonly outcome: RunLoopResult['stopReason'];
  readonly failure?: UserError | undefined;
}

/** Reads a unit to the end, or until its steps are spent; the claims are on the session. */
export async function readFully(
  unit: WorkUnit,
  session: ProposalsSession,
  { model, onStep }: { readonly model: IngestModel; readonly onStep: (step: StepFinished) => void },
): Promise<LoopOutcome> {
  const skills = listSkills('extract').map(
    ({ name, description }) => `- \`${name}\`: ${description}`,
  );
  const { stopReason, error, toolFailures } = await model.runtime.runAgentLoop({
    modelRole: 'candidateExtraction',
    systemPrompt: readPrompt('extract-unit', { skills: skills.join('\n') }),
    userPrompt: `The work unit to read:\n${pictureOf(unit)}`,
    toolSet: model.tools.extract(session, session.signal),
    stepBudget: model.stepBudget,
    telemetryTags: { stage: 'extract', unit: unit.id },
    onStepFinish: onStep,
    signal: session.signal,
  });
  if (error !== undefined) return { outcome: 'error', failure: error };
  // A refusal that the model corrected is part of the work; a proposal that never came through is not done.
  const failed = Object.keys(toolFailures).filter(
    (tool) => tool.startsWith('propose_') && !session.hasTaken(tool),
  );
  if (stopReason === 'budget' || failed.length === 0 || session.hasTaken('report_unmapped'))
    return { outcome: stopReason };
  const message = `${unit.id}: no ${failed.sort().join(', ')} of the model was valid.`;
  return { outcome: 'error', failure: new LlmError('invalid_output', message) };
}
