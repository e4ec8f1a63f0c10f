import { useState } from 'preact/hooks';
import { Key } from '../parts/basics.tsx';
import { decideAll, type Decision, isSelectable, type Question } from './questions.ts';

/** The questions that get one decision together. */
export interface Selection {
  readonly questions: readonly Question[];
  readonly keys: ReadonlySet<string>;
  /** Selects it or not any more; with a range, all from the one selected last. */
  readonly toggle: (question: Question, isRange: boolean) => void;
  readonly clear: () => void;
}

export function useSelection(open: readonly Question[]): Selection {
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | undefined>(undefined);
  const questions = open.filter((question) => isSelectable(question) && selected.has(question.key));
  const toggle = (question: Question, isRange: boolean): void => {
    if (!isSelectable(question)) return;
    const [from, to] = [last, question.key].map((key) => open.findIndex((own) => own.key === key));
    setLast(question.key);
    if (isRange && from !== undefined && to !== undefined && from !== -1) {
      const range = open.slice(Math.min(from, to), Math.max(from, to) + 1).filter(isSelectable);
      return select(selected.union(new Set(range.map(({ key }) => key))));
    }
    select(selected.symmetricDifference(new Set([question.key])));
  };
  const keys = new Set(questions.map(({ key }) => key));
  return { questions, keys, toggle, clear: () => select(new Set()) };
}

interface SelectionBarProps {
  readonly selection: Selection;
  readonly onDecide: (decision: Decision) => void;
}

/** How many are selected, and what to do with them. */
export function SelectionBar({ selection: { questions, clear }, onDecide }: SelectionBarProps) {
  if (questions.length === 0) return null;
  return (
    <p class="actions selection" role="group" aria-label="Selected questions">
      <strong>{questions.length} selected</strong>
      <button
        type="button"
        class="button primary"
        onClick={() => onDecide(decideAll(questions, 'accept'))}
      >
        Accept all <Key>1</Key>
      </button>
      <button type="button" class="button" onClick={() => onDecide(decideAll(questions, 'reject'))}>
        Reject all <Key>2</Key>
      </button>
      <button type="button" class="link" onClick={clear}>
        None <Key>Esc</Key>
      </button>
    </p>
  );
}
