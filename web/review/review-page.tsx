import { useEffect, useState } from 'preact/hooks';
import type { About, Waiting as Queue } from '../answers.ts';
import { isExport } from '../api.ts';
import { useData } from '../data.ts';
import { Empty, Failure, Key, Title, Waiting } from '../parts/basics.tsx';
import { count } from '../parts/text.ts';
import type { Place } from '../router.ts';
import { DecisionLine } from './decision-line.tsx';
import { OpenWork } from './open-work.tsx';
import { QuestionCard } from './question-card.tsx';
import { QuestionList } from './question-list.tsx';
import { type Decision, listQuestions, type Question } from './questions.ts';
import { useReviewKeys } from './review-keys.ts';
import { SelectionBar, useSelection } from './selection.tsx';
import { type Decisions, isOutdated, type SentDecision, useDecisions } from './use-decisions.ts';

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
      <Key>p</Key> put off <Key>x</Key> select <Key>z</Key> undo
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
    sent
      .filter(({ state }) => state === 'waiting' || state === 'undoing')
      .flatMap(({ decision }) => decision.questions.map(({ key }) => key)),
  );
  const open = questions.filter(({ key }) => !decided.has(key));
  const first = open.find(({ about }) => about.subject === wanted) ?? open[0];
  const current = open.find(({ key }) => key === chosen) ?? first;
  const selection = useSelection(open);
  const after = (gone: readonly Question[]): void => choose(nextAfter(open, gone)?.key);
  const back = useReturned(sent, choose);
  // Until what was taken back is there, a key would decide about another question.
  const isAwaited =
    sent.some(({ state }) => state === 'undoing') ||
    (back !== undefined && chosen === back && current?.key !== back);
  const decide = (decision: Decision): void => {
    if (isAwaited) return;
    after(decision.questions);
    selection.clear();
    decisions?.decide(decision);
  };
  const move = (steps: number): void => {
    const index = open.findIndex(({ key }) => key === current?.key);
    const next = open[Math.min(open.length - 1, Math.max(0, index + steps))];
    if (next !== undefined) choose(next.key);
  };
  const write = (): void => setWriting(true);
  useReviewKeys({ current, decisions, decide, move, selection, write });
  useEffect(() => setWriting(false), [current?.key]);
  return (
    <>
      <DecisionLine decisions={decisions} />
      {decisions === undefined ? null : <SelectionBar selection={selection} onDecide={decide} />}
      {current === undefined ? (
        <Empty>Nothing is left to decide.</Empty>
      ) : (
        <div class="review">
          <QuestionList
            questions={open}
            current={current.key}
            selected={selection.keys}
            onChoose={choose}
          />
          <QuestionCard
            key={current.key}
            question={current}
            position={`${open.indexOf(current) + 1} of ${count(open.length, 'question')}`}
            isWriting={isWriting}
            onWrite={setWriting}
            onDecide={decisions && decide}
          />
        </div>
      )}
    </>
  );
}

/**
 * Shows a question again that was taken back, or that others changed meanwhile. Returns the key of
 * the one that was taken back last.
 */
function useReturned(
  sent: readonly SentDecision[],
  choose: (key: string) => void,
): string | undefined {
  const last = sent.at(-1);
  const outdated = last !== undefined && isOutdated(last) ? last.decision.questions[0] : undefined;
  useEffect(() => {
    if (outdated !== undefined) choose(outdated.key);
  }, [outdated]);
  const undone = sent.findLast(({ state }) => state === 'undone')?.decision;
  const back = undone?.questions[0]?.key;
  useEffect(() => {
    if (back !== undefined) choose(back);
  }, [undone]);
  return back;
}

/** The question to look at once others are decided. */
function nextAfter(open: readonly Question[], gone: readonly Question[]): Question | undefined {
  const keys = new Set(gone.map(({ key }) => key));
  const index = open.findIndex(({ key }) => keys.has(key));
  const isLeft = ({ key }: Question) => !keys.has(key);
  return open.slice(index).find(isLeft) ?? open.findLast(isLeft);
}
