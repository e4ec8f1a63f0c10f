import { useEffect, useRef, useState } from 'preact/hooks';
import { isApp } from '../api.ts';
import { Chip, Key, Said } from '../parts/basics.tsx';
import { linkToSubject } from '../router.ts';
import { ConflictBody } from './conflict-body.tsx';
import { FactBody, CorrectionBody, JoinBody } from './other-bodies.tsx';
import {
  type Decision,
  deferral,
  numberedDecision,
  ownDecision,
  pinnedKind,
  type Question,
  questionName,
} from './questions.ts';
import { differenceText } from './two-truths.tsx';

interface QuestionCardProps {
  readonly question: Question;
  readonly position: string;
  readonly isWriting: boolean;
  readonly onWrite: (isWriting: boolean) => void;
  /** Undefined if nothing can be decided. */
  readonly onDecide: ((decision: Decision) => void) | undefined;
}

/** One question with everything that is known about it, and what can be decided. */
export function QuestionCard(props: QuestionCardProps) {
  const { question, position, isWriting, onWrite, onDecide } = props;
  const difference = question.type === 'conflict' ? differenceText(question.about) : undefined;
  return (
    <article class="card" aria-label={questionName(question)}>
      <header>
        <p class="eyebrow">
          <Chip tone="warn">{chipText(question)}</Chip> {pinnedKind(question).replaceAll('_', ' ')}
          <span class="position">{position}</span>
        </p>
        <h2>
          {isApp ? (
            <Said>{questionName(question)}</Said>
          ) : (
            <a href={linkToSubject(question.about.subject)}>
              <Said>{questionName(question)}</Said>
            </a>
          )}
        </h2>
        {difference === undefined ? null : <p class="difference">{difference}</p>}
        {question.type === 'conflict' && question.about.difference !== undefined ? (
          <p>
            <Said>{question.about.difference}</Said>
          </p>
        ) : null}
      </header>
      <Body question={question} onDecide={onDecide} />
      {onDecide === undefined ? null : (
        <Ways question={question} onDecide={onDecide} isWriting={isWriting} onWrite={onWrite} />
      )}
    </article>
  );
}

function chipText({ type }: Question): string {
  return { conflict: 'contested', join: 'in doubt', fact: 'unreviewed', correction: 'proposed' }[
    type
  ];
}

function Body({ question, onDecide }: Pick<QuestionCardProps, 'question' | 'onDecide'>) {
  const choose =
    onDecide &&
    ((number: number) => {
      const decision = numberedDecision(question, number);
      if (decision !== undefined) onDecide(decision);
    });
  if (question.type === 'conflict')
    return <ConflictBody conflict={question.about} onChoose={choose} />;
  return (
    <>
      {question.type === 'join' ? <JoinBody join={question.about} /> : null}
      {question.type === 'fact' ? <FactBody fact={question.about} /> : null}
      {question.type === 'correction' ? <CorrectionBody correction={question.about} /> : null}
      {choose === undefined ? null : (
        <p class="actions">
          <button type="button" class="button primary" onClick={() => choose(1)}>
            Accept <Key>1</Key>
          </button>
          <button type="button" class="button" onClick={() => choose(2)}>
            Reject <Key>2</Key>
          </button>
        </p>
      )}
    </>
  );
}

interface WaysProps extends Omit<QuestionCardProps, 'position' | 'onDecide'> {
  readonly onDecide: (decision: Decision) => void;
}

/** The ways that are not a choice: write, put off. */
function Ways({ question, onDecide, isWriting, onWrite }: WaysProps) {
  const isWritable = question.type === 'conflict' || question.type === 'fact';
  return (
    <footer class="ways">
      {isWriting && isWritable ? (
        <OwnDefinition question={question} onDecide={onDecide} onCancel={() => onWrite(false)} />
      ) : (
        <p class="actions">
          {isWritable ? (
            <button type="button" class="button" onClick={() => onWrite(true)}>
              Write your own <Key>w</Key>
            </button>
          ) : null}
          <PutOff question={question} onDecide={onDecide} />
        </p>
      )}
    </footer>
  );
}

function PutOff({ question, onDecide }: Pick<WaysProps, 'question' | 'onDecide'>) {
  const [why, setWhy] = useState('');
  return (
    <span class="put-off">
      <input
        type="text"
        aria-label="Why it is put off"
        placeholder="reason (optional)"
        value={why}
        onInput={({ currentTarget }) => setWhy(currentTarget.value)}
      />
      <button type="button" class="button" onClick={() => onDecide(deferral(question, why))}>
        Put off 30 days <Key>p</Key>
      </button>
    </span>
  );
}

interface OwnDefinitionProps {
  readonly question: Question;
  readonly onDecide: (decision: Decision) => void;
  readonly onCancel: () => void;
}

function OwnDefinition({ question, onDecide, onCancel }: OwnDefinitionProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = (): void => {
    const text = field.current?.value.trim() ?? '';
    if (text !== '') onDecide(ownDecision(question, text));
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
  };
  const isMetric = pinnedKind(question) === 'metric';
  return (
    <div class="own">
      <label>
        <span>What holds</span>
        <textarea
          ref={field}
          rows={3}
          class={isMetric ? 'mono' : ''}
          placeholder={isMetric ? "sum(amount), or YAML as in the dataset's file" : 'In your words'}
          onKeyDown={press}
        />
      </label>
      <p class="actions">
        <button type="button" class="button primary" onClick={save}>
          Save <Key>Ctrl Enter</Key>
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel <Key>Esc</Key>
        </button>
      </p>
    </div>
  );
}
