import type { EvalRun } from '../run/run-schema.ts';
import { html, type Markup } from './html-template.ts';
import type { RateInterval } from './statistics.ts';
import { summarizeCases } from './summary.ts';

interface TrendPoint {
  readonly accuracy: RateInterval;
  /** `05-31` */
  readonly day: string;
}

const size = { width: 760, height: 150 };
const plot = { left: 64, right: 20, top: 12, bottom: 28 };

/**
 * The accuracy of each run as a line, with its interval as a band, in SVG. Only runs with the
 * questions of the last one: others are not comparable.
 */
export function renderTrend(runs: readonly EvalRun[]): Markup {
  const questions = runs.at(-1)?.context.questions;
  const comparable = runs.filter((run) => run.context.questions === questions);
  const points = comparable.flatMap((run): readonly TrendPoint[] => {
    const { accuracy } = summarizeCases(run.cases);
    return accuracy === undefined ? [] : [{ accuracy, day: run.started.slice(5, 10) }];
  });
  if (points.length < 2)
    return html`<p class="dim">One run of these questions so far: a trend needs two.</p>`;
  const at = (index: number, rate: number): string => `${xOf(index, points.length)},${yOf(rate)}`;
  const line = points.map(({ accuracy }, index) => at(index, accuracy.value));
  const upperEdge = points.map(({ accuracy }, index) => at(index, accuracy.high));
  const lowerEdge = points.map(({ accuracy }, index) => at(index, accuracy.low)).toReversed();
  return html`<svg
    viewBox="0 0 ${size.width} ${size.height}"
    width="${size.width}"
    role="img"
    aria-label="accuracy of the last ${points.length} runs"
  >
    ${[0, 0.5, 1].map(renderGridLine)}
    <polygon class="band" points="${[...upperEdge, ...lowerEdge].join(' ')}" />
    <polyline class="trend" points="${line.join(' ')}" />
    ${points.map((point, index) => renderPoint(point, index, points.length))}
  </svg>`;
}

function xOf(index: number, count: number): string {
  const width = size.width - plot.left - plot.right;
  return (plot.left + (index * width) / (count - 1)).toFixed(1);
}

function yOf(rate: number): string {
  const height = size.height - plot.top - plot.bottom;
  return (plot.top + (1 - rate) * height).toFixed(1);
}

function renderGridLine(rate: number): Markup {
  const y = yOf(rate);
  return html`<line
      class="axis"
      x1="${plot.left}"
      x2="${size.width - 12}"
      y1="${y}"
      y2="${y}"
    /><text x="${plot.left - 8}" y="${Number(y) + 5}" text-anchor="end">${rate * 100} %</text>`;
}

/** Only the first and the last point have a date. */
function renderPoint({ accuracy, day }: TrendPoint, index: number, count: number): Markup {
  const x = xOf(index, count);
  const hasDay = index === 0 || index === count - 1;
  const label = hasDay
    ? html`<text x="${x}" y="${size.height - 6}" text-anchor="middle">${day}</text>`
    : html``;
  return html`<circle class="dot" cx="${x}" cy="${yOf(accuracy.value)}" r="3.5"
      ><title>${Math.round(accuracy.value * 100)} %</title></circle
    >${label}`;
}
