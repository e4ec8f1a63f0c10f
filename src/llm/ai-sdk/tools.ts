import { jsonSchema, tool, type ToolCallRepairFunction, type ToolSet } from 'ai';
import { z } from 'zod';
import { isRecord } from '../../lib/json.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../port/runtime.ts';
import { callTool, checkToolSet, refusalOf } from '../port/tool-set.ts';
import { jsonIn } from './json-text.ts';

/** Asks the repair model; undefined where it does not help. */
export type AskRepair = (prompt: string, schema: object) => Promise<unknown>;

interface SdkTools {
  readonly tools: ToolSet | undefined;
  readonly repairToolCall: ToolCallRepairFunction<ToolSet>;
  /** Run by the SDK on the parsed input of each call, before the tool and before the call goes into the history. */
  readonly experimental_refineToolInput: Readonly<
    Record<string, (input: unknown) => Promise<unknown>>
  >;
}

/**
 * The tools as the AI SDK takes them, sorted by name. The model sees markdown and nothing else. Input that does not
 * fit is repaired within the step; what cannot be repaired is refused by the tool itself, in the words of every surface.
 */
export function sdkTools(set: KtxToolSet, ask: AskRepair): SdkTools {
  checkToolSet(set);
  const sorted = Object.values(set).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const repaired = (descriptor: KtxRuntimeToolDescriptor) => async (input: unknown) => {
    const fitting = fits(descriptor, input) ? input : await repair(descriptor, input, ask);
    return isRecord(fitting) ? fitting : isRecord(input) ? input : {};
  };
  return {
    tools:
      sorted.length === 0
        ? undefined
        : Object.fromEntries(sorted.map((one) => [one.name, sdkTool(one)])),
    experimental_refineToolInput: Object.fromEntries(
      sorted.map((one) => [one.name, repaired(one)]),
    ),
    // Only what is no JSON at all comes here: as a string it goes on to the refinement above.
    repairToolCall: ({ toolCall }) => {
      return Promise.resolve(
        Object.hasOwn(set, toolCall.toolName)
          ? { ...toolCall, input: JSON.stringify(toolCall.input) }
          : null,
      );
    },
  };
}

function sdkTool(descriptor: KtxRuntimeToolDescriptor): ToolSet[string] {
  return tool({
    description: descriptor.description,
    inputSchema: jsonSchema<unknown>(schemaOf(descriptor)),
    execute: async (input, { toolCallId }) => {
      const { markdown, isError } = await callTool(descriptor, input, { id: toolCallId });
      // The SDK shows the model the name of an error before its message.
      if (isError) throw Object.assign(new Error(markdown), { name: '' });
      return markdown;
    },
  });
}

const schemaOf = (descriptor: KtxRuntimeToolDescriptor) =>
  z.toJSONSchema(descriptor.inputSchema, { target: 'draft-7', io: 'input' }) as object;

async function repair(
  descriptor: KtxRuntimeToolDescriptor,
  input: unknown,
  ask: AskRepair,
): Promise<unknown> {
  const extracted = typeof input === 'string' ? jsonIn(input) : input;
  if (fits(descriptor, extracted)) return extracted;
  const said = typeof input === 'string' ? input : JSON.stringify(input);
  const prompt = [
    `Correct the arguments of a call of the tool ${descriptor.name} so that they fit its JSON Schema.`,
    'Keep every value that fits, change as little as possible, and make nothing up.',
    refusalOf(descriptor, extracted) ?? '',
    `JSON Schema:\n${JSON.stringify(schemaOf(descriptor))}`,
    `Arguments:\n${untrustedBlock('arguments', said)}`,
  ].join('\n\n');
  const answer = await ask(prompt, schemaOf(descriptor));
  return fits(descriptor, answer) ? answer : undefined;
}

function fits(descriptor: KtxRuntimeToolDescriptor, input: unknown): boolean {
  return isRecord(input) && refusalOf(descriptor, input) === undefined;
}
