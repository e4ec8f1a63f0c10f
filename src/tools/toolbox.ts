import { z } from 'zod';
import { messageOf, UserError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import { nearest } from '../lib/suggest.ts';
import { untrustedMarks } from '../lib/untrusted.ts';
import type { Project } from '../project/project.ts';
import { cutPage, type Position } from './page.ts';
import { recordCall } from './record.ts';
import { registry } from './registry.ts';
import { type Answer, answerSchema, type StructuredAnswer, type Tool, type ToolDefinition, type ToolFailure } from './tool.ts';

/** A model's token is rarely shorter; an answer holds text and structure, so each item is counted twice. */
const charactersPerToken = 3;
const heldAnswers = 16;

const pagingSchema = z.object({
  max_tokens: z.int().min(500).max(100_000).default(8000).describe('Size of the answer.'),
  cursor: z.string().optional().describe('next_cursor of the answer to continue.'),
});

interface Held {
  readonly tool: string;
  readonly answer: Answer;
}

/** The tools of the registry over one project; answers that did not fit are held for continuation as long as the box lives. */
export function openToolbox(project: Project): { tools(signal: AbortSignal): Tool[] } {
  const held = new Map<string, Held>();
  const hold = (id: string, answer: Held): void => {
    held.set(id, answer);
    const oldest = held.size > heldAnswers ? held.keys().next().value : undefined;
    if (oldest !== undefined) held.delete(oldest);
  };
  const bind = (definition: ToolDefinition, signal: AbortSignal): Tool => {
    const { name, description, effect } = definition;
    const inputSchema = definition.inputSchema.extend(pagingSchema.shape);
    const execute = (input: unknown) => call({ project, definition, inputSchema, signal, held, hold }, input);
    return { name, description, effect, inputSchema, outputSchema: answerSchema, execute };
  };
  const offered = registry.filter((definition) => definition.offered?.(project) ?? true);
  return { tools: (signal) => offered.map((definition) => bind(definition, signal)) };
}

interface Call {
  readonly project: Project;
  readonly definition: ToolDefinition;
  readonly inputSchema: Tool['inputSchema'];
  readonly signal: AbortSignal;
  readonly held: ReadonlyMap<string, Held>;
  hold(id: string, answer: Held): void;
}

async function call(box: Call, input: unknown): ReturnType<Tool['execute']> {
  const started = performance.now();
  const id = newId('q');
  const entry = { run: box.project.runId, call: id, tool: box.definition.name, input };
  try {
    const found = await answerOf(box, { id, input });
    const result = present(box.definition, found);
    const queryId = found.answer.facts?.['query_id'];
    await recordCall(box.project.dir, {
      ...entry,
      query: queryId,
      ms: performance.now() - started,
      page: result.structured.page,
    });
    return result;
  } catch (error) {
    const failure = failureOf(error, box.signal);
    const stack = failure.code === 'internal' && error instanceof Error ? error.stack : undefined;
    await recordCall(box.project.dir, { ...entry, ms: performance.now() - started, error: failure, stack });
    return { markdown: failureText(failure), error: failure };
  }
}

interface Found {
  readonly id: string;
  readonly answer: Answer;
  readonly from: Position;
  readonly maxTokens: number;
}

async function answerOf(box: Call, { id, input }: { id: string; input: unknown }): Promise<Found> {
  box.signal.throwIfAborted();
  const { definition, project, signal } = box;
  const parsed = box.inputSchema.safeParse(input ?? {});
  if (!parsed.success) throw inputError(definition.name, box.inputSchema, parsed.error);
  const { max_tokens: maxTokens, cursor, ...own } = pagingSchema.loose().parse(parsed.data);
  if (cursor === undefined) {
    const answer = await definition.run(own, { project, signal });
    box.hold(id, { tool: definition.name, answer });
    return { id, answer, from: { index: 0, character: 0 }, maxTokens };
  }
  const [, from = '', index, character] = /^(q_\w+)\.(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? [];
  const held = box.held.get(from);
  if (held === undefined || held.tool !== definition.name || Number(index) >= held.answer.items.length) {
    throw new UserError('cursor_expired', 'This cursor belongs to no answer that is still held.', {
      hint: `Call ${definition.name} again without cursor.`,
      exitCode: 2,
    });
  }
  return { id: from, answer: held.answer, from: { index: Number(index), character: Number(character) }, maxTokens };
}

/** Text and structure of one page. Both hold the same, between the same marks. */
function present({ name, itemsName }: ToolDefinition, { id, answer, from, maxTokens }: Found) {
  const marks = untrustedMarks(`${name} ${id}`);
  const budget = maxTokens * charactersPerToken;
  const isFirst = from.index === 0 && from.character === 0;
  const all = Object.entries(answer.beside ?? {}).filter(([, value]) => value !== undefined);
  let used = 0;
  const fits = ([, value]: [string, unknown]): boolean => (used += JSON.stringify(value).length) * 2 < budget / 2;
  const shown = isFirst ? all.filter(fits) : [];
  const omitted = isFirst ? all.filter((entry) => !shown.includes(entry)).map(([key]) => key) : [];
  const build = (room: number) => {
    const { items, partial, next } = cutPage(answer.items, from, room);
    const cursor = next && `${id}.${next.index}.${next.character}`;
    const page = {
      truncated: next !== undefined || answer.incomplete !== undefined,
      from: from.index,
      returned: items.length,
      total: answer.items.length,
      ...(answer.incomplete === undefined ? {} : { incomplete: answer.incomplete }),
      ...(omitted.length === 0 ? {} : { omitted }),
      ...(cursor === undefined ? {} : { next_cursor: cursor }),
    };
    const list = itemsName === 'lines' ? { text: items.map(String).join('\n') } : { [itemsName]: items };
    const untrusted = {
      begin: marks.begin,
      ...Object.fromEntries(shown),
      ...list,
      ...(partial && { partial }),
      end: marks.end,
    };
    const structured: StructuredAnswer = { ...answer.facts, trust: answer.trust, untrusted, page };
    const body = [
      ...shown.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
      ...(itemsName === 'lines' ? [] : [`${itemsName}:`]),
      ...items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))),
      ...(partial ? [`characters ${partial.from} to ${partial.from + partial.json.length} of ${partial.of} of item ${partial.item}: ${partial.json}`] : []),
    ]; // prettier-ignore
    const markdown = [headLine(answer), marks.begin, ...body, marks.end, ...tailLines(page, itemsName)].join('\n');
    return { markdown, structured };
  };
  const empty = build(0);
  const overhead = empty.markdown.length + JSON.stringify(empty.structured).length;
  return build(Math.max(0, (budget - overhead) / 2));
}

