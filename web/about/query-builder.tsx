import { useState } from 'preact/hooks';
import type { Answer, Dimensions } from '../answers.ts';
import { type Envelope, isExport, send } from '../api.ts';
import { Chart } from '../charts/chart.tsx';
import { useData } from '../data.ts';
import { Failure, Said, Section } from '../parts/basics.tsx';
import { cellText, numberOf } from '../parts/text.ts';

interface QueryBuilderProps {
  readonly connection: string;
  /** `orders.revenue` */
  readonly metric: string;
}

/** Chooses what a metric is grouped by, writes the command, and runs it. */
export function QueryBuilder({ connection, metric }: QueryBuilderProps) {
  const { data } = useData<Dimensions>('dimensions', { metric, connection });
  const [dimension, choose] = useState('');
  const [where, filter] = useState('');
  const [answer, setAnswer] = useState<Envelope<Answer> | undefined>(undefined);
  const [isRunning, setRunning] = useState(false);
  const dimensions = dimension === '' ? [] : [dimension];
  const conditions = where.trim() === '' ? [] : [where.trim()];
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setRunning(true);
    const input = { metrics: [metric], dimensions, where: conditions, limit: 500, connection };
    setAnswer(await send<Answer>('query', input));
    setRunning(false);
  };
  return (
    <Section title="Try it">
      <form class="builder" onSubmit={run}>
        <label>
          Grouped by
          <select value={dimension} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">nothing</option>
            {data?.dimensions.flatMap(({ dimension: name, type }) =>
              grainsOf(name, type).map((grain) => (
                <option key={grain} value={grain}>
                  {grain}
                </option>
              )),
            )}
          </select>
        </label>
        <label>
          Where
          <input
            value={where}
            placeholder="orders.status = 'paid'"
            onInput={({ currentTarget }) => filter(currentTarget.value)}
          />
        </label>
        {isExport ? null : (
          <button type="submit" class="button primary" disabled={isRunning}>
            {isRunning ? 'Running …' : 'Run'}
          </button>
        )}
      </form>
      <pre class="command">{commandOf(metric, dimensions, conditions)}</pre>
      {answer?.error === undefined ? null : <Failure error={answer.error} />}
      {answer?.data === undefined ? null : <Result answer={answer.data} />}
    </Section>
  );
}

const grains = ['month', 'quarter', 'year', 'week', 'day'];

function grainsOf(name: string, type: string | undefined): readonly string[] {
  return type?.startsWith('date') === true ? grains.map((grain) => `${name}.${grain}`) : [name];
}

/** What a person types for the same. */
function commandOf(
  metric: string,
  dimensions: readonly string[],
  conditions: readonly string[],
): string {
  const words = [
    'ktx sl query -m',
    metric,
    ...dimensions.flatMap((name) => ['-d', name]),
    ...conditions.flatMap((text) => ['--where', `"${text.replaceAll(/(["\\$`])/g, '\\$1')}"`]),
  ];
  return words.join(' ');
}

function Result({ answer }: { readonly answer: Answer }) {
  const { columns, rows, sql, truncated } = answer;
  return (
    <>
      <Chart answer={answer} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Rows">
        <table class="grid rows">
          <thead>
            <tr>
              {columns.map(({ name, kind }) => (
                <th key={name} scope="col" class={kind === 'metric' ? 'number' : ''}>
                  <Said>{name}</Said>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 200).map((row, index) => (
              <tr key={index}>
                {row.map((value, at) => (
                  <td key={at} class={numberOf(value) === undefined ? '' : 'number'}>
                    {cellText(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > 200 || truncated ? <p class="soft">Only the first rows.</p> : null}
      <details>
        <summary>The SQL that ran</summary>
        <pre class="command">
          <Said>{sql}</Said>
        </pre>
      </details>
    </>
  );
}
