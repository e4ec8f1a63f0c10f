import { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from './runtime.ts';
import type { ToolCall } from './tool-call.ts';

/** What the model gets back from a tool call: always text. */
export interface ToolReply {
  readonly markdown: string;
  readonly isError: boolean;
}

/** Throws if a key differs from its tool's name, or if an input schema is not an object. */
export function checkToolSet(tools: KtxToolSet): void {
  for (const [key, { name, inputSchema }] of Object.entries(tools)) {
    if (key !== name)
      throw new UserError('tool_set_invalid', `The tool ${name} is registered as ${key}.`);
    if (!(inputSchema instanceof z.ZodObject))
      throw new UserError(
        'tool_set_invalid',
        `The input schema of the tool ${name} is not an object.`,
      );
  }
}

/** Validates the input and runs the tool. Invalid input and a throw both become an error reply. */
export async function callTool(
  tool: KtxRuntimeToolDescriptor,
  input: unknown,
  call?: ToolCall,
): Promise<ToolReply> {
  const problem = invalidInputMessage(tool, input);
  if (problem !== undefined) return { markdown: problem, isError: true };
  try {
    const output = await tool.execute(tool.inputSchema.parse(input ?? {}), call);
    return { markdown: outputMarkdown(output), isError: output?.isError === true };
  } catch (error) {
    return { markdown: `${tool.name} failed: ${errorMessage(error)}`, isError: true };
  }
}

/** Explains to a model why the tool does not take this input; undefined if it does. */
export function invalidInputMessage(
  tool: KtxRuntimeToolDescriptor,
  input: unknown,
): string | undefined {
  const { problems } = checkSchema(tool.inputSchema, input ?? {});
  const lines = problems
    ?.slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
  return lines && `Invalid input for ${tool.name}:\n${lines.join('\n')}`;
}

const markdownSchema = z.looseObject({ markdown: z.string() });
const skillSchema = z.looseObject({
  name: z.string(),
  content: z.string(),
  skillDirectory: z.string(),
});
const flatObjectSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);

/**
 * A tool's output as Markdown. Tools of other origin may return plain text, a skill or any other
 * object; objects are printed with sorted keys, so the same output always gives the same text.
 */
function outputMarkdown(output: unknown): string {
  if (typeof output === 'string') return output;
  const withMarkdown = markdownSchema.safeParse(output).data;
  if (withMarkdown !== undefined) return withMarkdown.markdown;
  const skill = skillSchema.safeParse(output).data;
  if (skill !== undefined) return `# ${skill.name}\n\n${skill.content}`;
  const flat = flatObjectSchema.safeParse(output).data;
  if (flat !== undefined)
    return Object.entries(flat)
      .sort(compareEntries)
      .map(([name, value]) => `- ${name}: ${String(value)}`)
      .join('\n');
  return `\`\`\`json\n${JSON.stringify(output ?? null, sortObjectKeys, 2)}\n\`\`\``;
}

/** A replacer for `JSON.stringify`. */
function sortObjectKeys(_key: string, value: unknown): unknown {
  return value instanceof Object && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(compareEntries))
    : value;
}

function compareEntries([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
