import { useState } from 'preact/hooks';
import type { Answer, Dimensions } from '../answers.ts';
import { type Envelope, isExport, send } from '../api.ts';
import { useData } from '../data.ts';
import { Failure, Section } from '../parts/basics.tsx';
import { Result } from '../parts/result.tsx';

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
