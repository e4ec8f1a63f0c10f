import { subscriptionLimit, type Block } from '../support/model-script.ts';
import {
  type Operation,
  operations,
  places,
  type ResponseScript,
  type Step,
  type StreamFaultName,
} from './response-script.ts';
import { wordingNames } from './wordings.ts';

type Draft = Omit<ResponseScript, 'id'>;
type ReplyStep = Extract<Step, { kind: 'reply' }>;
type Rest = Omit<ReplyStep, 'kind' | 'blocks'>;

const reply = (blocks: readonly Block[], rest: Rest = {}): ReplyStep => ({
  kind: 'reply',
  blocks,
  ...rest,
});
const say = (text: string, rest?: Rest): ReplyStep => reply([{ text }], rest);
const look = (word: string, rest?: Rest): ReplyStep =>
  reply([{ tool: 'look_up', input: { word } }], rest);
const goodObject = { name: 'orders', rows: 12 };

/** What ends a call of each kind well. */
function goodEnd(operation: Operation, rest: Rest = {}): ReplyStep {
  return operation === 'object' ? reply([{ object: goodObject }], rest) : say('All is well.', rest);
}

/**
 * Every class of fault, each with a spread of operations; the seed sets which operation meets which
 * fault, and the mixtures.
 */
export function generateScripts(seed: number): readonly ResponseScript[] {
  const random = randomNumbers(seed);
  const drafts = [
    ...wordingScripts(random),
    ...streamScripts(random),
    ...stopScripts(),
    ...usageScripts(),
    ...toolScripts(),
    ...objectScripts(),
    ...budgetScripts(),
    ...limitScripts(random),
    ...slowScripts(),
    ...mixtures(random, 90),
  ];
  return drafts.map((draft, index) => ({ id: String(index + 1).padStart(3, '0'), ...draft }));
}

type Random = () => number;

/** Mulberry32: small, and the same everywhere. */
function randomNumbers(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** Deals the operations out evenly, in an order of its own. */
function dealer(random: Random): () => Operation {
  let hand: Operation[] = [];
  return () => {
    if (hand.length === 0) hand = [...operations].sort(() => random() - 0.5);
    return hand.pop() ?? 'text';
  };
}

/** Once and then well; without end; in the second turn of a loop. */
function patterns(fault: Step, classes: readonly string[], deal: () => Operation): Draft[] {
  const [one, other] = [deal(), deal()];
  const turns = pickTurns(other);
  return [
    { classes: [...classes, 'once'], operation: one, steps: [fault, goodEnd(one)] },
    { classes: [...classes, 'always'], operation: other, steps: [], afterwards: fault },
    {
      classes: [...classes, 'later turn'],
      operation: turns,
      steps: [look('tide'), fault, say('After the tide.')],
    },
  ];
}

function pickTurns(operation: Operation): Operation {
  return operation === 'text' || operation === 'object' ? 'loop' : operation;
}

function wordingScripts(random: Random): Draft[] {
  const deal = dealer(random);
  return wordingNames.flatMap((name) =>
    patterns({ kind: 'wording', name }, ['wording', name], deal),
  );
}

const streamFaults: readonly StreamFaultName[] = [
  'cut',
  'end',
  'broken-line',
  'overloaded',
  'server-error',
  'rate-limit',
];

function streamScripts(random: Random): Draft[] {
  const deal = dealer(random);
  const drafts = streamFaults.flatMap((what) =>
    places.flatMap((at) => {
      const operation = deal();
      const fault = { at, what };
      const broken = (end: ReplyStep): ReplyStep => ({ ...end, fault });
      const classes = ['stream', what, at];
      const later = pickTurns(deal());
      return [
        {
          classes: [...classes, 'once'],
          operation,
          steps: [broken(goodEnd(operation)), goodEnd(operation)],
        },
        {
          classes: [...classes, 'later turn'],
          operation: later,
          steps: [look('tide'), broken(look('ebb')), look('ebb'), say('After the ebb.')],
        },
        ...(at === 'mid-block' || at === 'before-start'
          ? [
              {
                classes: [...classes, 'always'],
                operation,
                steps: [],
                afterwards: broken(goodEnd(operation)),
              },
            ]
          : []),
      ];
    }),
  );
  const dropped = patterns({ kind: 'drop' }, ['stream', 'drop'], deal);
  return [...drafts, ...dropped];
}

const stops = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'refusal',
  'model_context_window_exceeded',
  'pause_turn',
  'stop_sequence',
] as const;

