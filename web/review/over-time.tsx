import type { Conflict } from '../answers.ts';
import { cellText, formatShort, numberOf, visible } from '../parts/text.ts';

interface Months {
  readonly months: readonly string[];
  /** By version: its value in each of the months. */
  readonly lines: readonly (readonly (number | undefined)[])[];
}

/** The numbers of the versions month by month; undefined if less than two versions have some. */
function monthsOf({ variants }: Conflict): Months | undefined {
  const series = variants.map(({ number }) => new Map(number?.over ?? []));
  const months = [...new Set(series.flatMap((own) => [...own.keys()]))].sort();
  const known = series.filter((own) => own.size > 0);
  if (known.length < 2 || months.length < 2) return undefined;
  const lines = series.map((own) => months.map((month) => numberOf(own.get(month))));
  return { months, lines };
}

const [width, height, left, right, top] = [720, 150, 56, 12, 8];

/** How the versions run beside each other: where they part says what is different about them. */
export function OverTime({ conflict }: { readonly conflict: Conflict }) {
  const found = monthsOf(conflict);
  if (found === undefined) return null;
  const { months, lines } = found;
  const values = lines.flat().filter((value) => value !== undefined);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const xOf = (index: number) => left + (index * (width - left - right)) / (months.length - 1);
  const yOf = (value: number) => top + (1 - (value - low) / (high - low || 1)) * height;
  return (
    <figure class="chart over-time">
      <svg viewBox={`0 0 ${width} ${top + height + 24}`} role="img" aria-label="Month by month">
        {[high, low].map((value) => (
          <g key={value}>
            <path class="mark-axis" d={`M${left} ${yOf(value)}H${width - right}`} />
            <text x={left - 8} y={yOf(value) + 4} class="mark-label">
              {formatShort(value)}
            </text>
          </g>
        ))}
        {lines.map((line, index) => (
          <path key={index} class={`version-line truth-${index % 4}`} d={pathOf(line, xOf, yOf)} />
        ))}
        <text x={left} y={top + height + 18} class="mark-value">
          {visible(months[0] ?? '')}
        </text>
        <text x={width - right} y={top + height + 18} class="mark-label">
          {visible(months.at(-1) ?? '')}
        </text>
      </svg>
      <MonthTable months={months} lines={lines} />
    </figure>
  );
}

function pathOf(
  line: readonly (number | undefined)[],
  xOf: (index: number) => number,
  yOf: (value: number) => number,
): string {
  const parts = line.map((value, index) => {
    if (value === undefined) return '';
    const isStart = line[index - 1] === undefined;
    return `${isStart ? 'M' : 'L'}${xOf(index).toFixed(1)} ${yOf(value).toFixed(1)}`;
  });
  return parts.join('');
}

function MonthTable({ months, lines }: Months) {
  return (
    <details>
      <summary>Month by month, as a table</summary>
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Month</th>
            {lines.map((_line, index) => (
              <th key={index} scope="col" class="number">
                Version {index + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {months.map((month, at) => (
            <tr key={month}>
              <th scope="row">{visible(month)}</th>
              {lines.map((line, index) => (
                <td key={index} class="number">
                  {cellText(line[at])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
