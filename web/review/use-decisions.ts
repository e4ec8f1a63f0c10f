import { useCallback, useRef, useState } from 'preact/hooks';
import { type ApiError, type Envelope, send } from '../api.ts';
import { forgetData } from '../data.ts';
import { type Decision, pinnedKind } from './questions.ts';

/** An entry of `pins.yaml`. */
interface MadePin {
  readonly subject: string;
  readonly choose: string;
}

interface DecisionReport {
  readonly pin?: MadePin;
  readonly pins?: readonly MadePin[];
  readonly report?: { readonly commit?: { readonly id?: string } };
}

/** A decision that was sent, and what became of it. */
export interface SentDecision {
  readonly decision: Decision;
  readonly state: 'waiting' | 'made' | 'failed' | 'undoing' | 'undone';
  readonly commit?: string | undefined;
  readonly pins?: readonly MadePin[] | undefined;
  readonly error?: ApiError | undefined;
}

export interface Decisions {
  /** Newest last. */
  readonly sent: readonly SentDecision[];
  readonly decide: (decision: Decision) => void;
  /** Takes the newest decision back. */
  readonly undo: () => void;
}

/** Sends decisions one after the other: each is a commit. */
export function useDecisions(): Decisions {
  const [sent, setSent] = useState<readonly SentDecision[]>([]);
  const known = useRef(sent);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const change = useCallback((next: readonly SentDecision[]) => {
    known.current = next;
    setSent(next);
  }, []);
  const replace = useCallback((decision: Decision, entry: SentDecision) => {
    change(known.current.map((own) => (own.decision === decision ? entry : own)));
  }, []);
  const decide = useCallback((decision: Decision) => {
    change([...known.current, { decision, state: 'waiting' }]);
    queue.current = queue.current.then(async () => {
      const envelope = await send<DecisionReport>(decision.path, decision.input);
      replace(decision, madeOf(decision, envelope));
      forgetData();
    });
  }, []);
  const undo = useCallback(() => {
    const last = known.current.findLast(({ state }) => state === 'made');
    if (last === undefined || !isUndoable(last.decision)) return;
    const { decision, pins = [] } = last;
    replace(decision, { decision, state: 'undoing' });
    queue.current = queue.current.then(async () => {
      const [question, ...others] = decision.questions;
      const input = {
        subjects: pins.map(({ subject }) => subject),
        seen: [...new Set(pins.map(({ choose }) => choose))],
        ...(question !== undefined && others.length === 0 && { kind: pinnedKind(question) }),
      };
      const { ok, error } = await send('review/undo', input);
      replace(decision, ok ? { decision, state: 'undone' } : { ...last, error });
      forgetData();
    });
  }, []);
  return { sent, decide, undo };
}

/** A rejected correction is a note that is gone. */
export function isUndoable({ questions: [question], path }: Decision): boolean {
  return !(question?.type === 'correction' && path === 'review/reject');
}

/** True if the server refused because the question is another by now. */
export function isOutdated({ state, error }: SentDecision): boolean {
  return state === 'failed' && error?.code === 'question_changed';
}

function madeOf(decision: Decision, { ok, data, error }: Envelope<DecisionReport>): SentDecision {
  if (!ok) return { decision, state: 'failed', error };
  const pins = data?.pins ?? (data?.pin === undefined ? [] : [data.pin]);
  return { decision, state: 'made', commit: data?.report?.commit?.id, pins };
}
