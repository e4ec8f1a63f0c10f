import type { Pin } from '../../../context/claims/pins.ts';
import type { Project } from '../../open/open.ts';
import { createPin } from '../review.ts';
import { checkDefinition } from './check-definition.ts';
import { requireUnchanged } from './changed-question.ts';
import type { Decision } from './decision.ts';
import { createDeferral } from './deferred.ts';
import { findQuestion } from './find-question.ts';
import { createOwnDefinition } from './own-definition.ts';
import { createUndo } from './undo.ts';

/**
 * Throws `question_changed` if something else is open than what the person saw. An undo compares
 * what is taken back itself.
 */
export async function requireSeen(project: Project, decision: Decision): Promise<void> {
  const { verb, subject, kind, seen: ids } = decision;
  if (verb === 'undo') await createUndo(project, { named: subject, kind, seen: ids });
  else await requireUnchanged(project, { named: [subject], kind, seen: ids });
}

/** The decision as it is written down. */
export async function createDecision(project: Project, decision: Decision): Promise<Pin> {
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
