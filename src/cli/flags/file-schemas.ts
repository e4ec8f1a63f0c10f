import { agentSchema } from '../../project/agents/agent-schema.ts';
import { questionSetSchema } from '../../eval/cases/question-set-schema.ts';
import { projectSchemas } from '../../project/open/schemas.ts';

/** The schema of each kind of file that people write. */
export const fileSchemas = {
  ...projectSchemas,
  agent: agentSchema,
  eval: questionSetSchema,
} as const;