function stopScripts(): Draft[] {
  return stops.flatMap((stop) => [
    ...operations.map((operation) => ({
      classes: ['stop', stop],
      operation,
      steps: [
        // An object is a tool call in one protocol, and a text in the others.
        stop === 'tool_use' ? say('I call.', { stop }) : goodEnd(operation, { stop }),
        goodEnd(operation),
      ],
    })),
    {
      classes: ['stop', stop, 'later turn'],
      operation: 'loop' as const,
      steps: [look('tide'), say('Half an', { stop }), say('All is well.')],
    },
    {
      classes: ['stop', stop, 'empty'],
      operation: 'text' as const,
      steps: [reply([], { stop }), say('All is well.')],
    },
  ]);
}

const usages = {
  'cache reads': { input: 7, output: 3, cacheRead: 4000 },
  'cache writes': { input: 7, output: 3, cacheWrite: 2500 },
  'both caches': { input: 1, output: 9, cacheRead: 812, cacheWrite: 77 },
  zero: { input: 0, output: 0 },
  large: { input: 150_000, output: 8000 },
} as const;

function usageScripts(): Draft[] {
  return Object.entries(usages).flatMap(([name, usage]) =>
    operations.map((operation) => ({
      classes: ['usage', name],
      operation,
      steps:
        operation === 'text' || operation === 'object'
          ? [goodEnd(operation, { usage })]
          : [look('tide', { usage }), goodEnd(operation, { usage })],
    })),
  );
}

const toolFaults: Readonly<Record<string, readonly Block[]>> = {
  'unknown tool': [{ tool: 'no_such_tool', input: { word: 'tide' } }],
  'bad input': [{ tool: 'look_up', input: { word: 5 } }],
  'missing input': [{ tool: 'look_up', input: {} }],
  thrown: [{ tool: 'break_down', input: {} }],
  'says it failed': [{ tool: 'fails', input: {} }],
  'malformed JSON': [{ tool: 'look_up', json: '{"word": "ti' }],
  'prose as input': [{ tool: 'look_up', json: 'the word tide' }],
  parallel: ['a', 'b', 'c'].map((word) => ({ tool: 'look_up', input: { word } })),
  'parallel, one throws': [
    { tool: 'look_up', input: { word: 'a' } },
    { tool: 'break_down', input: {} },
    { tool: 'look_up', input: { word: 'c' } },
  ],
  'parallel, one unknown': [
    { tool: 'look_up', input: { word: 'a' } },
    { tool: 'no_such_tool', input: {} },
  ],
  'built-in tool': [{ tool: 'Bash', input: { command: 'true' } }],
  'text and tool': [{ text: 'I look.' }, { tool: 'look_up', input: { word: 'a' } }],
  'thinking and tool': [{ thinking: 'Hm.' }, { tool: 'look_up', input: { word: 'a' } }],
};

function toolScripts(): Draft[] {
  const withTools = operations.filter((operation) => pickTurns(operation) === operation);
  return Object.entries(toolFaults).flatMap(([name, blocks]) => [
    ...withTools.map((operation) => ({
      classes: ['tool', name],
      operation,
      steps: [reply(blocks), goodEnd(operation)],
    })),
    {
      classes: ['tool', name, 'twice'],
      operation: 'loop' as const,
      steps: [reply(blocks), reply(blocks), look('tide'), say('At last.')],
    },
  ]);
}

const badObjects: Readonly<Record<string, ReplyStep>> = {
  prose: say('The name is orders.'),
  'wrong type': reply([{ object: { name: 5, rows: 12 } }]),
  'missing key': reply([{ object: { name: 'orders' } }]),
  'refused by ktx': reply([{ object: { name: 'orders', rows: -1 } }]),
  empty: reply([]),
  'JSON in a fence': say('```json\n{"name":"orders","rows":12}\n```'),
  truncated: say('{"name":"ord', { stop: 'max_tokens' }),
  'extra key': reply([{ object: { ...goodObject, extra: true } }]),
};

