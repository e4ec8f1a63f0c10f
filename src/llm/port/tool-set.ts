import { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from './runtime.ts';
import type { ToolCall } from './tool-call.ts';

/** What the model sees of a tool call: always text. */
export interface ToolReply {
  readonly markdown: string;
  readonly isError: boolean;
}

/** Refuses a tool set that an adapter could not serve: a key that is not the tool's name, a schema that is no object. */
export function checkToolSet(tools: KtxToolSet): void {
  for (const [key, { name, inputSchema }] of Object.entries(tools)) {
    if (key !== name)
      throw new UserError('tool_set_invalid', `The tool ${name} is registered as ${key}.`);
    if (!(inputSchema instanceof z.ZodObject))
      throw new UserError('tool_set_invalid', `The input schema of the tool ${name} is no object.`);
  }
}

/** Parses the input with the tool's own schema and runs it; a refusal or a throw is a reply that the model can act on. */
export async function callTool(
  tool: KtxRuntimeToolDescriptor,
  input: unknown,
  call?: ToolCall,
): Promise<ToolReply> {
  const refusal = refusalOf(tool, input);
  if (refusal !== undefined) return { markdown: refusal, isError: true };
  try {
    const output = await tool.execute(tool.inputSchema.parse(input ?? {}), call);
    return { markdown: markdownOf(output), isError: output?.isError === true };
  } catch (error) {
    return { markdown: `${tool.name} failed: ${errorMessage(error)}`, isError: true };
  }
}

/** Why the tool would not take this input, in words for a model. */
export function refusalOf(tool: KtxRuntimeToolDescriptor, input: unknown): string | undefined {
  const { problems } = checkSchema(tool.inputSchema, input ?? {});
  const lines = problems
    ?.slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
  return lines && `Invalid input for ${tool.name}:\n${lines.join('\n')}`;
}

const answerSchema = z.looseObject({ markdown: z.string() });
const skillSchema = z.looseObject({
  name: z.string(),
  content: z.string(),
  skillDirectory: z.string(),
});
const flatSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

/**
 * What a model sees of a tool's output: its markdown and nothing beside it. A tool of elsewhere may give a bare text, a
 * skill, or any other object, which is told the same way each time; the object itself stays with whoever called.
 */
function markdownOf(output: unknown): string {
  if (typeof output === 'string') return output;
  const answer = answerSchema.safeParse(output).data;
  if (answer !== undefined) return answer.markdown;
  const skill = skillSchema.safeParse(output).data;
  if (skill !== undefined) return `# ${skill.name}\n\n${skill.content}`;
  const flat = flatSchema.safeParse(output).data;
  if (flat !== undefined)
    return Object.entries(flat)
      .sort(byName)
      .map(([name, value]) => `- ${name}: ${String(value)}`)
      .join('\n');
  const sorted = (_key: string, value: unknown): unknown =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(byName))
      : value;
  return `\`\`\`json\n${JSON.stringify(output ?? null, sorted, 2)}\n\`\`\``;
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;
