import { jsonSchema, tool, type ToolCallRepairFunction, type ToolSet } from 'ai';
import { z } from 'zod';
import { isRecord } from '../../lib/json.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../port/runtime.ts';
import { callTool, checkToolSet, invalidInputMessage } from '../port/tool-set.ts';
import { extractJson } from '../port/json-text.ts';

/** Asks the repair model for corrected arguments; undefined if it gives none. */
export type AskRepair = (prompt: string, schema: object) => Promise<unknown>;

interface SdkTools {
  readonly tools: ToolSet | undefined;
  readonly repairToolCall: ToolCallRepairFunction<ToolSet>;
  /**
   * The SDK runs these on the parsed input of each call, before the tool and before the history.
   */
  readonly experimental_refineToolInput: Readonly<
    Record<string, (input: unknown) => Promise<unknown>>
  >;
}

/**
 * The tools in the form of the AI SDK, sorted by name. Input that does not fit is repaired within
 * the step. If that fails, the tool refuses it with the same message as everywhere.
 */
export function toSdkTools(toolSet: KtxToolSet, askRepair: AskRepair): SdkTools {
  checkToolSet(toolSet);
  const sorted = Object.values(toolSet).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    tools:
      sorted.length === 0
        ? undefined
        : Object.fromEntries(sorted.map((descriptor) => [descriptor.name, sdkTool(descriptor)])),
    experimental_refineToolInput: Object.fromEntries(
      sorted.map((descriptor) => [
        descriptor.name,
        (input: unknown) => refineInput(descriptor, input, askRepair),
      ]),
    ),
    // The SDK calls this only for input that is not JSON. As a JSON string, it goes on to
    // `refineInput`.
    repairToolCall: ({ toolCall }) =>
      Promise.resolve(
        Object.hasOwn(toolSet, toolCall.toolName)
          ? { ...toolCall, input: JSON.stringify(toolCall.input) }
          : null,
      ),
  };
}

function sdkTool(descriptor: KtxRuntimeToolDescriptor): ToolSet[string] {
  return tool({
    description: descriptor.description,
    inputSchema: jsonSchema<unknown>(inputJsonSchema(descriptor)),
    execute: async (input, { toolCallId }) => {
      const { markdown, isError } = await callTool(descriptor, input, { id: toolCallId });
      // The SDK shows the model the name of an error before its message.
      if (isError) throw Object.assign(new Error(markdown), { name: '' });
      return markdown;
    },
  });
}

function inputJsonSchema(descriptor: KtxRuntimeToolDescriptor): object {
  return z.toJSONSchema(descriptor.inputSchema, { target: 'draft-7', io: 'input' });
}

/** The input, repaired if it does not fit. Always an object, because the SDK needs one. */
async function refineInput(
  descriptor: KtxRuntimeToolDescriptor,
  input: unknown,
  askRepair: AskRepair,
): Promise<object> {
  const refined = isValidInput(descriptor, input)
    ? input
    : await repairInput(descriptor, input, askRepair);
  if (isRecord(refined)) return refined;
  return isRecord(input) ? input : {};
}

async function repairInput(
  descriptor: KtxRuntimeToolDescriptor,
  input: unknown,
  askRepair: AskRepair,
): Promise<unknown> {
  const extracted = typeof input === 'string' ? extractJson(input) : input;
  if (isValidInput(descriptor, extracted)) return extracted;
  const inputText = typeof input === 'string' ? input : JSON.stringify(input);
  const schema = inputJsonSchema(descriptor);
  const prompt = [
    `Correct the arguments of a call of the tool ${descriptor.name} so that they fit its JSON Schema.`,
    'Keep every value that fits, change as little as possible, and make nothing up.',
    invalidInputMessage(descriptor, extracted) ?? '',
    `JSON Schema:\n${JSON.stringify(schema)}`,
    `Arguments:\n${untrustedBlock('arguments', inputText)}`,
  ].join('\n\n');
  const repaired = await askRepair(prompt, schema);
  return isValidInput(descriptor, repaired) ? repaired : undefined;
}

function isValidInput(descriptor: KtxRuntimeToolDescriptor, input: unknown): boolean {
  return isRecord(input) && invalidInputMessage(descriptor, input) === undefined;
}
