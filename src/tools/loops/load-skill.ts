import { z } from 'zod';
import { loadSkill } from '../../llm/skills.ts';
import { type LoopTool, loopTool } from '../loop-tool.ts';

/** The skills of one stage. */
export function skillTool(stage: string): LoopTool<unknown> {
  return loopTool({
    name: 'load_skill',
    description: 'Loads one of the skills that the instructions list.',
    inputSchema: z.object({ name: z.string() }),
    run({ name }) {
      const skill = loadSkill(name, stage);
      return { markdown: `# ${skill.name}\n\n${skill.content}`, structured: skill };
    },
  });
}
