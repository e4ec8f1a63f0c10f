import {
  type Answer,
  type ModelCall,
  reply,
  say,
  type Script,
} from '../../support/model-script.ts';
import { reading, readingAsked } from '../../support/reading-model.ts';
import { isCurating } from '../../support/ruling-model.ts';
import type { Behaviour, Turn } from './behaviour.ts';

interface Tally {
  /** Requests for the page, of every stage. */
  requests: number;
  /** The subjects that tools said they took. */
  readonly taken: string[];
  /** What tools answered. */
  readonly answers: string[];
}

/** A model that does on each page what its behaviour says, and counts. */
export function hostileModel(behaviours: readonly Behaviour[]) {
  const tallies = new Map<Behaviour, Tally>(
    behaviours.map((behaviour) => [behaviour, { requests: 0, taken: [], answers: [] }]),
  );
  const asked = new Map<Turn, number>();
  const others = { requests: 0 };
  const script: Script = (call) => {
    const unit = call.objectTaken ? undefined : readingAsked(call);
    const item = unit?.items[0]?.item ?? '';
    const behaviour = behaviours[Number(/p(\d+)\.md/.exec(item)?.[1])];
    const tally = behaviour && tallies.get(behaviour);
    if (unit === undefined || tally === undefined) {
      others.requests += Number(!isOfPage(call));
      return unit?.stage === 'triage' ? say('skip') : reading(call);
    }
    tally.requests += 1;
    if (unit.stage === 'triage') return say('full');
    noteAnswers(tally, call);
    const turn = behaviour?.turns[unit.turn - 1];
    if (turn === undefined) return say('Everything is read.');
    const count = (asked.get(turn) ?? 0) + 1;
    asked.set(turn, count);
    return answerOf(turn, { count, item });
  };
  return { script, tallies, others };
}

/**
 * A call that a page brings about which is read again: the model mends its own malformed call, or
 * decides about what it claimed only now.
 */
function isOfPage(call: ModelCall): boolean {
  const text = call.system + call.messages.map((message) => message.text).join('\n');
  return isCurating(call) || text.includes('Correct the arguments of a call');
}

function noteAnswers(tally: Tally, { results }: ModelCall): void {
  for (const { text } of results) {
    tally.answers.push(text);
    const [, subjects] = /Taken: ([^]*?)\.(?:\s|$)/.exec(text) ?? [];
    tally.taken.push(...(subjects?.split(', ') ?? []));
  }
}

function answerOf(
  turn: Turn,
  { count, item }: { readonly count: number; readonly item: string },
): Answer {
  const answer = typeof turn === 'function' ? turn(count) : turn;
  if ('kind' in answer) {
    if (answer.kind !== 'reply') return answer;
    const blocks = answer.blocks.map((block) =>
      'tool' in block && block.json === undefined
        ? { ...block, input: { item, ...(block.input as object) } }
        : block,
    );
    return { ...answer, blocks };
  }
  return reply(answer.map(([tool, input]) => ({ tool, input: { item, ...input } })));
}
