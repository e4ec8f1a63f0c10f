import { html, type Markup } from '../../eval/report/html-template.ts';
import type { Chart } from './choose-chart.ts';
import { axisNote, chartNumber, chartRange } from './chart-scale.ts';

const width = 760;
const barHeight = 22;
const plot = { left: 90, right: 16, top: 12, height: 220 };
const longestLabel = 28;

/** A chart for a page; its colours come from the page's style. */
export function renderSvgChart(chart: Chart): Markup {
  return html`<figure>
    ${chart.kind === 'bars' ? barsSvg(chart) : lineSvg(chart)}
    <figcaption>${captionOf(chart)}</figcaption>
  </figure>`;
}

function captionOf({ kind, title, series }: Chart): string {
  const names = series.map(({ name }) => name).filter((name) => name !== '');
  const range = chartRange(series.flatMap(({ values }) => values));
  const note = kind === 'bars' ? '' : axisNote(range);
  return `${title}${names.length === 0 ? '' : `: ${names.join(', ')}`}${note}`;
}

function barsSvg({ labels, series, title }: Chart): Markup {
  const values = series[0]?.values ?? [];
  const low = Math.min(0, ...values.map((value) => value ?? 0));
  const high = Math.max(0, ...values.map((value) => value ?? 0));
  const [left, right] = [210, 90];
  const scale = (width - left - right) / (high - low || 1);
  const zero = left - low * scale;
  const bars = labels.map((label, index) => {
    const value = values[index] ?? 0;
    const y = index * barHeight;
    const x = Math.min(zero, zero + value * scale);
    const length = Math.abs(value) * scale;
    return html`<text x="${left - 8}" y="${y + 15}" text-anchor="end">${shortLabel(label)}</text>
      <rect class="bar" x="${x.toFixed(1)}" y="${y + 3}" width="${length.toFixed(1)}" height="16" />
      <text x="${(x + length + 6).toFixed(1)}" y="${y + 15}">${chartNumber(values[index])}</text>`;
  });
  const height = labels.length * barHeight + 4;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">${bars}</svg>`;
}

function lineSvg({ labels, series, title }: Chart): Markup {
  const { low, high } = chartRange(series.flatMap(({ values }) => values));
  const room = width - plot.left - plot.right;
  const xOf = (index: number): number =>
    plot.left + (index * room) / Math.max(1, labels.length - 1);
  const yOf = (value: number): number =>
    plot.top + (1 - (value - low) / (high - low || 1)) * plot.height;
  const bottom = plot.top + plot.height;
  const grid = [high, (high + low) / 2, low].map(
    (value) =>
      html`<line
          class="axis"
          x1="${plot.left}"
          x2="${width - plot.right}"
          y1="${yOf(value)}"
          y2="${yOf(value)}"
        />
        <text x="${plot.left - 8}" y="${yOf(value) + 4}" text-anchor="end"
          >${chartNumber(value)}</text
        >`,
  );
  const lines = series.map(({ values }, index) => {
    const parts = splitAtGaps(values).map((part) =>
      part.map(({ at, value }) => `${xOf(at).toFixed(1)},${yOf(value).toFixed(1)}`).join(' '),
    );
    return html`${parts.map((points) => html`<polyline class="line line-${index}" points="${points}" />`)}
    ${values.map((value, at) =>
      value === undefined
        ? html``
        : html`<circle
            class="dot"
            cx="${xOf(at).toFixed(1)}"
            cy="${yOf(value).toFixed(1)}"
            r="2.5"
          />`,
    )}`;
  });
  const ends = html`<text x="${plot.left}" y="${bottom + 20}">${shortLabel(labels[0] ?? '')}</text>
    <text x="${width - plot.right}" y="${bottom + 20}" text-anchor="end">
      ${shortLabel(labels.at(-1) ?? '')}
    </text>`;
  return html`<svg viewBox="0 0 ${width} ${bottom + 28}" role="img" aria-label="${title}">
    ${grid} ${lines} ${ends}
  </svg>`;
}

interface LinePoint {
  readonly at: number;
  readonly value: number;
}

/** A line ends where a value is missing, and a new one begins after it. */
function splitAtGaps(values: readonly (number | undefined)[]): readonly (readonly LinePoint[])[] {
  const parts: LinePoint[][] = [[]];
  values.forEach((value, at) => {
    if (value === undefined) parts.push([]);
    else parts.at(-1)?.push({ at, value });
  });
  return parts.filter((part) => part.length > 0);
}

function shortLabel(label: string): string {
  const characters = Array.from(label);
  return characters.length <= longestLabel
    ? label
    : `${characters.slice(0, longestLabel - 1).join('')}…`;
}
