import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { ToolOutput } from '../../llm/port/tool-call.ts';
import { inlineSchema } from './inline-schema.ts';
import type { ListedTool, ServerConnection } from './connection.ts';

/** A tool of another server, in the form of the agent's own tools. */
export interface ExternalTool {
  /** `<server>__<tool>` */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  call(input: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

const longestDescription = 1000;
const longestSchema = 20_000;
const longestAnswer = 40_000;

/**
 * Returns the tool, or the reason why it cannot be used. The server's claims about effects are
 * ignored.
 */
export function externalTool(
  connection: ServerConnection,
  listed: ListedTool,
): ExternalTool | string {
  const server = connection.name;
  const name = `${server}__${listed.name}`;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `a model cannot use the name ${listed.name}`;
  const size = jsonText(listed.inputSchema)?.length ?? Infinity;
  if (size > longestSchema)
    return `the schema of ${listed.name} has ${size} characters; the maximum is ${longestSchema}`;
  const inlined = inlineSchema(listed.inputSchema);
  if (inlined === undefined)
    return `the schema of ${listed.name} is too large once its references are followed, or too deep`;
  const inputSchema = objectSchema(inlined);
  if (inputSchema === undefined) return `the input schema of ${listed.name} is not valid`;
  const about = (listed.description ?? '').replaceAll(/\s+/g, ' ').slice(0, longestDescription);
  return {
    name,
    description: `Tool ${listed.name} of the server ${server}, which is not part of ktx. It says of itself: ${about}`,
    inputSchema,
    async call(input, signal) {
      const args = (input ?? {}) as Record<string, unknown>;
      const result = await connection.call(listed, args, signal).catch((error: unknown) => {
        const message = `The server ${server} failed: ${connection.errorText(error)}`;
        throw new UserError('mcp_server_failed', message, { cause: error });
      });
      const text = resultText(result);
      const isError = result.isError === true;
      return {
        markdown: untrustedBlock(name, limitAnswer(text)),
        summary: isError
          ? `${server} answered with an error`
          : `${text.length} characters from ${server}`,
        isError,
      };
    },
  };
}

function limitAnswer(text: string): string {
  return text.length > longestAnswer
    ? `${text.slice(0, longestAnswer)}\n(cut: ${text.length} characters in all)`
    : text;
}

const contentPartsSchema = z
  .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
  .catch([]);

interface ServerResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
}

/** The text of a result. A result without text is given as JSON. */
function resultText({ content, structuredContent }: ServerResult): string {
  const parts = contentPartsSchema.parse(content);
  if (parts.length === 0 && structuredContent !== undefined)
    return jsonText(structuredContent) ?? '(an answer that is nested too deeply, not shown)';
  return parts.map((part) => part.text ?? `(${part.type}, not shown)`).join('\n');
}

/** Undefined if the value is nested too deeply. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Undefined if the JSON Schema is not a valid schema of an object. */
function objectSchema(json: object): z.ZodObject | undefined {
  try {
    const schema = z.fromJSONSchema(
      withoutPatterns(json) as Parameters<typeof z.fromJSONSchema>[0],
    );
    return schema instanceof z.ZodObject ? schema : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Moves patterns into descriptions: a foreign regular expression can keep the process busy for
 * ever. The model still sees them, and the server checks them.
 */
function withoutPatterns(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutPatterns);
  if (!(json instanceof Object)) return json;
  const entries: [string, unknown][] = Object.entries(json);
  const rest = Object.fromEntries(
    entries
      .filter(([key, value]) => key !== 'patternProperties' && !isPattern(key, value))
      .map(([key, value]) => [key, withoutPatterns(value)]),
  );
  const { pattern, description = '' } = Object.fromEntries(entries);
  if (typeof pattern !== 'string') return rest;
  return { ...rest, description: `${String(description)} Pattern: ${pattern}`.trim() };
}

function isPattern(key: string, value: unknown): boolean {
  return key === 'pattern' && typeof value === 'string';
}
