import { useRef } from 'preact/hooks';
import type { Answer } from '../answers.ts';
import { isApp } from '../api.ts';
import { formatNumber, formatShort, visible } from '../parts/text.ts';
import { useWidth } from '../parts/use-width.ts';
import { chooseChart, type ChosenChart, toVegaLite } from './choose-chart.ts';
import { saveAs, toPng, toSvgText } from './save-chart.ts';

/** The chart of a result, if one says more than its table, which stands below. */
export function Chart({ answer }: { readonly answer: Answer }) {
  const figure = useRef<HTMLElement>(null);
  const width = useWidth(figure, mostWidth);
  const chart = chooseChart(answer);
  if (chart === undefined) return null;
  const drawn = (): SVGSVGElement | null | undefined => figure.current?.querySelector('svg');
  const saveSvg = (): void => {
    const svg = drawn();
    if (svg) saveAs('chart.svg', toSvgText(svg));
  };
  const savePng = async (): Promise<void> => {
    const svg = drawn();
    const png = svg && (await toPng(svg));
    if (png) saveAs('chart.png', png);
  };
  const saveVega = (): void => saveAs('chart.vl.json', JSON.stringify(toVegaLite(chart), null, 1));
  return (
    <figure class="chart" ref={figure}>
      {chart.mark === 'big_number' ? <BigNumber chart={chart} /> : null}
      {chart.mark === 'bar' ? <Bars chart={chart} width={width} /> : null}
      {chart.mark === 'line' ? <Line chart={chart} width={width} /> : null}
      <figcaption class="soft">
        {visible(chart.title)}{' '}
        {chart.mark === 'big_number' || isApp ? null : (
          <>
            <button type="button" class="link" onClick={saveSvg}>
              SVG
            </button>{' '}
            <button type="button" class="link" onClick={savePng}>
              PNG
            </button>{' '}
            <button type="button" class="link" onClick={saveVega}>
              Vega-Lite
            </button>
          </>
        )}
      </figcaption>
    </figure>
  );
}

interface MarkProps {
  readonly chart: ChosenChart;
}

function BigNumber({ chart: { points } }: MarkProps) {
  return <strong class="big">{formatNumber(points[0]?.value ?? 0)}</strong>;
}

const [barHeight, valueRoom] = [24, 90];
/** Units of a drawing are pixels, so that its words are as large on a phone. */
const mostWidth = 720;
/** Pixels of a letter. */
const letter = 7;

interface DrawnMarkProps extends MarkProps {
  readonly width: number;
}

function Bars({ chart: { points, title }, width }: DrawnMarkProps) {
  const labelRoom = Math.min(190, Math.round(width / 3));
  const mostLetters = Math.floor((labelRoom - 10) / letter);
  const values = points.map(({ value }) => value ?? 0);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const scale = (width - labelRoom - valueRoom) / (high - low || 1);
  const zero = labelRoom - low * scale;
  return (
    <svg
      viewBox={`0 0 ${width} ${points.length * barHeight}`}
      role="img"
      aria-label={visible(title)}
    >
      {points.map(({ label, value }, index) => {
        const y = index * barHeight;
        const length = Math.abs(value ?? 0) * scale;
        const x = (value ?? 0) < 0 ? zero - length : zero;
        return (
          <g key={index}>
            <text x={labelRoom - 10} y={y + 16} class="mark-label">
              {label.length > mostLetters ? `${label.slice(0, mostLetters - 1)}…` : label}
            </text>
            <rect class="mark-bar" x={x} y={y + 4} width={length} height={barHeight - 8} rx={2} />
            <text x={x + length + 6} y={y + 16} class="mark-value">
              {value === undefined ? '∅' : formatNumber(value)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

const plot = { left: 64, right: 12, top: 10, height: 200 };

function Line({ chart: { points, title }, width }: DrawnMarkProps) {
  const values = points.flatMap(({ value }) => value ?? []);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const room = width - plot.left - plot.right;
  const xOf = (index: number) => plot.left + (index * room) / Math.max(1, points.length - 1);
  const yOf = (value: number) => plot.top + (1 - (value - low) / (high - low || 1)) * plot.height;
  const parts = points.map(({ value }, index) => {
    if (value === undefined) return '';
    const isStart = points[index - 1]?.value === undefined;
    return `${isStart ? 'M' : 'L'}${xOf(index).toFixed(1)} ${yOf(value).toFixed(1)}`;
  });
  const bottom = plot.top + plot.height;
  return (
    <svg viewBox={`0 0 ${width} ${bottom + 26}`} role="img" aria-label={visible(title)}>
      {[high, (high + low) / 2, low].map((value) => (
        <g key={value}>
          <path class="mark-axis" d={`M${plot.left} ${yOf(value)}H${width - plot.right}`} />
          <text x={plot.left - 8} y={yOf(value) + 4} class="mark-label">
            {formatShort(value)}
          </text>
        </g>
      ))}
      <path class="mark-line" d={parts.join('')} />
      <text x={plot.left} y={bottom + 20} class="mark-value">
        {points[0]?.label.slice(0, 10)}
      </text>
      <text x={width - plot.right} y={bottom + 20} class="mark-label">
        {points.at(-1)?.label.slice(0, 10)}
      </text>
    </svg>
  );
}
