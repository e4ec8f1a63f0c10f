import { render } from 'preact';
import type { Answer } from '../answers.ts';
import { Chip, Failure, Said } from '../parts/basics.tsx';
import { Result } from '../parts/result.tsx';
import { valueText } from '../parts/text.ts';
import { connectHost, type ToolResult } from './host.ts';
import { dataOf, failureOf } from './tool-answer.ts';

interface Receipt {
  readonly metrics?: readonly Readonly<Record<string, unknown>>[];
  readonly files?: readonly string[];
  readonly commit?: string;
}

/** An answer with its chart, and what it rests on. */
function AnswerApp({ result }: { readonly result: ToolResult }) {
  if (result.isError === true) return <Failure error={failureOf(result)} />;
  const { columns, rows, sql, receipt, warnings = [] } = dataOf(result);
  const page = result.structuredContent?.page;
  if (!Array.isArray(columns) || !Array.isArray(rows)) return <Plain result={result} />;
  const answer: Answer = {
    columns: columns as Answer['columns'],
    rows: rows as Answer['rows'],
    sql: typeof sql === 'string' ? sql : '',
    truncated: page?.truncated === true,
    warnings: Array.isArray(warnings) ? (warnings as unknown[]) : [],
    ms: 0,
  };
  return (
    <article class="answer-app" aria-label="Answer">
      <h1 class="visually-hidden">Answer</h1>
      <Marks trust={result.structuredContent?.trust ?? {}} />
      <Result answer={answer} />
      {receipt instanceof Object ? <Basis receipt={receipt} /> : null}
    </article>
  );
}

/** Whether people stand behind the number. */
function Marks({ trust }: { readonly trust: Readonly<Record<string, unknown>> }) {
  const doubts = ['contested', 'stale', 'unreviewed'].flatMap((doubt) => {
    const about = trust[doubt];
    return Array.isArray(about) ? [{ doubt, about: about.map(String).join(', ') }] : [];
  });
  const isCurated = trust['status'] === 'curated';
  return (
    <p class="eyebrow">
      <Chip tone={isCurated ? 'good' : 'warn'}>{isCurated ? 'curated' : 'ad hoc'}</Chip>{' '}
      {doubts.map(({ doubt, about }) => (
        <span key={doubt}>
          <Chip tone="warn">{doubt}</Chip> <Said>{about}</Said>{' '}
        </span>
      ))}
    </p>
  );
}

/** What a receipt says of a metric, as far as a person asks for it. */
const basisKeys = ['owners', 'paths', 'filters', 'having', 'access'];

function Basis({ receipt }: { readonly receipt: Receipt }) {
  const { metrics = [], files = [], commit } = receipt;
  return (
    <details class="basis" open>
      <summary>What it rests on</summary>
      {metrics.map((metric, index) => (
        <dl class="pairs" key={index}>
          {['metric', ...basisKeys].flatMap((key) => {
            const text = listText(metric[key]);
            return text === '' ? [] : [<Pair key={key} name={key} text={text} />];
          })}
        </dl>
      ))}
      <p class="soft">
        <Said>{files.join(', ')}</Said>
        {commit === undefined ? null : (
          <>
            {' '}
            at <code>{commit.slice(0, 7)}</code>
          </>
        )}
      </p>
    </details>
  );
}

function Pair({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Said>{text}</Said>
      </dd>
    </div>
  );
}

function listText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.map(valueText).join('; ') : valueText(value);
}

/** A plan, or a text: there is nothing to draw. */
function Plain({ result }: { readonly result: ToolResult }) {
  const text = (result.content ?? []).map((block) => block.text ?? '').join('\n');
  return (
    <pre class="command">
      <Said>{text}</Said>
    </pre>
  );
}

const root = document.getElementById('main');
await connectHost({
  name: 'ktx answer',
  onResult: (result) => root && render(<AnswerApp result={result} />, root),
});
