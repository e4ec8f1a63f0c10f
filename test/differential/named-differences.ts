import type { Difference, Played } from './outcome.ts';
import type { ResponseScript, Step } from './response-script.ts';

interface NamedDifference {
  readonly name: string;
  readonly reason: string;
  /** A sentence of docs/llm.md that tells users. */
  readonly docs: string;
  /** The script as Claude Code sees it: on this one it has to do what the others do. */
  readonly view?: (script: ResponseScript) => ResponseScript;
  /**
   * By how many requests Claude Code may be off: in all, and in those that ktx counts. Exactly so
   * many.
   */
  readonly requests?: (played: PlayedPair) => { readonly sent: number; readonly counted: number };
}

/** What Claude Code made of a script, and what the API made of it as Claude Code sees it. */
export interface PlayedPair {
  readonly api: Played;
  readonly claudeCode: Played;
}

/** Everything in which Claude Code may differ, no wider than it is written here. */
export const namedDifferences: readonly NamedDifference[] = [
  {
    name: 'repair in the same step',
    reason: 'Claude Code owns its turns, so ktx cannot ask the repair model in the middle of one.',
    docs: 'Malformed tool calls are not corrected in the same step.',
    requests: ({ api }) => ({ sent: -api.repairs, counted: -api.repairs }),
  },
  {
    name: 'a line that is not JSON',
    reason: 'The program skips it and does not say so.',
    docs: 'The program skips a line of a stream that is not JSON.',
    view: (script) => mapSteps(script, withoutBrokenLine),
  },
  {
    name: 'a limit of an API account that is far away',
    reason: 'The program tells only a pause of up to a minute, and the reset of a subscription.',
    docs: 'The program does not say when a limit ends that is not one of a subscription, if that is more than a minute away.',
    view: (script) => mapSteps(script, withoutFarReset),
  },
  {
    name: 'a request that the program repeats by itself',
    reason: 'It does not say so.',
    docs: 'The program sends some requests once more by itself, without saying so',
    view: (script) => ({ ...script, steps: withoutHidden(script.steps) }),
    requests: ({ claudeCode }) => ({ sent: claudeCode.hidden, counted: 0 }),
  },
];

function mapSteps(script: ResponseScript, map: (step: Step) => Step): ResponseScript {
  const { afterwards, steps } = script;
  return {
    ...script,
    steps: steps.map(map),
    ...(afterwards !== undefined && { afterwards: map(afterwards) }),
  };
}

function withoutBrokenLine(step: Step): Step {
  if (step.kind !== 'reply' || step.fault?.what !== 'broken-line') return step;
  const { fault: _, ...whole } = step;
  return whole;
}

/**
 * The steps without those that the program hides: of each kind the first, until it reports one or
 * is answered.
 */
export function withoutHidden(steps: readonly Step[]): readonly Step[] {
  const hidden = new Set<string>();
  return steps.filter((step) => {
    const kind = repeatedFault(step);
    const isHidden = kind !== undefined && !hidden.has(kind);
    if (isHidden) hidden.add(kind);
    else hidden.clear();
    return !isHidden;
  });
}

const repeatedWordings: ReadonlySet<string> = new Set([
  'no-model',
  'unavailable',
  'input-and-max-tokens',
]);

/** The failure of a request after which the program sends it once more without a word. */
function repeatedFault(step: Step): string | undefined {
  if (step.kind === 'wording') return repeatedWordings.has(step.name) ? step.name : undefined;
  const fault = step.kind === 'reply' ? step.fault : undefined;
  const isAtOnce = fault?.at === 'before-start' && fault.what === 'overloaded';
  return isAtOnce ? 'overloaded' : undefined;
}

/** Seconds. */
const longestToldPause = 60;

function withoutFarReset(step: Step): Step {
  if (step.kind !== 'wording' || step.headers === undefined) return step;
  const headers = Object.entries(step.headers).filter(
    ([name, value]) =>
      !/^anthropic-ratelimit-(?:requests|tokens)-/.test(name) &&
      !(name === 'retry-after' && Number(value) > longestToldPause),
  );
  return { ...step, headers: Object.fromEntries(headers) };
}

/** The script as Claude Code sees it; the script itself if it sees the same as everybody. */
export function viewOfClaudeCode(script: ResponseScript): ResponseScript {
  const seen = namedDifferences.reduce((before, { view }) => view?.(before) ?? before, script);
  return JSON.stringify(seen) === JSON.stringify(script) ? script : seen;
}

/** True if Claude Code is off by exactly as many requests as the named differences explain. */
export function isNamed({ field, expected, actual }: Difference, played: PlayedPair): boolean {
  const extra = namedDifferences.map(({ requests }) => requests?.(played));
  const sent = extra.reduce((sum, one) => sum + (one?.sent ?? 0), 0);
  const counted = extra.reduce((sum, one) => sum + (one?.counted ?? 0), 0);
  const off = Number(actual) - Number(expected);
  if (field === 'requests') return off === sent;
  if (field === 'apiCalls') return off === counted;
  return field === 'apiCalls against requests' && off === counted - sent;
}
