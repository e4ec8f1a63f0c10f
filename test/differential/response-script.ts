import {
  type Answer,
  type Block,
  drop,
  failAs,
  type FailureName,
  type Protocol,
  type Reply,
  type Usage,
} from '../support/model-script.ts';
import { wordings, type WordingName } from './wordings.ts';

export const operations = ['text', 'text-tools', 'object', 'loop', 'session'] as const;
export type Operation = (typeof operations)[number];

/** Where in a stream a fault comes. Events differ by protocol; the places do not. */
export const places = [
  'before-start',
  'after-start',
  'mid-block',
  'before-stop-reason',
  'before-end',
] as const;
type Place = (typeof places)[number];

export type StreamFaultName = 'cut' | 'end' | 'broken-line' | FailureName;

/** One request's answer, as plain JSON. */
export type Step =
  | {
      readonly kind: 'reply';
      readonly blocks: readonly Block[];
      readonly stop?: Reply['stop'];
      readonly usage?: Partial<Usage>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly dripMs?: number;
      readonly hang?: Reply['hang'];
      readonly fault?: { readonly at: Place; readonly what: StreamFaultName };
    }
  | {
      readonly kind: 'wording';
      readonly name: WordingName;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'drop' };

/** What the far end answers to one call of ktx, request by request. */
export interface ResponseScript {
  readonly id: string;
  /** The classes of faults in it, for the table. */
  readonly classes: readonly string[];
  readonly operation: Operation;
  readonly steps: readonly Step[];
  /** What every further request gets. Without it a request too many is a bad request. */
  readonly afterwards?: Step;
  /** Default 6. */
  readonly stepBudget?: number;
  /** Closes the gate of the process for other calls, so it runs in a process of its own. */
  readonly alone?: boolean;
}

/**
 * The event of a stream that the fault comes before, counted from the start or, if negative, from
 * the end.
 */
const events: Record<Protocol, Readonly<Record<Place, number>>> = {
  anthropic: {
    'before-start': 0,
    'after-start': 1,
    'mid-block': 3,
    'before-stop-reason': -2,
    'before-end': -1,
  },
  openai: {
    'before-start': 0,
    'after-start': 1,
    'mid-block': 2,
    'before-stop-reason': -3,
    'before-end': -1,
  },
  gateway: {
    'before-start': 0,
    'after-start': 1,
    'mid-block': 3,
    'before-stop-reason': -1,
    'before-end': -1,
  },
};

/** The answer on the wire that asks for it. */
export function answerOf(step: Step, protocol: Protocol): Answer {
  if (step.kind === 'drop') return drop;
  if (step.kind === 'wording') {
    const wording = wordings[step.name];
    const { status, body } = (protocol === 'openai' ? wording.openai : undefined) ?? wording;
    return failAs(status, body, { ...wording.headers, ...step.headers });
  }
  const { fault, ...rest } = step;
  if (fault === undefined) return rest;
  return { ...rest, fault: { after: events[protocol][fault.at], what: fault.what } };
}

/** Why a script has no equivalent on an OpenAI-compatible endpoint; undefined if it has one. */
export function leftOutOnOpenai({ steps, afterwards }: ResponseScript): OpenaiGap | undefined {
  for (const step of afterwards === undefined ? steps : [...steps, afterwards]) {
    const gap = openaiGap(step);
    if (gap !== undefined) return gap;
  }
  return undefined;
}

/** The faults that only the Messages protocol has. */
export const openaiGaps = {
  'limit-headers': 'Only Anthropic names the reset of a limit in anthropic-ratelimit headers.',
  wording: 'The provider has no failure of this kind.',
  'stop-reason': 'Chat completions have no stop reason for a pause or a full context.',
  'cache-writes': 'Chat completions report no tokens written to a cache.',
  'second-end':
    'Chat completions end with a mark that carries nothing, so a lost mark loses nothing.',
} as const;
export type OpenaiGap = keyof typeof openaiGaps;

function openaiGap(step: Step): OpenaiGap | undefined {
  if (step.kind === 'drop') return undefined;
  const headers = Object.keys(step.headers ?? {});
  if (headers.some((name) => name.startsWith('anthropic-'))) return 'limit-headers';
  if (step.kind === 'wording')
    return wordings[step.name].openai === undefined ? 'wording' : undefined;
  if (step.stop === 'pause_turn' || step.stop === 'model_context_window_exceeded')
    return 'stop-reason';
  if ((step.usage?.cacheWrite ?? 0) > 0) return 'cache-writes';
  return step.fault?.at === 'before-end' ? 'second-end' : undefined;
}