function objectScripts(): Draft[] {
  return Object.entries(badObjects).flatMap(([name, bad]) =>
    [1, 2, 'always' as const].map((count) => ({
      classes: ['object', name, count === 'always' ? 'always' : `${count} times`],
      operation: 'object' as const,
      ...(count === 'always'
        ? { steps: [], afterwards: bad }
        : { steps: [...Array<Step>(count).fill(bad), goodEnd('object')] }),
    })),
  );
}

function budgetScripts(): Draft[] {
  return (['loop', 'session'] as const).flatMap((operation) =>
    [1, 2, 4].flatMap((stepBudget) => [
      {
        classes: ['step budget', 'endless'],
        operation,
        steps: [],
        afterwards: look('tide'),
        stepBudget,
      },
      {
        classes: ['step budget', 'just enough'],
        operation,
        steps: [...Array<Step>(stepBudget - 1).fill(look('tide')), say('Just in time.')],
        stepBudget,
      },
    ]),
  );
}

/**
 * Times are relative to when the script is played: a header `reset+90` names the moment in 90
 * seconds.
 */
const limits: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'retry-after seconds': { 'retry-after': '1' },
  'retry-after zero': { 'retry-after': '0' },
  'retry-after far': { 'retry-after': '86400' },
  'retry-after-ms': { 'retry-after-ms': '300' },
  'requests reset far': {
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': '2099-01-01T00:00:00Z',
  },
  'tokens reset far': {
    'anthropic-ratelimit-tokens-remaining': '0',
    'anthropic-ratelimit-tokens-reset': '2099-01-01T00:00:00Z',
  },
  'five hours far': subscriptionLimit(new Date('2099-01-01T00:00:00Z')),
  'seven days far': subscriptionLimit(new Date('2099-01-01T00:00:00Z'), 'seven_day'),
};

function limitScripts(random: Random): Draft[] {
  const deal = dealer(random);
  return Object.entries(limits).flatMap(([name, headers]) => {
    const fault: Step = { kind: 'wording', name: 'rate-limit', headers };
    const drafts = patterns(fault, ['limit', name], deal);
    return drafts.map((draft) => ({ ...draft, alone: true }));
  });
}

function slowScripts(): Draft[] {
  return operations.flatMap((operation) => [
    { classes: ['slow', 'drip'], operation, steps: [goodEnd(operation, { dripMs: 40 })] },
    {
      classes: ['slow', 'hang at start'],
      operation,
      steps: [],
      afterwards: goodEnd(operation, { hang: 'at-start' }),
    },
    {
      classes: ['slow', 'hang in mid stream'],
      operation,
      steps: [],
      afterwards: goodEnd(operation, { hang: 'mid-stream' }),
    },
  ]);
}

/** Two or three faults in one call, drawn from all classes. */
function mixtures(random: Random, count: number): Draft[] {
  const transient = wordingNames.filter((name) =>
    ['server-error', 'overloaded', 'unavailable', 'bad-gateway', 'rate-limit'].includes(name),
  );
  const fault = (good: ReplyStep): Step => {
    const roll = random();
    if (roll < 0.35) return { kind: 'wording', name: pick(random, transient) };
    if (roll < 0.45) return { kind: 'wording', name: pick(random, wordingNames) };
    if (roll < 0.5) return { kind: 'drop' };
    return { ...good, fault: { at: pick(random, places), what: pick(random, streamFaults) } };
  };
  return Array.from({ length: count }, () => {
    const operation = pick(random, operations);
    const turns: ReplyStep[] =
      pickTurns(operation) === operation
        ? Array.from({ length: Math.floor(random() * 3) }, () =>
            reply(pick(random, Object.values(toolFaults))),
          )
        : [];
    const faults = 2 + Math.floor(random() * 2);
    const all = [...turns, goodEnd(operation, { usage: pick(random, Object.values(usages)) })];
    const at = Array.from({ length: faults }, () => Math.floor(random() * all.length));
    const steps = all.flatMap((turn, index) => [
      ...at.filter((place) => place === index).map(() => fault(turn)),
      turn,
    ]);
    return { classes: ['mixture', `${faults} faults`], operation, steps };
  });
}
