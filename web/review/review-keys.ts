import { useLayoutEffect } from 'preact/hooks';
import { isTyping } from '../parts/search-box.tsx';
import {
  decideAll,
  type Decision,
  deferral,
  numberedDecision,
  type Question,
} from './questions.ts';
import type { Selection } from './selection.tsx';
import type { Decisions } from './use-decisions.ts';

interface ReviewKeys {
  readonly current: Question | undefined;
  readonly decisions: Decisions | undefined;
  readonly decide: (decision: Decision) => void;
  readonly move: (steps: number) => void;
  /** Undefined where questions are decided one by one. */
  readonly selection?: Selection;
  readonly write: () => void;
}

/** Decides by the keyboard: `j k` move, digits choose, `w p x z`. */
export function useReviewKeys(keys: ReviewKeys): void {
  // Before the next key: an effect after the paint would leave it what was there before.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event)) return;
      const isKnown = pressKey(event.key, keys);
      if (isKnown) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

/** False if the key means nothing here. */
function pressKey(key: string, keys: ReviewKeys): boolean {
  const { current, decisions, move, selection, write } = keys;
  if (key === 'j' || key === 'k') {
    move(key === 'j' ? 1 : -1);
    return true;
  }
  if (decisions === undefined) return false;
  if (key === 'z') {
    decisions.undo();
    return true;
  }
  if (current === undefined) return false;
  // With Shift the letter is a capital.
  if (selection !== undefined && (key === 'x' || key === 'X')) {
    selection.toggle(current, key === 'X');
    return true;
  }
  if (key === 'w') {
    write();
    return true;
  }
  return pressToDecide(key, current, keys);
}

function pressToDecide(
  key: string,
  current: Question,
  { selection, decide }: Pick<ReviewKeys, 'selection' | 'decide'>,
): boolean {
  const selected = selection?.questions ?? [];
  if (key === 'Escape' && selected.length > 0) {
    selection?.clear();
    return true;
  }
  const number = /^[1-9]$/.test(key) ? Number(key) : undefined;
  const decision = key === 'p' ? deferral(current, '') : number && decisionOf(number);
  if (!decision) return false;
  decide(decision);
  return true;

  function decisionOf(choice: number): Decision | undefined {
    if (selected.length === 0) return numberedDecision(current, choice);
    const verb = (['accept', 'reject'] as const)[choice - 1];
    return verb && decideAll(selected, verb);
  }
}
