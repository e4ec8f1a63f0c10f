import { agentSchema } from '../../chat/agent-schema.ts';
import { questionSetSchema } from '../../eval/cases/question-set-schema.ts';
import { projectSchemas } from '../../project/open/schemas.ts';

/** Every kind of file that a person writes, each with its schema. */
export const fileSchemas = {
  ...projectSchemas,
  agent: agentSchema,
  eval: questionSetSchema,
} as const;
