import { z } from 'zod';

/** A command line without its output flags. */
export type PageCommand = readonly string[];

/** What the page can ask for: always what a command prints with `--json`. */
export interface PageRoute {
  readonly method: 'GET' | 'POST';
  /** True if it changes the project: refused with `--read-only`. */
  readonly writes?: boolean;
  /** True if the command prints lines while it runs. */
  readonly streams?: boolean;
  /** Undefined if the route does not take the input. */
  readonly toCommand: (input: unknown) => PageCommand | undefined;
}

interface RouteSpec<Schema extends z.ZodType> extends Omit<PageRoute, 'toCommand'> {
  readonly input: Schema;
  readonly command: (input: z.infer<Schema>) => PageCommand;
}

function define<Schema extends z.ZodType>(spec: RouteSpec<Schema>): PageRoute {
  const { input, command, ...route } = spec;
  const toCommand = (given: unknown): PageCommand | undefined => {
    const { data, success } = input.safeParse(given);
    return success ? command(data) : undefined;
  };
  return { ...route, toCommand };
}

const longest = 10_000;
const name = z.string().min(1).max(1_000);
const words = z.string().min(1).max(longest);
const nothing = z.strictObject({});
/** In a URL. */
const count = z.string().regex(/^[1-9]\d{0,5}$/);
const connection = name.optional();
/** A parameter of a URL is a list if it stands there several times. */
const list = z.union([z.array(name).max(50), name.transform((only) => [only])]).default([]);
/** What was on the table when the page showed it: no decision is made without it. */
const seen = z.array(name).min(1).max(500);
const decision = { kind: name.optional(), why: words.optional(), seen };

/** `--flag=value`: a value that begins with a dash is no flag. */
function flag(key: string, value: string | number | boolean | undefined): PageCommand {
  if (value === undefined || value === false) return [];
  return [value === true ? `--${key}` : `--${key}=${value}`];
}

function flags(key: string, values: readonly string[]): PageCommand {
  return values.map((value) => `--${key}=${value}`);
}

function seenFlag(ids: readonly string[]): PageCommand {
  return flag('seen', ids.join(','));
}

/** The route of a command that takes nothing. */
function reads(...command: PageCommand): PageRoute {
  return define({ method: 'GET', input: nothing, command: () => command });
}

function decides(verb: 'accept' | 'reject'): PageRoute {
  return define({
    method: 'POST',
    writes: true,
    input: z.strictObject({
      ids: seen,
      why: decision.why,
      seen,
      // A rejected join needs no name.
      ...(verb === 'accept' ? { role: name.optional() } : {}),
    }),
    command: ({ ids, why, seen: known, role }) => [
      'review',
      verb,
      ...flag('as', typeof role === 'string' ? role : undefined),
      ...flag('why', why),
      ...seenFlag(known),
      '--',
      ...ids,
    ],
  });
}

