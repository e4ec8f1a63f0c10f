import type { Egress, Usage } from '../answers.ts';
import { useData } from '../data.ts';
import { Empty, Failure, Said, Section, Title, Waiting } from '../parts/basics.tsx';
import { cellText } from '../parts/text.ts';

/** What models cost, and which values of the warehouse they were sent. */
export function UsagePage() {
  const usage = useData<Usage>('usage');
  const egress = useData<Egress>('egress');
  const error = usage.error ?? egress.error;
  return (
    <>
      <Title>Models</Title>
      {error === undefined ? null : <Failure error={error} />}
      <Section title="Cost" note="tokens and US dollars of all calls">
        {usage.data === undefined ? <Waiting /> : <Costs usage={usage.data.usage} />}
      </Section>
      <Section title="What left this machine" note="counts of values; the values are not kept">
        {egress.data === undefined ? <Waiting /> : <Sent egress={egress.data.egress} />}
      </Section>
    </>
  );
}

function Costs({ usage }: Usage) {
  if (usage.length === 0) return <Empty>No model was called yet.</Empty>;
  return (
    <Figures
      label="Cost"
      titles={['Model', 'Role', 'Calls', 'Failed', 'Tokens in', 'Tokens out', 'USD']}
      rows={usage.map((line) => [
        line.model,
        line.role,
        line.calls,
        line.failed,
        line.input,
        line.output,
        line.cost_usd === null ? `unknown: ${line.cost_reason ?? ''}` : line.cost_usd,
      ])}
    />
  );
}

function Sent({ egress }: Egress) {
  if (egress.length === 0) return <Empty>No value of a warehouse was sent to a model yet.</Empty>;
  return (
    <Figures
      label="What was sent"
      titles={['Column', 'Kind', 'To', 'Values', 'Times', 'Last']}
      rows={egress.map(
        ({ connection, source, column, kind, backend, host, values, sent, last }) => [
          [connection, source, column].filter((part) => part !== undefined).join('.'),
          kind,
          `${backend} at ${host}`,
          values,
          sent,
          last.slice(0, 10),
        ],
      )}
    />
  );
}

interface FiguresProps {
  readonly label: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

function Figures({ label, titles, rows }: FiguresProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="grid">
        <thead>
          <tr>
            {titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at} class={typeof cell === 'number' ? 'number' : ''}>
                  <Said>{cellText(cell)}</Said>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
