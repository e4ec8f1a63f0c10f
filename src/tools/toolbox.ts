import { z } from 'zod';
import { errorMessage, toSystemError, UserError } from '../lib/error.ts';
import { noValues, type SentValues } from '../llm/egress/sent-values.ts';
import { newId } from '../lib/id.ts';
import { redactCredentials } from '../lib/patterns/credentials.ts';
import { checkSchema, problemText } from '../lib/schema-check.ts';
import { untrustedBlock, untrustedMarks } from '../lib/untrusted.ts';
import type { Project } from '../project/open/open.ts';
import { appendToLog } from '../store/log.ts';
import { hintForAgent } from './answers/agent-hint.ts';
import { cutPage, type PagePosition } from './answers/page.ts';
import { registry } from './registry.ts';
import type { Tool, ToolAnswer, ToolDefinition } from './tool.ts';

/** A lower bound. Each item of data counts twice: an answer holds it as text and as structure. */
const charactersPerToken = 3;
const maxHeldAnswers = 16;
const firstPosition: PagePosition = { index: 0, character: 0 };

const pagingSchema = z.looseObject({
  max_tokens: z.int().min(500).max(100_000).default(8000),
  // A truncated answer says what to do with it.
  cursor: z.string().optional(),
});

/** An answer that is kept for its next pages. */
interface HeldAnswer {
  readonly id: string;
  readonly definition: ToolDefinition;
  readonly answer: ToolAnswer;
  /** The answer with the values that are withheld from it. */
  readonly whole: ToolAnswer;
  readonly position: PagePosition;
}

interface ToolboxOptions {
  /** False withholds rows and other values of the warehouse from the answers. Default true. */
  readonly sendsValues?: boolean;
  /** True leaves out metrics that nobody has accepted. Default false. */
  readonly isReviewedOnly?: boolean;
  /** True adds the tools that only conversations of ktx have. Default false. */
  readonly isConversation?: boolean;
  /** Who calls, for the log. */
  readonly caller?: string | undefined;
}

type ReportStep = (step: string) => void;

interface Toolbox {
  tools(signal: AbortSignal, reportStep?: ReportStep, terms?: CallTerms): Tool[];
  /** What the apps that a client shows may call; no model does. */
  appTools(signal: AbortSignal): Tool[];
}

/** What holds for the calls of bound tools. */
interface CallTerms {
  /** What a person has allowed their statements to read. */
  readonly allowedBytes?: number | undefined;
  /** As in `ToolContext`. Default false. */
  readonly isAwaited?: boolean;
}

interface BoundCalls extends CallTerms {
  readonly signal: AbortSignal;
  readonly reportStep: ReportStep;
}

/**
 * The registry's tools for agents, for one project. The last answers are held so that a cursor can
 * continue them.
 */
export function openToolbox(project: Project, options: ToolboxOptions = {}): Toolbox {
  const { sendsValues = true, isReviewedOnly = false, isConversation = false, caller } = options;
  const loops = async () => (await import('./loop-tools.ts')).loopTools(project);
  let held: readonly HeldAnswer[] = [];
  const bindTool = (
    definition: ToolDefinition,
    { signal, reportStep, allowedBytes, isAwaited = false }: BoundCalls,
  ): Tool => {
    const { name, description, effect, itemsName } = definition;
    const inputSchema = inputSchemaOf(definition);
    const answerCall = async (id: string, rawInput: unknown) => {
      signal.throwIfAborted();
      const parsed = parseInput(name, inputSchema, rawInput ?? {});
      const { max_tokens: maxTokens, cursor, ...input } = parsed;
      const run = async (): Promise<HeldAnswer> => {
        const asked = allowedBytes === undefined ? project : { ...project, allowedBytes };
        const bound = { signal, loops, reportStep, isReviewedOnly, isAwaited };
        const context = { project: asked, ...bound };
        const whole = await definition.run(input, context);
        const answer = sendsValues ? whole : withholdValues(whole);
        return { id, definition, answer, whole, position: firstPosition };
      };
      const page = cursor === undefined ? await run() : findHeldAnswer(held, cursor);
      held = [page, ...held].slice(0, maxHeldAnswers);
      const { page: position, ...result } = renderPage(page, maxTokens * charactersPerToken);
      return {
        result: { ...result, ...(cursor === undefined ? { answer: page.whole } : {}) },
        logEntry: { query: page.answer.queryId, page: position },
      };
    };
    const execute: Tool['execute'] = async (input) => {
      const started = performance.now();
      const call = newId('q');
      const { result, logEntry } = await answerCall(call, input).catch((error: unknown) =>
        failedCall(error, {
          signal,
          sendsValues,
          effect,
          connection: onlyConnection(project, input),
        }),
      );
      try {
        const ms = Math.round(performance.now() - started);
        const about = { run: project.runId, call, caller, tool: name };
        const entry = { ...about, input: withoutCredentials(input), ms, ...logEntry };
        appendToLog(project.dir, 'tools', entry);
        return result;
      } catch (error) {
        // An answer that cannot be logged is not returned.
        return { ...renderFailure(toToolError(error, signal)), values: noValues };
      }
    };
    const isStructured = itemsName !== 'text';
    const takesLong = (input: unknown): boolean => {
      const { data } = inputSchema.safeParse(input ?? {});
      return data !== undefined && definition.takesLong?.(data) === true;
    };
    return { name, description, effect, isStructured, inputSchema, takesLong, execute };
  };
  const listed = isConversation ? [...registry.agents, ...registry.conversation] : registry.agents;
  const offered = listed.filter((definition) => definition.offered?.(project) ?? true);
  return {
    tools: (signal, reportStep = () => undefined, terms = {}) =>
      offered.map((definition) => bindTool(definition, { ...terms, signal, reportStep })),
    appTools: (signal) =>
      registry.apps.map((definition) =>
        bindTool(definition, { signal, reportStep: () => undefined }),
      ),
  };
}

