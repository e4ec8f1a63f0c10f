import { useEffect, useRef } from 'preact/hooks';
import { Said } from '../parts/basics.tsx';
import { type Question, questionName, questionTitles } from './questions.ts';
import { differenceText } from './two-truths.tsx';

interface QuestionListProps {
  readonly questions: readonly Question[];
  readonly current: string;
  /** Keys of those that get one decision together. */
  readonly selected: ReadonlySet<string>;
  readonly onChoose: (key: string) => void;
}

/** All open questions, by kind. */
export function QuestionList({ questions, current, selected, onChoose }: QuestionListProps) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const groups = [...Map.groupBy(questions, ({ type }) => type)];
  return (
    <nav class="questions" aria-label="Open questions" ref={list}>
      {groups.map(([type, own]) => (
        <div key={type}>
          <h2>
            {questionTitles[type]} <small>{own.length}</small>
          </h2>
          <ul>
            {own.map((question) => (
              <li key={question.key}>
                <button
                  type="button"
                  data-selected={selected.has(question.key) ? 'true' : undefined}
                  aria-current={question.key === current ? 'true' : undefined}
                  onClick={() => onChoose(question.key)}
                >
                  <Said>{questionName(question)}</Said>
                  {selected.has(question.key) ? <span>✓ selected</span> : null}
                  <span class="soft">{hintOf(question)}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function hintOf(question: Question): string {
  if (question.type === 'conflict')
    return differenceText(question.about) ?? `${question.about.variants.length} versions`;
  if (question.type === 'join') return `to ${question.about.to}`;
  if (question.type === 'fact') return question.about.typed ?? question.about.kind;
  return question.about.kind;
}
