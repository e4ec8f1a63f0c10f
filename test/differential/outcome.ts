import type { TokenUsage } from '../../src/llm/port/runtime.ts';
import type { Subject } from '../support/llm-runtimes.ts';

/**
 * The backends that have to agree: ktx's own client, the real Claude Code program, and another
 * protocol.
 */
export const compared = [
  'anthropic',
  'claude-code',
  'openai',
] as const satisfies readonly Subject[];
export type Compared = (typeof compared)[number];

/** All that a user of one call can tell. */
interface Outcome {
  /** `ok`, or the kind or code of the failure. */
  readonly kind: string;
  readonly exitCode: number;
  /** Model requests that reached the endpoint. */
  readonly requests: number;
  /** Model requests that ktx counted. */
  readonly apiCalls: number;
  /** How often the request was sent whose failure ended the call, as the failure says. */
  readonly attempts: number;
  readonly steps: number;
  /** Of a loop or a session turn. */
  readonly stopReason: string | undefined;
  readonly tokens: TokenUsage;
  /** Tool calls that ran, in order of their names and inputs. */
  readonly tools: readonly string[];
  readonly toolFailures: Readonly<Record<string, number>>;
  /** Text or object, as JSON. */
  readonly answer: string;
}

/**
 * What the endpoint served, beside the outcome: not compared between backends, but with what ktx
 * counted.
 */
export interface Played extends Outcome {
  readonly message: string;
  /** Requests to the model that repairs the input of tools; part of `requests`. */
  readonly repairs: number;
  /** Requests that were called off before they were answered; not part of `requests`. */
  readonly abandoned: number;
  /** Answers after which the program asks for more by itself: at most one request for each. */
  readonly provoked: number;
  /** Requests that the program sent by itself and did not report; part of `requests`. */
  readonly hidden: number;
  readonly served: TokenUsage;
  /** True if every answer that carries usage arrived whole. */
  readonly isWhole: boolean;
}

const comparedFields = [
  'kind',
  'exitCode',
  'requests',
  'apiCalls',
  'attempts',
  'steps',
  'stopReason',
  'tokens',
  'tools',
  'toolFailures',
  'answer',
] as const satisfies readonly (keyof Outcome)[];

export interface Difference {
  readonly field: string;
  readonly subject: Compared;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** How each backend differs from the first, and from what its endpoint served. */
export function differencesOf(played: ReadonlyMap<Compared, Played>): readonly Difference[] {
  const [first, ...others] = [...played];
  if (first === undefined) return [];
  const between = others.flatMap(([subject, outcome]) =>
    comparedFields
      .filter((field) => JSON.stringify(outcome[field]) !== JSON.stringify(first[1][field]))
      .map((field) => ({ field, subject, expected: first[1][field], actual: outcome[field] })),
  );
  const counted = [...played].flatMap(([subject, outcome]) => miscounts(subject, outcome));
  return [...between, ...counted];
}

function miscounts(subject: Compared, outcome: Played): Difference[] {
  const { apiCalls, requests, tokens, served, isWhole, abandoned, provoked } = outcome;
  const wrongCalls = [
    { field: 'apiCalls against requests', subject, expected: requests, actual: apiCalls },
  ].filter(({ expected, actual }) => expected !== actual);
  if (abandoned > provoked)
    wrongCalls.push({ field: 'abandoned', subject, expected: provoked, actual: abandoned });
  const isSame = JSON.stringify(tokens) === JSON.stringify(served);
  const isEnough = tokens.input >= served.input && tokens.cacheRead >= served.cacheRead;
  return (isWhole ? isSame : isEnough)
    ? wrongCalls
    : [
        ...wrongCalls,
        { field: 'tokens against served', subject, expected: served, actual: tokens },
      ];
}