/** A refused note may be refused because of one. */
function withoutCredentials(input: unknown): unknown {
  const text = JSON.stringify(input, (_key, value: unknown) =>
    typeof value === 'string' ? redactCredentials(value) : value,
  );
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

const inputSchemas = new WeakMap<ToolDefinition, z.ZodObject>();

/** Made once for each tool: zod compiles each new schema, and a server binds tools at each call. */
function inputSchemaOf(definition: ToolDefinition): z.ZodObject {
  const known = inputSchemas.get(definition);
  if (known !== undefined) return known;
  const { isShort, inputSchema } = definition;
  const schema = isShort === true ? inputSchema : inputSchema.extend(pagingSchema.shape);
  inputSchemas.set(definition, schema);
  return schema;
}

/**
 * Whose message an error is, for the ledger: that of the connection which the call names, or of the
 * only one.
 */
function onlyConnection({ warehouses }: Project, input: unknown): string {
  const { data } = z.looseObject({ connection: z.string() }).safeParse(input);
  return data?.connection ?? (warehouses.length === 1 ? (warehouses[0] ?? '') : '');
}

/** The answer with a note in place of the values of the warehouse. */
function withholdValues(answer: ToolAnswer): ToolAnswer {
  const { summary, items, values, withheld, warnings = [] } = answer;
  const shown = withheld ?? items.filter((item) => values([item]).length === 0);
  if (values(items).length === 0 && warnings.length === 0) return answer;
  return {
    ...answer,
    warnings: [],
    summary: `${summary} Their values stay on this machine (llm.send_rows: off); the person sees them.`,
    items: shown,
    values: () => noValues,
  };
}

function parseInput(
  tool: string,
  schema: z.ZodObject,
  input: unknown,
): z.infer<typeof pagingSchema> {
  const { data, problems } = checkSchema(schema, input);
  if (problems === undefined) return pagingSchema.parse(data);
  const lines = problems.slice(0, 5).map(problemText);
  const hint = `${tool} takes ${Object.keys(schema.shape).join(', ') || 'nothing'}.`;
  throw new UserError('invalid_input', lines.join('\n'), { hint, exitCode: 2 });
}

/** A cursor is `<id of the call>.<item>.<character>`. */
function findHeldAnswer(held: readonly HeldAnswer[], cursor: string): HeldAnswer {
  const [, id, index, character] = /^(q_\w+)\.(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? [];
  const match = held.find(
    (candidate) => candidate.id === id && Number(index) < candidate.answer.items.length,
  );
  if (match !== undefined)
    return { ...match, position: { index: Number(index), character: Number(character) } };
  const message = 'The answer of this cursor is no longer held.';
  const hint = 'Make the call again without cursor.';
  throw new UserError('cursor_expired', message, { hint, exitCode: 2 });
}

/**
 * One page, at most `budget` characters. Answers that are data hold it as text and as structure,
 * between the same marks; a text stands once, since some clients show both to the model.
 */
function renderPage({ id, definition, answer, position }: HeldAnswer, budget: number) {
  const { name, itemsName } = definition;
  const { begin, end } = untrustedMarks(`${name} ${id}`);
  const { summary, trust, queryId, truncated = false } = answer;
  const isFirstPage = position.index === 0 && position.character === 0;
  const details = isFirstPage ? fitDetails(detailsOf(answer), budget / 4) : {};
  const quoted = isFirstPage ? quotedIn(answer) : noValues;
  const render = (room: number) => {
    const { items, partial, next } = cutPage(answer.items, position, room);
    const rendered = partial === undefined ? items : [answer.items[partial.item]];
    const page = {
      truncated: truncated || next !== undefined,
      returned: items.length,
      total: answer.items.length,
      incomplete: truncated
        ? 'there are more than query.max_rows in ktx.yaml allows; aggregate or filter.'
        : undefined,
      next_cursor: next && `${id}.${next.index}.${next.character}`,
    };
    const content: Readonly<Record<string, unknown>> = {
      ...details,
      [itemsName]: itemsName === 'text' ? items.join('\n') : items,
      ...(partial && { partial }),
    };
    const continueText = next ? '; repeat the call with this cursor to continue.' : '';
    const notice = page.truncated ? [`Truncated: ${JSON.stringify(page)}${continueText}`] : [];
    const lines = [
      `${summary} Trust: ${JSON.stringify(trust)}`,
      begin,
      ...Object.entries(content).map(([key, value]) => entryText(key, value)),
      end,
      ...notice,
    ];
    const structured = {
      query_id: queryId,
      trust: { ...trust },
      untrusted: { begin, ...content, end },
      page,
    };
    return {
      values: [...answer.values(rendered), ...quoted],
      markdown: lines.join('\n'),
      ...(itemsName === 'text' ? {} : { structured }),
      page,
    };
  };
  const frame = render(0);
  const copies = frame.structured === undefined ? 1 : 2;
  const overhead = frame.markdown.length + (JSON.stringify(frame.structured) ?? '').length;
  return render(Math.max(0, Math.floor((budget - overhead) / copies)));
}

/** The warnings of the warehouse stand with those that ktx found itself. */
function detailsOf({ details = {}, warnings = [] }: ToolAnswer): Readonly<Record<string, unknown>> {
  const own = Array.isArray(details['warnings']) ? (details['warnings'] as unknown[]) : [];
  return warnings.length === 0 ? details : { ...details, warnings: [...own, ...warnings] };
}

/** A warning may quote a value, as an error may. */
function quotedIn({ ran, warnings = [] }: ToolAnswer): readonly SentValues[] {
  if (warnings.length === 0) return noValues;
  const connection = ran?.connection ?? '';
  return [{ connection, source: '', column: '', kind: 'error', count: warnings.length }];
}

function entryText(key: string, value: unknown): string {
  return typeof value === 'string' ? `${key}:\n${value}` : `${key}: ${JSON.stringify(value)}`;
}

/** The entries that fit into `room` characters of JSON, in order; a note in place of the others. */
function fitDetails(
  details: Readonly<Record<string, unknown>>,
  room: number,
): Readonly<Record<string, unknown>> {
  let used = 0;
  const fits = (value: unknown) => (used += JSON.stringify(value).length) < room;
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      fits(value) ? value : 'left out: needs more max_tokens',
    ]),
  );
}

