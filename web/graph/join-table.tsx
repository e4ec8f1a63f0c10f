import type { JoinGraph } from '../answers.ts';
import { Chip, Said } from '../parts/basics.tsx';

interface JoinTableProps {
  readonly joins: JoinGraph['joins'];
  readonly onChoose: (subject: string) => void;
}

/** The table behind the graph. */
export function JoinTable({ joins, onChoose }: JoinTableProps) {
  if (joins.length === 0) return null;
  return (
    <details class="section">
      <summary>The same as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Joins">
        <table class="grid">
          <thead>
            <tr>
              {['From', 'To', 'Role', 'On', 'State', ''].map((title) => (
                <th key={title} scope="col">
                  {title === '' ? <span class="visually-hidden">Evidence</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {joins.map(({ subject, from, to, role, on, state }) => (
              <tr key={`${subject} ${to}`}>
                <th scope="row">
                  <Said>{from}</Said>
                </th>
                <td>
                  <Said>{to}</Said>
                </td>
                <td>
                  <Said>{role === to ? '' : role}</Said>
                </td>
                <td class="mono">
                  <Said>
                    {Object.entries(on)
                      .map((pair) => pair.join(' = '))
                      .join(' and ')}
                  </Said>
                </td>
                <td>
                  <Chip tone={state === 'in_doubt' ? 'warn' : 'plain'}>
                    {state.replace('_', ' ')}
                  </Chip>
                </td>
                <td>
                  <button type="button" class="link" onClick={() => onChoose(subject)}>
                    Evidence
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
