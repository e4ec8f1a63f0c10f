import { z } from 'zod';
import { errorMessage, UserError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import { checkSchema, problemText } from '../lib/schema-check.ts';
import { untrustedBlock, untrustedMarks } from '../lib/untrusted.ts';
import type { Project } from '../project/open/open.ts';
import { loopTools } from './loop-tools.ts';
import { appendToLog } from '../store/log.ts';
import { cutPage, type Position } from './page.ts';
import { registry } from './registry.ts';
import type { Answer, Tool, ToolDefinition } from './tool.ts';

/** A model's token is rarely shorter; an answer holds text and structure, so each item is formatCount twice. */
const charactersPerToken = 3;
const heldAnswers = 16;
const start: Position = { index: 0, character: 0 };

const pagingSchema = z.looseObject({
  max_tokens: z.int().min(500).max(100_000).default(8000),
  cursor: z.string().optional().describe('Of a truncated answer.'),
});

/** An answer and where to go on in it. */
interface Found {
  readonly id: string;
  readonly definition: ToolDefinition;
  readonly answer: Answer;
  readonly from: Position;
}

/** The tools of the registry over one project; the last answers are held for continuation as long as the box lives. */
export function openToolbox(project: Project): {
  tools(signal: AbortSignal, say?: (step: string) => void): Tool[];
} {
  const loops = loopTools(project);
  let held: readonly Found[] = [];
  const bind = (
    definition: ToolDefinition,
    { signal, say }: { signal: AbortSignal; say: (step: string) => void },
  ): Tool => {
    const { name, description, effect } = definition;
    const inputSchema =
      definition.isShort === true
        ? definition.inputSchema
        : definition.inputSchema.extend(pagingSchema.shape);
    const attempt = async (id: string, given: unknown) => {
      try {
        signal.throwIfAborted();
        const { max_tokens: maxTokens, cursor, ...input } = parse(name, inputSchema, given ?? {});
        const run = async () => ({
          id,
          definition,
          answer: await definition.run(input, { project, signal, loops, say }),
          from: start,
        });
        const found = cursor === undefined ? await run() : resumed(held, cursor);
        held = [found, ...held].slice(0, heldAnswers);
        const result = present(found, maxTokens * charactersPerToken);
        const answer = cursor === undefined ? { answer: found.answer } : {};
        return {
          result: { ...result, ...answer },
          outcome: { query: found.answer.queryId, page: result.structured.page },
        };
      } catch (error) {
        const failure = failureOf(error, signal);
        const { code, message } = failure;
        const stack = code === 'internal' && error instanceof Error ? error.stack : undefined;
        return { result: failed(failure), outcome: { error: { code, message }, stack } };
      }
    };
    const execute: Tool['execute'] = async (input) => {
      const started = performance.now();
      const call = newId('q');
      const { result, outcome } = await attempt(call, input);
      try {
        const ms = Math.round(performance.now() - started);
        appendToLog(project.dir, 'tools', {
          run: project.runId,
          call,
          tool: name,
          input,
          ms,
          ...outcome,
        });
        return result;
      } catch (error) {
        // What cannot be recorded is not handed out.
        return failed(failureOf(error, signal));
      }
    };
    return { name, description, effect, inputSchema, execute };
  };
  const offered = registry.agents.filter((definition) => definition.offered?.(project) ?? true);
  return {
    tools: (signal, say = () => undefined) =>
      offered.map((definition) => bind(definition, { signal, say })),
  };
}

function parse(tool: string, schema: z.ZodObject, input: unknown): z.infer<typeof pagingSchema> {
  const { data, problems } = checkSchema(schema, input);
  if (problems === undefined) return pagingSchema.parse(data);
  const lines = problems.slice(0, 5).map(problemText);
  const hint = `${tool} takes ${Object.keys(schema.shape).join(', ')}.`;
  throw new UserError('invalid_input', lines.join('\n'), { hint, exitCode: 2 });
}

function resumed(held: readonly Found[], cursor: string): Found {
  const [, id, index, character] = /^(q_\w+)\.(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? [];
  const found = held.find((each) => each.id === id && Number(index) < each.answer.items.length);
  if (found !== undefined)
    return { ...found, from: { index: Number(index), character: Number(character) } };
  const hint = 'Make the call again without cursor.';
  throw new UserError('cursor_expired', 'This cursor belongs to no answer that is still held.', {
    hint,
    exitCode: 2,
  });
}

/** Text and structure of one page, together at most `budget` characters. Both hold the same, between the same marks. */
function present({ id, definition: { name, itemsName }, answer, from }: Found, budget: number) {
  const { begin, end } = untrustedMarks(`${name} ${id}`);
  const { summary, trust, queryId, truncated = false } = answer;
  const beside = from.index + from.character === 0 ? fitting(answer.beside ?? {}, budget / 4) : {};
  const build = (room: number) => {
    const { items, partial, next } = cutPage(answer.items, from, room);
    const page = {
      truncated: truncated || next !== undefined,
      returned: items.length,
      total: answer.items.length,
      incomplete: truncated
        ? 'more exist than query.max_rows of ktx.yaml lets through; aggregate or filter.'
        : undefined,
      next_cursor: next && `${id}.${next.index}.${next.character}`,
    };
    const listed = itemsName === 'text' ? items.join('\n') : items;
    const content: Readonly<Record<string, unknown>> = {
      ...beside,
      [itemsName]: listed,
      ...(partial && { partial }),
    };
    const said = (value: unknown) =>
      typeof value === 'string' ? `\n${value}` : ` ${JSON.stringify(value)}`;
    const body = Object.entries(content).map(([key, value]) => `${key}:${said(value)}`);
    const notice = page.truncated
      ? [`Truncated: ${JSON.stringify(page)}${next ? '; the same call with cursor goes on.' : ''}`]
      : [];
    return {
      markdown: [`${summary} Trust: ${JSON.stringify(trust)}`, begin, ...body, end, ...notice].join(
        '\n',
      ),
      structured: {
        query_id: queryId,
        trust: { ...trust },
        untrusted: { begin, ...content, end },
        page,
      },
    };
  };
  const frame = build(0);
  const overhead = frame.markdown.length + JSON.stringify(frame.structured).length;
  return build(Math.max(0, Math.floor((budget - overhead) / 2)));
}

/** The entries; in place of those that `room` characters of JSON do not hold, a word on that. */
function fitting(
  beside: Readonly<Record<string, unknown>>,
  room: number,
): Readonly<Record<string, unknown>> {
  let used = 0;
  const fits = (value: unknown) => (used += JSON.stringify(value).length) < room;
  return Object.fromEntries(
    Object.entries(beside).map(([key, value]) => [
      key,
      fits(value) ? value : 'left out: needs more max_tokens',
    ]),
  );
}

function failureOf(error: unknown, { aborted }: AbortSignal): UserError {
  if (aborted) return new UserError('cancelled', 'The call was cancelled.', { retryable: true });
  if (error instanceof UserError) return error;
  const hint = 'The log in .ktx/logs has the details.';
  return new UserError('internal', `A defect in ktx: ${errorMessage(error).split('\n')[0]}`, {
    hint,
  });
}

/** Messages quote names and values from outside, so they stand between marks too. */
function failed(error: UserError) {
  const { code, message, hint } = error;
  const text = hint === undefined ? message : `${message.slice(0, 4000)}\nHint: ${hint}`;
  return { markdown: `Error ${code}\n${untrustedBlock('error', text.slice(0, 6000))}`, error };
}
