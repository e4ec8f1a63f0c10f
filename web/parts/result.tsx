import type { Answer } from '../answers.ts';
import { Chart } from '../charts/chart.tsx';
import { Said } from './basics.tsx';
import { cellText, numberOf } from './text.ts';

/** Rows that a table shows; the chart has all. */
const mostRows = 200;

/** An answer: its chart, its rows, the SQL that ran. */
export function Result({ answer }: { readonly answer: Answer }) {
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
            {rows.slice(0, mostRows).map((row, index) => (
              <tr key={index}>
                {row.map((value, at) => (
                  <td key={at} class={isNumber(columns[at]?.kind, value) ? 'number' : ''}>
                    {cellText(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > mostRows || truncated ? <p class="soft">Only the first rows.</p> : null}
      <details>
        <summary>The SQL that ran</summary>
        <pre class="command">
          <Said>{sql}</Said>
        </pre>
      </details>
    </>
  );
}

/** NULL stands where the numbers of its column do. */
function isNumber(kind: string | undefined, value: unknown): boolean {
  return kind === 'metric' || numberOf(value) !== undefined;
}
