import { useEffect, useState } from 'preact/hooks';
import type { About, Waiting as Queue } from '../answers.ts';
import { isExport } from '../api.ts';
import { useData } from '../data.ts';
import { Empty, Failure, Key, Title, Waiting } from '../parts/basics.tsx';
import { isTyping } from '../parts/search-box.tsx';
import { count } from '../parts/text.ts';
import type { Place } from '../router.ts';
import { DecisionLine } from './decision-line.tsx';
import { OpenWork } from './open-work.tsx';
import { QuestionCard } from './question-card.tsx';
import { QuestionList } from './question-list.tsx';
import { deferral, listQuestions, numberedDecision, type Question } from './questions.ts';
import { type Decisions, useDecisions } from './use-decisions.ts';

/** Conflicts, joins, metrics and corrections, one at a time. */
export function ReviewPage({ place }: { readonly place: Place }) {
  const { data, error } = useData<Queue>('review');
  const about = useData<About>('about').data;
  const decisions = useDecisions();
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  const mayDecide = !isExport && about?.read_only === false;
  return (
    <>
      <Title aside={<Keys mayDecide={mayDecide} />}>Review</Title>
      <Questions
        questions={listQuestions(data)}
        wanted={place.query.get('subject') ?? undefined}
        decisions={mayDecide ? decisions : undefined}
      />
      <OpenWork waiting={data} />
    </>
  );
}

function Keys({ mayDecide }: { readonly mayDecide: boolean }) {
  if (!mayDecide) return <span class="soft">nothing can be decided here</span>;
  return (
    <span class="keys soft">
      <Key>j</Key> <Key>k</Key> move <Key>1</Key> <Key>2</Key> choose <Key>w</Key> write{' '}
      <Key>p</Key> put off <Key>z</Key> undo
    </span>
  );
}

interface QuestionsProps {
  readonly questions: readonly Question[];
  /** The subject that a link leads to. */
  readonly wanted: string | undefined;
  /** Undefined if nothing can be decided. */
  readonly decisions: Decisions | undefined;
}

function Questions({ questions, wanted, decisions }: QuestionsProps) {
  const [chosen, choose] = useState<string | undefined>(undefined);
  const [isWriting, setWriting] = useState(false);
  const sent = decisions?.sent ?? [];
  const decided = new Set(
    sent.filter(({ state }) => state === 'waiting').map(({ decision }) => decision.question.key),
  );
  const open = questions.filter(({ key }) => !decided.has(key));
  const first = open.find(({ about }) => about.subject === wanted) ?? open[0];
  const current = open.find(({ key }) => key === chosen) ?? first;
  const move = (steps: number): void => {
    const index = open.findIndex(({ key }) => key === current?.key);
    const next = open[Math.min(open.length - 1, Math.max(0, index + steps))];
    if (next !== undefined) choose(next.key);
  };
  const after = (question: Question): void => {
    const index = open.indexOf(question);
    choose((open[index + 1] ?? open[index - 1])?.key);
  };
  const keys = { current, decisions, move, after, write: () => setWriting(true) };
  useReviewKeys(keys);
  useEffect(() => setWriting(false), [current?.key]);
  return (
    <>
      <DecisionLine decisions={decisions} />
      {current === undefined ? (
        <Empty>Nothing is left to decide.</Empty>
      ) : (
        <div class="review">
          <QuestionList questions={open} current={current.key} onChoose={choose} />
          <QuestionCard
            key={current.key}
            question={current}
            position={`${open.indexOf(current) + 1} of ${count(open.length, 'question')}`}
            isWriting={isWriting}
            onWrite={setWriting}
            onDecide={
              decisions &&
              ((decision) => {
                after(current);
                decisions.decide(decision);
              })
            }
          />
        </div>
      )}
    </>
  );
}

interface ReviewKeys {
  readonly current: Question | undefined;
  readonly decisions: Decisions | undefined;
  readonly move: (steps: number) => void;
  readonly after: (question: Question) => void;
  readonly write: () => void;
}

function useReviewKeys(keys: ReviewKeys): void {
  useEffect(() => {
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
function pressKey(key: string, { current, decisions, move, after, write }: ReviewKeys): boolean {
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
  if (key === 'w') {
    write();
    return true;
  }
  const decision =
    key === 'p'
      ? deferral(current, '')
      : /^[1-9]$/.test(key) && numberedDecision(current, Number(key));
  if (!decision) return false;
  after(current);
  decisions.decide(decision);
  return true;
}