/** By path. Every value of others stands behind `=` or `--`. */
export const pageRoutes: Readonly<Record<string, PageRoute>> = {
  '/api/status': reads('status', '--fast'),
  '/api/runs': reads('status', '--runs'),
  '/api/usage': reads('status', '--usage'),
  '/api/egress': reads('status', '--egress'),
  '/api/evals': reads('eval', 'runs'),
  '/api/eval': define({
    method: 'GET',
    input: z.strictObject({ run: name }),
    command: ({ run }) => ['eval', 'report', '--', run],
  }),
  '/api/eval/diff': define({
    method: 'GET',
    input: z.strictObject({ run: name, case: name, attempt: count }),
    command: ({ run, case: id, attempt }) => [
      'eval',
      'diff',
      ...flag('run', run),
      ...flag('attempt', attempt),
      '--',
      id,
    ],
  }),
  '/api/eval/add': define({
    method: 'POST',
    writes: true,
    input: z.strictObject({
      conversation: name,
      turn: z.int().min(1).max(10_000),
      right: z.boolean().optional(),
    }),
    command: ({ conversation, turn, right }) => [
      'eval',
      'add',
      ...flag('turn', turn),
      ...flag('right', right),
      '--',
      conversation,
    ],
  }),
  '/api/ask': define({
    method: 'POST',
    // A conversation is kept, and costs.
    writes: true,
    streams: true,
    input: z.strictObject({ question: words, resume: name.optional() }),
    command: ({ question, resume }) => [
      'ask',
      '--output-format=stream-json',
      ...flag('resume', resume),
      '--',
      question,
    ],
  }),
  '/api/remember': define({
    method: 'POST',
    writes: true,
    input: z.strictObject({ note: words }),
    command: ({ note }) => ['remember', '--', note],
  }),
  '/api/review': reads('review', 'list'),
  '/api/graph': define({
    method: 'GET',
    input: z.strictObject({ connection }),
    command: (input) => ['sl', 'graph', ...flag('connection', input.connection)],
  }),
  '/api/datasets': reads('sl', 'list', '--all'),
  '/api/dataset': define({
    method: 'GET',
    input: z.strictObject({ dataset: name, connection }),
    command: (input) => [
      'sl',
      'read',
      ...flag('connection', input.connection),
      '--',
      input.dataset,
    ],
  }),
  '/api/dimensions': define({
    method: 'GET',
    input: z.strictObject({ metric: list, connection }),
    command: ({ metric, connection: own }) => [
      'sl',
      'dimensions',
      ...flag('connection', own),
      '--',
      ...metric,
    ],
  }),
  '/api/explain': define({
    method: 'GET',
    input: z.strictObject({ subject: name, connection }),
    command: (input) => [
      'explain',
      '--uses',
      '--origins',
      ...flag('connection', input.connection),
      '--',
      input.subject,
    ],
  }),
  '/api/search': define({
    method: 'GET',
    input: z.strictObject({ words, kind: list }),
    command: (input) => ['search', '--limit=30', ...flags('kind', input.kind), '--', input.words],
  }),
  '/api/query': define({
    method: 'POST',
    input: z.strictObject({
      metrics: list,
      dimensions: list,
      where: list,
      order_by: list,
      limit: z.int().min(1).max(10_000).optional(),
      connection,
    }),
    command: (input) => [
      'sl',
      'query',
      ...flags('metric', input.metrics),
      ...flags('dimension', input.dimensions),
      ...flags('where', input.where),
      ...flags('order-by', input.order_by),
      ...flag('limit', input.limit),
      ...flag('connection', input.connection),
    ],
  }),
  '/api/review/choose': define({
    method: 'POST',
    writes: true,
    input: z.strictObject({ subject: name, version: name, ...decision }),
    command: ({ subject, version, kind, why, seen: known }) => [
      'review',
      'choose',
      ...flag('kind', kind),
      ...flag('why', why),
      ...seenFlag(known),
      '--',
      subject,
      version,
    ],
  }),
  '/api/review/edit': define({
    method: 'POST',
    writes: true,
    input: z.strictObject({ subject: name, definition: words, ...decision }),
    command: ({ subject, definition, kind, why, seen: known }) => [
      'review',
      'edit',
      ...flag('kind', kind),
      ...flag('why', why),
      ...seenFlag(known),
      '--',
      subject,
      definition,
    ],
  }),
  '/api/review/defer': define({
    method: 'POST',
    writes: true,
    input: z.strictObject({ subject: name, until: name.optional(), ...decision }),
    command: ({ subject, until, kind, why, seen: known }) => [
      'review',
      'defer',
      ...flag('kind', kind),
      ...flag('until', until),
      ...flag('why', why),
      ...seenFlag(known),
      '--',
      subject,
    ],
  }),
  '/api/review/undo': define({
    method: 'POST',
    writes: true,
    input: z.strictObject({ subjects: seen, kind: name.optional(), seen }),
    command: ({ subjects, kind, seen: known }) => [
      'review',
      'undo',
      ...flag('kind', kind),
      ...seenFlag(known),
      '--',
      ...subjects,
    ],
  }),
  '/api/review/accept': decides('accept'),
  '/api/review/reject': decides('reject'),
};
