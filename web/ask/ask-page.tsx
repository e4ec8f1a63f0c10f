import { useRef, useState } from 'preact/hooks';
import type { AskEvent, Status } from '../answers.ts';
import { stream } from '../api.ts';
import { useData } from '../data.ts';
import { Chart } from '../charts/chart.tsx';
import { Chip, Failure, Said, Title } from '../parts/basics.tsx';
import { count, visible } from '../parts/text.ts';
import { Grounded } from './grounded.tsx';
import { KeepAnswer } from './keep-answer.tsx';

type AnsweredTurn = NonNullable<AskEvent['data']>;

interface Exchange {
  readonly question: string;
  /** What has arrived so far. */
  readonly text: string;
  readonly tool?: string | undefined;
  readonly turn?: AnsweredTurn | undefined;
  readonly error?: AskEvent['error'];
}

/** A conversation with an agent, as `ktx ask` has it: every number with what it rests on. */
export function AskPage() {
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const question = field.current?.value.trim() ?? '';
    if (question === '' || isBusy) return;
    if (field.current !== null) field.current.value = '';
    void ask(question);
  };
  const ask = async (question: string): Promise<void> => {
    const resume = exchanges.findLast(({ turn }) => turn !== undefined)?.turn?.conversation;
    let current: Exchange = { question, text: '' };
    const show = (): void => setExchanges([...exchanges, current]);
    show();
    setBusy(true);
    await stream('ask', { question, resume }, (line) => {
      current = afterEvent(current, line as AskEvent);
      show();
    });
    setBusy(false);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey) submit(event);
  };
  return (
    <>
      <Title>Ask</Title>
      <ModelMissing />
      <ol class="exchanges">
        {exchanges.map((exchange, index) => (
          <li key={index}>
            <ExchangeView exchange={exchange} number={numberOf(exchanges, index)} />
            {index === exchanges.length - 1 && !isBusy ? (
              <Choices turn={exchange.turn} onChoose={ask} />
            ) : null}
          </li>
        ))}
      </ol>
      <form class="ask" onSubmit={submit}>
        <textarea
          ref={field}
          rows={2}
          aria-label="Your question"
          placeholder="What was revenue by channel last quarter?"
          onKeyDown={press}
        />
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Answering …' : 'Ask'}
        </button>
      </form>
    </>
  );
}

/** What was kept of a conversation is what was answered. */
function numberOf(exchanges: readonly Exchange[], index: number): number {
  return exchanges.slice(0, index + 1).filter(({ turn }) => turn !== undefined).length;
}

/** Who asks without a model gets no answer: the way to one, before the question is written. */
function ModelMissing() {
  const { data } = useData<Status>('status');
  if (data?.llm?.state !== 'none') return null;
  return (
    <div class="remark" role="note">
      <p>No model is configured, so nothing can be answered here.</p>
      <p>
        Type <code>ktx setup --llm-backend claude-code</code>, or one of the other backends that{' '}
        <code>ktx setup --help</code> lists. Numbers by hand need none: each metric has a query.
      </p>
    </div>
  );
}

function afterEvent(exchange: Exchange, event: AskEvent): Exchange {
  if (event.error !== undefined) return { ...exchange, error: event.error, turn: event.data };
  if (event.data !== undefined) return { ...exchange, turn: event.data, tool: undefined };
  if (event.type === 'text_delta') return { ...exchange, text: exchange.text + (event.text ?? '') };
  if (event.type === 'tool_start') return { ...exchange, tool: event.name };
  return exchange;
}

interface ExchangeViewProps {
  readonly exchange: Exchange;
  /** Which answer of the conversation it is, from 1. */
  readonly number: number;
}

function ExchangeView({ exchange, number }: ExchangeViewProps) {
  const { question, text, tool, turn, error } = exchange;
  return (
    <article class="exchange">
      <h2>
        <Said>{question}</Said>
      </h2>
      <div class="answer" aria-live="polite">
        {turn === undefined ? (
          <Said>{text}</Said>
        ) : (
          <Grounded text={turn.text} claims={turn.grounding ?? []} />
        )}
      </div>
      {turn === undefined && tool !== undefined ? (
        <p class="soft">
          asks <Said>{tool}</Said> …
        </p>
      ) : null}
      {error === undefined ? null : <Failure error={error} />}
      {turn?.evidence.map((evidence) => (
        <EvidenceCard key={evidence.id} evidence={evidence} />
      ))}
      {turn === undefined || turn.text === '' ? null : <KeepAnswer turn={turn} number={number} />}
    </article>
  );
}

const mostChoices = 9;

interface ChoicesProps {
  readonly turn: AnsweredTurn | undefined;
  readonly onChoose: (choice: string) => Promise<void>;
}

/** What an ambiguous name may mean, as `ktx chat` offers it: the choice is the next message. */
function Choices({ turn, onChoose }: ChoicesProps) {
  const call = turn?.tool_calls?.findLast(({ choices }) => choices !== undefined);
  const choices = call?.choices?.slice(0, mostChoices) ?? [];
  if (choices.length === 0) return null;
  return (
    <p class="actions choices">
      <span class="soft">A name was ambiguous. Which one is meant?</span>
      {choices.map((choice) => (
        <button
          key={choice}
          type="button"
          class="button"
          onClick={() => void onChoose(`I mean ${choice}.`)}
        >
          <Said>{choice}</Said>
        </button>
      ))}
    </p>
  );
}

/** A query that the answer rests on. */
function EvidenceCard({ evidence }: { readonly evidence: AnsweredTurn['evidence'][number] }) {
  const { id, sql, columns, rows } = evidence;
  const answer = { columns, rows, sql: sql ?? '', truncated: false, warnings: [], ms: 0 };
  return (
    <details class="evidence-card">
      <summary>
        <Chip>{id}</Chip> {count(rows.length, 'row')}
      </summary>
      <Chart answer={answer} />
      {sql === undefined ? null : <pre class="command">{visible(sql)}</pre>}
    </details>
  );
}