function headLine({ summary, trust, facts }: Answer): string {
  const id = facts?.['query_id'];
  const parts = [trust.status.replace('_', ' '), trust.commit?.slice(0, 12), ...(trust.files ?? []), id];
  return `${summary} (${parts.filter((part) => part !== undefined).join(', ')})`;
}

interface PageMark {
  readonly from: number;
  readonly returned: number;
  readonly total: number;
  readonly incomplete?: string;
  readonly omitted?: readonly string[];
  readonly next_cursor?: string;
}

function tailLines(page: PageMark, itemsName: string): string[] {
  const { from, returned, total, incomplete, omitted, next_cursor: cursor } = page;
  return [
    ...(cursor === undefined ? [] : [`Truncated: ${itemsName} ${from} to ${from + returned} of ${total}. For the rest, the same call with cursor "${cursor}".`]),
    ...(incomplete === undefined ? [] : [`Incomplete: ${incomplete}`]),
    ...(omitted === undefined ? [] : [`Left out for size: ${omitted.join(', ')}. A larger max_tokens shows them.`]),
  ]; // prettier-ignore
}

function inputError(tool: string, schema: Tool['inputSchema'], error: z.ZodError): UserError {
  const known = Object.keys(schema.shape);
  const lines = error.issues.slice(0, 5).map((issue) => {
    if (issue.code !== 'unrecognized_keys' || issue.path.length > 0) return `${issue.path.join('.') || 'arguments'}: ${issue.message}`;
    const meant = issue.keys.map((key) => [key, nearest(key, known, 1)[0]]);
    return meant.map(([key, name]) => `${key}: no such argument${name === undefined ? '' : `; did you mean ${name}?`}`).join('; ');
  });
  return new UserError('invalid_input', lines.join('\n'), { hint: `${tool} takes ${known.join(', ')}.`, exitCode: 2 });
}

function failureOf(error: unknown, signal: AbortSignal): ToolFailure {
  if (signal.aborted) return { code: 'cancelled', message: 'The call was cancelled.', retryable: true };
  if (error instanceof UserError) {
    return { code: error.code, message: error.message, hint: error.hint, retryable: error.retryable };
  }
  const message = `A defect in ktx: ${messageOf(error).split('\n')[0]}`;
  return { code: 'internal', message, hint: 'The log in .ktx/logs has the details.', retryable: false };
}

/** Messages quote names and values from outside, so they stand between marks too. */
function failureText({ code, message, hint }: ToolFailure): string {
  const { begin, end } = untrustedMarks('error');
  const cut = message.length > 4000 ? `${message.slice(0, 4000)} …` : message;
  return [`Error ${code}`, begin, cut, ...(hint === undefined ? [] : [`Hint: ${hint.slice(0, 2000)}`]), end].join('\n');
}
