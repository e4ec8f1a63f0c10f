import { z } from 'zod';
import { loadSkill } from '../../llm/skills.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';

/** The tool that loads the skills of one stage. */
export function skillTool(stage: string): LoopTool<unknown> {
  return defineLoopTool({
    name: 'load_skill',
    description: 'Loads one of the skills that the instructions list.',
    inputSchema: z.object({ name: z.string() }),
    carries: 'nothing',
    run({ name }) {
      const skill = loadSkill(name, stage);
      return { markdown: `# ${skill.name}\n\n${skill.content}`, structured: skill };
    },
  });
}
