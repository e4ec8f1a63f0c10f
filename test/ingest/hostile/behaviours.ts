import { conversationBehaviours } from './behaviours/conversation.ts';
import { evidenceBehaviours } from './behaviours/evidence.ts';
import { formulaBehaviours } from './behaviours/formulas.ts';
import { joinBehaviours } from './behaviours/joins.ts';
import { textBehaviours } from './behaviours/text.ts';

/** Every way in which a model misbehaves while it reads. */
export const behaviours = [
  ...evidenceBehaviours,
  ...formulaBehaviours,
  ...joinBehaviours,
  ...textBehaviours,
  ...conversationBehaviours,
];
