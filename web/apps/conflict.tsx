import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Conflict, Explanation } from '../answers.ts';
import { readWith, sendWith } from '../api.ts';
import { forgetData, useData } from '../data.ts';
import { Empty, Failure, Waiting } from '../parts/basics.tsx';
import { DecisionLine } from '../review/decision-line.tsx';
import { QuestionCard } from '../review/question-card.tsx';
import { listQuestions, type Decision } from '../review/questions.ts';
import { useDecisions } from '../review/use-decisions.ts';
import { useReviewKeys } from '../review/review-keys.ts';
import { connectHost, type AppHost } from './host.ts';
import { askTool } from './tool-answer.ts';

/** `read_conflicts` */
interface OpenConflicts {
  readonly hits: readonly {
    readonly conflict: Conflict;
    readonly explanation?: Explanation;
  }[];
}

/** The conflicts that are open, one at a time, with what a person can decide. */
function ConflictApp() {
  const { data, error } = useData<OpenConflicts>('conflicts');
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  return <Conflicts conflicts={data.hits.map(({ conflict }) => conflict)} />;
}

function Conflicts({ conflicts }: { readonly conflicts: readonly Conflict[] }) {
  const decisions = useDecisions();
  const [at, goTo] = useState(0);
  const [isWriting, setWriting] = useState(false);
  const questions = listQuestions({ ...nothingElse, conflicts });
  const question = questions[Math.min(at, questions.length - 1)];
  const isWaiting = decisions.sent.some(({ state }) => state === 'waiting' || state === 'undoing');
  const decide = (decision: Decision): void => {
    setWriting(false);
    if (!isWaiting) decisions.decide(decision);
  };
  const move = (steps: number): void =>
    goTo(Math.min(questions.length - 1, Math.max(0, at + steps)));
  useReviewKeys({ current: question, decisions, decide, move, write: () => setWriting(true) });
  useEffect(() => setWriting(false), [question?.key]);
  return (
    <>
      <h1 class="visually-hidden">Conflicts</h1>
      <DecisionLine decisions={decisions} />
      {question === undefined ? (
        <Empty>Nothing is contested.</Empty>
      ) : (
        <QuestionCard
          key={question.key}
          question={question}
          position={`${questions.indexOf(question) + 1} of ${questions.length}`}
          isWriting={isWriting}
          onWrite={setWriting}
          onDecide={isWaiting ? undefined : decide}
        />
      )}
      {questions.length < 2 ? null : (
        <p class="actions">
          <button type="button" class="button" onClick={() => move(-1)} disabled={at === 0}>
            Before
          </button>
          <button
            type="button"
            class="button"
            onClick={() => move(1)}
            disabled={at >= questions.length - 1}
          >
            Next
          </button>
        </p>
      )}
    </>
  );
}

const nothingElse = {
  joins: [],
  unreviewed: [],
  corrections: [],
  stale: [],
  pending: [],
  deferred: [],
  left_out: [],
};

/** The page's questions to its server, as calls of tools. */
function askThrough(host: AppHost): void {
  const conflicts = () => askTool<OpenConflicts>(host, 'read_conflicts', { max_tokens: 100_000 });
  let last: ReturnType<typeof conflicts> | undefined;
  readWith(async (path, parameters) => {
    if (path === 'conflicts') return (last = conflicts());
    const { data } = (await last) ?? {};
    const hit = data?.hits.find(({ conflict }) => conflict.subject === parameters['subject']);
    return { ok: true, data: { explanations: hit?.explanation ? [hit.explanation] : [] } };
  });
  sendWith(async (path, input) => {
    const answer = await askTool<{ pins?: unknown; commit?: string }>(host, 'decide_conflict', {
      decision: { verb: path.slice('review/'.length), ...onlyOne(input) },
    });
    const { data } = answer;
    if (data === undefined) return answer;
    return { ok: true, data: { pins: data.pins, report: { commit: { id: data.commit } } } };
  });
}

/** An undo names several subjects on the page; here it is one. */
function onlyOne(input: object): object {
  if (!('subjects' in input) || !Array.isArray(input.subjects)) return input;
  const { subjects, ...others } = input;
  return { subject: String(subjects[0]), ...others };
}

const root = document.getElementById('main');
let isAsked = false;
await connectHost({
  name: 'ktx conflict',
  onResult: (_result, host) => {
    if (root === null) return;
    if (isAsked) return forgetData();
    isAsked = true;
    askThrough(host);
    render(<ConflictApp />, root);
  },
});
