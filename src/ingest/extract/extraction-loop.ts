import type { UserError } from '../../lib/error.ts';
import { noValues } from '../../llm/egress/sent-values.ts';
import { LlmError } from '../../llm/port/error.ts';
import type { RunLoopResult, StepFinished } from '../../llm/port/runtime.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { listSkills } from '../../llm/skills.ts';
import type { IngestModel } from '../model.ts';
import type { ProposalsSession } from './proposals/proposals-session.ts';
import { showItems } from './show-items.ts';
import type { WorkUnit } from './work-units.ts';

interface ExtractionResult {
  readonly outcome: RunLoopResult['stopReason'];
  readonly failure?: UserError | undefined;
}

interface LoopOptions {
  readonly model: IngestModel;
  readonly onStep: (step: StepFinished) => void;
}

/**
 * Lets a model read a unit in a loop, until it ends or its steps are spent. The session collects
 * the claims.
 */
export async function runExtractionLoop(
  unit: WorkUnit,
  session: ProposalsSession,
  { model, onStep }: LoopOptions,
): Promise<ExtractionResult> {
  const skills = listSkills('extract').map(
    ({ name, description }) => `- \`${name}\`: ${description}`,
  );
  const { stopReason, error, toolFailures } = await model.runtime.runAgentLoop({
    modelRole: 'candidateExtraction',
    systemPrompt: readPrompt('extract-unit', { skills: skills.join('\n') }),
    userPrompt: `The work unit to read:\n${showItems(unit)}`,
    toolSet: model.tools.extract(session, session.signal),
    values: noValues,
    stepBudget: model.stepBudget,
    telemetryTags: { stage: 'extract', unit: unit.id },
    onStepFinish: onStep,
    signal: session.signal,
  });
  if (error !== undefined) return { outcome: 'error', failure: error };
  // What was accepted counts, whatever else was refused. If every proposal was refused, the unit is
  // not read.
  const refusedTools = Object.keys(toolFailures).filter((tool) => tool.startsWith('propose_'));
  const isRead =
    stopReason === 'budget' || refusedTools.length === 0 || session.outcomes().size > 0;
  if (isRead) return { outcome: stopReason };
  const message = `${unit.id}: every call of ${refusedTools.sort().join(', ')} was invalid.`;
  return { outcome: 'error', failure: new LlmError('invalid_output', message) };
}