interface FailedCall {
  readonly sendsValues: boolean;
  readonly signal: AbortSignal;
  readonly effect: ToolDefinition['effect'];
  readonly connection: string;
}

function failedCall(error: unknown, { signal, sendsValues, effect, connection }: FailedCall) {
  const failure = toToolError(error, signal);
  const { code, message } = failure;
  const stack = code === 'internal' && error instanceof Error ? error.stack : undefined;
  const logEntry = { error: { code, message }, stack };
  // The message of an engine may quote a value.
  const mayQuote = effect === 'query' && !codesOfKtx.has(code);
  const sent = { connection, source: '', column: '', kind: 'error', count: 1 } as const;
  if (!mayQuote) return { result: { ...renderFailure(failure), values: noValues }, logEntry };
  if (sendsValues) return { result: { ...renderFailure(failure), values: [sent] }, logEntry };
  const withheld = new UserError(code, 'The warehouse could not run it. Its message is withheld.');
  return { result: { ...renderFailure(withheld), error: failure, values: noValues }, logEntry };
}

/** Failures before a statement reached the warehouse. */
const codesOfKtx = new Set([
  'invalid_input',
  'sql_syntax',
  'gate_refused',
  'cancelled',
  'sql_not_allowed',
]);

function toToolError(error: unknown, { aborted }: AbortSignal): UserError {
  if (aborted) return new UserError('cancelled', 'The call was cancelled.', { retryable: true });
  if (error instanceof UserError) return error;
  const ofSystem = toSystemError(error);
  if (ofSystem !== undefined) return ofSystem;
  const [firstLine] = errorMessage(error).split('\n');
  const hint = 'The log in .ktx/logs has the details.';
  return new UserError('internal', `This is a bug in ktx: ${firstLine}`, { hint });
}

/** The message may quote names and values from outside, so it is between marks, too. */
function renderFailure(error: UserError) {
  const { code, message, hint } = error;
  const text =
    hint === undefined ? message : `${message.slice(0, 4000)}\nHint: ${hintForAgent(hint)}`;
  return { markdown: `Error ${code}\n${untrustedBlock('error', text.slice(0, 6000))}`, error };
}
